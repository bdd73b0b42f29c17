"""The terminal report: what was read, attacks, group sizes, worst leaf, verdict.

Severity is a word first and a colour second. Text from the model is untrusted:
it is shown as plain text, with control and direction characters taken out.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from treeaudit.attacks.singling_out.view import group_sizes
from treeaudit.findings.findings import Finding, Skipped
from treeaudit.findings.report import Report, view_of
from treeaudit.model.words import in_percent, number_of
from treeaudit.reports.advice import Step, next_steps, verdict_line
from treeaudit.reports.plain_text import plain, printed
from treeaudit.reports.provenance import claim, counting, shown_name, spent
from treeaudit.reports.summary import headline
from treeaudit.reports.wording import SEVERITY, VERDICT, in_words
from treeaudit.version import __version__

Block = Text | Table
_Styled = Sequence[tuple[str, str]]
"""Texts and their styles."""
_NAME = partial(Column, no_wrap=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _AttackLine:
    """An attack in a line."""

    level: str
    title: str
    id: str = ""
    found: str = ""
    unseen: str = ""
    policy: str = ""

    @property
    def has_columns(self) -> bool:
        """Whether it is a row of the table of attacks, or told beside it."""
        return bool(self.id) and self.level != "skipped"


def _has_control(report: Report) -> bool:
    """Tell whether any claim was held against unseen people."""
    return any(c.control is not None for finding in report.findings for c in finding.controls)


def attack_lines(report: Report, *, short: bool) -> list[_AttackLine]:
    """Return a line per attack; those on the file itself that found nothing share one.

    ``short`` asks for a few words rather than a sentence in ``found``.
    """
    lines = [
        _line(report, result, short)
        for result in report.results
        if not (_is_quiet(report, result) or _asks_for(result) or _of_another_kind(result))
    ]
    other = [result.title.lower() for result in report.results if _of_another_kind(result)]
    if other:
        lines.append(_AttackLine(level="skipped", title="Not applicable", found=", ".join(other)))
    lines += _unasked(report.results)
    quiet = [result.title.lower() for result in report.results if _is_quiet(report, result)]
    if quiet:
        lines.append(_AttackLine(level="none", title="Nothing found", found=", ".join(quiet)))
    return lines


def _line(report: Report, result: Finding | Skipped, short: bool) -> _AttackLine:
    policy = _policy(report, result.id)
    if isinstance(result, Skipped):
        return _AttackLine(
            level="skipped", title=result.title, id=result.id, found=result.reason, policy=policy
        )
    view = view_of(report, result)
    brief = in_words(view.brief) if short and view.brief is not None else ""
    return _AttackLine(
        level=result.severity,
        title=result.title,
        id=result.id,
        found=brief or (result.summary.partition(". ")[0] if short else result.summary),
        unseen=_unseen(result) if view.unseen is None else in_words(view.unseen),
        policy=policy,
    )


def _is_quiet(report: Report, result: Finding | Skipped) -> bool:
    """Whether one line for all such results is enough."""
    page = report.pages.get(result.id)
    clear = isinstance(result, Finding) and result.status == "clear"
    return clear and page is not None and page.about == "file"


def _of_another_kind(result: Finding | Skipped) -> bool:
    """Whether it asks for what no model of this kind holds: not worth a line of its own."""
    return isinstance(result, Skipped) and result.reason.startswith("not applicable")


def _asks_for(result: Finding | Skipped) -> tuple[str, ...]:
    """Return the options that a skipped attack asks for."""
    return result.asks if isinstance(result, Skipped) else ()


def _unasked(results: Sequence[Finding | Skipped]) -> list[_AttackLine]:
    """Return one line for all attacks that were skipped for want of people."""
    asked: dict[tuple[str, ...], list[str]] = {}
    for result in results:
        if options := _asks_for(result):
            asked.setdefault(options, []).append(result.title.lower())
    if not asked:
        return []
    parts = [f"{', '.join(titles)} ({', '.join(options)})" for options, titles in asked.items()]
    return [_AttackLine(level="skipped", title="Not asked for", found="; ".join(parts), policy="–")]


def _policy(report: Report, attack: str) -> str:
    states = [check.status for check in report.checks if check.attack == attack]
    if not states:
        return "–"
    worst = next(s for s in ("fail", "skipped", "pass", "not-applicable") if s in states)
    return {"fail": "failed", "skipped": "not run", "pass": "passed"}.get(worst, "–")


def _unseen(finding: Finding) -> str:
    shares = [c.control.value for c in finding.controls if c.control is not None]
    if not shares:
        return "nobody fits" if finding.controls else "–"
    return " and ".join(in_percent(share, 0) for share in shares[:2]) + " fit"


_SIZE_STYLE = ("red", "bright_red", "yellow", "cyan", "bright_black")
_BAR = 24
_WIDE = 76
"""Columns that a table with unseen people and policy needs."""


def to_text(report: Report, width: int = 80, *, verbose: bool = False) -> str:
    """Return the terminal report without colours."""
    blocks = [*_report(report, width, verbose=verbose), *_next_lines(report, verbose=verbose)]
    return printed(lambda console: _show(blocks, console), width)


def print_report(
    report: Report, console: Console, *, verbose: bool = False, way_out: bool = True
) -> None:
    """Print the five blocks of the report, and unless told otherwise what to do next."""
    _show(_report(report, console.width, verbose=verbose), console)
    if way_out:
        print_way_out(report, console, verbose=verbose)


def print_way_out(report: Report, console: Console, *, verbose: bool = False) -> None:
    """Print what to do next: the repair that was found, and what else there is to do."""
    _show(_next_lines(report, verbose=verbose), console)


def print_verdict(report: Report, console: Console, *, quiet: bool = False) -> None:
    """Print the verdict, and unless ``quiet`` the checks that did not pass."""
    _show(_verdict_alone(report) if quiet else _verdict(report), console)


def _show(blocks: Iterable[Block], console: Console) -> None:
    for block in blocks:
        # A command that is broken into lines cannot be copied.
        console.print(block, soft_wrap=isinstance(block, Text) and block.no_wrap is True)


def _table(columns: Sequence[Column], rows: Iterable[_Styled], *, titles: bool = False) -> Table:
    """Return a table without lines, two blanks between columns."""
    table = Table(
        *columns,
        box=None,
        show_header=titles,
        header_style="dim",
        padding=(0, 2, 0, 0),
        pad_edge=False,
    )
    for row in rows:
        table.add_row(*(Text(text, style=style) for text, style in row))
    return table


def _report(report: Report, width: int, *, verbose: bool) -> Iterator[Block]:
    yield from _heading(report, verbose=verbose)
    yield Text()
    lines = attack_lines(report, short=_has_control(report) or not verbose)
    told = [line for line in lines if line.has_columns]
    if told:
        yield _attacks(report, told, width)
    for other in lines:
        # What was not run stands beside its checks.
        if not other.has_columns and (verbose or not other.id):
            yield _attack_row(other)
    if _has_control(report):
        said = "fit: unseen people who have the label or value that their leaf states"
        yield Text(said, style="dim")
    yield Text()
    sizes = _group_sizes(report, width)
    if sizes is not None:
        title = f"people per leaf, {_told_of(report)}" if _many(report) else "people per leaf"
        title += "; a person counts in every leaf with a record of theirs" * report.unit.spread
        yield Text(title, style="dim")
        yield sizes
        yield Text()
    asked = spent(report.forest)
    if asked:
        yield Text("its epsilon was spent on", style="dim")
        for cost, question in asked:
            yield _row(f"{cost:>8}", question, "none")
        yield Text()
    for block in _leaves(report, verbose=verbose):
        yield block
        yield Text()
    for warning in report.warnings:
        yield _row("warning", plain(warning), "yellow")
    if report.warnings:
        yield Text()
    yield from _verdict(report, verbose=verbose)


_STEPS = 3
"""Steps that are shown unless all are asked for."""


def _next_lines(report: Report, *, verbose: bool) -> Iterator[Block]:
    steps = next_steps(report, folders=True)
    found = next((finding for finding in report.findings if finding.status == "found"), None)
    if found is not None and found.id in report.pages:
        steps.insert(
            _STEPS - 1,
            Step(
                text="how it is done, and what removes it", command=f"treeaudit explain {found.id}"
            ),
        )
    shown = steps if verbose else steps[:_STEPS]
    for i, step in enumerate(shown):
        number = (f"{'next' if not i else '':4}  {i + 1}", "bold")
        if step.command:
            command = plain(step.command, len(step.command))
            yield Text.assemble(number, "  ", command, no_wrap=True)
        text = plain(step.text, 600)
        yield _row("       " if step.command else number[0], text, "dim")
    if len(steps) > len(shown):
        yield _row("       ", f"{len(steps) - len(shown)} more with --verbose", "dim")


def _verdict_alone(report: Report) -> Iterator[Block]:
    word = report.verdict.upper() if report.checks else "OBSERVED"
    yield Text(f"{word}  {verdict_line(report)}")


def _verdict(report: Report, *, verbose: bool = False) -> Iterator[Block]:
    word = report.verdict if report.checks else "observed"
    yield Text.assemble((f" {word.upper()} ", VERDICT[word].style), "  ", verdict_line(report))
    not_run: dict[str, list[str]] = {}
    for check in report.checks:
        if check.met:
            continue
        said = check.shown or check.reason or ""
        said += f", was {check.was}" if check.was else ""
        if check.status == "skipped" and not verbose:
            not_run.setdefault(said, []).append(check.title.lower())
        else:
            status = "accepted" if check.accepted else _STATUS.get(check.status, check.status)
            yield _row(f"  {status}", f"{check.title}: {said} ({check.bound})", "dim")
    for reason, titles in not_run.items():
        yield _row("  not run", f"{'; '.join(titles)}: {reason}", "dim")


_STATUS = {"skipped": "not run"}


def _heading(report: Report, *, verbose: bool) -> Iterator[Text]:
    """Yield the name, the answer in a sentence, and what was read."""
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
    if source.canonical is not None:
        parts.append("canonical file" if source.canonical else "not a canonical file")
    told = [plain(" · ".join(parts))]
    if forest.privacy is not None:
        told.append(claim(forest))
    told.append(f"counted: {plain(counting(report), 200)}")
    if source.skops_call and not any(one.kind == "malformed" for one in forest.extras):
        told.append(f"structure checked; load with {plain(source.skops_call, 800)}")
    if source.beside:
        told.append(f"also in the file: {plain(', '.join(source.beside), 300)}")
    roles = {"train": "training", "test": "unseen"}
    one, many = ("record", "records") if report.unit.counts_persons else ("person", "people")
    given = [
        number_of(rows, f"{role} {one}", f"{role} {many}") + f" of {plain(name, 80)}"
        for role, name, rows in (
            (roles.get(role, role), *told) for role, told in report.people.items()
        )
    ]
    if given:
        told.append(" · ".join(given))
    word = report.verdict if report.checks else "observed"
    yield Text.assemble(
        (f"treeaudit {__version__}", "bold"), "  ", (shown_name(report), "bold"), "\n",
        (f" {word.upper()} ", VERDICT[word].style), "  ", headline(report).striptags(),
    )  # fmt: skip
    yield Text("\n".join(told), style="dim")


def _attacks(report: Report, lines: list[_AttackLine], width: int) -> Table:
    held = _has_control(report)
    wide = held and width >= _WIDE
    title = "found" if report.people else "what the file alone claims"
    columns = [_NAME(min_width=6), _NAME("id"), _NAME("attack")]
    columns.append(Column(title))
    if wide:
        columns += [_NAME("unseen people"), _NAME("policy")]
    rows = []
    for line in lines:
        found = plain(line.found)
        if held and not wide and line.unseen not in ("", "–"):
            found += f"\nunseen people: {line.unseen}"
        cells = [found, line.unseen, line.policy] if wide else [found]
        look = SEVERITY[line.level]
        told = [(text, "") for text in (line.id, line.title, *cells)]
        rows.append(((look.word, look.style), *told))
    return _table(columns, rows, titles=True)


def _attack_row(line: _AttackLine) -> Table:
    look, name = SEVERITY[line.level], f"{line.id} {line.title}".strip()
    row = ((look.word, look.style), (f"{name}: {plain(line.found, 600)}", ""))
    return _table((_NAME(min_width=6), Column()), [row])


def _group_sizes(report: Report, width: int) -> Table | None:
    if not report.table.tells_people:
        return None
    bins = group_sizes(report.table.size, report.table.per_tree)
    within = " at most in a tree" if report.forest.n_trees > 1 else ""
    most = max(entry.leaves for entry in bins)
    bar = min(_BAR, max(6, width - 45))
    rows = []
    for entry, style in zip(bins, _SIZE_STYLE, strict=True):
        low, high = entry.low, entry.high
        name = "alone" if high == 1 else f"{low}+" if high is None else f"{low}–{high}"
        length = 0 if not entry.leaves else max(1, round(bar * entry.leaves / most))
        leaves = number_of(entry.leaves, "leaf", "leaves")
        people = number_of(entry.people, "person", "people") + within
        rows.append(((name, ""), ("█" * length, style), (leaves, ""), (people, "")))
    number = partial(_NAME, justify="right")
    columns = (number(), Column(width=bar), number(), number())
    return _table(columns, rows)


def _leaves(report: Report, *, verbose: bool) -> list[Text]:
    blocks = []
    findings = [f for f in report.findings if f.evidence and f.severity != "none"]
    for finding in findings if verbose else findings[:1]:
        if verbose:
            blocks.append(Text(f"{finding.title}: worst leaves", style="dim"))
        for leaf in finding.evidence if verbose else finding.evidence[:1]:
            where = f"tree {leaf.tree}, leaf {leaf.leaf}" if _many(report) else f"leaf {leaf.leaf}"
            says = f", {plain(leaf.says, 120)}" if leaf.says else ""
            people = f"  {number_of(leaf.people, 'person', 'people')}{says}"
            rule = "\n" + plain(leaf.rule, 1000)
            parts = ((where, ""), (people, "not bold"), (rule, "not bold dim"))
            blocks.append(Text.assemble(*parts, style="bold"))
    if verbose:
        told = [c.sentence for f in report.findings for c in f.controls if c.sentence]
        blocks += [Text(plain(sentence, 600)) for sentence in told]
    return blocks


def _told_of(report: Report) -> str:
    """Return of which trees people are counted: some may not tell."""
    trees, silent = report.forest.n_trees, report.table.n_silent
    return f"{trees - silent:,} of {trees:,} trees" if silent else "all trees"


def _many(report: Report) -> bool:
    return report.forest.n_trees > 1


def _row(name: str, text: str, style: str) -> Table:
    return _table((_NAME(), Column()), [((name, style), (text, ""))])
