"""When an audit was made, by whom, and of which files: a record that others can check."""

import hashlib
from datetime import UTC, datetime

import pytest

import treeaudit as ta
from treeaudit.findings.record import Record, now, sha256_of
from treeaudit.reports.formats import render

ONE, TWO = b"age,ill\n1,no\n", b"age,ill\n2,yes\n"


def test_the_time_is_that_of_the_environment(monkeypatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    assert now() == datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC)
    assert Record().time == "2001-09-09T01:46:40Z"
    assert Record().in_words == "9 September 2001, 01:46 UTC"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(ta.DataError, match="number of seconds since 1970"):
        now()
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert abs((now() - datetime.now(UTC)).total_seconds()) < 3600


def test_a_file_is_its_bytes_and_a_folder_its_lines(tmp_path) -> None:
    folder = tmp_path / "people"
    folder.mkdir()
    (folder / "a.csv").write_bytes(ONE)
    (folder / "b.csv").write_bytes(TWO)
    one, two = (hashlib.sha256(part).hexdigest() for part in (ONE, TWO))
    assert sha256_of(folder / "a.csv") == one
    lines = f"{one}  a.csv\n{two}  b.csv\n"  # as sha256sum prints them
    assert sha256_of(folder) == hashlib.sha256(lines.encode()).hexdigest()
    assert sha256_of(str(folder / "*.csv")) == sha256_of(folder)


@pytest.mark.parametrize("given", [[[1, 2]], "nowhere.csv", "s3://bucket/people.parquet"])
def test_what_is_no_local_file_has_no_hash(given) -> None:
    assert sha256_of(given) is None


@pytest.mark.parametrize("form", ["html", "json", "md", "txt"])
def test_the_same_question_gives_the_same_bytes(figure_3, form) -> None:
    first, second = (render(ta.scan(figure_3, by="Ada"), form) for _ in range(2))
    assert first == second


def test_who_made_it_is_said_by_them(figure_3) -> None:
    assert ta.scan(figure_3).to_dict()["record"] == {
        "at": "2026-01-01T12:00:00Z",
        "by": None,
        "inputs": {},
    }
    report = ta.scan(figure_3, by=" Ada Lovelace ")
    assert report.to_dict()["record"]["by"] == "Ada Lovelace"
    page = render(report, "html")
    assert "<li>1 January 2026, by Ada Lovelace</li>" in page
    assert "<dt>Made</dt><dd>1 January 2026, 12:00 UTC</dd>" in page
    assert "not stated (--by)" in render(ta.scan(figure_3), "html")
    with pytest.raises(ta.DataError, match="a name on one line"):
        ta.scan(figure_3, by="Ada\nLovelace")


def test_what_leaves_the_room_has_no_hash_of_people(tmp_path, cancer, cancer_tree) -> None:
    people = tmp_path / "people.csv"
    cancer[0].assign(label=cancer[1]).to_csv(people, index=False)
    report = ta.scan(cancer_tree, train=people, target="label", by="Ada", attacks=["TA101"])
    digest = hashlib.sha256(people.read_bytes()).hexdigest()
    assert report.to_dict()["record"]["inputs"] == {"train": digest}
    assert digest in render(report, "html")
    for form in ("html", "json", "md", "txt"):
        text = render(report, form, release_safe=True)
        assert digest not in text
        assert "Ada" in text
