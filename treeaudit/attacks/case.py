"""What an attack is given, what it must offer, and the label as the file tells it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Index, Wide
from treeaudit.errors import DataError
from treeaudit.findings.checks import Rule
from treeaudit.findings.details import Details
from treeaudit.findings.findings import Evidence, Finding, Severity, Skipped
from treeaudit.findings.report import Page
from treeaudit.inference.bootstrap import sample_counts
from treeaudit.model.forest import Forest
from treeaudit.model.rules import rules_of
from treeaudit.model.words import label_text, sentence
from treeaudit.people.coding.columns import class_apart
from treeaudit.people.prior import Prior
from treeaudit.people.records import Records
from treeaudit.table.labels import Labels
from treeaudit.table.persons import Codes, ImpliedPeople, LeafMembers, leaf_members
from treeaudit.table.table import Table


def _are_draws_of(
    forest: Forest, train: Records, draws: Callable[[], npt.NDArray[np.integer[Any]]]
) -> bool:
    """Tell whether draws are those of some people."""
    if train.labels is None or forest.seeds is None or forest.n_records != len(train):
        return False
    if min(train.labels.min(initial=0), train.node.min(initial=0)) < 0:
        return False
    try:
        times = draws()
    except DataError:
        return False
    for t, tree in enumerate(forest.trees):
        if tree.counts is None:
            return False
        width = tree.counts.shape[1]
        place = train.node[:, t].astype(np.int64) * width + train.labels
        drawn = np.bincount(place, times[:, t], minlength=tree.n_nodes * width)
        if (drawn.reshape(-1, width) != tree.counts)[tree.leaves].any():
            return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """One model under audit.

    Attributes
    ----------
    forest
        The model.
    table
        The groups of its reconstructed table: the leaves that hold people.
    k
        The smallest acceptable group of the policy.
    seed
        Attacks that draw use ``default_rng([seed, crc32(id)])``, so that
        neither order nor selection changes a result.
    train
        The people the model was trained on, held against its counts, or None.
    test
        People who were not in the training data, or None.
    known
        People whose records and labels the attacker knows, or None.
    prior
        What the attacker knows of the population, or None.
    sensitive
        Columns of the training data to audit inside the groups.
    tolerance
        How far a number may be off to be known, in units of what the model predicts;
        None for 1 % of its standard deviation.
    fraction
        Share of the population that is in the training data, or None.
    guess
        Gives the label probabilities of some people of ``test``, by a flag each, as guessed
        without the model, shape ``(n_asked, n_classes)``; None where there is no ``test`` with
        labels.
    most
        The most records of one person, where nothing tells whose each record is.
    seconds
        How long an attack that could go on for ever may take.
    progress
        Called with what is being done, steps done and steps in all.
    meant
        Whom the leaves of a tree mean, as `treeaudit.attacks.distinct_people.meant_in` found it.
    """

    forest: Forest
    table: Table
    k: int = 5
    seed: int = 0
    train: Records | None = None
    test: Records | None = None
    known: Records | None = None
    prior: "Prior | None" = None
    sensitive: tuple[str, ...] = ()
    tolerance: float | None = None
    fraction: float | None = None
    guess: Callable[[Flag], Float] | None = None
    most: int = 1
    seconds: float = 2.0
    progress: Callable[[str, int, int], None] | None = None
    _members: dict[int, LeafMembers] = field(init=False, repr=False, default_factory=dict)
    _times: list[Codes] = field(init=False, repr=False, default_factory=list)
    _sampled: list[bool] = field(init=False, repr=False, default_factory=list)
    implied: dict[tuple[int, bool], tuple[Labels | None, Codes | None, ImpliedPeople]] = field(
        init=False, repr=False, default_factory=dict
    )

    def people(self, role: Literal["train", "test"]) -> Records:
        """Return people who are there because the attack said that it needs them."""
        records = self.train if role == "train" else self.test
        if records is None:
            raise RuntimeError(f"an attack uses {role} people that it does not say it needs")
        return records

    def labelled(self, role: Literal["train", "test"]) -> Records | None:
        """Return people whose labels are known, or None where nobody's are."""
        records = self.train if role == "train" else self.test
        return None if records is None or records.labels is None else records

    def members(self, tree: int) -> LeafMembers:
        """Return which training people end in which leaf of a tree, in leaves of the table."""
        if tree in self._members:
            return self._members[tree]
        train = self.people("train")
        if not self._sampled:
            self._sampled.append(_are_draws_of(self.forest, train, self.times))
        node = train.node[:, tree]
        if self._sampled[0]:
            node = np.where(self.times()[:, tree] > 0, node, self.forest.trees[tree].n_nodes)
        found = leaf_members(self.table, tree, node, train.persons)
        if train.persons is not None:
            self._members[tree] = found
        return found

    def times(self) -> Codes:
        """Return how often each row was drawn for each tree; in few bits, since it is kept."""
        if not self._times:
            times = sample_counts(self.forest)
            self._times.append(times.astype(np.min_scalar_type(int(times.max(initial=0)))))
        return self._times[0]

    def step(self, what: str, done: int, total: int) -> None:
        """Tell how far a long attack is."""
        if self.progress is not None:
            self.progress(what, done, total)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Something that an attack cannot do without; `attacks.needs` has the usual ones."""

    # Tells why it is not there, in one sentence; None where it is
    missing: Callable[[Case], str | None]
    # The options of the command line that would supply it; none where only another model would
    asks: tuple[str, ...] = ()


class Attack(Page, Protocol):
    """What `treeaudit.attacks.ATTACKS` holds: a frozen dataclass of this form.

    Attributes
    ----------
    needs
        What it cannot do without: without that it is not run.
    checks
        What a policy can ask of its finding.
    details
        The type of what it measures; `Details` itself says nothing of its form.
    """

    needs: ClassVar[tuple[Need, ...]]
    checks: ClassVar[tuple[Rule, ...]]
    details: ClassVar[type[Details]]

    def run(self, case: Case) -> Finding | Skipped:
        """Return what the attack found in a case that holds what it needs."""


def smallest(values: Wide | Float, chosen: Flag, most: int = 5) -> Index:
    """Return some positions with the smallest values, ties in order, without sorting all."""
    found = np.flatnonzero(chosen)
    if len(found) > most:
        own = values[found]
        found = found[own <= np.partition(own, most - 1)[most - 1]]
    return found[np.argsort(values[found], kind="stable")][:most]


def evidence(case: Case, worst: Index, most: int = 5) -> tuple[Evidence, ...]:
    """Describe some leaves, given their positions in ``case.table``, worst first."""
    return tuple(leaf_evidence(case, at) for at in worst[:most].tolist())


def leaf_evidence(
    case: Case, position: int, *, people: int | None = None, says: str | None = None
) -> Evidence:
    """Describe one leaf; what the file says of people and labels unless told."""
    forest, table = case.forest, case.table
    index, leaf = int(table.tree_of(position)), int(table.leaf[position])
    tree = forest.trees[index]
    if says is None:
        counts = None if tree.counts is None else tree.counts[leaf]
        says = _says(forest, index, counts, counted=not table.in_persons)
    return Evidence(
        tree=index,
        leaf=leaf,
        people=int(table.size[position]) if people is None else people,
        says=says,
        rule=sentence(rules_of(tree, [leaf]), forest.schema),
    )


def _says(
    forest: Forest, tree: int, counts: npt.NDArray[np.float64] | None, *, counted: bool
) -> str:
    classes = forest.classes_of(tree)
    if counts is None or not classes:
        return ""
    present = np.flatnonzero(counts > 0)
    names = [label_text(classes[i]) for i in present.tolist()]
    if len(present) == 1:
        return f"{forest.schema.target} = {names[0]}"
    more = ", …" if len(names) > 4 else ""
    if not counted or forest.counts_are not in ("exact", "likely"):
        return f"{forest.schema.target} is {' or '.join(names[:4])}{more}"
    # Of labels 0 and 1 the one would be taken for the other's number.
    of = " " if all(name[:1].isalpha() for name in names[:4]) else " × "
    shown = [f"{counts[i]:,.0f}{of}{n}" for i, n in zip(present[:4], names, strict=False)]
    return ", ".join(shown) + more


def looked_at(what: str, case: Case, *, labels: bool = False) -> tuple[str, ...]:
    """Say what was examined in every tree that tells people, or the labels, of its leaves."""
    if labels and (first := first_round(case.table)):
        return (f"{what} of {first}",)
    n = case.forest.n_trees - case.table.n_silent
    return (f"{what} of 1 tree" if n == 1 else f"{what} of {n:,} trees",)


def first_round(table: Table) -> str:
    """Name the trees of a boosting that alone tell labels; empty for other models."""
    n = len(table.first_round)
    return "" if not n else "the first tree" if n == 1 else f"the {n:,} trees of the first round"


def unseen_trees(case: Case) -> tuple[str, ...]:
    """Say that some trees could not be examined."""
    silent, trees = case.table.n_silent, case.forest.n_trees
    if not silent:
        return ()
    untold = f"{silent:,} of {trees:,} trees do not tell how many people are in their leaves"
    return (untold + ("; --train counts them" if case.train is None else ""),)


def severity_of_share(share: float) -> Severity:
    """Grade the share of people that an attack reaches, from the file alone.

    Up to 1 % is low, up to 20 % medium, above that high. The file alone cannot
    tell memory from a fact of the population; a control can.
    """
    if share <= 0:
        return "none"
    return "low" if share <= 0.01 else "medium" if share <= 0.2 else "high"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PredictedValue:
    """One column as the leaves tell it; arrays have an entry per leaf of the case."""

    name: str  # What the column is called
    value: str  # What one of its values is called
    leaves: str  # How leaves are called whose people are all alike, before how many they are
    labels: Labels  # What the leaves say
    size: npt.NDArray[np.int64]  # People in each
    ordered: bool  # Whether the order of the codes means anything
    # The code of each person, -1 for a value that no leaf holds; None where nothing can be held
    # against them
    train: Codes | None
    test: Codes | None
    # Gives the codes of some people of `test`, by a flag each, as guessed without the model, or
    # None
    guess: Callable[[npt.NDArray[np.bool_]], Codes] | None = None
    # The values as text, by code; None where the class counts tell
    values: tuple[str, ...] | None = None


def _without_rest(table: Table, forest: Forest) -> Labels:
    """Return labels of people: who is of none but one of several classes has no certain label."""
    labels = table.labels_of_people
    apart = [class_apart(told) for told in forest.tree_classes or ()]
    if not any(k is not None for k in apart):
        return labels
    rest = np.array([-1 if k is None else 0 if k else 1 for k in apart])
    of_rest = (labels.distinct > 0) & (labels.top == rest[table.tree_of(np.arange(len(table)))])
    return replace(
        labels,
        distinct=np.where(of_rest, np.maximum(labels.distinct, 2), labels.distinct),
        others=np.where(of_rest, np.inf, labels.others),
    )


def label_of(case: Case) -> PredictedValue:
    """Return the label as the file tells it by its class counts."""
    table, forest = case.table, case.forest
    classes = forest.schema.classes or ()
    numbers = all(isinstance(c, int | float) and not isinstance(c, bool) for c in classes)
    # Trees with classes of their own cannot be held against labels.
    people = [case.labelled("train"), case.labelled("test")]
    train, test = (
        None if one is None or forest.tree_classes is not None else one.known_labels
        for one in people
    )
    guess = case.guess
    return PredictedValue(
        name="label",
        value="label",
        leaves="one-label leaves of",
        labels=_without_rest(table, forest),
        size=table.size,
        ordered=numbers and list(classes) == sorted(classes),
        train=train,
        test=test,
        guess=None if guess is None else lambda asked: guess(asked).argmax(axis=1),
    )
