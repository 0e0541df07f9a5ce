"""The command ``urdf-gibbs``, also as ``python -m urdf_gibbs``; without the packages of its extra it says how to get them."""

from __future__ import annotations

import sys

from urdf_gibbs.errors import MissingExtraError
from urdf_gibbs.extras import extras_named


def main() -> None:
    try:
        with extras_named():
            from urdf_gibbs.cli import app

            app(prog_name="urdf-gibbs")
    except MissingExtraError as problem:
        sys.exit(f"urdf-gibbs: {problem}")


if __name__ == "__main__":
    main()
