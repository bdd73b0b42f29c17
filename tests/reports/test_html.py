"""The HTML report: what it says, what it escapes, what it leaves out."""

import base64
import hashlib
import json
import re
from datetime import date
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from tests.strategies import examples, forests
from treeaudit import Feature, Forest, Schema, Source, Tree, compare, scan
from treeaudit.findings.baseline import accepted_report
from treeaudit.model.source import KINDS, Extras
from treeaudit.model.tree import CategorySets
from treeaudit.repair.suggestion import with_fix
from treeaudit.reports.advice import next_steps
from treeaudit.reports.html import to_html

INF = np.inf
VOID = {"meta", "link", "input", "wbr", "br", "col"}


class Page(HTMLParser):
    """The visible text, the tooltips, the ids and the nesting of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))

    def named(self, tag: str) -> list[dict]:
        return [attrs for name, attrs in self.tags if name == tag]


def flat(sizes, counts=None, classes=("no", "yes"), name="age", **more) -> Forest:
    """A tree with one group per size, cut by one feature, read from a file with no more in it."""
    n = len(sizes)
    if counts is None and classes is not None:
        counts = [[1, s - 1] if s > 1 else [1, 0] for s in sizes]
    tree = Tree(
        parent=[-1] + [0] * n,
        feature=[-1] + [0] * n,
        low=[-INF] + [float(i) for i in range(n)],
        high=[INF] + [float(i + 1) for i in range(n)],
        n_records=[sum(sizes), *sizes],
        counts=None if counts is None else [np.sum(counts, axis=0), *counts],
        value=np.arange(n + 1) if classes is None else None,
    )
    schema = Schema.numeric([name], classes)
    looked = Extras(looked_for=KINDS)
    return Forest(trees=(tree,), schema=schema, n_records=sum(sizes), extras=looked, **more)


def page_of(model, policy="default", **options) -> Page:
    return Page(to_html(scan(model, policy=policy), **options))


def headline(model, policy="default", **options) -> str:
    text = to_html(scan(model, policy=policy), **options)
    inner = re.search(r'<p class="headline">(.*?)</p>', text).group(1)
    return re.sub("<.*?>", "", inner)


def pill(model, policy="default") -> str:
    text = to_html(scan(model, policy=policy))
    return re.search(r'<p class="answer"><span class="pill">(.*?)</span>', text).group(1)


# --- the verdict ------------------------------------------------------------------------------


def test_one_person_alone():
    assert headline(flat([1, 20, 30])) == (
        "Anyone who can read this file can single out 1 person, and knows the label of 1 person "
        "for certain."
    )
    assert pill(flat([1, 20, 30])) == "✕ FAIL · HIGH RISK"


def test_nothing_found():
    model = flat([8, 30], counts=[[3, 5], [12, 18]])
    assert headline(model) == (
        "Nobody stands alone in this file: every group holds at least 8 people, and in none of "
        "them has everybody the same label."
    )
    assert pill(model).startswith("✓ PASS")


def test_a_model_that_predicts_a_number():
    model = flat([1, 30], classes=None, counts_are="absent", counts_reason="it predicts a number")
    assert headline(model) == (
        "Anyone who can read this file can single out 1 person, and knows the number of 1 person "
        "exactly."
    )
    text = page_of(model).text
    assert "predicted value" in text
    assert "NOT RUN" in text
    assert "it predicts a number" in text


def test_a_forest_speaks_of_its_worst_tree():
    one, two = flat([1, 1, 9]).trees[0], flat([1, 9, 20]).trees[0]
    model = Forest(trees=(two, one), schema=Schema.numeric(1, ["no", "yes"]))
    assert headline(model).startswith(
        "In one tree alone, anyone who can read this file can single out 2 people"
    )
    text = page_of(model).text
    assert "over 2 trees" in text
    assert "2 trees, a column each" in text


def test_no_headline_joins_numbers_of_two_trees():
    """The tree with the most people alone is not the one with the most certain labels."""
    alone, certain = flat([1, 1, 9]), flat([1, 10], counts=[[1, 0], [10, 0]])
    model = Forest(trees=(certain.trees[0], alone.trees[0]), schema=alone.schema, n_records=11)
    assert headline(model) == (
        "In one tree alone, anyone who can read this file can single out 2 people, and knows the "
        "label of 2 people for certain."
    )


def test_labels_that_differ_from_tree_to_tree_are_named():
    one, two = flat([3, 9]).trees[0], flat([4, 9]).trees[0]
    model = Forest(
        trees=(one, two),
        schema=Schema.numeric(1, ["no", "yes"]),
        tree_classes=(("not a", "a"), ("not b", "b")),
    )
    text = page_of(model).text
    assert "8 × a, 1 × not a" in text
    assert "8 × b, 1 × not b" in text


def test_no_sizes_is_no_pass():
    tree = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-INF, -INF, 1], high=[INF, 1, INF])
    model = Forest(trees=(tree,), schema=Schema.numeric(1, ["a", "b"]), counts_are="absent")
    assert "nothing was measured" in headline(model)
    assert pill(model).startswith("– REVIEW")
    page = page_of(model)
    assert [attrs["id"] for attrs in page.named("tr") if "id" in attrs] == ["t0-1", "t0-2"]
    assert "2 groups rebuilt" in page.text


def test_observing_claims_no_pass():
    model = flat([8, 30])
    assert pill(model, "observe") == "OBSERVED · no checks"
    assert "PASS ·" not in page_of(model, "observe").text


@pytest.mark.parametrize("policy", ["default", "strict", "observe"])
@pytest.mark.parametrize("sizes", [[1], [1, 2], [50], [1, 1, 1, 7], [60, 70]])
def test_plurals(sizes, policy):
    text = page_of(flat(sizes), policy).text
    assert not re.search(r"\b1 (people|leaves|groups|trees|checks)\b", text), text
    assert not re.search(r"(?<![\d,.])([02-9]|\d\d+) (person|leaf|group)\b", text), text


# --- claim, verification and control ----------------------------------------------------------


def people_of(size: int, seed: int, leaves: int = 3):
    """Rows for `flat`: one number that falls into one of its leaves, and a label."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(0, leaves, size) + 0.5})
    frame["label"] = np.where(rng.random(size) < 0.8, "yes", "no")
    return frame


def routed(frame, leaves: int = 3) -> Forest:
    """The tree that holds exactly these people."""
    leaf = frame["age"].astype(int)
    counts = [
        [((leaf == i) & (frame["label"] == c)).sum() for c in ("no", "yes")] for i in range(leaves)
    ]
    return flat([sum(row) for row in counts], counts=counts)


def small_and_large() -> tuple[Forest, "pd.DataFrame", "pd.DataFrame"]:
    """A leaf of three memorised people, and a large leaf that states a fact."""
    train = people_of(60, 0).assign(age=1.5, label="yes")
    train.loc[:2, ["age", "label"]] = [0.5, "no"]
    train.loc[3:22, "age"] = 2.5
    train.loc[3:12, "label"] = "no"
    test = people_of(200, 1)
    test.loc[test["age"] == 0.5, "label"] = "yes"
    test.loc[test["age"] == 1.5, "label"] = "yes"
    return routed(train), train, test


def test_the_verdict_tells_how_many_are_memory():
    model, train, test = small_and_large()
    text = Page(to_html(scan(model, train=train, test=test))).text
    said = re.sub(r" \.", ".", text)
    told = re.search(
        r"About 3 of 3 \((\d)–3\) beyond what unseen people would show\. In leaves", said
    )
    assert int(told[1]) > 0
    assert re.search(r"About 0 of 37 \(0–\d\) beyond what unseen people would show\.", said)
    assert "Memory." not in said
    assert "Fact of the population" not in said


def test_without_unseen_people_the_card_says_what_to_give():
    model, train, _ = small_and_large()
    assert "give people who were not in the training data with --test" in page_of(model).text
    text = Page(to_html(scan(model, train=train))).text
    assert "only unseen people (--test) tell memory from fact" in text
    assert "Held against unseen people" not in text


def test_the_footer_tells_what_the_page_was_made_from():
    model, train, test = small_and_large()
    alone = to_html(scan(model, attacks=["TA101"]))
    held = to_html(scan(model, train=train, test=test, attacks=["TA101"]))
    for text, made in ((alone, "the model file alone"), (held, "the model file and train, test")):
        (foot,) = re.findall(r"<footer>(.*?)</footer>", text)
        assert foot.endswith(f"one file, no network · made from {made}")


def test_what_is_filed_is_opened_in_print(cancer_tree):
    page = to_html(scan(cancer_tree))
    filed = page[page.index('<details class="fold filed">') :]
    for text in ("Hash of the policy", "What a PASS does not mean", "min-leaf = 5"):
        assert text in filed
    assert ":is(.filed, .how):not([open])::details-content" in page.split("@media print")[1]
    assert '<p class="id-of-file">Policy default' in page


def test_words_of_the_field_are_explained_where_they_stand_first():
    text = page_of(flat([1, 20, 30])).text
    for word, means in (
        ("t-closeness", "how far the labels of a group are from everybody's, 0 to 1"),
        ("entropy l-diversity", "groups of at least l different labels"),
    ):
        told = re.search(rf"{word}\W+{re.escape(means)}", text)
        assert told is not None
        assert text.index(word) == told.start()
    assert "who knows that the person is in the data (prosecutor risk)" in text


def test_the_command_repeats_the_tables(tmp_path):
    model, train, test = small_and_large()
    train.to_csv(tmp_path / "tr ain.csv", index=False)
    test.to_csv(tmp_path / "test.csv", index=False)
    report = scan(model, train=tmp_path / "tr ain.csv", test=tmp_path / "test.csv", seed=3)
    text = Page(to_html(report)).text
    told = "train='tr ain.csv', test='test.csv', policy='default', seed=3"
    assert f"treeaudit.scan(model, {told}) # model: Forest" in text
    assert "tr ain.csv, 60 rows" in text


def test_the_repair_that_was_tried_is_told(cancer_tree):
    alone = scan(cancer_tree)
    report = with_fix(alone)
    text = Page(to_html(report)).text
    assert report.fix.passed
    # Advice that nobody tried says so, and is left out where a repair was seen to pass.
    advice = [step.text for step in next_steps(alone)]
    advice = [text for text in advice if re.search("train again|leaves larger", text)]
    assert advice
    assert all(text.startswith("not tried: ") for text in advice)
    assert not [step for step in next_steps(report) if "not tried" in step.text]
    assert "Passes every check" in text
    assert "treeaudit.save(treeaudit.defend(model), 'safer.pkl')" in text
    assert f"{report.fix.leaves[0]} → {report.fix.leaves[1]} leaves" in text


def test_what_was_accepted_before_is_no_plain_pass(tmp_path):
    model = flat([1, 20, 30])
    data = json.loads(scan(model).to_json())
    data = accepted_report(data, by="Ada", until=date(9999, 12, 31), reason="inside only")
    (tmp_path / "accepted.json").write_text(json.dumps(data))
    text = Page(to_html(scan(model, baseline=tmp_path / "accepted.json"))).text
    assert "No worse than what was accepted before; the policy alone would fail it." in text
    assert "accepted, was 1" in text
    assert "baseline='accepted.json'" in text
    safe = scan(model, baseline=tmp_path / "accepted.json")
    assert "was 1" not in Page(to_html(safe, release_safe=True)).text


# --- hostile text -----------------------------------------------------------------------------

HOSTILE = "<script>alert(1)</script>\"'{{ 7*7 }}\u202e" + "x" * 10_000


def hostile() -> Forest:
    schema = Schema(
        features=(Feature(name=HOSTILE, categories=(HOSTILE, "b")),),
        classes=(HOSTILE, "</title><img src=x onerror=alert(1)>"),
        target=HOSTILE,
    )
    tree = Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-INF] * 3,
        high=[INF] * 3,
        categories=CategorySets(start=[0, 0, 1, 2], codes=[0, 1]),
        n_records=[11, 1, 10],
        counts=[[6, 5], [1, 0], [5, 5]],
    )
    source = Source(
        path=f"models/{HOSTILE[:200].replace('/', '')}.pkl",
        estimator=HOSTILE,
        library_version=HOSTILE,
    )
    return Forest(
        trees=(tree,),
        schema=schema,
        source=source,
        warnings=(HOSTILE,),
        counts_reason=HOSTILE,
        n_records=11,
    )


@pytest.mark.parametrize("safe", [False, True])
def test_hostile_text_is_shown_as_text(safe):
    text = to_html(scan(hostile()), release_safe=safe)
    page = Page(text)
    assert text.count("<script>") == (0 if safe else 1)  # ours
    assert not page.named("img")
    assert "\u202e" not in text
    assert "{{ 7*7 }}" in page.text
    assert not [a for _, attrs in page.tags for a in attrs if a.startswith("on")]


@examples(25)
@given(forests())
def test_every_model_gives_a_well_formed_page(forest):
    for safe in (False, True):
        page = page_of(forest, release_safe=safe)
        ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
        assert len(ids) == len(set(ids))
        for link in page.named("a"):
            assert link["href"][1:] in ids


# --- a copy that may leave the room -----------------------------------------------------------

SMALL = re.compile(r"(?<![\d.,=])[1-4] (?:person|people|records?|× )|smallest [1-4]\b")


def test_a_safe_copy_holds_no_small_count():
    model = flat([1, 2, 3, 4, 40, 33, 60])
    assert SMALL.search(page_of(model).text)
    page = page_of(model, release_safe=True)
    assert not SMALL.search(page.text), page.text
    assert "fewer than 5" in page.text
    assert "Release-safe copy" in page.text


def test_a_safe_copy_does_not_tell_small_groups_apart():
    pages = [
        to_html(scan(flat([*small, 4000, 3300, 6000])), release_safe=True)
        for small in ([1, 1, 4, 4], [1, 2, 3, 4], [4, 3, 2, 1], [1, 1, 1, 7])
    ]
    assert len(set(pages)) == 1


def test_a_safe_copy_rounds_so_that_nothing_can_be_subtracted():
    text = page_of(flat([2, 41, 58]), release_safe=True).text
    assert not re.search(r"\b101\b", text)
    assert "about 100 people" in text
    assert " 41 " not in text


def test_a_page_is_one_file_without_a_network():
    text = to_html(scan(flat([1, 9])))
    assert "default-src 'none'" in text
    assert not re.search(r'(?:src|href)="(?!#|data:)', text)
    assert "url(" not in text
    assert "@import" not in text


def test_a_page_allows_its_own_style_and_script_by_their_hashes(tmp_path):
    """And nothing else: no other block, no style attribute, no event handler."""
    model = flat([1, 9], name="<b onclick='x'>", classes=("</style><script>x</script>", "yes"))
    pages = [to_html(scan(model), release_safe=safe) for safe in (False, True)]
    pages.append(compare(model, flat([30, 40])).save(tmp_path / "c.html").read_text("utf-8"))
    for text in pages:
        page = Page(text)
        (policy,) = [
            m["content"] for m in page.named("meta") if "content" in m and "default" in m["content"]
        ]
        blocks = re.findall(r"(?s)<(style|script)>(.*?)</\1>", text)
        names = [name for name, _ in blocks]
        assert names == (["style", "script"] if "script-src" in policy else ["style"])
        asked = ["default-src 'none'"]
        for name, block in blocks:
            digest = base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()
            asked.append(f"{name}-src 'sha256-{digest}'")
        assert policy == "; ".join([*asked, "img-src data:"])
        assert len(page.named("style") + page.named("script")) == len(blocks)
        assert not [
            (tag, name)
            for tag, attrs in page.tags
            for name in attrs
            if name == "style" or name.startswith("on")
        ]


def test_an_attack_that_was_not_asked_for_is_not_a_pass():
    report = scan(flat([1, 30]), attacks=["TA102"])
    text = Page(to_html(report)).text
    assert "TA101 was not run" in text
    assert "Singling out" not in text


def test_what_is_in_the_report_is_in_the_page(cancer_tree):
    report = scan(cancer_tree)
    text = Page(to_html(report)).text
    for finding in report.findings:
        assert finding.title in text
        assert f"{finding.people:,}" in text
        for leaf in finding.evidence:
            assert f"Leaf {leaf.leaf}" in text
