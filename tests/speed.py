"""Which cases `make test-fast` leaves out."""

import pytest


def slow_but(cases, *quick):
    """The cases as parameters of a test, all of them marked slow but the quick ones."""
    cases = list(cases)
    assert set(quick) <= set(cases)
    return [case if case in quick else pytest.param(case, marks=pytest.mark.slow) for case in cases]
