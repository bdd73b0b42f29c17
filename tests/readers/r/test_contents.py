"""What an R file holds beside its trees, planted by hand."""

import pytest

from tests.readers.r.build import NULL, X
from treeaudit.readers.limits import LIMITS
from treeaudit.readers.r.model import extras_of
from treeaudit.readers.r.serialisation import read_r
from treeaudit.readers.r.walk import model_places, walk

N = 30
PEOPLE = X.frame({"age": [*range(N)], "ill": [0, 1] * 15})
MODEL = {"class": X.of(["rpart"])}


def found(data: bytes, *, workspace: bool = False) -> list[tuple[str, str, int, str]]:
    head = b"RDX2\n" if workspace else b""
    extras = extras_of([*walk(read_r(head + X.file(data), LIMITS).root)])
    return [(one.kind, one.where, one.n, one.says) for one in extras.found]


def model(more: dict[str, bytes]) -> bytes:
    return X.of({"method": X.of(["class"]), **more}, MODEL)


def test_nothing_beside_a_model() -> None:
    assert found(model({"where": X.of([1] * 9)})) == []


def test_a_model_that_a_formula_captured_is_extra_content() -> None:
    old = X.environment({"old": model({"control": X.of(["x" * 300])})})
    ((kind, where, n, says),) = found(model({"terms": X.of([X.of([1])], {".Environment": old})}))
    assert (kind, where, n > 300) == ("extra", 'attr($terms,".Environment")', True)
    assert says == "beyond the model: an environment of 1 entry, and in it a model (rpart)"


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (model({}), ""),
        (X.of({"finalModel": model({})}, {"class": X.of(["train"])}), "$finalModel"),
        (X.of([X.of([1]), model({})]), "[[2]]"),
        (X.environment({"state": X.of({"model": model({})})}), "$state$model"),
        (
            X.ints(3 | 1024) + X.environment({"m": model({})}) + X.ints(NULL, NULL),
            "environment()$m",
        ),
        (X.of({"old fit": model({"inner": model({})})}), "$`old fit`"),
    ],
)
def test_models_are_found_in_what_wraps_them(data: bytes, path: str) -> None:
    root = read_r(X.file(data), LIMITS).root
    assert [one.path for some in model_places([*walk(root)]) for one in some] == [path]


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (model({"model": PEOPLE}), "$model"),
        (X.of({"model": model({}), "my train": PEOPLE}), "$`my train`"),
        (X.of({"method": X.of(["class"])}, {**MODEL, "notes": PEOPLE}), 'attr(,"notes")'),
        (
            model({"terms": X.of([X.of([1])], {".Environment": X.environment({"train": PEOPLE})})}),
            'attr($terms,".Environment")$train',
        ),
        (model({"call": X.pairs({"": X.symbol("rpart"), "data": PEOPLE}, 6)}), "$call$data"),
        (
            model({"call": X.ints(3 | 1024) + X.environment({"d": PEOPLE}) + X.ints(NULL, NULL)}),
            "environment($call)$d",
        ),
        (model({"call": X.ints(5) + PEOPLE + X.symbol("d")}), "$call"),
    ],
)
def test_a_table_is_found_wherever_it_is(data: bytes, where: str) -> None:
    table = ("records", where, N, "a table of 30 rows and 2 columns (age, ill)")
    assert [one for one in found(data) if one[0] == "records"] == [table]


def test_values_for_each_row_and_their_names() -> None:
    who = {"names": X.of([f"P{i}" for i in range(N)])}
    numbers = {"names": X.of([str(2 * i) for i in range(N)])}
    data = model({"y": X.of([1, 2] * 15, numbers), "where": X.of([2] * N, who)})
    assert found(data) == [
        ("labels", "$y", N, "the label for each of 30 training rows in order, with row numbers of "
         "a larger table"),
        ("records", "$where", N, "the leaf for each of 30 training rows in order, with names of "
         "the rows"),
    ]  # fmt: skip


def test_a_list_of_vectors_is_one_entry() -> None:
    forest = X.of(
        {"inbag.counts": X.of([X.of([1] * N), X.of([2] * N)])}, {"class": X.of(["ranger"])}
    )
    says = "how often a tree drew it for each of 30 training rows in order, 2 times"
    assert found(forest) == [("records", "$inbag.counts[[*]]", N, says)]


def test_the_flat_table_of_gbm() -> None:
    data = X.of({"x": X.of([0.5] * 90), "y": X.of([1.0] * N)})
    booster = X.of({"data": data}, {"class": X.of(["gbm"])})
    says = "a table of 30 rows and 3 columns, as one vector"
    assert ("records", "$data$x", N, says) in found(booster)


def test_the_rest_is_extra_content() -> None:
    data = X.of({
        "model": model({"secret": X.of(["x" * 300])}),
        "auc": X.of([0.9]),
        "notes": X.of(["Ann is ill", "Bob is not"]),
    })  # fmt: skip
    assert found(data) == [
        ("notes", "$auc", 8, "a note beside the model: 1 value (double)"),
        ("extra", "$notes", 22, "beyond the model: 2 texts"),
        ("extra", "$model$secret", 301, "beyond the model: 1 text"),
    ]


def test_the_environment_of_a_table_is_looked_into() -> None:
    terms = X.of([X.of([1])], {".Environment": X.environment({"secret": X.of(["x" * 300])})})
    table = X.frame({"age": [*range(N)], "ill": [0, 1] * 15}, terms=terms)
    says = "beyond the model: an environment of 1 entry"
    place = 'attr(attr($model,"terms"),".Environment")'
    assert ("extra", place, 301, says) in found(model({"model": table}))


def test_seeds() -> None:
    call = X.pairs({"": X.symbol("ranger"), "seed": X.of([1])}, 6)
    forest = X.of({"call": call}, {"class": X.of(["ranger"])})
    assert [one[:2] for one in found(forest)] == [("seeds", "$call$seed")]


def call(name: str, *more: bytes) -> bytes:
    first = X.ints(6) + X.symbol(name)
    return first + b"".join(X.ints(2) + one for one in more) + X.ints(NULL)


def function(body: bytes) -> bytes:
    return X.ints(3 | 1024) + X.ints(253, NULL) + body


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (model({"functions": X.of({"print": function(call("system", X.of(["id"])))})}),
         "$functions$print"),
        (model({"terms": X.of([X.of([1])], {"predvars": call("list", call("unlink"))})}),
         'attr($terms,"predvars")'),
        (model({"control": X.ints(5) + X.ints(252) + call("do.call", X.of(["system"]))}),
         "$control"),
        (model({"call": X.environment({"now": function(call("date"))}, level=1 << 27)}), "$call"),
    ],
)  # fmt: skip
def test_code_that_would_act_is_named(data: bytes, where: str) -> None:
    assert [one[1] for one in found(data) if one[0] == "code"] == [where]


def test_a_method_in_a_workspace_is_named() -> None:
    cells = {"print.rpart": function(call("cat")), "helper": function(call("cat"))}
    acts = found(X.pairs({"fit": model({}), **cells}), workspace=True)
    says = "a function that takes the place of R's print.rpart"
    assert [one for one in acts if one[0] == "code"] == [("code", "$print.rpart", 1, says)]


def test_columns_that_are_called_like_functions_are_no_code() -> None:
    formula = call("~", X.symbol("ill"), call("+", X.symbol("system"), X.symbol("source")))
    assert [one for one in found(model({"call": formula})) if one[0] == "code"] == []
