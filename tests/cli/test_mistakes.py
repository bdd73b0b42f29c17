"""A hundred everyday mistakes: each ends in one sentence that says what helps."""

import gzip
import json
import pickle
import re
import shlex
import zipfile
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from tests.cli.run import run

MISTAKES = Path(__file__).with_name("mistakes.txt").read_text(encoding="utf-8")
ROWS = [tuple(part.strip() for part in row.split(" | ")) for row in MISTAKES.splitlines()[1:]]
PYTHON = re.compile(
    r"Traceback|pydantic|Value error|Input should be|\w+=(True|None|False)|Error\(|internal error"
    r"|\(\w+=\)|NoneType|<class|object at 0x|column 'x\d+'"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Everything that a mistake names."""
    at = tmp_path_factory.mktemp("mistakes")
    rng = np.random.default_rng(0)

    def rows(n: int) -> pd.DataFrame:
        frame = pd.DataFrame({"age": rng.integers(18, 90, n), "pay": rng.integers(10, 99, n)})
        return frame.assign(job=np.where(frame.age + rng.normal(0, 9, n) > 50, "clerk", "nurse"))

    people = rows(60)
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    tree.fit(people[["age", "pay"]], people.job)
    content = pickle.dumps(tree)
    (at / "folder").mkdir()
    for name, data in {
        "tree.pkl": content, "empty.pkl": b"", "cut.pkl": content[: len(content) // 2],
        "text.pkl": b"hello world\n", "dict.pkl": pickle.dumps({"a": 1}), "empty.csv": b"",
        "logreg.pkl": pickle.dumps(LogisticRegression().fit(people[["age", "pay"]], people.job)),
        "never.pkl": pickle.dumps(DecisionTreeClassifier()), "people.xlsx": b"PK\x03\x04",
        "people.json": b"{}", "tree.gz": gzip.compress(content),
        "tree.h5": b"\x89HDF\r\n\x1a\n" + b"0" * 90, "torch.pt": b"PK\x03\x04" + b"0" * 90,
        "page.pkl": b"<!DOCTYPE html><html><body>404</body></html>",
        "pointer.pkl": b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 123\n",
        "notebook.ipynb": b'{"cells": [], "nbformat": 4}', "cut.parquet": b"PAR1xxxx",
        "words.toml": b"[policies.mine]\nmin-leaf = 'five'\n",
        "shares.toml": b"[policies.mine]\nmax-certain-share = 20\n",
        "seven.toml": b"[policies.mine]\nrequire-canonical = 7\n",
        "columns.csv": b"age,age,job\n1,2,clerk\n",
        "bad.toml": b"[policies.mine]\nmin-leafs = 4\n", "broken.toml": b"min-leaf: 4\n",
    }.items():  # fmt: skip
        (at / name).write_bytes(data)
    joblib.dump(
        DecisionTreeClassifier(max_depth=2).fit(np.arange(60)[:, None], people.job),
        at / "nonames.pkl",
    )
    with zipfile.ZipFile(at / "tree.zip", "w") as archive:
        archive.write(at / "tree.pkl", "tree.pkl")
    gaps, texts = people.copy(), people.astype({"age": object})
    gaps.loc[::4, "age"] = 18
    texts.loc[3, "age"] = "old"
    thousands = people.assign(pay=[f"1.0{i:02},5" for i in range(20, 80)])
    tables = {
        "people": people, "others": rows(30), "half": people.head(30), "gaps": gaps,
        "twice": pd.concat([people, people]), "texts": texts, "norows": people.head(0),
        "one": people.head(1), "lower": people.assign(job=people.job.str.upper()),
        "units": people.assign(age=people.age.astype(str) + " years"),
        "upper": people.rename(columns=str.upper), "short": people[["age", "job"]],
        "named": people.assign(who="A")[["who", "age", "pay", "job"]],
        "wide": people.assign(**{f"more {i}": 1 for i in range(9)}),
        "coded": people.assign(job=(people.job == "clerk").astype(int)),
        "shuffled": people.assign(job=people.job.to_numpy()[::-1]),
    }  # fmt: skip
    for name, table in tables.items():
        table.to_csv(at / f"{name}.csv", index=False)
    thousands.to_csv(at / "thousands.csv", sep=";", index=False)
    people.to_csv(at / "utf16.csv", index=False, encoding="utf-16")
    lines = (at / "people.csv").read_text().splitlines()
    lines[5] += ",9,9"
    (at / "ragged.csv").write_text("\n".join(lines))
    assert run("scan", "tree.pkl", "-o", "kept.json", "-q", cwd=at).returncode == 1
    assert (
        run("schema", "people.csv", "--target", "job", "-o", "draft.toml", cwd=at).returncode == 0
    )
    draft = (at / "draft.toml").read_text()
    (at / "schema.toml").write_text(draft.replace("confirmed = false", "confirmed = true"))
    return at


@pytest.mark.parametrize(("words", "code", "says"), ROWS, ids=[row[0] for row in ROWS])
def test_one_sentence_with_what_helps(folder, words, code, says) -> None:
    done = run(*shlex.split(words), cwd=folder, COLUMNS="300")
    said = done.stdout if code == "1" else done.stderr
    assert done.returncode == int(code), said
    assert len(said.splitlines()) == 1, said
    assert code == "1" or said.startswith("treeaudit: ")
    assert re.search(re.escape(says).replace(r"\{\}", ".*"), said), said
    assert not PYTHON.search(said), said


def test_there_are_a_hundred() -> None:
    assert len({words for words, *_ in ROWS}) == len(ROWS) >= 100
    commands = {words.split()[0] for words, *_ in ROWS}
    assert commands >= {
        *("scan", "accept", "verify", "diff", "compare", "defend", "release", "reconstruct"),
        *("inspect", "schema", "train", "budget", "explain"),
    }


@pytest.mark.parametrize("sep", [";", "\t"])
def test_decimal_commas_are_read(folder, sep) -> None:
    people = pd.read_csv(folder / "people.csv")
    people["pay"] = people["pay"] + 0.5
    path = folder / f"commas{ord(sep)}.csv"
    people.to_csv(path, sep=sep, decimal=",", index=False)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = folder / f"halves{ord(sep)}.pkl"
    model.write_bytes(pickle.dumps(tree.fit(people[["age", "pay"]], people.job)))
    done = run("scan", model, "--train", path, "--target", "job", "--format", "json")
    assert json.loads(done.stdout)["people"]["train"]["records"] == 60
