"""What fills an object: elements and a state, each where the object was made, once.

A pickler writes the parts of an object right behind it: elements, pairs, the
state. A loader copies some of them at that moment. What a file puts into an
object later, fetched again, would be in the record here and not in the model,
or the other way round. Arrays of joblib are raw bytes in the middle of the instructions.
"""

import math

import numpy as np

from treeaudit.errors import ReadError, UnsafeModelError, UnsupportedModelError
from treeaudit.readers.limits import show
from treeaudit.readers.pickle.arrays import (
    DType,
    LateArray,
    array_from,
    arrived,
    fill,
    not_described,
    shape_from,
)
from treeaudit.readers.pickle.construct import ADVICE, add_all, hashable, is_array_class
from treeaudit.readers.pickle.explainers import as_scikit_learn
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.pickle.machine import Machine
from treeaudit.readers.pickle.names import KNOWN, is_standard
from treeaudit.readers.pickle.states import check_items, check_state

# None of their classes has slots; some would take the keys of two dictionaries for attributes.
_ESTIMATORS = frozenset("sklearn imblearn xgboost lightgbm catboost".split())
_LISTS = frozenset(("collections.deque",))
_SETTERS = frozenset(
    f"cloudpickle.cloudpickle{fast}._{kind}_setstate"
    for fast in ("", "_fast")
    for kind in ("function", "class")
)
_DICTS = frozenset(
    "OrderedDict defaultdict Counter Bunch DeprecationDict OptimizeResult Schema".split()
)

_JOBLIB = frozenset(("joblib.numpy_pickle", "sklearn.externals.joblib.numpy_pickle"))
_DESCRIBED = frozenset("subclass shape order dtype allow_mmap numpy_array_alignment_bytes".split())
_ALIGNMENT = 16


def build(m: Machine) -> None:
    """Give a state to the object in front of it (BUILD)."""
    state = m.pop()
    place = len(m.stack)
    target = m.top()
    if isinstance(target, Global):
        raise UnsafeModelError(
            f"the file changes {show(target)} itself (byte {m.at - 1:,}): {ADVICE}"
        )
    if target is None or m.unfinished.get(place) is not target:
        raise m.forged(f"gives a state to {show(arrived(target))} that is complete")
    if m.unfinished.get(place + 1) is not state:
        _refuse_unfinished(m, state)
    m.unfinished[place] = None
    match target:
        case Inert():
            check_state(target.cls, state, m.at - 1)
            library = target.cls.module.partition(".")[0]
            in_parts = isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict)
            if library in _ESTIMATORS and in_parts:
                raise m.forged(f"gives {show(target)} a state in parts")
            if is_own(target.cls.module) or library == "imblearn":
                target.fill(state)
                as_scikit_learn(target)
            else:
                target.state = state
            if target.kind == "NumpyArrayWrapper" and target.cls.module in _JOBLIB:
                if is_array_class(subclass := target.get("subclass")):
                    m.excused.add(id(subclass))
                m.stack[-1] = m.note_table(_read_array(m, target))
            elif target.kind in ("NDArrayWrapper", "ZNDArrayWrapper"):
                raise UnsupportedModelError(
                    "the file was written by joblib 0.9 or older in several files: load it with "
                    "that joblib, and save it again with a later one"
                )
        case DType():
            target.describe(state)
            m.spend(256 * target.n_fields)
        case LateArray():
            target.content = fill(state, m.at - 1, m.spend)
            m.note_table(target.content)
            m.announced -= 1
        case _:
            raise ReadError(f"the state at byte {m.at - 1:,} belongs to nothing")


def _refuse_unfinished(m: Machine, state: object) -> None:
    """Refuse a state that is filled later: it is copied, and what comes later is not."""
    parts = state if isinstance(state, tuple) and len(state) == 2 else (state,)
    for part in parts:
        if isinstance(part, dict | list):
            m.spend(8 * len(m.stack))
            if any(one is part for one in m.stack):
                raise m.forged("gives away a state before it is complete")


def extend(m: Machine, items: list[object]) -> None:
    """Put elements into a list, or into what is one to pickle (APPEND, APPENDS)."""
    target = _filled(m)
    if isinstance(target, list):
        target.extend(items)
    elif isinstance(target, Inert) and not target.pairs and _takes(target.cls, _LISTS):
        target.items.extend(items)
    else:
        raise _misplaced(m, target)


def add(m: Machine, items: list[object]) -> None:
    """Put elements into a set (ADDITEMS)."""
    target = _filled(m)
    if not isinstance(target, set):
        raise _misplaced(m, target)
    if not add_all(target, items, m.spend):
        raise m.forged("puts an element into a set twice")


def update(m: Machine, items: list[object]) -> None:
    """Put keys and values, one after the other, into a dictionary (SETITEM, SETITEMS)."""
    target = _filled(m)
    if len(items) % 2:
        raise ReadError(f"a key at byte {m.at - 1:,} has no value")
    if isinstance(target, Inert) and _takes(target.cls, _DICTS):
        check_items(target, items[::2], m.at - 1)
        target = target.pairs
    if not isinstance(target, dict):
        raise _misplaced(m, target)
    m.spend(64 * len(items))
    expected = len(target) + len(items) // 2
    for i in range(0, len(items), 2):
        target[hashable(items[i], len(target), m.spend)] = items[i + 1]
    if len(target) != expected:
        raise m.forged("gives one key of a dictionary twice")


def _filled(m: Machine) -> object:
    """Return what is on top: made there, not fetched, and without a state so far."""
    target = m.top()
    if m.unfinished.get(len(m.stack)) is not target:
        raise _misplaced(m, target)
    return target


def _misplaced(m: Machine, target: object) -> ReadError:
    if isinstance(target, Global | Inert):
        return UnsafeModelError(
            f"the file puts elements into {show(target)} (byte {m.at - 1:,}), which runs "
            f"a method of it: {ADVICE}"
        )
    return m.forged(f"puts elements into {show(target)} that is complete")


def is_own(module: str) -> bool:
    """Tell whether a module is of nobody's library: that its code runs is told of the file."""
    return not (module.partition(".")[0] in KNOWN or is_standard(module))


def _takes(cls: Global, known: frozenset[str]) -> bool:
    """Tell whether pickle may put elements into an instance."""
    return is_own(cls.module) or str(cls) in known or cls.name in known


def is_set_by(m: Machine) -> bool:
    """Carry out what cloudpickle calls in place of BUILD, whose result is dropped next."""
    place = len(m.stack)
    match m.unfinished.get(place - 1), m.unfinished.get(place):
        case Inert() as target, Inert(args=(first, state)) as setter if (
            m.stack[-1] is setter and m.stack[-2] is first is target and str(setter.cls) in _SETTERS
        ):
            target.state, m.unfinished[place - 1] = state, None
            return True
    return False


def _read_array(m: Machine, wrapper: Inert) -> object:
    """Return the array whose bytes follow, and move behind them.

    joblib pickles a small wrapper object and puts the bytes of the array right behind the
    instruction that completes it (since joblib 1.2 aligned by a pad length and padding). Arrays
    of objects are a whole pickle at that place.
    """
    described = wrapper.attributes
    dtype, shape, order = described.get("dtype"), described.get("shape"), described.get("order")
    if not isinstance(dtype, DType):
        raise not_described(dtype)
    plain = (subclass := described.get("subclass")) is None or is_array_class(subclass)
    known = not wrapper.args and described.keys() <= _DESCRIBED and isinstance(shape, tuple)
    known &= isinstance(order, str)
    if not known or order not in ("C", "F") or not plain:
        raise ReadError("an array of the joblib file is not described as joblib does")
    m.begin_array()
    if dtype.is_object:
        content = arrived(m.read_nested())
        if not isinstance(content, np.ndarray):
            raise ReadError("an array of objects of the joblib file is damaged")
        return content
    size = math.prod(shape_from(shape)) * dtype.build().itemsize
    if described.get("numpy_array_alignment_bytes") is None:
        m.refuse_instructions(size)
    else:
        # Read by pickle, the number of bytes is no instruction, so that nothing is run.
        padding = m.take(1)[0]
        if padding > _ALIGNMENT:
            raise UnsafeModelError(
                f"an array of the joblib file begins with {padding} bytes to fill up (byte "
                f"{m.at - 1:,}), which joblib never writes and pickle.load would run"
            )
        m.take(padding)
    return array_from(m.take(size), dtype, shape, order == "F")
