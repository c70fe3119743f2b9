"""One cell that exceeds all others, and rare columns: what a stream says holds for the rows."""

from contextlib import suppress
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

import unassuming as ua
from rational_sets import INFINITE, MODELS, RationalSets
from unassuming.noise import Rounded, draw_key
from unassuming.streaming._compressed import compress
from unassuming.streaming._sums import between, sums_for

N, M = 1100, 20  # more rows than a leaf has
NOISES = {
    "signs": ua.noise.Symmetric(),
    "block signs": ua.noise.BlockSymmetric(np.arange(N) // 7 % 90),
    "permutations": ua.noise.ExchangeableWithin(50),
}


def column(kind, rng, before):
    """Dense, rare and badly scaled columns."""
    some = rng.choice(N, rng.integers(1, 5), replace=False)
    if kind == "wild":
        return rng.standard_cauchy(size=N) ** 3
    if kind in ("dummy", "rare", "reference"):
        x = np.full(N, float(kind == "reference"))
        values = 10.0 ** rng.integers(-3, 4) * rng.normal(size=len(some))
        x[some] = {"dummy": 1.0, "rare": values, "reference": 0.0}[kind]
        return x
    if kind == "blocks":
        return np.arange(N) // 50 % 3 * 1.0
    if kind == "near" and before:
        return before[0] + 10.0 ** -rng.integers(2, 8) * rng.normal(size=N)
    scale, offset = (10.0 ** -rng.integers(1, 12), 0.0) if kind == "tiny" else (1.0, 0.0)
    if kind == "offset":
        offset = 10.0 ** rng.integers(1, 7)
    return scale * rng.normal(size=N) + offset


KINDS = ("normal", "offset", "dummy", "rare", "blocks", "near", "reference", "tiny", "wild")


def data(seed, largest=12.0):
    """Rows of some of these columns, of which most have one large cell."""
    rng, columns = np.random.default_rng(seed), []
    for kind in rng.choice(KINDS, size=rng.integers(1, 4)):
        columns.append(column(kind, rng, columns))
    X = np.column_stack(columns)
    y = X @ rng.normal(size=X.shape[1]) + rng.laplace(size=N)
    if seed % 4:
        X[rng.integers(N), rng.integers(X.shape[1])] = -(10.0 ** rng.uniform(4, largest))
    return X, y


def regions(X, y, model, noise, seed=0, cuts=(N,)):
    options = {"noise": NOISES[noise], "m": M, "random_state": seed}
    stream, first = ua.StreamingRegion(MODELS[model], **options), 0
    for stop in cuts:
        stream.partial_fit(X[first:stop], y[first:stop])
        first = stop
    memory = ua.confidence_region(MODELS[model], X, y, **options)
    return stream, memory, RationalSets.of(MODELS[model], X, y, memory.perturbations)


def assert_true(region, exact, functionals):
    """Every verdict and every finite bound holds for the rows, in rational arithmetic."""
    d = len(region.estimate)
    for level in (0.5, 0.9):
        q = round((1 - level) * M)
        found = region.bounded(level)
        if found.verdict == "unbounded":
            assert exact.never_ends(found.direction) >= q
        if found.verdict == "bounded":
            assert max(exact.never_ends(one) for one in np.eye(d)) < q
        interval, values = region.interval(level=level), region.interval(functionals, level=level)
        if interval.status.name == "UNBOUNDED":
            assert any(exact.bounds(one, q)[1] == INFINITE for one in np.eye(d))
        ends = [(*interval.lower, *values.lower), (*interval.upper, *values.upper)]
        for g, low, high in zip((*np.eye(d), *functionals), *ends, strict=True):
            lower, upper = exact.bounds(g, q)
            assert Decimal(float(low)) <= lower
            assert Decimal(float(high)) >= upper
        for direction in np.eye(d):
            with suppress(ValueError):  # the sums do not decide it
                reach = region.reach(direction, level=level)
                expected = float(exact.reach(region.estimate, direction, q))
                assert reach == pytest.approx(expected, rel=1e-2)


def some_functionals(d, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(2, d)) * 10.0 ** -rng.integers(0, 12, size=(2, d))


@pytest.mark.slow_but_first
@pytest.mark.parametrize("cell", [1e5, 3e6, 3e7, -2e9, 1e40])
@pytest.mark.parametrize(
    ("model", "noise"), [("least squares", "signs"), ("ridge", "permutations")]
)
def test_one_large_cell_makes_nothing_untrue(model, noise, cell):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N, 2))
    y = X @ [2.0, -1.0] + rng.laplace(size=N)
    X[1050, 1] = cell
    stream, _, exact = regions(X, y, model, noise)
    assert_true(stream.region(), exact, some_functionals(3, 0))


@pytest.mark.slow_but_first
@pytest.mark.parametrize("cell", [1e6, 1e8, 1e10])
@pytest.mark.parametrize("model", ["no intercept", "ridge"])
def test_a_ball_around_all_sets_does_not_shorten_them(model, cell):
    rng = np.random.default_rng(11)
    X = rng.normal(size=(N, 2))
    y = X @ [2.0, -1.0] + rng.laplace(size=N)
    X[20, 0] = cell
    stream, _, exact = regions(X, y, model, "signs")
    region = stream.region()
    d = len(region.estimate)
    ends = [exact.bounds(one, q) for one in np.eye(d) for q in (1, 2, 10)]
    ball = 2 * d * max(abs(float(end)) for pair in ends for end in pair)
    for level, q in ((0.5, 10), (0.9, 2)):
        found = region.interval(level=level, norm_bound=ball)
        for one, low, high in zip(np.eye(d), found.lower, found.upper, strict=True):
            lower, upper = exact.bounds(one, q)
            assert Decimal(float(low)) <= lower
            assert Decimal(float(high)) >= upper


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(36))
def test_no_stream_says_what_is_untrue(seed):
    X, y = data(seed, 12.0 if seed % 5 else 150.0)
    model, noise = list(MODELS)[seed % 3], list(NOISES)[seed // 3 % 3]
    stream, _, exact = regions(X, y, model, noise, seed, (300, 1050, N))
    d = X.shape[1] + MODELS[model].fit_intercept
    if len(exact.seen) == d:
        assert_true(stream.region(), exact, some_functionals(d, seed))


def with_cell(cell):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 2))
    y = X @ [1.0, 1.0] + rng.laplace(size=N)
    X[500, 0] = cell
    return X, y


def test_what_sums_do_not_decide_is_not_called_unbounded():
    stream, memory, _ = regions(*with_cell(4e9), "least squares", "signs")
    region = stream.region()
    assert memory.bounded(0.9).verdict == "bounded"
    found = region.bounded(0.9)
    assert found.verdict == "undetermined"
    assert "Sums over the rows do not decide" in str(found)
    assert "one huge number in a column" in str(found)
    assert "build the region in memory" in str(found)
    interval = region.interval(level=0.9)
    assert interval.status.name == "NOT_CERTIFIED"
    assert "build the region in memory" in interval.reason
    with pytest.raises(ValueError, match="cannot be decided from sums over the rows"):
        region.reach("x0", level=0.9)
    with pytest.raises(ValueError, match="cannot be decided from sums over the rows"):
        region.crossings(np.array([0.0, 1.0, 0.0]))


def test_a_large_cell_that_sums_can_hold_costs_little():
    stream, memory, _ = regions(*with_cell(2e4), "least squares", "signs")
    one, two = memory.interval(level=0.9), stream.region().interval(level=0.9)
    assert two.status.name == one.status.name == "CERTIFIED"
    assert two.upper == pytest.approx(one.upper, rel=1e-5)


def rare_and_large():
    """A column of one row, which no transformation limits, beside a column with a large cell."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N, 3))
    X[:, 0] = 0.0
    X[33, 0] = 2.0
    y = X @ [1.0, 1.0, 1.0] + rng.laplace(size=N)
    X[600, 2] = 3e5
    return X, y


@pytest.mark.slow
def test_a_small_part_of_a_free_coefficient_is_not_overlooked():
    stream, memory, exact = regions(*rare_and_large(), "no intercept", "signs")
    region = stream.region()
    for small in (1e-3, 3e-7, 1e-14, 1e-100):
        g = np.array([[small, 1.0, 0.0]])
        for level in (0.5, 0.9):
            assert memory.band(g, level=level).status.name == "UNBOUNDED"
            assert region.band(g, level=level).status.name == "UNBOUNDED"
            assert region.band(g, level=level).upper[0] == np.inf
    other = region.band(np.array([[0.0, 1.0, 0.0]]), level=0.5)
    assert other.status.name == "CERTIFIED"
    low, high = exact.bounds([0.0, 1.0, 0.0], 10)
    assert Decimal(float(other.lower[0])) <= low
    assert Decimal(float(other.upper[0])) >= high
    assert float(other.upper[0]) == pytest.approx(float(high), rel=1e-2)


@pytest.mark.parametrize("noise", NOISES)
def test_rows_show_which_columns_are_kept_or_reversed(noise):
    rng, key, m = np.random.default_rng(1), draw_key(np.random.default_rng(0)), 40
    x = np.zeros((N, 5))
    x[:, 0] = rng.normal(size=N)
    x[[3, 1060], 1] = 1.0
    x[[700, 701], 2] = 1.0, -1.0
    x[:, 3] = np.arange(N) // 50
    Z = np.column_stack([x, rng.normal(size=N)])
    drawn = NOISES[noise].draw_rows(key, 0, N, m - 1)
    moved = NOISES[noise].apply(drawn, x.T, None)  # (d, m - 1, n)
    kept = (moved == x.T[:, None, :]).all(axis=2).T
    reversed = (moved == -x.T[:, None, :]).all(axis=2).T
    assert kept[:, 4].all()
    assert reversed[:, 4].all()
    assert len(np.unique(kept[:, 1:4])) + len(np.unique(reversed[:, 1:3])) >= 3
    sums = sums_for(NOISES[noise], key, m, 6, intercept=False)
    for cuts in ([0], [0, 50], [0, 700, 1050]):
        parts = [sums(Z[a:b], a) for a, b in zip(cuts, [*cuts[1:], N], strict=True)]
        total = parts[0]
        for part in parts[1:]:
            total = sums.join(total, part)
        assert np.array_equal(total.still, [kept, reversed])
        assert np.array_equal(sums.turned(total).still, [kept, reversed])


def answers(stream):
    region = stream.region()
    found = [region.bounded(level).verdict for level in (0.5, 0.9)]
    interval = region.interval(np.eye(3), level=0.5)
    return found, interval.status, interval.lower.tolist(), interval.upper.tolist()


def test_chunks_shards_and_files_know_the_same(tmp_path):
    X, y = rare_and_large()
    stream, _, _ = regions(X, y, "no intercept", "signs")
    expected = answers(stream)
    assert expected[0] == ["unbounded", "unbounded"]
    assert answers(regions(X, y, "no intercept", "signs", cuts=(1, 40, 1030, N))[0]) == expected
    options = {"noise": NOISES["signs"], "m": M, "random_state": 0}
    shards = [ua.StreamingRegion(MODELS["no intercept"], **options) for _ in range(2)]
    shards[0].partial_fit(X[:700], y[:700], first_row=0)
    shards[1].partial_fit(X[700:], y[700:], first_row=700)
    assert answers(shards[1].merge(shards[0])) == expected
    stream.save(tmp_path / "stream")
    assert answers(ua.StreamingRegion.load(tmp_path / "stream")) == expected


def test_a_stream_of_an_older_file_does_not_guess(tmp_path, monkeypatch):
    X, y = rare_and_large()
    stream, _, exact = regions(X, y, "no intercept", "signs")

    def without_facts(path, header, arrays):
        old = ("still", "errors", "lengths")
        write(path, header, {k: v for k, v in arrays.items() if not k.startswith(old)})

    write = ua.streaming._checkpoint.write
    monkeypatch.setattr("unassuming.streaming._checkpoint.write", without_facts)
    stream.save(tmp_path / "stream")
    region = ua.StreamingRegion.load(tmp_path / "stream").region()
    assert region.bounded(0.5).verdict == "undetermined"
    assert region.interval(level=0.5).status.name == "NOT_CERTIFIED"
    assert_true(region, exact, some_functionals(3, 0))


def test_columns_that_only_together_are_nearly_dependent_are_made_orthonormal():
    """Kahan's columns: every one keeps a good share beside those before it."""
    k, rng = 10, np.random.default_rng(0)
    share = 2e-3 ** (1 / (k - 1))
    R = np.eye(k) - np.sqrt(1 - share) * np.triu(np.ones((k, k)), 1)
    Q, _ = np.linalg.qr(rng.normal(size=(N, k)))
    Z = Q @ (np.sqrt(share) ** np.arange(k)[:, None] * R)
    pivots = np.diagonal(np.linalg.qr(Z)[1]) ** 2
    assert (pivots / (Z**2).sum(axis=0)).min() > 1e-3
    sums = sums_for(ua.noise.Symmetric(), draw_key(rng), M, k, intercept=False)
    part = sums(Z, 0)
    assert not part.plain
    assert part.errors.lengths.all()
    assert not sums.turned(sums(rng.normal(size=(N, k)), 0)).errors.lengths.any()


@pytest.mark.slow_but_first
@pytest.mark.parametrize(("model", "noise"), [("no intercept", "signs"), ("ridge", "permutations")])
def test_transformations_that_keep_or_reverse_all_columns_tie_everywhere(model, noise):
    rng = np.random.default_rng(2)
    X = (np.arange(N) // 50 % 4 == 1)[:, None] * 1.0
    if noise == "signs":
        X = (np.arange(N) // 2 == 300)[:, None] * 1.0
    y, seen = rng.normal(size=N), set()
    for seed in range(6):  # of which each has another order of ties
        stream, memory, _ = regions(X, y, model, noise, seed)
        region = stream.region()
        for level in (0.5, 0.7, 0.9):
            one, two = memory.interval(level=level), region.interval(level=level)
            assert region.bounded(level).verdict == memory.bounded(level).verdict
            assert two.status == one.status
            seen.add(one.status.name)
        if noise == "permutations":  # all statistics are the same, whatever the candidate
            candidates = region.estimate + rng.normal(size=(5, 2))
            assert region.rank(candidates).tolist() == memory.rank(candidates).tolist()
    assert "EMPTY" in seen
    assert len(seen) > 1


def disturbed_region(model, error, monkeypatch, signal=0.3):
    """A stream whose sums have an error that makes all sets smaller, and the exact sets."""

    def less_accurate(whole, *rest, **options):
        errors = replace(whole.errors, moved=whole.errors.moved + error)
        return compress(replace(whole, errors=errors), *rest, **options)

    def disturbed(moved, frame):
        E = between(moved, frame)
        E[:, :-1, -1] *= 1 - error / np.linalg.norm(E[:, :-1, -1], axis=1, keepdims=True)
        return E

    # A few rows have most of the weight, so that no transformation is near an average.
    rng, size = np.random.default_rng(8), np.where(np.arange(N) % 100, 1e-2, 1.0)
    X = size[:, None] * rng.normal(size=(N, 2))
    y = signal * (X[:, 0] - X[:, 1]) + size * rng.laplace(size=N)
    stream, _, exact = regions(X, y, model, "signs")
    monkeypatch.setattr("unassuming.streaming._build.compress", less_accurate)
    monkeypatch.setattr("unassuming.streaming._compressed.between", disturbed)
    return stream.region(), exact


@pytest.mark.parametrize("model", MODELS)
def test_bounds_allow_for_errors_of_the_sums(model, monkeypatch):
    region, exact = disturbed_region(model, 1e-5, monkeypatch)
    for level, q in ((0.5, 10), (0.9, 2)):
        found = region.interval(level=level)
        assert found.status.name == "CERTIFIED"
        for one, low, high in zip(np.eye(len(found.lower)), found.lower, found.upper, strict=True):
            lower, upper = exact.bounds(one, q)
            assert Decimal(float(low)) <= lower
            assert Decimal(float(high)) >= upper
            assert float(high) - float(upper) < 1e-2 * float(upper - lower)


def largest_in_ball(exact, radius, one):
    """The largest value of a coefficient over each set and a ball, by points on both edges."""
    angles = np.linspace(0, 2 * np.pi, 400_001)
    circle, found = np.stack([np.cos(angles), np.sin(angles)]), []
    for A, b, c in exact.sets:
        A, b, c = np.array(A, dtype=float), np.array(b, dtype=float), float(c)
        centre = np.linalg.solve(A, b)
        size = np.sqrt(c + (b * centre).sum())
        edge = centre + size * np.linalg.solve(np.linalg.cholesky(A).T, circle)
        points = edge[:, (edge**2).sum(axis=0) <= radius**2]
        sphere = radius * circle
        inside = ((A @ sphere) * sphere - 2 * b * sphere).sum(axis=0) <= c
        found.append(max(part[one].max(initial=-np.inf) for part in (points, sphere[:, inside])))
    return np.sort(found)[::-1]


@pytest.mark.slow
def test_bounds_in_a_ball_allow_for_errors_of_the_sums(monkeypatch):
    region, exact = disturbed_region("no intercept", 1e-4, monkeypatch, signal=1.0)
    radius = 1.1 * float(np.linalg.norm(region.estimate))
    found = region.interval(level=0.5, norm_bound=radius).upper[0]
    largest = largest_in_ball(exact, radius, 0)[9]
    # The ball and the sets together make the bound.
    assert largest <= found < 0.99 * min(float(exact.extents([1.0, 0.0])[9]), radius)
    assert found - largest < 0.01


def test_a_direction_is_free_if_all_its_coefficients_are():
    free = np.array([[True, True, False], [False, True, False]])
    known = Rounded(0.0, np.zeros(4), free, free, free.all(axis=1))
    along = known.along(np.array([[1.0, 2.0, 0.0], [0.0, 5.0, 0.0], [0.0, 1.0, 1e-300]]))
    assert along.tolist() == [[True, False], [True, True], [False, False]]
    assert known.take(slice(1, 2)).free.tolist() == [[False, True, False]]
