"""Assumptions on the noise as entries of a file."""

from __future__ import annotations

from typing import Any

from unassuming._tables import Store
from unassuming.io._code import described
from unassuming.noise import NAMED, BlockSymmetric, ExchangeableWithin, Noise

_PLAIN: dict[str, type[Noise]] = {cls.__name__: cls for cls in NAMED.values()}


def describe_noise(noise: Noise, store: Store) -> dict[str, Any]:
    """Return what there is to compare, and the parameters if the class is one of the library's."""
    name = type(noise).__name__
    entry = {"class": name, "known": True, "described": described(noise)}
    if type(noise) is BlockSymmetric:
        return {**entry, "blocks": store.put("blocks", noise.blocks)}
    if type(noise) is ExchangeableWithin:
        return {**entry, "block_rows": noise.block_rows}
    return {**entry, "known": _PLAIN.get(name) is type(noise)}


def known_noise(saved: dict[str, Any], store: Store) -> Noise | None:
    """Return the assumption, None if it is of a class of the user's own."""
    if not saved["known"]:
        return None
    if saved["class"] == BlockSymmetric.__name__:
        return BlockSymmetric(store.get(saved["blocks"]))
    if saved["class"] == ExchangeableWithin.__name__:
        return ExchangeableWithin(saved["block_rows"])
    return _PLAIN[saved["class"]]()
