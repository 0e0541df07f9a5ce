"""A pytest plugin for mutants.py: a failing example is enough, it need not be the smallest one, nor be remembered."""

from hypothesis import Phase, settings

settings.register_profile("mutants", phases=(Phase.explicit, Phase.generate), database=None)
settings.load_profile("mutants")
