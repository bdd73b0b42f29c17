"""What the shared part of all trainers promises to their users, and to their authors."""

from fractions import Fraction

import numpy as np
import pytest

from tests.trainers.people import SCHEMA, people
from treeaudit.errors import PrivacyError, PrivacyWarning
from treeaudit.trainers.smooth_sensitivity_forest import SmoothSensitivityForestClassifier


class Greedy(SmoothSensitivityForestClassifier):
    """Asks once more than it may."""

    def _grow(self, rows, curator, epsilon):
        grown = super()._grow(rows, curator, epsilon)
        if self.variant == "published":
            curator.note("once more", "as printed", Fraction(1, 5), Fraction(1), 1)
        else:
            curator.count("once more", [len(rows)], Fraction(1, 5))
        return grown


def test_a_sound_trainer_cannot_overspend() -> None:
    X, y = people(50)
    with pytest.raises(PrivacyError, match=r"'once more' would bring the cost to 1\.2"):
        Greedy(schema=SCHEMA, n_estimators=2).fit(X, y)


def test_what_a_published_one_overspends_is_in_its_claim() -> None:
    X, y = people(50)
    with pytest.warns(PrivacyWarning):
        model = Greedy(schema=SCHEMA, n_estimators=2, variant="published").fit(X, y)
    assert model.forest_.privacy["epsilon"] == 1.2
    assert model.privacy_.budget == 1


def test_a_refit_forgets_the_fit_before() -> None:
    X, y = people(50)
    model = SmoothSensitivityForestClassifier(schema=SCHEMA, n_estimators=2).fit(X, y)
    assert model.feature_names_in_.tolist() == ["age", "sex", "dose"]
    model.fit(X.to_numpy(dtype=object), y)
    assert not hasattr(model, "feature_names_in_")
    assert float(model.privacy_.epsilon) == 1.0
    assert np.array_equal(model.classes_, ["no", "yes"])
