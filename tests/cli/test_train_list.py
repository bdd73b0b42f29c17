"""What trainers say of themselves: the table of them, and their parameters."""

import pytest

from tests.cli.run import run
from treeaudit.trainers.algorithms import ALGORITHMS

EVERY = pytest.mark.parametrize("trainer", ALGORITHMS, ids=lambda t: t.algorithm)


def test_the_table_names_every_trainer() -> None:
    done = run(*"train --algorithm list".split())
    assert (done.returncode, done.stderr) == (0, "")
    blocks = done.stdout.rstrip().split("\n\n")
    assert [block.split("\n")[0] for block in blocks] == [t.algorithm for t in ALGORITHMS]
    heads = ["paper", "budget per query", "tree", "depth", "trees", "continuous attributes",
             "as published", "sound", "accuracy", "neighbours"]  # fmt: skip
    for block in blocks:
        lines = block.split("\n")[1:]
        assert [line[2:].split("  ")[0] for line in lines] == heads
        assert all(line.split("  ")[-1] for line in lines)


@EVERY
def test_the_parameters_of_a_trainer(trainer) -> None:
    for order in (f"--algorithm {trainer.algorithm} --set help",
                  f"--set help --algorithm {trainer.algorithm}"):  # fmt: skip
        done = run("train", *order.split())
        assert (done.returncode, done.stderr) == (0, "")
        told = {line[2:].split("=")[0] for line in done.stdout.split("\n") if line[2:3].strip()}
        assert set(trainer().get_params()) <= told
    assert run(*"train --set help".split()).stdout.startswith("A decision tree that asks")
