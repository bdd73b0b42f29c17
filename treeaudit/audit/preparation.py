"""Everything an audit starts from, checked and measured: one `Case`."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treeaudit.attacks import Case
from treeaudit.attacks.sensitive.column import check_columns
from treeaudit.audit.counting import Counted, check_request, counted
from treeaudit.audit.routing import as_trained, with_people
from treeaudit.errors import DataError
from treeaudit.findings.policy import Policy
from treeaudit.findings.request import Request
from treeaudit.model.forest import Forest
from treeaudit.people.prior import read_prior
from treeaudit.people.records import Records, read_records
from treeaudit.people.sources import large_source
from treeaudit.people.streaming import Seen, stream_records
from treeaudit.people.verification import verify
from treeaudit.table.reconstruction import measure, routed

if TYPE_CHECKING:
    from treeaudit.people.imputation import CrossGuess

__all__ = ["Progress", "prepare"]

Progress = Callable[[str, int, int], None]
_NAMED = 5


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

    def people(data: object, origin: str) -> Records | None:
        if data is None:
            return None
        return read_records(
            data, forest, target=request.target, person=request.person, origin=origin
        )

    def step(done: int, total: int) -> None:
        if progress is not None:
            progress("reading leaves", done, total)

    large = large_source(request.train)
    if large is not None:
        # What does not fit is said before it is held.
        verify(
            forest,
            stream_records(large, forest, target=request.target, person=request.person, jobs=jobs),
        )
    trained = people(request.train, "train")
    said: list[str] = []
    # Rows that stand in the training data too are only found among rows that are held.
    given = request.test
    large = None if trained is not None else large_source(given)
    if isinstance(given, Seen):
        unseen: Records | None = given.records("test")
    elif large is not None:
        unseen = stream_records(large, forest, target=request.target, jobs=jobs, seed=request.seed)
    else:
        unseen = people(given, "test")
    if unseen is not None and unseen.whole is not None:
        every = forest.n_trees == 1 and trained is None
        said.append(_sampled(unseen, every=every))
        unseen = unseen if trained is None else replace(unseen, whole=None)
    if trained is not None and unseen is not None:
        kept, said = _apart(trained, unseen)
        # Whose rows they are tells better, where it is known.
        unseen, said = (unseen, []) if request.person in unseen.frame.columns else (kept, said)
    unverified = "" if trained is None else verify(forest, trained)
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
    if table.tells_people and silent:
        said.append(
            f"{silent:,} of {forest.n_trees:,} trees do not tell how many people are in their "
            "leaves: the training people who end there are counted"
            + (", though some may have been left out" if table.n_silent else "")
        )
    one = counted(request, forest, table.groups, tables)
    one = replace(one, warnings=(*said, *one.warnings))
    trained, unseen = one.tables["train"], one.tables["test"]
    case = Case(
        forest=forest,
        table=one.table,
        k=policy.k,
        seed=request.seed,
        seconds=request.seconds,
        train=trained,
        test=unseen,
        known=one.tables["known"],
        prior=None if request.prior is None else read_prior(request.prior, forest, trained),
        sensitive=request.sensitive,
        tolerance=request.tolerance,
        fraction=fraction,
        guess=_guess(forest, unseen, request.seed),
        progress=progress,
    )
    check_columns(case)
    return case, one, unverified


def _sampled(people: Records, *, every: bool) -> str:
    """Say who was counted, and whom attacks see."""
    counted = (
        f"all {people.n_people:,} rows were counted in the leaves; what asks single people saw "
        if every
        else f"of {people.n_people:,} rows the control saw "
    )
    return f"{people.origin}: {counted}{len(people):,} of them, drawn with the seed"


def _apart(train: Records, test: Records) -> tuple[Records, list[str]]:
    """Return the control without rows that stand in the training data, and say how many.

    Where training rows are like each other, unseen rows are like them too by chance: only
    where more of them stand there than that, and three standard deviations, are they left out.

    Raises
    ------
    DataError
        If it is the training data: its people would make memory look like a fact.
    """
    seen, asked = _keys(train), _keys(test)
    inside = np.isin(asked, seen)
    n = int(inside.sum())
    _, times = np.unique(seen, return_counts=True)
    twins = int(times[times > 1].sum())
    # Where many training rows are alike, unseen rows may well be like them too.
    if n > len(asked) / 2 and twins < len(seen) / 4:
        raise DataError(
            f"{n:,} of the {len(asked):,} people of {test.origin} stand in {train.origin} "
            "too; --test takes people who were not in the training data"
        )
    by_chance = len(asked) * twins / len(seen)
    if n <= by_chance + 3 * np.sqrt(by_chance):
        return test, []
    rows = ", ".join(f"{row:,}" for row in (np.flatnonzero(inside)[:_NAMED] + 1).tolist())
    said = (
        f"{n:,} of the {len(asked):,} rows of {test.origin} stand in {train.origin} too "
        f"(rows {rows}{', …' if n > _NAMED else ''}) and were left out of the control"
    )
    return test.only(~inside), [said]


def _keys(people: Records) -> npt.NDArray[np.integer[Any]]:
    """Return a number per row, the same for rows that are alike."""
    import pandas as pd

    answer = people.labels if people.labels is not None else people.targets
    frame = pd.DataFrame(people.values.astype(np.float64))
    if answer is not None:
        frame["answer"] = answer
    return pd.util.hash_pandas_object(frame, index=False).to_numpy()


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
