"""Known loading flaws of the version that wrote a file."""

import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from treeaudit import load
from treeaudit.readers.residual.code import flaws


@pytest.mark.parametrize(
    ("version", "names"),
    [
        ("0.2", ["CVE-2025-54412", "CVE-2025-54886"]),
        ("0.7.post0", ["CVE-2025-54412", "CVE-2025-54886"]),
        ("0.11.0", ["CVE-2025-54412", "CVE-2025-54886"]),
        ("0.12.0", ["CVE-2025-54886"]),
        ("0.13.0", []),
        ("0.16", []),
        ("1.0.0", []),
        ("", []),
        ("dev", []),
        ("9" * 5000, []),
        (None, []),
        (12, []),
        ("\u0660.1", []),
    ],
)
def test_the_flaws_of_a_version(version: object, names: list[str]) -> None:
    found = list(flaws("skops", version))
    assert [one.where.partition("(")[2].rstrip(")") for one in found] == names
    for one in found:
        assert one.kind == "flaws"
        assert "should use skops 0.1" in one.says


def test_another_library_has_no_flaw_of_skops() -> None:
    assert not list(flaws("scikit-learn", "0.2"))


@pytest.mark.libraries
def test_a_skops_file_tells_the_version_that_wrote_it(tmp_path) -> None:
    io = pytest.importorskip("skops.io")
    import json
    import zipfile

    model = DecisionTreeClassifier(max_depth=2).fit(*load_iris(return_X_y=True))
    whole = tmp_path / "model.skops"
    io.dump(model, whole)
    assert not [one for one in load(whole).extras.found if one.kind == "flaws"]
    old = tmp_path / "old.skops"
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(old, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name == "schema.json":
                data = json.dumps(json.loads(data) | {"_skops_version": "0.11.0"}).encode()
            target.writestr(name, data)
    found = [one for one in load(old).extras.found if one.kind == "flaws"]
    assert [one.where for one in found] == [
        "skops 0.11.0 (CVE-2025-54412)",
        "skops 0.11.0 (CVE-2025-54886)",
    ]
