"""The picture of a report, in the convention of scikit-learn's displays."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from treeaudit.errors import TreeauditError
from treeaudit.findings.report import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["RiskDisplay"]

_STARTS = (1, 2, 5, 10, 50)
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
            If the model does not tell how many people are in its leaves.
        """
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
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise TreeauditError(
                "a picture needs matplotlib: pip install 'treeaudit[plot]'"
            ) from None
        if ax is None:
            _, ax = plt.subplots()
        names = ["alone", "2–4", "5–9", "10–49", "50+"]
        colours = [_RED if start < self.k else _CALM for start in _STARTS]
        ax.bar(names, self.people, **{"color": colours, **kwargs})  # type: ignore[arg-type]
        ax.set(xlabel="people in the same group", ylabel="people", title=self.name)
        self.ax_, self.figure_ = ax, ax.figure  # type: ignore[assignment]
        return self
