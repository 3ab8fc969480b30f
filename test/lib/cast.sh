# SPDX-License-Identifier: BSD-3-Clause
# Sourced after tap.sh: nodes of zipcast as processes, each linked with libzipcast.so like a user's program.
CAST_LIB=$ZIP_TOP_BUILDDIR/zipcast/.libs
CAST_NODE=${CAST_NODE:-$TAP_TMP/castnode}
cast_compile() {
	${CC:-gcc} -O1 -g -Wall -pthread -I"$ZIP_TOP_SRCDIR/zipcast" "$ZIP_TOP_SRCDIR/test/lib/castnode.c" -o "$CAST_NODE" \
		-L"$CAST_LIB" -Wl,-rpath,"$CAST_LIB" -lzipcast
}
# cast_at NODE, if a test defines it: words before the command, as "env CAST_LISTEN=..." or words that place the node
# cast_start NODES LISTEN ALGORITHM BYTES MESSAGES: LISTEN may hold %d, the node's number; CAST_PIDS are the processes,
# their output in $TAP_TMP/castN
cast_start() {
	local n=$1 listen=$2 i at
	shift 2
	rm -f "$TAP_TMP"/address* "$TAP_TMP"/cast[0-9]*
	CAST_PIDS=()
	for ((i = 0; i < n; i++)); do
		at=()
		! declare -F cast_at >/dev/null || read -r -a at <<<"$(cast_at $i)"
		# shellcheck disable=SC2059 # the address is a format
		# the runtime for the node alone: a shell before it dies with that of TSan
		background limited 100 "${at[@]}" env ${RUNTIME:+LD_PRELOAD="$RUNTIME${LD_PRELOAD:+:$LD_PRELOAD}"} "$CAST_NODE" "$TAP_TMP" $i "$n" \
			"$(printf "$listen" $i)" "$@" >"$TAP_TMP/cast$i" 2>&1
		CAST_PIDS+=($!)
	done
}
cast_wait() { # for all processes: their statuses, in order, in CAST_STATUS
	local pid status=()
	for pid in "${CAST_PIDS[@]}"; do
		wait "$pid"
		status+=($?)
	done
	CAST_STATUS=${status[*]}
}
# cast_process NODE: its process, which is the last one below the limit on its time. Bash 5.3 puts the limit in the place of its
# own child, earlier versions put it below.
cast_process() {
	local pid=${CAST_PIDS[$1]} child
	while child=$(pgrep -P "$pid"); do pid=$child; done
	echo "$pid"
}
cast_show() { for f in "$TAP_TMP"/cast[0-9]*; do diag_file "$f"; done; }
# cast_run NAME NODES LISTEN ALGORITHM BYTES MESSAGES: all messages must arrive everywhere
cast_run() {
	local name=$1 n=$2
	shift
	cast_start "$@"
	cast_wait
	is "$name: status" "${CAST_STATUS//[0 ]/}" "" || cast_show
	is "$name: all came" "$(cat "$TAP_TMP"/cast[0-9]* | grep -c ": $5 messages, 0 bytes damaged")" "$n" || cast_show
}
