"""Who must be in the training data of a forest: bounds that follow from its leaves.

Every leaf is one linear equation on the table that the forest was trained on: how many people of
each class are in the part of the domain that the leaf covers. The steps, each a module:

``scope``
    Which models it holds for.
``complete``
    Whether values were missing in training, for which nothing below holds.
``domain``, ``recognition``
    The public domain: `Variable` and `Domain`, read off the file, with what is assumed.
``nodes``, ``coding``
    Trees in a row, and in terms of the domain: `Layout`, `Coded`, with the box of every node.
``cells``
    `Cells`: what all trees so far tell apart, as boxes; those with nobody are dropped tree by tree.
``system``
    `System`: whole numbers x with ``least <= A x <= most`` and `Bounds` on x. Unknown is how many
    people of one class are in a cell; each leaf is an equation.
``shuttle``, ``pairs``
    Bounds from single equations, and from pairs of trees.
``settle``
    All of these while there is time.
``answer``
    `reconstruct`: the whole way, within a `Budget`, to an `Answer`.
``rounds``, ``nonnegative``, ``enclosure``, ``boosted``
    Boosted classifiers: equations, a table that fulfils them, what they prove, the whole way.

All take and return frozen data. Whoever has other equations (draws that are known, rounded or
noisy counts) makes a `System` with intervals and weights, and gives `refine` another ``holds``.
"""
