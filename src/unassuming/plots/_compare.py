"""The interval of a Gaussian process, to draw beside a certified band."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from scipy.stats import norm
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from unassuming._typing import Array
from unassuming.kernels import white_noise
from unassuming.plots import _canvas as canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NOTE = "The interval of the Gaussian process holds at each input, if prior and noise are Gaussian."


@final
@dataclass(frozen=True, eq=False)
class Compared:
    """Mean and interval of a Gaussian process at the inputs of a band; (N,) each."""

    level: float
    mean: Array
    lower: Array
    upper: Array

    @classmethod
    def of(cls, process: Any, X: Any, level: float) -> Compared:
        """Return the interval of the function, without the noise of new outputs."""
        final_step = process[-1] if isinstance(process, Pipeline) else process
        _require_process(process, final_step)
        mean, deviation = process.predict(X, return_std=True)
        inputs = process[:-1].transform(X) if isinstance(process, Pipeline) else X
        noise = white_noise(final_step.kernel_, np.asarray(inputs, dtype=np.float64))
        noise = noise * np.square(final_step._y_train_std)
        deviation = np.sqrt(np.maximum(np.asarray(deviation) ** 2 - noise, 0.0))
        half = norm.ppf((1 + level) / 2) * deviation
        return cls(level, np.asarray(mean), mean - half, mean + half)

    def draw(self, ax: Axes, x: Array) -> None:
        """Draw the mean and the outline of the interval."""
        look: dict[str, Any] = {"color": canvas.GREEN, "linewidth": 1.3}
        label = f"process, {canvas.percent(self.level)}"
        ax.plot(x, self.lower, ":", label=label, **look)
        ax.plot(x, self.upper, ":", **look)
        ax.plot(x, self.mean, "-.", label="process, mean", **look)


def _require_process(process: Any, final_step: Any) -> None:
    """Refuse anything but a fitted Gaussian process of one output."""
    if not hasattr(final_step, "kernel") or not hasattr(final_step, "normalize_y"):
        raise TypeError(
            "compare is not a Gaussian process: expected a fitted GaussianProcessRegressor, given "
            f"{type(process).__name__}. Leave it out for other models."
        )
    try:
        check_is_fitted(final_step, "kernel_")
    except NotFittedError:
        raise ValueError(
            "compare is not fitted: expected a fitted GaussianProcessRegressor, given one without "
            "data. Call fit(X, y) first."
        ) from None
