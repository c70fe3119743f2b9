"""Memory does not grow with the number of rows."""

import json
import os
import subprocess
import sys

import pytest

WORK = """
import json, sys, numpy as np
from peak_memory import peak_memory
from sklearn.linear_model import LinearRegression
from unassuming.streaming import StreamingRegion
rng, peaks = np.random.default_rng(0), []
stream = StreamingRegion(LinearRegression(), m=32)
for n in map(int, sys.argv[1:]):
    while stream.n < n:
        X = rng.normal(size=(5_000, 10))
        stream.partial_fit(X, X[:, 0] + rng.laplace(size=5_000))
    engine = stream.region().engine
    assert engine.rank(engine.objective.estimate()[None]).tolist() == [1]
    peaks.append(peak_memory())
print(json.dumps(peaks))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="peak memory cannot be asked there")
def test_ten_times_the_rows_take_the_same_memory():
    """In a fresh process: what the first rows take at most, and what all of them do."""
    result = subprocess.run(
        [sys.executable, "-c", WORK, "100000", "1000000"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
    )
    few, many = json.loads(result.stdout)
    assert many < 1.1 * few
