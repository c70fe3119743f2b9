"""Formulas as MathML, written by docutils: no LaTeX, no script, nothing for a browser to fetch."""

import html
import re
import xml.etree.ElementTree as ET

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)

XMLNS = "http://www.w3.org/1998/Math/MathML"
ENTITY = re.compile(r"&(?!amp;|lt;|gt;|#)\w+;")  # XML knows three of the names that HTML has
ACCENTS = ("ˆ", "~", "ˉ")
FENCES = re.compile(r"<mo( class=\"math(?:open|close)\")?>([{}‖|])</mo>")


def with_indices(text):
    """Move indices that docutils writes under a letter with an accent to the right of it."""
    ET.register_namespace("", XMLNS)
    tree = ET.fromstring(ENTITY.sub(lambda match: html.unescape(match[0]), text))
    for found in list(tree.iter()):
        tag = found.tag.rpartition("}")[2]
        if tag != "munderover" or found[-1].text not in ACCENTS:
            continue
        base, index, accent = found
        prefix = found.tag[: -len(tag)]
        found.tag = f"{prefix}msub"
        over = ET.Element(f"{prefix}mover", accent="true")
        over.extend([base, accent])
        found[:] = [over, index]
    return ET.tostring(tree, encoding="unicode")


def converted(node, display):
    """Return a formula as MathML; one that docutils cannot read is a warning, and left as it is."""
    try:
        found = tex2mathml(node.astext().strip(), as_block=display)
    except MathError as error:
        logger.warning("formula not understood: %s", error, location=node)
        return f"<code>{node.astext()}</code>"
    found = with_indices(found)
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
