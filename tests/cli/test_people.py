"""The people of a file: in the order of the training table where seeds are stored, of boosters."""

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from tests.cli.run import run

COLUMNS = ["colour", "size", "age", "label"]


@pytest.fixture
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    values = (["red", "blue", "green"], list("SML"), ["<30", "30-60", ">60"], ["no", "yes"])
    return pd.DataFrame({name: rng.choice(v, 80) for name, v in zip(COLUMNS, values, strict=True)})


def written(table, model, folder) -> pd.DataFrame:
    pipeline = make_pipeline(OrdinalEncoder(), model)
    joblib.dump(pipeline.fit(table[COLUMNS[:3]], table["label"]), folder / "model.pkl")
    done = run("reconstruct", "model.pkl", "--people", "-o", "people.csv", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "80 of 80 people are certain, 80 with every value" in done.stdout
    assert "; assumed: " in done.stdout
    assert "all trees are of the same people; no value is missing" in " ".join(done.stdout.split())
    return pd.read_csv(folder / "people.csv")


def test_seeds_give_back_the_table_row_by_row(table, tmp_path) -> None:
    found = written(table, RandomForestClassifier(60, random_state=1), tmp_path)
    assert found["row"].tolist() == list(range(1, 81))
    assert (found[COLUMNS].to_numpy() == table.to_numpy()).all()
    refused = run("reconstruct", "model.pkl", "--people", "-o", "proof.json", cwd=tmp_path)
    assert refused.returncode == 2
    assert "a proof is of people who are certain" in refused.stderr


def test_boosted_trees_give_back_the_table(table, tmp_path) -> None:
    found = written(table, GradientBoostingClassifier(n_estimators=60, random_state=1), tmp_path)
    alike = [sorted(map(tuple, one[COLUMNS].to_numpy())) for one in (found, table)]
    assert alike[0] == alike[1]
    table[:70].to_csv(tmp_path / "known.csv", index=False)
    known = run("reconstruct", "model.pkl", "--people", "--known", "known.csv", "-o", "others.csv",
                cwd=tmp_path)  # fmt: skip
    assert (known.returncode, known.stderr) == (0, "")
    assert "10 of 10 people besides the 70 who are known are certain, 10 with every value" in (
        known.stdout
    )
    others = pd.read_csv(tmp_path / "others.csv")
    alike = [sorted(map(tuple, one[COLUMNS].to_numpy())) for one in (others, table[70:])]
    assert alike[0] == alike[1]
    twice = pd.concat([table, table[:1]])
    twice.to_csv(tmp_path / "known.csv", index=False)
    false = run("reconstruct", "model.pkl", "--people", "--known", "known.csv", cwd=tmp_path)
    assert (false.returncode, false.stdout) == (2, "")
    assert false.stderr == "treeaudit: known.csv holds people who were not in the training data\n"
