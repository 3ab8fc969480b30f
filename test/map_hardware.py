#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""zipmap map: cores, sockets and caches of nodes, GPUs and HCAs in hwloc's files, and cores that are kept for zipperd. TAP."""
import itertools
import os

from map_fixture import chain, check, finish, graph, hidden, hosts, mapped, write, zipmap

hosts([8], [8], 16, "#ZIP node zip topology=pack:2,numa:1,l3:2,core:4,pu:2 hca=1 reserve=4\n"
      "#ZIP node a0 topology=pack:2,core:4,pu:2\n#ZIP node b0 cores=4\n")
graph(26, chain(26))
where, lines, r = mapped()
check(where is not None, "a map with hardware", r.stderr)
where = where or {}
a = [w[2] for v, w in sorted(where.items()) if w[0] == "a0"]
check(a == ["0", "8", "2", "10", "4", "12", "6", "14"][:len(a)] and len(a) >= 6, "ranks alternate over the sockets", a)
z = [int(w[2]) for v, w in sorted(where.items()) if w[0] == "zip"]
check(len(z) > 8 and z[:6] == [0, 16, 8, 18, 2, 20], "and over the L3 caches inside", z)
check(not set(z) & {24, 26, 28, 30} and len(z) <= 12, "cores near the device are kept for zipperd", z)
check(any("zip: cores" in line and "kept for zipperd, near NUMA node 1" in line for line in lines), "... and the map says so",
      lines)
check(all(w[2] == "-" for w in where.values() if w[0] == "b0"), "no binding where ranks are more than cores", where)

# --- the same from files as lstopo writes them: an HCA, GPUs, and which sockets they are at
def machine(path, hca=None, gpus=()):
    """XML of hwloc: two sockets of four cores with two hardware threads each, an L3 for two cores; hca, gpus: sockets."""
    number = itertools.count(1)

    def sets(first, n, socket):
        mask = "".join(" %s%s=\"0x%08x\"" % (kind, "cpuset", (1 << n) - 1 << first) for kind in ("", "complete_"))
        nodes = 3 if socket is None else 1 << socket
        return mask + "".join(" %s%s=\"0x%08x\"" % (kind, "nodeset", nodes) for kind in ("", "complete_"))

    def obj(kind, attributes, *inner):
        return '<object type="%s" gp_index="%d"%s>%s</object>\n' % (kind, next(number), attributes, "".join(inner))

    def pci(bus, kind, *devices):
        return obj("PCIDev", ' pci_busid="0000:%02x:00.0" pci_type="%s 00" pci_link_speed="0.0"' % (bus, kind), *devices)

    def io(s):
        found = []
        if s == hca:
            found.append(pci(16 * s + 1, "0207 [15b3:101b] [15b3:0001]",
                             obj("OSDev", ' name="mlx5_0" osdev_type="3"'), obj("OSDev", ' name="ib0" osdev_type="2"')))
        for i in range(list(gpus).count(s)):
            found.append(pci(16 * s + 2 + i, "0302 [10de:20b0] [10de:144e]",
                             obj("OSDev", ' name="cuda%d" subtype="CUDA" osdev_type="5"' % i),
                             obj("OSDev", ' name="nvml%d" osdev_type="1"' % i)))
        return [obj("Bridge", ' bridge_type="0-1" depth="0" bridge_pci="0000:[%02x-%02x]"' % (16 * s, 16 * s + 15), *found)] \
            if found else []

    sockets = []
    for s in range(2):
        caches = []
        for k in range(2):
            first = 8 * s + 4 * k
            cores = [obj("Core", ' os_index="%d"' % (c // 2) + sets(c, 2, s),
                         *[obj("PU", ' os_index="%d"' % p + sets(p, 1, s)) for p in (c, c + 1)]) for c in (first, first + 2)]
            caches.append(obj("L3Cache", sets(first, 4, s) + ' cache_size="1048576" depth="3" cache_linesize="64" '
                              'cache_associativity="0" cache_type="0"', *cores))
        memory = obj("NUMANode", ' os_index="%d" local_memory="1073741824"' % s + sets(8 * s, 8, s))
        sockets.append(obj("Package", ' os_index="%d"' % s + sets(8 * s, 8, s), memory, *(caches + io(s))))
    root = obj("Machine", ' os_index="0"' + sets(0, 16, None), *sockets)
    write(path, '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n<topology version="2.0">\n' +
          root + "</topology>\n")


machine("zip.xml", hca=1)
machine("gpu.xml", gpus=(0, 0, 1))
machine("plain.xml")
text = "#ZIP cluster a\na0:8\na1:8\n#ZIP cluster b\nb0:8\nzip:8\n#ZIP zipper zip a=mlx5_0:1@10.1.0.1 b=mlx5_0:2@10.2.0.1\n" \
    "#ZIP node a0 topology=plain.xml\n#ZIP node a1 topology=gpu.xml\n"
write("hosts", text + "#ZIP node zip topology=zip.xml reserve=3\n")
graph(28, hidden(28, chain(28), 1))
where, lines, r = mapped("--need", "gpu:3,9-12")
check(where is not None and all(where[v][0] == "a1" for v in (3, 9, 10, 11, 12)), "the node with GPUs is found in its file",
      r.stderr)
where = where or {}
for node, order in [("a0", "0 8 4 12 2 10 6 14"), ("a1", "0 8 4 12 2 10 6 14"), ("zip", "0 8 4 2 6")]:
    cores = [w[2] for v, w in sorted(where.items()) if w[0] == node]
    check(cores == order.split()[:len(cores)] and len(cores) >= 4, "%s: sockets in turn, and L3 caches inside" % node, cores)
check("#ZIP zip: cores 10,12,14 are kept for zipperd, near mlx5_0" in lines,
      "three cores are kept at the socket of the HCA that the address names", lines[-1:])
r = zipmap("-f", "hosts", "-g", "graph", "--need", "gpu:0-8")
check(r.returncode == 1 and "9 ranks need gpu, but the nodes that have it take 8 of them" in r.stderr,
      "more ranks than fit beside the GPUs", r.stderr)
write("hosts", text + "#ZIP node zip topology=zip.xml hca=mlx5_7\n")
r = zipmap("-f", "hosts", "-g", "graph")
check("no device or NUMA node mlx5_7 in the topology" in r.stderr, "a device that is not there", r.stderr)
write("hosts", text.replace("plain.xml", "here") + "#ZIP node zip topology=here\n")
os.environ["HWLOC_XMLFILE"] = os.path.abspath("zip.xml")
where, lines, r = mapped()
check("#ZIP zip: cores 12,14 are kept for zipperd, near mlx5_0" in lines and
      [w[2] for v, w in sorted((where or {}).items()) if w[0] == "zip"][:3] == ["0", "8", "4"],
      "topology=here is what hwloc says (here: HWLOC_XMLFILE), one core kept for each direction", r.stderr)
del os.environ["HWLOC_XMLFILE"]
write("hosts", "#ZIP cluster a\na0:8\nz1:8\n#ZIP cluster b\nb0:8\nz2:8\nz3:8\n"
      "#ZIP zipper z1 a=tcp:10.1.0.1 b=tcp:10.2.0.1\n#ZIP zipper z2 a=mlx5_0:1@10.1.0.2 b=mlx5_0:2@10.2.0.2\n"
      "#ZIP zipper z3 a=tcp:10.1.0.3 b=tcp:10.2.0.3\n#ZIP zipper z3 a=mlx5_0:1@10.1.0.4 b=mlx5_0:2@10.2.0.4\n"
      "#ZIP node z1,z2,z3 topology=zip.xml\n")
graph(32, chain(32))
where, lines, r = mapped()
kept = sorted(line[5:] for line in lines if "are kept for zipperd" in line)
check(kept == ["z1: cores 4,6 are kept for zipperd", "z2: cores 12,14 are kept for zipperd, near mlx5_0",
               "z3: cores 8,10,12,14 are kept for zipperd, near mlx5_0"],
      "each zipper node keeps cores, near its own device; one that is in two lines for two zipperds", kept or r.stderr)
crowd = [sum(w[0] == z for w in (where or {}).values()) for z in ("z1", "z2", "z3")]
check(crowd[0] <= 6 and crowd[1] <= 6 and crowd[2] <= 4, "... and has no more ranks than the other cores", crowd)

# the number of cores given: all cores, so that ranks get none; more than there are; on a node with unknown cores
for node, args, most, error in [
        ("cores=4 reserve=4", [], 0, None), ("cores=4 reserve=3", [], 1, None), ("cores=1", [], 1, None),
        ("cores=2", ["--reserve", "2"], 0, None), ("cores=4 reserve=5", [], 0, "hosts:7: 5 cores cannot be kept for zipperd: there are 4"),
        ("cores=4", ["--reserve", "100"], 0, "hosts:7: 100 cores cannot be kept for zipperd: there are 4"),
        ("reserve=99", [], 0, "hosts:7: reserve= says nothing without cores= or topology="),
        ("hca=mlx5_7", [], 0, "hosts:7: hca= says nothing without cores= or topology="),
        ("gpu", ["--reserve", "1"], 0, "--reserve: hosts names the cores of no zipper node")]:
    hosts([8], [8], 4, "#ZIP node zip %s\n" % node)
    graph(16, chain(16))
    where, lines, r = mapped(*args)
    crowd = sum(w[0] == "zip" for w in (where or {}).values())
    check(r.stderr == "zipmap map: %s\n" % error if error else where and crowd <= most, "#ZIP node zip %s %s" % (node, " ".join(args)),
          r.stderr or crowd)

finish()
