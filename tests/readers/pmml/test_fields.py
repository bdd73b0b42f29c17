# ruff: noqa: E501  # what exporters write is a line each
"""Content of PMML files beyond the trees: listed by path and size, exporters' own not."""

import pytest

import treeaudit as ta
from tests.contracts.test_looked import PMML

TABLE = "<InlineTable><row><age>33</age></row><row><age>54</age></row></InlineTable>"
LONG = "33,yes;" * 100


def left(path):
    return [(one.kind, one.where, one.n) for one in ta.load(path).extras.found]


def pmml(tmp_path, old="<!--here-->", new=""):
    text = PMML.replace(old, new, 1)
    assert text != PMML
    (tmp_path / "m.pmml").write_text(text.replace("<!--here-->", ""))
    return tmp_path / "m.pmml"


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("<!--here-->", f"<ModelVerification>{TABLE}</ModelVerification>",
         ("records", "PMML/TreeModel/ModelVerification", 2)),
        ("<!--here-->", f"<Extension name='x'>{TABLE}</Extension>",
         ("records", "PMML/TreeModel/Extension", 2)),
        ("<!--here-->", "<Extension name='x' value='33,yes'/>",
         ("notes", "PMML/TreeModel/Extension", 25)),
        ("<!--here-->", f"<Extension>{LONG}</Extension>", ("extra", "PMML/TreeModel/Extension", 709)),
        ("<!--here-->", "<!-- made by hand -->", ("notes", "a comment", 12)),
        ("<!--here-->", f"<!--{LONG}-->", ("extra", "a comment", 700)),
        ("<!--here-->", "<?note 33,yes?>", ("notes", "a comment", 11)),
        ("<!--here-->", "33,yes", ("notes", "PMML/TreeModel", 6)),
        ("<!--here-->", "<data:rows xmlns:data='urn:x'/>",
         ("notes", "PMML/TreeModel/data:rows", 24)),
        ("<!--here-->", "<ModelStats><UnivariateStats field='age'/></ModelStats>",
         ("column-values", "PMML/TreeModel/ModelStats", 23)),
        ("</Header>", "<Annotation>first model</Annotation></Header>",
         ("notes", "PMML/Header/Annotation", 21)),
        ("<Header>", "<Header copyright='Ann Lee, 33'>", ("notes", "PMML/Header@copyright", 11)),
        ("<Header>", f"<Header description='{LONG}'>", ("extra", "PMML/Header@description", 700)),
        ("2026-11-21T10:00:00Z", "33;yes", ("notes", "PMML/Header/Timestamp", 6)),
        ("</TreeModel>", f"{TABLE}</TreeModel>", ("records", "PMML/TreeModel/InlineTable", 2)),
        ("</PMML>",
         f"<NearestNeighborModel><TrainingInstances>{TABLE}</TrainingInstances>"
         "</NearestNeighborModel></PMML>",
         ("records", "PMML/NearestNeighborModel", 2)),
        ("</DataDictionary>", "<Node id='9'/></DataDictionary>",
         ("extra", "PMML/DataDictionary/Node", 5)),
        ('<Node id="1"', '<Node person="33,yes" id="1"',
         ("notes", "PMML/TreeModel/Node/Node@person", 6)),
        ('<Node id="1"', f'<Node person="{LONG}" id="1"',
         ("extra", "PMML/TreeModel/Node/Node@person", 700)),
        ('<Node id="1"', f'<Node id="{LONG * 2}"', ("extra", "PMML/TreeModel/Node/Node@id", 1400)),
        ('dataType="double"/>', 'dataType="double"><Interval leftMargin="17"/></DataField>',
         ("extremes", "margins", 1)),
        ('name="age"/>', 'name="age" lowValue="17"/>', ("extremes", "margins", 1)),
        ("<MiningSchema>", "<MiningSchema xmlns:x='33,yes'>",
         ("notes", "PMML/TreeModel/MiningSchema@xmlns:x", 6)),
        ("</Node></TreeModel>", "<Node><True/></Node><Node><True/></Node></Node></TreeModel>",
         ("extra", "tree 0", 1)),
    ],
)  # fmt: skip
def test_places_in_pmml(tmp_path, old, new, found) -> None:
    assert found in left(pmml(tmp_path, old, new))


def test_notes_of_as_many_nodes_as_people_are_none(tmp_path) -> None:
    leaf = '<Node recordCount="0" person="33"><False/></Node>'
    for n, kind in ((20, "notes"), (21, "extra")):
        path = pmml(tmp_path, "</Node></TreeModel>", f"{leaf * n}</Node></TreeModel>")
        assert left(path) == [(kind, "PMML/TreeModel/Node/Node@person", 2 * n)]


STEPS = "(steps=[('classifier', DecisionTreeClassifier(min_samples_leaf=50))])" * 9


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<Header>", '<Header description="Default description">'),
        ("<Header>", '<Header copyright="Copyright (c) 2021 Software AG">'),
        ("<Header>", '<Header copyright="Copyright (c) 2019 ann" description="RPart Decision Tree Model">'),
        ("<Header>", '<Header copyright="DMG.org">'),
        ("2026-11-21T10:00:00Z", "2019-03-01 10:00:00"),
        ("2026-11-21T10:00:00Z", "2021-05-04 10:00:00.123456+02:00"),
        ("</Header>", f"</Header><MiningBuildTask><Extension name='repr'>{STEPS}</Extension></MiningBuildTask>"),
        ("<DataField ", '<DataField name="unused" optype="continuous" dataType="float"/><DataField '),
        ("<!--here-->", '<LocalTransformations><DerivedField name="double(age)" optype="continuous" dataType="double"><FieldRef field="age"/></DerivedField></LocalTransformations>'),
        ("<MiningSchema>", '<MiningSchema><Extension name="X-FeatureImportances"><InlineTable><Extension name="maxImportance" value="15.0"/><row><data:name xmlns:data="http://jpmml.org/jpmml-model/InlineTable">age</data:name></row></InlineTable></Extension>'),
        ("<!--here-->", '<Output><OutputField name="probability(no)" optype="continuous" dataType="double" feature="probability" value="no"/></Output>'),
        ("<!--here-->", '<Output><OutputField name="outlier" feature="decision"><Decisions businessProblem="Is it one?"><Decision value="true" description="Outlier"/></Decisions></OutputField></Output>'),
        ('<TreeModel ', '<TreeModel modelName="Third model, for the ward" algorithmName="sklearn.tree._classes.DecisionTreeClassifier" x-mathContext="float" missingValueStrategy="nullPrediction" '),
        ('xmlns="', 'xmlns:data="http://jpmml.org/jpmml-model/InlineTable" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.dmg.org/PMML-4_4 http://www.dmg.org/v4-4/pmml-4-4.xsd" xmlns="'),
        ('value="40"', 'value="40.000000000000000123"'),
        ("\n", "\n \t \n"),
    ],
)  # fmt: skip
def test_what_exporters_write_is_not_listed(tmp_path, old, new) -> None:
    assert left(pmml(tmp_path, old, new)) == []


def test_numbers_made_of_categories_are_a_column_of_their_own(tmp_path) -> None:
    bins = """<LocalTransformations>
    <DerivedField name="bin(age)" optype="categorical" dataType="integer"><Discretize field="age">
    <DiscretizeBin binValue="0"><Interval closure="openOpen" rightMargin="30"/></DiscretizeBin>
    </Discretize></DerivedField>
    <DerivedField name="number(bin(age))" optype="continuous" dataType="double">
    <FieldRef field="bin(age)"/></DerivedField></LocalTransformations>"""
    path = pmml(tmp_path, "<!--here-->", bins)
    path.write_text(path.read_text().replace('field="age" op', 'field="number(bin(age))" op'))
    assert "number(bin(age))" in ta.load(path).schema.names


def test_a_segment_that_is_asked_at_times_is_not_read(tmp_path) -> None:
    begin, end = PMML.index("<TreeModel"), PMML.index("</PMML>")
    tree = PMML[begin:end].replace("<!--here-->", "")
    schema = tree[tree.index("<MiningSchema>") : tree.index("<Node")]
    for asked, found in (
        ("<True/>", []),
        (
            '<SimplePredicate field="age" operator="lessThan" value="9"/>',
            [("unseen", "Segment", 1)],
        ),
    ):
        (tmp_path / "m.pmml").write_text(
            f'{PMML[:begin]}<MiningModel functionName="classification">{schema}<Segmentation '
            f'multipleModelMethod="majorityVote"><Segment id="1">{asked}{tree}</Segment>'
            "</Segmentation></MiningModel></PMML>"
        )
        assert left(tmp_path / "m.pmml") == found
