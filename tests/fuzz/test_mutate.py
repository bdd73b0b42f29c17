"""A short run of the fuzzer; the long one is ``python -m tests.fuzz.mutate``."""

import signal

import pytest

from tests.fuzz.mutate import fuzz


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a POSIX timer")
def test_damaged_files_end_in_a_sentence() -> None:
    outcomes, findings = fuzz(range(500), seed=20)
    assert findings == []
    assert outcomes["ReadError"] > 50
    assert outcomes["UnsafeModelError"] > 5
    assert outcomes["NoneType"] > 5
