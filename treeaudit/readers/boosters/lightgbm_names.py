"""The names and words that LightGBM writes into a model beside its trees, of all versions."""

import re

from treeaudit.readers.leftovers.booster_parts import NUMBER, is_name, setting

__all__ = ["FORMS", "OBJECTIVE", "WORDS", "WORDS_OF_WRAPPERS", "is_parameter"]

OBJECTIVE = re.compile(rf"[a-z_0-9]{{1,30}}(?: (?:sqrt|[a-z_]{{1,24}}:{NUMBER})){{0,4}}")
_NUMBERS = (
    "alpha bagging_by_query bagging_fraction bagging_freq bagging_fraction_seed bagging_seed "
    "bin_construct_sample_cnt boost_from_average cat_l2 cat_smooth cegb_penalty_split "
    "cegb_tradeoff convert_model convert_model_language data_random_seed deterministic "
    "drop_rate drop_seed early_stopping_min_delta early_stopping_round enable_bundle "
    "enable_load_from_binary enable_sparse extra_seed extra_trees fair_c feature_fraction "
    "feature_fraction_bynode feature_fraction_seed feature_pre_filter first_metric_only "
    "force_col_wise force_row_wise gpu_device_id gpu_platform_id gpu_use_dp header "
    "histogram_pool_size is_enable_bundle is_enable_sparse is_provide_training_metric "
    "is_pre_partition is_unbalance lambda_l1 lambda_l2 lambdarank_norm "
    "lambdarank_position_bias_regularization lambdarank_truncation_level lambdamart_norm "
    "learning_rate linear_lambda linear_tree local_listen_port max_bin max_cat_threshold "
    "max_cat_to_onehot max_conflict_rate max_delta_step max_depth max_drop max_position "
    "metric_freq min_data_in_bin min_data_in_leaf min_data_per_group min_gain_to_split "
    "min_sum_hessian_in_leaf monotone_penalty multi_error_top_k neg_bagging_fraction "
    "num_class num_gpu num_grad_quant_bins num_iteration_predict num_iterations num_leaves "
    "num_machines num_threads objective_seed other_rate output_freq path_smooth "
    "pos_bagging_fraction poisson_max_delta_step pre_partition precise_float_parser "
    "quant_train_renew_leaf refit_decay_rate reg_sqrt save_binary "
    "saved_feature_importance_type scale_pos_weight seed sigmoid skip_drop snapshot_freq "
    "sparse_threshold stochastic_rounding time_out top_k top_rate tweedie_variance_power "
    "two_round uniform_drop use_missing use_quantized_grad use_two_round_loading verbose "
    "verbosity xgboost_dart_mode zero_as_missing"
)
_LISTS = (
    "auc_mu_weights categorical_feature cegb_penalty_feature_coupled cegb_penalty_feature_lazy "
    "eval_at feature_contri feature_contrib feature_penalty gpu_device_id_list group_column "
    "ignore_column interaction_constraints label_column label_gain max_bin_by_feature "
    "monotone_constraints weight_column"
)
WORDS = frozenset(
    (
        "gbdt gbrt rf random_forest dart goss bagging serial feature data voting cpu gpu cuda "
        "basic intermediate advanced train predict refit none None custom binary multiclass "
        "multiclassova regression regression_l1 regression_l2 huber fair poisson quantile mape "
        "gamma tweedie lambdarank rank_xendcg cross_entropy cross_entropy_lambda l1 l2 rmse "
        "gamma_deviance ndcg map auc average_precision r2 binary_logloss binary_error auc_mu "
        "multi_logloss multi_error xentropy xentlambda kullback_leibler kldiv mae mse softmax"
    ).split()
)
WORDS_OF_WRAPPERS = WORDS | frozenset(
    (
        "split gain mean_absolute_error mean_squared_error mean_absolute_percentage_error l2_root "
        "root_mean_squared_error ova ovr multiclass_ova mean_average_precision xentropy xendcg "
        "xe_ndcg xe_ndcg_mart xendcg_mart feature_parallel data_parallel voting_parallel na null"
    ).split()
)
"""What LightGBM is told in Python: other names of the same things too."""
_OF_WORDS = (
    "boosting boosting_type data_sample_strategy device_type metric monotone_constraints_method "
    "objective task tree_learner"
)
# Names of files: the only text that LightGBM writes as it was given.
_PATHS = (
    "data forcedbins_filename forcedsplits_filename initscore_filename input_model "
    "machine_list_file machine_list_filename machines output_model parser_config_file valid "
    "valid_data_initscores"
)
_PATH = re.compile(r"(?:[A-Za-z]:)?[\w. ~/\\-]{0,100}(?:,[\w. ~/\\-]{0,100}){0,3}", re.ASCII)
_LIST = re.compile(r"(?:name:|column:)?[\[\]0-9eE.,+ -]*")
_KIND = {
    **dict.fromkeys(_NUMBERS.split(), "number"),
    **dict.fromkeys(_LISTS.split(), "list"),
    **dict.fromkeys(_OF_WORDS.split(), "word"),
    **dict.fromkeys(_PATHS.split(), "path"),
}
FORMS = {
    name: {"list": "s1", "word": "s"}.get(kind, "")
    for name, kind in _KIND.items()
    if name not in ("data", "valid", "num_iteration_predict") and not name.endswith("_column")
}
"""Parameters that name nothing in the data, with the forms of their values as attributes have."""


def is_parameter(name: str, value: str, n_columns: int) -> bool:
    """Tell whether a line of parameters says what LightGBM writes there, and no more.

    Parameters
    ----------
    name, value
        Both sides of the line.
    n_columns
        Columns of the model: some parameters have a number for each.

    Examples
    --------
    >>> is_parameter("max_bin", "255", 2), is_parameter("metric", "auc,l2", 2)
    (True, True)
    >>> is_parameter("row", "33,54", 2), is_parameter("max_bin", "33,54", 2)
    (False, False)
    """
    match _KIND.get(name):
        case "number":
            return value == "" or setting(value)
        case "word":
            words = value.split(",")
            return value == "" or (len(set(words)) == len(words) and WORDS.issuperset(words))
        case "list":
            most = 26 * max(n_columns, 40)
            return len(value) <= most and _LIST.fullmatch(value) is not None
        case "path":
            return _PATH.fullmatch(value) is not None and all(map(is_name, value.split(",")))
        case _:
            return False
