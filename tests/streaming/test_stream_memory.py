"""Memory does not grow with the number of rows."""

import json
import os
import subprocess
import sys

import pytest

WORK = """
import json, sys, numpy as np, unassuming as ua
from peak_memory import peak_memory
from sklearn.linear_model import LinearRegression
n, rng = int(sys.argv[1]), np.random.default_rng(0)
stream = ua.StreamingRegion(LinearRegression(), m=50, random_state=0)
while stream.n < n:
    X = rng.normal(size=(5_000, 10))
    stream.partial_fit(X, X[:, 0] + rng.laplace(size=5_000))
assert stream.region().contains(np.eye(11)[1], 0.98)
sums = sum(node.moved.nbytes for node in stream._ledger.nodes.values())
print(json.dumps([peak_memory(), sums]))
"""


def measured(n):
    result = subprocess.run(
        [sys.executable, "-c", WORK, str(n)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
    )
    return json.loads(result.stdout)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="peak memory cannot be asked there")
def test_ten_times_the_rows_take_the_same_memory():
    (few, _), (many, sums) = measured(30_000), measured(300_000)
    assert many < 1.1 * few
    assert sums <= 10 * 8 * 50 * 12 * 13 / 2  # log2 of a thousand leaves
