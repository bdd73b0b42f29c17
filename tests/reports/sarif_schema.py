"""What SARIF 2.1.0 (OASIS, errata 01) asks of the objects that treeaudit writes, as a JSON schema.

Written from the standard, whose sections are named; properties that we do not write are left out,
so that a name that is not in the standard is refused too.
"""

from typing import Any

__all__ = ["SCHEMA"]

_TEXT = {"type": "string"}
_LEVEL = {"enum": ["none", "note", "warning", "error"]}


def _of(required: str = "", **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


def _many(item: dict[str, Any], **bounds: Any) -> dict[str, Any]:
    return {"type": "array", "items": item, **bounds}


_MESSAGE = _of("text", text=_TEXT, markdown=_TEXT)  # 3.11, 3.12
_RULE = _of(  # 3.49 reportingDescriptor
    "id",
    id=_TEXT,
    name=_TEXT,
    shortDescription=_MESSAGE,
    fullDescription=_MESSAGE,
    help=_MESSAGE,
    helpUri={"type": "string", "format": "uri"},
    defaultConfiguration=_of(level=_LEVEL, enabled={"type": "boolean"}),  # 3.50
    properties={  # 3.8, a bag; its tags are texts, none of them twice
        "type": "object",
        "properties": {"tags": _many(_TEXT, uniqueItems=True)},
    },
)
_DRIVER = _of(  # 3.19 toolComponent
    "name",
    name=_TEXT,
    version=_TEXT,
    informationUri={"type": "string", "format": "uri"},
    rules=_many(_RULE, uniqueItems=True),
)
_LOCATION = _of(  # 3.28
    physicalLocation=_of(  # 3.29
        artifactLocation=_of(uri={"type": "string", "format": "uri-reference"}),  # 3.4
        region=_of(startLine={"type": "integer", "minimum": 1}),  # 3.30
    ),
    logicalLocations=_many(_of(name=_TEXT, fullyQualifiedName=_TEXT)),  # 3.33
)
_RESULT = _of(  # 3.27
    "message",
    ruleId=_TEXT,
    ruleIndex={"type": "integer", "minimum": -1},
    level=_LEVEL,
    message=_MESSAGE,
    locations=_many(_LOCATION),
    partialFingerprints={"type": "object", "additionalProperties": _TEXT},
    suppressions=_many(  # 3.35
        _of("kind", kind={"enum": ["inSource", "external"]}, justification=_TEXT)
    ),
)
_RUN = _of(  # 3.14
    "tool",
    tool=_of("driver", driver=_DRIVER),  # 3.18
    invocations=_many(_of("executionSuccessful", executionSuccessful={"type": "boolean"})),  # 3.20
    automationDetails=_of(id=_TEXT),  # 3.17
    results=_many(_RESULT),
)
SCHEMA = _of(  # 3.13 sarifLog
    "version runs",
    version={"const": "2.1.0"},
    runs=_many(_RUN),
    **{"$schema": {"type": "string", "format": "uri"}},
)
"""Draft 7."""
