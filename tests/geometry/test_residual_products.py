import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua
from unassuming.geometry.quadratic import _forms, _residual_products
from unassuming.geometry.quadratic._residual_products import ByFactor, ByTriangle, triangle_pays

KINDS = (ByFactor, ByTriangle)


def plain(q, vectors):
    """Every product by itself, with the whole matrix."""
    rest = np.eye(len(q)) - q @ q.T
    p, N, sets, _ = vectors.shape
    found = np.empty((p, p, N, sets))
    for i, j, line, k in np.ndindex(found.shape):
        found[i, j, line, k] = vectors[i, line, k] @ rest @ vectors[j, line, k]
    return found


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 2), (13, 13), (40, 30)])
def test_products_are_those_of_the_whole_matrix(kind, n, k, order):
    rng = np.random.default_rng(n)
    q = np.array(np.linalg.qr(rng.normal(size=(n, k)))[0] * rng.uniform(size=k), order=order)
    vectors = rng.normal(size=(2, 4, 3, n)) * (rng.random((3, n)) < 0.5)  # the sets have zeros
    np.testing.assert_allclose(kind(q).products(vectors), plain(q, vectors), atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_a_set_that_moves_nothing_gives_zero(kind):
    vectors = np.zeros((2, 3, 2, 6))
    assert not kind(np.eye(6)[:, :4] / 2).products(vectors).any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("lines", "sets"), [(0, 3), (1, 1), (7, 5)])
@pytest.mark.parametrize("memory", [1, 2**26])
def test_blocks_take_every_line_and_set_once(kind, lines, sets, memory, monkeypatch):
    monkeypatch.setattr(_residual_products, "_BATCH_BYTES", memory)
    taken = np.zeros((lines, sets), dtype=int)
    for block in kind(np.eye(4)).blocks(lines, sets):
        taken[block] += 1
    assert (taken == 1).all()


def test_few_columns_or_few_lines_need_no_triangle():
    assert triangle_pays(5000, 5000, sets=99, lines=100)
    assert not triangle_pays(5000, 60, sets=99, lines=100)
    assert not triangle_pays(5000, 5000, sets=99, lines=10)
    assert not triangle_pays(20, 20, sets=99, lines=100)


@pytest.mark.parametrize("noise", ["symmetric", "exchangeable"])
def test_lines_of_a_full_kernel_end_where_membership_ends(noise, monkeypatch):
    n, rng = 60, np.random.default_rng(0)
    X, y, _ = ua.datasets.sine(n=n, noise="laplace", random_state=0)
    model = KernelRidge(kernel="laplacian", gamma=3.0, alpha=0.5)
    directions = rng.normal(size=(40, n))
    origin = 0.1 * rng.normal(size=n)
    ends = []
    for price, other in ((0, "ByFactor"), (10**12, "_triangle")):  # of a set: by triangle, factor
        with monkeypatch.context() as patch:
            patch.setattr(_residual_products, "_SET_BY_SET", price)
            patch.setattr(_forms if price == 0 else _forms.FormMaker, other, None)  # not used
            region = ua.confidence_region(model, X, y, noise=noise, m=20, random_state=0)
            lines = region.crossings(directions, level=0.9, origin=region.estimate + origin)
            assert all(len(line) for line in lines)
            ends.append((region.reach(directions, level=None), np.concatenate(lines)))
    for one, two in zip(*ends, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-10)
    t = ends[0][0][:, 1]  # level 0.9
    near, far = (region.estimate + s * t[:, None] * directions for s in (1 - 1e-7, 1 + 1e-7))
    assert region.contains(near, level=0.9).all()
    assert not region.contains(far, level=0.9).any()
