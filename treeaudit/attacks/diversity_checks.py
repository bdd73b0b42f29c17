"""Checks of how different the values of a column are inside the groups (TA102, TA110)."""

from collections.abc import Callable, Sequence

from treeaudit.attacks.composition.equations import grown_at_once
from treeaudit.attacks.control import MEMORY
from treeaudit.attacks.distinct_people import share_at_most, share_told
from treeaudit.findings.checks import Measure, Rule, holds_at_least, least, most
from treeaudit.findings.findings import Finding
from treeaudit.model.forest import Forest
from treeaudit.model.words import in_percent

_DRAWS = "its class counts are draws, in which a person counts as often as they were drawn"


def _with_columns(title: str) -> Callable[[Sequence[Finding]], str]:
    """Return what gives a check a title that tells of columns, where some were named."""

    def wider(findings: Sequence[Finding]) -> str:
        columns = (one for f in findings for one in getattr(f.details, "columns", ()))
        return title if any(getattr(one, "named", False) for one in columns) else ""

    return wider


def no_labels(forest: Forest) -> str | None:
    """Say that a model holds no labels of its people: it predicts a number; None for others."""
    number = forest.answers in ("path", "leaf") or forest.trees[0].value is not None
    if forest.schema.classes is None and number:
        return "not applicable: the model predicts a number and holds no labels"
    asked = forest.extras.looked_for
    # A random forest of a boosting library holds labels in every tree.
    sums = forest.answers == "sum" and not grown_at_once(forest)
    sums = sums and any(tree.n_records is not None for tree in forest.trees)
    if sums and all(tree.counts is None for tree in forest.trees):
        if asked and "first-round-counts" not in asked:
            return None
        return "not applicable: its trees add up numbers and hold no labels"
    return None


def _of_people(measure: Measure) -> Measure:
    """Measure where class counts are people: of draws and weights a pass would not be shown."""

    def measured(findings: Sequence[Finding], forest: Forest) -> float | None:
        of = {getattr(finding.details, "measured_on", "people") for finding in findings}
        return measure(findings, forest) if of == {"people"} else None

    return measured


def _by_weight(findings: Sequence[Finding], forest: Forest) -> str | None:
    """Say that shares by weight do not tell how many people have another label."""
    if all(getattr(one.details, "measured_on", "people") != "weight" for one in findings):
        return None
    # Of noise the ledger tells what it gives away.
    if forest.counts_are != "weighted":
        return None
    return (
        f"how many people of a leaf have another label is not told ({forest.counts_reason}): give "
        "the training data (--train)"
    )


def _predicts_number(forest: Forest) -> bool:
    # A model of several outputs has neither labels nor one number.
    number = forest.schema.classes is None and forest.trees[0].value is not None
    return number and forest.answers not in ("path", "leaf")


def _neither(forest: Forest) -> str | None:
    """Say that a model holds no labels of its people, and predicts no number."""
    return None if _predicts_number(forest) else no_labels(forest)


def _nearly_at_most(findings: Sequence[Finding], forest: Forest) -> tuple[float, str]:
    """Return what share it may be, where numbers that fit the file are nearly certain or not."""
    most = max(getattr(one.details, "nearly_certain_at_most", 0.0) for one in findings)
    return most, (
        f"of {in_percent(most)} of the people the file does not tell how many have another number "
        f"than most of their leaf: {_what_tells(forest)}"
    )


def _what_tells(forest: Forest) -> str:
    """Say what would: of draws nobody does, of however many people."""
    larger = "" if forest.records_are == "all" else ", or, of draws, train larger leaves"
    return f"give the training data (--train){larger}"


NEARLY = Rule(
    name="max-nearly-certain-share",
    title="People whose label or number is nearly certain",
    wider=_with_columns("People whose label, number or sensitive value is nearly certain"),
    bound="at most {:.1%}",
    tells_of="everybody",
    measure=share_at_most("nearly_certain_share", "nearly_certain_in_any_tree"),
    told=share_told("nearly_certain_share", "nearly_certain_in_any_tree"),
    share=True,
    unsure=_by_weight,
    perhaps=_nearly_at_most,
    needless=_neither,
    lead=lambda forest: "TA109" if _predicts_number(forest) else "TA102",
    step="merge leaves until two or more people in each have another label, or number",
    # Without the training people a leaf of numbers tells less of how many have another.
    rests_on=(
        *("below_k", "unit", "counts", "spread", "noise", "sensitive", "tolerance", "train"),
    ),
)
"""Of labels (TA102), of numbers where there are no labels (TA109), and of columns (TA110)."""

DIVERSITY: tuple[Rule, ...] = (
    Rule(
        name="max-certain-share",
        needless=no_labels,
        title="People whose label is certain",
        wider=_with_columns("People whose label or sensitive value is certain"),
        bound="at most {:.1%}",
        tells_of="everybody",
        measure=share_at_most("certain_share", "homogeneous_in_any_tree"),
        told=share_told("certain_share", "homogeneous_in_any_tree"),
        share=True,
        step="make leaves larger (max_leaf_nodes, a higher min_samples_leaf) until each holds more "
        "than one label; where unseen people (--test) fit as well, it is a fact of the population, "
        "which somebody may accept by name (treeaudit accept)",
        rests_on=("unit", "noise", "sensitive"),
    ),
    NEARLY,
    Rule(
        name="min-distinct-l",
        needless=no_labels,
        title="Different labels in a leaf",
        wider=_with_columns("Different labels or sensitive values in a leaf"),
        bound="at least {:,.0f}",
        measure=least("distinct_l"),
        holds=holds_at_least,
        rests_on=("unit", "noise", "sensitive"),
    ),
    Rule(
        name="min-entropy-l",
        title="Entropy l-diversity",
        bound="at least {:g}",
        measure=_of_people(least("entropy_l")),
        missing=_DRAWS,
        needless=no_labels,
        holds=holds_at_least,
        rests_on=("unit", "counts", "noise", "sensitive"),
    ),
    Rule(
        name="max-t-closeness",
        title="Distance of a leaf from everybody (t-closeness)",
        bound="at most {:g}",
        measure=_of_people(most("t_closeness")),
        missing=_DRAWS,
        needless=no_labels,
        share=True,
        rests_on=("unit", "counts", "noise", "sensitive"),
    ),
    Rule(
        name="max-dominant-share",
        title="Share of one label in a leaf",
        wider=_with_columns("Share of one label or sensitive value in a leaf"),
        bound="at most {:.1%}",
        measure=_of_people(most("largest_share")),
        missing=_DRAWS,
        needless=no_labels,
        share=True,
        rests_on=("unit", "counts", "noise", "sensitive"),
    ),
    MEMORY,
)
"""The first attack that names them has to have run; the other adds its columns."""
