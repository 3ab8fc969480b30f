#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs over Verbs, on the fake of libibverbs: endpoints, copies, waiting, direct delivery.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/fake.sh"
. "$ZIP_TOP_SRCDIR/test/lib/fake-job.sh"

# With one thread for both directions and with one for each; each direction has an endpoint on a device. Their resources are those
# of unit/verbs/endpoint; the fake reports no pages.
in_category() { # CATEGORY THREADS WANTED: contexts, PDs, TDs and parent domains of each endpoint
	local name="$1, $2"
	fake_fabric fka/mw/tds=32,fkb/ib/mw/tds=32
	zipper -o endpoints="$1" -o threads="$2"
	bridge "$name" 300000 4
	bridge "$name, small messages" 1000 50
	end_zipper "$name"
	is "$name: memory was reached from outside" "$(($(fakectl count read) > 15)) $(($(fakectl count write) > 15))" "1 1"
	is "$name: nothing that the Verbs do not allow" "$(fakectl complaints)" 0 || diag_file "$TAP_TMP/zipperd"
	is "$name: completion queues without locks" "$(grep -c 'with locks instead' "$TAP_TMP/zipperd")" 0 || diag_file "$TAP_TMP/zipperd"
	is "$name: zipperd says what its endpoints take" "$(grep -F " fka: $1 endpoint: " "$TAP_TMP/zipperd" |
		sed -n 's/.*CTXs \([0-9]*\), PDs \([0-9]*\), TDs \([0-9]*\), parent domains \([0-9]*\), beside .*/\1 \2 \3 \4/p' |
		sort | paste -sd,)" "$3" || diag_file "$TAP_TMP/zipperd"
}
while read -r category takes; do
	in_category "$category" pair "$takes"
	in_category "$category" direction "$takes"
done <<-END
	mpi-everywhere 1 1 0 0,1 1 0 0
	2xdynamic 0 0 3 2,0 0 4 2
	dynamic 0 0 1 1,0 0 2 1
	shared-dynamic 0 0 1 1,0 0 1 1
	static 0 0 0 0,0 0 0 0
	mpi+threads 0 0 0 0,0 0 0 0
END

# --- ranks whose threads have endpoints of their own
compile "$ZIP_TOP_SRCDIR/test/programs/p2p/endpoint_threads.c" "$TAP_TMP/endpoint_threads" || bail_out "endpoint_threads.c does not compile"
threads_in_category() { # CATEGORY
	local name="ranks: $1" rc
	fake_fabric fka/mw/tds=64,fkb/ib/mw/tds=64
	zipper
	ZIPPER_VERBS_ENDPOINTS=$1 part B 10 &
	second=$!
	ZIPPER_VERBS_ENDPOINTS=$1 part A 10
	rc=$?
	wait $second
	is "$name: threads at endpoints of their own" "$rc $?" "0 0"
	is "$name: nothing is wrong" "$(cat "$TAP_TMP/outA" "$TAP_TMP/outB" | grep -c -e ' ok$' -e '^No errors$')" 5 ||
		{ diag_file "$TAP_TMP/outA"; diag_file "$TAP_TMP/outB"; diag_file "$TAP_TMP/zipperd"; }
	end_zipper "$name"
	is "$name: memory was reached from outside" "$(($(fakectl count read) > 15)) $(($(fakectl count write) > 15))" "1 1"
	is "$name: nothing that the Verbs do not allow" "$(fakectl complaints)" 0 || diag_file "$TAP_TMP/zipperd"
}
program=$TAP_TMP/endpoint_threads
export ZIPPER_ENDPOINTS=4
for category in mpi-everywhere 2xdynamic dynamic shared-dynamic static mpi+threads; do threads_in_category $category; done
unset program ZIPPER_ENDPOINTS

# --- zipperd sleeps while a job is silent: its share of a processor, in percent
ticks() { sed 's/.*) //' "/proc/$zipper/stat" | awk '{ print $12 + $13 }'; } # of all its threads
for threads in pair direction; do
	fake_fabric fka/mw,fkb/ib/mw
	zipper -o threads=$threads
	rm -f "$TAP_TMP/go" "$TAP_TMP/outA" "$TAP_TMP/outB"
	part B 1000 50 "$TAP_TMP/go" &
	second=$!
	part A 1000 50 "$TAP_TMP/go" &
	first=$!
	ok "silent, $threads: all came" wait_for 60 all_rounds
	sleep 0.5
	before=$(ticks) since=${EPOCHREALTIME/./}
	sleep 2
	share=$((($(ticks) - before) * 100 * 1000000 / $(getconf CLK_TCK) / (${EPOCHREALTIME/./} - since)))
	is "silent, $threads: once for each device zipperd says that it has no such completion queues as wanted" \
		"$(grep -o 'fk.: no single-threaded completion queues (.*): with locks' "$TAP_TMP/zipperd" | sort | tr '\n' ' ')" \
		"$(printf '%s: no single-threaded completion queues (Operation not supported): with locks ' fka fkb)" || diag_file "$TAP_TMP/zipperd"
	ok "silent, $threads: zipperd sleeps ($share % of a processor)" test "$share" -lt 5
	touch "$TAP_TMP/go"
	wait $first && wait $second
	is "silent, $threads: the job ends" $? 0
	end_zipper "silent, $threads"
done

# --- messages are not copied on the way, except those that have to wait.
# All processes that open devices keep registered memory from their children.
copied() { # BYTES of messages: prints the counters of each direction
	rm -f "$TAP_TMP/go" "$TAP_TMP/outA" "$TAP_TMP/outB"
	part B "$1" 5 "$TAP_TMP/go" &
	second=$!
	part A "$1" 5 "$TAP_TMP/go" &
	first=$!
	wait_for 60 all_rounds
	ZIPPER_USER=me ZIPPER_KEY=$key "$ZIP_TOP_BUILDDIR/zipstat/zipstat" --csv "$tcp" | cut -d, -f1-4,6 >"$TAP_TMP/traffic"
	touch "$TAP_TMP/go"
	wait $first && wait $second
}
fake_fabric fka/mw/oldfork,fkb/ib/mw
zipper -o listen=C=tcp:127.0.0.1:0
tcp=$(address C)
ok "large messages: a job" copied 300000 || diag_file "$TAP_TMP/outA"
is "large messages: no byte is copied" "$(tail -n +2 "$TAP_TMP/traffic" | tr '\n' ' ')" "A,B,12,3000000,0 B,A,12,3000000,0 "
ok "small messages: a job" copied 1000
# one message to each rank may wait for its link, which is changing over from TCP
is "small messages: no byte is copied but of those that wait for a link" "$(awk -F, 'NR > 1 && $4 == 10000 && $5 <= 2000' "$TAP_TMP/traffic" | wc -l)" 2 ||
	diag_file "$TAP_TMP/traffic"
end_zipper "not copied"
is "not copied: nothing that the Verbs do not allow" "$(fakectl complaints)" 0

# --- a message to several clusters is read once from the root's memory, and written into that of every leader
compile "$ZIP_TOP_SRCDIR/test/lib/broadcasts.c" "$TAP_TMP/broadcasts" || bail_out "broadcasts.c does not compile"
for threads in pair direction; do
	fake_fabric fka/mw,fkb/ib/mw,fkc/mw
	zipper -o listen=C=fkc:1@127.0.0.1:0 -o threads=$threads
	others=()
	for letter in B C; do
		parts=A,B,C program=$TAP_TMP/broadcasts ZIPPER_TUNE="all multicast=yes patience=60000" part $letter 300000 40 &
		others+=($!)
	done
	parts=A,B,C program=$TAP_TMP/broadcasts ZIPPER_TUNE="all multicast=yes patience=60000" part A 300000 40
	rc=$?
	for pid in "${others[@]}"; do wait "$pid" || rc=$?; done
	is "three clusters, $threads: status" $rc 0 || { diag_file "$TAP_TMP/outA"; diag_file "$TAP_TMP/zipperd"; }
	reads=$(fakectl count read) writes=$(fakectl count write)
	# the first messages may go before memory can be opened
	ok "three clusters, $threads: zipperd reads ($reads)" test "$reads" -gt 60
	# a closing link writes once more, without bytes, to see that all has arrived
	ok "three clusters, $threads: and writes twice as often ($writes)" test "$writes" -ge $((2 * reads)) -a "$writes" -lt $((2 * reads + 20))
	end_zipper "three clusters, $threads"
	is "three clusters, $threads: nothing that the Verbs do not allow" "$(fakectl complaints)" 0 || diag_file "$TAP_TMP/zipperd"
done

# --- two zippers: large messages of each pair take both, and each zipper moves them from memory to memory
compile "$ZIP_TOP_SRCDIR/test/programs/p2p/p2p_mixed.c" "$TAP_TMP/p2p_mixed" || bail_out "p2p_mixed.c does not compile"
fake_fabric fka/mw,fkb/ib/mw
zipper -o listen=C=tcp:127.0.0.1:0
first_zipper=$zipper tcp=$(address C) ALSO_A=,$(address A) ALSO_B=,$(address B)
zipper -o listen=C=tcp:127.0.0.1:0
rm -f "$TAP_TMP/go"
program=$TAP_TMP/p2p_mixed part B 10 &
second=$!
program=$TAP_TMP/p2p_mixed part A 10
rc=$?
wait $second
is "two zippers: status" "$rc $?" "0 0" || diag_file "$TAP_TMP/outA"
is "two zippers: all came" "$(cat "$TAP_TMP/outA" "$TAP_TMP/outB" | grep -c ' ok$')" 4
rm -f "$TAP_TMP/outA" "$TAP_TMP/outB"
part B 300000 5 "$TAP_TMP/go" &
second=$!
part A 300000 5 "$TAP_TMP/go" &
first=$!
wait_for 60 all_rounds
for each in "$tcp" "$(address C)"; do
	ZIPPER_USER=me ZIPPER_KEY=$key "$ZIP_TOP_BUILDDIR/zipstat/zipstat" --csv "$each" | tail -n +2 | cut -d, -f1-4,6
done >"$TAP_TMP/traffic"
touch "$TAP_TMP/go"
wait $first && wait $second
ALSO_A='' ALSO_B=''
is "two zippers: each has one of two pairs, and copies nothing" "$(sort "$TAP_TMP/traffic" | tr '\n' ' ')" \
	"A,B,6,1500000,0 A,B,6,1500000,0 B,A,6,1500000,0 B,A,6,1500000,0 "
kill "$first_zipper"
wait "$first_zipper"
is "two zippers: the first one ends" $? 0
end_zipper "two zippers"
is "two zippers: nothing that the Verbs do not allow" "$(fakectl complaints)" 0

# --- a message that no rank receives: the program is wrong, but natively it ends, too
cat >"$TAP_TMP/open.c" <<'END'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	enum { BYTES = 300000 };
	static char out[BYTES], in[BYTES];
	MPI_Request request;
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 5; i++) /* until it goes from memory to memory */
		MPI_Sendrecv(out, BYTES, MPI_CHAR, size - 1 - rank, 1, in, BYTES, MPI_CHAR, size - 1 - rank, 1, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
	if (argc > 1 && rank == 0) /* its end is not waited for */
		MPI_Recv(in, BYTES, MPI_CHAR, size - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 0)
		MPI_Isend(out, BYTES, MPI_CHAR, size - 1, 3, MPI_COMM_WORLD, &request);
	if (argc > 1 && rank == size - 1)
		MPI_Isend(out, BYTES, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &request);
	MPI_Finalize();
	return 0;
}
END
compile "$TAP_TMP/open.c" "$TAP_TMP/open" || bail_out "open.c does not compile"
for devices in fka/mw,fkb/ib/mw fka,fkb/ib; do
	for wanted in "" received; do
		fake_fabric $devices
		zipper
		program=$TAP_TMP/open part B $wanted &
		second=$!
		program=$TAP_TMP/open part A $wanted
		rc=$?
		wait $second
		is "sends that are open at the end${wanted:+, and a receive}, $devices: status" "$rc $?" "0 0" ||
			{ diag_file "$TAP_TMP/outA"; diag_file "$TAP_TMP/outB"; }
		end_zipper "open sends, $devices"
		is "open sends, $devices: nothing that the Verbs do not allow" "$(fakectl complaints)" 0 || diag_file "$TAP_TMP/outA"
	done
done

# --- little memory may be locked: fewer buffers, or TCP; ranks report either
little() { # NAME KIB TEXT: TEXT is the line of the ranks
	fake_fabric fka/mw/memlock=$2,fkb/ib/mw/memlock=$2
	zipper
	bridge "$1" 300000 4
	end_zipper "$1"
	is "$1: each rank says so once" "$(cat "$TAP_TMP/outA" "$TAP_TMP/outB" | grep -c "libzipper: .*cannot register .* KiB.*: $3")" 4 ||
		diag_file "$TAP_TMP/outA"
	is "$1: nothing that the Verbs do not allow" "$(fakectl complaints)" 0 || diag_file "$TAP_TMP/zipperd"
}
little "8 MiB" 8192 '128 shared buffers instead of 256'
ok "8 MiB: over queue pairs" test "$(fakectl count send)" -gt 20
little "512 KiB" 512 'messages go by TCP; 2584 KiB of locked memory are needed, better 10384$'
is "512 KiB: no queue pairs" "$(fakectl count send)" 0

# --- A's ranks run on the zipper node: those of B reach them over the port that they share, by queue pairs of their own.
# Ranks of one host would choose shared memory, so A's host has another name.
elsewhere=(unshare --uts sh -c 'hostname elsewhere; exec "$0" "$@"')
for category in static dynamic mpi-everywhere; do
	if ! "${elsewhere[@]}" true 2>/dev/null; then
		skip "direct, $category" "no namespaces here"
		continue
	fi
	fake_fabric fka/mw,fkb/mw/tds=8
	zipper
	export ZIPPER_VERBS_ENDPOINTS=$category PORTS_A='A=fka:1@127.0.0.1 B=fkb:1@127.0.0.1'
	bridge "direct, $category" 5000 50
	ok "direct, $category: over queue pairs" test "$(fakectl count send)" -gt 150 || diag "$(fakectl count send) sends"
	is "direct, $category: small messages as such" "$(fakectl count read)" 0
	bridge "direct, $category, large" 300000 20
	is "direct, $category: large ones are read from the sender's memory, each once" "$(fakectl count read)" 80
	elsewhere+=(env ZIPPER_ONE_SIDED=no)
	bridge "direct, $category, A's ranks decline" 300000 20
	unset 'elsewhere[-1]' 'elsewhere[-1]'
	is "direct, $category: which is heard" "$(fakectl count read)" 80
	unset ZIPPER_VERBS_ENDPOINTS PORTS_A
	end_zipper "direct, $category"
	matches "direct, $category: not through zipperd" "$TAP_TMP/zipperd" 'over after .*nothing crossed'
	is "direct, $category: nothing that the Verbs do not allow" "$(fakectl complaints)" 0
done

# --- benchmarks and the account run to their end, in all categories
benchmark() { # LINES COMMAND...: prints that many lines, each with as many fields as the first
	local lines=$1
	shift
	fake_fabric fka/tds=256
	limited 60 env LD_PRELOAD="$FAKE_PRELOAD" "$@" >"$TAP_TMP/out" 2>"$TAP_TMP/err"
	is "${1##*/} ${2#--}: status" $? 0 || diag_file "$TAP_TMP/err"
	is "${1##*/} ${2#--}: lines" "$(wc -l <"$TAP_TMP/out")" "$lines"
	is "${1##*/} ${2#--}: lines with more fields than the head, or fewer" \
		"$(awk -F, 'NR == 1 { head = NF } NF != head' "$TAP_TMP/out")" "" || diag_file "$TAP_TMP/out"
	is "${1##*/} ${2#--}: nothing that the Verbs do not allow" "$(fakectl complaints)" 0 || diag_file "$TAP_TMP/err"
}
ZIPBENCH=$ZIP_TOP_BUILDDIR/zipbench/zipbench
if command -v gnuplot >/dev/null; then plot="--plot $TAP_TMP/plot"; else plot=""; fi
drawn() { # COMMAND FIGURE...: each figure exists as SVG and PNG
	local figure command=$1
	shift
	[ -n "$plot" ] || { skip "$command: figures" "no gnuplot"; return; }
	for figure; do
		ok "$command: figure $figure" test -s "$TAP_TMP/plot-$figure.svg" -a -s "$TAP_TMP/plot-$figure.png" || diag_file "$TAP_TMP/err"
	done
}
# shellcheck disable=SC2086 # an option and its value
{
	benchmark 115 "$ZIPBENCH" msgrate --threads 2 --count 100 --rounds 1 $plot
	drawn msgrate threads buf ctx pd mr cq qp batch category
	[ -z "$plot" ] || is "msgrate: the resources of lines that take others" \
		"$(grep -o "title 'uUARs, [^']*" "$TAP_TMP/plot-ctx.gnuplot" | sort -u | cut -d, -f2- | paste -sd,)" \
		" w/o Postlist + 2xQPs, w/o Postlist + sharing 2"
	benchmark 13 "$ZIPBENCH" garray --threads 2 --size 32 --rounds 1 $plot
	drawn garray garray
	benchmark 25 "$ZIPBENCH" stencil --threads 8 --size 32 --count 4 --rounds 1 $plot
	drawn stencil stencil
}
benchmark 8 "$ZIP_TOP_BUILDDIR/zipstat/zipstat" --endpoints --csv --device fka
is "zipstat endpoints: thread domains as planned" "$(cut -d, -f1,4 "$TAP_TMP/out" | tail -n +2 | tr '\n' ' ')" \
	"mpi-everywhere,0 2xdynamic,63 dynamic,31 shared-dynamic,16 static,0 mpi+threads,0 naive,16 "
done_testing
