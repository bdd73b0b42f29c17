"""Repairs of a model before release: ``Forest -> Forest``, the input untouched.

Adding one: its module, its name in `DEFENSES`, its test file.
"""

__all__ = ["DEFENSES"]

DEFENSES: tuple[object, ...] = ()
"""None yet; k-anonymity pruning (Wakabayashi et al. 2024, section 4) comes first."""
