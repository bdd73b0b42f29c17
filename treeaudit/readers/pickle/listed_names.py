"""The classes and functions that genuine model files mention, each by its exact name.

Data, no code to follow: a library and module, a colon, the names in it. Collected from
3,453 genuine files of scikit-learn 0.18.2 to 1.9.1, and from pickles of every estimator,
splitter, kernel, scorer, metric and loss of scikit-learn 1.2.2, 1.6.1 and 1.9.1, and of the
tree models of XGBoost, LightGBM, CatBoost and imbalanced-learn. `names` says what follows.
"""

from treeaudit.readers.pickle.listed_estimators import SCIKIT_LEARN
from treeaudit.readers.pickle.listed_moves import MOVED

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
pandas.arrays: ArrowExtensionArray ArrowStringArray BooleanArray DatetimeArray FloatingArray
    IntegerArray IntervalArray NumpyExtensionArray PandasArray PeriodArray SparseArray StringArray
    TimedeltaArray
pandas.core.arrays.arrow.array: ArrowExtensionArray
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
pandas.core.arrays.string_: StringArray StringArrayNumpySemantics StringDtype
pandas.core.arrays.string_arrow: ArrowStringArray ArrowStringArrayNumpySemantics
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
polars.dataframe.frame: DataFrame
polars.internals.dataframe.frame: DataFrame
polars.internals.series.series: Series
polars.series.series: Series
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
sklearn.grid_search: _CVScoreTuple
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
xgboost.callback: EarlyStopping
xgboost.compat: XGBoostLabelEncoder
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


_FORMER = _read(MOVED)
CLASSES = _full(_CLASSES + SCIKIT_LEARN)
"""Classes of which an instance is data: to make one, and to give it its state, runs no code."""

FUNCTIONS = _full(_FUNCTIONS)
"""Functions that models keep: whatever they are called with, they compute and touch no file.
What they call in turn (a metric, a method of their argument) is again a name of the file."""
