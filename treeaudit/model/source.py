"""Where a model came from, and the extra content of its file beyond the trees.

A reader states the kinds of extra content that it looked for. A kind that no reader looked for
may be there: no attack may call it clear.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from mmap import mmap
from typing import TYPE_CHECKING, Any, Literal, get_args

from treeaudit.errors import DataError

if TYPE_CHECKING:
    from threading import Thread


_DRAW_THRESHOLDS = frozenset(
    "ExtraTreeClassifier ExtraTreeRegressor ExtraTreesClassifier ExtraTreesRegressor "
    "IsolationForest RandomTreesEmbedding".split()
)
_BESIDE = 4_000_000
"""From how many bytes on hashing does not wait until it is asked for."""

_FEW = 64_000
"""Up to so many bytes are copied: what makes the hash is not imported where nobody reads it."""


class Digest:
    """The SHA-256 of some bytes, worked out once: when it is asked for, or beside the reading."""

    def __init__(self, packed: bytes | mmap) -> None:
        self._packed = packed
        self._made = ""
        self._thread: Thread | None = None

    def begin(self) -> None:
        """Make it beside what comes next, where that is worth a thread."""
        if len(self._packed) >= _BESIDE:
            from threading import Thread

            self._thread = Thread(target=self._make, daemon=True)
            self._thread.start()

    def keep(self) -> None:
        """Bind it to the bytes as they are now; of a few a copy is kept until it is asked for."""
        if len(self._packed) <= _FEW:
            self._packed = bytes(self._packed)
        else:
            self()

    def _make(self) -> None:
        import hashlib

        self._made = hashlib.sha256(self._packed).hexdigest()

    def __call__(self) -> str:
        """Return it, as hexadecimal digits."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        # In a process that was split off meanwhile nobody makes it.
        if not self._made:
            self._make()
        return self._made


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A model inside a model, such as one estimator of a vote."""

    inside: str  # The way to it in the file
    estimator: str
    n_trees: int  # How many of the forest's trees are its own, in order


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a model came from.

    Attributes
    ----------
    path
        The file, or None for a model in memory.
    format
        Such as ``sklearn-pickle``, ``xgboost-json`` or ``memory``; the JSON Schema
        of the report lists them all.
    estimator
        Class name as the file gives it.
    inside
        Where in the file the model was found, such as ``best_estimator_``; empty at the top.
    library, library_version
        What wrote the model, and its version where the file tells.
    parameters
        Hyper-parameters that are plain values.
    digest
        Gives the SHA-256 of the file, or None for a model in memory.
    n_bytes
        Of the file as stored, compressed or not.
    stored
        The inert record that a scikit-learn model was read from: what a writer needs
        beside the trees.
    canonical
        Whether the file is what `treeaudit.writers` writes for its models, byte for byte; None
        where it was not asked or its format has no writer.
    canonical_reason
        Why not, or why that is not known; empty for a canonical file.
    beside
        What else the file holds in a bundle, by name and kind.
    trusted
        Of a skops file: the types that ``skops.io.load`` has to be told to trust.
    """

    path: str | None = None
    format: str = "memory"
    estimator: str = "Tree"
    inside: str = ""
    library: str = ""
    library_version: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    digest: Callable[[], str] | None = field(default=None, repr=False, compare=False)
    n_bytes: int | None = None
    stored: object = field(default=None, repr=False, compare=False)
    canonical: bool | None = field(default=None, compare=False)
    canonical_reason: str = field(default="", compare=False)
    beside: tuple[str, ...] = field(default=(), compare=False)
    trusted: tuple[str, ...] = field(default=(), compare=False)

    @property
    def sha256(self) -> str | None:
        """Of the bytes that the trees are read from; `treeaudit.scan` fixes it."""
        return None if self.digest is None else self.digest()

    def settle(self) -> None:
        """Fix the hash: it is of the bytes that were read, whatever the file becomes."""
        if isinstance(self.digest, Digest):
            self.digest.keep()
        elif self.digest is not None:
            self.digest()

    @property
    def skops_call(self) -> str:
        """The call that loads a skops file; empty where nothing has to be trusted.

        Examples
        --------
        >>> Source(trusted=("sklearn.tree._tree.Tree",)).skops_call
        "skops.io.load(path, trusted=['sklearn.tree._tree.Tree'])"
        """
        if not self.trusted:
            return ""
        call = f"skops.io.load(path, trusted={list(self.trusted)!r})"
        others = not all(one.endswith(("._tree.Tree", ".TreePredictor")) for one in self.trusted)
        return f"{call} (what is no tree in it was not checked)" if others else call

    @property
    def draws_thresholds(self) -> bool:
        """Whether thresholds are drawn at random, so that they are no values of people.

        So do scikit-learn's extra trees and isolation forests, and trees with
        ``splitter="random"``.
        """
        drawn = self.estimator in _DRAW_THRESHOLDS or self.parameters.get("splitter") == "random"
        return self.library == "scikit-learn" and drawn

    @property
    def written_by(self) -> str:
        """Library and version, as far as the file tells; empty where it does not."""
        return f"{self.library} {self.library_version}".strip() if self.library_version else ""


Kind = Literal[
    "labels",
    "out-of-bag",
    "records",
    "targets",
    "category-counts",
    "seeds",
    "column-values",
    "extremes",
    "first-round-counts",
    "calls",
    "code",
    "flaws",
    "malformed",
    "notes",
    "extra",
    "unseen",
]
"""The kinds of extra content. ``malformed`` parts state other sizes than their tables have.
``notes`` are plain values beside the model: numbers, dates, short texts, lists of names, metrics.
``extra`` is other content beyond the model, known by path and size alone.
``unseen`` is a part that was not read, or another model, which was not audited."""

KINDS: frozenset[Kind] = frozenset(get_args(Kind))
"""Every kind."""

FEWEST_RECORDS = 21
"""Of fewer, an array as long as there are people may be anything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """One piece of extra content."""

    kind: Kind  # What it is
    where: str  # The way to it in the file, such as `estimators_[3].random_state`
    n: int  # How many values, people or calls it holds; of notes and extra content, how many bytes
    says: str  # What it gives away, in one sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """The extra content of a file, in its order, and the kinds that its reader looked for."""

    found: tuple[Extra, ...] = ()  # The pieces of extra content
    # The kinds that the reader looked for: none unless it says so
    looked_for: frozenset[Kind] = frozenset()
    # Statistics of groups of at least five people, with the people of the smallest: records under
    # a policy that asks for more. Groups of fewer than five are in `found`.
    groups: tuple[tuple[int, Extra], ...] = ()

    def __post_init__(self) -> None:
        if strange := self.looked_for - KINDS:
            raise DataError(f"there is no kind of leftover called {', '.join(sorted(strange))}")
        if unasked := {one.kind for one in self.found} - self.looked_for:
            raise DataError(f"leftovers that nobody looked for: {', '.join(sorted(unasked))}")

    def __iter__(self) -> Iterator[Extra]:
        """Yield the pieces of extra content."""
        return iter(self.found)

    def beside(self, other: "Extras") -> "Extras":
        """Return the extra content of two parts of one file."""
        found = (*self.found, *other.found)
        return Extras(
            found=found,
            looked_for=(self.looked_for & other.looked_for) | {one.kind for one in found},
            groups=(*self.groups, *other.groups),
        )

    def only(self, kinds: frozenset[Kind]) -> "Extras":
        """Return the extra content of some kinds; the others are known to be taken out."""
        return Extras(
            found=tuple(one for one in self.found if one.kind in kinds),
            looked_for=self.looked_for | (KINDS - kinds),
            groups=tuple(pair for pair in self.groups if pair[1].kind in kinds),
        )
