"""Tables give the ranks of the engine."""

import numpy as np
import pytest

from engines import engine_of, quadratic_sets
from recorded import problems
from unassuming.membership import FixedTable

QUADRATIC = [name for name in problems() if quadratic_sets(name) is not None]
TABLED = [name for name in QUADRATIC if quadratic_sets(name).table() is not None]


@pytest.mark.parametrize("name", TABLED)
def test_a_table_of_a_quadratic_objective(name):
    a, table = problems()[name].arrays["candidates"], quadratic_sets(name).table()
    assert table.rank(a).tolist() == engine_of(name).rank(a).tolist()
    rng = np.random.default_rng(0)
    between = rng.dirichlet(np.ones(len(a)), size=200) @ a
    assert table.rank(between).tolist() == engine_of(name).rank(between).tolist()


def test_most_quadratic_problems_have_a_table():
    assert len(TABLED) > 25


@pytest.mark.parametrize("name", ["quantiles, median", "quantiles, upper"])
def test_a_table_of_quantiles(name):
    engine, a = engine_of(name), problems()[name].arrays["candidates"]
    fresh = engine.noise.apply(engine.drawn, np.zeros(engine.objective.n), None)
    table = FixedTable(engine, engine.score.A, engine.score.fixed(fresh))
    assert table.rank(a).tolist() == engine.rank(a).tolist()


def test_a_penalty_makes_all_statistics_depend_on_the_candidate():
    engine = engine_of("quantiles, L1")
    assert engine.score.fixed(np.ones((1, engine.objective.n))) is None
