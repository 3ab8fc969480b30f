#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Verbs in three virtual machines: cluster A, the zipper with two network cards, cluster B, and no other path.
. "${ZIP_TOP_SRCDIR:?}/test/lib/vm.sh" 2

# --- the laboratory itself: what fails here is not ours
ok "cluster A reaches the zipper over rxea" vm_pair zipper clusterA 10.78.1.1 ibv_rc_pingpong -d rxea -g 1 -e -c -n 50
ok "the zipper reaches cluster B over rxeb" vm_pair clusterB zipper 10.78.2.2 ib_write_bw -d rxeb -x 1 -F -n 20 -s 65536

reaches() { # NODE: the listener in cluster B
	vm 300 "$1" timeout "$2" bash -c '</dev/tcp/10.78.2.2/7878'
}
vm_background 3000 clusterB python3 -c 'import socket, time; s = socket.create_server(("", 7878)); time.sleep(3000)'
vm_listens clusterB 7878 $!
ok "somebody listens in cluster B" reaches zipper 200
reaches clusterA 3 2>"$TAP_TMP/err"
rc=$?
[ $rc = 125 ] && diag_file "$TAP_TMP/err"
is "cluster A cannot reach cluster B" $((rc == 124 || rc == 1)) 1

if [ ! -e "$ZIP_TOP_BUILDDIR/common/.libs/zipverbs.so" ]; then
	skip "a job" "built without libibverbs"
	done_testing
	exit
fi

# --- one job over all of it, started by hand: zipperd, and an mpiexec in each cluster
compile "$ZIP_TOP_SRCDIR/test/lib/stream.c" "$ZIP_VM/files/stream" || bail_out "cannot compile stream.c"
key=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
(umask 077 && echo "me $key" >"$ZIP_VM/files/keys")
"$vmlab" run -t 1500 zipper "$ZIPPERD" -o listen=A=rxea:1@10.78.1.1:7474 -o listen=B=rxeb:1@10.78.2.1:7474 \
	-o key_file="$ZIP_VM/files/keys" -o module_dir="$ZIP_TOP_BUILDDIR/common/.libs" 2>"$ZIP_VM/files/zipperd" &
zipperd=$!
TAP_PIDS+=($zipperd)
ok "zipperd listens" vm_listens zipper 7474 $zipperd || diag_file "$ZIP_VM/files/zipperd"
part() { # LETTER NUMBER BYTES ROUNDS
	vm 600 "cluster$1" env ZIPPER_JOB=by-hand ZIPPER_PARTS=A,B ZIPPER_PART="$1" ZIPPER_USER=me ZIPPER_KEY="$key" \
		ZIPPER_ZIPPERD="rxe${1,}:1@10.78.$2.1:7474" ZIPPER_MODULE_DIR="$ZIP_TOP_BUILDDIR/common/.libs" \
		"$MPIEXEC" -n 2 -genv LD_PRELOAD "$PRELOAD_LIST" "$ZIP_VM/files/stream" "$3" "$4" >"$ZIP_VM/files/out$1" 2>&1
}
counts() { # packets from A, packets to B
	vm 200 zipper bash -c 'cd /sys/class/infiniband; cat rxea/ports/1/hw_counters/rcvd_pkts rxeb/ports/1/hw_counters/sent_pkts'
}
read -r -d '' a0 b0 < <(counts)
part B 2 300000 4 &
second=$!
part A 1 300000 4
rc=$?
wait $second
is "two mpiexec in two clusters: status" "$rc $?" "0 0" || { diag_file "$ZIP_VM/files/outA"; diag_file "$ZIP_VM/files/outB"; }
is "two mpiexec in two clusters: one world" "$(sort "$ZIP_VM/files/outA" "$ZIP_VM/files/outB" | grep -c ': 4 rounds')" 4
read -r -d '' a b < <(counts)
# 2 ranks, 4 times 300,000 bytes, in packets of at most 4096
ok "all of it came in over rxea" test $((a - a0)) -ge 586 || diag "$((a - a0)) packets"
ok "and left over rxeb" test $((b - b0)) -ge 586 || diag "$((b - b0)) packets"
done_testing
