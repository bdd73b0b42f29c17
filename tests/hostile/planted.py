"""What is hidden in a file is listed, or the file is refused, or it is gone after release."""

import pickle
from pathlib import Path

import treeaudit as ta


def is_listed_or_gone(clean: object, held: object, folder: Path) -> bool:
    """Tell whether a payload is listed, refused, or not in what treeaudit writes of the model.

    Parameters
    ----------
    clean, held
        The model without the payload, and with it.
    folder
        Where files are written.
    """
    files = {"clean": clean, "held": held}
    for name, model in files.items():
        (folder / f"{name}.pkl").write_bytes(pickle.dumps(model))
    try:
        found, usual = (_found(folder / f"{name}.pkl") for name in ("held", "clean"))
    except ta.ReadError:
        return True
    if not found <= usual:
        return True
    for name in files:
        ta.save(ta.release(folder / f"{name}.pkl"), folder / f"{name}-written.pkl")
    one, other = ((folder / f"{name}-written.pkl").read_bytes() for name in files)
    return one == other


def _found(path: Path) -> set[tuple[str, str, int]]:
    """Return what is found beside the trees of a file."""
    return {(one.kind, one.where, one.n) for one in ta.load(path).leftovers}
