"""Everything a user passes, checked once: data, pipelines, seeds, options and directions."""

# Shared within the library, not public.
from unassuming.inputs._arrays import as_finite as as_finite
from unassuming.inputs._data import Data as Data
from unassuming.inputs._data import as_outputs as as_outputs
from unassuming.inputs._data import as_weights as as_weights
from unassuming.inputs._data import check_data as check_data
from unassuming.inputs._data import check_weight as check_weight
from unassuming.inputs._data import require_labels as require_labels
from unassuming.inputs._directions import as_directions as as_directions
from unassuming.inputs._directions import as_functionals as as_functionals
from unassuming.inputs._directions import as_points as as_points
from unassuming.inputs._directions import as_vector as as_vector
from unassuming.inputs._options import check_inner as check_inner
from unassuming.inputs._options import check_norm_bound as check_norm_bound
from unassuming.inputs._options import check_options as check_options
from unassuming.inputs._options import check_sampling as check_sampling
from unassuming.inputs._options import check_target as check_target
from unassuming.inputs._options import is_label_model as is_label_model
from unassuming.inputs._pipelines import SupervisedTransformer as SupervisedTransformer
from unassuming.inputs._pipelines import fit_transform_without_y as fit_transform_without_y
from unassuming.inputs._pipelines import frozen_steps as frozen_steps
from unassuming.inputs._pipelines import seed_unset as seed_unset
from unassuming.inputs._pipelines import split_pipeline as split_pipeline
from unassuming.inputs._seeds import as_seed as as_seed
from unassuming.inputs._seeds import streams as streams
from unassuming.inputs._tables import as_inputs as as_inputs
from unassuming.inputs._tables import check_columns as check_columns
from unassuming.inputs._tables import check_distinct as check_distinct
from unassuming.inputs._tables import column_at as column_at
from unassuming.inputs._tables import column_names as column_names
from unassuming.inputs._tables import is_frame as is_frame
from unassuming.inputs._tables import row_count as row_count
from unassuming.inputs._tables import rows_between as rows_between
