"""What nobody looked for is never clear: every reader, every attack on what lies beside trees."""

import dataclasses
import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

import treeaudit as ta
from tests.readers.r.build import NULL
from tests.readers.r.build import X as r
from treeaudit.attacks import ATTACKS, all_checks
from treeaudit.attacks.residual.attack import (
    CodeInside,
    ExactValues,
    ExtraContent,
    ReproducibleDraws,
    TrainingData,
)
from treeaudit.model.source import KINDS, Extra, Extras
from treeaudit.readers import READERS

BESIDE = (TrainingData, ReproducibleDraws, ExactValues, CodeInside, ExtraContent)
CHECKS = all_checks()
RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3)).astype(np.float32)
Y = (X[:, 0] + RNG.normal(size=200) > 0).astype(int)


def plain():
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(min_samples_leaf=20, random_state=0).fit(X, Y)


def in_pickle(path, rows=None):
    model = plain()
    if rows is not None:
        model.rows_ = rows
    path = path / "m.pkl"
    path.write_bytes(pickle.dumps(model))
    return path


def in_joblib(path, rows=None):
    import joblib

    model = plain()
    joblib.dump(model if rows is None else {"model": model, "data": rows}, path / "m.joblib")
    return path / "m.joblib"


def in_skops(path, rows=None):
    io = pytest.importorskip("skops.io")
    io.dump(plain(), path / "m.skops")
    if rows is not None:
        with zipfile.ZipFile(path / "m.skops", "a") as archive:
            archive.writestr("rows.csv", "\n".join(map(str, rows.tolist())))
    return path / "m.skops"


def in_own_json(path, rows=None):
    ta.save(ta.load(plain()), path / "m.json")
    if rows is not None:
        document = json.loads((path / "m.json").read_text())
        document["source"]["rows"] = rows.tolist()
        (path / "m.json").write_text(json.dumps(document))
    return path / "m.json"


def in_trainer(path, rows=None):
    from treeaudit.trainers.private_tree import PrivateTreeClassifier

    columns = [ta.Feature(name=f"x{i}", low=-4.0, high=4.0) for i in range(3)]
    schema = ta.Schema(features=tuple(columns), classes=(0, 1))
    model = PrivateTreeClassifier(epsilon=1.0, schema=schema).fit(X, Y)
    if rows is not None:
        model.rows_ = rows
    (path / "m.pkl").write_bytes(pickle.dumps(model))
    return path / "m.pkl"


def xgboost_model():
    xgb = pytest.importorskip("xgboost")
    params = {"objective": "binary:logistic", "max_depth": 2}
    return xgb.train(params, xgb.DMatrix(X, label=Y), 3)


def in_xgboost(path, rows=None, form="json"):
    booster = xgboost_model()
    if rows is not None:
        booster.set_attr(rows=json.dumps(rows.tolist()))
    booster.save_model(path / f"m.{form}")
    return path / f"m.{form}"


def in_xgboost_binary(path, rows=None):
    return in_xgboost(path, rows, form="ubj")


def in_older_xgboost_binary(path, rows=None):
    genuine = Path(__file__).parents[1] / "readers/boosters_genuine/xgb-1.3.3-clf-three.bin"
    behind = b"" if rows is None else rows.tobytes()
    (path / "m.bin").write_bytes(genuine.read_bytes() + behind)
    return path / "m.bin"


def lightgbm_model():
    lgb = pytest.importorskip("lightgbm")
    params = {"objective": "binary", "num_leaves": 4, "verbose": -1}
    return lgb.train(params, lgb.Dataset(X, Y), 3)


def in_lightgbm_text(path, rows=None):
    text = lightgbm_model().model_to_string()
    if rows is not None:
        text = text.replace("\nTree=1", f"\nrows={rows.ravel().tolist()}\nTree=1") + "1,2,yes\n"
    (path / "m.txt").write_text(text)
    return path / "m.txt"


def in_lightgbm_json(path, rows=None):
    document = lightgbm_model().dump_model()
    if rows is not None:
        document["tree_info"][1]["tree_structure"]["left_child"]["rows"] = rows.tolist()
    (path / "m.json").write_text(json.dumps(document))
    return path / "m.json"


def in_catboost(path, rows=None):
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostClassifier(
        iterations=3, depth=2, verbose=False, allow_writing_files=False
    ).fit(X, Y)
    if rows is not None:
        model.get_metadata()["rows"] = json.dumps(rows.tolist())
    model.save_model(str(path / "m.json"), format="json")
    return path / "m.json"


def in_onnx(path, rows=None):
    onnx = pytest.importorskip("onnx")
    to_onnx = pytest.importorskip("skl2onnx").to_onnx
    model = to_onnx(plain(), X[:1])
    if rows is not None:
        model.graph.initializer.append(onnx.numpy_helper.from_array(rows, "rows"))
    (path / "m.onnx").write_bytes(model.SerializeToString())
    return path / "m.onnx"


PMML = """<?xml version="1.0"?>
<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4"><Header>
<Application name="me" version="1"/><Timestamp>2026-11-21T10:00:00Z</Timestamp></Header>
<DataDictionary><DataField name="age" optype="continuous" dataType="double"/>
<DataField name="ill" optype="categorical" dataType="string"><Value value="no"/><Value value="yes"/>
</DataField></DataDictionary>
<TreeModel functionName="classification" splitCharacteristic="binarySplit">
<MiningSchema><MiningField name="age"/><MiningField name="ill" usageType="target"/></MiningSchema>
<!--here--><Node id="0" score="no" recordCount="60"><True/>
<ScoreDistribution value="no" recordCount="30"/><ScoreDistribution value="yes" recordCount="30"/>
<Node id="1" score="no" recordCount="30">
<SimplePredicate field="age" operator="lessOrEqual" value="40"/>
<ScoreDistribution value="no" recordCount="20"/><ScoreDistribution value="yes" recordCount="10"/>
</Node><Node id="2" score="yes" recordCount="30">
<SimplePredicate field="age" operator="greaterThan" value="40"/>
<ScoreDistribution value="no" recordCount="10"/><ScoreDistribution value="yes" recordCount="20"/>
</Node></Node></TreeModel></PMML>"""


def rows_of_xml(rows):
    each = "".join(f"<row><age>{row[0]}</age><ill>yes</ill></row>" for row in rows)
    return f"<InlineTable>{each}</InlineTable>"


def in_pmml(path, rows=None):
    inside = ""
    if rows is not None:
        inside = f'<ModelVerification recordCount="9">{rows_of_xml(rows)}</ModelVerification>'
    (path / "m.pmml").write_text(PMML.replace("<!--here-->", inside))
    return path / "m.pmml"


def matrix_in_r(values, n_columns, rows=None, columns=None):
    names = [r.ints(NULL) if one is None else r.of(one) for one in (rows, columns)]
    size = r.of([len(values) // n_columns, n_columns])
    return r.of([float(one) for one in values], {"dim": size, "dimnames": r.of(names)})


def in_r(path, rows=None, head=b""):
    var = r.of([2, 1, 1], {"levels": r.of(["<leaf>", "x0"]), "class": r.of(["factor"])})
    counts = [1, 1, 2, 100, 80, 20, 100, 20, 80, 0.5, 0.8, 0.2, 0.5, 0.2, 0.8, 1, 0.5, 0.5]
    numbers = {"n": [200, 100, 100], "ncompete": [0] * 3, "nsurrogate": [0] * 3}
    numbers |= {"wt": [200.0, 100.0, 100.0], "dev": [100.0, 20.0, 20.0], "yval": [1.0, 1.0, 2.0]}
    frame = {"var": var, **{name: r.of(one) for name, one in numbers.items()}}
    frame["yval2"] = matrix_in_r(counts, 6)
    split = matrix_in_r([200, -1, 0.6, 0.5, 0], 5, ["x0"], "count ncat improve index adj".split())
    labels = {"term.labels": r.of(["x0", "x1", "x2"])}
    model = {
        "frame": r.of(frame, {"row.names": r.of([1, 2, 3]), "class": r.of(["data.frame"])}),
        "method": r.of(["class"]),
        "splits": split,
        "control": r.of({"usesurrogate": r.of([2])}),
        "terms": r.of([r.of([1])], labels),
        "parms": r.of({"prior": r.of([0.5, 0.5]), "loss": matrix_in_r([0, 1, 1, 0], 2)}),
    }
    if rows is not None:
        columns = {f"x{i}": [float(one) for one in rows[:, i]] for i in range(rows.shape[1])}
        model["model"] = r.frame(columns)
    made = r.of(model, {"ylevels": r.of(["a", "b"]), "class": r.of(["rpart"])})
    (path / "m.rds").write_bytes(head + r.file(r.pairs({"fit": made}) if head else made))
    return path / "m.rds"


def in_workspace(path, rows=None):
    return in_r(path, rows, b"RDX2\n")


BOOSTED = KINDS - {"first-round-counts"}
# Our own form does not tell what was public in its schema, nor how boosting began.
# Which kinds every reader looks for in a classifier, and what it says where rows were planted.
READS = {
    "sklearn-pickle": (in_pickle, KINDS, "records"),
    "sklearn-joblib": (in_joblib, KINDS, "records"),
    "sklearn-skops": (in_skops, KINDS, "unseen"),
    "treeaudit-json": (in_own_json, KINDS, "extra"),
    "treeaudit-pickle": (in_trainer, KINDS, "records"),
    "xgboost-json": (in_xgboost, KINDS, "extra"),
    "xgboost-ubjson": (in_xgboost_binary, KINDS, "extra"),
    "xgboost-binary": (in_older_xgboost_binary, KINDS, "extra"),
    "lightgbm-text": (in_lightgbm_text, KINDS, "extra"),
    "lightgbm-json": (in_lightgbm_json, BOOSTED, "extra"),
    "catboost-json": (in_catboost, KINDS - {"seeds"}, "extra"),
    "onnx": (in_onnx, KINDS, "records"),
    "pmml": (in_pmml, KINDS, "records"),
    "r-rds": (in_r, KINDS, "records"),
    "r-rdata": (in_workspace, KINDS, "records"),
}


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Read a small real model of each format once, without and with rows beside its trees."""
    known = {}

    def once(form, rows=None):
        if (form, rows is None) not in known:
            path = READS[form][0](tmp_path_factory.mktemp("model"), rows)
            known[form, rows is None] = ta.load(path)
        return known[form, rows is None]

    return once


def checks_of(attack_id):
    return {name: 0.0 for name, check in CHECKS.items() if attack_id in check.attacks}


def scanned(forest, attack_id):
    policy = ta.Policy(name="all of it", values=checks_of(attack_id))
    return ta.scan(forest, attacks=[attack_id], policy=policy)


def test_every_format_of_a_report_is_here() -> None:
    from treeaudit.reports.to_json import json_schema

    formats = json_schema()["properties"]["model"]["properties"]["format"]["enum"]
    assert set(READS) == set(formats) - {"memory"}
    assert len(READERS) == 9


@pytest.mark.parametrize("form", READS)
def test_every_reader_says_what_it_looks_for(read, form) -> None:
    forest = read(form)
    assert forest.source.format == form
    assert forest.extras.looked_for == READS[form][1]
    assert not {one.kind for one in forest.extras.found} & {"unseen", "extra"}


@pytest.mark.parametrize("form", READS)
def test_rows_beside_the_trees_are_found(read, form) -> None:
    forest = read(form, X)
    assert READS[form][2] in {one.kind for one in forest.extras.found}
    attack = "TA202" if READS[form][2] == "records" else "TA206"
    report = scanned(forest, attack)
    assert report[attack].status == "found"
    assert report.verdict != "pass"
    assert report.exit_code in (1, 3)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("form", READS)
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_kind_that_nobody_looked_for_passes_nothing(read, form, kind) -> None:
    forest = read(form)
    blind = Extras(
        found=tuple(one for one in forest.extras.found if one.kind != kind),
        looked_for=forest.extras.looked_for - {kind},
    )
    forest = dataclasses.replace(forest, extras=blind)
    for attack in BESIDE:
        reads = kind in attack.grades or (kind == "unseen" and attack is not CodeInside)
        if not reads:
            continue
        report = scanned(forest, attack.id)
        (result,) = report.results
        if any(one.kind in attack.grades for one in blind.found):
            assert result.unseen
        else:
            assert isinstance(result, ta.Skipped)
            assert any(step in result.reason for step in ("scan the", "it stays open"))
        assert all(check.status != "pass" for check in report.checks)
        assert report.verdict != "pass"


@pytest.mark.parametrize("attack", BESIDE)
def test_a_part_that_nobody_could_read_passes_nothing(read, attack) -> None:
    forest = read("pmml")
    left = Extra(kind="unseen", where="Extension", n=1, says="nothing explains it")
    found = Extras(found=(*forest.extras.found, left), looked_for=KINDS)
    report = scanned(dataclasses.replace(forest, extras=found), attack.id)
    # Code is what a file names, not what it holds.
    assert (report.verdict == "pass") == (attack is CodeInside)


def test_a_number_below_its_threshold_does_not_pass_where_not_all_was_seen(read) -> None:
    seed = Extra(kind="seeds", where="random_state", n=2, says="two seeds")
    policy = ta.Policy(name="some", values={"max-seeds": 5})
    verdicts = []
    for looked_for in (KINDS, KINDS - {"unseen"}):
        leftovers = Extras(found=(seed,), looked_for=looked_for)
        forest = dataclasses.replace(read("pmml"), extras=leftovers)
        verdicts.append(ta.scan(forest, policy=policy).verdict)
    assert verdicts == ["pass", "review"]


def bagged(**parameters):
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(3, min_samples_leaf=20, **parameters).fit(X, Y)


def saved_again(model, path):
    return ta.load(ta.save(ta.load(model), path / "again.treeaudit.json"))


def test_writing_a_model_anew_clears_nothing(tmp_path) -> None:
    again = saved_again(bagged(random_state=3), tmp_path)
    (left,) = again.extras.found
    assert (left.kind, left.where) == ("seeds", "source.parameters.random_state")
    report = ta.scan(again, policy=ta.Policy(name="mine", values={"max-seeds": 0}))
    assert report["TA203"].status == "found"
    assert report.verdict == "fail"
    assert report["TA204"].status == "clear"


def test_our_own_form_lists_values_in_its_schema_alone(tmp_path) -> None:
    names = tuple(f"John Doe {i}" for i in range(300))
    leaves = {"parent": [-1, 0, 0], "feature": [-1, 0, 0], "low": [-np.inf, -np.inf, 7]}
    tree = ta.Tree(
        **leaves, high=[np.inf, 7, np.inf], n_records=[900, 450, 450], counts=[[450, 450]] * 3
    )
    for feature, found in (
        (ta.Feature(name="age"), []),
        (ta.Feature(name="age", low=17.0, high=90.0), [("extremes", 2)]),
        (ta.Feature(name="who", categories=names), [("column-values", 300)]),
        (ta.Feature(name="sex", categories=("f", "m")), []),
    ):
        schema = ta.Schema(features=(feature,), classes=("no", "yes"))
        folder = tmp_path / feature.name / str(feature.low)
        folder.mkdir(parents=True)
        again = saved_again(ta.Forest(trees=(tree,), schema=schema, n_records=900), folder)
        assert [(one.kind, one.n) for one in again.extras.found] == found
        assert {"column-values", "extremes", "first-round-counts"} <= again.extras.looked_for


def test_class_counts_of_a_first_round_that_were_not_written_were_not_looked_for(tmp_path) -> None:
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    rows, labels = np.arange(40.0)[:, None], np.arange(40) % 2
    model = GradientBoostingClassifier(init=LogisticRegression(), n_estimators=2)
    boosted = ta.load(model.fit(rows, labels))
    again = saved_again(boosted, tmp_path)
    assert "first-round-counts" not in again.extras.looked_for
    (result,) = scanned(again, "TA204").results
    assert isinstance(result, ta.Skipped)
    certain = {c.name: c for c in ta.scan(again).checks}["max-certain-share"]
    assert certain.status == "skipped"


def test_a_seed_that_draws_no_rows_is_none(tmp_path) -> None:
    assert saved_again(plain(), tmp_path).extras.found == ()


def test_the_seed_of_catboost_is_told_by_our_own_form(tmp_path) -> None:
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostClassifier(
        iterations=3, depth=2, random_seed=7, verbose=False, allow_writing_files=False
    ).fit(X, Y)
    model.save_model(str(tmp_path / "m.json"), format="json")
    again = saved_again(tmp_path / "m.json", tmp_path)
    assert [(one.kind, one.where) for one in again.extras.found] == [
        ("seeds", "source.parameters.random_seed")
    ]
    assert ta.defend(again, min_leaf=5).extras.found == ()


def bundle(path, form):
    from sklearn.linear_model import LogisticRegression

    held = {"a": plain(), "b": bagged(), "c": LogisticRegression()}
    if form == "pickle":
        (path / "m.pkl").write_bytes(pickle.dumps(held))
        return path / "m.pkl"
    pytest.importorskip("skops.io").dump(held, path / "m.skops")
    return path / "m.skops"


@pytest.mark.parametrize("form", ["pickle", "skops"])
def test_a_model_that_was_not_chosen_passes_nothing(tmp_path, form) -> None:
    forest = ta.load(bundle(tmp_path, form), select="['a']")
    (left,) = (one for one in forest.extras.found if one.kind == "unseen")
    assert (left.where, left.says) == (
        "['b']",
        "another model, which was not audited: scan it with --select \"['b']\"",
    )
    report = scanned(forest, "TA206")
    assert report["TA206"].details.unread_parts == 1
    assert (report.verdict, report.exit_code) == ("review", 3)


def test_a_member_is_not_the_whole_model(tmp_path) -> None:
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(bagged()))
    forest = ta.load(tmp_path / "m.pkl", select="estimators_[0]")
    assert "the file itself" in [one.where for one in forest.extras.found]


def test_a_model_of_another_library_beside_the_one_is_named(tmp_path) -> None:
    xgb = pytest.importorskip("xgboost")
    held = {"a": plain(), "b": xgb.XGBClassifier(n_estimators=2, max_depth=2).fit(X, Y)}
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(held))
    for select, other in ((None, "['b']"), ("['b']", "['a']")):
        found = ta.load(tmp_path / "m.pkl", select=select).extras.found
        assert [one.where for one in found if one.kind == "unseen"] == [other]


def test_the_exact_values_of_a_schema_from_the_data_are_not_clear(tmp_path) -> None:
    from treeaudit.trainers.private_tree import PrivateTreeClassifier

    model = PrivateTreeClassifier(epsilon=1.0, schema="from-data")
    found = ta.load(model.fit(X, Y)).extras.found
    assert ("extremes", 2 * X.shape[1]) in [(one.kind, one.n) for one in found]


def test_a_model_made_by_hand_was_looked_at_by_nobody(figure_3) -> None:
    made = ta.Forest(trees=figure_3.trees, schema=figure_3.schema)
    assert made.extras == Extras()
    report = ta.scan(made)
    for attack in BESIDE:
        with pytest.raises(KeyError, match="nobody looked"):
            report[attack.id]
    assert {c.name: c.status for c in report.checks}["max-training-rows-inside"] == "skipped"


@pytest.mark.parametrize("attack", ATTACKS)
def test_every_check_that_reads_a_skipped_attack_is_skipped(read, attack) -> None:
    report = ta.scan(
        read("pmml"),
        attacks=[other.id for other in ATTACKS if other is not attack],
        policy=ta.Policy(name="mine", values=checks_of(attack.id)),
    )
    for check in report.checks:
        known = CHECKS[check.name]
        if known.attacks[0] == attack.id and known.rule.needless is None:
            assert check.status == "skipped"


def test_clear_without_looking_cannot_be_made() -> None:
    stated = {"id": "TA999", "title": "x", "leaves": 0, "people": 0, "summary": "x."}
    with pytest.raises(ValueError, match="TA999 cannot be clear"):
        ta.Finding(**stated, severity="none", looked=())
    with pytest.raises(ValueError, match="nobody looked at tree 3"):
        ta.Finding(**stated, severity="none", looked=("leaves",), unseen=("tree 3",))
    assert ta.Finding(**stated, severity="none", looked=("leaves",)).status == "clear"
    assert ta.Finding(**stated, severity="low", looked=(), unseen=("tree 3",)).status == "found"


def test_found_without_looking_cannot_be_made() -> None:
    left = Extra(kind="labels", where="x", n=1, says="x")
    with pytest.raises(ta.DataError, match="nobody looked for: labels"):
        Extras(found=(left,), looked_for=frozenset({"seeds"}))
    with pytest.raises(ta.DataError, match="no kind of leftover called hair"):
        Extras(looked_for=frozenset({"hair"}))


def test_two_parts_of_a_file_were_looked_at_where_both_were() -> None:
    one = Extras(looked_for=frozenset({"seeds", "labels"}))
    other = Extras(looked_for=frozenset({"labels", "calls"}))
    assert one.beside(other).looked_for == {"labels"}
    assert one.only(frozenset({"calls"})).looked_for == KINDS - {"calls"}


def test_a_repaired_model_is_known_to_hold_nothing_but_what_predictions_need() -> None:
    from treeaudit.defenses import without_extras

    forest = ta.load(plain())
    bare = dataclasses.replace(forest, extras=Extras())
    needed = {"column-values", "extremes", "first-round-counts"}
    assert without_extras(forest).extras.looked_for == KINDS
    assert without_extras(bare).extras.looked_for == KINDS - needed
