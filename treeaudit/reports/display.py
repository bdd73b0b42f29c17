"""The picture of a report, in the convention of scikit-learn's displays."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from treeaudit.comparison.compare import ComparedModel, Comparison
from treeaudit.errors import TreeauditError
from treeaudit.findings.report import Report
from treeaudit.reports.comparison_cells import in_letters
from treeaudit.stats import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_STARTS = (1, 2, 5, 10, 50)
_NEAR = 0.04
_RED, _CALM = "#a5142f", "#7f9fa8"


class RiskDisplay:
    """How many people stand in groups of which size: the smaller, the easier to single out.

    Parameters
    ----------
    sizes
        People per leaf, of all trees.
    k
        The smallest group that the policy accepts.
    name
        What the model is called.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure that `plot` drew on.

    Examples
    --------
    >>> RiskDisplay(sizes=[1, 1, 7], k=5, name="tree").people
    (2, 0, 7, 0, 0)
    """

    ax_: "Axes"
    figure_: "Figure"

    def __init__(self, *, sizes: Any, k: int, name: str) -> None:  # noqa: ANN401  # array-like
        self.sizes, self.k, self.name = np.asarray(sizes, dtype=np.int64), k, name

    @property
    def people(self) -> tuple[int, ...]:
        """People alone, and in groups of 2 to 4, 5 to 9, 10 to 49, and 50 or more."""
        level = np.searchsorted(_STARTS, self.sizes, side="right") - 1
        return tuple(
            np.bincount(level, weights=self.sizes, minlength=len(_STARTS)).astype(int).tolist()
        )

    @classmethod
    def from_report(cls, report: Report, *, ax: "Axes | None" = None, **kwargs: object) -> Self:
        """Draw a report; further arguments go to the bars of matplotlib.

        Raises
        ------
        TreeauditError
            If the model does not tell how many people are in its leaves, or this is no report.
        """
        if not isinstance(report, Report):
            raise TreeauditError(
                f"a {type(report).__name__} is no report: treeaudit.scan gives one"
            )
        groups = report.table.groups
        if not groups.tells_people:
            raise TreeauditError("the model does not tell how many people are in its leaves")
        name = report.request.model_name or report.forest.source.estimator
        return cls(sizes=groups.size, k=report.policy.k, name=name).plot(ax=ax, **kwargs)

    def plot(self, *, ax: "Axes | None" = None, **kwargs: object) -> Self:
        """Draw the bars, on axes of their own unless told.

        Raises
        ------
        TreeauditError
            If matplotlib is not installed.
        """
        ax = _axes(ax)
        names = ["alone", "2–4", "5–9", "10–49", "50+"]
        colours = [_RED if start < self.k else _CALM for start in _STARTS]
        style: dict[str, Any] = {"color": colours, **kwargs}
        ax.bar(names, self.people, **style)
        ax.set(xlabel="people in the same group", ylabel="people", title=self.name)
        self.ax_, self.figure_ = ax, ax.figure  # type: ignore[assignment]
        return self


class TradeDisplay:
    """What models are good for against what attacks measured of their people.

    Parameters
    ----------
    models
        Those of a comparison that tell both.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure that `plot` drew on.
    """

    ax_: "Axes"
    figure_: "Figure"

    def __init__(self, *, models: Sequence[ComparedModel]) -> None:
        self.models = tuple(models)

    @classmethod
    def from_comparison(
        cls, comparison: Comparison, *, ax: "Axes | None" = None, **kwargs: object
    ) -> Self:
        """Draw a comparison; further arguments go to the error bars of matplotlib.

        Raises
        ------
        TreeauditError
            If no model tells both, which needs training and unseen people.
        """
        told = [m for m in comparison.models if m.useful is not None and m.leakage.measured]
        if not told:
            raise TreeauditError("nothing was measured: compare with train= and test=")
        return cls(models=told).plot(ax=ax, **kwargs)

    def plot(self, *, ax: "Axes | None" = None, **kwargs: object) -> Self:
        """Draw a point per model, filled where it passes, an epsilon at its name.

        Raises
        ------
        TreeauditError
            If matplotlib is not installed.
        """
        ax, placed = _axes(ax), list[tuple[float, float]]()
        middle = sum(m.useful.value for m in self.models if m.useful) / len(self.models)
        for model in self.models:
            useful, leak = model.useful, next(iter(model.leakage.measured.values()))
            if useful is None:
                continue
            colour = _CALM if model.verdict == "pass" else _RED
            style: dict[str, Any] = {"fmt": "o", "color": colour, "capsize": 2, **kwargs}
            ax.errorbar(
                [useful.value], [leak.value], _arms(leak), _arms(useful),
                mfc=colour if model.verdict == "pass" else "white", **style,
            )  # fmt: skip
            epsilon = f", {told}" if (told := in_letters(model)) else ""
            # Names of models that stand together are set above each other.
            x, y = useful.value, leak.value
            crowd = sum(abs(x - a) < _NEAR and abs(y - b) < _NEAR for a, b in placed)
            placed.append((x, y))
            left = x <= middle
            ax.annotate(
                f"{model.name}{epsilon}", (x, y), xytext=(5 if left else -5, 5 + 10 * crowd),
                textcoords="offset points", fontsize=8, ha="left" if left else "right",
            )  # fmt: skip
        across = "R²" if self.models[0].utility is None else "accuracy"
        ax.set(xlabel=f"{across} on unseen people", ylabel="found beyond the guess")
        self.ax_, self.figure_ = ax, ax.figure  # type: ignore[assignment]
        return self


def _arms(one: Estimate) -> list[list[float]]:
    """Return how far an interval reaches down and up, as matplotlib takes it."""
    return [[one.value - one.low], [one.high - one.value]]


def _axes(ax: "Axes | None") -> "Axes":
    """Return the axes to draw on, new ones unless told."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise TreeauditError("a picture needs matplotlib: pip install 'treeaudit[plot]'") from None
    return plt.subplots()[1] if ax is None else ax
