"""How often regions contain the truth, over repeated samples."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest
from threadpoolctl import threadpool_limits

from unassuming._typing import Array, IntArray
from unassuming.paper._figures import Setting
from unassuming.paper._members import Follow
from unassuming.paper._samples import Sample
from unassuming.regions import Region, confidence_region
from unassuming.testing import gaussian_process, process_bounds

CONFIDENCE = 0.99


@dataclass(frozen=True)
class Count:
    """Covered runs, with the exact (Clopper-Pearson) interval of the probability."""

    covered: int
    runs: int

    @property
    def rate(self) -> float:
        """The share of covered runs."""
        return self.covered / self.runs

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of confidence 0.99."""
        found = binomtest(self.covered, self.runs).proportion_ci(CONFIDENCE, method="exact")
        return float(found.low), float(found.high)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.covered} of {self.runs} samples [{low:.3f}, {high:.3f}]"


def build(setting: Setting, sample: Sample, seed: int) -> Region:
    """Build the region of a setting; the table has the warning about the published classifier."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the published region", category=UserWarning)
        return confidence_region(
            setting.model, sample.X, sample.y, random_state=seed, **setting.options
        )


def repeated(setting: Setting, seed: int, repetition: int) -> tuple[Sample, int]:
    """Draw a sample, the same for settings with the same law and size, and a seed for signs."""
    of_data, of_signs = np.random.SeedSequence([seed, 1, repetition]).spawn(2)
    return setting.draw(np.random.default_rng(of_data)), int(of_signs.generate_state(1)[0])


def truth_ranks(setting: Setting, repetitions: int, seed: int, follow: Follow) -> IntArray:
    """Rank the truth in the regions of fresh samples, with fresh transformations.

    A function is ranked by its residuals and by the least-norm coefficients of its values, which
    are the ideal coefficients if the kernel matrix has full rank.
    """
    ranks = np.empty(repetitions, dtype=np.intp)
    what = f"{setting.panel} {setting.name}: samples"
    with threadpool_limits(1):  # for such small matrices, threads cost more than they save
        for k in follow(range(repetitions), what, repetitions):
            sample, signs = repeated(setting, seed, k)
            ranks[k] = build(setting, sample, signs).rank(sample.truth)
    return ranks


@dataclass(frozen=True, eq=False)
class ProcessCoverage:
    """For each level and sample, the share of inputs where a Gaussian process band covered."""

    inside: dict[float, Array]

    def everywhere(self, level: float) -> Count:
        """Count the samples in which the band covered the function at all inputs."""
        shares = self.inside[level]
        return Count(int((shares == 1).sum()), len(shares))

    def each(self, level: float) -> float:
        """Return the share of the inputs at which the band covered it, over all samples."""
        return float(self.inside[level].mean())


def process_coverage(
    setting: Setting, levels: tuple[float, ...], repetitions: int, seed: int, follow: Follow
) -> ProcessCoverage:
    """Fit a Gaussian process to the same samples, and count where its bands cover the function."""
    inside = {level: np.empty(repetitions) for level in levels}
    with threadpool_limits(1):
        for k in follow(range(repetitions), "Gaussian process: samples", repetitions):
            sample, _ = repeated(setting, seed, k)
            process = gaussian_process(sample.X, sample.y, seed)
            truth = sample.truth(sample.X)
            for level in levels:
                lower, upper = process_bounds(process, sample.X, level)
                inside[level][k] = ((lower <= truth) & (truth <= upper)).mean()
    return ProcessCoverage(inside)
