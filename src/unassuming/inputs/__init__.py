"""Everything a user passes, checked once: arrays, frames, pipelines, seeds and options."""

from unassuming.inputs._data import (
    Data,
    as_finite,
    as_inputs,
    as_outputs,
    as_weights,
    check_columns,
    check_data,
    check_distinct,
    check_weight,
    column_at,
    column_names,
    is_frame,
    require_labels,
    row_count,
    rows_between,
)
from unassuming.inputs._directions import as_directions, as_functionals, as_points, as_vector
from unassuming.inputs._options import check_options, is_label_model
from unassuming.inputs._pipelines import (
    SupervisedTransformer,
    fit_transform_without_y,
    frozen_steps,
    seed_unset,
    split_pipeline,
)
from unassuming.inputs._questions import (
    check_inner,
    check_norm_bound,
    check_sampling,
    check_target,
)
from unassuming.inputs._seeds import as_seed, streams

__all__ = [
    "Data",
    "SupervisedTransformer",
    "as_directions",
    "as_finite",
    "as_functionals",
    "as_inputs",
    "as_outputs",
    "as_points",
    "as_seed",
    "as_vector",
    "as_weights",
    "check_columns",
    "check_data",
    "check_distinct",
    "check_inner",
    "check_norm_bound",
    "check_options",
    "check_sampling",
    "check_target",
    "check_weight",
    "column_at",
    "column_names",
    "fit_transform_without_y",
    "frozen_steps",
    "is_frame",
    "is_label_model",
    "require_labels",
    "row_count",
    "rows_between",
    "seed_unset",
    "split_pipeline",
    "streams",
]
