"""The names that help, completion and errors tell: what the registries hold, when asked."""

__all__ = ["REGISTRIES", "algorithms", "attacks", "formats", "policies"]


def policies() -> list[str]:
    """Return the policies that need no file."""
    from treeaudit.findings.policy import BUILT_IN

    return list(BUILT_IN)


def algorithms() -> list[str]:
    """Return the names by which trainers are chosen."""
    from treeaudit.trainers.algorithms import ALGORITHMS

    return [trainer.algorithm for trainer in ALGORITHMS]


def formats() -> list[str]:
    """Return what the model files are called that can be read."""
    from treeaudit.readers import READERS

    return [one.title for one in READERS]


def attacks() -> list[str]:
    """Return the ids of the attacks."""
    from treeaudit.attacks import all_attacks

    return [attack.id for attack in all_attacks()]


REGISTRIES = {"{policies}": policies, "{algorithms}": algorithms, "{formats}": formats}
"""What stands in the help for the names of a registry."""
