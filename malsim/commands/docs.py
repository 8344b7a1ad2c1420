"""Read the manual; list its pages, show one, or write all as a site.

malsim docs                        the pages
malsim docs tune                   one page
malsim docs --html site            all pages as HTML with search, offline
malsim docs --schema               the JSON Schema of scenario files, for editors and checks
"""

from __future__ import annotations

import argparse
from pathlib import Path

HEADING = "look and run"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", nargs="?", metavar="TOPIC", help="a page or a section of one, such as tune or decay")
    parser.add_argument("--html", type=Path, metavar="DIR", help="write every page into this folder as HTML")
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of scenario files")


def main(args: argparse.Namespace) -> int:
    from malsim.showing.manual import page, pages
    from malsim.showing.manual.pages import SECTIONS

    if args.schema:
        import json

        from malsim.scenario.file.json_schema import scenario_schema

        print(json.dumps(scenario_schema(), indent=2, ensure_ascii=False))
    elif args.html:
        from malsim.showing.manual.site import build

        paths = build(args.html)
        print(f"{args.html}: {len(paths)} pages; open {paths[0]}")
    elif args.topic:
        print(page(args.topic).read())
    else:
        for section, name in SECTIONS.items():
            print(name)
            for entry in pages():
                if entry.section == section:
                    print(f"  {entry.name:<18} {entry.title}")
    return 0
