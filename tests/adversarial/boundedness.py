"""Whether a region is bounded, decided exactly (docs/theory.md 4.4)."""

from fractions import Fraction

from adversarial.arithmetic import Vector, integers, null_space
from adversarial.exact import ExactRegion


def unbounded(exact: ExactRegion, q: int, *, null: bool) -> bool:
    """Whether the region of level 1 - q/m is unbounded.

    ``null`` says that directions which change no fitted value count, as they do unless
    coefficients of the same function are one point.
    """
    if null and len(exact.p) < exact.d:
        return sum(not _never(exact, i) for i in range(1, exact.m)) >= q
    return largest_number_of_free_sets(exact) >= q


def largest_number_of_free_sets(exact: ExactRegion) -> int:
    """The largest number of sets that share a direction without end, on the rows p.

    A direction δ is free in E_i if Qδ = 0. Where Z_i = Z_0 along it, the tie order decides.
    """
    if not exact.p:
        return 0
    usable = [i for i in range(1, exact.m) if not _never(exact, i)]
    spaces = [null_space(exact.sets[i - 1][0]) for i in usable]
    whole = [space for space in spaces if len(space) == len(exact.p)]
    others = [space for space in spaces if 0 < len(space) < len(exact.p)]
    return len(whole) + _most(others, None)


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
