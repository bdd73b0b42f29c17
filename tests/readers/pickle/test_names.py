"""The gate for names: what may be mentioned, made and called."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeaudit.readers.pickle.names import (
    DATA_CALLS,
    FUNCTIONS,
    judge,
    may_call,
    may_create,
    may_fetch,
    may_hand,
    may_import,
    may_mention,
)
from treeaudit.readers.pickle.pickle_vm import read_pickle

MAY = {"call": may_call, "create": may_create, "mention": may_mention}
CAN_RUN_CODE = """
    pandas:HDFStore pandas.io.excel:ExcelWriter numpy:DataSource numpy:load numpy:memmap
    joblib:load joblib:Memory sklearn.externals.joblib:Memory sklearn.datasets._base:Path
    pandas.core.computation.expr:Expr pandas._libs.parsers:TextReader
    sklearn.datasets:dump_svmlight_file sklearn.utils._bunch:getattr
    numpy.testing._private.utils:runstring sklearn.externals.joblib:load os:system posix:system
    nt:system builtins:eval __builtin__:eval subprocess:Popen importlib:import_module
    commands:getoutput distutils.spawn:spawn operator:attrgetter numpy.lib:_datasource.os.system
    sklearn.tree:tree.os sklearn..tree:Tree :Tree sklearn: :
"""
CALLED_BY_MODELS = """
    sklearn.tree._tree:Tree sklearn.tree.tree:DecisionTreeClassifier
    sklearn._loss._loss:__pyx_unpickle_CyHalfBinomialLoss _loss:CyHalfSquaredError
    numpy.random._pickle:__randomstate_ctor pandas.core.indexes.base:_new_Index
    numpy.random.bit_generator:__pyx_unpickle_SeedSequence functools:partial builtins:slice
"""
BARE_INSTANCES = """
    joblib.numpy_pickle:NumpyArrayWrapper sklearn.utils._bunch:Bunch pandas.core.frame:DataFrame
    __main__:MyTree my_package.trees:MyTree
"""
OTHER_CALLS = "xgboost.core:Booster lightgbm.basic:Dataset catboost.core:Pool"
OTHER_CALLS += " numpy.randomness:State"


def parted(words: str) -> list[tuple[str, ...]]:
    """Return module, name and more of words that colons part."""
    return [tuple(word.split(":")) for word in words.split()]


@pytest.mark.parametrize(
    ("words", "may", "may_not"),
    [
        (CALLED_BY_MODELS, "call create mention", ""),
        (BARE_INSTANCES, "create", ""),
        (OTHER_CALLS, "mention", "call"),
        (CAN_RUN_CODE, "", "call create mention"),
    ],
    ids=["called by models", "bare instances", "other calls", "can run code"],
)
def test_what_may_be_done_with_a_name(words: str, may: str, may_not: str) -> None:
    strange = [("sklearn tree", "Tree"), ("sklearn", "Tree\n")] if not may else []
    for module, name in parted(words) + strange:
        assert all(MAY[one](module, name) for one in may.split()), (module, name)
        assert not any(MAY[one](module, name) for one in may_not.split()), (module, name)


JUDGED = """
    sklearn.tree._classes:DecisionTreeClassifier:listed
    sklearn.tree.tree:DecisionTreeClassifier:listed
    sklearn.ensemble.gradient_boosting:BinomialDeviance:listed
    sklearn.externals.joblib.numpy_pickle:NumpyArrayWrapper:listed
    pandas.core.index:Index:listed numpy:log1p:listed
    numpy.core._multiarray_umath:log1p:listed scipy.special._ufuncs:expit:listed
    sklearn.metrics._classification:f1_score:listed
    scipy.stats._continuous_distns:norm_gen:listed
    sklearn._loss._loss:__pyx_unpickle_CyHalfBinomialLoss:listed imblearn.pipeline:Pipeline:listed
    sklearn.tree._classes:SomethingNew:class my_package:Thing:class my_package:_Thing:class
    my_package:run:function __main__:run:function __main__:Thing.run:function
    __main__:Thing.Inner:class sklearnish.tree:run:function
    sklearn.tree._classes:something_new:unsafe my_package:util.os:unsafe
    my_package:Thing.__globals__:unsafe my_package:Popen:unsafe six.moves:map:unsafe
"""


@pytest.mark.parametrize(("module", "name", "kind"), parted(JUDGED))
def test_what_a_name_is_judged_to_be(module: str, name: str, kind: str) -> None:
    assert judge(module, name) == kind
    assert may_mention(module, name) or kind != "listed"


def test_functions_that_are_listed_are_not_called() -> None:
    for full in FUNCTIONS:
        module, _, name = full.rpartition(".")
        assert judge(module, name) == "listed"
        assert not may_call(module, name), full


def test_no_module_of_the_standard_library_may_be_called_at_large() -> None:
    for module in sys.stdlib_module_names:
        for name in ("system", "Popen", "run", "open", "Thing", "getattr", "load"):
            assert not may_call(module, name), f"{module}.{name}"
            assert not may_create(module, name), f"{module}.{name}"


def test_every_constructor_of_data_may_be_mentioned() -> None:
    for full in DATA_CALLS:
        module, _, name = full.rpartition(".")
        assert may_mention(module, name), full


FETCHED = """
    zoneinfo:ZoneInfo:_unpickle scipy.interpolate._interpolate:interp1d:_call_linear
    scipy.stats._continuous_distns:norm_gen:cdf numpy.random._pickle:__generator_ctor:normal
    sklearn.preprocessing._data:StandardScaler:transform builtins:str:lower
"""
NOT_FETCHED = """
    os:path:os posix:system:x builtins:str:format builtins:getattr:x
    builtins:object:__subclasses__ zoneinfo:ZoneInfo:__subclasses__ zoneinfo:ZoneInfo:from_file
    numpy:f2py:os numpy:ndarray:tofile numpy.lib:_datasource:os pandas:DataFrame:__init__
    pandas:DataFrame:eval.os pandas:DataFrame: pandas:DataFrame.eval:os pandas::os
    my_package:thing:run __main__:Thing:__globals__ pandas:DataFrame:eval
    sklearn.pipeline:Pipeline:fit functools:partial:func
"""


@pytest.mark.parametrize(("module", "owner", "member"), parted(FETCHED))
def test_members_of_known_classes_may_be_named(module: str, owner: str, member: str) -> None:
    assert may_fetch(module, owner, member)


@pytest.mark.parametrize(("module", "owner", "member"), parted(NOT_FETCHED))
def test_other_members_may_not_be_named(module: str, owner: str, member: str) -> None:
    assert not may_fetch(module, owner, member)


def test_to_name_a_method_is_not_to_call_it() -> None:
    for module, owner, method in (
        ("sklearn.preprocessing._data", "StandardScaler", "transform"),
        ("numpy.random._pickle", "__generator_ctor", "normal"),
    ):
        assert not may_call(module, f"{owner}.{method}")
        assert not may_create(module, f"{owner}.{method}")


HANDED = """
    numpy.random._pcg64:PCG64 numpy:ndarray pandas.core.indexes.base:Index
    sklearn.neighbors._kd_tree:KDTree builtins:object
"""
NOT_HANDED = """
    joblib:load numpy:load pandas:read_pickle pandas:DataFrame.eval my_package:Thing __main__:run
    functools:partial operator:itemgetter posix:system xgboost.core:Booster
    sklearn.externals.joblib:Memory
"""


@pytest.mark.parametrize(("module", "name"), parted(HANDED))
def test_a_constructor_may_be_handed_classes_of_data(module: str, name: str) -> None:
    assert may_hand("numpy.random._pickle.__bit_generator_ctor", module, name)


@pytest.mark.parametrize(("module", "name"), parted(NOT_HANDED))
def test_a_constructor_may_not_be_handed_what_it_could_call(module: str, name: str) -> None:
    assert not may_hand("numpy.random._pickle.__randomstate_ctor", module, name)


@pytest.mark.parametrize("module", ["os", "", "numpy.", "subprocess", "posix", "os.path"])
def test_a_whole_module_is_of_a_library_or_does_nothing_on_import(module: str) -> None:
    assert all(map(may_import, ("numpy.linalg", "my_package", "pickle")))
    assert not may_import(module)


def test_a_module_that_code_in_the_file_uses_is_named() -> None:
    data = b"\x80\x02ccloudpickle.cloudpickle\nsubimport\nX\x0a\x00\x00\x00my_package\x85R."
    assert [str(one) for one in read_pickle(data).mentioned][1:] == ["my_package.*"]


parts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(parts, parts)
def test_a_call_is_always_also_a_mention(module: str, name: str) -> None:
    assert may_mention(module, name) or not (may_call(module, name) or may_create(module, name))
    if may_mention(module, name):
        assert name.isidentifier()
        assert "." not in name
        assert "\n" not in module + name
        assert module
