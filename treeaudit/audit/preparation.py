"""Everything an audit starts from, checked and measured: one `Case`."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

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
from treeaudit.people.overlap import without_members
from treeaudit.people.prior import read_prior
from treeaudit.people.records import Records, read_records
from treeaudit.people.verification import verify
from treeaudit.table.reconstruction import measure, routed

__all__ = ["Progress", "prepare"]

Progress = Callable[[str, int, int], None]


def prepare(
    forest: Forest, request: Request, policy: Policy, progress: Progress | None = None
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

    trained, unseen = people(request.train, "train"), people(request.test, "test")
    said: list[str] = []
    if trained is not None and unseen is not None:
        kept, said = without_members(trained, unseen, request.seed)
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


def _guess(
    forest: Forest, test: Records | None, seed: int
) -> Callable[[], npt.NDArray[np.float64]] | None:
    """Return the guess without the model, learnt when it is first asked for."""
    classes = forest.schema.classes
    if test is None or test.labels is None or classes is None:
        return None
    values, labels, n = test.values.astype(np.float64), test.labels, len(classes)

    def learn() -> npt.NDArray[np.float64]:
        from treeaudit.people.imputation import cross_guess

        return cross_guess(values, labels, n, seed=seed)[0]

    return cache(learn)
