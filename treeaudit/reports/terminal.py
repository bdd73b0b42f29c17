"""The terminal report: what was read, attacks, group sizes, worst leaf, verdict.

Severity is a word first and a colour second. Text from the model is untrusted:
it is shown as plain text, with control and direction characters taken out.
"""

from typing import TYPE_CHECKING

from treeaudit.attacks.singling_out.details import group_sizes
from treeaudit.findings.report import Report
from treeaudit.model.words import number_of
from treeaudit.reports.advice import next_steps, verdict_line
from treeaudit.reports.attack_lines import AttackLine, attack_lines, has_control
from treeaudit.reports.commands import next_command
from treeaudit.reports.fixed import fix_sentence
from treeaudit.reports.looks import SEVERITY, VERDICT
from treeaudit.reports.plain_text import plain, printed
from treeaudit.reports.private import claim, counting, spent
from treeaudit.reports.provenance import shown_name
from treeaudit.version import __version__

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

__all__ = ["plain", "print_report", "print_verdict", "print_way_out", "to_text"]

_SIZE_STYLE = ("red", "bright_red", "yellow", "cyan", "bright_black")
_BAR = 24
_WIDE = 76
"""Columns that a table with unseen people and policy needs."""


def to_text(report: Report, width: int = 80, *, verbose: bool = False) -> str:
    """Return the terminal report without colours."""
    return printed(lambda console: print_report(report, console, verbose=verbose), width)


def print_report(
    report: Report, console: "Console", *, verbose: bool = False, way_out: bool = True
) -> None:
    """Print the five blocks of the report, and unless told otherwise what to do next."""
    from rich.text import Text

    console.print(_heading(report))
    console.print()
    lines = attack_lines(report, short=has_control(report))
    told = [line for line in lines if line.has_columns]
    if told:
        console.print(_attacks(report, told, console.width))
    for other in lines:
        if not other.has_columns:
            console.print(_beside(other))
    if has_control(report):
        console.print(
            Text("fit: unseen people who have the label or value that their leaf states", "dim")
        )
    console.print()
    sizes = _group_sizes(report, console.width)
    if sizes is not None:
        title = "people per leaf, all trees" if _many(report) else "people per leaf"
        title += "; a person counts in every leaf with a record of theirs" * report.unit.spread
        console.print(Text(title, style="dim"))
        console.print(sizes)
        console.print()
    asked = spent(report.forest)
    if asked:
        console.print(Text("its epsilon was spent on", style="dim"))
        for cost, question in asked:
            console.print(_row(f"{cost:>8}", question, "none"))
        console.print()
    for block in _leaves(report, verbose=verbose):
        console.print(block)
        console.print()
    for warning in report.warnings:
        console.print(_row("warning", plain(warning), "yellow"))
    if report.warnings:
        console.print()
    print_verdict(report, console)
    if way_out:
        print_way_out(report, console)


def print_way_out(report: Report, console: "Console") -> None:
    """Print what to do next: the repair that was found, and what else there is to do."""
    from rich.text import Text

    stands = report.verdict == "fail" or report.fix is not None
    command = next_command(report, folders=True) if stands else ""
    if command:
        # A command is not broken into lines: it would not survive being copied.
        line = Text.assemble(("next", "bold"), "  ", plain(command, len(command)))
        console.print(line, soft_wrap=True)
    if report.fix is not None:
        said = fix_sentence(report)
        console.print(_row("    ", plain(said, 600), "dim"))
    for step in next_steps(report):
        console.print(_row("next", step, "dim"))
    found = next((finding for finding in report.findings if finding.status == "found"), None)
    if found is not None and found.id in report.pages:
        console.print(_row("why ", f"treeaudit explain {found.id}", "dim"))


def print_verdict(report: Report, console: "Console", *, quiet: bool = False) -> None:
    """Print the verdict, and unless ``quiet`` the checks that did not pass."""
    if quiet:
        word = report.verdict.upper() if report.checks else "OBSERVED"
        console.print(f"{word}  {verdict_line(report)}")
        return
    console.print(_verdict(report))
    for check in report.checks:
        if check.status != "pass":
            said = check.shown or check.reason or ""
            said += f", was {check.was}" if check.was else ""
            word = "accepted" if check.accepted else check.status
            console.print(_row(f"  {word}", f"{check.title}: {said} ({check.bound})", "dim"))


def _heading(report: Report) -> "Text":
    from rich.text import Text

    forest, table = report.forest, report.table
    source = forest.source
    parts = [source.estimator]
    if source.written_by:
        parts.append(source.written_by)
    if forest.n_trees > 1:
        parts.append(f"{forest.n_trees:,} trees")
    if table.depth is not None:
        parts.append(f"depth {table.depth}")
    parts.append(number_of(table.n_leaves, "leaf", "leaves"))
    if forest.n_records is not None and not report.unit.counts_persons:
        parts.append(number_of(forest.n_records, "person", "people"))
    text = Text.assemble((f"treeaudit {__version__}", "bold"), "  ", (shown_name(report), "bold"))
    text.append("\n" + plain(" · ".join(parts)), style="dim")
    if forest.privacy is not None:
        text.append(f"\n{claim(forest)}", style="dim")
    text.append(f"\ncounted: {plain(counting(report), 200)}", style="dim")
    roles = {"train": "training", "test": "unseen"}
    one, many = ("record", "records") if report.unit.counts_persons else ("person", "people")
    given = [
        number_of(rows, f"{role} {one}", f"{role} {many}") + f" of {plain(name, 80)}"
        for role, name, rows in (
            (roles.get(role, role), *told) for role, told in report.people.items()
        )
    ]
    if given:
        text.append("\n" + " · ".join(given), style="dim")
    return text


def _attacks(report: Report, lines: list[AttackLine], width: int) -> "Table":
    from rich.table import Table
    from rich.text import Text

    held = has_control(report)
    wide = held and width >= _WIDE
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("", min_width=6, no_wrap=True)
    table.add_column("id", no_wrap=True)
    table.add_column("attack", no_wrap=True)
    table.add_column("found" if report.people else "what the file alone claims")
    if wide:
        table.add_column("unseen people", no_wrap=True)
        table.add_column("policy", no_wrap=True)
    for line in lines:
        found = plain(line.found)
        if held and not wide and line.unseen not in ("", "–"):
            found += f"\nunseen people: {line.unseen}"
        cells = [found, line.unseen, line.policy] if wide else [found]
        look = SEVERITY[line.level]
        table.add_row(
            Text(look.word, style=look.style), Text(line.id), Text(line.title), *map(Text, cells)
        )
    return table


def _beside(line: AttackLine) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(min_width=6, no_wrap=True)
    table.add_column()
    look, name = SEVERITY[line.level], f"{line.id} {line.title}".strip()
    table.add_row(Text(look.word, style=look.style), Text(f"{name}: {plain(line.found, 600)}"))
    return table


def _group_sizes(report: Report, width: int) -> "Table | None":
    from rich.table import Table
    from rich.text import Text

    if not report.table.tells_people:
        return None
    bins = group_sizes(report.table.size, report.table.per_tree)
    within = " at most in a tree" if report.forest.n_trees > 1 else ""
    most = max(entry.leaves for entry in bins)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(justify="right", no_wrap=True)
    bar = min(_BAR, max(6, width - 45))
    table.add_column(width=bar)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for entry, style in zip(bins, _SIZE_STYLE, strict=True):
        low, high = entry.low, entry.high
        name = "alone" if high == 1 else f"{low}+" if high is None else f"{low}–{high}"
        length = 0 if not entry.leaves else max(1, round(bar * entry.leaves / most))
        table.add_row(
            name,
            Text("█" * length, style=style),
            number_of(entry.leaves, "leaf", "leaves"),
            number_of(entry.people, "person", "people") + within,
        )
    return table


def _leaves(report: Report, *, verbose: bool) -> list["Text"]:
    from rich.text import Text

    blocks = []
    findings = [f for f in report.findings if f.evidence and f.severity != "none"]
    for finding in findings if verbose else findings[:1]:
        if verbose:
            blocks.append(Text(f"{finding.title}: worst leaves", style="dim"))
        for leaf in finding.evidence if verbose else finding.evidence[:1]:
            where = f"tree {leaf.tree}, leaf {leaf.leaf}" if _many(report) else f"leaf {leaf.leaf}"
            says = f", {plain(leaf.says, 120)}" if leaf.says else ""
            text = Text(where, style="bold")
            text.append(f"  {number_of(leaf.people, 'person', 'people')}{says}", style="not bold")
            text.append("\n" + plain(leaf.rule, 1000), style="not bold dim")
            blocks.append(text)
    if verbose:
        told = [c.sentence for f in report.findings for c in f.controls if c.sentence]
        blocks += [Text(plain(sentence, 600)) for sentence in told]
    return blocks


def _many(report: Report) -> bool:
    return report.forest.n_trees > 1


def _verdict(report: Report) -> "Text":
    from rich.text import Text

    word = report.verdict if report.checks else "observed"
    return Text.assemble((f" {word.upper()} ", VERDICT[word].style), "  ", verdict_line(report))


def _row(name: str, text: str, style: str) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column()
    table.add_row(Text(name, style=style), Text(text))
    return table
