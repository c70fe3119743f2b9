"""Check what is in the wheel and the source archive in dist/: all of the package, nothing else."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[1]
LEFTOVERS = re.compile(
    r"__pycache__|\.py[co]$|\.(pytest|mypy|ruff|import_linter)_cache|\.hypothesis|\.venv"
    r"|^docs/(_build|api|gallery)/|\.egg-info|^benchmarks/results\.json$"
)
NEEDED = (
    *("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md"),
    *("Makefile", "conftest.py", "tools/oldest.py", "tests/test_readme.py", "docs/conf.py"),
    *("benchmarks/__main__.py", "src/unassuming/py.typed"),
)


def only(pattern: str) -> Path:
    """Return the one file in dist/ of that form."""
    found = sorted((ROOT / "dist").glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"expected one {pattern} in dist/, found {len(found)}")
    return found[0]


def package() -> set[str]:
    """Return the files of the package, by their paths in the wheel."""
    files = (ROOT / "src/unassuming").rglob("*")
    kept = {str(file.relative_to(ROOT / "src")) for file in files if file.is_file()}
    return {name for name in kept if not LEFTOVERS.search(name)}


def check(what: str, held: set[str], needed: set[str], version: str) -> None:
    """Stop if something is missing, or is there that should not be."""
    faults = [f"{name} is missing" for name in sorted(needed - held)]
    faults += [f"{name} does not belong there" for name in sorted(held) if LEFTOVERS.search(name)]
    if faults:
        raise SystemExit("\n".join(f"{what}: {fault}" for fault in faults))
    print(f"{what}: version {version}, {len(held)} files")


def main() -> None:
    """Check both archives, and that they have the version of the sources."""
    source = (ROOT / "src/unassuming/_version.py").read_text(encoding="utf-8")
    version = re.search(r'__version__ = "(.+)"', source)[1]
    name = f"unassuming-{version}"
    with ZipFile(only(f"{name}-py3-none-any.whl")) as wheel:
        names = set(wheel.namelist())
        metadata = wheel.read(f"{name}.dist-info/METADATA").decode()
    if f"\nVersion: {version}\n" not in metadata:
        raise SystemExit(f"the wheel does not call itself {version}")
    extra = {
        inner for inner in names if not inner.startswith(("unassuming/", f"{name}.dist-info/"))
    }
    if extra:
        raise SystemExit(f"wheel: {sorted(extra)} would be installed beside the package")
    check("wheel", names, package() | {f"{name}.dist-info/licenses/LICENSE"}, version)
    with tarfile.open(only(f"{name}.tar.gz")) as archive:
        files = [member.name for member in archive.getmembers() if member.isfile()]
    inside = {file.removeprefix(f"{name}/") for file in files}
    check("source archive", inside, {*NEEDED, *(f"src/{inner}" for inner in package())}, version)


if __name__ == "__main__":
    main()
