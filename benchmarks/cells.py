"""One number at a time: widths and times, compared with HC3 and wild bootstraps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import statsmodels.api as sm
from scipy.stats import binom
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import SplineTransformer

import unassuming as ua
from benchmarks.clock import best_times, peak_memory
from benchmarks.result import Check, Comparison, Result

TITLE = (
    "Intervals of coefficients, from the data to the printed summary. HC3 and bootstraps are"
    " approximate; the library is exact.\nA width is a median over the runs and the coefficients"
)
DRAWS = 9_999
RUNS, BAND_RUNS = 400, 10


def widths(n: int, target: float) -> Callable[[str], Result]:
    """Compare widths at 90 % for d = 5 and t(3) noise whose scale grows with the inputs."""

    def measure(name: str) -> Result:
        rng, d = np.random.default_rng(n), 5
        found = np.empty((RUNS, d, 2, 2))  # run, coefficient, method, end
        levels = np.empty((RUNS, d))
        seconds = others = 0.0
        for run in range(RUNS):
            X = rng.normal(size=(n, d - 1))
            y = X.sum(axis=1) + (0.5 + np.abs(X[:, 0])) * rng.standard_t(3, size=n)
            (one, two), (summary, robust) = best_times(
                lambda X=X, y=y, run=run: ua.confidence_region(
                    LinearRegression(), X, y, m=2, random_state=run
                ).summary(level=0.9),
                lambda X=X, y=y: hc3(X, y, 0.1),
                rounds=1,
            )
            seconds, others = seconds + one, others + two
            found[run, :, 0] = np.column_stack([summary.lower, summary.upper])
            found[run, :, 1], levels[run] = robust, summary.level
        truth = np.array([0.0, *np.ones(d - 1)])[:, None]
        width = np.median(np.ptp(found, axis=-1), axis=(0, 1))
        ratio = float(width[0] / width[1])
        covered = (found[..., 0] <= truth) & (truth <= found[..., 1])
        slope, attained = int(covered[:, 1, 0].sum()), float(levels[:, 1].mean())
        low, high = binom.ppf([0.5e-6, 1 - 0.5e-6], RUNS, attained)
        rates = covered.mean(axis=(0, 1))
        return Result(
            name,
            seconds / RUNS,
            [Comparison("statsmodels OLS with HC3 (no target)", others / RUNS)],
            [
                Check(f"width over HC3, at most {target}", f"{ratio:.3f}", ratio <= target),
                Check(
                    f"coverage of a slope at {attained:.4f}",
                    f"{slope / RUNS:.3f}, of {RUNS} runs",
                    bool(low <= slope <= high),
                ),
                Check(
                    "coverage over all coefficients", f"{rates[0]:.3f}, HC3 {rates[1]:.3f}", True
                ),
            ],
        )

    return measure


def band(name: str) -> Result:
    """Compare simultaneous 90 % bands of cubic splines."""
    n, d, target = 2_000, 22, 0.75
    rng = np.random.default_rng(0)
    grid = np.linspace(0.02, 0.98, 97)[:, None]
    ratios, seconds, others = [], [], []
    for run in range(BAND_RUNS):
        x = np.sort(rng.uniform(size=(n, 1)), axis=0)
        features = SplineTransformer(d - 2, include_bias=False).fit(x)
        assert features.n_features_out_ == d - 1
        X, Z = features.transform(x), features.transform(grid)
        y = np.sin(6 * x[:, 0]) + (0.3 + x[:, 0]) * rng.standard_t(3, size=n)
        region = ua.confidence_region(LinearRegression(), X, y, random_state=run)
        (one, two), bands = best_times(
            lambda region=region, Z=Z: region.band(Z, level=0.9, method="cells"),
            lambda region=region, Z=Z: region.band(Z, level=0.9, method="joint"),
            rounds=1,
        )
        cells, joint = (np.median(b.upper - b.lower) for b in bands)
        ratios.append(float(cells / joint))
        seconds.append(one)
        others.append(two)
    ratio, chosen = float(np.median(ratios)), region.band(Z, level=0.9, method="auto").method
    return Result(
        name,
        min(seconds),
        [Comparison("the joint region's band (no target)", min(others))],
        [
            Check(
                f"width over the joint region's, at most {target}", f"{ratio:.3f}", ratio <= target
            ),
            Check("method='auto' takes", chosen, chosen == "balanced cells"),
        ],
    )


def million(name: str) -> Result:
    """Summarise 20 coefficients of a million rows."""
    n, d, rng = 1_000_000, 20, np.random.default_rng(0)
    X = rng.normal(size=(n, d - 1))
    y = X.sum(axis=1) + (1 + np.abs(X[:, 0])) * rng.standard_t(3, size=n)
    (seconds, other), (summary, bounds) = best_times(
        lambda: ua.confidence_region(LinearRegression(), X, y, random_state=0).summary(),
        lambda: hc3(X, y, 0.05),
        rounds=3,
    )
    return Result(
        name,
        seconds,
        [Comparison("statsmodels OLS with HC3", other, 1)],
        [narrow(summary, bounds)],
        peak_memory(),
    )


def diabetes(name: str) -> Result:
    """Summarise the diabetes data."""
    X, y = load_diabetes(return_X_y=True)
    (seconds, other), (summary, bounds) = best_times(
        lambda: ua.confidence_region(LinearRegression(), X, y, random_state=0).summary(),
        lambda: wild_bootstrap(X, y),
        rounds=7,
    )
    return Result(
        name,
        seconds,
        [Comparison(f"OLS + {DRAWS:,} wild bootstrap draws", other, 1)],
        [narrow(summary, bounds)],
    )


def table(load: Callable[[], tuple[np.ndarray, np.ndarray]]) -> Callable[[str], Result]:
    """Summarise a table beside HC3 and a bootstrap of every coefficient with its null imposed."""

    def measure(name: str) -> Result:
        X, y = load()
        (seconds, other), (summary, bounds) = best_times(
            lambda: ua.confidence_region(LinearRegression(), X, y).summary(),
            lambda: (null_imposed(X, y), hc3(X, y, 0.05))[1],
            rounds=2,
        )
        return Result(
            name,
            seconds,
            [Comparison(f"HC3 + {DRAWS:,} wild bootstrap draws a coefficient", other, 1)],
            [narrow(summary, bounds), Check("seconds, at most 2", f"{seconds:.2f}", seconds <= 2)],
        )

    return measure


def small() -> tuple[np.ndarray, np.ndarray]:
    """A hundred rows, three columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    return X, X.sum(axis=1) + rng.standard_t(3, size=100)


def with_dummies() -> tuple[np.ndarray, np.ndarray]:
    """Two hundred rows, 50 columns, half of them dummies."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(200, 25)), rng.random((200, 25)) < 0.3])
    return X, X.sum(axis=1) + rng.standard_t(3, size=200)


def star98() -> tuple[np.ndarray, np.ndarray]:
    """The share of students above the median in 303 districts."""
    data = sm.datasets.star98.load_pandas()
    passed = data.endog.to_numpy()
    return data.exog.drop(columns="const", errors="ignore").to_numpy(), passed[:, 0] / passed.sum(1)


def clusters(name: str) -> Result:
    """Summarise data with 12 clusters of random effects."""
    n, G, rng = 2_000, 12, np.random.default_rng(0)
    groups = np.sort(rng.integers(0, G, size=n))
    X = rng.normal(size=(n, 5))
    y = X.sum(axis=1) + rng.normal(size=G)[groups] + rng.standard_t(3, size=n)
    noise = ua.noise.BlockSymmetric(groups)
    (seconds, other), (summary, bounds) = best_times(
        lambda: ua.confidence_region(
            LinearRegression(), X, y, noise=noise, random_state=0
        ).summary(),
        lambda: wild_cluster_bootstrap(X, y, groups),
        rounds=50,  # of some milliseconds
    )
    return Result(
        name,
        seconds,
        [Comparison(f"{DRAWS:,} wild cluster bootstrap draws", other, 1)],
        [narrow(summary, bounds)],
    )


def narrow(summary: ua.Summary, bounds: np.ndarray) -> Check:
    """Show the median ratio of widths, for which there is no target."""
    ratio = float(np.median((summary.upper - summary.lower) / np.ptp(bounds, axis=1)))
    return Check("width over the other method's", f"{ratio:.2f}", bool(np.isfinite(ratio)))


def hc3(X: np.ndarray, y: np.ndarray, alpha: float) -> np.ndarray:
    fit = sm.OLS(y, sm.add_constant(X)).fit(cov_type="HC3", use_t=True)
    assert np.isfinite(fit.pvalues).all()
    return np.asarray(fit.conf_int(alpha))


def wild_bootstrap(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Studentise with HC3 errors; all draws are two matrix products and one of squares."""
    design, rng = sm.add_constant(X), np.random.default_rng(0)
    fit = sm.OLS(y, design).fit(cov_type="HC3", use_t=True)
    P = fit.model.pinv_wexog
    Q, _ = np.linalg.qr(design)
    less = 1 - np.square(Q).sum(axis=1)
    noise = rng.choice(np.array([-1.0, 1.0]), size=(DRAWS, len(y))) * (fit.resid / less)
    estimates = noise @ P.T
    rest = (noise - (noise @ Q) @ Q.T) / less
    errors = np.sqrt(np.square(rest) @ np.square(P).T)
    critical = np.quantile(np.abs(estimates) / errors, 0.95, axis=0)
    return np.column_stack([fit.params - critical * fit.bse, fit.params + critical * fit.bse])


def null_imposed(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the p-value of each coefficient from draws of the residuals without its column."""
    design, rng = sm.add_constant(X), np.random.default_rng(0)
    fit = sm.OLS(y, design).fit(cov_type="HC3", use_t=True)
    P, t = fit.model.pinv_wexog, np.abs(fit.tvalues)
    Q, _ = np.linalg.qr(design)
    less = 1 - np.square(Q).sum(axis=1)
    signs = rng.choice(np.array([-1.0, 1.0]), size=(DRAWS, len(y)))
    found = np.empty(len(t))
    for j in range(len(t)):
        others = np.delete(design, j, axis=1)
        noise = signs * (y - others @ np.linalg.lstsq(others, y)[0])
        rest = (noise - (noise @ Q) @ Q.T) / less
        errors = np.sqrt(np.square(rest) @ np.square(P[j]))
        found[j] = (1 + (np.abs(noise @ P[j]) >= t[j] * errors).sum()) / (DRAWS + 1)
    return found


def wild_cluster_bootstrap(X: np.ndarray, y: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Do the same for clusters, whose draws cost no more than clusters times coefficients squared.

    A draw s of cluster signs gives the estimates A s with A (d, G), and the score of cluster g is
    s_g times its own minus its second moments times the estimates: no row is touched again.
    """
    design, rng = sm.add_constant(X), np.random.default_rng(0)
    fit = sm.OLS(y, design).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    G, (n, d) = int(groups.max()) + 1, design.shape
    inverse = np.linalg.inv(design.T @ design)
    parts = [design[groups == g] for g in range(G)]
    scores = np.stack([p.T @ fit.resid[groups == g] for g, p in enumerate(parts)])  # (G, d)
    moments = np.stack([p.T @ p for p in parts]) @ inverse  # (G, d, d)
    signs = rng.choice(np.array([-1.0, 1.0]), size=(DRAWS, G))
    total = signs @ scores  # (B, d)
    variance = np.zeros((DRAWS, d))
    for g in range(G):
        left = signs[:, [g]] * scores[g] - total @ moments[g].T
        variance += np.square(left @ inverse)
    errors = np.sqrt(variance * G / (G - 1) * (n - 1) / (n - d))
    critical = np.quantile(np.abs(total @ inverse) / errors, 0.95, axis=0)
    return np.column_stack([fit.params - critical * fit.bse, fit.params + critical * fit.bse])


CASES = {
    "n = 60, d = 5, 90 %": widths(60, 1.15),
    "n = 200, d = 5, 90 %": widths(200, 1.08),
    "band, n = 2,000, d = 22": band,
    "n = 1,000,000, d = 20": million,
    "n = 442, d = 11": diabetes,
    "100 x 3": table(small),
    "200 x 51, dummies": table(with_dummies),
    "breast cancer, 569 x 31": table(lambda: load_breast_cancer(return_X_y=True)),
    "star98, 303 x 21": table(star98),
    "wine, 178 x 14": table(lambda: load_wine(return_X_y=True)),
    "12 clusters, n = 2,000": clusters,
}
