"""Whether a region is bounded, decided exactly (docs/theory.md 4.4)."""

from fractions import Fraction

from adversarial.arithmetic import Vector, dot, independent_rows, integers, null_space, times
from adversarial.exact import ExactRegion


def unseen(exact: ExactRegion) -> int:
    """The number of independent directions that change coefficients, but no fitted value."""
    return len(null_space(integers(*exact.Phi)[0]))


def unbounded(exact: ExactRegion, q: int) -> bool:
    """Whether the fitted values of members of the region of level 1 - q/m are unbounded."""
    return largest_number_of_free_sets(exact) >= q


def largest_number_of_free_sets(exact: ExactRegion) -> int:
    """The largest number of sets that share a direction without end, in fitted values.

    A direction δ is free in E_i if Qδ = 0. Where Z_i = Z_0 along it, the tie order decides. What
    changes no fitted value is free in every set, and does not count.
    """
    Phi = integers(*([row[i] for i in exact.p] for row in exact.Phi))[0]
    usable = [i for i in range(1, exact.m) if not _never(exact, i)]
    spaces = [_values(Phi, null_space(exact.sets[i - 1][0])) for i in usable]
    rank = len(exact.p) - len(null_space(Phi))
    whole = [space for space in spaces if space and len(space) == rank]
    others = [space for space in spaces if 0 < len(space) < rank]
    return len(whole) + _most(others, None)


def _values(Phi: list[list[int]], directions: list[Vector]) -> list[Vector]:
    """A basis of the fitted values along some directions."""
    if not directions:
        return []
    values = [times(Phi, v) for v in integers(*directions)[0]]
    products = [[dot(u, v) for v in values] for u in values]  # as many are independent
    return [[Fraction(x) for x in values[i]] for i in independent_rows(products)]


def _never(exact: ExactRegion, i: int) -> bool:
    """Whether E_i is empty: c = 0, so that Z_i <= Z_0, and the tie order puts Z_i first."""
    return exact.sets[i - 1][2] == 0 and exact.order[i] < exact.order[0]


def _most(spaces: list[list[Vector]], common: list[Vector] | None) -> int:
    """The largest number of subspaces with a common direction in ``common``."""
    if not spaces:
        return 0
    first, rest = spaces[0], spaces[1:]
    shared = first if common is None else intersection(common, first)
    if common is not None and len(shared) == len(common):
        return 1 + _most(rest, common)
    best = 1 + _most(rest, shared) if shared else 0
    if best < len(spaces):
        best = max(best, _most(rest, common))
    return best


def intersection(A: list[Vector], B: list[Vector]) -> list[Vector]:
    """A basis of the intersection of two subspaces given by bases."""
    # Σ x_i A_i = Σ y_j B_j.
    columns = [*A, *([-x for x in b] for b in B)]
    equations = [list(row) for row in zip(*columns, strict=True)]
    found = []
    for v in null_space(integers(*equations)[0]):
        vector = [
            sum((v[i] * a[k] for i, a in enumerate(A)), Fraction(0)) for k in range(len(A[0]))
        ]
        if any(vector):
            found.append(vector)
    return found
