"""Cells of many columns are large: memory ends a search, and what was certain stays true."""

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from tests.inference.tables import trained
from tests.inference.test_bootstrap import trained as drawn
from tests.inference.test_bounds import holds
from tests.strategies import examples
from treeaudit.inference import coding
from treeaudit.inference.bootstrap import infer_bootstrap, sample_counts
from treeaudit.inference.exact import infer_exact
from treeaudit.inference.explanation import explain
from treeaudit.inference.scope import OutOfBudgetError


@given(st.integers(0, 2**32 - 1), st.integers(200, 5_000))
@examples(30)
def test_little_room_ends_it_earlier_and_says_nothing_wrong(seed, room) -> None:
    forest, values, labels = trained(seed)
    with patch.object(coding, "_MOST_BYTES", room):
        answer = infer_exact(forest)
        holds(answer, forest, values, labels)
        shown = explain(forest, answer)
    whole = infer_exact(forest)
    assert answer.n_trees <= whole.n_trees
    if answer.n_trees < whole.n_trees:
        assert answer.stopped is not None
        assert answer.stopped.endswith(" columns each")
    assert shown is None or answer.certified


@given(st.integers(0, 2**32 - 1), st.integers(200, 5_000))
@examples(20)
def test_little_room_ends_the_search_for_rows(seed, room) -> None:
    forest, *_ = drawn(seed, 30)
    times = sample_counts(forest)
    found, said = None, ""
    with patch.object(coding, "_MOST_BYTES", room):
        try:
            found = infer_bootstrap(forest, times)
        except OutOfBudgetError as ended:
            said = str(ended)
    if found is None:
        assert said.endswith(" columns each")
    else:
        assert len(found.cells) == len(infer_bootstrap(forest, times).cells)
