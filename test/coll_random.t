#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Collectives under random tuning tables: the programs of the twin tests in random layouts, now and then with external32
# or without the memory that ranks of one host share. A few jobs, or for ZIP_SECONDS. ZIP_SEED repeats one job.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/tuned.sh"
[ -x "$ZMPIRUN" ] || skip_all "zmpirun is not built"
cd "$TAP_TMP" || exit 99

programs=(coll_moves coll_reductions coll_scans coll_nonblocking collectives coll_errors reproducible persistent
	inter_coll inter_icoll inter_errors)
layouts=(1+1 1+2 2+1 1+1+1 2+2 1+3 3+1 1+1+2 2+1+1 1+1+1+1 2+3 3+2 1+4 2+1+2 3+3 2+2+2 1+2+3 4+2 1+2+1+2 1+1+1+1+1)
groups_from=8 # the layouts with four ranks and more, which the programs between groups need
blocks="0 1 8 24 64 256 1K 4K 64K 1M"
segments="256 512 1K 2K 8K 64K"

# Both set variables: a subshell would draw the same numbers again and again.
pick() { shift $((RANDOM % $#)); picked=$1; }
# rule COLLECTIVE 'KEY VALUE...'...: prints a line with some of these settings, or none
rule() {
	local line=$1 settings='' setting
	shift
	for setting; do
		[ $((RANDOM % 2)) = 0 ] && continue
		pick ${setting#* }
		settings+=" ${setting%% *}=$picked"
	done
	[ -n "$settings" ] && rules+=${rules:+; }$line$settings
}

# Draws $program, $layout, $rules and $world from a seed; $world is exported for the job.
draw() {
	unset ZIPPER_REPRESENTATION ZIPPER_SHARED
	RANDOM=$1
	pick "${programs[@]}"
	program=$picked
	[[ $program = inter_* ]] && pick "${layouts[@]:groups_from}" || pick "${layouts[@]}"
	layout=$picked rules='' world=()
	rule all "leaders 1 2 3" "segment $segments" "depth 1 2 3 8"
	rule all "between all sequential tree chain pipeline"
	rule bcast "segments 1 3 1024" "multicast yes no"
	rule gather "alone $blocks"
	rule scatter "alone $blocks" "together $blocks"
	rule allgather "segments 1 3 16 1024" "multicast yes no" "patience 0 1000"
	rule alltoall "aggregate $blocks" "leaders 1 2" "window 1 2 4"
	rule reduce "inside gather native" "segments 1 3 1024"
	rule allreduce "exchange all doubling slices" "inside gather native" "multicast yes no"
	rule reduce_scatter "leaders 1 2 3" "segments 1 3 1024" "inside gather native"
	rule scan "leaders 1 2 3" "segments 1 3 1024" "multicast yes no"
	[ $((RANDOM % 4)) = 0 ] && world+=(ZIPPER_REPRESENTATION=external32)
	[ $((RANDOM % 4)) = 0 ] && world+=(ZIPPER_SHARED=no)
	[ ${#world[@]} = 0 ] || export "${world[@]}"
}

seed=${ZIP_SEED:-$(od -An -tu2 -N2 /dev/urandom | tr -d ' ')}
jobs=0 failures=0
until [ $jobs -ge 6 ] && [ $SECONDS -ge "${ZIP_SECONDS:-0}" ] || [ $failures -ge 6 ]; do
	draw "$seed"
	what="seed $seed: $program as $layout ${world[*]} $rules"
	# In MPICH 4.0.2 nonblocking collectives between groups are wrong, but the blocking ones print the same.
	agrees "$program" "$layout" "$rules" "${program/inter_icoll/inter_coll}"
	rc=$?
	if [ $rc = 0 ]; then
		[ $jobs -lt 6 ] && pass "$what"
	elif [ $rc = 77 ]; then
		[ $jobs -lt 6 ] && skip "$what" "native MPI does not come to its end"
	else
		fail "$what"
		disagreement
		failures=$((failures + 1))
	fi
	jobs=$((jobs + 1))
	[ -n "$ZIP_SEED" ] && break
	seed=$(((seed * 25173 + 13849) & 0xffff))
done
diag "$jobs jobs"
done_testing
