"""treeaudit: what a decision tree gives away about the people it was trained on."""

from treeaudit.errors import TreeauditError
from treeaudit.readers import load
from treeaudit.schema import Feature, Schema
from treeaudit.tree import Forest, Source, Tree
from treeaudit.writers import save

__version__ = "0.1.0"
