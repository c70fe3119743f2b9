"""Summaries of a model, tests of hypotheses and of the fit, and the report on all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from unassuming._errors import complaint
from unassuming.inputs import (
    as_functionals,
    as_hypothesis,
    check_assumption,
    check_simultaneous,
    require_nonzero,
)
from unassuming.ranking import RankTest
from unassuming.regions._functionals import Functionals
from unassuming.regions._views import View, make_view
from unassuming.regions.diagnosis import LackOfFit, columns_of, lack_of_fit
from unassuming.regions.single.at_once import balanced_cells, joint_answer
from unassuming.regions.single.functions import Assumption, function_options
from unassuming.regions.single.hypotheses import FTest, hypothesis_test
from unassuming.regions.single.numbers import Numbers
from unassuming.regions.single.options import check_at_once
from unassuming.regions.single.summary import Summary, check_level
from unassuming.regions.single.values import function_test


class Summaries(Functionals):
    """Summaries and tests of linear functionals of the coefficients."""

    def summary(
        self,
        level: float = 0.95,
        functionals: Any = None,
        *,
        simultaneous: bool = False,
        method: str = "auto",
        cells: Any = None,
        cell_weights: str = "design",
        cell_estimate: str = "mean",
    ) -> Summary:
        """Return estimate, interval and p-value of each coefficient, one at a time.

        The intervals are exact in finite samples under the assumption on the noise alone, and
        nearly as narrow as the usual asymptotic ones (docs/theory.md 11). Each has its level by
        itself. They do not depend on the penalty or the loss of the model: the target is the true
        coefficient, the one that reproduces the regression function at the inputs.

        Least squares in groups of rows (cells) estimates a number several times. The groups are a
        function of the inputs, the weights, the noise class and the level, never of y, and nothing
        is drawn. Among rows with equal inputs, such as those of one level of a factor, they also
        depend on the order of the rows: fix it before looking at y. With few rows the estimate of
        each half of the rows, for many halves, gives an interval with at least its level.

        Parameters
        ----------
        level : float, default 0.95
            The attained levels are at least this. Groups are chosen for it, and so intervals of
            different levels need not be nested.
        functionals : array of shape (d,) or (N, d), name or list of names, optional
            Other linear functionals of the coefficients; None: every coefficient. (For
            `InstrumentalRegression` only the endogenous column, unless ``simultaneous``.)
        simultaneous : bool, default False
            Whether all intervals hold at once; p-values are then adjusted for that.
        method : str, default "auto"
            ``"cells"`` (signs may change), ``"pairs"`` (rows may be swapped), ``"halves"`` and
            ``"palmrt"`` (at least the level, for few rows) or ``"t"`` (spherical noise).
            ``"auto"`` chooses for each coefficient, before y is seen. With ``simultaneous``: as for
            `interval`.
        cells : int or array of shape (n,), optional
            The number of cells, from 2 to 16 or 32, or one label for each row; to be chosen before
            looking at y. For a stream, a number of at most the cells that it has collected.
        cell_weights : {"design", "residuals"}, default "design"
            How the cells are weighted: by the inputs, or also by the size of the residuals of each
            cell, which pays if the noise is much larger in some cells than in others.
        cell_estimate : {"mean", "median"}, default "mean"
            How the cells are fitted: by least squares, or by least absolute deviations, which
            resist heavy tails.

        Returns
        -------
        Summary

        Examples
        --------
        >>> print(region.summary(level=0.9))
                      estimate      lower       upper    pvalue
          intercept   0.462879   0.242567     0.67871    0.0031
          x0           1.10676    0.87871     1.29669  <= 0.002
          x1         -0.237014  -0.405367  -0.0795091     0.025
        90 % intervals, one at a time. Assumes independent errors, symmetric about zero.
        >>> region.summary(functionals=["x0", "x1"]).to_frame().shape
        (2, 7)
        """
        at_once = check_simultaneous(simultaneous)
        g, names = as_functionals(functionals if at_once else self._single(functionals), self.names)
        require_nonzero(g)
        level = check_level(level)
        if at_once:
            if not self.objective.endogenous:
                _ = self._numbers  # refuses labels and kernels
            chosen = check_at_once(method, cells, cell_weights, cell_estimate)
            made = balanced_cells(self.problem, g, level, chosen, cells)
            if made is None:
                found = joint_answer(self.shape, g, self.level(level))
            else:
                found = made.answer(level)
            return found.summary(self.problem, g, names, level)
        numbers, jointly = self._numbers, self._bounded_jointly
        options = numbers.options(cells, method, cell_weights, cell_estimate)
        found = numbers.answer(g, names, level, options, level, jointly)
        if functionals is None:
            why = replace(found.why, facts=(*found.why.facts, *numbers.left_out))
            found = replace(found, why=why)
        return found.summary(self.problem, g, names, level)

    def hypothesis(
        self,
        functional: Any,
        value: Any = 0.0,
        *,
        level: float = 0.95,
        method: str = "auto",
        cells: Any = None,
        cell_weights: str = "design",
        cell_estimate: str = "mean",
        norm_bound: float | None = None,
        model_error: float | None = None,
        noise_scale: float | None = None,
    ) -> RankTest | FTest:
        """Test a hypothesis about one coefficient or functional, whatever the others are.

        Several functionals are tested at once: their hypothetical values make a nested model. The
        p-value of one functional is dual to its interval of `summary` at the same level: the value
        lies outside if and only if the p-value is at most one minus the attained level.

        Parameters
        ----------
        functional : name, list of names, array of shape (d,) or (k, d), or Functional
            What is tested.
        value : float or sequence of k floats, default 0
            The hypothetical value of each functional.
        level : float, default 0.95
            It chooses the groups of rows, as for `summary`; the p-value is valid at every level.
        cells : int or array of shape (n,), optional
            As for `summary`.
        method : str, default "auto"
            As for `summary`.
        cell_weights : {"design", "residuals"}, default "design"
            As for `summary`.
        cell_estimate : {"mean", "median"}, default "mean"
            As for `summary`.
        norm_bound : float, optional
            As for `interval`. The p-value is then an upper bound, and one functional is tested.
        model_error : float, optional
            As for `interval`, and with the same consequences.
        noise_scale : float, optional
            As for `interval`.

        Returns
        -------
        RankTest, or FTest if the noise is spherical

        Examples
        --------
        >>> print(region.hypothesis("x0"))
        Hypothesis x0 = 0: p-value <= 3.1e-05 (rank 32768 of 32768).
        >>> region.hypothesis(["x0", "x1"], value=[1, 0]).tested
        'x0 = 1 and x1 = 0'
        """
        check_assumption(norm_bound, model_error, noise_scale)
        assumption = Assumption(norm_bound, model_error, noise_scale)
        g, names, values = self._asked(functional, assumption)
        require_nonzero(g)
        tau = as_hypothesis(value, len(g))
        if assumption.given:
            functions = self._functions
            options = function_options(functions, cells, method, cell_weights, cell_estimate)
            about = self._about(functional, values(), names, g, assumption)
            return function_test(functions, about, tau, check_level(level), options)
        numbers = self._numbers
        options = numbers.options(cells, method, cell_weights, cell_estimate)
        asked = g, names, check_level(level), options, tau
        if isinstance(numbers, Numbers):
            return hypothesis_test(numbers, *asked)
        return numbers.test(*asked)

    def lack_of_fit(self, most: int = 20) -> LackOfFit:
        """Look for features that the model lacks, by tests in enlarged models.

        A spline of each numeric column of X and products of two columns are added to the model, one
        at a time, and tested by `hypothesis` in the enlarged model. Which ones depends on the
        inputs alone, and each p-value is valid for every number of rows. The p-values are adjusted
        for their number (Bonferroni).

        Parameters
        ----------
        most : int, default 20
            The largest number of features that are tested: splines first, then products of
            neighbouring columns. The result lists what was left out.

        Returns
        -------
        LackOfFit

        Examples
        --------
        >>> X, y, f = ua.datasets.sine(n=200, random_state=0)
        >>> line = ua.confidence_region(LinearRegression(), X, y, random_state=0)
        >>> print(line.lack_of_fit().sentence())
        Lack of fit: one feature was added to the model. The p-value is ... (spline of x0). The
        model without it and the assumption on the noise cannot both hold, unless an event of
        probability at most ... has happened.
        """
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            remedy = "Leave it out for 20."
            raise ValueError(
                complaint("most", "is not a number of tests", "an integer >= 1", most, remedy)
            )
        self._require_ordinary()
        inputs = columns_of(self.problem.data("a test of lack of fit needs"))
        return lack_of_fit(self.problem, inputs, most)

    def report(
        self,
        path: Any,
        *,
        target: str = "y",
        title: str | None = None,
        levels: Sequence[float] | None = None,
        norm_bound: float | None = None,
    ) -> Path:
        """Write a report: one HTML file that needs no network.

        It contains the data at a glance, the assumptions, the summary, pictures of the
        bands, checks of the residuals and of the fit, and what is guaranteed and what is not. The
        same data and seed give the same file.

        Parameters
        ----------
        path : str or path
            Where to write it.
        target : str, default "y"
            The name of the output.
        title : str, optional
        levels : sequence of floats, optional
            Levels of the bands; the summary has the highest one. By default 0.95, 0.8 and 0.5, as
            far as the region has them.
        norm_bound : float, optional
            As for `band`.

        Returns
        -------
        Path

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     region.report(f"{folder}/report.html", target="yield").read_text()[:15]
        '<!doctype html>'
        """
        options: dict[str, Any] = {"levels": levels, "norm_bound": norm_bound}
        return Path(make_view(View.REPORT, self, path, target=target, title=title, **options))
