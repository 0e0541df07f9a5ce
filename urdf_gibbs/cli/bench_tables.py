"""What ``urdf-gibbs bench`` prints and draws of its times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from urdf_gibbs.cli.bench_contenders import DERIVED, QUANTITIES
from urdf_gibbs.cli.console import out

PYTHON = {"gibbs_appell_flexible": "3x3,\nPython", "transformations_flexible": "4x4,\nPython"}
RATIOS = {  # what the plot shows: Pinocchio's time over ours
    "one call, kernel": ("single", "pinocchio", "kernel"),
    "one call, function": ("single", "pinocchio", "function"),
    "batch, 1 thread, against a Python loop": ("batch", "pinocchio_loop", "ours_1"),
    "batch, 1 thread, against ...InParallel": ("batch", "pinocchio_1", "ours_1"),
    "batch, 2 threads, against ...InParallel": ("batch", "pinocchio_2", "ours_2"),
    "one call, packed kernel": ("single", "pinocchio", "packed"),
    "batch, 1 thread, packed, against a Python loop": ("batch", "pinocchio_loop", "packed_1"),
}


def is_elastic(result: dict[str, Any]) -> bool:
    return any("pinocchio" not in row for row in result["single"].values())


def print_result(result: dict[str, Any]) -> None:
    name = f"{escape(result['file'])} ({result['base']}), nq {result['nq']}, nv {result['nv']}"
    single = Table(title=f"{name}: µs per call", title_justify="left")
    batch = Table(title=f"batch of {result['states']}: µs per state", title_justify="left")
    if is_elastic(result):
        peers = {method: label for method, label in PYTHON.items() if any(method in row for row in result["single"].values())}
        _headed(single, ["kernel", "function", *peers.values(), *["ratio"] * bool(peers)])
        for quantity, row in result["single"].items():
            ratio = [f"{row['gibbs_appell_flexible'] / row['kernel']:.0f}"] if peers else []
            single.add_row(QUANTITIES[quantity], *_micro(row, "kernel", "function", *peers), *ratio)
        _headed(batch, ["1 thread", "2 threads"])
        for quantity, row in result["batch"].items():
            batch.add_row(QUANTITIES[quantity], *_micro({key: x / result["states"] for key, x in row.items()}, "ours_1", "ours_2"))
        out.print(single)
        out.print(batch)
        _print_start(result)
        return
    if any(quantity in DERIVED for quantity in result["single"]):
        _derivatives(result, single, batch)
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


def _derivatives(result: dict[str, Any], single: Table, batch: Table) -> None:
    """The tables of derivatives and the regressor, of which Pinocchio has no batches."""
    _headed(single, ["kernel", "packed", "function", "Pinocchio", "ratio,\nkernel", "ratio,\npacked", "ratio,\nfunction"])
    for quantity, row in result["single"].items():
        ratios = [row["pinocchio"] / row[ours] for ours in ("kernel", "packed", "function")]
        cells = _micro(row, "kernel", "packed", "function", "pinocchio")
        single.add_row(QUANTITIES[quantity], *cells, *(f"{ratio:.1f}" for ratio in ratios))
    out.print(single)
    _headed(
        batch,
        ["ours\n1 thr.", "packed", "ours\n2 thr.", "Pin.\nloop", "ratio,\nours", "ratio,\npacked", "dropped", "ratio,\nours", "zeros"],
    )
    for quantity, row in result["batch"].items():
        each = {key: seconds / result["states"] for key, seconds in row.items()}
        cells = _micro(each, "ours_1", "packed_1", "ours_2", "pinocchio_loop")
        ratios = _ratio(each, "pinocchio_loop", "ours_1") + _ratio(each, "pinocchio_loop", "packed_1")
        others = _micro(each, "pinocchio_dropped") + _ratio(each, "pinocchio_dropped", "ours_1") + _micro(each, "zeros")
        batch.add_row(QUANTITIES[quantity], *cells, *ratios, *others)
    out.print(batch)
    _print_start(result)


def _print_start(result: dict[str, Any]) -> None:
    start = Table(title="start: seconds of CPU of the first call in a fresh process", title_justify="left")
    called = [name for name in result["start"]["cold"] if name != "import_and_load"]
    _headed(start, ["import, load", *(QUANTITIES[name] for name in called)])
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


def _has(result: dict[str, Any], kind: str, theirs: str, ours: str) -> bool:
    return any(theirs in row and ours in row for row in result[kind].values())


def draw(results: list[dict[str, Any]], path: str) -> None:
    """Grouped bars of the ratios, one panel for each robot."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from urdf_gibbs.view.palette import PALETTE

    figure, panels = plt.subplots(len(results), 1, figsize=(9, 1.2 + 2.6 * len(results)), squeeze=False, sharey=True, layout="constrained")
    shown = [quantity for quantity in QUANTITIES if any(quantity in result["single"] for result in results)]
    drawn = {label: keys for label, keys in RATIOS.items() if any(_has(result, *keys) for result in results)}
    width = 0.8 / max(1, len(drawn))
    for axes, result in zip(panels[:, 0], results, strict=True):
        for number, (label, (kind, theirs, ours)) in enumerate(drawn.items()):
            rows = [result[kind].get(quantity, {}) for quantity in shown]
            points = [(i, row[theirs] / row[ours]) for i, row in enumerate(rows) if theirs in row and ours in row]
            where = [i + (number - (len(drawn) - 1) / 2) * width for i, _ in points]
            # from 1 up or down: a logarithmic axis has no zero to start from
            bars = axes.bar(where, [ratio - 1.0 for _, ratio in points], 0.92 * width, 1.0, color=PALETTE[number], label=label)
            axes.bar_label(bars, [f"{ratio:.1f}" for _, ratio in points], fontsize=7, padding=1)
        axes.axhline(1.0, color="0.3", lw=1.0)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_xlim(-0.5, len(shown) - 0.5)
        axes.set_xticks(range(len(shown)), [QUANTITIES[quantity] for quantity in shown])
        axes.set(ylabel="Pinocchio's time / ours", title=f"{Path(result['file']).name} ({result['base']}), nv {result['nv']}")
        axes.margins(y=0.15)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=2, fontsize=8, title=f"above 1 we are faster; batch of {results[0]['states']}"
    )
    figure.savefig(path, dpi=150)
    plt.close(figure)
