"""Damage model files at random and see that reading them never goes wrong.

Run ``python -m tests.fuzz.mutate --seconds 600`` from the root of the
repository. Every input is read whole. A finding is any exception that is not a
`ReadError`, a message that is no single line, or a read of more than ten CPU
seconds; its bytes are kept in the folder that ``--keep`` names.
"""

import argparse
import io
import pickle
import pickletools
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import numpy as np

from tests.outcome import refusal

LONGEST = 10
STRANGE_NUMBERS = (0, 1, 2, 127, 128, 255, 256, 4095, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**63)
VALUES = (
    b"N",
    b"\x88",
    b"\x89",
    b"]",
    b"}",
    b")",
    b"\x8f",
    b"K\x00",
    b"K\x03",
    b"J\xff\xff\xff\xff",
    b"\x8a\x09" + b"\xff" * 8 + b"\x00",
    b"\x8b\x00\x04\x00\x00" + b"\x7f" * 1024,
    b"G\x7f\xf8" + bytes(6),
    b"G\x7f\xf0" + bytes(6),
    b"G\x7f\xef" + b"\xff" * 6,
    b"\x8c\x01F",
    b"\x8c\x03\xed\xa0\x80",
    b"\x8c\x05a\nb\x00c",
    b"C\x02ab",
    b"C\x00",
    b"(K\x01K\x02t",
    b"(K\x01K\x02l",
    b"(\x8c\x01aNd",
    b"cnumpy\nndarray\n",
    b"c__main__\nThing\n)\x81",
    b"csklearn.pipeline\nPipeline\n)\x81",
    b"cbuiltins\ngetattr\n",
    b"cbuiltins\ngetattr\nczoneinfo\nZoneInfo\n\x8c\x09_unpickle\x86R",
    b"cbuiltins\ntype\nN\x85R",
    b"\x8c\x06pandas\x8c\x0eDataFrame.eval\x93",
    b"h\x00",
    b"h\x05",
)
ARRAYS = tuple(
    pickle.dumps(value, protocol=2)[2:-1]
    for value in (
        np.arange(2),
        np.zeros((0, 3)),
        np.array(["a", "b"], dtype=object),
        np.array(["ab", "c"]),
        np.float64(0.5),
        np.int64(3),
        np.dtype("f8"),
        np.dtype([("left_child", "<i8"), ("x", "S3")]),
        np.array(5),
    )
)
OPCODES = bytes(ord(op.code) for op in pickletools.opcodes)


class Slow(BaseException):
    """Reading took too long."""


def seeds() -> list[bytes]:
    """Train small models and store them in every form."""
    import joblib
    from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    from treeaudit import load
    from treeaudit.writers.own_json import to_dict

    rng = np.random.default_rng(7)
    x = rng.integers(0, 9, (24, 3)).astype(float)
    y = np.array(["no", "yes"], dtype=object)[(x[:, 0] + x[:, 1] > 8).astype(int)]
    tree = DecisionTreeClassifier(max_depth=3, random_state=1)
    models = [
        tree.fit(x, y),
        DecisionTreeClassifier(max_depth=2, class_weight="balanced").fit(x, x[:, 2] > 4),
        DecisionTreeRegressor(max_depth=2).fit(x, x[:, 0]),
        RandomForestClassifier(3, max_depth=2, random_state=np.random.RandomState(0)).fit(x, y),
        ExtraTreesRegressor(2, max_depth=2).fit(x, x[:, :2]),
        make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2)).fit(x, y),
        GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}, cv=2).fit(x, y),
    ]
    models[0].feature_names_in_ = np.array(["age", "income", "zip"], dtype=object)
    bundle = {"model": models[0], "list": [1.5, "x", None]}
    stored = []
    for model in [*models, bundle]:
        stored += [pickle.dumps(model, protocol) for protocol in range(6)]
        for compress in (0, ("zlib", 3), ("gzip", 3), ("bz2", 3), ("xz", 3)):
            sink = io.BytesIO()
            joblib.dump(model, sink, compress=compress)
            stored.append(sink.getvalue())
    import json

    stored += [json.dumps(to_dict(load(model))).encode() for model in models[:4]]
    return stored


class Mutator:
    """Makes damaged files from good ones."""

    def __init__(self, stored: list[bytes], seed: int) -> None:
        self.random = random.Random(seed)
        self.stored = stored
        self.cuts = [_instructions(data) for data in stored]

    def make(self) -> bytes:
        """Return one damaged file."""
        pick = self.random.randrange(len(self.stored))
        data, cuts = self.stored[pick], self.cuts[pick]
        if cuts and self.random.random() < 0.6:
            made = self._by_instruction(data, cuts)
        else:
            packed = data[:1] == b"\x78"
            data = zlib.decompress(data) if packed else data
            made = self._by_byte(data)
            made = zlib.compress(made, 1) if packed else made
        return made if self.random.random() < 0.9 else self._by_byte(made)

    def _by_byte(self, data: bytes) -> bytes:
        out = bytearray(data)
        for _ in range(self.random.choice((1, 1, 1, 2, 4, 16))):
            at = self.random.randrange(len(out) + 1)
            match self.random.randrange(8):
                case 0 if out:
                    out[at % len(out)] ^= 1 << self.random.randrange(8)
                case 1 if out:
                    out[at % len(out)] = self.random.randrange(256)
                case 2:
                    out[at:at] = bytes([self.random.choice(OPCODES)])
                case 3:
                    del out[at : at + self.random.choice((1, 2, 8, 64))]
                case 4:
                    del out[at:]
                case 5:
                    size = self.random.choice((1, 2, 4, 8))
                    number = self.random.choice(STRANGE_NUMBERS) % (1 << (8 * size))
                    out[at : at + size] = number.to_bytes(size, "little")
                case 6:
                    other = self.random.choice(self.stored)
                    begin = self.random.randrange(len(other))
                    out[at : at + 64] = other[begin : begin + self.random.choice((8, 64, 512))]
                case _:
                    out[at:at] = self.random.choice(VALUES + ARRAYS)
        return bytes(out)

    def _by_instruction(self, data: bytes, cuts: list[int]) -> bytes:
        pieces = [data[a:b] for a, b in zip(cuts, [*cuts[1:], len(data)], strict=True)]
        for _ in range(self.random.choice((1, 1, 1, 2, 3))):
            i = self.random.randrange(len(pieces))
            match self.random.randrange(6):
                case 0:
                    pieces[i] = b""
                case 1:
                    pieces[i] += pieces[i]
                case 2:
                    j = self.random.randrange(len(pieces))
                    pieces[i], pieces[j] = pieces[j], pieces[i]
                case 3:
                    pieces[i] += self.random.choice(VALUES + ARRAYS)
                case 4:
                    pieces[i] += bytes([self.random.choice(OPCODES)])
                case _:
                    pieces[i] = self.random.choice(VALUES + ARRAYS)
        return b"".join(pieces)


def _instructions(data: bytes) -> list[int]:
    """Return where each instruction begins; empty where only bytes can be damaged."""
    try:
        return [at for _, _, at in pickletools.genops(data) if at is not None]
    except Exception:  # noqa: BLE001  # joblib arrays, compression, JSON: no plain pickles
        return []


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(signum: int, frame: FrameType | None) -> None:
        raise Slow

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def fuzz(
    inputs: Iterable[object], seed: int, keep: Path | None = None
) -> tuple[Counter[str], list[str]]:
    """Read one damaged file for each of the inputs; return the outcomes and the findings."""
    mutator = Mutator(seeds(), seed)
    outcomes: Counter[str] = Counter()
    findings: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        path = Path(folder) / "model"
        for _ in inputs:
            made = mutator.make()
            path.write_bytes(made)
            try:
                with _alarm(LONGEST):
                    outcome = type(refusal(path)).__name__
            except (Exception, Slow) as error:  # noqa: BLE001  # this is what it looks for
                last = traceback.extract_tb(error.__traceback__)[-1]
                outcome = "finding"
                where = f"{type(error).__name__} {Path(last.filename).name}:{last.lineno}"
                if where not in findings:
                    findings[where] = f"{where}: {str(error)[:200]}"
                    if keep is not None:
                        keep.mkdir(parents=True, exist_ok=True)
                        name = f"{where.replace(' ', '-').replace(':', '-')}.bin"
                        (keep / name).write_bytes(made)
            outcomes[outcome] += 1
    return outcomes, list(findings.values())


def until(seconds: float) -> Iterator[None]:
    """Yield for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield


def main() -> int:
    """Parse the command line and fuzz."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for the inputs that went wrong")
    options = parser.parse_args()
    outcomes, findings = fuzz(until(options.seconds), options.seed, options.keep)
    print(f"{outcomes.total():,} inputs:", dict(outcomes.most_common()))
    print(*findings, sep="\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
