"""Names are nouns and verbs of the field, so that somebody who searches for them finds them."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent / "treeaudit"
# A bare participle says that something was done, never what it is; the others stood for
# terms that the field has: residual content, bootstrap sample, homogeneous group, ...
NOT_NAMES = frozenset(
    "later alike ways lower coarse ends kinds once sides meant beside stated told held found seen "
    "kept settled spare asked shelf tape traces stencil stencils together leftovers "
    "own_json every stored made_up taught put_aside nearness each_cell sheet labels_held drawn "
    "looks written fixed way_out front declared typed mistakes".split()
)
NOT_CLASSES = frozenset("Found Seen Draw Grove Sound Kin Quiet Told Leftover Leftovers".split())
WORDS = r"\b(leftovers?|stencils?|put aside|made up|spelled|way out)\b"


def test_names_are_words_of_the_field() -> None:
    wrong = []
    for path in sorted(ROOT.rglob("*.py")):
        names = {path.stem, *path.relative_to(ROOT).parts[:-1]}
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                names.add(node.name)
            elif isinstance(node, ast.ClassDef) and node.name.lstrip("_") in NOT_CLASSES:
                wrong.append(f"{path}: class {node.name}")
        wrong += [f"{path}: {name}" for name in names if name.strip("_") in NOT_NAMES]
    assert wrong == []


def test_readme_and_site_speak_plainly() -> None:
    for page in (ROOT.parent / "README.md", *(ROOT.parent / "docs").rglob("*.md")):
        assert re.findall(WORDS, page.read_text("utf-8"), re.IGNORECASE) == [], page
