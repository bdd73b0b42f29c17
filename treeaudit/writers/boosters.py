"""A repaired booster in the pickle of its wrapper, for the version of the library that wrote it."""

from collections.abc import Mapping

from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.readers.boosters import StoredBooster, booster_in
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.xgboost.model import is_ubjson
from treeaudit.writers import ubjson_bytes
from treeaudit.writers.lightgbm_text import to_lightgbm_text
from treeaudit.writers.xgboost_document import document_of, json_of

_WRAPPERS = {"XGBoost": ("xgboost", "XGB"), "LightGBM": ("lightgbm", "LGBM")}
_BYTEARRAY = Global("builtins", "bytearray", 0, True)


def booster_changes(forest: Forest) -> dict[int, Mapping[str, object]]:
    """Return what the repaired trees of a booster change in its record, see `Kept`."""
    stored = forest.source.stored
    found = stored.found if isinstance(stored, StoredBooster) else None
    if found is None:
        raise TypeError("no record to write into")
    library, prefix = _WRAPPERS[forest.source.library]
    booster = booster_in(found.estimator, library, prefix)
    if booster is None:
        raise TypeError("a booster that was read has a record")
    names = {"handle", "_handle"} & booster.attributes.keys()
    return {id(booster): dict.fromkeys(names, _handle(forest, booster.get("handle")))}


def _handle(forest: Forest, stored: object) -> object:
    """Return what the library stores in the place of its booster."""
    if forest.source.library == "LightGBM":
        return to_lightgbm_text(forest)
    if forest.source.library_version is None:
        raise UnsupportedModelError(
            "XGBoost before 1.0 loads nothing but its binary form, which is not written: write "
            "the .json that newer versions load"
        )
    model = document_of(forest)
    parts = {"Config": model.pop("Config", {}), "Model": model}
    # Versions before 1.6 write and load JSON, and the binary form.
    newer = isinstance(stored, bytes | bytearray | memoryview) and is_ubjson(stored)
    return Inert(_BYTEARRAY, (ubjson_bytes.dumps(parts) if newer else json_of(parts),))
