# SPDX-License-Identifier: BSD-3-Clause
"""The small forms: for each MPI_X_c of the tables a function with its parameters, which calls MPI_X if all values fit there.
They stand in zn where the native library has no large counts (libzip/shim/small.h). For mpigen.py."""
import re

COUNTS = ("int", "MPI_Aint", "MPI_Count")
# How long an array is: functions, parameter, and the length as an expression (libzip/shim/small.h). The first line that fits.
LENGTHS = [(re.compile(functions, re.I), re.compile(parameter), length) for functions, parameter, length in (
    (r"MPI_Type_create_(subarray|darray)", r".*", "ndims"),
    (r"MPI_Type_", r".*", "count"),
    (r"MPI_I?neighbor_", r"(send|s).*", "zsmall_targets(comm)"),
    (r"MPI_I?neighbor_", r".*", "zsmall_sources(comm)"),
    (r"MPI_I?(gather|scatter)v", r".*", "zsmall_at_root(comm, root)"),
    (r"MPI_I?reduce_scatter", r".*", "zsmall_members(comm)"),
    (r"MPI_I?alltoall", r"(send|s).*", "sendbuf == MPI_IN_PLACE ? 0 : zsmall_partners(comm)"),
    (r"MPI_I?all(to|g)", r".*", "zsmall_partners(comm)"))]
# Forms of libzip/shim/small.c, for functions that are more than a small form.
HAND_WRITTEN = ("MPI_Pack_c", "MPI_Unpack_c", "MPI_Pack_size_c", "MPI_Comm_idup_with_info")


def twin_of(f, by_name):
    """The function without large counts, in all versions of MPICH: MPI_X, or MPI_X_x, which has MPI_Count since MPI-3.0."""
    for name in (f.name[:-2] + "_x", f.name[:-2]):
        if name in by_name and by_name[name].versions is None:
            return by_name[name]
    return None


def base(text):
    return text.replace("*", "").replace("const ", "").strip()


class Form:
    """The body of one small form."""

    def __init__(self, f, twin, fail):
        self.f, self.twin, self.fail = f, twin, fail
        self.checks, self.arrays, self.before, self.after, self.call = [], [], [], [], []
        small = {n: (t, a) for t, n, a in twin.arguments}
        for parameter in f.arguments:
            self.take(parameter, small.get(parameter[1]))
        self.possible = len(self.call) == len(twin.arguments)

    def take(self, parameter, small):
        type_, name, array = parameter
        if small is None:
            if "large_counts" in name and type_.endswith("*"):
                self.after.append(f"if ({name})\n\t\t*{name} = 0;")
            elif "large_counts" not in name:
                self.call.append(None)  # no twin
                self.call.append(None)
            else:
                self.before.append(f"(void){name};")
        elif small == (type_, array):
            self.call.append(name)
        elif array and base(type_) in COUNTS and base(small[0]) in COUNTS:
            self.take_array(base(type_), name, base(small[0]))
        elif type_ in COUNTS and small[0] in COUNTS:
            self.checks.append((name, small[0]))
            self.call.append(f"({small[0]}){name}")
        elif type_.endswith("*") and base(type_) in COUNTS and base(small[0]) in COUNTS:
            self.take_pointer(name, base(small[0]))
        else:
            self.call += [None, None]  # functions of another type

    def take_array(self, type_, name, small):
        for functions, parameter, length in LENGTHS:
            if functions.match(self.f.name) and parameter.match(name):
                kind = {("MPI_Count", "int"): "counts", ("MPI_Aint", "int"): "displs", ("MPI_Count", "MPI_Aint"): "addresses"}
                self.arrays.append(f"const {small} *small_{name} = "
                                   f"zsmall_{kind[type_, small]}(&arrays, \"{name}\", {name}, {length});")
                self.call.append(f"small_{name}")
                return
        self.fail(f"{self.f.name}: how long is {name}?")

    def take_pointer(self, name, small):
        if name == "position":
            self.checks.append((f"*{name}", small))
        self.before.append(f"{small} small_{name} = {f'position ? ({small})*position : 0' if name == 'position' else 0};")
        self.after.append(f"if ({name} && rc == MPI_SUCCESS)\n\t\t*{name} = small_{name};")
        self.call.append(f"{name} ? &small_{name} : NULL")

    def object(self):
        """How an error is raised: on what the call is about."""
        for type_, name, array in self.f.arguments:
            for handle in ("comm", "win", "file"):
                if type_ == "MPI_" + handle.capitalize() and not array:
                    return f"ZSMALL_{handle.upper()}({name})"
        return "ZSMALL_COMM(MPI_COMM_WORLD)"

    def emit(self):
        f, lasting = self.f, any(t == "MPI_Request *" for t, _, _ in self.f.arguments)
        yield f"static int small_{f.field}({f.parameters})\n{{"
        for name, small in self.checks:
            given = f"{name[1:]} && " if name.startswith("*") else ""
            yield f"\tif ({given}({small}){name} != {name})"
            yield f"\t\treturn zsmall_refuse({self.object()}, \"{f.name}\", \"{name.strip('*')}\", {name});"
        for line in self.before:
            yield f"\t{line}"
        if self.arrays:
            yield f"\tstruct zsmall_arrays arrays = {{.lasting = {'true' if lasting else 'false'}}};"
        for line in self.arrays:
            yield f"\t{line}"
        call = f"zn.{self.twin.field}({', '.join(self.call)})"
        if self.arrays:
            call = f"arrays.error == MPI_SUCCESS ? {call}\n\t\t: zsmall_refuse_arrays({self.object()}, \"{f.name}\", &arrays)"
        yield f"\tint rc = {call};"
        for line in self.after:
            yield f"\t{line}"
        if self.arrays:
            yield "\tzsmall_arrays_done(&arrays);"
        yield "\treturn rc;\n}"


def emit(functions, fail):
    """The forms, and zsmall_forms, which has them in the order of struct znative."""
    by_name, table = {f.name: f for f in functions}, []
    yield "#include \"libzip/shim/small.h\"\n\n#include \"libzip/shim/native.h\"\n"
    for number, f in enumerate(functions):
        twin = twin_of(f, by_name) if f.name.endswith("_c") else None
        if f.name in HAND_WRITTEN:
            table.append(f"\t[{number}] = (zsmall_form)zsmall_{f.field},")
        elif twin:
            form = Form(f, twin, fail)
            if form.possible:
                yield from form.emit()
                table.append(f"\t[{number}] = (zsmall_form)small_{f.field},")
    yield f"\nconst zsmall_form zsmall_forms[{len(functions)}] = {{"
    yield from table
    yield "};"
