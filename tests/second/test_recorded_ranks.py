"""The engine gives the recorded ranks."""

import numpy as np
import pytest

from recorded import problems
from second.engines import engine_of

NAMES = list(problems())


@pytest.mark.parametrize("name", NAMES)
def test_ranks_are_the_recorded_ones(name):
    problem, engine = problems()[name], engine_of(name)
    found = engine.rank(problem.arrays["candidates"])
    assert found.tolist() == problem.ranks(engine.order.pi).tolist()


@pytest.mark.parametrize("name", NAMES)
def test_pairs_of_candidates_and_sets_have_the_same_gaps(name):
    problem, engine = problems()[name], engine_of(name)
    a = problem.arrays["candidates"][3:9]
    gap, tolerance = engine.gaps(a)
    rows, sets = np.array([0, 5, 2, 2, 4]), np.array([7, 0, 98, 3, 7])
    one, own = engine.gaps(a[rows], sets)
    np.testing.assert_allclose(one, gap[rows, sets], rtol=1e-6, atol=tolerance.max())
    np.testing.assert_allclose(own, tolerance[rows, sets], rtol=1e-6)


@pytest.mark.parametrize("name", [n for n in NAMES if problems()[n].questions[0]["ask"] == "test"])
def test_functions_that_are_given_by_values_have_the_recorded_statistics(name):
    engine, question = engine_of(name), problems()[name].questions[0]
    values = np.array([question["values"]])
    if engine.objective.basis is not None:
        values = values @ engine.objective.basis
    at = engine.objective.at_values(values)
    assert engine.rank(at).tolist() == [question["answer"]["rank"]]
    found = engine.statistics(at)[0]
    expected = question["answer"]["statistics"]
    # Eigenvalues of kernels that are rounding alone matter to rounded values.
    rtol = 1e-5 if engine.objective.design.dual else 1e-7
    np.testing.assert_allclose(found / found.sum(), expected, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_the_estimate_has_the_recorded_rank_and_the_smallest_statistic(name):
    problem, engine = problems()[name], engine_of(name)
    estimate = engine.objective.estimate()
    np.testing.assert_allclose(estimate, problem.arrays["candidates"][0], rtol=1e-6, atol=1e-9)
    assert engine.rank(estimate[None])[0] == problem.ranks(engine.order.pi)[0]
