"""Distributions of scipy, as a random search keeps them: what is no text of scipy's own."""

from collections.abc import Iterator
from functools import cache

from treeaudit.readers.leftovers.texts import reads_as_name
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Global, Inert

__all__ = ["is_distribution", "strange_parts"]

_LONGEST, _MOST_PARTS, _MOST_BITS = 60, 100, 64
# States hold these against the one form that scipy writes; see `states`.
_CHECKED = "_parse_arg_template"


def is_distribution(value: Inert) -> bool:
    """Tell whether an object is a distribution that is not frozen, such as `scipy.stats.norm`."""
    return value.cls.module.startswith("scipy.stats.") and value.kind.endswith("_gen")


def strange_parts(value: Inert) -> Iterator[tuple[str, object]]:
    """Yield the parts that the distribution of this name in scipy does not have, by attribute.

    Parameters
    ----------
    value
        A distribution of the file. Generators of random numbers in it are yielded too.
    """
    state = value.state if isinstance(value.state, dict) else {}
    known = _texts(state.get("name"))
    todo: list[tuple[str, object]] = [("", part) for part in value.args]
    todo += [(str(name), part) for name, part in state.items()]
    n = 0
    while todo:
        name, part = todo.pop()
        part, n = arrived(part), n + 1
        if n > _MOST_PARTS or (name not in known and not name.isidentifier() and name):
            yield name[:_LONGEST], part
        elif isinstance(part, str):
            short = len(part) <= _LONGEST and reads_as_name(part)
            if not (short or part in known or name == _CHECKED):
                yield name, part
        elif isinstance(part, dict) and all(isinstance(key, str) for key in part):
            todo += part.items()
        elif isinstance(part, Inert) and part is not value and _is_method(part):
            inner = (*part.args, part.state, *part.items, part.pairs)
            todo += [(name, one) for one in inner if one]
        elif isinstance(part, tuple | list | set) and not part:
            continue
        elif isinstance(part, int):
            if part.bit_length() > _MOST_BITS:
                yield name, part
        elif part is not value and not isinstance(part, float | Global | None):
            yield name, part


def _is_method(part: Inert) -> bool:
    """Tell whether this is a method of a distribution, or one that numpy made for arrays."""
    return part.kind == "vectorize" or (
        part.cls.module.startswith("scipy.stats.") and "." in part.kind
    )


@cache
def _texts(name: object) -> frozenset[str]:
    """Return the texts of the distribution of this name, in the scipy that is installed."""
    # Slow to import, and few files need it.
    from scipy import stats

    own = vars(stats).get(name) if isinstance(name, str) and name in stats.__all__ else None
    own_parts = getattr(own, "__dict__", {})
    parts = [*own_parts.values(), *own_parts.get("_ctor_param", {}).values()]
    return frozenset(part for part in parts if isinstance(part, str))
