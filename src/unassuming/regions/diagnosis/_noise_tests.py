"""Tests of residuals, as indications for or against assumptions on the noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from typing import final

import numpy as np
from scipy.linalg import svd

from unassuming._numerics import powers_of_two
from unassuming._typing import Array
from unassuming.noise import (
    Exchangeable,
    Noise,
    Quantile,
    Spherical,
    Symmetric,
    SymmetricExchangeable,
)
from unassuming.regions.diagnosis._least_biased_fit import LinearFit, rows_needed
from unassuming.regions.diagnosis._pairwise import Statistic, play, pvalues, rounds

RANDOMISATIONS = 999
_BATCH = 2**21  # numbers in one batch of transformed residuals

KERNEL_FALSE_ALARMS = {"symmetry": 0.07, "equal spread": 0.095, "no order": 0.035}
"""The worst rates at 5 % that benchmarks/false_alarms.py measured, for kernels of full rank."""

LABEL_FALSE_ALARMS = {"symmetry": 0.005, "equal spread": 0.05, "no order": 0.08}
"""The worst rates at 5 % that benchmarks/false_alarms.py measured, for labels."""


@final
@dataclass(frozen=True)
class Indication:
    """One test of the residuals.

    Attributes
    ----------
    name : str
    question : str
        A small p-value suggests the answer no.
    statistic, pvalue : float
        Data are transformed at random, at most 999 times whatever m is, and the statistic is
        compared with that of the transformed data. Both are nan if the test is not available.
    assumed : bool
        Whether the guarantee of this region depends on the answer. If so, the transformations are
        among those of its noise, else they are random signs or permutations.
    exact : bool
        Whether the p-value holds for every number of rows and whatever the coefficients are: a
        p-value of at most a then has a probability of at most a.
    under : str
        The assumption on the noise that is tested.
    false_alarms : float or None
        For a p-value that is approximate, the worst rate of p-values of at most 0.05 that was
        measured with nothing wrong; None if it is exact or was not measured.
    unavailable : str
        Why there is no p-value; empty if there is one.

    Examples
    --------
    >>> print(Indication("symmetry", "Do the signs balance?", 0.1, 0.5, assumed=True, exact=True))
    symmetry: p-value 0.5 (under the assumption; exact). Do the signs balance?
    """

    name: str
    question: str
    statistic: float
    pvalue: float
    assumed: bool
    exact: bool = False
    under: str = ""
    false_alarms: float | None = None
    unavailable: str = ""

    def __str__(self) -> str:
        if self.unavailable:
            return f"{self.name}: not available. {self.unavailable}"
        role = "under the assumption" if self.assumed else "not assumed here"
        kind = "exact" if self.exact else "approximate"
        if self.false_alarms is not None:
            kind += f", false alarms at 5 %: up to {100 * self.false_alarms:.2g} %"
        return f"{self.name}: p-value {self.pvalue:.3g} ({role}; {kind}). {self.question}"


def _scaled(r: Array) -> Array:
    """Return residuals divided by a power of two, so that no square over- or underflows."""
    return np.asarray(r / powers_of_two(np.abs(r).max(axis=-1, keepdims=True)))


def _ratio(part: Array, r: Array) -> Array:
    whole = np.square(r).sum(axis=-1)
    return np.asarray(part / np.where(whole > 0, whole, 1.0))


def _balance(r: Array) -> Array:
    """Return Σ sign(r_j) r_j² / Σ r_j², between -1 and 1."""
    r = _scaled(r)
    return _ratio((np.sign(r) * np.square(r)).sum(axis=-1), r)


def _order(r: Array) -> Array:
    """Return the autocorrelation at lag one, in the order of the rows."""
    r = _scaled(r)
    return _ratio((r[..., 1:] * r[..., :-1]).sum(axis=-1), r)


def _spread(columns: Array) -> Statistic:
    """Return the share of the variance of ``|r|`` that orthonormal columns explain."""

    def share(r: Array) -> Array:
        size = np.abs(_scaled(r))
        size = size - size.mean(axis=-1, keepdims=True)
        return _ratio(np.square(size @ columns).sum(axis=-1), size)

    return share


@dataclass(frozen=True, eq=False)
class _Test:
    name: str
    question: str
    statistic: Statistic
    reference: Noise
    unavailable: str = ""


def _tests(along: Array) -> list[_Test]:
    u, s, _ = svd(along - along.mean(axis=0), full_matrices=False)
    u = u[:, s > 1e-9 * np.linalg.norm(along)]
    signs, permutations = Symmetric(), Exchangeable()
    return [
        _Test(
            "symmetry",
            "Do positive and negative residuals balance, in number and size?",
            _balance,
            signs,
        ),
        _Test(
            "equal spread",
            "Are residuals equally large over the range of the inputs?",
            _spread(u),
            permutations,
            "" if u.size else "The model has no inputs along which the spread could change.",
        ),
        _Test("no order", "Are residuals of neighbouring rows uncorrelated?", _order, permutations),
    ]


def indications(
    noise: Noise, seed: int, fit: LinearFit | None, r: Array, fitted: Array
) -> tuple[Indication, ...]:
    """Test the residuals ``r`` of a fit, or of the estimate if there is none."""
    tests = _tests(fitted[:, None] if fit is None else fit.along)
    if isinstance(noise, Quantile):
        return tuple(_of_signs(noise, seed, r, test) for test in tests)
    return _Bench(noise, seed, fit, r, fitted).run(tests)


def _of_signs(noise: Quantile, seed: int, r: Array, test: _Test) -> Indication:
    """Test the order of the signs, which is all that regression quantiles assume about residuals.

    At the estimate the share of negative residuals is tau, whatever the truth is.
    """
    if test.statistic is not _order:
        why = "Regression quantiles assume nothing about it."
        return Indication(test.name, test.question, nan, nan, assumed=False, unavailable=why)
    rng = np.random.default_rng([seed, RANDOMISATIONS])
    size = len(r), RANDOMISATIONS
    value, others = (
        _order(np.where(b, noise.tau - 1, noise.tau)) for b in (r < 0, noise.draw(*size, rng))
    )
    return Indication(
        test.name,
        "Are the signs of the residuals of neighbouring rows uncorrelated?",
        float(value),
        _two_sided(float(value), others, 1e-9),
        assumed=True,
        under=noise.assumption,
    )


@dataclass(frozen=True, eq=False)
class _Bench:
    """Residuals under test and how they are transformed."""

    noise: Noise
    seed: int
    fit: LinearFit | None
    r: Array
    fitted: Array

    def run(self, tests: list[_Test]) -> tuple[Indication, ...]:
        """Return the indications of all tests."""
        found: list[Indication] = []
        together: dict[Noise, list[int]] = {}  # tests that compare with the same transformations
        for j, test in enumerate(tests):
            value = float(test.statistic(self.r))
            noise, assumed = self._transformations(test, value)
            facts = Indication(
                test.name, test.question, value, nan, assumed, under=noise.assumption
            )
            if self.fit is None or not noise.orthogonal:
                measured = LABEL_FALSE_ALARMS[test.name] if noise.labels else None
                p = self._refitted(test, value, noise)
                facts = replace(facts, pvalue=p, false_alarms=measured)
            elif reason := test.unavailable or self._too_few():
                facts = replace(facts, statistic=nan, unavailable=reason)
            else:
                together.setdefault(noise, []).append(j)
            found.append(facts)
        for noise, which in together.items():
            for j, p in zip(which, self._pairwise(noise, [tests[j] for j in which]), strict=True):
                exact = self.fit is not None and self.fit.exact
                measured = None if exact else KERNEL_FALSE_ALARMS[tests[j].name]
                found[j] = replace(found[j], pvalue=p, exact=exact, false_alarms=measured)
        return tuple(found)

    def _too_few(self) -> str:
        assert self.fit is not None
        n, rank = self.fit.basis.shape
        if n >= rows_needed(rank):
            return ""
        return f"{rank} features need {rows_needed(rank)} rows, and there are {n}."

    def _pairwise(self, noise: Noise, tests: list[_Test]) -> list[float]:
        assert self.fit is not None
        n, rank = self.fit.basis.shape
        size = rounds(n, rank, RANDOMISATIONS)
        rng = np.random.default_rng([self.seed, RANDOMISATIONS])
        games = play(self.fit.basis, self.r, noise, size, rng)
        statistics = [test.statistic for test in tests]
        return pvalues(games, statistics, [T is _order for T in statistics], exact=self.fit.exact)

    def _transformations(self, test: _Test, value: float) -> tuple[Noise, bool]:
        """Return those that the test uses, and whether the region assumes them."""
        if isinstance(self.noise, (SymmetricExchangeable, Spherical)):
            return test.reference, True  # a part of their transformations, and more powerful
        rng = np.random.default_rng(self.seed)
        moved = _scattered(self.noise, self.r, self.fitted, 20, rng)
        # The noise class assumes nothing about a statistic that its transformations never change.
        assumed = bool((np.abs(test.statistic(moved) - value) > 1e-9).any())
        return (self.noise if assumed else test.reference), assumed

    def _refitted(self, test: _Test, value: float, noise: Noise) -> float:
        """Return an approximate p-value: outputs are transformed, and fitted in the same way."""
        rng = np.random.default_rng([self.seed, RANDOMISATIONS])
        others, step = [], max(1, _BATCH // len(self.r))
        for done in range(0, RANDOMISATIONS, step):
            size = min(step, RANDOMISATIONS - done)
            moved = _scattered(noise, self.r, self.fitted, size, rng)
            if self.fit is not None:
                moved = self.fit.residuals(self.fitted + moved)
            others.append(test.statistic(moved))
        return _two_sided(value, np.concatenate(others), 1e-9)


def _two_sided(value: float, others: Array, slack: float) -> float:
    m = len(others) + 1
    above = 1 + int((others >= value - slack).sum())
    below = 1 + int((others <= value + slack).sum())
    return min(1.0, 2 * min(above, below) / m)


def _scattered(noise: Noise, r: Array, fitted: Array, size: int, rng: np.random.Generator) -> Array:
    """Return fresh transformations of one residual vector, (size, n)."""
    return np.asarray(noise.apply(noise.draw(len(r), size, rng), r, fitted))
