"""What each amount of knowledge discloses, as numbers of the whole model."""

from collections.abc import Iterable

from treeaudit.arrays import Wide
from treeaudit.attacks.background.certainty import (
    certainty_by_known,
    certainty_by_negations,
    certainty_by_skyline,
    share_certain_by_random,
)
from treeaudit.attacks.background.details import (
    BackgroundDetails,
    Knowledge,
    KnownPeople,
    PublicPrior,
)
from treeaudit.attacks.background.implications import certainty_by_implications
from treeaudit.attacks.background.vectors import Vectors
from treeaudit.attacks.distinct_people import InAnyTree
from treeaudit.findings.numbers import People, Share

__all__ = ["knowledge_details"]


_PIECES = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1))


def knowledge_details(
    vectors: Vectors,
    mine: Vectors,
    disclosed: Wide,
    leaves: Wide,
    *,
    not_countable: int,
    total: int,
    by_one: InAnyTree,
    by_most: InAnyTree,
    known: KnownPeople | None,
    prior: PublicPrior | None,
) -> BackgroundDetails:
    """Return what follows from the counts for each amount of knowledge, with what was given.

    Parameters
    ----------
    vectors, mine
        The countable leaves, and those of the tree whose people are told.
    disclosed, leaves
        Shape ``(most + 1,)``: people of that tree who fall by the r best others, and
        leaves of all for which exactly r are enough.
    not_countable, total
        Further leaves, and the people of the tree.
    by_one, by_most
        Who falls by one and by the most others, over all trees.
    """
    steps, mixed = range(len(disclosed)), vectors.mixed
    people = mine.size * mine.leaves
    some = max(int(people.sum()), 1)
    counts = mixed.counts
    by_known: list[float] = []
    by_negations: list[float] = []
    by_implications: list[float] = []
    skyline: list[Knowledge] = []
    if len(mixed):
        labels = int((counts > 0).sum(axis=1).max())
        by_known = [certainty_by_known(counts, r).max() for r in steps]
        by_negations = [certainty_by_negations(counts, r).max() for r in steps[:labels]]
        by_implications = certainty_by_implications(mixed, steps[-1]).tolist()
        skyline = [
            Knowledge(
                negations=n,
                known=r,
                implications=k,
                certainty=Share(certainty_by_skyline(counts, n, r, k).max()),
            )
            for n, r, k in _PIECES
        ]
    return BackgroundDetails(
        tree=by_one.tree if by_one.worst else by_most.tree,
        disclosed_by_one_in_any_tree=by_one,
        disclosed_by_most_in_any_tree=by_most,
        people_disclosed_by_known=tuple(map(People, disclosed.tolist())),
        leaves_by_known=tuple(map(People.leaves, leaves.tolist())),
        leaves_not_countable=not_countable,
        people_total=People(total),
        people_countable=People(int(people.sum())),
        share_certain_random_known=_shares(
            float(share_certain_by_random(mine.counts, r) @ people) / some for r in steps
        ),
        mean_certainty_by_known=_shares(
            float(certainty_by_known(mine.counts, r) @ people) / some for r in steps
        ),
        mixed_leaves=People.leaves(int(mixed.leaves.sum())),
        mixed_people=People(int((mine.mixed.size * mine.mixed.leaves).sum())),
        worst_case_certainty_by_known=_shares(by_known),
        certainty_by_negations=_shares(by_negations),
        certainty_by_implications=_shares(by_implications),
        skyline=tuple(skyline),
        known=known,
        prior=prior,
    )


def _shares(values: Iterable[float]) -> tuple[Share, ...]:
    return tuple(map(Share, values))
