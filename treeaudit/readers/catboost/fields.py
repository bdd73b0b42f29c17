"""The fields that CatBoost writes, of all versions, and what a file holds beyond them."""

from collections.abc import Iterator, Mapping
from typing import Any

from treeaudit.model.source import Extra
from treeaudit.readers.catboost.columns import ColumnTable, nested
from treeaudit.readers.residual.extra_content import (
    ANY,
    ITSELF,
    NOTE,
    SETTING,
    Keys,
    is_plain,
    unknown_fields,
)

_FEW, _PRIOR, _MOST_ROUNDS = 64, 4, 1_000_000
_LOG = 1_000  # characters of the metrics of one round of training
_TEXT = 4_000  # characters of a version, and of the options of output

_PARAMETERS = frozenset(
    (
        "__params_key_order add_ridge_penalty_to_target_function allow_const_label "
        "allow_writing_files alpha approx_on_full_history auto_class_weights "
        "bagging_temperature bayesian_matrix_reg best_model_min_trees beta boost_from_average "
        "boosting_options boosting_type bootstrap bootstrap_type border border_count "
        "border_type callback cat_feature_params cat_features class_names class_weights "
        "classes_count classes_to_weights colsample_bylevel combinations_ctr combinations_ctrs "
        "combined_metrics counter_calc_method cpu_ram_limit ctr_binarization ctr_description "
        "ctr_history_unit ctr_leaf_count_limit ctr_target_border_count ctr_type custom_loss "
        "custom_metric custom_metrics data_partition data_processing_options decay default "
        "delimiter delta depth detailed_profile dev_bootstrap "
        "dev_default_value_fraction_for_sparse dev_efb_max_buckets dev_group_features "
        "dev_leafwise_approxes dev_leafwise_scoring dev_max_iterations_batch_size "
        "dev_max_subset_size_for_build_borders dev_score_calc_obj_block_size "
        "dev_sparse_array_indexing device_config devices dictionaries dictionaries_names "
        "dictionary_id diffusion_temperature early_stopping_rounds embedding_features "
        "embedding_processing embedding_processing_options end_of_sentence_token_policy "
        "end_of_word_token_policy estimated_ctrs eta eval_fraction eval_metric "
        "feature_border_type feature_calcers feature_processing feature_weights file_with_hosts "
        "final_ctr_computation_mode first_feature_use_penalties fixed_binary_splits flat_params "
        "float_features_binarization focal_alpha focal_gamma fold_len_multiplier "
        "fold_permutation fold_permutation_block fold_size_loss_normalization "
        "force_unit_auto_pair_weights gpu_cat_features_storage gpu_ram_part gram_order "
        "group_weight grow_policy has_time hints ignored_features input_borders iterations "
        "l2_leaf_reg langevin languages leaf_estimation_backtracking leaf_estimation_iterations "
        "leaf_estimation_method leaf_estimation_on_cpu learning_rate lemmatizing logging_level "
        "loss_function lowercasing lq_q max_bin max_ctr_complexity max_depth "
        "max_dictionary_size max_leaves max_pairs meta_l2_exponent meta_l2_frequency metadata "
        "metric_period metrics min_child_samples min_data_in_leaf min_fold_size "
        "model_based_eval_options model_shrink_mode model_shrink_rate model_size_reg "
        "monotone_constraints mvs_head_fraction mvs_reg n_estimators name nan_mode node_port "
        "node_type num_boost_round num_estimations num_leaves num_trees number_process_policy "
        "number_token objective objective_metric observations_to_bootstrap "
        "occurrence_lower_bound od_config od_pval od_type od_wait one_hot_max_size "
        "output_borders overfitting_detector_type params penalties penalties_coefficient "
        "per_feature_ctr per_feature_ctrs per_float_feature_quantization "
        "per_object_feature_penalties permutation_count permutations pinned_memory_size "
        "pool_metainfo_options posterior_sampling prior_estimation priors q quantile "
        "random_score_type random_seed random_state random_strength reg_lambda rsm "
        "sampling_frequency sampling_unit save_snapshot scale_pos_weight score_function "
        "separator_type sigma silent simple_ctr simple_ctrs skip_empty skip_step skip_train "
        "smoothness snapshot_file snapshot_interval sparse_features_conflict_fraction "
        "split_by_set start_token_id stop_pvalue store_all_simple_ctr subsample "
        "subtokens_policy system_options tags target_binarization target_border target_borders "
        "task_type text_features text_processing text_processing_options thread_count "
        "token_level_type token_types tokenizer_id tokenizers tokenizers_names top train_dir "
        "tree_learner_options type use_best_model use_gpu use_weights used_ram_limit "
        "variance_power verbose wait_iterations weights_format "
    ).split()
)
_OF_COLUMNS = (
    "monotone_constraints feature_weights first_feature_use_penalties "
    "per_object_feature_penalties per_float_feature_quantization"
).split()
_SPLIT = (
    "split_type border float_feature_index cat_feature_index split_index value "
    "ctr_target_border_idx"
)


def _each(names: str) -> Keys:
    return dict.fromkeys(names.split(), SETTING)


def unknown_in(data: Mapping[str, Any], columns: ColumnTable, n_trees: int) -> Iterator[Extra]:
    """Yield the fields of a model that CatBoost does not write."""
    names = {feature.name for feature in columns.features}
    info, classes = nested(data, "model_info"), nested(data, "model_info", "class_params")
    class_names = classes.get("class_names")
    most = max(_FEW, len(names), len(class_names) if isinstance(class_names, list) else 0)

    def few(part: object) -> bool:
        """Tell whether a value is plain, or a list of no more than columns and classes."""
        each = part if isinstance(part, list) else [part]
        parts = [one if isinstance(one, list) and len(one) <= _PRIOR else [one] for one in each]
        return len(each) <= most and all(is_plain(one, SETTING) for part in parts for one in part)

    params: dict[Any, Any] = {ITSELF: few}
    params |= dict.fromkeys(_PARAMETERS, params)
    of_columns: dict[Any, Any] = {ITSELF: few} | dict.fromkeys(
        (*names, *map(str, range(len(names)))), SETTING
    )
    params |= dict.fromkeys(_OF_COLUMNS, of_columns) | {"metadata": {ANY: NOTE}}
    rounds = nested(info, "params", "boosting_options").get("iterations")
    rounds = min(rounds, _MOST_ROUNDS) if isinstance(rounds, int) else n_trees
    node: dict[str, Any] = {"split": _each(_SPLIT), "weight": SETTING, "value": None}
    node |= {"left": node, "right": node}
    place = _each("feature_index flat_feature_index feature_name feature_id")
    keys: Keys = {
        "oblivious_trees": {"leaf_values": None, "leaf_weights": None, "splits": _each(_SPLIT)},
        "trees": node,
        "scale_and_bias": lambda part: isinstance(part, list) and all(map(few, part)),
        "ctr_data": {
            ANY: {"hash_map": None, "hash_stride": SETTING, "counter_denominator": SETTING}
        },
        "features_info": {
            "float_features": {
                **place,
                "borders": None,
                **_each("has_nans nan_value_treatment"),
            },
            "categorical_features": {**place, "values": None},
            **dict.fromkeys("text_features embedding_features estimated_features".split(), place),
            "cat_features_hash": _each("hash value"),
            "ctrs": {
                "borders": None,
                "elements": _each(
                    "combination_element cat_feature_index float_feature_index border value"
                ),
                **_each(
                    "ctr_type identifier prior_denomerator prior_denominator prior_numerator "
                    "scale shift target_border_idx"
                ),
            },
        },
        "model_info": {
            "catboost_version_info": _TEXT,
            "output_options": _TEXT,
            "model_guid": SETTING,
            "train_finish_time": SETTING,
            "training": _LOG * (rounds + 2),
            "class_params": {
                **_each("class_label_type classes_count"),
                "class_names": lambda part: isinstance(part, list),
                "class_to_label": few,
            },
            "params": params,
            ANY: NOTE,
        },
    }
    yield from unknown_fields(data, keys)
