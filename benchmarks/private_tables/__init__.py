"""Twelve tables, private trees beside their peers: ``python -m benchmarks.private_tables``.

``cells`` is what is measured and the file it is kept in, ``folds`` what everybody is given,
``models`` who answers, ``worker`` measures in an environment, ``run`` asks for what is missing,
``summary`` counts and ``page`` writes. Nothing is imported here: the worker runs where neither
treeaudit nor its requirements are installed.
"""
