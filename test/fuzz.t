#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The corpus of each fuzz target once through that target (fuzz/README.md).
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
cd "$TAP_TMP" || exit 99
for source in "$ZIP_TOP_SRCDIR"/test/fuzz/*.c; do
	grep -q '^int LLVMFuzzerTestOneInput' "$source" || continue
	name=${source##*/}
	name=${name%.c}
	if [ ! -x "$ZIP_TOP_BUILDDIR/test/fuzz/$name" ]; then
		skip "$name" "not built: cmocka is missing"
		continue
	fi
	limited 300 "$ZIP_TOP_BUILDDIR/test/fuzz/$name" "$ZIP_TOP_SRCDIR/test/corpus/$name" >out 2>err
	rc=$?
	ok "$name: $(sed -n '$s/^\([0-9]* inputs\)$/\1/p' out)" test $rc = 0 || {
		diag "status $rc at $(tail -n1 out)"
		diag_file err
	}
done
done_testing
