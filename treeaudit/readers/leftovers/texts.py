"""Whether a text can be the name of a column, a category, a label or a step.

A name says what a thing is. A text that carries several numbers, fields, code or bytes that
were written as letters says something else.
"""

import re
import unicodedata

from treeaudit.later import pattern

__all__ = ["reads_as_name"]

_MOST_LETTERS = 500  # as of a question of a survey

_BLANK = pattern(r"(?<!\s)(?:[\u00a0\u202f\u3000\t]|\r?\n)(?!\s)")
_DATE = pattern(r"\d{4}-\d\d?-\d\d?([T ]\d\d?:\d\d(:\d\d(\.\d{1,9})?)?)?")
_THOUSANDS = pattern(r"(?<=\d),(?=\d{3}(?!\d))")
_NUMBER = pattern(r"\d+(?:[.,]\d+)?")
_FRACTION = pattern(r"\d(?:\.|[eE][+-]?)\d")
_FIELD = pattern(r"[\s;,|/_:&]+")
_PLAIN = pattern(r"[-+(\[<>=!~$]*\d*[.,]?\d+(e[-+]?\d+)?[)\]%]*", re.IGNORECASE)
_WORD = pattern(r"[A-Za-z0-9+/=]{16,}")
# Where letters turn to digits or back, or small ones to capitals: rare in words and in CamelCase.
_TURN = pattern(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
# Few files have such letters, and to compile their pattern takes milliseconds.
_IDEOGRAPHS = r"[\u3400-\u9fff\uac00-\ud7ff\U00020000-\U0003ffff]"
_RARE = r"[\u2800-\u28ff\ufe00-\ufe0f\U00020000-\U0010ffff]"
_MOST_NUMBERS, _MOST_FRACTIONS, _MOST_DIGITS, _LONGEST_RUN = 6, 2, 24, 12
_MOST_FIELDS, _MOST_IN_A_WORD, _MOST_BLANKS = 2, 3, 4
_MOST_IDEOGRAPHS, _MOST_SYMBOLS, _LONGEST_WORD = 32, 4, 45


def reads_as_name(text: str, longest: int = _MOST_LETTERS) -> bool:
    """Tell whether a text can be a name: words, with a number or a date, or two of an interval.

    Parameters
    ----------
    text
        What stands where a name belongs.
    longest
        How many characters it may have.

    Examples
    --------
    >>> names = "age_(20, 30]", "education-num>=12.5", "x0_2019-01-01", "PAY_AMT1", "年龄", ""
    >>> [reads_as_name(text) for text in names]
    [True, True, True, True, True, True]
    >>> rows = "c1 0.13 -0.64 1.20", "33;yes;no;ill", "9f86d081884c7d659a2f", "SGVsbG8gd29ybGQhIQ=="
    >>> [reads_as_name(text) for text in (*rows, "Ann,33,yes,no,0.5")]
    [False, False, False, False, False]
    """
    if text.isascii() and len(text) < 16 and text.replace("_", "").isalpha():
        return True
    # Of word processors, which keep words together, and of lines in cells of spreadsheets.
    text = text if text.isprintable() else _BLANK.sub(" ", text, _MOST_BLANKS)
    if len(text) > longest or not text.isprintable() or "\ufffd" in text:
        return False
    return _few_numbers(text) and _few_fields(text) and _usual_letters(text) and _words(text)


def _few_numbers(text: str) -> bool:
    text = _THOUSANDS.sub("", _DATE.sub("0", text))
    numbers = _NUMBER.findall(text)
    digits = sum(map(str.isdigit, text))
    if len(numbers) > _MOST_NUMBERS or digits > _MOST_DIGITS:
        return False
    if len(_FRACTION.findall(text)) > _MOST_FRACTIONS:
        return False
    if len(numbers) > 1 and sum(map(text.count, ";|\t,")) > _MOST_FIELDS:
        return False
    if any(len(re.split("[.,]", number)[0]) > _LONGEST_RUN for number in numbers):
        return False
    plain = sum(_PLAIN.fullmatch(field) is not None for field in _FIELD.split(text))
    return plain <= 2 or (plain == 3 and digits <= 6)


def _few_fields(text: str) -> bool:
    if text[:1] in ("{", "<") and text[-1:] in ("}", ">"):
        return False
    return sum(map(text.count, ";|\t")) <= _MOST_FIELDS and text.count('"') <= 4


def _usual_letters(text: str) -> bool:
    if text.isascii():
        return True
    if len(re.findall(_IDEOGRAPHS, text)) > _MOST_IDEOGRAPHS or len(re.findall(_RARE, text)) > 2:
        return False
    kinds = [unicodedata.category(c)[0] for c in text if not c.isascii()]
    return kinds.count("M") <= len(text) // 2 and kinds.count("S") <= _MOST_SYMBOLS


def _words(text: str) -> bool:
    if len(text) < 16:
        return True
    if max(map(len, re.split(r"[\W_]+", text))) > _LONGEST_WORD:
        return False
    return all(
        len(_TURN.findall(word)) <= 0.3 * len(word)
        and len(_NUMBER.findall(word)) <= _MOST_IN_A_WORD
        and "==" not in word
        for word in _WORD.findall(text)
    )
