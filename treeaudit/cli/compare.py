"""``treeaudit compare A B …`` and ``treeaudit diff OLD NEW``."""

from pathlib import Path
from typing import Annotated

import typer

from treeaudit.cli import options as opt
from treeaudit.cli.console import Console, echo, page, progress_bar
from treeaudit.cli.options import protect_inputs
from treeaudit.errors import DataError
from treeaudit.files import same_file


def compare(
    models: Annotated[
        list[Path], typer.Argument(help="Model files.", show_default=False, metavar="MODEL…")
    ],
    train: opt.Train = None,
    test: opt.Test = None,
    target: opt.Target = None,
    person: opt.Person = None,
    rows_per_person: opt.RowsPerPerson = None,
    repeats: opt.Repeats = None,
    policy: opt.PolicyName = "default",
    attack: opt.Attacks = None,
    output: opt.Output = None,
    form: opt.Form = "text",
    seed: opt.Seed = 0,
    exit_zero: opt.ExitZero = False,
    force: opt.Force = False,
) -> None:
    """Set models side by side: what each gives away, and what it is good for.

    Exits with 0 if one of them passes the policy, with 1 if none does, with 3 if one may. A model
    whose leaves are noise is judged by policy private, by what its ledger bounds.

    treeaudit compare plain.pkl safe.pkl --test others.csv

    treeaudit compare plain.pkl private.json --train people.csv --test others.csv -o compare.html
    """
    import treeaudit as ta
    from treeaudit.reports.comparison import check_output, dumps, print_comparison, to_text

    for path in output or []:
        check_output(path, force=force)
    read = {f"model {i}": model for i, model in enumerate(models, start=1)}
    protect_inputs(output or [], read | {"--train": train, "--test": test}, policy)
    with progress_bar("comparing") as progress:
        found = ta.compare(
            *models,
            train=train,
            test=test,
            target=target,
            person=person,
            rows_per_person=rows_per_person,
            repeats=repeats,
            policy=policy,
            attacks=attack,
            seed=seed,
            progress=progress,
        )
    written = [found.save(path, force=force) for path in output or []]
    console = Console()
    if form == "json":
        page(dumps(found))
    elif console.is_terminal:
        print_comparison(found, console)
    else:
        page(to_text(found, console.width))
    if form == "text":
        for path in written:
            echo(f"report  {path}")
    verdicts = {model.verdict for model in found.models}
    code = 0 if "pass" in verdicts else 3 if "review" in verdicts else 1
    raise typer.Exit(0 if exit_zero else code)


_RELEASE = {"show_default": False}


def diff(
    old: Annotated[Path, typer.Argument(help="The model or report that came first.", **_RELEASE)],
    new: Annotated[Path, typer.Argument(help="The one that came after it.", **_RELEASE)],
    schema: Annotated[
        Path | None,
        typer.Option(
            help="Which values the columns can have (TOML).",
            metavar="TOML",
            rich_help_panel="Input",
            show_default=False,
        ),
    ] = None,
    seconds: opt.Seconds = 10.0,
    rows: Annotated[int, typer.Option(help="People to print.", min=1)] = 20,
    output: opt.Output = None,
    form: opt.Form = "text",
    exit_zero: opt.ExitZero = False,
    force: opt.Force = False,
) -> None:
    """Tell what changed: between two reports, or whose records two models give away together.

    Of two reports (JSON), exits with 0 if nothing is worse or the new one passes where the old
    one did not, with 1 if something is worse or new,
    with 3 if something is not looked at any more, or fails again by a number that rests on other
    options or another policy. Of two models, exits with 0 if nobody is named,
    with 1 if somebody is, with 3 if there was no time to tell.

    treeaudit diff november.json december.json -o changes.md

    treeaudit diff monday.pkl tuesday.pkl

    treeaudit diff model.pkl repaired.pkl -o people.csv -o report.json
    """
    from treeaudit.findings.report_file import is_report

    outputs = output or []
    for path in outputs:
        if same_file(path, old) or same_file(path, new):
            raise DataError(f"{path} is one of the two files; choose another name")
    protect_inputs(outputs, {"--schema": schema})
    for path in (old, new):
        if not path.exists():
            raise DataError(f"there is no file {path}")
    kinds = is_report(old), is_report(new)
    if kinds[0] != kinds[1]:
        report, model = (old, new) if kinds[0] else (new, old)
        raise DataError(
            f"{report} is a report and {model} is none: 'treeaudit scan {model} -o report.json' "
            "writes one to compare"
        )
    work = _reports if all(kinds) else _models
    code = work(
        old, new, outputs, form=form, force=force, schema=schema, seconds=seconds, rows=rows
    )
    raise typer.Exit(0 if exit_zero else code)


def _reports(
    old: Path, new: Path, outputs: list[Path], *, form: str, force: bool, **_: object
) -> int:
    from treeaudit.comparison.changes import changes
    from treeaudit.findings.report_file import read_report
    from treeaudit.reports.changes import check_output, dumps, lines

    for path in outputs:
        check_output(path, force=force)
    data = [read_report(path, "the report")[0] for path in (old, new)]
    try:
        found = changes(*data)
        told = dumps(found) if form == "json" else lines(found)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise DataError(
            f"{old} or {new} is no whole treeaudit report: scan the model again"
        ) from None
    written = [found.save(path, force=force) for path in outputs]
    if isinstance(told, str):
        page(told)
    else:
        for line in told:
            echo(line)
    for path in written if form == "text" else ():
        echo(f"written  {path}")
    return found.exit_code


def _models(
    old: Path,
    new: Path,
    outputs: list[Path],
    *,
    form: str,
    force: bool,
    schema: Path | None,
    seconds: float,
    rows: int,
) -> int:
    import treeaudit as ta
    from treeaudit.reports.difference import check_output, dumps, lines

    for path in outputs:
        check_output(path, force=force)
    with progress_bar("comparing") as progress:
        found = ta.difference(old, new, schema=schema, seconds=seconds, progress=progress)
    written = [found.save(path, force=force) for path in outputs]
    if form == "json":
        page(dumps(found))
    else:
        for line in lines(found, rows):
            echo(line)
        for path in written:
            echo(f"written  {path}")
    return 1 if found.gives_away else 0 if found.found.stopped is None else 3
