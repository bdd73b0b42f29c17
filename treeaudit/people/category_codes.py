"""Categories of people as the codes of a model."""

import re
from collections.abc import Sequence

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.errors import DataError, near
from treeaudit.model.schema import Feature
from treeaudit.people.input.cell_parsing import also_as_numbers, code_of
from treeaudit.people.input.columns import SHOWN

__all__ = ["category_codes"]

_OTHER = "(any other value)"
_HASH = re.compile(r"hash [0-9]+")


def category_codes(
    codes: Wide,
    names: Sequence[str | None],
    feature: Feature,
    origin: str,
    first: int = 0,
    *,
    hashed: bool = False,
) -> Float:
    """Return the code of the category of each row, NaN for none.

    Parameters
    ----------
    codes, names
        As `treeaudit.people.input.columns.Column.distinct` gives them.
    origin, first
        What to call the table, and how many rows stand before these, for messages.
    hashed
        Whether the model asks for hashes of a few categories, and takes all others as one, as
        CatBoost does.

    Raises
    ------
    DataError
        Names the row of a category that the model does not know, or two that differ in blanks
        alone.

    Examples
    --------
    >>> flag = Feature(name="flag", categories=("0", "1"))
    >>> category_codes(np.array([0, 1, -1]), ["True", "0"], flag, "people").tolist()
    [1.0, 0.0, nan]
    """
    categories = feature.categories or ()
    known = {name.strip(): code for code, name in enumerate(categories)}
    if len(known) < len(set(categories)):
        same = next(name for name in categories if name.strip() != name)
        raise DataError(
            f"{origin}: the model knows {same!r} and {same.strip()!r} in {feature.name!r}, which "
            "differ in blanks alone, so that people cannot be told apart; leave the people out"
        )
    code = code_of(also_as_numbers(known))
    # In a file an empty text and nothing look the same; a category "nan" is as good as others.
    nothing = float(known.get((feature.fill or "").strip(), np.nan))
    unnamed = hashed and any(map(_HASH.fullmatch, known))
    other = known.get(_OTHER) if hashed and not unnamed else None
    told = [nothing if name is None else code(name) for name in names]
    wanted = [other if at is None else at for at in told]
    lost = np.flatnonzero(np.isin(codes, [i for i, at in enumerate(wanted) if at is None]))
    if len(lost) and unnamed:
        raise DataError(
            f"{origin}: the file holds only hashes of the categories of {feature.name!r}, so that "
            "nobody can be placed in its leaves; save the model with save_model(..., pool=...), "
            "which names them, or leave the people out"
        )
    if len(lost) and not feature.ignores_unknown:
        name = str(names[codes[lost[0]]])[:SHOWN]
        raise DataError(
            f"{origin}, row {first + int(lost[0]) + 1}: the model does not know {name!r} "
            f"in {feature.name!r}{near(name, list(known))}"
        )
    found = [np.nan if at is None else at for at in wanted]
    return np.array([*found, nothing], dtype=np.float64)[codes]
