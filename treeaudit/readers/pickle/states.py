"""The keys of a state: what the file may set on an object.

pickle looks up ``append``, ``extend``, ``add``, ``__setitem__`` and ``__setstate__`` on
the object itself, numpy ``__array__``, a notebook ``_repr_html_``, and whoever uses the model
``predict``. A key of that name in the state puts the file's own value in the place of the
method, so that it is refused whatever its value is: no genuine pickler writes one.
"""

import re
from collections.abc import Iterable

from treeaudit.errors import ReadError, UnsafeModelError
from treeaudit.readers.limits import show
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.pickle.names import KNOWN, METHODS, is_standard

_COLLECTIONS = frozenset("append extend add insert update pop popitem setdefault".split())
_REFUSED = _COLLECTIONS | METHODS
# Attributes of these names that genuine files hold.
_HELD = {
    "sklearn.utils._metadata_requests.MetadataRequest": METHODS,
    "sklearn.cluster._bisect_k_means._BisectingTree": frozenset({"score"}),
}
_HOOK = re.compile(r"__\w*__|_repr_\w+|_ipython_\w+")
_TEXTS = frozenset({"__doc__", "__module__", "__name__", "__qualname__", "__version__"})
# What these return is there before the file is loaded: a whole module, a logger.
_SHARED = frozenset({"subimport", "getLogger"})
_MAPPINGS = frozenset(
    "OrderedDict defaultdict Counter ChainMap UserDict Bunch DeprecationDict dict".split()
)
# Classes written in C, and others with a state of their own; slots are a pair of dictionaries.
_OWN_STATE = re.compile(
    r"__pyx_unpickle_\w+|newObj|__(bit_generator|[rR]andom[sS]tate)_ctor|_mareconstruct|c?KDTree|partial"
    r"|Random|(Single)?BlockManager|BinaryTree|BallTree|\w+Distance(32|64)?"
)
_TEMPLATE = "_parse_arg_template"
# What scipy runs (exec) when it restores a distribution: names of parameters, no other text.
_RUN_BY_SCIPY = re.compile(
    r"\ndef _parse_args\(self, (?P<shapes>(?:[a-zA-Z_]\w*, )*) loc=0(?P<scale>, scale=1)?\):\n"
    r"    return \((?P=shapes)\), loc, (?P<out>1|scale)\n\n"
    r"def _parse_args_rvs\(self, (?P=shapes) loc=0(?:, scale=1)?, size=None\):\n"
    r"    return self\._argcheck_rvs\((?P=shapes) loc, (?P=out), size=size\)\n\n"
    r"def _parse_args_stats\(self, (?P=shapes) loc=0(?:, scale=1)?, moments='mv'\):\n"
    r"    return \((?P=shapes)\), loc, (?P=out), moments\n",
    re.ASCII,
)


def check_state(cls: Global, state: object, at: int) -> None:
    """Refuse a state that would put the file's own value in the place of a method."""
    if cls.name in _SHARED:
        raise UnsafeModelError(
            f"the file changes what {show(cls)} returns (byte {at:,}), which other code shares: "
            "do not load it with pickle, joblib or skops"
        )
    if not _is_written(cls, state):
        raise _computed(cls, at)
    for part in (state, *state) if isinstance(state, tuple | list) else (state,):
        match part:
            case dict():
                if cls.module.partition(".")[0] in KNOWN:
                    _check_names(cls, part, at)
                _check_keys(cls, part.items(), at)
            case Inert(pairs=pairs, args=args):
                if args and part.kind in _MAPPINGS:
                    raise _computed(cls, at)
                _check_keys(cls, pairs.items(), at)
            case (str() as key, value) | [str() as key, value]:
                # What a dictionary is updated with may be a list of pairs.
                _check_keys(cls, ((key, value),), at)


def _check_names(cls: Global, state: dict[object, object], at: int) -> None:
    """Refuse what Python keeps and nobody sees: an attribute is asked for by a text."""
    if not all(isinstance(key, str) for key in state):
        place = f" (byte {at:,})" if at else ""
        raise ReadError(
            f"the file gives a {show(cls)} an attribute whose name is no text{place}, "
            "which no library does: it is damaged or forged"
        )


def _is_written(cls: Global, state: object) -> bool:
    """Tell whether a pickler writes such a state for the class.

    Other than a dictionary, whatever yields pairs can fill one: a list, a set, an array, a table.
    Their keys cannot be told here.
    """
    if isinstance(state, dict | None):
        return True
    if isinstance(state, Inert) and is_standard(state.cls.module):
        return False
    if cls.module.partition(".")[0] not in KNOWN and not is_standard(cls.module):
        return True
    if isinstance(state, Inert):
        # How pandas before 1.0 wrote a table.
        return cls.module.startswith("pandas.") and "Manager" in state.kind
    if isinstance(state, list):
        # Our own frozen classes are written as the list of their fields.
        return cls.module.startswith("treeaudit.model.")
    if not isinstance(state, tuple):
        return False
    slots = len(state) == 2 and all(isinstance(part, dict | None) for part in state)
    return slots or _OWN_STATE.fullmatch(cls.name) is not None


def _computed(cls: Global, at: int) -> UnsafeModelError:
    return UnsafeModelError(
        f"the file gives a {show(cls)} a computed state (byte {at:,}), which no pickler writes "
        "and which can put code in the place of a method: do not load it with pickle or joblib"
    )


def check_items(target: Inert, keys: object, at: int) -> None:
    """Refuse items that some classes look methods up in, such as the `Bunch` of scikit-learn."""
    if isinstance(keys, Iterable) and not is_standard(target.cls.module):
        _check_keys(target.cls, ((key, None) for key in keys), at)


def _check_keys(cls: Global, items: Iterable[tuple[object, object]], at: int) -> None:
    # A class of another library is named anyway: there only what loading itself looks up.
    known = cls.module.partition(".")[0] in KNOWN
    for key, value in items:
        if isinstance(key, str):
            if key not in _REFUSED and not key.startswith("_"):
                continue
            if not _shadows(cls, key, value, known=known):
                continue
            name = show(str(key)).strip("'")
        elif isinstance(key, Inert | Global):
            name = "what it computes"
        else:
            continue
        place = f" (byte {at:,})" if at else ""
        raise UnsafeModelError(
            f"the file sets {name} of a {show(cls)}{place}, which would take the place of "
            "a method when it is loaded or used: do not load it with pickle, joblib or skops"
        )


def _shadows(cls: Global, key: str, value: object, *, known: bool) -> bool:
    if key == _TEMPLATE:
        return not isinstance(value, str) or _RUN_BY_SCIPY.fullmatch(value) is None
    if key in _COLLECTIONS:
        return True
    if known and key in METHODS:
        return key not in _HELD.get(str(cls), ())
    if not known and key.startswith(f"__{cls.module.partition('.')[0]}_"):
        return False  # of that library, which nobody else looks up
    return bool(_HOOK.fullmatch(key)) and not (
        key in _TEXTS and isinstance(value, str | None) and not is_standard(cls.module)
    )
