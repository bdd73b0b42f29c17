# ruff: noqa: E501  # the tables of plants are read by line
"""Content that a model does not need is named wherever a format lets it stand; none passes.

Each plant puts a table of 1,000 people, or all their labels, at one place of a model that passes.
"""

import bz2
import copy
import gzip
import json
import lzma
import pickle
import re
import zipfile
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import treeaudit as ta
from tests.libraries import library
from treeaudit.readers.boosters import ubjson
from treeaudit.readers.leftovers.extra import masked, size_of

xgb, lgb, catboost, onnx = map(library, ("xgboost", "lightgbm", "catboost", "onnx"))
RNG = np.random.default_rng(3)
N = 1_000
X = np.column_stack([RNG.integers(18, 90, N), RNG.normal(50_000, 9_000, N).round(2)]).astype(float)
Y = (X[:, 1] + RNG.normal(0, 9_000, N) > 50_000).astype(int)
LINES = [f"p{i};{a:.0f};{b:.2f};{c}" for i, ((a, b), c) in enumerate(zip(X, Y, strict=True))]
CSV = "|".join(LINES)
ROWS = [[*row, label] for row, label in zip(X.tolist(), Y.tolist(), strict=True)]
LABELS = Y.tolist()
COLUMN = X[:, 1].tolist()
DIGITS = "".join(map(str, LABELS))


def unexplained(path) -> int:
    """Return how many bytes nothing explains; the file must not pass, nor be repeated."""
    try:
        forest = ta.load(path)
    except ta.ReadError:
        return -1
    found = [one for one in forest.leftovers.found if one.kind == "extra"]
    for one in found:
        assert not any(line in one.where + one.says for line in LINES[:50])
    report = ta.scan(forest)
    assert report.verdict != "pass"
    return sum(one.n for one in found)


def planted(path) -> None:
    assert unexplained(path) != 0


def at(document: Any, *path: Any) -> Any:
    for step in path:
        document = document[step]
    return document


def booster():
    params = {"max_depth": 2, "min_child_weight": 60, "objective": "reg:squarederror"}
    return xgb.train(params, xgb.DMatrix(X, label=X[:, 1]), 2)


MODEL = ("learner", "gradient_booster", "model")
TREE = (*MODEL, "trees", 0)
IN_XGBOOST = {
    "an objective": (("learner", "objective", "reg_loss_param"), ROWS),
    "another objective": (("learner", "objective", "poisson_regression_param"), {"rows": ROWS}),
    "a setting": (("learner", "learner_model_param", "boost_from_average"), CSV),
    "digits of a setting": (("learner", "learner_model_param", "num_target"), "1" + " " * N),
    "the base score": (("learner", "learner_model_param", "base_score"), [1.0, *COLUMN]),
    "rounds": ((*MODEL, "iteration_indptr"), [0, *LABELS, 2]),
    "categories": ((*MODEL, "cats"), {"rows": ROWS}),
    "names of categories": ((*MODEL, "cats", "enc"), [{"offsets": [0, 9], "values": LABELS[:9]}]),
    "segments": ((*MODEL, "cats", "feature_segments"), LABELS),
    "sorted": ((*MODEL, "cats", "sorted_idx"), LABELS),
    "drops": (("learner", "gradient_booster", "weight_drop"), COLUMN),
    "gains": ((*TREE, "loss_changes"), COLUMN),
    "covers": ((*TREE, "sum_hessian"), COLUMN),
    "weights": ((*TREE, "base_weights"), COLUMN),
    "leaf weights": ((*TREE, "leaf_weights"), COLUMN),
    "sets": ((*TREE, "categories"), LABELS),
    "segments of sets": ((*TREE, "categories_segments"), ROWS),
    "parents": ((*TREE, "parents"), LABELS),
    "a number of a tree": ((*TREE, "id"), ROWS),
    "a setting of a tree": ((*TREE, "tree_param", "num_deleted"), CSV),
    "names": (("learner", "feature_names"), [CSV, CSV]),
    "kinds": (("learner", "feature_types"), [CSV, CSV]),
    "the version": (("version",), [3, 2, 0, *LABELS]),
    "an attribute": (("learner", "attributes", "best_score"), CSV),
    "another attribute": (("learner", "attributes", "rows"), CSV),
    "metrics": (("Config",), {"learner": {"metrics": ROWS}}),
    "a metric": (("Config",), {"learner": {"metrics": [{"name": CSV}]}}),
    "a seed": (("Config",), {"learner": {"generic_param": {"seed": DIGITS}}}),
}


@pytest.mark.parametrize("where", IN_XGBOOST)
def test_plants_in_xgboost(tmp_path, where) -> None:
    path, value = IN_XGBOOST[where]
    document = json.loads(booster().save_raw("json"))
    at(document, *path[:-1])[path[-1]] = value
    if path[0] == "Config":
        document = {"Model": document, "Config": document.pop("Config")}
    (tmp_path / "m.json").write_text(json.dumps(document, separators=(",", ":")))
    planted(tmp_path / "m.json")


@pytest.mark.parametrize("name", ["version", "learner"])
def test_names_that_stand_twice_in_json_are_refused(tmp_path, name) -> None:
    text = bytes(booster().save_raw("json"))
    (tmp_path / "m.json").write_bytes(text[:-1] + b',"%s":[33,54]}' % name.encode())
    with pytest.raises(ta.ReadError, match="twice"):
        ta.load(tmp_path / "m.json")


def test_names_that_stand_twice_in_ubjson_are_refused() -> None:
    with pytest.raises(ta.ReadError, match="twice"):
        ubjson.parse(b"{i\x01ai\x01i\x01ai\x02}")


def light() -> str:
    params = {"objective": "binary", "num_leaves": 4, "min_data_in_leaf": 60, "verbose": -1}
    return lgb.train(params, lgb.Dataset(X, Y), 2).model_to_string()


NUMBERS = " ".join(map(str, COLUMN))
IN_LIGHTGBM = {
    "a loaded parameter": ("end of parameters", f"end of parameters\nloaded_parameter:{CSV}"),
    "a line without a name": ("tree_sizes", f"={CSV}\ntree_sizes"),
    "a parameter": ("end of parameters", "\n".join(f"[row: {x}]" for x in LINES) + "\nend of parameters"),
    "a value of a parameter": ("[max_bin: 255]", f"[max_bin: {CSV}]"),
    "a list of a parameter": ("[label_gain: ]", f"[label_gain: {','.join(map(str, COLUMN))}]"),
    "a path": ("[data: ]", f"[data: {CSV}]"),
    "importances": ("feature_importances:\n", "feature_importances:\n" + "\n".join(f"{x}=1" for x in LINES) + "\n"),
    "constraints": ("tree_sizes", f"monotone_constraints={' '.join(map(str, LABELS))}\ntree_sizes"),
    "coefficients": ("shrinkage=", f"leaf_coeff={NUMBERS}\nshrinkage="),
    "constants": ("shrinkage=", f"leaf_const={NUMBERS}\nshrinkage="),
    "sets": ("shrinkage=", f"cat_threshold={' '.join(map(str, LABELS))}\nshrinkage="),
    "gains": ("split_gain=", f"split_gain={NUMBERS} "),
    "weights": ("internal_weight=", f"internal_weight={NUMBERS} "),
    "values": ("internal_value=", f"internal_value={NUMBERS} "),
    "an objective": ("objective=binary", f"objective=binary {CSV}"),
    "a label index": ("label_index=0", f"label_index=0{CSV}"),
    "a key twice": ("tree_sizes", f"label_index={CSV}\ntree_sizes"),
    "behind it": ("pandas_categorical:null", f"pandas_categorical:null\n{CSV}"),
    "behind a zero": ("pandas_categorical:null", f"pandas_categorical:null\0{CSV}"),
    "a carriage return": ("tree_sizes", f"\r{CSV}\rtree_sizes"),
    "the version": ("version=v4", f"version=v4{CSV}"),
    "sizes": ("tree_sizes=", f"tree_sizes={' '.join(map(str, LABELS))} "),
}  # fmt: skip


@pytest.mark.parametrize("where", IN_LIGHTGBM)
def test_plants_in_lightgbm(tmp_path, where) -> None:
    old, new = IN_LIGHTGBM[where]
    text = light()
    if "pandas_categorical" not in text:
        text += "\npandas_categorical:null\n"
    assert old in text
    (tmp_path / "m.txt").write_text(text.replace(old, new, 1), newline="")
    assert unexplained(tmp_path / "m.txt") != 0


def cat():
    model = catboost.CatBoostRegressor(
        iterations=2, depth=2, verbose=0, allow_writing_files=False, random_seed=0
    )
    return model.fit(X, X[:, 1])


INFO = ("model_info",)
IN_CATBOOST = {
    "statistics": (("ctr_data",), {"rows": ROWS}),
    "an identity": ((*INFO, "model_guid"), CSV),
    "a date": ((*INFO, "train_finish_time"), CSV),
    "parameters": ((*INFO, "params", "rows"), ROWS),
    "a list of a parameter": ((*INFO, "params", "flat_params", "class_weights"), COLUMN),
    "a text of a parameter": ((*INFO, "params", "flat_params", "loss_function"), CSV),
    "training": ((*INFO, "training"), json.dumps({"metrics": {"learn_best_error": ROWS}})),
    "options": ((*INFO, "output_options"), json.dumps({"name": CSV})),
    "the version": ((*INFO, "catboost_version_info"), CSV),
    "a tree": (("oblivious_trees", 0, "rows"), ROWS),
    "a split": (("oblivious_trees", 0, "splits", 0, "rows"), ROWS),
    "other trees": (("trees",), ROWS),
    "the scale": (("scale_and_bias",), [1, COLUMN]),
    "a column": (("features_info", "float_features", 0, "rows"), ROWS),
    "borders": (("features_info", "float_features", 0, "borders"), sorted(set(COLUMN))),
    "texts": (("features_info", "text_features"), [{"rows": ROWS}]),
    "the class": ((*INFO, "class_params"), {"class_to_label": LABELS}),
}


@pytest.mark.parametrize("where", IN_CATBOOST)
def test_plants_in_catboost(tmp_path, where) -> None:
    path, value = IN_CATBOOST[where]
    cat().save_model(str(tmp_path / "c.json"), format="json")
    document = json.loads((tmp_path / "c.json").read_text())
    at(document, *path[:-1])[path[-1]] = value
    (tmp_path / "c.json").write_text(json.dumps(document))
    planted(tmp_path / "c.json")


def tree():
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(min_samples_leaf=100, max_depth=3).fit(X.astype(np.float32), Y)


def plant_in_onnx(model, where: str):  # one place after the other
    make, graph = onnx.helper, model.graph
    ensemble = next(node for node in graph.node if node.op_type.startswith("TreeEnsemble"))
    tensor = lambda name, part: onnx.numpy_helper.from_array(np.asarray(part, np.float64), name)  # noqa: E731

    def attribute(name):
        return next(one for one in ensemble.attribute if one.name == name)

    match where:
        case "small tables":
            graph.initializer.extend(tensor(f"t{i}", COLUMN[i : i + 5]) for i in range(0, N, 5))
        case "names of tables":
            graph.initializer.extend(tensor(line, [0.0]) for line in LINES)
        case "constants":
            graph.node.extend(
                make.make_node("Constant", [], [f"c{i}"], value_strings=LINES[i : i + 20])
                for i in range(0, N, 20)
            )
        case "names of nodes":
            graph.node.extend(
                make.make_node("Identity", [graph.input[0].name], [f"q{i}"], name=line)
                for i, line in enumerate(LINES)
            )
        case "domains":
            model.opset_import.extend(make.make_opsetid(line, 1) for line in LINES)
        case "a dimension":
            graph.input[0].type.tensor_type.shape.dim[0].dim_param = CSV
        case "a denotation":
            graph.input[0].type.denotation = CSV
        case "types":
            graph.value_info.append(make.make_tensor_value_info("v", 1, [CSV]))
        case "inputs":
            graph.input.extend(make.make_tensor_value_info(line, 1, [None, 1]) for line in LINES)
        case "outputs":
            graph.output.extend(make.make_tensor_value_info(line, 1, [1]) for line in LINES)
        case "a producer":
            model.producer_version = CSV
        case "values of leaves":
            modes, values = attribute("nodes_modes"), attribute("nodes_values")
            for i, mode in enumerate(modes.strings):
                if mode == b"LEAF":
                    values.floats[i] = COLUMN[i]
        case "members":
            ensemble.attribute.append(make.make_attribute("membership_values", tensor("m", COLUMN)))
        case "values twice":
            ensemble.attribute.append(
                make.make_attribute("nodes_values_as_tensor", tensor("m", COLUMN))
            )
        case "base values":
            ensemble.attribute.append(make.make_attribute("base_values", COLUMN))
        case "a transform":
            attribute("post_transform").s = CSV.encode()
        case "a label":
            attribute("post_transform").s = b"NONE"
            attribute("post_transform").strings.extend(line.encode() for line in LINES)
        case "a tensor's notes":
            graph.initializer.append(tensor("x", [1.0]))
            graph.initializer[-1].doc_string = CSV
        case "metadata":
            model.metadata_props.add(key="rows", value=CSV)
        case "an output of its own":
            graph.node.append(make.make_node("Constant", [], ["rows"], value=tensor("r", COLUMN)))
            graph.output.append(make.make_tensor_value_info("rows", 11, [N]))
        case "a function":
            constant = make.make_node("Constant", [], ["y"], value=tensor("r", COLUMN))
            made = make.make_function("d", "f", [], ["y"], [constant], [make.make_opsetid("", 15)])
            model.functions.append(made)
    return model


@pytest.mark.parametrize(
    "where",
    [
        "small tables", "names of tables", "constants", "names of nodes", "domains",
        "a dimension", "a denotation", "types", "inputs", "outputs", "a producer",
        "values of leaves", "members", "values twice", "base values", "a transform", "a label",
        "a tensor's notes", "metadata", "an output of its own", "a function",
    ],
)  # fmt: skip
def test_plants_in_onnx(tmp_path, where) -> None:
    to_onnx = pytest.importorskip("skl2onnx").to_onnx
    plain = to_onnx(tree(), X[:1].astype(np.float32))
    (tmp_path / "plain.onnx").write_bytes(plain.SerializeToString())
    assert not ta.load(tmp_path / "plain.onnx").leftovers.found
    (tmp_path / "m.onnx").write_bytes(plant_in_onnx(plain, where).SerializeToString())
    assert unexplained(tmp_path / "m.onnx") != 0


@pytest.mark.parametrize("first", [b"\x2a", b"\x12"])
def test_fields_that_stand_twice_in_onnx_are_named(tmp_path, first) -> None:
    to_onnx = pytest.importorskip("skl2onnx").to_onnx
    model = to_onnx(tree(), X[:1].astype(np.float32)).SerializeToString()
    text = b"\x1a" + onnx_length(CSV.encode()) + CSV.encode()
    (tmp_path / "m.onnx").write_bytes(model[:2] + text + model[2:])
    assert unexplained(tmp_path / "m.onnx") != 0


def onnx_length(data: bytes) -> bytes:
    n, found = len(data), bytearray()
    while n > 127:
        found.append(n & 127 | 128)
        n >>= 7
    return bytes([*found, n])


def test_wasteful_numbers_in_onnx_are_refused(tmp_path) -> None:
    to_onnx = pytest.importorskip("skl2onnx").to_onnx
    model = to_onnx(tree(), X[:1].astype(np.float32)).SerializeToString()
    assert model[:1] == b"\x08"
    (tmp_path / "m.onnx").write_bytes(bytes([8, model[1] | 128, 128, 128, 0]) + model[2:])
    with pytest.raises(ta.TreeauditError):
        ta.load(tmp_path / "m.onnx")


PMML = """<?xml version="1.0"?>
<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4"><Header>
<Application name="a" version="1"/></Header>
<DataDictionary><DataField name="age" optype="continuous" dataType="double"/>
<DataField name="y" optype="categorical" dataType="string"><Value value="a"/><Value value="b"/>
</DataField></DataDictionary><!--T-->
<TreeModel functionName="classification" splitCharacteristic="binarySplit">
<MiningSchema><MiningField name="age"/><MiningField name="y" usageType="target"/></MiningSchema>
<!--O--><Node id="0" recordCount="200"><True/>
<ScoreDistribution value="a" recordCount="100"/><ScoreDistribution value="b" recordCount="100"/>
<Node id="1" score="a" recordCount="100">
<SimplePredicate field="age" operator="lessOrEqual" value="30"/>
<ScoreDistribution value="a" recordCount="60"/><ScoreDistribution value="b" recordCount="40"/>
</Node><Node id="2" score="b" recordCount="100">
<SimplePredicate field="age" operator="greaterThan" value="30"/>
<ScoreDistribution value="a" recordCount="40"/><ScoreDistribution value="b" recordCount="60"/>
</Node><!--N--></Node></TreeModel></PMML>"""


def derived(inside: str) -> str:
    field = f'<DerivedField name="d" optype="categorical" dataType="string">{inside}</DerivedField>'
    return f"<TransformationDictionary>{field}</TransformationDictionary>"


def each(form: str) -> str:
    return "".join(form.format(i=i, s=line) for i, line in enumerate(LINES))


BIN = '<DiscretizeBin binValue="{s}"><Interval closure="openOpen" leftMargin="1"/></DiscretizeBin>'
NORM = '<DerivedField name="d{i}" optype="continuous" dataType="double"><NormDiscrete field="y" value="{s}"/></DerivedField>'
TARGET = each('<TargetValue value="{s}"/>')
IN_PMML = {
    "a function": ("<!--T-->", f'<TransformationDictionary><DefineFunction name="f" optype="continuous"><Constant>{CSV}</Constant></DefineFunction></TransformationDictionary>'),
    "a constant": ("<!--T-->", derived(f"<Constant>{CSV}</Constant>")),
    "character data": ("<!--T-->", derived(f"<Constant><![CDATA[{CSV}]]></Constant>")),
    "a mapping": ("<!--T-->", derived(f'<FieldRef field="age" mapMissingTo="{CSV}"/>')),
    "bins": ("<!--T-->", derived(f'<Discretize field="age">{each(BIN)}</Discretize>')),
    "indicators": ("<!--T-->", f"<TransformationDictionary>{each(NORM)}</TransformationDictionary>"),
    "values of a field": ("<!--T-->", derived('<FieldRef field="age"/>' + each('<Value value="{s}"/>'))),
    "a field": ("</DataDictionary>", f'<DataField name="z" optype="categorical" dataType="string"><Value value="{CSV}"/></DataField></DataDictionary>'),
    "fields": ("</DataDictionary>", each('<DataField name="{s}" optype="continuous" dataType="double"/>') + "</DataDictionary>"),
    "a property": ('<Value value="a"/>', f'<Value value="a"/><Value value="q" property="{CSV}"/>'),
    "a replacement": ('<MiningField name="age"/>', f'<MiningField name="age" missingValueReplacement="{CSV}"/>'),
    "an importance": ('<MiningField name="age"/>', f'<MiningField name="age" importance="{CSV}"/>'),
    "columns": ("</MiningSchema>", each('<MiningField name="{s}"/>') + "</MiningSchema>"),
    "an output": ("<!--O-->", f'<Output><OutputField name="o" feature="probability" value="{CSV}"/></Output>'),
    "a segment": ("<!--O-->", f'<Output><OutputField name="o" feature="probability" segmentId="{CSV}"/></Output>'),
    "a target": ("<!--O-->", f'<Targets><Target field="y" rescaleConstant="{CSV}"/></Targets>'),
    "target values": ("<!--O-->", f'<Targets><Target field="y">{TARGET}</Target></Targets>'),
    "the program": ('name="a"', f'name="{CSV}"'),
    "a score": ('id="0"', f'id="0" score="{CSV}"'),
    "a label": ("<!--N-->", f'<Node id="3"><True/><ScoreDistribution value="{CSV}" recordCount="0"/></Node>'),
    "a confidence": ('value="a" recordCount="60"', f'value="a" recordCount="60" confidence="{CSV}"'),
    "a number": ('id="1"', f'id="{CSV}"'),
    "namespaces": ("<PMML", "<PMML " + " ".join(f'xmlns:a{i}="http://x/{i}/{int(x)}"' for i, x in enumerate(COLUMN))),
    "a location": ("<PMML", f'<PMML xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://x/{DIGITS}"'),
    "an extension": ("<!--N-->", f"<Extension>{CSV}</Extension>"),
    "a comment": ("<!--N-->", f"<!--{CSV}-->"),
    "an instruction": ("<!--N-->", f"<?x {CSV}?>"),
    "a characteristic": ("binarySplit", CSV),
    "digits": ('value="30"', f'value="30.{DIGITS}"'),
    "a dead condition": ('<SimplePredicate field="age" operator="lessOrEqual" value="30"/>', f'<CompoundPredicate booleanOperator="and"><SimplePredicate field="age" operator="lessOrEqual" value="30"/><CompoundPredicate booleanOperator="or"><True/><SimpleSetPredicate field="y" booleanOperator="isIn"><Array n="1" type="string">{CSV}</Array></SimpleSetPredicate></CompoundPredicate></CompoundPredicate>'),
    "a dead node": ("<!--N-->", '<Node id="3"><True/></Node>' + each('<Node id="r{i}" score="{s}"><True/></Node>')),
}  # fmt: skip


@pytest.mark.parametrize("where", IN_PMML)
def test_plants_in_pmml(tmp_path, where) -> None:
    old, new = IN_PMML[where]
    assert old in PMML
    text = re.sub("<!--[TON]-->", "", PMML.replace(old, new, 1))
    (tmp_path / "m.pmml").write_text(text)
    assert unexplained(tmp_path / "m.pmml") != 0


OWN = {
    "a reason": (("counts_reason",), CSV),
    "an estimator": (("source", "estimator"), CSV),
    "a version": (("source", "library_version"), CSV),
    "a target": (("schema", "target"), CSV),
    "a name": (("schema", "features", 0, "name"), CSV),
    "what fills": (("schema", "features", 0, "fill"), CSV),
    "parameters": (("source", "parameters"), {f"p{i}": line for i, line in enumerate(LINES)}),
    "a parameter": (("source", "parameters", "x"), CSV),
    "names of parameters": (("source", "parameters"), dict.fromkeys(LINES, 1)),
    "bounds": (
        ("schema", "features"),
        [{"name": "x0"}, {"name": "x1"}]
        + [{"name": f"y{i}", "low": x, "high": x + 1} for i, x in enumerate(COLUMN)],
    ),
    "a ledger": (("privacy",), {"epsilon": 1.0, "reasons": LINES}),
    "an unknown entry": (("rows",), ROWS),
}


@pytest.mark.parametrize("where", OWN)
def test_plants_in_our_own_form(tmp_path, where) -> None:
    path, value = OWN[where]
    ta.save(ta.load(tree()), tmp_path / "m.json")
    assert not ta.load(tmp_path / "m.json").leftovers.found
    document = json.loads((tmp_path / "m.json").read_text())
    at(document, *path[:-1])[path[-1]] = value
    (tmp_path / "m.json").write_text(json.dumps(document))
    assert unexplained(tmp_path / "m.json") != 0


def test_a_claim_of_privacy_clears_nothing(tmp_path) -> None:
    ta.save(ta.load(tree()), tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    query = {"name": "leaf counts", "mechanism": "laplace", "epsilon": 1.0, "sensitivity": 1,
             "composition": "sequential", "asked": 1}  # fmt: skip
    document["privacy"] = {
        "epsilon": 1.0, "delta": 0.0, "neighbours": "add-remove", "queries": [query],
        "variant": "sound", "reasons": [], "public": [], "not_private": False, "budget": 1.0,
    }  # fmt: skip
    document["schema"]["features"][0] |= {"low": 17.5, "high": 93.25}
    (tmp_path / "m.json").write_text(json.dumps(document))
    try:
        forest = ta.load(tmp_path / "m.json")
    except ta.ReadError:
        return
    assert ("extremes", 2) in [(one.kind, one.n) for one in forest.leftovers.found]


def zipped(path, change):
    io = pytest.importorskip("skops.io")
    io.dump(tree(), path)
    with zipfile.ZipFile(path) as old:
        parts = [(one, old.read(one)) for one in old.infolist()]
    with zipfile.ZipFile(path, "w") as new:
        for i, (one, data) in enumerate(parts):
            info = zipfile.ZipInfo(one.filename)
            if i == 0:
                info = change(info)
            new.writestr(info, data)
    return path


def noted(info):
    info.comment = CSV.encode()[:60_000]
    return info


def extended(info):
    extra = DIGITS.encode()
    info.extra = b"\xfe\xca" + len(extra).to_bytes(2, "little") + extra
    return info


@pytest.mark.parametrize("change", [noted, extended])
def test_notes_of_a_zip_archive_are_named(tmp_path, change) -> None:
    planted(zipped(tmp_path / "m.skops", change))


@pytest.mark.parametrize("place", ["comment", "behind", "gap"])
def test_bytes_around_the_members_of_a_zip_archive_are_named(tmp_path, place) -> None:
    path = zipped(tmp_path / "m.skops", lambda info: info)
    assert not [one for one in ta.load(path).leftovers.found if one.kind == "extra"]
    if place == "comment":
        with zipfile.ZipFile(path, "a") as archive:
            archive.comment = DIGITS.encode()
    elif place == "behind":
        path.write_bytes(path.read_bytes() + DIGITS.encode())
    else:
        with path.open("r+b") as file, zipfile.ZipFile(path) as archive:
            data, first = path.read_bytes(), archive.start_dir
            end = data.rindex(b"PK\x05\x06")
            at = (first + len(DIGITS)).to_bytes(4, "little")
            file.write(
                data[:first] + DIGITS.encode() + data[first : end + 16] + at + data[end + 20 :]
            )
    assert unexplained(path) != 0


@pytest.mark.parametrize(
    "path", [("rows",), ("protocol",), ("_skops_version",), ("content", "rows")]
)
def test_plants_in_the_schema_of_a_skops_file(tmp_path, path) -> None:
    zipped(tmp_path / "m.skops", lambda info: info)
    with zipfile.ZipFile(tmp_path / "m.skops") as old:
        parts = {name: old.read(name) for name in old.namelist()}
    schema = json.loads(parts["schema.json"])
    at(schema, *path[:-1])[path[-1]] = ROWS
    with zipfile.ZipFile(tmp_path / "m.skops", "w") as new:
        for name, data in (parts | {"schema.json": json.dumps(schema).encode()}).items():
            new.writestr(name, data)
    assert unexplained(tmp_path / "m.skops") != 0


def _blocks(plain, between):
    """Pack some bytes with other blocks in between; zlib ends each piece at a whole byte."""
    packer, parts = zlib.compressobj(), [b""]
    for i in range(0, len(plain), 500):
        parts.append(packer.compress(plain[i : i + 500]) + packer.flush(zlib.Z_FULL_FLUSH))
        parts.append(between(i))
    return b"".join(parts) + packer.flush()


def packed(form: str) -> bytes:
    plain, more = pickle.dumps(tree()), CSV.encode()
    match form:
        case "the name in gzip":
            head = bytearray(gzip.compress(plain))
            head[3] |= 8
            return bytes(head[:10]) + more + b"\0" + bytes(head[10:])
        case "a note in gzip":
            head = bytearray(gzip.compress(plain))
            head[3] |= 16
            return bytes(head[:10]) + b"33\0" + bytes(head[10:])
        case "times in gzip":
            notes = (more[i : i + 4].ljust(4) for i in range(0, len(more), 4))
            empty = gzip.compress(b"", mtime=0)
            return gzip.compress(plain) + b"".join(empty[:4] + n + empty[8:] for n in notes)
        case "behind gzip":
            return gzip.compress(plain) + more
        case "behind zlib":
            return zlib.compress(plain) + more
        case "behind bz2":
            return bz2.compress(plain) + more
        case "behind xz":
            return lzma.compress(plain) + more
        case "behind lzma":
            return lzma.compress(plain, lzma.FORMAT_ALONE) + more
        case "empty streams of bz2":
            return bz2.compress(plain) + 40 * bz2.compress(b"")
        case "empty streams of xz":
            return 40 * lzma.compress(b"") + lzma.compress(plain)
        case "short streams of bz2":
            return b"".join(bz2.compress(plain[i : i + 99]) for i in range(0, len(plain), 99))
        case "empty blocks of zlib":
            return _blocks(plain, lambda i: b"\0\0\0\xff\xff" * 9)
        case "short blocks of zlib":
            one = (b"\x08\x01\0\xfe\xff" + plain[i : i + 1] for i in range(len(plain)))
            body = b"".join(one) + b"\x03\0"
            return b"\x78\x9c" + body + zlib.adler32(plain).to_bytes(4, "big")
        case "wasteful blocks of zlib":
            packer = zlib.compressobj(9)
            bits = (
                packer.compress(plain[i : i + 9]) + packer.flush(zlib.Z_PARTIAL_FLUSH)
                for i in range(0, len(plain), 9)
            )
            return b"".join(bits) + packer.flush()
    raise AssertionError(form)


@pytest.mark.parametrize(
    "form",
    [
        "the name in gzip", "a note in gzip", "times in gzip", "behind gzip", "behind zlib", "behind bz2",
        "behind xz", "behind lzma", "empty streams of bz2", "empty streams of xz",
        "short streams of bz2", "empty blocks of zlib", "short blocks of zlib", "wasteful blocks of zlib",
    ],
)  # fmt: skip
def test_what_a_compressed_file_holds_beside_its_stream_is_named(tmp_path, form) -> None:
    (tmp_path / "m.pkl").write_bytes(packed(form))
    assert unexplained(tmp_path / "m.pkl") != 0


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress, bz2.compress, lzma.compress])
def test_a_compressed_model_explains_itself(tmp_path, pack) -> None:
    (tmp_path / "m.pkl").write_bytes(pack(pickle.dumps(tree())))
    assert not [o for o in ta.load(tmp_path / "m.pkl").leftovers.found if o.kind == "extra"]


def test_what_is_shown_is_masked() -> None:
    assert masked("Ann Lee;33;1,200.50 EUR and more") == "aaa aaa;99;9,999.99 aaa …"
    assert size_of({"a": [1, 2.0, "é"], "b": np.zeros((2, 2))}) == 1 + 8 + 8 + 2 + 1 + 32


XGBOOST = [
    {},
    {"objective": "binary:logistic"},
    {"objective": "multi:softprob", "num_class": 2},
    {"objective": "count:poisson"},
    {"objective": "reg:quantileerror", "quantile_alpha": [0.1, 0.9]},
    {"objective": "reg:pseudohubererror"},
    {"objective": "rank:ndcg"},
    {"booster": "dart", "rate_drop": 0.5},
    {"num_parallel_tree": 3, "subsample": 0.5},
    {"monotone_constraints": "(1,0)", "interaction_constraints": "[[0],[1]]"},
]


@pytest.mark.parametrize("params", XGBOOST, ids=str)
@pytest.mark.parametrize("form", ["json", "ubj", "pkl"])
def test_what_xgboost_writes_explains_itself(tmp_path, params, form) -> None:
    label = Y if params else X[:, 1]
    model = xgb.train({"max_depth": 3, **params}, xgb.DMatrix(X, label=label), 3)
    path = tmp_path / f"m.{form}"
    path.write_bytes(pickle.dumps(model)) if form == "pkl" else model.save_model(path)
    assert not [one for one in ta.load(path).leftovers.found if one.kind == "extra"]


LIGHTGBM = [
    {},
    {"objective": "binary", "monotone_constraints": [1, 0], "interaction_constraints": [[0], [1]]},
    {"objective": "multiclass", "num_class": 2},
    {"objective": "quantile", "alpha": 0.3, "metric": "l1,l2"},
    {"linear_tree": True},
    {"boosting": "dart"},
    {"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1},
]


@pytest.mark.parametrize("params", LIGHTGBM, ids=str)
@pytest.mark.parametrize("form", ["txt", "json"])
def test_what_lightgbm_writes_explains_itself(tmp_path, params, form) -> None:
    label = Y if params.get("objective") else X[:, 1]
    model = lgb.train({"verbose": -1, "num_leaves": 6, **params}, lgb.Dataset(X.copy(), label), 3)
    path = tmp_path / f"m.{form}"
    path.write_text(model.model_to_string() if form == "txt" else json.dumps(model.dump_model()))
    assert not [one for one in ta.load(path).leftovers.found if one.kind == "extra"]


@pytest.mark.parametrize(
    "params",
    [{}, {"grow_policy": "Lossguide"}, {"loss_function": "Quantile:alpha=0.3"}, {"rsm": 0.5}],
    ids=str,
)
def test_what_catboost_writes_explains_itself(tmp_path, params) -> None:
    model = catboost.CatBoostRegressor(
        iterations=3, depth=3, verbose=0, allow_writing_files=False, **params
    )
    model.fit(X, X[:, 1]).save_model(str(tmp_path / "m.json"), format="json")
    assert not [o for o in ta.load(tmp_path / "m.json").leftovers.found if o.kind == "extra"]


def places(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if isinstance(document, dict) else []
    parts = document.items() if isinstance(document, dict) else ()
    if isinstance(document, list):
        parts = [(i, one) for i, one in enumerate(document) if isinstance(one, dict)]
    for name, part in parts:
        found += places(part, (*path, name))
    return found


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    cat().save_model(str(folder / "c.json"), format="json")
    ta.save(ta.load(tree()), folder / "o.json")
    made = [json.loads(booster().save_raw("json"))]
    made += [json.loads((folder / name).read_text()) for name in ("c.json", "o.json")]
    return folder, made


VALUES = st.one_of(
    st.text(st.characters(min_codepoint=48, max_codepoint=122), min_size=1, max_size=30),
    st.integers(0, 10**9),
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=4),
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data(), name=st.text("abcxyz_", min_size=1, max_size=12), value=VALUES)
def test_an_entry_more_anywhere_in_json_is_named(documents, data, name, value) -> None:
    folder, made = documents
    document = copy.deepcopy(data.draw(st.sampled_from(made)))
    path = data.draw(st.sampled_from(places(document)))
    if name in at(document, *path):
        return
    before = at(document, *path)
    before[name] = value
    (folder / "m.json").write_text(json.dumps(document))
    try:
        forest = ta.load(folder / "m.json")
    except ta.ReadError:
        return
    kept = forest.source.parameters.get(name) == value
    assert kept or any(one.kind in ("extra", "notes") for one in forest.leftovers.found)


SPOTS = [match.end() for match in re.finditer("<[A-Z][A-Za-z]*(?= )", PMML)]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    spot=st.sampled_from(SPOTS),
    name=st.text("abcxyz", min_size=1, max_size=12),
    value=st.text("abc019;.", min_size=1, max_size=40),
)
def test_an_attribute_more_anywhere_in_xml_is_named(documents, spot, name, value) -> None:
    path = documents[0] / "m.pmml"
    text = f'{PMML[:spot]} {name}="{value}"{PMML[spot:]}'
    path.write_text(re.sub("<!--[TON]-->", "", text))
    assert unexplained(path) != 0
