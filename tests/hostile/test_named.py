"""Names outside the list, and states in the place of methods, in every place of a file."""

import pickle
from pathlib import Path

import pytest
import sklearn

from tests.hostile.build import STOP, Code, built, call, model, named, new, push, stored
from tests.hostile.files import Hostile
from tests.hostile.named import NAMED, REFERRED
from tests.outcome import read_whole, refusal
from treeaudit import UnsafeModelError, scan


@pytest.mark.parametrize("case", NAMED, ids=lambda case: case.name)
def test_it_is_refused_with_its_name(case: Hostile, tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(case.bytes())
    error = refusal(path)
    assert type(error) is case.error, error
    if case.error is not UnsafeModelError:
        assert str(error).startswith("treeaudit does not read ")


@pytest.mark.parametrize("name", REFERRED)
def test_a_function_that_is_only_named_is_no_pass(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(stored(REFERRED[name]))
    report = scan(read_whole(path))
    assert report["TA205"].status == "found"
    assert {check.name: check.status for check in report.checks}["max-calls"] == "skipped"
    assert report.verdict != "pass"


def test_there_are_many() -> None:
    assert len({case.name for case in NAMED}) == len(NAMED) > 180


def _touch(marker: Path, target: Code) -> bytes:
    """Return a pickle that appends an empty dictionary, the globals of what numpy runs then."""
    function = call(
        named("functools", "partial"),
        named("numpy.testing._private.utils", "runstring"),
        f"open({str(marker)!r}, 'w').close()",
    )
    state = {"append": function, "_sklearn_version": sklearn.__version__}
    return b"\x80\x02" + built(target, state) + b"}a0" + push(1) + STOP


@pytest.mark.parametrize(
    "target",
    [
        call(named("types", "SimpleNamespace")),
        new(named("sklearn.tree._classes", "DecisionTreeClassifier")),
    ],
    ids=["namespace", "tree"],
)
def test_the_real_loader_would_run_it(target: Code, tmp_path: Path) -> None:
    """The payload only makes a file in the folder of the test."""
    marker, path = tmp_path / "marker", tmp_path / "model"
    path.write_bytes(_touch(marker, target))
    assert type(refusal(path)) is UnsafeModelError
    assert not marker.exists()
    pickle.loads(path.read_bytes())
    assert marker.exists()


def test_the_real_loader_would_run_the_text_of_a_distribution(tmp_path: Path) -> None:
    """What scipy restores it does with exec."""
    stats = pytest.importorskip("scipy.stats")
    marker, path = tmp_path / "marker", tmp_path / "model"
    data = pickle.dumps(stats.norm, 2)
    assert refusal_of(path, data) is not UnsafeModelError
    text = stats.norm._parse_arg_template
    code = f"open({str(marker)!r}, 'w').close()#"
    payload = code + "x" * (len(text) - len(code))
    hostile = data.replace(text.encode(), payload.encode())
    assert refusal_of(path, hostile) is UnsafeModelError
    assert not marker.exists()
    with pytest.raises(KeyError):
        pickle.loads(hostile)
    assert marker.exists()


def refusal_of(path: Path, data: bytes) -> type[Exception]:
    path.write_bytes(data)
    return type(refusal(path))


@pytest.mark.parametrize(
    "extra",
    [
        new(named("some_package.parts", "Thing")),
        call(named("some_package.parts", "Thing"), 1),
        new(named("some_package.parts", "thing")),
        named("some_package.parts", "Thing"),
        named("sklearn.tree._classes", "SomethingNew"),
        new(named("sklearn.new_module", "SomethingNew")),
    ],
    ids=["made", "called", "made-in-small-letters", "named", "known-library", "known-made"],
)
def test_a_class_that_nobody_listed_is_named_and_no_pass(extra: Code, tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(stored(model(extra=extra)))
    forest = read_whole(path)
    (found,) = [one for one in forest.extras.found if one.kind in ("calls", "extra")][:1]
    assert found.where.startswith(("some_package", "sklearn"))
    report = scan(forest)
    checks = {check.name: check.status for check in report.checks}
    assert checks["max-calls"] == "skipped" or checks["max-extra-bytes"] != "pass"
    assert report.verdict != "pass"
