"""Differentially private trees as scikit-learn estimators.

Writing a trainer. It is one module, its name in ``algorithms.py`` and its tests. For its
pickles to be read, its exact name stands in ``readers/pickle/listed_names.txt``, too, and
``python tools/inventory.py own`` writes what they may hold::

    @dataclass(kw_only=True, eq=False, repr=False)
    class XClassifier(PrivateClassifier):   # or PrivateRegressor
        algorithm = "x"                     # its name on the command line
        max_depth: int = 5                  # its own parameters; types and `SIZES` check them

        def _checked(self):                 # what neither tells; then super()._checked()
        def _grow(self, rows, curator, epsilon):   # -> Grown

* ``rows`` (`TrainingRows`): ``schema`` (public; ``classes`` ascending),
  ``values`` (numbers within bounds, categories as codes, missing as NaN) and
  ``labels`` (positions in the classes, or steps between the bounds of a number).
  The only private data there is; where a person is what epsilon protects, no more
  than ``rows_per_person`` rows of anybody.
* ``curator`` (`treeaudit.dp.Curator`) is the only way to look at it:
  ``curator.count(name, counts, epsilon)`` adds discrete Laplace noise, to sums with ``most=``,
  ``curator.choose(name, scores, epsilon, sensitivity=..., mechanism=...)``
  picks a candidate per row. Rows are disjoint parts (parallel), names add up
  (sequential). It halves the rate under ``replace-one``, keeps the ledger and
  refuses to go over epsilon in the sound variant. ``curator.note(...)`` writes
  down what is asked by a mechanism as printed. ``curator.entropy`` is the
  source for everything else that is random: `treeaudit.dp.subsampling.below`,
  ``unit``, ``permutation``. Never numpy's generators.
* Scores are whole numbers: ``GINI.of(counts)`` and its ``sensitivity(n_most)``, with ``UNIT``
  of them to a person, in `treeaudit.dp.scores`. ``epsilon`` is a `Fraction`; divide it, never
  round it: the curator rounds rates down to what its arithmetic is exact for, and the ledger says
  what was used. ``_least`` tells the least epsilon of a count, so that what cannot be answered is
  refused before anything is spent; after the first question nothing may fail.
* `Grown`: trees in the project's form (``n_records`` None; ``counts`` noisy, ``label`` or
  ``value`` per node), what the counts are, how the trees answer together
  (`treeaudit.model.forest.Answers`), the noise that was drawn for the counts of the leaves
  (`treeaudit.model.forest.Noise`), ``flaws`` of the variant as printed
  (warned about, and the model is marked not private), ``public`` inputs beyond
  schema and parameters.
* Greedy trainers grow a level of all nodes at a time: `code_rows` and
  `Cells.histograms` (``histograms``) count, `score_level` (``splits``) scores,
  `split_level` (``growth``) splits, ``pruning`` makes noisy counts fit together;
  `grow_by_choice` grows a tree by private choices. A trainer that may stop early ends
  with `note_unspent` (``growth``): its claim is what it would spend at worst.
* ``random_trees`` grows trees that look at nothing, routes the records down them, and
  asks for the counts of their leaves.
* A record that is drawn by chance (`treeaudit.dp.subsampling`): into one tree (`tree_of_each`),
  several times (`poisson`), into a sample whose small counts are left out (`Curator.sample`).
* ``listed``, its line of Table I: the command line, the site and the benchmark follow.

Everything else is done once, in `PrivateTrees`: validation, the schema, the
budget, the ledger, ``forest_``, ``classes_``, ``predict_proba``, the pickle.
"""

from treeaudit.trainers import algorithms
from treeaudit.trainers.algorithms import *  # noqa: F403  # every trainer, named there alone
from treeaudit.trainers.answers import PrivateClassifier, PrivateRegressor
from treeaudit.trainers.private_search import PrivateSearch
from treeaudit.trainers.private_trees import Grown, PrivateTrees
from treeaudit.trainers.train import save_trained, train
from treeaudit.trainers.training_rows import TrainingRows

__all__ = [
    "Grown",
    "PrivateClassifier",
    "PrivateRegressor",
    "PrivateSearch",
    "PrivateTrees",
    "TrainingRows",
    "save_trained",
    "train",
]
__all__ += algorithms.__all__
