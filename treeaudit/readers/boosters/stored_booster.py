"""What a writer needs of a boosted model of another library: the document that it was read from."""

from dataclasses import dataclass

from treeaudit.readers.sklearn.model_ref import ModelRef


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredBooster:
    """The document of a boosted model, as `Source.stored` keeps it.

    Attributes
    ----------
    document
        Objects, lists and arrays as a file of XGBoost has them; the parts of a LightGBM model.
    found
        Its wrapper in a pickle; None where the file is the document.
    """

    document: object
    found: ModelRef | None = None
