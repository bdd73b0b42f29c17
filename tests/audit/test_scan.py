"""The whole audit, on real data and against numbers computed another way."""

import io
import pickle

import joblib
import jsonschema
import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from treeaudit.findings.details import plain_data
from treeaudit.reports.to_json import json_schema


def numbers(report) -> list:
    """Everything that must not depend on how the model was stored."""
    return [
        (f["id"], f["status"], f["leaves"], f["people"], f["details"], f["evidence"])
        for f in report.to_dict()["findings"]
    ]


def straight_from(tree_, k=5) -> dict:
    """The same numbers from scikit-learn's own arrays."""
    leaf = tree_.children_left == -1
    n = tree_.n_node_samples[leaf]
    shares = tree_.value[leaf, 0]
    shares = shares / shares.sum(axis=1, keepdims=True)  # old scikit-learn stores counts
    counts = np.rint(shares * tree_.weighted_n_node_samples[leaf, None])
    pure = (counts > 0).sum(axis=1) == 1
    return {
        "unique_leaves": int((n == 1).sum()),
        "below_k_leaves": int((n < k).sum()),
        "below_k_people": int(n[n < k].sum()),
        "homogeneous_leaves": int(pure.sum()),
        "homogeneous_people": int(n[pure].sum()),
        "class_counts": counts,
    }


def check_against_tree(report, tree_) -> None:
    expected = straight_from(tree_)
    for name in ("unique_leaves", "below_k_leaves", "below_k_people"):
        assert plain_data(report["TA101"].details)[name] == expected[name]
    for name in ("homogeneous_leaves", "homogeneous_people"):
        assert plain_data(report["TA102"].details)[name] == expected[name]
    table = ta.reconstruct(report.forest)
    assert np.array_equal(table.counts(), expected["class_counts"])


def test_adult(adult_tree, tmp_path) -> None:
    path = tmp_path / "adult.pkl"
    path.write_bytes(pickle.dumps(adult_tree))
    report = ta.scan(path)
    check_against_tree(report, adult_tree.tree_)
    assert report.verdict == "fail"
    assert report.exit_code == 1
    assert ta.scan(path, policy="observe").exit_code == 0
    jsonschema.validate(report.to_dict(), json_schema())
    assert report.to_dict()["model"]["n_records"] == 32561


class Old:
    """Pickles a tree the way scikit-learn 1.2 stored it."""

    def __init__(self, tree_) -> None:
        self.tree_ = tree_

    def __reduce__(self):
        cls, args, state = self.tree_.__reduce__()
        nodes = state["nodes"]
        names = [n for n in nodes.dtype.names if n != "missing_go_to_left"]
        old = np.empty(len(nodes), [(n, nodes.dtype[n]) for n in names])
        for name in names:
            old[name] = nodes[name]
        shares = state["values"] / state["values"].sum(axis=2, keepdims=True)
        counts = np.rint(shares * nodes["weighted_n_node_samples"][:, None, None])
        return cls, args, {**state, "nodes": old, "values": counts}


class OldPickler(pickle.Pickler):
    """Writes counts where scikit-learn since 1.4 writes fractions."""

    def reducer_override(self, obj):
        if type(obj).__name__ == "Tree":
            return Old(obj).__reduce__()
        return NotImplemented


@pytest.mark.parametrize("protocol", [2, 5])
def test_the_same_tree_stored_by_scikit_learn_1_2(cancer_tree, protocol) -> None:
    buffer = io.BytesIO()
    OldPickler(buffer, protocol).dump(cancer_tree)
    from treeaudit.readers.limits import LIMITS
    from treeaudit.readers.open import unpack
    from treeaudit.readers.pickle import model

    old = model.read(unpack(buffer.getvalue()), ta.Source(), None, LIMITS)
    new = ta.load(cancer_tree)
    assert not np.array_equal(buffer.getvalue(), pickle.dumps(cancer_tree, protocol))
    assert numbers(ta.scan(old)) == numbers(ta.scan(new))


def test_wrappers_give_the_findings_of_the_bare_tree(cancer, cancer_tree, tmp_path) -> None:
    bare = numbers(ta.scan(cancer_tree))
    grid = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [None]}, cv=2)
    for wrapped in (
        make_pipeline("passthrough", DecisionTreeClassifier(random_state=0)).fit(*cancer),
        grid.fit(*cancer),
        {"model": cancer_tree},
        [cancer_tree],
        ({"deep": (cancer_tree,)},),
    ):
        path = tmp_path / "wrapped.joblib"
        joblib.dump(wrapped, path)
        assert numbers(ta.scan(path)) == bare


def test_a_regressor(cancer) -> None:
    columns, _ = cancer
    model = DecisionTreeRegressor(random_state=0).fit(columns, columns["mean area"])
    report = ta.scan(model)
    assert report["TA101"].details.unique_leaves == int(
        (model.tree_.n_node_samples[model.tree_.children_left == -1] == 1).sum()
    )
    with pytest.raises(KeyError, match="predicts a number, not a class"):
        report["TA102"]
    calm = DecisionTreeRegressor(min_samples_leaf=20, random_state=0)
    passed = ta.scan(calm.fit(columns, columns["mean area"]))
    assert (passed.verdict, passed.exit_code) == ("pass", 0)
    told = {c.name: (c.measured, c.reason) for c in passed.checks}
    assert told["max-certain-share"] == (
        0.0,
        "not applicable: the model predicts a number and holds no labels",
    )
    # Of numbers it is measured.
    assert told["max-nearly-certain-share"] == (0.0, None)


def test_class_weights_are_taken_out_again(cancer) -> None:
    plain = DecisionTreeClassifier(max_depth=3, random_state=0)
    weighted = DecisionTreeClassifier(
        max_depth=3, random_state=0, class_weight={"benign": 1, "malignant": 7}
    ).fit(*cancer)
    report = ta.scan(weighted)
    assert report.forest.counts_are == "exact"
    columns, labels = cancer
    where = weighted.apply(columns)
    table = ta.reconstruct(report.forest)
    for row, leaf in enumerate(table.leaf.tolist()):
        here = labels[where == leaf]
        assert table.counts([row])[0].tolist() == [
            (here == name).sum() for name in report.forest.schema.classes
        ]
    assert ta.scan(plain.fit(*cancer)).forest.counts_are == "exact"


def test_weights_that_cannot_be_taken_out_are_not_called_people(cancer) -> None:
    weights = np.random.default_rng(0).uniform(0.5, 2, len(cancer[1]))
    model = DecisionTreeClassifier(max_depth=3, random_state=0)
    report = ta.scan(model.fit(*cancer, sample_weight=weights))
    assert report.forest.counts_are == "weighted"
    assert report["TA102"].details.measured_on == "weight"


@pytest.mark.parametrize("cls", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("bootstrap", [True, False])
def test_forests(cancer, cls, bootstrap) -> None:
    model = cls(10, bootstrap=bootstrap, random_state=0).fit(*cancer)
    report = ta.scan(model)
    assert report.forest.records_are == ("bootstrap" if bootstrap else "all")
    assert report["TA102"].details.measured_on == ("draws" if bootstrap else "people")
    assert report.to_dict()["model"]["n_records"] == 569
    each = [straight_from(e.tree_) for e in model.estimators_]
    for name in ("unique_leaves", "below_k_people"):
        assert [row[name] for row in report["TA101"].per_tree] == [e[name] for e in each]
    assert [row["homogeneous_people"] for row in report["TA102"].per_tree] == [
        e["homogeneous_people"] for e in each
    ]
    jsonschema.validate(report.to_dict(), json_schema())


def test_chosen_attacks_leave_the_other_checks_open(cancer_tree) -> None:
    report = ta.scan(cancer_tree, attacks=["ta103"])
    assert [f.id for f in report.findings] == ["TA103"]
    assert report.verdict == "review"
    with pytest.raises(KeyError, match="was not run"):
        report["TA101"]
    with pytest.raises(ta.PolicyError, match="no attack TA999"):
        ta.scan(cancer_tree, attacks=["TA999"])


def test_the_hash_is_of_the_file_that_was_scanned(cancer_file, tmp_path) -> None:
    import hashlib

    before = hashlib.sha256(cancer_file.read_bytes()).hexdigest()
    report = ta.scan(cancer_file)
    with cancer_file.open("r+b") as file:
        file.write(b"other")
    assert report.to_dict()["model"]["sha256"] == before
    packed = tmp_path / "packed.joblib"
    joblib.dump({"a": 1}, packed, compress=3)
    from treeaudit.readers.open import open_file

    assert open_file(packed).digest() == hashlib.sha256(packed.read_bytes()).hexdigest()


def test_the_target_names_the_label_without_tables(figure_3) -> None:
    (leaf, *_) = ta.scan(figure_3, target="vote", attacks=["TA102"])["TA102"].evidence
    assert leaf.says.startswith("vote = ")
