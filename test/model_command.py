#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The command line of zipmap model and zipmap plot: outputs agree with each other, mistakes get one clear line. TAP."""
import csv
import json
import os
import pty
import shutil
import subprocess
import sys
import tempfile

ZIPMAP = os.path.join(os.environ["ZIP_TOP_BUILDDIR"], "mapper", "zipmap")
NETWORK = "dragonfly group:6 chassis:2 router:3 node:2 core:2"
count = failed = 0


def check(ok, name, detail=""):
    global count, failed
    count += 1
    failed += not ok
    print("%s %d - %s%s" % ("ok" if ok else "not ok", count, name, "" if ok else " # " + str(detail)), flush=True)


def zipmap(*args):
    return subprocess.run([ZIPMAP] + list(args), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def model(*args):
    return zipmap("model", "-n", NETWORK, *args)


os.chdir(tempfile.mkdtemp())

r = model("-j", "umesh range:4 min:2 max:4", "-p", "all", "-r", "all", "--csv", "a.csv", "--json", "a.json", "--links",
          "a.links")
check(r.returncode == 0 and r.stderr == "", "all combinations; nothing on standard error that is no terminal", r.stderr)
table = list(csv.DictReader(open("a.csv")))
objects = json.load(open("a.json"))
check(len(objects) == 30 and len(table) == 150, "30 predictions, five kinds of links", (len(objects), len(table)))
check(all(float(t[k]) == o["links"][t["links"]][k] for t in table for o in objects
          if (o["placement"], o["routing"]) == (t["placement"], t["routing"]) for k in ["min", "median", "max", "sum"]),
      "CSV and JSON agree")
sums = {}
for row in csv.DictReader(open("a.links")):
    key = row["placement"], row["routing"]
    sums[key] = sums.get(key, 0) + float(row["bytes"])
check(all(abs(sums[o["placement"], o["routing"]] / o["byte_hops"] - 1) < 1e-6 for o in objects),
      "the links add up to bytes times hops")
check(all(o["byte_hops"] <= 5 * o["bytes"] for o in objects if o["routing"] in ("SD", "AD")),
      "direct paths have five hops at most")
check(all(o["byte_hops"] <= 10 * o["bytes"] for o in objects), "indirect paths have ten hops at most")
check(all(sum(k["histogram"]) == k["count"] for o in objects for k in o["links"].values()),
      "histograms have every link once")

for args, error in [(["-j", ""], "-j: no job in it"), (["-j", "# none; "], "-j: no job in it"),
                    (["-j", "2d nodes:4", "-j", "umesh nodes:4 max:x"], "job 2: max: \"x\" is not a number"),
                    (["-f", "hosts", "-j", "2d"], "--hosts needs a map: give one (-m)")]:
    r = model(*args)
    check(r.returncode in (1, 2) and r.stderr.startswith("zipmap model: " + error), "bad jobs: " + error, r.stderr)

r = model("-j", "spread", "-r", "AH", "--paths", "1")
check(r.returncode == 0, "--paths 1: no more direct paths than that", r.stderr)
r = model("-j", "spread", "-r", "AH", "--paths", "3", "--direct-paths", "4")
check(r.returncode == 2 and "--direct-paths 4 is more than --paths 3" in r.stderr, "more direct paths than paths", r.stderr)

a, b = [model("-j", "spread", "-r", "AH", "-t", t, "--links", "t" + t).returncode for t in ("1", "3")]
check(a == b == 0 and open("t1").read() == open("t3").read(), "the number of threads does not matter")
model("-j", "spread", "-r", "AH", "-s", "2", "--links", "t4")
check(open("t1").read() != open("t4").read(), "the seed does")

with open("map", "w") as f:
    f.write("# reversed\n" + "".join("%d %d\n" % (i, 71 - i // 2) for i in range(144)))
r = model("-j", "2d:12x12", "-m", "map", "--links", "m.links")
check(r.returncode == 0, "a placement map", r.stderr)
linear = model("-j", "2d:12x12", "-p", "LIN", "--links", "l.links")


def loads(path):
    return sorted(float(x["bytes"]) for x in csv.DictReader(open(path)) if x["class"] != "L2")


check(abs(sum(loads("m.links")) - sum(loads("l.links"))) < 0.2 * sum(loads("l.links")),
      "the reversed linear map is near the linear placement")

with open("jobs", "w") as f:
    f.write("# two jobs\n2d:6x6 nodes:20 routing:AI\nspread ranks:40 min:2 max:3\n")
r = model("-w", "jobs", "-r", "SD,AD")
check(r.returncode == 0 and "AD" in r.stdout, "jobs from a file, one with a routing of its own", r.stderr)

with open("wires", "w") as f:
    f.write("".join("%d %d %d %d\n" % (g, (g + h) % 6, h, (g * h) % 6) for g in range(6) for h in range(g)))
r = zipmap("model", "-n", NETWORK + " wiring-file:wires", "-j", "spread", "-r", "SD,SI,AD")
check(r.returncode == 0, "wiring from a file", r.stderr)
with open("net", "w") as f:
    f.write("# two clusters\npart:A crossbar node:4\npart:B fattree arity:2 levels:2 # four nodes\n"
            "zipper:z A:3 B:0 forward:1G\n")
r = zipmap("model", "-n", "net", "-j", "2d:2x4", "-p", "LIN", "-r", "SD,SI,AD,AI,AH,SIP")
check(r.returncode == 0, "joined networks from a file", r.stderr)
with open("fast", "w") as f:
    f.write("n0>x 1000000\nx>n1 2000000\n")
r = zipmap("model", "-n", "crossbar node:2 bandwidth-file:fast", "-j", "2d:1x2 bytes:1000000 periodic:no", "-p", "LIN")
check("at least 1.000000 s" in r.stdout, "bandwidths from a file", r.stdout)

# a terminal gets a bar
pid, fd = pty.fork()
if pid == 0:
    os.execv(ZIPMAP, [ZIPMAP, "model", "-n", NETWORK, "-j", "spread", "-r", "AI"])
shown = b""
while True:
    try:
        got = os.read(fd, 65536)
    except OSError:
        break
    if not got:
        break
    shown += got
os.waitpid(pid, 0)
check(b"allocation" in shown and b"[#" in shown, "a progress bar on a terminal")

if shutil.which("gnuplot"):
    r = zipmap("plot", "--links", "all,L1,L2", "--title", "it's a test", "box", "a.csv")
    check(r.returncode == 0 and open("box.png", "rb").read(4) == b"\x89PNG" and "<svg" in open("box.svg").read(),
          "box plots", r.stderr)
    text = open("box.svg").read()
    check(all(t in text for t in ["Static Direct", "Adaptive Hybrid", "RDN", "RRR", "lowest maximum"]),
          "routings, placements and the lowest maximum are in the picture")
    r = zipmap("plot", "--histogram", "--links", "L2", "bars", "a.csv")
    check(r.returncode == 0 and os.path.getsize("bars.png") > 1000, "histograms", r.stderr)

    def table(path, *names, head=None, **values):
        """a.csv's columns, with a row for each of these placements and these values; without bins if its head has none"""
        first = open("a.csv").readline().rstrip("\n").split(",")
        first = first[:first.index("bin0")] if head == "no bins" else first
        with open(path, "a") as f:
            f.write(",".join(first) + "\n")
            for name in names:
                row = {key: "1" for key in first}
                row.update({"placement": name, "routing": "SD", "links": "all", **values})
                f.write(",".join(row[key] for key in first) + "\n")

    table("names.csv", "it's", "my_map", "'.system('>X').'")
    table("names.csv", "RDN", links="l'1")
    r = zipmap("plot", "names", "names.csv")
    text = open("names.svg").read() if r.returncode == 0 else ""
    check(r.stderr == "" and all(">%s<" % name in text for name in ["it's", "my_map"]) and not os.path.exists("X"),
          "names of placements are text, and no program", r.stderr)
    r = zipmap("plot", "--histogram", "--links", "l'1", "names", "names.csv")
    check(r.returncode == 0 and r.stderr == "" and "l'1 links" in open("names.svg").read(), "... and those of links", r.stderr)
    table("joined.csv", "RDN")
    table("joined.csv", "RDR", head="no bins")
    r = zipmap("plot", "joined", "joined.csv")
    check(r.returncode == 0, "two files in one, of which the second has no histograms", r.stderr)
    r = zipmap("plot", "--histogram", "joined", "joined.csv")
    check(r.returncode == 1 and r.stderr == "zipmap plot: no histogram of links \"all\" of RDR, SD\n", "... which cannot be drawn",
          r.stderr)
    table("inf.csv", "RDN", max="inf")
    r = zipmap("plot", "inf", "inf.csv")
    check(r.returncode == 1 and r.stderr == "zipmap plot: inf.csv:2: not a line of \"zipmap model --csv\"\n", "no number is infinite",
          r.stderr)
    r = zipmap("model", "-n", "part:a crossbar node:3\npart:b crossbar node:3\nzipper:z a:2 b:2", "-j", "2d:2x2 nodes:4",
               "--csv", "lines.csv")
    r = zipmap("plot", "lines", "lines.csv")
    check(r.returncode == 0, "a network of several lines", r.stderr)
    with open("lines.csv", "a") as f:
        f.write("nonsense\n")
    r = zipmap("plot", "lines", "lines.csv")
    check(r.returncode == 1 and "lines.csv:%d: " % len(open("lines.csv").readlines()) in r.stderr, "... lines are counted", r.stderr)
    r = model("-j", "spread", "-r", "SD,SI", "--plot", "direct")
    check(r.returncode == 0 and os.path.exists("direct.svg"), "zipmap model --plot", r.stderr)
else:
    count += 1
    print("ok %d - plots # SKIP no gnuplot" % count)

# two ranks on one zipper node, in different parts of the network, cross no link; a link that is too slow is reported
JOINED = "part:A crossbar node:2 bandwidth:2000G; part:B crossbar node:2 bandwidth:2000G; zipper:z A:1 B:1 forward:1M port:2000G"
with open("pair", "w") as f:
    f.write("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 1000\n")
for nodes, starved in [((1, 3), False), ((0, 2), True)]:
    with open("place", "w") as f:
        f.write("0 %d\n1 %d\n" % nodes)
    for routing in ["AD", "AI", "AH"]:
        r = zipmap("model", "-n", JOINED, "-j", "graph:pair", "-m", "place", "-r", routing)
        check(r.returncode == 0 and ("1 messages got nothing" in r.stdout) == starved,
              "%s: a pair %s" % (routing, "gets nothing" if starved else "needs nothing"), r.stderr or r.stdout)

for line in ["bad", "1 2 3", "1 72", "200 1", "1 1\n1 2", "1 0\n2 0", "4294967297 1", "1 4294967296", "1 -4294967295", "1 1x", "+1 1", "1 1\0x"]:
    with open("badmap", "w") as f:
        f.write("0 0\n" + line + "\n")
    r = model("-j", "2d:12x12", "-m", "badmap")
    check(r.returncode == 1 and "badmap:%d: " % (3 if "\n" in line else 2) in r.stderr and r.stderr.count("\n") == 1,
          "bad map: %r" % line, r.stderr)
for line in ["0 0 1", "0 0 6 0", "0 0 0 1", "0 6 1 0", "x", "0 0 4294967298 0", "0 0 -4294967294 0", "0 1 1 1\0x"]:
    with open("badwires", "w") as f:
        f.write("0 0 1 0\n" + line + "\n")
    r = zipmap("model", "-n", NETWORK + " wiring-file:badwires", "-j", "spread")
    check(r.returncode == 1 and "badwires:2: " in r.stderr and r.stderr.count("\n") == 1, "bad wiring: %r" % line,
          r.stderr)
for words, named in [("wiring:circulant", "wiring"), ("global:2", "global"), ("global:1 wiring:modulo", "wiring")]:
    with open("both", "w") as f:
        f.write("# a file of wires, and a rule\n%s wiring-file:wires %s\n" % (NETWORK, words))
    r = zipmap("model", "-n", "both", "-j", "spread")
    check(r.returncode == 1 and r.stderr == "zipmap model: both:2: %s beside wiring-file: the file has every link between groups\n"
          % named, "a rule beside a wiring file: " + words, (r.returncode, r.stderr))
with open("fast", "w") as f:
    f.write("n0>x 1000000\nn9>x 1\n")
r = zipmap("model", "-n", "crossbar node:2 bandwidth-file:fast", "-j", "spread")
check(r.returncode == 1 and 'fast:2: there is no link "n9>x"' in r.stderr, "bad bandwidth file", r.stderr)
with open("fast", "w") as f:
    f.write("n0>x 1000000\0\nx>n0 1\n")
r = zipmap("model", "-n", "crossbar node:2 bandwidth-file:fast", "-j", "spread")
check(r.returncode == 1 and "fast:1: zero byte" in r.stderr, "a bandwidth file that is no text", r.stderr)
with open("badjobs", "w") as f:
    f.write("umesh nodes:10\n\nspread nodes:100\n")
r = model("-w", "badjobs")
check(r.returncode == 1 and "badjobs:3: " in r.stderr, "bad jobs file", r.stderr)
with open("bad.csv", "w") as f:
    f.write(open("a.csv").readline() + "nonsense\n")
r = zipmap("plot", "x", "bad.csv")
check(r.returncode == 1 and "bad.csv:2: " in r.stderr, "bad CSV", r.stderr)
for args in [["-j", "umesh", "-r", "XX"], ["-j", "umesh", "-p", "XX"], ["-j", "torus"], ["-j", "4d:2x2"],
             ["-j", "4d:99x99x99x99"], ["-j", "umesh share:101"], ["-j", "umesh share:0.001"], ["-j", "umesh range:0"], ["-j", "umesh foo:1"],
             ["-j", "graph:/nonexistent"], ["-j", "umesh", "-j", "spread"], ["-j", "umesh", "--iterations", "0"],
             ["-j", "umesh", "--cutoff", "2"], ["-j", "umesh", "--bogus"], ["-j", "umesh", "--csv"], ["-j", "umesh", "x"],
             ["-j", "umesh", "-w", "1"], ["-j", "umesh", "--csv", "/nonexistent/x"], []]:
    r = model(*args)
    check(r.returncode in (1, 2) and r.stderr.startswith("zipmap model: ") and r.stderr.count("\n") == 1,
          "refused in one line: " + " ".join(args), (r.returncode, r.stderr))
with open("heavy", "w") as f:
    f.write("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 16777216\n")
r = zipmap("model", "-n", "crossbar node:2", "-j", "graph:heavy bytes:1024G")
check(r.returncode == 1 and r.stderr == "zipmap model: more than 2^52 bytes in one phase\n", "2^64 bytes are not none",
      (r.stdout, r.stderr))
with open("fast", "w") as f:
    f.write("n0>x 1000000\nx>n0 1\nn0>x 2000000\n")
r = zipmap("model", "-n", "crossbar node:2 bandwidth-file:fast", "-j", "spread")
check(r.returncode == 1 and r.stderr == 'zipmap model: fast:3: link "n0>x" was already in line 1\n', "a link with two bandwidths",
      r.stderr)
# presets with other keys, alone, in a part and in a file
with open("varied", "w") as f:
    f.write("cascade group:3, global=1 # small\n")
for network, same in [("paper wiring:consecutive", "dragonfly group:960 chassis:6 router:16 node:4 core:24 wiring:consecutive"),
                      ("paper group:3", "dragonfly group:3 chassis:6 router:16 node:4 core:24"),
                      ("paper,core:48 group:3", "dragonfly group:3 chassis:6 router:16 node:4 core:48"),
                      ("varied", "dragonfly group:3 chassis:6 router:16 node:4 core:24 column:3 global:1"),
                      ("part:a paper group:2; part:b torus:2x2 core:24; zipper:z a:5 b:0",
                       "part:a dragonfly group:2 chassis:6 router:16 node:4 core:24; part:b torus:2x2 core:24; zipper:z a:5 b:0")]:
    for at, text in [("varied.a", network), ("varied.b", same)]:
        r = zipmap("model", "-n", text, "-j", "spread ranks:96 nodes:4", "-p", "LIN", "--links", at)
        check(r.returncode == 0, "a preset with other keys: " + text, r.stderr)
    check(open("varied.a").read() == open("varied.b").read(), "... is the same network")
names = "no topology (dragonfly, megafly, fattree, torus, hyperx, slimfly, graph, slurm, ibnet, crossbar, part)%s no preset (paper, paper-third, cascade, "\
    "frontier, aurora, perlmutter, summit, cluster)%s"
for network, reason in [("hypercube", 'network: "hypercube" is ' + names % (",", " and no file")),
                        ("hypercube:4", 'network: "hypercube:4" is ' + names % (",", " and no file")),
                        ("hypercube dim:4", 'network: "hypercube" is ' + names % (" and", "")),
                        ("part:a crossbar; part:b mesh node:2; zipper:z a:0 b:0", 'network: "mesh" is ' + names % (" and", "")),
                        ("part:a; part:b crossbar", 'network: not "part:NAME TOPOLOGY ..."'),
                        ("./hypercube", "./hypercube: No such file or directory"),
                        ("paper:3 group:4", "network: paper:3: only a torus or a hyperx has numbers behind its name"),
                        ("paper group:3 group:4", 'network: "group" is unknown here, or there twice')]:
    r = zipmap("model", "-n", network, "-j", "2d:1x2")
    check(r.returncode == 1 and r.stderr == "zipmap model: %s\n" % reason, "refused: " + network, r.stderr)
# graph files
GOOD = "router:a node:2\nrouter:b node:2\nlink:a to:b\n"
for text, reason in [("", "no router has nodes"), ("router:a\nrouter:b\nlink:a to:b\n", "no router has nodes"),
                     ("router:a node:2\n", "no link"), (GOOD + "router:c\n", 'no path from "c" to "a"'),
                     (GOOD + "switch:c\n", ':4: "switch" is neither router nor link'),
                     (GOOD + "\nrouter:a\n", ':5: a second router "a"'), (GOOD + "link:a to:c\n", ':4: there is no router "c"'),
                     (GOOD + "link:a\n", ':4: not "link:NAME to:NAME"'), (GOOD + "link:b to:b\n", ':4: a link from "b" to itself'),
                     (GOOD + "link:a to:b cables:0\n", ':4: cables: "0" is not a number from 1 to 4096'),
                     (GOOD + "link:a to:b speed:1\n", ':4: "speed" is unknown here, or there twice'),
                     (GOOD + "router:c nodes:1\n", ':4: "nodes" is unknown here, or there twice'),
                     ("router:a>b node:1\n", ':1: not "router:NAME node:N" with a name of at most 64 characters'),
                     ("router:%s node:1\n" % ("x" * 65), ':1: not "router:NAME node:N" with a name of at most 64 characters'),
                     ("".join("router:r%d node:1\nlink:r%d to:r%d\n" % (i, i, i + 1) for i in range(50)) + "router:r50\n",
                      'from "r49" to "r0" are more than 48 hops, or more than 2^31 shortest paths'),
                     ("router:r0_0 node:1\nrouter:r18_0 node:1\n" +
                      "".join("router:r%d_%d\n" % (i, j) for i in range(18) for j in range(4) if i or j) +
                      "".join("link:r%d_%d to:r%d_%d\n" % (i, j, i + 1, k) for i in range(18) for j in range(4)
                              for k in range(4) if i < 17 or not k), 'from "r17_0" to "r0_0" are more')]:
    with open("badgraph", "w") as f:
        f.write(text)
    r = zipmap("model", "-n", "graph file:badgraph", "-j", "2d:1x2")
    where = "badgraph" + ("" if reason.startswith(":") else ": ") + reason
    check(r.returncode == 1 and r.stderr.startswith("zipmap model: " + where) and r.stderr.count("\n") == 1,
          "bad graph: " + reason, r.stderr)
with open("goodgraph", "w") as f:
    f.write(GOOD)
r = zipmap("model", "-n", "part:a graph file:goodgraph; part:b crossbar node:4; zipper:z a:3 b:0", "-j", "2d:2x4", "-p", "LIN",
           "-r", "SD,SI,AD,AI,AH,DET")
check(r.returncode == 0, "a graph in a part", r.stderr)
for network, reason in [("graph", 'network: not "graph file:PATH"'), ("graph file:", "network: file: which file?"),
                        ("graph file:/nonexistent", "/nonexistent: No such file or directory")]:
    r = zipmap("model", "-n", network, "-j", "2d:1x2")
    check(r.returncode == 1 and r.stderr == "zipmap model: %s\n" % reason, "refused: " + network, r.stderr)
r = zipmap("model", "-n", "part:a graph file:goodgraph; part:b crossbar node:4; zipper:z a:3 b:0", "-j", "2d:2x4", "-r", "AL")
check(r.returncode == 1 and r.stderr ==
      "zipmap model: AL: in some parts a path begins with the link of a node, not in all\n", "AL in unlike parts", r.stderr)
r = zipmap("model", "-n", "part:a crossbar node:4; part:b fattree arity:2 levels:2; zipper:z a:3 b:0", "-j", "2d:2x4", "-r", "AL")
check(r.returncode == 0, "AL in like parts", r.stderr)
r = zipmap("model", "-n", NETWORK + " global:2", "-j", "spread", "-r", "ECMP")
check(r.returncode == 1 and r.stderr == "zipmap model: ECMP is not known for this network; SD divides evenly over all shortest paths\n",
      "ECMP over several links between groups", r.stderr)
# words that would be read without any effect
for network, reason in [("crossbar:2", "crossbar:2: only a torus or a hyperx has numbers behind its name"),
                        ("part:a crossbar:2; part:b crossbar node:2; zipper:z a:0 b:0",
                         "crossbar:2: only a torus or a hyperx has numbers behind its name"),
                        ("torus:", "no number behind the ':'"), ("dragonfly group:2 wiring-file", "wiring-file: which file?"),
                        ("crossbar node:2 bandwidth-file:", "bandwidth-file: which file?"),
                        ("part:a crossbar node:2; part:b crossbar node:2; zipper:z a:0 b:0; zipper:z a:1 b:1", 'a second zipper "z"')]:
    r = zipmap("model", "-n", network, "-j", "2d:1x2")
    check(r.returncode == 1 and r.stderr == "zipmap model: network: %s\n" % reason, "refused: " + network, r.stderr)
for job, reason in [("graph:", "graph: which file?"), ("2d:", "no number behind the ':'")]:
    r = model("-j", job)
    check(r.returncode == 1 and r.stderr == "zipmap model: job: %s\n" % reason, "refused: " + job, r.stderr)
with open("nojobs", "w") as f:
    f.write("# none\n")
r = model("-w", "nojobs")
check(r.returncode == 2 and r.stderr == "zipmap model: nojobs: no job in it\n", "a file without jobs", r.stderr)

# an old file stays until the new one is complete
heavy = ["-n", "crossbar node:2", "-j", "graph:heavy bytes:1024G"]
light = ["-n", "crossbar node:2", "-j", "2d:1x2"]
for kind in ["csv", "json", "links"]:
    with open("kept", "w") as f:
        f.write("old\n")
    os.chmod("kept", 0o640)
    if not os.path.islink("leads"):
        os.symlink("kept", "leads")
    r = zipmap("model", "--" + kind, "kept", *heavy)
    check(r.returncode == 1 and open("kept").read() == "old\n", "--%s: an error leaves the old file" % kind, r.stderr)
    other = "csv" if kind == "json" else "json"
    r = zipmap("model", "--" + kind, "kept", "--" + other, "/nonexistent/x", *light)
    check(r.returncode == 1 and r.stdout == "" and open("kept").read() == "old\n" and
          r.stderr == "zipmap model: /nonexistent/x: No such file or directory\n", "... and so does another file that cannot be",
          r.stderr)
    r = zipmap("model", "--" + kind, "leads", *light)
    check(r.returncode == 0 and os.path.islink("leads") and os.stat("kept").st_mode & 0o777 == 0o640 and
          open("kept").read() != "old\n", "... a result takes its place, behind a link and with its permissions", r.stderr)
check(not [name for name in os.listdir(".") if name.endswith(".part")], "nothing else is left", os.listdir("."))
r = zipmap("model", "-q", "--csv", "/dev/stdout", *light)
check(r.returncode == 0 and "\nnetwork," in "\n" + r.stdout, "--csv /dev/stdout, a pipe", r.stderr)
with open("both.out", "w") as f:
    r = subprocess.run([ZIPMAP, "model", "-r", "SD", "--json", "/dev/stdout"] + light, stdout=f, stderr=subprocess.PIPE, text=True)
text = open("both.out").read()
check(r.returncode == 0 and text.startswith("place") and "\n# 4 messages" in text and json.loads(text[text.index("\n[\n"):]),
      "--json /dev/stdout, a file: behind the table", text)
for path, reason in [("/dev/full", "cannot be written: No space left on device"), (".", "Is a directory")]:
    r = zipmap("model", "--csv", path, *light)
    check(r.returncode == 1 and r.stderr == "zipmap model: %s: %s\n" % (path, reason), "--csv " + path, r.stderr)

# a byte order mark, as editors of Windows write it, is skipped
for path, text, args in [
        ("marked.net", "crossbar node:2\n", ["model", "-n", "marked.net", "-j", "2d:1x2"]),
        ("marked.jobs", "2d:1x2\n", ["model", "-n", "crossbar node:2", "-w", "marked.jobs"]),
        ("marked.place", "0 0\n1 1\n", ["model", "-m", "marked.place"] + light),
        ("marked.wires", open("wires").read(), ["model", "-n", NETWORK + " wiring-file:marked.wires", "-j", "spread"]),
        ("marked.metis", "2 1\n2\n1\n", ["convert", "marked.metis", "marked.graph"]),
        ("marked.mtx", open("pair").read(), ["convert", "marked.mtx", "marked.graph"])]:
    with open(path, "w", encoding="utf-8-sig", newline="\r\n") as f:
        f.write(text)
    r = zipmap(*args)
    check(r.returncode == 0 and r.stderr == "", "a byte order mark and CR LF: " + path, r.stderr)
for name, text in [("METIS", b"2 1\0 9\n2\n1\n"), ("Matrix Market", b"%%MatrixMarket matrix coordinate integer general\0 x\n2 2 0\n")]:
    with open("zero", "wb") as f:
        f.write(text)
    r = zipmap("convert", "zero", "zero.graph")
    check(r.returncode == 1 and r.stderr == "zipmap convert: zero:1: a zero byte: this is no text\n",
          "%s: a zero byte in the first line" % name, r.stderr)

for network in ["slimfly q:2", "slimfly q:6", "slimfly q:79", "slimfly:5", "slimfly q:5 node:0", "megafly group:0", "megafly group:60000 spine:4096", "megafly leaf:4 router:4", "hyperx:0x3", "hyperx:2x2x2x2x2x2", "hyperx:40000x40000", "hyperx:4x4 node:0", "torus:0x3", "torus:100x100", "torus:4x4 foo:1", "torus:70000x70000", "torus:4x4 node:0",
                "dragonfly group:1 chassis:1 router:2 row:1024 bandwidth:18014398509481984"]:
    r = zipmap("model", "-n", network, "-j", "spread")
    check(r.returncode == 1 and r.stderr.startswith("zipmap model: network: ") and r.stderr.count("\n") == 1,
          "refused in one line: " + network, (r.returncode, r.stderr))
# errors of the whole description have the file's name in front
for text, reason in [("part:a crossbar node:4", "one part has nothing to be joined with"),
                     ("part:a crossbar node:4\npart:b crossbar node:4\npart:c crossbar node:4\nzipper:z a:0 b:0",
                      "the zippers do not join all parts"),
                     ("part:a crossbar node:4 core:2\npart:b crossbar node:4 core:3\nzipper:z a:0 b:0",
                      "parts a and b have different cores a node"),
                     ("# empty", "nothing is described")]:
    with open("whole", "w") as f:
        f.write(text + "\n")
    r = zipmap("model", "-n", "whole", "-j", "spread")
    check(r.returncode == 1 and r.stderr == "zipmap model: whole: %s\n" % reason, "in a file: " + reason,
          (r.returncode, r.stderr))
r = model("-j", "umesh", "--plot", "/nonexistent/x")
check(r.returncode == 1 and r.stderr.count("\n") == 1 and r.stdout == "", "a plot that cannot be written: before the work",
      (r.stdout, r.stderr))
r = zipmap("model", "--help")
check(r.returncode == 0 and "RDC" in r.stdout and "dragonfly" in r.stdout and "umesh" in r.stdout, "help", r.stdout)
print("1..%d" % count)
sys.exit(failed > 0)
