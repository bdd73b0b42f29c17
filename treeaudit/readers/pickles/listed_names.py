"""The classes and functions that genuine model files mention, each by its exact name.

Data, no code to follow: a library and module, a colon, the names in it. Collected from
3,453 genuine files of scikit-learn 0.18.2 to 1.9.1, and from pickles of every estimator,
splitter, kernel, scorer, metric and loss of scikit-learn 1.2.2, 1.6.1 and 1.9.1, and of the
tree models of XGBoost, LightGBM, CatBoost and imbalanced-learn. `names` says what follows.
"""

__all__ = ["CLASSES", "FUNCTIONS"]

_MOVED = """
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

_CLASSES = """
catboost.core: CatBoost CatBoostClassifier CatBoostRanker CatBoostRegressor
imblearn.base: FunctionSampler
imblearn.combine._smote_enn: SMOTEENN
imblearn.combine._smote_tomek: SMOTETomek
imblearn.ensemble._bagging: BalancedBaggingClassifier
imblearn.ensemble._easy_ensemble: EasyEnsembleClassifier
imblearn.ensemble._forest: BalancedRandomForestClassifier
imblearn.ensemble._weight_boosting: RUSBoostClassifier
imblearn.metrics.pairwise: ValueDifferenceMetric
imblearn.over_sampling._adasyn: ADASYN
imblearn.over_sampling._random_over_sampler: RandomOverSampler
imblearn.over_sampling._smote.base: SMOTE SMOTEN
imblearn.over_sampling._smote.cluster: KMeansSMOTE
imblearn.over_sampling._smote.filter: BorderlineSMOTE SVMSMOTE
imblearn.pipeline: Pipeline
imblearn.under_sampling._prototype_generation._cluster_centroids: ClusterCentroids
imblearn.under_sampling._prototype_selection._condensed_nearest_neighbour:
    CondensedNearestNeighbour
imblearn.under_sampling._prototype_selection._edited_nearest_neighbours: AllKNN
    EditedNearestNeighbours RepeatedEditedNearestNeighbours
imblearn.under_sampling._prototype_selection._instance_hardness_threshold:
    InstanceHardnessThreshold
imblearn.under_sampling._prototype_selection._nearmiss: NearMiss
imblearn.under_sampling._prototype_selection._neighbourhood_cleaning_rule:
    NeighbourhoodCleaningRule
imblearn.under_sampling._prototype_selection._one_sided_selection: OneSidedSelection
imblearn.under_sampling._prototype_selection._random_under_sampler: RandomUnderSampler
imblearn.under_sampling._prototype_selection._tomek_links: TomekLinks
joblib.numpy_pickle: NDArrayWrapper NumpyArrayWrapper ZNDArrayWrapper
lightgbm.basic: Booster
lightgbm.sklearn: LGBMClassifier LGBMRanker LGBMRegressor
numpy: bool bool_ bytes_ character chararray clongdouble complex128 complex64 complexfloating
    datetime64 dtype flexible float16 float32 float64 floating generic inexact int16 int32 int64
    int8 integer longdouble longlong matrix ndarray number object_ poly1d recarray record
    signedinteger str_ timedelta64 ufunc uint16 uint32 uint64 uint8 ulonglong unsignedinteger
    vectorize void
numpy.char: chararray
numpy.core.defmatrix: matrix
numpy.ma.core: MaskedArray MaskedConstant
numpy.matrixlib.defmatrix: matrix
numpy.random: Generator MT19937 PCG64 PCG64DXSM Philox RandomState SFC64 SeedSequence
    __RandomState_ctor
numpy.random._generator: Generator
numpy.random._mt19937: MT19937
numpy.random._pcg64: PCG64 PCG64DXSM
numpy.random._philox: Philox
numpy.random._sfc64: SFC64
numpy.random.bit_generator: SeedSequence
numpy.random.mtrand: RandomState
numpy.rec: recarray
pandas: BooleanDtype Categorical CategoricalDtype CategoricalIndex DataFrame DatetimeIndex
    DatetimeTZDtype Index Interval IntervalDtype IntervalIndex MultiIndex NA NaT Period
    PeriodDtype RangeIndex Series SparseDtype StringDtype TimedeltaIndex
pandas._libs.arrays: NDArrayBacked
pandas._libs.internals: BlockPlacement
pandas._libs.interval: Interval IntervalMixin
pandas._libs.missing: NA NAType
pandas._libs.sparse: IntIndex
pandas._libs.tslibs.nattype: NaTType
pandas._libs.tslibs.offsets: BusinessDay Day Hour Micro Milli Minute MonthBegin MonthEnd Nano
    QuarterBegin QuarterEnd Second Week YearBegin YearEnd
pandas._libs.tslibs.period: Period
pandas._libs.tslibs.timedeltas: Timedelta
pandas._libs.tslibs.timestamps: Timestamp
pandas.arrays: ArrowStringArray BooleanArray DatetimeArray FloatingArray IntegerArray
    IntervalArray PeriodArray SparseArray TimedeltaArray
pandas.core.arrays.boolean: BooleanArray BooleanDtype
pandas.core.arrays.categorical: Categorical
pandas.core.arrays.datetimes: DatetimeArray
pandas.core.arrays.floating: Float32Dtype Float64Dtype FloatingArray
pandas.core.arrays.integer: Int16Dtype Int32Dtype Int64Dtype Int8Dtype IntegerArray UInt16Dtype
    UInt32Dtype UInt64Dtype UInt8Dtype
pandas.core.arrays.interval: IntervalArray
pandas.core.arrays.masked: BaseMaskedArray
pandas.core.arrays.numpy_: NumpyExtensionArray PandasArray
pandas.core.arrays.period: PeriodArray
pandas.core.arrays.sparse.array: SparseArray
pandas.core.arrays.sparse.dtype: SparseDtype
pandas.core.arrays.string_: StringArray StringDtype
pandas.core.arrays.string_arrow: ArrowStringArray
pandas.core.arrays.timedeltas: TimedeltaArray
pandas.core.dtypes.dtypes: CategoricalDtype DatetimeTZDtype IntervalDtype PeriodDtype SparseDtype
pandas.core.flags: Flags
pandas.core.frame: DataFrame
pandas.core.indexes.base: Index
pandas.core.indexes.category: CategoricalIndex
pandas.core.indexes.datetimes: DatetimeIndex
pandas.core.indexes.frozen: FrozenList FrozenNDArray
pandas.core.indexes.interval: IntervalIndex
pandas.core.indexes.multi: MultiIndex
pandas.core.indexes.numeric: Float64Index Int64Index UInt64Index
pandas.core.indexes.period: PeriodIndex
pandas.core.indexes.range: RangeIndex
pandas.core.indexes.timedeltas: TimedeltaIndex
pandas.core.internals: BoolBlock CategoricalBlock DatetimeBlock FloatBlock IntBlock ObjectBlock
pandas.core.internals.blocks: BoolBlock CategoricalBlock DatetimeLikeBlock ExtensionBlock
    FloatBlock IntBlock NumericBlock ObjectBlock
pandas.core.internals.managers: BlockManager SingleBlockManager
pandas.core.series: Series
scipy.interpolate._bsplines: BSpline
scipy.interpolate._cubic: Akima1DInterpolator CubicSpline PchipInterpolator
scipy.interpolate._interpolate: BPoly PPoly interp1d
scipy.interpolate.interpolate: interp1d
scipy.sparse._bsr: bsr_array bsr_matrix
scipy.sparse._coo: coo_array coo_matrix
scipy.sparse._csc: csc_array csc_matrix
scipy.sparse._csr: csr_array csr_matrix
scipy.sparse._dia: dia_array dia_matrix
scipy.sparse._dok: dok_array dok_matrix
scipy.sparse._lil: lil_array lil_matrix
scipy.spatial._ckdtree: cKDTree
scipy.spatial._kdtree: KDTree
scipy.spatial.ckdtree: cKDTree
scipy.stats._continuous_distns: alpha_gen anglit_gen arcsine_gen argus_gen beta_gen betaprime_gen
    bradford_gen burr12_gen burr_gen cauchy_gen chi2_gen chi_gen cosine_gen crystalball_gen
    dgamma_gen dpareto_lognorm_gen dweibull_gen erlang_gen expon_gen exponnorm_gen exponpow_gen
    exponweib_gen f_gen fatiguelife_gen fisk_gen foldcauchy_gen foldnorm_gen gamma_gen
    gausshyper_gen genexpon_gen genextreme_gen gengamma_gen genhalflogistic_gen genhyperbolic_gen
    geninvgauss_gen genlogistic_gen gennorm_gen genpareto_gen gibrat_gen gompertz_gen
    gumbel_l_gen gumbel_r_gen halfcauchy_gen halfgennorm_gen halflogistic_gen halfnorm_gen
    hypsecant_gen invgamma_gen invgauss_gen invweibull_gen irwinhall_gen jf_skew_t_gen
    johnsonsb_gen johnsonsu_gen kappa3_gen kappa4_gen ksone_gen kstwo_gen kstwobign_gen
    landau_gen laplace_asymmetric_gen laplace_gen levy_gen levy_l_gen loggamma_gen logistic_gen
    loglaplace_gen lognorm_gen lomax_gen maxwell_gen mielke_gen moyal_gen nakagami_gen ncf_gen
    nct_gen ncx2_gen norm_gen norminvgauss_gen pareto_gen pearson3_gen powerlaw_gen
    powerlognorm_gen powernorm_gen rayleigh_gen rdist_gen recipinvgauss_gen reciprocal_gen
    rel_breitwigner_gen rice_gen semicircular_gen skewcauchy_gen skewnorm_gen
    studentized_range_gen t_gen trapezoid_gen triang_gen truncexpon_gen truncnorm_gen
    truncpareto_gen truncweibull_min_gen tukeylambda_gen uniform_gen vonmises_gen wald_gen
    weibull_max_gen weibull_min_gen wrapcauchy_gen
scipy.stats._discrete_distns: bernoulli_gen betabinom_gen betanbinom_gen binom_gen boltzmann_gen
    dlaplace_gen geom_gen hypergeom_gen logser_gen nbinom_gen nchypergeom_fisher_gen
    nchypergeom_wallenius_gen nhypergeom_gen planck_gen poisson_binom_gen poisson_gen randint_gen
    skellam_gen yulesimon_gen zipf_gen zipfian_gen
scipy.stats._distn_infrastructure: rv_continuous_frozen rv_discrete_frozen rv_frozen rv_histogram
    rv_sample
scipy.stats._kde: gaussian_kde
sklearn._loss._loss: CyAbsoluteError CyExponentialLoss CyHalfBinomialLoss CyHalfGammaLoss
    CyHalfMultinomialLoss CyHalfPoissonLoss CyHalfSquaredError CyHalfTweedieLoss
    CyHalfTweedieLossIdentity CyHuberLoss CyLossFunction CyPinballLoss
sklearn._loss.glm_distribution: DistributionBoundary ExponentialDispersionModel GammaDistribution
    InverseGaussianDistribution NormalDistribution PoissonDistribution TweedieDistribution
sklearn._loss.link: BaseLink HalfLogitLink IdentityLink Interval LogLink LogitLink
    MultinomialLogit
sklearn._loss.loss: AbsoluteError ArrayAPILossMixin BaseLoss ExponentialLoss HalfBinomialLoss
    HalfBinomialLossArrayAPI HalfGammaLoss HalfMultinomialLoss HalfMultinomialLossArrayAPI
    HalfPoissonLoss HalfPoissonLossArrayAPI HalfSquaredError HalfTweedieLoss
    HalfTweedieLossIdentity HuberLoss PinballLoss
sklearn.calibration: CalibratedClassifierCV CalibrationDisplay _CalibratedClassifier
    _SigmoidCalibration _TemperatureScaling
sklearn.cluster._affinity_propagation: AffinityPropagation
sklearn.cluster._agglomerative: AgglomerativeClustering FeatureAgglomeration
sklearn.cluster._bicluster: SpectralBiclustering SpectralCoclustering
sklearn.cluster._birch: Birch _CFNode _CFSubcluster
sklearn.cluster._bisect_k_means: BisectingKMeans _BisectingTree
sklearn.cluster._dbscan: DBSCAN
sklearn.cluster._hdbscan.hdbscan: HDBSCAN
sklearn.cluster._kmeans: KMeans MiniBatchKMeans
sklearn.cluster._mean_shift: MeanShift
sklearn.cluster._optics: OPTICS
sklearn.cluster._spectral: SpectralClustering
sklearn.compose._column_transformer: ColumnTransformer _RemainderColsList make_column_selector
sklearn.compose._target: TransformedTargetRegressor
sklearn.covariance._elliptic_envelope: EllipticEnvelope
sklearn.covariance._empirical_covariance: EmpiricalCovariance
sklearn.covariance._graph_lasso: GraphicalLasso GraphicalLassoCV
sklearn.covariance._robust_covariance: MinCovDet
sklearn.covariance._shrunk_covariance: LedoitWolf OAS ShrunkCovariance
sklearn.cross_decomposition._pls: CCA PLSCanonical PLSRegression PLSSVD
sklearn.decomposition._dict_learning: DictionaryLearning MiniBatchDictionaryLearning SparseCoder
sklearn.decomposition._factor_analysis: FactorAnalysis
sklearn.decomposition._fastica: FastICA
sklearn.decomposition._incremental_pca: IncrementalPCA
sklearn.decomposition._kernel_pca: KernelPCA
sklearn.decomposition._lda: LatentDirichletAllocation
sklearn.decomposition._nmf: MiniBatchNMF NMF
sklearn.decomposition._pca: PCA
sklearn.decomposition._sparse_pca: MiniBatchSparsePCA SparsePCA
sklearn.decomposition._truncated_svd: TruncatedSVD
sklearn.discriminant_analysis: LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis
sklearn.dummy: DummyClassifier DummyRegressor
sklearn.ensemble._bagging: BaggingClassifier BaggingRegressor
sklearn.ensemble._forest: ExtraTreesClassifier ExtraTreesRegressor RandomForestClassifier
    RandomForestRegressor RandomTreesEmbedding
sklearn.ensemble._gb: GradientBoostingClassifier GradientBoostingRegressor VerboseReporter
sklearn.ensemble._gb_losses: BinomialDeviance ClassificationLossFunction ExponentialLoss
    HuberLossFunction LeastAbsoluteError LeastSquaresError LogOddsEstimator LossFunction
    MeanEstimator MultinomialDeviance PriorProbabilityEstimator QuantileEstimator
    QuantileLossFunction RegressionLossFunction ScaledLogOddsEstimator ZeroEstimator
sklearn.ensemble._hist_gradient_boosting.binning: _BinMapper
sklearn.ensemble._hist_gradient_boosting.gradient_boosting: HistGradientBoostingClassifier
    HistGradientBoostingRegressor
sklearn.ensemble._hist_gradient_boosting.loss: BinaryCrossEntropy CategoricalCrossEntropy
    LeastSquares
sklearn.ensemble._hist_gradient_boosting.predictor: TreePredictor
sklearn.ensemble._iforest: IsolationForest
sklearn.ensemble._stacking: StackingClassifier StackingRegressor
sklearn.ensemble._voting: VotingClassifier VotingRegressor
sklearn.ensemble._weight_boosting: AdaBoostClassifier AdaBoostRegressor
sklearn.feature_extraction._dict_vectorizer: DictVectorizer
sklearn.feature_extraction._hash: FeatureHasher
sklearn.feature_extraction.image: PatchExtractor
sklearn.feature_extraction.text: CountVectorizer HashingVectorizer TfidfTransformer
    TfidfVectorizer
sklearn.feature_selection._base: SelectorMixin
sklearn.feature_selection._from_model: SelectFromModel
sklearn.feature_selection._rfe: RFE RFECV
sklearn.feature_selection._sequential: SequentialFeatureSelector
sklearn.feature_selection._univariate_selection: GenericUnivariateSelect SelectFdr SelectFpr
    SelectFwe SelectKBest SelectPercentile
sklearn.feature_selection._variance_threshold: VarianceThreshold
sklearn.frozen._frozen: FrozenEstimator
sklearn.gaussian_process._gpc: GaussianProcessClassifier _BinaryGaussianProcessClassifierLaplace
sklearn.gaussian_process._gpr: GaussianProcessRegressor
sklearn.gaussian_process.kernels: CompoundKernel ConstantKernel DotProduct ExpSineSquared
    Exponentiation GenericKernelMixin Hyperparameter Kernel KernelOperator Matern
    NormalizedKernelMixin PairwiseKernel Product RBF RationalQuadratic StationaryKernelMixin Sum
    WhiteKernel
sklearn.impute._base: MissingIndicator SimpleImputer
sklearn.impute._iterative: IterativeImputer _ImputerTriplet
sklearn.impute._knn: KNNImputer
sklearn.isotonic: IsotonicRegression
sklearn.kernel_approximation: AdditiveChi2Sampler Nystroem PolynomialCountSketch RBFSampler
    SkewedChi2Sampler
sklearn.kernel_ridge: KernelRidge
sklearn.linear_model._base: LinearRegression
sklearn.linear_model._bayes: ARDRegression BayesianRidge
sklearn.linear_model._coordinate_descent: ElasticNet ElasticNetCV Lasso LassoCV
    MultiTaskElasticNet MultiTaskElasticNetCV MultiTaskLasso MultiTaskLassoCV
sklearn.linear_model._glm.glm: GammaRegressor PoissonRegressor TweedieRegressor
sklearn.linear_model._huber: HuberRegressor
sklearn.linear_model._least_angle: Lars LarsCV LassoLars LassoLarsCV LassoLarsIC
sklearn.linear_model._logistic: LogisticRegression LogisticRegressionCV
sklearn.linear_model._omp: OrthogonalMatchingPursuit OrthogonalMatchingPursuitCV
sklearn.linear_model._passive_aggressive: PassiveAggressiveClassifier PassiveAggressiveRegressor
sklearn.linear_model._perceptron: Perceptron
sklearn.linear_model._quantile: QuantileRegressor
sklearn.linear_model._ransac: RANSACRegressor
sklearn.linear_model._ridge: Ridge RidgeCV RidgeClassifier RidgeClassifierCV _IdentityClassifier
    _IdentityRegressor _RidgeGCV
sklearn.linear_model._sgd_fast: Classification EpsilonInsensitive Hinge Huber Log LossFunction
    ModifiedHuber Regression SquaredEpsilonInsensitive SquaredHinge SquaredLoss
sklearn.linear_model._stochastic_gradient: SGDClassifier SGDOneClassSVM SGDRegressor
sklearn.linear_model._theil_sen: TheilSenRegressor
sklearn.manifold._classical_mds: ClassicalMDS
sklearn.manifold._isomap: Isomap
sklearn.manifold._locally_linear: LocallyLinearEmbedding
sklearn.manifold._mds: MDS
sklearn.manifold._spectral_embedding: SpectralEmbedding
sklearn.manifold._t_sne: TSNE
sklearn.metrics._dist_metrics: BrayCurtisDistance BrayCurtisDistance32 BrayCurtisDistance64
    CanberraDistance CanberraDistance32 CanberraDistance64 ChebyshevDistance ChebyshevDistance32
    ChebyshevDistance64 DiceDistance DiceDistance32 DiceDistance64 DistanceMetric
    DistanceMetric32 DistanceMetric64 EuclideanDistance EuclideanDistance32 EuclideanDistance64
    HammingDistance HammingDistance32 HammingDistance64 HaversineDistance HaversineDistance32
    HaversineDistance64 JaccardDistance JaccardDistance32 JaccardDistance64 KulsinskiDistance
    KulsinskiDistance32 KulsinskiDistance64 MahalanobisDistance MahalanobisDistance32
    MahalanobisDistance64 ManhattanDistance ManhattanDistance32 ManhattanDistance64
    MatchingDistance MatchingDistance32 MatchingDistance64 MinkowskiDistance MinkowskiDistance32
    MinkowskiDistance64 PyFuncDistance PyFuncDistance32 PyFuncDistance64 RogersTanimotoDistance
    RogersTanimotoDistance32 RogersTanimotoDistance64 RussellRaoDistance RussellRaoDistance32
    RussellRaoDistance64 SEuclideanDistance SEuclideanDistance32 SEuclideanDistance64
    SokalMichenerDistance SokalMichenerDistance32 SokalMichenerDistance64 SokalSneathDistance
    SokalSneathDistance32 SokalSneathDistance64 WMinkowskiDistance WMinkowskiDistance32
sklearn.metrics._plot.confusion_matrix: ConfusionMatrixDisplay
sklearn.metrics._plot.det_curve: DetCurveDisplay
sklearn.metrics._plot.precision_recall_curve: PrecisionRecallDisplay
sklearn.metrics._plot.regression: PredictionErrorDisplay
sklearn.metrics._plot.roc_curve: RocCurveDisplay
sklearn.metrics._scorer: _BaseScorer _CurveScorer _DeprecatedScorers _MultimetricScorer
    _PassthroughScorer _PredictScorer _ProbaScorer _Scorer _ThresholdScorer
sklearn.mixture._bayesian_mixture: BayesianGaussianMixture
sklearn.mixture._gaussian_mixture: GaussianMixture
sklearn.model_selection._classification_threshold: FixedThresholdClassifier
    TunedThresholdClassifierCV
sklearn.model_selection._search: GridSearchCV RandomizedSearchCV
sklearn.model_selection._search_successive_halving: HalvingGridSearchCV HalvingRandomSearchCV
sklearn.model_selection._split: BaseCrossValidator BaseShuffleSplit GroupKFold GroupShuffleSplit
    GroupsConsumerMixin KFold LeaveOneGroupOut LeaveOneLabelOut LeaveOneOut LeavePGroupsOut
    LeavePLabelOut LeavePOut PredefinedSplit RepeatedKFold RepeatedStratifiedKFold ShuffleSplit
    StratifiedGroupKFold StratifiedKFold StratifiedShuffleSplit TimeSeriesSplit _BaseKFold
    _CVIterableWrapper _PartitionIterator _RepeatedSplits _UnsupportedGroupCVMixin
sklearn.multiclass: OneVsOneClassifier OneVsRestClassifier OutputCodeClassifier
    _ConstantPredictor
sklearn.multioutput: ClassifierChain MultiOutputClassifier MultiOutputRegressor RegressorChain
sklearn.naive_bayes: BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB _BaseNB
sklearn.neighbors._ball_tree: BallTree BallTree32 BallTree64 BinaryTree BinaryTree32 BinaryTree64
    NeighborsHeap NeighborsHeap32 NeighborsHeap64 NodeHeap
sklearn.neighbors._classification: KNeighborsClassifier RadiusNeighborsClassifier
sklearn.neighbors._graph: KNeighborsTransformer RadiusNeighborsTransformer
sklearn.neighbors._kd_tree: BinaryTree BinaryTree32 BinaryTree64 KDTree KDTree32 KDTree64
    NeighborsHeap NeighborsHeap32 NeighborsHeap64 NodeHeap
sklearn.neighbors._kde: KernelDensity
sklearn.neighbors._lof: LocalOutlierFactor
sklearn.neighbors._nca: NeighborhoodComponentsAnalysis
sklearn.neighbors._nearest_centroid: NearestCentroid
sklearn.neighbors._quad_tree: _QuadTree
sklearn.neighbors._regression: KNeighborsRegressor RadiusNeighborsRegressor
sklearn.neighbors._unsupervised: NearestNeighbors
sklearn.neural_network._multilayer_perceptron: MLPClassifier MLPRegressor
sklearn.neural_network._rbm: BernoulliRBM
sklearn.neural_network._stochastic_optimizers: AdamOptimizer
sklearn.pipeline: FeatureUnion Pipeline
sklearn.preprocessing._data: Binarizer CategoricalEncoder KernelCenterer MaxAbsScaler
    MinMaxScaler Normalizer PowerTransformer QuantileTransformer RobustScaler StandardScaler
sklearn.preprocessing._discretization: KBinsDiscretizer
sklearn.preprocessing._encoders: OneHotEncoder OrdinalEncoder
sklearn.preprocessing._function_transformer: FunctionTransformer
sklearn.preprocessing._label: LabelBinarizer LabelEncoder MultiLabelBinarizer
sklearn.preprocessing._polynomial: PolynomialFeatures SplineTransformer
sklearn.preprocessing._target_encoder: TargetEncoder
sklearn.preprocessing.imputation: Imputer
sklearn.random_projection: GaussianRandomProjection SparseRandomProjection
sklearn.semi_supervised._label_propagation: LabelPropagation LabelSpreading
sklearn.semi_supervised._self_training: SelfTrainingClassifier
sklearn.svm._classes: LinearSVC LinearSVR NuSVC NuSVR OneClassSVM SVC SVR
sklearn.tree._classes: DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier
    ExtraTreeRegressor
sklearn.tree._criterion: ClassificationCriterion Criterion Entropy FriedmanMSE Gini MAE MSE
    Poisson RegressionCriterion
sklearn.tree._splitter: BaseDenseSplitter BaseSparseSplitter BestSparseSplitter BestSplitter
    RandomSparseSplitter RandomSplitter Splitter
sklearn.tree._tree: BestFirstTreeBuilder DepthFirstTreeBuilder Tree TreeBuilder _AlphaPruner
    _CCPPruneController _PathFinder
sklearn.utils._bunch: Bunch
sklearn.utils._metadata_requests: MetadataRequest MetadataRouter MethodMapping
    MethodMetadataRequest MethodPair RequestMethod RouterMappingPair _MetadataRequester
    _RoutingNotSupportedMixin
sklearn.utils._set_output: _SetOutputMixin
sklearn.utils._tags: ClassifierTags InputTags RegressorTags Tags TargetTags TransformerTags
sklearn.utils.deprecation: DeprecationDict deprecated
treeaudit.model.schema: Feature Schema
treeaudit.schema: Feature Schema
treeaudit.trainers.bootstrap_forest: BootstrapForestClassifier
treeaudit.trainers.diffpid3: DiffPID3Classifier
treeaudit.trainers.dpdf: DPDFClassifier
treeaudit.trainers.exponential_id3: ExponentialID3Classifier
treeaudit.trainers.midpoint_forest: MidpointForestClassifier
treeaudit.trainers.private_additive_tree: PrivateAdditiveTreeClassifier
treeaudit.trainers.private_forest: PrivateForestClassifier
treeaudit.trainers.private_regressors: PrivateForestRegressor PrivateTreeRegressor
treeaudit.trainers.private_tree: PrivateTreeClassifier
treeaudit.trainers.random_count_forest: RandomCountForestClassifier
treeaudit.trainers.semi_supervised_forest: SemiSupervisedForestClassifier
treeaudit.trainers.signal_to_noise_forest: SignalToNoiseForestClassifier
treeaudit.trainers.smooth_sensitivity_forest: SmoothSensitivityForestClassifier
treeaudit.trainers.sulq_id3: SulqID3Classifier
treeaudit.trainers.threshold_forest: ThresholdForestClassifier
treeaudit.trainers.top_down_specialization: TopDownSpecializationClassifier
xgboost.core: Booster
xgboost.sklearn: XGBClassifier XGBModel XGBRFClassifier XGBRFRegressor XGBRanker XGBRegressor
"""

_FUNCTIONS = """
numpy: absolute add all allclose amax amin angle any arange arccos arccosh arcsin arcsinh arctan
    arctan2 arctanh argmax argmin argsort around array asarray ascontiguousarray asfortranarray
    atleast_1d atleast_2d average bincount bitwise_and bitwise_count bitwise_or bitwise_xor cbrt
    ceil clip column_stack concatenate conjugate copysign corrcoef cos cosh count_nonzero cov
    cumprod cumsum deg2rad degrees diff digitize divide divmod dot empty equal exp exp2
    expand_dims expm1 fabs flip fliplr float_power floor floor_divide fmax fmin fmod frexp full
    full_like gcd gradient greater greater_equal heaviside histogram hstack hypot imag inner
    interp invert isclose isfinite isin isinf isnan isnat lcm ldexp left_shift less less_equal
    linspace log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or
    logical_xor matmul matvec max maximum mean median min minimum modf multiply nan_to_num nanmax
    nanmean nanmedian nanmin nanpercentile nanquantile nanstd nansum nanvar negative nextafter
    not_equal ones ones_like outer percentile positive power prod ptp quantile rad2deg radians
    ravel real real_if_close reciprocal remainder repeat reshape right_shift rint roll round
    searchsorted sign signbit sin sinh sort spacing sqrt square squeeze stack std subtract sum
    take tan tanh tile transpose trapezoid trapz trunc unique var vecdot vecmat vstack where
    zeros zeros_like
numpy.linalg: det eig eigh inv norm pinv solve svd
scipy._lib.array_api_compat.numpy._aliases: asarray
scipy.special._logsumexp: log_softmax logsumexp softmax
scipy.special._special_ufuncs: cbrt erf exp10 exp2 expit expm1 gammaln log1p log_expit logit ndtr
    xlog1py xlogy
scipy.special._ufuncs: boxcox boxcox1p cbrt erf erfinv exp10 exp2 expit expm1 gammaln inv_boxcox
    inv_boxcox1p log1p log_expit logit ndtr ndtri xlog1py xlogy
sklearn.cluster._kmeans: _kmeans_single_lloyd
sklearn.feature_selection._mutual_info: mutual_info_classif mutual_info_regression
sklearn.feature_selection._univariate_selection: chi2 f_classif f_oneway f_regression
    r_regression
sklearn.metrics._classification: accuracy_score balanced_accuracy_score brier_score_loss
    class_likelihood_ratios classification_report cohen_kappa_score confusion_matrix
    d2_brier_score d2_log_loss_score f1_score fbeta_score hamming_loss hinge_loss jaccard_score
    log_loss matthews_corrcoef multilabel_confusion_matrix precision_recall_fscore_support
    precision_score recall_score zero_one_loss
sklearn.metrics._ranking: auc average_precision_score confusion_matrix_at_thresholds
    coverage_error dcg_score det_curve label_ranking_average_precision_score label_ranking_loss
    metric_at_thresholds ndcg_score precision_recall_curve roc_auc_score roc_curve
    top_k_accuracy_score
sklearn.metrics._regression: d2_absolute_error_score d2_pinball_score d2_tweedie_score
    explained_variance_score max_error mean_absolute_error mean_absolute_percentage_error
    mean_gamma_deviance mean_pinball_loss mean_poisson_deviance mean_squared_error
    mean_squared_log_error mean_tweedie_deviance median_absolute_error r2_score
    root_mean_squared_error root_mean_squared_log_error
sklearn.metrics._scorer: _passthrough_scorer negative_likelihood_ratio positive_likelihood_ratio
sklearn.metrics.cluster._bicluster: consensus_score
sklearn.metrics.cluster._supervised: adjusted_mutual_info_score adjusted_rand_score
    completeness_score fowlkes_mallows_score homogeneity_completeness_v_measure homogeneity_score
    mutual_info_score normalized_mutual_info_score pair_confusion_matrix rand_score
    v_measure_score
sklearn.metrics.cluster._unsupervised: calinski_harabasz_score davies_bouldin_score
    silhouette_samples silhouette_score
sklearn.metrics.pairwise: _euclidean_distances additive_chi2_kernel chi2_kernel cosine_distances
    cosine_similarity euclidean_distances haversine_distances laplacian_kernel linear_kernel
    manhattan_distances nan_euclidean_distances paired_cosine_distances paired_distances
    paired_euclidean_distances paired_manhattan_distances pairwise_distances
    pairwise_distances_argmin pairwise_distances_argmin_min pairwise_kernels polynomial_kernel
    rbf_kernel sigmoid_kernel
sklearn.utils.validation: check_array
"""


def _read(text: str) -> dict[str, list[str]]:
    """Return the names of each module; a line without a colon goes on with the one before."""
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in text.split("\n"):
        module, colon, rest = line.partition(":")
        if colon:
            names = found.setdefault(module, [])
        names += (rest if colon else line).split()
    return found


def _full(text: str) -> frozenset[str]:
    """Return every name of a table in full, under the former names of its module too."""
    return frozenset(
        f"{where}.{name}"
        for module, names in _read(text).items()
        for where in (module, *_FORMER.get(module, ()))
        for name in names
    )


_FORMER = _read(_MOVED)
CLASSES = _full(_CLASSES)
"""Classes of which an instance is data: to make one, and to give it its state, runs no code."""

FUNCTIONS = _full(_FUNCTIONS)
"""Functions that models keep: whatever they are called with, they compute and touch no file.
What they call in turn (a metric, a method of their argument) is again a name of the file."""
