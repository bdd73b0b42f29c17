"""CONTRIBUTING's worked examples are code that runs: each adds what it says it adds."""

import importlib.util
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import treeaudit as ta
from treeaudit import attacks, defenses, readers
from treeaudit.defenses import DEFENSES
from treeaudit.errors import PrivacyWarning
from treeaudit.reports.html import to_html

TEXT = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLES = {
    Path(path).stem: code for path, code in re.findall(r"```python\n# (\S+)\n(.*?)```", TEXT, re.S)
}


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Return an example as the module that it would be."""

    def load(name: str):
        path = tmp_path / f"{name}.py"
        path.write_text(EXAMPLES[name], encoding="utf-8")
        spec = importlib.util.spec_from_file_location(f"worked_example_{name}", path)
        made = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, made)
        spec.loader.exec_module(made)
        return made

    return load


def test_the_attack(module, monkeypatch, figure_3) -> None:
    attack = module("long_rules").LongRules
    monkeypatch.setattr(attacks, "ATTACKS", (*attacks.ATTACKS, attack))
    policy = ta.Policy(name="mine", values={"max-long-rule-share": 0.2})
    report = ta.scan(figure_3, policy=policy)
    # By hand: every rule of the paper's Figure 3 asks about two columns, nine people in all.
    assert (report["TA190"].people, report["TA190"].details.long_rule_share) == (9, 1.0)
    (check,) = report.checks
    assert (check.status, check.measured, report.verdict) == ("fail", 1.0, "fail")
    told = json.loads(json.dumps(report.to_dict()))
    assert told["findings"][-1]["details"] == {"long_rule_people": 9, "long_rule_share": 1.0}
    page = to_html(report)
    assert "behind long rules" in page
    assert "Long rules" in str(report)


def test_the_attack_masks_what_it_tells_of_few(module, monkeypatch, figure_3) -> None:
    monkeypatch.setattr(attacks, "ATTACKS", (*attacks.ATTACKS, module("long_rules").LongRules))
    report = ta.scan(figure_3, policy=ta.Policy(name="mine", values={"min-leaf": 10}))
    page = to_html(report, release_safe=True)
    assert f"{report.results[-1].id} {report.results[-1].title}: run" in page
    assert "behind long rules" not in page


def test_the_reader(module, monkeypatch, tmp_path) -> None:
    entry = readers.Format(module("stump_text"), ("stump-text",), "stump text")
    monkeypatch.setattr(readers, "READERS", (*readers.READERS, entry))
    file = tmp_path / "model.stump"
    file.write_text("stump age 39.5\n8 2 1 9\n")
    report = ta.scan(file, policy=ta.Policy(name="mine", values={"min-leaf": 10, "max-calls": 0}))
    assert report.forest.source.format == "stump-text"
    assert (report["TA101"].details.min_leaf, report["TA102"].people) == (10, 0)
    assert report.verdict == "pass"
    file.write_text("stump age\n")
    with pytest.raises(ta.ReadError, match="no stump"):
        ta.load(file)


def test_what_lies_beside_the_readers_tree_never_passes(module, monkeypatch, tmp_path) -> None:
    entry = readers.Format(module("stump_text"), ("stump-text",), "stump text")
    monkeypatch.setattr(readers, "READERS", (*readers.READERS, entry))
    file = tmp_path / "model.stump"
    file.write_text("stump age 39.5\n8 2 1 9\n33 yes\n54 no\n")
    inside = ta.Policy(name="mine", values={"max-training-rows-inside": 0})
    assert ta.scan(file, policy=inside).verdict == "review"


def test_the_defense(module, monkeypatch, figure_3) -> None:
    defense = module("round_thresholds").RoundThresholds
    monkeypatch.setattr(defenses, "DEFENSES", (*DEFENSES, defense))
    safer = defense(step_size=10.0).apply(figure_3)
    assert all(edge % 10 == 0 for edge in safer.trees[0].low if np.isfinite(edge))
    assert defense(step_size=10.0).step == "thresholds rounded to multiples of 10"


@pytest.mark.filterwarnings("ignore", category=PrivacyWarning)
def test_the_trainer(module) -> None:
    trainer = module("one_leaf").OneLeafClassifier
    schema = ta.Schema(features=(ta.Feature(name="a", low=0, high=1),), classes=("no", "yes"))
    x = np.linspace(0, 1, 400)[:, None]
    model = trainer(epsilon=1.0, schema=schema).fit(x, np.repeat(["no", "yes"], [300, 100]))
    assert set(model.predict(x)) == {"no"}
    assert model.privacy_.epsilon == 1
    assert model.forest_.noise.rate == 1.0
