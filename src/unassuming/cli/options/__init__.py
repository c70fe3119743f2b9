"""The options that commands share: the models by name, the table, and what does not go together.

Nothing here imports what takes long, so that help and wrong options are answered at once.
"""

from unassuming.cli.options._checked import check_norm_bound, check_one_by_one
from unassuming.cli.options._models import RECIPES, Assumption, Kernel, Model, Recipe
from unassuming.cli.options._problem import AtOnce, Levels, Problem, Seed, problem_options

__all__ = [
    "RECIPES",
    "Assumption",
    "AtOnce",
    "Kernel",
    "Levels",
    "Model",
    "Problem",
    "Recipe",
    "Seed",
    "check_norm_bound",
    "check_one_by_one",
    "problem_options",
]
