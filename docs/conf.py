"""How the site is built: `make docs`."""

import sys
from pathlib import Path

import matplotlib as mpl

import unassuming

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
mpl.use("Agg")

project = "unassuming"
author = "unassuming developers"
version = release = unassuming.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "reference",
    "undated",
]
exclude_patterns = ["examples", "_build"]
templates_path = ["_templates"]
default_role = "py:obj"  # `name` in a docstring is a link if there is such a name

# Pages.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

# The reference: one page for each name, methods included; types are in the docstrings.
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# The gallery: every example is run. Nothing that changes from build to build is shown.
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "capture_repr": (),
    "download_all_examples": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,
    "doc_module": ("unassuming",),
    "reference_url": {"unassuming": None},
    "backreferences_dir": "api/backreferences",
    "within_subsection_order": "FileNameSortKey",
    "show_signature": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "unassuming"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
}
html_sidebars = {"tutorial": [], "theory": []}
