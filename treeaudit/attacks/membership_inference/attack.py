"""Membership inference: was this person in the training data? (TA105).

A person who was, is counted in the leaf that they fit; one who was not, is not.
The score adds up, over the trees, how much more likely the counts are with one
more person (`treeaudit.attacks.membership_inference.scores`). It needs no shadow models. The
usual tests stand beside it, and the strongest of all that ran is what is reported.

References
----------
Carlini et al. (2022), Membership inference attacks from first principles:
true positives at few false alarms, never accuracy alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from treeaudit.arrays import Float
from treeaudit.attacks.case import Case, Need
from treeaudit.attacks.control import of_what_fails
from treeaudit.attacks.membership_inference.page import NAMES, at_1_percent, view
from treeaudit.attacks.membership_inference.roc import (
    MembershipDetails,
    NotMade,
    References,
    Separation,
    Test,
    separation,
    strongest,
    threshold_at,
)
from treeaudit.attacks.membership_inference.scores import (
    Groups,
    Reason,
    Scores,
    leaf_scores,
    loss,
    split_groups,
)
from treeaudit.attacks.membership_inference.shadows import by_shadows
from treeaudit.attacks.needs import LABELS, TEST, TRAIN, TRUE_COUNTS, TWO_HALVES
from treeaudit.findings.checks import Rule, most
from treeaudit.findings.details import Details, People, Share
from treeaudit.findings.findings import (
    About,
    Control,
    Finding,
    Severity,
    Skipped,
    Words,
    details_of,
)
from treeaudit.findings.report import Show
from treeaudit.model.forest import Forest
from treeaudit.model.words import estimated, in_percent, number_of
from treeaudit.people.predict.predictions import averages
from treeaudit.stats import Estimate, difference, residual, wilson

_CERTAIN = 1e-9


def _weak(findings: Sequence[Finding], _: Forest) -> str | None:
    """Say why a pass has not been shown: too few people for the rate of the strongest test."""
    for details in (details_of(finding, MembershipDetails) for finding in findings):
        found = details.references.shadows
        if isinstance(found, Separation) and (few := found.refused.tpr_at_1_percent_fpr):
            return f"not told for the strongest test, shadow models: {few}"
    return None


_CHECKS = (
    Rule(
        name="max-membership-auc",
        title="Membership inference, AUC (upper bound)",
        bound="at most {:g}",
        tells_of="everybody",
        measure=most("auc_high"),
        share=True,
        rests_on=("unit", "train", "test", "seed"),
    ),
    Rule(
        name="max-membership-tpr",
        title="Members recognised at 1 % false alarms (upper bound)",
        bound="at most {:.1%}",
        tells_of="everybody",
        measure=most("tpr_at_1_percent_fpr_high"),
        unsure=_weak,
        missing="needs 1,000 or more unseen people (--test)",
        share=True,
        rests_on=("unit", "train", "test", "seed"),
    ),
)


def _private(forest: Forest) -> bool:
    """Tell whether only what the model answers can be attacked."""
    return forest.counts_are in ("noisy", "label-only") and averages(forest)


def _no_score(case: Case) -> str | None:
    return None if _private(case.forest) else TRUE_COUNTS.missing(case)


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """Tell members from unseen people by the strongest of several tests."""

    id: ClassVar[str] = "TA105"
    title: ClassVar[str] = "Membership inference"
    words: ClassVar[Words] = Words(
        kinds=("membership inference",),
        attacker="The attacker asks whether a person was in the training data. In every tree they "
        "compare how many people of that label are in the leaf with how many to expect; and they "
        "ask how much surer the model is than other models, half of which saw the person.",
        assumes="the attacker has the file, knows all features and the label of the target, and "
        "has a sample of the population",
        remedy="merge leaves until each holds at least k people, use fewer trees, or train with "
        "differential privacy",
        limit="a test that finds nothing proves nothing: people alone in a leaf stay exposed "
        "(TA101); the rates are pooled, averages over people by one threshold for everybody, not "
        "the risk of one person",
        reference="likelihood ratio of leaf counts; Zarifzadeh et al. (2024) for shadow models; "
        "Carlini et al. (2022) for how to report it",
    )
    about: ClassVar[About] = "people"
    checks: ClassVar[tuple[Rule, ...]] = _CHECKS
    view: ClassVar[Show] = staticmethod(view)
    needs: ClassVar[tuple[Need, ...]] = (TRAIN, TEST, LABELS, TWO_HALVES, Need(missing=_no_score))
    details: ClassVar[type[Details]] = MembershipDetails
    most_people: int = 20_000  # The most members, and the most control people, that are looked at

    def run(self, case: Case) -> Finding | Skipped:
        """Return how well the strongest test tells members from unseen people."""
        private = _private(case.forest)
        people = split_groups(case, self.id, self.most_people)
        made: dict[Test, Scores | Reason] = {"loss": loss(case.forest, people)}
        # What is left to attack in a private model is what it answers.
        if private and not isinstance(made["loss"], str):
            made |= {"counts": "the counts are noisy, or there are none"}
            made |= {"shadows": "shadow models would cost privacy"}
        else:
            made["counts"] = membership_scores(case, people)
            made["shadows"] = by_shadows(
                case.forest,
                people,
                case.seed,
                lambda i, n: case.step("training shadow models", i, n),
            )
        order: tuple[Test, ...] = ("counts", "loss", "shadows")
        tests = {name: one for name in order if not isinstance(one := made[name], str)}
        found, by_area, by_rate = strongest(tests)
        members, control = tests.get("counts", tests[by_area])
        excluded = 0 if "counts" not in tests else int(np.isneginf(control).sum())
        blind = by_area != "loss" and _blind(case, made["loss"])
        alone = int((case.table.size == 1).sum())
        at_1 = at_1_percent(found, len(members))
        rate = None if isinstance(at_1, str) else at_1
        held = None if rate is None or by_rate is None else _control(*tests[by_rate], rate)
        severity, lacking = _severity(found, rate, alone), made["shadows"]
        unseen: tuple[str, ...] = ()
        if isinstance(lacking, str) and not private:
            unseen = (f"shadow models, the strongest test ({lacking})",)
        if unseen and severity == "none":
            reason = f"{NAMES[by_area]} found nothing, but the strongest test was not run, "
            return Skipped(id=self.id, title=self.title, reason=reason + unseen[0])
        excess = 0.0 if rate is None else max(0.0, rate.value - 0.01) * (rate.low > 0.01)
        return Finding(
            id=self.id,
            title=self.title,
            severity=severity,
            leaves=0,
            people=round(excess * len(people.train)),
            summary=_summary(found, (by_area, by_rate), len(tests), private=private)
            + _lacking(made, people, private=private)
            + _asides(alone, case.forest.n_trees, blind=blind),
            looked=(f"scores of {len(members):,} members and {len(control):,} other people",),
            unseen=unseen,
            details=MembershipDetails(
                **{one.name: getattr(found, one.name) for one in fields(found)},
                score="answers" if private else "counts",
                strongest=by_area,
                strongest_at_1_percent_fpr=by_rate,
                n_tests=len(tests),
                certain_non_members=People(excluded),
                certain_non_members_share=Share.of(excluded, len(control)),
                members=People(len(members)),
                control=People(len(control)),
                reference=People(len(people.reference)),
                blind=blind,
                people_alone=People(alone),
                references=References(**{name: _reference(made[name]) for name in order}),
            ),
            controls=() if held is None else (held,),
        )


def membership_scores(case: Case, people: Groups) -> Scores:
    """Return the score of members and of control people, summed over the trees."""
    population = people.population(case)
    train, test = people.train, people.test
    scores = (np.zeros(len(people.members)), np.zeros(len(people.control)))
    for i, tree in enumerate(case.forest.trees):
        table = leaf_scores(case.forest, i, tree, population)
        for score, records, rows in zip(
            scores, (train, test), (people.members, people.control), strict=True
        ):
            if table is None:
                continue
            if table.shape[1] == 1 or records.labels is None:
                score += table[records.node[rows, i], 0]
            else:
                score += table[records.node[rows, i], records.labels[rows]]
        case.step("membership inference", i + 1, case.forest.n_trees)
    return scores


def _reference(scores: Scores | Reason) -> Separation | NotMade:
    return NotMade(reason=scores) if isinstance(scores, str) else separation(*scores)


def _blind(case: Case, usual: Scores | Reason) -> bool:
    """Tell whether the loss sees little but right and wrong: nine answers of ten are certain."""
    if isinstance(usual, str) or case.forest.schema.classes is None:
        return False
    return all(float(((c < _CERTAIN) | (c > 1 - _CERTAIN)).mean()) >= 0.9 for c in usual)


def _control(members: Float, control: Float, rate: Estimate) -> Control:
    threshold = threshold_at(control, 0.01)
    alarms = wilson(int((control > threshold).sum()), len(control))
    excess, left = difference(rate, alarms), residual(rate, alarms)
    return Control(
        of="people taken for members at 1 % false alarms",
        claim=rate,
        verified=rate,
        control=alarms,
        excess=excess,
        residual=left,
        sentence=(
            f"{estimated(rate)} of {rate.n:,} members are recognised, and "
            f"{in_percent(alarms.value)} of {alarms.n:,} unseen people are taken for one"
            + (of_what_fails(left) or ".")
        ),
    )


def _severity(found: Separation, rate: Estimate | None, alone: int) -> Severity:
    """Grade what is found above chance; never none where somebody is alone."""
    hits = 0.0 if rate is None or rate.low <= 0.01 else rate.value
    value = 0.5 if found.auc_low <= 0.5 else found.auc
    if value >= 0.8 or hits >= 0.1:
        return "high"
    if value >= 0.65 or hits >= 0.03:
        return "medium"
    return "low" if value > 0.5 or hits or alone else "none"


def _summary(found: Separation, by: tuple[Test, Test | None], n: int, *, private: bool) -> str:
    area, rate = (
        "what the model answers" if private else NAMES[name] for name in (by[0], by[1] or by[0])
    )
    text = "Members are told from unseen people with "
    if found.tpr_at_1_percent_fpr is not None:
        found_at_1 = in_percent(found.tpr_at_1_percent_fpr)
        text = f"{found_at_1} of the members are recognised at 1 % false alarms"
        text += f" (by {rate}), " if rate != area else ", "
    text += f"AUC {found.auc:.2f} ({found.auc_low:.2f}–{found.auc_high:.2f}), by {area}"
    text += f", the strongest of {n} tests." if n > 1 else "."
    return text + (" That is not above chance." if found.auc_low <= 0.5 else "")


def _lacking(made: Mapping[Test, Scores | Reason], people: Groups, *, private: bool) -> str:
    """Say which tests are missing, and whether more unseen people would make them stronger."""
    text = ""
    if not private:
        missed = [f"{NAMES[test]} ({one})" for test, one in made.items() if isinstance(one, str)]
        if missed:
            text += f" Not run, so that more may be found: {'; '.join(missed)}."
    if len(people.reference) < len(people.members):
        text += (
            f" The attack learnt from {len(people.reference):,} unseen people, fewer than there "
            "are members; with more of them (--test) it may find more."
        )
    return text


def _asides(alone: int, n_trees: int, *, blind: bool) -> str:
    text = ""
    if blind:
        text += (
            " The usual test, the loss, is blind here: its answers are certain, so that it "
            "sees little but right and wrong."
        )
    if alone:
        leaves = number_of(alone, "leaf holds", "leaves hold")
        where = f" in the {n_trees:,} trees" if n_trees > 1 else ""
        text += f" {leaves} one person alone{where}, whatever this test finds (TA101)."
    return text
