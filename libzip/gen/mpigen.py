# SPDX-License-Identifier: BSD-3-Clause
"""Makes libzip's wrappers and simple implementations from the MPI library's own headers, functions.tab and forms.tab.

usage: mpigen.py [--family NAME] KIND OUTPUT functions.tab prototypes.tab HEADER...
           KIND: header, native, small, wrappers, map or weak; NAME: mpich (without it), ompi or standard (libzip/abi)
       mpigen.py names OUTPUT functions.tab
       mpigen.py [--family NAME] forms FOLDER/forms.c functions.tab prototypes.tab forms.tab HEADER...

Every function of the headers must be in functions.tab, and every function of functions.tab in a header or, for functions
that only some versions of MPICH have, in prototypes.tab. Functions that Open MPI alone has are marked and may be missing.
Else the build stops here and names the function, so that a new MPI version cannot add one unseen. Other families lack
functions of functions.tab; those that libzip implements or calls are in prototypes.tab."""
import os
import re
import sys

import small

CLASSES = {
    "native": "not interposed: needs neither guard nor translation",
    "abi": "hand-written zip_X (libzip/shim/convert.c) in other families than MPICH's, where it is native",
    "outside": "not interposed and no native entry: variadic, or a predefined callback",
    "inside": "native with the depth raised: the native library calls public MPI symbols in there",
    "file": "like inside; on a file that spans clusters only if it is allowed (libzip/file/file.h)",
    "file-all": "like file, for a call that blocks until the local members have come: they meet first",
    "file-own": "hand-written zip_X on a file, or communicator, that spans clusters, else as inside",
    "shadow": "local operation of a communicator: on the shadow of a spanning one",
    "guard": "native where all arguments are local, otherwise MPI_ERR_UNSUPPORTED_OPERATION",
    "own": "hand-written zip_X while the world is merged",
    "own-comm": "like own; works at the station of its communicator",
    "own-requests": "like own; works at the station of its requests, if they have one",
    "own-spanning": "hand-written zip_X for a window or communicator that spans; others are native",
    "always": "hand-written zip_X in any case",
    "begin": "hand-written zip_X in any case, without the lock",
    "pcontrol": "recorded only; variadic",
}

# Third column: the way in which the call is recorded (libzip/record/record.h). The rest are kinds of collectives.
POINT_TO_POINT = {
    "send": "zrecord_send({sendcount}, {sendtype}, {dest}, {comm})",
    "psend": "zrecord_send_init((MPI_Count)partitions * {sendcount}, {sendtype}, {dest}, {comm}, *request)",
    "put": "zrecord_put({sendcount}, {sendtype}, {target_rank}, {win})",
    "get": "zrecord_get({sendcount}, {sendtype}, {target_rank}, {win})",
    "getput": "zrecord_get(result_count, result_datatype, {target_rank}, {win}), "
              "zrecord_put(op == MPI_NO_OP ? 0 : {sendcount}, {sendtype}, {target_rank}, {win})",
    "fetch": "zrecord_get(1, {sendtype}, {target_rank}, {win}), "
             "zrecord_put(op != MPI_NO_OP, {sendtype}, {target_rank}, {win})",
    "swap": "zrecord_get(1, {sendtype}, {target_rank}, {win}), zrecord_put(1, {sendtype}, {target_rank}, {win})",
    "start": "zrecord_starts(1, request)",
    "startall": "zrecord_starts(count, array_of_requests)",
}
BEFORE = {
    "freecomm": ("comm", "zrecord_comm_gone(*comm)"),
    "freewin": ("win", "zrecord_win_gone(*win)"),
    "freerequest": ("request", "zrecord_request_gone(*request)"),
}
COLLECTIVES = """barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv alltoallw reduce
    allreduce reduce_scatter reduce_scatter_block scan exscan neighbor_allgather neighbor_allgatherv neighbor_alltoall
    neighbor_alltoallv neighbor_alltoallw""".split()
# Kinds of time (common/graph/graph.h, enum zgraph_span), by the name behind MPI_ and without _c. Collectives that block have their own
# kinds. Functions that only ask, as MPI_Comm_rank, have none.
SPANS = [(span, re.compile(names)) for span, names in [
    ("SEND", "[BRS]?[Ss]end"),
    ("RECV", "M?[Rr]ecv"),
    ("SENDRECV", "Sendrecv(_replace)?"),
    ("START", "I([brs]?send|m?recv|sendrecv(_replace)?)|.*_init|Start(all)?|Pready.*"),
    ("WAIT", "Wait(all|any|some)?|Buffer_(detach|flush)|(Comm|Session)_(detach|flush)_buffer"),
    ("TEST", "Test(all|any|some)?|Request_get_status.*|Parrived"),
    ("PROBE", "I?m?[Pp]robe|Mprobe"),
    ("WINDOW", "Win_(allocate.*|attach|complete|create|create_dynamic|detach|fence|flush.*|free|lock.*|post|start|sync|test|"
               "unlock.*|wait)"),
    ("COMM", "Comm_(accept|connect|create|create_from_group|create_group|disconnect|i?dup|i?dup_with_info|free|join|spawn.*|"
             "split|split_type)|Intercomm_(create.*|merge)|(Cart|Graph|Dist_graph)_create.*|Cart_sub"),
    ("FILE", "File_(?!get_|set_errhandler|call_errhandler|create_errhandler).*")]]
ONE_SIDED = ["put", "get", "getput", "fetch", "swap"]
# The versions that have a function: 4.2+ (since 4.2), -4.3 (until 4.3), or openmpi: no MPICH.
VERSIONS = re.compile(r"(\d+\.\d+)\+|-(\d+\.\d+)|openmpi")
RECORDS = [*POINT_TO_POINT, *BEFORE, *COLLECTIVES]
# Functions have different names for the same argument; the first of these names that a function has counts.
ALIASES = {
    "sendcount": ["sendcount", "count", "origin_count"],
    "sendtype": ["sendtype", "datatype", "origin_datatype"],
    "dest": ["dest"], "comm": ["comm"], "target_rank": ["target_rank"], "win": ["win"],
}


class Function:
    """One prototype: name (MPI_Send), result type, arguments as (type, name, array suffix)."""

    def __init__(self, result, name, arguments, where):
        self.result, self.name, self.where = result, name, where
        self.arguments = []
        self.variadic = "..." in arguments
        self.in_header = True
        self.foreign = False  # of another family, which this one has no form of
        self.declared = self.arguments  # as the header has it; self.arguments is the form that all versions share
        for text in arguments.split(","):
            text = text.strip()
            if text in ("void", "..."):
                continue
            match = re.fullmatch(r"(.*?)(\w+)((?:\[[^\]]*\])*)", text)
            if not match or not match[1].strip():
                fail(f"{where}: {name}: cannot read the argument '{text}'")
            self.arguments.append((match[1].strip(), match[2], match[3]))

    @property
    def field(self):
        """Name in struct znative and behind zip_: MPI_Send -> Send, MPIX_Foo -> X_Foo, MPII_Foo -> I_Foo."""
        return re.sub(r"^MPI([XI]?)_", lambda m: m[1] + "_" if m[1] else "", self.name)

    @property
    def symbol(self):
        """The native library's entry point."""
        return self.name if self.name.startswith("MPII_") else "P" + self.name

    @property
    def hand_written(self):
        return self.kind.startswith("own") or self.kind in ("always", "begin", "file-own")

    @property
    def returns_code(self):
        """Is its result an error code?"""
        return self.result == "int" and not re.search(r"_(toint|is_complete)$", self.name)

    def answer(self, result):
        """What the wrapper returns to the application (libzip/shim/raised.h)."""
        return f"zraised_answer({result})" if self.returns_code else result

    @property
    def is_foreign(self):
        """An extension, or a function behind the MPI names, that its family alone has; or one that MPI-3.0 has removed."""
        return is_extension(self.name) or self.versions is None

    @property
    def span(self):
        """Its kind of time; None: it is not measured."""
        name = re.sub(r"_c$", "", self.name.removeprefix("MPI_"))
        if self.kind in ("native", "outside", "shadow", "always", "begin", "pcontrol") or not self.name.startswith("MPI_"):
            return None
        if self.record in ONE_SIDED:
            return "ZGRAPH_SPAN_ONESIDED"
        if self.record in COLLECTIVES and not re.match("I|.*_init$", name):
            return f"(enum zgraph_span)ZGRAPH_{self.record.upper()}"
        if self.record in COLLECTIVES:
            return "ZGRAPH_SPAN_START"
        return next(("ZGRAPH_SPAN_" + span for span, names in SPANS if names.fullmatch(name)), None)

    @property
    def of_files(self):
        return self.kind == "inside" or self.kind.startswith("file")

    @property
    def parameters(self):
        return as_text(self.arguments)

    @property
    def declaration(self):
        """The parameters as mpi.h has them, with the names of the call."""
        return as_text([(t, n, a) for (t, _, a), (_, n, _) in zip(self.declared, self.arguments)])

    @property
    def interposed(self):
        """Does libzipper export it?"""
        return not self.foreign and (self.kind != "native" or self.record is not None)

    @property
    def call(self):
        return "(" + ", ".join(n for _, n, _ in self.arguments) + ")"


def is_extension(name):
    return name.startswith(("MPIX_", "MPII_"))


def is_needed(name, kind, _record, versions):
    """Must there be a prototype, even in a family that lacks the function? libzip implements or calls those that not all
    versions of MPI have."""
    hand_written = kind.startswith("own") or kind in ("always", "begin", "file-own")
    return (versions is not None or hand_written) and not is_extension(name) and not name.startswith("MPI_T_")


def is_called(family, f):
    """Has libzip an entry for it, although the family's library lacks it and no program calls it?"""
    return family != "mpich" and (not f.foreign or f.hand_written)


def as_text(arguments):
    return ", ".join(f"{t} {n}{a}".replace("* ", "*") for t, n, a in arguments) or "void"


def fail(text):
    sys.exit(f"mpigen: {text}")


# What a function can return. Declarations of types of functions look alike and begin with typedef.
RESULTS = re.compile(r"int|double|void \*|MPI_(Aint|Comm|Datatype|Errhandler|File|Fint|Group|Info|Message|Op|Request|Session|Win)")


# Words of Open MPI around its prototypes.
AROUND = re.compile(r"\bOMPI_DECLSPEC\b|\b__mpi_interface_(?:deprecated|removed)__\s*\((?:[^()\"]|\"[^\"]*\")*\)")


def read_header(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = AROUND.sub(" ", re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", text, flags=re.M))
    functions = {}
    pattern = re.compile(r"(?:^|[;{}])\s*((?:\w+[\s*]+)+?)(MPI[XI]?_\w+)\s*\(([^()]*)\)[^;{}]*(?=;)")
    for match in pattern.finditer(text):
        result, name = " ".join(match[1].split()), match[2]
        if not RESULTS.fullmatch(result):
            continue
        functions[name] = Function(result, name, " ".join(match[3].split()), path)
    # Every P name is a function; the pattern above must have found them all.
    for name in re.findall(r"\bP(MPIX?_\w+)\s*\(", text):
        if name not in functions:
            fail(f"{path}: cannot read the prototype of {name}")
    return functions


def read_table(path):
    """{function: (class, record, since)}"""
    table = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            versions = [w for w in words if VERSIONS.fullmatch(w)]
            words = [w for w in words if w not in versions]
            if len(words) not in (2, 3) or words[1] not in CLASSES or len(versions) > 1:
                fail(f"{path}:{number}: expected 'MPI_FUNCTION CLASS [RECORD] [VERSIONS]', "
                     f"CLASS one of {', '.join(CLASSES)}")
            if len(words) == 3 and words[2] not in RECORDS:
                fail(f"{path}:{number}: {words[2]} is none of {', '.join(RECORDS)}")
            if words[0] in table:
                fail(f"{path}:{number}: {words[0]} is in the table twice")
            table[words[0]] = words[1], words[2] if len(words) == 3 else None, versions[0] if versions else None
    return table


def classify(family, table_path, prototypes_path, header_paths):
    """The functions by name, each with its class, in the order of the headers. What no header has comes from
    prototypes.tab."""
    table, functions = read_table(table_path), {}
    for path in header_paths:
        for name, function in read_header(path).items():
            functions.setdefault(name, function)
    for name, function in read_header(prototypes_path).items():
        if name in functions:
            functions[name].arguments = function.arguments
        elif family == "mpich" and table.get(name, (None, None, None))[2] is None:
            fail(f"{prototypes_path} has {name}, for which {table_path} names no versions")
        else:
            function.in_header = False
            functions[name] = function
    unknown = [n for n in functions if n not in table]
    gone = [n for n in table if n not in functions and table[n][2] != "openmpi" and
            (family == "mpich" or is_needed(n, *table[n]))]
    if unknown:
        fail(f"not classified in {table_path}: {', '.join(unknown)}")
    if gone:
        fail(f"{table_path} names functions that no header and {prototypes_path} has: {', '.join(gone)}")
    for function in functions.values():
        function.kind, function.record, function.versions = table[function.name]
        if function.kind == "abi":
            function.kind = "native" if family == "mpich" else "begin"
        function.foreign = family != "mpich" and not function.in_header and function.is_foreign
        if function.variadic and function.kind not in ("outside", "pcontrol"):
            fail(f"{function.name} has a variable argument list: it can only be 'outside'")
        if function.record and (function.of_files or function.kind in ("outside", "always", "begin", "shadow", "pcontrol")):
            fail(f"{function.name} is {function.kind} and cannot be recorded")
    return [f for f in functions.values() if f.kind != "outside" and (f.in_header or f.interposed or is_called(family, f))]


HEAD = "/* SPDX-License-Identifier: BSD-3-Clause */\n/* Made by gen/mpigen.py from functions.tab: do not edit. */\n"


def large_twins(functions):
    """(X, X_c, counts) where the two differ in nothing but parameters that are int and MPI_Count."""
    by_name = {f.name: f for f in functions}
    for f in functions:
        twin = by_name.get(f.name + "_c")
        if not twin or len(twin.arguments) != len(f.arguments):
            continue
        pairs = [(a, b) for a, b in zip(f.arguments, twin.arguments) if a != b]
        if pairs and all((a[0], b[0]) == ("int", "MPI_Count") and a[1:] == b[1:] == (a[1], "") for a, b in pairs):
            yield f, twin, [a[1] for a, _ in pairs]


def emit_header(functions):
    yield HEAD
    yield "#ifndef ZIP_LIBZIP_NATIVE_H\n#define ZIP_LIBZIP_NATIVE_H\n\n#include <limits.h>\n#include <mpi.h>\n\n#include \"libzip/abi/abi.h\"\n#include \"libzip/shim/extra.h\"\n"
    yield "/* Functions that only other versions of MPICH have. */"
    for f in functions:
        if not f.in_header and f.interposed:
            yield f"{f.result} {f.name}({f.parameters});\n{f.result} {f.symbol}({f.parameters});"
    yield ""
    yield "/* The native library's entry points (PMPI_X), filled with the first call of any MPI function. */"
    yield "struct znative {"
    for f in functions:
        yield f"\t{f.result} (*{f.field})({f.parameters}{', ...' if f.variadic else ''});"
    yield "};\nextern struct znative zn;\n"
    yield "/* The entries that return what a handler has taken, NULL for those without such a form; and what they call (raised.h). */"
    yield "extern const struct znative znative_checked;\nextern struct znative znative_plain;\n"
    yield "/* Implementations: one for each function that functions.tab calls own or always. */"
    for f in functions:
        if f.hand_written:
            yield f"{f.result} zip_{f.field}({f.parameters});"
    yield "\n/* The native entry that fits: MPI_X, or MPI_X_c where a count is too large for an int. */"
    for f, twin, counts in large_twins(functions):
        test = " || ".join(f"{n} > INT_MAX" for n in counts)
        small = ", ".join(f"(int){n}" if n in counts else n for _, n, _ in f.arguments)
        yield f"static inline {f.result} znative_{f.field}({twin.parameters})\n{{"
        yield f"\treturn {test} ? zn.{twin.field}{twin.call} : zn.{f.field}({small});\n}}"
    yield "\n#endif"


def emit_native(functions):
    """zn, and for each entry the stub that stands there until the native library has been found."""
    yield HEAD
    yield "#include <stddef.h>\n\n#include \"libzip/shim/native.h\"\n#include \"libzip/shim/raised.h\"\n#include \"libzip/shim/resolve.h\"\n"
    for number, f in enumerate(functions):
        yield f"static {f.result} lazy_{f.field}({f.parameters}{', ...' if f.variadic else ''})\n{{"
        yield f"\tzresolve_entry({number});\n\treturn zn.{f.field}{f.call};\n}}"
    yield "\nstruct znative zn = {"
    for f in functions:
        yield f"\t.{f.field} = lazy_{f.field},"
    yield "};\n\nstruct znative znative_plain;\n"
    checked = [f for f in functions if f.returns_code and not f.variadic and not f.name.endswith("_call_errhandler")]
    for f in checked:
        yield f"static int checked_{f.field}({f.parameters})\n{{\n\tint zwas = zraised_begin();"
        yield f"\treturn zraised_end(zwas, znative_plain.{f.field}{f.call});\n}}"
    yield "\nconst struct znative znative_checked = {"
    for f in checked:
        yield f"\t.{f.field} = checked_{f.field},"
    yield "};\n\nconst char *const znative_names[] = {"
    for f in functions:
        yield f"\t\"{f.symbol}\","
    yield "};\n\nconst char *const znative_versions[] = {"
    for f in functions:
        yield f"\t\"{f.versions}\"," if f.versions else "\tNULL,"
    yield "};\nconst unsigned znative_count = sizeof(znative_names) / sizeof(znative_names[0]);"


def argument(f, meaning):
    """The parameter of f that has this meaning."""
    have = [n for _, n, _ in f.arguments]
    names = [n for n in ALIASES[meaning] if n in have]
    if not names:
        fail(f"{f.name} cannot be recorded as {f.record}: it has no {meaning}")
    return names[0]


def collective_arguments(f):
    """struct zrecord_args from the parameters of f."""
    fields = [f".kind = ZGRAPH_{f.record.upper()}", ".comm = comm"]
    large = any(t == "const MPI_Count" and a for t, _, a in f.arguments)
    fields += [".large = true"] if large else []
    for type_, name, array in f.arguments:
        if name in ("root", "sendbuf", "recvcount") or name in ("sendcount", "sendtype", "recvtype"):
            fields.append(f".{name} = {name}")
        elif name == "count":
            fields.append(".sendcount = count")
        elif name == "datatype":
            fields.append(".sendtype = datatype")
        elif name in ("sendcounts", "recvcounts", "sendtypes", "recvtypes") and array:
            fields.append(f".{name} = {name}")
    return "&(struct zrecord_args){" + ", ".join(fields) + "}"


def record_call(f):
    if f.record in POINT_TO_POINT:
        text = POINT_TO_POINT[f.record]
        text = text.format(**{m: argument(f, m) for m in ALIASES if "{" + m + "}" in text})
        if f.record == "send" and re.search(r"_init(_c)?$", f.name):
            return text.replace("zrecord_send(", "zrecord_send_init(").replace(")", ", *request)")
        return text
    if re.search(r"_init(_c)?$", f.name):
        return f"zrecord_coll_init({collective_arguments(f)}, *request)"
    return f"zrecord_coll({collective_arguments(f)})"


def emit_record_before(f):
    if f.record in BEFORE:
        pointer, call = BEFORE[f.record]
        yield f"\tif (zshim_hooks & ZSHIM_RECORD && {pointer})\n\t\t{call};"


def emit_record_after(f):
    if f.record and f.record not in BEFORE:
        yield f"\tif (zrc == MPI_SUCCESS && zshim_hooks & ZSHIM_RECORD)\n\t\t{record_call(f)};"


def emit_pcontrol(f):
    """The arguments behind the level are meant for another tool; they cannot be passed on."""
    yield f"ZEXPORT {f.result} {f.name}({f.parameters}, ...)\n{{"
    yield "\tif (zshim_hooks & ZSHIM_RECORD)\n\t\tzrecord_phase(level);"
    yield f"\treturn zn.{f.field}(level);\n}}"
    yield f"ZEXPORT {f.result} {f.symbol}({f.parameters}, ...) __attribute__((alias(\"{f.name}\")));"


def enter_call(f):
    """The call by which it enters the library (libzip/start/enter.h)."""
    if f.kind == "own-comm":
        if "comm" not in [n for _, n, _ in f.arguments]:
            fail(f"{f.name} cannot be {f.kind}: it has no communicator")
        return "zenter_comm(comm)"
    if f.kind == "own-requests":
        for type_, name, array in f.arguments:
            if type_.removeprefix("const ") == "MPI_Request" and array:
                counts = [n for t, n, _ in f.arguments if t == "int" and n in ("count", "incount")]
                return f"zenter_requests({counts[0]}, {name})"
            if type_ == "MPI_Request *":
                return f"zenter_requests(1, {name})"
        fail(f"{f.name} cannot be {f.kind}: it has no requests")
    return "zenter()"


# The argument that says how long an array is; the first that the function has. Other arrays are checked by hand.
LENGTHS = {"n": ["ranks", "ranks1", "ranks2", "ranges", "sources", "degrees"], "ndims": ["dims", "periods"],
           "maxdims": ["dims", "periods", "coords"], "nnodes": ["index", "indx"], "maxindex": ["index", "indx"],
           "maxedges": ["edges"], "maxneighbors": ["neighbors"], "indegree": ["sources"], "maxindegree": ["sources"],
           "outdegree": ["destinations"], "maxoutdegree": ["destinations"], "length": ["array_of_partitions"]}
# The data path checks on its own, where it knows the message to be bridged; collectives check in their order.
CHECKED_BY_HAND = ("own-comm", "own-requests", "always", "begin")


def null_arguments(f):
    """[(condition, name)] of the arguments of f that are null pointers and must not be. Buffers are not among them."""
    if not f.hand_written or f.kind in CHECKED_BY_HAND or f.record in COLLECTIVES:
        return []
    have, found = [n for _, n, _ in f.arguments], []
    for type_, name, array in f.arguments:
        if array:
            lengths = [n for n, names in LENGTHS.items() if n in have and name in names]
            found += [(f"{lengths[0]} > 0 && !{name}", name)] if lengths else []
        elif f.kind == "file-own" and type_ == "MPI_Status *":
            continue  # ROMIO takes it for MPI_STATUS_IGNORE
        elif type_ == "MPI_Status *":
            found.append((f"zstatus_is_missing({name})", name))
        elif type_.endswith("*") and not type_.startswith("const ") and type_ not in ("void *", "char *"):
            found.append((f"!{name}", name))
        elif name == "baseptr":
            found.append((f"!{name}", name))
    return found


def emit_null_checks(f, indent):
    """An error instead of a crash. It is raised where MPI raises it: on the communicator, window or file."""
    types = [(t, n) for t, n, a in f.arguments if not a]
    on = [f"zguard_null_{w}({n}" for t, w in (("MPI_Win", "win"), ("MPI_File", "file")) for kind, n in types if kind == t]
    on += ["zguard_null_file(MPI_FILE_NULL"] if f.of_files else []
    on += [f"zguard_null_comm({n}" for t, n in types if t == "MPI_Comm"] + ["zguard_null_comm(MPI_COMM_WORLD"]
    for condition, name in null_arguments(f):
        yield f"{indent}if (__builtin_expect({condition}, 0))"
        yield f"{indent}\treturn {on[0]}, \"{f.name}\", \"{name}\");"


def emit_wrapper(f):
    if f.kind == "pcontrol":
        yield from emit_pcontrol(f)
        return
    if f.span:
        yield f"static inline {f.result} called_{f.field}({f.declaration})\n{{"
    else:
        yield f"ZEXPORT {f.result} {f.name}({f.declaration})\n{{"
    native = f"zn.{f.field}{f.call}"
    if f.kind in ("always", "begin"):
        yield f"\tif (zshim_depth > 0)\n\t\treturn {native};"
    else:
        state = "hooks" if f.record or f.of_files else "active"
        yield f"\tif (!zshim_{state} || zshim_depth > 0)\n\t\treturn {native};"
    yield from emit_record_before(f)
    if f.of_files:
        yield from emit_file(f, native)
    elif f.kind == "own-spanning":
        yield from emit_own_spanning(f, native)
    elif f.kind == "begin":
        zip_call = f"zip_{f.field}{f.call}"
        yield f"\treturn {f.answer(zip_call)};"
    elif f.hand_written:
        yield f"\t{f.result} zrc;"
        if f.record:
            yield "\tif (zshim_active) {"
        yield from emit_null_checks(f, "\t")
        yield f"\tint zwas = {enter_call(f)};\n\tzrc = zip_{f.field}{f.call};\n\tzleave(zwas);"
        if f.record:
            yield f"\t}} else {{\n\t\tzrc = {native};\n\t}}"
        yield from emit_record_after(f)
        yield f"\treturn {f.answer('zrc')};"
    elif f.kind == "native":
        yield f"\t{f.result} zrc = {native};"
        yield from emit_record_after(f)
        yield f"\treturn {f.answer('zrc')};"
    elif f.kind == "shadow":
        for type_, name, array in f.arguments:
            if type_ == "MPI_Comm" and not array:
                yield f"\t{name} = zguard_shadow({name});"
        yield f"\treturn {f.answer(native)};"
    elif f.kind == "guard":
        yield from emit_guard(f)
    yield "}"
    if f.span:
        yield from emit_timed(f)
    if f.symbol != f.name:
        yield f"ZEXPORT {f.result} {f.symbol}({f.declaration}) __attribute__((alias(\"{f.name}\")));"


def emit_timed(f):
    """The function of the name, around the one that does the work."""
    call = f"called_{f.field}{f.call}"
    yield f"ZEXPORT {f.result} {f.name}({f.declaration})\n{{"
    yield f"\tif (__builtin_expect(!(zshim_hooks & ZSHIM_TIME), 1) || zshim_depth > 0)\n\t\treturn {call};"
    yield "\tconst int64_t zbegan = zrecord_time_call_begin();"
    yield f"\t{f.result} zrc = {call};\n\tzrecord_time_call_end({f.span}, zbegan);\n\treturn zrc;\n}}"


def emit_own_spanning(f, native):
    """A call on an object that does not span is native and takes no lock: many of these block."""
    windows = [("*" if "*" in t else "") + n for t, n, _ in f.arguments if t.startswith("MPI_Win") and n == "win" and
               (t == "MPI_Win" or f.name == "MPI_Win_free")]
    comms = [n for t, n, _ in f.arguments if t == "MPI_Comm"]
    if len(windows) + len(comms) != 1:
        fail(f"{f.name} cannot be {f.kind}: it has no window and no communicator, or several")
    spans = f"zwin_spans({windows[0]})" if windows else f"zguard_spans({comms[0]})"
    if windows and windows[0].startswith("*"):
        spans = f"(!{windows[0][1:]} || {spans})"
    yield f"\tif (zshim_active && {spans}) {{"
    yield from emit_null_checks(f, "\t\t")
    yield f"\t\tint zwas = zenter();\n\t\tint zrc = zip_{f.field}{f.call};\n\t\tzleave(zwas);"
    yield from (line.replace("\t", "\t\t") for line in emit_record_after(f))
    yield f"\t\treturn {f.answer('zrc')};\n\t}}"
    if any("MPI_Group" in t for t, _, _ in f.arguments):
        yield from emit_guard(f)
    else:
        yield f"\t{f.result} zrc = {native};"
        yield from emit_record_after(f)
        yield f"\treturn {f.answer('zrc')};"


def emit_file(f, native):
    """Native with the depth raised; before it, or instead, the work for a file that spans clusters. Groups and requests
    become ours."""
    types = [(t, n) for t, n, a in f.arguments if not a]
    yield f"\t{f.result} zrc = MPI_SUCCESS;"
    if f.kind == "file-own":
        spans = [f"zguard_spans({n})" for t, n in types if t == "MPI_Comm"]
        spans += [f"zfile_spans({n})" for t, n in types if t == "MPI_File"]
        spans += [f"(!{n} || zfile_spans(*{n}))" for t, n in types if t == "MPI_File *"]
        if not spans:
            fail(f"{f.name} cannot be {f.kind}: it has no file")
        yield f"\tif (zshim_active && {spans[0]}) {{"
        yield from emit_null_checks(f, "\t\t")
        yield "\t\tint zwas = zenter();"
        yield f"\t\tzrc = zip_{f.field}{f.call};\n\t\tzleave(zwas);\n\t\treturn {f.answer('zrc')};\n\t}}"
    elif f.kind != "inside":
        if ("MPI_File", "fh") not in types:
            fail(f"{f.name} cannot be {f.kind}: it has no file")
        collective = "true" if f.kind == "file-all" else "false"
        yield f"\tif (zshim_active)\n\t\tzrc = zfile_begin(fh, {collective}, \"{f.name}\");"
        yield f"\tif (zrc != MPI_SUCCESS)\n\t\treturn {f.answer('zrc')};"
    yield f"\tzshim_depth++;\n\tzrc = {native};\n\tzshim_depth--;"
    for t, n in types:
        if t == "MPI_Group *":
            yield f"\tif (zshim_active && zrc == MPI_SUCCESS)\n\t\tzrc = zguard_group_adopt({n}, \"{f.name}\");"
        if t in ("MPI_Request *", "MPIO_Request *"):
            yield "\tif (zshim_active && zrc == MPI_SUCCESS) {\n\t\tint zwas = zenter();"
            yield f"\t\tzrc = zfile_request_adopt({n}, \"{f.name}\");\n\t\tzleave(zwas);\n\t}}"
    yield f"\treturn {f.answer('zrc')};"


def emit_guard(f):
    """Checks the arguments by their types: communicators, requests and groups may be ours."""
    text = f"\"{f.name}\""
    before, after, checks, counts = [], [], [], [n for t, n, _ in f.arguments if t == "int" and n in ("count", "incount")]
    call = []
    for type_, name, array in f.arguments:
        call.append(name)
        type_ = type_.removeprefix("const ")
        if type_ == "MPI_Comm" and not array:
            checks.append(f"zguard_comm({name}, {text})")
        elif type_ == "MPI_Request" and not array:
            checks.append(f"zguard_requests(1, &{name}, {text})")
        elif type_ == "MPI_Request" and array:
            if not counts:
                fail(f"{f.name}: how long is {name}?")
            checks.append(f"zguard_requests({counts[0]}, {name}, {text})")
        elif type_ == "MPI_Request *" and name == "request" and f.name in REQUEST_IN:
            checks.append(f"zguard_requests(1, {name}, {text})")
        elif type_ == "MPI_Group" and not array:
            before.append(f"\tMPI_Group z{name} = MPI_GROUP_NULL;")
            checks.append(f"zguard_group({name}, &z{name}, {text})")
            after.append(f"\tzguard_group_done(&z{name});")
            call[-1] = f"z{name}"
        elif type_ == "MPI_Group *" and not array:
            after.append(f"\tif (zrc == MPI_SUCCESS)\n\t\tzrc = zguard_group_adopt({name}, {text});")
        elif re.search(r"\bMPI_(Comm|Group|Request)\b", type_ + array) and type_ not in ("MPI_Comm *", "MPI_Request *"):
            fail(f"{f.name}: no guard for the argument {type_} {name}{array}")
    if f.kind == "guard" and not checks and "MPI_Comm *" not in [t for t, _, _ in f.arguments]:
        fail(f"{f.name}: no argument tells whether the call concerns other parts")
    yield from before
    yield "\tint zrc = MPI_SUCCESS;"
    if f.record:
        checks = [f"zshim_active ? {check} : MPI_SUCCESS" for check in checks]
    for check in checks:
        yield f"\tif (zrc == MPI_SUCCESS)\n\t\tzrc = {check};"
    yield "\tif (zrc == MPI_SUCCESS) {\n\t\tzshim_depth++;"
    yield f"\t\tzrc = zn.{f.field}({', '.join(call)});\n\t\tzshim_depth--;\n\t}}"
    yield from after
    yield from emit_record_after(f)
    yield f"\treturn {f.answer('zrc')};"


# MPI_Request * is an output of most functions; these read it.
REQUEST_IN = {"MPIX_Wait_enqueue", "MPI_Start", "MPI_Wait", "MPI_Test", "MPI_Cancel", "MPI_Request_free"}


def emit_wrappers(functions):
    yield HEAD
    yield "#include \"libzip/start/enter.h\"\n#include \"libzip/file/file.h\"\n#include \"libzip/file/file_request.h\"\n#include \"libzip/world/guard.h\"\n#include \"libzip/world/status.h\"\n#include \"libzip/record/record.h\"\n#include \"libzip/shim/raised.h\"\n#include \"libzip/win/win.h\"\n"
    yield "#define ZEXPORT __attribute__((visibility(\"default\")))\n"
    for f in functions:
        if f.interposed:
            yield from emit_wrapper(f)
            yield ""


def read_forms(path, folder):
    """[(function, expression)] of the lines for the folder."""
    forms = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.split("#")[0].split(None, 2)
            if not words:
                continue
            if len(words) != 3:
                fail(f"{path}:{number}: expected 'FOLDER MPI_FUNCTION EXPRESSION'")
            if words[0] == folder:
                forms.append((words[1], words[2].strip()))
    return forms


def emit_forms(functions, forms, folder):
    """zip_X and zip_X_c of every line."""
    by_name = {f.name: f for f in functions}
    yield HEAD.replace("functions.tab", "forms.tab")
    yield f"#include \"libzip/{folder}/forms.h\"\n"
    for name, expression in forms:
        if name not in by_name:
            fail(f"forms.tab names {name}, which no header has")
        for f in (by_name[name], by_name.get(name + "_c")):
            if f is None:
                continue
            if not f.hand_written:
                fail(f"forms.tab implements {f.name}, which is {f.kind}")
            native = f"zn.{f.field}{f.call}"
            yield f"{f.result} zip_{f.field}({f.parameters})\n{{"
            if re.search(r"\bNATIVE\b", expression):
                made = re.sub(r"\bNATIVE\b", native, expression)
                yield f"\treturn {made};\n}}"
            else:
                yield f"\tstatic const char name[] = \"{f.name}\";\n\n\treturn {expression};\n}}"
        yield ""


def emit_small(functions):
    yield HEAD
    yield from small.emit(functions, fail)


def emit_weak(header_paths):
    """The predefined objects of the library are there when a program with MPI is. Else they are null."""
    yield HEAD
    for path in header_paths:
        with open(path, encoding="utf-8") as file:
            for name in re.findall(r"^\s*OMPI_DECLSPEC\s+extern\s+(?:struct\s+)?\w+[\s*]+(ompi_\w+);", file.read(), flags=re.M):
                yield f"#pragma weak {name}"


# Functions of the dynamic linker that libzip/loader/interpose.c exports.
LOADER = ["dlsym", "dlvsym", "dlopen", "dlmopen"]


def emit_map(functions):
    yield "/* Made by gen/mpigen.py from functions.tab: do not edit. */\n{\nglobal:"
    for f in functions:
        if f.interposed:
            yield f"\t{f.name};"
            if f.symbol != f.name:
                yield f"\t{f.symbol};"
    yield "\t" + "\n\t".join(f"{n};" for n in LOADER)
    yield "local:\n\t*;\n};"


def emit_names(table):
    yield HEAD
    yield "#include \"libzip/loader/names.h\"\n\nconst char *const znames_known[] = {"
    for name in sorted(table):
        yield f"\t\"{name}\","
    yield "};\nconst size_t znames_n = sizeof(znames_known) / sizeof(znames_known[0]);"


def write(output, lines):
    text = "\n".join(lines) + "\n"
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    family = "mpich"
    if sys.argv[1:2] == ["--family"]:
        family = sys.argv[2]
        del sys.argv[1:3]
    if len(sys.argv) == 4 and sys.argv[1] == "names":
        return write(sys.argv[2], emit_names(read_table(sys.argv[3])))
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    kind, output = sys.argv[1:3]
    if kind == "forms":
        folder = os.path.basename(os.path.dirname(output))
        functions = classify(family, *sys.argv[3:5], sys.argv[6:])
        return write(output, emit_forms(functions, read_forms(sys.argv[5], folder), folder))
    if kind == "weak":
        return write(output, emit_weak(sys.argv[5:]))
    emit = {"header": emit_header, "native": emit_native, "small": emit_small, "wrappers": emit_wrappers, "map": emit_map}[kind]
    return write(output, emit(classify(family, *sys.argv[3:5], sys.argv[5:])))


if __name__ == "__main__":
    main()
