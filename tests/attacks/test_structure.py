"""TA207: malformed trees are refused or fail, with what a library would do; genuine ones pass."""

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import SelectKBest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from benchmarks import malformed
from tests.cli.run import run
from treeaudit import MalformedModelError
from treeaudit.findings.policy import BUILT_IN
from treeaudit.model.schema import Feature, Schema
from treeaudit.readers.inspect import describe

OUTSIDE = "could read outside its tables"
ENDLESS = "could look for an answer for ever"
WRONG = "could answer wrongly without an error"
SKLEARN, LIGHTGBM = "scikit-learn up to 1.9", "LightGBM up to 4.7"
UNNAMED = "a library that does not check this"


def refusal(folder: Path, one: malformed.Malformed) -> str:
    path = folder / one.name
    path.write_bytes(one.data)
    with pytest.raises(MalformedModelError) as error:
        ta.load(path)
    return str(error.value)


def named(made: Iterator[malformed.Malformed]) -> dict[str, malformed.Malformed]:
    return {one.name: one for one in made}


@pytest.fixture(scope="module")
def pickles() -> dict[str, malformed.Malformed]:
    return named(malformed.pickles())


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("child-out-of-range", OUTSIDE),
        ("child-before-the-first", OUTSIDE),
        ("ring", ENDLESS),
        ("feature-out-of-range", OUTSIDE),
        ("threshold-no-number", WRONG),
        ("too-few-nodes", WRONG),
        ("values-of-another-shape", "would not load it"),
        ("boosting-left-1073741824", OUTSIDE),
        ("boosting-left-0", ENDLESS),
        ("boosting-feature_idx-1073741824", OUTSIDE),
    ],
)
def test_a_pickle_of_no_tree_is_refused(
    tmp_path: Path, pickles: dict[str, malformed.Malformed], name: str, says: str
) -> None:
    assert refusal(tmp_path, pickles[f"{name}.pkl"]).endswith(f"; {SKLEARN} {says}")


@pytest.mark.parametrize("sizes", [([3], 1), ([2, 2], 2)])
def test_other_classes_than_those_of_the_table_are_refused(tmp_path: Path, sizes: Any) -> None:
    model = DecisionTreeClassifier(max_depth=2).fit(*malformed.people())
    (tree, (features, *_), state), (classes, outputs) = model.tree_.__reduce__(), sizes

    class Stated:
        def __reduce__(self) -> Any:
            return tree, (features, np.array(classes), outputs), state

    model.tree_ = Stated()
    said = refusal(tmp_path, malformed.Malformed("", "model.pkl", pickle.dumps(model)))
    assert said.endswith(
        f"other outputs or classes than its table has; {SKLEARN} would not load it"
    )


@pytest.mark.parametrize("policy", ["default", "outsider", "strict", "acro", "opensafely"])
def test_a_depth_that_is_not_that_of_the_table_fails(
    tmp_path: Path, pickles: dict[str, malformed.Malformed], policy: str
) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(pickles["depth-too-small.pkl"].data)
    report = ta.scan(path, policy=policy, attacks=("TA207",))
    assert report["TA207"].severity == "high"
    assert report["TA207"].details.malformed == 1
    assert "tree_.max_depth: states a depth of 1 and has 4" in report["TA207"].summary
    checks = {check.name: check.status for check in report.checks}
    assert checks["max-malformed-parts"] == "fail"


def test_the_command_says_what_to_do(
    tmp_path: Path, pickles: dict[str, malformed.Malformed]
) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(pickles["ring.pkl"].data)
    done = run("scan", path)
    assert done.returncode == 2
    assert done.stderr.strip().endswith(
        f"{SKLEARN} {ENDLESS}: do not load it, copy it again from where it was trained"
    )


@pytest.mark.slow
@pytest.mark.libraries
def test_skops_files_of_no_tree_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("skops")
    files = named(malformed.archives())
    tolerated = files.pop("depth-too-small.skops")
    assert len(files) == 5
    for one in files.values():
        assert f"; {SKLEARN} could " in refusal(tmp_path, one)
    (tmp_path / tolerated.name).write_bytes(tolerated.data)
    assert ta.scan(tmp_path / tolerated.name, attacks=("TA207",))["TA207"].status == "found"


@pytest.mark.libraries
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("child-out-of-range", OUTSIDE),
        ("leaf-out-of-range", OUTSIDE),
        ("ring", ENDLESS),
        ("feature-out-of-range", OUTSIDE),
        ("set-out-of-range", OUTSIDE),
        ("set-too-long", OUTSIDE),
    ],
)
def test_lightgbm_texts_of_no_tree_are_refused(tmp_path: Path, name: str, says: str) -> None:
    pytest.importorskip("lightgbm")
    one = named(malformed.texts())[f"{name}.txt"]
    assert refusal(tmp_path, one).endswith(f"; {LIGHTGBM} {says}")


@pytest.mark.libraries
def test_xgboost_models_of_no_tree_are_refused_and_no_library_is_named(tmp_path: Path) -> None:
    pytest.importorskip("xgboost")
    files = named(malformed.documents())
    assert len(files) == 4
    for one in files.values():
        assert f"; {UNNAMED} could " in refusal(tmp_path, one)


def iris() -> tuple[np.ndarray, np.ndarray]:
    return load_iris(return_X_y=True)


def test_a_genuine_tree_holds_together(tmp_path: Path) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(DecisionTreeClassifier(max_depth=2).fit(*iris())))
    result = ta.scan(path)["TA207"]
    assert result.status == "clear"
    assert result.summary == "The structure of 5 nodes was checked: they hold together."
    assert dict(result.details) == {
        "malformed": 0,
        "trees": 1,
        "nodes": 5,
        "trusted": [],
        "leftovers": [],
    }
    assert describe(path).structure == "checked: the trees hold together"


def test_no_built_in_policy_of_files_leaves_it_out() -> None:
    asked = {name for name, one in BUILT_IN.items() if "max-malformed-parts" in one.values}
    assert asked == {"default", "outsider", "strict", "acro", "opensafely"}


def test_what_was_not_read_is_not_called_whole() -> None:
    stump = ta.Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-np.inf, -np.inf, 1.5],
        high=[np.inf, 1.5, np.inf],
        n_records=[5, 2, 3],
    )
    forest = ta.Forest(trees=(stump,), schema=Schema(features=(Feature(name="a"),)))
    (result,) = ta.scan(forest, attacks=("TA207",)).results
    assert isinstance(result, ta.Skipped)
    assert "nobody looked" in result.reason


TREE = "sklearn.tree._tree.Tree"


@pytest.mark.libraries
@pytest.mark.parametrize(
    ("model", "listed"),
    [
        (DecisionTreeClassifier(max_depth=2), [TREE]),
        (RandomForestClassifier(2, max_depth=2), [TREE]),
        (
            HistGradientBoostingClassifier(max_iter=2),
            ["sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"],
        ),
        (
            make_pipeline(StandardScaler(), SelectKBest(k=2), DecisionTreeClassifier()),
            ["sklearn.feature_selection._univariate_selection.f_classif", TREE],
        ),
        (
            VotingClassifier([("a", DecisionTreeClassifier())]),
            [TREE, "sklearn.utils._bunch.Bunch"],
        ),
        (
            VotingClassifier([("a", DecisionTreeClassifier()), ("b", KNeighborsClassifier())]),
            [
                "sklearn.metrics._dist_metrics.EuclideanDistance64",
                "sklearn.neighbors._kd_tree.KDTree",
                TREE,
                "sklearn.utils._bunch.Bunch",
            ],
        ),
    ],
)
def test_skops_loads_the_file_with_exactly_the_printed_list(
    tmp_path: Path, model: Any, listed: list[str]
) -> None:
    io = pytest.importorskip("skops.io")
    path = tmp_path / "model.skops"
    io.dump(model.fit(*iris()), path)
    result = ta.scan(path, attacks=("TA207",))["TA207"]
    trusted = result.details["trusted"]
    assert trusted == listed == io.get_untrusted_types(file=path)
    call = f"skops.io.load(path, trusted={trusted})"
    assert call in result.summary
    assert call in str(describe(path).structure)
    shown = run("scan", path, "--attack", "TA207", "--exit-zero").stdout
    assert "".join(f"structure checked; load with {call}".split()) in "".join(shown.split())
    assert (io.load(path, trusted=trusted).predict(iris()[0]) == model.predict(iris()[0])).all()
