"""A page inside a notebook: framed, so that neither can change the other."""

from markupsafe import Markup

__all__ = ["framed"]


def framed(page: str, height: int = 760) -> str:
    """Return a whole HTML page, escaped, as a frame for a notebook; the height is in pixels.

    Examples
    --------
    >>> framed("<b>1</b>")[-32:]
    '"&lt;b&gt;1&lt;/b&gt;"></iframe>'
    """
    frame = Markup(
        '<iframe title="treeaudit" sandbox="allow-scripts" '
        'style="width:100%;height:{}px;border:0" srcdoc="{}"></iframe>'
    ).format(height, page)
    return str(frame)
