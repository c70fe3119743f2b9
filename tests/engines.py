"""Engines of the recorded problems, with their stored transformations and tie orders."""

from functools import cache

from recorded import make, problems
from unassuming import noise as noises
from unassuming.geometry.quadratic import QuadraticSets
from unassuming.membership import Engine
from unassuming.objectives import factory_for
from unassuming.ranking import Order


def noise_of(problem):
    """The assumption of a problem, of the classes under test."""

    def made(spec):
        options = {k: v for k, v in spec.items() if k != "class"}
        if spec["class"] == "BlockSymmetric":
            options["blocks"] = problem.arrays["blocks"]
        return getattr(noises, spec["class"])(**options)

    spec = problem.text["noise"]
    if spec["class"] != "InBasis":
        return made(spec)
    return noises.InBasis(problem.arrays["basis"], made(spec["inner"]))


def model_and_features(problem):
    """The last step of the estimator, and what it is given."""
    spec, X = problem.text["estimator"], problem.arrays.get("X")
    *before, last = spec.get("steps", [spec])
    for step in before:
        X = make(step).fit_transform(X)
    return make(last), X


@cache
def engine_of(name):
    """The engine of a problem."""
    problem = problems()[name]
    model, X = model_and_features(problem)
    y, w = problem.arrays["y"], problem.arrays.get("weights")
    objective = factory_for(model)(model, X, y, w)
    noise, order = noise_of(problem), Order(problem.arrays["tie_order"])
    turned = noise.rotated()
    if turned is not None and (rotated := objective.in_basis(turned[0])) is not None:
        objective, noise = rotated, turned[1]
    return Engine(objective, noise, problem.drawn, order, problem.text["weighting"])


def quadratic_sets(name, **options):
    """The sets of a problem, or None where they are not ellipsoids."""
    engine = engine_of(name)
    return QuadraticSets.of(engine, **options) if QuadraticSets.exist(engine) else None
