"""The whole audit on one page: model → table → attacks → policy → report."""

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from treeaudit.attacks import (
    ATTACKS,
    Attack,
    all_attacks,
    all_checks,
    offered_attacks,
    run_attack,
    run_offered,
)
from treeaudit.audit.preparation import Progress, prepare
from treeaudit.errors import DataError, PolicyError, near
from treeaudit.findings.baseline import Baseline, accept, not_compared, read_baseline
from treeaudit.findings.checks import Registered
from treeaudit.findings.findings import NOT_HELD, Check, Finding, Skipped
from treeaudit.findings.policy import (
    Policy,
    check_names,
    judge,
    losses_added,
    not_run,
    read_policy,
    verdict_of,
)
from treeaudit.findings.record import Record, hashes_of
from treeaudit.findings.report import Report
from treeaudit.findings.report_file import terms_of
from treeaudit.findings.request import Framework, Request, listed
from treeaudit.model.forest import Forest
from treeaudit.readers import load, load_all
from treeaudit.writers.canonical import canonical


def scan(
    model: object,
    *,
    train: object = None,
    test: object = None,
    target: str | None = None,
    sensitive: Sequence[str] = (),
    known: object = None,
    prior: object = None,
    tolerance: float | None = None,
    fraction: float | None = None,
    person: str | None = None,
    rows_per_person: int | None = None,
    repeats: Literal["people", "copies"] | None = None,
    policy: str | os.PathLike[str] | Policy = "default",
    baseline: str | os.PathLike[str] | None = None,
    model_name: str | None = None,
    attacks: Sequence[str] | None = None,
    seconds: float = 2.0,
    seed: int = 0,
    annex: Sequence[Framework] = (),
    jobs: int | None = None,
    by: str | None = None,
    progress: Progress | None = None,
) -> Report:
    """Audit what a model file gives away about its training data.

    Parameters
    ----------
    model
        A path, a fitted scikit-learn estimator, or a `Forest`.
    train
        The people the model was trained on: claims are verified on them. A
        path, a DataFrame (of pandas, polars or Arrow), an array, or a tuple of features
        and labels, as `treeaudit.people.records.read_records` takes it.
    test
        People who were not in the training data: the control.
    target
        Column of the labels in these tables.
    sensitive
        Further columns of ``train`` to audit inside the groups.
    known
        People whose records and labels the attacker knows.
    prior
        What the attacker knows of the population: a path, a DataFrame or a `Prior`,
        as `treeaudit.people.prior.read_prior` takes it.
    tolerance
        How far a number may be off to count as known, in the units of what the model
        predicts; 1 % of its standard deviation unless told.
    fraction
        Share of the population that is in the training data, above 0 and at
        most 1.
    person
        Column of ``train`` that names whose record each is, and of the other tables
        where they have it: persons are counted then. It is no feature and no label.
    rows_per_person
        The most records of one person, where nothing names them: a leaf of n
        records then holds at least ``ceil(n / rows_per_person)`` persons.
    repeats
        What equal rows of ``train`` are: different ``people``, or ``copies`` of one.
        Unless told they are held against chance, and counted once where far more
        rows are equal than chance makes.
    policy
        The thresholds: the name of a built-in policy (`treeaudit.findings.policy.BUILT_IN`)
        or of one in ``pyproject.toml``, the path of a TOML file, or a `Policy`.
    baseline
        A JSON report that somebody accepts (``treeaudit accept``): a check that fails no
        worse than in it does not make the verdict fail.
    model_name
        What the line of the model is called, from one version to the next: a baseline
        follows it, and else the columns and labels.
    attacks
        Ids of the attacks to run; all of them unless told. A check whose
        attack did not run is never passed.
    seconds
        How long an attack that could go on for ever may take (TA108): where that was not
        enough, its check does not pass.
    seed
        Of every random choice.
    annex
        The frameworks in whose words the report repeats its evidence: ``edpb`` (Opinion
        28/2024, with WP29 and NIST AI 100-2), ``satre`` (the record of an output check) and
        ``dp`` (the elements of NIST SP 800-226).
    jobs
        How many workers read a large table at once, as joblib counts them; one unless told.
        ``joblib.parallel_config`` says whose they are. It changes no result.
    by
        Who makes the audit, for the record; nobody is named unless told. The time of the record
        is that of ``SOURCE_DATE_EPOCH`` where it is set.
    progress
        Called with what is being done, steps done and steps in all.

    Returns
    -------
    Report
        Findings, checks and verdict. Without ``train`` and ``test`` all numbers
        are claims of the file.

    Raises
    ------
    ReadError
        If the model cannot be read, is unsafe or is no tree model.
    DataError
        If the people do not fit the model, or ``train`` is not what it was
        trained on.
    PolicyError
        If the policy or an attack id is unknown, or the baseline is no report
        of this model.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> report = scan(tree.fit(*load_breast_cancer(return_X_y=True)))
    >>> report.verdict, report.findings[1].people
    ('fail', 569)
    """
    return audit(
        Request(
            model=model,
            train=train,
            test=test,
            target=target,
            sensitive=listed("sensitive", sensitive, "race"),
            known=known,
            prior=prior,
            tolerance=tolerance,
            fraction=fraction,
            person=person,
            rows_per_person=rows_per_person,
            repeats=repeats,
            policy=policy,
            baseline=baseline,
            model_name=model_name,
            attacks=None if attacks is None else listed("attacks", attacks, ATTACKS[0].id),
            seconds=seconds,
            seed=seed,
            annex=listed("annex", annex, "edpb"),  # type: ignore[arg-type]  # the request checks it
        ),
        progress,
        jobs,
    ).made_by(by)


def audit(request: Request, progress: Progress | None = None, jobs: int | None = None) -> Report:
    """Answer a request; `scan` says what it takes, gives and raises."""
    forest = load(request.model, select=request.select, max_bytes=request.max_bytes)
    return _audit(forest, request, Record(inputs=hashes_of(request)), progress, jobs)


def audit_all(
    request: Request, progress: Progress | None = None, jobs: int | None = None
) -> tuple[Report, ...]:
    """Answer a request about a file for each of its models, unless one is chosen."""
    forests = load_all(os.fspath(request.model), select=request.select, max_bytes=request.max_bytes)  # type: ignore[call-overload]
    if len(forests) > 1 and request.baseline is not None:
        raise DataError("--baseline is a report of one model: choose it with --select NAME")
    several = request.select is None and (len(forests) > 1 or bool(forests[0].others))
    record = Record(inputs=hashes_of(request))
    found: list[Report] = []
    for forest in forests:
        try:
            found.append(_audit(forest, request, record, progress, jobs))
        except DataError as error:
            if not found or request.train is None:
                raise
            found.append(_without_people(forest, request, record, str(error), progress))
    costs = _losses(found)
    return tuple(
        replace(report, several=several, checks=checks, verdict=verdict_of(checks))
        if several and (checks := losses_added(report.checks, costs)) != report.checks
        else replace(report, several=several)
        for report in found
    )


def _without_people(
    forest: Forest, request: Request, record: Record, misfit: str, progress: Progress | None
) -> Report:
    """Judge a model by its file alone, for which the people of the request do not fit."""
    alone = replace(
        request, train=None, test=None, known=None, person=None, repeats=None, sensitive=()
    )
    report = _audit(forest, alone, replace(record, inputs={}), progress)
    reason = f"the people do not fit this model: {misfit}"
    held = Check(
        name=NOT_HELD,
        threshold=0.0,
        measured=None,
        status="skipped",
        title="People who were given",
        bound="to fit",
        reason=reason,
    )
    checks = (*report.checks, held)
    return replace(
        report, request=request.kept(), checks=checks, verdict=verdict_of(checks),
        warnings=(*report.warnings, f"{reason}; it was judged by the file alone"),
    )  # fmt: skip


def _losses(reports: Sequence[Report]) -> dict[str, float]:
    """Return what all private models of a file give away of one person together."""
    private = [report for report in reports if report.forest.privacy is not None]
    epsilon = sum(report.epsilon for report in private)
    if len({str((report.forest.privacy or {}).get("neighbours")) for report in private}) > 1:
        # What is promised of one record more is not promised of another in its place.
        epsilon = math.inf
    return {"max-epsilon": epsilon, "max-delta": sum(report.delta for report in private)}


def _audit(
    forest: Forest,
    request: Request,
    record: Record,
    progress: Progress | None,
    jobs: int | None = None,
) -> Report:
    offered = offered_attacks()
    known_checks = all_checks(offered)
    asked = request.policy
    policy = asked if isinstance(asked, Policy) else read_policy(os.fspath(asked))
    check_names(policy, known_checks)
    if request.model_name is not None and not request.model_name.strip():
        raise DataError("the model name is empty: name what stays the same from model to model")
    chosen = _choose(request.attacks, all_attacks(offered))
    asked_of = request.baseline
    accepted = None if asked_of is None else read_baseline(asked_of, forest, request.model_name)
    if forest.source.path is not None and forest.source.canonical is None:
        known = canonical(forest)
        source = replace(forest.source, canonical=known.value, canonical_reason=known.reason)
        forest = replace(forest, source=source)
    if request.target is not None:
        forest = replace(forest, schema=replace(forest.schema, target=request.target))

    case, counted, unverified = prepare(forest, request, policy, progress, jobs)
    forest = case.forest
    results: list[Finding | Skipped] = []
    refused = list(offered.refused if request.attacks is None else ())
    for done, attack in enumerate(chosen, start=1):
        if attack in offered.attacks:
            result, ran = run_offered(attack, case)
            refused += [result] if isinstance(result, Skipped) and not ran else []
        else:
            result = run_attack(attack(), case)
        results.append(result)
        if progress is not None:
            progress(attack.title.lower(), done, len(chosen))
    # The hash is of the bytes that were just read, not of what the file is later.
    forest.source.settle()
    checks = (*judge(policy, results, forest, known_checks, counted.unit.most), *not_run(refused))
    report = Report(
        forest=forest,
        table=case.table,
        results=(*results, *(one for one in refused if one not in results)),
        checks=checks,
        verdict=verdict_of(checks),
        policy=policy,
        request=request.kept(),
        warnings=(
            *forest.warnings,
            *([unverified] if unverified else []),
            *counted.warnings,
            *_warnings(chosen, results),
        ),
        pages={attack.id: attack for attack in chosen},
        people={
            name: (records.origin, records.n_people)
            for name, records in (("train", case.train), ("test", case.test), ("known", case.known))
            if records is not None
        },
        baseline=None if accepted is None else accepted.to_dict(),
        unit=counted.unit,
        record=record,
    )
    return report if accepted is None else _accepted(report, accepted, known_checks)


def _accepted(report: Report, baseline: "Baseline", known: Mapping[str, Registered]) -> Report:
    """Return a report whose failed checks are accepted where they are no worse than they were."""
    terms = terms_of(report)
    checks = accept(report.checks, baseline, terms, known)
    said = not_compared(report.checks, baseline, terms, known)
    return replace(
        report,
        checks=checks,
        verdict=verdict_of(checks),
        warnings=(*report.warnings, *said),
    )


def _choose(ids: Sequence[str] | None, attacks: Sequence[type[Attack]]) -> list[type[Attack]]:
    known = {attack.id: attack for attack in attacks}
    wanted = list(known) if ids is None else [i.upper() for i in ids]
    for attack_id in wanted:
        if attack_id not in known:
            if set(re.split(r"[,;\s]+", attack_id.strip(" ,;"))) <= known.keys():
                raise PolicyError(f"there is no attack {attack_id}: name each on its own")
            every = f"; known: {', '.join(known)}"
            close = near(attack_id, known, "known:")
            raise PolicyError(
                f"there is no attack {attack_id}{close if 'mean' in close else every}"
            )
    return [attack for attack_id, attack in known.items() if attack_id in wanted]


def _warnings(chosen: Sequence[type[Attack]], results: Sequence[Finding | Skipped]) -> list[str]:
    """Repeat what the person who trained the model most likely did not mean to do."""
    aloud = {attack.id for attack in chosen if getattr(attack, "warns", False)}
    return [
        f"{result.title.lower()}: {result.summary}"
        for result in results
        if isinstance(result, Finding) and result.id in aloud and result.status == "found"
    ]
