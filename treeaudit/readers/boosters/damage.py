"""Say in a few words why something could not be read."""

from treeaudit.errors import TreeauditError
from treeaudit.readers.pickles.inert import clean, show

__all__ = ["reason"]


def reason(error: Exception) -> str:
    r"""Return what an error says; of other people's errors not too much.

    Examples
    --------
    >>> reason(ValueError("no number:\n" + 1000 * "1"))[:20]
    "'no number:\\n1111111"
    """
    return clean(error) if isinstance(error, TreeauditError) else show(str(error), 100)
