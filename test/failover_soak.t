#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Random programs over several zippers, some of which are lost at random times: a few jobs, or for ZIP_SECONDS. ZIP_SEED repeats
# one job, but not its times to the millisecond. Part of make soak, not of make check.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
cd "$TAP_TMP" || exit 99
. "$ZIP_TOP_SRCDIR/test/lib/rails.sh"
. "$ZIP_TOP_SRCDIR/test/lib/tuned.sh"

programs=(failover failover failover random random p2p_mixed p2p_late p2p_huge multicast threads comm_threads collectives
	coll_moves coll_reductions coll_scans coll_nonblocking persistent large neighbors inter_coll endpoint_threads endpoint_threads
	waiting_threads inter_threads)
layouts=(1+1 2+2 1+3 3+1 2+1+1 1+1+2 2+1+2 2+2+1)
groups_from=1 # the layouts with four ranks and more, which some programs need

# draw SEED: sets $program, its arguments, $layout, $rails, $losses ("MILLISECONDS:RAIL:SIGNAL", in order), $world, and whether
# there are relays, which get signals 10 and 12
draw() {
	local k n ms left signal
	unset ZIPPER_REPRESENTATION ZIPPER_SHARED ZIPPER_ONE_SIDED ZIPPER_PROGRESS ZIPPER_WAIT ZIPPER_TUNE ZIPPER_PORTS ZIPPER_ENDPOINTS
	RANDOM=$1
	program=${programs[RANDOM % ${#programs[@]}]} arguments=() world=() options=()
	layout=${layouts[groups_from + RANDOM % (${#layouts[@]} - groups_from)]}
	case $program in
	failover) arguments=($((2 + RANDOM % 5))) ;;
	random) arguments=($RANDOM 120 $((3 + RANDOM % 4))) ;;
	p2p_mixed) arguments=($((5 + RANDOM % 30))) ;;
	endpoint_threads) arguments=($((8 + RANDOM % 16))) ;;
	p2p_huge) layout=2+2 ;; # needs an even number of ranks
	neighbors) layout=2+1+1 ;;
	esac
	[ $((RANDOM % 8)) = 0 ] && [[ $program =~ ^(failover|random|p2p_mixed)$ ]] && layout=1+1
	rails=$((2 + RANDOM % 3))
	[ $((RANDOM % 2)) = 0 ] && kind=tcp || kind=shm
	relayed=no
	[ $kind = tcp ] && [ $((RANDOM % 2)) = 0 ] && command -v python3 >/dev/null && relayed=yes
	[ $((RANDOM % 5)) = 0 ] && world+=(ZIPPER_REPRESENTATION=external32)
	[ $((RANDOM % 4)) = 0 ] && world+=(ZIPPER_ONE_SIDED=yes)
	[ $((RANDOM % 4)) = 0 ] && world+=(ZIPPER_PROGRESS=thread)
	[ $((RANDOM % 5)) = 0 ] && world+=(ZIPPER_WAIT=sleep)
	[ $((RANDOM % 3)) = 0 ] && world+=("ZIPPER_TUNE=all multicast=yes")
	[ $((RANDOM % 6)) = 0 ] && world+=("ZIPPER_PORTS=0 a=tcp:127.0.0.1 b=tcp:127.0.0.1")
	[ $((RANDOM % 3)) = 0 ] || [[ $program = *threads ]] && world+=(ZIPPER_ENDPOINTS=$((1 + RANDOM % 5)))
	[ $((RANDOM % 4)) = 0 ] && options=(-o eager_bytes=4K -o dest_share=8K)
	[ ${#world[@]} = 0 ] || export "${world[@]}"
	mapfile -t left < <(seq "$rails")
	losses=''
	for ((k = RANDOM % (rails - 1); k >= 0; k--)); do
		n=$((RANDOM % ${#left[@]})) ms=$((RANDOM % 3 ? RANDOM % 800 : 0)) # the next one often at once
		signal=$((RANDOM % 3 ? 9 : 15))
		[ $relayed = yes ] && [ $((RANDOM % 3)) != 0 ] && signal=$((RANDOM % 2 ? 10 : 12))
		losses+="$ms:${left[n]}:$signal "
		left=("${left[@]:0:n}" "${left[@]:n + 1}")
	done
}
joined() { [ "$(cat zipper.* | grep -c 'have joined$')" = "$rails" ]; }
# one_job: runs the job; its output sorted in out, other lines in err
one_job() {
	local loss parts job ms k signal rc
	case $layout in *+*+*) parts=a,b,c ;; *) parts=a,b ;; esac
	expected=native.$program.$((layout)).${arguments[*]// /.}
	build_program "$program"
	[ -s "$expected" ] || native 60 $((layout)) "./$program" "${arguments[@]}" 2>/dev/null | LC_ALL=C sort >"$expected"
	rm -f out.* err.* zipper.*
	start_zippers "$rails" "$parts"
	JOB_NUMBER=$((JOB_NUMBER + 1))
	local all first
	all=$(addresses $(seq "$rails")) first=$all
	if [ $relayed = yes ]; then
		start_relays "$rails"
		first=$(relays $(seq "$rails"))
	fi
	by_hand "$parts" "${layout//+/ }" "$first $all $all" "./$program" "${arguments[@]}" &
	job=$!
	wait_for 20 joined || echo "the ranks did not join" >err.none
	for loss in $losses; do
		IFS=: read -r ms k signal <<<"$loss"
		sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
		if [ "$signal" = 10 ] || [ "$signal" = 12 ]; then kill "-$signal" "${relay[k]}"; else kill "-$signal" "${zipper[k]}"; fi
	done
	wait $job
	rc=$?
	stop_zippers 2>/dev/null
	[ $relayed = no ] || stop_relays 2>/dev/null
	cat out.* | LC_ALL=C sort >out
	cat err.* >err
	is_left=$(left)
	[ -z "$is_left" ] || { sleep 1; is_left=$(left); }
	[ $rc = 0 ] || echo "exit status $rc" >>err
	[ -z "$is_left" ] || echo "left: $is_left" >>err
	[ -z "$is_left" ] || kill -9 $is_left
	[ $rc = 0 ] && [ -z "$is_left" ] && [ -s out ] && cmp -s out "$expected" &&
		! grep -Ev '^libzipper: (rank 0 .* the zipper at .* is lost: .*; the job goes on with|warn: no direct link to rank)' err >odd
}

seed=${ZIP_SEED:-$(od -An -tu2 -N2 /dev/urandom | tr -d ' ')}
jobs=0 failures=0 told=0
until [ $jobs -ge 6 ] && [ $SECONDS -ge "${ZIP_SECONDS:-0}" ] || [ $failures -ge 6 ]; do
	draw "$seed"
	what="seed $seed: $program ${arguments[*]} as $layout over $rails ($kind${options:+, refusals}, relays: $relayed) ${world[*]}, lost $losses"
	if one_job 2>shell.err; then
		told=$((told + $(grep -c 'is lost' err)))
		[ $jobs -lt 6 ] && pass "$what"
	else
		fail "$what"
		diff "$expected" out >difference
		diag_file difference 12
		diag_file err
		failures=$((failures + 1))
	fi
	jobs=$((jobs + 1))
	[ -n "$ZIP_SEED" ] && break
	seed=$(((seed * 25173 + 13849) & 0xffff))
done
diag "$jobs jobs, in which $told losses were told"
done_testing
