"""The page on R shows what the commands print for the file that it tells of."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import treeaudit as ta
from treeaudit.cli import app
from treeaudit.readers.r.objects import NA_INTEGER
from treeaudit.writers.r.encode import encode, r
from treeaudit.writers.r.rpart import rpart

PAGE = Path(__file__).parents[1] / "docs" / "r.md"
N = 5_000


def _hospital() -> bytes:
    """Return a tree of rpart with its training table inside, as ``model = TRUE`` keeps it."""
    draw = np.random.default_rng(0)
    people = pd.DataFrame(
        {
            "age": draw.integers(18, 95, N),
            "bmi": draw.normal(27, 5, N).round(1),
            "stay": draw.integers(1, 30, N),
            "visits": draw.poisson(2, N),
        }
    )
    risk = people["age"] / 95 + people["stay"] / 30 + draw.normal(0, 0.4, N)
    label = np.where(risk > 1.1, "yes", "no")
    tree = DecisionTreeClassifier(min_samples_leaf=7, max_depth=12, random_state=0)
    model = rpart(ta.load(tree.fit(people, label)))
    factor = r((label == "yes") + 1, levels=["no", "yes"], **{"class": "factor"})
    columns = {name: people[name].to_numpy(float) for name in people} | {"readmitted": factor}
    rows = {"row.names": [NA_INTEGER, -N], "class": "data.frame"}
    model.values.append(r(columns, **rows))
    model.attributes["names"].values.append("model")
    return encode(model)


@pytest.mark.slow
def test_the_page_shows_what_is_printed(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.rds").write_bytes(_hospital())
    blocks = PAGE.read_text("utf-8").split("```text\n")[1:]
    shown = [one for block in blocks for one in block.split("```")[0].strip().split("\n\n")]
    for block in shown:
        command, *lines = block.splitlines()
        done = CliRunner().invoke(app, command.removeprefix("$ treeaudit ").split())
        for line in lines:
            assert line in done.output, f"{command}: {line}"
