"""``python -m benchmarks.membership``: TA105 beside SACRO-ML's likelihood-ratio attack.

The same models and people, once as they were and once with members and others exchanged at
random, when nothing can be found: what is away from 0.5 then is bias or chance. Takes the tables
in ``TREEAUDIT_DATA`` and SACRO-ML (``benchmarks/peers.txt``), which trains 40 shadow models on
random halves of all people. Writes a section of ``benchmarks/RESULTS.md``.
"""

import logging
import os
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from benchmarks.sections import RESULTS, commit, replace_section
from treeaudit.attacks import Case, Membership
from treeaudit.attacks.membership_inference.roc import MembershipDetails, NotMade
from treeaudit.people.records import read_records

__all__ = ["main"]

_MODELS = {
    "tree, leaves of 5": DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    "50 trees, leaves of 1": RandomForestClassifier(50, random_state=0),
    "50 trees, leaves of 10": RandomForestClassifier(50, min_samples_leaf=10, random_state=0),
    "gradient boosting": GradientBoostingClassifier(random_state=0),
}
_N, _SHADOWS, _MODES = 1_500, 40, ("offline", "online-carlini")


def main() -> None:
    """Measure both and write the table."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    lines = [
        "# Membership inference beside SACRO-ML",
        "",
        f"Written by `python -m benchmarks.membership` (commit {commit()}). AUC on {_N:,} members "
        f"and {_N:,} others; ours learns from half of these and is measured on the other half. "
        f"SACRO-ML: likelihood ratio, {_SHADOWS} shadow models, by mode. *Exchanged*: members "
        "and others at random, the model the same, so that nothing can be found: what is away from "
        "0.5 then is bias or chance, whose standard deviation is 0.015 for ours and 0.011 for "
        "SACRO-ML.",
        "",
        "| table | model | counts | loss | shadow models | CPU-s | exchanged (counts, loss, "
        "shadow models) | SACRO-ML offline | online | CPU-s | exchanged (offline, online) |",
        "|---|---|---:|---:|---:|---:|---|---:|---:|---:|---|",
    ]
    for name in ("adult", "magic"):
        x, y = _people(Path(os.environ["TREEAUDIT_DATA"]) / f"{name}.csv.gz")
        order = np.random.default_rng(5).permutation(2 * _N)
        for title, model in _MODELS.items():
            model.fit(x[:_N], y[:_N])
            cells = []
            for attack in (_ours, _sacro):
                begun = time.process_time()
                found = attack(model, x, y)
                used = f"{time.process_time() - begun:.1f}"
                cells += [*found, used, ", ".join(attack(model, x[order], y[order]))]
            lines.append(f"| {name} | {title} | {' | '.join(cells)} |")
            # Each model takes minutes: those that are done stay if the run is stopped.
            document = RESULTS.read_text("utf-8")
            RESULTS.write_text(replace_section(document, "membership", "\n".join(lines)), "utf-8")
            print(lines[-1], flush=True)


def _people(path: Path) -> tuple[np.ndarray, np.ndarray]:
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    rows = np.random.default_rng(11).permutation(len(table))[: 2 * _N]
    columns = []
    for name in table.columns:
        number = pd.to_numeric(table[name], errors="coerce")
        codes = np.unique(table[name], return_inverse=True)[1]
        columns.append(codes if number.isna().any() else number.to_numpy())
    coded = np.column_stack(columns)[rows].astype(float)
    return coded[:, :-1], coded[:, -1].astype(int)


def _ours(model: object, x: np.ndarray, y: np.ndarray) -> list[str]:
    forest = ta.load(model)
    people = {"train": (x[:_N], y[:_N]), "test": (x[_N:], y[_N:])}
    given = {role: read_records(one, forest, origin=role) for role, one in people.items()}
    result = Membership().run(Case(forest=forest, table=ta.reconstruct(forest).groups, **given))
    details = getattr(result, "details", None)
    if not isinstance(details, MembershipDetails):
        return ["–"] * 3
    tests = details.references
    each = (tests.counts, tests.loss, tests.shadows)
    return ["–" if isinstance(one, NotMade) else f"{one.auc:.3f}" for one in each]


def _sacro(model: object, x: np.ndarray, y: np.ndarray) -> list[str]:
    from sacroml.attacks.likelihood_attack import LIRAAttack
    from sacroml.attacks.target import Target

    people = {"X_train": x[:_N], "y_train": y[:_N], "X_test": x[_N:], "y_test": y[_N:]}
    found = []
    with tempfile.TemporaryDirectory() as folder:
        # The second mode takes the shadow models of the first.
        for mode in _MODES:
            attack = LIRAAttack(folder, False, _SHADOWS, mode=mode)
            attack.attack(Target(model=model, dataset_name="people", **people))
            found.append(f"{attack.attack_metrics[0]['AUC']:.3f}")
    return found


if __name__ == "__main__":
    main()
