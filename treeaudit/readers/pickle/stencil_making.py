"""Make a stencil: follow the instructions of an element that the interpreter has read."""

import re
import struct
from collections.abc import Callable, Mapping, Sequence

from treeaudit.errors import ReadError
from treeaudit.readers.limits import Most
from treeaudit.readers.pickle.arrays import LateArray, arrays_from, fill
from treeaudit.readers.pickle.companions import names_companion
from treeaudit.readers.pickle.construct import carry_out, takes_any
from treeaudit.readers.pickle.dtypes import DType
from treeaudit.readers.pickle.inert import MARK, Global, Inert
from treeaudit.readers.pickle.joblib_arrays import is_wrapper
from treeaudit.readers.pickle.known_names import DATA_CALLS
from treeaudit.readers.pickle.states import is_free
from treeaudit.readers.pickle.stencils import Column, Columns, Stencil, Step
from treeaudit.readers.pickle.traces import Instruction, number

_ARRAYS = ("_frombuffer", "_reconstruct", "scalar")
_OPEN = {"number": b"(K.|M..|J.{4})", "recall": b"(h.|j.{4})", "G": b"(G.{8})"}
_BLOB = b"(C.|B.{4}|\\x96.{8})"


class _NoStencilError(Exception):
    """The instructions do more than an element of a forest needs."""


def stencil(
    written: Sequence[Instruction],
    open_: set[int],
    memo: Mapping[int, object],
    base: int,
    cost: int,
) -> Stencil | None:
    """Return the stencil of elements that are written like one of them.

    Returns
    -------
    Stencil or None
        None if its instructions do more than those of a tree.
    """
    try:
        return _Making(written, open_, memo, base).stencil(cost)
    except _NoStencilError:
        return None


def _needs(condition: object) -> None:
    if not condition:
        raise _NoStencilError


class _Making:
    """Follows the instructions of an element, with places of slots on its stack."""

    def __init__(
        self,
        written: Sequence[Instruction],
        open_: set[int],
        memo: Mapping[int, object],
        base: int,
    ) -> None:
        self._written, self._open, self._memo, self._base = written, open_, memo, base
        blobs = [i for i, one in enumerate(written) if one.kind == "blob"]
        # Slots: a constant for each instruction at most, what stands in open places, what is made.
        self._constants: list[object] = [None] * len(written)
        self._given = len(written)
        self._made = len(written) + len(open_) + len(blobs)
        self._stack: list[object] = []
        self._steps: list[Step] = []
        self._stored: list[int] = []
        self._arrays: list[tuple[int, int]] = []
        self._recalled: list[int] = []
        self._held: dict[int, object] = {}
        self._parts: dict[int, list[int]] = {}
        self._classes: dict[int, Global] = {}
        self._late: set[int] = set()
        self._keys: dict[int, list[tuple[str, int]]] = {}

    def stencil(self, cost: int) -> Stencil:
        pieces, readers = [b""], list[tuple[int, Callable[[bytes], object]]]()
        for i, one in enumerate(self._written):
            if one.kind == "blob" or i in self._open:
                pieces[-1] += _BLOB if one.kind == "blob" else _OPEN[one.kind]
                if one.kind == "blob":
                    pieces.append(b"")
                else:
                    readers.append((self._given, _double if one.kind == "G" else number))
                if one.kind == "recall":
                    self._recalled.append(self._given)
                self._stack.append(self._given)
                self._given += 1
            else:
                pieces[-1] += re.escape(one.text)
                self._follow(i, one)
        value = self._pop()
        _needs(not self._stack and not self._late and value in self._classes)
        return Stencil(
            pieces=[re.compile(piece, re.DOTALL) for piece in pieces],
            constants=self._constants,
            held=[*self._held.items()],
            readers=readers,
            steps=self._steps,
            recalled=self._recalled,
            stored=self._stored,
            arrays=[(*self._behind(i), made) for i, made in self._arrays],
            value=value,
            cost=cost,
            n_instructions=len(self._written),
        )

    def _behind(self, i: int) -> tuple[int, int]:
        """Return how many arrays have bytes before an instruction, and its place behind these."""
        before = [k for k, one in enumerate(self._written[:i]) if one.kind == "blob"]
        return len(before), i - before[-1] if before else i + 1

    def _follow(self, i: int, one: Instruction) -> None:
        match one.kind:
            case "number" | "G" | "N" | "\x88" | "\x89" | ")":
                self._constant(i, one.value)
            case "recall":
                # What the element itself stored has another number in each of them.
                index: int = one.value  # type: ignore[assignment]
                _needs(index < self._base)
                self._constant(i, self._memo[index])
                self._held[index] = self._memo[index]
            case "\x8c":
                text: bytes = one.value  # type: ignore[assignment]
                self._constant(i, str(text, "utf-8", "surrogatepass"))
            case "(":
                self._stack.append(MARK)
            case "t":
                self._tuple(self._marked())
            case "\x85" | "\x86" | "\x87":
                parts = [self._pop() for _ in range(ord(one.kind) - 0x84)]
                self._tuple(parts[::-1])
            case "}":
                self._keys[self._make(_empty)] = []
            case "u":
                self._update(self._marked())
            case "\x81":
                self._new()
            case "R":
                self._call(i)
            case "b":
                self._build(i)
            case "\x94":
                self._stored.append(self._top())
            case _:
                raise _NoStencilError

    def _constant(self, i: int, value: object) -> None:
        self._constants[i] = value
        self._stack.append(i)

    def _make(self, step: Step) -> int:
        self._steps.append(step)
        self._made += 1
        self._stack.append(self._made - 1)
        return self._made - 1

    def _pop(self) -> int:
        _needs(self._stack and self._stack[-1] is not MARK)
        return self._stack.pop()  # type: ignore[return-value]

    def _top(self) -> int:
        self._stack.append(self._pop())
        return self._stack[-1]  # type: ignore[return-value]

    def _marked(self) -> list[int]:
        parts = list[int]()
        while self._stack and self._stack[-1] is not MARK:
            parts.append(self._pop())
        _needs(self._stack)
        self._stack.pop()
        return parts[::-1]

    def _is_constant(self, slot: int) -> bool:
        return slot < len(self._written)

    def _tuple(self, parts: list[int]) -> None:
        def step(columns: Columns, _: int) -> None:
            columns.append([*zip(*(columns[part] for part in parts), strict=True)])

        self._parts[self._make(step)] = parts

    def _update(self, parts: list[int]) -> None:
        target = self._top()
        _needs(target in self._keys and len(parts) % 2 == 0)
        names = [self._constants[key] for key in parts[::2] if self._is_constant(key)]
        texts = [name for name in names if isinstance(name, str) and len(name) < Most.key]
        _needs(2 * len(texts) == len(parts))
        self._keys[target] += zip(texts, parts[1::2], strict=True)
        values = parts[1::2]

        def step(columns: Columns, _: int) -> None:
            rows = zip(*(columns[value] for value in values), strict=True)
            for one, row in zip(columns[target], rows, strict=True):
                one.update(zip(texts, row, strict=True))  # type: ignore[attr-defined]

        self._steps.append(step)

    def _called(self, *, own: bool) -> tuple[Global, int]:
        """Return what is called and its arguments, which nothing else of the file decides."""
        args, target = self._pop(), self._pop()
        cls = self._constants[target] if self._is_constant(target) else None
        if not isinstance(cls, Global):
            raise _NoStencilError
        parts = self._parts.get(args)
        if parts is None:
            value = self._constants[args] if self._is_constant(args) else None
            _needs(isinstance(value, tuple) and not value)
        elif own:
            _needs(not any(part in self._recalled for part in parts))
        return cls, args

    def _new(self) -> None:
        cls, args = self._called(own=False)
        _needs(str(cls) not in DATA_CALLS)
        self._inert(cls, args)

    def _inert(self, cls: Global, args: int) -> None:
        _needs(takes_any(cls))

        def step(columns: Columns, _: int) -> None:
            columns.append([Inert(cls, one) for one in columns[args]])  # type: ignore[arg-type]

        self._classes[self._make(step)] = cls

    def _call(self, i: int) -> None:
        cls, args = self._called(own=True)
        if str(cls) not in DATA_CALLS:
            self._inert(cls, args)
            return
        _needs(cls.name in _ARRAYS)
        step = self._from_buffer(args) if cls.name == "_frombuffer" else None
        if step is None:

            def step(columns: Columns, _: int) -> None:
                columns.append([carry_out(cls, one, 0, _free_of_charge) for one in columns[args]])  # type: ignore[arg-type]

        made = self._make(step)
        if cls.name == "_reconstruct":
            self._late.add(made)
        elif cls.name == "_frombuffer":
            self._arrays.append((i, made))

    def _from_buffer(self, args: int) -> Step | None:
        """Return the step for an array of one type and order, which is what nearly all are."""
        parts = self._parts.get(args, [])
        if len(parts) != 4 or not all(self._is_constant(part) for part in parts[1::2]):
            return None
        data, shape = parts[::2]
        dtype, order = (self._constants[part] for part in parts[1::2])
        if not isinstance(dtype, DType) or order not in ("C", "F"):
            return None
        fortran = order == "F"

        def step(columns: Columns, _: int) -> None:
            columns.append(arrays_from(columns[data], dtype, columns[shape], fortran))

        return step

    def _build(self, i: int) -> None:
        state, target = self._pop(), self._top()
        if target in self._late:
            self._late.remove(target)
            _needs(state in self._parts or self._is_constant(state))
            _needs(not any(part in self._recalled for part in self._parts.get(state, ())))
            self._arrays.append((i, target))
            self._steps.append(lambda columns, _: _fill(columns[target], columns[state]))
            return
        _needs(target in self._classes and state in self._keys)
        cls = self._classes[target]
        bare = Inert(cls)
        _needs(not is_wrapper(bare) and not names_companion(bare))
        free = (is_free(name) or self._is_constant(part) for name, part in self._keys[state])
        _needs(all(free))
        # What is complete takes nothing more.
        del self._keys[state]

        def step(columns: Columns, _: int) -> None:
            for one, its in zip(columns[target], columns[state], strict=True):
                one.state = its  # type: ignore[attr-defined]

        self._steps.append(step)


def _empty(columns: Columns, n: int) -> None:
    columns.append([{} for _ in range(n)])


def _fill(targets: Column, states: Column) -> None:
    for target, state in zip(targets, states, strict=True):
        if not isinstance(target, LateArray):
            raise ReadError("no array was announced")
        target.content = fill(state, 0, _nothing_more)


def _free_of_charge(_: int) -> None:
    """Charge nothing: what an element costs is known."""


def _nothing_more(n: int) -> None:
    """Refuse what costs more or less from one element to the next."""
    if n:
        raise ReadError("what is in the array is charged for")


def _double(text: bytes) -> float:
    value: float = struct.unpack(">d", text[1:])[0]
    return value
