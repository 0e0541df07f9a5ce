"""Sweeps: one scenario run many times with other values of its keys, one row a run, in a folder of Parquet files."""
