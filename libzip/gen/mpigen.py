# SPDX-License-Identifier: BSD-3-Clause
"""Makes libzip's wrappers from the MPI library's own headers and functions.tab.

usage: mpigen.py KIND OUTPUT functions.tab HEADER...     KIND: header, native, wrappers or map

Every function of the headers must be in the table and every function of the table in a header; else the build stops
here and names the function, so that a new MPI version cannot add one unseen."""
import re
import sys

CLASSES = {
    "native": "not interposed: needs neither guard nor translation",
    "outside": "not interposed and no native entry: variadic, or a predefined callback",
    "inside": "native with the depth raised: the native library calls public MPI symbols in there",
    "shadow": "local operation of a communicator: on the shadow of a spanning one",
    "guard": "native where all arguments are local, otherwise MPI_ERR_UNSUPPORTED_OPERATION",
    "own": "hand-written zip_X while the world is merged",
    "always": "hand-written zip_X in any case",
}


class Function:
    """One prototype: name (MPI_Send), result type, arguments as (type, name, array suffix)."""

    def __init__(self, result, name, arguments, where):
        self.result, self.name, self.where = result, name, where
        self.arguments = []
        self.variadic = "..." in arguments
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
    def parameters(self):
        return ", ".join(f"{t} {n}{a}".replace("* ", "*") for t, n, a in self.arguments) or "void"

    @property
    def call(self):
        return "(" + ", ".join(n for _, n, _ in self.arguments) + ")"


def fail(text):
    sys.exit(f"mpigen: {text}")


def read_header(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", text, flags=re.M)
    functions = {}
    pattern = re.compile(r"(?:^|[;{}])\s*((?:\w+[\s*]+)+?)(MPI[XI]?_\w+)\s*\(([^()]*)\)[^;{}]*(?=;)")
    for match in pattern.finditer(text):
        result, name = " ".join(match[1].split()), match[2]
        if "typedef" in result or "MPI_" in result and result not in ("MPI_Aint", "MPI_File", "MPI_Fint", "MPI_Info"):
            continue
        functions[name] = Function(result, name, " ".join(match[3].split()), path)
    # Whatever is declared with a P name is a function: nothing may have escaped the pattern above.
    for name in re.findall(r"\bP(MPIX?_\w+)\s*\(", text):
        if name not in functions:
            fail(f"{path}: cannot read the prototype of {name}")
    return functions


def read_table(path):
    table = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if len(words) != 2 or words[1] not in CLASSES:
                fail(f"{path}:{number}: expected 'MPI_FUNCTION CLASS', CLASS one of {', '.join(CLASSES)}")
            if words[0] in table:
                fail(f"{path}:{number}: {words[0]} is in the table twice")
            table[words[0]] = words[1]
    return table


def classify(table_path, header_paths):
    """The functions by name, each with its class, in the order of the headers."""
    table, functions = read_table(table_path), {}
    for path in header_paths:
        for name, function in read_header(path).items():
            functions.setdefault(name, function)
    unknown = [n for n in functions if n not in table]
    gone = [n for n in table if n not in functions]
    if unknown:
        fail(f"not classified in {table_path}: {', '.join(unknown)}")
    if gone:
        fail(f"{table_path} names functions that no header has: {', '.join(gone)}")
    for function in functions.values():
        function.kind = table[function.name]
        if function.variadic and function.kind != "outside":
            fail(f"{function.name} has a variable argument list: it can only be 'outside'")
    return [f for f in functions.values() if f.kind != "outside"]


HEAD = "/* SPDX-License-Identifier: BSD-3-Clause */\n/* Made by gen/mpigen.py from functions.tab: do not edit. */\n"


def emit_header(functions):
    yield HEAD
    yield "#ifndef ZIP_LIBZIP_NATIVE_H\n#define ZIP_LIBZIP_NATIVE_H\n\n#include <mpi.h>\n\n#include \"extra.h\"\n"
    yield "/* The native library's entry points (PMPI_X), filled with the first call of any MPI function. */"
    yield "struct znative {"
    for f in functions:
        yield f"\t{f.result} (*{f.field})({f.parameters});"
    yield "};\nextern struct znative zn;\n"
    yield "/* Implementations: one for each function that functions.tab calls own or always. */"
    for f in functions:
        yield f"{f.result} zip_{f.field}({f.parameters});"
    yield "\n#endif"


def emit_native(functions):
    """zn, and for each entry the stub that stands there until the native library has been found."""
    yield HEAD
    yield "#include \"native.h\"\n#include \"resolve.h\"\n"
    for number, f in enumerate(functions):
        yield f"static {f.result} lazy_{f.field}({f.parameters})\n{{"
        yield f"\tznative_resolve({number});\n\treturn zn.{f.field}{f.call};\n}}"
    yield "\nstruct znative zn = {"
    for f in functions:
        yield f"\t.{f.field} = lazy_{f.field},"
    yield "};\n\nconst char *const znative_names[] = {"
    for f in functions:
        yield f"\t\"{f.symbol}\","
    yield "};\nconst unsigned znative_count = sizeof(znative_names) / sizeof(znative_names[0]);"


def emit_wrapper(f):
    yield f"ZEXPORT {f.result} {f.name}({f.parameters})\n{{"
    native = f"zn.{f.field}{f.call}"
    if f.kind == "always":
        yield f"\tif (zshim_depth > 0)\n\t\treturn {native};"
    else:
        yield f"\tif (!zshim_active || zshim_depth > 0)\n\t\treturn {native};"
    if f.kind in ("own", "always"):
        yield f"\tzshim_enter();\n\t{f.result} zrc = zip_{f.field}{f.call};\n\tzshim_leave();\n\treturn zrc;"
    elif f.kind == "inside":
        yield f"\tzshim_depth++;\n\t{f.result} zrc = {native};\n\tzshim_depth--;\n\treturn zrc;"
    elif f.kind == "shadow":
        for type_, name, array in f.arguments:
            if type_ == "MPI_Comm" and not array:
                yield f"\t{name} = zguard_shadow({name});"
        yield f"\treturn {native};"
    elif f.kind == "guard":
        yield from emit_guard(f)
    yield "}"
    if f.symbol != f.name:
        yield f"ZEXPORT {f.result} {f.symbol}({f.parameters}) __attribute__((alias(\"{f.name}\")));"


def emit_guard(f):
    """Looks at the arguments by their types: communicators, requests and groups may be ours."""
    text = f"\"{f.name}\""
    before, after, checks, counts = [], [], [], [n for t, n, _ in f.arguments if t == "int" and n in ("count", "incount")]
    call = []
    for type_, name, array in f.arguments:
        call.append(name)
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
    yield from before
    yield "\tint zrc = MPI_SUCCESS;"
    for check in checks:
        yield f"\tif (zrc == MPI_SUCCESS)\n\t\tzrc = {check};"
    yield "\tif (zrc == MPI_SUCCESS) {\n\t\tzshim_depth++;"
    yield f"\t\tzrc = zn.{f.field}({', '.join(call)});\n\t\tzshim_depth--;\n\t}}"
    yield from after
    yield "\treturn zrc;"


# MPI_Request * is an output of most functions; these read it.
REQUEST_IN = {"MPI_Start", "MPI_Wait", "MPI_Test", "MPI_Cancel", "MPI_Request_free"}


def emit_wrappers(functions):
    yield HEAD
    yield "#include \"shim.h\"\n#include \"guard.h\"\n"
    yield "#define ZEXPORT __attribute__((visibility(\"default\")))\n"
    for f in functions:
        if f.kind != "native":
            yield from emit_wrapper(f)
            yield ""


def emit_map(functions):
    yield "/* Made by gen/mpigen.py from functions.tab: do not edit. */\n{\nglobal:"
    for f in functions:
        if f.kind != "native":
            yield f"\t{f.name};"
            if f.symbol != f.name:
                yield f"\t{f.symbol};"
    yield "local:\n\t*;\n};"


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    kind, output = sys.argv[1:3]
    emit = {"header": emit_header, "native": emit_native, "wrappers": emit_wrappers, "map": emit_map}[kind]
    lines = list(emit(classify(sys.argv[3], sys.argv[4:])))
    with open(output, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
