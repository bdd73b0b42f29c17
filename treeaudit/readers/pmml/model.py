"""Trees in PMML files: TreeModel, and MiningModel made of trees.

Record counts are people only if they add up: the children of every node to
their parent, in whole numbers. Some writers put 1 everywhere since scikit-learn
1.4; that adds up to nothing and is left out. Score distributions that sum to
the record count of their leaf are counts; those that sum to 1 are shares, and
people where share times record count comes out whole in every leaf.
"""

import re
from dataclasses import replace

from treeaudit.arrays import Float
from treeaudit.errors import DataError, ReadError, UnsupportedModelError
from treeaudit.model.forest import CountsAre, Forest
from treeaudit.model.schema import Label, Schema
from treeaudit.model.source import KINDS, Extra, Extras, Source
from treeaudit.model.tree import Tree
from treeaudit.readers.choice import choose, named
from treeaudit.readers.limits import Limits, bare, clean, listed, show
from treeaudit.readers.open import Content
from treeaudit.readers.pmml.conditions import Fields
from treeaudit.readers.pmml.document import Document, Model, parse
from treeaudit.readers.pmml.trees import Rows, flatten
from treeaudit.readers.residual.extra_content import few
from treeaudit.readers.residual.targets import single_targets

_ROOT = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?PMML[\s>/]")
_WHOLE = re.compile(r"-?[0-9]{1,15}")
_ORDER: tuple[CountsAre, ...] = ("exact", "likely", "weighted", "absent")
_REASONS: dict[CountsAre, str] = {
    "exact": "record counts and class counts add up in every node",
    "likely": "class shares times the record count come out whole in every leaf",
    "weighted": "class shares times the record count do not come out whole: rows were drawn or "
    "had weights",
}


def matches(content: Content) -> bool:
    """Return whether the content is XML whose first element is PMML."""
    head = bytes(content.data[:4096])
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = head.decode("utf-16", "replace")
    else:
        text = head.decode("latin-1").removeprefix("\xef\xbb\xbf")
    return text.lstrip()[:1] == "<" and _ROOT.search(text) is not None


def read(content: Content, source: Source, select: str | None, limits: Limits) -> Forest:
    """Return the trees of a PMML file; see `treeaudit.readers.Reader`."""
    document = parse(content.data, limits)
    models = _models(document)
    model = _choose(document, models, select)
    inside = next(name for name, one in models if one is model) if len(models) > 1 else ""
    others = {
        name: f"{clean(one.kind)} {show(name, 60)}" for name, one in models if one is not model
    }
    try:
        return replace(_forest(document, model, inside, source), others=others)
    except DataError as error:
        raise ReadError(f"the PMML is damaged: {error}") from None


def _models(document: Document) -> list[tuple[str, Model]]:
    """Return the models that hold trees, each with a name of its own."""
    models = [model for model in document.models if model.trees]
    return named((model.attributes.get("modelName", ""), model.kind, model) for model in models)


def _choose(document: Document, models: list[tuple[str, Model]], select: str | None) -> Model:
    chosen = choose(models, select, shown=bare)
    if chosen is None:
        kinds = [model.kind for model in document.models]
        kinds += [other for model in document.models for other in model.others]
        others = f", but {listed(kinds)}" if kinds else " and no other model"
        raise UnsupportedModelError(f"the PMML file holds no trees{others}")
    return chosen


def _forest(document: Document, model: Model, inside: str, source: Source) -> Forest:
    target = next(
        (
            entry.get("name", "")
            for entry in model.schema
            if entry.get("usageType") in ("target", "predicted")
        ),
        "",
    )
    fields = Fields(document.fields, _active(document, model, target))
    for tree in model.trees:
        for node in tree.nodes:
            fields.note(node.predicate)
    rows: list[Rows] = []
    for i, tree in enumerate(model.trees):
        try:
            rows.append(flatten(tree, fields))
        except ReadError as error:
            raise type(error)(f"tree {i}: {error}") from None
    classes = _classes(document, model, target)
    if not fields.features and any(len(some.parent) > 1 for some in rows):
        raise ReadError("the PMML is damaged: its trees have no columns to test")
    trees, counts_are, reason = _trees(rows, classes, model)
    schema = Schema(
        features=fields.features,
        classes=None if classes is None else tuple(classes.values()),
        target=target or "label",
    )
    totals = {None if t.n_records is None else int(t.n_records[0]) for t in trees}
    n_records = totals.pop() if len(totals) == 1 and not _bootstrapped(trees, counts_are) else None
    return Forest(
        trees=tuple(trees),
        schema=schema,
        counts_are=counts_are,
        counts_reason=reason,
        answers="mean" if model.kind == "TreeModel" else "unknown",
        records_are="unknown" if n_records is None else "all",
        n_records=n_records,
        single_precision=fields.all_single,
        source=replace(
            source,
            format="pmml",
            estimator=model.attributes.get("algorithmName", model.kind)[:200],
            inside=inside,
            library_version=document.application,
        ),
        warnings=tuple(_warnings(document, fields, rows, model)),
        extras=_extras(document, model, rows, trees, numeric=classes is None),
    )


def _bootstrapped(trees: list[Tree], counts_are: CountsAre) -> bool:
    """Return whether trees count other people: as many in all, and not of each class."""
    each = [tree.counts[0].tolist() for tree in trees if tree.counts is not None]
    return counts_are in ("exact", "likely") and any(one != each[0] for one in each)


def _extras(
    document: Document, model: Model, rows: list[Rows], trees: list[Tree], *, numeric: bool
) -> Extras:
    """Return the content beyond these trees, with the models that are not audited."""
    found = list(document.extra.extras)
    for other in document.models:
        if other is not model and not other.trees:
            where = f"{clean(other.kind)} {show(other.attributes.get('modelName', ''), 60)}"
            says = "another model, which holds no trees and is not audited"
            found.append(Extra(kind="unseen", where=where, n=1, says=says))
    for i, (some, stored) in enumerate(zip(rows, model.trees, strict=True)):
        reached = {id(node) for node in some.node}
        if n := sum(id(node) not in reached for node in stored.nodes):
            says = f"{n:,} nodes that nobody reaches"
            found.append(Extra(kind="extra", where=f"tree {i}", n=n, says=says))
    # Nobody has asked what the steps of boosting tell of the classes.
    steps = any(tree.attributes.get("functionName") == "regression" for tree in model.trees)
    looked_for = KINDS if numeric or not steps else KINDS - {"first-round-counts"}
    extras = Extras(found=few(found), looked_for=looked_for)
    means = model.kind == "TreeModel" or model.methods <= {"average", "weightedAverage"}
    return extras.beside(single_targets(trees, means=means)) if numeric else extras


def _active(document: Document, model: Model, target: str) -> list[str]:
    """Return the names of the columns that the model is given."""
    listed = [
        entry.get("name", "")
        for entry in model.schema
        if entry.get("usageType", "active") == "active"
    ]
    everything = [
        name for name, stored in document.fields.items() if name != target and not stored.derived
    ]
    return [name for name in dict.fromkeys(listed or everything) if name in document.fields]


def _classes(document: Document, model: Model, target: str) -> dict[str, Label] | None:
    """Return the class labels by the text that stands for them."""
    if model.attributes.get("functionName") != "classification":
        return None
    stored = document.fields.get(target)
    texts = dict.fromkeys(stored.values if stored is not None else ())
    for tree in model.trees:
        if tree.attributes.get("functionName", "classification") != "classification":
            continue
        for node in tree.nodes:
            for value, _ in node.distribution:
                texts.setdefault(value)
            if not node.children and "score" in node.attributes:
                texts.setdefault(node.attributes["score"])
    kind = stored.attributes.get("dataType") if stored is not None else None
    whole = kind == "integer" and all(_WHOLE.fullmatch(text) for text in texts)
    return {text: int(text) if whole else text for text in texts} or None


def _trees(
    rows: list[Rows], classes: dict[str, Label] | None, model: Model
) -> tuple[list[Tree], CountsAre, str]:
    """Build the trees and decide what their numbers are."""
    place = None if classes is None else {text: i for i, text in enumerate(classes)}
    found: list[Tree] = []
    kinds: set[CountsAre] = set()
    for i, (some, tree) in enumerate(zip(rows, model.trees, strict=True)):
        votes = tree.attributes.get("functionName", model.attributes.get("functionName"))
        own = place if votes == "classification" else None
        people = some.records()
        counts_are: CountsAre = "absent"
        counts: Float | None = None
        if people is not None and own is not None:
            counts_are, counts = some.counts(people, own)
        kinds.add(counts_are)
        try:
            found.append(some.build(people, counts, own))
        except ReadError as error:
            raise type(error)(f"tree {i}: {error}") from None
    weakest = max(kinds, key=_ORDER.index)
    if weakest == "absent":
        found = [replace(tree, counts=None) for tree in found]
    return found, weakest, _REASONS.get(weakest) or _why_absent(found, classes)


def _why_absent(trees: list[Tree], classes: dict[str, Label] | None) -> str:
    if any(tree.n_records is None for tree in trees):
        return "the file holds no counts: its record counts, if any, do not add up to their parents"
    if classes is None:
        return "the model predicts a number, not a class; its record counts add up in every node"
    return "the file holds no class counts; its record counts add up in every node"


def _warnings(document: Document, fields: Fields, rows: list[Rows], model: Model) -> list[str]:
    found = []
    if document.changes:
        how = ", ".join(sorted(document.changes))
        found.append(f"values are replaced before a tree asks about them ({how}): not shown")
    if fields.derived:
        names = ", ".join(map(bare, fields.derived[:5]))
        found.append(f"columns are computed from others first ({names}): they are shown as such")
    if fields.has_holes:
        found.append("the model tests whether a number is not a value: that edge is shown as open")
    if fields.has_surrogates:
        found.append("surrogate conditions for missing values are left out")
    if any(some.has_chains for some in rows):
        found.append("conditions on several columns at once are shown one after the other")
    strategies = {tree.attributes.get("missingValueStrategy", "none") for tree in model.trees}
    if strategies & {"weightedConfidence", "aggregateNodes"}:
        found.append("missing values go down several ways at once, which is not shown")
    if model.others:
        kinds = listed(model.others)
        found.append(f"the model also holds parts that are no trees ({kinds}), which are left out")
    return found
