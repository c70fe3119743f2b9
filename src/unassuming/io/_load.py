"""Read a region from a file."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from unassuming._archive import Unreadable, read
from unassuming._tables import Store
from unassuming._words import shown
from unassuming.io._code import described, difference
from unassuming.io._estimators import check_estimator, other_estimator
from unassuming.io._noise import check_noise_class
from unassuming.io._probes import same_fingerprint
from unassuming.io._saved import Saved, decode
from unassuming.noise import Noise, Perturbations, restricted
from unassuming.regions import Region, build_region

_FILE, _LOAD = "the saved region", "ua.load"  # as sentences name them


def load(path: str | os.PathLike[str], estimator: Any = None, noise: Noise | None = None) -> Region:
    """Read a region that `save` has written; it has the same ranks as before.

    Parameters
    ----------
    path : str or path
        The file. A damaged file is refused, by a hash of its content. A file from somebody else
        can hold wrong data, but it runs no code, and the sizes that it declares are compared with
        its content before memory is taken. A sparse X that would take more than 64 MB and more than
        1,000 times the size of the file, as the model needs it, is refused.
    estimator : scikit-learn estimator, optional
        Needed if the estimator is a pipeline, has a function as its kernel, or is of a user-defined
        class. It must be the same as before: classes, parameters and names of functions are
        compared, and so are the features at the inputs of the data and at some inputs between and
        beyond them. A function that differs only at other inputs goes unnoticed.
    noise : Noise, optional
        Needed if the class of the noise is user-defined; compared in the same way.

    Returns
    -------
    Region

    Examples
    --------
    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/spline.region"
    >>> model = make_pipeline(SplineTransformer(6), Ridge(0.1))
    >>> ua.save(ua.confidence_region(model, X, y, random_state=0), path)
    >>> ua.load(path, estimator=model).n
    50
    """
    try:
        header, arrays = read(path)
        saved = decode(header, Store(arrays))
    except Unreadable as error:
        raise _refused(path, error) from error
    if estimator is not None or saved.estimator is None:
        check_estimator(saved.estimator_entry, estimator, _FILE, _LOAD)
    model = saved.estimator if estimator is None else estimator
    assumption = saved.noise
    if noise is not None or assumption is None:
        assumption = _given_noise(saved, noise)
    before = saved.estimator_entry["shown"]
    try:
        perturbations = Perturbations(assumption, saved.drawn, saved.n, saved.m)
        drawn = perturbations, saved.tie_order
        region = build_region(
            model, saved.X, saved.y, noise=assumption, drawn=drawn, **saved.options
        )
        same_features = region.objective.d == saved.probe.shape[1] and same_fingerprint(
            saved.fingerprint, region
        )
        same_ranks = same_features and np.array_equal(region.rank(saved.probe), saved.ranks)
    except Exception as error:
        if estimator is None:
            raise _refused(path, f"no region can be built from it, {error}") from error
        now = f"{shown(estimator)}, which fails: {error}"
        raise other_estimator(before, now, _FILE) from error
    if not same_features:
        now = f"{shown(model)}, with other features, at the inputs or beyond them"
        raise other_estimator(before, now, _FILE)
    if not same_ranks:
        raise _refused(path, "its candidates no longer have the ranks that it lists")
    if saved.tuning is not None:
        region.tuning = saved.tuning
    return region


def _given_noise(saved: Saved, given: Noise | None) -> Noise:
    """Return the assumption that was passed, for the rows of the region, if it is the same."""
    check_noise_class(saved.noise_entry, given, _FILE, _LOAD)
    assert given is not None
    noise = given if saved.rows.all() else restricted(given, saved.rows)
    apart = difference(saved.noise_entry["described"], described(noise))
    if apart is not None:
        where, before, now = apart
        raise ValueError(
            f"noise is not the one of {_FILE}: expected {where} = {before}, given {now} for "
            f"{given!r}. Pass the same assumption as before."
        )
    return noise


def _refused(path: str | os.PathLike[str], why: object) -> ValueError:
    return ValueError(
        "the file is not a saved region: expected a file that ua.save has written, whole and "
        f"unchanged, given {os.fspath(path)}: {' '.join(str(why).split())}. Save the region again."
    )
