"""``treeaudit demo``."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from treeaudit.cli import options as opt
from treeaudit.cli.console import Console, echo
from treeaudit.files import write_file


def demo(
    folder: Annotated[Path, typer.Argument(help="Where to put the model and the report.")] = Path(
        "treeaudit-demo"
    ),
    show: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
    force: opt.Force = False,
) -> None:
    """Train a tree on bundled data, scan it, and write the report.

    569 patients of the Wisconsin breast cancer study, as scikit-learn bundles
    them: the tree that its example code gives away singles patients out.
    """
    import pickle

    from sklearn.datasets import load_breast_cancer
    from sklearn.tree import DecisionTreeClassifier

    import treeaudit as ta
    from treeaudit.repair.suggestion import with_fix
    from treeaudit.reports.terminal import print_report

    data = load_breast_cancer(as_frame=True)
    diagnosis = data.target.map(dict(enumerate(data.target_names)))
    tree = DecisionTreeClassifier(random_state=0).fit(data.data, diagnosis)
    folder.mkdir(parents=True, exist_ok=True)
    model = write_file(folder / "model.pkl", pickle.dumps(tree), force=force)
    report = with_fix(ta.scan(model))
    page = report.save(folder / "report.html", force=force)
    console = Console()
    print_report(report, console)
    console.print()
    echo(f"model   {model}")
    echo(f"report  {page}")
    echo(f"again   treeaudit scan {model}")
    if show:
        webbrowser.open(page.resolve().as_uri())
