"""What PMML files are made of, as far as trees and the columns before them go.

One line an element: where it may stand, and its attributes. What is not here is listed by path
and size. What is known to hold records or values of columns is listed as such.
"""

import re
from collections.abc import Mapping

from treeaudit.model.extras import Kind

_MODELS = "TreeModel MiningModel RegressionModel AnomalyDetectionModel"
_VALUES = "DerivedField DefineFunction Apply OutputField"
_TESTS = "Node Segment CompoundPredicate"
_OF_MODEL = "modelName functionName algorithmName isScorable x-mathContext"
_OF_FIELD = "name displayName optype dataType isCyclic x-dataType"

_TABLE: Mapping[str, tuple[str, str]] = {
    "PMML": ("", "version baseVersion x-baseVersion"),
    "Header": ("PMML", ""),
    "Application": ("Header", "name version"),
    "Timestamp": ("Header", ""),
    "MiningBuildTask": ("PMML", ""),
    "DataDictionary": ("PMML", "numberOfFields"),
    "DataField": ("DataDictionary", _OF_FIELD),
    "Value": ("DataField DerivedField OutputField", "value displayValue property"),
    "Interval": ("DataField DiscretizeBin", "closure leftMargin rightMargin"),
    "TransformationDictionary": ("PMML", ""),
    "LocalTransformations": (_MODELS, ""),
    "DerivedField": ("TransformationDictionary LocalTransformations", _OF_FIELD),
    "DefineFunction": ("TransformationDictionary", "name optype dataType"),
    "ParameterField": ("DefineFunction", "name displayName optype dataType"),
    "FieldRef": (f"{_VALUES} PredictorTerm", "field mapMissingTo"),
    "Apply": (_VALUES, "function mapMissingTo defaultValue invalidValueTreatment"),
    "Constant": (_VALUES, "dataType missing"),
    "NormContinuous": (_VALUES, "field mapMissingTo outliers"),
    "LinearNorm": ("NormContinuous", "orig norm"),
    "NormDiscrete": (_VALUES, "field value method mapMissingTo"),
    "Discretize": (_VALUES, "field mapMissingTo defaultValue dataType"),
    "DiscretizeBin": ("Discretize", "binValue"),
    "MapValues": (_VALUES, "outputColumn mapMissingTo defaultValue dataType"),
    "FieldColumnPair": ("MapValues", "field column"),
    "TextIndex": (
        _VALUES,
        "textField localTermWeights isCaseSensitive maxLevenshteinDistance countHits "
        "wordSeparatorCharacterRE wordRE tokenize",
    ),
    "TextIndexNormalization": (
        "TextIndex",
        "inField outField regexField recursive isCaseSensitive maxLevenshteinDistance "
        "wordSeparatorCharacterRE wordRE tokenize",
    ),
    "TreeModel": (
        "PMML Segment AnomalyDetectionModel",
        f"{_OF_MODEL} missingValueStrategy missingValuePenalty noTrueChildStrategy "
        "splitCharacteristic",
    ),
    "MiningModel": ("PMML Segment AnomalyDetectionModel", _OF_MODEL),
    "AnomalyDetectionModel": ("PMML", f"{_OF_MODEL} algorithmType sampleDataSize"),
    "RegressionModel": (
        "PMML Segment",
        f"{_OF_MODEL} modelType targetFieldName normalizationMethod",
    ),
    "RegressionTable": ("RegressionModel", "intercept targetCategory"),
    "NumericPredictor": ("RegressionTable", "name exponent coefficient"),
    "CategoricalPredictor": ("RegressionTable", "name value coefficient"),
    "PredictorTerm": ("RegressionTable", "name coefficient"),
    "MiningSchema": (_MODELS, ""),
    "MiningField": (
        "MiningSchema",
        "name usageType optype importance outliers lowValue highValue missingValueReplacement "
        "missingValueTreatment invalidValueTreatment invalidValueReplacement "
        "x-invalidValueReplacement",
    ),
    "Output": (_MODELS, ""),
    "OutputField": (
        "Output",
        "name displayName optype dataType targetField feature value ruleFeature algorithm rank "
        "rankBasis rankOrder isMultiValued segmentId isFinalResult",
    ),
    "Decisions": ("OutputField", "businessProblem description"),
    "Decision": ("Decisions", "value displayValue description"),
    "Targets": (_MODELS, ""),
    "Target": ("Targets", "field optype castInteger min max rescaleConstant rescaleFactor"),
    "TargetValue": ("Target", "value displayValue priorProbability defaultValue"),
    "Segmentation": (
        "MiningModel",
        "multipleModelMethod missingPredictionTreatment missingThreshold "
        "x-missingPredictionTreatment x-missingThreshold",
    ),
    "Segment": ("Segmentation", "id weight"),
    "Node": ("TreeModel Node", "id score recordCount defaultChild"),
    "ScoreDistribution": ("Node", "value recordCount confidence probability"),
    "True": (_TESTS, ""),
    "False": (_TESTS, ""),
    "SimplePredicate": (_TESTS, "field operator value"),
    "SimpleSetPredicate": (_TESTS, "field booleanOperator"),
    "CompoundPredicate": (_TESTS, "booleanOperator"),
    "Array": ("SimpleSetPredicate", "n type"),
}
KNOWN = {
    name: (frozenset(above.split()) or frozenset({""}), frozenset(names.split()))
    for name, (above, names) in _TABLE.items()
}
"""By element: those that it may stand in, and its attributes."""

HOT = frozenset(
    "Node ScoreDistribution SimplePredicate SimpleSetPredicate CompoundPredicate Array True "
    "False".split()
)
"""What nodes are made of."""

TEXTS = frozenset({"Array", "Constant"})
"""What may have a text."""

HELD: Mapping[str, tuple[Kind, str]] = {
    "ModelVerification": ("records", "records to verify the model with, a sample of the data"),
    "TrainingInstances": ("records", "the records among which neighbours are looked up"),
    "VectorDictionary": ("records", "the records at the margin"),
    "InlineTable": ("records", "a table of records"),
    "ModelStats": ("column-values", "statistics of the columns: extremes, quantiles, counts"),
    "Partition": ("column-values", "statistics of the columns of the records in a node"),
    "MapTable": ("column-values", "a table of values of a column"),
}
ROWS = frozenset({"row", "VectorInstance"})
EXTREMES: Mapping[str, tuple[str, ...]] = {
    "Interval": ("leftMargin", "rightMargin"),
    "MiningField": ("lowValue", "highValue"),
    "LinearNorm": ("orig",),
    "Target": ("min", "max"),
}

_SPACE = re.compile(
    r"https?://(?:www\.)?(?:dmg|w3|jpmml|xml\.apache)\.org/[\w./-]{0,80}"
    r"|[\w./:-]{0,60}pmml-\d-\d(?:-\d)?\.xsd"
)
_DECLARED = re.compile(r"xmlns(?::[A-Za-z]{1,8})?|xsi:schemaLocation|xsi:noNamespaceSchemaLocation")
_HEADERS = {
    "copyright": re.compile(r"(?:Copyright )?\([cC]\) ?\d{4}(?:-\d{4})? ?[\w .,]{0,40}|DMG\.org"),
    "description": re.compile(r"Default description|[\w ()-]{0,40}Model(?: exported by \w+)?"),
    "modelVersion": re.compile(r"[\d.]{0,20}"),
}
_DATE = re.compile(r"\s*[\w:.,+ -]{0,40}\s*")


def of_an_exporter(path: list[str], key: str, value: str) -> bool:
    """Tell whether programs that write PMML put such a value beside the model by themselves."""
    if _DECLARED.fullmatch(key):
        return len(path) == 1 and all(map(_SPACE.fullmatch, value.split()))
    if path[-1] == "Header" and key in _HEADERS:
        return _HEADERS[key].fullmatch(value) is not None
    return path[-1] == "Timestamp" and not key and _DATE.fullmatch(value) is not None
