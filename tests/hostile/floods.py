"""Attacks on memory and processor time, made by families: one part many times, or one huge part.

Each is a file that is small beside what it would become. What reading it may take is four
times its size and 256 MB, whatever it ends in.
"""

import bz2
import gzip
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

__all__ = ["FLOODS", "Flood"]

PLAIN, PACKED = 3 << 20, 20 << 20


class Flood(NamedTuple):
    """A file that asks for more than its size: its name, and what makes it."""

    name: str
    data: Callable[[], bytes]


def _zlib(data: bytes) -> bytes:
    return zlib.compress(data, 1)


def _xz(data: bytes) -> bytes:
    return lzma.compress(data, preset=0)


def _lzma(data: bytes) -> bytes:
    return lzma.compress(data, format=lzma.FORMAT_ALONE, preset=0)


def _zf(data: bytes) -> bytes:
    return b"ZF0x" + b"%-17x" % len(data) + zlib.compress(data, 1)


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, 1, mtime=0)


_WAYS: Mapping[str, Callable[[bytes], bytes]] = {
    "zlib": _zlib,
    "gzip": _gzip,
    "bz2": bz2.compress,
    "xz": _xz,
    "lzma": _lzma,
    "ZF": _zf,
}


def _filled(head: bytes, unit: bytes, end: bytes, size: int, way: str = "") -> bytes:
    data = head + unit * ((size - len(head) - len(end)) // len(unit)) + end
    return _WAYS[way](data) if way else data


def _numbered(head: bytes, form: bytes, end: bytes, size: int, way: str = "") -> bytes:
    """Return the same, each part with a number of its own."""
    n = size // (len(form) + 5)
    data = head + b"".join(form % i for i in range(n)) + end
    return _WAYS[way](data) if way else data


def _three(
    name: str, head: bytes, unit: bytes, end: bytes, ways: tuple[str, ...]
) -> Iterator[Flood]:
    yield Flood(f"{name}-plain", partial(_filled, head, unit, end, PLAIN))
    for way in ways:
        size = PACKED if way in ("zlib", "gzip") else PACKED // 3
        yield Flood(f"{name}-{way}", partial(_filled, head, unit, end, size, way))


# -- pickles ------------------------------------------------------------------

_FACE = "\U0001f600".encode()


def _text(raw: bytes) -> bytes:
    return b"X" + struct.pack("<I", len(raw)) + raw


_UNITS: Mapping[str, tuple[int, bytes]] = {
    "none": (0, b"N"),
    "mark": (0, b"("),
    "dup": (2, b"2"),
    "int-line": (0, b"I7777\n"),
    "long-line": (0, b"L77777777777777777777L\n"),
    "long-long-line": (0, b"L" + b"7" * 1000 + b"L\n"),
    "float-line": (0, b"F1.5\n"),
    "float": (2, b"G" + bytes(8)),
    "int4": (2, b"J\1\2\3\4"),
    "long1": (2, b"\x8a\xff" + b"\7" * 255),
    "long4": (2, b"\x8b\0\4\0\0" + b"\7" * 1024),
    "quoted": (0, b"S'ab'\n"),
    "quoted-long": (0, b"S'" + b"a" * 4000 + b"'\n"),
    "unicode-line": (0, b"Vab\n"),
    "unicode-line-wide": (0, b"V\\U0001F600" + b"a" * 4000 + b"\n"),
    "string": (1, b"U\2ab"),
    "string-long": (1, b"T\0\x10\0\0" + b"a" * 4096),
    "text": (4, b"\x8c\2ab"),
    "text-wide": (4, b"\x8c\x06" + _FACE + b"ab"),
    "text-page": (4, _text(_FACE + b"a" * 4000)),
    "text-pages": (4, _text(_FACE + b"a" * 40_000)),
    "bytes": (3, b"C\2ab"),
    "bytes-page": (3, b"B\xff\x0f\0\0" + b"a" * 4095),
    "bytes-view": (3, b"B\0\x10\0\0" + b"a" * 4096),
    "bytearray": (5, b"\x96" + struct.pack("<Q", 5000) + b"a" * 5000),
    "list": (1, b"]"),
    "dict": (1, b"}"),
    "set": (4, b"\x8f"),
    "frozenset": (4, b"(\x91"),
    "tuple": (0, b"(t"),
    "tuple1": (2, b"N\x85"),
    "tuple-nested": (2, b"\x85"),
    "list-nested": (1, b"]]a"),
    "memo": (4, b"N\x94"),
    "memo-popped": (4, b"N\x940"),
    "append": (1, b"Na"),
    "global": (0, b"cfoo\nBar\n"),
    "global-popped": (0, b"cfoo\nBar\n0"),
    "global-long": (0, b"c" + b"m" * 500 + b"\n" + b"n" * 500 + b"\n"),
    "global-stack": (4, b"\x8c\1m\x8c\1n\x93"),
    "inst": (0, b"(ifoo\nBar\n"),
    "object": (1, b"(cfoo\nBar\no"),
    "reduce": (2, b"cfoo\nBar\n)R"),
    "newobj": (2, b"cfoo\nBar\n)\x81"),
    "build": (2, b"cfoo\nBar\n)\x81}b"),
    "dtype": (2, b"cnumpy\ndtype\n(\x8c\2f8\x89\x88tR"),
    "frames": (4, b"\x95\1\0\0\0\0\0\0\0N"),
    "protocols": (2, b"\x80\4"),
}
_NEEDS_A_LIST = ("append",)


def _pickle_units() -> Iterator[Flood]:
    ways = [*_WAYS]
    for i, (name, (protocol, unit)) in enumerate(_UNITS.items()):
        head = b"\x80" + bytes([max(protocol, 2)])
        head = head + b"]" if name in _NEEDS_A_LIST or unit == b"2" else head
        if unit == b"\x85":
            head += b")"
        yield from _three(f"pickle{protocol}-{name}", head, unit, b".", (ways[i % len(ways)],))
    yield from _three("pickle2-recalled-above-a-mark", b"\x80\2(K\1q\1", b"h\1", b"l.", ("zlib",))


def _pickle_numbered() -> Iterator[Flood]:
    for name, form in {
        "keys": b"I%d\nNs",
        "text-keys": b"S'%d'\nNs",
        "puts": b"Np%d\n0",
        "names": b"cfoo\nBar%d\n0",
        "tuple-keys": b"I%d\n\x85Ns",
    }.items():
        for way in ("", "zlib", "xz"):
            size = PLAIN if not way else 8 * PLAIN
            label = f"pickle0-numbered-{name}-{way or 'plain'}"
            yield Flood(label, partial(_numbered, b"}", form, b".", size, way))


def _huge_text(kind: str, first: bytes, rest: bytes, size: int, way: str) -> bytes:
    raw = first + rest * ((size - len(first)) // len(rest))
    heads = {
        "X": b"\x80\4X" + struct.pack("<I", len(raw)),
        "8": b"\x80\4\x8d" + struct.pack("<Q", len(raw)),
        "T": b"(T" + struct.pack("<i", len(raw)),
        "B": b"\x80\4B" + struct.pack("<I", len(raw)),
        "V": b"(V",
    }
    return _WAYS[way](heads[kind] + raw + (b"\n" if kind == "V" else b"") + b"0N.")


def _pickle_huge() -> Iterator[Flood]:
    texts = {"ascii": (b"a", b"a"), "latin": (b"", "é".encode()), "wide2": ("€".encode(), b"a")}
    for text, (first, rest) in {**texts, "wide4": (_FACE, b"a")}.items():
        for kind in "X8TBV":
            for megabytes in (60, 150):
                make = partial(_huge_text, kind, first, rest, megabytes << 20, "zlib")
                yield Flood(f"pickle-one-{kind}-{text}-{megabytes}", make)


# -- compression --------------------------------------------------------------


def _members(way: str, n: int, each: bytes = b"") -> bytes:
    return _WAYS[way](each) * n


def _stated(n: int) -> bytes:
    return b"ZF0x" + b"%-17x" % n + zlib.compress(b"a")


def _compression() -> Iterator[Flood]:
    for way in _WAYS:
        yield Flood(f"zeros-{way}", partial(_filled, b"", bytes(1 << 20), b"", 300 << 20, way))
    for way in ("gzip", "bz2", "xz"):
        yield Flood(f"members-empty-{way}", partial(_members, way, 60_000))
        yield Flood(f"members-{way}", partial(_members, way, 9_000, bytes(100_000)))
    for n in (1 << 30, 1 << 60):
        yield Flood(f"ZF-states-{n}", partial(_stated, n))
    yield Flood("xz-dictionary", lambda: lzma.compress(b"a", filters=[_HUGE_DICTIONARY]))
    yield Flood("zlib-empty-blocks", lambda: b"\x78\x9c" + b"\0\0\0\xff\xff" * 1_500_000)


_HUGE_DICTIONARY = {"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30}


# -- text: JSON, XML, LightGBM ------------------------------------------------

_JSON_HEADS = {
    "xgboost": b'{"version":[2,1,0],"learner":{"a":',
    "lightgbm": b'{"name":"tree","version":"v4","tree_info":',
    "catboost": b'{"oblivious_trees":[],"features_info":',
    "own": b'{"format":"treeaudit-model","version":1,"trees":',
}
_JSON_UNITS = {
    "lists": (b"[", b"[],", b"0]"),
    "objects": (b"[", b"{},", b"0]"),
    "numbers": (b"[", b"1234,", b"0]"),
    "texts": (b"[", b'"ab",', b"0]"),
    "wide-texts": (b"[", b'"' + _FACE + b'a",', b"0]"),
    "texts-like-names": (b"[", b'"\\":\\":",', b"0]"),
    "depth": (b"", b"[", b""),
    "depth-objects": (b"", b'{"a":', b""),
    "one-text": (b'"', b"a" * 64, b'"'),
    "one-wide-text": (b'"' + _FACE, b"a" * 64, b'"'),
    "escapes": (b'"', b"\\ud83d\\ude00", b'"'),
    "digits": (b"", b"7" * 64, b""),
    "blanks": (b"", b" " * 64, b"0"),
}


def _json() -> Iterator[Flood]:
    for form, head in _JSON_HEADS.items():
        for name, (begin, unit, end) in _JSON_UNITS.items():
            ways = ("zlib",) if form in ("xgboost", "own") else ()
            yield from _three(f"{form}-json-{name}", head + begin, unit, end + b"}}", ways)
        keys = partial(_numbered, head + b"{", b'"k%d":0,', b'"":0}}}', PLAIN)
        yield Flood(f"{form}-json-keys", keys)
    head, one = b'{"features_info":{},"oblivious_trees":[', b'{"leaf_values":[1.5],"splits":[]}'
    yield Flood("catboost-json-trees", partial(_filled, head + one, b"," + one, b"]}", PACKED // 2))


_XML = b"<PMML xmlns='http://www.dmg.org/PMML-4_4' version='4.4'>"
_TREE = _XML + b"<DataDictionary/><TreeModel functionName='classification'>"
_XML_UNITS = {
    "depth": (_TREE, b"<Node>"),
    "depth-conditions": (_TREE + b"<Node>", b"<CompoundPredicate booleanOperator='and'>"),
    "nodes": (_TREE + b"<Node>", b"<Node/>"),
    "nodes-with-conditions": (_TREE + b"<Node>", b"<Node><True/></Node>"),
    "counts": (_TREE + b"<Node>", b"<ScoreDistribution value='a' recordCount='1'/>"),
    "fields": (_XML + b"<DataDictionary>", b"<DataField/>"),
    "derived": (_XML + b"<TransformationDictionary>", b"<DerivedField/>"),
    "values": (_XML + b"<DataDictionary><DataField name='a'>", b"<Value value='ab'/>"),
    "columns": (_TREE + b"<MiningSchema>", b"<MiningField name='a'/>"),
    "trees": (_XML + b"<MiningModel>", b"<TreeModel/>"),
    "models": (_XML, b"<TreeModel/>"),
    "comments": (_XML, b"<!--abc-->"),
    "instructions": (_XML, b"<?a b?>"),
    "unknown": (_XML, b"<a/>"),
    "unknown-depth": (_XML, b"<a>"),
    "records": (_XML + b"<TreeModel><ModelVerification><InlineTable>", b"<row><a>1</a></row>"),
    "words": (_XML, b"abc "),
    "one-comment": (_XML + b"<!--", b"a" * 64),
    "one-wide-attribute": (_XML + b"<Header copyright='" + _FACE, b"a" * 64),
    "one-wide-name": (_XML + b"<", b"a" * 64),
}
_ARRAY = _TREE + b"<Node><SimpleSetPredicate field='a' booleanOperator='isIn'><Array type='string'>"
_LAUGHS = (
    b'<!DOCTYPE PMML [<!ENTITY a0 "ha">'
    + b"".join(b'<!ENTITY a%d "&a%d;&a%d;">' % (i, i - 1, i - 1) for i in range(1, 60))
    + b"]><PMML>&a59;</PMML>"
)


def _xml() -> Iterator[Flood]:
    for name, (head, unit) in _XML_UNITS.items():
        yield from _three(f"pmml-{name}", head, unit, b"", ("zlib",))
    yield Flood("pmml-set", partial(_numbered, _ARRAY, b"a%d ", b"</Array>", PLAIN))
    yield Flood("pmml-many-attributes", partial(_numbered, _XML + b"<a ", b"a%d='' ", b"/>", PLAIN))
    named = partial(_numbered, _XML + b"<DataDictionary>", b"<DataField name='a%d'/>", b"", PLAIN)
    yield Flood("pmml-named-fields", named)
    head = _XML + b"<MiningModel functionName='regression'><Segmentation multipleModelMethod='sum'>"
    one = b"<TreeModel functionName='regression'><Node score='1'><True/></Node></TreeModel>"
    one = b"<Segment><True/>" + one + b"</Segment>"
    end = b"</Segmentation></MiningModel></PMML>"
    yield Flood("pmml-segments", partial(_filled, head, one, end, PACKED // 2))
    yield Flood("pmml-entities", lambda: _LAUGHS)
    quadratic = b'<!DOCTYPE PMML [<!ENTITY a "' + b"a" * 1_000 + b'">]><PMML>' + b"&a;" * 500_000
    yield Flood("pmml-quadratic-entities", lambda: quadratic)


_TEXT = b"tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=0\n"
_TEXT_UNITS = {
    "lines": (_TEXT, b"a=b\n"),
    "trees": (_TEXT + b"feature_names=a\nfeature_infos=none\n\n", b"Tree=0\n"),
    "words": (_TEXT + b"feature_names=", b"a "),
    "one-word": (_TEXT + b"feature_names=", b"a" * 64),
    "infos": (_TEXT + b"feature_names=a\nfeature_infos=", b"[0:1] "),
    "categories": (_TEXT + b"feature_names=a\nfeature_infos=", b"1:"),
    "leaves": (_TEXT + b"feature_infos=none\n\nTree=0\nnum_leaves=2\nleaf_value=", b"1 "),
    "ends": (_TEXT, b"end of trees\n"),
    "parameters": (_TEXT + b"\nend of trees\n\nparameters:\n", b"[a: b]\n"),
    "pandas": (_TEXT + b"\nend of trees\n\npandas_categorical:[[", b'"a",'),
    "pandas-depth": (_TEXT + b"\nend of trees\n\npandas_categorical:", b"["),
    "blank-lines": (_TEXT, b"\n"),
}


def _lightgbm() -> Iterator[Flood]:
    for name, (head, unit) in _TEXT_UNITS.items():
        yield from _three(f"lightgbm-text-{name}", head, unit, b"\n", ("zlib",))


# -- binary: UBJSON, ONNX, zip, npy -------------------------------------------

_UBJSON = b"{i\x07learner{i\x01a"
_UBJSON_UNITS = {
    "lists": (b"[", b"[]"),
    "objects": (b"[", b"{}"),
    "small": (b"[", b"i\1"),
    "texts": (b"[", b"Si\2ab"),
    "nothing": (b"[", b"N"),
    "null": (b"[", b"Z"),
    "true-typed": (b"[$T#l\x7f\xff\xff\xff", b"T"),
    "depth": (b"", b"["),
    "keys": (b"{", b"i\2abZ"),
    "typed-empty": (b"[", b"[$d#i\0"),
    "one-text": (b"Sl\x00\x3f\xff\xff", b"a" * 64),
}


def _ubjson() -> Iterator[Flood]:
    for name, (head, unit) in _UBJSON_UNITS.items():
        yield from _three(f"ubjson-{name}", _UBJSON + head, unit, b"]}}", ("zlib",))


def _varint(n: int) -> bytes:
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


_IN_MODEL = {
    "graphs": _field(7, b""),
    "functions": _field(25, b""),
    "functions-with-nodes": _field(25, _field(7, b"")),
    "notes": _field(14, _field(1, b"a")),
    "domains": _field(8, b""),
    "unknown": _field(99, b"ab"),
    "unknown-numbers": _varint(99 << 3) + b"\1",
    "producers": _field(2, b"abc"),
}
_IN_GRAPH = {
    "nodes": _field(1, b""),
    "nodes-named": _field(1, _field(3, b"ab") + _field(4, b"cd")),
    "tensors": _field(5, b""),
    "tensors-with-sizes": _field(5, b"\x08\1\x08\1"),
    "inputs": _field(11, _field(1, b"a")),
    "infos": _field(13, b""),
    "notes": _field(16, _field(1, b"a")),
    "attributes": _field(1, _field(5, _field(1, b"a"))),
    "texts": _field(1, _field(5, _field(9, b"") * 20)),
}


def _onnx(many: bytes, inside: bool, size: int, way: str = "") -> bytes:
    parts = many * (size // len(many))
    data = b"\x08\x09" + _field(2, b"x") + (_field(7, parts) if inside else parts)
    return _WAYS[way](data) if way else data


def _onnx_deep(n: int) -> bytes:
    inner = b""
    for _ in range(n):
        inner = _field(1, _field(5, _field(1, b"a") + _field(6, inner)))
    return b"\x08\x09" + _field(2, b"x") + _field(7, inner)


def _onnx_floods() -> Iterator[Flood]:
    for inside, parts in ((False, _IN_MODEL), (True, _IN_GRAPH)):
        for name, many in parts.items():
            where = "graph" if inside else "model"
            for way in ("", "zlib"):
                size = PACKED if way else PLAIN
                label = f"onnx-{where}-{name}-{way or 'plain'}"
                yield Flood(label, partial(_onnx, many, inside, size, way))
    yield Flood("onnx-depth", partial(_onnx_deep, 3_000))
    for name, number in (("producer", 2), ("documentation", 6), ("domain", 4)):
        yield Flood(
            f"onnx-one-{name}", partial(_onnx, _field(number, b"a" * (30 << 20)), False, 31 << 20)
        )


def _archive(members: Mapping[str, bytes], method: int, level: int = 1) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method, compresslevel=level) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def _schema(unit: bytes, size: int) -> Callable[[], dict[str, bytes]]:
    return lambda: {"schema.json": _filled(b'{"__class__":', unit, b"", size)}


def _array_member(size: int) -> dict[str, bytes]:
    node = b'{"__class__":"ndarray","__module__":"numpy","__loader__":"NdArrayNode","type":"numpy",'
    return {"a.npy": bytes(size), "schema.json": node + b'"file":"a.npy"}'}


def _skops() -> Iterator[Flood]:
    deflate, bz = zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2
    for name, (_, unit, _end) in _JSON_UNITS.items():
        for method in (deflate, bz):
            make = _schema(unit, PACKED if method == deflate else PACKED // 3)
            yield Flood(
                f"skops-{name}-{method}", lambda make=make, method=method: _archive(make(), method)
            )  # type: ignore[misc]
        plain = _schema(unit, PLAIN)
        yield Flood(f"skops-{name}-stored", lambda make=plain: _archive(make(), zipfile.ZIP_STORED))  # type: ignore[misc]
    for method in (deflate, bz):
        for megabytes in (200, 400):
            make = partial(_array_member, megabytes << 20)
            yield Flood(
                f"skops-array-{megabytes}-{method}",
                lambda make=make, method=method: _archive(make(), method),
            )  # type: ignore[misc]
    members = {f"{i}.npy": b"" for i in range(40_000)}
    yield Flood("skops-members", lambda: _archive(members, zipfile.ZIP_STORED))


def _npy(header: bytes, way: str) -> bytes:
    npy = b"\x93NUMPY\2\0" + struct.pack("<I", len(header)) + header
    node = b'{"__class__":"ndarray","__module__":"numpy","__loader__":"NdArrayNode","type":"numpy",'
    members = {
        "a.npy": npy,
        "schema.json": node + b'"file":"a.npy","__id__":1,"_skops_version":"0.11"}',
    }
    return _archive(members, zipfile.ZIP_DEFLATED if way else zipfile.ZIP_STORED)


def _headers() -> Iterator[Flood]:
    start = b"{'descr': '<f8', 'fortran_order': False, 'shape': "
    for name, header in {
        "shape": start + b"(4611686018427387904,)}",
        "product": start + b"(65536, 65536, 65536)}",
        "dimensions": start + b"(" + b"1," * 20_000 + b")}",
        "depth": start + b"(" * 60_000,
        "long": b"{" + b" " * (50 << 20),
        "element": b"{'descr': '|V99999999', 'fortran_order': False, 'shape': (1,)}",
        "fields": b"{'descr': ["
        + b"('a','<f8')," * 5_000
        + b"], 'fortran_order': False, 'shape': (1,)}",
        "zero": b"{'descr': '|V0', 'fortran_order': False, 'shape': (8589934592,)}",
    }.items():
        for way in ("", "deflate"):
            yield Flood(f"npy-{name}-{way or 'stored'}", partial(_npy, header, way))


FLOODS: tuple[Flood, ...] = (
    *_pickle_units(),
    *_pickle_numbered(),
    *_pickle_huge(),
    *_compression(),
    *_json(),
    *_xml(),
    *_lightgbm(),
    *_ubjson(),
    *_onnx_floods(),
    *_skops(),
    *_headers(),
)
