#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The command line of zipmap map and zipmap draw: bad files with their lines, wrong usage, what is written to, pictures. TAP."""
import os
import stat
import subprocess
import xml.etree.ElementTree

from map_fixture import ZIPMAP, chain, check, finish, graph, hidden, hosts, mapped, write, zipmap

# --- bad input
edges = chain(12)
BAD = [
    ("hosts", "#ZIP cluster a\na:x\n", [], "hosts:2: slots: 'x' is not a number"),
    ("hosts", "#ZIP cluster a\na:4\nb:4\na:4\n", [], "hosts:4: host a stands in line 2 already"),
    ("hosts", "#ZIP cluster a\na:12\n#ZIP node a topology=pack:x\n", [], "hosts:3: topology pack:x: not what hwloc calls"),
    ("hosts", "#ZIP cluster a\na:12\n#ZIP node a topology=none.xml\n", [], "hosts:3: topology ./none.xml: "),
    ("hosts", "#ZIP cluster a\na:6\n#ZIP cluster b\nb:6\n", [], "no #ZIP zipper lines join the clusters a,b"),
    ("graph", "2 1\n2\n3\n", [], "graph:3: not a vertex of the graph"),
    ("old", "0-10 a\n11 c\n", ["--improve", "old"], "old:2: node c is no host of hosts"),
    ("old", "0-3 a\n", ["--improve", "old"], "old has 4 ranks, graph has 12"),
]
for path, text, args, error in BAD:
    write("hosts", "#ZIP cluster a\na:12\n")
    graph(12, edges)
    write(path, text)
    r = zipmap("map", "-f", "hosts", "-g", "graph", *args)
    check(r.returncode == 1 and error in r.stderr and r.stderr.count("\n") == 1, "bad input: " + error, r.stderr)
write("hosts", "#ZIP cluster a\na:12\n")
graph(12, edges)
os.mkfifo("pipe")
reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, text=True)
r = zipmap("map", "-f", "hosts", "-g", "graph", "-q", "-o", "pipe")
check(r.returncode == 0 and "0-11 a" in reader.communicate()[0] and stat.S_ISFIFO(os.stat("pipe").st_mode),
      "what is no file is written to, and not replaced", r.stderr)
reader.kill()
reader.wait()
r = zipmap("convert", "graph", "pipe", "--to", "zipmap")
check(r.returncode == 1 and r.stderr == "zipmap convert: pipe: not a regular file, and it would be replaced\n" and
      stat.S_ISFIFO(os.stat("pipe").st_mode), "a recorded graph has to be a file", r.stderr)
os.symlink("recorded", "leads")
write("recorded", "old\n")
r = zipmap("convert", "graph", "leads", "--to", "zipmap")
check(r.returncode == 0 and os.path.islink("leads") and open("recorded", "rb").read(4) == open("leads", "rb").read(4) != b"old\n",
      "a recorded graph is written where a link leads", r.stderr)
for args in [["-f", "hosts"], ["-g", "graph"], ["-f", "hosts", "-g", "graph", "--strategy", "best"],
             ["-f", "hosts", "-g", "graph", "--improve", "old", "-S", "pairs"], ["-f", "hosts", "-g", "graph", "--zippers", "none"],
             ["-f", "hosts", "-g", "graph", "--zippers", "0"], ["-f", "hosts", "-g", "graph", "--zippers", "17"],
             ["-f", "hosts", "-g", "graph", "-S", "keep"],
             ["-f", "hosts", "-g", "graph", "--rates", "speed:1"], ["-f", "hosts", "-g", "graph", "--effort", "0"]]:
    r = zipmap("map", *args)
    check(r.returncode == 2 and r.stderr.count("\n") == 1, "wrong usage: " + " ".join(args), r.stderr)

# --- pictures
hosts([3, 3], [3, 3], 3)
edges = hidden(15, chain(15), 2)
graph(15, edges)
where, lines, r = mapped()
r = zipmap("draw", "-f", "hosts", "-g", "graph", "-m", "map", "-o", "map.svg", "--title", "a <b> & c")
check(r.returncode == 0 and r.stdout + r.stderr == "", "a picture is drawn", r.stderr)
svg = xml.etree.ElementTree.parse("map.svg").getroot() if r.returncode == 0 else []
texts = [e.text for e in svg if e.tag.endswith("text")]
check("a <b> & c" in texts and all(name in texts for name in ["a0", "a1", "b0", "b1", "zip"]), "with title and nodes", texts)
check(sorted(int(t) for t in texts if t.isdigit()) == list(range(15)), "and each rank once", texts)
colours = [e.get("stroke") for e in svg if e.tag.endswith("line")]  # the legend has each once
check(colours.count("#cc3333") == 1 and colours.count("#2f9e57") > 1,
      "nothing is bridged, something direct: no red line, but green ones", colours)
zipmap("-f", "hosts", "-g", "graph", "-o", "block.map", "-S", "block", "-q")
zipmap("draw", "-f", "hosts", "-g", "graph", "-m", "block.map", "-o", "block.svg")
check(open("block.svg").read().count("#cc3333") > 1, "the block layout of the same has a red line")
for args, code in [(["-f", "hosts", "-g", "graph", "-m", "map"], 2), (["-f", "hosts", "-g", "graph", "-m", "none", "-o", "x"], 1)]:
    r = zipmap("draw", *args)
    check(r.returncode == code and r.stderr.count("\n") == 1, "draw refuses: " + " ".join(args), r.stderr)
picture = open("map.svg").read()
r = subprocess.run(["sh", "-c", "ulimit -f 1; trap '' XFSZ; exec \"$0\" draw -f hosts -g graph -m block.map -o map.svg", ZIPMAP],
                   stderr=subprocess.PIPE, text=True)
check(r.returncode == 1 and r.stderr.startswith("zipmap draw: map.svg: cannot be written: ") and
      r.stderr.count("\n") == 1 and open("map.svg").read() == picture, "a picture that cannot be written leaves the old one", r.stderr)
finish()
