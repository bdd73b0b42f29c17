"""Every trainer, in one visible tuple: a trainer is a module, its name here, and its tests."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from inspect import getdoc
from pathlib import Path
from typing import get_args

from treeaudit.dp.ledger import Neighbours
from treeaudit.trainers.bootstrap_forest import BootstrapForestClassifier
from treeaudit.trainers.diffpid3 import DiffPID3Classifier
from treeaudit.trainers.dpdf import DPDFClassifier
from treeaudit.trainers.exponential_id3 import ExponentialID3Classifier
from treeaudit.trainers.midpoint_forest import MidpointForestClassifier
from treeaudit.trainers.private_additive_tree import PrivateAdditiveTreeClassifier
from treeaudit.trainers.private_forest import PrivateForestClassifier
from treeaudit.trainers.private_regressors import PrivateForestRegressor, PrivateTreeRegressor
from treeaudit.trainers.private_tree import PrivateTreeClassifier
from treeaudit.trainers.private_trees import Listed, PrivateTrees
from treeaudit.trainers.random_count_forest import RandomCountForestClassifier
from treeaudit.trainers.semi_supervised_forest import SemiSupervisedForestClassifier
from treeaudit.trainers.signal_to_noise_forest import SignalToNoiseForestClassifier
from treeaudit.trainers.smooth_sensitivity_forest import SmoothSensitivityForestClassifier
from treeaudit.trainers.sulq_id3 import SulqID3Classifier
from treeaudit.trainers.threshold_forest import ThresholdForestClassifier
from treeaudit.trainers.top_down_specialization import TopDownSpecializationClassifier

__all__ = [
    "ALGORITHMS",
    "BootstrapForestClassifier",
    "DPDFClassifier",
    "DiffPID3Classifier",
    "ExponentialID3Classifier",
    "MidpointForestClassifier",
    "PrivateAdditiveTreeClassifier",
    "PrivateForestClassifier",
    "PrivateForestRegressor",
    "PrivateTreeClassifier",
    "PrivateTreeRegressor",
    "RandomCountForestClassifier",
    "SemiSupervisedForestClassifier",
    "SignalToNoiseForestClassifier",
    "SmoothSensitivityForestClassifier",
    "SulqID3Classifier",
    "ThresholdForestClassifier",
    "TopDownSpecializationClassifier",
]

ALGORITHMS: tuple[type[PrivateTrees], ...] = (
    PrivateTreeClassifier,
    PrivateForestClassifier,
    PrivateAdditiveTreeClassifier,
    DPDFClassifier,
    DiffPID3Classifier,
    SmoothSensitivityForestClassifier,
    SulqID3Classifier,
    ExponentialID3Classifier,
    BootstrapForestClassifier,
    MidpointForestClassifier,
    RandomCountForestClassifier,
    SemiSupervisedForestClassifier,
    SignalToNoiseForestClassifier,
    ThresholdForestClassifier,
    TopDownSpecializationClassifier,
    PrivateTreeRegressor,
    PrivateForestRegressor,
)
"""The first is what `train` uses unless told otherwise."""

MEASURED: dict[str, str] = json.loads(Path(__file__).with_name("measured.json").read_text("utf-8"))
"""How accurate each was: medians over random splits at epsilon 1, at its defaults.

``python -m benchmarks.private_tables`` writes them.
"""


_HEADS = (
    *("algorithm", "paper", "budget per query", "tree", "depth", "trees"),
    *("continuous attributes", "as published", "sound", "accuracy"),
)
_SHARED = {
    *("budget", "epsilon", "n_jobs", "neighbours", "outside", "random_state", "rows_per_person"),
    *("schema", "variant"),
}
_FIELDS = tuple(field.name for field in fields(Listed))


def _line(trainer: type[PrivateTrees], measured: Mapping[str, str]) -> tuple[str, ...]:
    told = (getattr(trainer.listed, name) for name in _FIELDS)
    return trainer.algorithm, *told, measured.get(trainer.algorithm, "not measured")


def as_text(trainers: Iterable[type[PrivateTrees]], measured: Mapping[str, str]) -> str:
    """Return the table as text, a block for each trainer.

    ``measured``: by algorithm, how accurate it was in the benchmark, in words.
    """
    wide = max(map(len, _HEADS))
    blocks = []
    for trainer in trainers:
        name, *line = _line(trainer, measured)
        said = [
            *zip(_HEADS[1:], line, strict=True),
            ("neighbours", ", ".join(get_args(Neighbours))),
        ]
        blocks.append("\n".join([name, *(f"  {head:{wide}}  {words}" for head, words in said)]))
    return "\n\n".join(blocks)


def as_markdown(trainers: Iterable[type[PrivateTrees]], measured: Mapping[str, str]) -> str:
    """Return the same as a table in Markdown; all trainers know both kinds of neighbours."""
    rows = [_HEADS, ("---",) * len(_HEADS), *(_line(trainer, measured) for trainer in trainers)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def parameters_as_text(trainer: type[PrivateTrees]) -> str:
    r"""Return the parameters that a trainer can be given, with what it says of them."""
    told = [(getdoc(trainer) or "").split("\n", 1)[0], ""]
    told.append("Parameters, as NAME=VALUE after --set or in Python:")
    words: dict[str, list[str]] = {}
    # Its own words first; "as in" another class is what that one says.
    for kind in (trainer, *trainer.__mro__):
        for name, said in _said(kind).items():
            words.setdefault(name, said)
    for name, default in sorted(trainer().get_params().items(), key=lambda one: one[0] in _SHARED):
        told += [f"  {name}={default!r}", *(f"      {line}" for line in words.get(name, ()))]
    return "\n".join(told)


def _said(kind: type) -> dict[str, list[str]]:
    """Return what a docstring says of each parameter, but for those that it leaves to others."""
    section = (getdoc(kind) or "").partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    words: dict[str, list[str]] = {}
    names: list[str] = []
    for line in section.split("\n"):
        if not line.startswith(" "):
            names = line.split(", ")
        else:
            for name in names:
                words.setdefault(name, []).append(line.strip())
    return {name: said for name, said in words.items() if not said[0].startswith("As in")}
