"""The interpreter of pickle instructions: it keeps what they make and calls nothing of it."""

import struct
import sys
from collections.abc import Callable, Sequence
from mmap import mmap

import numpy as np

from treeaudit.errors import ModelTooLargeError, ReadError, UnsafeModelError, UnsupportedModelError
from treeaudit.readers.limits import Limits, Most, show
from treeaudit.readers.pickles.arrays import DType, LateArray, array_from, gaps, object_array
from treeaudit.readers.pickles.as_pickle import would_run
from treeaudit.readers.pickles.companions import Companions, names_companion, read_companion
from treeaudit.readers.pickles.construct import ADVICE, call, create, hashable
from treeaudit.readers.pickles.inert import MARK, Global, Inert, Oddity
from treeaudit.readers.pickles.joblib_arrays import is_wrapper, read_array
from treeaudit.readers.pickles.known_names import LIBRARIES, PYTHON2
from treeaudit.readers.pickles.members import FETCHES
from treeaudit.readers.pickles.names import file_within, may_fetch, may_mention

__all__ = ["is_own"]

_LISTS = frozenset(("collections.deque",))
_SETTERS = frozenset(
    f"cloudpickle.cloudpickle{fast}._{kind}_setstate"
    for fast in ("", "_fast")
    for kind in ("function", "class")
)
_DICTS = frozenset(
    "OrderedDict defaultdict Counter Bunch DeprecationDict OptimizeResult Schema".split()
)


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
        self.begin = self.at = offset
        self.limits = limits
        self.nested = nested
        self.steps = steps
        self.stack: list[object] = []
        # What was made at a place of the stack and may still be filled there, by height.
        self.unfinished: dict[int, object] = {}
        self.memo: dict[int, object] = {}
        self.highest = -1
        self.announced = 0
        self.oddities: list[Oddity] = []
        self.mentioned: list[Global] = []
        # Names that may not be mentioned but were called in a form that is harmless.
        self.excused: set[int] = set()
        self.companions: Companions | None = None
        self.frame_end = -1
        self.budget = limits.containers + 4 * self.size
        self.instructions = 0
        self.result: object = None

    def run(self) -> object:
        steps = self.steps
        while True:
            if self.at >= self.size:
                raise ReadError(f"the file ends in the middle of the model (byte {self.at:,})")
            opcode = self.data[self.at]
            self.at += 1
            self.instructions += 1
            if self.instructions > self.limits.instructions:
                raise ModelTooLargeError(
                    f"the file has more than {self.limits.instructions:,} instructions"
                )
            if opcode == 0x2E:
                return self.stop()
            action = steps[opcode]
            if action is None:
                raise ReadError(
                    f"byte {self.at - 1:,} ({opcode:#04x}) is not a pickle instruction: "
                    "the file is damaged or is not a pickle"
                )
            action(self)

    def stop(self) -> object:
        made = self.pop()
        if self.stack:
            raise self.forged("ends with more than one object")
        if self.at < self.frame_end:
            raise self.forged("ends inside a frame")
        if self.announced:
            raise self.forged("announces an array that it does not fill")
        return made

    def forged(self, what: str) -> ReadError:
        return ReadError(
            f"the file {what} (byte {self.at - 1:,}), which pickle never writes: "
            "it is damaged or forged"
        )

    def note(self, n: int, what: str, at: int | None = None) -> None:
        """Keep in mind bytes that say nothing to whoever loads the file."""
        self.oddities.append((self.at - n if at is None else at, n, what))

    def spend(self, n: int) -> None:
        self.budget -= n
        if self.budget < 0:
            raise ModelTooLargeError("the file would unpack to more objects than its size allows")

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
        if self.at <= self.frame_end < end:
            raise self.forged("has a frame that ends within an instruction")
        piece = self.view[self.at : end]
        self.at = end
        return piece

    def number(self, form: str) -> int:
        value: int = struct.unpack(form, self.take(struct.calcsize(form)))[0]
        return value

    def line(self, longest: int = Most.line) -> str:
        return self.raw_line(longest).decode("utf-8", "surrogateescape")

    def raw_line(self, longest: int) -> bytes:
        end = self.data.find(b"\n", self.at, self.at + longest)
        if end < 0:
            raise ReadError(f"a line of text at byte {self.at:,} does not end")
        line = bytes(self.take(end + 1 - self.at)[:-1])
        self.spend(len(line))
        return line

    def text(self, n: int) -> str:
        try:
            return str(self.take(n), "utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise ReadError(f"the text at byte {self.at - n:,} is damaged") from None

    # -- stack ---------------------------------------------------------------

    def push(self, value: object) -> None:
        self.stack.append(value)

    def make(self, value: object) -> None:
        """Put on the stack what may be filled as long as it is there."""
        self.stack.append(value)
        self.unfinished[len(self.stack)] = value

    def filled(self) -> object:
        """Return what is on top: made there, not fetched, and without a state so far."""
        target = self.top()
        if self.unfinished.get(len(self.stack)) is not target:
            raise self.misplaced(target)
        return target

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
        self.spend(120)
        return found

    def call(self, target: object, args: object) -> object:
        made = call(target, args, self.at - 1, self.spend)
        self.announced += isinstance(made, LateArray)
        if isinstance(target, Global) and str(target) in FETCHES:
            self.excused.add(id(target))
            self.mentioned += [made] if isinstance(made, Global) else []
        return self.note_gaps(made)

    def create(self, target: object, args: object) -> object:
        return create(target, args, self.at - 1, self.spend)

    def build(self) -> None:
        state = self.pop()
        place = len(self.stack)
        target = self.top()
        if isinstance(target, Global):
            raise UnsafeModelError(
                f"the file changes {show(target)} itself (byte {self.at - 1:,}): {ADVICE}"
            )
        if self.unfinished.get(place) is not target:
            raise self.forged(f"gives a state to {show(target)} that is complete")
        if self.unfinished.get(place + 1) is not state:
            self.refuse_unfinished(state)
        self.unfinished[place] = None
        match target:
            case Inert():
                target.state = state
                if is_wrapper(target):
                    self.stack[-1] = self.note_gaps(read_array(self, target))
                elif names_companion(target):
                    self.stack[-1] = self.note_gaps(read_companion(self, target))
            case DType():
                target.describe(state)
                self.spend(256 * target.n_fields)
            case LateArray():
                target.content = self.fill(state)
                self.note_gaps(target.content)
                self.announced -= 1
            case _:
                raise ReadError(f"the state at byte {self.at - 1:,} belongs to nothing")

    def note_gaps(self, array: object) -> object:
        """Note what stands between the columns of a table."""
        if isinstance(array, np.ndarray) and array.dtype.names and (n := gaps(array)):
            self.note(n, "bytes between the columns of a table")
        return array

    def refuse_unfinished(self, state: object) -> None:
        """Refuse a state that is filled later: it is copied, and what comes later is not."""
        parts = state if isinstance(state, tuple) and len(state) == 2 else (state,)
        for part in parts:
            if isinstance(part, dict | list):
                self.spend(8 * len(self.stack))
                if any(one is part for one in self.stack):
                    raise self.forged("gives away a state before it is complete")

    def set_by(self) -> bool:
        """Carry out what cloudpickle calls in place of BUILD, whose result it drops."""
        place = len(self.stack)
        match self.unfinished.get(place - 1), self.unfinished.get(place):
            case Inert() as target, Inert(args=(first, state)) as setter if (
                self.stack[-2:] == [target, setter]
                and first is target
                and str(setter.cls) in _SETTERS
            ):
                self.stack.pop()
                target.state, self.unfinished[place - 1] = state, None
                return True
        return False

    def fill(self, state: object) -> "np.ndarray[tuple[int, ...], np.dtype[np.generic]]":
        if not isinstance(state, tuple) or len(state) != 5 or state[0] not in (0, 1):
            raise ReadError(f"the array at byte {self.at - 1:,} is damaged")
        _, shape, dtype, fortran, data = state
        if isinstance(dtype, DType) and dtype.is_object:
            self.spend(16 * len(data) if isinstance(data, list) else 0)
            return object_array(data, shape)
        if not isinstance(fortran, int):
            raise ReadError(f"the array at byte {self.at - 1:,} has no order")
        self.spend(len(data) if isinstance(data, str) else 0)
        return array_from(data, dtype, shape, fortran != 0)

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

    def refuse_instructions(self) -> None:
        """Make sure that pickle, which knows no bytes of arrays, would not run them."""
        self.spend(16 * len(self.stack))
        if would_run(self.data, self.at, self.stack, self.memo):
            raise UnsafeModelError(
                f"the file holds instructions in place of an array (byte {self.at:,}): joblib "
                f"takes them for numbers, pickle.load would run them: {ADVICE}"
            )

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
        inner.mentioned, inner.companions = self.mentioned, self.companions
        inner.excused, inner.oddities = self.excused, self.oddities
        inner.result = inner.run()
        self.budget, self.instructions = inner.budget, inner.instructions
        return inner

    def extend(self, items: list[object]) -> None:
        target = self.filled()
        if isinstance(target, list):
            target.extend(items)
        elif isinstance(target, Inert) and not target.pairs and _takes(target.cls, _LISTS):
            target.items.extend(items)
        else:
            raise self.misplaced(target)

    def add(self, items: list[object]) -> None:
        target = self.filled()
        if not isinstance(target, set):
            raise self.misplaced(target)
        expected = len(target) + len(items)
        for item in items:
            target.add(hashable(item, len(target), self.spend))
        if len(target) != expected:
            raise self.forged("puts an element into a set twice")

    def update(self, items: list[object]) -> None:
        target = self.filled()
        if len(items) % 2:
            raise ReadError(f"a key at byte {self.at - 1:,} has no value")
        if isinstance(target, Inert) and _takes(target.cls, _DICTS):
            target = target.pairs
        if not isinstance(target, dict):
            raise self.misplaced(target)
        self.spend(64 * len(items))
        expected = len(target) + len(items) // 2
        for i in range(0, len(items), 2):
            target[hashable(items[i], len(target), self.spend)] = items[i + 1]
        if len(target) != expected:
            raise self.forged("gives one key of a dictionary twice")

    def misplaced(self, target: object) -> ReadError:
        if isinstance(target, Global | Inert):
            return UnsafeModelError(
                f"the file puts elements into {show(target)} (byte {self.at - 1:,}), which runs "
                f"a method of it: {ADVICE}"
            )
        return self.forged(f"puts elements into {show(target)} that is complete")

    def remember(self, index: int) -> None:
        memo = self.memo
        if index in memo:
            raise self.forged(f"stores a second object as number {index:,}")
        # Without the numbers of objects that nobody recalls there are gaps.
        if index != len(memo) and not self.highest < index <= self.instructions:
            self.note(4, "a number of a stored object that is out of order")
        self.highest = index
        memo[index] = self.top()

    def recall(self, index: int) -> None:
        try:
            value = self.memo[index]
        except KeyError:
            raise ReadError(f"byte {self.at - 1:,} recalls what was never stored") from None
        if (isinstance(value, LateArray) and value.content is None) or (
            isinstance(value, DType) and value.state is None
        ):
            raise self.forged("recalls an array, or its type, before it is complete")
        self.stack.append(value)
        self.unfinished[len(self.stack)] = None


def is_own(module: str) -> bool:
    """Tell whether a module is of nobody's library: that its code runs is told of the file."""
    top = module.partition(".")[0]
    return not (top in LIBRARIES or top in PYTHON2 or top in sys.stdlib_module_names)


def _takes(cls: Global, known: frozenset[str]) -> bool:
    """Tell whether pickle may put elements into an instance."""
    return is_own(cls.module) or str(cls) in known or cls.name in known


Step = Callable[[Machine], None]
