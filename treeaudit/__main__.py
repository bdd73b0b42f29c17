"""``python -m treeaudit``."""

from treeaudit.cli import main

if __name__ == "__main__":
    main()
