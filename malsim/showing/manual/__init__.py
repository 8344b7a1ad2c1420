"""The documentation that ships with malsim: pages in Markdown, and reference pages made from the code's own declarations."""

from malsim.showing.manual.pages import Page, page, pages

__all__ = ["Page", "page", "pages"]
