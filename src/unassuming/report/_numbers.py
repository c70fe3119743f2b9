"""Numbers in a report: few digits, aligned on the decimal point."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from math import floor, isfinite, isnan, log10

_FIGURE, _POINT = "\u2007", "\u2008"  # spaces as wide as a digit and as a full stop
_MINUS = "\u2212"


def number(value: float, digits: int = 4) -> str:
    """Return a number with so many significant digits.

    Examples
    --------
    >>> number(1234.5678), number(0.012345), number(-1.23456e-9), number(float("inf"))
    ('1235', '0.01235', '−1.235e−09', '∞')
    """
    if not isfinite(value):
        return _special(value)
    if value and not -5 <= floor(log10(abs(value))) < 7:
        return f"{value:.{digits}g}".replace("-", _MINUS)
    size = floor(log10(abs(value))) if value else 0
    return fixed(value, max(0, digits - 1 - size))


def _special(value: float) -> str:
    return "\u2013" if isnan(value) else ("∞" if value > 0 else f"{_MINUS}∞")


def fixed(value: float, decimals: int) -> str:
    """Return a number with so many decimals, without a negative zero.

    Examples
    --------
    >>> fixed(-0.001, 2), fixed(-1.25, 1)
    ('0.00', '−1.2')
    """
    if not isfinite(value):
        return _special(value)
    text = f"{value:.{decimals}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", _MINUS)


def decimals_for(width: float) -> int:
    """Return how many decimals show two digits of an uncertainty.

    Examples
    --------
    >>> decimals_for(0.34), decimals_for(120.0)
    (2, 0)
    """
    if not isfinite(width) or width <= 0:
        return 3
    return min(max(1 - floor(log10(width)), 0), 9)


def interval(estimate: float, lower: float, upper: float) -> list[str]:
    """Return an estimate and its interval with the decimals that the width allows.

    The ends are rounded outward. Those that are not tiny beside the others keep their sign.

    Examples
    --------
    >>> interval(-792.1, -1363.2, -0.31), interval(0.5, 0.123, float("inf"))
    (['−792.1', '−1363.2', '−0.3'], ['0.500', '0.123', '∞'])
    """
    width = upper - lower
    ends = [end for end in (lower, upper) if isfinite(end)]
    sizes = [abs(end) for end in (estimate, *ends) if end and isfinite(end)]
    if sizes and (max(sizes) >= 1e7 or max(sizes) < 1e-4):
        rounded = (_three_digits(lower, ROUND_FLOOR), _three_digits(upper, ROUND_CEILING))
        return [number(value, 3) for value in (estimate, *rounded)]
    decimals = decimals_for(width if isfinite(width) else max(sizes, default=1.0) / 10)
    first = max((-floor(log10(abs(end))) for end in ends if end), default=0)
    decimals = min(max(decimals, first), 8)
    return [
        fixed(estimate, decimals),
        fixed(_outward(lower, decimals, ROUND_FLOOR), decimals),
        fixed(_outward(upper, decimals, ROUND_CEILING), decimals),
    ]


def _outward(end: float, decimals: int, rounding: str) -> float:
    if not isfinite(end):
        return end
    return float(Decimal(repr(float(end))).quantize(Decimal(1).scaleb(-decimals), rounding))


def _three_digits(end: float, rounding: str) -> float:
    return float(Context(prec=3, rounding=rounding).create_decimal(repr(float(end))))


def aligned(texts: Sequence[str]) -> list[str]:
    """Pad numbers behind their decimal point, so that right-aligned columns align on it.

    Examples
    --------
    >>> [len(text) for text in aligned(["1.25", "12"])]
    [4, 5]
    """
    places = [_decimals(text) for text in texts]
    most = max((p for p in places if p is not None), default=0)
    return [text + _padding(p, most) for text, p in zip(texts, places, strict=True)]


def _decimals(text: str) -> int | None:
    """Return the decimals of a plain number; None for one in another form."""
    if not text or not text[-1].isdigit() or "e" in text:
        return None
    return len(text.partition(".")[2])


def _padding(places: int | None, most: int) -> str:
    places = 0 if places is None else places
    if places == most:
        return ""
    return (_POINT if places == 0 else "") + _FIGURE * (most - places)


def pvalue(p: float) -> str:
    """Return a p-value with up to four decimals.

    Examples
    --------
    >>> pvalue(0.03125), pvalue(0.00002), pvalue(1.0)
    ('0.0312', '<\u20090.0001', '1.0000')
    """
    if isnan(p):
        return "\u2013"
    return "<\u20090.0001" if p < 0.0001 else f"{p:.4f}"
