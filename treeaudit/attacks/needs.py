"""What attacks cannot do without, who says so, and what would supply it.

An attack names its needs in `Attack.needs`; one that lacks something is not run
and ends as `Skipped` with the reason. Inside `run` what is needed is there.
"""

from threading import Event

from treeaudit.attacks.case import Attack, Case, Need
from treeaudit.findings.findings import Finding, Skipped
from treeaudit.inference.scope import INTERRUPTS

FEWEST = 40
"""With fewer unseen people neither half of them says anything."""

_NO_SIZES = "the model does not tell how many people are in a leaf"


def _people(case: Case) -> str | None:
    return None if case.table.tells_people else _NO_SIZES


def _class_counts(case: Case) -> str | None:
    if case.table.tells_labels:
        return None
    return case.forest.counts_reason or "the model holds no class counts"


def _true_counts(case: Case) -> str | None:
    forest = case.forest
    if forest.counts_are == "noisy":
        return "the counts carry noise, and the score of counts does not know its law"
    silent = all(tree.n_records is None and tree.counts is None for tree in forest.trees)
    return _NO_SIZES if silent else None


def _sensitive(case: Case) -> str | None:
    if case.train is not None and (case.sensitive or case.train.targets is not None):
        return None
    unlabelled = "" if case.train is None else case.train.unlabelled
    return unlabelled or "no column of the training data was named (--sensitive, --train)"


def _to_tell(asks: tuple[str, ...]) -> str:
    return f"needs {' and '.join(asks)} to tell success from chance"


def _train(case: Case) -> str | None:
    return _to_tell(("--train",)) if case.train is None else None


def _test(case: Case) -> str | None:
    return _to_tell(("--test",)) if case.test is None else None


def _labels(case: Case) -> str | None:
    if case.forest.schema.classes is not None:
        for records in (case.train, case.test):
            if records is None or records.labels is not None:
                continue
            if records.unlabelled:
                return records.unlabelled
            if records.members is not None:
                return "every member of the model knows one class of its own, and no label of all"
            return f"{records.origin} has no column of labels; name it with --target"
    return None


def _two_halves(case: Case) -> str | None:
    if case.test is None or len(case.test) >= FEWEST:
        return None
    return f"{case.test.origin} has {len(case.test)} people; at least {FEWEST} are needed"


PEOPLE = Need(missing=_people)
"""How many people are in each leaf."""
CLASS_COUNTS = Need(missing=_class_counts)
"""How many people, or what weight, of each class is in each leaf."""
TRUE_COUNTS = Need(missing=_true_counts)
"""People in each leaf, of each class or in all, without noise."""
SENSITIVE = Need(missing=_sensitive, asks=("--sensitive", "--train"))
"""A column of the training data beside the label, or a number that the model predicts."""
TRAIN = Need(missing=_train, asks=("--train",))
"""The people the model was trained on."""
TEST = Need(missing=_test, asks=("--test",))
"""People who were not in the training data."""
LABELS = Need(missing=_labels, asks=("--target",))
"""Labels of the people who were given, where the model classifies."""
TWO_HALVES = Need(missing=_two_halves)
"""Unseen people enough for a control and a reference."""


def missing(attack: Attack, case: Case) -> Skipped | None:
    """Return why an attack cannot run, or None where everything that it needs is there."""
    for need in attack.needs:
        reason, asks = need.missing(case), need.asks
        if reason is None:
            continue
        if need in (TRAIN, TEST):
            # Whoever has to fetch one table should hear of the other at once.
            tables = (one for one in attack.needs if one in (TRAIN, TEST))
            asks = tuple(a for one in tables if one.missing(case) is not None for a in one.asks)
            reason = _to_tell(asks)
        return Skipped(id=attack.id, title=attack.title, reason=reason, asks=asks)
    return None


def run_attack(attack: Attack, case: Case) -> Finding | Skipped:
    """Run an attack where everything that it needs is there, and none after a Ctrl-C."""
    heard = INTERRUPTS.get() or Event()
    stopped = Skipped(id=attack.id, title=attack.title, reason="it was interrupted")
    if heard.is_set():
        return stopped
    try:
        return missing(attack, case) or attack.run(case)
    except KeyboardInterrupt:
        if heard.is_set() or INTERRUPTS.get() is None:
            raise
        heard.set()
        return stopped
