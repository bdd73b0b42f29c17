"""The HTML report: one file that needs neither a network nor JavaScript.

Text from a model is untrusted. Templates escape everything, control and
direction characters are replaced, and the drawings are escaped where they are
made.
"""

import base64
import functools
import hashlib
import re
from collections.abc import Mapping
from importlib.resources import files

import jinja2
import numpy as np
from markupsafe import Markup

from treeaudit.findings.report import Report, view_of
from treeaudit.model.words import number_of
from treeaudit.reports.advice import (
    next_steps,
    place_to_repeat,
    reconstruct_command,
    repeat_command,
    verdict_line,
)
from treeaudit.reports.annex import annex_of
from treeaudit.reports.cards import cards, control_claims
from treeaudit.reports.charts import strip
from treeaudit.reports.leaves import (
    MOST_STRIPS,
    draw_forest,
    draw_trees,
    ladder,
    levels_per_tree,
    strips,
)
from treeaudit.reports.plain_text import plain
from treeaudit.reports.plots import Chart, draw_curve
from treeaudit.reports.provenance import bounded_by, facts, made_from, not_checked, shown_name
from treeaudit.reports.release_safe import page_of
from treeaudit.reports.repairs import HEAD, rest, shown
from treeaudit.reports.rows import published_rows
from treeaudit.reports.summary import (
    Glossary,
    check_lines,
    headline,
    pill,
    reasons,
    release,
)
from treeaudit.reports.wording import LEVELS
from treeaudit.version import __version__


def framed(page: str, height: int = 760) -> str:
    """Return a whole HTML page, escaped, as a frame for a notebook; the height is in pixels."""
    frame = Markup(
        '<iframe title="treeaudit" sandbox="allow-scripts" '
        'style="width:100%;height:{}px;border:0" srcdoc="{}"></iframe>'
    ).format(height, page)
    return str(frame)


def to_html(report: Report, *, release_safe: bool = False) -> str:
    """Return the report as one HTML file."""
    if release_safe:
        page = environment().get_template("release_safe.html.j2")
        return page.render(**page_of(report))
    rows = published_rows(report)
    word, tone = pill(report)
    tried = report.frontier
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            k=report.policy.k,
            report=report,
            name=shown_name(report),
            meta=_meta(report),
            day=report.record.day,
            by=plain(report.record.by or "", 200),
            pill=word,
            tone=tone,
            release=release(report),
            headline=headline(report),
            held=control_claims(report),
            reasons=reasons(report),
            verdict_line=_sentence(verdict_line(report)),
            checks=check_lines(report),
            fix_how=_how(report),
            gloss=Glossary(),
            pictures=_pictures(report),
            forest=draw_forest(report) if report.forest.n_trees > 1 else None,
            made_from=made_from(report),
            frontier=shown(tried),
            frontier_head=HEAD,
            frontier_rest=rest(tried) if tried else "",
            steps=[(_sentence(step.text), _line(step.command)) for step in next_steps(report)],
            warnings=[_sentence(warning) for warning in report.warnings],
            levels=LEVELS,
            drawings=draw_trees(report),
            strips=strips(report) if report.forest.n_trees > 1 else [],
            more_trees=max(report.forest.n_trees - MOST_STRIPS, 0),
            sizes=_sizes(report),
            ladder=ladder(report),
            cards=cards(report, frozenset(row.id for row in rows.rows)),
            table=rows,
            annex=annex_of(report),
            method=facts(report),
            bounded=report.bound,
            not_checked=not_checked(report),
            command=_line(repeat_command(report)),
            place=place_to_repeat(report),
            reconstruct=_line(reconstruct_command(report)),
            version=__version__,
        )
    )


@functools.cache  # compiling the templates takes longer than filling them in
def environment() -> jinja2.Environment:
    """Return where templates come from: everything in them is escaped."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("treeaudit.reports", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    made.filters["breakable"] = _breakable
    made.filters["hashed"] = _hashed
    made.globals["inline"] = _inline
    return made


def _inline(*names: str) -> Markup:
    """Return style or script of our own as it stands in a page."""
    folder = files("treeaudit.reports") / "templates"
    texts = [(folder / name).read_text(encoding="utf-8") for name in names]
    return Markup("\n" + "".join(texts))  # noqa: S704  # files of this package


def _hashed(block: Markup) -> Markup:
    """Return the name by which a page allows this block, and no other that gets into it."""
    digest = hashlib.sha256(block.encode()).digest()
    return Markup("'sha256-{}'").format(base64.b64encode(digest).decode())


def _breakable(text: str) -> Markup:
    """Escape a name and let it break after an underscore, a dash or a slash."""
    return Markup("<wbr>").join(re.split(r"(?<=[_\-/])", plain(text, 80)))


def _finalize(value: object) -> object:
    """Replace what could steer a browser or a reader's eye; escaping comes after."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return plain(value, 800)
    return value


def _line(command: str) -> Markup:
    """Return a command whole: it holds nothing that could steer a reader's eye."""
    return Markup.escape(command)


def _sentence(text: str) -> str:
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}{'' if text[-1:] in '.!?' else '.'}"


def _meta(report: Report) -> list[str]:
    forest, table = report.forest, report.table
    source = forest.source
    parts = [plain(source.estimator, 80)]
    if source.written_by:
        parts.append(plain(source.written_by, 60))
    trees = number_of(forest.n_trees, "tree", "trees")
    parts.append(trees if table.depth is None else f"{trees} of depth {table.depth}")
    parts.append(number_of(table.n_leaves, "leaf", "leaves"))
    people = table.n_people
    parts.append("people: not told" if people is None else number_of(people, "person", "people"))
    if bound := bounded_by(forest):
        parts.append(f"claims {bound}")
    named = forest.schema.classes is not None and forest.schema.target != "label"
    if named:
        parts.append(f"label: {plain(forest.schema.target, 60)}")
    return parts


def _how(report: Report) -> list[str]:
    """Return what a repair does, and what it still misses."""
    if report.fix is None:
        return []
    lines = [*report.fix.steps, *(f"still missed: {one}" for one in report.fix.misses)]
    return [_sentence(line) for line in lines]


def _pictures(report: Report) -> list[Chart]:
    """Return what attacks draw of the model as a whole."""
    views = [view_of(report, finding) for finding in report.findings]
    drawn = [draw_curve(view.picture) for view in views if view.picture is not None]
    return [one for one in drawn if one is not None]


def _sizes(report: Report) -> list[Mapping[str, object]]:
    """Return leaves and people per level of size; of several trees the people of the fullest."""
    size, within = report.table.size, " in a tree" if report.forest.n_trees > 1 else ""
    if not report.table.tells_people:
        return []
    leaves = levels_per_tree(report.table).sum(axis=0).tolist()
    most = max(leaves) or 1
    lines: list[Mapping[str, object]] = []
    for level, n in zip(LEVELS, leaves, strict=True):
        inside = (size >= level.low) & (size <= (level.high or size.max(initial=0)))
        people = int(report.table.per_tree(np.where(inside, size, 0)).max())
        lines.append(
            {
                "name": level.name,
                "bar": strip([(level.shade, max(n / most, 0.01) if n else 0.0)]),
                "leaves": f"{n:,}",
                "people": f"{people:,}{within}",
            }
        )
    return lines
