"""A pytest plugin for mutants.py: a failing example is enough, it need not be the smallest one, nor be remembered.

And with an error in compiled code only the entries that it concerns are made machine code: the others are those of the driver without it.
Processes that tests start have the whole driver with the error.
"""

import json
from functools import cache
from pathlib import Path

from hypothesis import Phase, settings

settings.register_profile("mutants", phases=(Phase.explicit, Phase.generate), database=None)
settings.load_profile("mutants")

PART, RIGHT = (Path(__file__).with_name(name) for name in ("mutant_part.json", "mutant_right.ll"))  # of mutant_driver.py and mutants.py

if PART.exists():
    from urdf_gibbs.engine import driver_code

    part = json.loads(PART.read_text())

    @cache
    def driver(wrong: bool) -> driver_code.Driver:
        return driver_code.Driver(part["text"] if wrong else RIGHT.read_text())

    driver_code.address = lambda name: driver(name in part["entries"]).address(name)
