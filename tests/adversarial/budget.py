"""How many cases are run: a few hundred in all, or as many as UNASSUMING_ADVERSARY asks for."""

import os

from hypothesis import HealthCheck, Phase, settings

SHARES = {
    "oracle": 8,
    "plain data": 3,
    "ranks": 25,
    "one answer": 25,
    "streams": 25,
    "bounds": 20,
    "bands": 15,
    "spherical bands": 8,
    "norm bounds": 6,
    "verdicts": 30,
    "crossings": 60,
    "labels: ranks": 15,
    "labels: bounds": 12,
}
"""The cases of each property in an ordinary run; a longer run keeps the proportions."""


def cases(name: str) -> settings:
    """Settings with the share of one property.

    An ordinary run draws the same cases every time. A longer run draws new ones. Failures are
    reported as they are found: a problem prints itself, and to shrink it takes minutes.
    """
    wanted = int(os.environ.get("UNASSUMING_ADVERSARY", "0"))
    share = SHARES[name]
    if wanted:
        share = -(-wanted * share // sum(SHARES.values()))
    return settings(
        max_examples=share,
        deadline=None,
        derandomize=not wanted,
        database=None,
        phases=(Phase.explicit, Phase.generate),
        print_blob=bool(wanted),
        suppress_health_check=list(HealthCheck),
    )
