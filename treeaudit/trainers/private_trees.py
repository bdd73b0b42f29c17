"""What all trainers share: the contract of scikit-learn, and the order in which a fit goes.

A trainer is one dataclass with `_grow` and parameters of its own. Everything
that looks at private records happens in `_grow`, and only through the `Curator`
that it is given.
"""

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from treeaudit.arrays import Float
from treeaudit.dp.accounting import rational
from treeaudit.dp.budget import Budget
from treeaudit.dp.curator import Curator
from treeaudit.dp.ledger import Ledger, Neighbours, Unit, Variant
from treeaudit.errors import DataError, PrivacyError, PrivacyWarning
from treeaudit.model.forest import Answers, CountsAre, Forest, Noise, RecordsAre
from treeaudit.model.schema import Schema
from treeaudit.model.source import Source
from treeaudit.model.tree import Tree
from treeaudit.trainers.columns import (
    Outside,
    check_names,
    code_columns,
    columns_of,
    in_cells,
    names_of,
)
from treeaudit.trainers.fit_checks import (
    SIZES,
    Searched,
    answering,
    check_jobs,
    check_parameters,
    check_unit,
    chosen,
    entropy_of,
    pickled_state,
    plain_numbers,
    public_schema,
    reasons_not_private,
    refuse_extras,
    restored_state,
    warn_of_search,
)
from treeaudit.trainers.training_rows import (
    Targets,
    TrainingRows,
    column_order,
    labels_of,
    read_rows,
)
from treeaudit.version import __version__


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A line of Table I of Fletcher & Islam (2019), a survey; β is the epsilon of the fit.

    ``depth`` and ``trees`` are the defaults, ``published`` is the promise as printed, and ``sound``
    that of the variant with a proof.
    """

    paper: str
    query: str
    tree: str
    depth: str
    trees: str
    numbers: str
    published: str
    sound: str = "β"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grown:
    """What a trainer gives back: nothing in it may hold more than the curator answered.

    Attributes
    ----------
    trees
        In the project's form. ``n_records`` stays None; ``counts`` are noisy.
    counts_are, counts_reason, answers, noise, records_are, class_weights
        As in `Forest`.
    flaws
        Why the variant as printed does not keep its promise, one sentence each.
    public
        What else was taken to be known to everybody, beside the schema and the
        parameters.
    """

    trees: tuple[Tree, ...]
    counts_are: CountsAre = "noisy"
    counts_reason: str
    answers: Answers
    noise: Noise | None
    records_are: RecordsAre = "all"
    class_weights: tuple[tuple[float, ...], ...] | None = None
    flaws: tuple[str, ...] = ()
    public: tuple[str, ...] = ()


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateTrees(Searched, BaseEstimator):  # type: ignore[misc]
    """The parameters that every trainer has, `fit` and the ledger.

    What is predicted, a class or a number, is for `treeaudit.trainers.answers`.

    A dataclass, so that a trainer states each parameter of its own once.

    Parameters
    ----------
    epsilon
        The privacy budget of the fit.
    schema
        What everybody may know of the columns: bounds, categories, classes; or the path of
        a confirmed file (``treeaudit schema`` drafts one).
        ``"from-data"`` takes them from the data and marks the model as not
        private.
    neighbours
        ``add-remove`` or ``replace-one``, under which the noise is doubled.
    variant
        ``sound``, or ``published`` as printed.
    rows_per_person
        Makes a person what epsilon protects, and not a record: how many rows
        of one person are used, the first of their own in the order of the table.
        ``fit`` must then be told whose each row is. It must not be taken from the data.
    outside
        ``raise`` where private values are not in the schema, or ``clip``:
        numbers to their bounds, unknown categories to missing, unknown labels
        dropped.
    budget
        An account that every fit spends from.
    n_jobs
        Threads: for predictions, and to route records down random trees.
    random_state
        For tests; a seed marks the model as not private.

    Attributes
    ----------
    forest_
        The released model, a `treeaudit.Forest`.
    privacy_
        The ledger.
    n_features_in_, feature_names_in_
        As in scikit-learn; classifiers have ``classes_``, those of the schema, too.
    """

    algorithm: ClassVar[str]
    """Its name on the command line."""
    listed: ClassVar[Listed]
    """Its line of Table I."""
    _targets: ClassVar[Targets]
    _sizes: ClassVar[Mapping[str, tuple[int, int]]] = SIZES

    epsilon: float = 1.0
    schema: Schema | str | os.PathLike[str] | None = None
    neighbours: Neighbours = "add-remove"
    variant: Variant = "sound"
    rows_per_person: int | None = None
    outside: Outside = "raise"
    budget: Budget | None = None
    n_jobs: int | None = None
    random_state: Any = None

    forest_: Forest = field(init=False)
    n_features_in_: int = field(init=False)

    def _least(self, rows: TrainingRows, epsilon: Fraction) -> Fraction:
        """Return the least epsilon that a count is asked at; refuse records that do not fit."""
        return epsilon

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        """Train on private records; every look at them goes through the curator."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, *, person: Any = None, **refused: Any) -> Any:  # noqa: ANN401  # scikit-learn's contract
        """Train on private records.

        Parameters
        ----------
        X
            Shape ``(n_records, n_features)``: an array or a DataFrame with
            numbers, names of categories, missing values.
        y
            Shape ``(n_records,)``: labels of any kind, or numbers for a regressor.
        person
            Shape ``(n_records,)``: a name or number for whose record each is,
            where a person is what epsilon protects; needs ``rows_per_person``.
        **refused
            Nothing: a ``sample_weight`` would multiply what one person can change.

        Raises
        ------
        PrivacyError
            If the fit would leak: no public schema, a budget that is spent, an
            epsilon that is none.
        DataError
            If the data does not fit the schema.
        ValueError
            If there is no row at all: that there is one is taken to be public.
        """
        refuse_extras(refused)
        won = warn_of_search(self)
        asked = self._plain()
        epsilon = asked._checked()
        check_unit(person, self.rows_per_person)
        schema = public_schema(self.schema)
        name = type(self).__name__
        if y is None:
            raise ValueError(f"{name} requires y to be passed, but the target y is None")
        X = in_cells(X)
        names = names_of(X)
        most = asked.rows_per_person
        rows = read_rows(X, y, schema, self.outside, name, person, most, self._targets)
        reasons = reasons_not_private(schema, self.random_state)
        curator = asked._curator(epsilon)
        # What cannot be answered is refused before anything is spent or asked.
        curator.rate(asked._least(rows, epsilon))
        before = Fraction(0) if self.budget is None else self.budget.bill
        if self.budget is not None:
            self._spend(epsilon, reasons)
        self._trained(rows, names, curator, epsilon, reasons)
        if won:
            self._bill(chosen(self.privacy_, before))
        return self

    def _plain(self) -> Any:  # noqa: ANN401  # one of its own class
        """Return one that is not fitted, with the same parameters as numbers of Python's own."""
        return type(self)(**plain_numbers(self.get_params(deep=False)))

    def _curator(self, epsilon: Fraction) -> Curator:
        return self._asking(Curator, epsilon)

    def _asking(self, kind: type[Curator], ceiling: Fraction) -> Curator:
        return kind(
            neighbours=self.neighbours,
            rows_per_person=None if self.rows_per_person is None else int(self.rows_per_person),
            entropy=entropy_of(self.random_state),
            ceiling=ceiling if self.variant == "sound" else None,
        )

    def _conversion_delta(self) -> Fraction:
        return Fraction(0)

    def _trained(
        self,
        rows: TrainingRows,
        names: list[str] | None,
        curator: Curator,
        epsilon: Fraction,
        reasons: tuple[str, ...],
    ) -> Any:  # noqa: ANN401  # itself
        """Ask, and remember the answers; nothing may fail from here on."""
        grown = self._plain()._grow(rows, curator, epsilon)
        for flaw in grown.flaws:
            message = f"{type(self).__name__}, as published: {flaw}"
            warnings.warn(message, PrivacyWarning, stacklevel=3)
        ledger = Ledger(
            queries=curator.queries,
            budget=epsilon,
            neighbours=self.neighbours,
            variant=self.variant,
            reasons=(*reasons, *(f"as published: {flaw}" for flaw in grown.flaws)),
            public=("the schema", "the parameters", *grown.public),
            rows_per_person=None if self.rows_per_person is None else int(self.rows_per_person),
            conversion_delta=self._conversion_delta(),
        )
        self._remember(rows.schema, names, grown, ledger)
        return self

    @property
    def privacy_(self) -> Ledger:
        """What was asked of the records and what it cost; its rows sum to the claim."""
        check_is_fitted(self, "forest_")
        return Ledger.from_plain(self.forest_.privacy or {})

    def _coded(self, X: object) -> Float:
        name, X = type(self).__name__, in_cells(X)
        stored = getattr(self, "feature_names_in_", None)
        names, seen = names_of(X), None if stored is None else list(stored)
        table = columns_of(X, name, finite=False)
        check_names(seen, names, name)
        if table.shape[1] != self.n_features_in_:
            raise DataError(
                f"X has {table.shape[1]} features, but {name} is expecting "
                f"{self.n_features_in_} features as input"
            )
        order = column_order(seen, table, self.forest_.schema)
        return code_columns(table, self.forest_.schema, order, None)

    def _checked(self) -> Fraction:
        """Return epsilon; a trainer checks its own parameters first."""
        check_parameters(self, self._sizes)
        check_jobs(self.n_jobs)
        if self.budget is not None and not isinstance(self.budget, Budget):
            raise TypeError("budget must be a treeaudit.dp.Budget or None")
        return rational(self.epsilon)

    def _spend(self, epsilon: Fraction, reasons: tuple[str, ...]) -> None:
        if reasons or self.variant == "published":
            why = reasons[0] if reasons else "the variant as published is not proved"
            raise PrivacyError(f"a budget counts fits that are private, and this is none: {why}")
        if self.budget is not None:
            unit: Unit = "record" if self.rows_per_person is None else "person"
            self.budget.spend(epsilon, type(self).__name__, self.neighbours, unit)

    def _remember(
        self,
        schema: Schema,
        names: list[str] | None,
        grown: Grown,
        ledger: Ledger,
    ) -> None:
        self.n_features_in_ = len(schema.features)
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if schema.classes is not None:
            self.classes_ = labels_of(schema.classes)
        self.forest_ = Forest(
            trees=grown.trees,
            schema=answering(schema),
            counts_are=grown.counts_are,
            counts_reason=grown.counts_reason,
            answers=grown.answers,
            noise=grown.noise,
            records_are=grown.records_are,
            class_weights=grown.class_weights,
            privacy=ledger.to_plain(),
            source=Source(
                estimator=type(self).__name__,
                library="treeaudit",
                library_version=__version__,
                parameters=self._told(),
            ),
        )

    def _bill(self, ledger: Ledger) -> None:
        """Carry what the choice of this model cost."""
        self.forest_ = replace(self.forest_, privacy=ledger.to_plain())

    def _told(self) -> dict[str, Any]:
        """Return the parameters that may be written into the model: no seed, no account."""
        kept = plain_numbers(self.get_params(deep=False))
        hidden = {"random_state", "budget", "schema", "n_jobs"}
        return {
            name: value
            for name, value in kept.items()
            if name not in hidden and isinstance(value, bool | int | float | str | None)
        }

    def __getstate__(self) -> dict[str, Any]:
        """Return plain data: a fitted model carries no seed and no account."""
        return pickled_state(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(restored_state(state))

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401  # a class of scikit-learn from 1.6 on
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """Return the same for scikit-learn before 1.6."""
        kinds = ["2darray", "categorical", "string"]
        return {"allow_nan": True, "poor_score": True, "X_types": kinds}
