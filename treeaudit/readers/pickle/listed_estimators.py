"""The classes of scikit-learn that genuine model files mention: data, as in `listed_names`."""

SCIKIT_LEARN = """
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
"""
