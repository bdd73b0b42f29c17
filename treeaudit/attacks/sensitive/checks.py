"""Checks of how different the values of a column are inside the groups (TA102, TA110)."""

from treeaudit.attacks.control import MEMORY
from treeaudit.attacks.once import share_at_most, share_told
from treeaudit.findings.checks import Rule, holds_at_least, least, most

__all__ = ["DIVERSITY"]

DIVERSITY: tuple[Rule, ...] = (
    Rule(
        name="max-certain-share",
        title="People whose label is certain",
        bound="at most {:.1%}",
        measure=share_at_most("certain_share", "homogeneous_in_any_tree"),
        told=share_told("certain_share", "homogeneous_in_any_tree"),
        share=True,
        step="make leaves larger (max_leaf_nodes, a higher min_samples_leaf) until each holds more "
        "than one label, or show with unseen people that the rule is a fact of the population",
    ),
    Rule(
        name="min-distinct-l",
        title="Different labels in a leaf",
        bound="at least {:,.0f}",
        measure=least("distinct_l"),
        holds=holds_at_least,
    ),
    Rule(
        name="min-entropy-l",
        title="Entropy l-diversity",
        bound="at least {:g}",
        measure=least("entropy_l"),
        holds=holds_at_least,
    ),
    Rule(
        name="max-t-closeness",
        title="Distance of a leaf from everybody (t-closeness)",
        bound="at most {:g}",
        measure=most("t_closeness"),
        share=True,
    ),
    Rule(
        name="max-dominant-share",
        title="Share of one label in a leaf",
        bound="at most {:.1%}",
        measure=most("largest_share"),
        share=True,
    ),
    MEMORY,
)
"""The first attack that names them has to have run; the other adds its columns."""
