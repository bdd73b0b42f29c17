"""What goes out with a model: a CycloneDX ML-BOM and a model card.

Both tell what the copy that may leave the room tells, without its rounded numbers: which file,
which policy, what became of each check, and the hash of that statement.
"""

import hashlib
import json
import uuid
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from treeaudit.errors import DataError
from treeaudit.findings.report import Report
from treeaudit.reports.markdown import escaped
from treeaudit.reports.plain_text import plain
from treeaudit.reports.release_safe import released, statement
from treeaudit.version import __version__

_LIMIT = (
    "A PASS says that these checks held against the attacks that ran. It does not say that the "
    "model is anonymous, or that nobody can be found with other data."
)
_LIBRARIES = {"scikit-learn": "sklearn"}
"""Names of libraries on the Hugging Face Hub, which reads them as ``library_name``."""


def facts(report: Report) -> dict[str, str]:
    """Return what both tell, by name; of people nothing."""
    said = statement(report)
    found = {
        "verdict": str(said["verdict"]),
        "policy": plain(said["policy"]["name"], 120),
        "policy-sha256": str(said["policy"]["sha256"]),
        "model-sha256": said["model"]["sha256"],
        "statement-sha256": hashlib.sha256(released(report, "json").encode()).hexdigest(),
        "version": __version__,
    }
    return {name: value for name, value in found.items() if value}


def _task(report: Report) -> str:
    """Return what the model does; nothing where neither labels nor its name tell."""
    if report.forest.schema.classes is not None:
        return "classification"
    return "regression" if "Regressor" in report.forest.source.estimator else ""


def check_installed() -> None:
    """Refuse to write a bill of materials without the library, before long work begins."""
    if find_spec("cyclonedx") is None:
        raise DataError(
            "a bill of materials needs cyclonedx-python-lib: run 'pip install treeaudit[bom]', or "
            "write a model card (.card.md)"
        )


def to_bom(report: Report) -> str:
    """Return a CycloneDX 1.6 bill of materials of the model, as JSON."""
    check_installed()
    from cyclonedx.model import HashAlgorithm, HashType, Property
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.output.json import JsonV1Dot6

    said, told = statement(report)["model"], facts(report)
    properties = [Property(name=f"treeaudit:{name}", value=value) for name, value in told.items()]
    properties += [
        Property(name=f"treeaudit:check:{check['name']}", value=check["status"])
        for check in statement(report)["checks"]
    ]
    digest = said["sha256"]
    model = Component(
        name=plain(said["name"], 120),
        type=ComponentType.MACHINE_LEARNING_MODEL,
        bom_ref="model",
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)] if digest else [],
        properties=properties,
    )
    # The same report has the same number.
    number = uuid.uuid5(uuid.NAMESPACE_URL, f"treeaudit:{told['statement-sha256']}")
    bom = Bom(components=[model], serial_number=number)
    bom.metadata.timestamp = report.record.at
    tool = Component(name="treeaudit", version=__version__, type=ComponentType.APPLICATION)
    bom.metadata.tools.components.add(tool)
    data = json.loads(JsonV1Dot6(bom).output_as_string())
    # The library has no model cards yet.
    data["components"][0]["modelCard"] = _card(report, said)
    return json.dumps(data, indent=2, sort_keys=True) + "\n"


def _card(report: Report, said: Mapping[str, Any]) -> dict[str, Any]:
    told = {"architectureFamily": "decision tree"}
    told["modelArchitecture"] = plain(said["estimator"], 120)
    told |= {"task": task} if (task := _task(report)) else {}
    return {"modelParameters": told, "considerations": {"technicalLimitations": [_LIMIT]}}


def to_card(report: Report) -> str:
    """Return a model card: Markdown below the metadata that the Hugging Face Hub reads."""
    said, told = statement(report), facts(report)
    tags = [f"tabular-{task}"] if (task := _task(report)) else []
    library = _LIBRARIES.get(report.forest.source.library)
    head = ["---", *([f"library_name: {library}"] if library else [])]
    head += [f"pipeline_tag: {tag}" for tag in tags]
    head += ["tags:", *(f"- {tag}" for tag in (*tags, "treeaudit")), "treeaudit:"]
    # A text of JSON is one of YAML.
    head += [f"  {n.replace('-', '_')}: {json.dumps(v)}" for n, v in told.items()]
    rows = [
        f"| {escaped(check['title'])} | {escaped(check['bound'])} | {check['status']} |"
        for check in said["checks"]
    ]
    lines = [
        *head,
        "---",
        "",
        f"# {escaped(said['model']['name'])}",
        "",
        "## What the file gives away about its training data",
        "",
        f"Audited with treeaudit {__version__}: **{told['verdict'].upper()}** under the policy "
        f"{escaped(told['policy'])}. {_LIMIT}",
        "",
        *(["| check | bound | result |", "| --- | --- | --- |", *rows, ""] if rows else []),
        *(f"- {name}: `{value}`" for name, value in told.items() if name.endswith("sha256")),
        "",
        "The statement is what `treeaudit scan MODEL -o statement.json --release-safe` writes.",
    ]
    return "\n".join(lines) + "\n"
