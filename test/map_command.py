#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The command line of zipmap map and zipmap draw: bad files with their lines, wrong usage, output files, pictures. TAP."""
import html.parser
import os
import re
import stat
import subprocess
import xml.etree.ElementTree

from map_fixture import ZIPMAP, chain, check, finish, graph, hidden, hosts, mapped, read, write, zipmap

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
             ["-f", "hosts", "-g", "graph", "--rates", "speed:1"], ["-f", "hosts", "-g", "graph", "-r", "AI"], ["-f", "hosts", "-g", "graph", "--effort", "0"]]:
    r = zipmap("map", *args)
    check(r.returncode == 2 and r.stderr.count("\n") == 1, "wrong usage: " + " ".join(args), r.stderr)

for args, error in [(["--clusters", "13"], "--clusters 13: the graph has 12 ranks"),
                    (["--clusters", "5,6"], "--clusters 5,6 makes 11 ranks, but the graph has 12"),
                    (["--clusters", "5,,7"], "--clusters: '5,,7' is neither a number from 1 to 64 nor ranks of each cluster"),
                    (["--clusters", "65"], "--clusters: '65' is neither a number from 1 to 64 nor ranks of each cluster")]:
    r = zipmap("map", "-g", "graph", *args)
    check(r.returncode == 1 and error in r.stderr and r.stderr.count("\n") == 1, "bad clusters: " + error, r.stderr)
r = zipmap("map", "-f", "hosts", "-g", "graph", "--clusters", "2")
check(r.returncode == 2 and r.stderr == "zipmap map: -f and --clusters both say which clusters there are\n",
      "a hostfile or --clusters", r.stderr)

# --- clusters without a hostfile
for clusters, sizes in [("2", [6, 6]), ("5", [3, 3, 2, 2, 2]), ("4+8", [4, 8]), ("1", [12])]:
    graph(12, hidden(12, chain(12), 5))
    r = zipmap("map", "--clusters", clusters, "-g", "graph", "-o", "map")
    where, lines = read() if r.returncode == 0 else ({}, [])
    check([sum(w[0] == "c%d" % (i + 1) for w in where.values()) for i in range(len(sizes))] == sizes,
          "--clusters %s: each cluster has its ranks" % clusters, r.stderr + str(where))
    cuts = [line for line in lines if line.startswith("#ZIP crossing ")]
    check(len(cuts) == 2 * (len(sizes) - 1), "--clusters %s: a chain is cut once between each two" % clusters, cuts)


# --- pictures
def drawn(*args):
    """The run, the texts, the colours of lines (the legend has each once), the picture; map.svg of hosts and graph, if args
    do not say otherwise."""
    if os.path.exists("map.svg"):
        os.remove("map.svg")
    r = zipmap("draw", "-f", "hosts", "-g", "graph", "-o", "map.svg", *args)
    svg = xml.etree.ElementTree.parse("map.svg").getroot() if r.returncode == 0 else []
    return (r, [e.text for e in svg if e.tag.endswith("text")],
            [e.get("stroke") for e in svg if e.tag.endswith("line")], svg)


hosts([3, 3], [3, 3], 3)
edges = hidden(15, chain(15), 2)
graph(15, edges)
where, lines, r = mapped()
r, texts, colours, _ = drawn("-m", "map", "--title", "a <b> & c")
check(r.returncode == 0 and r.stdout + r.stderr == "", "a picture is drawn", r.stderr)
check("a <b> & c" in texts and all(name in texts for name in ["a0", "a1", "b0", "b1", "zip"]), "with title and nodes", texts)
check(sorted(int(t) for t in texts if t.isdigit()) == list(range(15)), "and each rank once", texts)
check(colours.count("#cc3333") == 1 and colours.count("#2f9e57") > 1,
      "nothing is bridged, something direct: no red line, but green ones", colours)
zipmap("-f", "hosts", "-g", "graph", "-o", "block.map", "-S", "block", "-q")
r, texts, colours, _ = drawn("-m", "block.map")
check(colours.count("#cc3333") > 1, "the block layout of the same has a red line", r.stderr)
zipmap("convert", "graph", "graph.zg", "--to", "zipmap")
one = drawn("-g", "graph.zg", "-m", "block.map", "--phase", "1")[1]
r = drawn("-g", "graph.zg", "-m", "block.map", "--phase", "2")[0]
check(one == texts and r.returncode == 1 and r.stderr == "zipmap draw: graph.zg: there is no phase 2 in it\n",
      "the bytes of one phase", one + [r.stderr])
write("site", "#ZIP cluster lgm\nnode001:8\nnode002:8\n#ZIP cluster das4\nnode101:8\n"
      "#ZIP zipper zip01 lgm=tcp:10.1.0.1:7474 das4=tcp:10.2.0.1:7474\n")
write("chain", "%%MatrixMarket matrix coordinate integer symmetric\n18 18 17\n" +
      "".join("%d %d 1000\n" % (v + 2, v + 1) for v in range(17)))
zipmap("-f", "site", "-g", "chain", "-o", "chain.map", "-q")
r, texts, colours, _ = drawn("-f", "site", "-g", "chain", "-m", "chain.map")
check(r.returncode == 0 and "zip01" in texts and texts.count("2.0 KiB") == 2 and colours.count("#cc3333") > 3,
      "a zipper without ranks, and what crosses it at both of its ports", texts + colours)

# many clusters and zippers: labels at ports do not overlap; names stay in their boxes
host = "a-host-with-a-name-longer-than-its-box-%d.example.org"
write("site", "".join("#ZIP cluster %s\n%s:4\n%s:4\n" % (c, host % (2 * i), host % (2 * i + 1)) for i, c in enumerate("abcdef")) +
      "".join("#ZIP zipper z%d %s\n" % (z, " ".join("%s=tcp:10.%d.0.%d" % (c, i, z + 1) for i, c in enumerate("abcdef")))
              for z in range(3)))
zipmap("-f", "site", "-g", "graph", "-o", "site.map", "-q", "-S", "spread")
r, texts, colours, svg = drawn("-f", "site", "-m", "site.map", "--title", b"a\x01b\xff\xc3\xa9 <".decode(errors="surrogateescape"))
check("a\ufffdb\ufffd\u00e9 <" in texts, "a title of any bytes", texts)
at = [(float(e.get("x")), float(e.get("y"))) for e in svg if e.tag.endswith("text") and e.text.endswith("B") and
      " " in e.text and ":" not in e.text]
check(len(at) == 18 and all(x != u or abs(y - v) > 9 for i, (x, y) in enumerate(at) for u, v in at[:i]),
      "bytes of ports are apart", at)
names = [t for t in texts if t.startswith("a-host")]
check(len(set(names)) == 12 and all(len(t) <= 24 and t.endswith("\u2026") for t in names),
      "long names of hosts lose their domain and their middle, and say so", names)
write("site", "#ZIP cluster a\na:8\n#ZIP cluster b\nb:8\n" +
      "".join("#ZIP zipper z%d a=tcp:10.1.0.1:%d b=tcp:10.2.0.1:%d\n" % (i, i + 1000, i + 1000) for i in range(400)))
zipmap("-f", "site", "-g", "graph", "-o", "site.map", "-q", "--zippers", "1")
r, texts, colours, svg = drawn("-f", "site", "-m", "site.map", "--zippers", "1")
check(r.returncode == 0 and float(svg.get("height")) < 6000 and "z0 ... (7)" in texts, "many zippers share boxes", r.stderr)
for args, code in [(["-f", "hosts", "-g", "graph", "-m", "map"], 2), (["-f", "hosts", "-g", "graph", "-m", "none", "-o", "x"], 1)]:
    r = zipmap("draw", *args)
    check(r.returncode == code and r.stderr.count("\n") == 1, "draw refuses: " + " ".join(args), r.stderr)
picture = open("map.svg").read()
r = subprocess.run(["sh", "-c", "ulimit -f 1; trap '' XFSZ; exec \"$0\" draw -f hosts -g graph -m block.map -o map.svg", ZIPMAP],
                   stderr=subprocess.PIPE, text=True)
check(r.returncode == 1 and r.stderr.startswith("zipmap draw: map.svg: cannot be written: ") and
      r.stderr.count("\n") == 1 and open("map.svg").read() == picture, "a picture that cannot be written leaves the old one", r.stderr)


def port_bytes(*args):
    """The labels at ports: to the left of zipper nodes, which are here from the top to the bottom of the picture, and to
    the right of them."""
    svg = drawn(*args)[3]
    at = [(e.get("text-anchor") != "end", float(e.get("y")), e.text) for e in svg
          if e.tag.endswith("text") and e.text.endswith("B") and ":" not in e.text]
    return [[t for right, y, t in sorted(at) if right == side] for side in (False, True)]


# bytes at ports are those of the prediction
TCP = "#ZIP zipper %s %s=tcp:10.1.0.%d %s=tcp:10.2.0.%d\n"
write("site", "#ZIP cluster a\na:2\n#ZIP cluster b\nb:2\ny:2\n#ZIP cluster c\nc:2\n" +
      TCP % ("y", "a", 1, "b", 1) + TCP % ("z", "b", 2, "c", 2))
write("site.map", "0 y a\n1 c\n2 a\n3 b\n")
graph(4, [(0, 1, 10240)])
found = port_bytes("-f", "site", "-m", "site.map")
check(found == [["0 B", "20.0 KiB"], ["20.0 KiB", "20.0 KiB"]], "what a rank has forwarded by its own node passes no port towards it", found)
# two zipper nodes with two networks in common
write("site", "#ZIP cluster a\na:2\nz1:2\n#ZIP cluster b\nb:2\nz2:2\n" + TCP % ("z1", "b", 1, "a", 1) + TCP % ("z2", "a", 2, "b", 2))
graph(2, [(0, 1, 10240)])
for first, ports in ((1, [["0 B", "0 B"], ["20.0 KiB", "20.0 KiB"]]), (2, [["20.0 KiB", "20.0 KiB"], ["0 B", "0 B"]])):
    write("site.map", "%d z1 a\n%d z2 b\n" % (first - 1, 2 - first))
    found = port_bytes("-f", "site", "-m", "site.map")
    check(found == ports, "direct between two zipper nodes, over the first network of z%d" % first, found)

# --- the page: one file that needs nothing else, with all parts; each picture is XML
class Balance(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.text.append(data)


def page(*args):
    """The run, the page, its text, its pictures."""
    r = zipmap("report", "-o", "page.html", *args)
    if r.returncode:
        return r, "", "", []
    with open("page.html", encoding="utf-8") as f:
        text = f.read()
    balance = Balance()
    balance.feed(text)
    check(not balance.open and not balance.wrong, "page: all tags are closed", balance.open + balance.wrong)
    pictures = [xml.etree.ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", text, re.S)]
    return r, text, " ".join(balance.text), pictures


TIMED = os.path.join(os.environ["ZIP_TOP_SRCDIR"], "test", "corpus", "graph", "timed")
r, text, words, pictures = page(TIMED)
check(r.returncode == 0 and r.stdout + r.stderr == "", "a page is made", r.stderr)
check("<title>timed: communication</title>" in text, "page: its title is the program", text[:200])
check(not re.search(r"<script|src=|href=|url\(|@import", text), "page: it needs nothing from elsewhere")
check(len(pictures) == 5, "page: kinds of calls, ranks, matrix, maps, the map", len(pictures))
for part in ["16.2 %", "In MPI, by kind of call", "Share of the run in MPI, by rank", "Bytes between ranks", "pairs", "block",
             "best map", "Traffic between clusters", "The map", "Collectives", "allreduce"]:
    check(part in words, "page: " + part)
check("in 2 clusters" in words, "page: two clusters, where nothing else is said")
check(all(p.get("viewBox") == "0 0 %s %s" % (p.get("width"), p.get("height")) for p in pictures), "page: its pictures can shrink",
      [p.attrib for p in pictures])
r, text, words, pictures = page("--clusters", "3+1", "--title", "a <b> & c", "--phase", "1", TIMED)
check("a <b> & c" in words and "phase 1" in words, "page: another title, and a phase", words[:300])
hosts([3, 3], [3, 3], 3)
graph(15, hidden(15, chain(15), 2))
r, text, words, pictures = page("-f", "hosts", "graph")
check(len(pictures) == 3 and "Time" not in words and "16.2 %" not in words, "page: a graph without times", words[:300])
check("nothing goes from" not in words and "By cluster, bridged and direct" in words and "Ranks whose messages" not in words,
      "page: a graph with a small cut is not bridged", r.stderr)
graph(1, {})
r, text, words, pictures = page("graph")
check(r.returncode == 0 and "in 1 cluster" in words, "page: a graph of one rank", r.stderr)
for args, error in [(["-o", "x.html"], "missing argument: GRAPH"), ([TIMED], "-o FILE.html is needed"),
                    (["-o", "x.html", "-f", "hosts", "--clusters", "2", TIMED], "-f and --clusters both")]:
    r = zipmap("report", *args)
    check(r.returncode == 2 and error in r.stderr and r.stderr.count("\n") == 1, "report, wrong usage: " + error, r.stderr)
r = zipmap("report", "-o", "nowhere/x.html", TIMED)
check(r.returncode == 1 and "nowhere/x.html" in r.stderr, "report: a folder that is not there", r.stderr)
zipmap("map", "-q", "--clusters", "2", "-g", TIMED, "-o", "timed.map")
zipmap("draw", "--clusters", "2", "-g", TIMED, "-m", "timed.map", "-o", "timed.svg")
check("timed, timed.map" in [e.text for e in xml.etree.ElementTree.parse("timed.svg").getroot()], "a picture names the program")

finish()
