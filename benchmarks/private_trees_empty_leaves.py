"""The share of empty leaves: Fletcher & Islam (2017), table 3, on the data that is public."""

import numpy as np

from benchmarks.private_trees_data import coded, read_table
from treeaudit.dp.subsampling import OperatingSystem
from treeaudit.model.routing import walk_of
from treeaudit.trainers.random_trees import random_trees

__all__ = ["empty_leaves_section"]

# Name in the paper, file, depth of table 4, share for 1 tree and for 30 trees of table 3.
PRINTED = (
    ("WallSensor", "wall_following", 4, "48.6 ± 12.3", "65.1 ± 2.1"),
    ("PenWritten", "pendigits", 12, "92.4 ± 1.2", "97.7 ± 0.1"),
    ("GammaTele", "magic", 8, "86.2 ± 3.8", "93.5 ± 0.5"),
    ("Claves", "claves", 8, "0.0 ± 0.0", "28.7 ± 0.4"),
    ("Nursery", "nursery", 4, "0.2 ± 0.5", "7.2 ± 0.8"),
)


def empty_leaves_section(repeats: int) -> list[str]:
    """Return the table: printed and measured."""
    lines = [
        "",
        "## Empty leaves of random trees",
        "",
        "Fletcher & Islam (2017), table 3: percent of the leaves without anybody, 90 % of the "
        f"records, the depths of table 4; here mean and standard deviation of {repeats} draws of "
        "trees and people. Left out are the synthetic tables, whose seed is not stated, and Adult "
        "and Mushroom, whose multiway trees of that depth have more leaves than memory holds.",
        "",
        "| | depth | 1 tree, printed | 1 tree | 30 trees, printed | 30 trees |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, file, depth, one, thirty in PRINTED:
        measured = [_share(file, depth, n_trees, repeats) for n_trees in (1, 30)]
        lines.append(f"| {name} | {depth} | {one} | {measured[0]} | {thirty} | {measured[1]} |")
    return lines


def _share(file: str, depth: int, n_trees: int, repeats: int) -> str:
    table = read_table(file)
    schema = table.schema
    everybody, _ = coded(table)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(repeats):
        people = everybody[rng.permutation(len(everybody))[: int(0.9 * len(everybody))]]
        trees = random_trees(schema, n_trees, depth, None, OperatingSystem())
        empty = []
        for tree, part in zip(trees, np.array_split(people, n_trees), strict=True):
            end = walk_of([tree], schema).descend(part, np.zeros(len(part), dtype=np.intp))
            held = np.bincount(end, minlength=tree.n_nodes)[tree.leaves]
            empty.append(float((held == 0).mean()))
        found.append(100 * np.mean(empty))
    return f"{np.mean(found):.1f} ± {np.std(found):.1f}"
