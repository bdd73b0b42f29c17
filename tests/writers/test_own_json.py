"""What is saved comes back array by array, and nothing else is overwritten."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import examples
from tests.systems import LINKS
from treeaudit import DataError, Feature, Forest, Schema, Source, Tree, load, save
from treeaudit.errors import ReadError, UnsupportedModelError
from treeaudit.model.forest import Answers, Noise
from treeaudit.model.tree import CategorySets
from treeaudit.writers.native_json import to_dict

ARRAYS = ("parent", "feature", "low", "high", "missing", "n_records", "counts", "label", "value")


def _same(a: Forest, b: Forest) -> None:
    assert a.schema == b.schema
    for name in (
        "counts_are",
        "counts_reason",
        "answers",
        "noise",
        "records_are",
        "privacy",
        "n_records",
    ):
        assert getattr(a, name) == getattr(b, name), name
    assert (a.answers, a.noise, a.single_precision) == (b.answers, b.noise, b.single_precision)
    assert a.source.estimator == b.source.estimator
    assert dict(a.source.parameters) == dict(b.source.parameters)
    for one, other in zip(a.trees, b.trees, strict=True):
        for name in ARRAYS:
            first, second = getattr(one, name), getattr(other, name)
            assert (first is None) == (second is None), name
            if first is not None:
                assert first.dtype == second.dtype, name
                assert np.array_equal(first, second), name
        assert (one.categories is None) == (other.categories is None)
        if one.categories is not None and other.categories is not None:
            assert one.categories.start.tolist() == other.categories.start.tolist()
            assert one.categories.codes.tolist() == other.categories.codes.tolist()


FULL = Forest(
    trees=(
        Tree(
            parent=[-1, 0, 0, 2, 2],
            feature=[-1, 0, 0, 1, 1],
            low=[-np.inf, -np.inf, 0.1, -np.inf, -np.inf],
            high=[np.inf, 0.1, np.inf, np.inf, np.inf],
            categories=CategorySets(start=[0, 0, 0, 0, 2, 3], codes=[0, 2, 1]),
            missing=[False, True, False, True, False],
            n_records=[9, 4, 5, 2, 3],
            counts=[[4, 5], [4, 0], [0, 5], [0, 2], [0, 3]],
            label=[1, 0, 1, 1, 1],
            value=[0.5, -1e300, 5e-324, 1 / 3, 0.0],
        ),
        Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf]),
    ),
    schema=Schema(
        features=(Feature(name="age"), Feature(name="città", categories=("a", "b", "<c>"))),
        classes=(False, True),
        target="ill",
    ),
    counts_reason="because",
    records_are="bootstrap",
    n_records=12,
    single_precision=True,
    privacy={"epsilon": 1.0},
    source=Source(estimator="Made", library_version="1.0", parameters={"depth": 3, "x": None}),
)


def test_every_array_comes_back(tmp_path: Path) -> None:
    path = save(FULL, tmp_path / "model.json")
    _same(load(path), FULL)
    assert load(path).source.format == "treeaudit-json"


def test_the_text_is_strict_json_and_stable(tmp_path: Path) -> None:
    text = save(FULL, tmp_path / "a.json").read_text()

    def refuse(name: str) -> None:
        raise AssertionError(name)

    assert json.loads(text, parse_constant=refuse)["trees"][0]["low"][0] is None
    assert save(load(tmp_path / "a.json"), tmp_path / "b.json").read_text() == text


@st.composite
def forests(draw: st.DrawFn) -> Forest:
    n = draw(st.integers(1, 8))
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    bounds = st.floats(allow_nan=False)

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=n, max_size=n))

    def maybe(values: st.SearchStrategy[Any]) -> list[Any] | None:
        return column(values) if draw(st.booleans()) else None

    label = st.text(max_size=5) | st.integers(-9, 9) | st.booleans()
    classes = draw(st.lists(label, min_size=1, max_size=3))
    weights = st.floats(0, 1e15)
    low, high = column(bounds), column(bounds)
    tree = Tree(
        parent=[-1, *(draw(st.integers(0, i - 1)) for i in range(1, n))],
        feature=[-1, *column(st.integers(0, 2))[1:]],
        # Only the open side of a bound is infinite.
        low=[-np.inf if v == np.inf else v for v in low],
        high=[np.inf if v == -np.inf else v for v in high],
        missing=maybe(st.booleans()),
        n_records=maybe(st.integers(0, 2**53)),
        counts=maybe(st.lists(weights, min_size=len(classes), max_size=len(classes))),
        label=maybe(st.integers(0, len(classes) - 1)),
        value=maybe(numbers),
    )
    names = draw(st.lists(st.text(st.characters(codec="utf-8")), min_size=3, max_size=3))
    texts = [c.encode("utf-8", "replace").decode() if isinstance(c, str) else c for c in classes]
    return Forest(trees=(tree,), schema=Schema.numeric(names, texts))


@examples(100)
@given(forests())
def test_any_forest_comes_back(tmp_path_factory: pytest.TempPathFactory, forest: Forest) -> None:
    path = tmp_path_factory.mktemp("json") / "model.json"
    _same(load(save(forest, path)), forest)


def test_answers_and_noise_come_back(tmp_path: Path) -> None:
    noise = Noise(rate=0.25, counts="leaves", afterwards=("shrunk", "clipped"))
    for i, answers in enumerate(get_args(Answers)):
        model = replace(FULL, counts_are="noisy", answers=answers, noise=noise)
        _same(load(save(model, tmp_path / f"{i}.json")), model)


@pytest.mark.parametrize(
    "wrong",
    [{"answers": "guess"}, {"answers": None}, {"noise": {"rate": 1}}, {"noise": "much"},
     {"noise": {"rate": -1, "counts": "leaves", "afterwards": [], "mechanism": "discrete Laplace"}},
     {"noise": {"rate": 1, "counts": [], "afterwards": [[]], "mechanism": {}}}],
)  # fmt: skip
def test_an_answer_or_a_noise_of_no_known_kind_is_refused(tmp_path: Path, wrong: Any) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(to_dict(replace(FULL, counts_are="noisy")) | wrong))
    with pytest.raises(ReadError):
        load(path)


def test_an_existing_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text("mine")
    with pytest.raises(DataError, match=r"exists already; use --force"):
        save(FULL, path)
    assert path.read_text() == "mine"
    assert save(FULL, path, force=True) == path
    _same(load(path), FULL)
    assert [p.name for p in tmp_path.iterdir()] == ["model.json"]


@LINKS
@pytest.mark.parametrize("force", [False, True])
def test_a_link_is_not_followed(force: bool, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("mine")
    link = tmp_path / "model.json"
    link.symlink_to(target)
    if force:
        save(FULL, link, force=True)
        assert not link.is_symlink()
        _same(load(link), FULL)
    else:
        with pytest.raises(DataError, match="exists already"):
            save(FULL, link)
    assert target.read_text() == "mine"


def test_a_failure_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.link", fail)
    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(DataError, match="no space left on device"):
        save(FULL, tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def _regressor(value: list[float], **parameters: object) -> Forest:
    inf = float("inf")
    tree = Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-inf, -inf, 15],
        high=[inf, 15, inf],
        n_records=[3, 1, 2],
        value=value,
    )
    return Forest(
        trees=(tree,),
        schema=Schema.numeric(["age"]),
        counts_are="absent",
        source=Source(parameters=parameters),
    )


def test_a_parameter_that_is_no_finite_number_is_null(tmp_path) -> None:
    inf, nan = float("inf"), float("nan")
    model = _regressor([1.5, 1.0, 2.0], a=inf, b={"c": [-inf, 1.5]}, d=(nan, None, "x"), e=2)
    path = save(model, tmp_path / "m.json")
    found = load(path).source.parameters
    assert found == {"a": None, "b": {"c": [None, 1.5]}, "d": [None, None, "x"], "e": 2}


def test_an_answer_that_is_no_finite_number_is_refused(tmp_path) -> None:
    with pytest.raises(UnsupportedModelError, match=r"not finite \(among its trees\), which JSON"):
        save(_regressor([float("inf"), 1.0, 2.0]), tmp_path / "m.json")
    assert not list(tmp_path.iterdir())
