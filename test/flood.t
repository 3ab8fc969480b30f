#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Thousands of connections that say nothing: zipperd serves its users beside them, and gives the memory back afterwards.
# ZIP_LONG: as many as one process can have.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
[ -x "$ZIPPERD" ] || skip_all "zipperd is not built"
cd "$TAP_TMP" || exit 99
umask 077
ulimit -n "$(ulimit -Hn)" 2>/dev/null
count=3000
[ -z "$ZIP_LONG" ] || count=14000
most=$(($(ulimit -n) - 100))
[ "$most" -lt "$count" ] && count=$most
export ZIPPER_KEY=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
echo "tester $ZIPPER_KEY" >keys

background "$ZIPPERD" -o listen=a=tcp:127.0.0.1:0 -o listen=b=tcp:127.0.0.1:0 -o key_file="$TAP_TMP/keys" \
	-o hello_timeout=2s --ready-fd 3 3>ready 2>log
ZD=$!
wait_for 20 grep -q '^$' ready || bail_out "zipperd did not start: $(cat log)"
port=$(sed -n 's/^a=tcp:127.0.0.1://p' ready)
memory() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$ZD/status"; }
descriptors() { ls "/proc/$ZD/fd" | wc -l; }
# visit: a user asks for statistics, and has to prove who that is; the time in time
visit() {
	local begin=${EPOCHREALTIME/[.,]/} rc
	limited 60 "$ZIP_TOP_BUILDDIR/zipstat/zipstat" -u tester "tcp:127.0.0.1:$port" >out 2>&1
	rc=$?
	time=$(((${EPOCHREALTIME/[.,]/} - begin) / 1000))
	return $rc
}

ok "a user is served" visit
before=$(memory) idle=$(descriptors)
# flood ADDRESSES: begins one
flood() {
	rm -f stop
	background python3 "$ZIP_TOP_SRCDIR/test/lib/flood.py" 127.0.0.1 "$port" "$count" "$1" stop >opened 2>&1
	FLOOD=$!
}
# are_there N: have so many connections come in?
are_there() { [ "$(descriptors)" -ge "$(($1 + idle))" ]; }
peak=0
for addresses in 1 20; do
	flood $addresses
	ok "connections from $addresses addresses come in" wait_for 30 are_there 1000
	times=
	for i in 1 2 3 4; do
		visit || break
		times="$times $time"
		now=$(memory)
		[ "$now" -gt "$peak" ] && peak=$now
		sleep 0.2
	done
	is "... and users are served beside them" "$(wc -w <<<"$times")" 4
	touch stop
	wait "$FLOOD"
	diag "$count connections held from $addresses addresses, $(cat opened) opened; users waited$times ms"
	diag "memory: $before KiB before, $peak at most, $(memory) now"
done
ok "the log says what happened" grep -q 'closed for a newer connection: too many have not proved who they are' log
ok "... in few lines" test "$(wc -l <log)" -lt 200
# is_back: is the memory given back but for a quarter?
is_back() { [ "$(($(memory) - before))" -lt "$(((peak - before) / 4))" ]; }
if [ -n "$RUNTIME" ]; then
	skip "the memory goes back to the system" "a sanitizer keeps what was freed"
else
	ok "the memory goes back to the system" wait_for 20 is_back
fi
diag "memory: $(memory) KiB in the end"
done_testing
