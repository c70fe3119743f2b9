"""The sets E_i of a quadratic objective: what they contain, and how far they reach (theory 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast, final

import numpy as np

from unassuming._batches import slices
from unassuming._errors import NotAvailable
from unassuming._numerics import CUT, SEEN
from unassuming._typing import Array, BoolArray
from unassuming.geometry.quadratic.forms import Form, Forms
from unassuming.membership import Engine, QuadraticTable
from unassuming.objectives import DesignedObjective
from unassuming.objectives.base import named
from unassuming.objectives.whitening import Coordinates

OUTWARD = 1e-9
"""Outer bounds are moved outward by this share of their width."""

_TABLED = 60
"""Coordinates beyond which monomials are too many for a table."""

_KEPT = 2**25
"""Numbers of eigenvectors that are kept; others are computed again."""


@final
@dataclass(frozen=True, eq=False)
class Spectra:
    """E_i = {Σ w (y - centre)² <= radius} in the coordinates y = Yᵀx, over the w that count.

    ``free`` are the coordinates that E_i does not bound.
    """

    w: Array
    Y: Array
    free: BoolArray
    centre: Array
    radius: Array
    still: BoolArray

    @classmethod
    def of(cls, forms: Forms) -> Spectra:
        """Diagonalise A_i."""
        w, Y = np.linalg.eigh(forms.A)
        free = w <= CUT
        b = np.einsum("skl,sk->sl", Y, forms.b)
        inverse = np.where(free, 0.0, 1 / np.where(free, 1.0, w))
        radius = forms.c + (b * b * inverse).sum(axis=1)
        return cls(w, Y, free, -b * inverse, radius, forms.still)

    def supports(self, t: Array) -> tuple[Array, Array]:
        """Return the largest tᵀx and -tᵀx over each set, (N, S) each, for t (N, p)."""
        inverse = np.where(self.free, 0.0, 1 / np.where(self.free, 1.0, self.w))
        h = np.matmul(t, self.Y * np.sqrt(inverse)[:, None])  # (S, N, p)
        reach = np.sqrt(self.radius[:, None] * np.einsum("snp,snp->sn", h, h)).T
        middle = t @ np.einsum("skl,sl->sk", self.Y, self.centre).T
        up, down = middle + reach, reach - middle
        size = SEEN * np.linalg.norm(t, axis=1)
        for i in np.flatnonzero(self.free.any(axis=1)):
            endless = np.linalg.norm(t @ self.Y[i][:, self.free[i]], axis=1) > size
            up[endless, i] = down[endless, i] = np.inf
        return up, down


@final
@dataclass(frozen=True, eq=False)
class QuadraticSets:
    """All sets E_i, in coordinates x of a - â."""

    engine: Engine
    coordinates: Coordinates
    form: Form

    @staticmethod
    def exist(engine: Engine) -> bool:
        """Whether the sets are ellipsoids or cylinders about the estimate."""
        if not _closed_form(engine):
            return False
        w = cast(DesignedObjective, engine.objective).w
        return engine.noise.rowwise or not np.ptp(w) > 0

    @classmethod
    def of(cls, engine: Engine, *, whitened: bool = False) -> QuadraticSets:
        """Return the sets of an engine; ``whitened``: in coordinates with H = I."""
        o, noise = engine.objective, engine.noise
        if not _closed_form(engine):
            raise NotAvailable(
                "bounds in closed form need squares, a quadratic penalty, weighting='hessian' and "
                f"transformations that are orthogonal maps, given {o} with {noise!r}. Ranks, tests "
                "and membership are available."
            )
        o = cast(DesignedObjective, o)  # others are not quadratic
        if not cls.exist(engine):
            raise NotAvailable(
                "weights that differ from row to row do not commute with transformations that "
                f"move rows, so that the sets need not be bounded: given {noise!r}. Use symmetric "
                "noise, or equal weights. Ranks, tests and membership are available."
            )
        at, root = o.state(o.estimate()[None]), np.sqrt(o.w)
        coordinates = o.whitened if whitened else o.coordinates
        Q = o.factor.Q
        columns = Q if coordinates is o.whitened else coordinates.columns
        form = Form(columns, Q, root * at.r[0], root, noise, engine.drawn, engine.m - 1)
        return cls(engine, coordinates, form)

    @cached_property
    def still(self) -> BoolArray:
        """The sets with Z_i = Z_0 for every candidate, (S,)."""
        return np.concatenate([forms.still for _, forms in self.forms()])

    def forms(self) -> Iterator[tuple[slice, Forms]]:
        """Return the forms in batches."""
        if self._known is not None:
            yield slice(0, self.form.count), self._known
            return
        for which in slices(self.form.count, self.form.step):
            yield which, self.form.at(which)

    @cached_property
    def _known(self) -> Forms | None:
        """All forms, if there is room for them."""
        p = self.form.C.shape[1]
        if self.form.count * p * p > _KEPT:
            return None
        parts = [self.form.at(which) for which in slices(self.form.count, self.form.step)]
        names = ("A", "b", "c", "still")
        return Forms(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def spectra(self) -> Iterator[tuple[slice, Spectra]]:
        """Return eigenvectors in batches."""
        if self._known is not None:
            yield slice(0, self.form.count), self._spectra
            return
        for which, forms in self.forms():
            yield which, Spectra.of(forms)

    @cached_property
    def _spectra(self) -> Spectra:
        assert self._known is not None
        return Spectra.of(self._known)

    def table(self) -> QuadraticTable | None:
        """Return the table of many candidates, if the forms are small."""
        o, forms = self.objective, self._known
        if forms is None or forms.A.shape[1] > _TABLED:
            return None
        tied = np.where(self.engine.order.first, -1.0, 1.0)  # the sign of Z_i - Z_0 that settles it
        A = np.where(forms.still[:, None, None], 0.0, forms.A)
        b = np.where(forms.still[:, None], 0.0, forms.b)
        c = np.where(forms.still, tied, forms.c)
        forward = self.coordinates.forward(np.eye(o.d)).T
        return QuadraticTable(self.engine, A, b, c, forward, o.estimate())

    @property
    def objective(self) -> DesignedObjective:
        """The objective, which is quadratic."""
        return cast(DesignedObjective, self.engine.objective)

    @property
    def simple(self) -> Array:
        """Directions x (N, p) that are often free: of one coefficient, value or basis vector."""
        rotated, C, Q = self.engine.noise.rotated(), self.form.C, self.form.Q
        if C is Q:
            return self.coordinates.forward(np.eye(self.objective.d))
        one = self.form.root @ C
        turned = [] if rotated is None else [rotated[0].T @ C]
        return np.concatenate([one[None], np.eye(C.shape[1]), *turned])

    def coefficients(self, x: Array) -> Array:
        """Return coefficients (d,) whose fitted values change by those of x (p,)."""
        change = self.form.C @ x / self.form.root
        return np.asarray(self.objective.coefficients(change[None])[0])

    def settled(self, values: Array, still: BoolArray, empty: float) -> Array:
        """Return values (..., S) with those of tied sets: infinite for the whole space.

        A set that ties with Z_0 everywhere is the whole space if Z_0 precedes it, else empty; so is
        one that only contains the estimate, where all residuals are zero.
        """
        first = self.engine.order.first
        if not self.form.r.any():
            values = np.where(first, empty, values)
        values = np.where(still & ~first, np.inf, values)
        return np.where(still & first, empty, values)

    def supports(self, g: Array) -> tuple[Array, Array]:
        """Return the largest gᵀ(a - â) and -gᵀ(a - â) over each set, (N, S) each, g (N, d)."""
        t, unknown = self.coordinates.functionals(g)
        found = np.empty((2, len(g), self.form.count))
        if self._of_rows:
            found[:] = self.form.supports(t)
        else:
            for which, spectra in self.spectra():
                found[:, :, which] = spectra.supports(t)
        found[:, unknown] = np.inf
        up, down = self.settled(found, self.still, -np.inf)
        return up, down

    @property
    def _of_rows(self) -> bool:
        """Whether D is positive definite, and the rows that change sign alone have bounds."""
        o = self.objective
        return self.form.single and not (o.design.intercept or o.penalty.none)

    def outer(self, g: Array, q: int) -> tuple[Array, Array]:
        """Return lower and upper bounds of gᵀ(a - â) over the region of level 1 - q/m, (N,)."""
        up, down = self.supports(g)
        return outward(-qth_largest(down, q), qth_largest(up, q))


def _closed_form(engine: Engine) -> bool:
    """Whether the objective, its weighting and the transformations allow closed forms."""
    hessian = engine.weighting is None or named(engine.weighting) == "hessian"
    return engine.objective.quadratic and engine.noise.orthogonal and hessian


def qth_largest(values: Array, q: int) -> Array:
    """Return the q-th largest of the last axis."""
    return np.asarray(np.partition(values, -q, axis=-1)[..., -q])


def outward(lower: Array, upper: Array) -> tuple[Array, Array]:
    """Widen bounds by 1e-9 of their width: once, for all rounding."""
    with np.errstate(invalid="ignore"):
        pad = OUTWARD * (upper - lower)
    pad = np.where(np.isfinite(pad), pad, 0.0)
    return lower - pad, upper + pad
