# SPDX-License-Identifier: BSD-3-Clause
"""For the tests of zipmap map: files of hosts and graphs, runs, maps that are read again. Each of these tests works in a
folder of its own. TAP."""
import os
import random
import subprocess
import sys
import tempfile

ZIPMAP = os.path.join(os.environ["ZIP_TOP_BUILDDIR"], "mapper", "zipmap")
LIMIT_S = 20 * int(os.environ.get("ZIP_PATIENCE") or 6)
count = failed = 0
# three clusters in a row, joined by two zippers
THREE = "#ZIP cluster a\na:3\n#ZIP cluster b\nb:2\nz:2\n#ZIP cluster c\nc:2\n" \
    "#ZIP zipper z a=tcp:10.1.0.1 b=tcp:10.2.0.1\n#ZIP zipper y b=tcp:10.2.0.2 c=tcp:10.3.0.1\n"


def check(ok, name, detail=""):
    global count, failed
    count += 1
    failed += not ok
    print("%s %d - %s%s" % ("ok" if ok else "not ok", count, name, "" if ok else " # " + str(detail)), flush=True)


def finish():
    print("1..%d" % count)
    sys.exit(failed > 0)


def write(path, text):
    with open(path, "w") as f:
        f.write(text)
    return path


def hosts(a, b, zipper=0, extra=""):
    """Two clusters with these slots on each of their nodes, and a zipper node, which belongs to b."""
    text = "#ZIP cluster a\n" + "".join("a%d:%d\n" % (i, s) for i, s in enumerate(a))
    text += "#ZIP cluster b\n" + "".join("b%d:%d\n" % (i, s) for i, s in enumerate(b))
    text += "zip:%d\n" % zipper if zipper else ""
    return write("hosts", text + "#ZIP zipper zip a=tcp:10.1.0.1 b=tcp:10.2.0.1\n" + extra)


def graph(n, edges):
    """Edges (u, v, weight), each one a message both ways."""
    text = "%%MatrixMarket matrix coordinate integer symmetric\n" + "%d %d %d\n" % (n, n, len(edges))
    return write("graph", text + "".join("%d %d %d\n" % (max(u, v) + 1, min(u, v) + 1, w) for u, v, w in edges))


def hidden(n, edges, seed):
    names = list(range(n))
    random.Random(seed).shuffle(names)
    return [(names[u], names[v], w) for u, v, w in edges]


def zipmap(*args):
    """Runs zipmap. A search without end is a failure with a name, and not a test that hangs."""
    command = [ZIPMAP] + list(args)
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        print("Bail out! zipmap hangs: ended after %d s: zipmap %s" % (LIMIT_S, " ".join(args)), flush=True)
        sys.exit(1)


def read(path="map"):
    """rank -> (node, cluster, cpus), and the lines of the prediction"""
    where, lines = {}, []
    for line in open(path):
        lines += [line.strip()] if line.startswith("#ZIP") else []
        words = line.split("#")[0].split()
        if words:
            first, last = (words[0].split("-") * 2)[:2]
            for v in range(int(first), int(last) + 1):
                where[v] = (words + ["-"] * 3)[1:4]
    return where, lines


def bridged(where, edges):
    side = {"a": 1, "b": 2, "z": 3}
    return sum(w for u, v, w in edges if not side[where[u][0][0]] & side[where[v][0][0]])


def mapped(*args):
    r = zipmap("-f", "hosts", "-g", "graph", "-o", "map", *args)
    if r.returncode:
        return None, [r.stderr], r
    return read() + (r,)


def chain(n):
    return [(i, i + 1, 1) for i in range(n - 1)]


def grid(x, y):
    return [(i * y + j, i * y + j + 1, 1) for i in range(x) for j in range(y - 1)] + \
        [(i * y + j, i * y + j + y, 1) for i in range(x - 1) for j in range(y)]


def rails(lines):
    """name -> [(from>to, bytes)]"""
    found = {}
    for words in [line.split() for line in lines if line.startswith("#ZIP rail ")]:
        found.setdefault(words[2], []).append((words[3], int(words[4])))
    return found


def even(bytes, *zippers):
    """The bytes that each zipper carries: equal shares, and the remainder goes to the first ones."""
    return {z: bytes // len(zippers) + (i < bytes % len(zippers)) for i, z in enumerate(zippers)}


def one_way(lines, way):
    return {z: n for z, found in rails(lines).items() for w, n in found if w == way and n}


os.chdir(tempfile.mkdtemp())
