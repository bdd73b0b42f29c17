"""What a trainer says of itself in a line of Table I.

References
----------
Fletcher & Islam (2019), Decision tree classification with differential privacy: a survey, table I.
"""

from dataclasses import dataclass

__all__ = ["Listed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A line of Table I. In all of it β is the epsilon of the fit.

    Attributes
    ----------
    paper
        Who published it, and when.
    query
        What a question may cost.
    tree
        ``greedy`` or ``random``.
    depth
        Levels of questions unless told.
    trees
        How many unless told.
    numbers
        What becomes of columns of numbers.
    published
        Whether it keeps its promise as printed.
    sound
        What the variant with a proof promises.
    """

    paper: str
    query: str
    tree: str
    depth: str
    trees: str
    numbers: str
    published: str
    sound: str = "β"
