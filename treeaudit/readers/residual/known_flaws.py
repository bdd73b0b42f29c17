"""Known flaws in how library versions load a model file.

They concern whoever loads the file with such a version, not the trees in it; a
file tells the version that wrote it, and that is often the one it is loaded
with.

Only flaws with an identifier, a version that mends them and a path from loading
a tree model are listed. Left out on purpose: CVE-2020-13092 (any pickle runs
code; disputed, and no version of scikit-learn mends it), CVE-2024-37065 (no
version of skops mends it), CVE-2020-28975 (support vector machines),
CVE-2024-43598 (LightGBM: training on several machines, say its maintainers),
CVE-2019-6446 (numpy.load, which no model format of today calls with pickles
allowed). The nested pickles of joblib before 1.6 are told by `leftover_code`,
for a joblib file does not tell its version.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from treeaudit.model.extras import Extra
from treeaudit.readers.limits import show


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """One published flaw.

    Attributes
    ----------
    library
        The package.
    name
        Its identifier.
    mended
        The first version without it.
    what
        What a hostile file can do to whoever loads it.
    """

    library: str
    name: str
    mended: tuple[int, ...]
    what: str


FLAWS = (
    Flaw(
        library="skops",
        name="CVE-2025-54412",
        mended=(0, 12, 0),
        what="a function of the operator module runs although another type was trusted",
    ),
    Flaw(
        library="skops",
        name="CVE-2025-54886",
        mended=(0, 13, 0),
        what="Card.get_model loads any file that is no zip archive with joblib, which runs code",
    ),
)
"""Every flaw that is told, in the order of the version that mends it."""


def flaws(library: str, version: object) -> Iterator[Extra]:
    """Yield the known loading flaws of the version that wrote a file.

    Examples
    --------
    >>> [one.where for one in flaws("skops", "0.12.0")]
    ['skops 0.12.0 (CVE-2025-54886)']
    >>> list(flaws("skops", "0.13.0"))
    []
    """
    numbers = _numbers(version)
    for flaw in FLAWS if numbers else ():
        if flaw.library == library and numbers < flaw.mended:
            stated = show(version).strip("'")
            mended = ".".join(map(str, flaw.mended))
            yield Extra(
                kind="flaws",
                where=f"{library} {stated} ({flaw.name})",
                n=1,
                says=f"the {library} that wrote the file ({stated}) has a known loading flaw: "
                f"{flaw.what}; whoever loads the file should use {library} {mended} or newer",
            )


def _numbers(version: object) -> tuple[int, ...]:
    """Return the leading numbers of a version, such as (0, 7) for ``0.7.post0``."""
    numbers: list[int] = []
    for part in version.split(".")[:4] if isinstance(version, str) else ():
        if not (part.isascii() and part.isdecimal() and len(part) < 9):
            break
        numbers.append(int(part))
    return tuple(numbers)
