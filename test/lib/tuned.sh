# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Sourced after tap.sh by tests that run twin programs under tuning tables. Works in the current folder.

build_program() { # NAME, of ../programs
	[ -x "$1" ] || compile "$(program "$1.c")" "$1" >cc 2>&1 ||
		{ diag_file cc; bail_out "$1.c does not compile"; }
}
# agrees PROGRAM LAYOUT RULES [TWIN]: does PROGRAM print the same merged, under these rules, as it, or TWIN, prints natively?
# Status 77: native MPI ends it early.
agrees() {
	local program=$1 layout=$2 rules=$3 twin=${4:-$1}
	expected=$twin.$((layout))
	build_program "$program"
	build_program "$twin"
	[ ! -e "$expected.failed" ] || return 77
	if [ ! -s "$expected" ]; then
		native 60 $((layout)) "./$twin" >raw || { : >"$expected.failed"; return 77; }
		LC_ALL=C sort raw >"$expected"
	fi
	ZIPPER_TUNE=$rules merged 60 "$layout" "./$program" >raw 2>err || echo "exit status $?" >>raw
	LC_ALL=C sort raw >out
	[ -s out ] && cmp -s out "$expected"
}
disagreement() { # of the last one that did not
	diff "$expected" out >difference
	diag_file difference 12
	diag_file err
}
