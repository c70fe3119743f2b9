"""Formulas as MathML, written by docutils: no LaTeX, no script, nothing for a browser to fetch."""

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


def converted(node, display):
    """Return a formula as MathML; one that docutils cannot read is a warning, and left as it is."""
    try:
        return tex2mathml(node.astext().strip(), as_block=display)
    except MathError as error:
        logger.warning("formula not understood: %s", error, location=node)
        return f"<code>{node.astext()}</code>"


def visit_inline(self, node):
    """Write a formula within a line."""
    self.body.append(converted(node, display=False))
    raise nodes.SkipNode


def visit_display(self, node):
    """Write a formula on lines of its own; long ones can be scrolled."""
    self.body.append(f'<div class="math">{converted(node, display=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Offer the renderer under the name mathml."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
