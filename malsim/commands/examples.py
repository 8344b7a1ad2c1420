"""List or copy the shipped examples: scenarios, notebooks, netlists, rules and sample claims.

malsim examples                              list all examples, by use
malsim examples poisoner.toml -o .           copy one example and the files that it names
malsim examples scenarios/poisoning -o .     copy the examples in a folder
malsim examples -o examples                  copy all examples
"""

from __future__ import annotations

import argparse
from pathlib import Path
from textwrap import shorten

HEADING = "look and run"
WIDTH = 90


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="examples to copy, such as poisoner or scenarios/poisoner.toml"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="folder for the copies")


def main(args: argparse.Namespace) -> int:
    from malsim.examples import USES, copy, examples

    if args.output is None and not args.names:
        for use, title in {**USES, "": "More examples"}.items():
            print(title)
            for example in examples():
                if example.use == use:
                    print(f"  {example.name:<44} {shorten(example.sentence, WIDTH, placeholder=' …')}")
        return 0
    for path in copy(args.names, args.output or Path()):
        print(path)
    return 0
