"""Coverage and width of values of functions, bands, nested models and instruments (11.5, 11.8, 14).

    python -m benchmarks.evidence.functions [values] [bands] [nested] [instruments] [few]

Writes functions.txt: coverage with the two-sided 1e-6 band of a binomial share, and half-widths.
Cells and smoothing depend on the inputs alone, so those of the first run serve all runs.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import binom
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua
from unassuming.cells.division import balanced_places, narrowest
from unassuming.cells.estimates import Atoms, fits
from unassuming.cells.functions import Errors, band_sizes, biased_intervals
from unassuming.cells.several import Several, division, instrument_set, joint_rank
from unassuming.cells.theorem import balanced_band, largest_q, number_of_words, sigma, words
from unassuming.regions.single.functions import Assumption, Functions
from unassuming.regions.single.values import Asked, Cells

RUNS, BOUND, LEVEL, SCALE = 2000, 29.2, 0.9, 0.7
LAWS = {
    "laplace": lambda rng, shape, _: rng.laplace(0, 0.5, shape),
    "cauchy": lambda rng, shape, _: 0.5 * rng.standard_cauchy(shape),
    "growing": lambda rng, shape, x: rng.standard_t(3, shape) * (0.2 + 0.1 * x),
}


def verdict(count, level, at_least):
    """The share of runs, its band, and whether it is met."""
    low, high = binom.ppf([5e-7, 1 - 5e-7], RUNS, level) / RUNS
    share = count / RUNS
    met = share >= low and (at_least or share <= high)
    return f"{level:.4f}  {share:.4f}  {low:.4f} to {'1' if at_least else f'{high:.4f}'}" + (
        "" if met else "  MISSED"
    )


def kernel(s, t):
    return np.exp(-0.5 * np.square(np.subtract.outer(s, t)))


def problem(n):
    """The functions behind a region of kernel ridge regression at n inputs in [0, 10]."""
    x = np.linspace(0, 10, n)
    model = KernelRidge(kernel="rbf", gamma=0.5)
    return x, Functions(ua.confidence_region(model, x[:, None], np.zeros(n)).problem)


def truths(x, z, h):
    """Functions as values at x and z: x sin x, one of norm B, and the worst one of norm B.

    ``h`` has the values of the representer of the bias at x and at z, and its squared norm.
    """
    rng = np.random.default_rng(0)
    centres, c = rng.uniform(-1, 11, 15), rng.normal(size=15)
    c *= BOUND / np.sqrt(c @ kernel(centres, centres) @ c)
    yield "x sin x", x * np.sin(x), z * np.sin(z)
    yield "norm B", kernel(x, centres) @ c, kernel(z, centres) @ c
    at_x, at_z, square = h
    yield "worst", BOUND * at_x / np.sqrt(square), BOUND * at_z / np.sqrt(square)


def values():
    """Yield a line for each number of rows, input, function and law."""
    assumption, assumed = Assumption(BOUND, noise_scale=SCALE), None
    for n in (80, 200, 500):
        x, functions = problem(n)
        assumed = functions.assumed(assumption)
        for z in (4.37, 0.8):
            wanted = functions.values(np.array([[z]]), assumption)
            asked = Asked(wanted, ["f(z)"], np.zeros(1), assumption)
            made, choice = Cells(functions, asked).chosen(LEVEL, None)
            kriging = made[choice.which[0]]
            a, known = kriging.weights(wanted, choice.mu[0])
            errors = Errors.of(wanted, kriging, a, known).part(np.zeros(RUNS, dtype=int))
            w = errors.weights(assumed)[0]
            c = w[kriging.labels] * a[0] / w.sum()
            rows = functions.order
            at_x, at_z = kernel(x, x[rows]) @ c - kernel(x, z), kernel(z, x[rows]) @ c - 1
            for name, f, truth in truths(x, z, (at_x, at_z, c @ at_x[rows] - at_z)):
                for law, draw in LAWS.items():
                    y = f + draw(np.random.default_rng(n), (RUNS, n), x)
                    u = kriging.sums(a, y[:, rows])[:, 0]
                    got = biased_intervals(u, errors, assumed, LEVEL)
                    hits = np.count_nonzero((got.lower <= truth) & (truth <= got.upper))
                    half = np.median(got.upper - got.lower) / 2
                    said = verdict(hits, float(got.level[0]), at_least=True)
                    yield (
                        f"n = {n:<4} z = {z:<5} {name:<8} {law:<8} K = {int(got.cells[0]):<3} "
                        f"{said}  half-width {half:.3f}, predicted {choice.half_width[0]:.3f}"
                    )


def bands():
    """Yield bands of splines, exact, and of kernels with a norm bound."""
    for n, d in ((400, 10), (1000, 10), (2000, 22)):
        rng = np.random.default_rng(n)
        x = np.sort(rng.uniform(-1, 1, n))
        knots = np.linspace(-1, 1, d - 3)[1:-1]
        Phi = np.column_stack([x[:, None] ** np.arange(4), np.maximum(x[:, None] - knots, 0) ** 3])
        Q = np.linalg.qr(Phi)[0]
        U = Q[:: n // 50] / np.linalg.norm(Q[:: n // 50], axis=1, keepdims=True)
        atoms = Atoms.of(Q, np.zeros(n))

        def information(K, atoms=atoms, U=U):
            G = atoms.products(balanced_places(atoms, K))
            return fits(G, np.zeros(G.shape[:2]), U)[0]

        numbers = [K for K in (16, 32, 64) if K * Q.shape[1] <= n]
        K, _ = narrowest(information, numbers, U, LEVEL)
        places = balanced_places(atoms, K)
        G, v = atoms.products(places), information(K)
        gathered = np.concatenate([Q, np.zeros((1, Q.shape[1]))])[places]
        maps = np.linalg.solve(G, gathered.swapaxes(1, 2))
        for law in ("cauchy", "growing"):
            noise = LAWS[law](rng, (RUNS, n), 5 + 5 * x)
            noise = np.concatenate([noise, np.zeros((RUNS, 1))], axis=1)
            hits, half = 0, []
            for e in noise:
                band = balanced_band(U @ np.einsum("brs,bs->rb", maps, e[places]), sigma(v), LEVEL)
                hits += bool((np.abs(band.estimate) <= band.half_width).all())
                half.append(np.median(band.half_width))
            said = verdict(hits, 1 - band.q / band.m, at_least=False)
            yield f"splines ({n}, {Q.shape[1]})  {law:<8} K = {K:<3} {said}"
    assumption = Assumption(BOUND, noise_scale=SCALE)
    for n in (200, 500):
        x, functions = problem(n)
        z = np.linspace(0.2, 9.8, 60)
        wanted, assumed = functions.values(z[:, None], assumption), functions.assumed(assumption)
        asked = Asked(wanted, list(map(str, z)), np.zeros(60), assumption)
        kriging, choice = Cells(functions, asked).balanced(LEVEL, None)
        limit = assumed.limit(wanted.norm)
        a, known = kriging.weights(wanted, choice.mu[0])
        scale, bias = band_sizes(Errors.of(wanted, kriging, a, known), assumed)
        for law, draw in LAWS.items():
            y = x * np.sin(x) + draw(np.random.default_rng(n), (RUNS, n), x)
            hits, half = 0, []
            for u in kriging.sums(a, y[:, functions.order]):
                band = balanced_band(u, scale, LEVEL, bias=bias)
                truth = z * np.sin(z)
                ends = band.estimate + band.half_width * np.array([[-1.0], [1.0]])
                lower, upper = np.clip(ends, -limit, limit)
                hits += bool(((lower <= truth) & (truth <= upper)).all())
                half.append(np.median(upper - lower) / 2)
            said = verdict(hits, 1 - band.q / band.m, at_least=True)
            yield (
                f"x sin x, n = {n:<4} {law:<8} K = {kriging.K:<3} {said}  half-width "
                f"{np.median(half):.3f}, predicted {np.median(choice.half_width):.3f}"
            )


def design(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng, np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, d - 1))]))[0]


def moments(Q, columns, places):
    """Products over cells with columns (n, T), of rows with zeros for nobody."""
    Q = np.concatenate([Q, np.zeros((1, Q.shape[1]))])[places]
    columns = np.concatenate([columns, np.zeros((1, columns.shape[1]))])[places]
    return Q.swapaxes(1, 2) @ columns


def nested():
    """Yield the coverage of tests of several coefficients at once."""
    for n, d, k in ((60, 5, 2), (120, 6, 3)):
        rng, Q = design(n, d)
        C, atoms = np.eye(d)[1 : 1 + k], Atoms.of(Q, np.zeros(n))
        places = division(atoms, C, 0.95).places
        G = atoms.products(places)
        for law in ("laplace", "cauchy"):
            noise = LAWS[law](rng, (RUNS, n), 0.0)
            m, hits = None, 0
            for e in noise:
                found = Several.of(G, moments(Q, e[:, None], places), C)
                m = number_of_words(len(found.V))
                hits += m - joint_rank(found.at(np.zeros(k)))[0] >= largest_q(0.95, m)
            said = verdict(hits, 1 - largest_q(0.95, m) / m, at_least=False)
            yield f"{k} of {d} coefficients, n = {n:<4} {law:<8} K = {len(places):<3} {said}"


def instruments():
    """Yield the coverage of sets of an endogenous coefficient, for strong and weak instruments."""
    for n, k in ((60, 1), (80, 2)):
        rng, Q = design(n, 2 + k)
        C, atoms = np.eye(2 + k)[2:], Atoms.of(Q, np.zeros(n))
        places = division(atoms, C, LEVEL).places
        G, W = atoms.products(places), Q[:, 2:] * np.sqrt(n)
        for strength in (0.0, 0.2, 1.0):
            hits, endless, m = 0, 0, None
            for _ in range(RUNS):
                e = rng.standard_t(3, size=n)
                x = strength * W.sum(axis=1) + 0.8 * e + rng.normal(size=n)
                found = Several.of(G, moments(Q, np.column_stack([x + e, x]), places), C)
                z, m = found.whitened(found.u), len(words(len(found.V)))
                ends = instrument_set(z[..., 0], z[..., 1], largest_q(LEVEL, m))
                hits += bool(((ends[:, 0] <= 1) & (ends[:, 1] >= 1)).any())
                endless += not np.isfinite(ends).all()
            said = verdict(hits, 1 - largest_q(LEVEL, m) / m, at_least=False)
            yield (
                f"{k} instruments of strength {strength}, n = {n:<4} K = {len(places):<3} {said}"
                f"  endless {endless / RUNS:.3f}"
            )


def few():
    """Yield half-widths one at a time beside the simultaneous ones, for few and more rows."""
    Z = np.linspace(0.2, 9.8, 25)[:, None]
    model, ask = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.05), {"norm_bound": BOUND}
    for n in (20, 30, 40, 60, 80, 120, 200):
        X, _, f = ua.datasets.sine(n=n, random_state=0)
        found = {"alone": [], "cells": [], "at once": []}
        for seed in range(10):
            y = f(X) + SCALE * np.random.default_rng(seed).standard_normal(n)
            region = ua.confidence_region(model, X, y)
            bands = (
                region.band(Z, LEVEL, simultaneous=False, noise_scale=SCALE, **ask),
                region.band(Z, LEVEL, simultaneous=False, noise_scale=SCALE, method="cells", **ask),
                region.band(Z, LEVEL, noise_scale=SCALE, **ask),
            )
            for name, band in zip(found, bands, strict=True):
                found[name].append((band.upper - band.lower) / 2)
        alone, cells, at_once = (np.mean(one, axis=0) for one in found.values())
        yield (
            f"n = {n:<4} half-width one at a time {np.median(alone):6.2f}, of cells alone "
            f"{np.median(cells):6.2f}, of the band {np.median(at_once):6.2f}; largest ratio to the "
            f"band {np.max(alone / at_once):.2f} ({bands[0].method})"
        )


PARTS = {
    "values": values,
    "bands": bands,
    "nested": nested,
    "instruments": instruments,
    "few": few,
}


def main(chosen):
    warnings.simplefilter("ignore")
    path, lines = Path(__file__).with_suffix(".txt"), []
    for name in chosen or PARTS:
        lines += ["", name]
        for line in PARTS[name]():
            print(line, flush=True)
            lines.append(line)
    if not chosen:
        path.write_text("\n".join(lines[1:]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
