"""Run one case in its own process: ``python -m benchmarks.case SUBJECT NUMBER``.

Prints the result as one line of JSON. Without a number, prints the title and the cases of the
subject.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from importlib import import_module


def main(subject: str, number: str | None = None) -> None:
    try:
        module = import_module(f"benchmarks.{subject}")
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is missing: install it with pip install 'unassuming[bench]'.")
    if number is None:
        all_cores = getattr(module, "ALL_CORES", False)
        about = {"title": module.TITLE, "cases": list(module.CASES), "all_cores": all_cores}
        print(json.dumps(about))
        return
    name, measure = list(module.CASES.items())[int(number)]
    print(json.dumps({"subject": subject, **asdict(measure(name))}))


if __name__ == "__main__":
    main(*sys.argv[1:])
