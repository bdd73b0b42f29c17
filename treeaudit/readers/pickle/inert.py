"""What a pickle becomes here: inert data, never an instance of its class."""

from dataclasses import dataclass, field

_MARKS = {
    "estimators_features_": "Bagging",
    "estimator_weights_": "AdaBoost",
    "init_": "GradientBoosting",
    "bootstrap": "RandomForest",
}
"""Attributes of ensembles, by which a class of another library is told to be a kind of one."""

MARK = object()
"""Stands on the stack below the parts of what is put together."""


@dataclass(frozen=True, slots=True)
class Global:
    """A name in the file. Whatever it names is never looked up."""

    module: str
    name: str
    offset: int
    allowed: bool

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(slots=True, eq=False)
class Inert:
    """What would have been an object: its class by name, and its parts."""

    cls: Global  # The class or function that the file names
    args: tuple[object, ...] = ()  # Arguments of its construction
    state: object = None  # What the file would have put into it: usually the attributes
    base: str = ""  # The class of scikit-learn that a class of another library is a kind of
    # Elements of list-like and dict-like objects
    items: list[object] = field(default_factory=list)
    pairs: dict[object, object] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The last part of the class name, or the class of scikit-learn that it is a kind of."""
        return self.base or self.cls.name

    @property
    def attributes(self) -> dict[str, object]:
        """A copy of the stored attributes; empty where the state is no plain mapping."""
        parts = self._parts()
        return {name: v for part in parts for name, v in part.items() if isinstance(name, str)}

    def get(self, name: str) -> object:
        """Return one attribute, or None, without copying the others."""
        state = self.state if isinstance(self.state, dict) else self.attributes
        return state.get(name)

    def fill(self, state: object) -> None:
        """Put in the state, which tells of an ensemble of another library what it is a kind of."""
        self.state = state
        if isinstance(state, dict) and state.get("estimators_") is not None:
            marks = (base for mark, base in _MARKS.items() if mark in state)
            answer = "Classifier" if "classes_" in state else "Regressor"
            self.base = f"{base}{answer}" if (base := next(marks, "")) else ""

    def _parts(self) -> list[dict[object, object]]:
        state = self.state
        parts = state if isinstance(state, tuple) and len(state) == 2 else (state,)
        return [part for part in parts if isinstance(part, dict)]


class Text(str):
    """An 8-bit string of Python 2 whose encoding the file does not tell."""

    __slots__ = ()
