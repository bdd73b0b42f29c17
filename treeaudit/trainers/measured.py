"""How accurate the trainers were: written by ``python -m benchmarks.private_tables``.

Medians over random splits at epsilon 1, at their defaults.
"""

__all__ = ["MEASURED"]

MEASURED: dict[str, str] = {
    "private-tree": "adult 0.847, mushroom 0.998",
    "private-forest": "adult 0.842, mushroom 0.995",
    "private-additive": "adult 0.850, mushroom 0.979",
    "dpdf": "adult 0.822, mushroom 0.990",
    "diffpid3": "adult 0.820, mushroom 0.991",
    "smooth-sensitivity-forest": "adult 0.790, mushroom 0.972",
    "sulq-id3": "adult 0.801, mushroom 0.892",
    "exponential-id3": "adult 0.795, mushroom 0.996",
    "bootstrap-forest": "adult 0.783, mushroom 0.604",
    "midpoint-forest": "adult 0.797, mushroom 0.981",
    "random-count-forest": "adult 0.802, mushroom 0.968",
    "semi-supervised-forest": "adult 0.758, mushroom 0.745",
    "signal-to-noise-forest": "adult 0.760, mushroom 0.891",
    "threshold-forest": "adult 0.754, mushroom 0.843",
    "top-down-specialization": "adult 0.816, mushroom 0.997",
}
