"""Group by value in sparse form: agrees with a dense table and with pyCANON's answers."""

import numpy as np
import pytest
from hypothesis import given

from tests.strategies import count_tables
from treeaudit.table.diversity import Crosstab, counted, crosstab


def spread(counts) -> Crosstab:
    """One row per person, then counted again."""
    counts = counts.astype(int)
    group, value = np.nonzero(counts)
    people = counts[group, value]
    return crosstab(np.repeat(group, people), np.repeat(value, people), *counts.shape)


def dense(counts) -> dict[str, np.ndarray]:
    """The definitions, term by term, on a table with all its zeros."""
    counts = counts[:, counts.any(axis=0)]
    share = counts / counts.sum(axis=1, keepdims=True)
    everybody = counts.sum(axis=0) / counts.sum()
    ordered = -np.sort(-counts, axis=1)
    apart = np.abs(np.cumsum(share - everybody, axis=1)).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "entropy_l": np.exp(-np.nansum(share * np.log(share), axis=1)),
            "recursive_c": ordered[:, 0] / ordered[:, 1:].sum(axis=1),
            "closeness": np.abs(share - everybody).sum(axis=1) / 2,
            "ordered_closeness": apart / max(counts.shape[1] - 1, 1),
            "delta_disclosure": np.abs(np.log(share / everybody)).max(axis=1),
            "beta_likeness": np.maximum((share / everybody - 1).max(axis=1), 0),
        }


@given(count_tables())
def test_sparse_and_dense_agree(counts) -> None:
    people = spread(counts)
    assert people.size.tolist() == counts.sum(axis=1).tolist()
    assert people.distinct.tolist() == (counts > 0).sum(axis=1).tolist()
    assert people.top.tolist() == counts.argmax(axis=1).tolist()
    assert people.least.tolist() == np.where(counts > 0, counts, np.inf).min(axis=1).tolist()
    assert people.dominance.tolist() == (counts.max(axis=1) / counts.sum(axis=1)).tolist()
    occurring = spread(counts[:, counts.any(axis=0)])
    for name, expected in dense(counts).items():
        assert getattr(occurring, name) == pytest.approx(expected, abs=1e-8), name
    read, shown = counted(counts), people.worst()
    assert read.worst() == shown
