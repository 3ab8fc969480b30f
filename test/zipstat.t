#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# zipstat: the account of the endpoint categories, and the counters of a running zipperd.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
ZIPSTAT=$ZIP_TOP_BUILDDIR/zipstat/zipstat
cd "$TAP_TMP" || exit 99
unset MLX5_TOTAL_UUARS MLX5_NUM_LOW_LAT_UUARS

# run NAME STATUS ARGUMENT...: runs zipstat; output in out and err
run() {
	local name=$1 wanted=$2
	shift 2
	limited 60 "$ZIPSTAT" "$@" >out 2>err
	is "$name: status" $? "$wanted"
}
# field CATEGORY COLUMN: prints a field of the CSV file out
field() {
	awk -F, -v row="$1" -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) c = i }
		$1 == row { print $c }' out
}

# --- endpoints: the paper's numbers for 16 threads
run "account" 0 --endpoints --csv
is "account: a line for each category, the head, and the naive way" "$(wc -l <out)" 8
for row in mpi-everywhere:256:100 2xdynamic:80:31.25 dynamic:48:18.75 shared-dynamic:32:12.5 static:16:6.25 mpi+threads:16:6.25 \
	naive:288:112.5; do
	IFS=: read -r name uuars share <<<"$row"
	is "account: $name" "$(field "$name" uuars) $(field "$name" uuars_percent)" "$uuars $share"
done
is "account: waste" "$(field mpi-everywhere waste_percent) $(field naive waste_percent)" "93.75 94.44"
is "account: the naive way is a context and a thread domain each" "$(field naive contexts) $(field naive uuars_used)" "16 16"
run "account of one thread" 0 --endpoints --csv -t 1
is "account of one thread: the naive way" "$(field naive uuars) $(field naive uuars_wasted)" "18 17"
run "account as a table" 0 --endpoints
matches "a table has a title" out '^Predicted for mlx5 devices: 16 threads'
run "one category, other threads" 0 --endpoints --csv -t 4 -p 2 -c 2xdynamic
is "one category, other threads: queue pairs" "$(field 2xdynamic qps) $(wc -l <out)" "16 2"
MLX5_TOTAL_UUARS=32 run "more static uUARs" 0 --endpoints --csv -c static
is "more static uUARs: all there, 16 of them used" "$(field static uuars) $(field static uuars_used)" "32 16"
MLX5_TOTAL_UUARS=none run "bad environment" 1 --endpoints
is "bad environment: its line" "$(cat err)" "zipstat: mpi-everywhere: MLX5_TOTAL_UUARS is 'none', not 1 to 512"
run "too many for the device" 1 --endpoints -t 4096 -c mpi-everywhere
matches "too many for the device: its line" err '^zipstat: mpi-everywhere: the device has no more than 8192 UAR pages$'
run "too many for some categories" 0 --endpoints -t 1025
is "too many for some categories: they say why, the others are there" \
	"$(grep -c "the device has no more than 8192 UAR pages" out) $(awk '$1 == "static" || $1 == "dynamic" { print $7, $11 }' out | tr '\n' ' ')" \
	"2 1025 1040 1025 16 " || diag_file out
run "too many for some categories, CSV" 1 --endpoints --csv -t 1025
is "too many for some categories, CSV: their error" "$(tail -n1 err) $(wc -l <out)" \
	"zipstat: mpi-everywhere: the device has no more than 8192 UAR pages 6"
run "many queue pairs" 0 --endpoints -t 600 -p 20
is "many queue pairs: columns stand apart" "$(awk '$1 == "mpi-everywhere" { print $7, $8 }' out)" "12000 1146028800"
run "no such device" 1 --endpoints -d none0
matches "no such device: its line" err '^zipstat: .*(no RDMA device none0|without libibverbs)'

# --- usage
run "help" 0 --help
run "version" 0 --version
for bad in "" "--endpoints tcp:127.0.0.1" "-c static tcp:127.0.0.1" "--endpoints -j job" "--endpoints -c stat" \
	"--endpoints -t 0" "--endpoints -t 5000" "--endpoints -t -4" "--endpoints -p x" "--nothing" "--csv one two" "--csv --json one" \
	"-i 0 one" "--endpoints -w"; do
	# shellcheck disable=SC2086 # words
	run "usage '$bad'" 2 $bad
	is "usage '$bad': one line" "$(wc -l <err) $(wc -l <out)" "1 0"
done
told() { # OPTION... TEXT: zipstat names the wrong option with this text
	"$ZIPSTAT" "${@:1:$#-1}" >out 2>err
	is "usage '${*:1:$#-1}': the option" "$(cat err)" "zipstat: ${!#}; try zipstat --help"
}
told --csv --nothing "there is no option --nothing"
told --csv -x "there is no option -x"
told --csv --user "--user needs a value"
told --csv -j "-j needs a value"
"$ZIPSTAT" --endpoints -c foo >out 2>err
is "usage '-c foo': the names" "$(cat err)" "zipstat: --category: \"foo\" is no category, but mpi-everywhere, 2xdynamic, dynamic, \
shared-dynamic, static and mpi+threads"
"$ZIPSTAT" --endpoints >/dev/full 2>err
is "a full disk: status and line" "$? $(grep -c '^zipstat: standard output: ' err)" "1 1"

# --- a running zipperd with two users
[ -x "$ZIPPERD" ] || bail_out "zipperd is not built"
key=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
printf 'me %s\nother %064d\nboss %064d\n' "$key" 7 9 >keys
chmod 600 keys
background "$ZIPPERD" -o listen=a=tcp:127.0.0.1:0 -o listen=b=tcp:127.0.0.1:0 -o key_file="$TAP_TMP/keys" \
	-o administrators=boss -o log_level=error --ready-fd 3 3>ready 2>log
wait_for 60 grep -q '^$' ready || bail_out "zipperd did not start: $(cat log)"
address() { sed -n "s/^$1=//p" ready; }
cat >waits.c <<'END'
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int rank, n = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		for (int i = 0; i < 3; i++)
			MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	else
		for (int i = 0; i < 3; i++)
			MPI_Recv(&n, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	while (rank == 0 && access("go", F_OK) != 0) {
		MPI_Iprobe(1, 1, MPI_COMM_WORLD, &n, MPI_STATUS_IGNORE);
		usleep(20000);
	}
	/* rank 1 sleeps here, and so tells what it has sent directly */
	MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 0, &n, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
END
compile waits.c waits || bail_out "waits.c does not compile"
# part JOB NAME [PORTS]: starts the part's one rank by hand
part() {
	local job=$1 ports=${3-}
	shift
	limited 240 env ZIPPER_JOB="$job" ZIPPER_PORTS="$ports" ZIPPER_PART="$1" ZIPPER_PARTS=a,b ZIPPER_ZIPPERD="$(address "$1")" ZIPPER_USER=me \
		ZIPPER_KEY="$key" ZIPPER_MODULE_DIR="$ZIP_TOP_BUILDDIR/common/.libs" "$MPIEXEC" -n 1 \
		-genv LD_PRELOAD "$PRELOAD_LIST" ./waits </dev/null
}
part job a >outA 2>&1 &
first=$!
part job b >outB 2>&1 &
second=$!
part straight a "a=tcp:127.0.0.1 b=tcp:127.0.0.1" >outC 2>&1 &
third=$!
part straight b >outD 2>&1 &
fourth=$!
export ZIPPER_USER=me ZIPPER_KEY=$key
crossed() { "$ZIPSTAT" --csv -j job "$(address a)" >out 2>err && grep -q '^a,b,3,12,' out; }
ok "three messages of four bytes went from a to b" wait_for 120 crossed
diag_file err
is "none of them directly" "$(awk -F, '$1 == "a" { print $9 $10 }' out)" 00
straight() { "$ZIPSTAT" --csv -j straight "$(address a)" >out 2>err && grep -Eq '^b,a,0,0,.*,1,4,0$' out; }
ok "another job's rank has told of one message that went directly" wait_for 120 straight
diag_file err
is "zipperd has forwarded nothing for it" "$(awk -F, 'NR > 1 { n += $3 + $4 } END { print n + 0 }' out)" 0
run "as a table" 0 -j job "$(address b)"
matches "as a table: the zipper" out "^zipper $(address b): release [0-9.]+, up [0-9:]+$"
matches "as a table: its use" out '^jobs 2 of 256, connections [0-9]+ of [0-9]+ '
matches "as a table: the workers" out '^workers \(part of a core\): a (<>|>) b [0-9]+%'
matches "as a table: the job" out '^job +me +runs +2 +[0-9:]+ +2 +1/1  a 1,b 1$'
matches "as a table: a direction" out '^ +a +b +3 +12 '
is "as a table: this job alone" "$(grep -c '^straight' out)" 0
diag_file out
# names FILTER: python prints that of the JSON in out
names() { python3 -c 'import json, sys; d = json.load(open("out"))["zippers"]; print(eval(sys.argv[1]))' "$1" 2>&1; }
run "as JSON" 0 --json "$(address b)"
is "as JSON: both jobs" "$(names 'sorted((j["id"], j["user"], j["state"], j["ranks"]) for j in d[0]["jobs"])')" \
	"[('job', 'me', 'runs', 2), ('straight', 'me', 'runs', 2)]"
is "as JSON: a direction" "$(names '[(l["messages"], l["bytes"]) for j in d[0]["jobs"] if j["id"] == "job" for l in j["directions"] if l["from"] == "a"]')" "[(3, 12)]"
is "as JSON: up, and no administrator" "$(names '(d[0]["up"], d[0]["all_jobs"])')" "(True, False)"
run "two zippers as JSON, of which one is not there" 1 --json "$(address b)" shm:@nobody
is "two zippers as JSON: what is there" "$(names '[z["up"] for z in d]') $(wc -l <err)" "[True, False] 1"
ZIPPER_KEY=$(printf %064d 9) run "an administrator" 0 -u boss "$(address a)"
is "an administrator: all jobs" "$(grep -cE '^(job|straight) +me +runs ' out)" 2
"$ZIPSTAT" -w -i 1 "$(address a)" >watched 2>err &
watcher=$!
twice() { [ "$(grep -c '^zipper tcp:' watched)" -ge 2 ]; }
ok "watched: again and again" wait_for 60 twice
kill $watcher
wait $watcher 2>/dev/null
(exec >&- && exec "$ZIPSTAT" -j job "$(address b)" 2>err)
is "no standard output: status and line" "$? $(grep -c '^zipstat: standard output: ' err)" "1 1"
run "another job" 0 --csv -j nojob "$(address b)"
is "another job: nothing" "$(wc -l <out)" 1
ZIPPER_KEY=$(printf %064d 7) run "another user's table" 0 -u other "$(address a)"
matches "another user's table: no jobs" out '^no jobs of yours$'
ZIPPER_KEY=$(printf %064d 7) run "another user" 0 --csv -u other "$(address a)"
is "another user: nothing" "$(wc -l <out)" 1
ZIPPER_KEY=$(printf %064d 8) run "a wrong key" 1 "$(address a)"
is "a wrong key: one line" "$(wc -l <err) $(grep -c ^zipstat: err)" "1 1"
ZIPPER_USER=me,you run "a name that is none" 1 "$(address a)"
is "a name that is none: its line" "$(cat err)" \
	"zipstat: ZIPPER_USER is no name of 1 to 64 printable characters without space and comma"
for name in a/b '#a'; do
	ZIPPER_USER=$name run "$name" 1 "$(address a)"
	is "$name: its line" "$(cat err)" \
		"zipstat: ZIPPER_USER can have no key: there is a '/' in it, or a '#' at its beginning"
done
ZIPPER_USER=me,you ZIPPER_KEY=$(printf %064d 7) run "... which -u makes up for" 0 --csv -u other "$(address a)"
ZIPPER_KEY='' ZIPPER_KEY_FILE=$TAP_TMP/keys run "the key in a file" 0 "$(address a)"
run "a bad address" 1 nowhere:at:all
is "a bad address: one line" "$(wc -l <err)" 1
run "a bad name" 1 -j 'two words' "$(address a)"
is "a bad name: one line" "$(cat err)" "zipstat: 'two words' is no name of a job"
# --- commands
export ZIPPER_KEY
ZIPPER_KEY=$(printf %064d 7)
run "a user does not drain" 1 -u other drain "$(address a)"
matches "a user does not drain: its line" err 'user other is no administrator of this zipperd'
run "a user does not end another's job" 1 -u other end me/job "$(address a)"
matches "a user does not end another's job: its line" err 'only an administrator may end jobs of another user'
ZIPPER_KEY=$(printf %064d 9)
run "drain" 0 -u boss drain "$(address a)"
is "drain: its line" "$(cat out)" "draining: no new jobs, and 2 jobs are to finish"
run "drained: it says so" 0 -u boss "$(address a)"
matches "drained: it says so: the line" out 'DRAINING: it takes no new jobs$'
ZIPPER_KEY=$key part third a >outE 2>&1
is "a new job is refused" "$(($? != 0))" 1
matches "a new job is refused: its line" outE 'takes no new jobs, as an administrator drains it'
run "no such job" 1 -u boss end me/nojob "$(address a)"
matches "no such job: its line" err 'there is no job nojob of user me here$'
run "an option" 0 -u boss set max_jobs 77 "$(address a)"
is "an option: its line" "$(cat out)" "max_jobs is 77 until zipperd starts again"
run "an option: it is so" 0 -u boss --json "$(address a)"
is "an option: it is so: in the status" "$(names '(d[0]["max_jobs"], d[0]["draining"])')" "(77, True)"
run "a bad value" 1 -u boss set max_jobs 0 "$(address a)"
matches "a bad value: its line" err 'set: max_jobs'
run "an option that does not change" 1 -u boss set memory 1G "$(address a)"
matches "an option that does not change: its line" err 'memory cannot change while zipperd runs'
run "no option" 1 -u boss set color red "$(address a)"
matches "no option: its line" err 'no option color may change, but ended_time, '
for bad in "drain" "end $(address a)" "set max_jobs $(address a)" "--json drain $(address a)"; do
	# shellcheck disable=SC2086 # words
	run "usage '$bad'" 2 $bad
done
run "resume" 0 -u boss resume "$(address a)"
is "resume: its line" "$(cat out)" "new jobs are taken again"
ZIPPER_KEY=$key
part doomed a >outE 2>&1 &
fifth=$!
part doomed b >outF 2>&1 &
sixth=$!
doomed() { "$ZIPSTAT" -j doomed "$(address a)" >out 2>err && grep -Eq '^doomed +me +runs ' out; }
ok "a job begins again" wait_for 120 doomed
run "a user ends an own job" 0 end doomed "$(address a)"
is "a user ends an own job: its line" "$(cat out)" "job me/doomed ends"
wait $fifth
five=$?
wait $sixth
is "... and its ranks hear it" "$((five != 0)) $(cat outE outF | grep -c 'its user has ended the job (zipstat end)')" "1 2" || diag_file outE
# two jobs run, and one is over, which gives its place to a new one
boss() { ZIPPER_KEY=$(printf %064d 9) "$ZIPSTAT" -u boss "$@" "$(address a)" >out 2>err; }
boss set max_jobs 3
boss check
is "a check: a job that is over takes no place" "$(grep -c 'takes no more' out)" 0 || diag_file out
boss set max_jobs 2
boss check
matches "... and one that runs does" out 'it has 2 jobs, and takes no more'
boss set max_jobs 77
# --- the HTTP server
ZIPPER_KEY=$(printf %064d 9) background "$ZIPSTAT" -u boss --listen 127.0.0.1:0 serve "$(address a)" shm:@nobody >url 2>serve.err
server=$!
cat >get.py <<'END'
import sys, urllib.error, urllib.request
url, method, host = sys.argv[1:4]
request = urllib.request.Request(url, method=method, headers={"Host": host} if host else {})
try:
    with urllib.request.urlopen(request, timeout=60) as r:
        print(r.status, r.headers["Content-Type"], file=sys.stderr)
        sys.stdout.write(r.read().decode())
except urllib.error.HTTPError as e:
    print(e.code, file=sys.stderr)
END
get() { limited 90 python3 get.py "$url$1" "${2:-GET}" "${3-}" >out 2>err; }
up() { [ -s url ] || grep -q libmicrohttpd serve.err; }
ok "the server starts" wait_for 60 up
if [ ! -s url ]; then
	skip "zipstat serve" "built without libmicrohttpd"
else
	url=$(sed -n 's,^\(http://127.0.0.1:[0-9]*\)/ .*,\1,p' url)
	get /metrics
	is "metrics: their type" "$(cat err)" "200 text/plain; version=0.0.4; charset=utf-8"
	matches "metrics: a counter" out "^zipper_messages_total\{zipper=\"$(address a)\",user=\"me\",job=\"job\",number=\"[0-9]+\",from=\"a\",to=\"b\"\} 3$"
	matches "metrics: a zipper that is not there" out '^zipper_up\{zipper="shm:@nobody"\} 0$'
	matches "metrics: the histogram" out '^zipper_forward_seconds_bucket\{.*,le="[+]Inf"\} [0-9]+$'
	is "metrics: every line is one" "$(grep -cvE '^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\} [0-9.]+)$' out)" 0
	is "metrics: a name is described once" "$(grep '^# TYPE' out | sort | uniq -d)" ""
	get /status.json
	is "the status: both zippers" "$(names '[z["up"] for z in d]')" "[True, False]"
	is "the status: all jobs" "$(names 'sorted(j["id"] for j in d[0]["jobs"] if j["state"] == "runs")')" "['job', 'straight']"
	get /
	matches "the page" out '^<title>zippers</title>$'
	get /nothing
	is "no such page" "$(cat err)" 404
	get / POST
	is "nothing but GET" "$(cat err)" 405
	get / GET evil.example:80
	is "another site's name" "$(cat err)" 403
	kill $server
	wait $server
	is "the server ends well" $? 0 || diag_file serve.err
fi
# --- the unit of systemd: its command, with its variables and those of the example, as systemd has them
conf=$ZIP_TOP_SRCDIR/etc/zipstat.conf unit=$ZIP_TOP_BUILDDIR/etc/zipstat.service
is "the unit: its variables" "$(grep -o '\$[A-Z]*' "$unit" | tr '\n' ' ')" "\$LISTEN \$ADDRESSES "
is "the unit: the example has them, and the unit's own values" \
	"$(grep -oE '^#?(ADDRESSES=|LISTEN=.*|ZIPPER_USER=.*|ZIPPER_KEY_FILE=.*)' "$conf" | tr '\n' ' ')" \
	"ADDRESSES= #$(sed -n 's/^Environment=\(LISTEN=.*\)/\1/p' "$unit") #ZIPPER_USER=$(sed -n 's/^User=//p' "$unit") #ZIPPER_KEY_FILE=/etc/zipper/zipstat.key "
printf 'boss %064d\n' 9 >boss.key
chmod 600 boss.key
read -ra start < <(sed -n "s,^ExecStart=[^ ]*,,p" "$unit" | sed "s,\$LISTEN,127.0.0.1:0,; s,\$ADDRESSES,$(address a) shm:@nobody,")
ZIPPER_KEY='' ZIPPER_KEY_FILE=boss.key ZIPPER_USER=boss background "$ZIPSTAT" "${start[@]}" >url 2>serve.err
server=$!
ok "the unit: the server starts" wait_for 60 up
if [ -s url ]; then
	url=$(sed -n 's,^\(http://127.0.0.1:[0-9]*\)/ .*,\1,p' url)
	get /status.json
	is "the unit: both zippers" "$(names '[z["up"] for z in d]')" "[True, False]"
	kill $server
	wait $server
	is "the unit: a stop is no failure" $? 0 || diag_file serve.err
fi
is "the unit: no other start after a wrong command line" "$(sed -n 's/^RestartPreventExitStatus=//p' "$unit")" 2
for bad in 127.0.0.1 nowhere:80 127.0.0.1:x '[::1:80'; do
	run "serve at $bad" 1 --listen "$bad" serve "$(address a)"
	is "serve at $bad: one line" "$(wc -l <err)" 1
done
run "serve without zippers" 2 serve
touch go
wait $first
is "the job was not disturbed, part a" $? 0 || diag_file outA
wait $second
is "the job was not disturbed, part b" $? 0 || diag_file outB
wait $third
is "nor the one with a direct link" $? 0 || diag_file outC
wait $fourth
is "... its other part" $? 0 || diag_file outD
ended() { "$ZIPSTAT" "$(address a)" >out 2>err && grep -Eq '^job +me +ended +2 .* ago\)$' out && grep -Eq '^straight +me +ended ' out; }
ok "jobs that have ended stay for a time, with their counters" wait_for 60 ended
diag_file out
done_testing
