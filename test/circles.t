#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# No circles of files, and no folder that uses one above it, by the symbols of the objects of this build.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
PYTHON=$(sed -n 's/^PYTHON = //p' "$ZIP_TOP_BUILDDIR/libzip/Makefile")
command -v nm >/dev/null || skip_all "no nm"
found() { # KIND PART
	grep "^$1: $2/" "$TAP_TMP/found"
}
"$PYTHON" -B "$ZIP_TOP_SRCDIR/test/circles.py" "$ZIP_TOP_BUILDDIR" "$ZIP_TOP_SRCDIR" >"$TAP_TMP/found" 2>"$TAP_TMP/err"
is "the objects are read" "$? $(cat "$TAP_TMP/err")" "0 "
for part in $(grep -v '^#' "$ZIP_TOP_SRCDIR/test/layers.order" | cut -d/ -f1 | uniq); do
	circles=$(found circle "$part") up=$(found up "$part")
	is "no circle of files in $part" "$circles" ""
	is "no folder of $part uses one above it" "$up" ""
done
done_testing
