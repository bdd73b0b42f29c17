"""Train by name, from a table and a schema: what the command line does."""

import io
import os
import pickle
from pathlib import Path
from typing import Any

import pandas as pd

from treeaudit.dp.rational import Epsilon
from treeaudit.errors import DataError, PrivacyError, near
from treeaudit.model.schema import Schema
from treeaudit.model.schema_file import read_schema
from treeaudit.output import check_new, write_file
from treeaudit.people.sheet import read_table
from treeaudit.trainers.algorithms import ALGORITHMS
from treeaudit.trainers.parameters import FROM_DATA
from treeaudit.trainers.private_trees import PrivateTrees
from treeaudit.writers import save

__all__ = ["check_place", "save_trained", "train", "trainer_named"]

_SUFFIXES = (".json", ".pkl", ".pickle", ".joblib")


def trainer_named(name: str) -> type[PrivateTrees]:
    """Return a trainer by the name of its algorithm.

    Raises
    ------
    DataError
        If there is none of that name.

    Examples
    --------
    >>> trainer_named("smooth-sensitivity-forest").__name__
    'SmoothSensitivityForestClassifier'
    """
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
        data = read_table(data, texts=() if person is None else (person,)).frame
    if schema is None:
        raise PrivacyError(
            "a private fit needs the bounds, categories and labels that everybody may know: give a "
            "file with --schema (schema=); treeaudit schema DATA drafts one"
        )
    public: Schema | str = FROM_DATA
    if not (isinstance(schema, str) and schema == FROM_DATA):
        public = schema if isinstance(schema, Schema) else read_schema(schema)
    if target is None:
        if not isinstance(public, Schema):
            raise DataError("say with --target (target=) which column holds the labels")
        target = public.target
    names = [str(name) for name in data.columns]
    if target not in data.columns:
        raise DataError(f"the data has no column {target!r} with the labels{near(target, names)}")
    if person is not None and person not in data.columns:
        raise DataError(f"the data has no column {person!r}{near(person, names)} (--person)")
    if person is not None and person == target:
        raise DataError(f"{person!r} cannot be both the person (--person) and the label (--target)")
    used = [name for name in data.columns if name not in (target, person)]
    if isinstance(public, Schema):
        gone = [name for name in public.names if name not in used]
        if gone:
            if person in gone:
                raise DataError(
                    f"the schema describes {person!r}, whose each row is: no question may be asked "
                    "of that; take it out of the schema"
                )
            if target in gone:
                raise DataError(
                    f"the schema describes {target!r} as a feature, so it cannot be the label: "
                    "--target names the column of the labels"
                )
            raise DataError(
                f"the data has no column {gone[0]!r}, which the schema describes"
                f"{near(gone[0], names)}"
            )
        used = public.names
    model = _made(trainer, {"epsilon": epsilon, "schema": public, **parameters})
    model.fit(data[used], data[target], person=None if person is None else data[person])
    return model


def _made(trainer: type[PrivateTrees], parameters: dict[str, Any]) -> PrivateTrees:
    known = trainer().get_params()
    for name in parameters:
        if name not in known:
            hint = near(name, sorted(known), "known:")
            raise DataError(f"{trainer.algorithm} has no parameter {name!r}{hint}")
    return trainer(**parameters)


def check_place(path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Refuse a place where no model can be written, before anything is spent.

    Raises
    ------
    DataError
        If its suffix is unknown or the file exists.
    """
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
