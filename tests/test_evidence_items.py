"""What the list of evidence items calls by a path stands there in a report."""

import re
from pathlib import Path

import pandas as pd
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.reports.test_private import private

ITEMS = Path(__file__).parent.parent / "docs" / "evidence-items.md"
PATH = re.compile(r"(?:record|model|policy|tool|people|findings|annex)[\w.\[\]]*")


def follow(data: object, path: str) -> object:
    for step, key in re.findall(r"(\w+)(\[\w*\])?", path):
        data = data[step]
        if key:
            data = next(one for one in data if key == "[]" or one["id"] == key[1:-1])
    return data


def test_every_path_leads_somewhere() -> None:
    people = pd.DataFrame({"age": range(40), "ill": ["no", "yes"] * 20})
    tree = DecisionTreeClassifier(max_leaf_nodes=3).fit(people[["age"]], people["ill"])
    asks = {"annex": ["edpb", "satre", "dp"], "attacks": ["TA101", "TA205", "TA206", "TA207"]}
    plain = ta.scan(tree, train=people, target="ill", **asks).to_dict()
    claimed = ta.scan(private(), **asks).to_dict()
    text = ITEMS.read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 24
    assert sum(row.split("|")[4].strip().startswith("whole") for row in rows) == 22
    seen = 0
    for row in rows:
        first = ""
        for path in re.findall(r"`([^`]+)`", row.split("|")[2]):
            whole = first.rpartition(".")[0] + path if path.startswith(".") else path
            first = first or whole
            if PATH.fullmatch(whole):
                follow(claimed if whole.startswith(("annex.dp", "model.privacy")) else plain, whole)
                seen += 1
    assert seen >= 25
