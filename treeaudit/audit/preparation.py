"""Everything an audit starts from, checked and measured: one `Case`."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt

from treeaudit.attacks import Case
from treeaudit.attacks.sensitive.columns import check_columns
from treeaudit.audit.counts_from_people import as_trained, counted_if_rounded, with_people
from treeaudit.audit.privacy_unit import Counted, check_request, counted
from treeaudit.errors import DataError
from treeaudit.findings.policy import Policy
from treeaudit.findings.request import Request
from treeaudit.model.forest import Forest
from treeaudit.people.imputation import CrossGuess
from treeaudit.people.labels_held import labels_not_held
from treeaudit.people.noise_check import held_against
from treeaudit.people.overlap import without_members
from treeaudit.people.prior import Prior, prior_table, read_prior
from treeaudit.people.records import Records, read_records
from treeaudit.people.sources import large_source
from treeaudit.people.streaming import stream_records
from treeaudit.people.verification import verify
from treeaudit.table.reconstruction import measure, routed, with_labels

__all__ = ["Progress", "prepare"]

Progress = Callable[[str, int, int], None]


def prepare(
    forest: Forest,
    request: Request,
    policy: Policy,
    progress: Progress | None = None,
    jobs: int | None = None,
) -> tuple[Case, Counted, str]:
    """Return the case, what is counted in it, and why the people could not be verified, if so.

    Parameters
    ----------
    forest
        The model of the request, read.
    request
        What the attackers know, and the people to hold it against.
    policy
        The policy of the request, read: it says which groups are small.
    progress
        Called with what is being done, steps done and steps in all.
    jobs
        As `treeaudit.people.streaming.stream_records` takes it.

    Raises
    ------
    DataError
        If the people do not fit the model, or the training people are not those
        it was trained on.
    """
    fraction = request.fraction
    if fraction is not None and not 0 < fraction <= 1:
        raise DataError(f"a sampling fraction of {fraction:g} is not above 0 and at most 1")
    if request.tolerance is not None and not 0 <= request.tolerance < float("inf"):
        raise DataError(f"a tolerance of {request.tolerance:g} is no number of at least 0")
    check_request(request, forest)
    prior = None if request.prior is None else prior_table(request.prior, forest)
    codes = {*request.sensitive, *_codes_of(prior)}

    def people(data: object, origin: str) -> Records | None:
        if data is None:
            return None
        return read_records(
            data,
            forest,
            target=request.target,
            person=request.person,
            origin=origin,
            texts=codes,
        )

    def step(done: int, total: int) -> None:
        if progress is not None:
            progress("reading leaves", done, total)

    large = None if request.train is None else large_source(request.train)
    if large is not None:
        # What does not fit is said before it is held.
        held = stream_records(
            large, forest, target=request.target, person=request.person, jobs=jobs
        )
        verify(counted_if_rounded(forest, held)[0], held)
    trained = people(request.train, "train")
    said: list[str] = []
    # Rows that stand in the training data too are only found among rows that are held.
    unseen, given = None, request.test
    if given is not None:
        from treeaudit.people.streaming import Seen

        large = None if trained is not None else large_source(given)
        if isinstance(given, Seen):
            unseen = given.records("test")
        elif large is not None:
            target = request.target
            unseen = stream_records(large, forest, target=target, jobs=jobs, seed=request.seed)
        else:
            unseen = people(given, "test")
    if unseen is not None and unseen.whole is not None:
        every = forest.n_trees == 1 and trained is None
        said.append(_sampled(unseen, every=every))
        unseen = unseen if trained is None else replace(unseen, whole=None)
    # Whose rows they are tells better, where it is known.
    named = unseen is not None and request.person in unseen.frame.columns
    if trained is not None and unseen is not None and not named:
        unseen, members = without_members(trained, unseen, request.seed, forest.schema.names)
        said += members
    unverified = ""
    if trained is not None:
        forest, rounded = counted_if_rounded(forest, trained)
        why_not = verify(forest, trained)
        unverified = rounded or why_not
        if forest.privacy is not None:
            forest = held_against(forest, trained)
        if unlabelled := labels_not_held(forest, trained):
            said.append(unlabelled)
            trained = replace(
                trained, labels=None, targets=None, members=None, unlabelled=unlabelled
            )
    silent = 0
    if trained is not None:
        forest, note = as_trained(forest, trained)
        said += note
        routed_forest = with_people(forest, trained)
        if routed_forest is not forest:
            silent = sum(tree.n_records is None for tree in forest.trees)
        forest = routed_forest
    tables = {"train": trained, "test": unseen, "known": people(request.known, "known")}
    table = measure(forest, step)
    if trained is not None and table.n_silent:
        silent = table.n_silent
        table = routed(table, trained.node)
    if trained is not None and trained.labels is not None and not unverified:
        table = with_labels(table, trained.node, trained.labels)
    if table.tells_people and silent:
        said.append(
            f"{silent:,} of {forest.n_trees:,} trees do not tell how many people are in their "
            "leaves: the training people who end there are counted"
            + (", though some may have been left out" if table.n_silent else "")
        )
    one = counted(request, forest, table.groups, tables)
    if one.table.labels_counted:
        said.append(
            "the file does not tell how many people have each label "
            f"({forest.counts_reason}): those of the training people are counted"
        )
    trained, unseen = one.tables["train"], one.tables["test"]
    members = []
    if trained is not None and unseen is not None and named:
        # The same row under another name is no other person.
        unseen, members = without_members(trained, unseen, request.seed, forest.schema.names)
        one = replace(one, tables={**one.tables, "test": unseen})
    one = replace(one, warnings=(*said, *one.warnings, *members))
    case = Case(
        forest=forest,
        table=one.table,
        k=policy.k,
        seed=request.seed,
        seconds=request.seconds,
        train=trained,
        test=unseen,
        known=one.tables["known"],
        prior=None if prior is None else read_prior(prior, forest, trained),
        sensitive=request.sensitive,
        tolerance=request.tolerance,
        most=request.rows_per_person or 1,
        fraction=fraction,
        guess=_guess(forest, unseen, request.seed),
        progress=progress,
    )
    check_columns(case)
    return case, one, unverified


def _codes_of(prior: Prior | None) -> tuple[str, ...]:
    """Return the column of the people that a prior names by its values, if there is one."""
    if prior is None or prior.column is None or not np.isnan(prior.low).all():
        return ()
    return (prior.column,)


def _sampled(people: Records, *, every: bool) -> str:
    """Say who was counted, and whom attacks see."""
    counted = (
        f"all {people.n_people:,} rows were counted in the leaves; what asks single people saw "
        if every
        else f"of {people.n_people:,} rows the control saw "
    )
    return f"{people.origin}: {counted}{len(people):,} of them, drawn with the seed"


def _guess(
    forest: Forest, test: Records | None, seed: int
) -> Callable[[npt.NDArray[np.bool_]], npt.NDArray[np.float64]] | None:
    """Return the guess without the model, learnt when it is first asked for."""
    classes = forest.schema.classes
    if test is None or test.labels is None or classes is None:
        return None
    values, labels, n = test.values, test.labels, len(classes)

    @cache
    def learnt() -> "CrossGuess":
        from treeaudit.people.imputation import CrossGuess

        return CrossGuess(values, labels, n, seed=seed)

    return lambda asked: learnt()(asked)
