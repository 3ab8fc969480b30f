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

done_testing
