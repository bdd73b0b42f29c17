"""The interpreter of pickle instructions: it keeps what they make and calls nothing of it."""

from collections.abc import Callable, Sequence
from copy import copy
from mmap import mmap

import numpy as np

from treeaudit.arrays import Array
from treeaudit.errors import ModelTooLargeError, ReadError, UnsafeModelError, UnsupportedModelError
from treeaudit.readers.limits import Limits, Most, show, text_bytes
from treeaudit.readers.pickle.arrays import DType, LateArray
from treeaudit.readers.pickle.as_pickle import Outer, would_run
from treeaudit.readers.pickle.construct import ADVICE, FETCHES, call, create, excused
from treeaudit.readers.pickle.inert import MARK, Global, Inert
from treeaudit.readers.pickle.names import file_within, may_fetch, may_mention

# What an instruction may leave behind: an entry of the stack, a number. Charged by blocks.
_STEP, _BLOCK = 40, 1 << 12
_LONG_TEXT = 4096
# numba writes its functions as a pickle of its own, with its copy of cloudpickle.
_LOADS, _COPY = "numba.core.serialize._unpickle__CustomPickled", "numba.cloudpickle."


class Stream:
    """A place in the file, and a `budget`: how many bytes of objects may be made."""

    data: bytes | mmap
    view: memoryview
    size: int
    begin: int
    at: int
    frame_end: int

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.tables: list[tuple[int, Array]] = []
        self.doubts: list[ReadError] = []

    def forged(self, what: str) -> ReadError:
        """Return the error of a file that no pickler wrote."""
        return ReadError(
            f"the file {what} (byte {self.at - 1:,}), which pickle never writes: "
            "it is damaged or forged"
        )

    def doubt(self, what: str) -> None:
        """Refuse the file in the end, unless what follows would run code: that is told first."""
        if not self.doubts:
            self.doubts.append(self.forged(what))

    def spend(self, n: int) -> None:
        """Charge for what an instruction makes."""
        self.budget -= n
        if self.budget < 0:
            raise ModelTooLargeError(
                "the file would unpack to more objects than its size allows; "
                "if you trust it, allow more with --max-bytes"
            )

    def take(self, n: int) -> memoryview:
        """Return the next bytes."""
        end = self.at + n
        if n < 0 or end > self.size:
            raise ReadError(
                "the file is cut short (was it copied only in part?): "
                f"byte {self.at:,} announces {n:,} bytes, {self.size - self.at:,} are left"
            )
        if self.at <= self.frame_end < end:
            self.frame_end = -1
            self.doubt("has a frame that ends within an instruction")
        piece = self.view[self.at : end]
        self.at = end
        return piece

    def byte(self) -> int:
        """Return the next byte."""
        at = self.at
        if at >= self.size or at == self.frame_end:
            self.take(1)
        self.at = at + 1
        return self.data[at]

    def number(self, n: int, *, signed: bool = False) -> int:
        """Return a whole number of so many bytes."""
        return int.from_bytes(self.take(n), "little", signed=signed)

    def line(self, longest: int = Most.line) -> str:
        """Return the next line as text."""
        return self.raw_line(longest).decode("utf-8", "surrogateescape")

    def raw_line(self, longest: int, times: int = 1) -> bytes:
        """Return a line, charged before it is copied as often as its reader copies it."""
        end = self.data.find(b"\n", self.at, self.at + longest)
        if end < 0:
            raise ReadError(f"a line of text at byte {self.at:,} does not end")
        self.spend(times * (end - self.at))
        return bytes(self.take(end + 1 - self.at)[:-1])

    def text(self, n: int) -> str:
        """Return the next bytes as text."""
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


class Machine(Stream):
    """Stack, memo and place in the file while one pickle is read; see `pickle_vm`.

    So many pickles may lie `nested` within it. `steps` tells by its number what an opcode does.
    """

    def __init__(
        self,
        data: bytes | mmap,
        offset: int,
        limits: Limits,
        nested: int,
        steps: Sequence["Step | None"],
    ) -> None:
        super().__init__(limits.objects(len(data)))
        self.limits = limits
        self.nested = nested
        self.steps = steps
        self.mentioned: list[Global] = []
        # Names that may not be mentioned but were called in a form that is harmless.
        self.excused: set[int] = set()
        self.instructions = self.paid = 0
        self.start(data, offset)

    def start(self, data: bytes | mmap, offset: int) -> None:
        """Begin with a pickle: nothing of another one is on the stack or stored."""
        self.data, self.view, self.size = data, memoryview(data), len(data)
        self.begin = self.at = offset
        self.frame_end = -1
        self.stack: list[object] = []
        # What was made at a place of the stack and may still be filled there, by height.
        self.unfinished: dict[int, object] = {}
        self.memo: dict[int, object] = {}
        # In an array of objects: what pickle, which knows no such arrays, has stored so far.
        self.outer: Outer | None = None
        self.version = self.announced = 0

    def run(self) -> object:
        steps, data, size = self.steps, self.data, self.size
        while True:
            at = self.at
            if at >= size:
                raise ReadError(f"the file ends in the middle of the model (byte {at:,})")
            opcode = data[at]
            self.at = at + 1
            self.instructions = done = self.instructions + 1
            if done > self.paid:
                self.pay()
            if opcode == 0x2E:
                return self.stop()
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

    def stop(self) -> object:
        made = self.pop()
        if self.stack:
            raise self.forged("ends with more than one object")
        if self.at < self.frame_end:
            raise self.forged("ends inside a frame")
        if self.announced:
            raise self.forged("announces an array that it does not fill")
        return made

    def refuse_mentions(self) -> None:
        for name in self.mentioned:
            if not name.allowed and id(name) not in self.excused:
                raise UnsafeModelError(
                    f"the file names {show(name)} (byte {name.offset:,}), which no tree model "
                    f"needs and which can run code: {ADVICE}"
                )

    def refuse_files_within(self) -> None:
        for name in self.mentioned:
            if (library := file_within(str(name))) is not None:
                raise UnsupportedModelError(
                    f"the file holds a model of {library}, as a file within the file (byte "
                    f"{name.offset:,}), which treeaudit does not read"
                )

    # -- stack ---------------------------------------------------------------

    def push(self, value: object) -> None:
        self.stack.append(value)

    def make(self, value: object) -> None:
        """Put on the stack what may be filled as long as it is there."""
        self.stack.append(value)
        self.unfinished[len(self.stack)] = value

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
        module = module.removeprefix("numba.") if module.startswith(_COPY) else module
        owner, dot, member = name.partition(".")
        allowed = may_fetch(module, owner, member) if dot else may_mention(module, name)
        found = Global(module, name, self.at - 1, allowed)
        self.mentioned.append(found)
        self.spend(240 + len(module) + len(name))
        if len(self.mentioned) > Most.names:
            raise ModelTooLargeError(f"the file names more than {Most.names:,} functions")
        return found

    def call(self, target: object, args: object) -> object:
        if str(target) == _LOADS and isinstance(args, tuple):
            args = tuple(self.read_inner(bytes(one)) for one in args if isinstance(one, bytes))
        made = call(target, args, self.at - 1, self.spend)
        self.announced += isinstance(made, LateArray)
        self.excused.update(excused(target, args, made))
        if isinstance(target, Global) and str(target) in FETCHES:
            self.mentioned += [made] if isinstance(made, Global) else []
            if isinstance(made, Inert) and target.name == "subimport":
                self.mentioned.append(Global(str(made.args[0]), "*", self.at - 1, allowed=True))
        return self.note_table(made)

    def create(self, target: object, args: object) -> object:
        made = create(target, args, self.at - 1, self.spend)
        self.excused.update([id(target)] if isinstance(target, Global) else ())
        return made

    def note_table(self, array: object) -> object:
        """Keep in mind a table of records, between whose columns something may stand."""
        if isinstance(array, np.ndarray) and array.dtype.names:
            self.tables.append((self.at, array))
        return array

    def begin_array(self) -> None:
        """Make sure that raw bytes begin exactly where a frame ends, in no other pickle."""
        if self.at < self.frame_end:
            raise ReadError(f"an array begins inside a frame (byte {self.at:,})")
        self.frame_end = -1
        if self.nested < self.limits.nested:
            raise UnsafeModelError(
                f"the file has an array of joblib in a pickle of its own (byte {self.at:,}): "
                f"joblib.load would run its numbers as instructions: {ADVICE}"
            )

    def refuse_instructions(self, size: int) -> None:
        """Make sure that pickle, which knows no bytes of arrays, would not run them."""
        self.spend(16 * len(self.stack))
        if would_run(self.data, self.at, self.stack, self.memo, size):
            raise UnsafeModelError(
                f"the file holds instructions in place of an array (byte {self.at:,}): joblib "
                f"takes them for numbers, pickle.load would run them: {ADVICE}"
            )

    def read_nested(self) -> object:
        """Read the pickle that begins here, of the same file: it shares names and costs."""
        if self.nested == 0:
            raise ModelTooLargeError("the file has pickles within pickles within pickles")
        self.spend(100 * len(self.memo))
        inner = copy(self)
        inner.start(self.data, self.at)
        inner.nested, inner.outer = self.nested - 1, Outer(dict(self.memo), self.mentioned)
        made, self.at = inner.run(), inner.at
        self.budget, self.instructions, self.paid = inner.budget, inner.instructions, inner.paid
        return made

    def read_inner(self, data: bytes) -> object:
        """Read a pickle that is written as bytes within this one: it shares names and costs."""
        if self.nested == 0:
            raise ModelTooLargeError("the file has pickles within pickles within pickles")
        inner = copy(self)
        inner.start(data, 0)
        inner.nested -= 1
        made = inner.run()
        self.budget, self.instructions, self.paid = inner.budget, inner.instructions, inner.paid
        if inner.at < len(data):
            raise self.forged("has bytes behind a pickle within it")
        return made

    def remember(self, number: int | None = None) -> None:
        """Store what is on top under a number, or under the next one."""
        self.spend(100)
        memo = self.memo
        index = len(memo) if number is None else number
        if self.outer is not None:
            self.outer.store(number, self.top())
        if index in memo:
            self.doubt(f"stores a second object as number {index:,}")
        memo[index] = self.top()

    def recall(self, index: int) -> None:
        try:
            value = self.memo[index]
        except KeyError:
            raise ReadError(f"byte {self.at - 1:,} recalls what was never stored") from None
        if self.outer is not None and self.outer.misled(self.data, self.at, index, value):
            raise UnsafeModelError(
                f"an array of objects of the joblib file recalls number {index:,} (byte "
                f"{self.at - 1:,}), which is another object to pickle.load: {ADVICE}"
            )
        kind = type(value)
        if (kind is LateArray and value.content is None) or (  # type: ignore[attr-defined]
            kind is DType and value.state is None  # type: ignore[attr-defined]
        ):
            raise self.forged("recalls an array, or its type, before it is complete")
        self.stack.append(value)
        self.unfinished.pop(len(self.stack), None)


Step = Callable[[Machine], None]
