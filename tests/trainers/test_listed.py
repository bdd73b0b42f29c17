"""The list, the site and the benchmark name the same algorithms, and each its sections."""

import inspect
import re
import sys

import pytest

from benchmarks.private_tables.listed import PAGE, with_table
from benchmarks.private_tables.models import RUNNERS, module_of
from tests.cli.run import run
from tests.trainers.people import CLASSIFIERS
from treeaudit.trainers.algorithms import ALGORITHMS, MEASURED

TABLE_I = {
    "Blum, Dwork, McSherry & Nissim 2005",
    "Friedman & Schuster 2010",
    "Mohammed, Barouti, Alhadidi & Chen 2015",
    "Patil & Singh 2014",
    "Fletcher & Islam 2015a",
    "Rana, Gupta & Venkatesh 2016",
    "Jagannathan, Pillaipakkamnatt & Wright 2012",
    "Jagannathan, Monteleoni & Pillaipakkamnatt 2013",
    "Fletcher & Islam 2015b",
    "Fletcher & Islam 2017",
}


def test_every_row_of_table_i_is_there() -> None:
    papers = {trainer.listed.paper for trainer in ALGORITHMS}
    assert papers >= TABLE_I


def test_the_list_the_site_and_the_benchmark_name_the_same() -> None:
    names = [trainer.algorithm for trainer in ALGORITHMS]
    printed = run(*"train --algorithm list".split()).stdout
    assert re.findall(r"^(\S+)$", printed, re.M) == names
    table = PAGE.read_text(encoding="utf-8")
    assert table == with_table(table, MEASURED)
    table = table.partition("## All algorithms")[2]
    assert re.findall(r"^\| ([a-z][a-z0-9-]+) \|", table, re.M) == ["algorithm", *names]
    models = module_of(RUNNERS["treeaudit"]).MODELS
    benchmarked = [name for name in models if not name.endswith("-delta")]
    assert benchmarked == [trainer.algorithm for trainer in CLASSIFIERS]
    assert set(MEASURED) <= set(benchmarked)


@pytest.mark.parametrize("trainer", ALGORITHMS, ids=lambda t: t.algorithm)
def test_a_trainer_names_its_paper_with_sections_and_equations(trainer) -> None:
    if trainer.listed.paper == "this package":
        return
    module = sys.modules[trainer.__module__]
    text = f"{module.__doc__}{inspect.getdoc(trainer)}"
    assert "References" in text
    assert re.search(r"section|equation|algorithm|theorem|table", text, re.I)
    year = re.search(r"\d{4}", trainer.listed.paper)
    assert year is not None
    assert year.group() in text
