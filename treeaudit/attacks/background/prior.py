"""Public statistics joined with the counts of a leaf: who becomes nearly certain.

With the training people everybody has the prior of their own kind. Without them
the attacker looks at one target of each kind that a leaf's rule lets in; the
others in the leaf are taken to be like everybody else.
"""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.attacks.background.prior_strata import (
    MixedLeaves,
    among_others,
    claimed_leaves,
    posterior,
    real_leaves,
    strata_of,
)
from treeaudit.attacks.background.view import PublicPrior
from treeaudit.attacks.case import Case, leaf_evidence
from treeaudit.attacks.control import Score, control_of
from treeaudit.findings.details import People
from treeaudit.findings.findings import Control, Evidence
from treeaudit.model.words import in_percent, label_text, number_of
from treeaudit.people.prior import Prior
from treeaudit.people.records import Records
from treeaudit.stats import wilson


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inferred:
    """What a public prior discloses."""

    details: PublicPrior
    share: float  # Share of the people whose label the prior makes nearly certain
    summary: str
    evidence: tuple[Evidence, ...] = ()  # The leaves where it is most certain
    # What is inferred, beside the truth and beside unseen people
    controls: tuple[Control, ...] = ()


@dataclass(slots=True, eq=False)
class _Sums:
    """What is found, filled in tree by tree; people are those of the tree with the most."""

    leaves: int = 0
    new_leaves: int = 0
    estimated: int = 0
    contradicting: int = 0
    looked_at: int = 0
    # By tree: summed over trees a person would count once in each.
    people: Counter[int] = field(default_factory=Counter)
    new_people: Counter[int] = field(default_factory=Counter)
    total: Counter[int] = field(default_factory=Counter)
    worst: list[tuple[float, float, int, int, int, int]] = field(default_factory=list)


def under_prior(case: Case, prior: Prior, certainty: float, label: Int | None = None) -> Inferred:
    """Join the counts of every leaf of several labels with what is publicly known."""
    schema = case.forest.schema
    train = case.labelled("train")
    kinds = None if train is None else strata_of(prior, train, schema)
    others = _others(case, prior)
    sums = _Sums()
    seen = None if train is None else _Judged.of(train, kinds)
    unseen, without = _unseen(case, prior), _unseen(case, prior)
    for i, tree in enumerate(case.forest.trees):
        case.step("joining a public prior", i + 1, case.forest.n_trees)
        if train is not None and kinds is not None:
            leaves = real_leaves(case, tree, i, train, kinds, len(prior.values), label)
        else:
            leaves = claimed_leaves(case, tree, i, prior)
        guess = np.full((tree.n_nodes, len(prior.values)), -1, np.int32)
        chance = np.zeros(guess.shape)
        plain = guess.copy()
        for part in leaves.parts(prior.share.size):
            likely = _likely(part, prior, others, sums)
            new = _take_in(part, likely, certainty, i, sums)
            guess[part.node] = np.where(new.any(axis=2), new.argmax(axis=2), -1)
            chance[part.node] = likely.max(axis=2)
            plain[part.node] = part.counts.argmax(axis=1)[:, None]
        if seen is not None:
            seen.add(guess, chance, i, label)
        if unseen is not None and without is not None:
            unseen.add(guess, chance, i, None)
            without.add(np.where(guess >= 0, plain, -1), chance, i, None)
    return _inferred(case, prior, certainty, sums, seen, unseen, without)


@dataclass(slots=True, eq=False)
class _Judged:
    """People with their kinds, and how often the guesses about them are right."""

    score: Score
    kinds: Wide

    @classmethod
    def of(cls, records: Records, kinds: Wide | None) -> "_Judged | None":
        return None if kinds is None else cls(score=Score(records), kinds=kinds)

    def add(self, guess: Int, chance: Float, tree: int, label: Int | None) -> None:
        node = self.score.records.node[:, tree]
        made = guess[node, self.kinds]
        if label is not None:
            made = np.where(label < 0, made, -1).astype(np.int32)
        self.score.add(made, chance[node, self.kinds])


def _unseen(case: Case, prior: Prior) -> "_Judged | None":
    test = case.labelled("test")
    if test is None:
        return None
    return _Judged.of(test, strata_of(prior, test, case.forest.schema))


def _others(case: Case, prior: Prior) -> Float:
    """Return what is publicly known of somebody of whom nothing is known."""
    if prior.others is not None:
        stated: Float = prior.share[prior.others]
        return stated
    total = np.zeros(prior.share.shape[1])
    for tree in case.forest.trees:
        if tree.counts is not None:
            total += tree.counts[0] / max(float(tree.counts[0].sum()), 1e-300)
    share: Float = total / max(float(total.sum()), 1e-300)
    return share


def _likely(part: MixedLeaves, prior: Prior, others: Float, sums: _Sums) -> Float:
    """Return the posterior, shape ``(n_leaves, n_kinds, n_classes)``; 0 where nobody is."""
    if part.people is not None:
        probability, exact, possible = posterior(part.counts, part.people, prior.share)
        sums.estimated += int((~exact).sum())
        sums.contradicting += int((~possible).sum())
        return probability
    likely = among_others(part.counts, prior.share, others)
    # Where the rule tells what everybody is, all have the same prior.
    alike = (part.counts / part.counts.sum(axis=1, keepdims=True))[:, None, :]
    likely = np.where((part.only >= 0)[:, None, None], alike, likely)
    impossible = part.able & ~(likely.sum(axis=2) > 0)
    sums.contradicting += int(impossible.any(axis=1).sum())
    return np.where(part.able[:, :, None], likely, 0.0)


def _take_in(part: MixedLeaves, likely: Float, certainty: float, tree: int, sums: _Sums) -> Flag:
    """Count who passes, and return for whom it is the prior that does it."""
    size = part.counts.sum(axis=1)
    alone = part.counts / size[:, None]
    passing = likely >= certainty
    new: Flag = np.asarray(passing & (alone < certainty)[:, None, :])
    each = part.able * (size[:, None] if part.people is None else part.people)
    sums.looked_at += len(part.node)
    sums.total[tree] += int(size.sum())
    sums.leaves += int(passing.any(axis=(1, 2)).sum())
    sums.new_leaves += int(new.any(axis=(1, 2)).sum())
    if part.people is None:
        sums.people[tree] += int(size[passing.any(axis=(1, 2))].sum())
        sums.new_people[tree] += int(size[new.any(axis=(1, 2))].sum())
    else:
        sums.people[tree] += int(each[passing.any(axis=2)].sum())
        sums.new_people[tree] += int(each[new.any(axis=2)].sum())
    leaf, kind, label = np.nonzero(new)
    best = np.argsort(-likely[leaf, kind, label], kind="stable")[:5]
    for a, b, c in zip(leaf[best].tolist(), kind[best].tolist(), label[best].tolist(), strict=True):
        row = (float(likely[a, b, c]), float(alone[a, c]), tree, int(part.node[a]), b, c)
        sums.worst.append(row)
    sums.worst = sorted(sums.worst, key=lambda found: (-found[0], *found[2:]))[:5]
    return new


def _inferred(
    case: Case,
    prior: Prior,
    certainty: float,
    sums: _Sums,
    seen: _Judged | None,
    unseen: _Judged | None,
    without: _Judged | None,
) -> Inferred:
    real = seen is not None
    people, new_people = (max(n.values(), default=0) for n in (sums.people, sums.new_people))
    share = max((n / max(sums.total[i], 1) for i, n in sums.new_people.items()), default=0.0)
    leaves = number_of(sums.estimated, "leaf", "leaves")
    estimated = f"the Ω-estimate in {leaves} of three or more labels"
    details = PublicPrior(
        origin=prior.origin,
        column=prior.column,
        kinds=len(prior.values),
        certainty=certainty,
        whose="the training people's own" if real else "one target among others",
        method=estimated if sums.estimated else "exact",
        leaves_estimated=People.leaves(sums.estimated),
        leaves_contradicting=People.leaves(sums.contradicting),
        leaves_looked_at=People.leaves(sums.looked_at),
        leaves=People.leaves(sums.leaves),
        people=People(people) if real else None,
        people_at_most=People(people),
        leaves_because_of_prior=People.leaves(sums.new_leaves),
        people_because_of_prior=People(new_people) if real else None,
        people_because_of_prior_at_most=People(new_people),
    )
    baselines = {}
    if unseen is not None and without is not None and unseen.score.n:
        asked = unseen.score.made > 0
        right = prior.share.argmax(axis=1)[unseen.kinds] == unseen.score.records.labels
        n, leaf = unseen.score.n, without.score.of(without.score.right)
        baselines["the prior alone"] = wilson(int(right[asked].sum()), n)
        baselines["the leaf alone"] = wilson(leaf * n, n)
    control = control_of(
        case,
        f"people whose label the prior makes at least {in_percent(certainty, 0)} certain",
        None if seen is None else seen.score,
        None if unseen is None else unseen.score,
        baselines=baselines,
        sampled=True,
    )
    return Inferred(
        details=details,
        share=share if real else 0.0,
        summary=_summary(prior, certainty, sums, real=real),
        evidence=tuple(_evidence(case, prior, row) for row in sums.worst),
        controls=() if control is None else (control,),
    )


def _summary(prior: Prior, certainty: float, sums: _Sums, *, real: bool) -> str:
    leaves, new_people = (
        number_of(sums.new_leaves, "leaf", "leaves"),
        max(sums.new_people.values(), default=0),
    )
    least = f"at least {in_percent(certainty, 0)} certain"
    if not sums.new_leaves:
        return f"{prior.origin} makes nobody {least} in mixed leaves."
    if not real:
        return (
            f"{prior.origin} makes some target {least} in {leaves} "
            f"of several labels, of {new_people:,} people at most."
        )
    people = number_of(new_people, "person", "people")
    return f"{prior.origin} makes {people} in {leaves} of several labels {least}."


def _evidence(case: Case, prior: Prior, row: tuple[float, float, int, int, int, int]) -> Evidence:
    likely, alone, index, leaf, kind, label = row
    name = label_text((case.forest.schema.classes or ())[label])
    says = (
        f"{case.forest.schema.target} = {name} for {prior.kind(kind)}: {in_percent(likely)}, "
        f"against {in_percent(alone)} by the leaf alone"
    )
    (at,) = case.table.positions(index, [leaf]).tolist()
    return leaf_evidence(case, at, says=says)
