"""Count the people of tables that do not fit in memory, part by part and by several workers.

Each part is read by itself and gives counts, which add up, and a seeded sample of rows, which does
not depend on who reads which part. Workers are joblib's: processes here, or a Dask or Ray cluster.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Int, Wide
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.routing import Router, router_of
from treeaudit.people.coding.coder import Coder, Met, check_met, coder_of, merge_met
from treeaudit.people.input.columns import frame_of
from treeaudit.people.input.sources import ROWS, Batch, Part, Source, large_source
from treeaudit.people.input.table_input import InputTable
from treeaudit.people.records import LeafCounts, Records, count_into

if TYPE_CHECKING:
    import pandas as pd


MOST = 20_000
"""Records that attacks that sample are given; they drew as many from the whole table."""
_HELD = 4 * MOST
"""Sampled rows of a part that are kept before the sample is cut back."""
_FILE, _OWN = 40, 1 << 22
"""Bits of the number of a row in its file, and numbers for tables that are in memory."""
Keys = npt.NDArray[np.uint64]


def keys_of(file: int, first: int, n: int, seed: int) -> tuple[Wide, Keys]:
    """Return the number of each row, and its place in a random order of all rows."""
    row = np.arange(first, first + n, dtype=np.int64) + (file << _FILE)
    # SplitMix64: every bit of a row and of the seed changes half of those of the key.
    start = np.uint64((seed * 0xD1342543DE82EF95 + 0x9E3779B97F4A7C15) % 2**64)
    key = (row.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) ^ start
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        key = (key ^ (key >> np.uint64(shift))) * np.uint64(factor)
    return row, key ^ (key >> np.uint64(31))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """The rows that come first in the random order, of those that were read."""

    row: Wide
    key: Keys
    values: npt.NDArray[np.floating[Any]]
    labels: Int | None
    targets: Float | None
    node: Int
    frame: "pd.DataFrame"

    def only(self, rows: npt.NDArray[np.intp]) -> "Sample":
        """Return some of the rows."""
        return Sample(
            row=self.row[rows],
            key=self.key[rows],
            values=self.values[rows],
            labels=None if self.labels is None else self.labels[rows],
            targets=None if self.targets is None else self.targets[rows],
            node=self.node[rows],
            frame=self.frame.iloc[rows].reset_index(drop=True),
        )


def _first_of(samples: Sequence[Sample]) -> Sample:
    """Return the `MOST` rows of some samples that come first in the random order."""
    import pandas as pd

    def joined(of: Callable[[Sample], Any]) -> Any:  # noqa: ANN401  # arrays, or None
        parts = [of(sample) for sample in samples]
        return None if parts[0] is None else np.concatenate(parts)

    found = Sample(
        row=joined(lambda s: s.row),
        key=joined(lambda s: s.key),
        values=joined(lambda s: s.values),
        labels=joined(lambda s: s.labels),
        targets=joined(lambda s: s.targets),
        node=joined(lambda s: s.node),
        frame=pd.concat([sample.frame for sample in samples], ignore_index=True),
    )
    if len(found.key) <= MOST:
        return found
    return found.only(np.argpartition(found.key, MOST - 1)[:MOST])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tally:
    """What is known of some rows once they were read: their counts, and a sample of them."""

    counts: LeafCounts
    sample: Sample | None
    met: Mapping[str, Met] = field(default_factory=dict)

    def __add__(self, other: "Tally") -> "Tally":
        """Join what was seen of two parts."""
        samples = [one for one in (self.sample, other.sample) if one is not None]
        return Tally(
            counts=self.counts + other.counts,
            sample=_first_of(samples) if samples else None,
            met=merge_met(self.met, other.met),
        )

    def records(self, origin: str = "the data") -> Records:
        """Return the sample as records, with the counts of all."""
        if self.sample is None:
            raise DataError(f"{origin} holds no rows")
        check_met(self.met, origin)
        some = self.sample.only(np.argsort(self.sample.row))
        return Records(
            values=some.values,
            labels=some.labels,
            targets=some.targets,
            node=some.node,
            frame=some.frame,
            origin=origin,
            whole=self.counts,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counter:
    """Counts the rows of a part: all that a worker is told."""

    coder: Coder
    router: Router
    seed: int
    bound: int = 2**64 - 1

    def __call__(self, part: Part) -> Tally:
        """Read a part."""
        coder = replace(self.coder, origin=part.name)
        return self.seen(coder, part.file, part.batches(coder.used, coder.texts, coder.numbers))

    def table(self, tables: Iterable[Any], part: int | None = None) -> Tally:
        """Count rows that are in memory already."""
        coder = self.coder

        def batches() -> Iterator[Batch]:
            first = 0
            for table in tables:
                whole = table.to_batches(ROWS) if hasattr(table, "to_batches") else [table]
                for one in whole:
                    frame = one if hasattr(one, "iloc") else frame_of(one)
                    at = {i: list(frame.columns).index(coder.names[i]) for i in coder.used}
                    yield Batch(frame=frame, first=first, at=at)
                    first += len(frame)

        return self.seen(coder, part, batches())

    def seen(self, coder: Coder, file: int | None, batches: Iterable[Batch]) -> Tally:
        """Count the rows of some batches of a file."""
        classes, root, n = coder.schema.classes, self.router.root, 0
        labelled = coder.label is not None and len(coder.own) < 2
        columns = len(classes) if classes and labelled else 1
        counts = np.zeros((int(root[-1]), columns), dtype=np.int64)
        held: list[Sample] = []
        bound = np.uint64(self.bound)
        met: dict[str, Met] = {}
        for batch in batches:
            found = coder.code(batch.column, len(batch), batch.first)
            met = merge_met(met, found.met)
            node = self.router.ends(found.values)
            count_into(counts, node, found.labels, root)
            n += len(batch)
            if file is None:
                file = crc32(found.values.tobytes()) % _OWN
            row, key = keys_of(file, batch.first, len(batch), self.seed)
            few = np.flatnonzero(key <= bound)
            if not len(few):
                continue
            held.append(
                Sample(
                    row=row[few],
                    key=key[few],
                    values=found.values[few],
                    labels=None if found.labels is None else found.labels[few],
                    targets=None if found.targets is None else found.targets[few],
                    node=node[few],
                    frame=batch.rows(few),
                )
            )
            if sum(len(one.key) for one in held) > _HELD:
                held = [_first_of(held)]
                bound = held[0].key.max()
        return Tally(
            counts=LeafCounts(n=n, root=root, counts=counts),
            sample=_first_of(held) if held else None,
            met=met,
        )


def stream_records(
    source: Source,
    forest: Forest,
    *,
    target: str | None = None,
    person: str | None = None,
    jobs: int | None = None,
    seed: int = 0,
) -> Records:
    """Count the people of a table, and return a sample of them with the counts of all."""
    count = counter_of(
        forest,
        source.names,
        target=target,
        person=person,
        origin=source.origin,
        rows=source.rows,
        seed=seed,
    )
    if jobs in (None, 1):
        seen: Iterable[Tally] = map(count, source.parts)
    else:
        from joblib import Parallel, delayed

        seen = Parallel(n_jobs=jobs)(delayed(count)(part) for part in source.parts)
    nobody = count.seen(count.coder, 0, ())
    return reduce(add, seen, nobody).records(source.origin)


def counter_of(
    forest: Forest,
    names: Iterable[str],
    *,
    target: str | None = None,
    person: str | None = None,
    origin: str = "the data",
    rows: int | None = None,
    seed: int = 0,
) -> Counter:
    """Return what counts the rows of a table by the leaves of a model, wherever they are."""
    coder = coder_of(list(names), forest, target=target, person=person, origin=origin)
    bound = 2**64 - 1
    if rows is not None and rows > 2 * MOST:
        bound = int(bound * (1.3 * MOST / rows))
    return Counter(
        coder=coder, router=router_of(forest.trees, forest.schema), seed=seed, bound=bound
    )


def sample_table(data: object, seed: int = 0) -> object:
    """Return a table as it was given; a sample of its rows, with all columns, where it is large."""
    source = large_source(data)
    if source is None:
        return data
    every = range(len(source.names))
    held: list[Sample] = []
    for part in source.parts:
        for batch in part.batches(every, (), ()):
            row, key = keys_of(part.file, batch.first, len(batch), seed)
            few = np.flatnonzero(key <= held[0].key.max()) if held else np.arange(len(batch))
            none = np.zeros((len(few), 0), dtype=np.int32)
            some = Sample(
                row=row[few],
                key=key[few],
                values=none.astype(np.float64),
                labels=None,
                targets=None,
                node=none,
                frame=batch.rows(few),
            )
            held = [_first_of([*held, some])]
    return InputTable(frame=held[0].only(np.argsort(held[0].row)).frame, origin=source.origin)
