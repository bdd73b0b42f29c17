"""Conditions in words: ``age ≤ 15``, ``occupation = Sales``, ``> 2.5, ≤ 4``."""

import math
import re
from collections.abc import Sequence

import numpy as np

from treeaudit.arrays import Float
from treeaudit.model.rules import Rules
from treeaudit.model.schema import Feature, Label, Schema
from treeaudit.stats import Estimate

ANY = "*"
_MOST_DIGITS = 19
_ZERO = 1.1e-35
"""What is nearer than this is a zero to LightGBM."""
_WHOLE, _MOST_WHOLE = 1e6, 1e15
"""Numbers of more digits than 32 bits carry, and of more than 64 bits do."""
_OURS = re.compile(r'\sor\s|^(not |one of \d|"|\s|#\d+$)|^(missing|nothing|\*|)$|\s$')


def label_text(label: Label) -> str:
    """Return a class label as text."""
    if isinstance(label, float) and label.is_integer() and abs(label) < 1e15:
        return str(int(label))
    return str(label)


def in_percent(share: float, places: int = 1, *beside: float) -> str:
    """Return a share in percent that says nothing that is not so."""
    limits = (0.0, 1.0, *beside)
    for digits in range(places, _MOST_DIGITS) if math.isfinite(share) else ():
        text = f"{share:.{digits}%}"
        if _as_is(float(f"{text[:-1]}e-2"), share, *limits):
            return text
    # Nearer to nothing than digits after the point tell, or no number.
    return f"{100 * share:.3g}%"


def estimated(found: Estimate, places: int = 1) -> str:
    """Return an estimated share in percent, with its 95 % interval."""
    value, low, high = (in_percent(x, places) for x in (found.value, found.low, found.high))
    return f"{value} ({low}–{high})"


def in_digits(value: float, digits: int = 4, *beside: float) -> str:
    """Return a number with so many digits, or more where it stands beside one that it is not."""
    texts = (f"{value:.{n}g}" for n in range(digits, _MOST_DIGITS))
    return next((text for text in texts if _as_is(float(text), value, *beside)), f"{value}")


def _as_is(said: float, value: float, *limits: float) -> bool:
    """Tell whether a rounded number is on the same side of some limits as it is itself."""
    return all(np.sign(said - limit) == np.sign(value - limit) for limit in limits)


def loss_in_words(epsilon: float, delta: float) -> str:
    """Return what bounds a loss of privacy: an epsilon, and the chance that it is more."""
    return f"epsilon {epsilon:g}" + (f" with delta {delta:g}" if delta else "")


def number_of(n: int, one: str, many: str) -> str:
    """Return a number of things with its noun."""
    return f"{n:,} {one if n == 1 else many}"


def an(kind: str) -> str:
    """Return the name of a kind of model with its article."""
    return f"{'an' if kind[:1] in 'AEIOaeio' or kind.startswith('XGB') else 'a'} {kind}"


def number(value: float, separator: str = "") -> str:
    """Return a threshold with as many digits as 32-bit data can carry."""
    if abs(value) < _ZERO:
        return "0"
    if value == int(value) if math.isfinite(value) and abs(value) < 1e9 else False:
        return f"{int(value):{separator}}"
    text = f"{value:.7g}"
    if _WHOLE <= abs(value) < _MOST_WHOLE and float(text) != value:
        # Amounts and times are whole numbers, however large.
        text = f"{value:.0f}"
    if "e" in text or not separator or not math.isfinite(value):
        return text
    whole, dot, rest = text.partition(".")
    return f"{int(whole):{separator}}{dot}{rest}" if whole not in ("-0", "0") else text


def _bound(value: float, separator: str) -> tuple[str, bool]:
    """Return the text of a bound, and whether whoever has the number that it names is above it.

    What ``x < 170`` is held as, or what a scaler makes of it, lies next to 170 and below; rounded
    to 170 it would tell of somebody with 170 what is not so.
    """
    said, above = float(number(value)), math.nextafter(value, math.inf)
    # Bounds of models that round what they compare to 32 bits, which those of others rarely are.
    if any(_single(one) == one for one in (value, above)):
        said = _single(said)
    return number(value, separator), said > value


def _single(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def cell(low: float, high: float, separator: str = "") -> str:
    """Return the condition ``low < x <= high`` without the name of its feature."""
    parts = []
    if low == math.inf:
        return "missing"
    if low > -math.inf:
        text, below = _bound(low, separator)
        parts.append(f"{'≥' if below else '>'} {text}")
    if high < math.inf:
        text, below = _bound(high, separator)
        parts.append(f"{'<' if below else '≤'} {text}")
    return ", ".join(parts) or ("not missing" if high == math.inf else ANY)


def _plain(category: str) -> str:
    """Return a category, in quotes where it could be taken for words of ours or for several."""
    import json  # hardly any needs quotes

    return json.dumps(category, ensure_ascii=False) if _OURS.search(category) else category


def _names(feature: Feature, codes: Sequence[int]) -> list[str]:
    """Return the names of categories, those that an encoder took as one together."""
    known = feature.categories or ()
    rare = set(range(len(known) - feature.rare, len(known)))
    together = len(rare) > 1 and rare <= set(codes)
    alone = [code for code in codes if not together or code not in rare]
    names = [_plain(known[code]) if 0 <= code < len(known) else f"#{code}" for code in alone]
    return [*names, f"rare values of {feature.name}"] if together else names


def _categories(feature: Feature, codes: Sequence[int], most: int) -> str:
    known = feature.categories or ()
    names = _names(feature, codes)
    if len(names) > most:
        others = _names(feature, sorted(set(range(len(known))) - set(codes)))
        if len(others) <= most and known:
            return f"not {' or '.join(others)}" if others else ANY
        return f"one of {len(names)}: {', '.join(names[:most])}, …"
    return " or ".join(names) if names else "nothing"


def cells(rules: Rules, schema: Schema, separator: str = "", most: int = 20) -> list[str]:
    """Return every condition as text, without the names of the features."""
    texts = _intervals(rules.low, rules.high, separator)
    named = np.array([f.categories is not None for f in schema.features], dtype=np.bool_)
    if rules.categories is None or not named.any():
        return texts
    known: dict[tuple[int, ...], str] = {}
    for i in np.flatnonzero(named[rules.feature]).tolist():
        feature, codes = int(rules.feature[i]), rules.categories.of(i)
        key = feature, *codes
        if key not in known:
            known[key] = _categories(schema.features[feature], codes, most)
        # Readers give a set of no category a code beyond them, as an empty set says nothing.
        alone = rules.missing[i] and all(
            c >= len(schema.features[feature].categories or ()) for c in codes
        )
        texts[i] = "missing" if alone else known[key]
    return texts


def _intervals(low: Float, high: Float, separator: str) -> list[str]:
    """Return `cell` of every pair: each bound is put into words once."""
    inf = math.inf
    begins, begin = np.unique(low, return_inverse=True)
    ends, end = np.unique(high, return_inverse=True)
    lows = ["" if one == -inf else cell(one, inf, separator) for one in begins.tolist()]
    highs = ["" if one == inf else cell(-inf, one, separator) for one in ends.tolist()]
    return [
        "missing" if a == "missing" else f"{a}, {b}" if a and b else a or b or "not missing"
        for a, b in ((lows[i], highs[j]) for i, j in np.column_stack([begin, end]).tolist())
    ]


def conditions(rules: Rules, schema: Schema, most: int = 3) -> list[str]:
    """Return every condition with the name of its feature."""
    named = []
    for index, text in zip(rules.feature.tolist(), cells(rules, schema, ",", most), strict=True):
        feature = schema.features[index]
        equals = "= " if feature.categories is not None and text[:4] != "not " else ""
        named.append(f"{feature.name} {equals}{text}")
    return named


def sentence(rules: Rules, schema: Schema, row: int = 0) -> str:
    """Return the rule of one leaf in words."""
    first, last = np.searchsorted(rules.row, [row, row + 1])
    if first == last:
        return "everybody"
    return " · ".join(conditions(rules.part(np.arange(first, last)), schema))
