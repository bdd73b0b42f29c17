"""Every headline number, check and verdict of a report against the raw rows."""

from typing import Any

import numpy as np
import pytest

import treeaudit as ta
from tests.route.compare import differences
from tests.route.expected import Expected, told
from tests.route.knowing import claims, falling
from tests.route.models import KINDS, draw
from tests.route.verdicts import THRESHOLDS, disagreements
from tests.route.words import misread, unremembered
from tests.strategies import one_in
from treeaudit.findings.policy import Policy
from treeaudit.reports.html import to_html
from treeaudit.reports.terminal import to_text

_FEW = 2
_SEEDS = (*range(_FEW), *one_in(4, range(_FEW, 11)))
_MANY = (pytest.mark.slow, pytest.mark.sampled)
_MODELS = [(kind, seed) for kind in KINDS for seed in _SEEDS]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("kind", "seed"),
    [pytest.param(*one, marks=() if one[1] < _FEW else _MANY) for one in _MODELS],
)
def test_every_number_again(kind: str, seed: int) -> None:
    """By the file alone, with its people, and with persons of several rows."""
    drawn, rng = draw(kind, seed)
    values = {name: float(rng.choice(some)) for name, some in THRESHOLDS.items()}
    policy, k = Policy(name="route", values=values), int(values["min-leaf"])
    people, answer = drawn.people, drawn.answer
    rows = people.frame(answer) if answer else people.features
    ways: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {"train": False}),
        ({"train": rows, "target": answer or None, "repeats": "people"}, {"train": True}),
    ]
    if answer:
        ways.append(
            (
                {"train": rows, "target": answer, "person": "person"},
                {"train": True, "person": people.person},
            )
        )
    for given, counted in ways:
        found = ta.scan(drawn.model, policy=policy, **given)
        report = found.to_dict()
        if any("labels of train could not be verified" in one for one in found.warnings):
            # Of a single split at random nothing shows whose labels they are.
            assert found.verdict != "pass"
            continue
        expected = Expected(told(drawn, report), k, **counted)
        assert differences(report, expected) == []
        assert list(disagreements(report, expected)) == []
        text, page = to_text(found, width=240), to_html(found)
        assert list(misread(text, page, report, expected)) == []


def strangers(column: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return values of other people: the same coarse ones, never the digits of a fine one."""
    drawn = rng.permutation(column)
    fine = np.issubdtype(column.dtype, np.number) and (drawn.round(1) != drawn).any()
    return rng.normal(size=len(drawn)) if fine else drawn


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "kind", ["tree", "extra tree", "forest", "forest of all", "extra trees", "bagging", "adaboost"]
)
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))]
)
def test_known_and_unseen_people(kind: str, seed: int) -> None:
    """Who falls once known people are taken out, and what claims are worth for unseen people."""
    drawn, rng = draw(kind, seed)
    people, n = drawn.people, len(drawn.people.label)
    known, rows = rng.random(n) < 0.3, people.frame().drop(columns="person")
    unseen = people.features.apply(lambda column: strangers(column.to_numpy(), rng))
    label = people.label[rng.permutation(n)]
    # Rows that stand in the training data are no control.
    inside = {tuple(row) for row in rows.astype(str).to_numpy()}
    both = unseen.assign(label=label).astype(str).to_numpy()
    apart = np.array([tuple(row) not in inside for row in both])
    unseen, label = unseen[apart], label[apart]
    given = {"train": rows, "test": unseen.assign(label=label), "known": rows[known]}
    audited = ta.scan(drawn.model, target="label", repeats="people", **given)
    report = audited.to_dict()
    expected = Expected(told(drawn, report), 5, train=True)
    if expected.drawn.sized_only:
        return
    found = {one["id"]: one for one in report["findings"]}
    fall = found["TA103"]["details"].get("known", {"reason": "not everything could be seen"})
    if len(drawn.trees) == 1 and "reason" not in fall:
        real = falling(expected, known)
        assert {name: fall[name] for name in real} == real
    for one in fall.get("people", ()):
        assert str(people.label[one["row"] - 1]) == one["label"]
    said = {c["of"]: c for name in ("TA101", "TA102") for c in found[name]["controls"]}
    real = claims(expected, unseen, np.searchsorted(np.array(drawn.classes), label))
    assert {*said} == {of for of, claim in real.items() if claim is not None}
    for of, control in said.items():
        for part, right in real[of].items():
            told_ = None if control[part] is None else (control[part]["value"], control[part]["n"])
            assert told_ == (None if right is None else pytest.approx(right)), (of, part)
    text, page = to_text(audited, width=4_000, verbose=True), to_html(audited)
    assert list(unremembered(text, page, {of: claim for of, claim in real.items() if claim})) == []
