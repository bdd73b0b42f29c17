"""Nothing is decided about a private model by the people whom its epsilon protects."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import treeaudit as ta
from treeaudit.cli import app
from treeaudit.defenses import DEFENSES
from treeaudit.defenses.defense import takes_people
from treeaudit.dp.claims import unbounded_because
from treeaudit.model.schema import Feature, Schema
from treeaudit.people.records import read_records
from treeaudit.trainers.private_forest import PrivateForestClassifier

SCHEMA = Schema(
    features=(Feature(name="age", low=0, high=100), Feature(name="dose", low=-1, high=1)),
    classes=("no", "yes"),
    target="ill",
)


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.uniform(0, 100, 2000), "dose": rng.uniform(-1, 1, 2000)})
    return frame.assign(ill=np.where(frame["age"] > 50, "yes", "no"))


@pytest.fixture(scope="module")
def forest(people) -> ta.Forest:
    model = PrivateForestClassifier(schema=SCHEMA, max_depth=2)
    return model.fit(people[["age", "dose"]], people["ill"]).forest_


@pytest.mark.parametrize("kind", [one for one in DEFENSES if takes_people(one)])
def test_no_defense_takes_people_to_a_private_model(kind, forest, people) -> None:
    records = read_records(people, forest, target="ill")
    named = {"values": records.values, "labels": records.labels, "allowed": 0.1}
    given = {name: named[name] for name in named if name in kind.__dataclass_fields__}
    set_to = {"allowed": 0.1} if "allowed" in given else {}
    refused = r"would no longer hold|counts of its classes"
    with pytest.raises(ta.DataError, match=refused):
        kind(**given).apply(forest)
    with pytest.raises(ta.DataError, match=refused):
        ta.defend(forest, method=kind.id, train=people, target="ill", **set_to)


@pytest.mark.parametrize("asked", [{}, {"min_leaf": 2}, {"policy": "private"}, {"round_counts": 5}])
def test_who_the_people_are_changes_no_repair_of_a_private_model(
    asked, forest, people, tmp_path
) -> None:
    tables = {"all": people, "half": people[:150], "others": people[::-1].assign(ill="no")}
    told = {"target": "ill", **asked}
    alone = ta.save(ta.defend(forest, **told), tmp_path / "alone.json").read_bytes()
    for name, some in tables.items():
        made = ta.defend(forest, train=some, test=some, **told)
        assert unbounded_because(made) is None
        assert ta.save(made, tmp_path / f"{name}.json").read_bytes() == alone


def test_the_command_says_that_people_decide_nothing(forest, people, tmp_path) -> None:
    model, train = ta.save(forest, tmp_path / "private.json"), tmp_path / "people.csv"
    people.to_csv(train, index=False)
    asked = ["--train", str(train), "--target", "ill", "-o", str(tmp_path / "safe.json")]
    done = CliRunner().invoke(app, ["defend", str(model), *asked])
    said = " ".join(done.stdout.split())
    assert "a private model is repaired by its file alone" in said
    assert "intersect-k" not in said
    assert ta.load(tmp_path / "safe.json").privacy == ta.load(model).privacy
