"""Which files of a folder are audited, and which are said to be no models."""

import gzip
import os
import pickle
import sys

import pytest

from treeaudit.audit.fleet import attempt, find
from treeaudit.errors import DataError, ReadError
from treeaudit.findings.request import Request


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b/two.pkl", "b/.git/three.pkl", "a.pkl", "outside/four.pkl", "b/note.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return tmp_path


def paths(*given: str) -> list[str]:
    return [place.path for place in find(given).places]


def test_a_folder_holds_the_files_of_the_folders_in_it(folder) -> None:
    assert paths("b", "a.pkl") == ["a.pkl", "b/note.txt", "b/two.pkl"]
    assert find(["b"]).aside == [("b/.git", "a hidden folder, not entered")]
    assert paths("b/.git") == ["b/.git/three.pkl"]


def test_patterns_and_files_count_once(folder) -> None:
    assert paths("**/*.pkl", "b/two.pkl", "b") == [
        *("a.pkl", "b/.git/three.pkl", "b/note.txt", "b/two.pkl", "outside/four.pkl")
    ]
    named = {place.path: place.named for place in find(["b", "b/two.pkl"]).places}
    assert named == {"b/note.txt": False, "b/two.pkl": True}
    with pytest.raises(DataError, match="nothing matches"):
        find(["no*.pkl"])
    (folder / "odd[1].pkl").write_text("x")
    assert paths("odd[1].pkl") == ["odd[1].pkl"]


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")
def test_nothing_leads_out_of_a_folder_or_round_in_it(folder) -> None:
    inside = folder / "b"
    (inside / "up").symlink_to("..")
    (inside / "self").symlink_to(".")
    (inside / "out.pkl").symlink_to(folder / "outside" / "four.pkl")
    (inside / "gone.pkl").symlink_to("nowhere")
    (inside / "again.pkl").symlink_to("two.pkl")
    os.mkfifo(inside / "pipe.pkl")
    os.mkfifo(inside / "real.pipe")
    (inside / "piped.pkl").symlink_to("real.pipe")
    assert paths("b") == ["b/note.txt", "b/two.pkl"]
    assert dict(find(["b"]).aside) == {
        "b/.git": "a hidden folder, not entered",
        "b/gone.pkl": "a link that leads nowhere",
        "b/out.pkl": "a link out of the folder",
        "b/pipe.pkl": "no regular file",
        "b/piped.pkl": "a link to what is no file",
        "b/real.pipe": "no regular file",
        "b/self": "a link to what is no file",
        "b/up": "a link out of the folder",
    }
    assert paths("b") == paths("b/")


MLMODEL = """artifact_path: model
flavors:
  python_function:
    loader_module: mlflow.sklearn
    model_path: model.bin
  sklearn:
    pickled_model: model.bin
  odd:
    data: "../../secret.pkl"
    model_data: missing.txt
"""


def test_what_mlflow_names_is_a_model(tmp_path) -> None:
    run = tmp_path / "run" / "artifacts" / "model"
    run.mkdir(parents=True)
    (run / "MLmodel").write_text(MLMODEL)
    (run / "model.bin").write_text("no model")
    version = tmp_path / "models" / "churn" / "version-3"
    version.mkdir(parents=True)
    (version / "meta.yaml").write_text("name: churn\nsource: file:///elsewhere/model\nversion: 3\n")
    here = tmp_path / "models" / "churn" / "version-4"
    here.mkdir()
    (here / "meta.yaml").write_text(f"name: churn\nsource: {run.as_uri()}\nversion: 4\n")
    found = find([tmp_path])
    told = {os.path.relpath(one.path, tmp_path): one for one in found.places if one.named}
    assert told["run/artifacts/model/model.bin"].wrong == ""
    assert "is not there" in told["run/artifacts/model/missing.txt"].wrong
    assert "'/elsewhere" in told["models/churn/version-3"].wrong.replace("file://", "")
    assert "models/churn/version-4" not in told
    outside = find([run]).places
    assert any("outside of the folder" in one.wrong for one in outside)


CODE = b"cos\nsystem\n(S'x'\ntR."
HIDDEN = (
    CODE + b"\nand a text after it\n",
    CODE[:-1] + b"\nand a text after it\n",
    b"I0x10\n0" + CODE + b"\nmore",
    b"I 1_6\n0" + CODE + b"\nmore",
    b"F.5\n0" + CODE + b"\nmore",
    b"(K 0" + CODE + b"\nmore",
    b"N0" + CODE + b"\nmore",
    b"S'os'\nS'system'\n\x93(S'x'\ntRmore",
    b"(Vos\nq\xc2\xa0Vsystem\nq\xc2\x93(S'x'\ntRmore",
    b"(S'x'\nios\nsystem\nmore",
    b"(lp0\n" + CODE + b"\nmore",
)
ZEROS = gzip.compress(bytes(1 << 20)) * 300
TABLE = b"age,income\n" + b"1,2\n" * 400_000


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("people.csv", b"age,income\n1,2\n", "a text file"),
        ("people.csv.gz", gzip.compress(TABLE), "a text file"),
        ("zeros.gz", ZEROS, "no kind of file that treeaudit knows"),
        ("requirements.txt", b"cloudpickle==2.2.1\nnumpy\n", "a text file"),
        ("requirements.txt", b"catboost\nnumpy\nscipy\n", "a text file"),
        ("requirements.txt", b"click\nnumpy\nrequests\nboto3\n", "a text file"),
        ("words.txt", "cat\ndog\nGrüße – und mehr\n".encode(), "a text file"),
        ("note.txt", b"S'il vous plait\n", "a text file"),
        ("conda.yaml", b"channels:\n- conda-forge\ndependencies:\n- pip\n", "a text file"),
        ("input_example.json", b'{"columns": ["a"], "data": [[1]]}', "a JSON file"),
        ("notes.json", b"", "an empty file"),
    ],
)
def test_what_is_no_model_is_named(tmp_path, name, content, what) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    told = attempt(Request(model=path), named=False)
    assert isinstance(told, str)
    assert told.startswith(what)
    with pytest.raises(ReadError):
        attempt(Request(model=path), named=True)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("model.pkl", b"age,income\n1,2\n"),
        ("model.pkl", b""),
        ("model.pkl.gz", gzip.compress(pickle.dumps({1: 2}))),
        ("weights.bin", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
        ("model.model", b"binf" + bytes(64)),
        ("anything", b"\x80\x05K\x01."),
        ("cut.gz", b"\x1f\x8b\x08\x00"),
        ("note.txt", CODE),
        ("note", CODE[:-1]),
        ("note.gz", gzip.compress(CODE)),
        *((name, hidden) for name in ("note.txt", "README.md", "note") for hidden in HIDDEN),
    ],
)
def test_what_calls_itself_a_model_and_cannot_be_read_is_an_error(tmp_path, name, content) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ReadError):
        attempt(Request(model=path), named=False)
