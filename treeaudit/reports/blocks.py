"""What the details of an attack are drawn as; a detail that is not there draws nothing."""

from collections.abc import Callable, Mapping

from treeaudit.findings import Finding
from treeaudit.reports.block import Blocks
from treeaudit.reports.block_inference import attributes, membership
from treeaudit.reports.block_knowledge import knowledge
from treeaudit.reports.block_singling import sensitive, singling_out
from treeaudit.reports.masking import Numbers

__all__ = ["blocks"]

_DRAWN: Mapping[str, Callable[[Finding, Numbers], Blocks]] = {
    "TA101": singling_out,
    "TA103": knowledge,
    "TA104": attributes,
    "TA105": membership,
    "TA110": sensitive,
}


def blocks(finding: Finding, numbers: Numbers) -> Blocks:
    """Return what the details of a finding are drawn as."""
    draw = _DRAWN.get(finding.id)
    return Blocks() if draw is None else draw(finding, numbers)
