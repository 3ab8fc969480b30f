# SPDX-License-Identifier: BSD-3-Clause
"""Writes calls of every function that libzip answers itself, each with a null pointer for one of its arguments.

usage: nulls.py MPIGEN_FOLDER functions.tab prototypes.tab HEADER... >calls.h

Each call is a function, and a row of the table `calls`, which lib/nulls.c runs. The names of valid arguments are variables of
lib/nulls.c. sure: native MPI checks the argument, so it tells the error class. Otherwise native MPI may crash: it does not check
arrays that it reads, nor most arguments of files."""
import re
import sys

sys.path.insert(0, sys.argv[1])
import mpigen  # noqa: E402

# Not called: they begin or end MPI, or need what the test does not have.
LEFT_OUT = re.compile(r"MPI_(Init|Finalize|Abort|Session_|Initialized|Group_from_session|Open_port)|MPIX_|MPII_|MPI_.*_(spawn|enqueue|connect|accept|join)")
# Null pointers that MPI allows: values of attributes, weights, and what ROMIO takes for nothing.
ALLOWED = re.compile(r"attribute_val|.*weights|status_of_file|buf_of_file")
COMMS = [(r"MPI_Cart", "cart"), (r"MPI_Graph", "graph"), (r"MPI_Dist_graph_neigh|.*[Nn]eighbor_", "around"),
         (r"MPI_Comm_remote|MPI_Intercomm_merge", "inter")]
POINTERS = {"MPI_Comm*": "&new_comm", "MPI_Request*": "&request", "MPI_Status*": "&status", "MPI_Group*": "&new_group",
            "MPI_Win*": "&new_win", "MPI_File*": "&new_file", "MPI_Info*": "&new_info", "MPI_Message*": "&message",
            "MPI_Datatype*": "&new_type", "MPI_Op*": "&new_op", "MPI_Errhandler*": "&new_handler", "int*": "&number",
            "char*": "text"}
HANDLES = {"MPI_Group": "group", "MPI_Win": "win", "MPI_File": "file", "MPI_Info": "MPI_INFO_NULL", "MPI_Datatype": "MPI_INT",
           "MPI_Op": "MPI_SUM", "MPI_Request": "request", "MPI_Errhandler": "MPI_ERRORS_RETURN"}
ARRAYS = {"MPI_Request": "requests", "MPI_Status": "statuses", "MPI_Datatype": "types", "MPI_Aint": "aints"}
NUMBERS = {"root": "rank", "rank": "0", "local_leader": "0", "direction": "0", "remote_leader": "other", "dest": "other",
           "source": "other", "target_rank": "other", "disp_unit": "4", "size": "4", "amode": "MPI_MODE_RDWR"}
INTS = {"indx": "ends_at", "index": "ends_at", "edges": "edges", "coords": "zeros", "sources": "zeros", "destinations": "zeros"}


def array_value(type_, name, suffix):
    if "[3]" in suffix:
        return "ranges"
    if type_ == "int":
        return "displs" if "disp" in name else INTS.get(name, "zeros" if "rank" in name else "ones")
    if type_ == "MPI_Count":
        return "aints" if "disp" in name else "counts"
    return ARRAYS.get(type_, "here")


def number(name):
    if "keyval" in name:
        return "MPI_WIN_SIZE" if name.startswith("win") else "keyval"
    return NUMBERS.get(name, "0" if "tag" in name or "disp" in name else "1")


def value(function, type_, name, suffix):
    """A valid argument."""
    type_ = type_.removeprefix("const ")
    if suffix:
        return array_value(type_, name, suffix)
    if type_ == "MPI_Comm":
        making = re.search(r"create|_map", function)
        return next((c for pattern, c in COMMS if re.match(pattern, function) and not making), "comm")
    if type_.endswith("*"):
        default = "from" if re.match(r"sendbuf|origin|buf", name) else "also" if name == "compare_addr" else "to"
        return POINTERS.get(type_.replace(" ", ""), f"(void *){default}")
    return HANDLES.get(type_) or number(name)


def main():
    functions = mpigen.classify("mpich", *sys.argv[2:4], sys.argv[4:])
    rows = []
    for f in functions:
        if not f.hand_written or LEFT_OUT.match(f.name) or not f.in_header:
            continue
        for at, (type_, name, suffix) in enumerate(f.arguments):
            what = f"{'status' if 'Status' in type_ else 'buf' if name == 'buf' else name}_of_file" if f.of_files else name
            if not ("*" in type_ or suffix) or ALLOWED.fullmatch(what):
                continue
            values = [value(f.name, *a) for a in f.arguments]
            values[at] = "NULL"
            print(f"static int call_{len(rows)}(void)\n{{\n\treturn {f.name}({', '.join(values)});\n}}")
            sure = not (suffix and type_.startswith("const ")) and not f.of_files
            rows.append(f'\t{{"{f.name}", "{name}", call_{len(rows)}, {int(sure)}}},')
    print("static const struct call calls[] = {", *rows, "};", sep="\n")


main()
