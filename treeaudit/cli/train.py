"""``treeaudit train DATA``, and what training needs: ``schema DATA``, ``budget FILE``."""

import os
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Context

from treeaudit.cli import options as opt
from treeaudit.cli.console import echo, page, progress_bar
from treeaudit.cli.options import algorithms, distinct, protect_inputs, settings
from treeaudit.errors import DataError, PrivacyError, PrivacyWarning, TreeauditError
from treeaudit.files import write_file
from treeaudit.reports.plain_text import plain

if TYPE_CHECKING:
    from treeaudit.dp.ledger import Ledger, Query


_PRIVACY = "Privacy"
_PLAIN = partial(typer.Option, show_default=False)
_PRIVATE = partial(_PLAIN, rich_help_panel=_PRIVACY)
_WEAK = 20.0
_RESERVED = {
    *("epsilon", "schema", "algorithm", "target", "budget", "random_state"),
    *("person", "rows_per_person"),
}


def _list(context: Context, algorithm: str | None) -> str | None:
    """Print all algorithms, or one if its parameters were asked for before."""
    if algorithm == "list":
        from treeaudit.trainers.algorithms import ALGORITHMS, MEASURED, as_text

        page(as_text(ALGORITHMS, MEASURED) + "\n")
        raise typer.Exit
    if "help" in context.meta:
        _print_parameters(algorithm)
    return algorithm


def _help(context: Context, given: list[str] | None) -> list[str] | None:
    """Print the parameters of the algorithm, which may be named before this or after."""
    if given and "help" in given:
        context.meta["help"] = True
        if "algorithm" in context.params:
            _print_parameters(context.params["algorithm"])
    return given


def _print_parameters(algorithm: str | None) -> None:
    from treeaudit.trainers.algorithms import ALGORITHMS, parameters_as_text
    from treeaudit.trainers.train import trainer_named

    trainer = ALGORITHMS[0] if algorithm is None else trainer_named(algorithm)
    page(parameters_as_text(trainer) + "\n")
    raise typer.Exit


def train(
    data: Annotated[
        Path, typer.Argument(help="The private table: CSV or Parquet.", show_default=False)
    ],
    epsilon: Annotated[float, _PRIVATE(help="The privacy budget of the model.")],
    output: Annotated[
        list[Path],
        _PLAIN(
            "--output",
            "-o",
            help="The model: .json, .pkl or .joblib. Can be repeated.",
            callback=distinct,
            metavar="FILE",
            rich_help_panel="Output",
        ),
    ],
    schema: Annotated[
        str | None,
        _PRIVATE(
            help="Confirmed public bounds, categories and labels (see 'treeaudit schema'); "
            "from-data marks the model as not private.",
            metavar="FILE",
        ),
    ] = None,
    algorithm: Annotated[
        str | None,
        _PLAIN(
            help="How to train: {algorithms}; the first unless told, and 'list' prints what is "
            "proved of each.",
            autocompletion=algorithms,
            metavar="NAME",
            is_eager=True,
            callback=_list,
        ),
    ] = None,
    target: Annotated[
        str | None,
        _PLAIN(
            help="The column with the labels; that of the schema unless told.", metavar="COLUMN"
        ),
    ] = None,
    person: Annotated[
        str | None,
        _PRIVATE(
            help="The column that names whose row it is: epsilon protects a person, not a row.",
            metavar="COLUMN",
        ),
    ] = None,
    rows_per_person: Annotated[
        int | None,
        _PRIVATE(
            help="How many rows of one person are used, the first of their own.", metavar="K", min=1
        ),
    ] = None,
    budget: Annotated[
        Path | None,
        _PRIVATE(
            help="The account that the model is paid from (see 'treeaudit budget'): "
            "all models of one account together cost at most what it holds.",
            metavar="FILE",
        ),
    ] = None,
    neighbours: Annotated[
        Literal["add-remove", "replace-one"],
        typer.Option(help="What one more or less means.", rich_help_panel=_PRIVACY),
    ] = "add-remove",
    variant: Annotated[
        Literal["sound", "published"],
        typer.Option(help="With a proof, or as the paper prints it.", rich_help_panel=_PRIVACY),
    ] = "sound",
    outside: Annotated[
        Literal["raise", "clip"],
        typer.Option(
            help="What to do with values that the schema does not know.", rich_help_panel=_PRIVACY
        ),
    ] = "raise",
    setting: Annotated[
        list[str] | None,
        _PLAIN(
            "--set",
            help="A parameter of the algorithm, such as max_depth=6; 'help' lists them. "
            "Can be repeated.",
            metavar="NAME=VALUE",
            is_eager=True,
            callback=_help,
        ),
    ] = None,
    seed: Annotated[
        int | None, _PLAIN(help="Repeat a draw, for tests: marks the model as not private.")
    ] = None,
    force: opt.Force = False,
) -> None:
    """Train a differentially private tree or forest.

    treeaudit train people.csv --epsilon 1 --schema schema.toml -o model.json
    """
    from treeaudit import trainers
    from treeaudit.dp.budget import Budget
    from treeaudit.dp.claims import unbounded_because
    from treeaudit.people.input.table_input import read_table
    from treeaudit.trainers.train import cells_of, check_place

    for path in output:
        check_place(path, force=force)
    protect_inputs(output, {"DATA": data, "--schema": schema, "--budget": budget})
    parameters = {"neighbours": neighbours, "variant": variant, "outside": outside}
    own = settings(setting, _RESERVED, "max_depth=6")
    given: dict[str, Any] = {**own, **parameters, "person": person, "random_state": seed}
    if rows_per_person is not None:
        given["rows_per_person"] = rows_per_person
    if budget is not None:
        given["budget"] = Budget.at(budget)
    if algorithm is not None:
        given["algorithm"] = algorithm
    table = read_table(data, texts=cells_of(schema, target, person)).frame
    with progress_bar("training"), warnings.catch_warnings():
        # The same is said below, and stays in the model.
        warnings.simplefilter("ignore", PrivacyWarning)
        try:
            model = trainers.train(table, epsilon=epsilon, schema=schema, target=target, **given)
        except ValueError as error:
            # Estimators answer for their parameters and labels as scikit-learn asks.
            raise error if isinstance(error, TreeauditError) else DataError(str(error)) from None
    if epsilon > _WEAK:
        echo(f"epsilon {epsilon:g} protects hardly anybody: 1 is usual, 10 is much", err=True)
    echo(f"{model.algorithm}, {variant} variant")
    _print_ledger(model.privacy_)
    if budget is not None:
        echo(plain(f"  {given['budget'].statement}", 1000))
    because = None if model.privacy_.not_private else unbounded_because(model.forest_)
    if because is not None:
        echo(f"  NOT BOUNDED: {because}")
    for path in output:
        written = trainers.save_trained(model, path, force=force)
        echo(plain(f"model  {written}", 1000))


def _each(query: "Query") -> str:
    return f"rho {float(query.rho):g}" if query.rho else f"epsilon {float(query.epsilon):g}"


def _all(query: "Query") -> str:
    return f"rho {float(query.concentrated):g}" if query.rho else f"{float(query.cost):g}"


def _print_ledger(ledger: "Ledger") -> None:
    from treeaudit.model.words import loss_in_words, number_of

    for query in ledger.queries:
        how = "of disjoint parts" if query.composition == "parallel" else "of the same people"
        echo(
            f"  {query.name}: {query.mechanism}, {_each(query)}, "
            f"asked {number_of(query.asked, 'time', 'times')} {how}, costs {_all(query)}"
        )
    echo(
        f"  claim: {loss_in_words(float(ledger.epsilon), float(ledger.delta))} "
        f"({ledger.neighbours}) for a {ledger.unit}, "
        f"of which {float(ledger.used):g} is used; "
        f"taken as public: {', '.join(ledger.public)}"
    )
    for reason in ledger.reasons:
        echo(f"  NOT PRIVATE: {reason}")


def schema(
    data: Annotated[Path, typer.Argument(help="A table: CSV or Parquet.", show_default=False)],
    target: Annotated[
        str, typer.Option(help="The column with the labels.", metavar="COLUMN", show_default=False)
    ],
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            help="A column of numbers that are names of things. Can be repeated.",
            metavar="COLUMN",
            show_default=False,
        ),
    ] = None,
    target_low: Annotated[
        float | None,
        typer.Option(
            help="The least that a target can be that is a number, not a class.",
            metavar="NUMBER",
            show_default=False,
        ),
    ] = None,
    target_high: Annotated[
        float | None,
        typer.Option(help="The most that it can be.", metavar="NUMBER", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write FILE instead of printing.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    force: opt.Force = False,
) -> None:
    """Draft a schema file: the public bounds, categories and labels that training needs.

    treeaudit schema people.csv --target ill -o schema.toml
    """
    from treeaudit.model.schema import Schema
    from treeaudit.model.schema_file import schema_text
    from treeaudit.people.input.table_input import read_table

    protect_inputs([] if output is None else [output], {"DATA": data})
    bounds = None
    if target_low is not None and target_high is not None:
        bounds = target_low, target_high
    elif target_low is not None or target_high is not None:
        raise DataError("a target that is a number needs both --target-low and --target-high")
    frame = read_table(data).frame
    table = frame.set_axis(frame.columns.astype(str), axis=1)
    public = Schema.from_public(table, target=target, categorical=categorical or (), bounds=bounds)
    draft = schema_text(public)
    if output is None:
        page(draft)
        return
    written = write_file(output, draft, force=force, private=True)
    echo(plain(f"schema  {written}", 1000))
    echo(
        "It was taken from the data. Replace what is not public knowledge, then set "
        "confirmed = true.",
        err=True,
    )


def budget(
    file: Annotated[Path, typer.Argument(help="The account.", show_default=False)],
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="Open the account: the most that all models of these people may cost together.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Open an account of epsilon for some people, or show what it has left.

    treeaudit budget people.budget --epsilon 2
    """
    from treeaudit.dp.budget import Budget

    if epsilon is not None and os.path.lexists(file):
        raise PrivacyError(
            f"{file} exists already: an account is opened once, or what was spent is forgotten"
        )
    account = Budget.at(file) if epsilon is None else Budget(epsilon, file)
    for what, cost, neighbours, unit in account.to_frame().itertuples(index=False):
        echo(plain(f"  {cost:g}  {what} ({neighbours} of a {unit})", 300))
    echo(plain(account.statement, 1000))
