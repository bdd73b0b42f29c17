"""ONNX tree ensembles: routed as onnxruntime routes them, and never believed."""

import random
import struct

import numpy as np
import pytest

from tests.fuzz.model_text import mutate
from tests.libraries import library
from tests.readers.damage import same_ends, sentence_or_model
from treeaudit.errors import ModelTooLargeError, ReadError, UnsupportedModelError
from treeaudit.model.source import Source
from treeaudit.readers.limits import LIMITS
from treeaudit.readers.onnx import model as onnx_model
from treeaudit.readers.onnx.graph import read_graph
from treeaudit.readers.onnx.trees import Ensemble, from_leaf_table, from_node_table
from treeaudit.readers.open import unpack

pytestmark = pytest.mark.libraries
onnx = library("onnx")
ort = library("onnxruntime")

ML = "ai.onnx.ml"
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def read(data, select=None):
    content = unpack(data)
    assert onnx_model.matches(content)
    return onnx_model.read(content, Source(), select, LIMITS)


def model_of(nodes, n_features=3, element=1, outputs=None, version=3, **more):
    inputs = [onnx.helper.make_tensor_value_info("X", element, [None, n_features])]
    outputs = outputs or [onnx.helper.make_tensor_value_info("Y", element, None)]
    graph = onnx.helper.make_graph(nodes, "g", inputs, outputs, **more)
    opsets = [onnx.helper.make_opsetid(ML, version), onnx.helper.make_opsetid("", 18)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="me")


def regressor(nodes, weights, name="trees", **more):
    """A TreeEnsembleRegressor from (tree, id, mode, feature, value, true, false, missing)."""
    columns = list(zip(*nodes, strict=True))
    given = {
        "nodes_treeids": columns[0],
        "nodes_nodeids": columns[1],
        "nodes_modes": columns[2],
        "nodes_featureids": columns[3],
        "nodes_values": [float(v) for v in columns[4]],
        "nodes_truenodeids": columns[5],
        "nodes_falsenodeids": columns[6],
        "nodes_missing_value_tracks_true": columns[7],
        "target_treeids": [w[0] for w in weights],
        "target_nodeids": [w[1] for w in weights],
        "target_ids": [0] * len(weights),
        "target_weights": [float(w[2]) for w in weights],
        "n_targets": 1,
    }
    given.update(more)
    given = {key: value for key, value in given.items() if value is not None}
    return onnx.helper.make_node(
        "TreeEnsembleRegressor", ["X"], ["Y"], domain=ML, name=name, **given
    )


def stump(mode="BRANCH_LEQ", value=0.5, missing=0, **more):
    nodes = [(0, 0, mode, 1, value, 1, 2, missing)]
    nodes += [(0, i, "LEAF", 0, 0, 0, 0, 0) for i in (1, 2)]
    return regressor(nodes, [(0, 1, 10), (0, 2, 20)], **more)


def run(model, x):
    session = ort.InferenceSession(model.SerializeToString())
    return session.run(None, {session.get_inputs()[0].name: x})


def edge_values(forest, n_features, rng, n=400):
    """Random rows, mostly with values exactly at, or one step beside, a threshold."""
    steps = [np.float32(0)]
    for tree in forest.trees:
        for bound in (*tree.low, *tree.high):
            if np.isfinite(bound):
                t = np.float32(bound)
                steps += [t, np.nextafter(t, np.float32(-9)), np.nextafter(t, np.float32(9e9))]
    x = rng.choice(np.array(steps, dtype=np.float32), (n, n_features))
    x[rng.random(x.shape) < 0.2] = rng.normal(size=(n, n_features))[0, 0]
    x[rng.random(x.shape) < 0.1] = np.nan
    return x


def sums(forest, x):
    at = forest.apply(x)
    return sum(tree.value[at[:, i]] for i, tree in enumerate(forest.trees))


@pytest.mark.parametrize("missing", [0, 1])
@pytest.mark.parametrize("mode", MODES)
def test_every_mode_at_the_threshold_and_beside_it(mode, missing):
    for value in (0.5, 0.1, 0.0, -0.0, -3.7, 1e30):
        model = model_of([stump(mode, value, missing)])
        forest = read(model.SerializeToString())
        t = np.float32(value)
        beside = [t, np.nextafter(t, np.float32(-9e35)), np.nextafter(t, np.float32(9e35))]
        column = np.array([*beside, 0, -0.0, 1, np.nan, 1e38, -1e38], dtype=np.float32)
        x = np.column_stack([column * 0, column, column * 0])
        assert sums(forest, x).tolist() == run(model, x)[0].ravel().tolist(), (mode, value)


def random_trees(rng, n_trees, depth, modes):
    """Trees with ids that are not in order, and nodes that are not either."""
    nodes, weights = [], []
    for tree in range(n_trees):
        ids = iter(rng.permutation(2 ** (depth + 1)))
        todo = [(next(ids), 0)]
        while todo:
            node, level = todo.pop()
            if level == depth or rng.random() < 0.2:
                nodes.append((tree, node, "LEAF", 0, 0, 0, 0, 0))
                weights.append((tree, node, rng.integers(1, 99)))
                continue
            true, false = next(ids), next(ids)
            value = np.float32(rng.integers(0, 4) / 3)
            test = (rng.choice(modes), rng.integers(0, 3), value, true, false, rng.integers(0, 2))
            nodes.append((tree, node, *test))
            todo += [(true, level + 1), (false, level + 1)]
    order = rng.permutation(len(nodes))
    nodes = sorted((nodes[i] for i in order), key=lambda node: node[0])
    return [tuple(v.item() if hasattr(v, "item") else v for v in n) for n in nodes], weights


@pytest.mark.parametrize("modes", [*([mode] for mode in MODES), MODES], ids=str)
def test_random_ensembles_with_ids_in_any_order(modes):
    rng = np.random.default_rng(len(modes[0]))
    nodes, weights = random_trees(rng, 4, 4, modes)
    # onnxruntime takes the first node of a tree for its root.
    children = {(n[0], c) for n in nodes if n[2] != "LEAF" for c in (n[5], n[6])}
    nodes.sort(key=lambda n: (n[0], (n[0], n[1]) in children))
    weights = [tuple(int(v) for v in w) for w in weights]
    model = model_of([regressor(nodes, weights)])
    forest = read(model.SerializeToString())
    assert forest.n_trees == 4
    x = edge_values(forest, 3, rng)
    assert sums(forest, x).tolist() == run(model, x)[0].ravel().tolist()


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(300, 4)).astype(np.float32).round(2)
    y = (x[:, 0] + x[:, 1] > 0).astype(int) + (x[:, 2] > 0.7)
    return x, y


def votes_of(data):
    """The ensemble behind a file, to compare what its leaves add."""
    graph = read_graph(memoryview(data), 10**6)
    node = next(n for n in graph.nodes if n.operator.startswith("TreeEnsemble"))
    attributes = node.attributes()
    n = 9
    if node.operator == "TreeEnsemble":
        return Ensemble(from_leaf_table(attributes, n))
    prefix = "class" if node.operator == "TreeEnsembleClassifier" else "target"
    return Ensemble(from_node_table(attributes, prefix, n))


@pytest.mark.parametrize("kind", ["DecisionTree", "RandomForest", "ExtraTrees"])
@pytest.mark.parametrize("task", ["Classifier", "Regressor"])
def test_skl2onnx_models_end_in_the_leaves_of_onnxruntime(kind, task, data):
    skl2onnx = pytest.importorskip("skl2onnx")
    import sklearn.ensemble
    import sklearn.tree

    x, y = data
    maker = getattr(sklearn.tree if kind == "DecisionTree" else sklearn.ensemble, kind + task)
    several = {} if kind == "DecisionTree" else {"n_estimators": 4}
    fitted = maker(max_depth=5, random_state=0, **several)
    labels = np.array(["low", "mid", "high"], dtype=object)
    fitted.fit(x, labels[y] if task == "Classifier" else y)
    options = {"zipmap": False} if task == "Classifier" else None
    model = skl2onnx.to_onnx(fitted, x[:1], options=options)
    stored = model.SerializeToString()
    forest = read(stored)
    assert forest.counts_are == "absent"
    assert forest.single_precision
    assert forest.source.library_version.startswith("skl2onnx ")
    rows = edge_values(forest, 4, np.random.default_rng(1))
    rows = np.vstack([x, np.nan_to_num(rows)])
    ours = forest.apply(rows)
    theirs = np.column_stack([t.apply(rows) for t in getattr(fitted, "estimators_", [fitted])])
    for i, member in enumerate(getattr(fitted, "estimators_", [fitted])):
        at = member.tree_ if hasattr(member, "tree_") else member
        assert forest.trees[i].n_nodes == at.node_count
        same_ends(ours[:300, i], theirs[:300, i])
    ensemble, outputs = votes_of(stored), run(model, rows)
    scores = np.zeros((len(rows), 3))
    for i in range(ensemble.n_trees):
        node, output, weight = ensemble.votes(i)
        table = np.zeros((forest.trees[i].n_nodes, 3))
        np.add.at(table, (node, output), weight)
        scores += table[ours[:, i]]
    if task == "Regressor":
        assert np.allclose(scores[:, 0], outputs[0].ravel(), atol=1e-5)
        assert np.allclose(sums(forest, rows), outputs[0].ravel(), atol=1e-5)
        return
    assert forest.schema.classes == tuple(fitted.classes_)
    assert np.allclose(scores, outputs[1], atol=1e-5)
    if kind == "DecisionTree":
        label = forest.trees[0].label[ours[:, 0]]
        assert [forest.schema.classes[i] for i in label] == outputs[0].tolist()
    else:
        assert forest.trees[0].label is None


def test_doubles_are_compared_as_doubles():
    value = 0.1 + 1e-12
    doubles = {
        "nodes_values": None,
        "nodes_values_as_tensor": onnx.helper.make_tensor("v", 11, (3,), [value, 0, 0]),
        "target_weights": None,
        "target_weights_as_tensor": onnx.helper.make_tensor("w", 11, (2,), [10, 20]),
    }
    output = [onnx.helper.make_tensor_value_info("Y", 1, None)]
    model = model_of([stump(**doubles)], element=11, outputs=output)
    forest = read(model.SerializeToString())
    assert not forest.single_precision
    column = np.array([0.1, value, np.nextafter(value, -9), np.nextafter(value, 9), 1])
    x = np.column_stack([column] * 3)
    assert sums(forest, x).tolist() == run(model, x)[0].ravel().tolist() == [10, 10, 10, 20, 20]


def test_columns_are_named_by_the_inputs():
    names = ["age", "pay", "zip"]
    concat = onnx.helper.make_node("Concat", names, ["C"], axis=1)
    cast = onnx.helper.make_node("Cast", ["C"], ["X"], to=1)
    model = model_of([concat, cast, stump()])
    del model.graph.input[:]
    model.graph.input.extend(
        onnx.helper.make_tensor_value_info(name, 1, [None, 1]) for name in names
    )
    assert read(model.SerializeToString()).schema.names == names


def test_an_input_that_states_too_few_columns_is_no_damage():
    model = model_of([stump(nodes_featureids=[5, 0, 0])])
    forest = read(model.SerializeToString())
    assert len(forest.schema.features) == 6
    assert "the trees test 6: whoever converted the model stated too few" in forest.warnings[0]


def test_steps_before_the_trees_are_told(data):
    skl2onnx = pytest.importorskip("skl2onnx")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    x, y = data
    scaled = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2)).fit(x, y)
    forest = read(skl2onnx.to_onnx(scaled, x[:1]).SerializeToString())
    assert "transforms the columns first (Scaler)" in forest.warnings[0]


def floats(name, values):
    return onnx.helper.make_tensor(name, onnx.TensorProto.FLOAT, (len(values),), values)


def leaf_table(version_5=True, **changes):
    """A TreeEnsemble of version 5: a member test, a chain below it, and a tree of one leaf."""
    given = {
        "n_targets": 1,
        "tree_roots": [0, 2],
        "nodes_modes": onnx.helper.make_tensor("m", onnx.TensorProto.UINT8, (3,), [6, 0, 0]),
        "nodes_featureids": [0, 1, 0],
        "nodes_splits": floats("s", [0.0, 0.5, 0.0]),
        "nodes_truenodeids": [0, 1, 3],
        "nodes_trueleafs": [1, 1, 1],
        "nodes_falsenodeids": [1, 2, 3],
        "nodes_falseleafs": [0, 1, 1],
        "leaf_targetids": [0, 0, 0, 0],
        "leaf_weights": floats("w", [1.0, 2.0, 4.0, 16.0]),
        "membership_values": floats("v", [2.0, 5.0, 7.0, np.nan]),
    }
    given.update(changes)
    given = {key: value for key, value in given.items() if value is not None}
    return onnx.helper.make_node("TreeEnsemble", ["X"], ["Y"], domain=ML, **given)


def test_version_5_with_sets_and_a_tree_of_one_leaf():
    model = model_of([leaf_table()], 2, version=5)
    forest = read(model.SerializeToString())
    assert [tree.n_nodes for tree in forest.trees] == [5, 1]
    x = np.array([[a, b] for a in (0, 2, 5, 6, 7, 7.5) for b in (0.4, 0.5, 0.6)], np.float32)
    assert sums(forest, x).tolist() == run(model, x)[0].ravel().tolist()


@pytest.mark.parametrize("seed", range(6))
def test_version_5_random_trees_agree_with_onnxruntime(seed):
    rng = np.random.default_rng(seed)
    inner, leaves, roots = [], 0, []
    for _ in range(3):
        todo = [(None, None, 0)]
        while todo:
            above, side, level = todo.pop()
            if above is not None and (level == 4 or rng.random() < 0.3):
                inner[above][side] = (leaves, 1)
                leaves += 1
                continue
            if above is None:
                roots.append(len(inner))
            else:
                inner[above][side] = (len(inner), 0)
            mode = seed % 4 if seed < 4 else int(rng.integers(0, 4))
            inner.append({"mode": mode, "f": int(rng.integers(0, 2)), "v": rng.integers(0, 4) / 3})
            inner[-1]["m"] = int(rng.integers(0, 2))
            todo += [(len(inner) - 1, "false", level + 1), (len(inner) - 1, "true", level + 1)]
    n = len(inner)
    modes = [node["mode"] for node in inner]
    model = model_of(
        [
            leaf_table(
                tree_roots=roots,
                nodes_modes=onnx.helper.make_tensor("m", onnx.TensorProto.UINT8, (n,), modes),
                nodes_featureids=[node["f"] for node in inner],
                nodes_splits=floats("s", [i["v"] for i in inner]),
                nodes_truenodeids=[node["true"][0] for node in inner],
                nodes_trueleafs=[node["true"][1] for node in inner],
                nodes_falsenodeids=[node["false"][0] for node in inner],
                nodes_falseleafs=[node["false"][1] for node in inner],
                nodes_missing_value_tracks_true=[node["m"] for node in inner],
                leaf_targetids=[0] * leaves,
                leaf_weights=floats("w", [float(2**i % 997) for i in range(leaves)]),
                membership_values=None,
            )
        ],
        2,
        version=5,
    )
    forest = read(model.SerializeToString())
    x = edge_values(forest, 2, rng, 200)
    assert sums(forest, x).tolist() == run(model, x)[0].ravel().tolist()


def test_several_ensembles_are_chosen_by_name():
    model = model_of([stump(name="first"), stump(value=2.5, name="second")])
    model.graph.node[1].output[0] = "Z"
    stored = model.SerializeToString()
    with pytest.raises(UnsupportedModelError, match=r"\(first, second\).*--select"):
        read(stored)
    forest = read(stored, "second")
    assert forest.trees[0].high[1] == 2.5
    assert forest.source.inside == "second"
    with pytest.raises(UnsupportedModelError, match="first, second"):
        read(stored, "third")


def test_a_graph_without_trees_names_what_it_does():
    node = onnx.helper.make_node("MatMul", ["X", "X"], ["Y"])
    with pytest.raises(UnsupportedModelError, match=r"no tree ensemble, but MatMul$"):
        read(model_of([node]).SerializeToString())


def test_tensors_in_other_files_are_not_opened(tmp_path):
    model = model_of([leaf_table()], 2, version=5)
    tensor = next(a for a in model.graph.node[0].attribute if a.name == "nodes_splits").t
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")
    with pytest.raises(ReadError, match="lies in another file"):
        read(model.SerializeToString())


BAD_COLUMNS = {
    "short values": {"nodes_values": [0.5]},
    "short features": {"nodes_featureids": [1, 0]},
    "no node ids": {"nodes_nodeids": None},
    "no modes": {"nodes_modes": None},
    "unknown mode": {"nodes_modes": ["BRANCH_LIKE", "LEAF", "LEAF"]},
    "numbers as modes": {"nodes_modes": [0, 1, 2]},
    "text as ids": {"nodes_nodeids": ["a", "b", "c"]},
    "floats as ids": {"nodes_nodeids": [0.0, 1.0, 2.0]},
    "same id twice": {"nodes_nodeids": [0, 1, 1]},
    "child out of range": {"nodes_truenodeids": [7, 0, 0]},
    "huge child": {"nodes_truenodeids": [2**63 - 1, 0, 0]},
    "negative child": {"nodes_falsenodeids": [-5, 0, 0]},
    "two parents": {"nodes_falsenodeids": [1, 0, 0]},
    "child in itself": {"nodes_truenodeids": [0, 0, 0]},
    "negative feature": {"nodes_featureids": [-1, 0, 0]},
    "huge feature": {"nodes_featureids": [10**9, 0, 0]},
    "threshold is not a number": {"nodes_values": [float("nan"), 0.0, 0.0]},
    "vote for nobody": {"target_ids": [0, 1]},
    "vote of no node": {"target_nodeids": [1, 9]},
    "unequal votes": {"target_treeids": [0]},
    "infinite weight": {"target_weights": [float("inf"), 0.0]},
    "no weights": {"target_weights": None},
    "no targets": {"n_targets": 0},
    "a billion targets": {"n_targets": 10**9},
    "two trees, one root": {"nodes_treeids": [0, 0, 1], "target_treeids": [0, 1]},
    "short missing": {"nodes_missing_value_tracks_true": [1]},
}


@pytest.mark.parametrize("name", BAD_COLUMNS)
def test_damaged_columns(name):
    data = model_of([stump(**BAD_COLUMNS[name])]).SerializeToString()
    assert isinstance(sentence_or_model(onnx_model, data), ReadError), name


def test_a_cycle():
    nodes = [(0, 0, "LEAF", 0, 0, 0, 0, 0)]
    nodes += [(0, 1, "BRANCH_LEQ", 0, 1, 2, 3, 0), (0, 2, "BRANCH_LEQ", 0, 1, 1, 4, 0)]
    nodes += [(0, i, "LEAF", 0, 0, 0, 0, 0) for i in (3, 4)]
    data = model_of([regressor(nodes, [(0, 0, 1)])]).SerializeToString()
    assert "cycle" in str(sentence_or_model(onnx_model, data))


def test_a_chain_of_many_levels():
    n = 10_500
    nodes = [(0, i, "BRANCH_LEQ", 0, i, i + 1, n + 1 + i, 0) for i in range(n)]
    nodes += [(0, i, "LEAF", 0, 0, 0, 0, 0) for i in range(n, 2 * n + 1)]
    data = model_of([regressor(nodes, [(0, n, 1)])]).SerializeToString()
    assert isinstance(sentence_or_model(onnx_model, data), ModelTooLargeError)


BAD_TABLES = {
    "root out of range": {"tree_roots": [9]},
    "negative root": {"tree_roots": [-1]},
    "no roots": {"tree_roots": None},
    "one root twice": {"tree_roots": [0, 0]},
    "root below a root": {"tree_roots": [0, 1]},
    "leaf out of range": {"nodes_truenodeids": [9, 1, 3]},
    "cycle": {"nodes_falsenodeids": [0, 2, 3]},
    "set for nobody": {"membership_values": None},
    "target out of range": {"leaf_targetids": [0, 0, 5, 0]},
    "short targets": {"leaf_targetids": [0]},
    "short leaf flags": {"nodes_trueleafs": [1]},
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_damaged_tables_of_version_5(name):
    data = model_of([leaf_table(**BAD_TABLES[name])], 2, version=5).SerializeToString()
    assert isinstance(sentence_or_model(onnx_model, data), ReadError), name


def field(number, wire, body):
    return bytes([number << 3 | wire]) + body


BAD_BYTES = {
    "truncated length": b"\x08\x09\x3a\xff",
    "number without end": b"\x08\x09\x3a" + b"\xff" * 20,
    "huge length": b"\x08\x09\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00",
    "graph longer than the file": b"\x08\x09\x3a\x7f\x00",
    "group": b"\x08\x09\x3a\x02\x0b\x0c",
    "field zero": b"\x08\x09\x3a\x02\x02\x00",
    "no graph": b"\x08\x09\x12\x02me",
    "graph is a number": b"\x08\x09\x12\x01m\x38\x05",
    "node is a number": b"\x08\x09\x3a\x02\x08\x05",
    "four bytes cut off": b"\x08\x09\x3a\x03\x0d\x00\x00",
    "eight bytes cut off": b"\x08\x09\x3a\x05\x09\x00\x00\x00\x00",
    "type six": b"\x08\x09\x3a\x01\x0e",
    "type seven": b"\x08\x09\x3a\x01\x0f",
    "a field number too large": b"\x08\x09\x3a\x0b\xf8" + b"\xff" * 8 + b"\x01\x00",
    "a number of eleven bytes": b"\x08\x09\x3a\x0c\x08" + b"\x80" * 10 + b"\x01",
    "a gigabyte of nodes": b"\x08\x09\x3a\x06\x0a\x80\x80\x80\x80\x04",
}


@pytest.mark.parametrize("name", BAD_BYTES)
def test_damaged_bytes(name):
    assert isinstance(sentence_or_model(onnx_model, BAD_BYTES[name]), ReadError), name


def test_a_file_of_very_many_fields_is_refused():
    body = field(1, 2, b"\x00") * 200_000
    data = b"\x08\x09\x3a" + onnx_length(len(body)) + body
    with pytest.raises(UnsupportedModelError):
        read(data)
    from dataclasses import replace

    with pytest.raises(ModelTooLargeError, match="more fields"):
        onnx_model.read(unpack(data), Source(), None, replace(LIMITS, instructions=1000))


def onnx_length(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])


def test_mutants_end_in_a_model_or_a_sentence():
    whole = model_of([stump(), leaf_table()], 3, version=5)
    whole.graph.node[1].output[0] = "Z"
    seeds = [
        model_of([stump("BRANCH_EQ")]).SerializeToString(),
        model_of([leaf_table()], 2, version=5).SerializeToString(),
        whole.SerializeToString(),
    ]
    chance = random.Random(11)
    for _ in range(3000):
        sentence_or_model(onnx_model, mutate(chance.choice(seeds), chance))


def test_other_files_are_left_alone():
    eight = struct.pack("<q", 8)
    for data in (b"\0", b"\x08", b"{}", b"\x80\x05K\x01.", b"\x08\x09\xff\xff\xff", eight):
        assert not onnx_model.matches(unpack(data))
