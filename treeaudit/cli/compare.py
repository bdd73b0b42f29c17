"""``treeaudit compare A B …``."""

from pathlib import Path
from typing import Annotated

import typer

from treeaudit.cli import options as opt
from treeaudit.cli.console import Console, echo, page, progress_bar
from treeaudit.cli.options import protect_inputs


def compare(
    models: Annotated[
        list[Path], typer.Argument(help="Model files.", show_default=False, metavar="MODEL…")
    ],
    train: opt.Train = None,
    test: opt.Test = None,
    target: opt.Target = None,
    person: opt.Person = None,
    rows_per_person: opt.RowsPerPerson = None,
    repeats: opt.Repeats = None,
    policy: opt.PolicyName = "default",
    attack: opt.Attacks = None,
    output: opt.Output = None,
    form: opt.Form = "text",
    seed: opt.Seed = 0,
    exit_zero: opt.ExitZero = False,
    force: opt.Force = False,
) -> None:
    """Set models side by side: what each gives away, and what it is good for.

    Exits with 0 if one of them passes the policy, with 1 if none does, with 3 if one may. A model
    whose leaves are noise is judged by policy private, by what its ledger bounds.

    treeaudit compare plain.pkl safe.pkl --test others.csv

    treeaudit compare plain.pkl private.json --train people.csv --test others.csv -o compare.html
    """
    import treeaudit as ta
    from treeaudit.reports.comparison import check_output, dumps, print_comparison, to_text

    for path in output or []:
        check_output(path, force=force)
    read = {f"model {i}": model for i, model in enumerate(models, start=1)}
    protect_inputs(output or [], read | {"--train": train, "--test": test}, policy)
    with progress_bar(models[0], quiet=False) as progress:
        found = ta.compare(
            *models,
            train=train,
            test=test,
            target=target,
            person=person,
            rows_per_person=rows_per_person,
            repeats=repeats,
            policy=policy,
            attacks=attack,
            seed=seed,
            progress=progress,
        )
    written = [found.save(path, force=force) for path in output or []]
    console = Console()
    if form == "json":
        page(dumps(found))
    elif console.is_terminal:
        print_comparison(found, console)
    else:
        page(to_text(found, console.width))
    if form == "text":
        for path in written:
            echo(f"report  {path}")
    verdicts = {model.verdict for model in found.models}
    code = 0 if "pass" in verdicts else 3 if "review" in verdicts else 1
    raise typer.Exit(0 if exit_zero else code)
