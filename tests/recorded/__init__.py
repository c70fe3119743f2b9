"""Answers on 82 ordinary problems, with everything that they are answers to.

``problems.npz`` holds the data, the transformations themselves (signs, permutations, rotations,
uniform numbers), the tie order, the candidates and their ranks; ``problems.json`` the models, the
questions and the answers. No generator is needed to use them, and `Problem.region` gives the
stored transformations to the library.
"""

import json
import warnings
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.svm import SVR, LinearSVR

import unassuming as ua

HERE = Path(__file__).parent
ARRAYS, TEXT = HERE / "problems.npz", HERE / "problems.json"
M = 100

CLASSES = {
    cls.__name__: cls
    for cls in (
        *(ElasticNet, HuberRegressor, Lasso, LinearRegression, LogisticRegression),
        *(QuantileRegressor, Ridge, RidgeClassifier, SVR, LinearSVR, KernelRidge),
        *(GaussianProcessRegressor, RBF, SplineTransformer, StandardScaler),
        *(ua.KernelLasso, ua.KernelHuber, ua.LSSVC, ua.ARX, ua.InstrumentalRegression),
    )
}

DECLARED = ("restrict", "units", "sign_units", "swap_blocks", "separable", "spherical")
"""What a class of noise declares besides the transformations it draws."""


def make(spec):
    """An estimator from its class and its options, or a pipeline from its steps."""
    if "steps" in spec:
        return make_pipeline(*map(make, spec["steps"]))
    options = {k: make(v) if isinstance(v, dict) else v for k, v in spec["options"].items()}
    return CLASSES[spec["class"]](**options)


def replayed(noise, drawn):
    """The same assumption, whose transformations are the stored ones."""
    kind = type(noise)
    body = {name: getattr(kind, name) for name in DECLARED}
    body["draw"] = lambda self, n, size, rng: drawn
    stored = copy(noise)
    stored.__class__ = type(kind.__name__, (kind,), body)
    return stored


@dataclass(frozen=True)
class Problem:
    """A model, data, an assumption on the noise, transformations, questions and answers."""

    name: str
    text: dict
    arrays: dict

    @property
    def questions(self):
        return self.text["questions"]

    @cached_property
    def estimator(self):
        return make(self.text["estimator"])

    @property
    def kind(self):
        """The class of the noise; that of the coordinates, in another basis."""
        noise = self.text["noise"]
        return noise.get("inner", noise)["class"]

    def noise(self, drawn=None):
        """The assumption, with the stored transformations if they are given."""
        spec = self.text["noise"]
        if spec["class"] == "InBasis":
            return ua.noise.InBasis(self.arrays["basis"], self._noise(spec["inner"], drawn))
        return self._noise(spec, drawn)

    def _noise(self, spec, drawn):
        options = {k: v for k, v in spec.items() if k != "class"}
        if spec["class"] == "BlockSymmetric":
            options["blocks"] = self.arrays["blocks"]
        noise = getattr(ua.noise, spec["class"])(**options)
        return noise if drawn is None else replayed(noise, drawn)

    @property
    def drawn(self):
        """The transformations, as the classes of noise draw them."""
        if self.kind == "SymmetricExchangeable":
            return self.arrays["signs"], self.arrays["order"].astype(np.intp)
        if "order" in self.arrays:
            return self.arrays["order"].astype(np.intp)
        names = ("signs", "rotations", "uniforms", "below")
        return next(self.arrays[name] for name in names if name in self.arrays)

    def moved(self, r, f):
        """G_i r of residuals (N, n) at fitted values f (N, n), without the library: (N, 99, n)."""
        if "basis" not in self.arrays:
            return self.moved_coordinates(r, f)
        Q = self.arrays["basis"]
        return self.moved_coordinates(r @ Q, f) @ Q.T

    def moved_coordinates(self, r, f):
        """The same for coordinates of residuals in the basis of the noise."""
        a = self.arrays
        if "uniforms" in a:
            return np.where(a["uniforms"] < (1 + f[:, None]) / 2, 1.0, -1.0) - f[:, None]
        if "below" in a:
            return np.where(a["below"], -1.0, 1.0) + 0 * r[:, None]
        if "rotations" in a:
            return np.einsum("ijk,nk->nij", a["rotations"], r)
        order = a.get("order", np.arange(r.shape[1])[None])
        return r[:, order] * a.get("signs", 1)

    def region(self, *, stored=True):
        """The region of the library, with the stored transformations."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # models without a guarantee say so
            return ua.confidence_region(
                self.estimator,
                self.arrays.get("X"),
                self.arrays["y"],
                noise=self.noise(self.drawn if stored else None),
                m=M,
                sample_weight=self.arrays.get("weights"),
                weighting=self.text["weighting"],
                ties=self.text["ties"],
                random_state=self.text["seed"],
            )

    def ranks(self, tie_order):
        """The ranks of the candidates for any tie order π."""
        before = self.less | (self.tied & (tie_order[1:] < tie_order[0]))
        return np.where(self.arrays["admitted"], 1 + before.sum(axis=-1), M)

    @property
    def less(self):
        """Whether Z_i < Z_0, for each candidate: (30, 99)."""
        return np.unpackbits(self.arrays["less"], axis=1, count=M - 1).astype(bool)

    @property
    def tied(self):
        """Whether Z_i = Z_0, for each candidate: (30, 99)."""
        return np.unpackbits(self.arrays["tied"], axis=1, count=M - 1).astype(bool)


@cache
def problems():
    """All problems by name."""
    with np.load(ARRAYS) as stored:
        arrays = {key: stored[key] for key in stored.files}
    found = {}
    for name, text in json.loads(TEXT.read_text(encoding="utf-8")).items():
        own = {key.partition("/")[2]: a for key, a in arrays.items() if key.startswith(name + "/")}
        found[name] = Problem(name, text, own)
    return found


def ask(region, question, words=None):
    """The answer of a region to a question, as a dictionary of numbers and lists.

    ``words`` are other names that a library has for options, their values and `hypothesis`.
    """
    words = words or {}
    given = {k: v for k, v in question.items() if k not in ("ask", "answer", "options")}
    options = {
        words.get(k, k): words.get(v, v) if isinstance(v, str) else v
        for k, v in question.get("options", {}).items()
    }
    answer = ASKED[question["ask"]](region, words=words, **given, **options)
    return {key: np.asarray(value).tolist() for key, value in answer.items()}


def _of_values(region, values, words):
    found = region.test(lambda X: np.array(values))
    statistics = found.statistics / found.statistics.sum()
    return {"rank": found.rank, "pvalue": found.pvalue, "statistics": statistics}


def _reach(region, directions, words):
    return {"reach": region.reach(np.array(directions), level=None)}


def _crossings(region, direction, level, words, origin=None):
    return {"sets": region.crossings(np.array(direction), level=level, origin=origin)}


def _bounds(found):
    ends = {"estimate": found.estimate, "lower": found.lower, "upper": found.upper}
    if found.inner_lower is not None:
        ends |= {"inner_lower": found.inner_lower, "inner_upper": found.inner_upper}
    return ends


def _interval(region, functionals, level, words, **options):
    functionals = None if functionals is None else np.array(functionals)
    return _bounds(region.interval(functionals, level=level, **options))


def _band(region, inputs, level, words, **options):
    return _bounds(region.band(np.array(inputs), level=level, **options))


def _pointwise(region, inputs, level, words, **options):
    found = region.band(np.array(inputs), level=level, simultaneous=False, **options)
    return {"lower": found.lower, "upper": found.upper}


def _ellipsoid(region, level, words):
    found = region.ellipsoid(level=level)
    sides = [found.project(one) for one in np.eye(len(found.center))]
    return {"center": found.center, "sides": sides}


def _bounded(region, level, words):
    return {"verdict": region.bounded(level=level).verdict}


def _summary(region, level, words, **options):
    found = region.summary(level=level, functionals=options.pop("functionals", None), **options)
    answer = {"level": found.level, "lower": found.lower, "upper": found.upper}
    if found.sets is not None:
        answer["sets"] = np.concatenate([one.ends for one in found.sets])
    return answer | {"pvalue": found.pvalue}


def _hypothesis(region, functional, value, level, words, **options):
    test = getattr(region, words.get("hypothesis", "hypothesis"))
    return {"pvalue": test(np.array(functional), value, level=level, **options).pvalue}


ASKED = {
    "test": _of_values,
    "reach": _reach,
    "crossings": _crossings,
    "interval": _interval,
    "band": _band,
    "ellipsoid": _ellipsoid,
    "bounded": _bounded,
    "max_bounded_level": lambda region, words: {"level": region.max_bounded_level},
    "norm_lower_bound": lambda region, level, words: {"bound": region.norm_lower_bound(level)},
    "summary": _summary,
    "hypothesis": _hypothesis,
    "pointwise": _pointwise,
}
"""How the library is asked: the only calls to it besides `Problem.region` and ranks."""
