"""The names and words that XGBoost writes into a model beside its trees, of all versions."""

import re

from treeaudit.readers.leftovers.booster_parts import NUMBER, setting
from treeaudit.readers.leftovers.documents import Keys, is_plain

__all__ = [
    "DART",
    "GENERIC",
    "HIST",
    "LEARNER",
    "METRIC",
    "OBJECTIVE",
    "OF_CALLBACKS",
    "OF_OBJECTIVES",
    "OF_WRAPPERS",
    "PARAMETERS",
    "TRAINING",
    "UPDATERS",
    "WORDS",
    "WORDS_OF_WRAPPERS",
    "is_setting",
]

OBJECTIVE = re.compile(r"[a-z_]{1,20}:[a-z_]{1,30}")
# The training configuration that a pickled Booster holds, of all versions.
TRAINING = (
    "alpha cache_opt colsample_bylevel colsample_bynode colsample_bytree default_direction eta "
    "gamma grow_policy lambda learning_rate max_bin max_cat_threshold max_cat_to_onehot "
    "max_delta_step max_depth max_leaves max_search_group min_child_weight min_split_loss "
    "opt_dense_col refresh_leaf reg_alpha reg_lambda sampling_method sketch_eps sketch_ratio "
    "sparse_threshold split_evaluator subsample"
)
GENERIC = (
    "device enable_experimental_json_serialization fail_on_invalid_gpu_id gpu_id gpu_page_size "
    "n_gpus n_jobs nthread random_state seed seed_per_iteration validate_parameters verbosity"
)
LEARNER = "booster disable_default_eval_metric dsplit multi_strategy objective num_class"
DART = "learning_rate normalize_type one_drop rate_drop sample_type skip_drop"
HIST = (
    "debug_synchronize enable_feature_grouping gpu_batch_nrows internal_device "
    "max_cached_hist_node max_conflict_rate max_search_group single_precision_histogram "
    "hist_synchronize max_cached_bin_pages extmem_single_page"
)
UPDATERS = (
    "grow_colmaker grow_histmaker grow_local_histmaker grow_quantile_histmaker grow_gpu_hist "
    "grow_gpu_approx grow_fast_histmaker distcol prune refresh sync grow_skmaker "
    "grow_quantile_histmaker_sycl"
).split()
_DIGITS, _MOST_DIGITS = 9, 17
WORDS = frozenset(
    (
        "auto approx exact hist gpu_hist default update uniform gradient_based depthwise lossguide "
        "gbtree gblinear dart tree forest one_output_per_tree multi_output_tree normal logistic "
        "extreme topk mean left right learn row col cpu cpu_predictor gpu_predictor weighted "
        "auto_predictor"
    ).split()
) | {"", *UPDATERS}
_LIST_OF_WORDS = re.compile(rf"(?:{'|'.join(UPDATERS)})(?:,(?:{'|'.join(UPDATERS)})){{0,4}}")
_DEVICE = re.compile(r"(?:cuda|gpu|sycl)(?::[0-9]{1,3})?(?::[a-z]{1,8})?")
_METRICS = (
    "aft-nloglik auc aucpr cox-nloglik error expectile gamma-deviance gamma-nloglik "
    "interval-regression-accuracy logloss mae map mape merror mlogloss mphe ndcg poisson-nloglik "
    "pre quantile rmse rmsle tweedie-nloglik"
).split()
METRIC = re.compile(rf"(?:{'|'.join(_METRICS)})(?:@{NUMBER}|(?=-))?-?")
OF_OBJECTIVES: Keys = {
    "reg_loss_param": ("scale_pos_weight"),
    "softmax_multiclass_param": ("num_class"),
    "quantile_loss_param": ("quantile_alpha"),
    "expectile_loss_param": ("expectile_alpha"),
    "lambdarank_param": (
        "lambdarank_bias_norm lambdarank_normalization lambdarank_num_pair_per_sample "
        "lambdarank_pair_method lambdarank_score_normalization lambdarank_unbiased ndcg_exp_gain"
    ),
    "lambda_rank_param": ("num_pairsample fix_list_weight"),
    "aft_loss_param": ("aft_loss_distribution aft_loss_distribution_scale"),
    "poisson_regression_param": ("max_delta_step"),
    "tweedie_regression_param": ("tweedie_variance_power"),
    "pseudo_huber_param": ("huber_slope"),
}
PARAMETERS = (
    f"{TRAINING} {GENERIC} {LEARNER} {DART} aft_loss_distribution aft_loss_distribution_scale "
    "base_score colsample_bylevel enable_categorical eval_metric expectile_alpha huber_slope "
    "interaction_constraints monotone_constraints num_parallel_tree predictor process_type "
    "quantile_alpha scale_pos_weight tree_method tweedie_variance_power updater use_label_encoder "
    "max_cached_hist_node lambdarank_bias_norm lambdarank_num_pair_per_sample "
    "lambdarank_pair_method lambdarank_unbiased ndcg_exp_gain silent missing"
)
"""What may be given to a training by name, of all versions."""
OF_WRAPPERS = (
    "best_iteration best_score best_ntree_limit callbacks:o eval_metric:s evals_result_:d2 "
    "feature_types:s1 feature_weights:1 kwargs:ds n_features_in_"
)
"""What a wrapper holds beside, with the forms of attributes."""
OF_CALLBACKS = (
    "_min_delta _tol best_scores:d2 current_rounds data maximize metric_name min_delta "
    "rounds save_best starting_round stopping_history:d2"
)
"""What a wrapper was told to stop by."""
WORDS_OF_WRAPPERS = (
    f"{' '.join(_METRICS)} c q i int float categorical total_gain total_cover gain weight cover"
)


def is_setting(part: object) -> bool:
    """Tell whether a value is a number or a word of XGBoost.

    Examples
    --------
    >>> is_setting("1.7642294E8"), is_setting("[0.5]"), is_setting("1.76422940012345E8")
    (True, False, False)
    """
    if not isinstance(part, str) or part in WORDS:
        return is_plain(part, 40)
    if setting(part):
        # Numbers of 32 bits, also written as of 64, and seeds. What Python writes of a large one
        # without an exponent ends with zeros.
        number = repr(float(part)).removesuffix(".0").rstrip("0")
        return "." not in part or (_n_digits(part) <= _MOST_DIGITS and _n_digits(number) <= _DIGITS)
    patterns = (_LIST_OF_WORDS, _DEVICE, OBJECTIVE)
    return any(pattern.fullmatch(part) for pattern in patterns)


def _n_digits(number: str) -> int:
    """Count the significant digits of a number as text."""
    return sum(map(str.isdigit, re.split("[eE]", number)[0].lstrip("-0.")))
