"""Differencing: whose records two releases of a model give away beside each other (TA107)."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag
from treeaudit.errors import DataError
from treeaudit.inference.explanation import sentence, table
from treeaudit.inference.releases import MovedPeople, ReleaseDifference, infer_difference
from treeaudit.inference.scope import certain_if, not_usable
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.model.schema_file import read_schema
from treeaudit.model.words import label_text
from treeaudit.readers import load
from treeaudit.rendered import Rendered

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """People who are alike in all that is certain of them."""

    moved: str  # ``left``: in the old table alone; ``came``: in the new one alone
    people: int  # No fewer than so many
    certain: bool  # Whether it holds whoever else moved; otherwise where nobody did but who had to
    exact: bool  # Whether every value that one of the models asks about is certain
    says: str  # What is certain of them, label included


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Difference(Rendered):
    """What two releases give away beside each other.

    Attributes
    ----------
    old, new
        The models.
    found
        The bounds, and who is certain.
    """

    old: Forest
    new: Forest
    found: ReleaseDifference

    @property
    def certain(self) -> int:
        """How many people certainly moved, with something certain of them but the label."""
        return self.found.left.named + self.found.came.named

    @property
    def certain_if(self) -> tuple[str, ...]:
        """What the files cannot show, or speak against, and whoever is certain needs."""
        return tuple(dict.fromkeys((*certain_if(self.old), *certain_if(self.new))))

    @property
    def if_nobody_else_moved(self) -> int | None:
        """The same where nobody moved but who had to; None where the files show that some did."""
        together = self.found.together
        return None if together is None else together.left.named + together.came.named

    @property
    def beyond_new(self) -> int:
        """How many more of the new table both files name with every value than the new one alone.

        If nobody else moved.
        """
        together = self.found.together
        return 0 if together is None else together.kept_exact - self.found.new.exact

    @property
    def told(self) -> tuple[tuple[str, int, str], ...]:
        """Whose label is known to whoever knows who moved, if nobody else did."""
        if self.found.together is None:
            return ()
        fewer, result = np.array(self.found.fewer), []
        for moved, sizes in (("left", fewer), ("came", -fewer)):
            at = np.flatnonzero(sizes > 0)
            if len(at) == 1:
                result.append((moved, int(sizes[at[0]]), self.label(int(at[0]))))
        return tuple(result)

    @property
    def gives_away(self) -> bool:
        """Whether somebody is given away by both files beside each other."""
        more = self.if_nobody_else_moved or self.beyond_new > 0
        return bool(self.certain or more or self.told)

    @property
    def named(self) -> tuple[Named, ...]:
        """Who is certain, every value known first."""
        people = []
        for moved, one, certain in self._lists:
            for k, at in enumerate(one.cell.tolist()):
                text = f"{sentence(one.cells, at)} · {self.label(int(one.label[k]))}"
                people.append(
                    Named(
                        moved=moved,
                        people=int(one.people[k]),
                        certain=bool(certain[k]),
                        exact=bool(one.cells.n_records[at] == 1),
                        says=text,
                    )
                )
        return tuple(sorted(people, key=lambda one: not one.exact))

    @property
    def people(self) -> "pd.DataFrame":
        """One row per person who is certain: ``moved``, values, label and how certain."""
        import pandas as pd

        frames = []
        for moved, one, certain in self._lists:
            frame = table(
                one.cells, self.found.schema, cell=one.cell, label=one.label, people=one.people
            )
            sure = np.repeat(certain, one.people)
            frame["certain"] = np.where(sure, "certain", "if nobody else moved")
            frame.insert(0, "moved", moved, allow_duplicates=True)
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    def label(self, at: int) -> str:
        """Return a label in words."""
        schema = self.found.schema
        return f"{schema.target} = {label_text((schema.classes or ())[at])}"

    @property
    def _lists(self) -> list[tuple[str, MovedPeople, Flag]]:
        """Who left and who came, from the list that names more, and who of them for certain."""
        found, together = self.found, self.found.together
        shown = alone = found.left, found.came
        if together is not None and _worth(together.left, together.came) > _worth(*alone):
            shown = together.left, together.came
        return [
            (moved, one, np.isin(_boxes(one), _boxes(sure)))
            for moved, one, sure in zip(("left", "came"), shown, alone, strict=True)
        ]


def _worth(*moved: MovedPeople) -> tuple[int, int]:
    return sum(one.n_people for one in moved), sum(one.exact for one in moved)


def _boxes(moved: MovedPeople) -> npt.NDArray[np.bytes_]:
    """Return a text for each: where, of which label, and how many."""
    cells = moved.cells.part(moved.cell)
    parts = (*cells.sets, cells.low.T, cells.high.T, moved.label[:, None], moved.people[:, None])
    rows = np.hstack([part.astype(np.uint64) for part in parts])
    return np.array([row.tobytes().hex() for row in rows], dtype=np.bytes_)


def difference(
    old: object,
    new: object,
    *,
    schema: Schema | str | os.PathLike[str] | None = None,
    seconds: float = 10.0,
    progress: Callable[[str, int, int], None] | None = None,
) -> Difference:
    """Return whose records two releases of a model give away beside each other.

    Parameters
    ----------
    old, new
        Paths, fitted estimators or forests, in the order of their release. Every tree must have
        been trained on everybody and hold how many of each label are in its leaves.
    schema
        Which values the columns can have, where that is public: a schema or a TOML file.
    seconds
        How long to look, in seconds of the processor.
    progress
        Called with what is being done, steps done and steps in all.

    Raises
    ------
    DataError
        If the leaves of a model are no equations on people, with the reason, or the two have
        nothing in common.
    """
    forests = []
    for name, model in (("old", old), ("new", new)):
        forest = load(model)
        if (reason := not_usable(forest)) is not None:
            name_of_file = (
                Path(forest.source.path).name if forest.source.path else f"the {name} model"
            )
            raise DataError(f"{name_of_file} cannot be held against another release: {reason}")
        forests.append(forest)
    public = schema if schema is None or isinstance(schema, Schema) else read_schema(schema)
    first, second = forests
    result = infer_difference(first, second, public, seconds, progress)
    return Difference(old=first, new=second, found=result)
