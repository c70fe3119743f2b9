"""Tables that people have collected: 26 data sets of statsmodels and scikit-learn."""

from collections.abc import Iterator

import numpy as np
import statsmodels.api as sm
from sklearn import datasets

STATSMODELS = (
    "ccard",
    "committee",
    "copper",
    "cpunish",
    "fair",
    "longley",
    "randhie",
    "scotland",
    "spector",
    "stackloss",
    "star98",
    "statecrime",
    "strikes",
)


def dummies(labels):
    """A column for every level but the first."""
    levels = np.unique(labels)
    return (np.asarray(labels)[:, None] == levels[1:]).astype(float)


def tables() -> Iterator[tuple[str, np.ndarray, np.ndarray, list[str]]]:
    """Yield names, inputs without the constant, outputs and names of the columns."""
    for name in STATSMODELS:
        data = getattr(sm.datasets, name).load_pandas()
        y = np.asarray(data.endog, dtype=float)
        X = np.asarray(data.exog, dtype=float)
        varies = np.ptp(X, axis=0) > 0
        names = [str(c) for c, keep in zip(data.exog.columns, varies, strict=True) if keep]
        yield name, X[:, varies], y[:, 0] if y.ndim > 1 else y, names
    engel = sm.datasets.engel.load_pandas().data
    yield "engel", engel[["income"]].to_numpy(), engel["foodexp"].to_numpy(), ["income"]
    cancer = sm.datasets.cancer.load_pandas().data
    yield "cancer", cancer[["population"]].to_numpy(), cancer["cancer"].to_numpy(), ["population"]
    heart = sm.datasets.heart.load_pandas().data
    yield "heart", heart[["age"]].to_numpy(), np.log(heart["survival"].to_numpy()), ["age"]
    firms = sm.datasets.grunfeld.load_pandas().data
    X = np.column_stack([firms[["value", "capital"]], dummies(firms["firm"])])
    names = ["value", "capital", *(f"firm{k}" for k in range(1, X.shape[1] - 1))]
    yield "grunfeld", X, firms["invest"].to_numpy(), names
    macro = sm.datasets.macrodata.load_pandas().data
    X = np.column_stack(
        [np.log(macro["realdpi"]), np.log(macro["realgovt"]), macro[["tbilrate", "unemp", "infl"]]]
    )
    names = ["dpi", "govt", "tbill", "unemp", "infl"]
    yield "macrodata", X, np.log(macro["realcons"].to_numpy()), names
    mode = sm.datasets.modechoice.load_pandas().data
    names = ["ttme", "invc", "invt", "gc", "hinc", "psize"]
    X = np.column_stack([mode[names], dummies(mode["mode"])])
    yield "modechoice", X, mode["choice"].to_numpy(dtype=float), [*names, "m2", "m3", "m4"]
    votes = sm.datasets.anes96.load_pandas().data
    names = ["popul", "TVnews", "selfLR", "ClinLR", "DoleLR", "age", "educ", "income"]
    yield "anes96", votes[names].to_numpy(dtype=float), votes["PID"].to_numpy(dtype=float), names
    for load in ("diabetes", "breast_cancer", "wine", "iris"):
        bunch = getattr(datasets, f"load_{load}")()
        names = [str(name) for name in bunch.feature_names]
        yield load.replace("_", " "), bunch.data, bunch.target.astype(float), names
