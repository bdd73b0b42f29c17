"""Models written for R: bytes by hand, the way back, and R's own answers."""

import dataclasses
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from treeaudit.model.tree import CategorySets
from treeaudit.people.records import read_records
from treeaudit.readers.limits import Limits
from treeaudit.readers.r.serialisation import read_r
from treeaudit.writers.r import to_rds
from treeaudit.writers.r.encode import call, encode, r, symbol
from treeaudit.writers.r.forests import random_forest, ranger
from treeaudit.writers.r.rpart import rpart

NAMES = ["Sepal.Length", "odd name", "3x", "_p"]


def stump() -> ta.Forest:
    """Return a tree of three people: cats of red, numbers up to 1.5."""
    tree = ta.Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-np.inf, -np.inf, 1.5],
        high=[np.inf, 1.5, np.inf],
        n_records=[5, 2, 3],
        counts=[[2, 3], [2, 0], [0, 3]],
    )
    schema = ta.Schema(features=(ta.Feature(name="age"),), classes=("no", "yes"), target="ill")
    return ta.Forest(trees=(tree,), schema=schema, counts_are="exact", answers="mean")


def test_the_bytes_of_a_vector_are_those_that_r_writes() -> None:
    """What ``serialize(1L, NULL, version = 2)`` gives, but for the version of R."""
    assert encode(r(1)).hex(" ", 4) == (
        "580a 00000002 00020300 00020300 0000000d 00000001 00000001"
    )


@given(st.lists(st.text(max_size=5), max_size=4), st.lists(st.floats(), max_size=4))
def test_what_is_written_is_read(words: list[str], values: list[float]) -> None:
    content = r({"a": words, "b": np.array(values, float)})
    root = read_r(encode(content), Limits.up_to(None)).root
    assert root.names == ["a", "b"]
    assert root.get("a").values == words
    assert root.get("b").values.tolist() == pytest.approx(values, nan_ok=True)


def test_names_are_written_once_and_referred_to() -> None:
    twice = call("f", symbol("x"), symbol("x"))
    assert encode(twice).count(b"x") == 1
    root = read_r(encode(twice), Limits.up_to(None)).root
    assert [one.values for one in root.values] == ["f", "x", "x"]


def test_an_rpart_tree_by_hand() -> None:
    made = rpart(stump())
    frame = made.get("frame")
    assert frame.get("var").texts() == ["age", "<leaf>", "<leaf>"]
    assert frame.get("n").values.tolist() == [5, 2, 3]
    assert frame.attributes["row.names"].values.tolist() == [1, 2, 3]
    counts = frame.get("yval2").values.reshape(6, 3)
    assert counts[:, 0].tolist() == [2, 2, 3, 0.4, 0.6, 1]
    assert np.isnan(frame.get("dev").values).all()
    # Below this number is what was up to 1.5.
    assert made.get("splits").values.tolist() == [5, -1, 0, np.nextafter(1.5, 2), 0]


def test_a_forest_of_random_forest_by_hand() -> None:
    forest = random_forest(stump()).get("forest")
    assert forest.get("treemap").values.tolist() == [2, 0, 0, 3, 0, 0]
    assert forest.get("nodestatus").values.tolist() == [1, -1, -1]
    assert forest.get("nodepred").values.tolist() == [0, 1, 2]
    assert forest.get("xbestsplit").values.tolist() == [1.5, 0, 0]


def test_a_forest_of_ranger_by_hand() -> None:
    forest = ranger(stump()).get("forest")
    left, right = (one.values.tolist() for one in forest.get("child.nodeIDs").values[0].values)
    assert (left, right) == ([1, 0, 0], [2, 0, 0])
    shares = forest.get("terminal.class.counts").values[0].values
    assert [one.values.tolist() for one in shares] == [[], [1, 0], [0, 1]]


def test_classes_that_are_numbers_stay_numbers_in_ranger(tmp_path) -> None:
    """In the order of the file, as columns of shares have no names in R."""
    schema = dataclasses.replace(stump().schema, classes=(1, 0))
    made = ranger(dataclasses.replace(stump(), schema=schema, answers="vote"))
    assert made.get("forest").get("class.values").values.tolist() == [1, 0]
    assert not made.get("forest").get("levels")
    assert made.get("forest").get("split.values").values[0].values.tolist() == [1.5, 1, 0]
    (tmp_path / "m.rds").write_bytes(encode(made))
    assert ta.load(tmp_path / "m.rds").schema.classes == (1, 0)


def test_rows_that_training_left_out_are_told_of(tmp_path) -> None:
    """What ``na.action`` keeps: the number and the name of each."""
    made = rpart(stump())
    made.values.append(r([7, 9], names=["PATIENT_7", "PATIENT_9"], **{"class": "omit"}))
    made.attributes["names"].values.append("na.action")
    (tmp_path / "m.rds").write_bytes(encode(made))
    (found,) = ta.load(tmp_path / "m.rds").extras.found
    assert (found.kind, found.where, found.n) == ("extra", "$na.action", 2 * 4 + 2 * 9)
    assert "2 rows that were left out" in found.says


def test_people_who_stop_at_a_node_are_told_of_and_left_out(tmp_path) -> None:
    """A sixth person without an age stops at the root, whose counts give her label away."""
    made = rpart(stump())
    frame = made.get("frame")
    frame.get("n").values[0] = frame.get("wt").values[0] = 6
    frame.get("yval2").values[:] = np.ravel(
        [[2, 2, 4, 1 / 3, 2 / 3, 1], [1, 2, 0, 1, 0, 1 / 3], [2, 0, 3, 0, 1, 0.5]], order="F"
    )
    (tmp_path / "m.rds").write_bytes(encode(made))
    forest = ta.load(tmp_path / "m.rds")
    (found,) = forest.extras.found
    assert (found.kind, found.where, found.n) == ("targets", "inner nodes", 1)
    clean = rpart(forest).get("frame")
    assert clean.get("n").values.tolist() == [5, 2, 3]
    assert clean.get("yval2").values[:9].tolist() == [2, 1, 2, 2, 2, 0, 3, 0, 3]


def test_a_level_that_nobody_had_follows_most_people() -> None:
    tree = dataclasses.replace(
        stump().trees[0],
        low=[-np.inf, np.inf, np.inf],
        high=[np.inf, -np.inf, -np.inf],
        categories=CategorySets(start=[0, 0, 1, 2], codes=[0, 2]),
    )
    sex = ta.Feature(name="sex", categories=("f", "m", "x"))
    schema = dataclasses.replace(stump().schema, features=(sex,))
    made = rpart(dataclasses.replace(stump(), trees=(tree,), schema=schema))
    assert made.get("csplit").values.tolist() == [1, 3, 3]


R_ANSWERS = """
suppressMessages({library(rpart); library(randomForest); library(ranger)})
for (folder in commandArgs(TRUE)) {
  path <- file.path(folder, "x.csv")
  x <- read.csv(path, check.names = FALSE, stringsAsFactors = TRUE)
  m <- readRDS(file.path(folder, "m.rds"))
  votes <- inherits(m, "randomForest") && m$type != "regression"
  p <- if (votes) predict(m, x, type = "prob") else predict(m, x)
  if (inherits(p, "ranger.prediction")) p <- p$predictions
  # ranger breaks ties of votes by chance: the votes of the trees are compared.
  if (is.factor(p)) {
    p <- predict(m, x, predict.all = TRUE)$predictions
    p <- sapply(seq_along(m$forest$levels), function(k) rowMeans(p == k))
  }
  write.csv(p, file.path(folder, "o.csv"), row.names = FALSE)
}
"""


@pytest.mark.r
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_answers_as_the_model_does(tmp_path) -> None:
    """Two tables by three packages, in one run of R."""
    folders, expected = [], []
    x, codes = load_iris(return_X_y=True, as_frame=True)
    x.columns = NAMES
    classes = x, np.array(["se tosa", "vérs", "virg"])[codes]
    for x, y in (classes, load_diabetes(return_X_y=True, as_frame=True)):
        labels = y.dtype.kind != "f"
        tree = DecisionTreeClassifier(max_depth=4) if labels else DecisionTreeRegressor(max_depth=4)
        options = {"n_estimators": 3, "max_depth": 4, "random_state": 0}
        several = (RandomForestClassifier if labels else RandomForestRegressor)(**options)
        for write in (rpart, random_forest, ranger):
            forest = ta.load((tree if write is rpart else several).fit(x, y))
            folder = tmp_path / f"{write.__name__}{labels}"
            folder.mkdir()
            (folder / "m.rds").write_bytes(encode(write(forest)))
            x.to_csv(folder / "x.csv", index=False)
            folders.append(folder)
            expected.append(_expected(forest, x.to_numpy(), vote=write is random_forest))
    _run_r(tmp_path, R_ANSWERS, folders)
    for folder, one in zip(folders, expected, strict=True):
        found = np.genfromtxt(folder / "o.csv", delimiter=",", skip_header=1)
        assert np.allclose(found, one), folder.name


R_TRAINS = """
suppressMessages({library(rpart); library(randomForest); library(ranger)})
n <- 300
pick <- function(...) factor(sample(c(...), n, TRUE))
set.seed(1)
d <- data.frame(age = sample(18:90, n, TRUE), b.p = rnorm(n), area = pick("far", "north", "west"))
d$cost <- d$age / 40 + (d$area == "west") + rnorm(n, 0, .4)
d$ill <- factor(ifelse(d$cost > 1.7, "yes", "no"))
f <- ill ~ age + b.p + area
g <- cost ~ age + b.p + area
deep <- rpart.control(minsplit = 2, cp = 0)
order <- "order"
models <- list(
  rpart(f, d, control = deep), rpart(g, d, control = deep),
  randomForest(f, d, ntree = 5), randomForest(g, d, ntree = 5),
  ranger(f, d, num.trees = 5, respect.unordered.factors = order),
  ranger(f, d, num.trees = 5, respect.unordered.factors = order, probability = TRUE),
  ranger(g, d, num.trees = 5, respect.unordered.factors = order)
)
folders <- commandArgs(TRUE)
for (i in seq_along(folders)) {
  saveRDS(models[[i]], file.path(folders[i], "own.rds"))
  write.csv(d[1:200, ], file.path(folders[i], "x.csv"), row.names = FALSE)
}
"""


@pytest.mark.r
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_answers_as_the_repaired_model_does(tmp_path) -> None:
    """Trees are merged until they pass; forests are released, as nothing is to be merged by."""
    folders = [tmp_path / str(i) for i in range(7)]
    expected = []
    for folder in folders:
        folder.mkdir()
    _run_r(tmp_path, R_TRAINS, folders)
    for folder in folders:
        own = ta.load(folder / "own.rds")
        made = ta.defend(folder / "own.rds") if own.n_trees == 1 else own
        (folder / "m.rds").write_bytes(to_rds(made))
        forest = ta.load(folder / "m.rds")
        target = "ill" if forest.schema.classes else "cost"
        rows = read_records(folder / "x.csv", forest, target=target)
        expected.append(_expected(forest, rows.values, vote=forest.answers == "vote"))
    _run_r(tmp_path, R_ANSWERS, folders)
    for folder, one in zip(folders, expected, strict=True):
        found = np.genfromtxt(folder / "o.csv", delimiter=",", skip_header=1)
        assert np.allclose(found, one, rtol=0, atol=1e-9), folder.name


def _run_r(folder, script: str, arguments) -> None:
    (folder / "p.R").write_text(script)
    done = subprocess.run(
        ["Rscript", str(folder / "p.R"), *map(str, arguments)],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def _expected(forest: ta.Forest, x: np.ndarray, *, vote: bool) -> np.ndarray:
    each = []
    for tree in forest.trees:
        node = tree.apply(x)
        if tree.counts is None:
            classes = len(forest.schema.classes or ())
            each.append(tree.value[node] if not classes else np.eye(classes)[tree.label[node]])
            continue
        counts = tree.counts[node]
        one = np.eye(counts.shape[1])[counts.argmax(axis=1)]
        each.append(one if vote else counts / counts.sum(axis=1, keepdims=True))
    return np.mean(each, axis=0)
