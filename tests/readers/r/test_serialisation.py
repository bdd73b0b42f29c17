"""R's serialisation as inert records, from bytes that were written by hand."""

import bz2
import gzip
import lzma
import shutil
import subprocess

import numpy as np
import pytest

from tests.readers.r.build import NULL, Writer, X
from treeaudit import ReadError
from treeaudit.readers.limits import LIMITS
from treeaudit.readers.open import unpack
from treeaudit.readers.r.objects import RObject, Short
from treeaudit.readers.r.serialisation import is_r, read_r


def read(data: bytes) -> RObject:
    return read_r(data, LIMITS).root


PEOPLE = {"age": [30, 41], "paid": [1.5, float("nan")], "name": ["Ann", None]}


@pytest.mark.parametrize("order", [">", "<"])
@pytest.mark.parametrize("version", [2, 3])
def test_a_table_in_both_orders_of_bytes(order: str, version: int) -> None:
    writer = Writer(order)
    table = read(writer.file(writer.frame(PEOPLE), version))
    assert (table.kind, table.classes, table.names) == ("list", ("data.frame",), [*PEOPLE])
    assert [one.kind for one in table.values] == ["integer", "double", "string"]
    assert table.get("age").values.tolist() == [30, 41]
    assert np.array_equal(table.get("paid").numbers(), [1.5, np.nan], equal_nan=True)
    assert table.get("name").texts() == ["Ann", ""]
    assert not table.get("income")


def test_ascii() -> None:
    text = b"A\n2\n262146\n131840\n19\n3\n13\n2\n30\nNA\n14\n3\n1.5\nNA\n-Inf\n16\n1\n32777\n6\n"
    one, two, three = read(text + rb"a\n\"\303\251" + b"\\040\n").values
    assert one.values.tolist() == [30, -(2**31)]
    assert np.array_equal(two.values, [1.5, np.nan, -np.inf], equal_nan=True)
    assert three.values == ['a\n"é ']


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, bytes])
def test_every_compression(pack) -> None:
    content = unpack(pack(X.file([1, 2])))
    assert is_r(content.data)
    assert read(content.data).values.tolist() == [1, 2]


def test_a_workspace_is_a_list_with_names() -> None:
    cells = X.pairs({"n": X.of([1]), "who": X.of(["Ann"])})
    stored = read_r(b"RDX2\n" + X.file(cells), LIMITS)
    assert (stored.format, stored.version) == ("r-rdata", "4.2.2")
    assert (stored.root.kind, stored.root.names) == ("list", ["n", "who"])


@pytest.mark.parametrize(
    ("raw", "mark", "text"),
    [
        ("é".encode(), 8, "é"),
        (b"\xe9", 4, "é"),
        (b"\xe9", 2, r"\xe9"),
        ("é".encode(), 0, "é"),
        (b"\xe9", 0, r"\xe9"),
    ],
)
def test_encodings(raw: bytes, mark: int, text: str) -> None:
    assert read(X.file(X.ints(16, 1) + X.text(raw, mark))).values == [text]


def test_a_factor_has_texts() -> None:
    factor = read(X.file(X.of([2, 1, -(2**31)], {"levels": X.of(["no", "yes"])})))
    assert factor.texts() == ["yes", "no", ""]


def test_an_environment_is_one_however_often_it_is_named() -> None:
    inside = X.environment({"train": X.frame(PEOPLE)})
    # The symbols `train`, `names`, `class` and `row.names` are the references 2 to 5.
    first, second = read(X.file([inside, X.ints(255 | 1 << 8)])).values
    assert first is second
    assert (first.kind, first.names) == ("environment", ["train"])
    assert first.get("train").is_a("data.frame")
    assert first.parts["enclosure"].kind == "global"


def test_an_active_binding_is_told() -> None:
    inside = X.environment({"now": X.of([1])}, level=1 << 27)
    assert read(X.file(inside)).active == ("now",)


def test_a_closure_has_its_parts() -> None:
    call = X.pairs({"": X.symbol("f"), "x": X.of([1])}, code=6)
    made = X.ints(3 | 1024) + X.environment({"n": X.of([7])}) + X.ints(NULL) + call
    closure = read(X.file(made))
    assert (closure.kind, [*closure.parts]) == ("closure", ["environment", "formals", "body"])
    assert closure.parts["environment"].get("n").values.tolist() == [7]
    body = closure.parts["body"]
    assert (body.kind, body.values[0].values, body.names) == ("language", "f", ["", "x"])


def test_many_short_vectors_take_little_room() -> None:
    shares = [X.of([0.25, 0.75])] * 30 + [X.ints(14, 0)] * 30 + [X.of([1.0])]
    found = read(X.file(X.of(shares, {"names": X.of([str(i) for i in range(61)])})))
    assert isinstance(found.values, Short)
    assert [found.values[i].values.tolist() for i in range(28, 32)] == [[0.25, 0.75]] * 2 + [[], []]
    assert found.values[-1].values.tolist() == [1.0]
    assert found.get("3").values.tolist() == [0.25, 0.75]
    assert (len(found), found.values.nbytes) == (61, 61 * 8)
    longer = read(X.file(X.of([*shares, X.of([0.5] * 21)])))
    assert isinstance(longer.values, list)
    assert [len(one) for one in list(longer.values)[-2:]] == [1, 21]


def altrep(name: str, state: bytes) -> bytes:
    info = X.pairs({"": X.symbol(name)})[:-4] + X.pairs({"": X.symbol("base")})
    return X.ints(238) + info + state + X.ints(NULL)


@pytest.mark.parametrize(
    ("name", "state", "kind", "values"),
    [
        ("compact_intseq", X.of([4.0, 3.0, -1.0]), "integer", [3, 2, 1, 0]),
        ("compact_realseq", X.of([2.0, 5e9, 1.0]), "double", [5e9, 5e9 + 1]),
        ("wrap_integer", X.of([X.of([1, 2]), X.of([0, 0])]), "integer", [1, 2]),
        ("deferred_string", X.pairs({"": X.of([7, -(2**31)])}), "string", ["7", None]),
        ("deferred_string", X.pairs({"": X.of([0.1, 1e20])}), "string", ["0.1", "1e+20"]),
    ],
)
def test_vectors_that_are_stored_in_a_shorter_way(name, state, kind, values) -> None:
    found = read(X.file(altrep(name, state)))
    assert found.kind == kind
    assert list(found.values) == values


def test_a_shorter_way_of_somebody_else_stays_as_it_is() -> None:
    found = read(X.file(altrep("mmap_real", X.of([1.0]))))
    assert (found.kind, found.values) == ("altrep", ["mmap_real", "base"])
    assert found.parts["state"].values.tolist() == [1.0]


VECTOR = X.file([1, 2, 3])


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (VECTOR[:-1], "ends too early"),
        (VECTOR + b"\0", "1 bytes follow its end"),
        (X.file(X.ints(255 | 9 << 8)), "refers to object 9, and 0 came before"),
        (X.file(X.ints(90)), "object type 90"),
        (X.file(X.ints(13, -2)), "a vector of -2 elements"),
        (X.file(X.ints(13, 2**31 - 1)), "2,147,483,647 elements"),
        (X.file(X.ints(14, -1, 1 << 14, 5)), "70,368,744,177,669 elements"),
        (X.file(X.ints(16, 1, 9, -7)), "a text of -7 bytes"),
        (X.file(X.ints(16, 1, 13, 1)), "no text is where one has to be"),
        (X.file(X.ints(1, 13, 0)), "no text is where one has to be"),
        (X.file(X.ints(4 | 512, 0, NULL, NULL, NULL, 13, 0)), "are no list"),
        (X.file([1], version=3).replace(b"\0\0\0\3", b"\0\0\0\x63", 1), "has version 99"),
        (b"RDX2\n" + X.file([1]), "a workspace holds no list of objects"),
        (b"RDX2\nQ\n", "does not begin"),
        (b"A\n2\n1\n1\n13\n2\n1\nx\n", "is no number"),
        (X.file(altrep("compact_intseq", X.of([2.0**31 - 1, 1.0, 1.0]))), "--max-bytes"),
        (X.file(altrep("compact_intseq", X.of([2.0, 2.0**31 - 1, 1.0]))), "goes beyond"),
        (X.file(altrep("compact_intseq", X.of([-1.0, 1.0, 1.0]))), "a sequence of -1 elements"),
    ],
)
def test_damage_is_one_sentence(data: bytes, says: str) -> None:
    assert is_r(data) or b"Q" in data or b"c" in data
    with pytest.raises(ReadError, match=says) as raised:
        read(data)
    assert "\n" not in str(raised.value)


SAVES = """
set.seed(1); library(stats)
f <- compiler::cmpfun(function(x, ...) { y <- x + 1L; if (y > 2) g(y, a = list(1, "b")) else NULL })
e <- new.env(); e$self <- e; e$train <- data.frame(a = 1:3, b = c("x", NA, "z"))
o <- list(f, e, quote(a + b[[1]]), 1:10, c(a = 1i), as.raw(1:3), y ~ x | z, expression(a, b),
          structure(list(), class = "k"), c(TRUE, NA), letters, as.character(1:5), list(), NULL,
          base::sum, asNamespace("stats"), globalenv(), pairlist(a = 1, 2), f)
for (ascii in c(FALSE, TRUE)) for (v in 2:3)
  saveRDS(o, paste0("o", ascii, v, ".rds"), ascii = ascii, version = v, compress = v == 3)
con <- file("oB.rds", "wb"); serialize(o, con, xdr = FALSE); close(con)
"""


@pytest.mark.slow
def test_what_r_writes_is_the_same_in_every_form(tmp_path) -> None:
    if not shutil.which("Rscript"):
        pytest.skip("R is not installed")
    subprocess.run(["Rscript", "-e", SAVES], cwd=tmp_path, check=True, capture_output=True)
    shapes = {one.name: shape(read(unpack(one.read_bytes()).data)) for one in tmp_path.glob("o*")}
    assert len(shapes) == 5
    assert len(set(shapes.values())) == 1


def shape(root: RObject) -> str:
    """Return all that an object holds as one text."""
    from treeaudit.readers.r.walk import walk

    return "\n".join(
        f"{one.path} {one.value.kind} {one.value.names} "
        + (str(list(one.value.values)) if one.value.kind in ("integer", "string", "raw") else "")
        for one in walk(root)
    )
