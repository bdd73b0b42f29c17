"""Options that mean the same carry the same name everywhere."""

import glob
import os
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from treeaudit.errors import DataError
from treeaudit.files import parse_toml, same_file


def _policies() -> list[str]:
    """Return the policies that need no file."""
    from treeaudit.findings.policy import BUILT_IN

    return list(BUILT_IN)


def algorithms() -> list[str]:
    """Return the names by which trainers are chosen."""
    from treeaudit.trainers.algorithms import ALGORITHMS

    return [trainer.algorithm for trainer in ALGORITHMS]


def _formats() -> list[str]:
    """Return what the model files are called that can be read."""
    from treeaudit.readers import READERS

    return [one.title for one in READERS]


def _attacks() -> list[str]:
    """Return the ids of the attacks."""
    from treeaudit.attacks import all_attacks

    return [attack.id for attack in all_attacks()]


REGISTRIES = {"{policies}": _policies, "{algorithms}": algorithms, "{formats}": _formats}
"""What stands in the help for the names of a registry."""

_TABLES = frozenset((".csv", ".parquet", ".arrow", ".feather"))
_ATTACKS = partial(typer.Option, rich_help_panel="Attacks", show_default=False)
_INPUT = partial(typer.Option, rich_help_panel="Input", show_default=False)
_OUTPUT = partial(typer.Option, rich_help_panel="Output", show_default=False)
_PEOPLE = partial(typer.Option, rich_help_panel="People", show_default=False)
_POLICY = partial(typer.Option, rich_help_panel="Policy", show_default=False)
_WHOSE = partial(typer.Option, rich_help_panel="Whose rows they are", show_default=False)
_KNOWS = partial(typer.Option, rich_help_panel="What the attacker knows", show_default=False)

VERBOSE: ContextVar[bool] = ContextVar("verbose", default=False)
"""Whether everything is to be told, wherever on the line that was asked for."""


def _tell_all(value: bool) -> bool:
    VERBOSE.set(value or VERBOSE.get())
    return VERBOSE.get()


def distinct(paths: list[Path] | None) -> list[Path] | None:
    """Refuse a file that is to be written twice, before the first is written."""
    named = [str(path.absolute()) for path in paths or []]
    for name, path in zip(named, paths or [], strict=True):
        if named.count(name) > 1:
            raise DataError(f"{path} is named twice; give every output a name of its own")
    return paths


def protect_inputs(
    output: Iterable[Path], read: Mapping[str, Path | str | None], policy: str | None = None
) -> None:
    """Refuse to write over a file that is read, by whatever name either is given."""
    if policy is not None and policy.lower().endswith(".toml"):
        read = {**read, "--policy": policy}
    for path in output:
        for what, one in read.items():
            if one is not None and _is_read(path, Path(one)):
                how = "is the model itself" if what == "MODEL" else f"is read, as {what}"
                raise DataError(f"{path} {how}; choose another name for the output")


def _is_read(path: Path, one: Path) -> bool:
    if same_file(path, one):
        return True
    if not os.path.lexists(one):
        each = glob.iglob(str(one), recursive=True)  # noqa: PTH207  # as tables are found
        return any(same_file(path, table) for table in each)
    is_table = path.suffix.lower() in _TABLES and path.exists()
    return is_table and path.resolve().is_relative_to(one.resolve())


def settings(given: Iterable[str] | None, reserved: AbstractSet[str], such: str) -> dict[str, Any]:
    """Read NAME=VALUE; a value is a number, true, false, a table as in TOML, or text."""
    read: dict[str, Any] = {}
    for pair in given or ():
        name, equals, text = pair.partition("=")
        if not equals or not name.strip():
            raise DataError(f"--set {pair}: write NAME=VALUE, such as {such}")
        try:
            value = parse_toml(f"value = {text}")["value"]
        except ValueError:
            value = None if text.strip() == "none" else text.strip()
        read[name.strip()] = value
    if taken := reserved & set(read):
        raise DataError(f"--set {min(taken)}: this has an option of its own, or none")
    return read


Model = Annotated[
    Path, typer.Argument(help="A model file: {formats}.", metavar="MODEL", show_default=False)
]
Models = Annotated[
    list[Path],
    typer.Argument(
        help="Model files ({formats}); folders of them (of MLflow too), patterns.",
        metavar="PATH",
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None,
    _INPUT(
        help="How many processes audit many files (unless told: one a processor) or read a large "
        "table at once.",
        metavar="N",
        min=1,
    ),
]
Select = Annotated[
    str | None, _INPUT(help="Which model to take when the file holds several.", metavar="NAME")
]
MaxBytes = Annotated[
    int | None,
    _INPUT(
        help="Refuse files that are larger, packed, unpacked or as objects (unless told: 8 GiB, "
        "unpacked four times the file and 256 MiB).",
        metavar="N",
        min=1,
    ),
]
Output = Annotated[
    list[Path] | None,
    _OUTPUT(
        "--output",
        "-o",
        help="Also write FILE; its suffix tells the format. Can be repeated.",
        callback=distinct,
        metavar="FILE",
    ),
]
Force = Annotated[bool, _OUTPUT("--force", help="Replace files that exist.")]
VerdictOnly = Annotated[bool, _OUTPUT("--quiet", "-q", help="Print the verdict only.")]
Verbose = Annotated[
    bool,
    _OUTPUT(
        "--verbose",
        "-v",
        help="Tell all: the worst leaves of every attack; of an error, where it comes from.",
        callback=_tell_all,
    ),
]
Train = Annotated[
    Path | None,
    _PEOPLE(
        help="The people it was trained on (CSV, Parquet, Arrow; a folder of such): claims are "
        "verified on them.",
        metavar="DATA",
    ),
]
Test = Annotated[
    Path | None,
    _PEOPLE(help="People who were not in the training data: the control.", metavar="DATA"),
]
Target = Annotated[
    str | None, _PEOPLE(help="Column of the labels in these tables.", metavar="COLUMN")
]
Sensitive = Annotated[
    list[str] | None,
    _PEOPLE(
        help="Audit this column of --train inside the groups too. Can be repeated.",
        metavar="COLUMN",
    ),
]
Person = Annotated[
    str | None,
    _WHOSE(
        help="Column of --train that names whose row it is: persons are counted, not rows.",
        metavar="COLUMN",
    ),
]
RowsPerPerson = Annotated[
    int | None,
    _WHOSE(help="The most rows of one person, where no column names them.", metavar="K", min=1),
]
Repeats = Annotated[
    Literal["people", "copies"] | None,
    _WHOSE(
        help="Whether equal rows of --train are different people or copies of one; told by "
        "chance unless given."
    ),
]
Known = Annotated[
    Path | None,
    _KNOWS(
        help="Training people whose labels the attacker knows: who falls because of them?",
        metavar="DATA",
    ),
]
PriorShares = Annotated[
    Path | None,
    _KNOWS(
        help="Public shares of the labels, for everybody or by the values of a column.",
        metavar="DATA",
    ),
]
SamplingFraction = Annotated[
    float | None,
    _WHOSE(
        help="Share of the population that is in the training data: risks outside it.",
        metavar="SHARE",
    ),
]
Tolerance = Annotated[
    float | None,
    _KNOWS(
        help="How far a predicted number may be off to count as known (unless told: 1 % of its "
        "standard deviation).",
        metavar="NUMBER",
    ),
]
PolicyName = Annotated[
    str,
    typer.Option(
        "--policy",
        help="{policies}, a name in pyproject.toml, or a TOML file.",
        autocompletion=_policies,
        metavar="NAME",
        rich_help_panel="Policy",
    ),
]
AcceptedReport = Annotated[
    Path | None,
    _POLICY(
        "--baseline",
        help="A report that somebody accepts (see 'treeaudit accept'): only what is new or worse "
        "fails.",
        metavar="JSON",
    ),
]
ModelName = Annotated[
    str | None,
    _POLICY(
        "--model-name",
        help="What this line of models is called: a baseline follows it, not the file's name.",
        metavar="NAME",
    ),
]
Acro = Annotated[
    Path | None,
    _OUTPUT(
        help="Also add an entry for SACRO-Viewer to this folder of ACRO outputs.", metavar="DIR"
    ),
]
By = Annotated[
    str | None,
    _OUTPUT(
        help="Who makes this audit, for the record: told in every output, the one that may leave "
        "the room too. SOURCE_DATE_EPOCH sets its time.",
        metavar="NAME",
    ),
]
Annex = Annotated[
    list[str] | None,
    _OUTPUT(
        help="Repeat the evidence in the words of edpb (EDPB 28/2024, WP29, NIST AI 100-2), satre "
        "(the record of an output check), dp (NIST SP 800-226); several by commas. For .html, .md "
        "and .json.",
        metavar="NAMES",
    ),
]
Attacks = Annotated[
    list[str] | None,
    _ATTACKS(
        "--attack",
        help="Run only this attack (see 'treeaudit attacks'). Can be repeated.",
        autocompletion=_attacks,
        metavar="ID",
    ),
]
Seconds = Annotated[
    float,
    typer.Option(
        help="How long an attack that could go on for ever may take (TA108).",
        metavar="S",
        min=0,
        rich_help_panel="Attacks",
    ),
]
Seed = Annotated[int, typer.Option(help="Of every random choice.", rich_help_panel="Attacks")]
Form = Annotated[
    Literal["text", "json"],
    typer.Option("--format", help="What to print.", rich_help_panel="Output"),
]
ReleaseSafe = Annotated[
    bool,
    _OUTPUT("--release-safe", help="Write the statement that may leave the room, in every output."),
]
Fixing = Annotated[
    bool | None,
    _OUTPUT(
        "--fix/--no-fix",
        help="Seek a repair that passes, once the report is shown. Unless told: on a terminal, for "
        "-o and for --format json.",
    ),
]
ExitZero = Annotated[
    bool,
    _POLICY("--exit-zero", help="Exit with 0 whatever the verdict, for jobs that only report."),
]
