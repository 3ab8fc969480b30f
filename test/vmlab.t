#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# vmlab's folder: what lies in it is nobody else's, as `vmlab down` removes it. Needs no machine.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
vmlab=$ZIP_TOP_SRCDIR/test/vm/vmlab
export ZIP_VM=$TAP_TMP/mine ZIP_VM_IMAGE=$TAP_TMP/no-image
mkdir "$ZIP_VM" && echo precious >"$ZIP_VM/file" || bail_out "cannot make a folder"

"$vmlab" up one 2>"$TAP_TMP/err"
is "up: not in a folder with files" $? 1
matches "up: why" "$TAP_TMP/err" "^vmlab: $ZIP_VM is not empty"
is "up: in one line" "$(wc -l <"$TAP_TMP/err")" 1
"$vmlab" down 2>"$TAP_TMP/err"
is "down: not of a folder that up did not make" $? 1
is "down: why" "$(cat "$TAP_TMP/err")" "vmlab: $ZIP_VM is not a laboratory's folder"
is "the file is still there" "$(cat "$ZIP_VM/file")" precious
done_testing
