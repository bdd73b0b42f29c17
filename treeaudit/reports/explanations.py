"""What every word of a report means: `treeaudit explain`, the page and the site read it here.

Attacks and repairs have their words in their own modules, all others in ``explanations.toml``.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

from treeaudit.attacks import Attack, all_attacks, all_checks
from treeaudit.attacks.differencing import Differencing
from treeaudit.defenses import DEFENSES, Defense

__all__ = ["Explanation", "explanations", "words"]

_RELEASE = "treeaudit release MODEL -o clean.pkl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A word of a report: its kind, its title, and what there is to say about it, by label."""

    kind: str
    name: str
    title: str
    parts: dict[str, str]


@cache
def words() -> dict[str, dict[str, dict[str, str]]]:
    """Return what ``explanations.toml`` says, by kind and name."""
    found: dict[str, dict[str, dict[str, str]]]
    found = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return found


def explanations() -> tuple[Explanation, ...]:
    """Return every word that is explained, attacks first."""
    return tuple(_explanations())


def _explanations() -> Iterator[Explanation]:
    attacks = {one.id: one for one in all_attacks()}
    one: type[Attack] | type[Differencing] | type[Defense]
    for one in (*attacks.values(), Differencing, *DEFENSES):
        told = {field.name: getattr(one.words, field.name) for field in fields(one.words)}
        kinds = ", ".join(told.pop("kinds", ()))
        parts = told | ({"annex": f"evidence on {kinds} (scan --annex edpb)"} if kinds else {})
        parts["source"] = parts.pop("reference")
        kind = "repair" if one in DEFENSES else "attack"
        yield Explanation(kind=kind, name=one.id, title=one.title, parts=parts)
    for name, check in all_checks().items():
        remedy = attacks[check.attacks[0]].words.remedy if check.attacks else ""
        parts = {
            **words()["check"].get(name, {}),
            "fix": (check.rule.step or remedy).replace("{release}", _RELEASE),
            "attack": ", ".join(check.attacks),
        }
        parts = {label: text for label, text in parts.items() if text}
        yield Explanation(kind="check", name=name, title=check.rule.title, parts=parts)
    for kind in ("verdict", "status", "policy", "exit", "term"):
        for name, said in words()[kind].items():
            parts = {label: text for label, text in said.items() if label != "title"}
            yield Explanation(kind=kind, name=name, title=said["title"], parts=parts)
