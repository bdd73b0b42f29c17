"""Seeds that a file keeps, and whether they repeat the draws of its trees.

scikit-learn stores an integer seed in every tree of a bagged forest. With the
number of training rows, which it stores as well, the same generator draws the
same rows again: row by row, who is in which tree and how often. The proof is
in the file: the rows drawn again are as many distinct ones as the root holds.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeGuard

import numpy as np

from treeaudit.arrays import Float
from treeaudit.model.source import Extra
from treeaudit.readers.limits import Most
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.walk import Place

_TRIED = 5
_OWN_GENERATORS = ("_rng", "_feature_subsample_rng")
_MOST_GUESSES = 10
_SEEDS = 1 << 32
_HIGHEST = (1 << 31) - 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Plan:
    """How rows were drawn.

    ``features``: how many are drawn first, of how many, and whether with replacement; None for
    forests, which draw them elsewhere.
    """

    people: int
    draws: int
    repeat: bool = True
    weights: Float | None = None
    features: tuple[int, int, bool] | None = None


def seeds(place: Place, n_records: int | None) -> Iterator[Extra]:
    """Yield the seeds of a bagged model that repeat its draws.

    Overwritten seeds repeat nothing and are not reported. If drawing again would prove nothing
    (every tree holds as many people, or their number is unknown) or cost too much, the seeds are
    reported as they are.
    """
    model = place.value
    if not isinstance(model, Inert):
        return
    stored = arrived(model.get("estimators_"))
    members = [m for m in stored if isinstance(m, Inert)] if isinstance(stored, list) else []
    if not members:
        return
    first = _root(members[0])
    if model.get("_max_samples") is not None or model.get("_seeds") is not None:
        plans = _bagging_plans(model)
        own, where = _seed_array(model), "_seeds"
        again = _from_seed(model.get("random_state"), at_once=True)
    elif model.get("bootstrap") is True:
        plans = _forest_plans(model, first, n_records)
        own, where = [m.get("random_state") for m in members], "estimators_[*].random_state"
        again = _from_seed(model.get("random_state"), at_once=False)
    else:
        return
    n, is_reported = sum(map(_is_seed, own)), False
    for plan in plans:
        # The seeds of the trees are nearly always those that follow from that of the model.
        drawn = cache(partial(_people, plan))
        proved = _repeat(own, plan, members, drawn)
        if proved is not False:
            is_reported = True
            says = _says("1 seed tells" if n == 1 else f"{n:,} seeds tell", plan, proved)
            yield Extra(kind="seeds", where=place.at(where), n=n, says=says)
        from_top = _repeat(again, plan, members, drawn)
        if from_top:
            says = _says("1 seed, from which those of all trees follow, tells", plan, True)
            yield Extra(kind="seeds", where=place.at("random_state"), n=len(members), says=says)
        if proved or from_top:
            return
    live = len(set(filter(_is_seed, own))) > 1
    if live and not is_reported and not _numbers_are_known(model, first):
        says = (
            f"{n:,} seeds tell who is in which tree, by row number (the file does not state "
            "how many were drawn from how many, so they were not drawn again)"
        )
        yield Extra(kind="seeds", where=place.at(where), n=n, says=says)


def row_seed(where: str, sampled: bool) -> Iterator[Extra]:
    """Yield the seed of a boosted model whose trees each saw a part of the rows."""
    if sampled:
        says = "the seed from which the rows of each tree were drawn; not drawn again"
        yield Extra(kind="seeds", where=where, n=1, says=says)


def is_seed(name: str) -> bool:
    """Tell whether a parameter of this name is a seed.

    Examples
    --------
    >>> [is_seed(name) for name in ("random_state", "tree__random_state", "bagging_seed", "depth")]
    [True, True, True, False]
    """
    return name.endswith(("random_state", "seed"))


def generators(place: Place) -> Iterator[Extra]:
    """Yield the states of random generators, except those that a boosting draws from."""
    model, above = place.value, place.above
    if not isinstance(model, Inert) or not model.cls.module.startswith("numpy.random"):
        return
    # Boosting hands its own to each of its trees.
    members = above.above if above is not None else None
    of_tree = members is not None and members.step == "estimators_"
    if place.step not in _OWN_GENERATORS and not of_tree:
        says = "the state of a generator of random numbers: it repeats what it drew"
        yield Extra(kind="seeds", where=place.path or "the file itself", n=1, says=says)


def _numbers_are_known(model: Inert, root: tuple[int, float] | None) -> bool:
    """Tell whether all numbers of records that may have been drawn were tried."""
    if _is_size(model.get("_n_samples")):
        return True
    given = (model.get("max_samples"), model.get("class_weight"))
    if root is None or any(one is not None for one in given):
        return False
    # As many as there are, of weight one: in a tree are 1 - 1/e of them, give or take.
    people, weight = root
    return weight.is_integer() and abs(people - 0.632 * weight) <= 2 * math.sqrt(max(weight, 1))


def _says(who: str, plan: _Plan, proved: bool | None) -> str:
    check = "; drawn again, as many people as the trees hold" if proved else ""
    return (
        f"{who} who is in which tree, by row number ({plan.draws:,} drawn from "
        f"{plan.people:,}{check})"
    )


def _forest_plans(
    model: Inert, root: tuple[int, float] | None, n_records: int | None
) -> Iterator[_Plan]:
    """Yield what the draws may have been; old versions do not store the numbers."""
    weight = root[1] if root else 0.0
    drawn = int(weight) if 0 < weight <= Most.draws and weight.is_integer() else None
    share, stated = model.get("max_samples"), model.get("_n_samples_bootstrap")
    guesses: Iterable[int] = ()
    if drawn is not None and isinstance(share, float) and 0.01 < share <= 1:
        # The numbers of records of which the share is the number drawn.
        first, last = math.ceil((drawn - 0.5) / share), math.floor((drawn + 0.5) / share)
        guesses = range(first, min(last, first + _MOST_GUESSES) + 1)
    for people in dict.fromkeys(
        filter(_is_size, (model.get("_n_samples"), n_records, drawn, *guesses))
    ):
        draws = stated if _is_size(stated) else drawn if drawn is not None else people
        yield _Plan(people=people, draws=draws, weights=_weights(model, people))


def _bagging_plans(model: Inert) -> Iterator[_Plan]:
    people, draws = model.get("_n_samples"), model.get("_max_samples")
    if not _is_size(people) or not _is_size(draws):
        return
    repeat = model.get("bootstrap") is True
    weights = _weights(model, people)
    if not repeat and draws >= people:
        return
    chosen, width = model.get("_max_features"), model.get("n_features_in_")
    if width is None:
        width = model.get("n_features_")
    features = (
        (chosen, width, model.get("bootstrap_features") is True)
        if _is_size(chosen) and _is_size(width)
        else None
    )
    yield _Plan(people=people, draws=draws, repeat=repeat, weights=weights, features=features)


def _is_size(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _weights(model: Inert, people: int) -> Float | None:
    stored = arrived(model.get("_sample_weight"))
    if not isinstance(stored, np.ndarray) or stored.shape != (people,):
        return None
    return stored.astype(np.float64) if stored.dtype.kind in "biuf" else None


def _seed_array(model: Inert) -> list[object]:
    stored = arrived(model.get("_seeds"))
    if isinstance(stored, np.ndarray) and stored.ndim == 1 and stored.dtype.kind in "iu":
        return list(stored.tolist())
    return []


def _from_seed(seed: object, *, at_once: bool) -> list[object]:
    """Return the seeds of the first trees as they follow from that of the model."""
    if not _is_seed(seed):
        return []
    source = np.random.RandomState(seed)
    if at_once:
        return list(source.randint(_HIGHEST, size=_TRIED).tolist())
    return [int(source.randint(_HIGHEST)) for _ in range(_TRIED)]


def _is_seed(seed: object) -> TypeGuard[int]:
    return isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed < _SEEDS


def _root(member: object) -> tuple[int, float] | None:
    """Return people and weight of the root of a tree."""
    tree = arrived(member.get("tree_")) if isinstance(member, Inert) else None
    nodes = arrived(tree.get("nodes")) if isinstance(tree, Inert) else None
    if not isinstance(nodes, np.ndarray) or nodes.ndim != 1 or not len(nodes):
        return None
    names = nodes.dtype.names or ()
    found = []
    for name in ("n_node_samples", "weighted_n_node_samples"):
        if name not in names or nodes.dtype[name].kind not in "iuf":
            return None
        found.append(float(nodes[name][0]))
    return (int(found[0]), found[1]) if all(map(np.isfinite, found)) else None


def _repeat(
    found: Sequence[object],
    plan: _Plan,
    members: Sequence[Inert],
    drawn: Callable[[int], int | None],
) -> bool | None:
    """Tell whether seeds draw as many people as the roots hold; None if that proves nothing."""
    pairs = [(seed, one) for seed, one in zip(found, members, strict=False) if _is_seed(seed)]
    if not pairs or (len(pairs) > 1 and len({seed for seed, _ in pairs}) == 1):
        return False
    if not plan.repeat or max(plan.people, plan.draws) > Most.draws:
        return None
    for seed, member in pairs[:_TRIED]:
        people, root = drawn(seed), _root(member)
        if people is None or root is None:
            return None
        if people != root[0]:
            return False
    return True


def _people(plan: _Plan, seed: int) -> int | None:
    """Return how many people a seed draws, or None if the draw is not known here."""
    source = np.random.RandomState(seed)
    if plan.features is not None:
        chosen, width, repeat = plan.features
        if max(chosen, width) > Most.draws:
            return None
        if repeat:
            source.randint(0, width, chosen)
        elif 0.01 * width < chosen < 0.99 * width:
            source.permutation(width)
        elif chosen != width:
            return None
    if plan.weights is None:
        return len(np.unique(source.randint(0, plan.people, plan.draws)))
    total = plan.weights.sum()
    if not np.isfinite(total) or np.any(plan.weights < 0) or total <= 0:
        return None
    steps = np.cumsum(plan.weights / total)
    drawn = np.searchsorted(steps / steps[-1], source.random_sample(plan.draws), side="right")
    return len(np.unique(drawn))
