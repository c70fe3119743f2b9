"""What is said to help does help: every piece of advice is carried out."""

import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import unassuming as ua
from speed import slow_but
from unassuming.regions import Language, Status

M = 20
KERNEL = {"kernel": "rbf", "gamma": 0.5}
DUAL = ua.datasets.sine(n=10, noise="laplace", random_state=0)[:2]
PRIMAL = ua.datasets.linear(n=30, d=3, noise="laplace", random_state=0)[:2]
UNEVEN = (PRIMAL[0] * [1.0, 100.0, 0.01], PRIMAL[1])
SHORT = (PRIMAL[0][:16], PRIMAL[1][:16])
WIDE = (np.random.default_rng(0).normal(size=(8, 12)), PRIMAL[1][:8])


class Own:
    """A model of somebody else's."""


class OwnObjective(ua.objectives.Objective):
    """Σ |r|^{3/2}, by membership alone."""

    def __init__(self, X, y):
        super().__init__(y, X.shape[1])
        self.X = X

    def residuals(self, coefficients):
        return self.y - coefficients @ self.X.T

    def gradient(self, coefficients, residuals):
        return -(np.sign(residuals) * np.sqrt(np.abs(residuals))) @ self.X

    def estimate(self):
        return np.linalg.lstsq(self.X, self.y, rcond=None)[0]


@pytest.fixture(autouse=True)
def short_searches(monkeypatch):
    """One round from one member: whether there is an answer, not how good it is."""
    monkeypatch.setattr("unassuming.regions.search._line_search._EXACT_SEARCH", (2, 1, 1))
    monkeypatch.setattr("unassuming.regions.search._line_search._GRID_SEARCH", (1, 1, 1))
    bounds = "unassuming.geometry._relaxed_supports"
    monkeypatch.setattr(f"{bounds}._LOG_GRID", np.linspace(-30.0, 60.0, 21))
    monkeypatch.setattr(f"{bounds}._STEPS", 5)
    ua.register_objective(Own, lambda estimator, X, y, w: OwnObjective(X, y))


CASES = {
    "SVR at its box": (SVR(C=1.0, gamma=0.5), DUAL, {}),
    "SVR": (SVR(C=1e3, gamma=0.5), DUAL, {}),
    "SVR, identity": (SVR(C=1e3, gamma=0.5), DUAL, {"weighting": "identity"}),
    "HuberRegressor": (HuberRegressor(), (PRIMAL[0][:12, :1], PRIMAL[1][:12]), {}),
    "KernelHuber": (ua.KernelHuber(**KERNEL), DUAL, {}),
    "KernelLasso": (ua.KernelLasso(alpha=1.0, **KERNEL), DUAL, {}),
    "Lasso, permutations": (Lasso(0.1), SHORT, {"noise": "exchangeable"}),
    "Lasso, uneven features": (Lasso(0.1), UNEVEN, {}),
    "Lasso, more features than rows": (Lasso(0.1), WIDE, {}),
    "Ridge, identity, uneven": (Ridge(), UNEVEN, {"weighting": "identity"}),
    "own": (Own(), (PRIMAL[0][:12, :2], PRIMAL[1][:12]), {}),
}
CALLS = [
    ("interval", {}),
    ("interval", {"norm_bound": True}),
    ("interval", {"inner": True}),
    ("band", {}),
    ("band", {"norm_bound": True}),
    ("sample", {}),
    ("sample", {"norm_bound": True}),
]


ANSWERS = {}
"""By region, call and options: different advice often leads to the same answer."""


def ask(region, call, X, **options):
    key = (region, call, repr(sorted(options.items())))
    if key not in ANSWERS:
        ANSWERS[key] = answer(region, call, X, **options)
    return ANSWERS[key]


def answer(region, call, X, **options):
    if call == "interval":
        return region.interval(**options)
    return region.band(X[:3], **options) if call == "band" else region.sample(3, **options)


REGIONS = {}


def built(model, data, **options):
    """The region of these arguments, one for all calls."""
    key = (repr(model), id(data), repr(sorted(options.items())))
    if key not in REGIONS:
        REGIONS[key] = ua.confidence_region(model, *data, m=M, random_state=0, **options)
    return REGIONS[key]


def finite(found):
    if isinstance(found, np.ndarray):
        return np.isfinite(found).all()
    return np.isfinite(found.lower).all() and np.isfinite(found.upper).all()


def called(code, region, call, X, B, options):
    """Return the answer to a call with these arguments."""
    given = eval(f"dict({code[code.index('norm_bound=') :]})", {"B": B})
    if "region.names[1:]" in code:
        return region.interval(region.names[1:], **given)
    return ask(region, call, X, **{**options, **given})


def carry_out(way, region, case, call, options):
    """Do what it says; whether the answer is then finite."""
    estimator, data, chosen = case
    X = data[0]
    B = region.suggest_norm_bound() if "norm_bound=B" in way else None

    def rebuilt(model, **other):
        return built(model, data, **{**chosen, **other})

    if level := re.search(r"a level of at most ([\d.]+)$", way):
        p = np.floor(float(level[1]) * M + 1e-9) / M
        return finite(ask(region, call, X, **{**options, "level": p}))
    if calls := re.findall(r"(?:band|interval|sample)\(([^()]*norm_bound=[^()]*)\)", way):
        return all(finite(called(code, region, call, X, B, options)) for code in calls)
    if way == "weighting='hessian'":
        return finite(ask(rebuilt(estimator, weighting="hessian"), call, X, **options))
    if code := re.search(r"make_pipeline\(StandardScaler\(\), .*\)$", way):
        assert eval(code[0]).steps[-1][1].get_params() == estimator.get_params()
        scaled = rebuilt(make_pipeline(StandardScaler(), estimator))
        return finite(ask(scaled, call, X, **options))
    if way.startswith("noise='symmetric', if"):
        return finite(ask(rebuilt(estimator, noise="symmetric"), call, X, **options))
    if way.startswith("LinearRegression()"):
        return finite(rebuilt(LinearRegression(), weighting=None).interval(region.names[1:]))
    if way.startswith("KernelRidge() with the same kernel"):
        other = KernelRidge(**{key: getattr(estimator, key) for key in KERNEL})
        return finite(ask(rebuilt(other, weighting=None), call, X, **options))
    if way.startswith("simultaneous=False"):
        return finite(ask(region, call, X, **{**options, "simultaneous": False}))
    if way.startswith("method='cells'"):
        return finite(ask(region, call, X, **{**options, "method": "cells"}))
    if way.startswith("fit_intercept=False"):
        other = clone(estimator).set_params(fit_intercept=False)
        region = rebuilt(other)
        bound = max(options["norm_bound"], region.suggest_norm_bound())
        return finite(ask(region, call, X, **{**options, "norm_bound": bound}))
    if way.startswith("inner=True"):
        found = ask(region, call, X, **{**options, "inner": True})
        return not np.isinf([found.inner_lower, found.inner_upper]).all()
    if way.startswith("crossings(direction)"):
        return region.crossings(region.names[0]).shape[1] == 2
    return way == "fewer features than rows" and region.objective.d > region.n


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call[0]} {' '.join(call[1])}")
@pytest.mark.parametrize("name", slow_but(CASES, "Ridge, identity, uneven"))
def test_what_is_said_to_help_helps(name, call):
    case, (call, options) = CASES[name], call
    region = built(case[0], case[1], **case[2])
    if name == "own" and (call == "band" or "norm_bound" in options):
        return  # there is no such call
    options = {
        k: region.suggest_norm_bound() if k == "norm_bound" else v for k, v in options.items()
    }
    try:
        found = ask(region, call, case[1][0], **options)
    except ua.NotAvailable as error:
        reason = str(error)
    else:
        if call == "sample" or found.status is Status.CERTIFIED:
            return
        reason = found.reason
    assert reason.count("Remedies: ") == 1
    told = reason.split("Remedies: ")[1].rstrip(".").split("; ")
    assert told
    inner = options.pop("inner", False)  # members found on the way move no outer bound
    for way in told:
        assert carry_out(way, region, case, call, options), way
        assert not ("inner=True" in way and inner)


KERNELS = [SVR(gamma=0.5), ua.KernelLasso(**KERNEL), ua.KernelHuber(**KERNEL)]


@pytest.mark.slow_but_first
@pytest.mark.parametrize("model", KERNELS, ids=lambda model: type(model).__name__)
def test_kernels_without_a_norm_bound_are_led_to_what_works_with_one(model):
    X, y, _ = ua.datasets.sine(n=16, random_state=0)
    single, cells = "norm_bound=B, simultaneous=False", "norm_bound=B, method='cells'"
    # 16 rows: balanced cells as well; 5: one at a time only; 4: neither.
    for n in (16, 5, 4):
        region = ua.confidence_region(model, X[:n], y[:n], m=M, random_state=0)
        told = region.band(X[:2])
        option = told.explanation.text(Language.COMMAND_LINE)
        assert (f"band(X, {single}) for bounds that hold one at a time" in told.reason) == (n > 4)
        assert ("--norm-bound B --pointwise" in option) == (n > 4)
        lasso = isinstance(model, ua.KernelLasso)  # the data narrow its joint region
        assert (f"band(X, {cells})" in told.reason) == (n > 5 and not lasso)
        assert finite(region.band(X[:2], norm_bound=9.0, simultaneous=False)) == (
            n > 4 or not region.objective.design.intercept
        )
    for noise in ("exchangeable", "spherical"):
        region = ua.confidence_region(model, X, y, m=M, random_state=0, noise=noise)
        assert (single in region.band(X[:2]).reason) == (noise == "spherical")


def test_the_reason_says_when_the_norm_bound_does_it_all():
    alone = "follow from the norm bound alone"
    for name, says in (("KernelHuber", True), ("KernelLasso", False)):
        estimator, (X, y), _ = CASES[name]
        region = ua.confidence_region(estimator, X, y, m=M, random_state=0)
        found = region.band(X, norm_bound=30.0)
        assert found.status is Status.CERTIFIED
        assert (alone in found.reason) == says
        assert (found.upper >= 30.0).all() == says  # k(z, z) = 1


@pytest.mark.parametrize("estimator", [KernelRidge(**KERNEL), ua.KernelHuber(**KERNEL)])
def test_a_bound_below_the_norm_of_the_estimate_is_told(estimator):
    region = ua.confidence_region(estimator, *DUAL, m=M, random_state=0)
    norm = region.suggest_norm_bound() / 2
    said = f"The estimate's own norm is {norm:.6g}, larger than the bound"
    assert said in region.band(DUAL[0], norm_bound=0.9 * norm).reason
    assert said not in region.band(DUAL[0], norm_bound=1.1 * norm).reason


@pytest.mark.slow
def test_permutations_are_explained_for_the_lasso_as_for_least_squares():
    estimator, data, options = CASES["Lasso, permutations"]
    found = ua.confidence_region(estimator, *data, m=M, random_state=0, **options).interval()
    assert found.status is Status.UNBOUNDED
    assert "leaves a constant shift of the noise unchanged" in found.reason


def test_a_constant_column_beside_the_intercept_is_named():
    X, y = PRIMAL
    for inputs, named in ((np.c_[X, np.full(len(X), 3.0)], True), (np.c_[X, X[:, 0]], False)):
        told = str(ua.confidence_region(LinearRegression(), inputs, y, random_state=0).summary())
        assert "some of them are linearly dependent" in told
        assert ("leave out x3, which is constant: the model has an intercept" in told) == named
    alone = LinearRegression(fit_intercept=False)
    two = np.c_[X, np.ones(len(X)), np.ones(len(X))]
    assert "constant" not in str(ua.confidence_region(alone, two, y, random_state=0).summary())


def test_fewer_rows_than_coefficients_are_counted():
    told = str(ua.confidence_region(LinearRegression(), *WIDE, random_state=0).summary())
    assert "8 rows do not determine all 13 numbers: the model has 13 coefficients." in told


def test_an_estimate_of_another_program_is_recognised():
    region = ua.confidence_region(LinearRegression(), *PRIMAL, random_state=0)
    found = str(region.test(region.estimate * (1 + 1e-13)))
    assert "If this candidate was fitted to the same y" in found
    assert "test_functional" not in found


def test_advice_for_labels_leads_to_something_finite():
    X, labels = PRIMAL[0][:, :1], np.where(PRIMAL[1] > 0, "yes", "no")
    region = ua.confidence_region(LogisticRegression(), X, labels, m=M, random_state=0)
    with pytest.raises(ua.NotAvailable, match=r"region.test\(coefficients\).* or RidgeClassifier"):
        region.summary()
    assert 0 < region.test(region.estimate).pvalue <= 1
    assert not np.isfinite(region.interval().upper).any()
    least = ua.confidence_region(RidgeClassifier(), X, labels, m=M, random_state=0)
    assert np.isfinite(least.interval().upper).all()
    with pytest.raises(ua.NotAvailable, match=r"region.interval\(\)"):
        least.summary()


def test_a_penalised_quantile_without_bounds_is_advised_to_drop_the_penalty():
    X, y = PRIMAL[0][:, :1] / 100, PRIMAL[1]
    found = []
    for alpha in (1.0, 0.0):
        model = QuantileRegressor(quantile=0.5, alpha=alpha)
        found.append(ua.confidence_region(model, X, y, m=M, random_state=0).interval())
    assert "alpha=0, the regression quantile without a penalty" in found[0].reason
    assert found[1].status is Status.CERTIFIED
