"""What is assumed of the noise: a group of transformations that leave its law unchanged.

Symmetric noise keeps its law when signs are flipped, and iid noise when rows are permuted. The
residuals of the true candidate are the noise, so transformed copies of them are as likely as the
residuals themselves, and no statistic can tell which one was observed. This makes the rank of the
observed one uniform (`unassuming.ranking`, docs/theory.md 2 and 3); nothing else about the noise is
used, neither moments nor a density.
"""

from unassuming.noise._base import LARGEST_GROUP, Noise
from unassuming.noise._basis import InBasis
from unassuming.noise._basis import require_basis as require_basis

# Shared within the library, not public.
from unassuming.noise._characters import hashed as hashed
from unassuming.noise._characters import is_group as is_group
from unassuming.noise._characters import order_of as order_of
from unassuming.noise._characters import powers as powers
from unassuming.noise._characters import rows_of_stream as rows_of_stream
from unassuming.noise._counter_draws import Key as Key
from unassuming.noise._counter_draws import draw_key as draw_key
from unassuming.noise._counter_draws import keyed_uniforms as keyed_uniforms
from unassuming.noise._labels import Labels
from unassuming.noise._named import NAMED, as_noise
from unassuming.noise._permutations import (
    Exchangeable,
    ExchangeableWithin,
    SymmetricExchangeable,
)
from unassuming.noise._perturbations import Perturbations
from unassuming.noise._perturbations import Rounded as Rounded
from unassuming.noise._quantile import Quantile
from unassuming.noise._row_blocks import RowNoise as RowNoise
from unassuming.noise._signs import BlockSymmetric, Symmetric
from unassuming.noise._signs import SignFlips as SignFlips
from unassuming.noise._signs import all_signs as all_signs
from unassuming.noise._spherical import Spherical
from unassuming.noise._subsets import is_spherical as is_spherical
from unassuming.noise._subsets import restricted as restricted
from unassuming.noise._subsets import sign_units_between as sign_units_between
from unassuming.noise._subsets import sign_units_of as sign_units_of
from unassuming.noise._subsets import swap_blocks_of as swap_blocks_of
from unassuming.noise._subsets import units_of as units_of

__all__ = [
    "LARGEST_GROUP",
    "NAMED",
    "BlockSymmetric",
    "Exchangeable",
    "ExchangeableWithin",
    "InBasis",
    "Labels",
    "Noise",
    "Perturbations",
    "Quantile",
    "Spherical",
    "Symmetric",
    "SymmetricExchangeable",
    "as_noise",
]
