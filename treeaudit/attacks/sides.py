"""Members, control and reference: three groups of people who never mix.

An attack that is tested on the people it was tuned on proves nothing. What is
learnt about the population comes from one half of the unseen people; the other
half is the control.
"""

import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.attacks.case import Case
from treeaudit.attacks.count_score import Reference
from treeaudit.records import Records

__all__ = ["FEWEST", "Sides", "refusal", "sides"]

Index = npt.NDArray[np.intp]

FEWEST = 40
"""With fewer unseen people neither half says anything."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sides:
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


def refusal(case: Case) -> str:
    """Return why the counts cannot be attacked, in one sentence; empty where they can."""
    return missing_people(case) or unknown_counts(case)


def missing_people(case: Case) -> str:
    """Return which people are missing, in one sentence; empty where none are."""
    if case.train is None or case.test is None:
        given = (("--train", case.train), ("--test", case.test))
        missing = [option for option, records in given if records is None]
        return f"needs {' and '.join(missing)} to tell success from chance"
    if case.forest.schema.classes is not None:
        for records in (case.train, case.test):
            if records.labels is None:
                return f"{records.origin} has no column of labels; name it with --target"
    if len(case.test) < FEWEST:
        return f"{case.test.origin} has {len(case.test)} people; at least {FEWEST} are needed"
    return ""


def unknown_counts(case: Case) -> str:
    """Return why the counts of the leaves say nothing, in one sentence; empty where they do."""
    forest = case.forest
    if forest.counts_are == "noisy":
        return "the counts carry noise, and the score of counts does not know its law"
    if all(tree.n_records is None and tree.counts is None for tree in forest.trees):
        return "the model does not tell how many people are in a leaf"
    return ""


def sides(case: Case, attack_id: str, most: int) -> Sides:
    """Split the people by the seed of the case.

    Parameters
    ----------
    case
        With ``train`` and ``test``.
    attack_id
        Whose draw it is, so that neither order nor selection changes it.
    most
        The most members, and the most control people.
    """
    assert case.train is not None and case.test is not None  # noqa: S101, PT018  # refused before
    rng = np.random.default_rng([case.seed, zlib.crc32(attack_id.encode())])
    members = rng.permutation(len(case.train))[:most]
    unseen = rng.permutation(len(case.test))
    half = len(unseen) // 2
    return Sides(
        train=case.train,
        test=case.test,
        members=np.sort(members),
        control=np.sort(unseen[half : half + most]),
        reference=np.sort(unseen[:half]),
    )
