"""Make the models and tables of the report goldens: ``python tests/golden/reports/make_inputs.py``.

Run once, with scikit-learn 1.9.1, xgboost 3.2.0, lightgbm 4.7.0, skl2onnx 1.20, skops 0.16
and treeaudit 0.1.0; what it made is committed, so that no test trains anything and no new
version of a library moves a golden. A run in another environment makes other files, and the
private models are different in every run (they have no seed): name what is to be made again,
``make_inputs.py forest``, look at the goldens that move, and commit both together.
"""

import contextlib
import json
import pickle
import sys
import types
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd

INPUTS = Path(__file__).parent / "inputs"
NUMBERS = ["age", "income", "visits"]
REGIONS = ["north", "east", "south", "west"]
DISEASES = ["none", "asthma", "diabetes", "cancer"]


def people(n: int, seed: int) -> pd.DataFrame:
    """Return made-up patients: three numbers, a region, a disease and who came back."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    income = rng.integers(12, 90, n) * 1000
    visits = rng.poisson(1 + age / 30)
    region = rng.integers(0, 4, n)
    ill = age / 90 + visits / 8 + rng.normal(0, 0.4, n)
    returned = ill + (region == 2) * 0.5 + rng.normal(0, 0.3, n) > 1.2
    return pd.DataFrame(
        {
            "age": age,
            "income": income,
            "visits": visits,
            "region": region,
            "disease": np.take(DISEASES, np.digitize(ill, [0.9, 1.3, 1.7])),
            "returned": np.where(returned, "yes", "no"),
        }
    )


TRAIN, TEST = people(160, 1), people(120, 2)
X, Y = TRAIN[[*NUMBERS, "region"]], TRAIN["returned"]


def tables() -> None:
    TRAIN.to_csv(INPUTS / "train.csv", index=False, lineterminator="\n")
    TEST.to_csv(INPUTS / "test.csv", index=False, lineterminator="\n")
    TRAIN.iloc[::9].to_csv(INPUTS / "known.csv", index=False, lineterminator="\n")
    cost = 100 * TRAIN["visits"] + TRAIN["age"]
    priced = TRAIN[["age", "income", "visits"]].assign(cost=cost)
    priced.to_csv(INPUTS / "costs.csv", index=False, lineterminator="\n")
    named = TRAIN.assign(region=np.take(REGIONS, TRAIN["region"]))
    named.to_csv(INPUTS / "named.csv", index=False, lineterminator="\n")
    shares = "region,no,yes\n0,0.70,0.30\n1,0.65,0.35\n2,0.20,0.80\n3,0.70,0.30\n"
    (INPUTS / "prior.csv").write_text(shares, newline="\n")


def tree() -> None:
    from sklearn.tree import DecisionTreeClassifier

    dump("tree.pkl", DecisionTreeClassifier(max_depth=5).fit(X, Y))


def accepted() -> None:
    """Make the report that somebody has accepted; later versions of treeaudit must read it."""
    import treeaudit as ta
    from treeaudit.findings.baseline import accepted_report

    with contextlib.chdir(INPUTS):
        report = json.loads(ta.scan("tree.pkl", attacks=["TA101", "TA102"]).to_json())
    until = date(9999, 12, 31)
    data = accepted_report(report, by="Ada Lovelace", until=until, reason="inside the trust only")
    data["accepted"]["on"] = "2026-01-05"
    (INPUTS / "accepted.json").write_text(json.dumps(data, indent=1), newline="\n")


def large_leaves() -> None:
    from sklearn.tree import DecisionTreeClassifier

    dump("large_leaves.pkl", DecisionTreeClassifier(min_samples_leaf=20).fit(X, Y))


def forest() -> None:
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(3, max_depth=4, max_features=None, random_state=3)
    model.fit(X, Y).random_state = None
    for one in model.estimators_:
        one.random_state = None
    dump("forest.pkl", model)


def booster() -> None:
    from sklearn.ensemble import GradientBoostingClassifier

    dump("booster.pkl", GradientBoostingClassifier(n_estimators=4, max_depth=2).fit(X, Y))


def xgboost() -> None:
    from xgboost import XGBClassifier

    model = XGBClassifier(n_estimators=3, max_depth=3, min_child_weight=0)
    model.fit(X, Y == "yes").get_booster().save_model(INPUTS / "xgboost.json")


def lightgbm() -> None:
    from lightgbm import LGBMClassifier

    options = {"n_estimators": 3, "num_leaves": 6, "min_child_samples": 2, "verbose": -1}
    model = LGBMClassifier(**options).fit(X, Y == "yes")
    model.booster_.save_model(INPUTS / "lightgbm.txt")


def regressor() -> None:
    from sklearn.tree import DecisionTreeRegressor

    cost = 100 * X["visits"] + X["age"]
    dump("regressor.pkl", DecisionTreeRegressor(max_depth=4).fit(X[NUMBERS], cost))


def multiclass() -> None:
    from sklearn.tree import DecisionTreeClassifier

    dump("multiclass.pkl", DecisionTreeClassifier(max_depth=4).fit(X, TRAIN["disease"]))


def onnx() -> None:
    from skl2onnx import to_onnx
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(max_depth=4).fit(X.to_numpy("float32"), Y)
    made = to_onnx(model, X.to_numpy("float32")[:1])
    (INPUTS / "tree.onnx").write_bytes(made.SerializeToString())


def leftovers() -> None:
    """Make a bundle: a forest with seeds, labels and out-of-bag answers, and foreign code."""
    from sklearn.ensemble import RandomForestClassifier

    module = types.ModuleType("in_house")
    module.Note = type("Note", (), {"__module__": "in_house"})
    sys.modules["in_house"] = module
    options = {"class_weight": "balanced", "oob_score": True, "random_state": 7}
    model = RandomForestClassifier(2, max_depth=3, **options).fit(X[:60], Y[:60])
    dump("leftovers.pkl", {"model": model, "note": module.Note()})


def records_inside() -> None:
    """Make a pipeline whose imputer keeps the records that it learnt from."""
    import skops.io
    from sklearn.impute import KNNImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.tree import DecisionTreeClassifier

    model = make_pipeline(KNNImputer(), DecisionTreeClassifier(max_depth=2))
    made = skops.io.dumps(model.fit(X[:50], Y[:50]), compression=zipfile.ZIP_DEFLATED)
    (INPUTS / "records_inside.skops").write_bytes(made)


PMML = """<?xml version="1.0" encoding="UTF-8"?>
<PMML version="4.4" xmlns="http://www.dmg.org/PMML-4_4">
<Header><Application name="me" version="1.2"/></Header>
<DataDictionary>
<DataField name="age" optype="continuous" dataType="double"/>
<DataField name="region" optype="categorical" dataType="string">
<Value value="north"/><Value value="east"/><Value value="south"/><Value value="west"/></DataField>
<DataField name="returned" optype="categorical" dataType="string">
<Value value="no"/><Value value="yes"/></DataField>
</DataDictionary>
<TreeModel functionName="classification" splitCharacteristic="binarySplit">
<MiningSchema><MiningField name="age"/><MiningField name="region"/>
<MiningField name="returned" usageType="target"/></MiningSchema>
%s<Node score="no" recordCount="60"><True/>
<ScoreDistribution value="no" recordCount="36"/><ScoreDistribution value="yes" recordCount="24"/>
<Node score="no" recordCount="32">
<SimplePredicate field="age" operator="lessOrEqual" value="40"/>
<ScoreDistribution value="no" recordCount="32"/><ScoreDistribution value="yes" recordCount="0"/>
</Node><Node score="yes" recordCount="28">
<SimplePredicate field="age" operator="greaterThan" value="40"/>
<ScoreDistribution value="no" recordCount="4"/><ScoreDistribution value="yes" recordCount="24"/>
<Node score="yes" recordCount="25">
<SimpleSetPredicate field="region" booleanOperator="isIn">
<Array type="string" n="2">south west</Array></SimpleSetPredicate>
<ScoreDistribution value="no" recordCount="2"/><ScoreDistribution value="yes" recordCount="23"/>
</Node><Node score="no" recordCount="3">
<SimpleSetPredicate field="region" booleanOperator="isIn">
<Array type="string" n="2">north east</Array></SimpleSetPredicate>
<ScoreDistribution value="no" recordCount="2"/><ScoreDistribution value="yes" recordCount="1"/>
</Node></Node></Node></TreeModel></PMML>
"""
RECORDS = """<ModelVerification recordCount="2" fieldCount="2"><VerificationFields>
<VerificationField field="age" column="age"/><VerificationField field="region" column="region"/>
</VerificationFields><InlineTable><row><age>33</age><region>south</region></row>
<row><age>71</age><region>north</region></row></InlineTable></ModelVerification>
"""


def pmml() -> None:
    (INPUTS / "tree.pmml").write_text(PMML % "", newline="\n")
    (INPUTS / "records_inside.pmml").write_text(PMML % RECORDS, newline="\n")


def categorical() -> None:
    """Make a tree of multiway splits on names, counted by hand from the table."""
    import treeaudit as ta
    from treeaudit.model.tree import CategorySets

    rows = pd.read_csv(INPUTS / "named.csv")
    inf = np.inf
    region = rows["region"].map(REGIONS.index)
    old = rows["age"] > 50
    members = [rows["age"] > 0, *(region == code for code in range(4))]
    members += [(region == 2) & ~old, (region == 2) & old]
    counts = [[int((m & (rows["returned"] == c)).sum()) for c in ("no", "yes")] for m in members]
    grown = ta.Tree(
        parent=[-1, 0, 0, 0, 0, 3, 3],
        feature=[-1, 1, 1, 1, 1, 0, 0],
        low=[-inf, -inf, -inf, -inf, -inf, -inf, 50],
        high=[inf, inf, inf, inf, inf, 50, inf],
        categories=CategorySets(start=[0, 0, 1, 2, 3, 4, 4, 4], codes=[0, 1, 2, 3]),
        n_records=[sum(c) for c in counts],
        counts=counts,
    )
    features = (ta.Feature(name="age"), ta.Feature(name="region", categories=tuple(REGIONS)))
    schema = ta.Schema(features=features, classes=("no", "yes"), target="returned")
    model = ta.Forest(trees=(grown,), schema=schema, n_records=len(rows))
    ta.save(model, INPUTS / "categorical.json", force=True)


def private() -> None:
    """Train one model whose privacy is proved, and one as its paper prints it."""
    import treeaudit as ta
    from treeaudit.trainers import save_trained, train

    features = (
        ta.Feature(name="age", low=0, high=100),
        ta.Feature(name="visits", low=0, high=20),
        ta.Feature(name="region", categories=tuple(REGIONS)),
    )
    schema = ta.Schema(features=features, classes=("no", "yes"), target="returned")
    rows = TRAIN.assign(region=np.take(REGIONS, TRAIN["region"]))
    sound = train(rows, epsilon=1, schema=schema, algorithm="private-tree")
    save_trained(sound, INPUTS / "private_sound.json", force=True)
    options = {"algorithm": "dpdf", "n_estimators": 2, "max_depth": 2, "min_records": 20}
    printed = train(rows, epsilon=1, schema=schema, variant="published", **options)
    save_trained(printed, INPUTS / "private_published.json", force=True)


def dump(name: str, model: object) -> None:
    (INPUTS / name).write_bytes(pickle.dumps(model, protocol=4))


MAKERS: tuple[Callable[[], None], ...] = (
    tables,
    tree,
    accepted,
    large_leaves,
    forest,
    booster,
    xgboost,
    lightgbm,
    regressor,
    multiclass,
    onnx,
    leftovers,
    records_inside,
    pmml,
    categorical,
    private,
)

if __name__ == "__main__":
    INPUTS.mkdir(exist_ok=True)
    wanted = sys.argv[1:]
    for maker in MAKERS:
        if not wanted or maker.__name__ in wanted:
            maker()
    json.dump({p.name: p.stat().st_size for p in sorted(INPUTS.iterdir())}, sys.stdout, indent=1)
