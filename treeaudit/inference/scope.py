"""Which models give equations on the training people, and how large a reconstruction may be.

Equations need exact counts of everybody in every tree.
"""

import signal
import time
from _thread import interrupt_main
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from math import gcd
from threading import Event, Timer, current_thread, main_thread

import numpy as np

from treeaudit.defenses.tree_edits import summed
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest, LazyTrees, RecordsAre, all_count
from treeaudit.model.tree import Tree
from treeaudit.people.records import Records

_GRACE = 1.5
"""Seconds after a Ctrl-C in which a search may end with what it has."""
INTERRUPTS: ContextVar[Event | None] = ContextVar("interrupts", default=None)


class OutOfBudgetError(Exception):
    """A budget has ended; says which, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Seconds of the processor from when it was made, and cells at the same time.

    Examples
    --------
    >>> Budget(cells=10).check(cells=11)
    Traceback (most recent call last):
        ...
    treeaudit.inference.scope.OutOfBudgetError: 10 cells
    """

    seconds: float = 10.0
    cells: int = 2_000_000
    _begun: float = field(default_factory=time.process_time, repr=False)
    _interrupted: Event = field(default_factory=Event, repr=False)

    @contextmanager
    def spent(self) -> Iterator[None]:
        """Let a first Ctrl-C meanwhile end the budget, within `stop_on_interrupt`."""
        heard = INTERRUPTS.get()
        if heard is None or current_thread() is not main_thread():
            yield
            return

        late = Event()

        def end() -> None:
            late.set()
            interrupt_main()

        timer = Timer(_GRACE, end)
        timer.daemon = True

        def ask(*_: object) -> None:
            heard.set()
            self._interrupted.set()
            signal.signal(signal.SIGINT, before)
            timer.start()

        before = signal.signal(signal.SIGINT, ask)
        try:
            yield
        except KeyboardInterrupt:
            if not late.is_set():
                raise
            raise OutOfBudgetError(self.ended) from None
        finally:
            timer.cancel()
            signal.signal(signal.SIGINT, before)

    @property
    def entries(self) -> int:
        """Entries of equations at the same time: what they take of memory grows with the time."""
        return int(min(4e6 * self.seconds, 5e7))

    @property
    def ended(self) -> str:
        """What ended the search, in words, where `over` says so."""
        return "it was interrupted" if self._interrupted.is_set() else f"{self.seconds:.3g} seconds"

    @property
    def left(self) -> float:
        """Seconds until it ends."""
        return self.seconds - (time.process_time() - self._begun)

    def over(self, share: float = 1.0) -> bool:
        """Tell whether a share of the seconds is gone, or it was interrupted."""
        return (
            self._interrupted.is_set() or time.process_time() - self._begun > share * self.seconds
        )

    def anew(self, share: float = 1.0) -> "Budget":
        """Return a budget of a share of the seconds from now on; an interrupt ends both."""
        return replace(self, seconds=share * self.seconds, _begun=time.process_time())

    def check(self, share: float = 1.0, cells: int = 0) -> None:
        """Raise OutOfBudgetError if a share of the seconds is gone, or cells are too many."""
        if cells > self.cells:
            raise OutOfBudgetError(f"{self.cells:,} cells")
        if self.over(share):
            raise OutOfBudgetError(self.ended)

    def trees(self, trees: Iterable[Tree], share: float) -> Iterator[Tree]:
        """Yield trees until a share of the seconds is gone, one at least."""
        for i, tree in enumerate(trees):
            if i and self.over(share):
                return
            yield tree


@contextmanager
def stop_on_interrupt() -> Iterator[Event]:
    """Let a first Ctrl-C end the search that it falls into; the event tells whether it came.

    Searches end as if their time was over, with what is certain so far. A second Ctrl-C, or one
    beside them, is raised as ever.
    """
    heard = Event()
    token = INTERRUPTS.set(heard)
    try:
        yield heard
    finally:
        INTERRUPTS.reset(token)


ANYBODY = 2.0**31
"""What a leaf that stands for one that was taken out holds of each class at most."""

_UNWEIGHTED = "rows had no weights of their own"
_SAME = "all trees are of the same people"
_UNROUNDED = "no count was rounded"
_MOST_DRAWN = 0.8
"""Of nearly everybody each tree tells nearly all."""
_HOLD: Mapping[RecordsAre, str] = {
    "bootstrap": "its trees were trained on draws of the people",
    "disjoint": "its trees were trained on parts of the people",
    "unknown": "it does not tell which of the people its trees were trained on",
}


def not_usable(forest: Forest) -> str | None:
    """Say why the leaves of a model are no equations on the people; None where they are."""
    if forest.schema.classes is None:
        return "it predicts a number: its leaves hold no labels"
    if forest.members:
        return "its trees belong to several models"
    if forest.tree_classes is not None:
        return "its trees tell different labels apart"
    if forest.counts_are != "exact":
        return forest.counts_reason or f"its class counts are {forest.counts_are}"
    if forest.records_are != "all":
        return _HOLD[forest.records_are]
    if any(weights is not None for weights in forest.class_weights or ()):
        return "its classes carry weights"
    if not all_count(forest.trees):
        return "its trees hold no class counts"
    return None


def certain_if(forest: Forest) -> tuple[str, ...]:
    """Return what the file of a model cannot show, or speaks against, and whoever is certain needs.

    XGBoost and CatBoost sum weights where others count people, and writers of PMML count what they
    like; a model that was trained further may have been so on other people; and counts that one
    number divides may have been rounded to it.
    """
    exchanged, several = forest.source.format == "pmml", forest.n_trees > 1
    conditions = (
        [_UNWEIGHTED] if exchanged or forest.source.library in ("XGBoost", "CatBoost") else []
    )
    if several and (exchanged or _trained_further(forest)):
        conditions.append(_SAME)
    if maybe_rounded(forest):
        conditions.append(_UNROUNDED)
    return tuple(conditions)


def maybe_rounded(forest: Forest) -> bool:
    """Tell whether a number above 1 divides how many people are in every leaf of every tree."""
    common = 0
    for tree in forest.trees:
        counts = tree.counts if tree.n_records is None else tree.n_records
        if counts is None or (counts != np.floor(counts)).any():
            return False
        common = gcd(common, int(np.gcd.reduce(counts[tree.is_leaf].astype(np.int64), axis=None)))
        if common == 1:
            return False
    return common > 1


def assumptions_of(forest: Forest) -> tuple[str, ...]:
    """Return everything that is taken for granted of whom the trees of a model count."""
    return tuple(dict.fromkeys((*certain_if(forest), *((_SAME,) if forest.n_trees > 1 else ()))))


def _trained_further(forest: Forest) -> bool:
    """Tell whether the file shows that trees were added to others."""
    parameters = forest.source.parameters
    rounds = _number(parameters.get("num_iterations", parameters.get("iterations")))
    outputs = max(_number(parameters.get("n_outputs")), 1)
    return parameters.get("warm_start") is True or 0 < rounds * outputs < forest.n_trees


def with_gaps(forest: Forest) -> Forest:
    """Return a forest whose empty leaves may hold anybody, where leaves were taken out of it.

    No leaf is trained on nobody: it stands for others that a repair took out. The rest of a forest
    without draws tells of everybody who ends there. Other forests are returned as they are.
    """
    everybody = forest.counts_are == "exact" and forest.source.parameters.get("bootstrap") is False
    if forest.records_are != "all" and not (everybody and forest.records_are == "unknown"):
        return forest

    def build(i: int) -> Tree:
        tree = forest.trees[i]
        if tree.counts is None or tree.n_records is None:
            return tree
        empty = tree.is_leaf & (tree.n_records == 0)
        if not empty.any():
            return tree
        return replace(tree, counts=np.where(empty[:, None], ANYBODY, tree.counts))

    return replace(forest, records_are="all", trees=LazyTrees(build, forest.n_trees))


def counts_everybody(forest: Forest) -> bool:
    """Tell whether every leaf says how many of all people are in it, whatever their labels."""
    all_people = forest.records_are == "all" and forest.counts_are != "noisy"
    return all_people and forest.trees[0].n_records is not None


def without_labels(forest: Forest) -> Forest:
    """Return a forest that tells of everybody in its leaves as of one class.

    Raises DataError when a tree is asked for that does not say how many people are in its leaves.
    """

    def build(i: int) -> Tree:
        tree = forest.trees[i]
        if tree.n_records is None:
            raise DataError(f"tree {i} does not tell how many people are in its leaves")
        return replace(tree, counts=tree.n_records[:, None].astype(np.float64), label=None)

    return replace(
        forest,
        schema=replace(forest.schema, classes=("whatever it is",)),
        counts_are="exact",
        class_weights=None,
        tree_classes=None,
        trees=LazyTrees(build, forest.n_trees),
    )


def draws_samples(forest: Forest) -> bool:
    """Tell whether each tree of a boosting was grown on a draw, of which nothing tells."""
    return sample_share(forest) > 0


def sample_share(forest: Forest) -> float:
    """Return how many of the people each tree of a boosting drew; 0 where that is not told."""
    # What CatBoost calls a subsample may be weights of everybody.
    says = forest.source.library in ("LightGBM", "XGBoost", "scikit-learn")
    if not says or forest.answers != "sum" or any(x.kind == "seeds" for x in forest.extras.found):
        return 0.0
    parameters = forest.source.parameters
    shares = [parameters.get("subsample")]
    # Drawn every few rounds, many trees are of the same people.
    if str(parameters.get("bagging_freq")) == "1":
        shares.append(parameters.get("bagging_fraction"))
    numbers = (_number(share) for share in shares)
    return min((share for share in numbers if 0 < share <= _MOST_DRAWN), default=0.0)


def _number(stated: object) -> float:
    try:
        return float(stated) if isinstance(stated, str | int | float) else 0.0
    except ValueError:
        return 0.0


def not_boosted(forest: Forest) -> str | None:
    """Say why the leaves of boosted trees are no equations on the people; None where they are."""
    if forest.boosting is None:
        none = forest.source.library == "XGBoost" and forest.counts_are == "absent"
        why = f": {forest.counts_reason}" if none else ""
        return f"the file does not tell how its trees follow from the labels{why}"
    first = forest.trees[: len(forest.boosting.start)]
    if any(tree.counts is None for tree in first):
        return "the class counts of the first tree do not follow"
    known = forest.boosting.trees
    if forest.trees is not known and not (
        len(known) == forest.n_trees and all(map(_same, forest.trees, known))
    ):
        return "its trees were changed, and only what they were follows from the labels"
    return None


def _same(tree: Tree, other: Tree) -> bool:
    """Tell whether trees ask and answer alike; what inner nodes hold answers nobody."""
    form = ("parent", "feature", "low", "high")
    if not all(np.array_equal(getattr(tree, name), getattr(other, name)) for name in form):
        return False
    if tree.value is None or other.value is None:
        return tree.value is other.value
    return np.array_equal(tree.value[tree.is_leaf], other.value[other.is_leaf])


_COUNTED_ANEW = 4.0
"""Leaves may have been counted anew on those who were not drawn: by chance sides differ less."""
_WHY = "who is certain is worked out only where no value was missing in the training data"


def complete_trees(forest: Forest, trees: Iterable[Tree]) -> Iterator[Tree]:
    """Yield trees of a forest, as long as nothing tells that values were missing in training.

    Raises DataError if the file says so of a column that a tree asks about, or if a tree shows it:
    scikit-learn sends what was never missing to the larger side.
    """
    features = forest.schema.features
    gaps = np.array([one.had_missing for one in features], dtype=np.bool_)
    by_size = forest.source.library == "scikit-learn"
    slack = 0.0 if forest.answers == "sum" else _COUNTED_ANEW
    for i, tree in enumerate(trees):
        tested = tree.feature[tree.parent >= 0]
        if gaps.any() and gaps[tested].any():
            name = features[int(tested[gaps[tested]][0])].name
            raise DataError(f"{_WHY}, and the file tells that some were of column {name!r}")
        if (tree.low == np.inf).any():
            raise DataError(f"{_WHY}, and tree {i} asks whether one is")
        if by_size and _not_by_size(tree, slack):
            if tree.n_records is not None and (tree.n_records[tree.leaves] == 0).any():
                # Sides were larger before a repair took people out of them.
                raise DataError(f"{_WHY}, and tree {i}, which leaves were taken out of, hides it")
            raise DataError(f"{_WHY}, and tree {i} tells that some were, by where it sends them")
        yield tree


def _not_by_size(tree: Tree, slack: float) -> bool:
    """Tell whether missing values of a number go to a side that is not the larger one."""
    if tree.missing is None or tree.n_records is None:
        return False
    numbers = np.isfinite(tree.low) | np.isfinite(tree.high)
    at = np.flatnonzero((tree.parent >= 0) & tree.missing & numbers)
    n, left = tree.n_records[tree.parent[at]], np.isfinite(tree.high[at])
    less = n - 2 * tree.n_records[at] - slack * np.sqrt(n)
    # Of sides of one size the right one is taken; and a release that never asked where missing
    # values belong sends all of them there.
    return bool(((less > 0) & left.any()).any() or ((less == 0) & left).any())


def subtract_known(forest: Forest, known: Records) -> Forest:
    """Return a forest whose exact counts hold the people who are not known.

    Raises DataError if more are known in some leaf than it holds: they were not all in the training
    data.
    """
    n_classes = len(forest.schema.classes or ())
    trees: list[Tree] = []
    for i, tree in enumerate(forest.trees):
        key = known.node[:, i].astype(np.int64) * n_classes + known.known_labels
        leaf_counts = np.bincount(key, minlength=tree.n_nodes * n_classes).reshape(-1, n_classes)
        known_counts = summed(tree, leaf_counts.astype(np.float64))
        counts = known_counts if tree.counts is None else tree.counts - known_counts
        if (counts < 0).any():
            raise DataError(f"{known.origin} holds people who were not in the training data")
        trees.append(replace(tree, counts=counts, n_records=None))
    return replace(forest, trees=tuple(trees), n_records=None)
