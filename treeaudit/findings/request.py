"""The request of an audit, as data: built once, kept in the report, printed to be repeated."""

import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from treeaudit.errors import DataError, PolicyError
from treeaudit.findings.policy import Policy

Framework = Literal["edpb", "satre", "dp"]
"""What an annex speaks the words of."""
_NUMBER = (int, float)

_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "model_name": ((str,), "a text"),
    "target": ((str,), "the name of a column"),
    "person": ((str,), "the name of a column"),
    "repeats": ((str,), "'people' or 'copies'"),
    "select": ((str,), "the name of a model of the file"),
    "tolerance": (_NUMBER, "a number"),
    "fraction": (_NUMBER, "a number above 0 and at most 1"),
    "rows_per_person": ((int,), "a whole number of at least 1"),
    "seconds": (_NUMBER, "a number of seconds of at least 0"),
    "seed": ((int,), "a whole number of at least 0"),
    "baseline": ((str, os.PathLike), "the path of an accepted report"),
}


def _check_kind(name: str, value: Any) -> None:  # noqa: ANN401  # whatever was given
    """Refuse a value of another kind than an option takes."""
    kinds, said = _KINDS.get(name, ((object,), ""))
    # numpy's numbers are numbers.
    number = _NUMBER[0] if hasattr(value, "__index__") else _NUMBER[1]
    fits = isinstance(value, kinds) or (number in kinds and hasattr(value, "dtype"))
    if value is not None and (not fits or (isinstance(value, bool) and int in kinds)):
        raise DataError(f"{name} is {value!r:.60}: it takes {said}")
    if name in ("seed", "seconds") and value is not None and not value >= 0:
        raise DataError(f"{name} is {value}: it takes {said}")


def listed(name: str, value: object, such: str) -> tuple[str, ...]:
    """Return several names that were given as a list."""
    texts = isinstance(value, Iterable) and not isinstance(value, str | bytes)
    found = tuple(value) if isinstance(value, Iterable) and texts else ()
    if not texts or not all(isinstance(one, str) for one in found):
        shown = f"[{value!r}]" if isinstance(value, str) else f"['{such}']"
        raise DataError(f"{name} takes a list of texts, such as {shown}, not {value!r}")
    return found


def _check_policy(policy: object) -> None:
    """Refuse what is neither a name, nor a path, nor a policy."""
    if isinstance(policy, str | os.PathLike | Policy):
        return
    if isinstance(policy, dict):
        raise PolicyError(
            f"a policy has a name: policy=treeaudit.Policy(name='mine', values={policy!r})"
        )
    raise PolicyError(
        f"policy is {policy!r}: it takes a name such as 'strict', the path of a TOML file, or a "
        "treeaudit.Policy"
    )


OPTIONS = {
    "model_name": "--model-name",
    "select": "--select",
    "max_bytes": "--max-bytes",
    "train": "--train",
    "test": "--test",
    "known": "--known",
    "target": "--target",
    "sensitive": "--sensitive",
    "prior": "--prior",
    "tolerance": "--tolerance",
    "fraction": "--sampling-fraction",
    "person": "--person",
    "rows_per_person": "--rows-per-person",
    "repeats": "--repeats",
    "policy": "--policy",
    "baseline": "--baseline",
    "attacks": "--attack",
    "seconds": "--seconds",
    "seed": "--seed",
    "annex": "--annex",
}
"""The option of the command line for each field but the model, in the order of printing."""

_UNSAID: dict[str, object] = {"sensitive": (), "seconds": 2.0, "seed": 0, "annex": ()}
"""Fields that are not printed where they hold this."""

_LOADING = ("select", "max_bytes")

_FILES = frozenset({"model", "train", "test", "known", "prior", "baseline"})


@dataclass(frozen=True, slots=True)
class Given:
    """Stands in a kept request for an object that was given from Python."""

    kind: str  # Name of its type, such as `DataFrame`


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Request:
    """Everything that an audit was asked, as it was given.

    * ``model``: a path, a fitted estimator or a `Forest`.
    * ``model_name``: what the line of the model is called, from one version to the next.
    * ``select``, ``max_bytes``: which model of the file, and the largest file; see
      `treeaudit.load`.
    * ``train``, ``test``, ``known``, ``prior``: tables of people and of public shares: paths, or
      objects from Python.
    * ``target``, ``sensitive``, ``tolerance``, ``fraction``, ``person``, ``rows_per_person``,
      ``repeats``, ``seed``: as in `treeaudit.scan`.
    * ``policy``: a name, the path of a TOML file, or a `Policy`.
    * ``attacks``: Ids of the attacks to run; None for all of them.
    * ``seconds``: how long an attack that could go on for ever may take.
    * ``annex``: the frameworks whose words the report repeats its evidence in.
    """

    model: object
    model_name: str | None = None
    select: str | None = None
    max_bytes: int | None = None
    train: object = None
    test: object = None
    target: str | None = None
    sensitive: tuple[str, ...] = ()
    known: object = None
    prior: object = None
    tolerance: float | None = None
    fraction: float | None = None
    person: str | None = None
    rows_per_person: int | None = None
    repeats: str | None = None
    policy: str | os.PathLike[str] | Policy = "default"
    baseline: str | os.PathLike[str] | None = None
    attacks: tuple[str, ...] | None = None
    seconds: float = 2.0
    seed: int = 0
    annex: tuple[Framework, ...] = ()

    def __post_init__(self) -> None:
        for name in OPTIONS:
            _check_kind(name, getattr(self, name))
        _check_policy(self.policy)
        for name in self.annex:
            if name not in get_args(Framework):
                known = ", ".join(get_args(Framework))
                raise DataError(f"there is no annex {name!r:.60}; there are: {known}")

    @property
    def beside_repairs(self) -> dict[str, object]:
        """What was asked that a repair is not told."""
        names = ("sensitive", "known", "prior", "tolerance", "fraction")
        told = {name: getattr(self, name) for name in names}
        return {name: one for name, one in told.items() if one is not None and one != ()}

    def kept(self) -> "Request":
        """Return the request as a report keeps it: no data, no estimator, only what they were."""
        kinds = {field.name: self._kind(field.name) for field in fields(self)}
        objects = {name: Given(kind) for name, kind in kinds.items() if kind and name in _FILES}
        return replace(self, **objects)  # type: ignore[arg-type]

    def command(
        self, name: str = "scan", options: Sequence[str] = tuple(OPTIONS), *, folders: bool = True
    ) -> str | None:
        """Return the command line that asks the same again; None where there is none.

        Returns: None where a value is an object, or cannot be printed on a line.
        """
        nothing_to_run = "attacks" in options and self.attacks == ()
        if nothing_to_run or any(map(self._kind, ("model", *options))):
            return None
        words = ["treeaudit", name, _quoted(self._path("model", folders=folders))]
        for field in filter(self._asks, options):
            value = getattr(self, field)
            if self.names_file(field):
                value = self._path(field, folders=folders)
            for one in value if isinstance(value, tuple) else (value,):
                # After a space, a value that begins with a dash could be read as an option.
                between = "=" if str(one).startswith("-") else " "
                words.append(f"{OPTIONS[field]}{between}{_quoted(str(one))}")
        line = " ".join(words)
        return line if line.isprintable() else None

    def call(
        self, name: str = "scan", options: Sequence[str] = tuple(OPTIONS), *, folders: bool = True
    ) -> str:
        """Return the call from Python that asks the same again."""
        model, *told = (
            self._value(field, folders=folders)
            if field == "model"
            else f"{field}={self._value(field, folders=folders)}"
            for field in ("model", *options)
            if self._asks(field)
        )
        loading = [one for one in told if one.split("=")[0] in _LOADING]
        if loading:
            model = f"treeaudit.load({', '.join([model, *loading])})"
        asked = [one for one in told if one not in loading]
        return f"treeaudit.{name}({', '.join([model, *asked])})"

    def repeat(self, *, folders: bool = True) -> str:
        """Return the command that repeats the audit; else the call, and what its objects were."""
        objects = [(field, self._kind(field)) for field in ("model", *OPTIONS)]
        note = ", ".join(f"{field}: {kind}" for field, kind in objects if kind)
        call = self.call(folders=folders) + (note and f"  # {note}")
        return self.command(folders=folders) or call

    def _kind(self, field: str) -> str | None:
        """Return what kind of object was given for a field; None for plain values."""
        value = getattr(self, field)
        if isinstance(value, Given):
            return value.kind
        plain = value is None or field not in _FILES or isinstance(value, str | os.PathLike)
        return None if plain and not isinstance(value, Policy) else type(value).__name__

    def _asks(self, field: str) -> bool:
        value = getattr(self, field)
        return bool(value != _UNSAID[field]) if field in _UNSAID else value is not None

    def names_file(self, field: str) -> bool:
        """Tell whether a field is the path of a file, where it is no object."""
        return field in _FILES or (field == "policy" and str(self.policy).endswith(".toml"))

    def _path(self, field: str, *, folders: bool) -> str:
        """Return a path as it was given, such that no dash begins it."""
        path = str(getattr(self, field))
        if not folders:
            path = self._from_one_folder().get(field, path)
        return f"./{path}" if path.startswith("-") else path

    def _from_one_folder(self) -> dict[str, str]:
        """Return the paths that are not told as they were given, from one folder for all files."""
        given = {
            field: Path(getattr(self, field))
            for field in ("model", *OPTIONS)
            if self._asks(field) and self.names_file(field) and not self._kind(field)
        }
        far = [field for field, path in given.items() if path.is_absolute()]
        if not far:
            return {}
        here = Path.cwd() if len(far) < len(given) else None
        whole = {field: _without_dots((here or Path()) / path) for field, path in given.items()}
        if here is not None and all(here in whole[field].parents for field in far):
            return {field: str(whole[field].relative_to(here)) for field in far}
        shared = len(set.intersection(*(set(path.parents) for path in whole.values())))
        return {field: str(Path(*path.parts[shared:])) for field, path in whole.items()}

    def _value(self, field: str, *, folders: bool) -> str:
        """Return a value as Python writes it; an object by the name of its parameter."""
        value = getattr(self, field)
        if self._kind(field):
            return field
        if self.names_file(field):
            return repr(self._path(field, folders=folders))
        if isinstance(value, tuple):
            return repr(list(value))
        return f"{value}" if isinstance(value, int | float) else repr(str(value))


def _without_dots(path: Path) -> Path:
    """Return a path that does not lead up; links are followed only where it did."""
    return path.parent.resolve() / path.name if ".." in path.parts else path


def _quoted(text: str) -> str:
    """Return a word for a shell; as it is within double quotes where these are enough."""
    readable = "'" in text and not set(text) & set('"$`\\!')
    return f'"{text}"' if readable else shlex.quote(text)
