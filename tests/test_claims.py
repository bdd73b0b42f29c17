"""Every number in README and site comes from a file of the repository."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CLAIMS = tomllib.loads((ROOT / "docs" / "claims.toml").read_text("utf-8"))["claim"]
# Pages that say what a policy asks for, or how a trainer works, are held by tests of their own.
NAMES = "README.md docs/index.md docs/papers.md docs/compare.md docs/formats.md docs/ci.md"
PAGES = [ROOT / name for name in NAMES.split()] + sorted((ROOT / "docs" / "start").glob("*.md"))
NUMBER = r"(?<![\w.`/-])\d[\d,]*(?:\.\d+)*(?!\w)"
# Parts of a paper, and years.
PLACES = r"\b(?:sections?|tables?|equations?) [\d.]+(?: to [\d.]+)?|\b20\d\d\b|^\| \d\.\d "


def numbers(text: str) -> list[str]:
    """Return the numbers of a page that are more than a small count: 12.5, 1,000 and 500."""
    text = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)", " ", text, flags=re.DOTALL)
    text = re.sub(PLACES, " ", text, flags=re.IGNORECASE | re.MULTILINE)
    found = (one.rstrip(",.") for one in re.findall(NUMBER, text))
    return [one for one in found if len(one) > 2 or "." in one]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim['page']}-{claim['text'][:30]}")
def test_a_claim_has_its_source(claim) -> None:
    source = ROOT / claim["source"]
    shown = source.read_text(encoding="utf-8")
    assert claim["text"] in (ROOT / claim["page"]).read_text(encoding="utf-8")
    parts = [claim["shows"]] if isinstance(claim["shows"], str) else claim["shows"]
    assert all(part in shown for part in parts)
    at_hand = re.findall(r"\d[\d,]*(?:\.\d+)*", f"{source.name} {parts}")
    for number in numbers(claim["text"]):
        assert any(one in (number, f"{number},") or one.startswith(f"{number}.") for one in at_hand)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_number_is_without_a_source(page) -> None:
    text = page.read_text(encoding="utf-8")
    for claim in CLAIMS:
        if ROOT / claim["page"] == page:
            text = text.replace(claim["text"], " ")
    assert numbers(text) == []


def test_a_number_that_is_changed_by_hand_is_noticed() -> None:
    changed = (ROOT / "README.md").read_text(encoding="utf-8").replace("0.22 s", "0.06 s")
    claims = [claim["text"] for claim in CLAIMS if claim["page"] == "README.md"]
    assert any(text not in changed for text in claims)
    assert "0.06" in numbers(changed)
