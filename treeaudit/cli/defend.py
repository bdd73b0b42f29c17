"""``treeaudit defend MODEL``."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from treeaudit.cli import options as opt
from treeaudit.cli.console import Console, echo, grid, progress_bar
from treeaudit.cli.options import protect_inputs, settings
from treeaudit.cli.sweep import sweep_sizes
from treeaudit.errors import SeveralModelsError
from treeaudit.reports.plain_text import plain

if TYPE_CHECKING:
    from treeaudit.findings.report import Report
    from treeaudit.model.forest import Forest
    from treeaudit.repair.attempts import Attempt, Repair
    from treeaudit.repair.defend import RepairRequest
    from treeaudit.repair.worth import Use


_HOW = partial(typer.Option, rich_help_panel="How", show_default=False)


_ROWS = 6
"""Of what was tried; a page and a sweep show more."""


def _list_methods(method: str | None) -> str | None:
    """Print the methods and leave where ``list`` is asked for."""
    if method != "list":
        return method
    print_methods()
    raise typer.Exit


def print_methods() -> None:
    """Print every method with what can be set of it."""
    from rich.table import Table
    from rich.text import Text

    from treeaudit.defenses import DEFENSES
    from treeaudit.defenses.defense import parameters, takes_people

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("--method", no_wrap=True)
    table.add_column("what it does ('treeaudit explain NAME' tells more)")
    for defense in DEFENSES:
        table.add_row(Text(defense.id, style="bold"), Text(defense.title))
        for name, one in parameters(defense).items():
            told = f"--set {name}={one.default}  {one.help} Takes {one.asks}."
            table.add_row("", Text("--min-leaf K" if name == "min_leaf" else told, style="dim"))
        if takes_people(defense):
            table.add_row("", Text("--train DATA", style="dim"))
    Console().print(table)


def defend(
    model: opt.Model,
    min_leaf: Annotated[
        int | None,
        _HOW(
            help="Repair until every leaf holds K people. Unless this or a method is given, the "
            "mildest repair that passes the policy is searched for.",
            metavar="K",
            min=2,
        ),
    ] = None,
    method: Annotated[
        str | None,
        _HOW(
            help="How to repair: see below, or --method list. Unless given, --min-leaf merges "
            "leaves into their parents.",
            metavar="NAME",
            callback=_list_methods,
            is_eager=True,
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        _HOW(
            "--set",
            help="A parameter of the method, such as t=0.3. Can be repeated.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    unanswered: Annotated[
        Literal["parent", "reject"] | None,
        _HOW(
            help="Records of leaves that were taken out get the answer of the node above, or none "
            "(JSON only)."
        ),
    ] = None,
    strip: Annotated[
        bool, _HOW("--strip", help="Take out every count, and all else that no prediction needs.")
    ] = False,
    round_counts: Annotated[
        int | None,
        _HOW(help="Round counts to multiples of B; totals stay consistent.", metavar="B", min=2),
    ] = None,
    sweep: Annotated[
        str | None,
        _HOW(
            help="Only show what each of these K costs, such as 2,5,10,20,50; of a forest with "
            "--train each with several numbers of trees. -o FILE.html draws it.",
            metavar="K,K,…",
        ),
    ] = None,
    keep_auc: Annotated[
        float | None,
        _HOW(
            help="Refuse repairs that lose more of the AUC, such as 0.01, or of R² of a number: "
            "measured on --test, or else on --train.",
            metavar="X",
        ),
    ] = None,
    policy: opt.PolicyName = "default",
    train: opt.Train = None,
    test: opt.Test = None,
    target: opt.Target = None,
    person: opt.Person = None,
    rows_per_person: opt.RowsPerPerson = None,
    repeats: opt.Repeats = None,
    select: opt.Select = None,
    max_bytes: opt.MaxBytes = None,
    output: opt.Output = None,
    force: opt.Force = False,
    quiet: opt.VerdictOnly = False,
) -> None:
    """Repair a model before release, and audit it before and after.

    Writes a working model: .pkl, .joblib or .skops for scikit-learn, .rds for R,
    .json for the version-free form. With -o FILE.html its audit too. The model given is
    left as it is.

    treeaudit defend model.pkl -o safe.pkl

    treeaudit defend forest.pkl --train people.csv --test others.csv -o safe.pkl -o safe.html

    treeaudit defend model.pkl --min-leaf 10 --test others.csv -o safe.pkl

    treeaudit defend model.pkl --method merge-diverse --set distinct=3 -o safe.pkl
    """
    import treeaudit as ta
    from treeaudit.findings.request import Request
    from treeaudit.repair.defend import RepairRequest, repair
    from treeaudit.reports.formats import check_output
    from treeaudit.reports.repairs import CHOSEN, OWN_PEOPLE
    from treeaudit.writers import check_target

    parameters = settings(setting, {"min_leaf"}, "t=0.3")
    if unanswered is not None:
        parameters["unanswered"] = unanswered
    wanted = RepairRequest(
        method=method,
        min_leaf=min_leaf,
        parameters=parameters,
        policy=policy,
        strip=strip,
        round_counts=round_counts,
        train=train,
        test=test,
        target=target,
        person=person,
        rows_per_person=rows_per_person,
        repeats=repeats,
        keep_auc=keep_auc,
    )
    console = Console()
    forest = ta.load(model, select=select, max_bytes=max_bytes)
    protect_inputs(output or [], {"MODEL": model, "--train": train, "--test": test}, policy)
    if sweep is not None:
        sweep_sizes(console, forest, sweep, wanted, output=output or [], force=force)
        return
    models, reports = _by_suffix(output or [])
    for path in models:
        check_target(forest, path, force=force)
    for path in reports:
        check_output(path, force=force)
    with progress_bar("looking for a repair", quiet=quiet) as progress:
        done = repair(forest, wanted, progress=progress)
        failed = done.searched and done.after.report.verdict == "fail"
        # Before anything is written: the table of unseen people may turn out not to fit.
        uses, untold = ([], "") if quiet else _uses(done, wanted)
    if not quiet:
        _announce(console, done, uses)
    with progress_bar("writing and auditing", quiet=quiet):
        written = [] if failed else [_write_and_audit(done, path, policy, force) for path in models]
        if reports:
            report = _audited(done, models[0] if written else None, wanted)
            for path in reports:
                report.save(path, force=force)
    whom = " on its own people" if test is None else " on unseen people"
    note = OWN_PEOPLE if test is None else f"measured on unseen people{CHOSEN}"
    chose = done.tried and not done.frontier
    told = (uses or done.before.accuracy is not None) and (test is None or chose)
    _print(console, done, written, uses, whom, quiet=quiet)
    if not quiet and (untold or told):
        console.print(untold or note)
    _print_end(console, done, models, written, failed=failed, quiet=quiet)
    if done.by_file_alone and train is not None and not quiet:
        console.print(
            "a private model is repaired by its file alone, as choices by --train would undo its "
            "epsilon; scan --train judges what is written",
            soft_wrap=True,
        )
    for path in reports:
        echo(f"report  {path}")
    if done.needs_people and not quiet:
        asked = Request(model=model, select=select, max_bytes=max_bytes, policy=policy)
        options = ("select", "max_bytes", *(("policy",) if policy != "default" else ()))
        safe = f"safe{_forms(done.forest)[0]}"
        line = f"{asked.command('defend', options)} --train TRAINING_DATA -o {safe}"
        echo(f"{done.needs_people}; the command that judges it:")
        echo(line)
    raise typer.Exit(max(one.report.exit_code for one in written or [done.after]))


def _forms(forest: "Forest") -> list[str]:
    """Return the suffixes a model can be written with, the usual one first."""
    from treeaudit.writers import suffixes_of

    return [*(one for one in suffixes_of(forest) if one not in (".json", ".pickle")), ".json"]


def _by_suffix(output: list[Path]) -> tuple[list[Path], list[Path]]:
    """Return where to write the model and where its report: .json holds a model here."""
    reports = [path for path in output if path.suffix.lower() == ".html"]
    return [path for path in output if path not in reports], reports


def _audited(done: "Repair", path: Path | None, wanted: "RepairRequest") -> "Report":
    """Return the whole audit of what was written, or else of what came of the repair."""
    import treeaudit as ta
    from treeaudit.repair.attempts import with_spreads

    made = done.forest if path is None else _again(path, done.forest)
    report = ta.scan(
        with_spreads(made, done.before.forest),
        train=wanted.train,
        test=wanted.test,
        target=wanted.target,
        person=wanted.person,
        rows_per_person=wanted.rows_per_person,
        repeats=wanted.repeats,  # type: ignore[arg-type]
        policy=wanted.policy,
    )
    return replace(report, frontier=done.frontier)


def _write_and_audit(done: "Repair", path: Path, policy: str, force: bool) -> "Attempt":
    """Write the model, read the file again, and audit what it says."""
    import treeaudit as ta
    from treeaudit.findings.policy import read_policy
    from treeaudit.repair.attempts import attempt

    ta.save(done.forest, path, force=force)
    again = _again(path, done.forest)
    return attempt(again, done.after.defenses, read_policy(policy), done.counting)


def _again(path: Path, forest: "Forest") -> "Forest":
    """Read the model again that was written; beside it may stand the others of its file."""
    import treeaudit as ta

    try:
        return ta.load(path)
    except SeveralModelsError:
        return ta.load(path, select=forest.source.inside)


def _print(
    console: "Console",
    done: "Repair",
    written: "list[Attempt]",
    uses: "list[Use]",
    whom: str,
    *,
    quiet: bool,
) -> None:
    from treeaudit.reports.advice import verdict_line
    from treeaudit.reports.repairs import before_and_after

    after = written[0] if written else done.after
    if quiet:
        console.print(f"{after.report.verdict.upper()}  {verdict_line(after.report)}")
        return
    for step in done.steps:
        console.print(step)
    if not done.steps:
        what = "it passes as it is" if done.before.report.verdict == "pass" else "its trees stay"
        console.print(f"{what}; a file that is written is put together anew, without leftovers")
    console.print(grid(["", "before", "after"], before_and_after(done.before, after, uses, whom)))
    if after.report.verdict == "review":
        checks = [one for one in after.report.checks if one.status == "skipped"]
        for reason in dict.fromkeys(one.reason or "" for one in checks):
            console.print(f"not run: {plain(reason, 400)}")
    if done.frontier:
        from treeaudit.reports.repairs import HEAD, rest, shown

        console.print()
        console.print(grid(HEAD, [row.short for row in shown(done.frontier)[:_ROWS]]))
        console.print(rest(done.frontier))


def _uses(done: "Repair", wanted: "RepairRequest") -> "tuple[list[Use], str]":
    """Return how useful the model is before and after, or why that is not told."""
    from treeaudit.defenses.prune_leaves import PruneLeaves, rejecting
    from treeaudit.repair.worth import uses_of

    forests = [done.before.forest, done.forest]
    if any(isinstance(one, PruneLeaves) for one in done.after.defenses):
        forests.append(rejecting(done.forest))
    return uses_of(
        forests, train=wanted.train, test=wanted.test, target=wanted.target, person=wanted.person
    )


def _announce(console: "Console", done: "Repair", uses: "list[Use]") -> None:
    """Say before anything is written what comes back as something else."""
    from treeaudit.reports.repairs import far_fewer

    before, source = done.before.forest, done.forest.source
    if text := far_fewer(before.n_trees, done.forest.n_trees, uses, done.keep_auc):
        console.print(text)
    if "best_estimator_" in (source.inside or ""):
        kind = "Pipeline" if "steps[" in (source.inside or "") else source.estimator
        console.print(f"a search is in the file: its best estimator comes back, a {kind} alone")


def _print_end(
    console: "Console",
    done: "Repair",
    output: list[Path],
    written: "list[Attempt]",
    *,
    failed: bool,
    quiet: bool,
) -> None:
    from treeaudit.defenses import IntersectK
    from treeaudit.readers.choice import listed_names
    from treeaudit.repair.attempts import SPREADS, nearest_miss

    if failed:
        echo(f"nothing written: {nearest_miss(done)}")
        return
    for path in output:
        echo(f"model  {path}")
    if quiet:
        return
    if written and SPREADS in written[0].report.forest.warnings:
        console.print(SPREADS)
    if others := listed_names(written[0].forest.others if written else ()):
        typer.echo(f"the others in it are as they were released: {plain(others)}")
    if not output:
        first, *further = _forms(done.forest)
        more = f" (or {', '.join(further)})" if further else ""
        console.print(f"nothing written: add -o safe{first}{more}")
    if done.tree_by_tree:
        together = len(done.forest.members) < 2 and not done.by_file_alone
        other = f" (--method {IntersectK.id} --train DATA)" if together else ""
        console.print(
            "this holds for each tree alone: people who share their leaves in all trees can be "
            f"fewer{other}"
        )
