"""The interpreter of pickle instructions: it keeps what they make and calls nothing of it."""

import struct
from collections.abc import Callable, Sequence
from mmap import mmap

import numpy as np

from treeaudit.errors import ModelTooLargeError, ReadError, UnsafeModelError, UnsupportedModelError
from treeaudit.readers.limits import Limits, Most, show, text_bytes
from treeaudit.readers.pickles.arrays import DType, LateArray, array_from, object_array
from treeaudit.readers.pickles.companions import Companions, names_companion, read_companion
from treeaudit.readers.pickles.construct import ADVICE, call, create, hashable
from treeaudit.readers.pickles.inert import Global, Inert
from treeaudit.readers.pickles.joblib_arrays import is_wrapper, read_array
from treeaudit.readers.pickles.members import FETCHES
from treeaudit.readers.pickles.names import file_within, may_fetch, may_mention

__all__ = ["MARK"]

MARK = object()
# What an instruction may leave behind: an entry of the stack, a number. Charged by blocks.
_STEP, _BLOCK = 40, 1 << 12
_LONG_TEXT = 4096


class Machine:
    """Stack, memo and place in the file while one pickle is read; see `pickle_vm`.

    Parameters
    ----------
    data
        The unpacked file.
    offset
        Where the pickle begins.
    limits
        What reading may cost.
    nested
        How many pickles may still lie within this one.
    steps
        What each opcode does, by its number; None where there is no such opcode.
    """

    def __init__(
        self,
        data: bytes | mmap,
        offset: int,
        limits: Limits,
        nested: int,
        steps: Sequence["Step | None"],
    ) -> None:
        self.data = data
        self.view = memoryview(data)
        self.size = len(data)
        self.at = offset
        self.limits = limits
        self.nested = nested
        self.steps = steps
        self.stack: list[object] = []
        self.memo: dict[int, object] = {}
        self.mentioned: list[Global] = []
        # Names that may not be mentioned but were called in a form that is harmless.
        self.excused: set[int] = set()
        self.companions: Companions | None = None
        self.frame_end: int | None = None
        self.budget = limits.objects(self.size)
        self.instructions = self.paid = 0
        self.result: object = None

    def run(self) -> object:
        steps = self.steps
        while True:
            if self.at >= self.size:
                raise ReadError(f"the file ends in the middle of the model (byte {self.at:,})")
            opcode = self.data[self.at]
            self.at += 1
            self.instructions += 1
            if self.instructions > self.paid:
                self.pay()
            if opcode == 0x2E:
                return self.pop()
            action = steps[opcode]
            if action is None:
                raise ReadError(
                    f"byte {self.at - 1:,} ({opcode:#04x}) is not a pickle instruction: "
                    "the file is damaged or is not a pickle"
                )
            action(self)

    def pay(self) -> None:
        most = self.limits.instructions
        if self.instructions > most:
            raise ModelTooLargeError(f"the file has more than {most:,} instructions")
        self.paid = min(self.paid + _BLOCK, most)
        self.spend(_STEP * _BLOCK if self.instructions > _BLOCK else 0)

    def spend(self, n: int) -> None:
        self.budget -= n
        if self.budget < 0:
            raise ModelTooLargeError(
                "the file would unpack to more objects than its size allows; "
                "if you trust it, allow more with --max-bytes"
            )

    def refuse_mentions(self) -> None:
        for name in self.mentioned:
            if not name.allowed and id(name) not in self.excused:
                raise UnsafeModelError(
                    f"the file names {show(name)} (byte {name.offset:,}), which no tree model "
                    f"needs and which can run code: {ADVICE}"
                )

    def refuse_files_within(self) -> None:
        for name in self.mentioned:
            library = file_within(str(name))
            if library is not None:
                raise UnsupportedModelError(
                    f"the file holds a model of {library}, as a file within the file (byte "
                    f"{name.offset:,}), which treeaudit does not read"
                )

    # -- bytes ---------------------------------------------------------------

    def take(self, n: int) -> memoryview:
        end = self.at + n
        if n < 0 or end > self.size:
            raise ReadError(
                f"byte {self.at:,} announces {n:,} bytes, the file has {self.size - self.at:,} left"
            )
        piece = self.view[self.at : end]
        self.at = end
        return piece

    def number(self, form: str) -> int:
        value: int = struct.unpack(form, self.take(struct.calcsize(form)))[0]
        return value

    def line(self) -> str:
        end = self.data.find(b"\n", self.at, self.at + Most.line)
        if end < 0:
            raise ReadError(f"a line of text at byte {self.at:,} does not end")
        line = bytes(self.view[self.at : end])
        self.at = end + 1
        return line.decode("utf-8", "surrogateescape")

    def text(self, n: int) -> str:
        piece = self.take(n)
        if n >= _LONG_TEXT:
            self.spend(n // 2)  # the least it can take: seen before a page of it is read
            self.spend(text_bytes(piece) - n // 2)
        try:
            text = str(piece, "utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise ReadError(f"the text at byte {self.at - n:,} is damaged") from None
        if n < _LONG_TEXT:
            self.spend(56 + n if text.isascii() else text.__sizeof__())
        return text

    # -- stack ---------------------------------------------------------------

    def push(self, value: object) -> None:
        self.stack.append(value)

    def pop(self) -> object:
        if not self.stack or self.stack[-1] is MARK:
            raise ReadError(f"instruction at byte {self.at - 1:,} finds nothing to work on")
        return self.stack.pop()

    def top(self) -> object:
        if not self.stack or self.stack[-1] is MARK:
            raise ReadError(f"instruction at byte {self.at - 1:,} finds nothing to work on")
        return self.stack[-1]

    def pop_mark(self) -> list[object]:
        stack = self.stack
        for i in range(len(stack) - 1, -1, -1):
            if stack[i] is MARK:
                items = stack[i + 1 :]
                del stack[i:]
                return items
        raise ReadError(f"instruction at byte {self.at - 1:,} finds no mark")

    # -- names and calls -----------------------------------------------------

    def mention(self, module: object, name: object) -> Global:
        if not isinstance(module, str) or not isinstance(name, str):
            raise UnsafeModelError(
                f"the file computes a name at byte {self.at - 1:,} instead of spelling it: {ADVICE}"
            )
        if len(module) > Most.name or len(name) > Most.name:
            raise ReadError(f"a name at byte {self.at - 1:,} is too long")
        owner, dot, member = name.partition(".")
        allowed = may_fetch(module, owner, member) if dot else may_mention(module, name)
        found = Global(module, name, self.at - 1, allowed)
        self.mentioned.append(found)
        self.spend(240 + len(module) + len(name))
        if len(self.mentioned) > Most.names:
            raise ModelTooLargeError(f"the file names more than {Most.names:,} functions")
        return found

    def call(self, target: object, args: object) -> object:
        made = call(target, args, self.at - 1, self.spend)
        if isinstance(target, Global) and str(target) in FETCHES:
            self.excused.add(id(target))
            self.mentioned += [made] if isinstance(made, Global) else []
        return made

    def create(self, target: object, args: object) -> object:
        return create(target, args, self.at - 1, self.spend)

    def build(self) -> None:
        state = self.pop()
        target = self.top()
        match target:
            case Inert():
                if isinstance(state, dict) and isinstance(target.state, dict):
                    self.spend(64 * (len(state) + len(target.state)))
                    state = {**target.state, **state}
                target.state = state
                if is_wrapper(target):
                    self.stack[-1] = read_array(self, target)
                elif names_companion(target):
                    self.stack[-1] = read_companion(self, target)
            case DType():
                target.describe(state)
                self.spend(256 * target.n_fields)
            case LateArray():
                target.content = self.fill(state)
            case Global():
                raise UnsafeModelError(
                    f"the file changes {show(target)} itself (byte {self.at - 1:,}): {ADVICE}"
                )
            case np.ndarray():
                pass
            case _:
                raise ReadError(f"the state at byte {self.at - 1:,} belongs to nothing")

    def fill(self, state: object) -> "np.ndarray[tuple[int, ...], np.dtype[np.generic]]":
        if not isinstance(state, tuple) or len(state) < 5:
            raise ReadError(f"the array at byte {self.at - 1:,} is damaged")
        _, shape, dtype, fortran, data = state[:5]
        if isinstance(dtype, DType) and dtype.is_object:
            self.spend(16 * len(data) if isinstance(data, list) else 0)
            return object_array(data, shape)
        self.spend(len(data) if isinstance(data, str) else 0)
        by_column = isinstance(fortran, int) and fortran != 0
        return array_from(data, dtype, shape, by_column)

    def leave_frame(self) -> None:
        if self.frame_end not in (None, self.at):
            raise ReadError(f"an array begins inside a frame (byte {self.at:,})")
        self.frame_end = None

    def read_nested(self) -> object:
        inner = self._run_inside(self.data, self.at)
        self.at = inner.at
        return inner.result

    def read_inside(self, data: bytes | mmap, at: int) -> object:
        return self._run_inside(data, at).result

    def _run_inside(self, data: bytes | mmap, at: int) -> "Machine":
        if self.nested == 0:
            raise ModelTooLargeError("the file has pickles within pickles within pickles")
        inner = Machine(data, at, self.limits, self.nested - 1, self.steps)
        inner.budget, inner.instructions = self.budget, self.instructions
        inner.paid = self.paid
        inner.mentioned, inner.companions = self.mentioned, self.companions
        inner.excused = self.excused
        inner.result = inner.run()
        self.budget, self.instructions = inner.budget, inner.instructions
        self.paid = inner.paid
        return inner

    def extend(self, items: list[object]) -> None:
        target = self.top()
        if isinstance(target, list):
            target.extend(items)
        elif isinstance(target, Inert):
            target.items.extend(items)
        elif isinstance(target, set):
            for item in items:
                target.add(hashable(item, len(target), self.spend))
        else:
            raise self.misplaced(target)

    def update(self, items: list[object]) -> None:
        target = self.top()
        if len(items) % 2:
            raise ReadError(f"a key at byte {self.at - 1:,} has no value")
        if isinstance(target, Inert):
            target = target.pairs
        if not isinstance(target, dict):
            raise self.misplaced(target)
        self.spend(64 * len(items))
        for i in range(0, len(items), 2):
            target[hashable(items[i], len(target), self.spend)] = items[i + 1]

    def misplaced(self, target: object) -> ReadError:
        message = f"the file puts elements into {show(target)} (byte {self.at - 1:,})"
        return UnsafeModelError(message) if isinstance(target, Global) else ReadError(message)

    def remember(self, index: int) -> None:
        self.spend(100)
        self.memo[index] = self.top()

    def recall(self, index: int) -> None:
        try:
            self.push(self.memo[index])
        except KeyError:
            raise ReadError(f"byte {self.at - 1:,} recalls what was never stored") from None


Step = Callable[[Machine], None]
