"""Every interval that a report shows, and how it is drawn where the truth is known."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from treeaudit import load, reconstruct
from treeaudit.attacks import Case as Held
from treeaudit.attacks.control import leaf_control
from treeaudit.attacks.membership_inference.roc import (
    Test,
    area,
    rate_at,
    strongest,
    threshold_at,
)
from treeaudit.attacks.singling_out.population import alone_in_both
from treeaudit.comparison.measures import lesser_of
from treeaudit.people.predict.utility import explained
from treeaudit.people.records import read_records
from treeaudit.stats import (
    Estimate,
    difference,
    exact,
    fact,
    paired,
    residual,
    summed,
    wilson,
)

__all__ = ["Case", "Draw", "cases"]

Draw = Callable[[np.random.Generator], tuple[Estimate | None, float]]
_TESTS: tuple[Test, ...] = ("counts", "loss", "shadows")


class Case(NamedTuple):
    """An interval in one setting: what it is called, where it stands, and one draw of it."""

    interval: str
    where: str
    setting: str
    draw: Draw
    times: int = 4_000


def cases() -> Iterator[Case]:
    """Yield every interval that a report shows, each in several settings."""
    where = "unseen people who fit; accuracy; guesses"
    for n, p in ((20, 0.5), (50, 0.9), (200, 0.98), (2_000, 0.6)):
        yield Case("share (Wilson)", where, f"n {n:,}, p {p:g}", _share(n, p, wilson))
    for n, p in ((20, 0.5), (200, 0.98)):
        where = "AUC where all pairs agree"
        yield Case("share (Clopper-Pearson)", where, f"n {n:,}, p {p:g}", _share(n, p, exact))
    where = "excess of TA101 to TA104, TA110, lower and upper end in `max-memorised-excess`"
    for n, m, p, q in ((50, 80, 0.9, 0.6), (300, 200, 0.97, 0.9), (2_000, 1_000, 0.5, 0.5)):
        setting = f"{n:,} at {p:g}, {m:,} at {q:g}"
        yield Case("difference (Newcombe)", where, setting, _difference(n, m, p, q))
        where_risk = "residual risk (anonymeter)"
        yield Case("residual risk (Donner and Zou)", where_risk, setting, _residual(n, m, p, q))
    for n, m, q in ((10, 40, 0.6), (3_259, 1_400, 0.906), (400, 25, 0.8)):
        setting = f"{n:,} claims, {m:,} unseen at {q:g}"
        yield Case("people by memory", "headline, card, TA101, TA102", setting, _memory(n, m, q))
    yield Case("people by memory, sum of two claims", "headline", "200 and 900 claims", _sum)
    for n, p, q in ((200, 0.15, 0.05), (1_000, 0.1, 0.1), (2_000, 0.02, 0.01)):
        setting = f"n {n:,}, {p:g} against {q:g} right alone"
        yield Case("paired difference", "TA104 beyond the guess", setting, _paired(n, p, q))
    for columns in (2, 13):
        setting = f"2,000 members, 1,000 unseen, the largest of {columns} columns"
        yield Case("attribute advantage", "`compare`", setting, _largest(columns), 1_500)
    for trees, n in ((1, 300), (10, 300), (10, 1_000)):
        setting = f"{trees} tree{'s' * (trees > 1)}, {n:,} unseen"
        where = "TA101, TA102: leaves of a forest, a person counted once"
        yield Case("unseen people who fit", where, setting, _fitting(trees, n), 100)
    for n, noise in ((100, 1.0), (1_000, 3.0)):
        setting = f"n {n:,}, noise {noise:g} of the signal"
        yield Case("R² (delta method)", "`defend`, `compare`", setting, _explained(n, noise), 1_500)
    for n, shift in ((1_000, 0.5), (5_000, 1.5)):
        setting = f"{n:,} controls, shift {shift:g}"
        for name, left in (("TPR above its false alarms", False), ("the same, residual", True)):
            yield Case(name, "TA105, card", setting, _above_alarms(n, shift, left=left), 1_000)
    for n, shift in ((60, 1.0), (500, 0.3), (500, 2.5), (2_000, 0.0)):
        setting = f"{n:,} each, shift {shift:g}"
        yield Case("AUC (DeLong, logit)", "TA105", setting, _area(n, shift, 0.0), 1_500)
        setting += ", rounded to 1"
        yield Case("AUC (DeLong, logit)", "TA105", setting, _area(n, shift, 1.0), 1_500)
    for n in (1_000, 2_000, 5_000):
        for shift in (0.0, 0.5, 1.0, 1.5):
            for grid in (0.0, 0.3, 1.0):
                setting = f"{n:,} controls, shift {shift:g}" + f", rounded to {grid:g}" * (grid > 0)
                yield Case("TPR at 1 % FPR", "TA105", setting, _rate(n, shift, grid), 1_000)
    for shift in (0.0, 0.5):
        setting = f"shift {shift:g}, scores apart"
        yield Case("AUC of the strongest of three", "TA105", setting, _strongest(shift, 0.0), 800)
        setting = f"shift {shift:g}, scores alike"
        yield Case("AUC of the strongest of three", "TA105", setting, _strongest(shift, 0.9), 800)
    setting = "2,000 controls, shift 0.5"
    yield Case("TPR of the strongest of three", "TA105", setting, _strongest_rate, 400)
    for columns, values in ((4, 20), (2, 400)):
        for n in (1_000, 4_000):
            setting = f"{columns} columns of {values} values, {n:,} unseen"
            for name, where, draw in (
                ("alone in the population", "TA101, `max-population-uniques`", _alone),
                ("others per leaf of one", "TA101", _others),
            ):
                yield Case(name, where, setting, draw(columns, values, n), 100)


def _share(n: int, p: float, interval: Callable[[int, int], Estimate]) -> Draw:
    return lambda rng: (interval(int(rng.binomial(n, p)), n), p)


def _two(rng: np.random.Generator, n: int, m: int, p: float, q: float) -> tuple[Estimate, Estimate]:
    return wilson(int(rng.binomial(n, p)), n), wilson(int(rng.binomial(m, q)), m)


def _difference(n: int, m: int, p: float, q: float) -> Draw:
    return lambda rng: (difference(*_two(rng, n, m, p, q)), p - q)


def _residual(n: int, m: int, p: float, q: float) -> Draw:
    return lambda rng: (residual(*_two(rng, n, m, p, q)), max(0.0, (p - q) / (1 - q)))


def _memory(n: int, m: int, q: float) -> Draw:
    """All claims are true of the people whom they are about."""

    def draw(rng: np.random.Generator) -> tuple[Estimate, float]:
        excess = difference(fact(1.0, n), wilson(int(rng.binomial(m, q)), m))
        value, low, high = (n * end for end in (excess.value, excess.low, excess.high))
        return Estimate(value=value, low=low, high=high, n=n), n * (1 - q)

    return draw


def _sum(rng: np.random.Generator) -> tuple[Estimate, float]:
    parts = [_memory(200, 90, 0.7)(rng), _memory(900, 400, 0.9)(rng)]
    return summed([one for one, _ in parts]), sum(truth for _, truth in parts)


def _paired(n: int, p: float, q: float) -> Draw:
    def draw(rng: np.random.Generator) -> tuple[Estimate, float]:
        first, second, _ = rng.multinomial(n, [p, q, 1 - p - q])
        return paired(int(first), int(second), n), p - q

    return draw


def _largest(columns: int) -> Draw:
    """Of columns in which the model tells no more of members than of others.

    In every second one nobody guesses as well without it.
    """

    def draw(rng: np.random.Generator) -> tuple[Estimate, float]:
        found = []
        for column in range(columns):
            members, unseen = _two(rng, 2_000, 1_000, 0.4, 0.4)
            _, guess = _two(rng, 2_000, 1_000, 0.4, 0.4 - 0.05 * (column % 2))
            excesses = difference(members, unseen), difference(members, guess)
            found.append(lesser_of(excesses, columns))
        return max(found, key=lambda one: one.value), 0.0

    return draw


def _fitting(trees: int, n: int) -> Draw:
    def people(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        x = rng.normal(size=(n, 3))
        return x, (x[:, 0] + rng.normal(0, 1, n) > 0).astype(int)

    def draw(rng: np.random.Generator) -> tuple[Estimate | None, float]:
        seed = int(rng.integers(2**31))
        kind = ExtraTreesClassifier(trees, max_leaf_nodes=60, random_state=seed)
        forest = load(kind.fit(*people(rng, 600)))
        found = []
        for size in (n, 10_000):
            case = Held(
                forest=forest,
                table=reconstruct(forest).groups,
                test=read_records(people(rng, size), forest, origin="test"),
            )
            control = leaf_control(case, case.table.size < 5, "small leaves")
            if control is None or control.control is None:
                return None, 0.0
            found.append(control.control)
        return found[0], found[1].value

    return draw


def _explained(n: int, noise: float) -> Draw:
    """Of a stump that knows which of two halves somebody is in."""
    stump = DecisionTreeRegressor(max_depth=1, random_state=0)
    forest = load(stump.fit([[0.0], [1.0]], [0.0, 2.0]))

    def draw(rng: np.random.Generator) -> tuple[Estimate, float]:
        x = rng.integers(0, 2, (n, 1)).astype(float)
        y = 2 * x[:, 0] + rng.normal(0, noise, n)
        return explained(forest, read_records((x, y), forest)), 1 / (1 + noise**2)

    return draw


def _above_alarms(n: int, shift: float, *, left: bool) -> Draw:
    truth = _true_rate(shift, 0.0) - 0.01

    def draw(rng: np.random.Generator) -> tuple[Estimate | None, float]:
        members, control = _scores(rng, 2_000, n, shift, 0.0)
        rate = rate_at(members, control, 0.01)
        if rate is None:
            return None, 0.0
        alarms = wilson(int((control > threshold_at(control, 0.01)).sum()), n)
        if left:
            return residual(rate, alarms), truth / 0.99
        return difference(rate, alarms), truth

    return draw


def _scores(
    rng: np.random.Generator, n: int, m: int, shift: float, grid: float
) -> tuple[np.ndarray, np.ndarray]:
    scores = rng.normal(shift, 1, n), rng.normal(0, 1, m)
    return (np.round(scores[0] / grid), np.round(scores[1] / grid)) if grid else scores


def _area(n: int, shift: float, grid: float) -> Draw:
    truth = float(ndtr(shift / np.sqrt(2)))
    if grid:
        at = np.arange(-12, 16) * grid
        mass = [ndtr(at + grid / 2 - s) - ndtr(at - grid / 2 - s) for s in (shift, 0.0)]
        truth = float((mass[0] * (np.cumsum(mass[1]) - mass[1] / 2)).sum())
    return lambda rng: (area(*_scores(rng, n, n, shift, grid)), truth)


def _true_rate(shift: float, grid: float) -> float:
    edge = float(ndtri(0.99))
    if grid:
        edge = grid * (np.ceil(edge / grid - 0.5) + 0.5)
    return float(1 - ndtr(edge - shift))


def _rate(n: int, shift: float, grid: float) -> Draw:
    truth = _true_rate(shift, grid)
    return lambda rng: (rate_at(*_scores(rng, 2_000, n, shift, grid), 0.01), truth)


def _three(
    rng: np.random.Generator, n: int, m: int, shift: float, common: float
) -> dict[Test, tuple[np.ndarray, np.ndarray]]:
    """Three tests of one strength; ``common`` is the correlation of their scores."""
    shared = [rng.normal(0, 1, size) for size in (n, m)]
    found: dict[Test, tuple[np.ndarray, np.ndarray]] = {}
    for name in _TESTS:
        own = [np.sqrt(common) * s + np.sqrt(1 - common) * rng.normal(0, 1, len(s)) for s in shared]
        found[name] = own[0] + shift, own[1]
    return found


def _strongest(shift: float, common: float) -> Draw:
    def draw(rng: np.random.Generator) -> tuple[Estimate, float]:
        found = strongest(_three(rng, 300, 300, shift, common))[0]
        told = Estimate(value=found.auc, low=found.auc_low, high=found.auc_high, n=600)
        return told, float(ndtr(shift / np.sqrt(2)))

    return draw


def _strongest_rate(rng: np.random.Generator) -> tuple[Estimate | None, float]:
    found = strongest(_three(rng, 2_000, 2_000, 0.5, 0.0))[0]
    value, low = found.tpr_at_1_percent_fpr, found.tpr_at_1_percent_fpr_low
    high = found.tpr_at_1_percent_fpr_high
    if value is None or low is None or high is None:
        return None, 0.0
    return Estimate(value=value, low=low, high=high, n=2_000), _true_rate(0.5, 0.0)


def _sizes(
    rng: np.random.Generator, columns: int, values: int, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return people of the rest of the population in each leaf of one, unseen ones and all."""
    whole = rng.integers(0, values, (20_000, columns)).astype(float)
    tree = DecisionTreeClassifier(random_state=0)
    tree.fit(whole[:2_000], rng.integers(0, 2, 2_000))
    leaf, nodes = tree.apply(whole), tree.tree_.node_count
    inside, unseen, rest = (
        np.bincount(one, minlength=nodes)
        for one in (leaf[:2_000], leaf[2_000 : 2_000 + n], leaf[2_000:])
    )
    return unseen[inside == 1], rest[inside == 1]


def _alone(columns: int, values: int, n: int) -> Draw:
    def draw(rng: np.random.Generator) -> tuple[Estimate, float]:
        unseen, rest = _sizes(rng, columns, values, n)
        return alone_in_both(unseen, n, 18_000), float((rest == 0).sum())

    return draw


def _others(columns: int, values: int, n: int) -> Draw:
    def draw(rng: np.random.Generator) -> tuple[Estimate, float]:
        unseen, rest = _sizes(rng, columns, values, n)
        share, scale = wilson(int(unseen.sum()), n), 18_000 / len(unseen)
        low, value, high = (scale * end for end in (share.low, share.value, share.high))
        return Estimate(value=value, low=low, high=high, n=n), float(rest.mean())

    return draw
