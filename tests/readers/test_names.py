"""The gate for names: what may be mentioned, made and called."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeaudit.readers.pickles.names import DATA_CALLS, may_call, may_create, may_mention


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("sklearn.tree._tree", "Tree"),
        ("sklearn.tree.tree", "DecisionTreeClassifier"),
        ("sklearn._loss._loss", "__pyx_unpickle_CyHalfBinomialLoss"),
        ("_loss", "CyHalfSquaredError"),
        ("numpy.random._pickle", "__randomstate_ctor"),
        ("numpy.random.bit_generator", "__pyx_unpickle_SeedSequence"),
        ("pandas.core.indexes.base", "_new_Index"),
        ("functools", "partial"),
        ("builtins", "slice"),
    ],
)
def test_what_models_call_may_be_called(module: str, name: str) -> None:
    assert may_call(module, name)
    assert may_create(module, name)
    assert may_mention(module, name)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("joblib.numpy_pickle", "NumpyArrayWrapper"),
        ("sklearn.utils._bunch", "Bunch"),
        ("pandas.core.frame", "DataFrame"),
        ("__main__", "MyTree"),
        ("my_package.trees", "MyTree"),
    ],
)
def test_bare_instances_of_other_classes_may_be_made(module: str, name: str) -> None:
    assert may_create(module, name)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("my_package", "run"),
        ("__main__", "MyTree"),
        ("pandas", "HDFStore"),
        ("pandas.io.excel", "ExcelWriter"),
        ("numpy", "DataSource"),
        ("numpy", "load"),
        ("numpy", "memmap"),
        ("joblib", "load"),
        ("joblib", "Memory"),
        ("torch", "Module"),
        ("sklearn.datasets", "dump_svmlight_file"),
        ("sklearn.utils._bunch", "getattr"),
        ("sklearnish.tree", "Tree"),
        ("numpy.randomness", "State"),
    ],
)
def test_other_calls_are_refused(module: str, name: str) -> None:
    assert may_mention(module, name)
    assert not may_call(module, name)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("posix", "system"),
        ("nt", "system"),
        ("builtins", "eval"),
        ("__builtin__", "eval"),
        ("subprocess", "Popen"),
        ("importlib", "import_module"),
        ("commands", "getoutput"),
        ("distutils.spawn", "spawn"),
        ("operator", "attrgetter"),
        ("numpy.lib", "_datasource.os.system"),
        ("sklearn.tree", "tree.os"),
        ("sklearn tree", "Tree"),
        ("sklearn", "Tree\n"),
        ("sklearn..tree", "Tree"),
        ("", "Tree"),
        ("sklearn", ""),
        ("", ""),
    ],
)
def test_what_can_run_code_may_not_even_be_mentioned(module: str, name: str) -> None:
    assert not may_mention(module, name)
    assert not may_call(module, name)
    assert not may_create(module, name)


def test_no_module_of_the_standard_library_may_be_called_at_large() -> None:
    for module in sys.stdlib_module_names:
        for name in ("system", "Popen", "run", "open", "Thing", "getattr", "load"):
            assert not may_call(module, name), f"{module}.{name}"
            assert not may_create(module, name), f"{module}.{name}"


def test_every_constructor_of_data_may_be_mentioned() -> None:
    for full in DATA_CALLS:
        module, _, name = full.rpartition(".")
        assert may_mention(module, name), full


parts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(parts, parts)
def test_a_call_is_always_also_a_mention(module: str, name: str) -> None:
    assert may_mention(module, name) or not (may_call(module, name) or may_create(module, name))
    if may_mention(module, name):
        assert name.isidentifier()
        assert "." not in name
        assert "\n" not in module + name
        assert module
