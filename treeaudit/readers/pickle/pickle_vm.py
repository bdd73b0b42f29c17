"""Read a pickle as data. Nothing here can run code from the file.

The argument, for a reviewer:

1. The interpreter (`machine`) knows the pickle opcodes (`opcodes`), and none of them calls
   anything: GLOBAL makes a `Global` (two strings), REDUCE, NEWOBJ, INST and OBJ
   make an `Inert` (a record of name and arguments), BUILD stores a state in it.
2. The few constructors that are carried out (`names.DATA_CALLS`) are written
   out in `construct`: numpy arrays from checked shapes and types, and plain
   containers. They reach no other code.
   `getattr` and `type` are read as names too (`construct`): ``getattr(Class, "f")``
   becomes the text ``Class.f``, nothing is fetched, and calling it is a call
   of that name.
3. There is no `import` of, and no `getattr` on, a name of the file, and no `eval`,
   `exec`, `compile` or `pickle`, in this module or in those it imports, and no file is
   opened. joblib 0.9 kept arrays in files beside the model: such a file is refused.
4. Every name goes through one gate (`names`, its lists in `listed_names.txt`). What
   the gate refuses is reported as unsafe even though it could not have run here;
   so is a constructor that is handed what it could call (`names.may_hand`).
5. What a loader makes is what is read: parts are put together in the order in which
   picklers write them (`filling`), numbers that two loaders read differently are no numbers
   (`opcodes`), and the bytes of an array are no instructions (`as_pickle`). Any other
   file is refused. Other instructions for the same thing are as good as the usual ones.
6. Costs are bounded: instructions, container bytes, text lengths, integers,
   key depth, array sizes, pickles within pickles (`inert.Limits`).

Arrays of joblib stand in the middle of the opcode stream; see `filling`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from mmap import mmap

from treeaudit.arrays import Array
from treeaudit.errors import ReadError, UnsafeModelError
from treeaudit.readers.limits import LIMITS, Limits
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Global
from treeaudit.readers.pickle.machine import Machine
from treeaudit.readers.pickle.opcodes import STEPS


@dataclass(frozen=True, slots=True, eq=False)
class Unpickled:
    """What a pickle held."""

    root: object  # The object, as inert data
    end: int  # Offset behind the last instruction
    mentioned: Sequence[Global]  # Every name in the file, in order
    # All arrays of records, each with the place where it was complete; see `model`
    tables: Sequence[tuple[int, Array]] = ()


def read_pickle(
    data: bytes | mmap,
    *,
    offset: int = 0,
    limits: Limits = LIMITS,
) -> Unpickled:
    """Read one pickle as inert data."""
    vm = Machine(data, offset, limits, limits.nested, STEPS)
    try:
        root = vm.run()
    except UnsafeModelError:
        raise
    except ReadError:
        vm.refuse_mentions()
        raise
    vm.refuse_mentions()
    if vm.doubts:
        raise vm.doubts[0]
    vm.refuse_files_within()
    return Unpickled(arrived(root), vm.at, vm.mentioned, tuple(vm.tables))
