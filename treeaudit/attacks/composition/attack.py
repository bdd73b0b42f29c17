"""Composition: what all trees of a forest say together (TA106).

Every leaf may hold many people, and still nobody shares all leaves with anybody. To somebody who
knows everybody's features each leaf is one equation on the labels of its people, and a forest
has more equations than people. What the model answers anyway is no leak of its leaves: the
measure is what the equations give back beyond the model's own answers, on the same people. An
average hides the few whose label or number is not guessed but follows: they are counted apart.

References
----------
Ganta, Kasiviswanathan and Smith (2008), Composition attacks and auxiliary information in data
privacy. Dinur and Nissim (2003), Revealing information while preserving privacy: least squares on
the answers of subset queries.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float
from treeaudit.attacks.case import Case, Need, severity_of_share
from treeaudit.attacks.composition.bounds import shared_leaf_groups
from treeaudit.attacks.composition.certain import (
    Certain,
    Truth,
    certain_people,
    draws_known,
    frequent,
    truth_of,
)
from treeaudit.attacks.composition.equations import (
    NEEDS,
    Said,
    adds_steps,
    not_applicable,
    reweighs,
    said_by,
    said_by_people,
    said_by_weighted,
)
from treeaudit.attacks.composition.joint import Solution, solve
from treeaudit.attacks.composition.unseen import Unseen, unseen_of
from treeaudit.attacks.composition.view import CompositionDetails, FirstTrees, view
from treeaudit.findings.checks import Rule, most
from treeaudit.findings.details import Details, People, Share
from treeaudit.findings.findings import About, Finding, Skipped, Words, details_of
from treeaudit.findings.report import Show
from treeaudit.inference.scope import draws_samples
from treeaudit.model.forest import Forest
from treeaudit.model.words import in_percent
from treeaudit.people.predict.newton_steps import means_from_steps
from treeaudit.people.predict.predictions import (
    Answers,
    averages,
    column_of_each_tree,
    target_values,
)
from treeaudit.people.records import Records

_GROUPED = (1, 2, 5, 10, 20, 50, 100)


def _measured(
    case: Case,
    said: Said,
    truth: Truth,
    right: dict[int, Flag],
    found: Solution,
    known: bool,
    certain: Certain,
    unseen: Unseen | None,
) -> CompositionDetails:
    """Return everything that is told of what all trees gave back."""
    n_trees, train = case.forest.n_trees, case.people("train")
    joint, own = right[n_trees], truth.right(truth.own)
    weight = _weight_of(train)
    n = round(float(weight.sum()))
    labels = said.kind != "numbers"
    of_label = np.zeros(1)
    if labels:
        of_label = np.bincount(train.known_labels, weight).astype(np.float64)
    held = np.flatnonzero(of_label)
    rare = np.zeros(len(train), np.bool_)
    if labels:
        rare = train.known_labels == held[of_label[held].argmin()]
    rarest = _people(weight, rare)
    excess, control = _beyond(truth, joint, weight), None
    more = nobody = np.zeros(len(case.forest.schema.classes or ()))
    if unseen is not None:
        control = unseen.excess(found.unseen)
        more = unseen.more_of_labels(found.unseen, len(more)) if labels else more
    sizes = shared_leaf_groups(train.node, {*_GROUPED, n_trees}, train.persons)
    return CompositionDetails(
        train=People(n),
        by="steps" if adds_steps(case.forest) else said.kind,
        draws_known=known,
        joint=Share.of(_people(weight, joint), n),
        own=Share.of(_people(weight, own), n),
        excess=Share(excess),
        unseen_excess=control,
        memorised=Share(excess - max(0.0, 0.0 if control is None else control.low)),
        excess_of_one_label=_of_one_label(truth, found, weight, nobody) if labels else None,
        memorised_of_one_label=_of_one_label(truth, found, weight, more) if labels else None,
        certain=People(certain.people),
        certain_alone=People(certain.alone),
        majority=Share.of(round(float(of_label.max())), n) if labels else None,
        rarest_people=People(rarest) if labels else None,
        rarest_joint=Share.of(_people(weight, joint & rare), rarest) if labels else None,
        rarest_own=Share.of(_people(weight, own & rare), rarest) if labels else None,
        tolerance=None if labels else truth.tolerance,
        equations=found.equations,
        steps=found.steps,
        settled=found.settled,
        k=case.k,
        curve=tuple(
            FirstTrees(
                trees=trees,
                groups=People(groups, "group", "groups"),
                alone=People(int((size == 1).sum())),
                below_k=People(int((size < case.k).sum())),
                smallest=People(int(size.min())),
                joint=Share.of(_people(weight, right[trees]), n) if trees in right else None,
            )
            for trees, (groups, size) in sizes.items()
        ),
    )


def _beyond(truth: Truth, joint: Flag, weight: Float) -> float:
    """Return of what share more the answers are right than those of the model itself."""
    more = float(weight @ (joint.astype(np.int64) - truth.right(truth.own)))
    return more / round(float(weight.sum()))


def _weight_of(train: Records) -> Float:
    """Return what each record counts: everybody counts once, spread over their records."""
    if train.persons is None:
        return np.ones(len(train))
    return 1.0 / np.bincount(train.persons)[train.persons]


def _people(weight: Float, chosen: Flag) -> int:
    return round(float(weight[chosen].sum()))


def _of_one_label(truth: Truth, found: Solution, weight: Float, less: Float) -> Share:
    """Return what the attack finds more of the people of a label, less false alarms, at most.

    ``less``: shape ``(n_classes,)``: what of it is a fact of the population.
    """
    n = np.bincount(truth.real, weight)

    def net(answer: npt.NDArray[Any]) -> Float:
        """Return how many are called a label rightly, less how many wrongly, per label."""
        hit = answer == truth.real
        right = np.bincount(answer[hit], weight[hit], len(n))[: len(n)]
        called = np.bincount(answer, weight, len(n))[: len(n)]
        return (2 * right - called).astype(np.float64)

    more = net(found.answer) - np.maximum(net(truth.own), 0.0)
    held = np.flatnonzero(n)
    return Share(float((more[held] / n[held] - less[held]).max()))


_SOLVED = (5, 20, 100)

_DOUBT = {"shares": 0.3, "labels": 1.0, "numbers": 0.3}
"""Where the draws of the trees are not known: what a leaf says is off, and people are likelier to
be what the model answers. Found on Adult, leaves of 2 to 100 people."""


def _excess(findings: Sequence[Finding], _: Forest) -> float:
    return max(0.0, details_of(findings[0], CompositionDetails).memorised)


def _excess_of_one_label(findings: Sequence[Finding], _: Forest) -> float:
    return max(0.0, details_of(findings[0], CompositionDetails).memorised_of_one_label or 0.0)


def _beyond_unseen(title: str) -> Callable[[Sequence[Finding]], str]:
    """Return what adds to a title that its number is compared with that of unseen people."""

    def wider(findings: Sequence[Finding]) -> str:
        each = [details_of(one, CompositionDetails) for one in findings]
        control = bool(each) and each[0].unseen_excess is not None
        return f"{title}, less those of unseen people" if control else ""

    return wider


_LABELS = "Labels all trees give back beyond the model's answers"
_RARE = "People of one label found beyond the model's answers"

_EXCESS = Rule(
    name="max-joint-label-excess",
    title=_LABELS,
    wider=_beyond_unseen(_LABELS),
    bound="at most {:.1%}",
    tells_of="everybody",
    measure=_excess,
    share=True,
    needless=not_applicable,
    step="release fewer trees, or trees with larger leaves; rounding their shares hardly helps; "
    "unseen people (--test) tell what of it is a fact of the population",
    rests_on=("unit", "train"),
)

_ONE_LABEL = Rule(
    name="max-joint-one-label-excess",
    title=_RARE,
    wider=_beyond_unseen(_RARE),
    bound="at most {:.1%}",
    measure=_excess_of_one_label,
    share=True,
    needless=not_applicable,
    rests_on=("unit", "train"),
)
"""Of a rare label all people may be found, and hardly any answer more be right of all."""

_CERTAIN = Rule(
    name="max-joint-certain-people",
    title="People certain by all trees, and people in groups below k whose labels are counted",
    bound="at most {:,.0f}",
    measure=most("certain"),
    among=True,
    needless=not_applicable,
    step="release fewer trees, or draw who is in which tree (bootstrap): larger leaves alone need "
    "not help",
    rests_on=("below_k", "unit", "train"),
)
"""One person whose number is exact is no average."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """Put the leaves of all trees together: groups, and the labels that fit all of them."""

    id: ClassVar[str] = "TA106"
    title: ClassVar[str] = "Composition of trees"
    words: ClassVar[Words] = Words(
        kinds=("linkability", "attribute inference"),
        attacker="What a leaf tells is one equation on the labels of the people in it. The "
        "attacker, who knows which leaves everybody ends in, solves the equations of all trees "
        "together for the labels of single people.",
        assumes="the attacker has the file and knows the features of everybody in the training "
        "data and how frequent each label is, but nobody's label and not who was drawn into which "
        "tree",
        remedy="release fewer trees, or trees with larger leaves; rounding shares, or keeping only "
        "the label of each leaf, takes little away",
        limit="least squares is one way to solve the equations; another may find more. Of boosting "
        "it measures the most that the steps can tell. It finds certain people only if every tree "
        "holds everybody and states exact numbers, and not all of them. If seeds in the file "
        "repeat the draws (TA203), it measures too little, and no check passes until they are "
        "removed",
        reference="Ganta, Kasiviswanathan and Smith (2008); Dinur and Nissim (2003)",
    )
    about: ClassVar[About] = "people"
    checks: ClassVar[tuple[Rule, ...]] = (_EXCESS, _ONE_LABEL, _CERTAIN)
    view: ClassVar[Show] = staticmethod(view)
    needs: ClassVar[tuple[Need, ...]] = NEEDS
    details: ClassVar[type[Details]] = CompositionDetails

    def run(self, case: Case) -> Finding | Skipped:
        """Return what all trees give back of the labels, or of the number that is predicted."""
        forest, train = case.forest, case.people("train")
        column = column_of_each_tree(forest) if adds_steps(forest) else None
        answers: Answers | None = None
        if reweighs(forest):
            known, said = True, said_by_weighted(forest, train)
        elif column is None:
            known = draws_known(forest, train)
            answers = Answers(forest, len(train)) if averages(forest) else None
            beside = None if answers is None else answers.add
            said = said_by(forest, train.node, None if known else frequent(forest, train), beside)
        else:
            drawn = (
                means_from_steps(forest, train.node, target_values(train))
                if draws_samples(forest)
                else None
            )
            known = drawn is None
            said = said_by_people(forest, train, column, drawn)
        unseen = _unseen(forest, said)
        if not said.informative.any():
            reason = "trees together were not judged: the file tells nothing of its leaves"
            return Skipped(id=self.id, title=self.title, reason=reason)
        truth = truth_of(train, forest, said, answers)
        if truth.grades is not None:
            said = replace(said, span=(float(truth.grades[0]), float(truth.grades[-1])))
        solved = [t for t in _SOLVED if t < forest.n_trees and said.n_columns == said.mean.shape[1]]

        unseen_people = unseen_of(case, said, truth, train)

        def put_together(trees: int, done: int) -> Solution:
            doubt = 0.0 if known else _DOUBT[said.kind]
            one = solve(
                said.first(trees),
                doubt=doubt,
                tolerance=truth.tolerance,
                unseen=None if unseen_people is None else unseen_people.place[:, :trees],
            )
            case.step("putting trees together", done, len(solved) + 1)
            return one

        found = put_together(forest.n_trees, 1)
        if not found.settled:
            unseen += (f"the equations were not solved after {found.steps:,} steps",)
        certain = certain_people(case, said, truth)
        if certain.open and not certain.people:
            unseen += (f"whether {certain.open:,} groups of people are certain was not told",)
        # What fewer trees say is asked only where all of them are told of.
        more = _beyond(truth, truth.right(found.answer), _weight_of(train))
        if unseen and more <= 0 and not certain.people:
            return Skipped(id=self.id, title=self.title, reason=unseen[0])
        right = {forest.n_trees: truth.right(found.answer)}
        for done, trees in enumerate(solved, 2):
            right[trees] = truth.right(put_together(trees, done).answer)
        details = _measured(case, said, truth, right, found, known, certain, unseen_people)
        return Finding(
            id=self.id,
            title=self.title,
            severity=severity_of_share(max(details.excess, certain.people / details.train)),
            leaves=0,
            people=max(0, (details.joint.part or 0) - (details.own.part or 0)),
            summary=_summary(details, forest.n_trees),
            looked=(f"leaves of {forest.n_trees:,} trees together",),
            unseen=unseen,
            details=details,
        )


def _unseen(forest: Forest, said: Said) -> tuple[str, ...]:
    """Say what the attacker could use and the attack does not."""
    tells = np.logical_or.reduceat(said.informative, said.start[:-1])
    silent, unseen = int((~tells).sum()), []
    # A tree of a boosting that answers everybody alike has nothing to tell.
    if silent and not adds_steps(forest):
        unseen.append(f"{silent:,} of {forest.n_trees:,} trees tell nothing of their leaves")
    if any(one.kind == "seeds" for one in forest.extras.found):
        unseen.append("seeds in the file tell who is in which tree (TA203): take them out first")
    return tuple(unseen)


def _summary(details: CompositionDetails, n_trees: int) -> str:
    what = "number" if details.tolerance is not None else "label"
    own = f"the model's own answers are right for {in_percent(details.own)}"
    certain = ""
    if details.certain:
        certain = (
            f" They make {what}s of {details.certain:,} of them certain, one by one or as a group "
            f"of fewer than {details.k:,}."
        )
    if details.excess <= 0:
        return (
            f"{n_trees:,} trees together give back no more {what}s than the model answers anyway: "
            f"{own} of {details.train:,} people.{certain}"
        )
    control = details.unseen_excess
    told = "What of it is a fact of the population, unseen people tell (--test)."
    if control is not None:
        told = (
            f"For unseen people the same rule is right for {in_percent(control.value)} more than "
            f"the model, {in_percent(control.low)} at least."
        )
    return (
        f"{n_trees:,} trees together give back the {what} of {in_percent(details.joint)} of "
        f"{details.train:,} people; {own}.{certain} {told}"
    )
