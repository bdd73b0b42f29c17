"""What `tests.fuzz.oracle_formats` needs for UBJSON, ONNX, PMML and the JSON of LightGBM.

UBJSON is loaded by XGBoost and ONNX by its runtime. No library reads PMML or the JSON of LightGBM
here: a second reading of a few lines, which shares nothing with that of treeaudit, stands in.
"""

import copy
import json
import random
import re
import struct
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from typing import Any

from treeaudit import Forest

import numpy as np  # isort: skip  # behind what sets its threads

__all__ = ["GENUINE", "lightgbm_json", "onnx", "onnx_changed", "pmml", "pmml_changed", "ubjson"]

Say = Callable[[str], None]
_ODD = (-1, 0, 1, 2, 3, 7, 255, 65536, -(2**31), 2**31 - 1, 2**40)
_FLOATS = (0.0, -0.0, 1.0, 0.5, -3.0, 1e30, float("inf"), float("nan"), 1e-40, 4.5)


# -- UBJSON ----------------------------------------------------------------------


class _Pairs(list[tuple[str, Any]]):
    """An object, which may name something twice."""


def _as_pairs(value: Any) -> Any:
    if isinstance(value, dict):
        return _Pairs((name, _as_pairs(part)) for name, part in value.items())
    return [_as_pairs(part) for part in value] if isinstance(value, list) else value


def _encoded(value: Any, draw: random.Random) -> bytes:
    """Write UBJSON as XGBoost does, now and then in a form that it does not use."""
    odd = draw.random() < 0.002
    if isinstance(value, _Pairs):
        inside = b"".join(_text(name) + _encoded(part, draw) for name, part in value)
        return b"{" + inside + b"}"
    if isinstance(value, str):
        return b"S" + _text(value)
    if isinstance(value, np.ndarray):
        mark = {"f4": b"d", "i4": b"l", "u1": b"U", "i8": b"L", "f8": b"D", "i1": b"i"}
        kind = value.dtype.str[1:]
        if odd:
            kind = draw.choice(sorted(mark))
        head = (
            b"[$" + mark[kind] + b"#L" + struct.pack(">q", len(value) + (odd and draw.randrange(2)))
        )
        with np.errstate(all="ignore"):
            return head + np.asarray(value).astype(f">{kind}").tobytes()
    if isinstance(value, list):
        inside = b"".join(_encoded(part, draw) for part in value)
        return b"[#L" + struct.pack(">q", len(value)) + inside if not odd else b"[" + inside + b"]"
    if isinstance(value, bool):
        return b"T" if value else b"F"
    if isinstance(value, int):
        return b"L" + struct.pack(">q", value)
    return b"d" + struct.pack(">f", value) if isinstance(value, float) else b"Z"


def _text(text: str) -> bytes:
    raw = text.encode("utf-8", "backslashreplace")
    return b"L" + struct.pack(">q", len(raw)) + raw


def ubjson(data: bytes, draw: random.Random) -> bytes:
    """Change a field, an entry of an array, or how something is written."""
    from treeaudit.readers.xgboost.ubjson import parse

    try:
        root = _as_pairs(parse(data))
    except Exception:  # noqa: BLE001  # it was changed before
        return data
    objects = [one for one in _within(root) if isinstance(one, _Pairs) and one]
    if not objects:
        return data
    one, two = draw.choice(objects), draw.choice(objects)
    i, j = draw.randrange(len(one)), draw.randrange(len(two))
    name, value = one[i]
    # A copy: one of these may stand within the other.
    other = copy.deepcopy(two[j][1])
    match draw.randrange(8):
        case 0:
            one.insert(draw.randrange(len(one) + 1), (name, other))
        case 1:
            one.append((name, other))
        case 2:
            del one[i]
        case 3:
            one[i] = (name, other)
        case 4:
            one[i] = (draw.choice((two[j][0], name.upper(), name + "_")), value)
        case _:
            arrays = [
                (o, k) for o in objects for k, (_, v) in enumerate(o)
                if isinstance(v, np.ndarray) and len(v)
            ]  # fmt: skip
            if not arrays:
                return data
            where, at = draw.choice(arrays)
            array = np.array(where[at][1])
            place = draw.randrange(len(array))
            some = _FLOATS if array.dtype.kind == "f" else (0, 1, 2, 3, 5, 127, -1)
            new = draw.choice((draw.choice(some), array[draw.randrange(len(array))]))
            with np.errstate(all="ignore"):
                array[place] = np.array(new).astype(array.dtype)
            where[at] = (where[at][0], array)
    return _encoded(root, draw)


def _within(value: Any) -> Any:
    yield value
    for part in [p for _, p in value] if isinstance(value, _Pairs) else value:
        if isinstance(part, list):
            yield from _within(part)


# -- the JSON of LightGBM ----------------------------------------------------------


def lightgbm_json(data: bytes, forest: Forest, say: Say) -> str:
    """Walk the nested nodes once more, with the standard library alone."""
    document = json.loads(data)
    say("comparing")
    infos = document["tree_info"]
    if len(infos) != forest.n_trees:
        return f"{len(infos)} trees, audited {forest.n_trees}"
    x = _rows(forest)
    at = forest.apply(x)
    for i, (info, tree) in enumerate(zip(infos, forest.trees, strict=True)):
        ends = [_end(info["tree_structure"], row) for row in x]
        ours = tree.value[at[:, i]] if tree.value is not None else None
        if ours is not None and not np.allclose([e["leaf_value"] for e in ends], ours, rtol=1e-9):
            return f"answers of tree {i}"
        if tree.n_records is not None:
            people = [
                end.get("leaf_count", info["tree_structure"].get("leaf_count")) for end in ends
            ]
            if people != tree.n_records[at[:, i]].tolist():
                return f"people of tree {i}"
    return ""


def _end(node: Mapping[str, Any], row: Any) -> Mapping[str, Any]:
    while "split_feature" in node:
        value, bound = row[node["split_feature"]], float(node["threshold"])
        node = node["left_child" if value <= bound else "right_child"]
    return node


# -- ONNX ----------------------------------------------------------------------------


def onnx_changed(data: bytes, draw: random.Random) -> bytes:
    """Change an attribute, double a part, or put two files behind one another."""
    import onnx as library

    model = library.ModelProto()
    try:
        model.ParseFromString(data)
    except Exception:  # noqa: BLE001  # it was changed before
        return data
    graph = model.graph
    node = next((n for n in graph.node if "Tree" in n.op_type), None)
    if node is None or not node.attribute:
        return data
    one, two = draw.choice(node.attribute), draw.choice(node.attribute)
    match draw.randrange(12):
        case 0:
            node.attribute.add().CopyFrom(one)
        case 1:
            node.attribute.add().CopyFrom(two)
            node.attribute[-1].name = one.name
        case 2:
            node.attribute.remove(one)
        case 3:
            one.type = draw.randrange(12)
        case 4:
            graph.node.add().CopyFrom(draw.choice(graph.node))
        case 5:
            other = draw.choice(graph.node)
            for names in (other.input, other.output):
                if names and draw.random() < 0.5:
                    names[0] = draw.choice([n for g in graph.node for n in (*g.input, *g.output)])
        case 6:
            return data + _piece(model, draw)
        case 7:
            return _piece(model, draw) + data
        case 8:
            node.op_type = draw.choice(("TreeEnsembleRegressor", "TreeEnsembleClassifier"))
        case 9:
            model.opset_import[draw.randrange(len(model.opset_import) or 1)].version = draw.choice(
                _ODD
            )
        case _:
            _entry(one, draw)
    return bytes(model.SerializeToString())


def _piece(model: Any, draw: random.Random) -> bytes:
    """Return a model that says one thing, which a reader joins with what it has."""
    import onnx as library

    piece = library.ModelProto()
    kind = draw.randrange(3)
    if kind == 0:
        piece.graph.node.add().CopyFrom(draw.choice(model.graph.node))
    elif kind == 1:
        piece.graph.output.add().CopyFrom(draw.choice(model.graph.output))
    else:
        piece.opset_import.add().CopyFrom(draw.choice(model.opset_import))
    return bytes(piece.SerializeToString())


def _entry(attribute: Any, draw: random.Random) -> None:
    for values, some in (
        (attribute.ints, (*_ODD, *attribute.ints[:1])),
        (attribute.floats, (*_FLOATS, *attribute.floats[:1])),
        (attribute.strings, (b"LEAF", b"BRANCH_LT", b"BRANCH_LEQ", b"BRANCH_EQ", b"x")),
    ):
        if len(values):
            i = draw.randrange(len(values))
            match draw.randrange(4):
                case 0:
                    del values[i]
                case 1:
                    values.append(draw.choice(some))
                case 2:
                    j = draw.randrange(len(values))
                    values[i], values[j] = values[j], values[i]
                case _:
                    values[i] = draw.choice(some)
            return
    attribute.i = draw.choice((0, 1, 2))


def onnx(data: bytes, forest: Forest, say: Say) -> str:
    """Ask the runtime for the answers to some rows."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    say("comparing")
    x = _rows(forest)
    say("answering")
    try:
        found = session.run(None, {session.get_inputs()[0].name: x.astype(np.float32)})
    except Exception:  # noqa: BLE001  # a model that answers nothing tells nobody anything
        return ""
    at = forest.apply(x)
    trees = forest.trees
    if forest.n_trees == 1 and trees[0].label is not None and forest.schema.classes:
        ours = [str(forest.schema.classes[i]) for i in trees[0].label[at[:, 0]]]
        theirs = [one.decode() if isinstance(one, bytes) else str(one) for one in found[0]]
        return "" if ours == theirs else "labels"
    values = [tree.value for tree in trees]
    if (
        any(value is None for value in values)
        or forest.source.parameters.get("post_transform", "NONE") != "NONE"
    ):
        return ""
    ours = sum(v[at[:, i]] for i, v in enumerate(values) if v is not None)
    theirs = np.asarray(found[-1], dtype=float).reshape(len(x), -1)
    gaps = (theirs[:, -1] - ours, theirs[:, 0] - ours)
    if any(np.allclose(gap, gap[0], atol=1e-4 * (1 + np.abs(ours).max())) for gap in gaps):
        return ""
    return "answers"


# -- PMML ------------------------------------------------------------------------------

_TAG = re.compile(rb"<(/?)(\w+)([^<>]*?)(/?)>")
_ATTRIBUTE = re.compile(rb'(\w+)="([^"]*)"')


def pmml_changed(data: bytes, draw: random.Random) -> bytes:
    """Double, move or drop an element, or change what an attribute says."""
    tags = [match for match in _TAG.finditer(data) if not match[1]]
    if not tags:
        return data
    one, two = draw.choice(tags), draw.choice(tags)
    begin = one.start()
    single = [match for match in tags if match[4]] or tags
    match draw.randrange(7):
        case 0:
            piece = draw.choice(single).group()
            return data[:begin] + piece + data[begin:]
        case 1:
            gone = draw.choice(single)
            return data[: gone.start()] + data[gone.end() :]
        case 2:
            return data[:begin] + b"<!-- x -->" + data[begin:]
    given, other = [*_ATTRIBUTE.finditer(one.group())], [*_ATTRIBUTE.finditer(two.group())]
    if not given:
        return data
    at = draw.choice(given)
    new = draw.choice(
        (
            b"0", b"1", b"-1", b"3.0", b"1e0", b" 2", b"0x1", b"+3", b"03", b"NaN", b"", b"a", b"b",
            b"lessThan", b"lessOrEqual", b"greaterThan", b"equal", b"regression", b"x0", b"x1",
            b"&#49;", b"1_0", *(match[2] for match in other),
        )
    )  # fmt: skip
    if draw.random() < 0.15:
        text = at.group() + b" " + at[1] + b'="' + new + b'"'
    else:
        text = at[1] + b'="' + new + b'"'
    return data[: begin + at.start()] + text + data[begin + at.end() :]


def pmml(data: bytes, forest: Forest, say: Say) -> str:
    """Read the document with the standard library, and ask it about some rows."""
    root = ET.fromstring(data)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    models = [*root.iter("TreeModel")]
    say("comparing")
    if len(models) != forest.n_trees:
        return f"{len(models)} trees, audited {forest.n_trees}"
    names = list(forest.schema.names)
    x = _rows(forest)
    x = x[~np.isnan(x).any(axis=1)]
    if any(feature.categories is not None for feature in forest.schema.features):
        return ""
    at = forest.apply(x)
    classes = forest.schema.classes
    for i, (model, tree) in enumerate(zip(models, forest.trees, strict=True)):
        for row, leaf in zip(x, at[:, i].tolist(), strict=True):
            found = _asked(model.find("Node"), dict(zip(names, row, strict=True)))
            if found is None:
                continue
            said = found.get("score")
            if said is not None and tree.value is not None and float(said) != tree.value[leaf]:
                return f"an answer of tree {i}"
            named = None if tree.label is None or classes is None else classes[tree.label[leaf]]
            if said is not None and named is not None and said != str(named):
                return f"a label of tree {i}"
            n = found.get("recordCount")
            if n is not None and tree.n_records is not None and float(n) != tree.n_records[leaf]:
                return f"people of tree {i}"
    return ""


def _asked(node: Any, row: Mapping[str, float]) -> Any:
    """Return the leaf that a row comes to; None where no child takes it."""
    while node is not None:
        below = node.findall("Node")
        if not below:
            return node
        node = next((one for one in below if _holds(_predicate(one), row)), None)
    return None


def _predicate(node: Any) -> Any:
    return next(one for one in node if one.tag in ("True", "False") or "Predicate" in one.tag)


_ASKS: Mapping[str, Callable[[float, float], bool]] = {
    "equal": float.__eq__,
    "notEqual": float.__ne__,
    "lessThan": float.__lt__,
    "lessOrEqual": float.__le__,
    "greaterThan": float.__gt__,
    "greaterOrEqual": float.__ge__,
    "isMissing": lambda a, b: False,
    "isNotMissing": lambda a, b: True,
}


def _holds(asked: Any, row: Mapping[str, float]) -> bool:
    if asked.tag in ("True", "False"):
        return bool(asked.tag == "True")
    if asked.tag == "CompoundPredicate":
        parts = [_holds(part, row) for part in asked if part.tag != "Extension"]
        how = asked.get("booleanOperator")
        return parts[0] if how == "surrogate" else (all if how == "and" else any)(parts)
    bound = float(asked.get("value", "nan"))
    return _ASKS[asked.get("operator")](float(row[asked.get("field")]), bound)


def _rows(forest: Forest) -> Any:
    x = np.random.default_rng(1).uniform(-1, 10, (96, len(forest.schema.features)))
    x[:48] = np.rint(x[:48])
    return x.astype(np.float32).astype(np.float64)


# -- genuine files -----------------------------------------------------------------------


def _ubjson_files(x: Any, y: Any) -> list[bytes]:
    import xgboost

    table = xgboost.DMatrix(x, y)
    asked = {"max_depth": 2, "objective": "binary:logistic", "nthread": 1}
    return [bytes(xgboost.train(asked, table, n).save_raw("ubj")) for n in (1, 3)]


def _lightgbm_files(x: Any, y: Any) -> list[bytes]:
    import lightgbm

    told = {"min_data_in_leaf": 3, "objective": "binary", "verbose": -1, "num_threads": 1}
    found = []
    for leaves in (3, 5):
        model = lightgbm.train(told | {"num_leaves": leaves}, lightgbm.Dataset(x, y), 2)
        found.append(json.dumps(model.dump_model(), separators=(",", ":")).encode())
    return found


def _onnx_files(x: Any, y: Any) -> list[bytes]:
    import onnxruntime  # noqa: F401  # before a fork
    import skl2onnx
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    models = [
        # Nobody can tell whose target the leaf of a regressor holds: it is never clean.
        (DecisionTreeClassifier(max_depth=2), y + (x[:, 2] > 6)),
        (RandomForestClassifier(2, max_depth=2, random_state=0), y),
    ]
    found = []
    for model, target in models:
        fitted = model.fit(x, target)
        asked = {id(fitted): {"zipmap": False}}
        made = skl2onnx.to_onnx(fitted, x[:1].astype(np.float32), options=asked)
        found.append(bytes(made.SerializeToString()))
    return found


def _pmml_files(x: Any, y: Any) -> list[bytes]:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    fitted = [
        DecisionTreeClassifier(max_depth=3, random_state=0).fit(x, np.array(["a", "b"])[y]),
        DecisionTreeRegressor(max_depth=3, random_state=0).fit(x, x[:, 1] * 2),
    ]
    return [_as_pmml(model) for model in fitted]


def _as_pmml(model: Any) -> bytes:
    """Write a tree of scikit-learn as converters do."""
    tree, labels = model.tree_, getattr(model, "classes_", None)
    kind = "regression" if labels is None else "classification"

    def node(i: int, condition: str) -> str:
        value = tree.value[i][0]
        score = repr(float(value[0])) if labels is None else labels[int(value.argmax())]
        n = int(tree.n_node_samples[i])
        inside = condition
        if labels is not None:
            inside += "".join(
                f'<ScoreDistribution value="{label}" recordCount="{round(share * n)}"/>'
                for label, share in zip(labels, value, strict=True)
            )
        if tree.children_left[i] >= 0:
            asked = f'field="x{tree.feature[i]}"'
            bound = f'value="{float(tree.threshold[i])!r}"'
            for child, operator in (
                (tree.children_left[i], "lessOrEqual"),
                (tree.children_right[i], "greaterThan"),
            ):
                inside += node(child, f'<SimplePredicate {asked} operator="{operator}" {bound}/>')
        return f'<Node id="{i}" score="{score}" recordCount="{n}">{inside}</Node>'

    columns = "".join(
        f'<DataField name="x{i}" optype="continuous" dataType="double"/>'
        for i in range(model.n_features_in_)
    )
    values = "" if labels is None else "".join(f'<Value value="{label}"/>' for label in labels)
    optype = "continuous" if labels is None else "categorical"
    target = f'<DataField name="y" optype="{optype}" dataType="string">{values}</DataField>'
    mined = "".join(f'<MiningField name="x{i}"/>' for i in range(model.n_features_in_))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4"><Header/>'
        f"<DataDictionary>{columns}{target}</DataDictionary>"
        f'<TreeModel functionName="{kind}" splitCharacteristic="binarySplit"><MiningSchema>{mined}'
        f'<MiningField name="y" usageType="target"/></MiningSchema>{node(0, "<True/>")}'
        "</TreeModel></PMML>"
    ).encode()


GENUINE: Mapping[str, Callable[[Any, Any], list[bytes]]] = {
    "ubjson": _ubjson_files,
    "lightgbm-json": _lightgbm_files,
    "onnx": _onnx_files,
    "pmml": _pmml_files,
}
"""What writes a few files of each form, given records and labels of two kinds."""
