"""Bounds of the rounding errors of sums hold in rational arithmetic, and are not far too large."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua
from rational_sets import as_integers, product, solved, transposed
from unassuming._rounding import UNIT, length
from unassuming.noise import draw_key
from unassuming.streaming._errors import BLOCK, Errors, weighted
from unassuming.streaming._ledger import Ledger
from unassuming.streaming._sums import LEAF_ROWS, leaf_rows, sums_for

M = 5
NOISES = {"signs": ua.noise.Symmetric(), "permutations": ua.noise.ExchangeableWithin(64)}


def kahan(rng, n, k=5):
    """Columns of which each keeps a good share beside those before it, all together do not."""
    share = 2e-3 ** (1 / (k - 1))
    R = np.eye(k) - np.sqrt(1 - share) * np.triu(np.ones((k, k)), 1)
    return np.linalg.qr(rng.normal(size=(n, k)))[0] @ (np.sqrt(share) ** np.arange(k)[:, None] * R)


def columns(name, rng, n=2600):
    """Rows [Φ, y] for which sums are hard to compute."""
    x = rng.normal(size=(n, 3))
    y = x.sum(axis=1) + rng.laplace(size=n)
    if name == "one large cell":
        x[n // 3, 1] = 1e12
    if name == "equal numbers":  # every rounding error has the same sign
        x[:, 1] = (np.arange(n) % 11 > 0) / 3
        x[:, 2] = 0.1 + (np.arange(n) % 7 == 0)
    if name == "cancelling":
        x[:, 0] = (-1.0) ** np.arange(n) * 1e8 + x[:, 0]
        x[:, 1] -= x[:, 0]
    if name == "lost digits":  # squares of all rows of a block but one are added to one, and lost
        row = np.arange(2 * LEAF_ROWS)
        y = np.where(row % BLOCK, np.sqrt(0.9 * UNIT), 1.0)
        signs = (-1.0) ** (row[:, None] // BLOCK // [1, 2])  # four columns that are orthogonal
        x = y[:, None] * np.column_stack([signs, signs.prod(axis=1)])
    if name == "far from zero":
        x += [1e7, -1e3, 0.1]
    if name == "nearly dependent":
        x[:, 1] = x[:, 0] + 1e-9 * x[:, 1]
    if name == "nearly dependent later":
        x[: n // 2, 1] = x[: n // 2, 0] + 0.03 * x[: n // 2, 1]
    if name == "many scales":
        x *= 10.0 ** rng.integers(-8, 8, size=(n, 1))
    if name == "rare":
        x[:, 1] = np.arange(n) == 70
    if name == "Kahan":
        x = kahan(rng, n)
    return np.column_stack([x, y])


NAMES = (
    "plain",
    "one large cell",
    "equal numbers",
    "cancelling",
    "lost digits",
    "far from zero",
    "nearly dependent",
    "nearly dependent later",
    "many scales",
    "rare",
    "Kahan",
)


def exact_products(Z, noise, key, weight=None):
    """ZᵀWZ and ZᵀW(G_i - I)Z as rationals."""
    whole, powers = as_integers(Z)
    heavy, unit = (whole, 1) if weight is None else as_integers(weight[:, None])
    heavy, unit = (whole, 1) if weight is None else (whole * heavy, unit[0])
    k, n = Z.shape[1], len(Z)
    moved = noise.apply(noise.draw_rows(key, 0, n, M - 1), np.arange(1.0, n + 1), None)
    moved = moved.astype(np.int64)

    def rational(A):
        return [[unit * powers[a] * powers[b] * int(A[a, b]) for b in range(k)] for a in range(k)]

    images = (np.sign(one).astype(object)[:, None] * whole[np.abs(one) - 1] for one in moved)
    return rational(heavy.T @ whole), [rational(heavy.T @ (image - whole)) for image in images]


def size(A):
    return float(np.linalg.norm([[float(x) for x in row] for row in A], 2))


def minus(A, B):
    return [
        [x - Fraction(float(y)) for x, y in zip(*rows, strict=True)]
        for rows in zip(A, B, strict=True)
    ]


def summed(Z, noise, key, weight=None, *, intercept):
    ledger, sums = (
        Ledger(leaf_rows(noise)),
        sums_for(noise, key, M, Z.shape[1], intercept=intercept),
    )
    whole = ledger.plus(0, Z, sums, weight).total(sums)
    return whole, sums.turned(whole)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("noise", [*NOISES, "weighted signs"])
@pytest.mark.parametrize("name", NAMES)
def test_errors_of_sums_are_within_their_bounds(name, noise, intercept):
    rng = np.random.default_rng(NAMES.index(name))
    Z, key = columns(name, rng), draw_key(rng)
    weight = rng.uniform(0.5, 3.0, size=len(Z)) if noise == "weighted signs" else None
    if intercept:
        Z = np.column_stack([np.ones(len(Z)), Z])
    noise = NOISES[noise.removeprefix("weighted ")]
    gram, moved = exact_products(Z, noise, key, weight)
    plain, part = summed(Z, noise, key, weight, intercept=intercept)
    errors = part.errors
    if plain.plain:
        off = off_products(gram, plain)
        assert off <= plain.errors.defect
    t = check_orthonormal(part, gram, moved)
    assert t < 1e-3
    if name == "lost digits" and not intercept and weight is None:
        assert off > 0.1 * plain.errors.defect  # nor are the bounds far too large
    if name == "one large cell":
        assert errors.defect + errors.moved < 1e-12


def off_products(gram, plain):
    """The largest error of plain products, relative to the lengths of columns."""
    lengths = np.sqrt(np.diagonal(plain.basis))
    off = np.array(minus(gram, plain.basis), dtype=np.float64) / lengths / lengths[:, None]
    return np.abs(off).max()


def check_orthonormal(part, gram, moved):
    """Compare the sums in orthonormal form with rationals; return how far columns may be off."""
    errors, k = part.errors, len(part.basis)
    R = [[Fraction(float(x)) for x in row] for row in part.basis]
    identity = [[Fraction(int(a == b)) for b in range(k)] for a in range(k)]
    _, inverse = solved(R, identity)
    t = sum(f * size([row]) for f, row in zip(errors.lengths, inverse, strict=True))

    def whitened(A):
        return product(transposed(inverse), product(A, inverse))

    defect = size(minus(whitened(gram), np.eye(k)))
    assert defect <= (errors.defect + 2 * t) * (1 + 4 * t)
    for exact, found in zip(moved, part.moved, strict=True):
        assert size(minus(whitened(exact), found)) <= (errors.moved + 4 * t) * (1 + 4 * t)
    return t


def test_roots_of_weights_are_in_the_errors_of_few_products():
    """One product for each column: the rounding of roots is most of its error."""
    rng, noise = np.random.default_rng(0), NOISES["signs"]
    key, worst = draw_key(rng), 0.0
    for _ in range(300):
        Z, weight = np.diag(rng.uniform(1.0, 1.2, size=2)), rng.uniform(1.0, 1.2, size=2)
        gram, _ = exact_products(Z, noise, key, weight)
        part = sums_for(noise, key, M, 2, intercept=False)(Z, 0, weight)
        off = off_products(gram, part)
        assert off <= part.errors.defect
        worst = max(worst, off / part.errors.defect)
    assert worst > 0.4


@pytest.mark.parametrize("intercept", [False, True])
def test_roots_of_weights_are_in_the_errors_of_columns(intercept):
    rng = np.random.default_rng(1)
    rows, weight = 1e6 + rng.normal(size=(40, 3)), rng.uniform(1.0, 2.0, size=40)
    rows[:, 0] = 1.0
    Z, none = weighted(rows, weight), Errors(0.0, 0.0, np.zeros(3))
    bounds = none.with_roots(Z, intercept=intercept).lengths
    exact = [
        [Fraction(root) * Fraction(x) for x in row]
        for root, row in zip(np.sqrt(weight).tolist(), rows.tolist(), strict=True)
    ]
    off = length(np.array(minus(exact, Z), dtype=np.float64).T)
    assert (off <= bounds).all()
    assert (bounds[0] == 0) == intercept
    assert (off[1:] > 0.2 * bounds[1:]).all()  # nor are they far too large


def older(stream, path, monkeypatch):
    """The stream as a file of a version that did not record the errors of its sums."""

    def without_errors(place, header, arrays):
        old = ("errors", "lengths")
        write(place, header, {k: v for k, v in arrays.items() if not k.startswith(old)})

    write = ua.streaming._checkpoint.write
    monkeypatch.setattr("unassuming.streaming._checkpoint.write", without_errors)
    stream.save(path)
    return ua.StreamingRegion.load(path)


def test_products_of_older_files_have_larger_errors(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2100, 2)), rng.laplace(size=2100)
    stream = ua.StreamingRegion(LinearRegression(), m=20, random_state=0).partial_fit(X, y)
    loaded = older(stream, tmp_path / "stream", monkeypatch)
    new, old = (one._ledger.nodes[1, 0].errors for one in (stream, loaded))
    assert 1000 * UNIT < old.defect < 1100 * UNIT
    assert new.defect < (BLOCK + 10) * UNIT
    one, two = (r.region().interval(level=0.5) for r in (stream, loaded))
    assert one.status.name == two.status.name == "CERTIFIED"
    assert (two.upper > one.upper).all()
    assert two.upper == pytest.approx(one.upper, rel=1e-6)


@pytest.mark.parametrize("model", [LinearRegression(fit_intercept=False), Ridge(1.0)], ids=str)
def test_orthonormal_columns_of_older_files_are_unknown(model, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    x = rng.normal(size=2100)
    X, y = np.column_stack([x, x + 0.01 * rng.normal(size=2100)]), rng.laplace(size=2100)
    stream = ua.StreamingRegion(model, m=20, random_state=0).partial_fit(X, y)
    assert not stream._ledger.nodes[1, 0].plain
    assert stream.region().interval(level=0.5).status.name == "CERTIFIED"
    region = older(stream, tmp_path / "stream", monkeypatch).region()
    assert region.estimate == pytest.approx(stream.region().estimate)
    with pytest.raises(ValueError, match="an older version"):
        region.rank(region.estimate + 1e-3)
    found = region.interval(level=0.5)
    assert found.status.name == "NOT_CERTIFIED"
    assert np.isinf(found.upper).all()
    assert region.bounded(0.5).verdict == "undetermined"
