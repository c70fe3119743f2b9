"""The archives of the gallery without dates, so that the same sources give the same files."""

from pathlib import Path
from zipfile import ZipFile, ZipInfo


def undate(app):
    """Write every archive again, with the first date that the format has."""
    for path in Path(app.srcdir, "gallery").glob("*.zip"):
        with ZipFile(path) as archive:
            held = {name: archive.read(name) for name in archive.namelist()}
        with ZipFile(path, "w") as archive:
            for name, content in held.items():
                archive.writestr(ZipInfo(name), content)


def setup(app):
    """Do it when the gallery has been made, at the same event and after it."""
    app.connect("builder-inited", undate, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
