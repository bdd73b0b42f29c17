"""Write a model again from what was audited and nothing else."""

import re
from collections.abc import Sequence
from dataclasses import replace

from treeaudit.defenses.strip import without_extras
from treeaudit.errors import ReadError, SeveralModelsError, UnsafeModelError, UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Extra
from treeaudit.readers import load
from treeaudit.writers import keeps_whole_record, suffixes_of, writer_for
from treeaudit.writers.bundles import is_bundle, model_ref_of

_MOST_NAMED = 12
_INDEX = re.compile(r"\[\d[\d, ]*\]")


def release(model: object) -> Forest:
    """Return a model as it was audited, without what else its file holds; no leaf changes.

    Parameters
    ----------
    model
        A path, a fitted estimator, or a `Forest`.

    Returns
    -------
    Forest
        Write it with `treeaudit.save`, or use it with
        `treeaudit.writers.to_estimator`. Names of columns, classes and settings
        stay; seeds, notes, other models and everything else that no prediction
        needs are not in it. Of a file with several models it is the first; a pickle, joblib
        or skops file that is written from it holds them all, each as it was audited.

    Raises
    ------
    ReadError
        If the model cannot be read, or the file holds several models and cannot be written again.

    Examples
    --------
    >>> import treeaudit as ta
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(random_state=7).fit(*load_iris(return_X_y=True))
    >>> clean = release(tree)
    >>> clean.trees[0].n_nodes == tree.tree_.node_count, "random_state" in clean.source.parameters
    (True, False)
    """
    try:
        forest = load(model)
    except SeveralModelsError as error:
        forest = one_of(model, error)
    forest = without_extras(forest)
    return replace(forest, source=replace(forest.source, digest=None, n_bytes=None))


def one_of(
    model: object,
    error: SeveralModelsError,
    suffix: str | None = None,
    max_bytes: int | None = None,
) -> Forest:
    """Return a model of a file of several, with which all of them are written again."""
    for name in error.names:
        try:
            forest = load(model, select=name, max_bytes=max_bytes)
        except UnsafeModelError:
            raise
        except ReadError:
            continue
        found = model_ref_of(forest)
        if found is not None and not is_bundle(found.root):
            break  # around the models is a class, which is not written back
        if keeps_whole_record(forest, suffix or own_suffix(forest) or "") and own_suffix(forest):
            return forest
    raise error


def left_out(before: Forest | Sequence[Forest], after: Forest | Sequence[Forest]) -> str:
    """Say in one line what a file held that the file written from it does not hold."""
    read = [before] if isinstance(before, Forest) else before
    again = [after] if isinstance(after, Forest) else after
    stays = {(one.kind, one.where) for forest in again for one in forest.extras.found}
    written = {forest.source.inside for forest in again}
    others = {where for forest in read for where in forest.others.values()}
    gone = [one for forest in read for one in forest.extras.found
            if (one.kind, one.where) not in stays
            and not (one.kind == "unseen" and one.where in written)]  # fmt: skip
    gone = list({(one.kind, one.where): one for one in gone}.values())
    groups: dict[str, list[Extra]] = {}
    for one in gone:
        groups.setdefault(_INDEX.sub("[*]", one.where), []).append(one)
    names: dict[str, None] = dict.fromkeys(
        f"{where if len(each) > 1 else each[0].where} "
        f"({_what(each[0].kind, sum(one.n for one in each), another=each[0].where in others)})"
        for where, each in groups.items()
    )
    if len(read) > 1:
        lost = [one.source.inside for one in read if one.source.inside not in written]
        names |= dict.fromkeys(f"{inside} (another model)" for inside in lost)
    shown = list(names)[:_MOST_NAMED]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "") if names else "nothing"


def _what(kind: str, n: int, *, another: bool) -> str:
    if another:
        return "another model"
    if kind == "extra":
        return f"{n:,} {'byte' if n == 1 else 'bytes'}"
    return {"unseen": "not read", "calls": "a name outside the usual libraries"}.get(
        kind, kind.replace("-", " ")
    )


def own_suffix(forest: Forest) -> str | None:
    """Return a suffix under which the model is written in its own form; None where it cannot be.

    The file is put together, so that what is promised works.
    """
    source, known = forest.source, suffixes_of(forest)
    if source.format in ("treeaudit-json", "treeaudit-pickle"):
        return ".json"
    if known == [".json"]:
        return None
    named = "." + (source.path or "").rpartition(".")[2].lower()
    suffix = named if named in known else ".pkl" if ".pkl" in known else known[0]
    try:
        writer_for(forest, suffix)(forest)
    except UnsupportedModelError:
        return None
    return suffix
