"""How severities and verdicts look on the page and in the terminal."""

from typing import NamedTuple


class Look(NamedTuple):
    """A word or mark, the tone of the page, and the styles of a label and of a plain word."""

    word: str
    tone: str
    style: str
    plain: str = ""


SEVERITY = {
    "high": Look("HIGH", "bad", "bold red"),
    "medium": Look("MEDIUM", "warn", "bold yellow"),
    "low": Look("LOW", "info", "cyan"),
    "none": Look("CLEAR", "ok", "green"),
    "skipped": Look("SKIP", "skip", "dim"),
}
VERDICT = {
    "pass": Look("✓", "ok", "bold white on green", "bold green"),
    "fail": Look("✕", "bad", "bold white on red", "bold red"),
    "review": Look("–", "warn", "black on yellow", "bold yellow"),
    "accepted": Look("◇", "info", "bold white on blue", "bold blue"),
    "observed": Look("", "skip", "reverse", "dim"),
}
