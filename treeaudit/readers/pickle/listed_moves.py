"""Under which other names modules of model files were known: data, as in `listed_names`.

A module, a colon, the names that it had in other versions of its library.
"""

MOVED = """
joblib.numpy_pickle: joblib.numpy_pickle_compat sklearn.externals.joblib.numpy_pickle
    sklearn.externals.joblib.numpy_pickle_compat
numpy: numpy._core._multiarray_umath numpy._core.umath numpy.core._multiarray_umath
    numpy.core.fromnumeric numpy.core.multiarray numpy.core.umath numpy.lib.function_base
    numpy.lib.nanfunctions numpy.lib.type_check
numpy.char: numpy._core.defchararray numpy.core.defchararray
numpy.ma.core: numpy.ma
numpy.random._generator: numpy.random.generator
numpy.random._mt19937: numpy.random.mt19937
numpy.random._pcg64: numpy.random.pcg64
numpy.random.mtrand: mtrand
numpy.rec: numpy._core.records numpy.core.records
pandas.core.arrays.categorical: pandas.core.arrays pandas.core.categorical
pandas.core.dtypes.dtypes: pandas.types.dtypes
pandas.core.indexes.base: pandas.core.index pandas.indexes.base
pandas.core.indexes.multi: pandas.core.index pandas.indexes.multi
pandas.core.indexes.numeric: pandas.core.index pandas.indexes.numeric
pandas.core.indexes.range: pandas.indexes.range
pandas.core.internals.managers: pandas.core.internals
scipy.interpolate._bsplines: scipy.interpolate
scipy.interpolate._interpolate: scipy.interpolate
scipy.sparse._bsr: scipy.sparse.bsr
scipy.sparse._coo: scipy.sparse.coo
scipy.sparse._csc: scipy.sparse.csc
scipy.sparse._csr: scipy.sparse.csr
scipy.sparse._dia: scipy.sparse.dia
scipy.sparse._dok: scipy.sparse.dok
scipy.sparse._lil: scipy.sparse.lil
scipy.spatial._kdtree: scipy.spatial.kdtree
scipy.special._logsumexp: scipy.special
scipy.special._ufuncs: scipy.special
sklearn._loss._loss: _loss
sklearn.cluster._affinity_propagation: sklearn.cluster.affinity_propagation_
sklearn.cluster._agglomerative: sklearn.cluster._hierarchical sklearn.cluster.hierarchical
sklearn.cluster._bicluster: sklearn.cluster.bicluster
sklearn.cluster._birch: sklearn.cluster.birch
sklearn.cluster._dbscan: sklearn.cluster.dbscan_
sklearn.cluster._kmeans: sklearn.cluster.k_means_
sklearn.cluster._mean_shift: sklearn.cluster.mean_shift_
sklearn.cluster._optics: sklearn.cluster.optics_
sklearn.cluster._spectral: sklearn.cluster.spectral
sklearn.covariance._elliptic_envelope: sklearn.covariance.elliptic_envelope
sklearn.covariance._empirical_covariance: sklearn.covariance.empirical_covariance_
sklearn.covariance._graph_lasso: sklearn.covariance.graph_lasso_
sklearn.covariance._robust_covariance: sklearn.covariance.robust_covariance
sklearn.covariance._shrunk_covariance: sklearn.covariance.shrunk_covariance_
sklearn.cross_decomposition._pls: sklearn.cross_decomposition._cca
    sklearn.cross_decomposition.cca_ sklearn.cross_decomposition.pls_
sklearn.decomposition._dict_learning: sklearn.decomposition.dict_learning
sklearn.decomposition._factor_analysis: sklearn.decomposition.factor_analysis
sklearn.decomposition._fastica: sklearn.decomposition.fastica_
sklearn.decomposition._incremental_pca: sklearn.decomposition.incremental_pca
sklearn.decomposition._kernel_pca: sklearn.decomposition.kernel_pca
sklearn.decomposition._lda: sklearn.decomposition._online_lda sklearn.decomposition.online_lda
sklearn.decomposition._nmf: sklearn.decomposition.nmf
sklearn.decomposition._pca: sklearn.decomposition.pca
sklearn.decomposition._sparse_pca: sklearn.decomposition.sparse_pca
sklearn.decomposition._truncated_svd: sklearn.decomposition.truncated_svd
sklearn.ensemble._bagging: sklearn.ensemble.bagging
sklearn.ensemble._forest: sklearn.ensemble.forest
sklearn.ensemble._gb: sklearn.ensemble.gradient_boosting
sklearn.ensemble._gb_losses: sklearn.ensemble.gradient_boosting
sklearn.ensemble._iforest: sklearn.ensemble.iforest
sklearn.ensemble._voting: sklearn.ensemble.voting sklearn.ensemble.voting_classifier
sklearn.ensemble._weight_boosting: sklearn.ensemble.weight_boosting
sklearn.feature_extraction._dict_vectorizer: sklearn.feature_extraction.dict_vectorizer
sklearn.feature_extraction._hash: sklearn.feature_extraction.hashing
sklearn.feature_selection._base: sklearn.feature_selection.base
sklearn.feature_selection._from_model: sklearn.feature_selection.from_model
sklearn.feature_selection._mutual_info: sklearn.feature_selection.mutual_info
sklearn.feature_selection._rfe: sklearn.feature_selection.rfe
sklearn.feature_selection._univariate_selection: sklearn.feature_selection.univariate_selection
sklearn.feature_selection._variance_threshold: sklearn.feature_selection.variance_threshold
sklearn.gaussian_process._gpc: sklearn.gaussian_process.gpc
sklearn.gaussian_process._gpr: sklearn.gaussian_process.gpr
sklearn.impute._base: sklearn.impute
sklearn.linear_model._base: sklearn.linear_model.base
sklearn.linear_model._bayes: sklearn.linear_model.bayes
sklearn.linear_model._coordinate_descent: sklearn.linear_model.coordinate_descent
sklearn.linear_model._huber: sklearn.linear_model.huber
sklearn.linear_model._least_angle: sklearn.linear_model.least_angle
sklearn.linear_model._logistic: sklearn.linear_model.logistic
sklearn.linear_model._omp: sklearn.linear_model.omp
sklearn.linear_model._passive_aggressive: sklearn.linear_model.passive_aggressive
sklearn.linear_model._perceptron: sklearn.linear_model.perceptron
sklearn.linear_model._ransac: sklearn.linear_model.ransac
sklearn.linear_model._ridge: sklearn.linear_model.ridge
sklearn.linear_model._sgd_fast: sklearn.linear_model.sgd_fast
sklearn.linear_model._stochastic_gradient: sklearn.linear_model.stochastic_gradient
sklearn.linear_model._theil_sen: sklearn.linear_model.theil_sen
sklearn.manifold._isomap: sklearn.manifold.isomap
sklearn.manifold._locally_linear: sklearn.manifold.locally_linear
sklearn.manifold._mds: sklearn.manifold.mds
sklearn.manifold._spectral_embedding: sklearn.manifold.spectral_embedding_
sklearn.manifold._t_sne: sklearn.manifold.t_sne
sklearn.metrics._classification: sklearn.metrics.classification
sklearn.metrics._dist_metrics: sklearn.neighbors._dist_metrics
sklearn.metrics._ranking: sklearn.metrics.ranking
sklearn.metrics._regression: sklearn.metrics.regression
sklearn.metrics._scorer: sklearn.metrics.scorer
sklearn.metrics.cluster._bicluster: sklearn.metrics.cluster.bicluster
sklearn.metrics.cluster._supervised: sklearn.metrics.cluster.supervised
sklearn.metrics.cluster._unsupervised: sklearn.metrics.cluster.unsupervised
sklearn.mixture._bayesian_mixture: sklearn.mixture.bayesian_mixture
sklearn.mixture._gaussian_mixture: sklearn.mixture.gaussian_mixture
sklearn.model_selection._search: sklearn.grid_search
sklearn.model_selection._split: sklearn.cross_validation
sklearn.neighbors._ball_tree: sklearn.neighbors.ball_tree
sklearn.neighbors._classification: sklearn.neighbors.classification
sklearn.neighbors._graph: sklearn.neighbors.graph
sklearn.neighbors._kd_tree: sklearn.neighbors.kd_tree
sklearn.neighbors._kde: sklearn.neighbors.kde
sklearn.neighbors._lof: sklearn.neighbors.lof
sklearn.neighbors._nca: sklearn.neighbors.nca
sklearn.neighbors._nearest_centroid: sklearn.neighbors.nearest_centroid
sklearn.neighbors._quad_tree: sklearn.neighbors.quad_tree
sklearn.neighbors._regression: sklearn.neighbors.regression
sklearn.neighbors._unsupervised: sklearn.neighbors.unsupervised
sklearn.neural_network._multilayer_perceptron: sklearn.neural_network.multilayer_perceptron
sklearn.neural_network._rbm: sklearn.neural_network.rbm
sklearn.preprocessing._data: sklearn.preprocessing.data
sklearn.preprocessing._label: sklearn.preprocessing.label
sklearn.semi_supervised._label_propagation: sklearn.semi_supervised.label_propagation
sklearn.svm._classes: sklearn.svm.classes
sklearn.tree._classes: sklearn.tree.tree
sklearn.utils._bunch: sklearn.datasets.base sklearn.utils sklearn.utils.__init__
"""
