"""Makes the record. Run it with the library of commit b7048da4, whose answers it holds.

In a worktree of that commit, beside this one::

    cd tests && PYTHONPATH=<that worktree>/src python -m recorded.record [part of a name]

Every number is then asked anew, and both files are written; with a part of a name the answers of
these problems are printed alone. The words of that commit are below, in `THEN`.
"""

import json
import sys
import time
import warnings
from dataclasses import replace

import numpy as np
import statsmodels.datasets as tables
from scipy.fft import dct
from sklearn.datasets import load_diabetes, load_wine

import unassuming as ua
from recorded import ARRAYS, TEXT, M, Problem, ask

THEN = {
    "hypothesis": "test_functional",
    "cell_weights": "weights",
    "cell_estimate": "estimator",
    "mean": "least squares",
    "median": "least absolute deviations",
}
LEVEL, LOW = 0.9, 0.5

# --- data: columns of real tables, in their units --------------------------------------------


def diabetes(columns, rows):
    X, y = load_diabetes(return_X_y=True, scaled=False)
    names = ("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6")
    return X[rows][:, [names.index(name) for name in columns]], y[rows]


def wine(columns, rows, target=None):
    """Two of the wines as ±1, or one of the columns as the output."""
    table = load_wine()
    X = table.data[:, [table.feature_names.index(name) for name in columns]]
    if target is None:
        two = np.flatnonzero(table.target < 2)[rows]
        return X[two], np.where(table.target[two] == 1, 1.0, -1.0)
    return X[rows], table.data[rows, table.feature_names.index(target)]


def statsmodels(name, inputs, output, rows=slice(None)):
    table = getattr(tables, name).load_pandas().data.iloc[rows]
    return table[list(inputs)].to_numpy(float), table[output].to_numpy(float)


def growth():
    """Quarterly growth of money and of consumption, in per cent, rounded as one prints it."""
    table = tables.macrodata.load_pandas().data.iloc[60:121]
    change = 100 * np.diff(np.log(table[["m1", "realcons"]].to_numpy(float)), axis=0)
    return np.round(change[:, 0], 2), np.round(change[:, 1], 2)


def nile(rows=slice(0, 60)):
    volume = tables.nile.load_pandas().data["volume"].to_numpy(float)[rows]
    return (volume - 900) / 100


def curve(n, seed, digits=2):
    """A sine with Laplace noise at rounded inputs."""
    rng = np.random.default_rng(seed)
    x = np.round(np.sort(rng.uniform(0, 6, n)), digits)
    return x[:, None], np.round(np.sin(x) + 0.3 * rng.laplace(size=n), digits)


def whole(n, seed, most=1):
    """Small whole numbers, so that many statistics tie: a dummy and a count."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.arange(n) % 2, rng.integers(-most, most + 1, n)])
    return X.astype(float), X @ [1.0, 2.0] + rng.integers(-2, 3, n)


def dummy(n, seed):
    """Two groups, and outputs in tenths."""
    rng = np.random.default_rng(seed)
    x = np.arange(n) % 3 == 0
    return x[:, None].astype(float), np.round(0.4 * x + 0.3 * rng.laplace(size=n), 1)


def coarse(n, d, seed, digits=1):
    """Rounded normal columns and Laplace noise."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), digits)
    return X, np.round(X @ np.arange(1, d + 1) / 2 + rng.laplace(size=n), digits)


def instruments(n, seed, firms=None):
    """One endogenous column, one control, two instruments; columns in this order."""
    rng = np.random.default_rng(seed)
    e, w, z = rng.laplace(size=n), rng.normal(size=(n, 2)), rng.normal(size=n)
    x = w @ [1.0, 0.5] + 0.3 * z + 0.7 * e + rng.normal(size=n)
    X = np.round(np.column_stack([x, z, w]), 2)
    return X, np.round(1.5 * X[:, 0] - 0.5 * X[:, 1] + e, 2)


def votes(n, d, seed):
    """Labels of a logistic model at rounded inputs."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 1)
    y = np.where(rng.random(n) < (1 + np.tanh(X[:, 0])) / 2, 1.0, -1.0)
    return X, y


# --- problems ----------------------------------------------------------------------------------


def model(name, **options):
    return {"class": name, "options": options}


def chain(*steps):
    return {"steps": list(steps)}


def noise(name, **options):
    return {"class": name, **options}


OLS, PLAIN = model("LinearRegression"), model("LinearRegression", fit_intercept=False)
S, E, SE, SPHERE = map(noise, ("Symmetric", "Exchangeable", "SymmetricExchangeable", "Spherical"))
BLOCKS, LABELS = noise("BlockSymmetric"), noise("Labels")
WITHIN = noise("ExchangeableWithin", block_rows=10)
ROTATED = {name: noise("InBasis", inner=noise(name)) for name in ("Symmetric", "Exchangeable")}
RBF = {"kernel": "rbf", "gamma": 0.5}
LAPLACE = {"kernel": "laplacian", "gamma": 0.4}
POLY = {"kernel": "poly", "degree": 2, "gamma": 0.3, "coef0": 1.0}
BODY = ("age", "bmi", "bp", "s5")
STACK = ("AIRFLOW", "WATERTEMP", "ACIDCONC")
CRIME = ("hs_grad", "poverty", "single", "urban")
FIRM = ("value", "capital")


def stack(rows=slice(None)):
    return statsmodels("stackloss", STACK, "STACKLOSS", rows)


def firms(rows=slice(0, 80)):
    return statsmodels("grunfeld", FIRM, "invest", rows)


def crime():
    return statsmodels("statecrime", CRIME, "murder")


def card():
    return statsmodels("ccard", ("AGE", "INCOME", "OWNRENT"), "AVGEXP")


def food():
    return statsmodels("engel", ("income",), "foodexp", slice(0, 180, 3))


RIDGE = {str(alpha): model("Ridge", alpha=alpha) for alpha in (0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 50.0)}


def linear():
    """Least squares: name, model, data, noise and further options."""
    step = model("SplineTransformer", n_knots=4, degree=3, include_bias=False)
    many = ("age", "sex", "bmi", "bp", "s1", "s3", "s5", "s6")
    yield "", OLS, diabetes(BODY, slice(0, 60)), S
    yield "many columns", OLS, diabetes(many, slice(100, 180)), S
    yield "permutations", OLS, crime(), E
    yield "signs and permutations", OLS, card(), SE
    yield "rotations", OLS, coarse(12, 2, 1, 2), SPHERE
    yield "blocks", OLS, firms(), BLOCKS, {"blocks": 5}
    yield "permutations within", OLS, crime(), WITHIN
    yield "cosines", OLS, diabetes(("bmi", "bp"), slice(0, 40)), ROTATED["Symmetric"]
    yield "no intercept", PLAIN, food(), S
    yield "weights", OLS, card(), S, {"weights": True}
    yield "weights and blocks", OLS, firms(), BLOCKS, {"weights": True, "blocks": 5}
    yield "stack loss", OLS, stack(), S
    yield "ties", OLS, whole(16, 48), S
    yield "few blocks", OLS, firms(slice(60, 100)), BLOCKS, {"blocks": 8}
    yield "conservative ties", OLS, whole(14, 2), SE, {"ties": "conservative"}
    yield "permutations, ties", OLS, whole(16, 3), E
    yield "Psi = I", OLS, coarse(20, 2, 4), S, {"weighting": "identity"}
    yield "weights and permutations", OLS, stack(), E, {"weights": True}
    yield "spline", chain(step, OLS), curve(60, 5), S


def ridge():
    through = model("Ridge", alpha=1e4, fit_intercept=False)
    few = {"blocks": 16, "ties": "conservative"}
    scaled = chain(model("StandardScaler"), RIDGE["1.0"])
    yield "", RIDGE["5.0"], diabetes(BODY, slice(60, 120)), S
    yield "permutations", RIDGE["50.0"], crime(), E
    yield "signs and permutations", RIDGE["2.0"], stack(), SE
    yield "rotations", RIDGE["0.5"], coarse(12, 3, 6, 2), SPHERE
    yield "blocks", through, firms(), BLOCKS, few
    yield "permutations within", RIDGE["0.3"], whole(40, 7, 3), WITHIN
    yield "cosines", RIDGE["1.0"], curve(30, 8), ROTATED["Exchangeable"]
    yield "weights", RIDGE["3.0"], stack(), S, {"weights": True}
    yield "standardised", scaled, diabetes(("bmi", "bp", "s5"), slice(200, 250)), S


def kernel_ridge():
    def krr(alpha, **kernel):
        return model("KernelRidge", alpha=alpha, **kernel)

    weights = {"weights": True, "blocks": 3}
    yield "", krr(0.5, **RBF), curve(40, 9), S
    yield "permutations", krr(0.5, **POLY), curve(25, 10), E
    yield "signs and permutations", krr(1.0, **LAPLACE), curve(30, 11), SE
    yield "rotations", krr(0.5, kernel="linear"), coarse(12, 3, 12, 2), SPHERE
    yield "weights and blocks", krr(1.0, **RBF), curve(30, 13), BLOCKS, weights
    yield "permutations within", krr(0.3, **LAPLACE), curve(30, 14), WITHIN
    yield "cosines", krr(0.5, **RBF), curve(20, 15), ROTATED["Symmetric"]


def gaussian_process():
    options = {"kernel": model("RBF", length_scale=1.5), "alpha": 0.4, "optimizer": None}
    given = model("GaussianProcessRegressor", **options)
    yield "", given, curve(25, 16), S, {"ties": "conservative"}


def svr():
    def dual(C, epsilon, **kernel):
        return model("SVR", C=C, epsilon=epsilon, **kernel)

    yield "", dual(2.0, 0.1, **RBF), curve(25, 17), S
    yield "permutations", dual(1.0, 0.2, **POLY), curve(20, 18), E
    yield "signs and permutations", dual(1.0, 0.2, **RBF), curve(20, 19), SE
    yield "blocks", dual(1.0, 0.1, kernel="linear"), coarse(24, 2, 20), BLOCKS, {"blocks": 3}
    yield "Psi = I", dual(1.0, 0.1, **RBF), curve(16, 21), S, {"weighting": "identity"}


def linear_svr():
    plain = model("LinearSVR", epsilon=0.1, C=0.5, fit_intercept=False)
    yield "", model("LinearSVR", epsilon=0.2, C=1.0), coarse(30, 2, 22, 2), S
    yield "permutations", plain, coarse(20, 2, 23), E


def lasso():
    def l1(alpha, **options):
        return model("Lasso", alpha=alpha, **options)

    plain = l1(0.1, fit_intercept=False)
    yield "", l1(0.3), diabetes(("bmi", "bp", "s5"), slice(0, 40)), S
    yield "permutations", l1(0.1), coarse(30, 3, 24), E, {"weighting": "identity"}
    yield "signs and permutations", l1(0.2), stack(), SE
    yield "rotations", plain, coarse(12, 2, 25, 2), SPHERE
    yield "cosines", l1(0.05), curve(20, 47), ROTATED["Symmetric"]


def elastic_net():
    net = model("ElasticNet", alpha=0.1, l1_ratio=0.5, fit_intercept=False)
    yield "", model("ElasticNet", alpha=0.2, l1_ratio=0.6), coarse(30, 3, 26), S
    yield "blocks", net, coarse(30, 2, 27, 2), BLOCKS, {"blocks": 3}


def huber():
    plain = model("HuberRegressor", epsilon=1.35, alpha=0.0)
    yield "", model("HuberRegressor", epsilon=1.5, alpha=0.1), coarse(40, 2, 28, 2), S
    yield "permutations", plain, stack(), E
    yield "signs and permutations", model("HuberRegressor", epsilon=2.0), coarse(25, 2, 29), SE


def kernel_huber():
    def clipped(alpha, delta, **kernel):
        return model("KernelHuber", alpha=alpha, delta=delta, **kernel)

    weights = {"weights": True, "blocks": 2}
    yield "", clipped(0.5, 0.3, **RBF), curve(25, 30), S
    yield "permutations within", clipped(0.5, 0.4, **LAPLACE), curve(20, 31), WITHIN
    yield "weights and blocks", clipped(1.0, 0.3, **RBF), curve(24, 32), BLOCKS, weights


def kernel_lasso():
    yield "", model("KernelLasso", alpha=0.3, **RBF), curve(20, 33), S
    yield "permutations", model("KernelLasso", alpha=0.2, **POLY), curve(18, 34), E


def quantiles():
    def line(tau, alpha, **options):
        return model("QuantileRegressor", quantile=tau, alpha=alpha, **options)

    upper, half = line(0.8, 0.0, fit_intercept=False), noise("Quantile", tau=0.5)
    ties = {"ties": "conservative"}
    yield "median", line(0.5, 0.0), food(), half
    yield "upper", upper, coarse(40, 2, 35, 2), noise("Quantile", tau=0.8), ties
    yield "L1", line(0.5, 0.05), coarse(25, 2, 36), half


def labels():
    ash, third = wine(("ash", "magnesium"), slice(0, 120, 3)), {"ties": "conservative"}
    liquor = wine(("alcohol", "malic_acid"), slice(0, 120, 2))
    logistic = {"C": 0.5, "tol": 1e-10, "fit_intercept": False}
    yield "ridge", model("RidgeClassifier", alpha=5.0), ash, LABELS
    yield "ridge, ties", model("RidgeClassifier", alpha=20.0), votes(20, 1, 37), LABELS, third
    yield "logistic", model("LogisticRegression", C=1.0, tol=1e-10), liquor, LABELS
    yield "logistic, plain", model("LogisticRegression", **logistic), votes(25, 2, 38), LABELS
    yield "LS-SVC", model("LSSVC", C=0.02), votes(30, 2, 39), LABELS
    yield "LS-SVC, kernel", model("LSSVC", C=0.5, **RBF), votes(24, 1, 40), LABELS
    yield "LS-SVC, signs", model("LSSVC", C=0.5), votes(24, 2, 41), S


def systems():
    yield "", model("ARX", na=1, nb=1), growth(), S
    yield "permutations", model("ARX", na=2, nb=1, fit_intercept=True), growth(), E
    yield "without inputs", model("ARX", na=2, nb=0), (None, nile()), SE


def instrumental():
    iv = model("InstrumentalRegression", endogenous=0, instruments=[2, 3])
    yield "", iv, instruments(60, 42), S
    yield "permutations", iv, instruments(40, 43), E
    yield "blocks", iv, instruments(60, 44), BLOCKS, {"blocks": 5}
    yield "rotations", iv, instruments(12, 45), SPHERE


def ties():
    """Statistics that depend on few sums of tenths."""
    yield "permutations", OLS, dummy(15, 48), E
    yield "signs and permutations", OLS, dummy(14, 49), SE
    yield "ridge", RIDGE["0.5"], dummy(16, 50), E
    yield "LASSO", model("Lasso", alpha=0.1), dummy(13, 51), E


def rotated():
    """Losses with kinks, whose derivative does not commute with rotations."""
    yield "Huber", model("HuberRegressor", epsilon=1.5), coarse(12, 2, 52), SPHERE
    yield "kernel Huber", model("KernelHuber", alpha=0.5, delta=0.3, **RBF), curve(10, 53), SPHERE
    yield "SVR", model("SVR", C=1.0, epsilon=0.1, **RBF), curve(10, 54), SPHERE


FAMILIES = {
    "least squares": linear,
    "ridge": ridge,
    "kernel ridge": kernel_ridge,
    "Gaussian process": gaussian_process,
    "SVR": svr,
    "linear SVR": linear_svr,
    "LASSO": lasso,
    "elastic net": elastic_net,
    "Huber": huber,
    "kernel Huber": kernel_huber,
    "kernel LASSO": kernel_lasso,
    "quantiles": quantiles,
    "labels": labels,
    "ARX": systems,
    "instruments": instrumental,
    "ties": ties,
    "rotations": rotated,
}


# --- what is asked -----------------------------------------------------------------------------


def parts_of(kind, drawn):
    """The transformations as small arrays."""
    if kind == "SymmetricExchangeable":
        return {"signs": drawn[0].astype(np.int8), "order": drawn[1].astype(np.uint8)}
    name = {"Spherical": "rotations", "Labels": "uniforms", "Quantile": "below"}.get(kind)
    if name:
        return {name: drawn}
    if kind.startswith("Exchangeable"):
        return {"order": drawn.astype(np.uint8)}
    return {"signs": drawn.astype(np.int8)}


def centre(region, label):
    """The estimate; of labels, a multiple of it whose values are possible."""
    size = np.abs(region.objective.fitted(region.estimate[None])).max()
    return region.estimate * (min(1.0, 0.8 / size) if label else 1.0)


def directions(region, rng, count):
    """Directions in which fitted values change by about as much as the residuals."""
    c, d = region.estimate, len(region.estimate)
    step = 1e-3 * np.maximum(np.abs(c).max(), 1e-3) * np.eye(d)
    Phi = (region.objective.fitted(c + step) - region.objective.fitted(c - step)) / step.max() / 2
    norms = np.linalg.norm(Phi, axis=1)
    u = rng.normal(size=(count, d)) / np.where(norms > 0, norms, norms.max())
    moved = np.linalg.norm(u @ Phi, axis=1, keepdims=True)
    return rounded(u * np.linalg.norm(region.objective.residuals(c[None])) / moved)


def rounded(u, digits=3):
    """Numbers as a person writes them."""
    return np.array([float(f"{x:.{digits}g}") for x in u.ravel()]).reshape(u.shape)


def boundary(region, c, u, q):
    """The first t at which c + t u leaves the region of level 1 - q/m, nearly; or None."""
    low, grid = 0.0, np.geomspace(1e-4, 1e4, 40)
    for _ in range(5):
        out = region.rank(c + grid[:, None] * u) > M - q
        if not out.any():
            return None
        first = int(np.argmax(out))
        low, high = (grid[first - 1] if first else low), grid[first]
        grid = np.linspace(low, high, 40)[1:]
    return high


def candidates(region, rng, label):
    """Near the estimate, on both sides of boundaries, far out; sparse, rounded and zero."""
    c, d = centre(region, label), len(region.estimate)
    u = directions(region, rng, 8)
    rows = [region.estimate]
    rows += [c + t * one for t, one in zip((1e-8, 1e-5, 1e-3, 1e-2, 0.05), u, strict=False)]
    for one in u[:3]:
        for q in (50, 10):
            t = boundary(region, c, one, q)
            near = (0.5, 5.0) if t is None else (t * (1 - 1e-5), t * (1 + 1e-5))
            rows += [c + s * one for s in near]
    rows += [c + t * one for t, one in zip((0.3, 3.0, 30.0, 1e4), u[4:], strict=True)]
    sparse = np.array([c + 0.2 * one for one in u])
    sparse[rng.random(sparse.shape) < 0.4] = 0.0
    sparse[1::2] = rounded(sparse[1::2], 1)
    sparse[2], sparse[3] = 0.0, np.where(np.arange(d) == 0, rounded(c, 1), 0.0)
    if d < 10 and not label:
        sparse[4:] = np.round(c + (np.arange(4)[:, None] == np.arange(d)))
    return np.vstack([*rows, *sparse])


def masks(region, a):
    """Whether each Z_i is less than Z_0, and whether they tie."""
    first, last = np.r_[0, 1:M], np.r_[M - 1, 0 : M - 1]
    none, every = (replace(region._engine, tie_order=pi).before(a) for pi in (first, last))
    return none, every & ~none


def inputs_of(X, rng):
    """Four inputs between and beside the rows."""
    rows = X[rng.choice(len(X), 4)]
    return rounded(rows + 0.3 * X.std(axis=0) * rng.normal(size=rows.shape)).tolist()


def questions(region, problem, rng):
    """All that may be asked; what the library refuses is left out."""
    text, n, d = problem.text["estimator"], region.n, len(region.estimate)
    last = text.get("steps", [text])[-1]
    name, options = last["class"], last["options"]
    dual = "kernel" in options
    label, series = problem.kind == "Labels", name == "ARX"
    quadratic = name in ("LinearRegression", "Ridge", "KernelRidge", "GaussianProcessRegressor")
    u, c = directions(region, rng, 4), centre(region, label)
    if series:
        for level, one in ((LOW, np.eye(d)[0]), (LEVEL, np.eye(d)[-1])):
            yield {"ask": "crossings", "direction": one.tolist(), "level": level}
        yield {"ask": "interval", "functionals": None, "level": LEVEL, "simultaneous": True}
        return
    f = region.objective.fitted(c[None] + 0.1 * u[:1])[0]
    yield {"ask": "test", "values": rounded(np.clip(f, -0.9, 0.9) if label else f, 4).tolist()}
    if name != "HuberRegressor":  # its lines are followed on a grid, for seconds
        yield {"ask": "reach", "directions": u[: 1 if label else 3].tolist()}
    yield from _lines(u, c, d)
    inputs = inputs_of(problem.arrays["X"], rng)
    joint = {"level": LEVEL, "simultaneous": True, "method": "joint"}
    yield {"ask": "band", "inputs": inputs, **joint}
    B = 2 * (region.suggest_norm_bound() if dual else np.linalg.norm(c))
    bound = {"norm_bound": float(rounded(np.array([B]), 2)[0])}
    if dual:
        for level in (LOW, LEVEL):
            asked = {"ask": "band", "inputs": inputs, **joint, **bound, "level": level}
            yield {**asked, "target": "representation"}
            yield {**asked, "target": "function"}
        yield {"ask": "norm_lower_bound", "level": LEVEL}
    else:
        some = np.vstack([np.eye(d), np.ones(d)]).tolist()
        yield {"ask": "interval", "functionals": some, **joint}
        if options.get("fit_intercept") is False:
            yield {"ask": "band", "inputs": inputs, **joint, **bound}
        if quadratic:
            low = {**joint, "level": LOW, "inner": True}
            yield {"ask": "interval", "functionals": some[:2], **low}
            yield {"ask": "ellipsoid", "level": LEVEL}
    for level in (LOW, LEVEL):
        yield {"ask": "bounded", "level": level}
    yield {"ask": "max_bounded_level"}
    if problem.kind == "Spherical" and name != "InstrumentalRegression":
        yield {"ask": "summary", "level": LEVEL, "method": "t"}
    units = problem.arrays.get("blocks", np.arange(n))
    if dual and not label:
        cells = (units % min(10, len(set(units)) // 2)).tolist()
        yield {"ask": "pointwise", "inputs": inputs, "level": LEVEL, **bound, "cells": cells}
    elif problem.kind in ("Symmetric", "BlockSymmetric", "SymmetricExchangeable"):
        yield from _cells(region, units, inputs, instruments=name == "InstrumentalRegression")


def _lines(u, c, d):
    """Along directions from the estimate, from elsewhere, and where coefficients stay at zero."""
    start = rounded(c + 0.1 * u[1]).tolist()
    yield {"ask": "crossings", "direction": u[0].tolist(), "level": LOW}
    yield {"ask": "crossings", "direction": u[2].tolist(), "level": LEVEL, "origin": start}
    axis, start = np.eye(d)[-1] * np.abs(u[0]).max(), np.where(np.arange(d) % 2, 0.0, rounded(c, 2))
    sparse = {"direction": axis.tolist(), "origin": start.tolist()}
    yield {"ask": "crossings", **sparse, "level": LEVEL}


def _cells(region, units, inputs, *, instruments):
    """One number at a time, with cells given as labels, whole units in each."""
    d = len(region.estimate)
    count = min(12, len(set(units)), region.n // (d + 1))
    if count < 5:
        return
    each = {"level": LEVEL, "method": "cells", "cells": (units % count).tolist()}
    last, other = np.eye(d)[-1].tolist(), float(rounded(region.estimate * 1.1, 3)[-1])
    yield {"ask": "summary", **each}
    for value in (0.0, other):
        yield {"ask": "hypothesis", "functional": last, "value": value, **each}
    if not instruments:
        yield {"ask": "summary", **each, "options": {"cell_weights": "residuals"}}
        yield {"ask": "summary", **each, "options": {"cell_estimate": "median"}}
        some = np.vstack([last, np.ones(d)]).tolist()
        yield {"ask": "interval", "functionals": some, "simultaneous": False, **each}
        yield {"ask": "pointwise", "inputs": inputs, **each}


def recorded(name, estimator, data, kind, extra, seed):
    """Build the problem, ask everything and return its text and its arrays."""
    X, y = data
    rng = np.random.default_rng([seed, 36])
    arrays = {"y": y} if X is None else {"X": X, "y": y}
    if extra.get("weights"):
        arrays["weights"] = np.tile([1.0, 2.0, 0.5, 3.0], len(y))[: len(y)]
    if "blocks" in extra:
        arrays["blocks"] = np.arange(len(y)) // extra["blocks"]
    if arrays.get("weights") is not None and "blocks" in extra:
        arrays["weights"] = 1.0 + arrays["blocks"] % 3
    if kind["class"] == "InBasis":
        arrays["basis"] = dct(np.eye(len(y)), norm="ortho")
    text = {
        "estimator": estimator,
        "noise": kind,
        "weighting": extra.get("weighting"),
        "ties": extra.get("ties", "random"),
        "seed": seed,
    }
    problem = Problem(name, text, arrays)
    drawn = problem.region(stored=False)
    arrays |= parts_of(problem.kind, drawn.perturbations.drawn)
    problem = Problem(name, text, arrays)
    region = problem.region()
    a = candidates(region, rng, problem.kind == "Labels")
    less, tied = masks(region, a)
    ranks = region.rank(a)
    r = region.objective.residuals(a)
    admitted = region.noise.admits(r, region.objective.fitted(a))
    arrays |= {
        "tie_order": region.tie_order,
        "candidates": a,
        "ranks": ranks,
        "admitted": admitted,
        "less": np.packbits(less, axis=1),
        "tied": np.packbits(tied, axis=1),
    }
    assert (problem.ranks(region.tie_order) == ranks).all(), name
    print(
        f"  {region.n} rows, {len(region.estimate)} coefficients, {int(tied.sum())} ties, ranks",
        np.percentile(ranks, [0, 25, 50, 75, 100]).astype(int).tolist(),
    )
    text["questions"] = []
    other = problem_with_seed(problem, seed + 1000)
    for question in questions(region, problem, rng):
        start = time.perf_counter()
        try:
            answer = ask(region, question, THEN)
        except (ua.NotAvailable, ValueError, TypeError) as refused:
            print(f"    {question['ask']}: {str(refused)[:90]}")
            continue
        seconds = time.perf_counter() - start
        if seconds > 1:
            print(f"    {question['ask']}: {seconds:.1f} s")
        if "cells" in question and ask(other, question, THEN) != answer:
            print(f"    {question['ask']}: depends on the seed", question.get("options"))
            continue
        text["questions"].append({**question, "answer": answer})
    return text, arrays


def problem_with_seed(problem, seed):
    return Problem(problem.name, {**problem.text, "seed": seed}, problem.arrays).region()


def main(part=""):
    texts, arrays = {}, {}
    rows = [(family, *row) for family, made in FAMILIES.items() for row in made()]
    for seed, (family, detail, estimator, data, kind, *extra) in enumerate(rows, start=1):
        name = f"{family}, {detail}".removesuffix(", ")
        if part not in name:
            continue
        start = time.perf_counter()
        print(name)
        texts[name], own = recorded(name, estimator, data, kind, extra[0] if extra else {}, seed)
        arrays |= {f"{name}/{key}": value for key, value in own.items()}
        print(f"  {time.perf_counter() - start:.1f} s")
    if part:
        print(json.dumps({k: v["questions"] for k, v in texts.items()}, indent=1))
        return
    np.savez_compressed(ARRAYS, **arrays)
    lines = [f" {json.dumps(name)}: {json.dumps(text)}" for name, text in texts.items()]
    TEXT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(len(texts), "problems,", ARRAYS.stat().st_size, "and", TEXT.stat().st_size, "bytes")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
