"""Manual of malsim: Markdown pages, and reference pages generated from the code."""

from malsim.showing.manual.pages import Page, page, pages

__all__ = ["Page", "page", "pages"]
