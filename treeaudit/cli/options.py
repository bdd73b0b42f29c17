"""Options that mean the same carry the same name everywhere."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from treeaudit.errors import DataError

__all__ = [
    "VERBOSE",
    "AcceptedReport",
    "Acro",
    "Attacks",
    "ExitZero",
    "Force",
    "Form",
    "Known",
    "MaxBytes",
    "Model",
    "Output",
    "PolicyName",
    "PriorShares",
    "Quiet",
    "ReleaseSafe",
    "SamplingFraction",
    "Seed",
    "Select",
    "Sensitive",
    "Target",
    "Test",
    "Train",
    "Verbose",
    "distinct",
    "settings",
]

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


def settings(given: Iterable[str] | None, reserved: AbstractSet[str], such: str) -> dict[str, Any]:
    """Read NAME=VALUE; a value is a number, true, false, a table as in TOML, or text."""
    import tomllib

    read: dict[str, Any] = {}
    for pair in given or ():
        name, equals, text = pair.partition("=")
        if not equals or not name.strip():
            raise DataError(f"--set {pair}: write NAME=VALUE, such as {such}")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = None if text.strip() == "none" else text.strip()
        read[name.strip()] = value
    if taken := reserved & set(read):
        raise DataError(f"--set {min(taken)}: this has an option of its own, or none")
    return read


Model = Annotated[
    Path,
    typer.Argument(
        help="A model file: pickle, joblib, skops, XGBoost, LightGBM, CatBoost, ONNX, PMML or "
        "treeaudit's own JSON.",
        show_default=False,
    ),
]
Select = Annotated[
    str | None,
    typer.Option(
        help="Which model to take when the file holds several.",
        metavar="NAME",
        rich_help_panel="Input",
        show_default=False,
    ),
]
MaxBytes = Annotated[
    int | None,
    typer.Option(
        help="Refuse files that are larger, packed or unpacked (8 GiB unless told).",
        metavar="N",
        min=1,
        rich_help_panel="Input",
        show_default=False,
    ),
]
Output = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        "-o",
        help="Also write FILE; its suffix tells the format. Can be repeated.",
        callback=distinct,
        metavar="FILE",
        rich_help_panel="Output",
        show_default=False,
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace files that exist.", rich_help_panel="Output")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print the verdict only.", rich_help_panel="Output")
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Tell all: the worst leaves of every attack; of an error, where it comes from.",
        callback=_tell_all,
        rich_help_panel="Output",
    ),
]
Train = Annotated[
    Path | None,
    typer.Option(
        help="The people it was trained on (CSV, Parquet): claims are verified on them.",
        metavar="DATA",
        rich_help_panel="People",
        show_default=False,
    ),
]
Test = Annotated[
    Path | None,
    typer.Option(
        help="People who were not in the training data: the control.",
        metavar="DATA",
        rich_help_panel="People",
        show_default=False,
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        help="Column of the labels in these tables.",
        metavar="COLUMN",
        rich_help_panel="People",
        show_default=False,
    ),
]
Sensitive = Annotated[
    list[str] | None,
    typer.Option(
        help="Audit this column of --train inside the groups too. Can be repeated.",
        metavar="COLUMN",
        rich_help_panel="People",
        show_default=False,
    ),
]
Known = Annotated[
    Path | None,
    typer.Option(
        help="Training people whose labels the attacker knows: who falls because of them?",
        metavar="DATA",
        rich_help_panel="What the attacker knows",
        show_default=False,
    ),
]
PriorShares = Annotated[
    Path | None,
    typer.Option(
        help="Public shares of the labels, for everybody or by the values of a column.",
        metavar="DATA",
        rich_help_panel="What the attacker knows",
        show_default=False,
    ),
]
SamplingFraction = Annotated[
    float | None,
    typer.Option(
        help="Share of the population that is in the training data: risks outside it.",
        metavar="SHARE",
        rich_help_panel="People",
        show_default=False,
    ),
]
PolicyName = Annotated[
    str,
    typer.Option(
        "--policy",
        help="{policies}, a name in pyproject.toml, or a TOML file.",
        metavar="NAME",
        rich_help_panel="Policy",
    ),
]
AcceptedReport = Annotated[
    Path | None,
    typer.Option(
        "--baseline",
        help="An accepted JSON report: only what is new or worse fails.",
        metavar="JSON",
        rich_help_panel="Policy",
        show_default=False,
    ),
]
Acro = Annotated[
    Path | None,
    typer.Option(
        help="Also add an entry for SACRO-Viewer to this folder of ACRO outputs.",
        metavar="DIR",
        rich_help_panel="Output",
        show_default=False,
    ),
]
Attacks = Annotated[
    list[str] | None,
    typer.Option(
        "--attack",
        help="Run only this attack (see 'treeaudit attacks'). Can be repeated.",
        metavar="ID",
        rich_help_panel="Attacks",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option(help="Of every random choice.", rich_help_panel="Attacks")]
Form = Annotated[
    Literal["text", "json"],
    typer.Option("--format", help="What to print.", rich_help_panel="Output"),
]
ReleaseSafe = Annotated[
    bool,
    typer.Option(
        "--release-safe",
        help="Mask small counts in the HTML file, so that it may leave the room.",
        rich_help_panel="Output",
    ),
]
ExitZero = Annotated[
    bool,
    typer.Option(
        "--exit-zero",
        help="Exit with 0 whatever the verdict, for jobs that only report.",
        rich_help_panel="Policy",
    ),
]
