# SPDX-License-Identifier: BSD-3-Clause
"""Circles of source files that need each other's symbols, and uses of a folder that stands higher in layers.order.

usage: circles.py BUILD SOURCE
Reads the objects of a finished build with nm. Calls through tables of functions are no arrows. Prints "circle: FILE FILE ..."
and "up: FILE uses SYMBOL of FILE", a line each; nothing where all arrows point down.
"""
import collections
import os
import re
import subprocess
import sys


def folders_of(source):
    with open(os.path.join(source, "test/layers.order"), encoding="utf-8") as lines:
        return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def objects_of(build, source, folders):
    """{source file: its object}. Automake puts the target's name and a dash in front where a target has flags of its own."""
    found = {}
    for folder in folders:
        where = os.path.join(build, folder)
        for name in sorted(os.listdir(where)) if os.path.isdir(where) else []:
            stem = name[:-2]
            for candidate in (stem, re.sub(r"^[A-Za-z0-9_]+-", "", stem)):
                file = f"{folder}/{candidate}.c"
                if name.endswith(".o") and os.path.exists(os.path.join(source, file)):
                    found.setdefault(file, os.path.join(where, name))
        # libtool's objects with position-independent code are enough where there is nothing else
        libs = os.path.join(where, ".libs")
        for name in sorted(os.listdir(libs)) if os.path.isdir(libs) else []:
            stem = name[:-2]
            for candidate in (stem, re.sub(r"^[A-Za-z0-9_]+_la-", "", stem)):
                file = f"{folder}/{candidate}.c"
                if name.endswith(".o") and os.path.exists(os.path.join(source, file)):
                    found.setdefault(file, os.path.join(libs, name))
    return found


def symbols_of(paths):
    """{object: (defined, wanted)}, the names of symbols."""
    found = {path: (set(), set()) for path in paths}
    text = subprocess.run(["nm", "-A", "-P", *paths], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        path, rest = line.split(": ", 1)
        name, kind = rest.split()[:2]
        if kind in "UTDBRCVWu":
            found[path][kind == "U"].add(name)
    return found


def arrows_of(objects):
    """{file: {file that it uses: a symbol}}: the definition in the same part where several files have one of that name."""
    of_objects = symbols_of(sorted(objects.values()))
    symbols = {file: of_objects[path] for file, path in objects.items()}
    owners = collections.defaultdict(list)
    for file, (defined, _) in symbols.items():
        for name in defined:
            owners[name].append(file)
    arrows = {file: {} for file in objects}
    for file, (_, wanted) in symbols.items():
        part = file.split("/")[0]
        for name in wanted:
            homes = [home for home in owners.get(name, []) if home != file]
            for home in [h for h in homes if h.split("/")[0] == part] or homes:
                arrows[file].setdefault(home, name)
    return arrows


def circles_of(arrows):
    """Strongly connected sets of more than one file (Tarjan), without recursion."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in sorted(arrows):
        if root in index:
            continue
        work = [(root, iter(sorted(arrows[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            file, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(sorted(arrows[other]))))
                    break
                if other in on_stack:
                    low[file] = min(low[file], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[file])
                if low[file] == index[file]:
                    circle = []
                    while True:
                        circle.append(stack.pop())
                        on_stack.discard(circle[-1])
                        if circle[-1] == file:
                            break
                    if len(circle) > 1:
                        found.append(sorted(circle))
    return found


def main():
    build, source = sys.argv[1:3]
    folders = folders_of(source)
    floor = {folder: place for place, folder in enumerate(folders)}
    arrows = arrows_of(objects_of(build, source, folders))
    if not any(arrows.values()):
        sys.exit("circles.py: no objects in " + build)
    for circle in circles_of(arrows):
        print("circle:", *circle)
    for file in sorted(arrows):
        for home, name in sorted(arrows[file].items()):
            here, there = os.path.dirname(file), os.path.dirname(home)
            if here.split("/")[0] == there.split("/")[0] and floor[there] < floor[here]:
                print(f"up: {file} uses {name} of {home}")


main()
