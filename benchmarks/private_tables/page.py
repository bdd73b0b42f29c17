"""The page: who was measured, who is ahead, every table."""

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import numpy as np
from scipy.stats import binomtest

from benchmarks.private_tables.cells import CHOSEN_ON, EPSILONS, HELD_OUT, TABLES, Cell, Score
from benchmarks.private_tables.definitions import own_definition
from benchmarks.private_tables.figures import figure
from benchmarks.private_tables.models import PEERS, RUNNERS, module_of
from benchmarks.private_tables.models.model import Model
from benchmarks.private_tables.papers import beside_the_papers
from benchmarks.private_tables.ranks import Ranks, diagram, ranked
from benchmarks.private_tables.summary import METRICS, Contest, Results, contests, most_ahead

__all__ = ["write_page"]

MODELS: Mapping[str, Model] = {
    name: model for module in RUNNERS.values() for name, model in module_of(module).MODELS.items()
}
WITH_DELTA: str = module_of(RUNNERS["treeaudit"]).WITH_DELTA
OURS = tuple(name for name in module_of(RUNNERS["treeaudit"]).MODELS if name != WITH_DELTA)
THEIRS = tuple(name for peer in PEERS for name in module_of(RUNNERS[peer]).MODELS)
NAMES = {"accuracy": "accuracy", "auc": "AUC"}
GOALS = {"accuracy": (0.830, 0.843, 0.846), "auc": (0.88, 0.895, 0.90)}
"""On adult, at epsilon 0.1, 0.5 and 1."""


def write_page(
    scores: Mapping[Cell, Score], shapes: Mapping[str, str], absent: Mapping[str, str], page: Path
) -> None:
    """Write the page and its figures.

    Parameters
    ----------
    scores
        What there is, measured in one run or several.
    shapes
        What the page says of a table: records, columns, classes.
    absent
        Why a peer was not measured.
    page
        The file; figures go to ``figures`` beside it.
    """
    results = Results(scores)
    single = {name: contests(results, HELD_OUT, [name], THEIRS) for name in OURS}
    best = most_ahead(single)
    anyone = contests(results, HELD_OUT, OURS, THEIRS)
    figures = page.parent / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    for metric in METRICS:
        drawn = figure(results, metric, best, OURS, THEIRS)
        (figures / f"private-tables-{metric}.svg").write_text(drawn, encoding="utf-8")
    compared = [name for name in (*OURS, "naive-bayes") if name in {cell.model for cell in scores}]
    different = []
    for metric in METRICS:
        ranks = ranked(results, TABLES, 1.0, compared, metric)
        if ranks is not None:
            title = f"Mean rank of the {NAMES[metric]} at epsilon 1"
            place = f"private-tables-ranks-{metric}.svg"
            (figures / place).write_text(diagram(ranks, title), encoding="utf-8")
            different.append((title, place, ranks))
    lines = [
        *_heading(scores, absent),
        *_counts(results, single, anyone),
        *_ranks(different),
        *_lost(f"Where {MODELS[best].title} is behind the best peer", single[best], results),
        *_lost("Where all of ours are behind the best peer", anyone, results),
        *_adult(results),
        *own_definition(results, WITH_DELTA, {n: model.title for n, model in MODELS.items()}),
        *beside_the_papers(results),
        *_failures(scores),
        *(line for table in TABLES for line in _table(results, table, shapes)),
    ]
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _heading(scores: Mapping[Cell, Score], absent: Mapping[str, str]) -> list[str]:
    used = sorted({score.by for score in scores.values()})
    seeds = {cell.seed for cell in scores}
    return [
        "# Private trees on twelve tables, beside their peers",
        "",
        f"Written by `python -m benchmarks.private_tables` from `private_tables.jsonl` "
        f"({len(scores):,} fits, {len(seeds)} random splits, "
        f"{sum(score.seconds for score in scores.values()) / 60:.0f} CPU minutes). "
        f"{platform.python_implementation()} {platform.python_version()}; {'; '.join(used)}.",
        "",
        "* **Data.** Records without missing values. The splits, 80 % to train and 20 % to test, "
        "are the same for everybody; so is what is public: bounds and categories of the whole "
        "table, and the classes. `loan` without `ID` and `ZIP Code`; a column of two numbers is "
        "one of categories. No table is cut short.",
        f"* **Defaults** of ours were chosen on {', '.join(CHOSEN_ON)}; on the nine others nothing "
        "was chosen. All of ours are sound, at their defaults, without a seed, add-remove; "
        "`semi-supervised-forest` draws its public records from the schema.",
        "* **Accuracy** of `predict`; **AUC** of `predict_proba`: the mean over classes of class "
        "against rest, of the classes that the test records have.",
        "* **Cells** are medians over the splits, in brackets the 10th and 90th percentile; two "
        "models are compared on the splits that both have. A fit that fails counts as 0. A tie "
        "is no loss. The best of several is taken by the same medians, which flatters the best "
        "peer, and the best of ours in the row that takes it.",
        "* **Definitions.** Ours, diffprivlib, PrivaTree and naive Bayes claim pure ε (diffprivlib "
        "does not say for which neighbours); `threshold-forest` of ours claims (ε, δ) with δ = "
        "1e-6. **DP-EBM claims (ε, δ) with δ = 1e-5**, a weaker "
        "promise at the same ε, and learns two classes only; `private-additive-delta` of ours "
        "makes the same promise and is met with it alone.",
        "* **Peers** at the settings of their authors' experiments or defaults, in environments "
        "of their own. diffprivlib and PrivaTree get categories as numbers, by position. "
        "PrivaTree is on no package index and comes from a folder: depth 4, 10 bins, categories "
        "declared.",
        "* **Naive Bayes** (16 bins of equal width, ε / (columns + 1) a table of counts, Laplace "
        "noise in floating point) is a baseline, not a release.",
        *(f"* **Not measured**: {peer}: {reason}." for peer, reason in absent.items()),
    ]


def _counts(
    results: Results, single: Mapping[str, Sequence[Contest]], anyone: Sequence[Contest]
) -> list[str]:
    rows = {MODELS[name].title: (found, [name]) for name, found in single.items()}
    rows["any of ours, the best of each cell"] = (list(anyone), list(OURS))
    lines = [
        "",
        "## In how many cells ours is at least the best peer",
        "",
        "A row is one trainer at its one default, and it is set beside the best of all peers in "
        "each cell. The last row takes the best of ours in each cell too: what could be had by "
        "knowing which.",
        "",
        "| | nine tables: accuracy | nine tables: AUC | three tables: accuracy | "
        "three tables: AUC | nine tables, naive Bayes: accuracy | nine tables, naive Bayes: AUC |",
        "| --- " * 7 + "|",
    ]
    for title, (found, names) in rows.items():
        columns = (
            found,
            contests(results, CHOSEN_ON, names, THEIRS),
            contests(results, HELD_OUT, names, ["naive-bayes"]),
        )
        cells = [_won(column, metric) for column in columns for metric in METRICS]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    lines += [
        "",
        "![Accuracy by epsilon on the twelve tables](figures/private-tables-accuracy.svg)",
        "",
        "![AUC by epsilon on the twelve tables](figures/private-tables-auc.svg)",
    ]
    return lines


def _ranks(different: Sequence[tuple[str, str, Ranks]]) -> list[str]:
    if not different:
        return []
    lines = [
        "",
        "## Which trainers differ",
        "",
        "Ranks of the medians on every table, over the splits that all have, averaged; "
        "Friedman's test and the critical difference of Nemenyi at 5 % (Demsar 2006). "
        "Trainers that a bar joins do not differ by it. `threshold-forest` claims (ε, δ) with "
        "δ = 1e-6, and all others ε.",
    ]
    for title, place, ranks in different:
        told = ", ".join(
            f"{name} {mean:.1f}" for name, mean in zip(ranks.names, ranks.mean, strict=True)
        )
        lines += ["", f"![{title}](figures/{place})", "", f"{title}: {told}."]
    return lines


def _won(found: Sequence[Contest], metric: str) -> str:
    of = [contest for contest in found if contest.metric == metric]
    return f"{sum(contest.won for contest in of)} of {len(of)}"


def _lost(title: str, found: Sequence[Contest], results: Results) -> list[str]:
    lost = [contest for contest in found if not contest.won]
    if not lost:
        return ["", f"## {title}", "", "Nowhere." if found else "Nothing was measured."]
    return [
        "",
        f"## {title}",
        "",
        "| table | ε | | ours | best peer | by | why |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(
            f"| {c.table} | {c.epsilon:g} | {NAMES[c.metric]} | {c.reached:.4f}, {c.ours} | "
            f"{c.to_reach:.4f}, {c.theirs} | {c.to_reach - c.reached:.4f} | {_why(c, results)} |"
            for c in lost
        ),
    ]


def _why(contest: Contest, results: Results) -> str:
    """Return what a miss may come from: chance of the splits, or a promise that is weaker."""
    n, first = len(contest.ahead), sum(one >= 0 for one in contest.ahead)
    few, many = np.quantile(contest.ahead, [0.1, 0.9])
    by_chance = binomtest(first, n).pvalue > 0.05
    said = [
        f"first or level on {first} of {n} splits ({few:+.3f} to {many:+.3f})"
        + (", which chance alone may do" if by_chance else "")
    ]
    if contest.theirs == "dp-ebm":
        said.append("a weaker promise, δ = 1e-5")
        cell = contest.table, contest.epsilon
        ours = results.values(*cell, WITH_DELTA, contest.metric)
        both = ours.keys() & (theirs := results.values(*cell, "dp-ebm", contest.metric)).keys()
        if both:
            a, b = (median(held[seed] for seed in both) for held in (ours, theirs))
            said.append(f"with it, ours has {a:.4f} and theirs {b:.4f} ({len(both)} splits)")
    return "; ".join(said)


def _adult(results: Results) -> list[str]:
    epsilons = EPSILONS[:3]
    lines = [
        "",
        "## Adult at pure ε",
        "",
        "| | " + " | ".join(f"{NAMES[m]}, ε {e:g}" for m in METRICS for e in epsilons) + " |",
        "| --- " * (1 + 2 * len(epsilons)) + "|",
        "| to reach | " + " | ".join(f"{g:.3f}" for m in METRICS for g in GOALS[m]) + " |",
    ]
    for name in (*OURS, "naive-bayes"):
        cells = [
            f"{median(found):.4f}" if found else "–"
            for metric in METRICS
            for epsilon in epsilons
            for found in [list(results.values("adult", epsilon, name, metric).values())]
        ]
        lines.append(f"| {MODELS[name].title} | {' | '.join(cells)} |")
    return lines


def _failures(scores: Mapping[Cell, Score]) -> list[str]:
    failed = Counter(
        (cell.model, cell.table, score.failed) for cell, score in scores.items() if score.failed
    )
    if not failed:
        return ["", "No fit failed."]
    return [
        "",
        "## Fits that failed",
        "",
        *(f"* {m}, {t}, {n} fits: `{why}`" for (m, t, why), n in sorted(failed.items())),
    ]


def _table(results: Results, table: str, shapes: Mapping[str, str]) -> list[str]:
    kind = "defaults were chosen on it" if table in CHOSEN_ON else "held out"
    lines = ["", f"## {table}", "", f"{shapes.get(table, '')}; {kind}."]
    columns = [(metric, epsilon) for metric in METRICS for epsilon in EPSILONS]
    lines += [
        "",
        "| | " + " | ".join(f"{NAMES[m]}, ε {e:g}" for m, e in columns) + " | splits |",
        "| --- " * (len(columns) + 2) + "|",
    ]
    names = [
        n for n in (*OURS, WITH_DELTA, *THEIRS) if any(results.of(table, e, n) for e in EPSILONS)
    ]
    names += module_of(RUNNERS["baselines"]).MODELS
    for name in names:
        private = MODELS[name].private
        held = [results.values(table, e if private else None, name, m) for m, e in columns]
        title = f"**{MODELS[name].title}**" if name in (*OURS, WITH_DELTA) else MODELS[name].title
        splits = sorted({len(found) for found in held if found})
        shown = "–".join(str(n) for n in {*splits[:1], *splits[-1:]})
        lines.append(f"| {title} | {' | '.join(_spread(found) for found in held)} | {shown} |")
    return lines


def _spread(found: Mapping[int, float]) -> str:
    if not found:
        return "–"
    low, high = np.quantile(list(found.values()), [0.1, 0.9])
    spread = f" [{low:.3f}, {high:.3f}]" if low < high else ""
    return f"{median(found.values()):.3f}{spread}"
