"""Assumptions on the noise as entries of a file."""

from __future__ import annotations

from typing import Any

from unassuming._tables import Store
from unassuming.io._code import described
from unassuming.noise import NAMED, BlockSymmetric, ExchangeableWithin, InBasis, Noise, Quantile

_PLAIN: dict[str, type[Noise]] = {cls.__name__: cls for cls in NAMED.values()}


def describe_noise(noise: Noise, store: Store) -> dict[str, Any]:
    """Return a description to compare later, and the parameters of a class of the library."""
    name = type(noise).__name__
    entry = {"class": name, "known": True, "described": described(noise)}
    if type(noise) is BlockSymmetric:
        return {**entry, "blocks": store.put("blocks", noise.blocks)}
    if type(noise) is ExchangeableWithin:
        return {**entry, "block_rows": noise.block_rows}
    if type(noise) is Quantile:
        return {**entry, "tau": noise.tau}
    if type(noise) is InBasis:
        inner = describe_noise(noise.inner, store)
        basis = store.put("basis", noise.basis)
        return {**entry, "known": inner["known"], "inner": inner, "basis": basis}
    return {**entry, "known": _PLAIN.get(name) is type(noise)}


def known_noise(saved: dict[str, Any], store: Store) -> Noise | None:
    """Return the assumption of a file; None if its class is defined by the user."""
    if not saved["known"]:
        return None
    if saved["class"] == BlockSymmetric.__name__:
        return BlockSymmetric(store.get(saved["blocks"]))
    if saved["class"] == ExchangeableWithin.__name__:
        return ExchangeableWithin(saved["block_rows"])
    if saved["class"] == InBasis.__name__:
        inner = known_noise(saved["inner"], store)
        return None if inner is None else InBasis(store.get(saved["basis"]), inner)
    if saved["class"] == Quantile.__name__:
        return Quantile(saved["tau"])
    return _PLAIN[saved["class"]]()


def check_noise_class(saved: dict[str, Any], given: Any, file: str, load: str) -> None:
    """Refuse an assumption that is missing, or of another class than that of the file."""
    if not isinstance(given, Noise) or type(given).__name__ != saved["class"]:
        raise ValueError(
            f"noise is needed to load {file}, since code is not saved: expected an instance of "
            f"{saved['class']}, given {given!r}. Pass {load}(path, noise=...)."
        )
