"""Formulas as MathML, written by docutils: no LaTeX, no script, nothing for a browser to fetch."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)

FENCES = re.compile(r"<mo( class=\"math(?:open|close)\")?>([{}‖|])</mo>")


def converted(node, display):
    """Return a formula as MathML; one that docutils cannot read is a warning, and left as it is."""
    try:
        found = tex2mathml(node.astext().strip(), as_block=display)
    except MathError as error:
        logger.warning("formula not understood: %s", error, location=node)
        return f"<code>{node.astext()}</code>"
    # Browsers stretch these unless told not to; docutils tells them for parentheses only.
    return FENCES.sub(r'<mo\1 stretchy="false">\2</mo>', found)


def visit_inline(self, node):
    """Write a formula within a line."""
    self.body.append(converted(node, display=False))
    raise nodes.SkipNode


def visit_display(self, node):
    """Write a formula on lines of its own; long ones can be scrolled."""
    self.body.append(f'<div class="formula">{converted(node, display=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Offer the renderer under the name mathml."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
