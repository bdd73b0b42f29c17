"""PMML trees: routed as the specification says, and counts only where they add up."""

import operator as op
import random
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tests.fuzz.model_text import mutate
from tests.readers.damage import sentence_or_model
from treeaudit.errors import ReadError, UnsafeModelError, UnsupportedModelError
from treeaudit.model.source import Source
from treeaudit.readers.limits import LIMITS
from treeaudit.readers.open import open_file, unpack
from treeaudit.readers.pmml import model as pmml

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
FIELDS = """
 <DataDictionary>
  <DataField name="x" optype="continuous" dataType="double"/>
  <DataField name="z" optype="continuous" dataType="double"/>
  <DataField name="job" optype="categorical" dataType="string">
   <Value value="clerk"/><Value value="nurse"/><Value value="smith"/><Value value="cook"/>
  </DataField>
  <DataField name="y" optype="categorical" dataType="string">
   <Value value="no"/><Value value="yes"/>
  </DataField>
 </DataDictionary>
"""
SCHEMA = """<MiningSchema><MiningField name="x"/><MiningField name="z"/>
 <MiningField name="job"/><MiningField name="y" usageType="target"/></MiningSchema>"""


def document(body, fields=FIELDS):
    return (
        f'{HEAD}<PMML version="4.4" xmlns="http://www.dmg.org/PMML-4_4">'
        f'<Header><Application name="me" version="1.2"/></Header>{fields}{body}</PMML>'
    )


def tree_of(nodes, function="classification", schema=SCHEMA, **attributes):
    more = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return document(f'<TreeModel functionName="{function}"{more}>{schema}{nodes}</TreeModel>')


def simple(field, operator, value=None):
    given = "" if value is None else f' value="{value}"'
    return f'<SimplePredicate field="{field}" operator="{operator}"{given}/>'


def node(predicate, inside="", score=None, n=None, **more):
    given = "" if score is None else f' score="{score}"'
    given += "" if n is None else f' recordCount="{n}"'
    given += "".join(f' {name}="{value}"' for name, value in more.items())
    return f"<Node{given}>{predicate}{inside}</Node>"


def read(text, select=None):
    content = unpack(text if isinstance(text, bytes) else text.encode())
    assert pmml.matches(content)
    return pmml.read(content, Source(), select, LIMITS)


def local(element):
    return element.tag.rpartition("}")[2]


COMPARE = {"equal": op.eq, "notEqual": op.ne, "lessThan": op.lt, "lessOrEqual": op.le}
COMPARE |= {"greaterThan": op.gt, "greaterOrEqual": op.ge}


def holds(predicate, row):
    """The specification: True, False, or None for unknown."""
    name, value = local(predicate), predicate.get("value")
    if name in ("True", "False"):
        return name == "True"
    if name == "CompoundPredicate":
        each = [holds(part, row) for part in predicate]
        match predicate.get("booleanOperator"):
            case "and":
                return False if False in each else None if None in each else True
            case "or":
                return True if True in each else None if None in each else False
            case _:
                return next((known for known in each if known is not None), None)
    x = row[predicate.get("field")]
    operator = predicate.get("operator") or predicate.get("booleanOperator")
    gone = x is None
    if operator in ("isMissing", "isNotMissing"):
        return gone == (operator == "isMissing")
    if gone:
        return None
    if name == "SimpleSetPredicate":
        inside = str(x) in predicate[0].text.replace('"', "").split()
        return inside == (operator == "isIn")
    if not isinstance(x, str):
        value = float(value)
    return bool(COMPARE[operator](x, value))


def last_score(root, row, last=False):
    """Walk the XML: the first child that is true; unknown counts as false."""
    at = root
    while True:
        inner = [child for child in at if local(child) == "Node"]
        if not inner:
            return at.get("score")
        into = next((child for child in inner if holds(child[0], row) is True), None)
        if into is None:
            return at.get("score") if last else None
        at = into


def rows_of(forest, n=300, seed=0):
    rng = np.random.default_rng(seed)
    jobs = [None, "clerk", "nurse", "smith", "cook"]
    values = [None, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, -0.0, np.nextafter(1, 0), np.nextafter(1, 2)]
    for _ in range(n):
        x, z = rng.choice(len(values), 2)
        yield {"x": values[x], "z": values[z], "job": jobs[rng.integers(0, 5)]}


def check_routes(text, last=False):
    """Every row ends in a leaf with the score that the XML gives."""
    forest = read(text)
    model = next(e for e in ET.fromstring(text.encode()).iter() if local(e) == "TreeModel")
    root = next(child for child in model if local(child) == "Node")
    tree = forest.trees[0]
    place = {f.name: f for f in forest.schema.features}
    for row in rows_of(forest):
        values = []
        for name, feature in place.items():
            value = row[name]
            if isinstance(value, str):
                value = feature.categories.index(value)
            values.append(np.nan if value is None else value)
        at = int(forest.apply([values])[0, 0])
        expected = last_score(root, row, last)
        if expected is None:
            assert not tree.is_leaf[at], row
        else:
            assert tree.is_leaf[at], (row, expected)
            assert forest.schema.classes[tree.label[at]] == expected, row
    return forest


TRUE = "<True/>"
NO, YES = {"score": "no"}, {"score": "yes"}


@pytest.mark.parametrize(
    ("operator", "other"),
    [
        ("lessThan", "greaterOrEqual"),
        ("lessOrEqual", "greaterThan"),
        ("greaterThan", "lessOrEqual"),
        ("greaterOrEqual", "lessThan"),
        ("equal", "notEqual"),
        ("notEqual", "equal"),
    ],
)
def test_operators_at_the_value_and_beside_it(operator, other):
    first, second = simple("x", operator, 1), simple("x", other, 1)
    check_routes(tree_of(node(TRUE, node(first, **NO) + node(second, **YES))))
    check_routes(tree_of(node(TRUE, node(first, **NO) + node(TRUE, **YES))))


SETS = (
    '<SimpleSetPredicate field="job" booleanOperator="{}"><Array n="2" type="string">{}</Array>{}'
)
SET_END = "</SimpleSetPredicate>"


@pytest.mark.parametrize(
    "pair",
    [
        (simple("job", "equal", "nurse"), simple("job", "notEqual", "nurse")),
        (simple("job", "notEqual", "nurse"), TRUE),
        (SETS.format("isIn", 'clerk "cook"', SET_END), TRUE),
        (SETS.format("isNotIn", "clerk cook", SET_END), SETS.format("isIn", "clerk cook", SET_END)),
        (simple("x", "isMissing"), simple("x", "isNotMissing")),
        (simple("x", "isNotMissing"), TRUE),
        (simple("job", "isMissing"), TRUE),
    ],
)
def test_categories_and_missing_values(pair):
    check_routes(tree_of(node(TRUE, node(pair[0], **NO) + node(pair[1], **YES))))


def compound(operator, *parts):
    return f'<CompoundPredicate booleanOperator="{operator}">{"".join(parts)}</CompoundPredicate>'


@pytest.mark.parametrize(
    "predicate",
    [
        compound("and", simple("x", "greaterThan", 0.5), simple("x", "lessOrEqual", 1.5)),
        compound("or", simple("x", "isMissing"), simple("x", "lessOrEqual", 1)),
        compound("or", simple("job", "equal", "cook"), simple("job", "equal", "clerk")),
        compound("or", simple("x", "lessThan", 1), simple("x", "lessThan", 2)),
        compound("and", simple("x", "isNotMissing"), simple("x", "greaterThan", 1)),
        compound("and", TRUE, simple("x", "greaterThan", 1)),
    ],
)
def test_compound_conditions(predicate):
    check_routes(tree_of(node(TRUE, node(predicate, **NO))))


def test_a_condition_on_two_columns_is_a_chain():
    both = compound("and", simple("x", "greaterThan", 1), simple("job", "equal", "cook"))
    forest = check_routes(tree_of(node(TRUE, node(both, **NO), score="yes")), last=False)
    assert forest.trees[0].n_nodes == 3
    assert "one after the other" in forest.warnings[0]


def test_children_asked_in_turn_get_what_is_left():
    inside = (
        node(simple("x", "lessOrEqual", 0.5), **NO)
        + node(simple("x", "lessOrEqual", 1.5), **YES)
        + node(simple("job", "equal", "cook"), **NO)
        + node(simple("z", "greaterThan", 1), **YES)
        + node(TRUE, **NO)
    )
    forest = check_routes(tree_of(node(TRUE, inside)))
    tree = forest.trees[0]
    assert (tree.low[2], tree.high[2]) == (0.5, 1.5)


def test_the_last_prediction_is_a_leaf_of_its_own():
    inside = node(simple("x", "lessOrEqual", 1), **NO)
    text = tree_of(node(TRUE, inside, **YES), noTrueChildStrategy="returnLastPrediction")
    assert len(check_routes(text, last=True).trees[0].leaves) == 2


def test_missing_values_go_to_the_default_child():
    inside = node(simple("x", "lessOrEqual", 1), id="a", **NO)
    inside += node(simple("x", "greaterThan", 1), id="b", **YES)
    text = tree_of(node(TRUE, inside, defaultChild="b"), missingValueStrategy="defaultChild")
    tree = read(text).trees[0]
    assert tree.missing.tolist() == [False, False, True]


@pytest.mark.parametrize(
    "predicate",
    [
        compound("xor", simple("x", "lessThan", 1), simple("x", "lessThan", 2)),
        compound("or", simple("x", "lessThan", 1), simple("z", "lessThan", 2)),
        compound("or", simple("x", "lessThan", 1), simple("x", "greaterThan", 2)),
        simple("job", "lessThan", "cook"),
    ],
)
def test_conditions_without_a_box_are_named(predicate):
    with pytest.raises(UnsupportedModelError, match="tree 0: a node "):
        read(tree_of(node(TRUE, node(predicate, **NO))))


def counted(*shares):
    return "".join(
        f'<ScoreDistribution value="{value}" recordCount="{share}"/>'
        for value, share in zip(("no", "yes"), shares, strict=True)
    )


@pytest.mark.parametrize(
    ("left", "right", "total", "kind"),
    [
        ((1, 2), (4, 0), 7, "exact"),
        ((1 / 3, 2 / 3), (1, 0), 7, "likely"),
        ((1.0, 0), (0, 1.0), 7, "exact"),
        ((0.4, 0.6), (1, 0), 7, "weighted"),
        ((1, 2), (4, 0), 8, None),
        ((1, 1), (1, 1), 1, None),
    ],
)
def test_what_counts_are(left, right, total, kind):
    inside = ""
    for shares, predicate, n in ((left, "lessOrEqual", 3), (right, "greaterThan", 4)):
        inside += node(simple("x", predicate, 1), counted(*shares), score="no", n=n)
    forest = read(tree_of(node(TRUE, inside, n=total)))
    tree = forest.trees[0]
    if kind is None:
        assert tree.n_records is None
        assert tree.counts is None
        assert "the file holds no counts" in forest.counts_reason
        return
    assert forest.counts_are == kind
    assert tree.n_records.tolist() == [7, 3, 4]
    assert np.allclose(tree.counts.sum(axis=1), [7, 3, 4])


def test_people_who_are_counted_in_leaves_alone_are_summed_upwards():
    leaves = ((simple("x", "lessOrEqual", 1), (40, 20)), (TRUE, (20, 30)))
    inside = "".join(node(asked, counted(*two), score="no", n=sum(two)) for asked, two in leaves)
    forest = read(tree_of(node(TRUE, inside)))
    assert forest.counts_are == "exact"
    assert forest.trees[0].n_records.tolist() == [110, 60, 50]
    assert forest.trees[0].counts.tolist() == [[60, 50], [40, 20], [20, 30]]


@pytest.mark.parametrize("more", [{}, {"noTrueChildStrategy": "returnLastPrediction"}])
def test_leaves_that_do_not_tell_everybody_tell_nobody(more):
    """Exporters since scikit-learn 1.3 put a 1 in every leaf; others let people stop above them."""
    n, right = (6, "") if more else (1, node(simple("x", "greaterThan", 1), score="yes", n=1))
    inside = node(simple("x", "lessOrEqual", 1), score="no", n=n) + right
    assert read(tree_of(node(TRUE, inside, score="no"), **more)).n_records is None


@pytest.fixture(scope="module")
def iris():
    from sklearn.datasets import load_iris

    x, y = load_iris(return_X_y=True, as_frame=True)
    x.columns = ["sl", "sw", "pl", "pw"]
    return x, y.map(dict(enumerate(["setosa", "versicolor", "virginica"])))


leaves_files_open = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


def nyoka_file(model, x, y, folder):
    nyoka = pytest.importorskip("nyoka")
    from sklearn.pipeline import Pipeline

    pipeline = Pipeline([("model", model)]).fit(x, y)
    path = folder / "model.pmml"
    nyoka.skl_to_pmml(pipeline, list(x.columns), "target", str(path))
    return path


def load(path):
    content = open_file(path)
    assert pmml.matches(content)
    return pmml.read(content, Source(), None, LIMITS)


@pytest.mark.libraries
@leaves_files_open
def test_nyoka_counts_are_those_of_scikit_learn(iris, tmp_path):
    from sklearn.tree import DecisionTreeClassifier

    x, y = iris
    model = DecisionTreeClassifier(max_depth=4, random_state=0)
    forest = load(nyoka_file(model, x, y, tmp_path))
    ours = forest.apply(x.to_numpy())[:, 0]
    pairs = dict(zip(ours.tolist(), model.apply(x).tolist(), strict=True))
    tree = forest.trees[0]
    assert tree.n_nodes == model.tree_.node_count
    assert sorted(tree.n_records) == sorted(model.tree_.n_node_samples)
    for mine, theirs in pairs.items():
        assert tree.n_records[mine] == model.tree_.n_node_samples[theirs]
        really = y[ours == mine].value_counts()
        assert tree.counts[mine].tolist() == [really.get(c, 0) for c in forest.schema.classes]
    assert [forest.schema.classes[i] for i in tree.label[ours]] == model.predict(x).tolist()
    assert forest.counts_are == "likely"
    assert forest.n_records == 150
    assert forest.source.library_version == "Nyoka 5.5.0"


@pytest.mark.libraries
@leaves_files_open
def test_nyoka_regression_and_forests(iris, tmp_path):
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeRegressor

    x, y = iris
    number = x["pl"] * 2 + x["pw"]
    model = DecisionTreeRegressor(max_depth=4, random_state=0)
    forest = load(nyoka_file(model, x[["sl", "sw"]], number, tmp_path))
    at = forest.apply(x[["sl", "sw"]].to_numpy())[:, 0]
    assert np.allclose(forest.trees[0].value[at], model.predict(x[["sl", "sw"]]))
    several = RandomForestClassifier(3, max_depth=3, random_state=0)
    forest = load(nyoka_file(several, x, y, tmp_path))
    assert forest.counts_are == "weighted"
    for tree, member in zip(forest.trees, several.estimators_, strict=True):
        assert sorted(tree.n_records) == sorted(member.tree_.n_node_samples)


BOTH = node(simple("x", "lessOrEqual", 1), score="no", n=5)
BOTH += node(simple("x", "greaterThan", 1), score="yes", n=5)


@pytest.mark.parametrize("root", ["<False/>", simple("z", "lessOrEqual", 1)])
def test_a_root_that_does_not_answer_everybody_is_refused(root):
    with pytest.raises(UnsupportedModelError, match="root of a tree asks a condition"):
        read(tree_of(node(root, BOTH, score="no", n=10)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<MiningField name="x"/>', '<MiningField name="x" missingValueReplacement="1"/>'),
        ('<MiningField name="x"/>', '<MiningField name="x" outliers="asMissingValues"/>'),
        ('<MiningField name="x"/>', '<MiningField name="x" invalidValueReplacement="1"/>'),
        ('<Value value="clerk"/>', '<Value value="clerk"/><Value value="no" property="missing"/>'),
    ],
)
def test_what_changes_values_before_the_trees_is_named(old, new):
    text = tree_of(node(TRUE, BOTH, score="no", n=10))
    assert not read(text).warnings
    assert old in text
    forest = read(text.replace(old, new))
    assert "values are replaced before a tree asks about them" in forest.warnings[0]
    assert not forest.extras.found


def segment_of_ten(yes):
    """A tree of ten people, so many of them with yes."""

    both = node(simple("x", "lessOrEqual", 1), counted(5, 0), score="no", n=5)
    both += node(simple("x", "greaterThan", 1), counted(5 - yes, yes), score="yes", n=5)
    inside = f"{SCHEMA}{node(TRUE, counted(10 - yes, yes) + both, score='no', n=10)}"
    return f'<Segment>{TRUE}<TreeModel functionName="classification">{inside}</TreeModel></Segment>'


@pytest.mark.parametrize(("second", "who"), [(4, ("all", 10)), (3, ("unknown", None))])
def test_trees_that_count_other_people_were_drawn(second, who):
    trees = (
        f'<Segmentation multipleModelMethod="average">{segment_of_ten(4)}{segment_of_ten(second)}'
    )
    text = f'<MiningModel functionName="classification">{SCHEMA}{trees}</Segmentation>'
    forest = read(document(text + "</MiningModel>"))
    assert forest.counts_are == "exact"
    assert (forest.records_are, forest.n_records) == who


def test_several_models_are_chosen_by_name():
    one = f'<TreeModel modelName="{{}}" functionName="classification">{SCHEMA}{node(TRUE, **NO)}'
    text = document("".join(one.format(name) + "</TreeModel>" for name in ("first", "second")))
    with pytest.raises(UnsupportedModelError, match=r"2 models \(first, second\)"):
        read(text)
    assert read(text, "second").source.inside == "second"
    with pytest.raises(UnsupportedModelError, match="first, second"):
        read(text, "third")


def test_models_that_are_no_trees_are_named():
    text = document(
        '<RegressionModel functionName="regression"><RegressionTable/></RegressionModel>'
    )
    with pytest.raises(UnsupportedModelError, match="no trees, but RegressionModel"):
        read(text)


STUMP = node(
    TRUE,
    node(simple("x", "lessOrEqual", 1), counted(1, 2), score="no", n=3)
    + node(simple("x", "greaterThan", 1), counted(4, 0), score="yes", n=4),
    n=7,
)
LAUGHS = "<!DOCTYPE PMML [" + "".join(
    f'<!ENTITY l{i + 1} "&l{i};&l{i};&l{i};&l{i};&l{i};&l{i};">' for i in range(12)
)
GOOD = tree_of(STUMP)
TWICE = "".join(f'<ScoreDistribution value="yes" recordCount="{n}"/>' for n in (3, 4))
DAMAGE = {
    "a label counted twice": tree_of(node(TRUE, node(simple("x", "lessOrEqual", 1), TWICE, n=7))),
    "two columns of one name": document("", FIELDS.replace('name="z"', 'name="x"')),
    "a root without condition": tree_of(node("", BOTH, score="no", n=10)),
    "no nodes": tree_of(""),
    "two roots": tree_of(STUMP + STUMP),
    "a node without condition": tree_of(node(TRUE, node("", **NO))),
    "two conditions": tree_of(node(TRUE, node(TRUE + TRUE, **NO))),
    "a field that is none": GOOD.replace('field="x"', 'field="q"'),
    "a value that is no number": GOOD.replace('value="1"', 'value="one"'),
    "a value that is not a number": GOOD.replace('value="1"', 'value="NaN"'),
    "an infinite value": GOOD.replace('value="1"', 'value="1e999"'),
    "no value": GOOD.replace(' value="1"', ""),
    "an operator that is none": GOOD.replace("lessOrEqual", "lessThanOrSo"),
    "no operator": GOOD.replace('operator="lessOrEqual"', ""),
    "a join that is none": tree_of(node(TRUE, node(compound("nand", TRUE), **NO))),
    "an empty surrogate": tree_of(node(TRUE, node(compound("surrogate"), **NO))),
    "nested joins": tree_of(node(TRUE, node("<CompoundPredicate booleanOperator='and'>" * 60))),
    "a tag that does not end": GOOD[:-60],
    "tags that cross": GOOD.replace("</TreeModel>", "</Tree>"),
    "no end": GOOD[:900],
    "half a character": GOOD.encode().replace(b'"me"', b'"\xff\xfe"'),
    "control characters": GOOD.replace('"me"', '"\0"'),
    "a strange encoding": GOOD.replace("UTF-8", "rot13"),
    "an encoding that runs code": GOOD.replace("UTF-8", "bz2_codec"),
    "something after the end": GOOD + "<more/>",
    "not PMML": GOOD.replace("<PMML", "<not><PMML"),
    "a score that is no number": tree_of(node(TRUE, score="much"), function="regression"),
    "an infinite score": tree_of(node(TRUE, score="-Infinity"), function="regression"),
    "deep nodes": tree_of("<Node><True/>" * 6000),
    "an attribute twice": GOOD.replace("<True/>", '<True a="1" a="2"/>', 1),
    "an undeclared entity": GOOD.replace('"me"', '"&me;"'),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged(name):
    text = DAMAGE[name]
    error = sentence_or_model(pmml, text if isinstance(text, bytes) else text.encode())
    assert isinstance(error, ReadError), name


@pytest.mark.parametrize(
    "doctype",
    [
        LAUGHS + "]>",
        '<!DOCTYPE PMML SYSTEM "file:///etc/passwd">',
        '<!DOCTYPE PMML [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE PMML [<!ENTITY % x SYSTEM "http://127.0.0.1/x"> %x;]>',
        "<!DOCTYPE PMML>",
    ],
)
def test_document_types_are_refused(doctype):
    text = GOOD.replace("\n<PMML", f"\n{doctype}<PMML", 1)
    with pytest.raises(UnsafeModelError, match="declares a document type"):
        read(text)


def test_floats_are_compared_as_floats():
    assert not read(GOOD).single_precision
    forest = read(GOOD.replace('"double"', '"float"').replace('value="1"', 'value="0.1"'))
    assert forest.single_precision
    assert forest.trees[0].high[1] == np.float32(0.1)


def test_impossible_counts_are_left_out():
    for number in ("-3", "1e400", "NaN", "many", "3.5", "9" * 30):
        assert read(GOOD.replace('recordCount="3"', f'recordCount="{number}"')).n_records is None


def test_other_encodings_and_prefixes():
    plain = read(GOOD).trees[0]
    for text in (
        GOOD.replace("UTF-8", "UTF-16").encode("utf-16"),
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.replace("<", "<p:")
        .replace("<p:/", "</p:")
        .replace("<p:?xml", "<?xml")
        .replace("xmlns=", "xmlns:p=")
        .encode(),
    ):
        assert read(text).trees[0].n_records.tolist() == plain.n_records.tolist()


def test_mutants_end_in_a_model_or_a_sentence():
    inside = node(compound("or", simple("x", "isMissing"), simple("x", "lessThan", 2)), **NO)
    inside += node(SETS.format("isIn", 'clerk "cook"', SET_END), **YES) + node(TRUE, **NO)
    seeds = [GOOD, tree_of(node(TRUE, inside), missingValueStrategy="defaultChild")]
    seeds.append(
        tree_of(node(TRUE, inside, score="yes"), noTrueChildStrategy="returnLastPrediction")
    )
    chance = random.Random(5)
    for _ in range(3000):
        sentence_or_model(pmml, mutate(chance.choice(seeds).encode(), chance))
