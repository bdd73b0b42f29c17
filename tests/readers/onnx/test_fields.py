"""Content of ONNX files beyond the trees: listed by path and size, exporters' own not."""

import numpy as np
import pytest

import treeaudit as ta
from tests.contracts.test_looked import X, Y, plain
from tests.libraries import library

LONG = "33,yes;" * 100


def left(path):
    return [(one.kind, one.where, one.n) for one in ta.load(path).extras.found]


def numbers(model):
    return pytest.importorskip("onnx").numpy_helper.from_array(model, "rows")


def hidden_in_onnx(where):
    onnx = pytest.importorskip("onnx")
    made = pytest.importorskip("skl2onnx").to_onnx(plain(), X[:1])
    graph, text = made.graph, "33,yes;54,no"
    constant = onnx.helper.make_node("Constant", [], ["c"], value=numbers(X))
    match where:
        case "initializer":
            graph.initializer.append(numbers(X))
        case "constant":
            graph.node.append(constant)
        case "subgraph":
            inner = onnx.helper.make_graph([], "inner", [], [], initializer=[numbers(X)])
            graph.node.append(onnx.helper.make_node("If", ["b"], ["o"], then_branch=inner))
        case "function":
            made.functions.append(
                onnx.helper.make_function("own", "f", [], ["c"], [constant], made.opset_import)
            )
        case "sparse":
            sparse = onnx.helper.make_sparse_tensor(
                numbers(np.ones(3, np.float32)), numbers(np.arange(3)), [9]
            )
            graph.sparse_initializer.append(sparse)
        case "external":
            tensor = numbers(X)
            tensor.ClearField("raw_data")
            tensor.data_location = onnx.TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value="rows.bin")
            graph.initializer.append(tensor)
        case "table":
            graph.initializer.append(numbers(X[:9]))
        case "metadata":
            made.metadata_props.add(key="rows", value=text)
        case "doc of the model":
            made.doc_string = text
        case "long doc of the model":
            made.doc_string = LONG
        case "doc of the graph":
            graph.doc_string = text
        case "doc of a node":
            graph.node[0].doc_string = text
        case "doc of an attribute":
            graph.node[0].attribute[0].doc_string = text
        case "doc of an input":
            graph.input[0].doc_string = text
        case "training":
            made.training_info.add()
            made.training_info[0].algorithm.name = text
        case "hit rates":
            rates = next(a for a in graph.node[0].attribute if a.name == "nodes_hitrates")
            rates.floats[0] = 200
        case "attribute":
            graph.node[0].attribute.append(onnx.helper.make_attribute("people", X.ravel().tolist()))
        case "attribute of another":
            other = onnx.helper.make_node("ZipMap", ["a"], ["b"], people=X.ravel().tolist())
            graph.node.append(other)
        case "another ensemble":
            graph.node.append(onnx.helper.make_node("TreeEnsembleRegressor", ["a"], ["b"]))
    return made


@pytest.mark.parametrize(
    ("where", "kind", "at"),
    [
        ("initializer", "records", "graph.initializer[rows]"),
        ("constant", "records", "graph.Constant.value"),
        ("subgraph", "records", "graph.If.then_branch.initializer"),
        ("function", "records", "functions.Constant.value"),
        ("sparse", "extra", "graph.sparse_initializer"),
        ("external", "unseen", "graph.initializer"),
        ("table", "extra", "graph.initializer[rows]"),
        ("metadata", "notes", "metadata_props.value"),
        ("doc of the model", "notes", "doc_string"),
        ("long doc of the model", "extra", "doc_string"),
        ("doc of the graph", "notes", "graph.doc_string"),
        ("doc of a node", "notes", "graph.TreeEnsembleClassifier.doc_string"),
        ("doc of an attribute", "notes", "graph.TreeEnsembleClassifier.class_ids.doc_string"),
        ("doc of an input", "notes", "graph.input.doc_string"),
        ("training", "extra", "training_info"),
        ("hit rates", "extra", "graph.TreeEnsembleClassifier.nodes_hitrates"),
        ("attribute", "extra", "graph.TreeEnsembleClassifier.people"),
        ("attribute of another", "extra", "graph.ZipMap"),
        ("a field of no version", "extra", "field 99"),
    ],
)
def test_places_in_onnx(tmp_path, where, kind, at) -> None:
    path = tmp_path / "m.onnx"
    content = hidden_in_onnx(where).SerializeToString()
    if where == "a field of no version":
        content += bytes([0x9A, 0x06, 3]) + b"abc"
    path.write_bytes(content)
    assert (kind, at) in [one[:2] for one in left(path)]


@pytest.mark.parametrize("where", ["graph", "attribute", "input", "result", "table"])
def test_what_stands_twice_in_onnx_is_refused(tmp_path, where) -> None:
    """Of two, programs take the first, the last, or both."""
    onnx = pytest.importorskip("onnx")
    made = hidden_in_onnx("nowhere")
    graph, more = made.graph, b""
    match where:
        case "graph":
            more = b"\x3a\x03\x12\x01a"
        case "attribute":
            graph.node[0].attribute.append(graph.node[0].attribute[0])
        case "input":
            graph.input.append(graph.input[0])
        case "result":
            graph.node.append(onnx.helper.make_node("Identity", ["a"], [graph.node[0].output[0]]))
        case "table":
            values = onnx.helper.make_attribute("nodes_values_as_tensor", numbers(X))
            graph.node[0].attribute.append(values)
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString() + more)
    with pytest.raises(ta.ReadError, match="damaged"):
        ta.load(tmp_path / "m.onnx")


@pytest.mark.libraries
@pytest.mark.parametrize("names", [True, False])
@pytest.mark.parametrize("options", [{}, {"zipmap": False}, {"zipmap": "columns"}])
def test_what_skl2onnx_writes_is_not_listed(tmp_path, names, options) -> None:
    skl2onnx = library("skl2onnx")
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    x = np.column_stack([X[:, 0], X[:, 1] > 0]).astype(np.float32)
    steps = make_column_transformer((OneHotEncoder(), [1]), remainder="passthrough")
    last = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=1, random_state=0)
    model = make_pipeline(steps, last).fit(x, Y)
    kind = skl2onnx.common.data_types.FloatTensorType([None, 2])
    made = skl2onnx.convert_sklearn(
        model, "third model" if names else None, [("people", kind)], options={id(last): options}
    )
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    assert left(tmp_path / "m.onnx") == []


def test_a_plain_onnx_explains_itself(tmp_path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(hidden_in_onnx("nowhere").SerializeToString())
    assert left(path) == []


def test_another_ensemble_of_an_onnx_file_is_named(tmp_path) -> None:
    made = hidden_in_onnx("another ensemble")
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    forest = ta.load(tmp_path / "m.onnx", select=made.graph.node[0].name)
    assert any("not audited" in one.says for one in forest.extras.found)


def test_an_operator_of_its_own_is_code(tmp_path) -> None:
    onnx = pytest.importorskip("onnx")
    made = hidden_in_onnx("nowhere")
    made.graph.node.append(onnx.helper.make_node("Mine", ["a"], ["b"], domain="my.company"))
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    assert left(tmp_path / "m.onnx") == [("calls", "graph.Mine", 1)]
    assert ta.scan(tmp_path / "m.onnx")["TA205"].severity == "low"


def test_neighbours_of_an_imputer_are_not_clear_in_onnx(tmp_path) -> None:
    """The table that KNNImputer keeps is in the ONNX file as it is in the pickle."""
    from sklearn.impute import KNNImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.tree import DecisionTreeClassifier

    to_onnx = pytest.importorskip("skl2onnx").to_onnx
    x = X.copy()
    x[::9, 1] = np.nan
    model = make_pipeline(KNNImputer(), DecisionTreeClassifier(min_samples_leaf=20)).fit(x, Y)
    (tmp_path / "m.onnx").write_bytes(to_onnx(model, x[:1]).SerializeToString())
    found = ta.load(tmp_path / "m.onnx").extras.found
    assert any("200 × 3" in one.says and one.kind == "records" for one in found)
