"""Who must be in the training data of a forest: bounds that follow from its leaves.

Every leaf is one linear equation on the training table: how many people of each class are in the
part of the domain that the leaf covers. In the order of the work:

``scope``
    Which models it holds for, and what it assumes.
``domain``, ``questions``
    The public domain, read off the file, and what trees ask about columns.
``coding``, ``cells``
    Trees in terms of the domain; the boxes that all trees so far tell apart.
``bounds``
    ``least <= A x <= most`` on whole numbers of people per cell, and bounds on x.
``exact``, ``bootstrap``, ``boosted``, ``likely``
    The whole way within a `Budget`: exact counts of everybody, bootstrap samples from known
    seeds, boosted classifiers (``boosted_equations``, ``boosted_bounds``), and probable people
    behind unknown samples or noise (``evidence``, ``posterior``).
``releases``
    Who is in one of two releases alone (TA107).
``explanation``, ``proof``, ``checker``
    Who is certain, in words; proofs, and a checker that shares no code with what finds them.

All take and return frozen data.
"""
