"""Operation counts of the formulations, beside the formulas that the papers print.

Each formulation is counted in three ways, all from its one source: ``literal`` (every product of matrices in full, as the papers count),
``scalars`` (every operation that is carried out, where constant zeros and ones are free) and ``folded`` (after tracing and folding).
``printed`` holds the papers' formulas, ``robots`` the robots they are for; ``shafei2018``, ``wang_ju`` and ``shafei2017`` set tables and
figures of the papers beside our counts.
"""
