"""A sweep on a cluster of Dask whose worker is killed: the same rows, and nothing stored twice."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from sweep_cases import ball, rows

import urdf_gibbs as ug

distributed = pytest.importorskip("distributed")


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_worker_that_is_killed_changes_nothing(tmp_path: Path) -> None:
    written: list[int] = []
    lost = {"lost": "energy_start - energy_end"}
    cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        first = next(iter(client.run(os.getpid).values()))

        def progress(done: int, failed: int, runs: int) -> None:
            written.append(done)
            if done == 20:
                os.kill(first, signal.SIGKILL)

        found = ball(tmp_path / "cluster", client=client, progress=progress, quantities=lost)
        assert next(iter(client.run(os.getpid).values())) != first
        again = ball(tmp_path / "functions", runs=6, client=client, quantities={"n": lambda motion: len(motion.impacts)})
    assert written == [0, 10, 20, 30, 40, 50, 60]
    assert rows(found) == rows(ball(tmp_path / "threads", quantities=lost))
    assert rows(again)["n"] == rows(again)["impacts"]


def test_a_cluster_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ug.ArgumentError, match=r"expected a Client of dask.distributed"):
        ball(tmp_path / "runs", client=object())
    with pytest.raises(ug.ArgumentError, match="expected the address of a scheduler"):
        ball(tmp_path / "runs", dask="nowhere://")
    with pytest.raises(ug.ArgumentError, match="both given"):
        ball(tmp_path / "runs", client=object(), dask="tcp://127.0.0.1:1")
    assert not (tmp_path / "runs").exists()
