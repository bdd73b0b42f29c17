"""From a shell to an exit code: every command in a process of its own, as it is in this one."""

import os
import subprocess
import sys

import pytest

import treeaudit as ta
from tests.cli.run import run, spawn
from tests.systems import POSIX
from tests.trainers.people import people


@pytest.fixture(scope="module")
def folder(tmp_path_factory, figure_3):
    folder = tmp_path_factory.mktemp("process")
    ta.save(figure_3, folder / "model.json")
    (folder / "evil.pkl").write_bytes(b"cposix\nsystem\n(S'true'\ntR.")
    frame, ill = people(40)
    frame.assign(ill=ill).to_csv(folder / "people.csv", index=False)
    return folder


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("scan model.json -o DIR/report.json", 1),
        ("scan evil.pkl", 2),
        ("scan --help", 0),
        *(
            pytest.param(command, code, marks=pytest.mark.slow)
            for command, code in [
                ("reconstruct model.json --tree", 0),
                ("inspect model.json", 0),
                ("compare model.json --format json", 1),
                ("defend model.json --min-leaf 3 -o DIR/safer.json", 1),
                ("schema people.csv --target ill", 0),
                ("explain TA101", 0),
                ("attacks", 0),
            ]
        ),
    ],
)
def test_a_process_says_what_a_call_says(folder, tmp_path, command, code) -> None:
    done, written = [], []
    for how, name in ((spawn, "one"), (run, "two")):
        (tmp_path / name).mkdir()
        done.append(how(*command.replace("DIR", str(tmp_path / name)).split(), cwd=folder))
        written.append([path.read_bytes() for path in sorted((tmp_path / name).iterdir())])
    apart, here = done
    assert apart.returncode == here.returncode == code
    assert apart.stdout.replace(str(tmp_path / "one"), str(tmp_path / "two")) == here.stdout
    assert apart.stderr == here.stderr
    assert written[0] == written[1]
    assert len(written[0]) == command.count("DIR")


@POSIX
@pytest.mark.parametrize(
    ("chosen", "shown"),
    [({}, "≥ 170".encode()), ({"PYTHONIOENCODING": "ascii"}, rb"\u2265 170")],
    ids=["nothing", "ascii"],
)
def test_a_pipe_carries_utf_8_unless_somebody_chose_otherwise(folder, chosen, shown) -> None:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONIOENCODING"}
    done = subprocess.run(
        [sys.executable, "-m", "treeaudit", "reconstruct", "model.json"],
        capture_output=True,
        check=False,
        cwd=folder,
        env=clean | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"} | chosen,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert shown in done.stdout
