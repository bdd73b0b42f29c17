"""Elements that are read by a stencil are what the interpreter makes of them."""

import copy
import pickle
import pickletools
import random
from collections.abc import Sequence
from itertools import pairwise
from struct import pack
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

from tests.strategies import examples
from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.readers.limits import LIMITS, Limits
from treeaudit.readers.pickle import elements
from treeaudit.readers.pickle.arrays import LateArray
from treeaudit.readers.pickle.dtypes import DType
from treeaudit.readers.pickle.filling import build
from treeaudit.readers.pickle.gaps import between_columns, gaps
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.pickle.machine import Machine, Step
from treeaudit.readers.pickle.opcodes import STEPS
from treeaudit.readers.pickle.stencils import Stencil
from treeaudit.readers.pickle.traces import edges, trace

ONE_BY_ONE: list[Step | None] = [build if code == ord("b") else s for code, s in enumerate(STEPS)]
KEPT = ("at", "instructions", "paid", "budget", "frame_end", "announced")


def _models() -> dict[str, object]:
    x, y = load_breast_cancer(return_X_y=True)
    x, y = x[:90, :5], y[:90]
    missing = np.where(np.arange(x.size).reshape(x.shape) % 11 == 0, np.nan, x)
    copied = RandomForestClassifier(40, max_depth=3, random_state=0).fit(x, y)
    copied.estimators_ = [copy.deepcopy(copied.estimators_[i % 7]) for i in range(40)]
    uneven = RandomForestClassifier(40, random_state=0).fit(*load_iris(return_X_y=True))
    return {
        "forest": RandomForestClassifier(40, max_depth=3, random_state=0).fit(x, y),
        "uneven": uneven,
        "copied": copied,
        "missing": RandomForestClassifier(40, max_depth=3, random_state=0).fit(missing, y),
        "regression": ExtraTreesRegressor(40, max_depth=4, random_state=0).fit(x, x[:, 0]),
        "boosting": GradientBoostingClassifier(n_estimators=15, max_depth=2).fit(x, y),
        "bag": BaggingClassifier(DecisionTreeClassifier(max_depth=2), 40).fit(x, y),
        "isolation": IsolationForest(n_estimators=40, random_state=0).fit(x),
        "bounds": RandomForestClassifier(40, max_depth=2, monotonic_cst=[0, 1, 0, 0, -1]).fit(x, y),
    }


MODELS = _models()
FILES = {
    (name, protocol): pickle.dumps(model, protocol=protocol)
    for name, model in MODELS.items()
    for protocol in (4, 5)
}


def _run(data: bytes, steps: Sequence[Step | None], limits: Limits = LIMITS):
    vm = Machine(data, 0, limits, limits.nested, steps)
    try:
        return vm, vm.run(), None
    except ReadError as error:
        return vm, None, (type(error), str(error))


def _parts(value: object) -> tuple[object, list[object]]:
    """Return what a value is by itself, and what it holds."""
    match value:
        case Global():
            return (value.module, value.name, value.offset, value.allowed), []
        case Inert():
            held = [value.cls, value.args, value.state, value.items, value.pairs]
            return "object", held
        case LateArray():
            return "late", [value.content]
        case DType():
            return value.code, [value.state]
        case dict():
            return list(value), list(value.values())
        case list() | tuple():
            return len(value), list(value)
        case np.ndarray() if value.dtype == object:
            return value.shape, value.ravel().tolist()
        case np.ndarray():
            form = (value.dtype, value.shape, value.strides, value.flags.writeable)
            return (form, value.tobytes()), []
        case memoryview():
            return bytes(value), []
        case _:
            return repr(value), []


def _assert_same(a: object, b: object) -> None:
    """Hold two records equal, and what is one object in the one to be one in the other."""
    todo, of_a, of_b = [(a, b)], dict[int, int](), dict[int, int]()
    while todo:
        a, b = todo.pop()
        assert type(a) is type(b)
        if not isinstance(a, int | float | str | bytes | None) and not (type(a) is tuple and not a):
            known = id(a) in of_a
            assert of_a.setdefault(id(a), id(b)) == id(b)
            assert of_b.setdefault(id(b), id(a)) == id(a)
            if known:
                continue
        (own, held), (other, of_other) = _parts(a), _parts(b)
        assert own == other
        todo += zip(held, of_other, strict=True)


def _assert_alike(data: bytes, limits: Limits = LIMITS) -> None:
    slow, root, error = _run(data, ONE_BY_ONE, limits)
    fast, made, failed = _run(data, STEPS, limits)
    assert failed == error
    (places, tables), (slow_places, others) = map(_by_place, (fast.tables, slow.tables))
    assert places == slow_places
    assert all(map(np.array_equal, tables, others))
    assert [one.dtype for one in tables] == [one.dtype for one in others]
    assert list(map(str, fast.doubts)) == list(map(str, slow.doubts))
    if error is None:
        assert [getattr(fast, name) for name in KEPT] == [getattr(slow, name) for name in KEPT]
        assert list(fast.memo) == list(slow.memo)
        _assert_same(
            [root, list(slow.memo.values()), slow.mentioned],
            [made, list(fast.memo.values()), fast.mentioned],
        )


def _by_place(tables: list[tuple[int, np.ndarray]]) -> tuple[list[int], list[np.ndarray]]:
    found = sorted(tables, key=lambda one: one[0])
    return [place for place, _ in found], [table for _, table in found]


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Where elements ended that were read by a stencil."""
    ends: list[int] = []
    some = elements._some

    def counted(m: Machine, stencils: list[Stencil], within: elements._Passage) -> int:
        begin, n_before = m.at, len(m.stack)
        n = some(m, stencils, within)
        assert len(m.stack) == n_before + n
        ends.extend(np.linspace(begin, m.at, n + 1)[1:].astype(int).tolist())
        return n

    monkeypatch.setattr(elements, "_some", counted)
    return ends


@pytest.mark.parametrize("protocol", [4, 5])
@pytest.mark.parametrize("name", MODELS)
def test_what_is_made_and_charged_is_the_same(name: str, protocol: int, kept: list[int]) -> None:
    _assert_alike(FILES[name, protocol])
    n = len(MODELS[name].estimators_)  # type: ignore[attr-defined]
    assert len(kept) > n // 2


@pytest.mark.parametrize("protocol", [0, 1, 2, 3])
def test_older_protocols_are_interpreted(protocol: int, kept: list[int]) -> None:
    _assert_alike(pickle.dumps(MODELS["forest"], protocol=protocol))
    assert not kept


def test_frames_begin_anywhere(kept: list[int]) -> None:
    data = FILES["regression", 5]
    frames = [at for op, _, at in pickletools.genops(data) if op.name == "FRAME"]
    _assert_alike(data)
    within = [at for at in frames if kept[0] < at < kept[-1]]
    assert within
    # Those around it, too, were read by the stencil.
    assert all(any(at < end < at + 10_000 for end in kept) for at in within)


def _in_frames(data: bytes, cuts: Sequence[int]) -> bytes:
    """Return a pickle, whose frames were taken out, with others that begin at some places."""
    bare = bytearray(data)
    for op, _, at in reversed([*pickletools.genops(data)]):
        if op.name == "FRAME":
            del bare[at : at + 9]
    places = sorted({2, *(max(2, cut % len(bare)) for cut in cuts), len(bare)})
    parts = [bytes(bare[a:b]) for a, b in pairwise(places)]
    return bytes(bare[:2]) + b"".join(b"\x95" + pack("<Q", len(part)) + part for part in parts)


def _edges(name: str) -> list[int]:
    """Return where instructions begin in a file without frames."""
    bare = _in_frames(FILES[name, 5], [])
    return [at - 9 for op, _, at in pickletools.genops(bare) if at > 11]


EDGES = {name: _edges(name) for name in ("copied", "forest")}


@pytest.mark.parametrize("name", EDGES)
def test_many_frames_are_read_at_once(
    name: str, kept: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    crossed: list[int] = []

    def whole(within: elements._Passage, ends: Sequence[int], n: int) -> bool:
        crossed.append(sum(cut < ends[-1] for cut in within.cuts))
        return is_whole(within, ends, n)

    is_whole = elements._Passage.is_whole
    monkeypatch.setattr(elements._Passage, "is_whole", whole)
    data = _in_frames(FILES[name, 5], EDGES[name][50::400])
    _assert_alike(data)
    assert len(kept) > 20
    assert max(crossed) > 1


@pytest.mark.parametrize("name", EDGES)
@given(data=st.data())
@examples(40)
def test_frames_are_those_that_the_interpreter_takes(name: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.sampled_from(EDGES[name]), max_size=30))
    # Nearly all lie between two instructions, and one perhaps within one.
    cuts += data.draw(st.lists(st.integers(2, 1 << 20), max_size=1))
    _assert_alike(_in_frames(FILES[name, 5], cuts))


def test_frames_of_nothing_and_too_many_bytes() -> None:
    data = _in_frames(FILES["copied", 5], EDGES["copied"][50::150])
    frames = [at for op, _, at in pickletools.genops(data) if op.name == "FRAME"]
    for at in frames[5:15:3]:
        _assert_alike(data[:at] + b"\x95" + bytes(8) + data[at:])
        _assert_alike(data[:at] + 3 * (b"\x95" + bytes(8)) + data[at:])
        for size in (1, 1 << 20, 1 << 62):
            _assert_alike(data[: at + 1] + pack("<Q", size) + data[at + 9 :])


def test_bytes_between_the_columns_are_noted_where_they_stand() -> None:
    data = bytearray(FILES["forest", 5])
    blobs = [at for op, n, at in pickletools.genops(bytes(data)) if op.name == "BYTEARRAY8"]
    tables = [at for at in blobs if int.from_bytes(data[at + 1 : at + 9], "little") > 500]
    for at in tables[20:30:3]:
        data[at + 9 + 60] = 7
    _assert_alike(bytes(data))
    vm, _, _ = _run(bytes(data), STEPS)
    assert [n for _, n in between_columns(vm.tables)] == [1] * 4
    for (place, n), at in zip(between_columns(vm.tables), tables[20:30:3], strict=True):
        # What is behind the bytes of a table: their type, the sizes and how they are put together.
        assert 0 < place + n - (at + 9 + int.from_bytes(data[at + 1 : at + 9], "little")) < 60


RECORDS = [
    np.dtype({"names": ["a"], "formats": ["u1"], "offsets": [at], "itemsize": size})
    for at, size in ((0, 8), (3, 8), (9, 16), (1, 3))
]


@given(
    st.sampled_from([*RECORDS, np.dtype([("a", "i8")])]),
    st.lists(st.lists(st.sampled_from([0, 0, 0, 7]), max_size=40), min_size=1, max_size=6),
)
def test_bytes_between_the_columns_are_counted(
    record: np.dtype[Any], parts: list[list[int]]
) -> None:
    raw = [bytes(part[: len(part) // record.itemsize * record.itemsize]) for part in parts]
    tables = [np.frombuffer(one, record) for one in raw]
    places = (record.fields or {}).values()
    taken = {at + i for column, at, *_ in places for i in range(column.itemsize)}
    for one, table in zip(raw, tables, strict=True):
        free = (byte for i, byte in enumerate(one) if i % record.itemsize not in taken)
        assert gaps(table) == sum(byte != 0 for byte in free)


@given(
    st.lists(
        st.tuples(
            st.sampled_from([*RECORDS, np.dtype([("a", "i8")])]),
            st.sampled_from([(), (0,), (1,), (3,), (2, 2), (40_000,)]),
            st.sampled_from([0, 7]),
        ),
        max_size=6,
    )
)
@examples(50)
def test_tables_of_any_kind_are_told_with_their_places(
    parts: list[tuple[np.dtype[Any], tuple[int, ...], int]],
) -> None:
    tables = [
        (10 * i, np.full(int(np.prod(shape)) * one.itemsize, fill, "u1").view(one).reshape(shape))
        for i, (one, shape, fill) in enumerate(parts)
    ]
    expected = [(place, n) for place, table in tables if (n := gaps(table))]
    assert [(at + n, n) for at, n in between_columns(tables)] == expected


def test_tables_of_no_rows_and_of_wide_records() -> None:
    wide = np.dtype({"names": ["a"], "formats": ["u1"], "offsets": [0], "itemsize": 1 << 16})
    none, some = np.zeros(0, wide), np.full(3 << 16, 7, "u1").view(wide)
    assert [gaps(none), gaps(some)] == [0, 3 * ((1 << 16) - 1)]
    assert not [*between_columns([(9, none), (9, np.zeros(0, "u1"))] * 50)]


def _counted(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> list[object]:
    """Keep what the calls of a function return."""
    told: list[object] = []
    call = getattr(owner, name)

    def counting(*args: object) -> object:
        told.append(call(*args))
        return told[-1]

    monkeypatch.setattr(owner, name, counting)
    return told


def _estimators(others: bytes, forms: int = 8) -> bytes:
    """A list of objects, some of each of so many forms, and what comes behind them."""

    def text(value: bytes) -> bytes:
        return b"\x8c" + bytes([len(value)]) + value + b"\x94"

    begin = text(b"sklearn.tree._classes") + text(b"DecisionTreeClassifier") + b"\x93\x94"
    alike = b"".join(
        b"h\x02)\x81}(h\x03K" + bytes([value]) + b"u" + b"(u" * form + b"b"
        for form in range(1, forms + 1)
        for value in range(4)
    )
    return b"\x80\x04(" + begin + text(b"max_depth") + b"]\x94(" + alike + others + b"et."


def test_elements_that_are_like_none_are_seldom_held_against_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = b"h\x02)\x81}b"
    data = _in_frames(_estimators(other * 8_000), range(500, 49_000, 30 * len(other)))
    tries = _counted(monkeypatch, Stencil, "read")
    joined = _counted(monkeypatch, elements, "_across_frames")
    _assert_alike(data)
    # The first thousand, of those behind them one of sixteen, and each for eight forms; and no
    # frame is joined with others twice.
    assert len(tries) < 2 * 8 * (1_000 + 8_000 // 16)
    assert len(joined) < 2 * data.count(b"\x95")


def test_what_takes_the_next_number_ahead_is_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    element = b"h\x02)\x81\x94}b"
    ahead = b"h\x02)\x81r" + pack("<I", 90) + b"}b"
    data = _estimators(element * 8 + ahead + element * 2_000, forms=0)
    _assert_alike(data)
    kept = _counted(monkeypatch, elements, "_match")
    _run(data, STEPS)
    assert len(kept) < 20


def test_what_is_wrong_with_one_is_said_as_the_interpreter_says_it() -> None:
    data = FILES["forest", 5]
    blobs = [at for op, _, at in pickletools.genops(data) if op.name == "BYTEARRAY8"]
    for at in blobs[40:44]:
        # The number of rows stands behind the bytes and what is stored.
        end = at + 9 + int.from_bytes(data[at + 1 : at + 9], "little")
        place = data.index(b"K", end, end + 6)
        wrong = data[: place + 1] + bytes([data[place + 1] ^ 1]) + data[place + 2 :]
        _assert_alike(wrong)
        assert _run(wrong, STEPS)[2] is not None


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.999])
def test_limits_end_in_the_same_sentence(share: float) -> None:
    data = FILES["forest", 5]
    vm, _, _ = _run(data, ONE_BY_ONE)
    spent = LIMITS.objects(len(data)) - vm.budget
    room = int(share * spent)
    tight = Limits(room=room)
    assert _run(data, STEPS, tight)[2] == _run(data, ONE_BY_ONE, tight)[2]
    assert _run(data, STEPS, tight)[2][0] is ModelTooLargeError
    few = Limits(instructions=int(share * vm.instructions))
    assert _run(data, STEPS, few)[2] == _run(data, ONE_BY_ONE, few)[2]


INSTRUCTIONS = {key: [at for _, _, at in pickletools.genops(data)] for key, data in FILES.items()}
CODES = [ord(code) for code in "NKMJGh)}(tueRbqj\x81\x85\x86\x87\x88\x8c\x94\x95C"]


@examples(150)
@given(
    st.sampled_from(sorted(FILES)),
    st.randoms(use_true_random=False),
    st.sampled_from(["byte", "code", "cut", "insert", "copy"]),
)
def test_whatever_is_changed_is_read_as_the_interpreter_reads_it(
    key: tuple[str, int], chance: random.Random, change: str
) -> None:
    data, places = bytearray(FILES[key]), INSTRUCTIONS[key]
    at, other = chance.choice(places), chance.choice(places)
    n = chance.choice([1, 2, 5, 9, 60, 1_700])
    match change:
        case "byte":
            data[min(at + chance.randrange(3), len(data) - 1)] = chance.randrange(256)
        case "code":
            data[at] = chance.choice(CODES)
        case "cut":
            del data[at : at + n]
        case "insert":
            data[at:at] = data[other : other + n]
        case "copy":
            data[at : at + n] = data[other : other + n]
    _assert_alike(bytes(data))


def test_a_state_that_takes_the_place_of_a_method_is_refused() -> None:
    data = FILES["forest", 5]
    name = b"\x8c\x09max_depth"
    assert data.count(name) == 1
    forged = data.replace(name, b"\x8c\x07predict")
    _assert_alike(forged)
    assert _run(forged, STEPS)[2] is not None


@pytest.mark.parametrize(
    ("number", "shown"), [(b"K\x05", [5]), (b"M\x05\x00", None), (b"N\x95", None)]
)
def test_instructions_of_another_kind_have_no_trace(number: bytes, shown: list[int] | None) -> None:
    found = trace(number, 0, len(number))
    assert (found and [one.value for one in found]) == shown


def test_a_trace_ends_with_an_instruction() -> None:
    assert trace(b"KK", 0, 1) is None
    assert edges(b"\x8c\x02ab\x94", 0, 2) == [0, 4, 5]


# -- lists that nobody trained -------------------------------------------------------


class Written:
    """A pickle that is put together by hand."""

    def __init__(self) -> None:
        self.data, self.stored = bytearray(b"\x80\x04("), 0
        self.cls = self.name("sklearn.tree._classes", "DecisionTreeClassifier")
        self.key = self.text("max_depth")

    def put(self, raw: bytes) -> "Written":
        self.data += raw
        return self

    def store(self) -> int:
        self.put(b"\x94").stored += 1
        return self.stored - 1

    def text(self, text: str) -> int:
        self.put(b"\x8c" + bytes([len(text)]) + text.encode())
        return self.store()

    def name(self, module: str, name: str) -> int:
        self.text(module), self.text(name)
        self.put(b"\x93")
        return self.store()

    def recall(self, number: int) -> "Written":
        return self.put(b"h" + bytes([number]) if number < 256 else b"j" + pack("<I", number))

    def number(self, n: int) -> "Written":
        return self.put(b"K" + bytes([n]) if n < 256 else b"M" + pack("<H", n))

    def element(self, value: int, within: bytes = b"", stored: bool = False) -> int:
        """Write an estimator with one setting; return its number."""
        self.recall(self.cls).put(b")\x81")
        number = self.store() if stored else -1
        self.put(within + b"}(").recall(self.key).number(value).put(b"ub")
        return number

    def whole(self) -> bytes:
        return bytes(self.data + b"et.")


def _listed() -> Written:
    written = Written()
    written.put(b"]")
    written.store()
    return written.put(b"(")


@pytest.mark.parametrize("ahead", [1, 5, 40])
def test_a_number_that_is_taken_already_is_not_given_again(ahead: int) -> None:
    written = _listed()
    for i in range(60):
        within = b"r" + pack("<I", written.stored + 1 + ahead) if i == 6 else b""
        written.element(i, within, stored=True)
    _assert_alike(written.whole())
    assert any("a second object" in str(one) for one in _run(written.whole(), STEPS)[0].doubts)


@pytest.mark.parametrize("what", ["cls", "key"])
def test_what_is_the_same_in_all_may_be_put_in_the_place_of_something_else(what: str) -> None:
    written = _listed()
    for i in range(8):
        written.element(i)
    place = bytes([getattr(written, what)])
    if what == "cls":
        written.element(8, b"q" + place)
    else:
        written.recall(written.cls).put(b")\x81}(").recall(written.key)
        written.put(b"\x8c\x07predictq" + place + b"ub")
    for i in range(8):
        written.element(i)
    _assert_alike(written.whole())
    assert _run(written.whole(), STEPS)[2][0] is not None


def _arrays(dtype: str, flags: int) -> tuple[Written, bytes, bytes]:
    """Return a list, how an array of it begins, and how the type of one is recalled."""
    written = Written()
    rebuild = written.name("numpy._core.multiarray", "_reconstruct")
    kind = written.name("numpy", "ndarray")
    made = written.name("numpy", "dtype")
    written.recall(made).text(dtype)
    written.put(b"\x89\x88\x87R")
    number = written.store()
    written.put(b"(K\x03\x8c\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK" + bytes([flags]) + b"tb0")
    begin = b"h%ch%cK\x00\x85C\x01b\x87R" % (rebuild, kind)
    return written, begin, b"h%c" % number


def test_what_an_array_costs_is_charged_for_each() -> None:
    """Of text and of objects: states that are recalled, and a list that grows."""
    written, begin, kind = _arrays("u1", 0)
    states = []
    for n in (1, 2, 3, 50_000):
        written.put(b"(K\x01").put(b"J" + pack("<i", n) + b"\x85").put(kind + b"\x89")
        written.put(b"X" + pack("<I", n) + b"a" * n + b"t")
        states.append(written.store())
        written.put(b"0")
    written.put(b"](")
    for i in range(300):
        written.recall(written.cls).put(b")\x81}(").recall(written.key).put(begin)
        written.recall(states[min(i, 3)]).put(b"bub")
    _assert_alike(written.whole())
    written, begin, kind = _arrays("O8", 63)
    written.put(b"]")
    grown = written.store()
    written.put(b"(")
    for i in range(40):
        if i == 5:
            written.put(b"e(" + b"N" * 5_000 + b"e(")
        n = (0, 0, 0, 0, 0)[i] if i < 5 else 5_005
        written.recall(written.cls).put(b")\x81}(").recall(written.key).put(begin + b"(K\x01")
        written.number(n).put(b"\x85" + kind + b"\x89").recall(grown).put(b"tbub")
    _assert_alike(written.whole())


@pytest.mark.parametrize("how", ["chain", "spelled"])
def test_what_is_matched_is_read(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one after the other has to be read alone, not all behind it are matched each time."""
    matched: list[int] = []
    matches = Stencil._matches

    def counted(self: Stencil, *given: Any) -> Any:
        found = matches(self, *given)
        matched.append(len(found[0]))
        return found

    monkeypatch.setattr(Stencil, "_matches", counted)
    written, before = _listed(), 0
    for i in range(600):
        if how == "chain":
            written.recall(written.cls).put(b")\x81")
            own = written.store()
            written.put(b"}(").recall(written.key).recall(before).put(b"ub")
            before = own
        elif i > 4 and i % 2:
            written.recall(written.cls).put(b")\x81}(").recall(written.key).put(b"M\x05\x00ub")
        else:
            written.element(i % 200 + 100 * (i % 3))
    _assert_alike(written.whole())
    assert sum(matched) < 4 * 600
