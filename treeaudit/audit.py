"""The whole audit on one page: model → groups → attacks → policy → report."""

from collections.abc import Callable, Sequence

from treeaudit.attacks import Attack, Case, all_attacks
from treeaudit.errors import PolicyError
from treeaudit.findings import Finding, Report, Skipped
from treeaudit.groups import measure
from treeaudit.policy import Policy, judge, read_policy
from treeaudit.readers import load

__all__ = ["Case", "Progress", "scan"]

Progress = Callable[[str, int, int], None]


def scan(
    model: object,
    *,
    policy: str | Policy = "default",
    attacks: Sequence[str] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Report:
    """Audit what a model file gives away about its training data.

    Parameters
    ----------
    model
        A path, a fitted scikit-learn estimator, or a `Forest`.
    policy
        The thresholds: ``default``, ``strict``, ``observe``, the name of one
        in ``pyproject.toml``, the path of a TOML file, or a `Policy`.
    attacks
        Ids of the attacks to run; all of them unless told. A check whose
        attack did not run is never passed.
    seed
        Of every random choice.
    progress
        Called with what is being done, steps done and steps in all.

    Returns
    -------
    Report
        Findings, checks and verdict. All numbers are claims of the file.

    Raises
    ------
    ReadError
        If the model cannot be read, is unsafe or is no tree model.
    PolicyError
        If the policy or an attack id is unknown.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> report = scan(tree.fit(*load_breast_cancer(return_X_y=True)))
    >>> report.verdict, report["TA102"].people
    ('fail', 569)
    """
    resolved = policy if isinstance(policy, Policy) else read_policy(policy)
    chosen = _choose(attacks)
    forest = load(model)

    def step(done: int, total: int) -> None:
        if progress is not None:
            progress("reading leaves", done, total)

    case = Case(forest=forest, groups=measure(forest, step), k=resolved.k, seed=seed)
    results: list[Finding | Skipped] = []
    for done, attack in enumerate(chosen, start=1):
        results.append(attack().run(case))
        if progress is not None:
            progress(attack.title.lower(), done, len(chosen))
    # The hash is of the bytes that were just read, not of what the file is later.
    _ = forest.source.sha256
    checks, verdict = judge(resolved, results, forest)
    return Report(
        forest=forest,
        groups=case.groups,
        results=tuple(results),
        checks=checks,
        verdict=verdict,
        policy=resolved,
        warnings=(*forest.warnings, *_warnings(results)),
        words={attack.id: attack.words for attack in chosen},
        seed=seed,
    )


def _choose(ids: Sequence[str] | None) -> list[type[Attack]]:
    known = {attack.id: attack for attack in all_attacks()}
    wanted = list(known) if ids is None else [i.upper() for i in ids]
    for attack_id in wanted:
        if attack_id not in known:
            raise PolicyError(f"there is no attack {attack_id}; known: {', '.join(known)}")
    return [attack for attack_id, attack in known.items() if attack_id in wanted]


def _warnings(results: Sequence[Finding | Skipped]) -> list[str]:
    """Repeat what the person who trained the model most likely did not mean to do."""
    return [
        f"{result.title.lower()}: {result.summary}"
        for result in results
        if isinstance(result, Finding) and result.id == "TA201" and result.status == "found"
    ]
