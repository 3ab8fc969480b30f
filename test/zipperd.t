#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# zipperd's command line, configuration, signals and manual pages.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
cd "$TAP_TMP" || exit 99
umask 077
key=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
echo "tester $key" >keys
cat >good.conf <<EOF
# two clusters
listen = lgm=tcp:127.0.0.1:0
listen = das4=tcp:127.0.0.1:0
listen = lgm,das4=shm:$TAP_TMP/sock
key_file = $TAP_TMP/keys
EOF

# start ARGUMENTS...: starts zipperd in the background; addresses in ready, messages in log, pid in ZD
start() {
	: >log
	rm -f ready
	mkfifo fifo
	"$ZIPPERD" "$@" --ready-fd 3 2>log 3>fifo &
	ZD=$!
	TAP_PIDS+=("$ZD")
	limited 20 cat fifo >ready
	rm -f fifo
}
# stop [SIGNAL]: ends it; exit status in STATUS
stop() {
	kill -"${1:-TERM}" "$ZD"
	wait "$ZD" 2>/dev/null
	STATUS=$?
}
# in_log TEXT: does the text come within some seconds?
in_log() { wait_for 5 grep -qF -- "$1" log || { cat log; return 1; }; }
fails() { # STATUS TEXT COMMAND...: the command exits with this status, and this text on stderr
	local status=$1 text=$2 rc
	shift 2
	"$@" >out 2>err
	rc=$?
	cat out err
	[ "$rc" = "$status" ] && grep -qF -- "$text" err
}

# --- configuration
is "-t accepts a good file" "$("$ZIPPERD" -t -c good.conf)" "good.conf: ok"
bad() { # NAME TEXT LINE...: an error in line 2 of a file
	local name=$1 text=$2
	shift 2
	{ echo "key_file = $TAP_TMP/keys"; printf '%s\n' "$@"; } >bad.conf
	ok "$name" fails 1 "$text" "$ZIPPERD" -t -c bad.conf
}
bad "unknown option" "bad.conf:2: " "lisen = a=tcp:1.2.3.4"
bad "no address" "bad.conf:2: " "listen = a,b"
bad "bad address" "bad.conf:2: " "listen = a=tcp:1.2.3.4:99999"
bad "fabric named twice" "bad.conf:2: " "listen = a,a=tcp:1.2.3.4"
bad "value out of range" "bad.conf:2: " "frag_bytes = 2M"
bad "no number" "bad.conf:2: " "max_jobs = many"
bad "unknown log level" "bad.conf:2: " "log_level = loud"
bad "given twice" "bad.conf:3: " "max_jobs = 3" "max_jobs = 4"
bad "nowhere to listen" "bad.conf: no listen" "max_jobs = 3"
bad "one fabric only" "bad.conf: listen names one fabric only (a)" "listen = a=tcp:1.2.3.4"
two="listen = a,b=tcp:127.0.0.1:0"
bad "share below a message" "bad.conf: dest_share (8192) does not hold one message" "$two" "dest_share = 8K"
bad "window below a fragment" "bad.conf: rdv_window (65536) is smaller than frag_bytes (131072)" "$two" "rdv_window = 64K" "frag_bytes = 128K"
bad "fragments of some bytes" "bad.conf:3: frag_bytes: '100' is less than 4K" "$two" "frag_bytes = 100"
bad "memory too small" "bad.conf: memory (4194304) is not even twice" "$two" "memory = 4M"
bad "bad spin" "bad.conf:3: spin: 'fast' is not auto, never or a number from 0 to 1000000" "$two" "spin = fast"
bad "bad cores" "bad.conf:3: cpus: '0,' are no cores: numbers to 65535 and ranges, as 0-3,8" "$two" "cpus = 0,"
for weights in bob bob:0 bob:101 bob:3x bob:3, :3 bob:3,,al:2; do
	bad "user_weights = $weights" "bad.conf:3: user_weights: '$weights' is not a list of users with weights from 1 to 100: USER:" "$two" \
		"user_weights = $weights"
done
bad "two weights of a user" "bad.conf:3: user_weights: user bob has two weights" "$two" "user_weights = bob:3,al:2,bob:4"
bad "an address given twice" "bad.conf:3: listen: tcp:1.2.3.4:7474 is given twice" "listen = a=tcp:1.2.3.4" \
	"listen = b=tcp:1.2.3.4:7474"
bad "next: no fabric" "bad.conf:3: next: expected FABRIC or FABRIC=ADDRESS" "$two" "next = =tcp:1.2.3.4"
bad "next: a bad address" "bad.conf:3: next: " "$two" "next = a=tcp:1.2.3.4:99999"
bad "next: a device that is nowhere" "bad.conf:3: next: mlx5_0:1: no host is named" "$two" "next = a=mlx5_0:1"
bad "next: a fabric that is not served" "bad.conf: next names fabric c, which no listen serves" "$two" "next = c"
echo "$two" >nokey.conf
ok "no key file named" fails 1 "nokey.conf: no key_file" "$ZIPPERD" -t -c nokey.conf
printf '%s\n' "$two" "key_file = $TAP_TMP/nokeys" >nokey.conf
ok "a key file that is not there" fails 1 "nokey.conf:2: key_file: $TAP_TMP/nokeys: No such file" "$ZIPPERD" -t -c nokey.conf
ok "... is named at the start as well" fails 1 "nokey.conf:2: key_file: $TAP_TMP/nokeys: No such file" "$ZIPPERD" -c nokey.conf
bad "a host that does not resolve" "bad.conf:3: listen: nohost.invalid: " "$two" "listen = c=tcp:nohost.invalid:1"
ok "no such file" fails 1 "nonexistent.conf" "$ZIPPERD" -t -c nonexistent.conf
cp keys open.keys && chmod 644 open.keys
ok "key file open to others" fails 1 "open.keys: others may use this key file (mode 644)" \
	"$ZIPPERD" -t -c good.conf -o "key_file=$TAP_TMP/open.keys"
echo "tester 1234" >short.keys
ok "bad key" fails 1 "short.keys:1: a key is 64 hexadecimal digits" \
	"$ZIPPERD" -t -c good.conf -o "key_file=$TAP_TMP/short.keys"
# --- keys are made, put in, and taken out
managed=(-o "listen=a,b=shm:$TAP_TMP/s" -o "key_file=$TAP_TMP/managed")
"$ZIPPERD" --make-key alice --until 2999-12-31 >alice.key
ok "a key is made" grep -Eqx 'alice [0-9a-f]{64} until=2999-12-31' alice.key || diag_file alice.key
ok "another one is another one" test "$("$ZIPPERD" --make-key bob)" != "$("$ZIPPERD" --make-key bob)"
"$ZIPPERD" --make-key bob >bob.key
ok "keys are put into a file that was not there" "$ZIPPERD" --put-keys "${managed[@]}" <alice.key
is "which nobody else can read" "$(stat -c %a managed)" 600
echo '# of the group' >>managed
ok "a second user" "$ZIPPERD" --put-keys "${managed[@]}" <bob.key
is "everything is there" "$(LC_ALL=C sort managed)" "$(LC_ALL=C sort alice.key bob.key - <<<'# of the group')"
ok "zipperd takes the file" "$ZIPPERD" -t "${managed[@]}"
"$ZIPPERD" --make-key alice >alice.new
ok "a new key" "$ZIPPERD" --put-keys "${managed[@]}" <alice.new
is "takes the place of the old one" "$(LC_ALL=C sort managed)" "$(LC_ALL=C sort alice.new bob.key - <<<'# of the group')"
cp managed managed.before
printf 'carol 12\n' >carol.key
ok "a bad line" fails 1 "standard input:1: a key is 64 hexadecimal digits" "$ZIPPERD" --put-keys "${managed[@]}" <carol.key
ok "no line" fails 1 "standard input: there is no key in it" "$ZIPPERD" --put-keys "${managed[@]}" </dev/null
ok "a user who has none" fails 1 "managed: there is no key for user carol" "$ZIPPERD" --drop-key carol "${managed[@]}"
ok "a day that there is not" fails 1 "until: '2030-02-30' is not a day" "$ZIPPERD" --make-key alice --until 2030-02-30
ok "a name that cannot be" fails 1 "'a/b' is no name of a user" "$ZIPPERD" --make-key a/b
: >managed.new
ok "somebody else is at work" fails 1 "managed.new is there: " "$ZIPPERD" --drop-key bob "${managed[@]}"
rm managed.new
is "the file has not changed" "$(cat managed)" "$(cat managed.before)"
printf '\357\273\277' | cat - managed.before >managed
"$ZIPPERD" --make-key alice >alice.new
ok "a file with a byte order mark" "$ZIPPERD" --put-keys "${managed[@]}" <alice.new
ok "a key is taken out" "$ZIPPERD" --drop-key bob "${managed[@]}"
is "and no other" "$(sed '1s,^\xef\xbb\xbf,,' managed | LC_ALL=C sort)" "$(LC_ALL=C sort alice.new - <<<'# of the group')"
ok "the last key stays" fails 1 "the key of user alice is the only one" "$ZIPPERD" --drop-key alice "${managed[@]}"
ok "options alone make a configuration" "$ZIPPERD" -t -o "listen=a,b=shm:$TAP_TMP/s" -o "key_file=$TAP_TMP/keys"
ok "bad option on the command line" fails 1 "-o: " "$ZIPPERD" -t -c good.conf -o max_jobs=0
ok "argument that does not belong there" fails 2 'unexpected argument "x"' "$ZIPPERD" x
ok "unknown command line option" fails 2 "zipperd --help" "$ZIPPERD" --frobnicate
ok "--help" "$ZIPPERD" --help
ok "--version" "$ZIPPERD" -V
"$ZIPPERD" --print-config -c good.conf -o max_jobs=77 >printed.conf
is "what --print-config prints is a configuration" "$("$ZIPPERD" -t -c printed.conf)" "printed.conf: ok"
is "and the same one" "$("$ZIPPERD" --print-config -c printed.conf)" "$(cat printed.conf)"
ok "a full disk" fails 1 "standard output: No space left on device" sh -c '"$@" >/dev/full' sh "$ZIPPERD" --print-config -c good.conf
is "... is said in one line" "$(wc -l <err)" 1
"$ZIPPERD" --print-config -o "listen=a,b=shm:$TAP_TMP/x #y" -o "next=a=shm:$TAP_TMP/z #1" -o "key_file=$TAP_TMP/keys" >odd.conf
is "what would be a comment is quoted" "$("$ZIPPERD" --print-config -c odd.conf)" "$(cat odd.conf)"
"$ZIPPERD" --print-config -c good.conf -o next=lgm -o next=lgm=tcp:1.2.3.4 >printed.conf
is "next: the same one" "$("$ZIPPERD" --print-config -c printed.conf | grep '^next')" 'next = lgm
next = lgm=tcp:1.2.3.4:7474'
"$ZIPPERD" --print-config -c good.conf -o max_jobs=77 >printed.conf
ok "with what was set" grep -qx 'max_jobs = 77' printed.conf

# --- manual pages
is "zipperd.conf(5) has the options of the table" \
	"$(sed -n '/^\.\\" the table in/,/^\.\\" end of the table/p' "$ZIP_TOP_SRCDIR/man/zipperd.conf.5" | sed '1d;$d')" \
	"$("$ZIPPERD" --mdoc | sed 's#^\.Ql /.*/leiden-zipper \.$#.Pa leiden-zipper\nbelow the\n.Cm libdir\nof the build, or of the place that the installation was moved to.#')"
if command -v mandoc >/dev/null; then
	for page in zipperd.8 zipperd.conf.5; do
		is "$page is good mdoc" "$(mandoc -T lint -W warning "$ZIP_TOP_SRCDIR/man/$page" 2>&1)" ""
	done
else
	skip "manual pages are good mdoc" "no mandoc here"
fi
sed "s|^key_file.*|key_file = $TAP_TMP/keys|" "$ZIP_TOP_SRCDIR/etc/zipperd.conf" >example.conf
is "the example is a configuration" "$("$ZIPPERD" -t -c example.conf)" "example.conf: ok"

# --- descriptors: they limit max_connections
(ulimit -n 64 && exec "$ZIPPERD" -c good.conf --ready-fd 3 3>ready 2>log) &
ZD=$!
TAP_PIDS+=("$ZD")
ok "fewer descriptors than connections" in_log "max_connections is 48 instead of 16384: more than 64 descriptors may not be open"
stop
rm -f ready
(ulimit -n 64 && exec "$ZIPPERD" -c good.conf --die-with-parent --ready-fd 3 3>ready 2>log) &
ZD=$!
TAP_PIDS+=("$ZD")
wait_for 20 grep -q '^$' ready
stop
is "who has started one for a job is not told so" "$(grep max_connections log)" ""

# --- running
all=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
last=${all##*[-,]}
start -c good.conf -o "cpus=$last"
is "cpus: all its threads run there" "$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "/proc/$ZD/task/"*/status | sort -u)" "$last"
stop
ok "cores that are not all there are refused" fails 1 "cpus = $last,65535: not all of these cores are there, or allowed" \
	"$ZIPPERD" -c good.conf -o "cpus=$last,65535"
start -c good.conf
is "--ready-fd: a line for each address and an empty one" "$(wc -l <ready)" 4
ok "with the port that was chosen" grep -qE '^lgm=tcp:127\.0\.0\.1:[1-9][0-9]*$' ready
ok "and all fabrics of an address" grep -qxF "lgm,das4=shm:$TAP_TMP/sock" ready
port=$(sed -n 's/^lgm=tcp:127.0.0.1://p' ready)
ok "a second one on the same port says so" fails 1 "tcp:127.0.0.1:$port" "$ZIPPERD" -o "listen=a,b=tcp:127.0.0.1:$port" \
	-o "key_file=$TAP_TMP/keys"
ok "also on the same socket" fails 1 "shm:$TAP_TMP/sock" "$ZIPPERD" -o "listen=a,b=shm:$TAP_TMP/sock" \
	-o "key_file=$TAP_TMP/keys"
echo "broken" >keys
kill -HUP "$ZD"
ok "SIGHUP with a broken key file changes nothing" in_log "reload failed, everything stays as it was: $TAP_TMP/keys:1:"
echo "tester $key" >keys
kill -HUP "$ZD"
ok "SIGHUP reads keys and log level again" in_log "keys and log level were read again"
stop TERM
is "SIGTERM: exit status 0" "$STATUS" 0
ok "and the socket is gone" test ! -e sock
{ cat good.conf; echo "log_level = error"; } >quiet.conf
start -c quiet.conf -o log_level=info
kill -HUP "$ZD"
ok "options count after the file at SIGHUP too" in_log "keys and log level were read again"
sed -i 's/^log_level.*/log_level = warn\nmax_jobs = 7/' quiet.conf
kill -HUP "$ZD"
ok "and what is not read again is named" in_log "warn: max_jobs has changed in the configuration: it takes effect at the next start"
stop TERM
# printed settings: listen and next have as many lines as they need, and options that are not set are comments
{ cat good.conf; printf '%s\n' "cpus = $last" "next = lgm" "next = das4"; } >many.conf
# shellcheck disable=SC2016 # sed's
for change in '/shm:/d listen' '$d next' '/^cpus/d cpus' '$alisten=lgm=tcp:127.0.0.1:0 listen'; do
	cp many.conf changed.conf
	start -c changed.conf
	sed -i "${change% *}" changed.conf
	kill -HUP "$ZD"
	ok "SIGHUP: it is ${change#* } that has changed (${change% *})" in_log "warn: ${change#* } has changed in the configuration"
	stop TERM
done
# beside one that ends: it takes the addresses over
port=$(start -c good.conf && sed -n 's/^lgm=tcp:127.0.0.1://p' ready && stop TERM)
printf '%s\n' "listen = lgm,das4=tcp:127.0.0.1:$port" "listen = lgm,das4=shm:$TAP_TMP/sock" "key_file = $TAP_TMP/keys" >same.conf
start -c same.conf
old=$ZD
{ sleep 0.3 && kill "$old"; } &
start -c same.conf
ok "starts beside one that ends soon" test -s ready || diag_file log
wait "$old"
is "which ends in order" $? 0
ok "and leaves the new one its socket" test -e sock
stop TERM
start -c good.conf
stop INT
is "SIGINT: exit status 0" "$STATUS" 0
start -c good.conf
stop KILL
start -c good.conf
ok "starts again where one was killed" test -s ready
stop TERM

# --- addresses that it cannot bind: one line, which names each once
refused() { # NAME ADDRESS REASON
	limited 20 "$ZIPPERD" -o "listen=a,b=$2" -o key_file="$TAP_TMP/keys" >out 2>err
	is "$1" "$? $(cat err)" "1 zipperd: error: cannot listen on $2: $3"
}
background python3 -c 'import socket, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
print(s.getsockname()[1], flush=True)
time.sleep(600)' >taken
wait_for 20 test -s taken
refused "a port that is taken" "tcp:127.0.0.1:$(cat taken)" "Address already in use"
refused "a socket in a folder that is not there" "shm:$TAP_TMP/no/socket" "No such file or directory"
limited 20 "$ZIPPERD" -o listen=a,b=tcp:nohost.invalid:1 -o key_file="$TAP_TMP/keys" >out 2>err
matches "a host that does not resolve" err '^zipperd: error: cannot listen on tcp:nohost.invalid:1: nohost.invalid: [A-Z][a-z ]*$'
limited 20 "$ZIPPERD" -o listen=a,b=none0:1 -o key_file="$TAP_TMP/keys" >out 2>err
matches "a device that is not there" err '^zipperd: error: cannot listen on none0:1: (there is no RDMA device none0|no verbs on this host|there is no .*/zipverbs\.so)'
limited 20 "$ZIPPERD" -o listen=a,b=none0:1 -o key_file="$TAP_TMP/keys" -o module_dir="$TAP_TMP" >out 2>err
matches "no module: which option is for that" err "none0:1: there is no $TAP_TMP/zipverbs\.so \(.*module_dir.*ZIPPER_MODULE_DIR"

printf '%s\n' "key_file = $TAP_TMP/keys" "listen = a,b=shm:$TAP_TMP/no/socket" >file.conf
ok "... by its line, where a file has it" fails 1 "error: file.conf:2: cannot listen on shm:$TAP_TMP/no/socket: No such" \
	limited 20 "$ZIPPERD" -c file.conf

# --- its starter
mkfifo fifo hold
bash -c '"$1" -c good.conf --ready-fd 3 --die-with-parent 2>log 3>fifo & echo $! >pid; read -r _ <hold' - "$ZIPPERD" &
starter=$!
TAP_PIDS+=("$starter")
limited 20 cat fifo >ready
wait_for 20 test -s pid # its starter may be slower than it
pid=$(cat pid)
ok "--die-with-parent: runs" kill -0 "$pid"
kill "$starter"
is_over() { ! kill -0 "$pid" 2>/dev/null; }
gone() { wait_for 5 is_over || { kill "$pid"; return 1; }; }
ok "and ends with its starter" gone
rm -f fifo

# --- systemd: a socket in its place writes down what zipperd says
cat >systemd.py <<'EOF'
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
s.settimeout(120)
text = ""
while "STOPPING" not in text:
    text = s.recv(1000).decode().split("\n")[0]
    print(text, flush=True)
EOF
start_under_systemd() { # NAME=VALUE...: its environment
	rm -f notify
	background python3 systemd.py "$TAP_TMP/notify" >notified
	systemd=$!
	wait_for 20 test -e notify
	# shellcheck disable=SC2163 # NAME=VALUE
	export NOTIFY_SOCKET=$TAP_TMP/notify "$@"
	start -c good.conf
	unset NOTIFY_SOCKET "${@%%=*}"
}
if command -v python3 >/dev/null; then
	start_under_systemd
	stop TERM
	wait "$systemd"
	is "systemd is told" "$(tr '\n' ' ' <notified)" "READY=1 STOPPING=1 "

	lives() { [ "$(grep -c WATCHDOG=1 notified)" -ge 3 ]; }
	start_under_systemd WATCHDOG_USEC=150000
	ok "systemd's watchdog hears that it lives" wait_for 20 lives
	stop TERM
	wait "$systemd"
	is "... until it ends" "$(tail -n 1 notified)" "STOPPING=1"
else
	skip "systemd is told" "no python3"
fi
# --- started without standard error: no file that it opens takes that number
mkfifo fifo
(exec "$ZIPPERD" -c good.conf --ready-fd 3 3>fifo 2>&-) &
ZD=$!
TAP_PIDS+=("$ZD")
limited 20 cat fifo >ready
rm -f fifo
is "no socket in place of standard error" "$(readlink "/proc/$ZD/fd/2" | grep -cE '^(socket|anon_inode|pipe)')" 0
ok "... and it serves" test -s ready
stop
is "... and ends" "$STATUS" 0

done_testing
