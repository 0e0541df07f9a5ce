"""Engines for bench_stepping.py, a file for each. They import what they need when a scene is made: not every Python has every engine."""
