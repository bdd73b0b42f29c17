"""What each amount of knowledge discloses, as numbers of the whole model."""

from typing import Any

from treeaudit.knowledge.curves import (
    certainty_by_known,
    certainty_by_negations,
    certainty_by_skyline,
    share_certain_by_random,
)
from treeaudit.knowledge.implications import certainty_by_implications
from treeaudit.knowledge.vectors import Vectors

__all__ = ["knowledge_curves"]


def knowledge_curves(vectors: Vectors, most: int) -> dict[str, Any]:
    """Return what follows from the counts alone, for each amount of knowledge."""
    steps, mixed = range(most + 1), vectors.mixed
    people = vectors.size * vectors.leaves
    total = max(int(people.sum()), 1)
    random = [share_certain_by_random(vectors.counts, r) for r in steps]
    known = [certainty_by_known(vectors.counts, r) for r in steps]
    details: dict[str, Any] = {
        "people_countable": int(people.sum()),
        "share_certain_random_known": [float(r @ people) / total for r in random],
        "mean_certainty_by_known": [float(r @ people) / total for r in known],
        "mixed_leaves": int(mixed.leaves.sum()),
        "mixed_people": int((mixed.size * mixed.leaves).sum()),
        "worst_case_certainty_by_known": [],
        "certainty_by_negations": [],
        "certainty_by_implications": [],
        "skyline": [],
    }
    if not len(mixed):
        return details
    labels = int((mixed.counts > 0).sum(axis=1).max())
    counts = mixed.counts
    details["worst_case_certainty_by_known"] = [
        float(certainty_by_known(counts, r).max()) for r in steps
    ]
    details["certainty_by_negations"] = [
        float(certainty_by_negations(counts, r).max()) for r in range(min(labels, most + 1))
    ]
    details["certainty_by_implications"] = certainty_by_implications(mixed, most).tolist()
    details["skyline"] = [
        {
            "negations": n,
            "known": r,
            "implications": k,
            "certainty": float(certainty_by_skyline(counts, n, r, k).max()),
        }
        for n, r, k in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1))
    ]
    return details
