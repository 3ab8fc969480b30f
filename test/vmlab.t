#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# vmlab's folder holds only files of vmlab, as `vmlab down` removes it. Needs no machine.
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

ZIP_VM_MACHINE=paper "$vmlab" check 2>"$TAP_TMP/err"
is "a kind of machine that is none" $? 1
is "a kind of machine that is none: which there are" "$(cat "$TAP_TMP/err")" "vmlab: ZIP_VM_MACHINE: emulated or usermode, not 'paper'"
for machine in emulated usermode; do
	ZIP_VM_MACHINE=$machine ZIP_VM= "$vmlab" with 2 true 2>"$TAP_TMP/err"
	is "$machine: no machine without a kernel" $? 1
	is "$machine: in one line" "$(wc -l <"$TAP_TMP/err")" 1
	matches "$machine: why" "$TAP_TMP/err" "^vmlab: (no kernel for|no [a-z0-9_-]+ \(package|needs Debian)"
done
"$ZIP_TOP_SRCDIR/test/vm/usermode-start" "$TAP_TMP/a=$TAP_TMP/b" 2>"$TAP_TMP/err"
is "usermode-start: nothing to become" "$?: $(cat "$TAP_TMP/err")" "1: vmlab: usermode-start [MINE=OTHER]... -- KERNEL WORD..."
# Two of them wait for each other, and what each becomes has the wire to the other one.
frame='import os, sys; fd = int(sys.argv[1].split("fd=")[1].split(",")[0]); os.write(fd, sys.argv[0].encode()); print(os.read(fd, 99).decode())'
"$ZIP_TOP_SRCDIR/test/vm/usermode-start" "$TAP_TMP/a=$TAP_TMP/b" -- "$(command -v python3)" -c "$frame" >"$TAP_TMP/one" 2>"$TAP_TMP/err" &
"$ZIP_TOP_SRCDIR/test/vm/usermode-start" "$TAP_TMP/b=$TAP_TMP/a" -- "$(command -v python3)" -c "$frame" >"$TAP_TMP/other" 2>>"$TAP_TMP/err"
is "usermode-start: one end" $? 0
wait $!
is "usermode-start: the other end" $? 0
is "usermode-start: a frame there, and one back" "$(cat "$TAP_TMP/one" "$TAP_TMP/other" "$TAP_TMP/err")" "-c
-c"
done_testing
