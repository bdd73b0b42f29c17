"""``treeaudit scan PATH…``, and ``treeaudit demo``, the scan of a bundled example."""

import sys
import webbrowser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeaudit.cli import options as opt
from treeaudit.cli.console import Console, echo, page, progress_bar
from treeaudit.cli.options import protect_inputs
from treeaudit.errors import DataError
from treeaudit.files import same_file, write_file

if TYPE_CHECKING:
    from treeaudit.findings.report import Report, Reports

    RepairSearch = Callable[[Report], Report]
    """Returns a report with its repair."""


def scan(
    model: opt.Models,
    train: opt.Train = None,
    test: opt.Test = None,
    target: opt.Target = None,
    sensitive: opt.Sensitive = None,
    policy: opt.PolicyName = "default",
    baseline: opt.AcceptedReport = None,
    model_name: opt.ModelName = None,
    exit_zero: opt.ExitZero = False,
    output: opt.Output = None,
    acro: opt.Acro = None,
    form: opt.Form = "text",
    release_safe: opt.ReleaseSafe = False,
    annex: opt.Annex = None,
    by: opt.By = None,
    force: opt.Force = False,
    quiet: opt.VerdictOnly = False,
    verbose: opt.Verbose = False,
    known: opt.Known = None,
    prior: opt.PriorShares = None,
    tolerance: opt.Tolerance = None,
    attack: opt.Attacks = None,
    seconds: opt.Seconds = 2.0,
    seed: opt.Seed = 0,
    person: opt.Person = None,
    rows_per_person: opt.RowsPerPerson = None,
    repeats: opt.Repeats = None,
    sampling_fraction: opt.SamplingFraction = None,
    select: opt.Select = None,
    max_bytes: opt.MaxBytes = None,
    jobs: opt.Jobs = None,
    fix: opt.Fixing = None,
) -> None:
    """Audit what a model file gives away about its training data.

    Reads the file without running code from it, rebuilds the table that it
    publishes, attacks that table and holds the findings against a policy.

    treeaudit scan model.pkl -o report.html

    treeaudit scan model.pkl --train people.csv --test others.csv

    treeaudit scan model.joblib --policy strict --format json

    treeaudit scan model.pkl --annex edpb,satre --by "Ada Lovelace" -o report.html -o report.json

    treeaudit scan models/ --jobs 4 -o fleet.html -o results.sarif
    """
    from treeaudit.audit.paths import is_several
    from treeaudit.audit.scan import audit_all
    from treeaudit.findings.report import Reports
    from treeaudit.findings.request import Request
    from treeaudit.inference.scope import stop_on_interrupt

    path, several_files = model[0], len(model) > 1 or is_several(model[0])
    _check_outputs(path, output or [], force=force)
    frameworks = _frameworks(annex, output or [], form, acro)
    if several_files and (frameworks or by is not None):
        asked = "--annex" if frameworks else "--by"
        raise DataError(f"{asked} takes one model: name one file")
    read = {"--train": train, "--test": test, "--known": known, "--prior": prior}
    protect_inputs(output or [], read | {"--baseline": baseline}, policy)
    if acro is not None:
        from treeaudit.reports.acro import check_folder, write_acro

        if several_files:
            raise DataError("--acro takes one model: name one file")
        check_folder(str(path), acro, force=force)
    request = Request(
        model=path,
        select=select,
        max_bytes=max_bytes,
        train=train,
        test=test,
        target=target,
        sensitive=tuple(sensitive or ()),
        known=known,
        prior=prior,
        tolerance=tolerance,
        fraction=sampling_fraction,
        person=person,
        rows_per_person=rows_per_person,
        repeats=repeats,
        policy=policy,
        baseline=baseline,
        model_name=model_name,
        attacks=tuple(attack) if attack else None,
        seconds=seconds,
        seed=seed,
        annex=frameworks,
    )
    if several_files:
        from treeaudit.cli.fleet import scan_all

        code = scan_all(
            model,
            request,
            output or [],
            jobs=jobs,
            form=form,
            release_safe=release_safe,
            force=force,
            quiet=quiet,
            verbose=verbose,
        )
        raise typer.Exit(0 if exit_zero else code)
    with progress_bar("reading the file", quiet=quiet) as progress, stop_on_interrupt() as heard:
        audited = tuple(one.made_by(by) for one in audit_all(request, progress, jobs))
    if acro is not None and len(audited) > 1:
        raise DataError("--acro takes one model: choose it with --select NAME")
    read_by_others = bool(output) or acro is not None or form == "json"
    reads = sys.stdout.isatty() and not quiet
    found = Reports(reports=audited)
    seek = None
    if not (release_safe or heard.is_set()) and ((read_by_others or reads) if fix is None else fix):
        from treeaudit.repair.suggestion import with_fix

        seek = partial(with_fix, train=train, test=test, target=target)
    found = _show(found, form, seek, safe=release_safe, quiet=quiet, verbose=verbose)
    written = [_save(found, path, force=force, safe=release_safe) for path in output or []]
    if acro is not None:
        written.append(write_acro(found.reports[0], acro, force=force, release_safe=release_safe))
    if form == "text" and not quiet and not release_safe:
        for path in written:
            echo(f"report  {path}")
    raise typer.Exit(0 if exit_zero else found.worst.exit_code)


def _frameworks(
    given: list[str] | None, output: list[Path], form: str, acro: Path | None
) -> tuple[Any, ...]:
    """Return the frameworks of an annex, which has to be written somewhere."""
    names = [name.strip() for one in given or [] for name in one.split(",")]
    written = {path.suffix.lower() for path in output} & {".html", ".md", ".json", ".jsonl"}
    if names and not written and form != "json" and acro is None:
        raise DataError("--annex is part of a file: add -o report.html, .md or .json")
    return tuple(dict.fromkeys(names))


def _check_outputs(model: Path, output: list[Path], *, force: bool) -> None:
    """Refuse what cannot be written before a long audit begins."""
    from treeaudit.reports.formats import check_output

    for path in output:
        if same_file(path, model):
            raise DataError(f"{path} is the model itself; choose another name for the report")
        check_output(path, force=force)


def _save(found: "Reports", path: Path, *, force: bool, safe: bool) -> Path:
    if len(found.reports) > 1:
        from treeaudit.reports import several

        return several.save(found, path, force=force, release_safe=safe)
    from treeaudit.reports.formats import save

    return save(found.reports[0], path, force=force, release_safe=safe)


def _show(
    found: "Reports",
    form: str,
    seek: "RepairSearch | None",
    *,
    safe: bool,
    quiet: bool,
    verbose: bool,
) -> "Reports":
    """Show the reports, and return them with their repairs; a terminal shows each before that."""
    from treeaudit.reports import several
    from treeaudit.reports.formats import render
    from treeaudit.reports.release_safe import that_may_leave
    from treeaudit.reports.terminal import print_report, print_verdict, to_text

    console = Console()
    as_text, on_terminal = form == "text", console.is_terminal
    if as_text and on_terminal and seek is not None and not quiet:
        return _show_before_repair(found, console, seek, verbose=verbose)
    if seek is not None:
        with progress_bar("looking for a repair", quiet=quiet):
            found = type(found)(reports=tuple(map(seek, found.reports)))
    first, many = found.reports[0], len(found.reports) > 1
    if safe and not (quiet and as_text):
        kind = "txt" if as_text else form
        page(several.released(found, kind) if many else render(first, kind, release_safe=True))
    elif not as_text:
        page(several.dumps(found) if many else render(first, "json"))
    elif quiet and many:
        several.print_worst(found, console)
    elif quiet:
        print_verdict(that_may_leave(first) if safe else first, console, quiet=True)
    elif on_terminal and many:
        several.print_reports(found, console, verbose=verbose)
    elif on_terminal:
        print_report(first, console, verbose=verbose)
    elif many:
        page(several.to_text(found, console.width, verbose=verbose))
    else:
        page(to_text(first, console.width, verbose=verbose))
    return found


def _show_before_repair(
    found: "Reports", console: Console, seek: "RepairSearch", *, verbose: bool
) -> "Reports":
    """Print each report before its repair is searched for, and the repair below it."""
    from treeaudit.reports.several import print_worst
    from treeaudit.reports.terminal import print_report, print_way_out

    reports = []
    for one in found.reports:
        print_report(one, console, verbose=verbose, way_out=False)
        console.file.flush()
        with progress_bar("looking for a repair"):
            reports.append(seek(one))
        print_way_out(reports[-1], console, verbose=verbose)
        if len(found.reports) > 1:
            console.print()
    found = type(found)(reports=tuple(reports))
    if len(reports) > 1:
        print_worst(found, console)
    return found


def demo(
    folder: Annotated[Path, typer.Argument(help="Where to put the model and the report.")] = Path(
        "treeaudit-demo"
    ),
    show: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
    force: opt.Force = False,
) -> None:
    """Train a tree on bundled data, scan it, and write the report.

    569 patients of the Wisconsin breast cancer study, as scikit-learn bundles
    them: the tree that its example code gives away singles patients out.
    """
    import pickle

    from sklearn.datasets import load_breast_cancer
    from sklearn.tree import DecisionTreeClassifier

    import treeaudit as ta
    from treeaudit.repair.suggestion import with_fix
    from treeaudit.reports.terminal import print_report

    if folder.is_file():
        raise DataError(f"{folder} is a file: name a folder for the demo")
    data = load_breast_cancer(as_frame=True)
    diagnosis = data.target.map(dict(enumerate(data.target_names)))
    tree = DecisionTreeClassifier(random_state=0).fit(data.data, diagnosis)
    folder.mkdir(parents=True, exist_ok=True)
    model = write_file(folder / "model.pkl", pickle.dumps(tree), force=force)
    with progress_bar("auditing"):
        report = with_fix(ta.scan(model))
    page = report.save(folder / "report.html", force=force)
    console = Console()
    print_report(report, console)
    console.print()
    echo(f"model   {model}")
    echo(f"report  {page} (you alone can open it, since reports tell of people: chmod to share)")
    echo(f"again   treeaudit scan {model}")
    if show:
        webbrowser.open(page.resolve().as_uri())
