"""Train by name, from a table and a schema: what the command line does."""

import io
import os
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from treeaudit.dp.accounting import Epsilon
from treeaudit.errors import DataError, PrivacyError, near
from treeaudit.files import check_new, write_file
from treeaudit.model.schema import Schema
from treeaudit.model.schema_file import read_schema
from treeaudit.people.input.table_input import Plan, read_table
from treeaudit.trainers.algorithms import ALGORITHMS
from treeaudit.trainers.fit_checks import FROM_DATA
from treeaudit.trainers.private_trees import PrivateTrees
from treeaudit.writers import save

_SUFFIXES = (".json", ".pkl", ".pickle", ".joblib")


def trainer_named(name: str) -> type[PrivateTrees]:
    """Return a trainer by the name of its algorithm."""
    known = {trainer.algorithm: trainer for trainer in ALGORITHMS}
    if name in known:
        return known[name]
    raise DataError(f"there is no algorithm {name!r}{near(name, known, 'known:')}")


def train(
    data: object,
    *,
    epsilon: Epsilon,
    schema: Schema | str | os.PathLike[str] | None,
    algorithm: str = ALGORITHMS[0].algorithm,
    target: str | None = None,
    person: str | None = None,
    **parameters: Any,  # noqa: ANN401  # those of the trainer
) -> PrivateTrees:
    """Train a differentially private model on the columns that a schema describes.

    Parameters
    ----------
    data
        The private table: a DataFrame, or the path of a CSV or Parquet file.
    epsilon
        The privacy budget.
    schema
        A schema, the path of a confirmed schema file, or ``from-data``, which
        marks the model as not private.
    algorithm
        The name of a trainer.
    target
        The column with the labels; that of the schema unless told.
    person
        The column that names whose row each is: epsilon then protects persons.
        Needs ``rows_per_person``.
    **parameters
        Of the trainer.

    Returns
    -------
    PrivateTrees
        The fitted estimator.

    Raises
    ------
    PrivacyError
        If the fit would leak.
    DataError
        If data, schema and parameters do not fit together.

    Examples
    --------
    >>> from treeaudit.model.schema import Feature
    >>> schema = Schema(features=(Feature(name="age", low=0, high=120),), classes=("no", "yes"))
    >>> people = pd.DataFrame({"name": ["A", "B"], "age": [30, 80], "ill": ["no", "yes"]})
    >>> train(people, epsilon=1.0, schema=schema, target="ill").forest_.schema.names
    ['age']
    """
    trainer = trainer_named(algorithm)
    if not isinstance(data, pd.DataFrame):
        data = read_table(data, texts=cells_of(schema, target, person)).frame
    public = _public(schema)
    target, used = _columns(list(data.columns), public, target, person)
    made = {"epsilon": epsilon, "schema": public or FROM_DATA, **parameters}
    model = _made(trainer, made)
    model.fit(data[used], data[target], person=None if person is None else data[person])
    return model


def cells_of(
    schema: Schema | str | os.PathLike[str] | None, target: str | None, person: str | None
) -> Plan:
    """Return how a file of the private table is read: every cell by itself, as the schema says."""
    public = _public(schema)

    def plan(names: list[str]) -> tuple[list[int], list[int]]:
        label, used = _columns(names, public, target, person)
        if public is None:
            return ([] if person is None else [names.index(person)]), []
        numbers = [f.name for f in public.features if f.categories is None]
        numbers += [label] if public.classes is None else []
        texts = [name for name in (*used, label, person) if name and name not in numbers]
        return [names.index(name) for name in texts], [names.index(name) for name in numbers]

    return plan


def _public(schema: Schema | str | os.PathLike[str] | None) -> Schema | None:
    """Return the public schema; None where it is to be taken from the data."""
    if schema is None:
        raise PrivacyError(
            "a private fit needs the bounds, categories and labels that everybody may know: give a "
            "file with --schema (schema=); treeaudit schema DATA drafts one"
        )
    if isinstance(schema, str) and schema == FROM_DATA:
        return None
    return schema if isinstance(schema, Schema) else read_schema(schema)


def _columns(
    names: Sequence[str], public: Schema | None, target: str | None, person: str | None
) -> tuple[str, list[str]]:
    """Return the column of the labels and those of the features."""
    if target is None:
        if public is None:
            raise DataError("say with --target (target=) which column holds the labels")
        target = public.target
    if target not in names:
        raise DataError(f"the data has no column {target!r} with the labels{near(target, names)}")
    if person is not None and person not in names:
        raise DataError(f"the data has no column {person!r}{near(person, names)} (--person)")
    if person is not None and person == target:
        raise DataError(f"{person!r} cannot be both the person (--person) and the label (--target)")
    used = [name for name in names if name not in (target, person)]
    if public is None:
        return target, used
    gone = [name for name in public.names if name not in used]
    if gone and person in gone:
        raise DataError(
            f"the schema describes {person!r}, whose each row is: no question may be asked "
            "of that; take it out of the schema"
        )
    if gone and target in gone:
        raise DataError(
            f"the schema describes {target!r} as a feature, so it cannot be the label: "
            "--target names the column of the labels"
        )
    if gone:
        raise DataError(
            f"the data has no column {gone[0]!r}, which the schema describes{near(gone[0], names)}"
        )
    return target, public.names


def _made(trainer: type[PrivateTrees], parameters: dict[str, Any]) -> PrivateTrees:
    known = trainer().get_params()
    for name in parameters:
        if name not in known:
            hint = near(name, sorted(known), "known:")
            raise DataError(f"{trainer.algorithm} has no parameter {name!r}{hint}")
    return trainer(**parameters)


def check_place(path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Refuse a place where no model can be written, before anything is spent."""
    place = Path(path)
    if place.suffix.lower() not in _SUFFIXES:
        raise DataError(f"{place}: the suffix of a model is one of {', '.join(_SUFFIXES)}")
    check_new(place, force=force)
    if not place.absolute().parent.is_dir():
        raise DataError(f"{place} cannot be written: there is no such folder")


def save_trained(model: PrivateTrees, path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write a trained model; the suffix tells the format.

    Parameters
    ----------
    path
        ``.json`` for the version-free form, ``.pkl`` or ``.joblib`` for an
        estimator that predicts when it is loaded.
    force
        Replace a file that exists.
    """
    check_place(path, force=force)
    suffix = Path(path).suffix.lower()
    if suffix == ".json":
        return save(model.forest_, path, force=force)
    if suffix == ".joblib":
        import joblib

        held = io.BytesIO()
        joblib.dump(model, held)
        return write_file(path, held.getvalue(), force=force)
    return write_file(path, pickle.dumps(model), force=force)
