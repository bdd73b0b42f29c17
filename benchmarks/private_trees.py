"""``python -m benchmarks.private_trees``: private trees beside what papers print, and in time.

Needs ``TREEAUDIT_DATA``. Writes ``benchmarks/PRIVATE.md``. How accurate they are is measured by
``python -m benchmarks.private_tables``.
"""

import argparse
import platform
from pathlib import Path

import numpy as np

from benchmarks.private_trees_empty_leaves import empty_leaves_section
from benchmarks.private_trees_single_split import single_split_section
from benchmarks.private_trees_speed import speed_section

WRITTEN = Path(__file__).parent / "PRIVATE.md"


def main() -> None:
    """Measure everything in one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200, help="runs of the single split")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the speed test")
    parser.add_argument("--no-file", action="store_true", help="print only")
    options = parser.parse_args()
    text = "\n".join(
        [
            *_heading(),
            *single_split_section(options.repeats),
            *empty_leaves_section(20),
            *speed_section(options.rows),
            "",
        ]
    )
    print(text)
    if not options.no_file:
        WRITTEN.write_text(text, encoding="utf-8")


def _heading() -> list[str]:
    import sklearn

    return [
        "# Private trees: what is printed about them, and their cost",
        "",
        f"Written by `python -m benchmarks.private_trees`. Python {platform.python_version()}, "
        f"numpy {np.__version__}, scikit-learn {sklearn.__version__}, {platform.machine()}. "
        "Neighbours: add-remove. How accurate they are: [PRIVATE_TABLES.md](PRIVATE_TABLES.md).",
    ]


if __name__ == "__main__":
    main()
