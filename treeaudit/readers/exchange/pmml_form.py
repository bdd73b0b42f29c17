"""What a PMML file may hold: every element and attribute that a tree needs, and where.

What is known to hold records or values of columns is listed as such.
"""

import re
from collections.abc import Mapping

from treeaudit.model.leftovers import Kind
from treeaudit.readers.leftovers.booster_parts import NUMBER

__all__ = [
    "CHANGES",
    "DATE",
    "DECLARED",
    "EXPLAINED",
    "EXTREMES",
    "FIXED",
    "FORM",
    "FRACTION",
    "HELD",
    "MANY_TIMES",
    "NUMBERS",
    "OF_NYOKA",
    "OF_TREES",
    "ROWS",
    "SAYS",
    "SHORT",
    "SPACE",
    "TITLE",
    "USUAL",
]

DATE = re.compile(r"\s*\d{4}-\d\d-\d\d[T ]?[\d:., ]{0,20}(?:Z|UTC|[+-][\d:]{2,5})?\s*")
SPACE = re.compile(
    r"https?://www\.dmg\.org/(?:PMML-\d_\d(?:_\d)?|pmml/[\w./-]{1,60}|v\d[\w./-]{0,60})"
    r"|http://www\.w3\.org/2001/XMLSchema(?:-instance)?|http://jpmml\.org/jpmml-model(?:/\w{1,20})?"
    r"|http://www\.w3\.org/1999/xlink|http://xml\.apache\.org/\w{1,20}"
    r"|[\w./:-]{0,60}pmml-\d-\d(?:-\d)?\.xsd"
)
DECLARED = re.compile(r"xmlns(?::[A-Za-z]{1,8})?|xsi:schemaLocation|xsi:noNamespaceSchemaLocation")
_AMOUNT = re.compile(rf"(?!-?0[0-9])(?=.{{1,26}}\Z){NUMBER}")
FRACTION = re.compile(r"-?[0-9]+\.([0-9]+)")
OF_NYOKA = (
    "Copyright (c) 2018 Software AG",
    "Copyright (c) 2021 Software AG",
    "Default description",
)
FIXED = 16  # digits of all fractions that nyoka writes
_ODD = r"[+]|-?0[0-9]+\.|[0-9.-]+[eE][+-]?00"
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.:+*/<>=-]{0,40}|[+*/<>=-]{1,2}|")
_VERSION = re.compile(r"[\w][\w .:/+()-]{0,80}|")
_ID = re.compile(r"[\w.:#-]{0,24}")
TITLE = re.compile(r"[\w .:()/-]{0,60}")
# What a condition asks about: a number, or the name of a category.
SHORT = re.compile(rf"(?!{_ODD})(?![0-9.eE+-]{{27}})[^\n]{{0,200}}")
_AMOUNTS = (
    "numberOfFields missingValuePenalty importance lowValue highValue leftMargin rightMargin orig "
    "norm rescaleConstant rescaleFactor min max priorProbability missingThreshold weight rank "
    "intercept coefficient exponent recordCount confidence probability n"
)
_WORDS = (
    "optype dataType usageType closure functionName missingValueStrategy noTrueChildStrategy "
    "splitCharacteristic outliers missingValueTreatment invalidValueTreatment feature algorithm "
    "rankBasis rankOrder castInteger multipleModelMethod missingPredictionTreatment isScorable "
    "isCyclic isMultiValued isFinalResult normalizationMethod modelType method function operator "
    "booleanOperator property type ruleFeature missing x-mathContext"
)
# What an attribute may say; all others are values, whose bytes are counted together.
SAYS: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(_AMOUNTS.split(), _AMOUNT),
    **dict.fromkeys(_WORDS.split(), _WORD),
    **dict.fromkeys(("version", "baseVersion"), _VERSION),
    **dict.fromkeys(("id", "defaultChild", "segmentId"), _ID),
    **dict.fromkeys(("modelName", "algorithmName"), TITLE),
}
# Values that conditions ask about.
OF_TREES = frozenset(("value", "score", "field"))
# Whose value may be a number, and the numbers that most files are full of: each fits all of these.
NUMBERS = frozenset(("value", "score", "recordCount", "confidence", "probability"))
USUAL = re.compile(r"-?(?:0|[1-9][0-9]{0,7})\.([0-9]{1,16})")

FORM: Mapping[str, tuple[str, str]] = {
    "PMML": ("", "version baseVersion"),
    "Header": ("PMML", ""),
    "Application": ("Header", "name version"),
    "Timestamp": ("Header", ""),
    "DataDictionary": ("PMML", "numberOfFields"),
    "TransformationDictionary": ("PMML", ""),
    "LocalTransformations": ("TreeModel MiningModel RegressionModel", ""),
    "DataField": ("DataDictionary", "name displayName optype dataType isCyclic"),
    "Value": ("DataField DerivedField", "value displayValue property"),
    "Interval": ("DataField DiscretizeBin", "closure leftMargin rightMargin"),
    "DerivedField": (
        "TransformationDictionary LocalTransformations",
        "name displayName optype dataType",
    ),
    "DefineFunction": ("TransformationDictionary", "name optype dataType"),
    "ParameterField": ("DefineFunction", "name optype dataType displayName"),
    "FieldRef": ("DerivedField Apply DefineFunction OutputField", "field mapMissingTo"),
    "Apply": (
        "DerivedField DefineFunction Apply OutputField",
        "function mapMissingTo defaultValue invalidValueTreatment",
    ),
    "Constant": ("DerivedField DefineFunction Apply OutputField", "dataType missing"),
    "NormContinuous": ("DerivedField OutputField Apply", "field mapMissingTo outliers"),
    "LinearNorm": ("NormContinuous", "orig norm"),
    "NormDiscrete": ("DerivedField OutputField Apply", "field value method mapMissingTo"),
    "Discretize": ("DerivedField Apply", "field mapMissingTo defaultValue dataType"),
    "DiscretizeBin": ("Discretize", "binValue"),
    "MapValues": ("DerivedField Apply", "outputColumn mapMissingTo defaultValue dataType"),
    "FieldColumnPair": ("MapValues", "field column"),
    "TreeModel": (
        "PMML Segment",
        "modelName functionName algorithmName missingValueStrategy missingValuePenalty "
        "noTrueChildStrategy splitCharacteristic isScorable x-mathContext",
    ),
    "MiningModel": (
        "PMML Segment",
        "modelName functionName algorithmName isScorable x-mathContext",
    ),
    "RegressionModel": (
        "Segment",
        "modelName functionName algorithmName modelType targetFieldName normalizationMethod "
        "isScorable x-mathContext",
    ),
    "RegressionTable": ("RegressionModel", "intercept targetCategory"),
    "NumericPredictor": ("RegressionTable", "name exponent coefficient"),
    "CategoricalPredictor": ("RegressionTable", "name value coefficient"),
    "MiningSchema": ("TreeModel MiningModel RegressionModel", ""),
    "MiningField": (
        "MiningSchema",
        "name usageType optype importance outliers lowValue highValue missingValueReplacement "
        "missingValueTreatment invalidValueTreatment invalidValueReplacement",
    ),
    "Output": ("TreeModel MiningModel RegressionModel", ""),
    "OutputField": (
        "Output",
        "name displayName optype dataType targetField feature value ruleFeature algorithm rank "
        "rankBasis rankOrder isMultiValued segmentId isFinalResult",
    ),
    "Targets": ("TreeModel MiningModel RegressionModel", ""),
    "Target": ("Targets", "field optype castInteger min max rescaleConstant rescaleFactor"),
    "TargetValue": ("Target", "value displayValue priorProbability defaultValue"),
    "Segmentation": (
        "MiningModel",
        "multipleModelMethod missingPredictionTreatment missingThreshold",
    ),
    "Segment": ("Segmentation", "id weight"),
    "Node": ("TreeModel Node", "id score recordCount defaultChild"),
    "ScoreDistribution": ("Node", "value recordCount confidence probability"),
    "True": ("Node Segment CompoundPredicate", ""),
    "False": ("Node Segment CompoundPredicate", ""),
    "SimplePredicate": ("Node Segment CompoundPredicate", "field operator value"),
    "SimpleSetPredicate": ("Node Segment CompoundPredicate", "field booleanOperator"),
    "CompoundPredicate": ("Node Segment CompoundPredicate", "booleanOperator"),
    "Array": ("SimpleSetPredicate", "n type"),
}
EXPLAINED = {
    name: (frozenset(above.split()) or frozenset({""}), frozenset(names.split()))
    for name, (above, names) in FORM.items()
}
# What makes values others before a tree asks about them, unless it says this.
CHANGES: Mapping[str, Mapping[str, str | None]] = {
    "Value": {"property": "valid"},
    "MiningField": {
        "missingValueReplacement": None,
        "invalidValueReplacement": None,
        "outliers": "asIs",
    },
}
HELD: Mapping[str, tuple[Kind, str]] = {
    "ModelVerification": ("records", "records to verify the model with, a sample of the data"),
    "TrainingInstances": ("records", "the records among which neighbours are looked up"),
    "VectorDictionary": ("records", "the records at the margin"),
    "InlineTable": ("records", "a table of records"),
    "ModelStats": ("column-values", "statistics of the columns: extremes, quantiles, counts"),
    "Partition": ("column-values", "statistics of the columns of the records in a node"),
    "MapTable": ("column-values", "a table of values of a column"),
}
# What nodes are made of.
MANY_TIMES = frozenset(
    (
        "Node ScoreDistribution SimplePredicate SimpleSetPredicate CompoundPredicate Array True "
        "False"
    ).split()
)
ROWS = frozenset({"row", "VectorInstance"})
EXTREMES: Mapping[str, tuple[str, ...]] = {
    "Interval": ("leftMargin", "rightMargin"),
    "MiningField": ("lowValue", "highValue"),
    "LinearNorm": ("orig",),
    "Target": ("min", "max"),
}
