"""``treeaudit defend MODEL``."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from treeaudit.cli import options as opt
from treeaudit.cli.console import Console, echo, grid, progress_bar
from treeaudit.cli.options import protect_inputs, settings
from treeaudit.errors import DataError, SeveralModelsError
from treeaudit.reports.plain_text import plain

if TYPE_CHECKING:
    from treeaudit.findings.report import Report
    from treeaudit.model.forest import Forest
    from treeaudit.repair.attempts import Attempt, Repair
    from treeaudit.repair.defend import RepairRequest


_HOW = partial(typer.Option, rich_help_panel="How", show_default=False)


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
            help="Only show what each of these K costs, such as 2,5,10,20,50; -o FILE.html "
            "draws it.",
            metavar="K,K,…",
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

    Writes a working model: .pkl, .joblib or .skops for scikit-learn, .json for
    the version-free form. With -o FILE.html its audit too. The model given is
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
    )
    console = Console()
    forest = ta.load(model, select=select, max_bytes=max_bytes)
    protect_inputs(output or [], {"MODEL": model, "--train": train, "--test": test}, policy)
    if sweep is not None:
        _sweep_sizes(console, forest, sweep, wanted, test=test, output=output or [], force=force)
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
        use = None
        if not quiet and test is not None:
            use = _use(done, test, target, person)
        written = [] if failed else [_write_and_audit(done, path, policy, force) for path in models]
        if reports:
            report = _audited(done, models[0] if written else None, wanted)
            for path in reports:
                report.save(path, force=force)
    _print(console, done, written, quiet=quiet)
    if use is not None:
        console.print(use)
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

    report = ta.scan(
        done.forest if path is None else _again(path, done.forest),
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


def _print(console: "Console", done: "Repair", written: "list[Attempt]", *, quiet: bool) -> None:
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
    console.print(grid(["", "before", "after"], before_and_after(done.before, after)))
    if done.frontier:
        from treeaudit.reports.repairs import HEAD, rest, shown

        console.print()
        console.print(grid(list(HEAD), [list(row.cells) for row in shown(done.frontier)]))
        console.print(rest(done.frontier))


def _use(done: "Repair", test: Path, target: str | None, person: str | None) -> object:
    """Return how useful the model is to people who were not in its training data."""
    from treeaudit.defenses.prune_leaves import PruneLeaves, rejecting
    from treeaudit.repair.defend import utility_on
    from treeaudit.reports.repairs import utility_rows

    before = utility_on(done.before.forest, test, target, person)
    after = utility_on(done.forest, test, target, person)
    if before is None or after is None:
        return "what it answers cannot be told from its trees alone: no accuracy"
    rows = utility_rows(before, after)
    if any(isinstance(one, PruneLeaves) for one in done.after.defenses):
        others = utility_on(rejecting(done.forest), test, target, person)
        rows += [] if others is None else utility_rows(before, others, ", of those answered")
    return grid(["", "before", "after"], rows)


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
    from treeaudit.repair.attempts import nearest_miss

    if failed:
        echo(f"nothing written: {nearest_miss(done)}")
        return
    for path in output:
        echo(f"model  {path}")
    if quiet:
        return
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


def _sweep_sizes(
    console: "Console",
    forest: "Forest",
    text: str,
    wanted: "RepairRequest",
    *,
    test: Path | None,
    output: list[Path],
    force: bool,
) -> None:
    """Repair once for each k, print what it costs, and write the pages asked for."""
    import treeaudit as ta
    from treeaudit.repair.defend import sweep, utility_on
    from treeaudit.reports.comparison import check_output
    from treeaudit.reports.repairs import curve

    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise DataError(f"--sweep takes numbers of people such as 2,5,10,20,50, not {text!r}")
    for path in output:
        check_output(path, force=force)
    sizes = [int(part) for part in parts]
    with progress_bar("repairing for every size"):
        attempts = sweep(forest, sizes, wanted)
        target = wanted.target
        uses = [None if test is None else utility_on(one.forest, test, target) for one in attempts]
    console.print(grid(*curve(sizes, attempts, uses)))
    if len(attempts) < len(sizes):
        console.print(
            f"no tree of at least two leaves is left at {sizes[len(attempts)]:,} and above"
        )
    if not output:
        return
    names = ["as it is", *(f"k = {k:,}" for k in sizes[: len(attempts)])]
    models = (forest, *(one.forest for one in attempts))
    found = ta.compare(*models, names=names, test=test, target=wanted.target, policy=wanted.policy)
    for path in output:
        found.save(path, force=force)
        echo(f"report  {path}")
