"""Read the manual; list its pages, print one page, or write all of them as a website.

malsim docs                        list of pages
malsim docs tune                   one page
malsim docs --html site            all pages as offline HTML with search
malsim docs --schema               JSON Schema of scenario files, for editors and validators
"""

from __future__ import annotations

import argparse
from pathlib import Path

HEADING = "look and run"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", nargs="?", metavar="TOPIC", help="page or section, such as tune or decay")
    parser.add_argument("--html", type=Path, metavar="DIR", help="write all pages to this folder as HTML")
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of scenario files")


def main(args: argparse.Namespace) -> int:
    from malsim.showing.manual import page, pages
    from malsim.showing.manual.pages import SECTIONS, build

    if args.schema:
        import json

        from malsim.scenario.file.json_schema import scenario_schema

        print(json.dumps(scenario_schema(), indent=2, ensure_ascii=False))
    elif args.html:
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
