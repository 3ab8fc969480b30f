#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Verbs in one virtual machine with two Soft-RoCE devices, rxea and rxeb.
. "${ZIP_TOP_SRCDIR:?}/test/lib/vm.sh" one

# --- the laboratory itself: what fails here is not ours
vm 300 zipper rdma link >"$TAP_TMP/links"
matches "rxea is up" "$TAP_TMP/links" '^link rxea/1 state ACTIVE'
matches "rxeb is up" "$TAP_TMP/links" '^link rxeb/1 state ACTIVE'
ok "rxea loops back" vm_pair zipper zipper 10.78.1.1 ibv_rc_pingpong -d rxea -g 1 -e -c -n 100
ok "rxeb loops back" vm_pair zipper zipper 10.78.2.1 ib_write_bw -d rxeb -x 1 -F -n 100 -s 65536
done_testing
