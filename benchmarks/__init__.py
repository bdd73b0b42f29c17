"""Cost of treeaudit beside named peers and floors, measured in one run."""
