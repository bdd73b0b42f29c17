"""Models side by side: claims against the truth, and the page that shows them."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.comparison.measures import claims_of
from treeaudit.defenses import MergeSiblings, PruneLeaves
from treeaudit.model.tree import Tree
from treeaudit.people.records import read_records


def people(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)).round(2)
    return x, np.where(x[:, 0] + rng.normal(0, 0.6, n) > 0, "yes", "no")


@pytest.fixture(scope="module")
def found() -> ta.Comparison:
    train, test = people(600, 0), people(400, 1)
    large = ta.load(DecisionTreeClassifier(random_state=0).fit(*train))
    return ta.compare(
        large,
        MergeSiblings(min_leaf=100).apply(large),
        PruneLeaves(min_leaf=5, unanswered="reject").apply(large),
        names=["large", "merged", "pruned"],
        train=train,
        test=test,
        attacks=["TA101", "TA102", "TA201", "TA202", "TA204", "TA205", "TA206", "TA207"],
    )


def test_what_each_gives_away(found) -> None:
    large, merged, pruned = found.models
    assert large.claims.alone > 30
    assert large.claims.alone_true == large.claims.alone
    assert large.claims.certain == large.claims.certain_true == 600
    assert merged.claims.smallest >= 100
    assert merged.claims.alone == pruned.claims.alone == 0
    assert (large.report.verdict, merged.report.verdict) == ("fail", "pass")


def test_what_each_is_good_for(found) -> None:
    large, merged, pruned = found.models
    assert merged.utility.accuracy.value > large.utility.accuracy.value
    assert pruned.utility.coverage.value < 1 == merged.utility.coverage.value
    assert pruned.utility.right_of_all.value < pruned.utility.accuracy.value
    assert found.best is merged


def test_other_people_are_noted_and_not_believed() -> None:
    model = ta.load(DecisionTreeClassifier(max_depth=2).fit(*people(300, 0)))
    found = ta.compare(model, train=people(300, 1), attacks=["TA101"])
    assert "is not the training data" in found.models[0].notes[0]


def test_claims_that_are_not_true() -> None:
    """A noisy stump says 1 and 8; in truth 3 and 6 people end there."""
    noisy = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-np.inf, -np.inf, 0],
                 high=[np.inf, 0, np.inf], counts=[[3, 6], [1, 0], [0, 8]])  # fmt: skip
    schema = ta.Schema.numeric(1, ["no", "yes"])
    forest = ta.Forest(trees=(noisy,), schema=schema, counts_are="noisy")
    x = np.array([[-1.0]] * 3 + [[1.0]] * 6)
    y = ["no", "yes", "yes"] + ["yes"] * 5 + ["no"]
    claims = claims_of(ta.reconstruct(forest), read_records((x, y), forest))
    assert (claims.alone, claims.alone_true) == (1, 0)
    assert (claims.certain, claims.certain_true) == (9, 1 + 5)


def test_files_keep_their_names(tmp_path) -> None:
    model = ta.load(DecisionTreeClassifier(max_depth=2).fit(*people(200, 0)))
    paths = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        paths.append(ta.save(model, tmp_path / folder / "m.json"))
    assert [m.name for m in ta.compare(*paths).models] == [str(path) for path in paths]
    assert [m.name for m in ta.compare(paths[0]).models] == ["m.json"]
