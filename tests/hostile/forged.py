"""Pickles that no pickler writes: a loader would make something else of them than what they show.

Each is named by its trick. Nothing in them runs a program: where a trick calls
a method, that method only puts a number into a list.
"""

import io
import struct

import joblib
import numpy as np

from tests.hostile.build import (
    DUP,
    MARK,
    NODE,
    POP,
    PROTO,
    STOP,
    VALUES,
    Code,
    built,
    call,
    dtype,
    from_buffer,
    get,
    joblib_array,
    late_array,
    model,
    named,
    new,
    push,
    put,
    record,
    stored,
    stump,
    tree,
)

__all__ = ["EXTRA", "FORGED"]

F8 = np.dtype("f8")
OBJECT = np.dtype("O")
CLASSIFIER = named("sklearn.tree._classes", "DecisionTreeClassifier")
SPACE = call(named("types", "SimpleNamespace"))
BUNCH = new(named("sklearn.utils._bunch", "Bunch"))
OTHER = stump(threshold=[-9.0, -2, -2])
STATE = (1, (3,), NODE, False, OTHER.tobytes())
NODES = late_array((3,), NODE, stump().tobytes())
NUMBERS = np.arange(4.0)


def _line(text: str) -> bytes:
    return text.encode("latin1") + b"\n"


def _later(first: bytes, more: bytes) -> bytes:
    """Put an object into a tuple, fetch it again and do something to it."""
    return PROTO + MARK + first + b"q\x01" + get(1) + more + b"t" + STOP


def _beside_objects(module: str) -> bytes:
    """Store a text where an array of objects of joblib stores "numpy"."""
    sink = io.BytesIO()
    joblib.dump({"a": 1, "b": 2, module: 3, "x": np.array(["a", None])}, sink, protocol=4)
    return sink.getvalue()


def _frame(content: bytes, size: int) -> bytes:
    return PROTO + b"\x95" + struct.pack("<Q", size) + content


def _attribute(spelled: bytes) -> bytes:
    """Spell the name of one more attribute of a model."""
    state = push({"tree_": tree(), "classes_": np.array([0, 1]), "n_outputs_": 1})
    return PROTO + CLASSIFIER + b")\x81" + state[:-1] + spelled + b"Nub" + STOP


def _record_with(more: dict[str, object]) -> Code:
    fields = {"x": (dtype("f8"), 0), **more}
    kind = dtype("V8", (3, "|", None, ("x",), fields, 8, 1, 16))
    return from_buffer(bytes(8), kind, (1,))


def _number(spelled: str) -> bytes:
    return stored(model(max_depth=Code(_line(spelled))))


def _wrapped(padding: bytes, module: str = "joblib.numpy_pickle", called: bool = False) -> Code:
    state = {"subclass": None, "shape": (4,), "order": "C", "dtype": F8, "allow_mmap": True}
    state["numpy_array_alignment_bytes"] = 16
    cls = named(module, "NumpyArrayWrapper")
    wrapper = call(cls, None, (4,), "C", F8) if called else new(cls)
    return Code(built(wrapper, state) + padding + NUMBERS.tobytes())


JOBLIB_CODE = b"0csome_package\nrun\n)R."
LONE_LIST = b"(]r\x01\0\0\0K\x01a"

FORGED: dict[str, tuple[bytes, str]] = {
    # a state twice, late, or early
    "array-state-through-memo": (_later(NODES, push(STATE) + b"b"), "a state"),
    "array-state-at-once": (stored(Code(NODES + push(STATE) + b"b")), "a state"),
    "array-state-through-DUP": (
        PROTO + NODES + DUP + push(STATE) + b"b\x86" + STOP,
        "duplicates",
    ),
    "array-state-of-frombuffer": (
        stored(Code(from_buffer(stump().tobytes(), NODE, (3,)) + push(STATE) + b"b")),
        "belongs to nothing",
    ),
    "array-state-of-joblib": (
        stored(
            Code(joblib_array(bytes(32), F8, (4,)) + push((1, (4,), F8, False, bytes(32))) + b"b")
        ),
        "a state",
    ),
    "array-state-of-six": (
        stored(built(Code(NODES[: NODES.rindex(b"R") + 1]), (*STATE, 1))),
        "damaged",
    ),
    "tree-state-through-memo": (_later(tree(), push({"nodes": OTHER}) + b"b"), "a state"),
    "tree-state-at-once": (stored(Code(tree() + push({"nodes": OTHER}) + b"b")), "a state"),
    "model-state-at-once": (stored(Code(model() + push({"max_depth": 1}) + b"b")), "a state"),
    "setstate-as-attribute": (
        stored(Code(built(SPACE, {"__setstate__": named("numpy", "ndarray")}) + b"}b")),
        "",
    ),
    "state-of-a-class-through-memo": (_later(CLASSIFIER, push({"x": 1}) + b"b"), "changes"),
    "state-before-it-is-complete": (
        PROTO + b"}r\x01\0\0\0(" + push("a") + CLASSIFIER + b")\x81" + get(1) + b"bu" + STOP,
        "before it is complete",
    ),
    "state-in-parts-before-they-are-complete": (
        PROTO
        + b"}r\x01\0\0\0("
        + push("a")
        + new(named("my", "Thing"))
        + b"N"
        + get(1)
        + b"\x86bu.",
        "before it is complete",
    ),
    "state-list-before-it-is-complete": (
        PROTO + b"]r\x01\0\0\0(" + new(named("my", "Thing")) + get(1) + b"be" + STOP,
        "before it is complete",
    ),
    "state-in-two-parts": (
        stored(built(new(CLASSIFIER), ({"tree_": tree()}, {"classes_": np.array([0, 1])}))),
        "in parts",
    ),
    "state-as-a-list-of-pairs": (
        stored(built(new(named("xgboost.sklearn", "XGBClassifier")), [("a", 1), ("b", 2)])),
        "a computed state",
    ),
    # elements late, or where they call a method
    "dictionary-filled-through-memo": (_later(b"}", push("a") + b"K\x01s"), "complete"),
    "dictionary-filled-through-memo-SETITEMS": (
        _later(b"}", MARK + push("a") + b"K\x01u"),
        "complete",
    ),
    "state-filled-after-it-was-used": (
        PROTO
        + MARK
        + CLASSIFIER
        + b")\x81}r\x01\0\0\0"
        + push("a")
        + b"K\x01sb"
        + get(1)
        + push("a")
        + b"K\x02st"
        + STOP,
        "complete",
    ),
    "list-filled-through-memo": (_later(b"]", b"K\x01a"), "complete"),
    "list-filled-through-memo-APPENDS": (_later(b"]", b"(K\x01e"), "complete"),
    "list-filled-through-DUP": (PROTO + b"]" + DUP + b"K\x01a\x86.", "duplicates"),
    "set-filled-through-memo": (_later(b"\x8f", b"(K\x01\x90"), "complete"),
    "list-filled-in-itself": (PROTO + LONE_LIST + get(1) + b"K\x02at.", "complete"),
    "object-filled-through-memo": (
        _later(new(named("collections", "deque")), b"K\x01a"),
        "puts elements",
    ),
    "APPEND-to-a-tree": (stored(Code(tree() + b"Na")), "runs a method"),
    "APPENDS-to-a-tree": (stored(Code(tree() + b"(Ne")), "runs a method"),
    "ADDITEMS-to-a-tree": (stored(Code(tree() + b"(N\x90")), "runs a method"),
    "SETITEM-of-a-model": (stored(Code(new(CLASSIFIER) + push("a") + b"Ns")), "runs a method"),
    "SETITEMS-of-an-array": (stored(Code(NODES + b"(K\x00Nu")), "puts elements"),
    "APPEND-to-an-attribute": (
        stored(Code(built(SPACE, {"append": named("numpy", "ndarray")}) + b"Na")),
        "take the place of a method",
    ),
    "APPEND-before-the-state": (stored(Code(SPACE + b"Na}b")), "runs a method"),
    "APPEND-to-an-entry-of-a-bunch": (
        stored(Code(BUNCH + push("append") + named("numpy", "ndarray") + b"sNa")),
        "take the place of a method",
    ),
    "APPEND-to-an-own-object-behind-its-pairs": (
        stored(Code(new(named("my", "Thing")) + push("append") + b"NsNa")),
        "take the place of a method",
    ),
    "APPENDS-to-a-set": (stored(Code(b"\x8f(Ne")), "puts elements"),
    "ADDITEMS-to-a-list": (stored(Code(b"](N\x90")), "puts elements"),
    "APPEND-to-a-bytearray": (
        PROTO + b"\x96" + struct.pack("<Q", 2) + b"abK\x01a.",
        "puts elements",
    ),
    "INST-filled-through-memo": (
        PROTO
        + MARK
        + b"(isklearn.tree._classes\nDecisionTreeClassifier\nr\x01\0\0\0"
        + get(1)
        + push("a")
        + b"Nst.",
        "puts elements",
    ),
    "OBJ-state-through-memo": (
        PROTO + MARK + MARK + CLASSIFIER + b"or\x01\0\0\0" + get(1) + b"}bt.",
        "a state",
    ),
    # things under one number, twice or dropped
    "memo-overwritten-by-PUT": (PROTO + MARK + put(1, 3) + put(2, 3) + b"t.", "second object"),
    "memo-overwritten-by-MEMOIZE": (PROTO + MARK + put("a", 1) + push("b") + b"\x94t.", "second"),
    "key-twice": (stored(Code(b"}(" + (push("a") + b"N") * 2 + b"u")), "twice"),
    "key-twice-in-two-instructions": (stored(Code(b"}" + (push("a") + b"Ns") * 2)), "twice"),
    "key-twice-in-a-call": (
        stored(call(named("builtins", "dict"), [("a", 1), ("a", 2)])),
        "twice",
    ),
    "element-of-a-set-twice": (stored(Code(b"\x8f(K\x01K\x01\x90")), "twice"),
    "element-of-a-frozen-set-twice": (stored(Code(b"(K\x01K\x01\x91")), "twice"),
    "number-dropped": (PROTO + b"K\x01" + POP + model() + STOP, "drops"),
    "model-dropped": (PROTO + model() + POP + model() + STOP, "drops"),
    "marked-numbers-dropped": (PROTO + b"(K\x01K\x021" + model() + STOP, "drops"),
    "result-dropped-that-sets-no-state": (
        PROTO
        + put(new(named("my", "Thing")), 1)
        + call(named("cloudpickle.cloudpickle", "_make_cell"), get(1), {})
        + POP
        + STOP,
        "drops",
    ),
    "two-models-at-the-end": (PROTO + model() + model() + STOP, "more than one"),
    # the frame of the stream
    "protocol-in-the-middle": (PROTO + MARK + model() + b"\x80\x02t.", "protocol"),
    "protocol-twice": (PROTO + PROTO + model() + STOP, "protocol"),
    "frame-in-a-frame": (_frame(b"\x95" + bytes(8) + model() + STOP, 30), "frame"),
    "frame-ends-in-an-instruction": (_frame(push("abcdef") + STOP, 7), "within an instruction"),
    "frame-ends-in-an-operand": (_frame(b"K\x01.", 1), "within an instruction"),
    "frame-goes-on": (_frame(model() + STOP + b"abc", len(model()) + 3), "inside a frame"),
    # spellings
    "S-octal": (_attribute(b"S'tree\\137'\n"), "damaged"),
    "S-letter-in-hexadecimal": (_attribute(b"S'tree\\x5f'\n"), "twice"),
    "S-blank-behind": (_attribute(b"S'abc' \n"), "damaged"),
    "V-letter-by-number": (_attribute(b"Vtree\\u005f\n"), "twice"),
    "I-leading-zero": (_number("I0100"), "damaged"),
    "I-hexadecimal": (_number("I0x10"), "damaged"),
    "I-plus": (_number("I+10"), "damaged"),
    "I-blank": (_number("I 10"), "damaged"),
    "I-underscore": (_number("I1_0"), "damaged"),
    "I-truth-with-zeros": (_number("I001"), "damaged"),
    "I-long": (_number("I10L"), "damaged"),
    "I-minus-zero": (_number("I-0"), "damaged"),
    "L-without-L": (_number("L10"), "damaged"),
    "L-hexadecimal": (_number("L0x10L"), "damaged"),
    "L-truth": (_number("L01"), "damaged"),
    "F-underscore": (_number("F1_0.0"), "damaged"),
    "F-blank": (_number("F 1.0"), "damaged"),
    "F-infinity": (_number("Finfinity"), "damaged"),
    "GET-leading-zero": (PROTO + put("a", 1) + b"g01\n\x86.", "damaged"),
    # types and arrays
    "dtype-that-is-numpys-own": (
        stored(
            from_buffer(
                bytes(8),
                built(call(named("numpy", "dtype"), "f8"), (3, ">", None, None, None, -1, -1, 0)),
                (1,),
            )
        ),
        "array type",
    ),
    "dtype-with-an-order": (stored(from_buffer(bytes(8), dtype(">f8"), (1,))), "array type"),
    "dtype-recalled-before-its-state": (
        PROTO + MARK + put(dtype("f8"), 1) + from_buffer(bytes(8), get(1), (1,)) + b"t.",
        "before it is complete",
    ),
    "dtype-state-through-memo": (
        _later(dtype("f8", (3, "<", None, None, None, -1, -1, 0)), b"}b"),
        "a state",
    ),
    "dtype-of-pointers": (
        stored(from_buffer(bytes(8), dtype("f8", (3, "<", None, None, None, -1, -1, 63)), (1,))),
        "Python objects",
    ),
    "dtype-number-with-columns": (
        stored(
            from_buffer(
                bytes(8),
                dtype("f8", (3, "<", None, ("x",), {"x": (dtype("f4"), 0)}, 8, 1, 0)),
                (1,),
            )
        ),
        "array type",
    ),
    "dtype-state-of-five": (
        stored(from_buffer(bytes(8), dtype("f8", ("<", None, None, -1, -1)), (1,))),
        "array type",
    ),
    "dtype-fields-half-over-each-other": (
        stored(
            from_buffer(bytes(24), record({"x": (dtype("f8"), 0), "y": (dtype("f8"), 4)}, 24), (1,))
        ),
        "overlap",
    ),
    "dtype-with-titles": (
        stored(from_buffer(bytes(8), record({"x": (dtype("f8"), 0, "Ann;33")}, 8), (1,))),
        "record type",
    ),
    "dtype-with-more-fields": (
        stored(model(x=_record_with({"Ann;33": (dtype("f8"), 0)}))),
        "record type",
    ),
    "dtype-with-a-number-of-flags": (
        stored(model(x=dtype("f8", (3, "<", None, None, None, -1, -1, 1 << 24)))),
        "array type",
    ),
    "dtype-with-a-size-it-has-not": (
        stored(model(x=dtype("f8", (3, "<", None, None, None, 333333, -1, 0)))),
        "array type",
    ),
    "dtype-with-hidden-fields": (
        stored(model(x=dtype("f8", (3, "<", None, None, {"Ann": 33}, -1, -1, 0)))),
        "array type",
    ),
    "array-order-is-a-number": (
        stored(model(x=late_array((1,), dtype("f8"), bytes(8), 1 << 60))),
        "order",
    ),
    "array-announced-with-a-type": (
        stored(
            model(
                x=built(
                    call(
                        named("numpy._core.multiarray", "_reconstruct"),
                        named("numpy", "ndarray"),
                        (0,),
                        b"S333333",
                    ),
                    (1, (1,), dtype("f8"), False, bytes(8)),
                )
            )
        ),
        "announced",
    ),
    "buffer-with-an-argument-more": (
        stored(
            call(
                named("numpy._core.numeric", "_frombuffer"),
                *(bytes(8), dtype("f8"), (1,), "C", "Ann;33"),
            )
        ),
        "not described",
    ),
    "array-never-filled": (
        stored(
            model(
                extra=call(
                    named("numpy._core.multiarray", "_reconstruct"),
                    named("numpy", "ndarray"),
                    (0,),
                    b"b",
                )
            )
        ),
        "does not fill",
    ),
    "array-announced-with-a-size": (
        stored(
            call(
                named("numpy._core.multiarray", "_reconstruct"),
                named("numpy", "ndarray"),
                (3,),
                b"d",
            )
        ),
        "announced",
    ),
    "array-recalled-before-it-is-filled": (
        PROTO
        + call(
            named("numpy._core.multiarray", "_reconstruct"), named("numpy", "ndarray"), (0,), b"b"
        )
        + b"r\x01\0\0\0"
        + push((1, (1,), dtype("O8", (3, "|", None, None, None, -1, -1, 63)), False))[:-1]
        + b"]"
        + get(1)
        + b"atb.",
        "before it is complete",
    ),
    "array-axes-not-each-once": (
        stored(
            call(
                named("numpy._core.numeric", "_frombuffer"),
                bytes(32),
                dtype("f8"),
                (2, 2),
                "K",
                (0, 0),
            )
        ),
        "axes",
    ),
    "array-order-unknown": (stored(from_buffer(bytes(8), dtype("f8"), (1,), "A")), "described"),
    "text-as-bytes-by-another-codec": (
        stored(call(named("builtins", "bytes"), "\xe9", "utf-8")),
        "would run",
    ),
    "object-on-top-of-another": (
        stored(call(named("copyreg", "_reconstructor"), CLASSIFIER, CLASSIFIER, 5)),
        "a kind of",
    ),
    "named-arguments": (stored(Code(CLASSIFIER + b")}\x92")), "named arguments"),
    # joblib
    "joblib-array-is-code": (
        stored(Code(joblib_array(JOBLIB_CODE.ljust(32, b"."), F8, (4,)))),
        "pickle.load would run",
    ),
    "joblib-array-is-a-call": (
        PROTO
        + MARK
        + put(named("collections", "deque"), 1)
        + joblib_array((b"0h\x01)R" + POP).ljust(32, b"0"), F8, (4,))
        + b"t.",
        "pickle.load would run",
    ),
    "joblib-array-is-another-end": (
        PROTO + put(model(), 1) + joblib_array(b"0h\x01.".ljust(32, b"."), F8, (4,)) + b"\x86.",
        "pickle.load would run",
    ),
    **{
        f"joblib-array-stores-{i}": (
            stored(joblib_array((b"p" + number + b"\ncos\nsystem\n").ljust(32, b"\0"), F8, (4,))),
            "pickle.load would run",
        )
        for i, number in enumerate(b"\x0c7 +7 \x0b7\r 007\x0c 1_0 7\0z -0".split(b" "))
    },
    "joblib-objects-recall-others": (
        PROTO
        + Code(MARK + push("posix") + b"\x94")
        + joblib_array(
            stored(late_array((2,), OBJECT, [Code(push("a") + b"\x94"), Code(b"h\0")])),
            OBJECT,
            (2,),
        )
        + b"t.",
        "another object to pickle.load",
    ),
    **{
        f"joblib-objects-import-{module}": (
            _beside_objects(module),
            "another object to pickle.load",
        )
        for module in ("antigravity", "test.autotest", "idlelib.idle", "json.tool", "pip.__main__")
    },
    "type-with-metadata": (
        stored(np.zeros(2, np.dtype("f8", metadata={"rows": "a"}))),
        "metadata",
    ),
    "date-type-with-metadata": (
        stored(np.zeros(2, np.dtype("M8[s]", metadata={"rows": "a"}))),
        "metadata",
    ),
    "object-type-with-metadata": (
        stored(dtype("O8", (4, "|", None, None, None, -1, -1, 63, {"rows": "a"}))),
        "metadata",
    ),
    "type-with-a-huge-alignment": (
        stored(dtype("f8", (3, "<", None, None, None, -1, 1 << 900, 0))),
        "array type",
    ),
    "joblib-array-goes-on-and-on": (
        stored(joblib_array(b"N0" * 4_000, F8, (1_000,))),
        "pickle.load would run",
    ),
    "joblib-array-jumps-over-itself": (
        PROTO + MARK + joblib_array(b"0C\x1d".ljust(32, b"\0"), F8, (4,)) + model() + b"t.",
        "pickle.load would run",
    ),
    "joblib-padding-is-code": (stored(_wrapped(b"0" + bytes(48))), "pickle.load would run"),
    "joblib-wrapper-called": (stored(_wrapped(b"\x01\xff", called=True)), "would run"),
    "joblib-wrapper-of-another-library": (
        stored(_wrapped(b"\x01\xff", module="my.numpy_pickle")),
        "not a pickle instruction",
    ),
    "joblib-array-in-an-inner-pickle": (
        stored(joblib_array(stored([joblib_array(bytes(8), F8, (1,))]), dtype("O8"), (1,))),
        "of its own",
    ),
    # the tree itself
    "tree-leaf-of-minus-two": (
        stored(model(tree(stump(left_child=[1, -2, -1])))),
        "before the first",
    ),
    "tree-leaf-of-minus-two-on-the-right": (
        stored(model(tree(stump(right_child=[2, -1, -2])))),
        "before the first",
    ),
    "tree-people-that-weigh-nothing": (
        stored(model(tree(stump(weighted_n_node_samples=[5, 5, 0])))),
        "weigh nothing",
    ),
    "tree-more-rows-than-nodes": (
        stored(
            model(
                tree(np.concatenate([stump(), stump()[2:]]), np.concatenate([VALUES, VALUES[2:]]))
            )
        ),
        "as many rows",
    ),
    "tree-more-values-than-nodes": (
        stored(model(tree(values=np.concatenate([VALUES, VALUES[2:]])))),
        "as many rows",
    ),
    "tree-column-of-its-own": (
        stored(
            model(
                tree(np.zeros(3, [*((n, NODE[n].str) for n in NODE.names or ()), ("more", "f8")]))
            )
        ),
        "not known",
    ),
}
"""Each with a part of the sentence that it ends in."""


def _padded() -> np.ndarray[tuple[int], np.dtype[np.void]]:
    nodes = stump()
    nodes.view(np.uint8).reshape(3, -1)[:, 57:60] = 7
    return nodes


EXTRA: dict[str, tuple[bytes, int]] = {
    "a-second-pickle-behind": (stored(model()) + stored(5), len(stored(5))),
    "bytes-between-columns": (
        stored(model(tree(late_array((3,), NODE, _padded().tobytes())))),
        9,
    ),
}
"""Each with the number of bytes that are named."""
