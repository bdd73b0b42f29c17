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
    paths = folder / "clean.pkl", folder / "held.pkl"
    for path, model in zip(paths, (clean, held), strict=True):
        path.write_bytes(pickle.dumps(model))
    return file_is_listed_or_gone(*paths)


def file_is_listed_or_gone(clean: Path, held: Path) -> bool:
    """Tell the same of two files."""
    try:
        if not _found(held) <= _found(clean):
            return True
    except ta.ReadError:
        return True
    written = [path.with_name(f"{path.stem}-written.pkl") for path in (clean, held)]
    for path, to in zip((clean, held), written, strict=True):
        ta.save(ta.release(path), to, force=True)
    one, other = (path.read_bytes() for path in written)
    return one == other


def _found(path: Path) -> set[tuple[str, str, int]]:
    """Return what is found beside the trees of a file."""
    return {(one.kind, one.where, one.n) for one in ta.load(path).extras}
