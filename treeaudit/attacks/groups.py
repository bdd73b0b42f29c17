"""Members, control and reference: three groups of people who never mix.

An attack that is tested on the people it was tuned on proves nothing. What is
learnt about the population comes from one half of the unseen people; the other
half is the control.
"""

import zlib
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Index
from treeaudit.attacks.case import Case
from treeaudit.attacks.count_score import Reference
from treeaudit.people.records import Records

__all__ = ["Groups", "split_groups"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Groups:
    """Rows of the people given, by what they are used for.

    Attributes
    ----------
    train, test
        The people.
    members
        Rows of ``train``, sampled.
    control
        Rows of ``test`` that nothing is learnt from, sampled.
    reference
        Rows of the other half of ``test``, all of them.
    """

    train: Records
    test: Records
    members: Index
    control: Index
    reference: Index

    def population(self, case: Case) -> Reference:
        """Return the reference half as the count score takes it."""
        labels = self.test.labels
        return Reference(
            node=self.test.node[self.reference],
            labels=None if labels is None else labels[self.reference],
            n_members=case.forest.n_records or len(self.train),
        )


def split_groups(case: Case, attack_id: str, most: int) -> Groups:
    """Split the people by the seed of the case.

    Where it is known whose each record is, everybody is asked about once, by one of
    their records, and nobody's records stand in both halves.

    Parameters
    ----------
    case
        With ``train`` and ``test``.
    attack_id
        Whose draw it is, so that neither order nor selection changes it.
    most
        The most members, and the most control people.
    """
    train, test = case.people("train"), case.people("test")
    rng = np.random.default_rng([case.seed, zlib.crc32(attack_id.encode())])
    members = _one_each(train, rng.permutation(len(train)))[:most]
    every = rng.permutation(len(test))
    unseen = _one_each(test, every)
    half = len(unseen) // 2
    reference = unseen[:half]
    if test.persons is not None:
        reference = np.flatnonzero(np.isin(test.persons, test.persons[reference]))
    return Groups(
        train=train,
        test=test,
        members=np.sort(members),
        control=np.sort(unseen[half : half + most]),
        reference=np.sort(reference),
    )


def _one_each(people: Records, order: Index) -> Index:
    """Return the first record of every person in an order; all where persons are not known."""
    if people.persons is None:
        return order
    return order[np.sort(np.unique(people.persons[order], return_index=True)[1])]
