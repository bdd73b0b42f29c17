"""What a model is good for, by which repairs are chosen: accuracy and AUC together, or R²."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.people.predict.utility import Utility, explained, utility
from treeaudit.people.records import Records, read_records
from treeaudit.people.streaming import sample_table
from treeaudit.stats import Estimate

Use = Utility | Estimate
"""How useful a model of classes is, or R² of one of numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """What a model is good for to some people."""

    right: float  # Share of them answered rightly, or R² of a number
    auc: float | None  # Of several classes the mean of each against all others; None of numbers

    @property
    def total(self) -> float:
        """What repairs are compared by: a loss of either counts alike."""
        return self.right + (self.auc or 0.0)

    @property
    def kept(self) -> float:
        """What ``keep_auc`` is about: the AUC, or R² of a number."""
        return self.right if self.auc is None else self.auc

    def loses(self, after: "Worth", most: float | None) -> bool:
        """Tell whether another loses more of that than is allowed."""
        return most is not None and self.kept - after.kept > most

    @property
    def words(self) -> str:
        """The same with its name."""
        return f"{'R²' if self.auc is None else 'AUC'} {self.kept:.3f}"


def measured(forest: Forest, people: Records, train: Records | None = None) -> Use:
    """Return how useful a model is to some people; of a number, R².

    They may have been routed through another model of the same columns. ``train`` are its training
    people, who tell where some boostings start.

    Raises DataError if the file does not tell what it answers, or the people have no labels.
    """
    people = replace(people, node=forest.apply(people.values))
    if forest.schema.classes is None:
        return explained(forest, people, train)
    return utility(forest, people, train)


def uses_of(
    forests: Sequence[Forest],
    *,
    train: object,
    test: object,
    target: str | None = None,
    person: str | None = None,
) -> tuple[list[Use], str]:
    """Return how useful models of the same columns are to unseen people, or else to their own.

    Nothing if nobody is given, or, with the reason, if that is not told.

    Raises DataError if the people do not fit the model.
    """
    read = partial(read_records, forest=forests[0], target=target, person=person)
    known = None if train is None else read(train)
    people = known if test is None else read(sample_table(test))
    if people is None:
        return [], ""
    try:
        return [measured(one, people, known) for one in forests], ""
    except DataError as error:
        return [], f"accuracy is not told: {error}"


def worth_on(forest: Forest, people: Records, train: Records | None = None) -> Worth | None:
    """Return the same as `Worth`; None where it is not told."""
    try:
        use = measured(forest, people, train)
    except DataError:
        return None
    if isinstance(use, Estimate):
        return Worth(right=use.value, auc=None)
    return Worth(right=use.right_of_all.value, auc=use.auc)


class Worths:
    """What models are good for to the people at hand: unseen ones, or else those of training."""

    def __init__(
        self, forest: Forest, *, train: Records | None, test: Records | None, keep: float | None
    ) -> None:
        self.train, self.test, self._keep = train, test, keep
        self.before = self(forest)
        if self.before is None:
            self.test = None
            self.before = self(forest)
        if keep is None:
            return
        if not isinstance(keep, int | float) or not 0 <= keep < 1:
            raise DataError(f"keep_auc is a number from 0 to below 1, not {keep!r}")
        if self.before is None:
            raise DataError(
                "--keep-auc measures what the AUC loses on labelled people: give --test, or "
                "--train, for a model whose answers its file tells"
            )

    def __call__(self, forest: Forest) -> Worth | None:
        people = self.test or self.train
        return None if people is None else worth_on(forest, people, self.train)

    def keeps(self, forests: Sequence[Forest]) -> list[bool]:
        """Tell which models lose no more of the AUC than is allowed; DataError if none does."""
        if self._keep is None or self.before is None:
            return [True] * len(forests)
        found = [self(one) for one in forests]
        kept = [one is not None and not self.before.loses(one, self._keep) for one in found]
        if not any(kept):
            raise self.nothing_keeps([one for one in found if one is not None])
        return kept

    def nothing_keeps(self, found: Sequence[Worth] = ()) -> DataError:
        """Say that all repairs lose more of the AUC than is allowed."""
        text = f"no repair that was tried loses at most {self._keep or 0:g} AUC"
        nearest = max(found, key=lambda one: one.kept, default=None)
        if nearest is not None and self.before is not None:
            whom = "--test" if self.test else "the people it was trained on (--test decides)"
            text += f": the nearest has {self.before.words} → {nearest.kept:.3f} on {whom}"
        return DataError(f"{text}; allow more with --keep-auc, or see all with --sweep")
