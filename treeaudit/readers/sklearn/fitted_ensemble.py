"""The trees of one fitted model, over the columns that they saw."""

from collections.abc import Callable
from dataclasses import dataclass

from treeaudit.arrays import Wide
from treeaudit.model.forest import CountsAre, RecordsAre, ValuesAre
from treeaudit.model.schema import Feature, Label, Schema
from treeaudit.model.tree import Tree
from treeaudit.readers.limits import Allowance, Most
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.sklearn.model_ref import Names, label_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedEnsemble:
    """The trees of one fitted model, before they are made a `Forest`."""

    build: Callable[[int], Tree]  # makes one tree, from the file, each time it is asked
    n_trees: int  # how many there are
    tested: Callable[[int], Wide]  # the feature of every edge of one tree
    # As in `treeaudit.Forest`.
    schema: Schema
    counts_are: CountsAre
    counts_reason: str
    records_are: RecordsAre
    n_records: int | None
    single_precision: bool
    warnings: tuple[str, ...] = ()  # what was noticed, one sentence each
    # As in `treeaudit.Forest`; empty where all classes weigh the same.
    class_weights: tuple[tuple[float, ...] | None, ...] = ()
    tree_classes: tuple[tuple[Label, ...], ...] | None = None  # as in `treeaudit.Forest`
    # As in `treeaudit.Forest`: of the numbers of all people in a node, each of the same weight.
    values_are: ValuesAre = "unknown"


class Budget:
    """What reading all the trees of a file together may cost.

    A file that names one tree a thousand times would otherwise seem, and cost,
    a thousand times what it is.

    `take` counts the bytes of one more tree, which are no more than the unpacked file has; `undo`
    the columns of one more pipeline that is undone. Both raise `treeaudit.ModelTooLargeError`.
    """

    def __init__(self, n_bytes: int) -> None:
        too_much = "the trees together are larger than the file that holds them"
        self.take = Allowance(n_bytes, too_much).take
        too_much = "its pipelines have more columns than treeaudit takes in"
        self.undo = Allowance(Most.undone, too_much).take
        too_much = "its models have more columns than treeaudit takes in"
        self._columns = Allowance(Most.columns, too_much)
        self._known: dict[tuple[int, int], tuple[Feature, ...]] = {}

    def named(self, names: Names | None, n: int) -> tuple[Feature, ...] | None:
        """Return the features of these names, or None where they are no names of ``n``."""
        if names is None or len(names) != n:
            return None
        return self._once(
            (id(names), n),
            lambda: tuple(Feature(name=str(label_of(arrived(name)))) for name in names.tolist()),
        )

    def unnamed(self, n: int) -> tuple[Feature, ...]:
        """Return ``n`` features that have numbers instead of names."""
        return self._once((0, n), lambda: Schema.numeric(n).features)

    def _once(
        self, key: tuple[int, int], make: Callable[[], tuple[Feature, ...]]
    ) -> tuple[Feature, ...]:
        if key not in self._known:
            self._columns.take(key[1])
            self._known[key] = make()
        return self._known[key]
