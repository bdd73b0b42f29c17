"""``python -m benchmarks.private_trees``: private trees beside what papers print, and in time.

Needs ``TREEAUDIT_DATA``. Writes ``benchmarks/PRIVATE.md``, all of it or what ``--only`` names. How
accurate they are is measured by ``python -m benchmarks.private_tables``.
"""

import argparse
import platform
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.private_trees_adult import adult_section
from benchmarks.private_trees_empty_leaves import empty_leaves_section
from benchmarks.private_trees_forests import forests_section
from benchmarks.private_trees_lead import lead_section
from benchmarks.private_trees_single_split import single_split_section
from benchmarks.private_trees_speed import speed_section
from benchmarks.sections import replace_section
from treeaudit.errors import PrivacyWarning

WRITTEN = Path(__file__).parent / "PRIVATE.md"


def main() -> None:
    """Measure what is asked for, a section after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200, help="runs of the single split")
    parser.add_argument("--folds", type=int, default=10, help="of ten, that are run")
    parser.add_argument(
        "--rows", type=int, nargs="+", default=[1_000_000, 3_000_000], help="of the speed test"
    )
    parser.add_argument("--runs", type=int, default=3, help="of the speed test")
    parser.add_argument("--no-file", action="store_true", help="print only")
    sections: dict[str, Callable[[argparse.Namespace], list[str]]] = {
        "single split": lambda asked: single_split_section(asked.repeats),
        "adult": lambda asked: adult_section(asked.folds),
        "lead": lambda asked: lead_section(asked.folds),
        "empty leaves": lambda _: empty_leaves_section(20),
        "forests": lambda asked: forests_section(asked.folds),
        "speed": lambda asked: speed_section(asked.rows, asked.runs),
    }
    parser.add_argument("--only", nargs="+", choices=sections, default=list(sections))
    asked = parser.parse_args()
    # What is published and flawed says so at every fit.
    warnings.simplefilter("ignore", PrivacyWarning)
    # Nursery has a class of two people.
    warnings.filterwarnings("ignore", "The least populated class")
    text = WRITTEN.read_text(encoding="utf-8") if WRITTEN.exists() else ""
    text = replace_section(text, "heading", _heading())
    for name in asked.only:
        section = "\n".join(sections[name](asked))
        print(section, flush=True)
        text = replace_section(text, name, section)
        if not asked.no_file:
            WRITTEN.write_text(text, encoding="utf-8")


def _heading() -> str:
    import sklearn

    return "\n".join(
        [
            "# Private trees: what is printed about them, and their cost",
            "",
            f"Written by `python -m benchmarks.private_trees`. Python {platform.python_version()}, "
            f"numpy {np.__version__}, scikit-learn {sklearn.__version__}, {platform.machine()}. "
            "Neighbours: add-remove. How accurate they are: "
            "[PRIVATE_TABLES.md](PRIVATE_TABLES.md).",
        ]
    )


if __name__ == "__main__":
    main()
