"""Boxes of candidates: a set that holds any point of a box is counted there."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier

import unassuming as ua

PROBLEMS = {
    "line": {"d": 1},
    "plane": {"d": 2},
    "equal inputs": {"d": 1, "repeated": True},
    "equal inputs in the plane": {"d": 2, "repeated": True},
    "weights": {"d": 1, "weights": True},
    "no penalty": {"d": 1, "alpha": 0.0, "repeated": True},
}
problems = pytest.mark.parametrize("name", PROBLEMS)
ties = pytest.mark.parametrize("ties", ["random", "conservative"])


def region_of(name, ties, n=9, m=12, seed=0):
    options = {"alpha": 0.7, "repeated": False, "weights": False, **PROBLEMS[name]}
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, options["d"]))
    if options["repeated"]:
        X = np.sign(X)
    y = np.where(rng.uniform(size=n) < (1.2 + 0.6 * X[:, 0]) / 2, 1, -1)
    y[:2] = 1, -1
    w = rng.uniform(0.5, 2, size=n) if options["weights"] else None
    model = RidgeClassifier(alpha=options["alpha"])
    return ua.confidence_region(model, X, y, m=m, ties=ties, sample_weight=w, random_state=seed)


def held(region, x, which):
    """Whether the sets hold the points x (N, r), by the formula: Z_i against Z_0, then the ties."""
    model, back = region.shape.linear.model, region.shape.linear.boxes.back
    a = x @ back.T
    f = a @ model.phi.T
    z = (model.y - f) @ model.pull.T - a @ model.push.T
    fresh = np.where(model.uniforms[which] < (1 + f) / 2, 1.0, -1.0)
    p = (fresh - model.y) @ model.pull.T
    gap = (p * (p + 2 * z)).sum(axis=1)
    size = np.linalg.norm(p, axis=1) + 2 * np.linalg.norm(z, axis=1)
    rounding = 5e-16 * np.linalg.norm(model.pull, axis=0).sum()
    wins = region.tie_order[0] < region.tie_order[1:]
    larger = np.where(abs(gap) <= rounding * size, wins[which], gap > 0)
    return larger & (abs(f) <= 1 + 1e-12).all(axis=1)


def last_points(region, count, seed):
    """Points of the sets next to where these end, at roots, flips and the edge of [-1, 1].

    Between a point of a set and one that is none, bisection goes down to neighbouring numbers.
    """
    rng, boxes = np.random.default_rng(seed), region.shape.linear.boxes
    which = rng.integers(region.m - 1, size=count)
    width = boxes.corner * rng.uniform(size=(2, count, 1))
    one, two = rng.uniform(-1, 1, size=(2, count, len(boxes.s))) * width
    first, second = held(region, one, which), held(region, two, which)
    use = first != second
    one, two, which, first = one[use], two[use], which[use], first[use, None]
    inside, outside = np.where(first, one, two), np.where(first, two, one)
    for _ in range(60):
        middle = (inside + outside) / 2
        now = held(region, middle, which)[:, None]
        inside, outside = np.where(now, middle, inside), np.where(now, outside, middle)
    return inside, outside, which


def away_from(inside, outside, half, rng):
    """Boxes with the points in a corner, most of them turned to where the set is left."""
    side = np.where(rng.uniform(size=half.shape) < 0.7, np.sign(outside - inside), 1.0)
    side = np.where(side == 0, 1.0, side)
    return inside + side * half


@pytest.mark.slow_but_first
@problems
@ties
def test_a_set_is_counted_in_every_box_with_a_last_point_of_it_in_a_corner(name, ties):
    region, rng = region_of(name, ties), np.random.default_rng(1)
    boxes = region.shape.linear.boxes
    inside, outside, which = last_points(region, 8000, seed=2)
    assert len(inside) > 500
    for exponent in (-13.0, -9.0, -6.0, -4.0, -2.5, -1.5, -1.0, -0.5):
        half = 10**exponent * rng.uniform(0.2, 1, size=inside.shape) * boxes.corner
        half = half if exponent > -13 else np.zeros_like(half)
        holding = boxes.holding(away_from(inside, outside, half, rng), half)
        assert holding[np.arange(len(which)), which].all(), exponent


@pytest.mark.slow_but_first
@problems
@ties
def test_small_boxes_count_no_set_that_is_far_from_them(name, ties):
    """What holds no point near a box, and none that ties, is not counted: the search can end."""
    region = region_of(name, ties)
    boxes, rng = region.shape.linear.boxes, np.random.default_rng(3)
    x = rng.uniform(-1, 1, size=(300, len(boxes.s))) * boxes.corner
    sets = np.arange(region.m - 1)
    near = np.zeros((len(x), len(sets)), dtype=bool)
    for _ in range(40):
        at = x + 1e-3 * rng.uniform(-1, 1, size=x.shape) * boxes.corner
        near |= np.array([held(region, at, np.full(len(x), i)) for i in sets]).T
    holding = boxes.holding(x, np.full_like(x, 1e-6) * boxes.corner)
    assert not (holding & ~near).any()
    assert (~holding).any()


def test_labels_exchanged_between_equal_inputs_are_ties():
    """All fresh labels that leave the sum as it is tie, though none need equal the observed."""
    for seed in range(20):
        region = region_of("equal inputs", "random", seed=seed)
        boxes, rng = region.shape.linear.boxes, np.random.default_rng(seed)
        x = rng.uniform(-0.5, 0.5, size=(400, 2)) * boxes.corner
        members = 1 + (~boxes.holding(x, np.zeros_like(x))).sum(axis=1)
        a = x @ boxes.back.T
        admitted = (abs(region.objective.fitted(a)) <= 1).all(axis=1)
        np.testing.assert_array_equal(members[admitted], region.rank(a[admitted]))


def test_a_member_among_equal_inputs_is_not_cut_off():
    X = np.array([1, 1, 1, -1, 1, 1, 1, 1, 1, 1, -1.0])[:, None]
    region = ua.confidence_region(RidgeClassifier(), X, X[:, 0], m=4, random_state=226)
    member = np.array([-1 / 15, 11 / 12])
    assert region.rank(member) == 1
    assert region.band([[0.05]], 0.25, method="joint").lower[0] <= member @ [1, 0.05]


@pytest.mark.slow
def test_bounds_over_discrete_data_hold_the_members_found_on_the_way():
    tested = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 12))
        X = rng.choice([-1.0, 1.0], size=(n, 1))
        y = np.where(rng.uniform(size=n) < (1.3 + 0.3 * X[:, 0]) / 2, 1, -1)
        if len(set(X[:, 0])) == 1 or len(set(y)) == 1:
            continue
        region = ua.confidence_region(RidgeClassifier(), X, y, m=4, random_state=seed)
        grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 41)] * 2), axis=-1).reshape(-1, 2)
        for level in (0.25, 0.5):
            band = region.band([[-1.0], [1.0]], level, inner=True, method="joint")
            members = grid[region.contains(grid, level)] @ [[1, 1], [-1, 1]]
            assert (members <= band.upper + 1e-12).all()  # sums of the grid round beyond 1
            assert (members >= band.lower - 1e-12).all()
            if band.inner_upper is not None:
                assert (band.inner_upper <= band.upper).all()
                assert (band.inner_lower >= band.lower).all()
                tested += 1
    assert tested > 3


def test_what_no_fitted_value_sees_is_not_bounded_beside_boxes():
    """A column given twice: its two coefficients are free, their sum is not."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=(30, 1))
    y = np.where(rng.uniform(size=30) < (1 + 0.7 * x[:, 0]) / 2, 1, -1)
    region = ua.confidence_region(RidgeClassifier(), np.hstack([x, x]), y, random_state=0)
    assert region.shape.linear.boxes is not None
    interval = region.interval(
        [[0.0, 1.0, 0.0], [0.0, 1.0, 1.0]], simultaneous=True, method="joint"
    )
    assert (interval.lower[0], interval.upper[0]) == (-np.inf, np.inf)
    assert np.isfinite([interval.lower[1], interval.upper[1]]).all()
    band = region.band([[0.5, -0.5], [0.5, 0.5]], method="joint")
    assert (band.lower[0], band.upper[0]) == (-1, 1)  # all that is known of E[y|x] there
    assert np.isfinite([band.lower[1], band.upper[1]]).all()
    far = region.shape.start() + 1e6 * np.array([0.0, 1.0, -1.0])
    assert region.contains(far)  # and that is the truth
