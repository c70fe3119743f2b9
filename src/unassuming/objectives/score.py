"""THE comparison: Z_i - Z_0 of candidates, from (G_i - I) r alone (docs/theory.md 2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np
from scipy.optimize import lsq_linear

from unassuming._numerics import EPS, gaps, snapped
from unassuming._typing import Array, IntArray
from unassuming.objectives.losses import Loss
from unassuming.objectives.penalties import Penalty

_FEW = 8
"""Rows a group, from which sums over groups are worth while."""


@dataclass(frozen=True, eq=False)
class State:
    """N candidates: coefficients a (N, d), residuals r and values f (N, n), the rounding e (N,)."""

    a: Array
    r: Array
    f: Array
    e: Array

    def __len__(self) -> int:
        return len(self.a)

    @classmethod
    def join(cls, parts: Sequence[State]) -> State:
        """Return the candidates of several states as one."""
        rows = ([getattr(part, name) for part in parts] for name in ("a", "r", "f", "e"))
        return cls(*map(np.concatenate, rows))

    def __getitem__(self, which: slice) -> State:
        return replace(self, a=self.a[which], r=self.r[which], f=self.f[which], e=self.e[which])


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows whose signs are the same in all sets: ``of_row`` (n,), and which change, (S, G)."""

    of_row: IntArray
    minus: Array

    @classmethod
    def of(cls, signs: Array) -> Groups | None:
        """Return the groups of signs (S, n), if there are few beside the rows."""
        packed = np.ascontiguousarray(np.packbits(signs < 0, axis=0).T)
        keys = packed.view(f"V{packed.shape[1]}")[:, 0]
        _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
        if _FEW * len(first) > len(keys):
            return None
        return cls(of_row.reshape(-1), np.asarray(signs[:, first] < 0, dtype=np.float64))

    def sums(self, x: Array) -> Array:
        """Return the sums (N, G) of x (N, n) over the rows of a group."""
        count = self.minus.shape[1]
        return np.stack([np.bincount(self.of_row, one, minlength=count) for one in x])


class Score(ABC):
    """Statistics Z = ‖z‖² of the weighted gradient z at residuals and at their transformations.

    For squares and Ψ = H^(-1/2) it is z_i = H^(-1/2)(ΦᵀW G_i r - Pa) (docs/theory.md 4).

    Examples
    --------
    >>> score = region.objective.score("hessian")
    >>> at = region.objective.state(region.estimate[None])
    >>> bool(score.statistics(at, -at.r[:, None])[0].max() < 1e-20)
    True
    """

    @property
    def along_lines(self) -> Gradient | None:
        """The score itself, if its parts are known."""
        return None

    def gaps_of_groups(self, at: State, groups: Groups) -> list[Array] | None:
        """Return `gaps` from sums over groups of rows (theory 17); None if that is not possible."""
        return None

    @abstractmethod
    def gaps(self, at: State, moved: Array) -> list[Array]:
        """Return Z_i - Z_0 and the tolerance within which they are equal, (N, S) each.

        ``moved`` (N, S, n) are the residuals G_i r.
        """

    @abstractmethod
    def statistics(self, at: State, moved: Array) -> Array:
        """Return Z_0, Z_1, ..., (N, S + 1)."""


@final
@dataclass(frozen=True, eq=False)
class Gradient(Score):
    """z = Ψ (L ρ(r) - P a - c), c the subgradient of the kinked penalty nearest to L ρ(r) - P a.

    With that choice, and with the shortest z_0 where residuals are at a jump of ρ, Z_0 vanishes at
    the minimum (docs/theory.md 6). ``A`` (k, n) is ΨL and ``push`` (k, d) is ΨP. Ψ and L themselves
    are read for kinked penalties only; there None is the identity. The statistics are reported
    times ``unit``. ``unseen`` (j, d) is the part of H^(-1/2)P that no row sees, which is the same
    in all statistics.
    """

    loss: Loss
    penalty: Penalty
    A: Array
    push: Array
    Psi: Array | None
    L: Array | None
    unit: float
    unseen: Array | None = None

    @property
    def along_lines(self) -> Gradient:
        """The score itself."""
        return self

    def gaps(self, at: State, moved: Array) -> list[Array]:
        """Form z_i - z_0 from the changes of ρ."""
        rho, z0, delta, p, pushed = self._parts(at, moved)
        e = self.loss.rounding(at.r, at.e)
        return gaps(rho, delta, p, 2 * z0[:, None] + p, pushed, e, self._norm)

    def fixed(self, moved: Array) -> Array | None:
        """Return the Z_i of fresh residuals (S, n) that no candidate changes; None if one does."""
        if self.penalty.none and self.loss.quantile is not None:
            return np.asarray(((self.loss.rho(moved) @ self.A.T) ** 2).sum(axis=-1))
        return None

    def gaps_of_groups(self, at: State, groups: Groups) -> list[Array] | None:
        """Sum ΨLρ(r) over the rows of a group: n d operations and not n m."""
        if self.penalty.kinked or len(self.loss.jumps) or not self.loss.odd:
            return None
        rho, e = self.loss.rho(at.r), self.loss.rounding(at.r, at.e)
        rho = np.where(np.abs(rho) <= e[:, None], 0.0, rho)
        sums = np.stack([groups.sums(rho * column) for column in self.A], axis=-1)  # (N, G, k)
        pushed = at.a @ self.push.T
        p, z0 = -2 * np.matmul(groups.minus, sums), sums.sum(axis=1) - pushed
        size = np.sqrt(groups.sums(rho * rho))  # a group is one row as far as lengths matter
        changes = -2 * size[:, None] * groups.minus
        e = e * np.sqrt(rho.shape[1] / size.shape[1])
        return gaps(size, changes, p, 2 * z0[:, None] + p, pushed, e, self._norm)

    def statistics(self, at: State, moved: Array) -> Array:
        """Return ‖z_i‖²."""
        _, z0, _, p, _ = self._parts(at, moved)
        z = np.concatenate([z0[:, None], z0[:, None] + p], axis=1)
        Z = np.einsum("nik,nik->ni", z, z)
        if self.unseen is not None:
            Z += ((at.a @ self.unseen.T) ** 2).sum(axis=1)[:, None]
        return np.asarray(self.unit * Z)

    def _parts(self, at: State, moved: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Return ρ, z_0, the changes of ρ and of z, and the part of the penalty in z_0."""
        rho = self.loss.rho(at.r)
        box = self.penalty.subgradients(at.a) if self.penalty.kinked else ()
        c = np.clip(self._unweighted(at, rho), *box) if box else np.zeros((len(rho), 0))
        pushed = at.a @ self.push.T
        if len(self.loss.jumps):
            moved = snapped(moved, at.e, self.loss.knots)
            rho, c = self._shortest(at, rho, c, *box)
        delta = np.subtract(self.loss.rho(moved), rho[:, None])  # zero where that is rounding
        delta *= np.abs(delta) > 2 * self.loss.rounding(at.r, at.e)[:, None, None]
        p = delta @ self.A.T
        if box:
            low, high = (side[:, None] for side in box)
            if (low < high).any():
                u = self._unweighted(at, rho)[:, None] + self._pull(delta)
                p = p - self._weigh(np.clip(u, low, high) - c[:, None])
            pushed = pushed + self._weigh(c)
        return rho, rho @ self.A.T - pushed, delta, p, pushed

    def _unweighted(self, at: State, rho: Array) -> Array:
        """Return Lρ - Pa."""
        return self._pull(rho) - self.penalty.smooth(at.a)

    def _pull(self, rho: Array) -> Array:
        return rho if self.L is None else rho @ self.L.T

    def _weigh(self, c: Array) -> Array:
        return c if self.Psi is None else c @ self.Psi.T

    @cached_property
    def _norm(self) -> float:
        """The norm of A, or a little more; one if its rows are those of an orthonormal Q."""
        return float(np.linalg.norm(self.A, 2 if self.A.size < 10**6 else None))

    def _shortest(self, at: State, rho: Array, c: Array, *box: Array) -> tuple[Array, Array]:
        """Where residuals are at a jump, return ρ between its sides, and c, that make Z_0 least."""
        rho, c, held = np.array(rho), np.array(c), np.isin(at.r, self.loss.knots)
        Psi = np.eye(c.shape[1]) if self.Psi is None else self.Psi
        least, most = box or (c, c)
        for j in np.flatnonzero(held.any(axis=-1)):
            rows, free, beside = held[j], least[j] < most[j], at.r[j, held[j]]
            low, high = (self.loss.rho(np.nextafter(beside, side)) for side in (-np.inf, np.inf))
            columns, bounds = self.A[:, rows], (low, high)
            rho[j, rows], c[j, free] = 0.0, 0.0
            z = self.A @ rho[j] - self.push @ at.a[j]
            if box:
                columns, z = np.hstack([columns, -Psi[:, free]]), z - self._weigh(c[j])
                bounds = np.append(low, least[j, free]), np.append(high, most[j, free])
            x = np.clip(lsq_linear(columns, -z, bounds, method="bvls", tol=1e-14).x, *bounds)
            rho[j, rows], c[j, free] = x[: len(beside)], x[len(beside) :]
        return rho, c


@final
@dataclass(frozen=True, eq=False)
class PublicGradient(Score):
    """The statistics of an objective of which only its gradient is known."""

    gradient: Callable[[Array, Array], Array]
    Psi: Array | None

    def gaps(self, at: State, moved: Array) -> list[Array]:
        """Subtract gradients; their rounding is relative to the longest."""
        z = self._weighted(at, moved)
        p, s = z[:, 1:] - z[:, :1], z[:, 1:] + z[:, :1]
        still = np.abs(moved - at.r[:, None]) <= 2 * at.e[:, None, None]
        p[still.all(axis=-1)] = 0.0
        size, both = np.linalg.norm(p, axis=-1), np.linalg.norm(s, axis=-1)
        unit = 16 * EPS * (moved.shape[-1] + z.shape[-1])
        longest = np.linalg.norm(z, axis=-1).max(axis=1, keepdims=True)
        return [np.einsum("nik,nik->ni", p, s), unit * longest * (size + both * (size > 0))]

    def statistics(self, at: State, moved: Array) -> Array:
        """Return the squared lengths of the weighted gradients."""
        return np.asarray((self._weighted(at, moved) ** 2).sum(axis=-1))

    def _weighted(self, at: State, moved: Array) -> Array:
        z = np.concatenate([self.gradient(at.a, at.r)[:, None], self.gradient(at.a, moved)], axis=1)
        return z if self.Psi is None else z @ self.Psi.T
