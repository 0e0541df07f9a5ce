"""What ``urdf-gibbs bench`` prints and draws of its times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from urdf_gibbs.cli.bench_contenders import QUANTITIES
from urdf_gibbs.cli.console import out

PYTHON = {"gibbs_appell_flexible": "3x3,\nPython", "transformations_flexible": "4x4,\nPython"}
RATIOS = {  # what the plot shows: Pinocchio's time over ours
    "one call, kernel": ("single", "pinocchio", "kernel"),
    "one call, function": ("single", "pinocchio", "function"),
    "batch, 1 thread, against a Python loop": ("batch", "pinocchio_loop", "ours_1"),
    "batch, 1 thread, against ...InParallel": ("batch", "pinocchio_1", "ours_1"),
    "batch, 2 threads, against ...InParallel": ("batch", "pinocchio_2", "ours_2"),
}


def is_elastic(result: dict[str, Any]) -> bool:
    return any(method in row for row in result["single"].values() for method in PYTHON)


def print_result(result: dict[str, Any]) -> None:
    name = f"{escape(result['file'])} ({result['base']}), nq {result['nq']}, nv {result['nv']}"
    single = Table(title=f"{name}: µs per call", title_justify="left")
    batch = Table(title=f"batch of {result['states']}: µs per state", title_justify="left")
    if is_elastic(result):
        _headed(single, ["kernel", "function", *PYTHON.values(), "ratio"])
        for quantity, row in result["single"].items():
            cells = _micro(row, "kernel", "function", *PYTHON)
            single.add_row(QUANTITIES[quantity], *cells, f"{row['gibbs_appell_flexible'] / row['kernel']:.0f}")
        _headed(batch, ["1 thread", "2 threads"])
        for quantity, row in result["batch"].items():
            batch.add_row(QUANTITIES[quantity], *_micro({key: x / result["states"] for key, x in row.items()}, "ours_1", "ours_2"))
        out.print(single)
        out.print(batch)
        _print_start(result)
        return
    rival = any("mujoco" in row for row in result["single"].values())
    _headed(single, ["kernel", "function", "Pinocchio", "ratio,\nkernel", "ratio,\nfunction"] + ["MuJoCo"] * rival)
    for quantity, row in result["single"].items():
        ratios = [row["pinocchio"] / row[ours] for ours in ("kernel", "function")]
        cells = [*_micro(row, "kernel", "function", "pinocchio"), *(f"{ratio:.1f}" for ratio in ratios)]
        single.add_row(QUANTITIES[quantity], *cells, *(_micro(row, "mujoco") if rival else []))
    out.print(single)
    _headed(batch, ["ours\n1 thr.", "Pin.\nloop", "\nratio", "Pin.\nparallel", "\nratio", "ours\n2 thr.", "Pin.\npar. 2", "\nratio"])
    for quantity, row in result["batch"].items():
        each = {key: seconds / result["states"] for key, seconds in row.items()}
        cells = _micro(each, "ours_1", "pinocchio_loop") + _ratio(each, "pinocchio_loop", "ours_1")
        cells += _micro(each, "pinocchio_1") + _ratio(each, "pinocchio_1", "ours_1")
        cells += _micro(each, "ours_2", "pinocchio_2") + _ratio(each, "pinocchio_2", "ours_2")
        batch.add_row(QUANTITIES[quantity], *cells)
    out.print(batch)
    _print_start(result)


def _print_start(result: dict[str, Any]) -> None:
    start = Table(title="start: seconds of the first call in a fresh process", title_justify="left")
    _headed(start, ["import, load", "M", "bias", "forward"])
    for kind, label in (("cold", "compiled"), ("warm", "from the cache")):
        start.add_row(label, *(f"{seconds:.3f}" for seconds in result["start"][kind].values()))
    out.print(start)
    for note in result["notes"]:
        out.print(f"note: {note}", markup=False)


def _headed(table: Table, columns: list[str]) -> None:
    table.add_column("", no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)


def _micro(row: dict[str, float], *names: str) -> list[str]:
    return [f"{1e6 * row[name]:.3g}" if name in row else "" for name in names]


def _ratio(row: dict[str, float], theirs: str, ours: str) -> list[str]:
    return [f"{row[theirs] / row[ours]:.1f}" if theirs in row and ours in row else ""]


def draw(results: list[dict[str, Any]], path: str) -> None:
    """Grouped bars of the ratios, one panel for each robot."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from urdf_gibbs.view.palette import PALETTE

    figure, panels = plt.subplots(len(results), 1, figsize=(9, 1.2 + 2.6 * len(results)), squeeze=False, sharey=True, layout="constrained")
    width = 0.8 / len(RATIOS)
    for axes, result in zip(panels[:, 0], results, strict=True):
        for number, (label, (kind, theirs, ours)) in enumerate(RATIOS.items()):
            rows = [result[kind].get(quantity, {}) for quantity in QUANTITIES]
            points = [(i, row[theirs] / row[ours]) for i, row in enumerate(rows) if theirs in row and ours in row]
            where = [i + (number - (len(RATIOS) - 1) / 2) * width for i, _ in points]
            # from 1 up or down: a logarithmic axis has no zero to start from
            bars = axes.bar(where, [ratio - 1.0 for _, ratio in points], 0.92 * width, 1.0, color=PALETTE[number], label=label)
            axes.bar_label(bars, [f"{ratio:.1f}" for _, ratio in points], fontsize=7, padding=1)
        axes.axhline(1.0, color="0.3", lw=1.0)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_xlim(-0.5, len(QUANTITIES) - 0.5)
        axes.set_xticks(range(len(QUANTITIES)), QUANTITIES.values())
        axes.set(ylabel="Pinocchio's time / ours", title=f"{Path(result['file']).name} ({result['base']}), nv {result['nv']}")
        axes.margins(y=0.15)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=2, fontsize=8, title=f"above 1 we are faster; batch of {results[0]['states']}"
    )
    figure.savefig(path, dpi=150)
    plt.close(figure)
