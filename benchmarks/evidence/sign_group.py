"""Coverage for one fixed group of signs (docs/theory.md 17).

    python -m benchmarks.evidence.sign_group

20,000 noises a line; the band is the two-sided 1e-6 band of a binomial share. Rows whose inputs are
equal are covered on average over the key that orders them, and for one key nearly so.
"""

from pathlib import Path

import numpy as np
from scipy.stats import binom

import unassuming as ua
from unassuming.noise import Perturbations

RUNS, KEYS, LEVEL, M = 20_000, 200, 122, 128


def covered(Q, e, drawn):
    """Whether the noise e itself has a rank of at most LEVEL of M."""
    statistics = ((drawn.apply(e) @ Q) ** 2).sum(axis=-1)
    return int((statistics < ((e @ Q) ** 2).sum()).sum()) < LEVEL


def shares(X, law, rng, *, by_y, keys):
    """The share of runs that are covered, for each of some keys."""
    Q = np.linalg.qr(X)[0]
    leverage, noise = (Q**2).sum(axis=1), ua.noise.Symmetric()
    found = []
    for key in range(keys):
        hits, drawn = 0, Perturbations.sign_group(noise, leverage, M, modulo_sign=True, key=key)
        for e in getattr(rng, law)(size=(RUNS // keys, len(X))):
            if by_y:  # y = e: the true coefficients are zero
                order = np.argsort(e)
                drawn = Perturbations.sign_group(
                    noise, leverage[order], M, modulo_sign=True, key=key
                )
                hits += covered(Q[order], e[order], drawn)
            else:
                hits += covered(Q, e, drawn)
        found.append(hits / (RUNS // keys))
    return np.array(found)


def designs(n, rng):
    """A continuous regressor, a half dummy, a mean."""
    ones = np.ones(n)
    yield "continuous", np.column_stack([ones, rng.standard_normal(n)])
    yield "half dummy", np.column_stack([ones, np.arange(n) < n // 2])
    yield "mean", ones[:, None]


def main():
    level = LEVEL / M
    low, high = binom.ppf([5e-7, 1 - 5e-7], RUNS, level) / RUNS
    lines = [f"level {level:.5f}, 1e-6 band of {RUNS} runs: {low:.4f} to {high:.4f}", ""]
    lines.append(f"{'design':<12}{'n':>4}  {'noise':<16}{'rows':<14}{'keys':>5}{'coverage':>10}")
    for n in (12, 20, 60):
        for name, X in designs(n, np.random.default_rng(n)):
            for law in ("standard_normal", "standard_cauchy"):
                for by_y in (False, True):
                    keys = KEYS if by_y and name != "continuous" else 1
                    rng = np.random.default_rng(1)
                    share = shares(X, law, rng, by_y=by_y, keys=keys).mean()
                    order = "sorted by y" if by_y else "file order"
                    lines.append(f"{name:<12}{n:>4}  {law:<16}{order:<14}{keys:>5}{share:>10.4f}")
                    lines[-1] += "" if low <= share <= high else "  OUTSIDE"
                    print(lines[-1], flush=True)
    Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
