#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MMPI, the baseline of zipbench/mmpi: its functions give the right results, whatever the sizes of the groups.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
cd "$TAP_TMP" || exit 99
MMPI=$ZIP_TOP_BUILDDIR/zipbench/mmpi/mmpi_test

for layout in 2+2 1+3; do
	native 60 $((1 + layout)) "$MMPI" "${layout%+*}" >out 2>err
	is "$layout: status" $? 0
	is "$layout: plan and results" "$(grep -c '^ok ' out) $(grep -c '^not ok' out) $(tail -n1 out)" "29 0 1..29"
	[ -s err ] && diag_file err
done
# the last words of a rank before MPI_Abort do not always come through mpiexec
native 60 3 "$MMPI" 2 >out 2>err
rc=$?
ok "no high group: an error" [ $rc != 0 ]
done_testing
