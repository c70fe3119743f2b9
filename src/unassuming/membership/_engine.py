"""Statistics and ranks of any number of candidates, in batches of bounded memory.

The careful comparison works from residuals and allows for all rounding errors. The fast path gives
the same ranks: it decides only comparisons that rounding cannot affect. What double precision does
not decide is decided without rounding, where that is available.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._threads import in_threads
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.membership._candidates import Candidates
from unassuming.membership._comparison import Comparison
from unassuming.membership._doubt import Doubt, columns_in_doubt, undecided_columns
from unassuming.membership._exact import ExactGaps
from unassuming.membership._kernel_gaps import KernelGaps
from unassuming.membership._label_gaps import LabelGaps
from unassuming.membership._limits import (
    blurred,
    carried,
    representable,
    too_large,
    undecided,
)
from unassuming.membership._lines import LineGaps
from unassuming.membership._refined import refined_order, require_settled
from unassuming.membership.screens import LiftedGaps, Screen, screen_of
from unassuming.noise import Labels, Perturbations
from unassuming.objectives import (
    FreshSigns,
    Images,
    LeastNormScore,
    Moves,
    Objective,
    Quadratic,
    Score,
    SignScore,
)
from unassuming.ranking import Contrast, precedes, rank

BATCH_BYTES = 2**24
"""The working memory of one batch: near the size of a cache, whatever the number of candidates."""

_QUICK = 4  # near-ties of the quick comparison, in its own tolerances
_FEW = 32  # for so few candidates a table of the fast path is not worth building


@final
@dataclass(eq=False)
class RankEngine:
    """Ranks of candidates: the careful comparison, and a fast path that defers to it.

    The fast path (docs/theory.md 4.6) serves coefficient vectors under orthogonal transformations.
    """

    objective: Objective
    given_score: Score | Callable[[], Score]  # a function computes it on first use
    perturbations: Perturbations
    tie_order: IntArray
    whitened: bool = field(kw_only=True)

    @cached_property
    def score(self) -> Score:
        """The weighted gradient Ψ ḡ."""
        given = self.given_score
        return given() if callable(given) else given

    def compare(self, candidates: Candidates) -> Comparison:
        """Compare every candidate with care, from one computation of its residuals."""
        N, m = len(candidates), self.perturbations.m
        found = Comparison(
            np.empty((N, self.objective.n)),
            np.empty((N, m)),
            np.empty(N, dtype=np.intp),
            np.empty(N, dtype=np.bool_),
        )
        for batch in _batches(self, N):
            r = candidates.residuals(self.objective, batch)
            images = self._images(candidates, batch, r)
            contrast = self._contrast(candidates.coefficients[batch], images)
            found.residuals[batch], found.statistics[batch] = r, contrast.statistics()
            found.admitted[batch] = admitted = self._admitted(r)
            position = rank(self._before(candidates, batch, images, contrast))
            found.ranks[batch] = np.where(admitted, position, m)
        return found

    def statistics(self, candidates: Candidates) -> Array:
        """Return Z_0, ..., Z_{m-1} for each candidate, shape (N, m)."""
        out = np.empty((len(candidates), self.perturbations.m))
        for batch in _batches(self, len(candidates)):
            r = candidates.residuals(self.objective, batch)
            images = self._images(candidates, batch, r)
            out[batch] = self._contrast(candidates.coefficients[batch], images).statistics()
        return out

    def ranks(self, candidates: Candidates, *, certain: bool = True) -> IntArray:
        """Return the rank of each candidate, shape (N,): m if it cannot have produced the data.

        With ``certain`` ranks that errors of computed kernel values may change are refused.
        """
        ranks = np.empty(len(candidates), dtype=np.intp)
        careful = self._fast(candidates, ranks)
        for batch in _batches(self, len(careful)):
            rows = careful[batch]
            r = candidates.residuals(self.objective, rows)
            admitted = self._admitted(r)
            ranks[rows[~admitted]] = self.perturbations.m
            rows, r = rows[admitted], r[admitted]
            if len(rows):
                a, images = candidates.coefficients[rows], self._images(candidates, rows, r)
                contrast = self._contrast(a, images)
                before = self._before(candidates, rows, images, contrast, certain=certain)
                ranks[rows] = rank(before)
        return ranks

    def ranks_of(self, a: Array) -> IntArray:
        """Return the ranks of coefficient vectors for a search, (N, d) -> (N,)."""
        return self.ranks(Candidates(a, None, single=False), certain=False)

    def before(self, a: Array) -> BoolArray:
        """Return whether Z_i comes before Z_0, with care, (N, d) -> (N, m - 1)."""
        candidates = Candidates(a, None, single=False)
        found = np.empty((len(a), self.perturbations.m - 1), dtype=np.bool_)
        for batch in _batches(self, len(a)):
            images = self._images(candidates, batch, candidates.residuals(self.objective, batch))
            contrast = self._contrast(a[batch], images)
            found[batch] = self._before(candidates, batch, images, contrast, certain=False)
        return found

    def ends(
        self, a: Array, u: Array, low: Array, high: Array, quick: LineGaps | None = None
    ) -> tuple[Array, Array]:
        """Confirm or correct where lines a + t u (N, d) lie in the sets {Z_0 <= Z_i}, (N, m - 1).

        Gaps with ``quick`` bounds of their errors confirm most of them. Without exact numbers the
        intervals remain as they are.
        """
        if self.doubt is None:
            return low, high
        low, high = low.copy(), high.copy()
        wins = self.tie_order[1:] > self.tie_order[0]
        left = np.arange(len(a))
        if quick is not None:
            left = np.flatnonzero(~quick.confirmed(low, high).all(axis=-1))
        for batch in _batches(self, len(left)):
            lines = left[batch]
            gaps = LineGaps.of(self.doubt, self.score, self._moves, a[lines], u[lines])
            sure = gaps.confirmed(low[lines], high[lines])
            for row in np.flatnonzero(~sure.all(axis=-1)):
                if self._exact is None:
                    break
                which, line = np.flatnonzero(~sure[row]), lines[row]
                ends = self._exact.ends(a[line], u[line], which, wins[which])
                low[line, which], high[line, which] = ends
        return low, high

    def _admitted(self, r: Array) -> BoolArray:
        """Which candidates with these residuals could have produced the data, or may have."""
        possible = self.perturbations.noise.admits(r, self.objective.y - r)
        return np.asarray(possible | ~np.isfinite(r).all(axis=-1))

    def _before(
        self,
        candidates: Candidates,
        which: slice | IntArray,
        images: Images,
        contrast: Contrast,
        *,
        certain: bool = True,
    ) -> BoolArray:
        """Decide by the quick comparison, which leaves near-ties to the refined one.

        The quick bounds are wider than the refined ones, so both give the same ranks.
        """
        a, doubt = candidates.coefficients[which], self._doubt_about(candidates)
        if doubt is not None:
            contrast = contrast.widened(doubt.gaps(a, images))
        elif (known := self._label_gaps or self._kernel_gaps) is not None:
            contrast = contrast.widened(known.errors(a, images))
        gaps, tolerance = contrast.normalised().gaps()
        before = precedes(gaps, tolerance, self.tie_order)
        sure = np.abs(gaps) > _QUICK * tolerance
        if doubt is not None:
            sure |= self._moves.always_tied(sign_blind=self.objective.sign_blind)
        near = np.asarray(~sure.all(axis=-1)) | images.literal
        if near.any():
            some = images.take(near)
            decided = None if doubt is None else self._exactly(doubt, a[near], some, certain)
            if decided is None:
                functions = candidates.values is not None
                decided = self._precedes(a[near], some, ~sure[near], certain, functions)
            before[near] = decided
        return before

    def _exactly(self, doubt: Doubt, a: Array, images: Images, certain: bool) -> BoolArray | None:
        """Decide by the refined comparison, and without rounding where that leaves a doubt."""
        with np.errstate(over="ignore", invalid="ignore"):
            refined = representable(self.score.refined(a, images), a)
            gaps, tolerance = refined.widened(doubt.gaps(a, images)).normalised().gaps()
        ties = self.tie_order[1:] < self.tie_order[0]
        tied = self._moves.always_tied(sign_blind=self.objective.sign_blind)
        open_ = ~(np.abs(gaps) > tolerance) & ~tied
        before = np.where(tied, ties, gaps < 0)
        if not self._affordable:
            if (open_ & (tolerance > 0)).any():
                raise undecided_columns(doubt.objective)
            return np.asarray(np.where(open_, ties, before))
        for row in np.flatnonzero(open_.any(axis=-1)):
            if self._exact is None:
                return None
            which = np.flatnonzero(open_[row])
            signs = self._exact.signs(a[row], which, certain=certain)
            before[row, which] = np.where(signs == 0, ties[which], signs < 0)
        return before

    def _precedes(
        self, a: Array, images: Images, open_: BoolArray, certain: bool, functions: bool
    ) -> BoolArray:
        """Whether Z_i comes before Z_0, from the bounds of every entry, shape (N, m - 1).

        Equations that are solved with twice the digits decide what is ``open_``, if there are any.
        """
        order = refined_order(self.objective, self.score, self.tie_order, a, images)
        if certain and images.literal.any():
            require_settled(self.objective, self.score, a, images, order.tied)
        ties, before = self.tie_order[1:] < self.tie_order[0], order.before
        if (known := self._label_gaps) is not None:
            open_ = open_ | order.tied
            before, open_ = known.decided(before, open_, a, images, ties, functions=functions)
        if self._kernel_gaps is None or not open_.any():
            return before
        signs, unknown = self._kernel_gaps.signs(a, images, open_, functions=functions)
        if certain and unknown.any():
            raise self._kernel_gaps.refusal()
        decided = np.where(signs == 0, np.broadcast_to(ties, open_.shape)[open_], signs < 0)
        before[open_] = np.where(unknown, before[open_], decided)
        return before

    def _fast(self, candidates: Candidates, ranks: IntArray) -> IntArray:
        """Fill in the ranks that the fast path decides; return the candidates left over."""
        left = np.arange(len(candidates))
        few = len(candidates) <= (0 if self.score.slow else _FEW)
        if candidates.values is not None or few:
            return left
        if self._screen is not None:
            left = self._screened(self._screen, candidates, ranks)
        lifted = self._lifted
        if lifted is None:
            return left
        left_over, step = [left[:0]], rows_that_fit(BATCH_BYTES, sum(lifted.table.shape))
        for batch in slices(len(left), step):
            rows = left[batch]
            a, r = candidates.coefficients[rows], candidates.residuals(self.objective, rows)
            with np.errstate(over="ignore", invalid="ignore"):  # overflow leaves a doubt
                gaps, doubt = lifted.gaps(a, r)
            position = rank(precedes(gaps, 0.0, self.tie_order))
            ranks[rows] = np.where(self._admitted(r), position, self.perturbations.m)
            left_over.append(rows[doubt])
        return np.concatenate(left_over)

    def _screened(self, screen: Screen, candidates: Candidates, ranks: IntArray) -> IntArray:
        """Fill in the ranks that the screen decides; return the candidates left over."""

        def one(batch: slice) -> IntArray:
            with np.errstate(all="ignore"):
                below, doubt = screen.before(candidates.coefficients[batch])
            ranks[batch] = 1 + below
            return np.asarray(batch.start + np.flatnonzero(doubt))

        return np.concatenate(in_threads(one, list(slices(len(candidates), screen.batch))))

    def _contrast(self, a: Array, images: Images) -> Contrast:
        """Compare candidates with their perturbations, with quick bounds of rounding errors."""
        r, perturbed = images.residuals, images.perturbed
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is reported as one sentence
            contrast = self.score.contrast(a, r, perturbed, exact=images.exact, error=images.error)
        return representable(contrast, a)

    def _images(self, candidates: Candidates, which: slice | IntArray, r: Array) -> Images:
        """Return residuals and perturbed residuals, equal where they may differ by rounding alone.

        Noise with equal terms (discrete, or zero) ties, but the rounding of y - f(x) hides that.
        A fresh label that equals the observed one has the same residual, to the last bit.
        """
        error = candidates.residual_error(self.objective, which, r)
        if not (np.isfinite(r).all() and np.isfinite(error).all()):
            raise too_large(candidates.coefficients[which])
        doubt = self._doubt_about(candidates)
        if doubt is not None:
            error = error + doubt.residuals(candidates.coefficients[which])
        literal = blurred(self.objective.y, r, error) & (doubt is None or not self._affordable)
        if literal.any():
            every = np.arange(len(candidates))[which]
            better = candidates.accurate_residuals(self.objective, every[literal])
            if better is None:
                literal[:] = False
            else:
                r, error = r.copy(), error.copy()
                r[literal], error[literal] = better
                if not np.isfinite(r).all() or blurred(self.objective.y, *better).any():
                    raise undecided(candidates.coefficients[every[literal]])
        fitted, exact = self.objective.y - r, self.perturbations.noise.exact_arithmetic
        if not isinstance(self.perturbations.noise, Labels):
            r = np.where(np.abs(r) <= error, 0.0, r)
        perturbed = self.perturbations.apply(r, fitted)
        if exact:
            slack = carried(self.perturbations, error) + error[:, None, :]
            near = np.abs(perturbed - r[:, None, :]) <= slack
            perturbed = np.where(near, r[:, None, :], perturbed)
        return Images(
            residuals=r,
            error=error,
            perturbed=perturbed,
            literal=literal,
            exact=exact,
            carry=partial(carried, self.perturbations),
            moves=self._moves if exact else None,
        )

    def _doubt_about(self, candidates: Candidates) -> Doubt | None:
        """Return the errors that leave candidates to exact numbers; None if these do not help."""
        return self.doubt if candidates.values is None else None

    @cached_property
    def _kernel_gaps(self) -> KernelGaps | None:
        """What decides ranks of kernel models with a small penalty, where exact numbers do not."""
        o, orthogonal = _projecting(self), self.perturbations.noise.orthogonal
        return None if o is None else KernelGaps.of(o, orthogonal=orthogonal)

    @cached_property
    def _label_gaps(self) -> LabelGaps | None:
        """What decides ranks of labels where the terms of the penalty are large."""
        o, of_labels = _projecting(self), isinstance(self.perturbations.noise, Labels)
        return LabelGaps.of(o, self.score) if o is not None and of_labels else None

    @cached_property
    def doubt(self) -> Doubt | None:
        """The errors that leave candidates to exact numbers; None if these are not available."""
        o = _projecting(self)
        if o is None or not self.perturbations.noise.exact_arithmetic:
            return None
        # Without exact numbers only columns that nearly depend on each other matter.
        return Doubt.of(o) if self._affordable or columns_in_doubt(o) else None

    @cached_property
    def _affordable(self) -> bool:
        """Whether exact numbers decide what double precision does not."""
        return isinstance(self.objective, Quadratic) and ExactGaps.affordable(self.objective)

    @cached_property
    def _exact(self) -> ExactGaps | None:
        assert isinstance(self.objective, Quadratic)
        return ExactGaps.build(self.objective, self._moves) if self._affordable else None

    @cached_property
    def _moves(self) -> Moves:
        return Moves.of(self.perturbations.apply(np.arange(1.0, self.perturbations.n + 1)))

    @cached_property
    def fresh_signs(self) -> FreshSigns | None:
        """The statistics of fresh signs; None if the score depends on more than signs."""
        if not isinstance(self.score, SignScore):
            return None
        below = self.perturbations.apply(np.ones(self.perturbations.n)) < 0
        return FreshSigns(self.score, below, self.tie_order)

    @cached_property
    def _screen(self) -> Screen | None:
        parts = (self.objective, self.score, self.perturbations, self.tie_order)
        return screen_of(*parts, self.fresh_signs, self._lifted)

    @cached_property
    def _lifted(self) -> LiftedGaps | None:
        o, orthogonal = self.objective, self.perturbations.noise.orthogonal
        if not (self.whitened and orthogonal and isinstance(o, Quadratic)):
            return None
        doubt = self.doubt
        if doubt is None and self._kernel_gaps is not None:
            doubt = Doubt(o, self._kernel_gaps.share, None)
        return LiftedGaps.build(o, self.perturbations, doubt)


def _projecting(engine: RankEngine) -> Quadratic | None:
    """Return the objective, if statistics are lengths of projections of the rows."""
    o, score = engine.objective, engine.score
    plain = isinstance(score, LeastNormScore) and score.row_weights is not None
    return o if plain and isinstance(o, Quadratic) else None


def _batches(engine: RankEngine, count: int) -> Iterator[slice]:
    n, d, m = engine.perturbations.n, engine.objective.d, engine.perturbations.m
    return slices(count, rows_that_fit(BATCH_BYTES, m * 10 * (n + d)))
