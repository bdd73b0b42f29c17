"""What a fitted object needs to answer, beside its settings; nothing else is written back."""

from collections.abc import Mapping

_COMMON = (
    "n_features_in_ n_features_ feature_names_in_ classes_ n_classes_ n_outputs_ _sklearn_version"
)
_CATEGORIES = (
    "categories_ _infrequent_enabled _infrequent_indices _default_to_infrequent_mappings dtype"
)
_SCALE = "scale_ n_samples_seen_"
_FOREST = "estimators_ estimator_ base_estimator_ estimator_params _n_samples _n_samples_bootstrap"
_BAG = (
    "estimators_ estimators_features_ estimator_ base_estimator_ estimator_params _max_features "
    "_max_samples _n_samples"
)
_ADA = "estimators_ estimator_weights_ estimator_ base_estimator_ estimator_params"
_GRADIENT = (
    "estimators_ init_ _loss loss_ _n_classes n_estimators_ n_trees_per_iteration_ max_features_"
)
_HISTOGRAM = (
    "_predictors _baseline_prediction _bin_mapper bin_mapper_ _loss loss_ _label_encoder "
    "_preprocessor is_categorical_ _is_categorical_remapped _n_features n_trees_per_iteration_ "
    "do_early_stopping_ categorical_features"
)
_STACK = (
    "estimators estimators_ final_estimator_ stack_method_ _label_encoder _le named_estimators_ "
    "_n_feature_outs"
)
_LINEAR = "coef_ intercept_ loss_function_ _loss_function_ _label_binarizer C_ alpha_ l1_ratio_"
_MEMBERS = "estimators_ order_ chain_method_ code_book_ pairwise_indices_ label_binarizer_"

_OF: Mapping[str, str] = {
    "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor": (
        "tree_"
    ),
    "RandomForestClassifier RandomForestRegressor ExtraTreesClassifier ExtraTreesRegressor": (
        _FOREST
    ),
    "RandomTreesEmbedding": f"{_FOREST} one_hot_encoder_ _n_features_out",
    "BaggingClassifier BaggingRegressor": _BAG,
    "IsolationForest": (
        f"{_BAG} max_samples_ offset_ threshold_ _threshold_ _contamination "
        "_average_path_length_per_tree _decision_path_lengths"
    ),
    "AdaBoostClassifier AdaBoostRegressor": _ADA,
    "GradientBoostingClassifier GradientBoostingRegressor": _GRADIENT,
    "HistGradientBoostingClassifier HistGradientBoostingRegressor": _HISTOGRAM,
    "_BinMapper": "bin_thresholds_ is_categorical is_categorical_ missing_values_bin_idx_",
    "VotingClassifier VotingRegressor": "estimators estimators_ named_estimators_ le_ weights",
    "StackingClassifier StackingRegressor": _STACK,
    "CalibratedClassifierCV": "calibrated_classifiers_",
    "_CalibratedClassifier": (
        "estimator base_estimator calibrators calibrators_ classes label_encoder_"
    ),
    "_SigmoidCalibration": "a_ b_",
    "_TemperatureScaling": "beta_",
    "IsotonicRegression": (
        "X_thresholds_ y_thresholds_ X_min_ X_max_ increasing_ _necessary_X_ _necessary_y_"
    ),
    "OneVsRestClassifier OneVsOneClassifier OutputCodeClassifier": _MEMBERS,
    "MultiOutputClassifier MultiOutputRegressor ClassifierChain RegressorChain": _MEMBERS,
    "_ConstantPredictor": "y_",
    "LabelBinarizer": "y_type_ sparse_input_",
    "LabelEncoder": "",
    "FrozenEstimator": "estimator",
    "TransformedTargetRegressor": ("regressor_ transformer_ _training_dim func inverse_func"),
    "FixedThresholdClassifier": "estimator_ pos_label",
    "SelfTrainingClassifier": "estimator_ base_estimator_",
    "Pipeline": "steps transform_input",
    "FeatureUnion": "transformer_list transformer_weights",
    "ColumnTransformer": (
        "transformers transformers_ transformer_weights _columns _remainder "
        "_transformer_to_input_indices output_indices_ sparse_output_ "
        "_name_to_fitted_passthrough _has_str_cols _df_columns _n_features _feature_names_in"
    ),
    "FunctionTransformer": "func inverse_func _validate kw_args",
    "KBinsDiscretizer": "_encoder bin_edges_ n_bins_ dtype",
    "MaxAbsScaler": f"{_SCALE} max_abs_",
    "MinMaxScaler": f"{_SCALE} min_ data_min_ data_max_ data_range_ feature_range",
    "Normalizer Binarizer": "",
    "OneHotEncoder": (
        f"{_CATEGORIES} drop_idx_ _drop_idx_after_grouping _n_features_outs _legacy_mode "
        "_deprecated_fit"
    ),
    "OrdinalEncoder": f"{_CATEGORIES} _missing_indices",
    "RobustScaler": "center_ scale_",
    "SimpleImputer Imputer": "statistics_ indicator_ _fit_dtype _fill_dtype fill_value",
    "StandardScaler": f"{_SCALE} mean_ var_",
    "VarianceThreshold": "variances_",
    "SelectKBest SelectPercentile SelectFpr SelectFdr SelectFwe GenericUnivariateSelect": (
        "scores_ pvalues_ k percentile alpha mode param"
    ),
    "SelectFromModel": "estimator_ threshold_ threshold max_features_ prefit",
    "RFE RFECV SequentialFeatureSelector": "support_ n_features_ n_features_to_select_ estimator_",
    "PCA IncrementalPCA TruncatedSVD": (
        "components_ mean_ var_ explained_variance_ n_components_ whiten singular_values_ "
        "_n_features_out"
    ),
    "TfidfVectorizer CountVectorizer TfidfTransformer HashingVectorizer": (
        "vocabulary_ vocabulary fixed_vocabulary_ _stop_words_id stop_words ngram_range "
        "token_pattern tokenizer preprocessor analyzer _tfidf idf_ _idf_diag dtype"
    ),
    "PolynomialFeatures": (
        "n_output_features_ n_input_features_ _min_degree _max_degree _n_out_full degree powers_"
    ),
    "PowerTransformer": "lambdas_ _scaler",
    "QuantileTransformer": "quantiles_ references_ n_quantiles_",
    "TargetEncoder": (
        "categories_ categories encodings_ target_mean_ target_type_ _infrequent_enabled "
        "_label_encoder classes_"
    ),
    "MissingIndicator": "features_ _n_features _precomputed missing_values features",
    "LogisticRegression LogisticRegressionCV LinearRegression Ridge RidgeCV RidgeClassifier "
    "RidgeClassifierCV Lasso LassoCV ElasticNet ElasticNetCV SGDClassifier SGDRegressor LinearSVC "
    "LinearSVR": _LINEAR,
    "GaussianNB": "theta_ var_ sigma_ class_prior_",
    "DummyClassifier DummyRegressor": "class_prior_ constant_ constant _strategy sparse_output_",
    "XGBClassifier XGBRegressor XGBRFClassifier XGBRFRegressor XGBRanker": "_Booster objective",
    "LGBMClassifier LGBMRegressor LGBMRanker": (
        "_Booster _le _class_map _classes _n_classes _n_features _n_features_in _objective "
        "_other_params _best_iteration fitted_ _fitted_with_feature_names"
    ),
    "_LGBMLabelEncoder": "",
    "Booster": (
        "handle _handle feature_names feature_types best_iteration pandas_categorical "
        "train_set_version"
    ),
    "PriorProbabilityEstimator LogOddsEstimator ScaledLogOddsEstimator MeanEstimator "
    "QuantileEstimator ZeroEstimator": "priors prior mean quantile",
}

ALLOWED: Mapping[str, frozenset[str]] = {
    kind: frozenset(f"{_COMMON} {names}".split()) for kinds, names in _OF.items()
    for kind in kinds.split()
}  # fmt: skip
"""By class: its attributes that an answer hangs on."""

VERBATIM = frozenset(
    "Bunch OrderedDict slice partial _RemainderColsList Interval csr_matrix dia_matrix".split()
)
"""Small objects that are written as they are, if all that they hold is written."""
