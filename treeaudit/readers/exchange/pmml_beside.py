"""What a PMML file holds beside its trees.

Every element and attribute that a tree needs is listed, with the elements it
may stand in. What is known to hold records or values of columns is reported as
such; everything else that the file says is named as unseen.
"""

import re
from collections.abc import Mapping, Sequence

from treeaudit.model.leftovers import Kind, Leftover
from treeaudit.readers.leftovers.unexplained import Few
from treeaudit.readers.limits import clean, show

__all__ = ["Beside"]

_MANY = 20
_MANY_CATEGORIES = 5 * _MANY
_LONGEST_NOTE = 100
_DATE = re.compile(r"\s*\d{4}-\d\d-\d\d[T ]?[\d:., ]{0,20}(?:Z|UTC|[+-][\d:]{2,5})?\s*")
_ADDRESS = re.compile(r"https?://[\w./#-]{1,100}(?: https?://[\w./#-]{1,100})*")

_FORM: Mapping[str, tuple[str, str]] = {
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
_NOTES = frozenset({"id", "modelName", "algorithmName", "displayName", "displayValue"})
_EXPLAINED = {
    name: (frozenset(above.split()) or frozenset({""}), frozenset(names.split()))
    for name, (above, names) in _FORM.items()
}
_HELD: Mapping[str, tuple[Kind, str]] = {
    "ModelVerification": ("records", "records to verify the model with, a sample of the data"),
    "TrainingInstances": ("records", "the records among which neighbours are looked up"),
    "VectorDictionary": ("records", "the records at the margin"),
    "InlineTable": ("records", "a table of records"),
    "ModelStats": ("column-values", "statistics of the columns: extremes, quantiles, counts"),
    "Partition": ("column-values", "statistics of the columns of the records in a node"),
    "MapTable": ("column-values", "a table of values of a column"),
}
# What nodes are made of.
_MANY_TIMES = frozenset(
    (
        "Node ScoreDistribution SimplePredicate SimpleSetPredicate CompoundPredicate Array True "
        "False"
    ).split()
)
_ROWS = frozenset({"row", "VectorInstance"})
_EXTREMES: Mapping[str, tuple[str, ...]] = {
    "Interval": ("leftMargin", "rightMargin"),
    "MiningField": ("lowValue", "highValue"),
    "LinearNorm": ("orig",),
    "Target": ("min", "max"),
}


class Beside:
    """Takes note of all that is no part of a tree, while the XML goes by."""

    def __init__(self) -> None:
        self._found = Few()
        self._depth = 0
        self._what = self._where = ""
        self._rows = self._size = self._extremes = 0
        self._column, self._categories = "", 0

    @property
    def found(self) -> tuple[Leftover, ...]:
        """What there is, in the order of the file."""
        found = self._found.found
        if not self._extremes:
            return found
        says = "margins of columns: the smallest and largest value, where they were learned"
        return (*found, Leftover(kind="extremes", where="margins", n=self._extremes, says=says))

    def start(self, path: Sequence[str], given: Mapping[str, str]) -> None:
        """See an element begin.

        Parameters
        ----------
        path
            The names of the open elements, outermost first.
        given
            Its attributes.
        """
        name = path[-1]
        if self._depth:
            self._depth += 1
            self._rows += name in _ROWS
            self._size += 1 + len(given)
            return
        above = path[-2] if len(path) > 1 else ""
        # Most of the file: nothing to note, and seen millions of times.
        if name in _MANY_TIMES:
            places, known = _EXPLAINED[name]
            if above in places and given.keys() <= known:
                if len(given.get("id", "")) > _LONGEST_NOTE:
                    self._attributes(path, given, known)
                return
        held = "MapTable" if name == "InlineTable" and above == "MapValues" else name
        parents, names = _EXPLAINED.get(name, ((), frozenset()))
        if held in _HELD or above not in parents:
            self._depth, self._what, self._where = 1, held, "/".join(path[-4:])
            self._rows, self._size = 0, 1 + len(given)
            return
        if name not in _MANY_TIMES:
            self._column_of(name, above, given)
        self._attributes(path, given, names)

    def _column_of(self, name: str, above: str, given: Mapping[str, str]) -> None:
        """Take note of what a description of the columns gives away."""
        for margin in _EXTREMES.get(name, ()):
            self._extremes += bool(given.get(margin)) and above != "DiscretizeBin"
        if name == "DataField":
            self._column, self._categories = given.get("name", ""), 0
        self._categories += name == "Value"

    def _attributes(
        self, path: Sequence[str], given: Mapping[str, str], names: frozenset[str]
    ) -> None:
        for key, value in given.items():
            if key.startswith(("xmlns", "xsi:")):
                explained = _ADDRESS.fullmatch(value) is not None
            else:
                explained = key in names and (key not in _NOTES or len(value) <= _LONGEST_NOTE)
            if not explained and value.strip():
                self._unseen(f"{'/'.join(path[-3:])}@{clean(key[:40])}", value)

    def _unseen(self, where: str, text: str) -> None:
        said = show(text.strip(), 60)
        says = f"no tree needs it: {said}"
        where = clean(where[:200])
        self._found.add(Leftover(kind="unseen", where=where, n=len(text), says=says))

    def end(self, name: str) -> None:
        """See an element end."""
        if not self._depth:
            if name == "DataField" and self._categories >= _MANY_CATEGORIES:
                n = self._categories
                says = f"{n:,} categories of a column: more than a public list has"
                where = f"DataField[{clean(self._column[:60])}]"
                self._found.add(Leftover(kind="column-values", where=where, n=n, says=says))
            return
        self._depth -= 1
        if self._depth:
            return
        where = clean(self._where[:200])
        kind, says = _HELD.get(self._what, ("unseen", ""))
        if kind == "unseen":
            n, says = self._size, "an element that no tree needs"
        else:
            n = self._rows or self._size
            says = f"{says}: {n:,}"
        self._found.add(Leftover(kind=kind, where=where, n=n, says=says))

    def text(self, path: Sequence[str], text: str) -> None:
        """See text between elements; blanks between them say nothing."""
        if text.isspace():
            return
        if self._depth:
            self._size += len(text.split())
            return
        dated = path[-1] == "Timestamp" and _DATE.fullmatch(text) is not None
        if text.strip() and not dated and path[-1] not in ("Array", "Constant"):
            self._unseen("/".join(path[-3:]), text)

    def remark(self, text: str) -> None:
        """See a comment or an instruction."""
        if text.strip():
            self._unseen("a comment", text)
