#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# zipperd with listening sockets of a service manager (zipperd.socket): a restart refuses nobody. lib/activate.py is the manager.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
command -v python3 >/dev/null || skip_all "no python3"
ZIPSTAT=$ZIP_TOP_BUILDDIR/zipstat/zipstat
cd "$TAP_TMP" || exit 99
export ZIPPER_USER=me ZIPPER_KEY
ZIPPER_KEY=$(printf '%064x' 4711)
(umask 077 && echo "me $ZIPPER_KEY" >keys)
SOCKET=$TAP_TMP/zipper.sock
: >answers
mkfifo words
exec 9<>words # a reader alone would wait for a writer
background python3 -B "$ZIP_TOP_SRCDIR/test/lib/activate.py" port "$SOCKET" words "$ZIPPERD" -o listen=a,b=tcp:127.0.0.1:@PORT@ \
	-o listen=a,b=shm:"$SOCKET" -o key_file="$TAP_TMP/keys" >>answers 2>log
wait_for 20 test -s port || { diag_file log; bail_out "activate.py does not start"; }
PORT=$(cat port)
# manager WORD: it does that
manager() {
	: >answers
	echo "$1" >&9
	wait_for 20 grep -q "^$1" answers
}
# asks: zipstat, of zipperd at either address
asks() {
	limited 60 "$ZIPSTAT" "tcp:127.0.0.1:$PORT" >out 2>err && limited 60 "$ZIPSTAT" "shm:$SOCKET" >>out 2>>err
}
ok "it starts" manager start
ok "its peers are answered" asks || diag_file err
is "in the log: where they come from" "$(grep -c 'zipperd: 3 sockets come from the service manager' log)" 1
is "in the log: one that is not named" "$(grep -c 'warn: the service manager listens on 127.0.0.1:[0-9]*, which no listen names: closed' log)" 1
ok "it stops" manager stop
is "it ends well" "$(cat answers)" "stop 0"
ok "the socket's file stays" test -S "$SOCKET"
# nobody is there now; the manager listens
pids=()
for n in 1 2 3 4 5 6; do
	if [ $((n % 2)) = 0 ]; then at=tcp:127.0.0.1:$PORT; else at=shm:$SOCKET; fi
	limited 60 "$ZIPSTAT" "$at" >"out.$n" 2>"err.$n" &
	pids+=($!)
done
# connections that wait: some of tcp, as ss says
waits() { [ "$(ss -Hltn "sport = :$PORT" | awk '{ print $2 }')" = 3 ]; }
if command -v ss >/dev/null; then
	ok "connections wait" wait_for 20 waits
else
	skip "connections wait" "no ss"
fi
ok "it starts again" manager start
for n in 1 2 3 4 5 6; do
	wait "${pids[n - 1]}"
	is "peer $n, who came between: status" $? 0 || diag_file "err.$n"
done
ok "it ends" manager end
# a socket of an RDMA device's address, which the module of Verbs takes
if [ -e "$ZIP_TOP_BUILDDIR/test/fakeverbs/.libs/fakeverbs.so" ]; then
	. "$ZIP_TOP_SRCDIR/test/lib/fake.sh"
	fake_fabric fka
	mkfifo more
	exec 8<>./more
	rm port
	background env LD_PRELOAD="$FAKE_PRELOAD" python3 -B "$ZIP_TOP_SRCDIR/test/lib/activate.py" port "$SOCKET.verbs" more "$ZIPPERD" \
		-o listen=a,b=fka:1@127.0.0.1:@PORT@ -o listen=a,b=shm:"$SOCKET.verbs" -o key_file="$TAP_TMP/keys" \
		-o module_dir="$TAP_TMP/modules" >/dev/null 2>log
	wait_for 20 test -s port || bail_out "activate.py does not start"
	echo start >&8
	ok "an RDMA device: it starts" wait_for 20 grep -q "listening on fka:1@127.0.0.1:$(cat port)" log || diag_file log
	is "an RDMA device: one socket is not named" "$(grep -c 'which no listen names: closed' log)" 1 || diag_file log
	echo end >&8
	wait $!
else
	skip "an RDMA device: it starts" "built without libibverbs"
fi
# meant for another process: it does not take them
background env LISTEN_PID=1 LISTEN_FDS=3 "$ZIPPERD" -o listen=a,b=shm:"$TAP_TMP/other.sock" -o key_file="$TAP_TMP/keys" --ready-fd 9 9>ready \
	>/dev/null 2>err
other=$!
wait_for 20 grep -q '^$' ready || diag_file err
is "sockets of another process" "$(grep -c 'service manager' err)" 0
kill $other
wait $other
done_testing
