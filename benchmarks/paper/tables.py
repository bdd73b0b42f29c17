"""Every cell: printed, reproduced by the printed rules, and clean."""

from collections import Counter
from dataclasses import dataclass

from benchmarks.paper.agreement import Agreement, agreement
from benchmarks.paper.cells import DATA, DEPTHS, THRESHOLDS, Cell, Measured, spread
from benchmarks.paper.published import PRINTED, Printed
from benchmarks.paper.words import fixed, shown

__all__ = ["NAMES", "Results", "counted", "judged", "tables"]

NAMES = {"nursery": "Nursery", "loan": "Loan", "adult": "Adult"}

_MARK = {"agrees": "", "cut off": " (cut off)", "ties": " (ties)", "differs": " **(differs)**"}
_WHAT = {
    "U": "U: leaves that single somebody out",
    "N_l": "N_l: leaves of one label",
    "N_u": "N_u: people in leaves of one label",
    "ACC": "ACC: accuracy",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """All measurements.

    Attributes
    ----------
    printed
        By the printed rules.
    clean
        By treeaudit, without the columns that number the records.
    numbered
        By treeaudit with these columns, where there are any.
    """

    printed: Measured
    clean: Measured
    numbered: Measured


def judged(results: Results) -> list[tuple[Printed, Agreement]]:
    """Compare every printed cell with what the printed rules give."""
    return [(p, agreement(p.text, spread(results.printed[p.cell]))) for p in PRINTED]


def counted(results: Results) -> str:
    """Say in one sentence how many cells come out."""
    kinds = Counter(kind for _, kind in judged(results))
    return (
        f"Of {len(PRINTED)} printed cells {kinds['agrees']} are reproduced to the printed digits, "
        f"{kinds['cut off']} if further digits are cut off and not rounded, {kinds['ties']} within "
        f"the range of equally good trees; {kinds['differs']} differ and are listed below."
    )


def tables(results: Results) -> list[str]:
    """Return Tables 5, 6 and 7 in Markdown."""
    depths = [(str(d), d, 0) for d in DEPTHS]
    thresholds = [("original", 7, 0), *((str(s), 7, s) for s in THRESHOLDS)]
    lines = ["", "### Tables 5 and 6: the deeper the tree"]
    lines += _grid(results, "Table 5", "U", "depth", depths)
    for what in ("N_l", "N_u"):
        lines += _grid(results, "Table 6", what, "depth", depths)
    lines += [
        "",
        "Accuracy of these trees, which the paper prints for depth 7 only:",
        "",
        *_accuracy(results),
    ]
    for method in ("Method 1", "Method 2"):
        lines += ["", f"### Table 7, {method}"]
        for what in ("U", "N_l", "N_u", "ACC"):
            lines += _grid(results, f"Table 7, {method}", what, "s", thresholds)
        if method == "Method 1":
            lines += _unanswered(results.clean)
    return lines


def _grid(
    results: Results, table: str, what: str, axis: str, rows: list[tuple[str, int, int]]
) -> list[str]:
    texts = {p.cell: p.text for p in PRINTED if p.table == table}
    rule = table.removeprefix("Table 7, ") if table.startswith("Table 7") else "none"
    heads = [f"{NAMES[data]}: {of}" for data in DATA for of in ("printed", "reproduced", "clean")]
    lines = ["", f"{table}, {_WHAT[what]}", "", f"| {axis} | {' | '.join(heads)} |"]
    lines.append("|---|" + "---:|" * len(heads))
    for label, depth, s in rows:
        line = [label]
        for data in DATA:
            cell = Cell(data, rule if s else "none", depth, s, what)
            found = spread(results.printed[cell])
            mark = _MARK[agreement(texts[cell], found)]
            clean = shown(spread(results.clean[cell]), what)
            line += [texts[cell], shown(found, what) + mark, clean]
        lines.append(f"| {' | '.join(line)} |")
    return lines


def _accuracy(results: Results) -> list[str]:
    heads = [f"{NAMES[data]}: {of}" for data in DATA for of in ("reproduced", "clean")]
    lines = [f"| depth | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    for depth in DEPTHS:
        cells = [Cell(data, "none", depth, 0, "ACC") for data in DATA]
        line = [
            shown(spread(of[c]), "ACC") for c in cells for of in (results.printed, results.clean)
        ]
        lines.append(f"| {depth} | {' | '.join(line)} |")
    return lines


def _unanswered(clean: Measured) -> list[str]:
    """Show Method 1 under the three ways to count records that get no answer."""
    lines = [
        "",
        "Clean Method 1, by what becomes of a record whose leaf was removed. Parent: answered by "
        "the majority of those who are left in its parent (the column *clean* above). Abstain: "
        "left without an answer; accuracy is that of the answered, coverage their share. Wrong: "
        "counted as wrong.",
        "",
    ]
    heads = [f"{NAMES[d]}: {of}" for d in DATA for of in ("parent", "abstain (coverage)", "wrong")]
    lines += [f"| s | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    for s in THRESHOLDS:
        line = [str(s)]
        for data in DATA:
            parent, abstain, coverage, wrong = (
                spread(clean[Cell(data, "Method 1", 7, s, what)]).mean
                for what in ("ACC", "ACC, abstaining", "coverage", "ACC, unanswered wrong")
            )
            line += [fixed(parent, "ACC"), f"{abstain:.4f} ({coverage:.2%})", fixed(wrong, "ACC")]
        lines.append(f"| {' | '.join(line)} |")
    return lines
