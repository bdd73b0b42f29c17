"""TA110: sensitive columns inside the groups, by hand, by brute force, with unseen people."""

import dataclasses
import json
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from tests.strategies import examples, grow, rows
from treeaudit.attacks import Case, run_attack
from treeaudit.attacks.sensitive import Sensitive
from treeaudit.attacks.sensitive_columns import codes_of, columns_to_audit
from treeaudit.audit.preparation import prepare
from treeaudit.findings.details import plain_data
from treeaudit.findings.policy import read_policy
from treeaudit.findings.request import Request
from treeaudit.people.records import read_records
from treeaudit.table.persons import values_in

# Nine people who fit the tree of Wakabayashi et al. (2024), Figure 3, and two more columns.
PEOPLE = pd.DataFrame(
    {
        "Height": [160, 162, 165, 150, 155, 175, 173, 180, 171],
        "Weight": [50, 55, 52, 70, 80, 60, 70, 80, 75],
        "Age": [30, 40, 50, 20, 60, 10, 33, 40, 50],
        "Health": ["yes", "yes", "no", "no", "no", "yes", "yes", "no", "no"],
        "diagnosis": ["flu", "flu", "flu", "flu", "cold", "flu", "cold", "asthma", "flu"],
        "income": [20, 30, 40, 10, 90, 70, 1000, 10, 10],
    }
)


def case_of(forest, frame=PEOPLE, test=None, **options) -> Case:
    return Case(
        forest=forest,
        table=ta.reconstruct(forest).groups,
        train=read_records(frame, forest, target="Health"),
        test=None if test is None else read_records(test, forest, target="Health"),
        **options,
    )


def test_by_hand(figure_3) -> None:
    """Leaves: flu flu flu · flu cold · flu · cold asthma flu."""
    finding = run_attack(Sensitive(), case_of(figure_3, sensitive=("diagnosis",)))
    (entry,) = finding.details.columns
    assert (entry.homogeneous_leaves, entry.homogeneous_people) == (2, 4)
    assert entry.certain_share == pytest.approx(4 / 9)
    assert (entry.distinct_l, entry.entropy_l) == (1, 1)
    assert entry.delta_disclosure is None
    assert entry.recursive_c_for_l_2 is None
    # Furthest from flu 6/9, cold 2/9, asthma 1/9: cold asthma flu, or flu alone; both 1/3.
    assert entry.t_closeness == pytest.approx(1 / 3)
    assert entry.ordered_t_closeness is None
    assert entry.nk_leaves is None
    assert finding.details.largest_share == 1
    assert (finding.leaves, finding.people, finding.severity) == (2, 4, "high")
    assert finding.summary == (
        "The diagnosis of 4 people (44.4%) is certain: 2 leaves of one diagnosis."
    )
    alone, first = finding.evidence
    assert alone.people == 1
    assert (first.people, first.says) == (3, "diagnosis = flu")
    assert first.rule == "Height < 170 · Weight < 60"
    told = plain_data(finding.details)
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def money(n=400, seed=0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=n).round(2), "b": rng.integers(0, 9, n)})
    frame["income"] = rng.lognormal(8, 2.5, n).round()
    frame["label"] = np.where(frame.a + rng.normal(size=n) > 0, "yes", "no")
    return frame, frame.pop("label").to_numpy()


def test_money_is_audited_for_dominance() -> None:
    from sklearn.tree import DecisionTreeClassifier

    frame, label = money()
    tree = DecisionTreeClassifier(max_leaf_nodes=40, random_state=0).fit(frame[["a", "b"]], label)
    report = ta.scan(tree, train=frame.assign(label=label), target="label", sensitive=["income"])
    (entry,) = report["TA110"].details.columns
    leaf = tree.apply(frame[["a", "b"]])
    nk = p = 0
    for one in np.unique(leaf):
        value = np.sort(frame.income[leaf == one].to_numpy())[::-1]
        nk += value[:2].sum() > 0.9 * value.sum()
        p += value[2:].sum() < 0.1 * value[0]
    assert (entry.kind, entry.nk_leaves, entry.p_percent_leaves) == ("numbers", nk, p)
    assert nk > 0
    assert "two people hold nearly all of income" in report["TA110"].summary


@examples(30)
@given(st.integers(0, 2**32 - 1))
def test_agreement_with_a_count_by_hand(seed) -> None:
    tree, x = grow(seed, 3), rows(seed)
    node = tree.apply(x)
    drawn = dataclasses.replace(
        tree,
        n_records=np.array([max((node == i).sum(), 0) for i in range(tree.n_nodes)]),
        counts=None,
    )
    features = tuple(ta.Feature(name=n) for n in ("age", "income"))
    kinds = ("a", "b", "c", "d")
    schema = ta.Schema(features=(*features, ta.Feature(name="kind", categories=kinds)))
    forest = ta.Forest(trees=(drawn,), schema=schema, counts_are="absent")
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": x[:, 0], "income": x[:, 1]})
    frame["kind"] = [kinds[int(k)] for k in x[:, 2]]
    frame["label"] = 1.5
    frame["illness"] = rng.choice(["flu", "cold", None], len(x), p=[0.7, 0.2, 0.1])
    train = read_records(frame, forest, target="label")
    case = Case(
        forest=forest, table=ta.reconstruct(forest).groups, train=train, sensitive=("illness",)
    )
    entry = next(e for e in run_attack(Sensitive(), case).details.columns if e.column == "illness")
    leaves = [Counter(frame.illness[node == one].fillna("-")) for one in np.unique(node)]
    pure = [c for c in leaves if len(c) == 1]
    assert entry.homogeneous_leaves == len(pure)
    assert entry.homogeneous_people == sum(c.total() for c in pure)
    assert entry.distinct_l == min(len(c) for c in leaves)
    assert entry.largest_share == max(max(c.values()) / c.total() for c in leaves)
    entropy = [
        math.exp(-sum(n / c.total() * math.log(n / c.total()) for n in c.values())) for c in leaves
    ]
    assert entry.entropy_l == pytest.approx(min(entropy), abs=1e-8)


def test_unseen_people_are_the_control() -> None:
    """One column follows from the feature, the other is a coin: only that one is memory."""
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(1)
    n = 6000
    frame = pd.DataFrame({"age": rng.integers(0, 3000, n)})
    frame["retired"] = np.where(frame.age > 1500, "yes", "no")
    frame["coin"] = rng.choice(["heads", "tails"], n)
    frame["label"] = rng.choice(["a", "b"], n)
    train, test = frame[:3000], frame[3000:]
    tree = DecisionTreeClassifier(random_state=0).fit(train[["age"]], train.label)
    report = ta.scan(tree, train=train, test=test, target="label", sensitive=["coin", "retired"])
    finding = report["TA110"]
    by_name = {c.of: c for c in finding.controls}
    coin = by_name["leaves of one coin and fewer than 5 people"]
    fact = by_name["leaves of one retired and fewer than 5 people"]
    assert coin.excess.low > 0.3
    assert coin.memorised.low > 0.4 * coin.memorised.n
    assert fact.excess.high < 0.05
    assert fact.memorised.high < 0.1 * fact.memorised.n
    assert "beyond what unseen people would show" in fact.sentence
    assert coin.control.n > 500
    for control in finding.controls:
        assert control.claim.value == 1
        assert set(control.baselines) == {"most frequent value"}


def test_a_regressor_publishes_the_mean_of_its_target() -> None:
    from sklearn.tree import DecisionTreeRegressor

    frame, _ = money()
    x = frame[["a", "b"]]
    tree = DecisionTreeRegressor(max_leaf_nodes=10, random_state=0).fit(x, frame.income)
    report = ta.scan(tree, train=frame, target="income", policy="acro")
    (entry,) = report["TA110"].details.columns
    assert (entry.column, entry.kind, entry.named) == ("income", "numbers", False)
    assert entry.nk_leaves > 0
    check = next(c for c in report.checks if c.name == "max-nk-leaves")
    assert (check.status, check.measured) == ("fail", entry.nk_leaves)
    without = ta.scan(tree, policy="acro")
    assert next(c for c in without.checks if c.name == "max-nk-leaves").status == "skipped"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sensitive": ["diagnosi"], "train": PEOPLE}, "did you mean 'diagnosis'"),
        ({"sensitive": ["zzz"], "train": PEOPLE}, "it has Height, Weight"),
        ({"sensitive": ["diagnosis"]}, "only be audited with the training data"),
    ],
)
def test_columns_that_are_not_there(figure_3, options, message) -> None:
    with pytest.raises(ta.DataError, match=message) as told:
        ta.scan(figure_3, target="Health", **options)
    assert "\n" not in str(told.value)


def test_without_a_column_it_is_skipped(figure_3) -> None:
    found = run_attack(Sensitive(), Case(forest=figure_3, table=ta.reconstruct(figure_3).groups))
    assert isinstance(found, ta.Skipped)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_codes_stay_codes_in_every_kind_of_file(figure_3, kind, tmp_path) -> None:
    """250.1 and 250.10 are two, as are 01 and 1; numbers of a file of text stay numbers."""
    icd = ["250.1", "250.10", "250.1", "01", "1", "250.10", "01", "1", "1"]
    table = PEOPLE.assign(icd=icd)
    path = tmp_path / f"people.{kind}"
    if kind == "csv":
        table.to_csv(path, index=False)
    else:
        pytest.importorskip("pyarrow")
        table.to_parquet(path)
    case = prepare(
        figure_3,
        Request(model=figure_3, train=path, target="Health", sensitive=("icd", "income")),
        read_policy("default"),
    )[0]
    codes, income = columns_to_audit(case)
    assert codes.names == ("01", "1", "250.1", "250.10")
    assert [codes.names[code] for code in codes.code] == icd
    assert codes_of(codes, case.train.frame).tolist() == codes.code.tolist()
    assert income.names == ("10", "20", "30", "40", "70", "90", "1000")
    assert codes_of(income, PEOPLE.assign(income=PEOPLE["income"] + 0.0)).min() == 0


def test_a_value_that_all_but_one_of_a_leaf_have_is_nearly_certain() -> None:
    x, k = np.repeat(np.arange(10.0), 100), np.arange(1000) % 100
    y = (k < 30 + 4 * x).astype(int)
    model = DecisionTreeClassifier(min_samples_leaf=100).fit(x[:, None], y)
    people = pd.DataFrame({"x0": x, "y": y, "ill": np.where(k == 50, "yes", "no"), "odd": k % 2})
    for column, share in (("ill", 1.0), ("odd", 0.0)):
        report = ta.scan(model, train=people, target="y", sensitive=[column])
        (check,) = [one for one in report.checks if one.name == "max-nearly-certain-share"]
        assert check.measured == report["TA110"].details.nearly_certain_share == share
        assert check.status == ("fail" if share else "pass")


def checks_of(model, frame, policy, **options) -> dict:
    made = ta.Policy(name="mine", values={"min-leaf": 5, **policy})
    report = ta.scan(model, train=frame, target="y", policy=made, **options)
    return {one.name: one for one in report.checks}


TOTALS = {"max-nk-leaves": 0, "max-p-percent-leaves": 0}


def test_what_a_person_has_in_several_records_adds_up() -> None:
    """Twenty have 10 a record, one has six records of 2,000: no record is a tenth of the total."""
    rows = [(w, 10.0 + w + j % 3, f"{w}-{j}") for w in range(4) for j in range(20)]
    rows += [(w, 2000.0 + w + j, f"{w}-big") for w in range(2) for j in range(6)]
    frame = pd.DataFrame(rows, columns=["x0", "y", "who"]).astype({"x0": float})
    model = DecisionTreeRegressor(min_samples_leaf=20, random_state=0).fit(frame[["x0"]], frame.y)
    for options, leaves in (({}, 0.0), ({"person": "who"}, 2.0), ({"rows_per_person": 6}, 2.0)):
        found = checks_of(model, frame, TOTALS, **options)
        assert [found[name].measured for name in TOTALS] == [leaves, leaves]


@pytest.mark.parametrize("named", [(), ("note",)])
def test_totals_of_numbers_that_nobody_looked_at_are_no_pass(named) -> None:
    """Of a model of two outputs, and of a table without the target, no total was added up."""
    x = np.arange(200.0)
    both = np.column_stack([x, x**2])
    frame = pd.DataFrame({"x0": x, "note": np.where(x % 2, "a", "b"), "other": "c"})
    for y in (both, x):
        model = DecisionTreeRegressor(min_samples_leaf=50, random_state=0).fit(x[:, None], y)
        made = ta.Policy(name="mine", values={"min-leaf": 5, **TOTALS})
        report = ta.scan(model, train=frame, sensitive=named, policy=made)
        assert [c.status for c in report.checks if c.name in TOTALS] == ["skipped", "skipped"]
        assert report.verdict == "review"


@examples(40)
@given(st.integers(0, 2**32 - 1))
def test_persons_by_hand_and_never_milder_than_records(seed) -> None:
    rng = np.random.default_rng(seed)
    n, n_values = int(rng.integers(1, 60)), int(rng.integers(1, 6))
    who, code = rng.integers(0, 1 + n // int(rng.integers(1, 5)), n), rng.integers(0, n_values, n)
    leaf = np.unique(rng.integers(0, 4, n), return_inverse=True)[1]
    n_leaves = int(leaf.max()) + 1
    records, _ = values_in(leaf, code, n_leaves, n_values)
    persons, size = values_in(leaf, code, n_leaves, n_values, persons=who)
    most = int(np.bincount(leaf * n + who).max())
    fewest, least = values_in(leaf, code, n_leaves, n_values, most=most)
    for one in range(n_leaves):
        people = {p: set(code[(leaf == one) & (who == p)]) for p in who[leaf == one]}
        only = Counter(next(iter(has)) for has in people.values() if len(has) == 1)
        assert size[one] == len(people)
        assert persons.others[one] == len(people) - max(only.values(), default=0)
        assert persons.fewest[one] == min(Counter(v for h in people.values() for v in h).values())
        assert least[one] <= size[one]
        assert fewest.others[one] <= persons.others[one] <= records.others[one]
        assert records.share[one] <= persons.share[one]
        assert (persons.distinct[one] == 1) == (len(set().union(*people.values())) == 1)
    assert persons.trees[0].entropy_l <= records.trees[0].entropy_l
    assert persons.trees[0].t_closeness >= records.trees[0].t_closeness
