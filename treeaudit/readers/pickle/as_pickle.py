"""What plain pickle makes of the bytes of an array that joblib put between its instructions.

joblib knows that they are numbers. pickle.load does not, and runs them: nearly
always it stops at once, at a byte that is no instruction or finds nothing to
work on. Here the instructions are followed by what kinds of things they leave.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from mmap import mmap

from treeaudit.readers.pickle.inert import MARK, Global, Inert
from treeaudit.readers.pickle.names import KNOWN, is_standard, judge, may_call, may_create

# An array that comes so far is none.
_MOST = 1_000
_LONGEST = 1 << 20
_NUMBER = 0
_PUSHED = {**dict.fromkeys(b"N\x88\x89", _NUMBER), ord("("): MARK, ord(")"): (), ord("]"): []}
_PUSHED |= {ord("}"): {}, 0x8F: set()}
# Bytes of a value, and bytes of the length in front of one.
_FIXED = {ord("K"): 1, ord("M"): 2, ord("J"): 4, ord("G"): 8, 0x80: 1, 0x95: 8}
_SIZED = {**dict.fromkeys(b"\x8a\x8cCU", 1), **dict.fromkeys(b"\x8bBTX", 4)}
_SIZED |= dict.fromkeys(b"\x8d\x8e\x96", 8)
_TEXTS = b"TUX\x8c\x8dSV"
_NAMES = re.compile(rb"([^\n]{1,512})\n([^\n]{1,512})\n")
# Modules that act when they are imported: programs, and the two jokes of Python.
_LOUD = ("__main__", "autotest", "antigravity", "this")
# Calls with which a file goes on behind an array: of anything, they make arrays or their types.
_HARMLESS = frozenset(
    "numpy.dtype numpy.core.multiarray._reconstruct numpy.core.multiarray.scalar "
    "numpy.ma.core._mareconstruct numpy.random.__RandomState_ctor _codecs.encode".split()
)
_DTYPE = re.compile(rb"\x8c\x05dtype\x94?\x93")
_WIDTH = {**dict.fromkeys(b"hq", 1), **dict.fromkeys(b"jr", 4)}
# Stands for a dictionary with something in it.
_FULL = {"": _NUMBER}
_TUPLES = {0x85: 1, 0x86: 2, 0x87: 3}
_COLLECTED = {ord("t"): (), ord("l"): [], ord("d"): _FULL, 0x91: _NUMBER}
# How many things a method or a state takes from the stack, None for all above a mark.
_FILLED = {ord("a"): 1, ord("s"): 2, ord("b"): 1, ord("e"): None, ord("u"): None, 0x90: None}
# What has no method for it; an array takes items and a state.
_PLAIN = (str, int, float, tuple, type(None))
_REFUSES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys("ae", (*_PLAIN, dict, set)),
    **dict.fromkeys("su", (*_PLAIN, set)),
    "\x90": (*_PLAIN, dict, list),
    "b": (),
}


def would_run(
    data: bytes | mmap,
    at: int,
    stack: Sequence[object],
    memo: Mapping[int, object],
    size: int | None = None,
) -> bool:
    r"""Tell whether pickle, at this place, would come to a name, a call or another object."""
    mine, own, wrapper = list(stack), dict[int, object](), stack[-1]
    end, stored = len(data) if size is None else at + size, False
    for _ in range(_MOST):
        opcode = data[at] if at < len(data) else 0
        # What it fetches behind the array is the file's own, unless the array stored another.
        stored |= at < end and opcode in b"pqr\x94"
        try:
            match opcode:
                case 0x63 | 0x69:
                    found = _NAMES.match(data, at + 1)
                    name = _listed(found) if at >= end and opcode == 0x63 else None
                    if found is None or name is None:
                        return _is_name(found)
                    mine.append(name)
                    at = found.end()
                    continue
                case 0x2E:
                    return _has_methods(mine[-1], wrapper)
                case 0x93:
                    return isinstance(mine[-1], str) and isinstance(mine[-2], str)
                case 0x52 | 0x81 | 0x92:
                    args = -2 if opcode == 0x92 else -1
                    target = mine[args - 1]
                    if stored or at < end or not _makes_data(opcode, target):
                        return isinstance(mine[args], tuple) and _acts(target)
                    mine[-2:] = [Inert(target)]  # type: ignore[arg-type]
                    at += 1
                    continue
                case 0x6F:
                    return _acts(_above_mark(mine)[0])
            at = _step(data, at + 1, opcode, mine, own, memo, wrapper, at >= end)
        except (IndexError, KeyError, ValueError):
            return False
        except StopIteration:
            return True
    return True


@dataclass(slots=True)
class Outer:
    """What plain pickle has stored while it reads an array of objects of joblib.

    joblib begins a pickle of its own there, with no objects stored. pickle.load
    goes on counting, and may fetch other objects by the same numbers.
    """

    memo: dict[int, object]  # What is stored so far, by number
    named: Sequence[Global] = ()  # Names in the file, which its loader imports in any case
    stopped: bool = False  # Whether pickle.load has ended in an error

    def store(self, index: int | None, value: object) -> None:
        """Keep an object under a number, or under the next one."""
        self.memo[len(self.memo) if index is None else index] = value

    def misled(self, data: bytes | mmap, at: int, index: int, value: object) -> bool:
        """Tell whether pickle would fetch another object than joblib, and go on with it."""
        if self.stopped:
            return False
        if index not in self.memo:
            self.stopped = True
            return False
        other = self.memo[index]
        text = value if isinstance(value, str) else None
        if other is value or (isinstance(other, str) and other == text):
            return False
        # What every genuine array of objects has: numpy.dtype, where numpy is fetched.
        if text == "numpy" and _DTYPE.match(data, at):
            if not isinstance(other, str):
                self.stopped = True
                return False
            # Its import fails, or there is no such thing in it, or it is the one of numpy.
            self.stopped = other.partition(".")[0] not in KNOWN
            return _acts_when_imported(other) and all(one.module != other for one in self.named)
        return True


def _acts_when_imported(module: str) -> bool:
    *packages, name = module.split(".")
    return name in _LOUD or (bool(packages) and is_standard(module))


def _listed(found: re.Match[bytes] | None) -> Global | None:
    """Return a name that is on the list: to import it does nothing else."""
    if found is None or not _is_name(found):
        return None
    module, name = (part.decode() for part in found.groups())
    return Global(module, name, 0, True) if judge(module, name) == "listed" else None


def _is_name(found: re.Match[bytes] | None) -> bool:
    """Tell whether it can be imported; what is no text ends in an error here and in pickle."""
    parts = b".".join(found.groups()).decode().split(".") if found is not None else [""]
    return all(part.isidentifier() for part in parts)


def _acts(value: object) -> bool:
    """Tell whether it can be called, as an object of a known library cannot."""
    if isinstance(value, Inert):
        library = value.cls.module.partition(".")[0]
        return library not in KNOWN or library == "cloudpickle" or "." in value.cls.name
    return isinstance(value, Global)


def _has_methods(value: object, wrapper: object) -> bool:
    """Tell whether the file gave it methods: by attributes, or by a class of its own."""
    if not isinstance(value, Inert) or value is wrapper:
        return False
    return value.state is not None or value.cls.module.partition(".")[0] not in KNOWN


def _makes_data(opcode: int, target: object) -> bool:
    """Tell whether a call makes plain data, whatever it is handed: it stands behind the array."""
    if not isinstance(target, Global):
        return False
    known = target.module.partition(".")[0] in KNOWN and target.name[:1].isupper()
    return str(target) in _HARMLESS or (
        known and (may_call if opcode == 0x52 else may_create)(target.module, target.name)
    )


def _runs(target: object, opcode: int, wrapper: object, behind: bool) -> bool:
    """Tell whether a method that fills an object may be the file's own, or run a text.

    Of an object of a known library it is the library's: no file that is read sets one on it
    (`states`). A state may be a text, which scipy runs.
    """
    if not isinstance(target, Inert) or target is wrapper:
        return False
    library = target.cls.module.partition(".")[0]
    if opcode == ord("b") and (library == "scipy" or not behind):
        return True
    return library not in KNOWN or library == "cloudpickle"


def _above_mark(mine: list[object]) -> list[object]:
    place = next(i for i in range(len(mine) - 1, -1, -1) if mine[i] is MARK or i == 0)
    if mine[place] is not MARK:
        raise IndexError
    above = mine[place + 1 :]
    del mine[place:]
    return above


def _line_end(data: bytes | mmap, at: int) -> int:
    end = data.find(b"\n", at, at + _LONGEST)
    if end < 0:
        raise StopIteration if at + _LONGEST < len(data) else ValueError
    return end


def _step(
    data: bytes | mmap,
    at: int,
    opcode: int,
    mine: list[object],
    own: dict[int, object],
    memo: Mapping[int, object],
    wrapper: object,
    behind: bool,
) -> int:
    """Do what one instruction does to the kinds, and return where the next one is."""
    if opcode in _PUSHED:
        mine.append(_PUSHED[opcode])
    elif opcode in _FIXED:
        at += _FIXED[opcode]
        mine += [_NUMBER] * (opcode < 0x80)
    elif opcode in _SIZED:
        width = _SIZED[opcode]
        at += width + int.from_bytes(data[at : at + width], "little")
        mine.append("" if opcode in _TEXTS else _NUMBER)
    elif opcode in b"ILFSV":
        if opcode == ord("S") and data[at] not in b"'\"":
            raise ValueError
        at = _line_end(data, at) + 1
        mine.append("" if opcode in _TEXTS else _NUMBER)
    elif opcode in b"pqrghj\x94":
        number = len(memo) + sum(one not in memo for one in own)
        if opcode in b"pg":
            end = _line_end(data, at)
            # As C does: whatever `int` takes, up to a zero byte.
            number, at = int(data[at:end].partition(b"\0")[0]), end + 1
            if number < 0:
                raise ValueError
        elif opcode != 0x94:
            number = int.from_bytes(data[at : at + _WIDTH[opcode]], "little")
            at += _WIDTH[opcode]
        if opcode in b"pqr\x94":
            own[number] = mine[-1]
        else:
            mine.append(own[number] if number in own else memo[number])
    elif opcode in b"01":
        _above_mark(mine) if opcode == ord("1") else mine.pop()
    elif opcode == 0x98:
        pass
    elif opcode == ord("2"):
        mine.append(mine[-1])
    elif opcode in _TUPLES:
        if any(mine.pop() is MARK for _ in range(_TUPLES[opcode])):
            raise ValueError
        mine.append(())
    elif opcode in _COLLECTED:
        _above_mark(mine)
        mine.append(_COLLECTED[opcode])
    elif opcode in _FILLED:
        n = _FILLED[opcode]
        above = _above_mark(mine) if n is None else [mine.pop() for _ in range(n)]
        target = mine[-1]
        if isinstance(target, Global) or _runs(target, opcode, wrapper, behind):
            raise StopIteration
        state = above[0] if above and opcode == ord("b") else None
        if target is wrapper and isinstance(state, dict) and state:
            raise StopIteration
        if isinstance(target, _REFUSES[chr(opcode)]) or (target is wrapper and state is None):
            raise ValueError
        if isinstance(target, dict):
            mine[-1] = _FULL
    else:
        raise ValueError
    return at
