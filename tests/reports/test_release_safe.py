"""The copy that may leave the room, attacked: nothing in it gives a small group back."""

import functools
import json
import pickle
import re
import subprocess
import sys
from html import unescape

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.strategies import one_in
from treeaudit.findings.report import Reports
from treeaudit.reports import several
from treeaudit.reports.acro import write_acro
from treeaudit.reports.advice import repeat_command
from treeaudit.reports.formats import FORMATS, render
from treeaudit.reports.release_safe import about, share_of

_FEW, _MANY = 12, (pytest.mark.slow, pytest.mark.sampled)
_EVERY = (*range(_FEW), *one_in(6, range(_FEW, 300)))


def drawn(seed):
    """Return a random model and its people: single trees, forests, few and many people."""
    rng = np.random.default_rng(seed)
    n = int(np.exp(rng.uniform(np.log(12), np.log(1_500))))
    x = rng.normal(size=(n, 3)).round(int(rng.integers(0, 3)))
    y = np.where((x[:, 0] + rng.normal(0, rng.uniform(0.1, 2), n)) > 0, "yes", "no")
    if len(set(y)) < 2:
        y[0] = "yes" if y[0] == "no" else "no"
    options = {
        "min_samples_leaf": int(rng.integers(1, 9)),
        "max_leaf_nodes": int(rng.integers(2, 40)),
        "random_state": seed,
    }
    kind = (
        lambda: DecisionTreeClassifier(**options),
        lambda: DecisionTreeClassifier(**options),
        lambda: ExtraTreesClassifier(2, **options),
        lambda: RandomForestClassifier(2, **options),
    )[seed % 4]
    frame = pd.DataFrame(x, columns=["a", "b", "c"])
    return kind().fit(frame, y), frame.assign(label=y)


def report_of(seed):
    model, people = drawn(seed)
    policy = ("default", "strict", "acro", "opensafely")[seed // 4 % 4]
    given = {"train": people, "target": "label", "repeats": "people"} if seed % 3 == 0 else {}
    return ta.scan(model, policy=policy, **given)


class Adversary:
    """Who knows the groups but not their sizes: which are small, alone, of one label.

    Unknown are the sizes of the leaves of one tree, 1 to k - 1 of a small one and k or more of
    another; every published number is an interval on sums of them.
    """

    def __init__(self, report, said, tree) -> None:
        table, self.k, self.tree = report.table, said["k"], tree
        rows = table.rows_of(tree)
        self.size = table.size[rows].astype(float)
        labels = table.labels.distinct if table.tells_labels else np.full(len(table.size), 2)
        every = {
            "max-certain-share": labels == 1,
            "max-small-leaf-share": table.size < self.k,
            "max-small-leaf-people": table.size < self.k,
            "max-unique-people": table.size == 1,
        }
        self.groups = {name: chosen[rows] for name, chosen in every.items()}
        people = table.per_tree(table.size)
        held = {name: table.per_tree(np.where(c, table.size, 0)) for name, c in every.items()}
        # A published number is that of the worst tree, which the adversary is told.
        self.worst = {
            name: int((n / people if name.endswith("share") else n).argmax())
            for name, n in held.items()
        }
        small = self.groups["max-small-leaf-share"]
        self.bounds = [(1, self.k - 1) if one else (self.k, None) for one in small]
        self.above, self.most = [], []
        self.ones, total = np.ones(len(self.size)), said["model"]["people_about"]
        if total is not None and report.forest.records_are == "all":
            self.between(self.ones, total - self.k, total + self.k)
        for check in said["checks"]:
            self.heed(check, said["policy"]["values"][check["name"]])

    def between(self, weights, low, high) -> None:
        for sign, bound in ((-1, -low), (1, high)):
            if np.isfinite(bound):
                self.above.append(sign * weights)
                self.most.append(bound)

    def heed(self, check, threshold) -> None:
        name, passed = check["name"], check["status"] == "pass"
        low, high = 0.0, 1.0
        if check["share_about"] is not None:
            low, high = (check["share_about"] + sign * check["step"] / 2 for sign in (-1, 1))
        if name == "max-marketer-risk" and low > 0:
            # The worst tree has the most leaves for its people.
            self.between(self.ones, len(self.size) / min(high, 1.0), np.inf)
        if name not in self.groups or check["status"] in ("skipped", "untold"):
            return
        chosen, here = self.groups[name].astype(float), self.worst[name] == self.tree
        if name.endswith("people"):
            low, high = (0, threshold) if passed else (threshold + 1, np.inf)
            self.between(chosen, low if here else -np.inf, high)
            return
        low, high = (low, min(high, threshold)) if passed else (max(low, threshold), high)
        self.between(chosen - high * self.ones, -np.inf, 1e-9)
        if here:
            self.between(chosen - low * self.ones, -1e-9, np.inf)

    def range_of(self, weights) -> tuple[float, float]:
        ends = []
        for sign in (1, -1):
            found = linprog(
                sign * weights,
                A_ub=np.array(self.above) if self.above else None,
                b_ub=np.array(self.most) if self.most else None,
                bounds=self.bounds,
            )
            if found.status == 3:  # unbounded
                ends.append(sign * -np.inf)
                continue
            assert found.status == 0, found.message
            ends.append(sign * found.fun)
        return ends[0], ends[1]


def determined(report) -> list[str]:
    """Return what the statement gives away: small groups and small numbers of people."""
    said = json.loads(render(report, "json", release_safe=True))
    found = []
    for tree in range(report.forest.n_trees if report.table.tells_people else 0):
        who = Adversary(report, said, tree)
        asked = {f"leaf {i}": np.eye(len(who.size))[i]
                 for i in np.flatnonzero(who.size < who.k).tolist()[:4]}  # fmt: skip
        asked |= {name: chosen.astype(float) for name, chosen in who.groups.items()}
        asked["nobody's group"] = who.ones
        for name, chosen in asked.items():
            n = float(who.size @ chosen)
            if not 0 < n < who.k:
                continue
            low, high = who.range_of(chosen)
            assert low - 1e-6 <= n <= high + 1e-6
            if np.floor(high + 1e-6) <= np.ceil(low - 1e-6):
                found.append(f"tree {tree}, {name}: {n:.0f} people: {low:.2f} to {high:.2f}")
    return found


def test_the_adversary_finds_what_subtraction_gives_back() -> None:
    """Told exactly how many there are in all and in the large leaves, they know the small one."""
    for seed in range(0, 400, 4):
        report = report_of(seed)
        said = json.loads(render(report, "json", release_safe=True))
        who = Adversary(report, said, 0)
        small = np.flatnonzero(who.size < who.k)
        if len(small) == 1 and len(who.size) > 1:
            break
    chosen = np.eye(len(who.size))[small[0]]
    low, high = who.range_of(chosen)
    assert high - low >= 1
    who.between(who.ones - chosen, *[float(who.size.sum() - who.size[small[0]])] * 2)
    who.between(who.ones, *[float(who.size.sum())] * 2)
    assert who.range_of(chosen) == pytest.approx([who.size[small[0]]] * 2)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "seed",
    [pytest.param(seed, marks=() if seed < _FEW else _MANY) for seed in _EVERY],
)
def test_a_linear_program_gives_no_small_group_back(seed) -> None:
    assert determined(report_of(seed)) == []


def forest_of(leaves) -> ta.Forest:
    """Return a tree with these leaves: people of each of two labels, a chain of questions."""
    parent, feature, low, high, counts, end = [-1], [-1], [-np.inf], [np.inf], [leaves.sum(0)], 0
    for i in range(len(leaves) - 1):
        parent += [end, end]
        feature += [0, 0]
        low += [-np.inf, i]
        high += [i, np.inf]
        counts += [leaves[i], leaves[i + 1 :].sum(0)]
        end = len(parent) - 1
    tree = ta.Tree(
        parent=parent, feature=feature, low=low, high=high,
        n_records=np.sum(counts, axis=1), counts=np.array(counts),
    )  # fmt: skip
    return ta.Forest(trees=(tree,), schema=ta.Schema.numeric(["age"], ["no", "yes"]))


@functools.cache
def tables(most: int, leaves: int):
    """Return every table of so many leaves with so many people at most, shape (n, leaves, 2)."""
    ends = np.array([(a, b) for a in range(most + 1) for b in range(most + 1 - a) if a + b])
    found = np.arange(len(ends))[:, None]
    for _ in range(leaves - 1):
        ahead = [(row, i) for row in found for i in range(row[-1], len(ends))
                 if ends[row].sum() + ends[i].sum() <= most]  # fmt: skip
        found = np.array([[*row, i] for row, i in ahead])
    return ends[found]


def counted(every, k) -> dict[str, np.ndarray]:
    """Return what can be counted in each of some tables."""
    size, largest = every.sum(2), every.max(2)
    cells = np.where(every > 0, every, 10**6).min((1, 2))

    def people(chosen):
        return np.where(chosen, size, 0).sum(1)

    return {
        "smallest": size.min(1), "alone": people(size == 1), "small": people(size < k),
        "certain": people(largest == size), "nearly": people(size - largest <= 1),
        "cell": cells, "leaves of one": (size == 1).sum(1), "all": size.sum(1),
    }  # fmt: skip


def statuses(found, values) -> dict[str, np.ndarray]:
    """Return which tables pass the checks of a policy that can be told from a table."""
    measured = {
        "max-unique-people": found["alone"], "max-small-leaf-people": found["small"],
        "max-certain-share": found["certain"] / found["all"],
        "max-small-leaf-share": found["small"] / found["all"],
        "max-nearly-certain-share": found["nearly"] / found["all"],
    }  # fmt: skip
    passed = {name: one <= values[name] for name, one in measured.items() if name in values}
    for name, one in {"min-leaf": found["smallest"], "min-cell": found["cell"]}.items():
        if name in values:
            passed[name] = one >= values[name]
    return passed


def pinned(said, truth) -> list[str]:
    """Return which numbers below the threshold are the same in every table that fits."""
    values, k = said["policy"]["values"], said["k"]
    about_ = said["model"]["people_about"]
    sides = [tables(44, 1), tables(44, 2), tables(14, 3)]
    left: dict[str, set] = {}
    for every in sides:
        found = counted(every, k)
        passed = statuses(found, values)
        fits = (found["all"] > about_ - k - 1) & (found["all"] <= about_ + k)
        fails, open_ = np.zeros(len(every), bool), False
        for check in said["checks"]:
            if check["name"] not in passed:
                open_ |= check["status"] in ("untold", "fail")
                continue
            fails |= ~passed[check["name"]]
            if check["status"] in ("pass", "fail"):
                fits &= passed[check["name"]] == (check["status"] == "pass")
        fits &= fails | open_ if said["verdict"] == "fail" else ~fails
        for name, one in found.items():
            left.setdefault(name, set()).update(np.unique(one[fits]).tolist())
    true = {name: int(one[0]) for name, one in counted(truth[None], k).items()}
    assert all(n in left[name] for name, n in true.items()), "the true table fits"
    told = [name for name, n in true.items() if 0 < n < k and len(left[name]) < 2]
    return told + [
        name for name in ("alone", "leaves of one") if true[name] and 0 not in left[name]
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "policy",
    ["default", "strict", "acro", "opensafely",
     {"min-leaf": 3, "max-unique-people": 0, "max-small-leaf-people": 2},
     {"min-leaf": 5, "max-unique-people": 1, "max-nearly-certain-share": 0.1, "min-cell": 2},
     {"min-leaf": 4, "max-small-leaf-share": 0.1, "max-certain-share": 0.05,
      "max-unique-people": 2}],
    ids=str,
)  # fmt: skip
def test_of_all_small_tables_that_fit_no_number_is_told(policy) -> None:
    """Of a model of 29 people with one alone, two statuses told that it is exactly one."""
    rng = np.random.default_rng(7)
    policy = policy if isinstance(policy, str) else ta.Policy(name="own", values=policy)
    drawn_ = [np.array(one) for one in ([[1, 0], [14, 14]], [[19, 1], [6, 5]], [[2, 1], [9, 9]])]
    for _ in range(12):
        every = tables(44, 2) if rng.random() < 0.6 else tables(14, 3)
        drawn_.append(every[rng.integers(len(every))])
    for leaves in drawn_:
        report = ta.scan(forest_of(leaves), policy=policy)
        said = json.loads(render(report, "json", release_safe=True))
        true = statuses(counted(leaves[None], report.policy.k), said["policy"]["values"])
        for check in report.checks:
            if check.name in true:
                assert (check.status == "pass") == true[check.name][0], (check, leaves)
        assert pinned(said, leaves) == [], (leaves.tolist(), said)


def numbers_in(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?%?", text))


@pytest.mark.parametrize("seed", range(8))
def test_no_form_says_more_than_the_json(seed) -> None:
    """Every number of the page and of the text stands in the statement, or in words of it."""
    report = report_of(seed)
    said = json.loads(render(report, "json", release_safe=True))
    words = [check[part] for check in said["checks"] for part in ("title", "bound")]
    words += [finding[part] for finding in said["findings"] for part in ("id", "title")]
    words += [said["model"]["sha256"] or "", said["tool"]["version"], said["model"]["name"]]
    words += [f"{check['share_about']:.0%}" for check in said["checks"] if check["step"]]
    words += [f"{said['model']['people_about']:,} {said['k']:,} {2 * said['k']:,}"]
    words += ["SHA-256", said["policy"]["name"], repeat_command(report)]
    words += [report.record.in_words]
    words += [f"{said['model'][name]:,}" for name in ("n_trees", "n_features")]
    states = [check["status"] for check in said["checks"]]
    words += [
        str(n)
        for n in (
            len(states) - states.count("not-applicable"),
            *(states.count(state) for state in set(states)),
        )
    ]
    known = numbers_in(" ".join(words))
    known |= numbers_in(json.dumps(said["policy"]["values"]))
    page = render(report, "html", release_safe=True)
    body = re.sub(r"<style.*?</style>|<head>.*?</head>|<[^>]+>", " ", page, flags=re.S)
    # A bill of materials needs a library, and has a test of its own.
    told = [form for form in FORMATS if form != "cdx.json"]
    every = {form: render(report, form, release_safe=True) for form in told}
    every["card.md"] = re.sub("[0-9a-f]{64}", "", every["card.md"])
    every["html"] = unescape(body)
    for form in ("html", "md", "txt"):
        assert numbers_in(every[form]) <= known, form
    assert json.loads(every["jsonl"]) == said
    # These hold versions, places and exit codes of their form, and no number of people.
    for form in ("sarif", "xml"):
        for finding in report.findings:
            assert finding.summary not in every[form]
        for check in report.checks:
            if check.shown and check.attack is not None and not check.share:
                assert f": {check.shown} (" not in every[form], (form, check.title)


def test_what_stands_in_it_is_listed() -> None:
    said = json.loads(render(report_of(0), "json", release_safe=True))
    assert {*said} == {
        "schema_version", "tool", "release_safe", "k", "model", "verdict", "record", "policy",
        "checks", "findings",
    }  # fmt: skip
    assert {*said["checks"][0]} == {"name", "title", "bound", "status", "share_about", "step"}
    assert {*said["findings"][0]} == {"id", "title", "run"}
    assert {*said["record"]} == {"at", "by"}  # no hash of people, who can be guessed


def test_how_severe_it_is_is_not_told() -> None:
    """Up to 1 % of the people is low: of 100 people, one."""
    report = report_of(0)
    both = several.to_html(Reports(reports=(report, report)), release_safe=True)
    texts = [render(report, form, release_safe=True) for form in ("html", "txt", "json")]
    for text in (*texts, both):
        assert "RISK" not in text
        assert "severity" not in text


def test_a_share_is_rounded_by_itself_and_never_divided_from_rounded_numbers() -> None:
    """83 % of 400 people are not told as everybody."""
    assert share_of(0.83, 410, 10) == (0.85, 0.05)
    assert share_of(0.83, 20, 10) is None
    for k in (3, 5, 10):
        for people in range(4 * k):
            assert abs(about(people, k) - people) <= k
            assert about(people, k) % (2 * k) == 0
            found = share_of(0.5, about(people, k), k)
            if found is not None:
                assert found[1] * people >= 2 * k


def test_the_folder_for_the_output_checker_is_covered(tmp_path) -> None:
    report = report_of(0)
    results = write_acro(report, tmp_path / "sacro", release_safe=True)
    assert any(check.measured is not None for check in report.checks)
    (record,) = json.loads(results.read_text(encoding="utf-8"))["results"].values()
    for check in report.checks:
        told = record["outcome"]["measured"][check.name]
        assert told in ("", *(f"about {step}%" for step in range(0, 105, 5)))
    open_report = json.dumps(report.to_dict())
    for file in record["files"]:
        text = (results.parent / file["name"]).read_text(encoding="utf-8")
        assert "Leaf" not in text
        assert '"evidence"' not in text
    assert '"evidence"' in open_report
    assert "not for release" not in json.dumps(record)


def test_every_output_of_the_command_line(tmp_path) -> None:
    """JSON, text, page, folder and the terminal hold no rule and no size of a leaf."""
    model, _ = drawn(1)
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(model))
    command = [sys.executable, "-m", "treeaudit", "scan", "m.pkl", "--release-safe", "--acro", "o"]
    for form in FORMATS:
        command += ["-o", f"r.{form}"]
    for form in ("text", "json"):
        done = subprocess.run(
            [*command, "--force", "--format", form], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode in (0, 1, 3), done.stderr
        written = [path.read_text() for path in tmp_path.rglob("*.*") if path.suffix != ".pkl"]
        for text in (done.stdout, *written):
            assert "≤" not in text
            assert "worst" not in text
            assert "evidence" not in text


def test_every_output_about_many_files(tmp_path) -> None:
    for seed in (1, 2):
        (tmp_path / f"m{seed}.pkl").write_bytes(pickle.dumps(drawn(seed)[0]))
    command = [sys.executable, "-m", "treeaudit", "scan", "m1.pkl", "m2.pkl", "--release-safe"]
    forms = [form for form in FORMATS if form not in ("md", "cdx.json", "card.md")]
    for form in forms:
        command += ["-o", f"r.{form}"]
    for form in ("text", "json"):
        done = subprocess.run(
            [*command, "--force", "--format", form], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode in (0, 1, 3), done.stderr
        written = [path.read_text() for path in tmp_path.glob("r.*")]
        assert len(written) == len(forms)
        for text in (done.stdout, *written):
            assert "alone in a leaf;" not in text
            assert '"summary"' not in text
            assert '"evidence"' not in text


@pytest.mark.parametrize(
    "values", [{"max-unique-people": 0}, {"min-leaf": 2, "max-unique-people": 0}], ids=str
)
@pytest.mark.parametrize("leaves", [[[1, 0], [14, 14]], [[9, 9], [14, 14]]], ids=str)
def test_a_policy_whose_verdict_alone_would_tell_is_refused(values, leaves) -> None:
    """Passed or failed: refusing only what fails would tell the same."""
    report = ta.scan(forest_of(np.array(leaves)), policy=ta.Policy(name="own", values=values))
    for form in ("json", "html", "txt", "md"):
        with pytest.raises(ta.PolicyError, match="its verdict would tell whether there is"):
            render(report, form, release_safe=True)
    more = ta.Policy(name="own", values=values | {"max-certain-share": 0.5})
    assert render(ta.scan(forest_of(np.array(leaves)), policy=more), "json", release_safe=True)
