"""Scenario files: a simulation described in TOML. schema.py says what there is, reader.py reads it, lines.py finds its lines."""

from urdf_gibbs.simulation.scenario.model import Reference, ReferenceImpact, Scenario
from urdf_gibbs.simulation.scenario.problems import Problem, ScenarioError
from urdf_gibbs.simulation.scenario.reader import parse_scenario, read_scenario

__all__ = ["Problem", "Reference", "ReferenceImpact", "Scenario", "ScenarioError", "parse_scenario", "read_scenario"]
