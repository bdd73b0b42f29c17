"""What changed between two reports: in words, as JSON, as a page and as Markdown."""

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

from treeaudit.comparison.changes import Change, Changes
from treeaudit.files import check_free, suffix_of, write_file
from treeaudit.reports.html import framed
from treeaudit.reports.plain_text import plain
from treeaudit.reports.to_json import HEAD, as_json
from treeaudit.version import __version__

_FORMATS = ("html", "json", "md", "txt")
_WORDS = {
    "worse": "worse",
    "new": "new",
    "unknown": "not looked at any more",
    "better": "better",
    "gone": "gone",
    "changed": "changed",
}
_TONES = {"worse": "bad", "new": "bad", "unknown": "warn", "better": "ok", "gone": "ok"}
_PARTS = {"check": "Checks", "finding": "Findings", "model": "The model"}
_MARKUP = re.compile(r"([\\`*_\[\]|~])")


def to_dict(found: Changes) -> dict[str, Any]:
    """Return the changes as plain data."""
    return {
        **HEAD,
        "old": dict(found.old),
        "new": dict(found.new),
        "counts": dict(Counter(row.way for row in found.rows)),
        "notes": list(found.notes),
        "changes": [asdict(row) for row in found.rows],
    }


def dumps(found: Changes) -> str:
    """Return the changes as JSON text."""
    return as_json(to_dict(found))


def _verdict(found: Changes) -> str:
    row = found.rows[0]
    return row.new if row.old == row.new else f"{row.old} → {row.new}"


def _said(found: Changes) -> str:
    """Return in one sentence how much went which way."""
    of = [row for row in found.rows if row.of in ("check", "finding")]
    count = Counter[str](row.way for row in of)
    told = [f"{count[way]} {word}" for way, word in _WORDS.items() if count[way]]
    return f"{', '.join(told) or 'nothing changed'}, {count['same']} as before"


def _shown(found: Changes) -> Iterator[tuple[str, list[Change]]]:
    """Yield what changed, part by part, worst first."""
    order = list(_WORDS)
    for of, title in _PARTS.items():
        rows = [row for row in found.rows if row.of == of and row.way != "same"]
        if rows:
            yield title, sorted(rows, key=lambda row: order.index(row.way))


def lines(found: Changes) -> Iterator[str]:
    """Yield what there is to say, the verdict first."""
    yield plain(f"{found.old['name']} → {found.new['name']}", 300)
    yield plain(f"verdict  {_verdict(found)} by policy {found.new['policy']}", 200)
    yield f"checks and findings: {_said(found)}"
    yield from found.notes
    for title, rows in _shown(found):
        yield ""
        yield title.lower()
        for row in rows:
            name = f"{row.id} {row.title}" if row.of == "finding" else row.title
            yield plain(f"  {_WORDS[row.way]}: {name}: {row.old} → {row.new}", 400)


def to_text(found: Changes) -> str:
    """Return the changes in words."""
    return "\n".join(lines(found)) + "\n"


def to_markdown(found: Changes) -> str:
    """Return the changes as Markdown, for pull requests."""
    parts = [
        f"## {marked(_verdict(found))}: {marked(found.new['name'])}",
        f"Against {marked(found.old['name'])}, policy {marked(found.new['policy'])}: "
        f"{_said(found)}.",
        *found.notes,
    ]
    for title, rows in _shown(found):
        table = [f"| {title.lower()} | | before | now |", "|---|---|---|---|"]
        for row in rows:
            name = f"{row.id} {row.title}" if row.of == "finding" else row.title
            cells = (name, _WORDS[row.way], row.old, row.new)
            table.append(f"| {' | '.join(map(marked, cells))} |")
        parts.append("\n".join(table))
    return "\n\n".join(parts) + "\n"


def marked(text: str) -> str:
    """Return untrusted text that stands for itself in Markdown."""
    return escape(_MARKUP.sub(r"\\\1", plain(text)), quote=False)


def to_html(found: Changes) -> str:
    """Return the changes as one page, without a network and without JavaScript."""
    from treeaudit.reports.html import environment

    tone = "bad" if found.exit_code == 1 else "warn" if found.exit_code else "ok"
    return (
        environment()
        .get_template("changes.html.j2")
        .render(
            found=found,
            verdict=_verdict(found),
            said=_said(found),
            tone=tone,
            tones=_TONES,
            words=_WORDS,
            parts=list(_shown(found)),
            version=__version__,
        )
    )


def check_output(path: Path, *, force: bool) -> None:
    """Refuse a file that the changes cannot be written to."""
    suffix_of(path, _FORMATS, "what changed between reports")
    check_free(path, force=force)


def save(found: Changes, path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write the changes in the format that the suffix of the path tells."""
    path = Path(path)
    check_output(path, force=force)
    forms = {".html": to_html, ".json": dumps, ".md": to_markdown, ".txt": to_text}
    return write_file(path, forms[path.suffix.lower()](found), force=force, private=True)


def in_notebook(found: Changes) -> str:
    """Return the page in a frame."""
    return framed(to_html(found), 480)
