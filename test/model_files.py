#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Networks that other programs describe: Slurm's topology.conf and topology.yaml, and what ibnetdiscover writes. Links and
bandwidths worked out by hand; hosts found by their names; random files against a search of their own; every refusal with
its line. TAP."""
import csv
import ctypes
import os
import random
import re

from map_fixture import check, finish, graph, read, write, zipmap

YAML = "without libyaml" not in zipmap("model", "-n", "slurm file:" + write("probe", "- topology: a\n"), "-j", "2d").stderr


def model(network, job, *args):
    """The bytes of each link and the bandwidth of each that has some, or the error."""
    r = zipmap("model", "-q", "-n", network, "-j", job, "--links", "links", *args)
    if r.returncode:
        return r.stderr, {}
    rows = list(csv.DictReader(open("links")))
    return {x["link"]: float(x["bytes"]) for x in rows}, \
        {x["link"]: round(float(x["bytes"]) / float(x["seconds"])) for x in rows if float(x["bytes"])}


def pairs(messages, ranks):
    """A job: messages (from, to, bytes)."""
    text = "%%%%MatrixMarket matrix coordinate integer general\n%d %d %d\n" % (ranks, ranks, len(messages))
    write("job", text + "".join("%d %d %d\n" % (a + 1, b + 1, n) for a, b, n in messages))
    return "graph:job"


def near(found, wanted):
    return isinstance(found, dict) and found.keys() == wanted.keys() and \
        all(abs(found[k] - wanted[k]) <= 1e-4 * wanted[k] + 0.01 for k in wanted)


def refused(network, texts, what):
    """Each text is refused with one line, which begins so."""
    for text, reason in texts:
        write("bad", text)
        r = zipmap("model", "-n", network, "-j", "2d:1x2")
        check(r.returncode == 1 and r.stderr.startswith("zipmap model: bad" + reason) and r.stderr.count("\n") == 1,
              "%s, refused: %s" % (what, reason), r.stderr)


# --- topology.conf: two leaves with 2 and 3 nodes below one spine, over all forms that Slurm reads
write("topology.conf", "##### a site\n"
      "SwitchName=leaf0 Nodes=node[01-02] LinkSpeed=100 # two of them\n\n"
      "  switchname = leaf1\tNODES=\"node[03-04] node7\"\n"
      "SwitchName=spine \\\n   Switches=leaf[0-1] LinkSpeed=400\n")
write("place", "0 node01\n1 node7\n2 node03 # by name\n3 1\n")  # the last one by number: node02
job = pairs([(0, 1, 1000), (2, 3, 500), (3, 0, 70), (1, 2, 9)], 4)
loads, speeds = model("slurm file:topology.conf bandwidth:1000000", job, "-m", "place")
check(near(loads, {"leaf0>spine": 1000, "spine>leaf1": 1000, "leaf1>spine": 500, "spine>leaf0": 500}),
      "topology.conf: nodes by their names, links of a leaf and a spine", loads)
check(near(speeds, {"leaf0>spine": 2e6, "spine>leaf1": 3e6, "leaf1>spine": 3e6, "spine>leaf0": 2e6}),
      "... a link has the bandwidth of the nodes below", speeds)
loads, speeds = model("slurm file:topology.conf bandwidth:1000000 taper:2.5", job, "-m", "place")
check(near(speeds, {"leaf0>spine": 8e5, "spine>leaf1": 12e5, "leaf1>spine": 12e5, "spine>leaf0": 8e5}), "... less the taper",
      speeds)
loads, speeds = model("slurm file:topology.conf bandwidth:1000000 linkspeed:1000", job, "-m", "place")
check(set(speeds.values()) == {400000}, "... or what LinkSpeed says of the links below a switch", speeds)
loads, speeds = model("slurm file:topology.conf", "2d:1x5 bytes:10 periodic:no", "-p", "LIN")
check(near(loads, {x: 10 for x in ("leaf0>spine", "spine>leaf1", "leaf1>spine", "spine>leaf0")}),
      "... nodes are numbered in the order of the file", loads)

# three levels, of which the upper two are doubled, as topology.conf(5) allows: 2 + 2 + 4 nodes
write("topology.conf", "SwitchName=top0 Switches=mid[0-1]\nSwitchName=top1 Switches=mid[0-1]\nSwitchName=mid0 Switches=a,b\n"
      "SwitchName=mid1 Switches=a,b,c\nSwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\nSwitchName=c Nodes=n[5-8]\n")
write("place", "0 n1\n1 n3\n2 n8\n")
loads, speeds = model("slurm file:topology.conf bandwidth:1000", pairs([(0, 1, 1200), (1, 2, 600), (2, 0, 30)], 3), "-m", "place")
check(near({k: v for k, v in loads.items() if v},
           {"a>mid0": 600, "mid0>b": 600, "a>mid1": 600, "mid1>b": 600, "b>mid1": 600, "mid1>c": 600, "c>mid1": 30, "mid1>a": 30}),
      "several switches above one: all shortest paths", loads)
check(near(speeds, {"a>mid0": 1000, "mid0>b": 1000, "a>mid1": 1000, "mid1>b": 1000, "b>mid1": 1000, "mid1>c": 4000,
                    "c>mid1": 4000, "mid1>a": 1000}), "... which share the bandwidth of the nodes below", speeds)
# what goes up from mid0 is 2000 + 2000, halved at a and b, and halved again over the two tops; from mid1 it is 6000
write("place", "0 n1\n1 n8\n")
write("topology2.conf", open("topology.conf").read().replace("Switches=a,b,c", "Switches=c"))
loads, speeds = model("slurm file:topology2.conf bandwidth:1000", pairs([(0, 1, 100)], 2), "-m", "place")
check(near(speeds, {"a>mid0": 2000, "mid0>top0": 2000, "mid0>top1": 2000, "top0>mid1": 2000, "top1>mid1": 2000, "mid1>c": 4000}),
      "... at each level", speeds)
loads, _ = model("slurm file:topology.conf root:mid0", "2d:1x4 bytes:10 periodic:no", "-p", "LIN")
check(near(loads, {"a>mid0": 10, "mid0>a": 10, "b>mid0": 10, "mid0>b": 10}), "root: a switch and those below alone", loads)
write("one.conf", "SwitchName=only Nodes=n[1-3]\n")
loads, _ = model("slurm file:one.conf", "2d:1x3", "-p", "LIN")
check(loads == {}, "one switch is a network without links", loads)
for routing in ("SD", "AD", "SI", "AI", "AH", "AL", "SIP", "DET", "ECMP"):
    r = zipmap("model", "-n", "slurm file:topology.conf", "-j", "spread min:1 max:3 bytes:1000", "-r", routing)
    check(r.returncode == 0, "routing %s in a topology of Slurm's" % routing, r.stderr)

# blocks: 5 blocks of 2 nodes or more, in pairs, and all of them
BLOCKS = "".join("BlockName=b%d Nodes=n[%d-%d]\n" % (i, 2 * i, 2 * i + 1 + (i == 4)) for i in range(5))
write("topology.conf", BLOCKS + "BlockSizes=2,4\n")
write("place", "0 n0\n1 n2\n2 n10\n")
loads, speeds = model("slurm file:topology.conf bandwidth:1000", pairs([(0, 1, 100), (1, 2, 60)], 3), "-m", "place")
check(near({k: v for k, v in loads.items() if v},
           {"b0>blocks0-1": 100, "blocks0-1>b1": 100, "b1>blocks0-1": 60, "blocks0-1>blocks0-4": 60, "blocks0-4>b4": 60}), "blocks: a router above each size, and one above all", loads)
check(near(speeds, {"b0>blocks0-1": 2000, "blocks0-1>b1": 2000, "b1>blocks0-1": 2000, "blocks0-1>blocks0-4": 4000,
                    "blocks0-4>b4": 3000}), "... with the bandwidth of the nodes below", speeds)
for sizes, routers in [("", 5 + 1), ("BlockSizes=2\n", 5 + 1), ("BlockSizes=1,2,4\n", 5 + 2 + 1 + 1), ("BlockSizes=2,16\n", 5 + 1),
                       ("BlockSizes=2,4,1048576\n", 5 + 2 + 1), ("BlockSizes=1,8\n", 5 + 1)]:
    write("topology.conf", sizes + BLOCKS)
    loads, _ = model("slurm file:topology.conf", "2d:1x2", "-p", "LIN")
    check(len({end for link in loads for end in link.split(">")}) == routers, "blocks: %r" % sizes, loads)

# --- topology.yaml
TREE = "- topology: t%s\n  cluster_default: %s\n  tree:\n    switches:\n    - switch: spine\n      children: leaf[0-1]\n" \
    "    - switch: leaf0\n      nodes: node[01-02]\n    - {switch: leaf1, nodes: \"node[03-04],node7\"}\n"
FLAT = "- topology: flat\n  flat: true\n"
BLOCK = "- topology: b\n  block:\n    block_sizes: [2, 4]\n    blocks:\n" + \
    "".join("      - block: b%d\n        nodes: n[%d-%d]\n" % (i, 2 * i, 2 * i + 1 + (i == 4)) for i in range(5))
if YAML:
    write("topology.conf", "SwitchName=leaf0 Nodes=node[01-02]\nSwitchName=leaf1 Nodes=node[03-04],node7\n"
          "SwitchName=spine Switches=leaf[0-1]\n")
    wanted = model("slurm file:topology.conf", "2d:1x5 bytes:10", "-p", "LIN")
    for name, text, words in [("the default one", FLAT + BLOCK + TREE % ("", "True"), ""), ("the only one", TREE % ("", "no"), ""),
                              ("by its name", "---\n# a comment\n" + TREE % ("x", "false") + FLAT + BLOCK, " topology:tx"),
                              ("before others that are the default, too", TREE % ("", "true") + BLOCK.replace(
                                  "  block:", "  cluster_default: true\n  block:", 1), "")]:
        write("topology.yaml", text)
        found = model("slurm file:topology.yaml" + words, "2d:1x5 bytes:10", "-p", "LIN")
        check(near(found[0], wanted[0]) and found[1] == wanted[1], "topology.yaml, a tree: " + name, found)
    write("topology.conf", BLOCKS + "BlockSizes=2,4\n")
    wanted = model("slurm file:topology.conf", "2d:1x11 bytes:10", "-p", "LIN")
    write("topology.yaml", FLAT + BLOCK)
    found = model("slurm file:topology.yaml topology:b", "2d:1x11 bytes:10", "-p", "LIN")
    check(near(found[0], wanted[0]) and found[1] == wanted[1], "topology.yaml, blocks", found)
    refused("slurm file:bad", [
        ("- topology: [\n", ":2: "), ("---\n", ":2: topology.yaml is a list"), ("[]\n", ": no topology in it"),
        ("{}\n", ":1: topology.yaml is a list, with items that begin with"),
        ("- a\n", ":1: a topology is a mapping"), ("- tree:\n", ":1: a topology without a name"),
        ("- topology:\n", ":1: a topology without a name"), ("- topology: x\n", ":1: topology x is none of tree, block, flat"),
        (FLAT, ":2: topology flat is flat and names no nodes"),
        ("- topology: x\n  ring:\n    a: b\n", ':2: topology x is "ring", none of tree, block, flat'),
        ("- topology: x\n  topology: y\n  flat: true\n", ':2: a topology: a second "topology"'),
        ("- topology: x\n  flat: true\n  tree: {}\n", ":3: topology x is flat already"),
        ("- topology: x\n  cluster_default: maybe\n  flat: true\n", ":2: cluster_default is true or false"),
        (FLAT + BLOCK, ": which of 2 topologies? None is the default (topology:NAME)"),
        ("- topology: x\n  tree: {}\n", ":2: topology x has no switches"),
        ("- topology: x\n  tree:\n    switch: a\n", ':3: "switch" is not switches'),
        ("- topology: x\n  tree:\n    switches: a\n", ":3: switches is a list"),
        ("- topology: x\n  tree:\n    switches:\n    - nodes: a\n", ":4: a switch without a name"),
        ("- topology: x\n  tree:\n    switches:\n    - switch: s\n      node: a\n", ':5: "node" is none of switch, children, nodes'),
        ("- topology: x\n  tree:\n    switches:\n    - switch: s\n      nodes: [a, b]\n", ":5: nothing behind nodes:"),
        ("- topology: x\n  tree:\n    switches:\n    - switch: s\n", ":4: switch s has neither nodes nor switches below"),
        ("- topology: x\n  tree:\n    switches:\n    - switch: s\n      children: t\n", ":4: there is no switch t, which is to be below s"),
        ("- topology: x\n  block:\n    block_sizes: [2, 5]\n", ":3: block size 5 is not 2 times 2, 4, 8 and so on"),
        ("- topology: x\n  block:\n    block_sizes: [two]\n", ':3: block_sizes: "two" is no number'),
        ("- topology: x\n  block:\n    blocks:\n    - block: b\n      children: a\n", ':5: "children" is none of block, nodes'),
        ("- topology: x\n  block:\n    blocks:\n    - block: b\n", ":4: block b has no nodes")], "topology.yaml")
    refused("slurm file:bad topology:z", [(TREE % ("", "true"), ": there is no topology z")], "topology.yaml")
else:
    print("ok # skip topology.yaml: zipmap was built without libyaml")

S = "SwitchName=s Nodes=n[1-2]\n"
refused("slurm file:bad", [
    ("", ": no switch and no block in it"), ("# nothing\n", ": no switch and no block in it"),
    ("SwitchName\n", ':1: "SwitchName" is not KEY=VALUE'), ("=s\n", ':1: "" is not KEY=VALUE'),
    ("SwitchName=\n", ":1: nothing behind SwitchName="),
    ("SwitchName=\"s Nodes=a\n", ':1: SwitchName=": the second quotation mark is missing'),
    (S + "RingName=r Nodes=a\n", ":2: RingName is none of SwitchName, Switches, Nodes, LinkSpeed, BlockName, BlockSizes"),
    ("SwitchName=s SwitchName=t Nodes=a\n", ":1: a second SwitchName"),
    ("SwitchName=s BlockName=t Nodes=a\n", ":1: SwitchName and BlockName in one line"),
    ("Nodes=a\n", ":1: a line without SwitchName and BlockName"), ("SwitchName=s\n", ":1: switch s has neither nodes nor switches"),
    ("BlockName=b\n", ":1: block b has no nodes"), ("BlockName=b Switches=s\n", ":1: Switches is for switches, not for blocks"),
    ("SwitchName=s LinkSpeed=fast Nodes=a\n", ':1: LinkSpeed: "fast" is no number'),
    ("SwitchName=s LinkSpeed=-1 Nodes=a\n", ':1: LinkSpeed: "-1" is no number'),
    (S + "BlockName=b Nodes=m\n", ":2: blocks and switches in one topology"), (S + "BlockSizes=4\n", ":2: block sizes without a block"),
    ("BlockSizes=0\n", ":1: block sizes are at most 32 numbers above 0"), ("BlockSizes=x\n", ':1: BlockSizes: "x" is no number'),
    ("BlockSizes=\",\"\n", ":1: BlockSizes: no number"),
    ("BlockSizes=4,12\n", ":1: block size 12 is not 4 times 2, 4, 8 and so on"), ("BlockSizes=4\nBlockSizes=4\n", ":2: BlockSizes stands in line 1"),
    ("BlockSizes=4\nBlockName=b Nodes=n[1-3]\n", ":2: block b has 3 nodes, less than the block size 4"),
    (S + S, ":2: a second switch s"), (S + "SwitchName=t Nodes=N1\n", ':2: node N1 is at "s" already'),
    ("SwitchName=s Nodes=n,n\n", ':1: node n is at "s" already'),
    ("SwitchName=s Nodes=n[1-\n", ":1: 'n[1-' is no list of hosts"), ("SwitchName=s Nodes=n[3-1]\n", ":1: 'n[3-1]' is no list of hosts"),
    ("SwitchName=s Nodes=n[0-70000]\n", ":1: 'n[0-70000]' are more than 65536 hosts"),
    ("SwitchName=s Nodes=\"\"\n", ":1: the list of nodes of s is empty"), ("SwitchName=s Switches=\",\"\n", ":1: the list of switches below s"),
    ("SwitchName=%s Nodes=a\n" % ("x" * 65), ':1: "xxxxx'), ("SwitchName=s[1-2] Nodes=a\n", ':1: "s[1-2]" is no name of a switch'),
    (S + "SwitchName=t Switches=s,u\n", ":2: there is no switch u, which is to be below t"),
    (S + "SwitchName=t Switches=s,s\n", ":2: switch s is below t twice"), ("SwitchName=s Switches=s\n", ":1: switch s is below itself"),
    (S + "SwitchName=t Nodes=m\n", ': no path from "t" to "s"'), (S + "SwitchName=t \\\nNodes=n1", ':2: node n1 is at "s" already'),
    ("SwitchName=s\0 Nodes=a\n", ":1: zero byte in the line")], "topology.conf")
write("bad", S + "SwitchName=a Switches=b,s\nSwitchName=b Switches=c\nSwitchName=c Switches=a\nSwitchName=d Switches=c\n")
r = zipmap("model", "-n", "slurm file:bad", "-j", "2d:1x2")
check(re.fullmatch(r"zipmap model: bad:(2: switch a|3: switch b|4: switch c) is below itself\n", r.stderr), "a circle of switches", r.stderr)
for words, reason in [("", 'network: not "slurm file:PATH"'), (" file:/nonexistent", "/nonexistent: No such file or directory"),
                      (" file:one.conf topology:x", "one.conf: only topology.yaml has several topologies"),
                      (" file:one.conf root:x", "one.conf: there is no switch x"),
                      (" file:one.conf taper:0", 'network: taper: "0" is not a number from 0.01 to 10000'),
                      (" file:one.conf linkspeed:x", 'network: linkspeed: "x" is not a number'),
                      (" file:one.conf rail:1", 'network: "rail" is unknown here')]:
    r = zipmap("model", "-n", "slurm" + words, "-j", "2d:1x2")
    check(r.returncode == 1 and r.stderr.startswith("zipmap model: " + reason), "refused: slurm" + words, r.stderr)

# --- lists of hosts, as Slurm expands them. Slurm's own library, where it is here, expands random lists beside ours.
LISTS = {"node[01-03,20]": "node01 node02 node03 node20", "n[8-11]": "n8 n9 n10 n11", "n[08-11]": "n08 n09 n10 n11",
         "a[1-2]b[1-2]": "a1b1 a1b2 a2b1 a2b2", "x,n[9-010]": "x n9 n10", "n[01-2,003]": "n01 n02 n003",
         "n[00000000000009-10]": "n00000000000009 n00000000000010"}


def expands(text, names):
    """Do these names stand in our list, and no others?"""
    write("list.conf", "SwitchName=s Nodes=%s\nSwitchName=t Nodes=other\nSwitchName=u Switches=s,t\n" % text)
    write("place", "".join("%d %s\n" % x for x in enumerate(names + ["other"])))
    job = "2d:1x%d" % (len(names) + 1)
    r = zipmap("model", "-q", "-n", "slurm file:list.conf", "-j", job, "-m", "place")
    s = zipmap("model", "-q", "-n", "slurm file:list.conf", "-j", "2d ranks:%d" % (len(names) + 2))
    return r.returncode == 0 and "do not fit" in s.stderr or "is not a number from 1 to %d\n" % (len(names) + 1) in s.stderr and \
        r.returncode == 0 or (r, s)


for text, names in LISTS.items():
    check(expands(text, names.split()) is True, "a list of hosts: " + text, expands(text, names.split()))
try:
    slurm = ctypes.CDLL(next(x for x in ("libslurm.so.%d" % i for i in range(60, 30, -1))
                             if any(os.path.exists(os.path.join(d, x)) for d in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"))))
    slurm.slurm_hostlist_create.restype = slurm.slurm_hostlist_shift.restype = ctypes.c_void_p
    slurm.slurm_hostlist_create.argtypes, slurm.slurm_hostlist_shift.argtypes = [ctypes.c_char_p], [ctypes.c_void_p]
except (StopIteration, OSError, AttributeError):
    slurm = None


def by_slurm(text):
    hosts = slurm.slurm_hostlist_create(text.encode())
    names = []
    while hosts:
        name = slurm.slurm_hostlist_shift(hosts)
        if not name:
            break
        names.append(ctypes.string_at(name).decode())
    return names


def random_list(draw, name):
    def ranges():
        found = []
        for _ in range(draw.randint(1, 3)):
            first = draw.randint(0, 120)
            width = draw.choice([1, 1, 2, 3])
            found.append(draw.choice(["%0*d" % (width, first), "%0*d-%d" % (width, first, first + draw.randint(0, 12))]))
        return ",".join(found)
    text = name + "[" + ranges() + "]"
    return text + draw.choice(["", "", "x[%s]" % ranges()])


if slurm:
    draw, wrong = random.Random(40), []
    for i in range(60):
        text = ",".join(random_list(draw, name) for name in draw.sample(["n", "rack", "io-"], draw.randint(1, 3)))
        names = by_slurm(text)
        if len(names) == len(set(names)) and expands(text, names) is not True:
            wrong.append((text, names, expands(text, names)))
    check(not wrong, "random lists of hosts are what Slurm's library makes of them", wrong[:1])
else:
    print("ok # skip lists of hosts by Slurm's library: there is none")

# --- ibnetdiscover: three switches, two of which tell their names; hosts with one adapter or two, at one or two of them
FABRIC = """#
# Topology file: generated on Mon Nov 30 09:00:00 2026
#
# Initiated from node 00000000000000a1 port 00000000000000a2

vendid=0x2c9
devid=0xd2f0
sysimgguid=0x51
switchguid=0x51(51)
Switch	41 "S-0000000000000051"		# "MF0;leaf0:MQM8700/U1" enhanced port 0 lid 1 lmc 0
[1]	"H-00000000000000a1"[1](a2) 		# "n1 mlx5_0" lid 11 4xHDR
[2]	"H-00000000000000a5"[1](a6) 		# "n2 HCA-1" lid 12 4xEDR
[3]	"H-00000000000000b1"[1](b2) 		# "n3 mlx5_0" lid 13 4xHDR
[31]	"S-0000000000000053"[1]		# "Quantum Mellanox Technologies" lid 3 4xHDR
[32]	"S-0000000000000053"[2]		# "Quantum Mellanox Technologies" lid 3 4xHDR
[41]	"H-0000000000000059"[1](59) 		# "Mellanox Technologies Aggregation Node" lid 19 4xHDR

vendid=0x2c9
devid=0xd2f0
sysimgguid=0x52
switchguid=0x52(52)
Switch	40 "S-0000000000000052"		# "leaf1" enhanced port 0 lid 2 lmc 0
[1]	"H-00000000000000b9"[1](ba) 		# "n4 mlx5_0" lid 14 4xHDR
[2]	"H-00000000000000c1"[1](c2) 		# "MT4123 ConnectX6 Mellanox Technologies" lid 15 4xHDR
[3]	"H-00000000000000b5"[1](b6) 		# "n3 mlx5_1" lid 16 4xHDR
[31]	"S-0000000000000053"[3]		# "Quantum Mellanox Technologies" lid 3 2xHDR s=1 w=16 v=4

vendid=0x2c9
devid=0xd2f0
sysimgguid=0x53
switchguid=0x53(53)
Switch	40 "S-0000000000000053"		# "Quantum Mellanox Technologies" base port 0 lid 3 lmc 0
[1]	"S-0000000000000051"[31]		# "MF0;leaf0:MQM8700/U1" lid 1 4xHDR
[2]	"S-0000000000000051"[32]		# "MF0;leaf0:MQM8700/U1" lid 1 4xHDR
[3]	"S-0000000000000052"[31]		# "leaf1" lid 2 2xHDR s=1 w=16 v=4
"""
ADAPTERS = [(0xa1, "n1 mlx5_0", 0x51, 1, 11, "4xHDR"), (0xa5, "n2 HCA-1", 0x51, 2, 12, "4xEDR"), (0xb1, "n3 mlx5_0", 0x51, 3, 13, "4xHDR"),
            (0x59, "Mellanox Technologies Aggregation Node", 0x51, 41, 19, "4xHDR"), (0xb9, "n4 mlx5_0", 0x52, 1, 14, "4xHDR"),
            (0xc1, "MT4123 ConnectX6 Mellanox Technologies", 0x52, 2, 15, "4xHDR"), (0xb5, "n3 mlx5_1", 0x52, 3, 16, "4xHDR")]
for guid, name, switch, port, lid, speed in ADAPTERS:
    FABRIC += '\nvendid=0x2c9\ndevid=0x101b\nsysimgguid=0x%x\ncaguid=0x%x\nCa\t2 "H-%016x"\t\t# "%s"\n' % (guid, guid, guid, name)
    FABRIC += '[1](%x) \t"S-%016x"[%d]\t\t# lid %d lmc 0 "%s" lid %d %s\n' % (
        guid + (name[0] != "M" or "ConnectX" in name), switch, port, lid, "x", switch - 0x50, speed)
PORTS = """SW     1 41 0x0000000000000051 4x HDR - CA    19  1 0x0000000000000059 ( 'MF0;leaf0:MQM8700/U1' - 'Mellanox Technologies Aggregation Node' )
SW     1 32 0x0000000000000051 4x HDR - SW     3  2 0x0000000000000053 ( 'MF0;leaf0:MQM8700/U1' - 'Quantum Mellanox Technologies' )
SW     1 31 0x0000000000000051 4x HDR - SW     3  1 0x0000000000000053 ( 'MF0;leaf0:MQM8700/U1' - 'Quantum Mellanox Technologies' )
SW     1  4 0x0000000000000051 4x SDR                                    'MF0;leaf0:MQM8700/U1'
SW     1  3 0x0000000000000051 4x HDR - CA    13  1 0x00000000000000b2 ( 'MF0;leaf0:MQM8700/U1' - 'n3 mlx5_0' )
SW     1  2 0x0000000000000051 4x EDR - CA    12  1 0x00000000000000a6 ( 'MF0;leaf0:MQM8700/U1' - 'n2 HCA-1' )
SW     1  1 0x0000000000000051 4x HDR - CA    11  1 0x00000000000000a2 ( 'MF0;leaf0:MQM8700/U1' - 'n1 mlx5_0' )
SW     2 31 0x0000000000000052 2x HDR - SW     3  3 0x0000000000000053 ( 'leaf1' - 'Quantum Mellanox Technologies' )
SW     2  3 0x0000000000000052 4x HDR - CA    16  1 0x00000000000000b6 ( 'leaf1' - 'n3 mlx5_1' )
SW     2  2 0x0000000000000052 4x HDR - CA    15  1 0x00000000000000c2 ( 'leaf1' - 'MT4123 ConnectX6 Mellanox Technologies' )
SW     2  1 0x0000000000000052 4x HDR - CA    14  1 0x00000000000000ba ( 'leaf1' - 'n4 mlx5_0' )
SW     3  3 0x0000000000000053 2x HDR - SW     2 31 0x0000000000000052 ( 'Quantum Mellanox Technologies' - 'leaf1' )
SW     3  2 0x0000000000000053 4x HDR - SW     1 32 0x0000000000000051 ( 'Quantum Mellanox Technologies' - 'MF0;leaf0:MQM8700/U1' )
SW     3  1 0x0000000000000053 4x HDR - SW     1 31 0x0000000000000051 ( 'Quantum Mellanox Technologies' - 'MF0;leaf0:MQM8700/U1' )
CA    19  1 0x0000000000000059 4x HDR - SW     1 41 0x0000000000000051 ( 'Mellanox Technologies Aggregation Node' - 'MF0;leaf0:MQM8700/U1' )
CA    13  1 0x00000000000000b2 4x HDR - SW     1  3 0x0000000000000051 ( 'n3 mlx5_0' - 'MF0;leaf0:MQM8700/U1' )
CA    12  2 0x00000000000000a7 4x SDR                                    'n2 HCA-1'
CA    12  1 0x00000000000000a6 4x EDR - SW     1  2 0x0000000000000051 ( 'n2 HCA-1' - 'MF0;leaf0:MQM8700/U1' )
CA    11  1 0x00000000000000a2 4x HDR - SW     1  1 0x0000000000000051 ( 'n1 mlx5_0' - 'MF0;leaf0:MQM8700/U1' )
CA    16  1 0x00000000000000b6 4x HDR - SW     2  3 0x0000000000000052 ( 'n3 mlx5_1' - 'leaf1' )
CA    15  1 0x00000000000000c2 4x HDR - SW     2  2 0x0000000000000052 ( 'MT4123 ConnectX6 Mellanox Technologies' - 'leaf1' )
CA    14  1 0x00000000000000ba 4x HDR - SW     2  1 0x0000000000000052 ( 'n4 mlx5_0' - 'leaf1' )
"""
SPINE = "S-0000000000000053"
GROUPED = "\nChassis 1 (guid 0x51)\n\n# Spine Nodes" + FABRIC.replace("[31]\t", "[31][ext 5]\t").replace("[31]\t\t", "[31][ext 5]\t\t") \
    .replace('[1]\t"S-0000000000000051"', '\nNon-Chassis Nodes\n[1]\t"S-0000000000000051"')
for form, text, unnamed in [("blocks", FABRIC, "H-00000000000000c1"), ("blocks, grouped", GROUPED, "H-00000000000000c1"),
                            ("ports", PORTS, "H-00000000000000c2"), ("blocks of DOS", FABRIC.replace("\n", "\r\n"), "H-00000000000000c1")]:
    write("fabric", text)
    for rail, n3 in [("", "leaf0"), (" rail:1", "leaf0"), (" rail:2", "leaf1"), (" rail:7", "leaf1")]:
        write("place", "0 n1\n1 n4\n2 n3\n3 %s\n" % unnamed)
        loads, speeds = model("ibnet file:fabric" + rail, pairs([(0, 1, 1000), (2, 3, 100), (1, 2, 10)], 4), "-m", "place")
        up, down = 1000 + (n3 == "leaf0") * 100, (n3 == "leaf0") * 10
        want = {"leaf0>%s:0" % SPINE: up / 2, "leaf0>%s:1" % SPINE: up / 2, SPINE + ">leaf1": up, "leaf1>" + SPINE: down,
                SPINE + ">leaf0:0": down / 2, SPINE + ">leaf0:1": down / 2}
        check(near(loads, want), "ibnetdiscover, %s%s: links of three switches" % (form, rail), loads)
    check(near(speeds, {x: 25e9 if "leaf0" in x else 12.5e9 for x in want if want[x]}), "... 4xHDR and 2xHDR", speeds)
    loads, _ = model("ibnet file:fabric", "2d:1x5 bytes:10 periodic:no", "-p", "LIN")
    check(near(loads, {"leaf0>%s:0" % SPINE: 5, "leaf0>%s:1" % SPINE: 5, SPINE + ">leaf1": 10, "leaf1>" + SPINE: 10,
                       SPINE + ">leaf0:0": 5, SPINE + ">leaf0:1": 5}), "... three hosts at the first leaf, then two at the other", loads)

# speeds: bytes a second of a lane, by the data that InfiniBand's codes leave
for speed, lane in [("SDR", 2e9 / 8), ("DDR", 4e9 / 8), ("QDR", 8e9 / 8), ("FDR10", 10e9 / 8), ("FDR", 14.0625e9 * 64 / 66 / 8),
                    ("EDR", 25e9 / 8), ("HDR", 50e9 / 8), ("NDR", 100e9 / 8), ("XDR", 200e9 / 8), ("???", None)]:
    for width in (1, 2, 4, 8, 12):
        write("fabric", FABRIC.replace("2xHDR", "%dx%s" % (width, speed)))
        write("place", "0 n1\n1 n4\n")
        _, speeds = model("ibnet file:fabric bandwidth:123456789", pairs([(0, 1, 1000000)], 2), "-m", "place")
        wanted = width * lane if lane else 123456789
        if not abs(speeds.get(SPINE + ">leaf1", 0) - wanted) < 1e-4 * wanted:
            break
    else:
        width = 0
    check(not width, "the bandwidth of a cable: " + speed, (width, speeds))

# random fabrics, written in both forms: the same network, with the hops of a search of their own
def random_fabric(draw):
    switches = draw.randint(2, 7)
    cables, free = [], {s: 1 for s in range(switches)}
    hosts = ["h%d" % i for i in range(draw.randint(2, 12))]

    def port(s):
        free[s] += 1
        return free[s] - 1
    for s in range(1, switches):
        cables.append((s, port(s), draw.randrange(s), None))
        cables[-1] = cables[-1][:3] + (port(cables[-1][2]),)
    for _ in range(draw.randint(0, 6)):
        a, b = draw.sample(range(switches), 2)
        cables.append((a, port(a), b, port(b)))
    at = {h: [draw.randrange(switches) for _ in range(draw.choice([1, 1, 2]))] for h in hosts}
    return switches, cables, {h: [(s, port(s)) for s in places] for h, places in at.items()}


def written(draw, fabric):
    """Both forms of a fabric; devices in any order."""
    switches, cables, hosts = fabric
    lines = {("S", s): [] for s in range(switches)}
    for a, p, b, q in cables:
        lines["S", a].append((p, ("S", b), q))
        lines["S", b].append((q, ("S", a), p))
    for h, places in hosts.items():
        for i, (s, p) in enumerate(places):
            lines["H", h, i] = [(1, ("S", s), p)]
            lines["S", s].append((p, ("H", h, i), 1))
    order = list(lines)
    draw.shuffle(order)
    number = {d: 0x100 + 16 * i for i, d in enumerate(lines)}

    def name(d):
        return "sw%d" % d[1] if d[0] == "S" else "%s mlx5_%d" % d[1:]
    blocks = ports = ""
    for d in order:
        blocks += '\n%s\t64 "%s-%016x"\t\t# "%s"\n' % ("Switch" if d[0] == "S" else "Ca", d[0], number[d], name(d))
        for p, other, q in sorted(lines[d]):
            blocks += '[%d]%s\t"%s-%016x"[%d]\t\t# "%s" lid 1 4xEDR\n' % (p, "" if d[0] == "S" else "(1) ", other[0], number[other], q, name(other))
            ports += "%s %5d %2d 0x%016x 4x EDR - %s %5d %2d 0x%016x ( '%s' - '%s' )\n" % (
                "SW" if d[0] == "S" else "CA", 1, p, number[d], "SW" if other[0] == "S" else "CA", 1, q, number[other], name(d), name(other))
    return blocks, ports


def distances(switches, cables, start):
    far, edge = {start: 0}, [start]
    for s in edge:
        for a, _, b, _ in cables:
            for x, y in ((a, b), (b, a)):
                if x == s and y not in far:
                    far[y] = far[s] + 1
                    edge.append(y)
    return far


draw, wrong = random.Random(7), []
for i in range(25):
    fabric = random_fabric(draw)
    hosts, rail = sorted(fabric[2]), draw.randint(1, 2)
    write("place", "".join("%d %s\n" % x for x in enumerate(hosts)))
    messages = [(a, b, draw.randint(1, 999)) for a in range(len(hosts)) for b in range(len(hosts)) if a != b and draw.random() < 0.4]
    messages = messages or [(0, 1, 5)]
    at = [fabric[2][h][min(rail, len(fabric[2][h])) - 1][0] for h in hosts]
    hops = sum(n * distances(*fabric[:2], at[a])[at[b]] for a, b, n in messages)
    results = []
    for text in written(draw, fabric):
        write("fabric", text)
        results.append(model("ibnet file:fabric rail:%d" % rail, pairs(messages, len(hosts)), "-m", "place")[0])
    if isinstance(results[0], str) or results[0] != results[1] or abs(sum(results[0].values()) - hops) > 0.01 * len(results[0]):
        wrong.append((i, results, hops, fabric))
check(not wrong, "random fabrics in both forms: one network, with the distances of a search of their own", wrong[:1])

lines = FABRIC.split("\n")
leaf0, n4 = lines.index('[31]\t"S-0000000000000053"[1]\t\t# "Quantum Mellanox Technologies" lid 3 4xHDR') + 1, FABRIC.find('Ca\t2 "H-00000000000000b9"')
SW = 'Switch\t2 "S-0000000000000001"\t\t# "a" base port 0 lid 1 lmc 0\n'
CA = 'Ca\t1 "H-0000000000000011"\t\t# "n1 mlx5_0"\n[1](12) \t"S-0000000000000001"[1]\t\t# lid 3 lmc 0 "a" lid 1 4xEDR\n'
PORT = '[1]\t"H-0000000000000011"[1](12) \t\t# "n1 mlx5_0" lid 3 4xEDR\n'
refused("ibnet file:bad", [
    ("", ": no host at a switch"), ("# Topology file\n", ": no host at a switch"), (SW, ": no host at a switch"),
    ("hello\n", ':1: "hello" is no line of ibnetdiscover'), ('< Switch\t2 "S-1"\n', ':1: "< Switch'),
    (PORT, ":1: a port before the first Switch or Ca"), ("Switch\tmany\n", ":1: no number of ports up to 254"), ("Switch\t255 x\n", ":1: no number of ports"),
    ("Switch\t4 S-1\n", ':1: no "S-GUID" where'), ('Switch\t4 "S-1\n', ':1: no "S-GUID" where'), ('Switch\t4 "X-1"\n', ':1: "X-1" is not S-GUID'),
    ('Switch\t4 "S-12345678901234567"\n', ':1: "S-12345678901234567" is not S-GUID'), ('Switch\t4 "H-1"\n', ":1: H-1 does not begin with the letter"),
    (SW + SW, ":2: S-0000000000000001 stands in line 1 already"), (SW + '[3]\t"S-2"[1]\n', ":2: not a port from [1] to [2]"),
    (SW + '[0]\t"S-2"[1]\n', ":2: not a port from [1] to [2]"), (SW + '[x]\t"S-2"[1]\n', ":2: not a port from [1] to [2]"),
    (SW + "[1]\tS-2[1]\n", ':2: no "S-GUID" where'), (SW + '[1]\t"S-2"\n', ":2: no port in brackets behind the other end"),
    (SW + '[1]\t"S-2"[999]\n', ":2: no port in brackets"),
    (SW + PORT, ":2: port 1 of S-0000000000000001 has a cable to H-0000000000000011, which is not in this file itself"),
    (SW + CA, ":3: port 1 of H-0000000000000011 has a cable to port 1 of S-0000000000000001, which does not list it: this file is not complete"),
    (SW + PORT + PORT + CA, ":3: port 1 of S-0000000000000001 stands in line 2 already"),
    (SW + '[1]\t"S-0000000000000001"[1]\n', ":2: port 1 of S-0000000000000001 has a cable to itself"),
    (SW + PORT + CA + CA.replace("11", "21"), ":6: port 1 of H-0000000000000021 has a cable to port 1 of S-0000000000000001, which does not"),
    (SW + PORT + '[1]\t"H-0000000000000021"[1](12) \t\t# "n2 mlx5_0" lid 3 4xEDR\n' + CA + CA.replace("11", "21").replace("n1", "n2"),
     ":3: port 1 of S-0000000000000001 has another cable in line 2"),
    (SW + PORT + CA + SW.replace("01", "02") + "[2]\t\"S-0000000000000001\"[2]\n", ":6: port 2 of S-0000000000000002 has a cable to port 2 of"),
    ("\n".join(lines[:leaf0]) + "\n", ":11: port 1 of S-0000000000000051 has a cable to H-00000000000000a1, which is not in this file"),
    (FABRIC[:n4], ":23: port 1 of S-0000000000000052 has a cable to H-00000000000000b9, which is not in this file itself")], "ibnetdiscover")
refused("ibnet file:bad", [
    ("SW     1\n", ":1: not a line of ibnetdiscover -p"), ("SW     1 300 0x1 4x HDR 'x'\n", ":1: not a line of ibnetdiscover -p"),
    ("SW     1 3 1 4x HDR 'x'\n", ":1: not a line"), ("SW     1 3 0x1 4x HDR\n", ":1: not a line"), ("SW     1 3 0x1 4x HDR 'x\n", ":1: not a line"),
    ("SW     1 3 0x1 4x HDR - XX 1 1 0x2 ( 'a' - 'b' )\n", ":1: not a line"), ("SW     1 3 0x1 4x HDR - CA 1 1 0x2 ( 'a' 'b' )\n", ":1: not a line"),
    ("SW     1 3 0x1 4x HDR - CA 1 1 0x2 ( 'a' - 'b'\n", ":1: not a line"),
    ("SW     1 3 0x1 4x HDR - CA 1 1 0x2 ( 'a' - 'b' )\n", ":1: port 3 of S-0000000000000001 has a cable to H-0000000000000002, which is not")],
    "ibnetdiscover -p")

# --- placement: the hosts of a hostfile are nodes by their names, whatever their order; joined networks; zippers by name
write("topology.conf", "SwitchName=l0 Nodes=a[1-2],gw\nSwitchName=l1 Nodes=a[3-4]\nSwitchName=top Switches=l[0-1]\n"
      "SwitchName=far Nodes=b[1-2],gw2\n")
write("hosts", "#ZIP cluster a\nA4:1\na1.site.example:1\na3:1\n")
graph(3, [(0, 1, 100), (0, 2, 10)])
r = zipmap("-f", "hosts", "-g", "graph", "-o", "map", "-S", "block", "-F", "slurm file:topology.conf root:top")
found = [x for x in read()[1] if x.startswith("#ZIP predicted links")] if r.returncode == 0 else r.stderr
check(found and found[0].startswith("#ZIP predicted links 2.000000 a byte"), "zipmap map: hosts by their names", found)
r = zipmap("model", "-q", "-n", "slurm file:topology.conf root:top", "-f", "hosts", "-m", "map", "-j", "graph:graph", "--links", "links")
loads = {x["link"]: float(x["bytes"]) for x in csv.DictReader(open("links"))} if r.returncode == 0 else r.stderr
check(near(loads, {x: 100 for x in ("l0>top", "top>l0", "l1>top", "top>l1")}), "... and zipmap model, of that map", loads)
r = zipmap("-f", "hosts", "-g", "graph", "-F", "slurm file:topology.conf root:l1")
check(r.returncode == 1 and r.stderr == "zipmap map: network: no node of the network is called a1.site.example, as a host of cluster a in "
      "hosts\n", "a host that the network does not have", r.stderr)
write("hosts", "#ZIP cluster a\na4:1\na1:1\n#ZIP cluster b\nb2:1\ngw:1\n#ZIP zipper gw a=tcp:10.1.0.1 b=tcp:10.2.0.1\n")
write("joined", "part:a slurm file:topology.conf root:top\npart:b slurm file:topology.conf root:far\nzipper:gw a:gw b:gw2\n")
graph(3, [(0, 2, 100), (1, 2, 1)])
write("map", "0 a4\n1 a1\n2 b2\n")
r = zipmap("model", "-q", "-n", "joined", "-f", "hosts", "-m", "map", "-j", "graph:graph", "--links", "links")
loads = {x["link"]: float(x["bytes"]) for x in csv.DictReader(open("links"))} if r.returncode == 0 else r.stderr
check(isinstance(loads, dict) and loads["a:l1>top"] == 100 and loads["a:top>l0"] == 100 and loads["gw:a>b"] == 101,
      "two fabrics of one topology.conf, joined by a zipper that names its nodes", loads)
for text, reason in [("a:gw b:gw3", 'joined:3: part b has no node "gw3"'), ("a:9 b:gw2", 'joined:3: a: "9" is not a number from 0 to 4')]:
    write("joined", open("joined").read().split("zipper")[0] + "zipper:gw %s\n" % text)
    r = zipmap("model", "-n", "joined", "-j", "2d:1x2")
    check(r.returncode == 1 and r.stderr.startswith("zipmap model: " + reason), "refused: " + text, r.stderr)

finish()
