"""Options that are wrong by themselves or do not go together, found before any file is read."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from unassuming.cli.options._models import RECIPES, Assumption, Model

if TYPE_CHECKING:
    from unassuming.cli.options._problem import Problem

_RANGES: dict[str, tuple[Callable[[float], bool], str]] = {
    "gamma": (lambda x: 0 < x < math.inf, "a finite number > 0"),
    "alpha": (lambda x: 0 <= x < math.inf, "a finite number >= 0"),
    "C": (lambda x: 0 < x < math.inf, "a finite number > 0"),
    "epsilon": (lambda x: 0 <= x < math.inf, "a finite number >= 0"),
    "quantile": (lambda x: 0 < x < 1, "a number between 0 and 1, both excluded"),
}
"""What the hyper-parameters can be."""

_LARGEST_NORM = 1e300
"""As in `unassuming.inputs`, which takes long to import."""


def check_options(problem: Problem) -> None:
    """Refuse the first option that is wrong, in one sentence."""
    statistics(problem.m)
    _check_levels(problem)
    _check_hyperparameters(problem)
    _check_model(problem)
    _check_roles(problem)
    _check_noise(problem)


def statistics(m: str) -> int | str:
    """Return the number of statistics, or ``"all"``."""
    if m == "all":
        return m
    try:
        number = int(m)
    except ValueError:
        number = 0
    if number < 2:
        raise ValueError(
            f"--m is not a number of statistics: expected an integer >= 2, or all, given {m}. "
            "Try --m 100."
        )
    return number


def check_norm_bound(norm_bound: float | None) -> None:
    """Refuse a bound that no norm can have, or that is too large for double precision."""
    if norm_bound is not None and not 0 < norm_bound <= _LARGEST_NORM:
        raise ValueError(
            f"--norm-bound is out of range: expected one number > 0 and at most {_LARGEST_NORM:g}, "
            f"given {norm_bound:g}. Give an upper bound on the norm that you are ready to assume."
        )


def check_one_by_one(problem: Problem) -> None:
    """Refuse models whose coefficients have no interval of their own."""
    known = [name for name in Model if RECIPES[name].one_by_one]
    if problem.model not in known:
        raise ValueError(
            "--model has no coefficients to summarise one at a time: expected "
            f"{' or '.join(known)}, given {problem.model}. Use unassuming region for this model."
        )


def _check_levels(problem: Problem) -> None:
    for level in problem.levels:
        if not 0 < level < 1:
            raise ValueError(
                "--level is out of range: expected numbers between 0 and 1, both excluded, given "
                f"{level:g}. Try --level 0.9."
            )


def _check_hyperparameters(problem: Problem) -> None:
    """Check that the model has these options, and that they are in range."""
    defaults = RECIPES[problem.model].defaults
    for name, value in problem.options.items():
        if name not in defaults:
            known = ", ".join(f"--{known}" for known in defaults) or "none"
            raise ValueError(
                f"--{name} is not an option of {problem.model}: expected {known}, given --{name}. "
                "Leave it out."
            )
        if name in _RANGES and not _RANGES[name][0](value):
            raise ValueError(
                f"--{name} is out of range: expected {_RANGES[name][1]}, given {value:g}. Leave it "
                "out, or choose another value."
            )
    kernel = problem.kernel or defaults.get("kernel")
    if problem.gamma is not None and kernel == "linear":
        raise ValueError(
            "--gamma has no meaning for the linear kernel: expected another --kernel, such as "
            f"rbf, given {problem.gamma:g}. Leave it out."
        )


def _check_model(problem: Problem) -> None:
    """Check the options that only some models have."""
    model = problem.model
    if problem.classes is not None and not RECIPES[model].classify:
        classifiers = " or ".join(name for name in Model if RECIPES[name].classify)
        raise ValueError(
            f"--classes is not an option of {model}: expected --model {classifiers}, given "
            f"--classes {problem.classes}. Leave it out."
        )
    if problem.knots is not None and model is not Model.SPLINE:
        raise ValueError(
            f"--knots is not an option of {model}: expected --model spline, given --knots "
            f"{problem.knots}. Leave it out."
        )


def _check_roles(problem: Problem) -> None:
    """Refuse endogenous columns without instruments, and instruments without such columns."""
    roles = {"endogenous": problem.endogenous, "instruments": problem.instruments}
    given = [f"--{name} {value}" for name, value in roles.items() if value is not None]
    if problem.model is Model.IV and len(given) < len(roles):
        raise ValueError(
            "a model with instruments needs both kinds of columns: expected --endogenous and "
            f"--instruments, given {given[0] if given else 'neither of them'}. Name the columns "
            "that may depend on the noise, and those that move them and do not."
        )


def _check_noise(problem: Problem) -> None:
    """Check that the assumption goes with the model, the clusters and the blocks."""
    own, given = RECIPES[problem.model].noise, problem.noise
    if own is not None and given not in (None, own) and not RECIPES[problem.model].others:
        raise ValueError(
            f"--noise does not fit --model {problem.model}: expected --noise {own}, its default, "
            f"given --noise {given}. Leave it out."
        )
    if own is None and given in (Assumption.LABELS, Assumption.QUANTILE):
        models = " or ".join(name for name in Model if RECIPES[name].noise == given)
        raise ValueError(
            f"--noise does not fit --model {problem.model}: expected --model {models} with --noise "
            f"{given}, given --model {problem.model}. Leave --noise out, or choose one of these "
            "models."
        )
    if problem.clusters is not None and own is not None:
        raise ValueError(
            "--clusters needs a regression of the mean: expected a model other than a classifier "
            f"or a quantile, which need independent rows, given --model {problem.model}. Choose "
            "another model, or leave out --clusters if all rows are independent."
        )
    if problem.blocks is not None and (
        given not in (None, Assumption.EXCHANGEABLE) or problem.clusters is not None
    ):
        other = "--clusters" if problem.clusters is not None else f"--noise {given}"
        raise ValueError(
            "--blocks needs exchangeable noise: expected --noise exchangeable, given "
            f"{other}. Leave out one of the two."
        )
    if problem.clusters is not None and given not in (None, Assumption.SYMMETRIC):
        raise ValueError(
            "--clusters needs noise that is symmetric in each cluster: expected --noise symmetric, "
            f"given --noise {given}. Leave out one of the two."
        )
