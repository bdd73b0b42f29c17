"""The parts of `report.schema.json` that follow from types, written by ``make golden``."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from treeaudit.attacks import Attack
from treeaudit.findings.details import Details, json_schema_of
from treeaudit.reports.annex import Annex

__all__ = ["as_types_say", "schema_text"]

_WIDTH = 100


def as_types_say(schema: Mapping[str, Any], attacks: Sequence[type[Attack]]) -> dict[str, Any]:
    """Return the schema of reports with the details of each attack as its type has them.

    Everything else stays as it is. The details of an attack without a type of
    its own are any object, unless the schema says more.

    Examples
    --------
    >>> from treeaudit.attacks import ATTACKS
    >>> from treeaudit.reports.to_json import json_schema
    >>> as_types_say(json_schema(), ATTACKS) == json_schema()
    True
    """
    typed = {one.id: json_schema_of(one.details) for one in attacks if one.details is not Details}
    finding = schema["properties"]["findings"]["items"]
    kept = [rule for rule in finding["allOf"] if _about(rule) not in typed]
    finding = finding | {"allOf": [*kept, *map(_rule, typed)]}
    findings = schema["properties"]["findings"] | {"items": finding}
    annex = json_schema_of(Annex)
    return {
        **schema,
        "$defs": schema["$defs"] | typed,
        "properties": schema["properties"] | {"findings": findings, "annex": annex},
    }


def _about(rule: Mapping[str, Any]) -> str | None:
    """Return the id of the attack that a rule is about; None where it is about all."""
    found: str | None = rule["if"]["properties"].get("id", {}).get("const")
    return found


def _rule(attack: str) -> dict[str, Any]:
    ran = {"id": {"const": attack}, "status": {"enum": ["found", "clear"]}}
    details = {"details": {"$ref": f"#/$defs/{attack}"}}
    return {"if": {"properties": ran}, "then": {"properties": details}}


def schema_text(schema: object, indent: int = 0) -> str:
    """Return JSON on few lines: what fits on one stands on one.

    Examples
    --------
    >>> schema_text({"type": "array", "items": {"type": "integer"}})
    '{"type": "array", "items": {"type": "integer"}}'
    """
    line = json.dumps(schema, ensure_ascii=False)
    if len(line) + indent <= _WIDTH or not isinstance(schema, dict | list):
        return line
    inner = indent + 2
    if isinstance(schema, dict):
        parts = [f"{json.dumps(k)}: {schema_text(v, inner)}" for k, v in schema.items()]
    else:
        parts = [schema_text(part, inner) for part in schema]
    first, last = "{}" if isinstance(schema, dict) else "[]"
    body = f",\n{' ' * inner}".join(parts)
    return f"{first}\n{' ' * inner}{body}\n{' ' * indent}{last}"
