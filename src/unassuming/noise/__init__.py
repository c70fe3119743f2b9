"""What is assumed of the noise: a group of transformations that leave its law unchanged.

Symmetric noise keeps its law when signs are flipped, and iid noise when rows are permuted. The
residuals of the true candidate are the noise, so transformed copies of them are as likely as the
residuals themselves, and no statistic can tell which one was observed. This makes the rank of the
observed one uniform (`unassuming.ranking`, docs/theory.md 2 and 3); nothing else about the noise is
used, neither moments nor a density.
"""

from unassuming.noise.base import LARGEST_GROUP, Noise

# Shared within the library, not public.
from unassuming.noise.basis import InBasis
from unassuming.noise.labels import Labels
from unassuming.noise.permutations import Exchangeable, ExchangeableWithin, SymmetricExchangeable
from unassuming.noise.perturbations import NAMED, Perturbations, as_noise
from unassuming.noise.perturbations import is_group as is_group
from unassuming.noise.perturbations import is_spherical as is_spherical
from unassuming.noise.perturbations import restricted as restricted
from unassuming.noise.perturbations import sign_units_of as sign_units_of
from unassuming.noise.perturbations import swap_blocks_of as swap_blocks_of
from unassuming.noise.perturbations import units_of as units_of
from unassuming.noise.quantile import Quantile
from unassuming.noise.rotations import Spherical
from unassuming.noise.signs import BlockSymmetric, Symmetric
from unassuming.noise.signs import hashed as hashed
from unassuming.noise.signs import powers as powers

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
