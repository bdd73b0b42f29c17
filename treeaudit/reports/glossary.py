"""Words of the field, explained where a page uses them first, and not on hover alone."""

import re

from markupsafe import Markup

from treeaudit.reports.plain_text import plain

__all__ = ["TERMS", "Glossary"]

TERMS: dict[str, tuple[str, str]] = {
    "leaf": ("lea(?:f|ves)", "a group of people whom a tree treats alike"),
    "epsilon": ("epsilon", "the smaller, the less one person can change the model"),
    "differential privacy": (
        "differential(?:ly)? priva(?:cy|te)",
        "noise that hides any one person",
    ),
    "AUC": ("AUC", "how often a member scores above somebody else"),
    "95 % interval": ("95 % intervals?", "19 of 20 such audits hold the true number in theirs"),
    "LiRA": ("LiRA", "compares with models of people like these"),
    "bootstrap": ("bootstrap(?:ped)?", "each tree sees people drawn with replacement"),
    "boosting": ("boost(?:ing|ed trees)", "trees that each correct those before"),
    "k-anonymity": ("k-anonymity", "groups of at least k"),
    "l-diversity": ("l-diversity", "groups of at least l different labels"),
    "t-closeness": ("t-closeness", "how far the labels of a group are from everybody's, 0 to 1"),
    "Ω-estimate": ("Ω-estimate", "an approximation for three or more labels"),
    "public prior": ("public prior", "known shares of each label"),
}
"""Term, what it looks like in a text, and what it means in a few words."""

_SPELLED = {
    term: re.compile(rf"(?<![\w-]){spelled}(?![\w-])") for term, (spelled, _) in TERMS.items()
}
_TAG = re.compile(r"(<[^>]*>)")


class Glossary:
    """What a page has explained so far; called with its texts in their order.

    Examples
    --------
    >>> gloss = Glossary()
    >>> print(gloss("AUC of <a>"))
    <abbr title="how often a member scores above somebody else">AUC</abbr> \
(how often a member scores above somebody else) of &lt;a&gt;
    >>> print(gloss("AUC"))
    AUC
    """

    def __init__(self) -> None:
        self._open = dict(_SPELLED)

    def __call__(self, text: str) -> Markup:
        """Return a text, escaped, with what it uses first explained."""
        whole = text if isinstance(text, Markup) else Markup.escape(plain(text, 800))
        parts = _TAG.split(whole)
        for i in range(0, len(parts), 2):
            parts[i] = self._explained(parts[i])
        return Markup("".join(parts))  # noqa: S704  # escaped above

    def _explained(self, escaped: str) -> str:
        for term, spelled in list(self._open.items()):
            found = spelled.search(escaped)
            if found is None:
                continue
            del self._open[term]
            means = Markup.escape(TERMS[term][1])
            # Nothing is explained within an explanation.
            before, after = escaped[: found.start()], escaped[found.end() :]
            words = f": {means}" if after.startswith(")") else f" ({means})"
            said = f'<abbr title="{means}">{found.group()}</abbr>{words}'
            return self._explained(before) + said + self._explained(after)
        return escaped
