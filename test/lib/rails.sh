# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154 # job.sh's marked
# For tests of jobs over several zippers, all started by hand. Sourced after job.sh, in the test's folder.
KEY=$(printf '%064d' 7)
(umask 077 && echo "$(id -un) $KEY" >keys)
JOB_NUMBER=1
join_timeout=60s # how long they wait for all ranks
kind=shm         # of address: or tcp
words=           # behind a tcp address: of a protected network
options=()       # of all of them
zipper=()        # from 1: their processes,
at=()            # and their addresses
# start_zippers N PART,...: starts N zippers with these fabrics; logs in zipper.1 to zipper.N
start_zippers() {
	local k where
	zipper=() at=()
	for ((k = 1; k <= $1; k++)); do
		rm -f "ready.$k"
		where=shm:$TAP_TMP/zipper.sock.$k
		[ $kind = shm ] || where=tcp:127.0.0.1:0$words
		background "$ZIPPERD" -o listen="$2=$where" -o key_file="$TAP_TMP/keys" -o join_timeout=$join_timeout \
			-o log_level=info "${options[@]}" -o module_dir="$ZIP_TOP_BUILDDIR/common/.libs" --ready-fd 3 3>"ready.$k" 2>"zipper.$k"
		zipper[k]=$!
		wait_for 20 grep -q '^$' "ready.$k" || { diag_file "zipper.$k"; bail_out "zipperd $k does not start"; }
		at[k]=$(sed -n "s/^$2=//p" "ready.$k")
		[ -z "$words" ] || at[k]=${at[k]%"$words"} # ranks need not know of it
	done
}
stop_all() { # PID...
	local pid
	for pid; do
		child_runs "$pid" && kill "$pid" && kill -CONT "$pid"
		wait "$pid" 2>/dev/null
	done
}
stop_zippers() { stop_all "${zipper[@]}"; }
# addresses K...: prints the addresses of these zippers
addresses() {
	local k list=
	for k; do list=$list${list:+,}${at[k]:-shm:$TAP_TMP/zipper.sock.$k}; done
	echo "$list"
}
# start_relays N: starts a relay in front of each of the first N zippers, which speak tcp; see relay.py. Output in relay.1 to relay.N
relay=() # from 1: their processes
start_relays() {
	local k
	relay=()
	for ((k = 1; k <= $1; k++)); do
		rm -f "port.$k"
		background python3 -B "$ZIP_TOP_SRCDIR/test/lib/relay.py" "port.$k" 127.0.0.1 "${at[k]##*:}" >"relay.$k" 2>&1
		relay[k]=$!
		wait_for 20 test -s "port.$k" || { diag_file "relay.$k"; bail_out "relay $k does not start"; }
	done
}
stop_relays() { stop_all "${relay[@]}"; }
# relays K...: prints the addresses of these relays
relays() {
	local k list=
	for k; do list=$list${list:+,}tcp:127.0.0.1:$(cat "port.$k"); done
	echo "$list"
}
# by_hand PARTS SIZES "ADDRESSES OF EACH PART" PROGRAM...: runs one mpiexec a part; output in out.PART and err.PART. Fails with
# the status of a part that fails
by_hand() {
	local parts=$1 name i=0 rc=0 pids=() pid
	local -a names sizes zippers
	IFS=, read -ra names <<<"$parts"
	read -ra sizes <<<"$2"
	read -ra zippers <<<"$3"
	shift 3
	for name in "${names[@]}"; do
		limited 60 "${marked[@]}" "$MPIEXEC" -n "${sizes[i]}" env LD_PRELOAD="$PRELOAD_LIST" ZIPPER_JOB=job$JOB_NUMBER \
			ZIPPER_PARTS="$parts" ZIPPER_PART="$name" ZIPPER_ZIPPERD="${zippers[i]:-${zippers[0]}}" ZIPPER_KEY="$KEY" \
			ZIPPER_MODULE_DIR="$ZIP_TOP_BUILDDIR/common/.libs" "$@" >"out.$name" 2>"err.$name" </dev/null &
		pids+=($!)
		i=$((i + 1))
	done
	for pid in "${pids[@]}"; do wait "$pid" || rc=$?; done
	return $rc
}
# keep K: starts zipper K again whenever it has ended, at the address that it had; keeper[K] is the process that does so
keeper=()
again=() # other options then
keep() {
	local k=$1
	(
		next=
		trap '[ -z "$next" ] || kill "$next"; exit 0' TERM
		old=${zipper[k]}
		while :; do
			while kill -0 "$old" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$old/status" 2>/dev/null; do sleep 0.05; done
			"$ZIPPERD" -o listen="a,b=${at[k]}" -o key_file="$TAP_TMP/keys" -o log_level=info "${options[@]}" \
				-o module_dir="$ZIP_TOP_BUILDDIR/common/.libs" 2>>"zipper.$k" &
			old=$! next=$!
			echo $next >"next.$k"
			wait $next
		done
	) &
	keeper[k]=$!
	TAP_PIDS+=("${keeper[k]}")
}
stop_keepers() { stop_all "${keeper[@]}"; keeper=(); }
