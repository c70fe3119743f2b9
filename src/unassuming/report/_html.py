"""Elements of a page. Text and attributes are escaped by the standard library's serialiser."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree.ElementTree import Element, tostring


def element(
    tag: str, attributes: Mapping[str, str] | None = None, *content: Element | str
) -> Element:
    """Return an element with texts and elements in it.

    Examples
    --------
    >>> as_html(element("p", {"title": '"'}, "a < b ", element("em", None, "c"), " & d"))
    '<p title="&quot;">a &lt; b <em>c</em> &amp; d</p>'
    """
    made = Element(tag, dict(attributes or {}))
    for part in content:
        if isinstance(part, Element):
            made.append(part)
        elif len(made):
            made[-1].tail = (made[-1].tail or "") + part
        else:
            made.text = (made.text or "") + part
    return made


def as_html(root: Element) -> str:
    """Return an element as HTML; only the texts of style and script are left as they are."""
    return tostring(root, encoding="unicode", method="html")
