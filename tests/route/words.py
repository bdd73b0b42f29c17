"""The numbers that a person reads, taken out of the text of the terminal and of the page."""

import html
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.route.expected import Expected

__all__ = ["misread", "unremembered"]

_BINS = {"alone": (1, 1), "2–4": (2, 4), "5–9": (5, 9), "10–49": (10, 49), "50+": (50, 10**9)}
_VERDICTS = {"pass": "This file may go out", "fail": "should not go out", "review": "somebody has"}


def misread(text: str, page: str, report: Mapping[str, Any], expected: Expected) -> Iterator[str]:
    """Yield what the terminal (wide enough for no line to be broken) or the page says otherwise."""
    body = re.sub(r"<style.*?</style>|<svg.*?</svg>|<script.*?</script>", "", page, flags=re.S)
    if "TA101" in expected.findings:
        yield from _sizes("terminal", _bars(text), expected)
        yield from _sizes("page", _bars(_cells(body)), expected)
        yield from _headline(_plain(body), report, expected)
        yield from _rungs(body, report, expected)
    total, states = len(report["checks"]), [check["status"] for check in report["checks"]]
    failed, skipped = states.count("fail"), states.count("skipped")
    needless = states.count("not-applicable")
    total = len(states) - needless
    said = f"all {total} checks of policy route passed"
    if failed:
        said = f"{failed} of {total} checks of policy route failed"
        said += f", {skipped} not run" if skipped else ""
    elif skipped:
        said = f"{skipped} of {total} checks of policy route could not be run"
    said += f", {needless} do not apply" if needless > 1 else ""
    for where, words in (("terminal", text), ("page", _plain(body))):
        if said.lower() not in words.lower():
            yield f"{where} does not say: {said}"
    if _VERDICTS[report["verdict"]] not in _plain(body):
        yield f"page does not say that the verdict is {report['verdict']}"


def _plain(body: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", body)))


def _cells(body: str) -> str:
    table = re.search(r'<table class="sizes">(.*?)</table>', body, re.S)
    rows = re.findall(r"<tr>(.*?)</tr>", "" if table is None else table[1], re.S)
    return "\n".join(
        " ".join(html.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in
                 re.findall(r"<td.*?</td>", row, re.S))
        for row in rows
    )  # fmt: skip


def _bars(text: str) -> dict[str, tuple[int, int]]:
    """Return leaves and people by the name of the size."""
    found = {}
    for line in text.splitlines():
        row = re.match(r"\s*(alone|\d+–\d+|50\+|50 or more)\s+█*\s*([\d,]+)(?: lea\w+)?\s+([\d,]+)",
                       line)  # fmt: skip
        if row:
            found[row[1].replace(" or more", "+")] = (_number(row[2]), _number(row[3]))
    return found


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _sizes(where: str, said: Mapping[str, tuple[int, int]], expected: Expected) -> Iterator[str]:
    if where == "terminal" and set(said) != set(_BINS):
        yield f"{where}: sizes {sorted(said)}"
    for name, got in said.items():
        if name not in _BINS:
            continue  # the page cuts at k
        low, high = _BINS[name]
        each = [[g.size for g in tree if low <= g.size <= high] for tree in expected.trees]
        right = (sum(map(len, each)), max(map(sum, each)))
        if got != right:
            yield f"{where}: {name} {got}, not {right}"


def _headline(words: str, report: Mapping[str, Any], expected: Expected) -> Iterator[str]:
    """Hold the sentence at the top against one tree: that of the first number in it."""
    details = {one["id"]: one["details"] for one in report["findings"]}
    alone, below = (details["TA101"][f"{n}_in_any_tree"] for n in ("unique", "below_k"))
    tree = next((once["tree"] for once in (alone, below) if once["worst"]), None)
    if tree is None and details.get("TA102"):
        tree = details["TA102"]["homogeneous_in_any_tree"]["tree"]
    if tree is None or expected.loose:
        return
    for pattern, chosen in (
        (r"can single out ([\d,]+) (?:person|people)", lambda g: g.size == 1),
        (r"can narrow ([\d,]+) (?:person|people) down", lambda g: g.size < expected.k),
        (r"knows the \w+ of ([\d,]+) (?:person|people) for certain", lambda g: g.distinct == 1),
    ):
        unweighed = any(not len(group.counts) for tree_ in expected.trees for group in tree_)
        if "certain" in pattern and (expected.drawn.joint == "boosted" or unweighed):
            continue  # Labels follow from steps, or weights that differ from tree to tree.
        right, found = expected.count(chosen)[tree], re.search(pattern, words)
        if found and words[found.end() :].startswith(" in one tree or another"):
            # Compared with the raw rows by `tests.route.compare`.
            right = alone["low"] if alone["low"] == alone["high"] else -1
        if found and _number(found[1]) != right:
            yield f"page: {found[0]}; of tree {tree} it is {right}"
        if not found and right and "single" in pattern:
            yield f"page does not say that {right} are alone"


def _rungs(body: str, report: Mapping[str, Any], expected: Expected) -> Iterator[str]:
    ladder = re.search(r'<dl class="ladder">(.*?)</dl>', body, re.S)
    pairs = re.findall(
        r"<dt>(.*?)</dt><dd><b>(.*?)</b>(.*?)</dd>", ladder[1] if ladder else "", re.S
    )
    rungs = {_plain(knows): (_plain(number), _plain(rest)) for knows, number, rest in pairs}
    details = {one["id"]: one["details"] for one in report["findings"]}
    people = {one["id"]: one["people"] for one in report["findings"]}
    groups = sum(len(tree) for tree in expected.trees)
    wanted = {
        "Knows nothing but the file": groups,
        "Knows a person's features on the path": details["TA101"]["below_k_people"],
    }
    once = {"Knows a person's features on the path": details["TA101"]["below_k_in_any_tree"]}
    if details.get("TA102"):
        wanted["Knows the same, and asks for the label"] = people["TA102"]
        once["Knows the same, and asks for the label"] = details["TA102"]["homogeneous_in_any_tree"]
    if details.get("TA103"):
        curve = details["TA103"]["people_disclosed_by_known"]
        for r, name in ((1, "one other person"), (10, "ten others")):
            wanted[f"Knows {name} in the leaf"] = curve[r] - curve[0]
    for knows, number in wanted.items():
        said, rest = rungs.get(knows, ("missing", ""))
        if said.replace(",", "") != str(number) and (said, number) != ("nobody", 0):
            yield f"ladder: {knows}: {said}, not {number}"
        bounds = once.get(knows)
        if bounds is None or len(expected.trees) == 1:
            continue
        if expected.drawn.joint == "boosted" and knows.endswith("label"):
            continue  # One tree tells labels.
        exact = bounds["low"] == bounds["high"]
        told = f"{bounds['high']:,}" if exact else f"at least {bounds['low']:,} and at most"
        if told not in rest:
            yield f"ladder: {knows}: {rest} does not say {told}"


def unremembered(text: str, page: str, claims: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the terminal or the page says otherwise of people by memory.

    Their number is that of the training people times how much more often the claim is true
    of them than of unseen people; its interval is Wilson's of the unseen people, moved.
    """
    body = _plain(
        re.sub(r"<style.*?</style>|<svg.*?</svg>|<script.*?</script>", "", page, flags=re.S)
    )
    for of, parts in claims.items():
        (seen, n), unseen = parts["verified"], parts["control"]
        if unseen is None:
            continue
        share, m = unseen
        z = 1.959963984540054
        middle = (share + z * z / (2 * m)) / (1 + z * z / m)
        half = z / (1 + z * z / m) * math.sqrt(share * (1 - share) / m + z * z / (4 * m * m))
        ends = (share, min(1.0, middle + half), max(0.0, middle - half))
        about, low, high = (round(max(0.0, n * (seen - end))) for end in ends)
        said = f"about {about:,} of {n:,} ({low:,}–{high:,}) beyond what unseen people would show"
        for where, words in (("terminal", " ".join(text.split())), ("page", body)):
            if said not in words:
                yield f"{where} does not say of {of}: {said}"
