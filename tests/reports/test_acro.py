"""An entry for SACRO-Viewer: read back the way the viewer and ACRO read it."""

import dataclasses
import hashlib
import json
import multiprocessing
import stat
import warnings
from datetime import datetime

import pytest

import treeaudit as ta
from tests.systems import LINKS, POSIX
from treeaudit.reports.acro import write_acro

THEN = datetime(2026, 1, 2, 3, 4, 5)


def as_the_viewer(folder) -> dict:
    """What SACRO-Viewer checks when it opens a folder; see its sacro/models.py."""
    jsons = sorted(folder.glob("*.json"))
    valid = []
    for path in jsons:
        data = json.loads(path.read_text())
        if "version" in data and "results" in data:
            for result in data["results"].values():
                assert len(result["files"]) > 0
                assert all("name" in file for file in result["files"])
            valid.append(data)
    assert len(valid) == 1
    (data,) = valid
    major, minor, *_ = data["version"].split(".")
    assert (int(major), int(minor)) >= (0, 4)
    for result in data["results"].values():
        assert result["status"] in ("pass", "fail", "review")
        for file in result["files"]:
            checksum = (folder / "checksums" / (file["name"] + ".txt")).read_text()
            actual = hashlib.sha256((folder / file["name"]).read_bytes()).hexdigest()
            assert checksum == actual
            for cells in file.get("sdc", {}).get("cells", {}).values():
                assert all(len(cell) == 2 for cell in cells)
    return data["results"]


@pytest.fixture
def report(cancer_file):
    return ta.scan(cancer_file)


def test_a_new_folder(report, cancer_file, tmp_path) -> None:
    written = write_acro(report, tmp_path / "outputs", created=THEN)
    assert written == tmp_path / "outputs" / "results.json"
    (entry,) = as_the_viewer(tmp_path / "outputs").values()
    assert entry["uid"] == "treeaudit_cancer.pkl"
    assert (entry["status"], entry["type"]) == ("fail", "custom")
    assert entry["timestamp"] == "2026-01-02T03:04:05"
    assert entry["summary"].startswith(
        "fail; 4 of 10 checks of policy default failed, 6 do not apply; "
    )
    assert "smallest group: 1 (at least 5 people)" in entry["summary"]
    digest = hashlib.sha256(cancer_file.read_bytes()).hexdigest()
    assert entry["properties"]["model_sha256"] == digest
    assert digest in entry["comments"][0]
    assert (tmp_path / "outputs" / "checksums" / "cancer.pkl.txt").read_text() == digest
    assert sorted(p.name for p in (tmp_path / "outputs").iterdir()) == [
        "checksums",
        "config.json",
        "results.json",
        "treeaudit_cancer.pkl.html",
        "treeaudit_cancer.pkl.json",
        "treeaudit_cancer.pkl.txt",
    ]


def test_other_entries_are_kept(report, tmp_path) -> None:
    folder = tmp_path / "outputs"
    (folder / "checksums").mkdir(parents=True)
    (folder / "table.csv").write_text("a,b\n1,2\n")
    digest = hashlib.sha256(b"a,b\n1,2\n").hexdigest()
    (folder / "checksums" / "table.csv.txt").write_text(digest)
    theirs = {"uid": "output_0", "status": "pass", "files": [{"name": "table.csv", "sdc": {}}]}
    summary = {"DO_NOT_RELEASE": True, "data": []}
    data = {"version": "0.4.9", "results": {"output_0": theirs}, "session_summary": summary}
    (folder / "results.json").write_text(json.dumps(data))
    (folder / "config.json").write_text('{"safe_threshold": 12}')
    write_acro(report, folder)
    assert list(as_the_viewer(folder)) == ["output_0", "treeaudit_cancer.pkl"]
    after = json.loads((folder / "results.json").read_text())
    assert after["results"]["output_0"] == theirs
    assert (after["version"], after["session_summary"]) == ("0.4.9", summary)
    assert (folder / "config.json").read_text() == '{"safe_threshold": 12}'


def test_an_entry_is_not_replaced_by_accident(report, tmp_path) -> None:
    folder = tmp_path / "outputs"
    write_acro(report, folder, created=THEN)
    before = (folder / "results.json").read_bytes()
    with pytest.raises(
        ta.DataError, match=r"has an entry treeaudit_cancer\.pkl already; use --force"
    ):
        write_acro(report, folder)
    assert (folder / "results.json").read_bytes() == before
    write_acro(report, folder, force=True, created=THEN)
    assert len(as_the_viewer(folder)) == 1


def test_the_model_in_the_folder_is_the_one_that_was_audited(report, cancer_file, tmp_path) -> None:
    folder = tmp_path / "outputs"
    folder.mkdir()
    (folder / "cancer.pkl").write_bytes(b"another")
    with pytest.raises(ta.DataError, match="is not the model that was audited"):
        write_acro(report, folder)
    (folder / "cancer.pkl").write_bytes(cancer_file.read_bytes())
    write_acro(report, folder)
    checksum = (folder / "checksums" / "cancer.pkl.txt").read_text()
    assert checksum == hashlib.sha256((folder / "cancer.pkl").read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("content", "message"), [("no", "cannot be read as JSON"), ("{}", "holds no records of ACRO")]
)
def test_a_folder_of_something_else(report, tmp_path, content, message) -> None:
    (tmp_path / "results.json").write_text(content)
    with pytest.raises(ta.DataError, match=message):
        write_acro(report, tmp_path)
    assert (tmp_path / "results.json").read_text() == content


def named(report, name):
    """The same report of a model of another name."""
    source = dataclasses.replace(report.forest.source, path=name)
    return dataclasses.replace(report, forest=dataclasses.replace(report.forest, source=source))


@POSIX
def test_no_record_is_lost_where_twenty_processes_write(report, tmp_path) -> None:
    folder, context = tmp_path / "outputs", multiprocessing.get_context("fork")
    reports = [named(report, f"{number}.pkl") for number in range(20)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forks of a process with threads
        writers = [context.Process(target=write_acro, args=(one, folder)) for one in reports]
        for writer in writers:
            writer.start()
    for writer in writers:
        writer.join()
    assert {writer.exitcode for writer in writers} == {0}
    assert set(as_the_viewer(folder)) == {f"treeaudit_{number}.pkl" for number in range(20)}
    assert not list(folder.glob(".*"))


@POSIX
def test_records_are_for_their_owner(report, tmp_path) -> None:
    write_acro(report, tmp_path / "outputs")
    for path in (tmp_path / "outputs").glob("*.*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


@LINKS
def test_the_lock_is_no_way_out_of_the_folder(report, tmp_path) -> None:
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / ".treeaudit.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ta.DataError, match="cannot be written"):
        write_acro(report, tmp_path / "outputs")
    assert not (tmp_path / "elsewhere").exists()


def test_a_model_in_memory_and_a_name_that_is_hostile(figure_3, cancer_tree, tmp_path) -> None:
    import pickle

    write_acro(ta.scan(figure_3, policy="observe"), tmp_path / "one")
    (entry,) = as_the_viewer(tmp_path / "one").values()
    assert (entry["uid"], entry["status"]) == ("treeaudit_model", "review")
    assert "makes no checks: this is no pass" in entry["summary"]
    path = tmp_path / "a b<script>.pkl"
    path.write_bytes(pickle.dumps(cancer_tree))
    write_acro(ta.scan(path), tmp_path / "two")
    (entry,) = as_the_viewer(tmp_path / "two").values()
    assert entry["uid"] == "treeaudit_a_b_script_.pkl"
