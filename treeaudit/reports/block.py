"""What a card shows beside its words."""

from dataclasses import dataclass

from markupsafe import Markup

from treeaudit.reports.whiskers import Plot

__all__ = ["Blocks", "Chart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A drawing and what it is called."""

    title: str
    svg: Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """Further parts of a card.

    Attributes
    ----------
    facts
        Further measures, name and text.
    plots
        Shares on a common scale.
    charts
        Drawings.
    """

    facts: tuple[tuple[str, str], ...] = ()
    plots: tuple[Plot, ...] = ()
    charts: tuple[Chart, ...] = ()
