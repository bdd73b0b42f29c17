"""What was measured, where `treeaudit train --algorithm list` and the site tell it."""

import json
from pathlib import Path
from statistics import median

from benchmarks.private_tables.summary import Results
from treeaudit.trainers.algorithms import ALGORITHMS, as_markdown

__all__ = ["PAGE", "TOLD", "measured", "with_table", "write_listed"]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "private-trainers.md"
TOLD, EPSILON = ("adult", "mushroom"), 1.0
"""The tables whose accuracy is told, and at which epsilon."""

_BEGIN, _END = "<!-- trainers: python -m benchmarks.private_tables -->\n", "<!-- end -->\n"


def measured(results: Results) -> dict[str, str]:
    """Return in words how accurate each trainer was, by its algorithm."""
    found = {}
    for trainer in ALGORITHMS:
        held = {t: results.values(t, EPSILON, trainer.algorithm, "accuracy") for t in TOLD}
        if all(held.values()):
            words = (f"{table} {median(scores.values()):.3f}" for table, scores in held.items())
            found[trainer.algorithm] = ", ".join(words)
    return found


def with_table(text: str, told: dict[str, str]) -> str:
    """Return the page of private trainers with the table of trainers as they are now."""
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}{as_markdown(ALGORITHMS, told)}{_END}{after}"


def write_listed(results: Results) -> None:
    """Write what was measured into the package, and the table into the site."""
    told = measured(results)
    place = ROOT / "treeaudit" / "trainers" / "measured.json"
    place.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), told), encoding="utf-8")
