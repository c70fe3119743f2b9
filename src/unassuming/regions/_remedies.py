"""What to do about bounds that are infinite: only what does work for this region and this call.

A remedy is offered if it is known to work. Whether it works depends on the inputs and on the
transformations, never on y, so following it keeps the guarantee.
"""

from __future__ import annotations

from collections.abc import Iterator

from unassuming.geometry.quadratic import FreeDirections, Spread
from unassuming.noise import Exchangeable, ExchangeableWithin, Noise, Symmetric
from unassuming.objectives import Design, Quadratic
from unassuming.ranking import level_in_digits
from unassuming.regions._explain import Remedy
from unassuming.regions._question import Call

# The vocabulary


def norm_bound(paste: str | None, about: str = "", single: str | None = None) -> Remedy:
    """Assume a norm bound, with calls to paste; ``single`` is for bounds one at a time."""
    text, alone = f"a norm bound that you can assume{about}: ", "for bounds that hold one at a time"
    calls, options = [], []
    if paste is not None:
        calls, options = [paste], ["--norm-bound B"]
    if single is not None:
        calls.append(f"{single} {alone}")
        options.append(f"--norm-bound B --pointwise {alone}")
    return Remedy(text + ", or ".join(calls), text + ", or ".join(options), norm_bound=True)


def level(highest: float, m: int | None = None) -> Remedy:
    """Ask at a lower level, a multiple of 1/m if m is given."""
    digits = level_in_digits(highest, m)
    return Remedy(f"a level of at most {digits}", f"--level {digits} or less", level=highest)


SYMMETRIC = Remedy(
    "noise='symmetric', if the noise is symmetric", "--noise symmetric, if the noise is symmetric"
)
EXCHANGEABLE = Remedy(
    "noise='exchangeable', if the noise is exchangeable",
    "--noise exchangeable, if the noise is exchangeable",
)
SYMMETRIC_EXCHANGEABLE = Remedy(
    "noise='symmetric-exchangeable' with a larger m, if the noise is also exchangeable",
    "--noise symmetric-exchangeable with a larger --m, if the noise is also exchangeable",
)
SPHERICAL = Remedy(
    "noise='spherical', if rotations do not change the law of the noise",
    "--noise spherical, if rotations do not change the law of the noise",
)
STRONGER = Remedy(
    "instruments that move the endogenous column more, or more rows",
    "--instruments that move the endogenous column more, or more rows",
)
FEWER_FEATURES = Remedy("fewer features", "fewer columns, --features")
FEWER_THAN_ROWS = Remedy("fewer features than rows", "fewer columns than rows, --features")
SPAN_OF_WEIGHTS = 12
"""Orders of magnitude of weights with which a cell of a few rows still determines numbers."""
LIKE_WEIGHTS = Remedy(
    f"weights that span at most {SPAN_OF_WEIGHTS} orders of magnitude: "
    f"sample_weight=np.maximum(w, 1e-{SPAN_OF_WEIGHTS} * w.max())",
    f"--weights that span at most {SPAN_OF_WEIGHTS} orders of magnitude",
)
SHIFT_FREE = Remedy(
    "functionals that a shift does not change, such as slopes: interval(functionals)", None
)
BAND = Remedy("bounds of values of the function: band(X)", None)
AT_INPUTS = Remedy("bounds at the inputs of the data: band(region.inputs)", None)
ATTAINED = Remedy("inner=True for values that members attain", None)
LEAST_SQUARES = Remedy(
    "LinearRegression(), whose slopes a shift does not change: its interval(region.names[1:])",
    "--model ols, whose slopes a shift does not change",
)
NO_INTERCEPT = Remedy(
    "KernelRidge() with the same kernel, which has no intercept",
    "--model krr, which has no intercept",
)
MODEL_OF_FEATURES = Remedy(None, "a model with fewer features than rows: --model spline")
CELLS = Remedy("method='cells', bounds from estimates in parts of the rows", "--method cells")
ONE_AT_A_TIME = Remedy("simultaneous=False, for bounds that hold one at a time", "--pointwise")
CROSSINGS = Remedy("crossings(direction), which shows how far a line extends", None)


def few_components(n: int) -> Remedy:
    """Approximate a kernel by fewer features than rows."""
    few = min(10, n // 4)
    return Remedy(
        f"fewer features than rows: make_pipeline(Nystroem(n_components={few}), Ridge())",
        "a model with fewer features than rows: --model spline",
    )


# Quadratic regions


def of_quadratic_region(
    objective: Quadratic,
    free: FreeDirections,
    noise: Noise,
    best: float,
    m: int,
    *,
    held: bool = False,
) -> Iterator[Remedy]:
    """Yield what to do about a region, or bounds, without end.

    ``best`` is a level at which they have one, a multiple of 1/m; ``held`` says that a norm bound
    is given already.
    """
    shift, features = free.only_a_shift, not objective.design.dual
    if not held and not (shift and objective.design.intercept):
        yield norm_bound("band(X, norm_bound=B) or interval(norm_bound=B)")
    if best > 0:
        yield level(best, m)
    if isinstance(noise, Symmetric) and (objective.w == objective.w[0]).all():
        yield SYMMETRIC_EXCHANGEABLE if features else SPHERICAL
    if isinstance(noise, (Exchangeable, ExchangeableWithin)):
        yield SYMMETRIC
    if features:
        yield SHIFT_FREE if shift else FEWER_FEATURES
    elif objective.n >= 4:
        yield few_components(objective.n)


def of_bad_scales(spread: Spread, *, rotated: bool = False) -> Iterator[Remedy]:
    """Yield what to do about numbers of too different a size; rotated rows cannot be dropped."""
    if spread.weights:
        yield LIKE_WEIGHTS
        return
    text = f"use a scale on which {spread.column} spans less, such as its logarithm"
    if not rotated:
        text = f"drop row {spread.row} (counted from zero) if its value is a code, or {text}"
    yield Remedy(text, text)


def of_hidden_functionals(design: Design, call: Call, *, held: bool) -> Iterator[Remedy]:
    """Yield what to do about functionals that fitted values do not determine."""
    yield AT_INPUTS if call is Call.BAND else BAND
    if not design.dual:
        yield FEWER_FEATURES
    if not held:
        asked = Call.BAND if design.dual else call
        yield norm_bound(asked.value.format("norm_bound=B"))


# Label regions

OF_EMPTY_LABEL_REGION = (
    Remedy("other features", "other columns, --features"),
    Remedy("a kernel", "--kernel rbf"),
    Remedy("LogisticRegression", "--model logistic"),
    Remedy("a higher level", "a higher --level"),
)
OF_HIDDEN_LABEL_FUNCTIONALS = (
    Remedy("inputs of the data, where E[y|x] is determined", None),
    Remedy("a model without a bias beside a full-rank kernel", None),
)
FEW_LABEL_COEFFICIENTS = Remedy(
    "at most 3 columns and no kernel", "--kernel linear with at most 3 columns, --features"
)
LEAST_SQUARES_LABELS = Remedy(
    "RidgeClassifier() with at most 3 columns, if E[y|x] can be linear in them",
    "--model ls-svc with at most 3 columns, --features",
)
LABEL_NORM_BOUND = Remedy("a norm bound", "--norm-bound B", norm_bound=True)


# Regions of regression quantiles

FEW_COEFFICIENTS = Remedy("fewer coefficients", "fewer columns, --features")


NO_PENALTY = Remedy("alpha=0, the regression quantile without a penalty", "--alpha 0")


def of_quantiles(*, inner: bool, penalised: bool) -> tuple[Remedy, ...]:
    """Return what to do without outer bounds; ``inner``: attained values were asked for."""
    return (NO_PENALTY,) * penalised + (FEW_COEFFICIENTS, CROSSINGS if inner else ATTAINED)
