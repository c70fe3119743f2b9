"""Axes, scales and shapes as SVG elements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import final
from xml.etree.ElementTree import Element

import numpy as np

from unassuming._typing import Array
from unassuming.report._html import element

WIDTH = 640.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 76.0, 14.0, 12.0, 58.0


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers between two others.

    Examples
    --------
    >>> ticks(0.0, 1.0), ticks(-3.0, 12.0, 4)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 5.0, 10.0])
    """
    span = high - low
    if not span > 0:
        return [low]
    rough = span / most
    unit = 10.0 ** floor(log10(rough))
    step = next(unit * k for k in (1, 2, 5, 10) if unit * k >= rough * 0.999999)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def left_margin(low: float, high: float) -> float:
    """Return the room for the labels of a vertical axis and for its name, as large as on a phone.

    Examples
    --------
    >>> left_margin(0.0, 1.0), left_margin(0.0, 100000.0)
    (76.0, 106.0)
    """
    return max(_LEFT, 34 + 12.0 * max(len(short(value)) for value in ticks(low, high, 5)))


@final
@dataclass(frozen=True)
class Frame:
    """A picture with two axes: where numbers are on the paper."""

    x0: float
    x1: float
    y0: float
    y1: float
    height: float = 360.0
    left: float = _LEFT

    def x(self, value: Array | float) -> Array:
        """Return horizontal positions."""
        return np.asarray(
            self.left + (value - self.x0) / (self.x1 - self.x0) * (WIDTH - self.left - _RIGHT)
        )

    def y(self, value: Array | float) -> Array:
        """Return vertical positions."""
        return np.asarray(
            self.height
            - _BOTTOM
            - (value - self.y0) / (self.y1 - self.y0) * (self.height - _TOP - _BOTTOM)
        )

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of the plotting area."""
        return self.left, _TOP, WIDTH - _RIGHT, self.height - _BOTTOM

    def canvas(self, label: str) -> Element:
        """Return an empty picture."""
        return element(
            "svg",
            {"viewBox": f"0 0 {WIDTH:g} {self.height:g}", "role": "img", "aria-label": label},
        )

    def axes(self, x_label: str, y_label: str, *, vertical: bool = True) -> Element:
        """Return ticks, their labels and the names of the axes."""
        left, top, right, bottom = self.box
        group = element("g", {"class": "axes"})
        for value in ticks(self.x0, self.x1):
            at = f"{float(self.x(value)):.1f}"
            group.append(line(at, f"{bottom:g}", at, f"{bottom + 5:g}", "tick"))
            group.append(text(at, f"{bottom + 20:g}", short(value), {"text-anchor": "middle"}))
        for value in ticks(self.y0, self.y1, 5) if vertical else []:
            at = f"{float(self.y(value)):.1f}"
            group.append(line(f"{left:g}", at, f"{right:g}", at, "grid"))
            mark = {"text-anchor": "end", "dominant-baseline": "middle"}
            group.append(text(f"{left - 8:g}", at, short(value), mark))
        group.append(line(f"{left:g}", f"{bottom:g}", f"{right:g}", f"{bottom:g}", "axis"))
        middle = {"text-anchor": "middle", "class": "name"}
        group.append(text(f"{(left + right) / 2:g}", f"{bottom + 44:g}", x_label, middle))
        if y_label:
            at = f"{(top + bottom) / 2:g}"
            turned = {**middle, "transform": f"rotate(-90 16 {at})"}
            group.append(text("16", at, y_label, turned))
        return group


def short(value: float) -> str:
    """Return the label of a tick."""
    return f"{value:.6g}".replace("-", "\u2212")


def line(x1: str, y1: str, x2: str, y2: str, kind: str) -> Element:
    """Return a straight line."""
    return element("line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "class": kind})


def text(x: str, y: str, content: str, attributes: dict[str, str] | None = None) -> Element:
    """Return a text."""
    return element("text", {"x": x, "y": y, **(attributes or {})}, content)


def path(points: Iterable[tuple[float, float]]) -> str:
    """Return the commands of a path through points."""
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)


def limits(parts: Sequence[Array], margin: float = 0.04) -> tuple[float, float]:
    """Return the ends of an axis that shows all finite numbers.

    Examples
    --------
    >>> limits([np.array([0.0, 1.0, np.inf])], margin=0.0)
    (0.0, 1.0)
    """
    every = np.concatenate([np.ravel(part) for part in parts])
    every = every[np.isfinite(every)]
    low, high = (float(every.min()), float(every.max())) if every.size else (0.0, 1.0)
    if low == high:
        low, high = low - (abs(low) or 1.0), high + (abs(high) or 1.0)
    pad = margin * (high - low)
    return low - pad, high + pad
