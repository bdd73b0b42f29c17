"""How accurate the trainers were: written by ``python -m benchmarks.private_tables``.

Medians over random splits at epsilon 1, at their defaults.
"""

MEASURED: dict[str, str] = {
    "private-tree": "adult 0.847, mushroom 0.998",
    "private-forest": "adult 0.842, mushroom 0.995",
    "private-additive": "adult 0.850, mushroom 0.979",
    "dpdf": "adult 0.822, mushroom 0.990",
    "diffpid3": "adult 0.820, mushroom 0.991",
    "smooth-sensitivity-forest": "adult 0.790, mushroom 0.972",
    "sulq-id3": "adult 0.793, mushroom 0.811",
    "exponential-id3": "adult 0.798, mushroom 0.999",
    "bootstrap-forest": "adult 0.780, mushroom 0.612",
    "midpoint-forest": "adult 0.795, mushroom 0.981",
    "random-count-forest": "adult 0.798, mushroom 0.985",
    "semi-supervised-forest": "adult 0.757, mushroom 0.711",
    "signal-to-noise-forest": "adult 0.761, mushroom 0.880",
    "threshold-forest": "adult 0.768, mushroom 0.785",
    "top-down-specialization": "adult 0.813, mushroom 0.998",
}
