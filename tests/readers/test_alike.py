"""Trees of a list that are passed over, as they say what one before them said."""

import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from treeaudit.errors import TreeauditError
from treeaudit.model.source import Source
from treeaudit.readers.alike import Alike
from treeaudit.readers.leftovers.account import Account
from treeaudit.readers.leftovers.leftovers import leftovers
from treeaudit.readers.leftovers.nodes import Sound
from treeaudit.readers.leftovers.sizes import Facts
from treeaudit.readers.limits import Most
from treeaudit.readers.pickles.arrays import LateArray
from treeaudit.readers.pickles.inert import Global, Inert, Text
from treeaudit.readers.pickles.pickle_vm import read_pickle
from treeaudit.readers.stored import stored_model
from treeaudit.readers.walk import Place, Walk

X, Y = load_breast_cancer(return_X_y=True)
WIDE = make_classification(200, 90, n_informative=20, random_state=0)
N = 60


@cache
def _files() -> list[bytes]:
    bag = BaggingClassifier(DecisionTreeClassifier(max_depth=2), N, random_state=0)
    forest = RandomForestClassifier(N, max_depth=3, random_state=0)
    trees = [(f"t{i}", DecisionTreeClassifier(max_depth=2, random_state=i)) for i in range(20)]
    grown = RandomForestClassifier(20, max_depth=2, random_state=0, warm_start=True).fit(X, Y)
    grown.set_params(n_estimators=N, max_depth=3).fit(X, Y)
    models = [
        forest.fit(X, Y),
        RandomForestRegressor(N, max_depth=3, random_state=0).fit(*load_diabetes(return_X_y=True)),
        ExtraTreesClassifier(N, max_depth=2, random_state=0).fit(*WIDE),
        bag.fit(X, np.array(["ill", "well"])[Y]),
        IsolationForest(n_estimators=N, max_samples=16, random_state=0).fit(X),
        make_pipeline(StandardScaler(), RandomForestClassifier(N, max_depth=2)).fit(X, Y),
        {"first": grown, "second": RandomForestClassifier(N, max_depth=2).fit(X, Y), "n": 3},
        VotingClassifier(trees).fit(X, Y),
    ]
    return [pickle.dumps(model) for model in models]


def _holders(root: Any) -> list[Inert]:
    """Return the objects that hold a list of trees."""
    places = [place.value for place in Walk(root) if isinstance(place.value, Inert)]
    return [one for one in places if isinstance(one.get("estimators_"), list)]


def _told(root: Any, n_bytes: int, n_records: int | None, most: int | None) -> list[object]:
    """Return all that is said of a file, given how many forms trees may have in common."""
    said: list[object] = []
    sound = Sound()
    sound.alike = Alike(most)
    try:
        forest = stored_model(root, None, Source(), n_bytes, sound)
        said += [forest.others, forest.warnings, forest.counts_are, forest.seeds]
    except TreeauditError as error:
        said += [type(error), str(error)]
    beside = leftovers(root, n_records, (), sound=sound)
    seen: set[int] = set()
    facts = Facts(n_records)
    for place in Walk(root):
        if isinstance(place.value, Inert):
            facts.note(place.value)
    left = list(Account(facts, seen)(root, sound))
    # An id that is no part of the file may be that of anything.
    known = {id(part) for part in _everything(root)}
    return [*said, beside, left, known & seen]


def _everything(root: Any) -> list[object]:
    found: dict[int, object] = {}
    todo = [root]
    while todo:
        part = todo.pop()
        if isinstance(part, LateArray):
            part = part.content
        if id(part) in found or isinstance(part, int | float | str | None):
            continue
        found[id(part)] = part
        if isinstance(part, Inert):
            todo += [part.args, part.state, part.items, part.pairs]
        elif isinstance(part, dict):
            todo += [*part, *part.values()]
        elif isinstance(part, list | tuple):
            todo += part
    return list(found.values())


Change = Callable[[Any, Any, list[Any], int, st.DataObject], None]
_SEEDS = [-1, 0, 7, (1 << 32) - 1, 1 << 32, 1 << 63, 1 << 70, True, 0.5, None, "deprecated"]
_TEXTS = ["entropy", "Ann;33;yes;ill", "best", "", Text("gini"), "x" * 100]
_NUMBERS = [0, 1, True, 1.0, -0.0, 0.0, float("nan"), None, 1 << 64, 1 << 80, 2, 5, 0.1234567]


def _value(draw: st.DataObject) -> object:
    ages = np.arange(40.0)
    more = [ages, np.array(["Ann", "Bob"]), np.array([1, "x"], object), [1, 2, 3], {"a": 1}, (1,)]
    return draw.draw(st.sampled_from([*_NUMBERS, *_TEXTS, *more]))


def _array(draw: st.DataObject) -> object:
    two = np.array([0.0, 1.0])
    arrays = [
        *(two, two[::-1], -two, two.astype(int), two.astype(">f8"), two.astype("f4")),
        *(two[:, None], np.arange(300.0), two[:1], np.array([0, 1], object), np.array([[0, 1]])),
        *(np.asfortranarray(np.eye(2)), np.array([2]), np.array([3]), np.array([2, 2]), [0.0, 1.0]),
        *(LateArray(two), np.array(["a", "b"]), np.array([True, False]), np.array(0.0)),
    ]
    return draw.draw(st.sampled_from(arrays))


def _extra_key(state: Any, tree: Any, members: list[Any], i: int, draw: st.DataObject) -> None:
    names = ["notes_", "n_classes_", "estimators_", "loss", "_fit_X", "categories", 5, Text("age")]
    draw.draw(st.sampled_from([state, tree.state]))[draw.draw(st.sampled_from(names))] = _value(
        draw
    )


def _other_setting(state: Any, tree: Any, members: list[Any], i: int, draw: Any) -> None:
    plain = [name for name, value in state.items() if not isinstance(value, Inert | np.ndarray)]
    state[draw.draw(st.sampled_from(plain))] = _value(draw)


def _seed(state: Any, tree: Any, members: list[Any], i: int, draw: Any) -> None:
    state["random_state"] = draw.draw(st.sampled_from(_SEEDS))


def _classes(state: Any, tree: Any, members: list[Any], i: int, draw: Any) -> None:
    state["classes_"] = _array(draw)


def _arguments(state: Any, tree: Any, members: list[Any], i: int, draw: Any) -> None:
    args = [*tree.args]
    at = draw.draw(st.integers(0, 3))
    args[at : at + 1] = [draw.draw(st.sampled_from([_value, _array]))(draw)]
    tree.args = tuple(args)


def _counts(state: Any, tree: Any, members: list[Any], i: int, draw: Any) -> None:
    numbers = [-1, 0, 1, True, 2.0, len(tree.state["nodes"]) + 1, 1 << 70, None]
    name = draw.draw(st.sampled_from(["max_depth", "node_count"]))
    tree.state[name] = draw.draw(st.sampled_from(numbers))


def _shared(state: Any, tree: Any, members: list[Any], i: int, draw: Any) -> None:
    """Let two trees have one part."""
    other = members[draw.draw(st.integers(0, len(members) - 1))]
    match draw.draw(st.integers(0, 6)):
        case 0:
            members[i] = other
        case 1:
            state["tree_"] = other.state["tree_"]
        case 2:
            tree.state["nodes"] = other.state["tree_"].state["nodes"]
            tree.state["values"] = other.state["tree_"].state["values"]
        case 3 if "classes_" in other.state:
            state["classes_"] = other.state["classes_"]
        case 4:
            tree.args = other.state["tree_"].args
        case 5:
            members[i].state = other.state
        case _:
            tree.state["values"] = tree.state["nodes"]


def _order(state: Any, tree: Any, members: list[Any], i: int, draw: Any) -> None:
    held = draw.draw(st.sampled_from([state, tree.state]))
    name = draw.draw(st.sampled_from(list(held)))
    held[name] = held.pop(name)


def _outside(state: Any, tree: Any, members: list[Any], i: int, draw: Any) -> None:
    """Change what an object holds beside its attributes."""
    one = draw.draw(st.sampled_from([members[i], tree]))
    match draw.draw(st.integers(0, 5)):
        case 0:
            one.items = [_value(draw)]
        case 1:
            one.pairs = {"a": _value(draw)}
        case 2:
            one.args = (*one.args, _value(draw))
        case 3:
            one.state = (None, one.state)
        case 4:
            kinds = ["ExtraTreeClassifier", "Tree", "MyTree", "Pipeline", "TreePredictor"]
            modules = [one.cls.module, "sklearn.tree", "__main__", "numpy.random", "pandas.core"]
            kind, module = (draw.draw(st.sampled_from(names)) for names in (kinds, modules))
            one.cls = Global(module, kind, 0, True)
        case _:
            one.cls = Global(one.cls.module, one.cls.name, 3, True)


def _nodes(state: Any, tree: Any, members: list[Any], i: int, draw: Any) -> None:
    nodes, values = tree.state["nodes"].copy(), tree.state["values"].copy()
    match draw.draw(st.integers(0, 6)):
        case 0:
            nodes["feature"][-1] = draw.draw(st.integers(-3, 100))
        case 1:
            values[0] += draw.draw(st.sampled_from([0.1, 1.0, np.nan]))
        case 2:
            nodes["impurity"][-1] = 0.123
        case 3:
            nodes = nodes[:, None]
        case 4:
            nodes, values = np.concatenate([nodes, nodes]), np.concatenate([values, values])
        case 5:
            nodes = nodes[["left_child", "right_child", "feature", "threshold"]].copy()
        case _:
            values = values[:, :, ::-1]
    tree.state["nodes"], tree.state["values"] = nodes, values


def _another(state: Any, tree: Any, members: list[Any], i: int, draw: Any) -> None:
    others = [None, "Ann;33", 5, [members[i]], {"a": members[i]}, members[i].get("tree_"), {}]
    members[i] = draw.draw(st.sampled_from([*others, Inert(members[i].cls)]))


def _taken_out(state: Any, tree: Any, members: list[Any], i: int, draw: Any) -> None:
    held = draw.draw(st.sampled_from([state, tree.state]))
    held.pop(draw.draw(st.sampled_from(list(held))))


_CHANGES: list[Change] = [
    *(_extra_key, _other_setting, _seed, _classes, _arguments, _counts, _shared, _order),
    *(_outside, _nodes, _another, _taken_out),
]


def _kept_elsewhere(holder: Inert, members: list[Any], draw: st.DataObject) -> None:
    """Let the file hold a tree, or a part of one, at another place too."""
    one = members[draw.draw(st.integers(0, len(members) - 1))]
    if not isinstance(one, Inert) or not isinstance(holder.state, dict):
        return
    parts = [one, one.get("tree_"), one.get("classes_"), one.state, members]
    held = draw.draw(st.sampled_from(parts))
    name = draw.draw(st.sampled_from(["best_", "estimator_", "classes_", "_sample_weight"]))
    first = draw.draw(st.booleans())
    holder.state = {name: held, **holder.state} if first else {**holder.state, name: held}


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_is_said_of_a_changed_forest_is_what_looking_at_every_tree_says(data) -> None:
    file = data.draw(st.sampled_from(_files()))
    root = read_pickle(file).root
    holder = data.draw(st.sampled_from(_holders(root)))
    members = holder.state["estimators_"]
    for _ in range(data.draw(st.integers(0, 3))):
        i = data.draw(st.integers(0, len(members) - 1))
        one = members[i]
        tree = one.get("tree_") if isinstance(one, Inert) else None
        usual = isinstance(tree, Inert) and isinstance(tree.state, dict)
        if (
            usual
            and isinstance(one.state, dict)
            and isinstance(tree.state.get("nodes"), np.ndarray)
        ):
            try:
                data.draw(st.sampled_from(_CHANGES))(one.state, tree, members, i, data)
            except (AttributeError, KeyError, ValueError, TypeError, IndexError):
                continue
    if data.draw(st.integers(0, 3)) == 0:
        _kept_elsewhere(holder, members, data)
    n_records = data.draw(st.sampled_from([None, len(X), 40, 7, 2]))
    objects, most = Most.objects, data.draw(st.sampled_from([Most.objects, 30, 60, 100, 150, 200]))
    try:
        Most.objects = most
        slow = _told(root, len(file), n_records, 0)
        assert _told(root, len(file), n_records, None) == slow
    finally:
        Most.objects = objects


def _places(root: Any, alike: Alike | None) -> list[Place]:
    return list(Walk(root, alike))


@pytest.mark.parametrize("i", [0, 1, 2, 5, 6])
def test_all_but_the_first_of_trees_that_are_alike_are_passed_over(i) -> None:
    root = read_pickle(_files()[i]).root
    every, some = _places(root, None), _places(root, Alike())
    assert len(some) < len(every) / 4
    assert [place.path for place in some] == [
        place.path for place in every if place.path in {one.path for one in some}
    ]


def test_a_tree_that_says_something_of_its_own_is_looked_at_and_one_more_behind_it() -> None:
    root = read_pickle(_files()[0]).root
    members = root.state["estimators_"]
    members[7].state["max_depth"] = "Ann;33;ill"
    looked_at = [place.path for place in _places(root, Alike()) if place.path.endswith("]")]
    assert looked_at == ["estimators_[0]", "estimators_[7]"]
    found = leftovers(root, len(X), ()).found
    assert [one.where for one in found if one.kind == "extra"] == ["estimators_[7].max_depth"]


def test_columns_that_are_tested_are_those_of_all_trees() -> None:
    members = read_pickle(_files()[2]).root.state["estimators_"]
    each, together = Facts(), Facts()
    for member in members:
        each.note(member.state["tree_"])
    together.note(members[0].state["tree_"])
    together.note_tested(members[1:])
    assert 64 < each.n_tested == together.n_tested


def test_a_seed_may_differ_and_a_text_in_its_place_may_not() -> None:
    members = read_pickle(_files()[0]).root.state["estimators_"]
    alike = Alike()
    members[3].state["random_state"] = "0"
    members[4].state["random_state"] = 1 << 32
    alike.look(members)
    forms = [kin and kin.form for kin in map(alike.kin, members[:6])]
    assert forms == [0, 0, 0, 1, None, 0]


def _put(name: str, value: object) -> Callable[[Inert], None]:
    return lambda member: member.state.update({name: value})


def _into_tree(name: str, value: object) -> Callable[[Inert], None]:
    return lambda member: member.state["tree_"].state.update({name: value})


def _made_of(*args: object) -> Callable[[Inert], None]:
    return lambda member: setattr(member.state["tree_"], "args", args)


@pytest.mark.parametrize(
    "change",
    [
        _put("notes_", 1),
        _put("n_outputs_", True),
        _put("min_samples_leaf", 1.0),
        _put("criterion", Text("gini")),
        _put("max_depth", 4),
        _put("classes_", np.array([0.0, -1.0])),
        _put("classes_", np.array([0, 1])),
        _put("classes_", np.array([-0.0, 1.0])),
        _put("classes_", np.array([[0.0, 1.0]])),
        _put("classes_", np.array([0.0, 1.0], ">f8")),
        _put("classes_", LateArray(np.array([0, 1], object))),
        _put("random_state", True),
        _put("random_state", -1),
        _put("tree_", None),
        _into_tree("notes_", 1),
        _into_tree("node_count", True),
        _into_tree("max_depth", 1 << 20),
        _into_tree("nodes", np.zeros((3, 3))),
        _made_of(30, np.array([2]), True),
        _made_of(31, np.array([2]), 1),
        _made_of(30, np.array([3]), 1),
        _made_of(30, np.array([2]), 1, 1),
        lambda member: member.items.append(1),
        lambda member: member.pairs.update(a=1),
        lambda member: member.state["tree_"].pairs.update(a=1),
        lambda member: setattr(member, "args", (1,)),
        lambda member: setattr(member, "state", (None, member.state)),
        lambda member: setattr(member, "cls", Global("sklearn.tree", "ExtraTree", 0, True)),
        lambda member: member.state.update(criterion=member.state.pop("criterion")),
    ],
)
def test_what_differs_in_anything_else_is_of_another_form(change) -> None:
    members = read_pickle(_files()[0]).root.state["estimators_"]
    change(members[3])
    alike = Alike(1)
    alike.look(members)
    assert [i for i, one in enumerate(members) if alike.kin(one) is None] == [3]


def test_trees_that_share_a_part_are_kin_of_nobody() -> None:
    members = read_pickle(_files()[0]).root.state["estimators_"]
    members[2].state["classes_"] = members[5].state["classes_"]
    members[8] = members[9]
    alike = Alike()
    alike.look(members)
    assert [i for i, one in enumerate(members) if alike.kin(one) is None] == [2, 5, 8, 9]
