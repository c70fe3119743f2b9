"""``python -m benchmarks.picture``: plot the results of `growth` on logarithmic axes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

HERE = Path(__file__).parent
MARKERS = "os^Dv"


def draw(results: list[dict[str, Any]], path: Path) -> None:
    """Draw one panel for each variable: times as markers, the fits to the larger sizes dashed."""
    measured = [result for result in results if result["growth"]]
    works = dict.fromkeys(result["case"].rpartition(",")[0] for result in measured)
    styles = {what: (f"C{k}", MARKERS[k]) for k, what in enumerate(works)}
    panels = [("n", "rows n"), ("d", "features d"), ("m", "statistics m")]
    figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained", sharey=True)
    for ax, (variable, label) in zip(axes, panels, strict=True):
        mine = [result for result in measured if result["growth"]["variable"] == variable]
        for result in mine:
            growth, what = result["growth"], result["case"].rpartition(",")[0]
            sizes, style = growth["sizes"], styles[what]
            fit = [growth["factor"] * size ** growth["exponent"] for size in sizes]
            ax.loglog(sizes, growth["seconds"], style[1], color=style[0], label=what)
            name = f"${variable}^{{{growth['exponent']:.2f}}}$"
            ax.loglog(sizes, fit, "--", color=style[0], label=name, linewidth=1)
        low, high = ax.get_xlim()
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_xlabel(label)
        ax.grid(which="both", alpha=0.2)
        ax.legend(fontsize="small")
    axes[0].set_ylabel("seconds, one thread")
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    target = HERE / "growth.png"
    draw(json.loads((HERE / "results.json").read_text(encoding="utf-8")), target)
    print(f"Picture: {HERE.name}/{target.name}")
