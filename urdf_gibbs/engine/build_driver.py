"""Compile the driver to portable modules in one file: ``python -m urdf_gibbs.engine.build_driver [FILE]``. Needs Numba.

Numba gives LLVM IR for each entry. All entries are linked to one module that allocates with malloc and contains no Python, no exceptions
and nothing specific to a CPU or system: text that every LLVM since version 20 can compile. Optimised, it is split into parts
(driver_parts.py). The build is reproducible to the last byte.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from urdf_gibbs.engine import driver_code, driver_parts, jit

# The result must depend neither on this machine nor on the order of Python sets. Numba reads these when it is imported.
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "NUMBA_LOOP_VECTORIZE": "0",
    "NUMBA_SLP_VECTORIZE": "0",
    "NUMBA_DISABLE_JIT": "0",
    "NUMBA_BOUNDSCHECK": "0",
    "NUMBA_DEBUGINFO": "0",
    "NUMBA_OPT": "3",
}

# The functions that Numba's arrays call in its C runtime. MemInfo: references, three pointers (the third: the data), size, allocator.
# Only arrays in C order are reshaped, which always succeeds.
RUNTIME = """
%MemInfo = type { i64, ptr, ptr, ptr, i64, ptr }
declare ptr @PyMem_RawMalloc(i64)
declare void @PyMem_RawFree(ptr)
define noalias ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %a = zext i32 %align to i64
  %with = add i64 %size, 48
  %room = add i64 %with, %a
  %p = call ptr @PyMem_RawMalloc(i64 %room)
  %none = icmp eq ptr %p, null
  br i1 %none, label %bad, label %good
bad:
  ret ptr null
good:
  store i64 1, ptr %p
  %after = getelementptr i8, ptr %p, i64 48
  %first = ptrtoint ptr %after to i64
  %mask = sub i64 %a, 1
  %above = add i64 %first, %mask
  %negative = sub i64 0, %a
  %aligned = and i64 %above, %negative
  %data = inttoptr i64 %aligned to ptr
  %field = getelementptr %MemInfo, ptr %p, i32 0, i32 3
  store ptr %data, ptr %field
  ret ptr %p
}
define void @NRT_MemInfo_call_dtor(ptr %p) {
  call void @PyMem_RawFree(ptr %p)
  ret void
}
define i32 @numba_attempt_nocopy_reshape(i64 %n, ptr %d, ptr %s, i64 %newn, ptr %newd, ptr %news, i64 %itemsize, i32 %f) {
entry:
  br label %loop
loop:
  %i = phi i64 [%newn, %entry], [%before, %body]
  %stride = phi i64 [%itemsize, %entry], [%next, %body]
  %done = icmp eq i64 %i, 0
  br i1 %done, label %end, label %body
body:
  %before = sub i64 %i, 1
  %at = getelementptr i64, ptr %news, i64 %before
  store i64 %stride, ptr %at
  %extent = getelementptr i64, ptr %newd, i64 %before
  %count = load i64, ptr %extent
  %next = mul i64 %stride, %count
  br label %loop
end:
  ret i32 1
}
"""


def compile_entries() -> list[str]:
    """The text of one module for each entry."""
    from numba.core import compiler, cpu
    from numba.core.codegen import CPUCodeLibrary
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import cpu_target

    import urdf_gibbs.contact.coulomb
    import urdf_gibbs.contact.soil_forces
    import urdf_gibbs.sensitivity.variation
    import urdf_gibbs.simulation.batch_lanes
    import urdf_gibbs.simulation.stepping  # noqa: F401  its decorators, and those of what it imports, register all functions
    from urdf_gibbs.engine import numba_types

    def finished(library: Any) -> None:
        library._finalize_dynamic_globals()
        library._verify_declare_only_symbols()
        library._finalized = True

    # Nothing is run here, so no machine code is made, which would leave traces of this CPU in the modules. Only the linked
    # module is optimised, once.
    CPUCodeLibrary._finalize_final_module = finished
    CPUCodeLibrary._optimize_final_module = lambda library: None
    cpu.CPUContext.get_executable = lambda context, library, description, environment: [].append  # Numba wants some built-in method
    numba_types.register()
    flags = compiler.Flags()
    flags.nrt = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.error_model = "numpy"
    texts = []
    for entry in jit.entries.values():
        arguments, returned = tuple(map(numba_types.kind_of, entry.kinds)), numba_types.kind_of(entry.returns)
        with global_compiler_lock:
            result = compiler.compile_extra(
                cpu_target.typing_context, cpu_target.target_context, entry.function, arguments, returned, flags, {}
            )
            result.library._ensure_finalized()
        texts.append(without_target(result.library.get_llvm_str()) + _c_wrapper(entry, result.fndesc.llvm_func_name))
    return texts


def _c_wrapper(entry: jit.Entry, inner: str) -> str:
    """A C function for the entry: Numba's own function returns a status, and its result through a pointer."""
    kinds = [{int: "i64", float: "double"}.get(kind, "ptr") for kind in entry.kinds]
    kind, nothing, bad = ("double", "0.0", "0x7FF8000000000000") if entry.returns is float else ("i64", "0", str(jit.OUT_OF_MEMORY))
    parameters = ", ".join(f"{one} %a{i}" for i, one in enumerate(kinds))
    return f"""
define {kind} @"{entry.name}"({parameters}) {{
  %result = alloca {kind}
  %exception = alloca ptr
  store {kind} {nothing}, ptr %result
  %status = call i32 @"{inner}"(ptr %result, ptr %exception, {parameters})
  %value = load {kind}, ptr %result
  %well = icmp eq i32 %status, 0
  %answer = select i1 %well, {kind} %value, {kind} {bad}
  ret {kind} %answer
}}
"""


def portable_module(texts: list[str]) -> str:
    """The modules of the entries in a form that every machine can compile: optimised as one, then split into parts."""
    text = check(without_attributes(shorten_names(without_target(link(texts)))))
    return driver_parts.split(text, {name: entry.part for name, entry in jit.entries.items()})


def link(texts: list[str]) -> str:
    """One module that exports only the entries, optimised as far as possible without knowing the CPU."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    machine = llvm.Target.from_default_triple().create_target_machine(cpu="generic", features="", opt=3)
    context = llvm.create_context()
    module_all = llvm.parse_assembly(RUNTIME, context)
    module_all.data_layout = str(machine.target_data)  # the same for numbers and pointers on all 64-bit systems
    for text in texts:
        module = llvm.parse_assembly(text, context)
        module.data_layout = module_all.data_layout
        for function in module.functions:
            if not function.is_declaration and function.name not in jit.entries:
                function.linkage = "linkonce_odr"
        module_all.link_in(module)
    for value in (*module_all.functions, *module_all.global_variables):
        if not value.is_declaration and value.name not in jit.entries:
            value.linkage = "internal"
    # As Numba does: once so that reference counts meet in one function and cancel, then the final optimisation.
    for level in (2, 3):
        tuning = llvm.create_pipeline_tuning_options(speed_level=level)
        tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = False
        passes = llvm.create_pass_builder(machine, tuning)
        manager = passes.getModulePassManager()
        manager.add_refprune_pass()
        manager.run(module_all, passes)
    module_all.verify()
    return str(module_all)


def without_target(text: str) -> str:
    """Remove what belongs to this machine: the target, the name of the file, and Numba's pickled exceptions, which contain its paths.

    Nothing reads the exceptions: an entry that fails returns a status.
    """
    text = re.sub(r"(?<=store ptr )@\.const\.picklebuf\.[\w.]+", "null", text)
    text = re.sub(r", !numba_exception_output !\d+", "", text)
    return re.sub(r"^(target (datalayout|triple)|source_filename) = .*\n", "", text, flags=re.MULTILINE)


def shorten_names(text: str) -> str:
    """Replace Numba's names, which spell out all types and contain a running number, by short ones."""
    declared = set(re.findall(r'^declare .*?@"?([^"(]+)"?\(', text, flags=re.MULTILINE))
    names: dict[str, str] = {}

    def short(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name is None or name in jit.entries or name in declared:
            return match[0]
        if name not in names:
            names[name] = f"f{len(names)}_{_function_name(name)}"
        return f"@{names[name]}"

    text = re.sub(r', !"[^"]*"', "", text)  # of scopes
    return re.sub(r'c"[^"]*"|@"([^"]+)"|@([A-Za-z0-9_.$]+)', short, text)


def _function_name(mangled: str) -> str:
    """The function's name: _ZN, then the length and letters of package, module, name, then B: what the compiler added."""
    at, name = 3, ""
    while mangled.startswith("_ZN") and (length := re.match(r"\d+", mangled[at:])):
        start = at + length.end()
        at = start + int(length[0])
        name = mangled[start:at]
    return re.sub(r"\W", "_", name)


def without_attributes(text: str) -> str:
    """Remove attributes, which differ between versions of LLVM."""
    multiline = re.MULTILINE
    text = re.sub(r"^attributes #\d+ = .*\n", "", text, flags=multiline)
    text = re.sub(r"^(declare .*?\))( local_unnamed_addr)?( #\d+)?$", r"\1", text, flags=multiline)
    text = re.sub(r"^(define .*?) local_unnamed_addr", r"\1", text, flags=multiline)
    text = re.sub(r"^((?:define|\s+(?:%\S+ = )?(?:tail |musttail |notail )?call) .*?) #\d+", r"\1 nounwind", text, flags=multiline)
    gone = (
        r"nocapture|noundef|writeonly|readonly|readnone|nofree|nonnull|immarg|returned|writable|dead_on_unwind|dead_on_return|mustprogress"
        r"|allocptr|allocalign|captures\([^()]*(?:\([^()]*\))?[^()]*\)|initializes\(\([^)]*\)\)|range\([^)]*\)"
        r"|dereferenceable(?:_or_null)?\(\d+\)|align \d+(?= %)"
    )
    text = re.sub(rf"(?<![\w%@.])(?:{gone})(?!\w) ?", "", text)
    return re.sub(r"^.*@llvm\.lifetime\..*\n", "", text, flags=multiline)


def check(text: str) -> str:
    """Exit with an error if the module would not run on other machines."""
    import llvmlite.binding as llvm

    with llvm.create_context() as context, llvm.parse_assembly(text, context) as module:
        module.verify()
        defined = {f.name for f in module.functions if not f.is_declaration}
        outside = {f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")}
    if missing := jit.entries.keys() - defined:
        raise SystemExit(f"not in the module: {', '.join(sorted(missing))}")
    if unknown := outside - driver_code.EXTERNAL:
        raise SystemExit(f"the module calls {', '.join(sorted(unknown))}; expected only {', '.join(sorted(driver_code.EXTERNAL))}")
    if match := re.search(r"inttoptr \(i64 \d+|^attributes|^target ", text, flags=re.MULTILINE):
        raise SystemExit(f"the module has {match[0]!r} in it, which belongs to this machine")
    return text


def build(path: Path) -> None:
    """Write the module to a file."""
    import llvmlite
    import numba

    started = time.process_time()
    stamp = driver_code.stamp()
    text = portable_module(compile_entries())
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    made_by = f"Numba {numba.__version__}, llvmlite {llvmlite.__version__}, Python {python}, {sys.platform} {platform.machine()}"
    if driver_code.stamp() != stamp:
        raise SystemExit("the driver's sources changed while they were compiled")
    path.write_bytes(driver_code.packed(stamp, made_by, text))
    print(f"{path}: {path.stat().st_size} bytes, {time.process_time() - started:.0f} s, {made_by}")


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else driver_code.SHIPPED
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")} | ENVIRONMENT
    if environment != dict(os.environ):
        command = [sys.executable, "-m", "urdf_gibbs.engine.build_driver", str(path)]
        raise SystemExit(subprocess.run(command, env=environment, check=False).returncode)
    build(path)


if __name__ == "__main__":
    main()
