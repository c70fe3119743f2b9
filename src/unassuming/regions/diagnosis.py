"""Residuals of a region, and tests of what is assumed about the noise.

The tests need residuals without bias: those of least squares on the features, or on the leading
eigenfunctions of a kernel, which has as many features as rows. With y = Φθ* + e and a
transformation G that leaves the law of the noise e unchanged, let M project on the complement of
the columns of Φ and GΦ. Then M y = M e and M G y = M G e, whatever θ* is, and exchanging e for G e
exchanges the two. So the identity and m - 1 drawn transformations are m players of a tournament,
each as likely as any other to be the one that was observed. At most 2q - 1 of m players can lose or
tie fewer than q games, and for every statistic T

    p = (2 · #{G : T(M G y) >= T(M y)} + 1) / m

is a p-value for every n: P(p <= a) <= a (docs/theory.md 11.4, where the statistic is an estimate).
This bound is for the worst case. Where Φ is an approximation, (#{...} + 1)/m is used instead, which
was never far above its level.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import nan
from textwrap import fill
from typing import Any, NamedTuple, cast, final

import numpy as np
from scipy.linalg import eigh, svd

from unassuming._batches import slices
from unassuming._frames import apart, as_frame
from unassuming._numerics import EPS, factor
from unassuming._typing import Array, IntArray
from unassuming.inputs import Data
from unassuming.noise import Exchangeable, Noise, Spherical, Symmetric, SymmetricExchangeable
from unassuming.objectives import KernelDesign, Objective
from unassuming.regions.describe import Description
from unassuming.regions.problem import Problem
from unassuming.regions.views import View, make_view

Statistic = Callable[[Array], Array]
"""From residuals (..., n) to numbers (...)."""

KERNEL_FALSE_ALARMS = {"symmetry": 0.07, "equal spread": 0.095, "no order": 0.035}
"""The worst rates at 5 % that benchmarks/false_alarms.py measured, for kernels of full rank."""

LABEL_FALSE_ALARMS = {"symmetry": 0.005, "equal spread": 0.05, "no order": 0.08}
"""The worst rates at 5 % that benchmarks/false_alarms.py measured, for labels."""

CAVEAT = (
    "Each test detects one kind of departure. A small p-value is a reason to look closer; a large "
    "one proves nothing."
)
AT_THE_ESTIMATE = (
    "The tests use the residuals of the estimate: a penalty that pulls it away from the truth "
    "makes p-values small even if nothing is wrong with the noise."
)
AT_TWO_STAGES = (
    "The tests use the residuals of two-stage least squares. With weak instruments it is far from "
    "the truth, and p-values can be small even if nothing is wrong with the noise."
)
WITHOUT_BIAS = (
    "The tests use the residuals of least squares on the {} independent features: unlike those of "
    "the estimate, they have no bias if the truth is in their span."
)
ON_EIGENFUNCTIONS = (
    "The tests use the residuals of least squares on the leading {} eigenfunctions of the kernel, "
    "a number chosen by generalised cross-validation. If the true function varies more than they "
    "can, p-values are small even if nothing is wrong with the noise. Dependence between "
    "neighbours may be mistaken for variation of the function, and then p-values are not small."
)

RANDOMISATIONS, _FEWEST = 999, 99
_WORK = 4e9  # multiplications, beyond which fewer transformations are drawn
_BATCH = 2**21  # numbers in one batch of transformed residuals or designs
_ROWS_FOR_EACH, _SMOOTHEST = 4, 4  # rows for each eigenfunction; those that show the spread


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
        The statistic is compared with that of data transformed at random, at most 999 times. Both
        are nan if the test is not available.
    assumed : bool
        Whether the guarantee of this region depends on the answer. If not, the transformations are
        random signs or permutations.
    exact : bool
        Whether the p-value holds for every number of rows and whatever the coefficients are.
    under : str
        The assumption on the noise that is tested.
    false_alarms : float or None
        The worst rate of approximate p-values of at most 0.05 that was measured with nothing wrong.
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


@final
@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Residuals at the estimate, indications, and the assumptions of the guarantee.

    Attributes
    ----------
    rows : integer array of shape (n,)
        Positions of the rows in the data as passed.
    fitted, residuals : arrays of shape (n,)
        The data of a residual plot, at the point estimate.
    inputs : dict
        The columns of X at these rows, to plot residuals against.
    indications : tuple of Indication
        Tests of symmetry and exchangeability: indications, not proofs.
    tested : array of shape (n,)
        The residuals under test: not those of the estimate, which are biased by a penalty, but
        those of least squares on the same features, or on the leading eigenfunctions of a kernel.
    rests_on : tuple of str
        The assumptions, one sentence each.
    covers : str
        The guarantee under these assumptions.
    caveat : str
    guaranteed : bool
        Whether there is a guarantee: the published region of LS-SVC has none.

    Examples
    --------
    >>> diagnosis = region.diagnose()
    >>> print(diagnosis)
    Residuals of 50 rows at the estimate:
      - symmetry: p-value ...
    >>> diagnosis.residuals.shape, len(diagnosis.rests_on), diagnosis.to_frame().shape
    ((50,), 3, (50, 5))
    """

    rows: IntArray = field(repr=False)
    fitted: Array = field(repr=False)
    residuals: Array = field(repr=False)
    inputs: Mapping[str, Array] = field(repr=False)
    indications: tuple[Indication, ...]
    rests_on: tuple[str, ...]
    covers: str
    caveat: str
    tested: Array = field(repr=False)
    guaranteed: bool = True

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with rows, fitted values, residuals and inputs."""
        results = {"row": self.rows, "fitted": self.fitted, "residual": self.residuals}
        return as_frame(results | apart(self.inputs, results))

    def plot(self, against: str | None = None, *, ax: Any = None) -> Any:
        """Draw the residuals; ``unassuming.plots.diagnosis`` describes the picture.

        It is drawn against an input column, ``"row"``, or by default the fitted values, into ``ax``
        or a new figure.

        Examples
        --------
        >>> region.diagnose().plot("x0").get_xlabel()
        'x0'
        """
        return make_view(View.DIAGNOSIS, self, against, ax=ax)

    def __str__(self) -> str:
        def item(sentence: object) -> str:
            return fill(str(sentence), 100, initial_indent="  - ", subsequent_indent="    ")

        covers = f"Then the region covers {self.covers}." if self.guaranteed else self.covers
        return "\n".join(
            [
                f"Residuals of {len(self.residuals)} rows at the estimate:",
                *map(item, self.indications),
                fill(self.caveat, 100),
                "The guarantee rests on this:",
                *map(item, self.rests_on),
                fill(covers, 100),
            ]
        )


def diagnose(problem: Problem, description: Description) -> Diagnosis:
    """Compare statistics of residuals with those of transformed data."""
    data, o = problem.data("diagnose needs"), problem.objective
    problem.refuse_basis("a diagnosis")
    at_estimate = o.residuals(problem.estimate[None, :])[0]
    fit = _least_biased_fit(o)
    about, r = AT_TWO_STAGES if o.endogenous else AT_THE_ESTIMATE, at_estimate
    if fit is not None:
        about, r = fit.about, fit.residuals(o.y)
    if np.abs(r).max() <= 1e-13 * np.abs(o.y).max():
        r = np.zeros_like(r)  # a perfect fit: what is left is rounding
    bench = _Bench(problem.noise, problem.seed, fit, r, o.y - r)
    return Diagnosis(
        rows=np.flatnonzero(data.rows),
        fitted=o.y - at_estimate,
        residuals=at_estimate,
        inputs=columns_of(data),
        indications=tuple(map(bench.run, _tests(o.quantile, bench.along))),
        rests_on=description.lines["assumes"],
        covers=" ".join(description.lines["covers"]),
        caveat=f"{CAVEAT} {about}",
        tested=r,
        guaranteed=problem.guaranteed,
    )


def columns_of(data: Data) -> dict[str, Array]:
    """Return the columns of X at the rows that count, by name."""
    X = data.X.toarray() if hasattr(data.X, "toarray") else data.X
    names = getattr(X, "columns", None)
    if names is not None:
        return {str(name): np.asarray(X[name])[data.rows] for name in names}
    table = np.asarray(X)[data.rows]
    columns = [table] if table.ndim == 1 else table.T  # a list of texts is one column
    return {f"x{j}": column for j, column in enumerate(columns)}


@final
@dataclass(frozen=True, eq=False)
class _Fit:
    """Least squares on orthonormal columns (n, k), and those along which the spread may change."""

    basis: Array
    along: Array
    exact: bool
    """Whether the span contains the truth if the model does."""
    about: str

    def residuals(self, outputs: Array) -> Array:
        return np.asarray(outputs - (outputs @ self.basis) @ self.basis.T)


def _least_biased_fit(o: Objective) -> _Fit | None:
    """Return the fit; None without a design, or if it models something other than the outputs."""
    design = o.design
    if design is None or o.quantile is not None or o.endogenous or o.labels_only:
        return None
    u = factor(design.matrix, np.ones(o.n), intercept=design.intercept).Q
    n, rank = u.shape
    if design.dual and (design.spans_everything or _rows_needed(rank) > n):
        return _leading(cast(KernelDesign, design), o.y)
    return _Fit(u, u, True, WITHOUT_BIAS.format(rank))


def _rows_needed(rank: int) -> int:
    """Return how many rows leave five degrees of freedom beside two designs of that rank."""
    return 2 * rank + 5


def _leading(design: KernelDesign, y: Array) -> _Fit:
    """Least squares on the leading eigenfunctions of a kernel."""
    n, K, z = len(y), design.K, y
    ones = np.ones((n, int(design.intercept))) / np.sqrt(n)
    if design.intercept:
        K = K - ones @ (ones.T @ K)
        K = K - (K @ ones) @ ones.T
        z = y - y.mean()
    values, u = eigh((K + K.T) / 2, subset_by_index=[n - max(1, n // _ROWS_FOR_EACH), n - 1])
    u = u[:, ::-1][:, values[::-1] > 1e-6 * values[-1]]
    left = z @ z - np.cumsum(np.square(u.T @ z))  # with 1, 2, ... eigenfunctions
    freedom = n - design.intercept - np.arange(1, len(left) + 1)
    count = 1 + int(np.argmin(left / np.square(freedom))) if len(left) else 0
    basis = np.column_stack([ones, u[:, :count]])
    along = u[:, : min(count, _SMOOTHEST)]
    return _Fit(basis, along, False, ON_EIGENFUNCTIONS.format(count))


class _Test(NamedTuple):
    name: str
    question: str
    statistic: Statistic
    reference: Noise
    unavailable: str = ""


def _tests(tau: float | None, along: Array) -> list[_Test]:
    """Return the tests; of regression quantiles that of the order of the signs."""
    u, s, _ = svd(along - along.mean(axis=0), full_matrices=False)
    u, signs, swaps = u[:, s > 1e-9 * np.linalg.norm(along)], Symmetric(), Exchangeable()
    flat = "" if u.size else "The model has no inputs along which the spread could change."
    nothing = "" if tau is None else "Regression quantiles assume nothing about it."
    balance = "Do positive and negative residuals balance, in number and size?"
    spread = "Are residuals equally large over the range of the inputs?"
    order = _Test("no order", "Are residuals of neighbouring rows uncorrelated?", _order, swaps)
    if tau is not None:
        question = "Are the signs of the residuals of neighbouring rows uncorrelated?"
        order = order._replace(question=question, statistic=_order_of_signs(tau))
    return [
        _Test("symmetry", balance, _balance, signs, nothing),
        _Test("equal spread", spread, _spread(u), swaps, nothing or flat),
        order,
    ]


def _share(part: Array, r: Array) -> Array:
    """Return a part of the sum of squares as a share of it."""
    whole = np.square(r).sum(axis=-1)
    return np.asarray(part / np.where(whole > 0, whole, 1.0))


def _balance(r: Array) -> Array:
    """Return Σ sign(r_j) r_j² / Σ r_j², between -1 and 1."""
    return _share((np.sign(r) * np.square(r)).sum(axis=-1), r)


def _order(r: Array) -> Array:
    """Return the autocorrelation at lag one, in the order of the rows."""
    return _share((r[..., 1:] * r[..., :-1]).sum(axis=-1), r)


def _order_of_signs(tau: float) -> Statistic:
    """Return the same of signs whose mean is zero: at the estimate the share below is tau."""
    return lambda r: _order(np.where(r < 0, tau - 1, tau))


def _spread(columns: Array) -> Statistic:
    """Return the share of the variance of ``|r|`` that orthonormal columns explain."""

    def share(r: Array) -> Array:
        size = np.abs(r) - np.abs(r).mean(axis=-1, keepdims=True)
        return _share(np.square(size @ columns).sum(axis=-1), size)

    return share


@dataclass(frozen=True, eq=False)
class _Bench:
    """Residuals under test and how they are transformed."""

    noise: Noise
    seed: int
    fit: _Fit | None
    r: Array
    fitted: Array

    @property
    def along(self) -> Array:
        return self.fitted[:, None] if self.fit is None else self.fit.along

    def run(self, test: _Test) -> Indication:
        """Return the indication of one test."""
        found = Indication(test.name, test.question, nan, nan, False, unavailable=test.unavailable)
        if test.unavailable:
            return found
        value = float(test.statistic(self.r))
        noise, assumed = self._transformations(test, value)
        found = replace(found, statistic=value, assumed=assumed, under=noise.assumption)
        if self.fit is None or not noise.orthogonal:
            measured = LABEL_FALSE_ALARMS[test.name] if noise.labels else None
            return replace(found, pvalue=self._refitted(test, value, noise), false_alarms=measured)
        n, rank = self.fit.basis.shape
        if n < _rows_needed(rank):
            few = f"{rank} features need {_rows_needed(rank)} rows, and there are {n}."
            return replace(found, statistic=nan, unavailable=few)
        measured = None if self.fit.exact else KERNEL_FALSE_ALARMS[test.name]
        p = self._in_pairs(self.fit, test, noise)
        return replace(found, pvalue=p, exact=self.fit.exact, false_alarms=measured)

    def _transformations(self, test: _Test, value: float) -> tuple[Noise, bool]:
        """Return those that the test uses, and whether the region assumes them."""
        if isinstance(self.noise, (SymmetricExchangeable, Spherical)):
            return test.reference, True  # a part of their transformations, and more powerful
        moved = self._moved(self.noise, 20, np.random.default_rng(self.seed))
        # The noise class assumes nothing about a statistic that its transformations never change.
        assumed = bool((np.abs(test.statistic(moved) - value) > 1e-9).any())
        return (self.noise if assumed else test.reference), assumed

    def _moved(self, noise: Noise, size: int, rng: np.random.Generator) -> Array:
        """Return fresh transformations of the residuals, (size, n)."""
        return np.asarray(noise.apply(noise.draw(len(self.r), size, rng), self.r, self.fitted))

    def _refitted(self, test: _Test, value: float, noise: Noise) -> float:
        """Return an approximate p-value: outputs are transformed, and fitted in the same way."""
        rng, below, above = np.random.default_rng([self.seed, RANDOMISATIONS]), 1, 1
        for some in slices(RANDOMISATIONS, max(1, _BATCH // len(self.r))):
            moved = self._moved(noise, some.stop - some.start, rng)
            if self.fit is not None:
                moved = self.fit.residuals(self.fitted + moved)
            others = test.statistic(moved)
            below += int((others <= value + 1e-9).sum())
            above += int((others >= value - 1e-9).sum())
        return min(1.0, 2 * min(below, above) / (RANDOMISATIONS + 1))

    def _in_pairs(self, fit: _Fit, test: _Test, noise: Noise) -> float:
        """Return the p-value of the tournament."""
        (n, k), lost = fit.basis.shape, 0
        size = max(_FEWEST, min(RANDOMISATIONS, int(_WORK / (2 * n * (k + 2) ** 2))))
        rng = np.random.default_rng([self.seed, RANDOMISATIONS])
        for some in slices(size, max(1, _BATCH // (n * (k + 2)))):
            drawn = noise.draw(n, some.stop - some.start, rng)
            *players, lag = _without_fit(fit.basis, self.r, noise, drawn)
            centre = lag if test.name == "no order" else 0.0
            mine, other = (np.abs(test.statistic(one) - centre) for one in players)
            lost += int((other >= mine - 1e-9 * np.maximum(1.0, mine)).sum())
        return min(1.0, ((1 + fit.exact) * lost + 1) / (size + 1))


def _without_fit(Q: Array, r: Array, noise: Noise, drawn: Any) -> tuple[Array, Array, Array]:
    """Return M r and M G r (N, n), and the lag-one autocorrelation of M e for white noise (N,)."""
    n, k = Q.shape
    both = np.asarray(noise.apply(drawn, np.vstack([Q.T, r]), None))  # (k + 1, N, n)
    B, Gr = np.swapaxes(both[:-1], 0, 1), both[-1]  # B holds the columns of GQ
    C = B @ Q
    values, V = np.linalg.eigh(np.eye(k) - C @ np.swapaxes(C, 1, 2))
    new = values > 64 * n * EPS  # a column of GQ in the span of Q, such as an intercept, adds none
    scale = np.where(new, 1 / np.sqrt(np.where(new, values, 1.0)), 0.0)
    W = (scale[:, :, None] * np.swapaxes(V, 1, 2)) @ (B - C @ Q.T)  # [Q, Wᵀ] spans Q and GQ

    def free(v: Array) -> Array:
        v = v - (v @ Q) @ Q.T
        v = v - ((W @ v[:, :, None]) * W).sum(axis=1)
        return np.where(np.abs(v).max(axis=1, keepdims=True) > 1e-11 * np.abs(r).max(), v, 0.0)

    removed = (Q[1:] * Q[:-1]).sum() + (W[:, :, 1:] * W[:, :, :-1]).sum(axis=(1, 2))
    degrees = np.maximum(n - k - new.sum(axis=1), 1)
    return free(np.broadcast_to(r, Gr.shape)), free(Gr), -removed / degrees
