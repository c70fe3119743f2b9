"""Endogenous columns and instruments, from the names of columns to the features of a model."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from unassuming.cli.tables import Kind, Term, split_names


def with_roles(features: str | None, roles: Sequence[str], known: Sequence[str]) -> str | None:
    """Add columns that have a role to the features that were named; None if none were.

    Examples
    --------
    >>> with_roles("age", ["price", "tax,cost"], ["age", "price", "tax", "cost"])
    'age,price,tax,cost'
    """
    if features is None:
        return None
    names = split_names(features, known)
    for text in roles:
        names += [name for name in split_names(text, known) if name not in names]
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()


def role_features(option: str, text: str, terms: Sequence[Term]) -> list[str]:
    """Return the features of the columns that an option names: indicators of a category.

    Examples
    --------
    >>> quarter = Term("quarter", Kind.INDICATORS, levels=(1, 2, 3))
    >>> role_features("instruments", "tax,quarter", [Term("tax", Kind.LINE), quarter])
    ['tax', 'quarter=2', 'quarter=3']
    """
    by_name = {term.column: term for term in terms}
    found: list[str] = []
    for name in split_names(text, list(by_name)):
        if name not in by_name:
            raise ValueError(
                f"--{option} names a column that is not a feature: expected one of "
                f"{', '.join(map(repr, by_name))}, given {name!r}. Correct the name; a column that "
                "is constant, or the target, cannot have that role."
            )
        term = by_name[name]
        found += term.features if term.kind is Kind.INDICATORS else [name]
    return found
