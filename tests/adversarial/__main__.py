"""Run many cases once: ``python -m tests.adversarial 10000``, from the root of the repository."""

import os
import sys
from pathlib import Path

import pytest

if __name__ == "__main__":
    os.environ["UNASSUMING_ADVERSARY"] = sys.argv[1] if len(sys.argv) > 1 else "10000"
    here = str(Path(__file__).parent)
    raise SystemExit(pytest.main([here, "-q", "--no-header", "--durations=0", *sys.argv[2:]]))
