"""The names and words that CatBoost writes into a model beside its trees."""

import json
import re
from collections.abc import Collection, Iterator, Mapping

from treeaudit.model.leftovers import Leftover
from treeaudit.readers.leftovers.booster_parts import NUMBER, setting
from treeaudit.readers.leftovers.extra import extra, name_in_path
from treeaudit.readers.leftovers.json_spelling import spelling
from treeaudit.readers.leftovers.texts import reads_as_name

__all__ = ["are_options", "are_rounds", "is_version", "parameters"]

_FEW = 64
_NAMES = frozenset(
    (
        "__params_key_order add_ridge_penalty_to_target_function allow_const_label "
        "allow_writing_files alpha approx_on_full_history auto_class_weights bagging_temperature "
        "bayesian_matrix_reg best_model_min_trees beta boost_from_average boosting_options "
        "boosting_type bootstrap bootstrap_type border border_count border_type callback "
        "cat_feature_params cat_features class_names class_weights classes_count "
        "classes_to_weights colsample_bylevel combinations_ctr combinations_ctrs combined_metrics "
        "counter_calc_method cpu_ram_limit ctr_binarization ctr_description ctr_history_unit "
        "ctr_leaf_count_limit ctr_target_border_count ctr_type custom_loss custom_metric "
        "custom_metrics data_partition data_processing_options decay default delimiter delta "
        "depth detailed_profile dev_bootstrap dev_default_value_fraction_for_sparse "
        "dev_efb_max_buckets dev_group_features dev_leafwise_approxes dev_leafwise_scoring "
        "dev_max_iterations_batch_size dev_max_subset_size_for_build_borders "
        "dev_score_calc_obj_block_size dev_sparse_array_indexing device_config devices "
        "dictionaries dictionaries_names dictionary_id diffusion_temperature "
        "early_stopping_rounds embedding_features embedding_processing "
        "embedding_processing_options end_of_sentence_token_policy end_of_word_token_policy "
        "estimated_ctrs eta eval_fraction eval_metric feature_border_type feature_calcers "
        "feature_processing feature_weights file_with_hosts final_ctr_computation_mode "
        "first_feature_use_penalties fixed_binary_splits flat_params float_features_binarization "
        "focal_alpha focal_gamma fold_len_multiplier fold_permutation fold_permutation_block "
        "fold_size_loss_normalization force_unit_auto_pair_weights gpu_cat_features_storage "
        "gpu_ram_part gram_order group_weight grow_policy has_time hints ignored_features "
        "input_borders iterations l2_leaf_reg langevin languages leaf_estimation_backtracking "
        "leaf_estimation_iterations leaf_estimation_method leaf_estimation_on_cpu learning_rate "
        "lemmatizing logging_level loss_function lowercasing lq_q max_bin max_ctr_complexity "
        "max_depth max_dictionary_size max_leaves max_pairs meta_l2_exponent meta_l2_frequency "
        "metadata metric_period metrics min_child_samples min_data_in_leaf min_fold_size "
        "model_based_eval_options model_shrink_mode model_shrink_rate model_size_reg "
        "monotone_constraints mvs_head_fraction mvs_reg n_estimators name nan_mode node_port "
        "node_type num_boost_round num_estimations num_leaves num_trees number_process_policy "
        "number_token objective objective_metric observations_to_bootstrap occurrence_lower_bound "
        "od_config od_pval od_type od_wait one_hot_max_size output_borders "
        "overfitting_detector_type params penalties penalties_coefficient per_feature_ctr "
        "per_feature_ctrs per_float_feature_quantization per_object_feature_penalties "
        "permutation_count permutations pinned_memory_size pool_metainfo_options "
        "posterior_sampling prior_estimation priors q quantile random_score_type random_seed "
        "random_state random_strength reg_lambda rsm sampling_frequency sampling_unit "
        "save_snapshot scale_pos_weight score_function separator_type sigma silent simple_ctr "
        "simple_ctrs skip_empty skip_step skip_train smoothness snapshot_file snapshot_interval "
        "sparse_features_conflict_fraction split_by_set start_token_id stop_pvalue "
        "store_all_simple_ctr subsample subtokens_policy system_options tags target_binarization "
        "target_border target_borders task_type text_features text_processing "
        "text_processing_options thread_count token_level_type token_types tokenizer_id "
        "tokenizers tokenizers_names top train_dir tree_learner_options type use_best_model "
        "use_gpu use_weights used_ram_limit variance_power verbose wait_iterations weights_format"
    ).split()
)
# What has a number for each column, by its name or its place.
_OF_COLUMNS = frozenset(
    (
        "monotone_constraints feature_weights first_feature_use_penalties "
        "per_object_feature_penalties per_float_feature_quantization"
    ).split()
)
# A word, a file, or a loss with its parameters.
_WORD = re.compile(
    rf"[A-Za-z_]{{0,32}}[0-9]?(?::[A-Za-z_]{{1,24}}={NUMBER}(?:;[A-Za-z_]{{1,24}}={NUMBER}){{0,6}})?"
    r"|[a-z_]{1,24}\.[a-z]{1,10}"
)
_ORDER = re.compile(r'\[(?:"[a-z_]{1,24}"(?:,"[a-z_]{1,24}"){0,8})?\]')
_TEXTS = frozenset({" ", "\N{INPUT SYMBOL FOR NUMBERS}"})
_OPTIONS = frozenset(
    (
        "name verbose test_error_log json_log result_model_file roc_file eval_file_name "
        "use_best_model allow_writing_files prediction_type fstr_internal_file output_columns "
        "snapshot_interval time_left_log fstr_type profile_log train_dir learn_error_log "
        "training_options_file snapshot_file save_snapshot model_format metric_period "
        "final_feature_calcer_computation_mode output_borders final_ctr_computation_mode "
        "best_model_min_trees fstr_regular_file meta_file"
    ).split()
)
_ROUNDS = frozenset(
    (
        "best_iteration learn_best_error test_best_error learn_metrics_history test_metrics_history"
    ).split()
)
_LONGEST_VERSION, _HASH = 600, re.compile(r"\b[0-9a-f]{40}\b")
_VERSION = re.compile(
    r"(?:Git|Svn|Arc|Hg) info:\n(?: {4}(?:Commit|Branch|Author|Summary|URL|"
    r"Last Changed (?:Rev|Author|Date)|git-svn info|Hash|Revision): ?[^\n]{0,120}\n){0,12}\n?"
    r"(?:Other info:\n(?: {4}(?:Build by|Top src dir|Top build dir|Hostname|Host information|"
    r"Build date|Build host): ?[^\n]{0,120}\n){0,8})?\n?"
)


def is_version(part: object) -> bool:
    """Tell whether a text says which CatBoost wrote the model, and nothing else."""
    if not isinstance(part, str) or len(part) > _LONGEST_VERSION:
        return False
    lines = _HASH.sub("", part).split("\n")
    return _VERSION.fullmatch(part) is not None and all(map(reads_as_name, lines))


def parameters(
    where: str, part: Mapping[str, object], columns: Collection[str], labels: Collection[str]
) -> Iterator[Leftover]:
    """Yield the parameters of training that CatBoost does not write, or not so.

    Parameters
    ----------
    where
        The way to them.
    part
        The parameters.
    columns, labels
        Names that parameters may be about.
    """
    most = max(_FEW, len(columns), len(labels))
    for name, value in part.items():
        a_column = name in columns or (name.isdigit() and int(name) < len(columns))
        known = name in _NAMES or (a_column and where.rpartition(".")[2] in _OF_COLUMNS)
        path = f"{where}.{name if known else name_in_path(name)}"
        if not known:
            yield extra(path, value, name)
        elif isinstance(value, dict) and name != "metadata":
            yield from parameters(path, value, columns, labels)
        else:
            each = value if isinstance(value, list) and len(value) <= most else [value]
            for one in each:
                if isinstance(one, dict) and name != "metadata":
                    yield from parameters(path, one, columns, labels)
                elif not _is_plain(one, columns, labels):
                    yield extra(path, one)


def _is_plain(value: object, columns: Collection[str], labels: Collection[str]) -> bool:
    if isinstance(value, str):
        known = value in columns or value in labels or value in _TEXTS or setting(value)
        return known or bool(_WORD.fullmatch(value) or _ORDER.fullmatch(value))
    if isinstance(value, list):
        return len(value) <= 4 and all(map(setting, value))
    return value == {} or setting(value)


def are_options(part: object) -> bool:
    """Tell whether a text holds the options of output, each a word, a number or a file."""
    found = _decoded(part)
    return (
        isinstance(found, dict)
        and found.keys() <= _OPTIONS
        and all(
            _is_plain(one, (), ())
            for value in found.values()
            for one in (value if isinstance(value, list) and len(value) <= 8 else [value])
        )
    )


_LONGEST_NUMBER = 28
"""Characters of a number: down to 1e-10 CatBoost writes 16 digits without an exponent."""


def are_rounds(part: object, most: int) -> bool:
    """Tell whether a text holds what the metrics were after each round, for so many rounds."""
    found = _decoded(part)
    metrics = found.get("metrics") if isinstance(found, dict) and len(found) == 1 else None
    if not isinstance(metrics, dict) or not metrics.keys() <= _ROUNDS:
        return False
    return all(_are_metrics(value, most, 3) for value in metrics.values())


def _are_metrics(value: object, most: int, depth: int) -> bool:
    if isinstance(value, list):
        return (
            depth > 0
            and len(value) <= most
            and all(_are_metrics(one, most, depth - 1) for one in value)
        )
    if isinstance(value, dict):
        return len(value) <= 12 and all(
            _WORD.fullmatch(name) and not isinstance(one, str) and setting(one)
            for name, one in value.items()
        )
    return not isinstance(value, str) and setting(value)


def _decoded(part: object) -> object:
    """Return what a text of JSON stands for; None where it is none, or spelled oddly."""
    if not isinstance(part, str):
        return None
    odd = next(spelling(part.encode("utf-8", "backslashreplace"), _LONGEST_NUMBER), None)
    try:
        # Of two entries of one name only the last would be seen.
        found = json.loads(part, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    return found if odd is None else None


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object names something twice")
    return found
