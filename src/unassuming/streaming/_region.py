"""A region whose rows are gone: everything that sums over them can tell."""

from __future__ import annotations

from typing import Any, cast

from unassuming._errors import NotAvailable
from unassuming.inputs import Data
from unassuming.noise import Noise, Perturbations
from unassuming.regions import Diagnosis, QuadraticRegion


class StreamedRegion(QuadraticRegion):
    """A quadratic region from sums over the rows, with all of its geometry.

    Built by `unassuming.StreamingRegion`, and by `unassuming.confidence_region` from dask
    collections. Candidates are coefficient vectors; what needs the rows themselves (functions and
    fitted estimators as candidates, residuals, `diagnose`, `perturbations`) is not available.

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y, coefficients = ua.datasets.linear(n=50, d=1, random_state=0)
    >>> stream = ua.StreamingRegion(LinearRegression(), random_state=0).partial_fit(X, y)
    >>> region = stream.region()
    >>> region.n, region.noise
    (50, Symmetric())
    >>> region.interval(level=0.9).status.name
    'CERTIFIED'
    >>> region.diagnose()
    Traceback (most recent call last):
        ...
    unassuming._errors.NotAvailable: diagnose needs the rows of the data, ...
    >>> region.perturbations
    Traceback (most recent call last):
        ...
    unassuming._errors.NotAvailable: the perturbations need the rows of the data, ...
    """

    def __init__(self, *, n: int, noise: Noise, **parts: Any) -> None:
        super().__init__(data=cast(Data, _NoRows()), **parts)
        self._n = n
        self._noise = noise

    @property
    def n(self) -> int:
        """Number of rows that were summed."""
        return self._n

    @property
    def noise(self) -> Noise:
        """The assumption on the noise."""
        return self._noise

    @property
    def perturbations(self) -> Perturbations:
        """Not available: the transformations of the rows were drawn and dropped again."""
        raise _gone("the perturbations need")

    def diagnose(self) -> Diagnosis:
        """Not available: there are no residuals to look at."""
        raise _gone("diagnose needs")

    @property
    def _caveat(self) -> str:
        return ""


class _NoRows:
    """What stands in the place of the data: nothing can be asked of it but its kind."""

    classes = None  # numbers, not labels: only regressions are streamed

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _gone(
            "candidates other than coefficient vectors, pictures without X, and saving need"
        )


def _gone(what: str) -> NotAvailable:
    return NotAvailable(
        f"{what} the rows of the data, and this region was built from sums over them: pass "
        "coefficient vectors, save the StreamingRegion, or build the region in memory with "
        "ua.confidence_region(estimator, X, y)."
    )
