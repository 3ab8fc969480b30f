#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The verbs transport on the fake of libibverbs: conformance, what devices are asked for, faults, and jobs.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/fake.sh"
. "$ZIP_TOP_SRCDIR/test/lib/cast.sh"
units=$ZIP_TOP_BUILDDIR/test/unit/verbs

# --- one process
if [ -x "$units" ]; then
	while read -r name devices; do
		fake_tap "$name" env -u FAKEVERBS_FABRIC FAKEVERBS="$devices" "$units"
		fake_tap "$name" env -u FAKEVERBS_FABRIC FAKEVERBS="$devices" "$units" conformance
		fake_tap "$name" env -u FAKEVERBS_FABRIC FAKEVERBS="$devices" "$ZIP_TOP_BUILDDIR/test/unit/cast_verbs"
	done <<-END
		infiniband fka/ib/pkey=0x8005/mw/tds=64
		roce,late fka/inline=60/lag=3/tds=16/silent
	END
	fake_tap random env -u FAKEVERBS_FABRIC "$ZIP_TOP_BUILDDIR/test/unit/verbs_random"
	# no setting within its range stops anything: each alone at its least and most, and those that have to do with each other
	devices=(fka/ib/pkey=0x8005/mw/tds=64 fka/inline=60/lag=3/tds=16/silent)
	runs=0
	while read -r -a settings; do
		ok "conformance: ${settings[*]}" limited 120 env -u FAKEVERBS_FABRIC FAKEVERBS="${devices[runs++ % 2]}" \
			ZIP_TEST_SCALE="${ZIP_TEST_SCALE:-20}" "${settings[@]/#/ZIPPER_VERBS_}" "$units" conformance
	done <<-END
		BUFFER_BYTES=1024
		BUFFER_BYTES=1M
		BUFFERS=16
		BUFFERS=16384
		WINDOW=4
		WINDOW=256
		INLINE_BYTES=0
		INLINE_BYTES=512
		POST_LIST=1
		POST_LIST=32
		SIGNAL=1
		SIGNAL=32
		CACHE_BYTES=0
		WINDOWS=no
		ACK_TIMEOUT=31 TRAFFIC_CLASS=255 SERVICE_LEVEL=15 MTU=256
		WINDOW=4 SIGNAL=32
		WINDOW=5 SIGNAL=16
		WINDOW=12 SIGNAL=32 INLINE_BYTES=512
		WINDOW=256 SIGNAL=32 BUFFERS=16
		WINDOW=4 SIGNAL=32 POST_LIST=32 BUFFERS=16 BUFFER_BYTES=1024
		WINDOW=4 SIGNAL=1 POST_LIST=1 INLINE_BYTES=0 BUFFERS=16
		WINDOW=256 SIGNAL=32 POST_LIST=32 INLINE_BYTES=512 BUFFERS=16384
	END
else
	skip "conformance" "built without cmocka"
fi

# --- jobs: two ranks on one port of the zipper each, two on the other. zipperd and ranks have the fake inside.
compile "$ZIP_TOP_SRCDIR/test/lib/stream.c" "$TAP_TMP/stream" || bail_out "stream.c does not compile"
key=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
(umask 077 && echo "me $key" >"$TAP_TMP/keys")
address() { sed -n "s/^$1=//p" "$TAP_TMP/ready"; }
net_A= net_B= # words of their addresses
# zipper OPTION...: starts a zipperd
zipper() {
	: >"$TAP_TMP/ready"
	background env FAKEVERBS_ONE_POSTER=1 "$ZIPPERD" -o listen="A=fka:1$net_A@127.0.0.1:0" -o listen="B=fkb:1$net_B@127.0.0.1:0" -o key_file="$TAP_TMP/keys" \
		-o module_dir="$TAP_TMP/modules" "$@" --ready-fd 3 3>"$TAP_TMP/ready" 2>"$TAP_TMP/zipperd"
	zipper=$!
	wait_for 60 grep -q '^$' "$TAP_TMP/ready" || bail_out "zipperd did not start: $(cat "$TAP_TMP/zipperd")"
}
# part LETTER ARGUMENT...: its two ranks, by hand; ALSO_LETTER: ",ADDRESS" of another zipper
part() {
	local letter=$1
	shift
	local ports=PORTS_$letter also=ALSO_$letter away=()
	[ -z "${!ports}" ] || away=("${elsewhere[@]}")
	limited 60 env ${!ports:+ZIPPER_PORTS="${!ports}"} ZIPPER_JOB="${job:-job}" ZIPPER_PART="$letter" ZIPPER_PARTS="${parts:-A,B}" ZIPPER_ZIPPERD="$(address "$letter")${!also}" \
		ZIPPER_DEVICE="fk${letter,}:1" ZIPPER_USER=me ZIPPER_KEY="$key" ZIPPER_MODULE_DIR="$TAP_TMP/modules" \
		"$MPIEXEC" -n 2 -genv LD_PRELOAD "$PRELOAD_LIST" "${away[@]}" "${program:-$TAP_TMP/stream}" "$@" </dev/null >"$TAP_TMP/out${job:-}$letter" 2>&1
}
# bridge NAME ARGUMENT...: a job of both parts
bridge() {
	local name=$1 rc
	shift
	part B "$@" &
	second=$!
	part A "$@"
	rc=$?
	wait $second
	is "$name: status" "$rc $?" "0 0" || { diag_file "$TAP_TMP/outA"; diag_file "$TAP_TMP/outB"; diag_file "$TAP_TMP/zipperd"; }
	is "$name: all came" "$(cat "$TAP_TMP/outA" "$TAP_TMP/outB" | grep -c 'rounds$')" 4
}
all_rounds() { [ "$(cat "$TAP_TMP/outA" "$TAP_TMP/outB" 2>/dev/null | grep -c 'rounds$')" = 4 ]; }
end_zipper() {
	kill "$zipper"
	wait "$zipper"
	is "$1: zipperd ends" $? 0
}
# With one thread for both directions and with one for each; either way each direction has an endpoint on a device. What they
# take is as unit/endpoint has it; of pages the fake tells nothing.
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
compile "$ZIP_TOP_SRCDIR/test/programs/endpoint_threads.c" "$TAP_TMP/endpoint_threads" || bail_out "endpoint_threads.c does not compile"
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

# --- while a job is silent zipperd sleeps: the share of a processor that it takes, in percent
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

# --- messages are not copied on the way, but for those that have to wait.
# Registered memory is kept from children, by all who open devices.
copied() { # BYTES: of messages; what zipstat says of each direction
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
# one to each rank may wait for its link, which is changing over from TCP
is "small messages: no byte is copied but of those that wait for a link" "$(awk -F, 'NR > 1 && $4 == 10000 && $5 <= 2000' "$TAP_TMP/traffic" | wc -l)" 2 ||
	diag_file "$TAP_TMP/traffic"
end_zipper "not copied"
is "not copied: nothing that the Verbs do not allow" "$(fakectl complaints)" 0

# --- what goes to several clusters is read once from the root's memory, and written into that of every leader
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
	# a link that is closed writes nothing once more, to see that all has come
	ok "three clusters, $threads: and writes twice as often ($writes)" test "$writes" -ge $((2 * reads)) -a "$writes" -lt $((2 * reads + 20))
	end_zipper "three clusters, $threads"
	is "three clusters, $threads: nothing that the Verbs do not allow" "$(fakectl complaints)" 0 || diag_file "$TAP_TMP/zipperd"
done

# --- two zippers: large messages of each pair go by both, and each of these moves them from memory to memory
compile "$ZIP_TOP_SRCDIR/test/programs/p2p_mixed.c" "$TAP_TMP/p2p_mixed" || bail_out "p2p_mixed.c does not compile"
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

# --- two zippers, of which one is lost while messages cross: killed, or for one queue pair of it that fails
compile "$ZIP_TOP_SRCDIR/test/programs/failover.c" "$TAP_TMP/failover" || bail_out "failover.c does not compile"
native 60 4 "$TAP_TMP/failover" 3 2>"$TAP_TMP/err" | LC_ALL=C sort >"$TAP_TMP/native"
# losing NAME STRIKE [POINT STATUS AFTER | COMMAND]: of the second zipper, Z in STRIKE, or a fault in it (enum ibv_wc_status),
# or what that command does meanwhile
losing() {
	local rc
	fake_fabric fka/mw,fkb/ib/mw
	zipper
	first_zipper=$zipper ALSO_A=,$(address A) ALSO_B=,$(address B)
	zipper
	[ -z "$5" ] || fakectl fail "$3" "$4" "$5" 1 "$zipper"
	[ -n "$5" ] || ${3:+"$3"} &
	program=$TAP_TMP/failover part B 3 ${2:+"${2/Z/$zipper}"} &
	second=$!
	program=$TAP_TMP/failover part A 3 ${2:+"${2/Z/$zipper}"}
	rc=$?
	wait $second
	is "$1: status" "$rc $?" "0 0" || { diag_file "$TAP_TMP/outA"; diag_file "$TAP_TMP/outB"; diag_file "$TAP_TMP/zipperd"; }
	is "$1: as natively" "$(cat "$TAP_TMP"/out[AB] | grep -E '^(rank|No errors)' | LC_ALL=C sort)" "$(cat "$TAP_TMP/native")"
	is "$1: one is said to be lost" "$(cat "$TAP_TMP"/out[AB] | grep -c '^libzipper: rank 0 .* is lost: .* with 1 of 2$')" 1 ||
		diag_file "$TAP_TMP/outA"
	ALSO_A='' ALSO_B=''
	kill "$first_zipper" "$zipper" 2>/dev/null
	wait "$first_zipper" "$zipper" 2>/dev/null
	is "$1: nothing that the Verbs do not allow" "$(fakectl complaints)" 0 || diag_file "$TAP_TMP/zipperd"
}
losing "the second one of two is killed" 1.1=Z:9
losing "the second one of two ends" 1.4=Z:15
losing "a write fails" "" write 10 20
losing "a read fails" "" read 12 10
losing "a send fails" "" send 12 40
# What zipperd reads and writes stays under way until its device is lost: nobody hears what becomes of it.
are_under_way() { [ "$(fakectl qps | grep -c "^pid=$zipper fk$1:.* waits=1")" -ge "$2" ]; }
device_goes() {
	fakectl keep "$zipper"
	wait_for 60 are_under_way b 1
	fakectl gone fkb "$zipper"
}
losing "the device of the second one goes" "" device_goes

# --- a message that nobody receives: the program is wrong, but natively it ends, too
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

# --- little memory may be locked: fewer buffers, or TCP; either is said
little() { # NAME KIB TEXT: what ranks say
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

# --- the hostfile says which port the ranks of a cluster use, whatever ZIPPER_DEVICE says
device_job() { # NAME DEVICE-OF-B: zmpirun with one rank in each cluster
	cat >"$TAP_TMP/hosts" <<-END
		#ZIP cluster A launcher=fork device=fka:1
		nodea
		#ZIP cluster B launcher=fork device=$2
		nodeb
		#ZIP zipper localhost A=$(address A) B=$(address B)
	END
	ZIPPER_DEVICE=fkc:1 ZIPPER_USER=me ZIPPER_KEY_FILE=$TAP_TMP/keys limited 60 "$ZMPIRUN" -f "$TAP_TMP/hosts" -n 2 \
		-genv ZIPPER_MODULE_DIR "$TAP_TMP/modules" "$TAP_TMP/stream" 300000 4 >"$TAP_TMP/out" 2>"$TAP_TMP/err"
}
fake_fabric fka/mw,fkb/ib/mw
zipper
device_job right fkb:1
is "device of a cluster: status" $? 0 || diag_file "$TAP_TMP/err"
is "device of a cluster: all came" "$(grep -c 'rounds$' "$TAP_TMP/out")" 2
ok "device of a cluster: memory was reached from outside" test "$(fakectl count read)" -gt 3
device_job wrong fkd:1
is "a device that is not there: status" $? 1
matches "a device that is not there: why" "$TAP_TMP/err" '^zmpirun: rank 1 .*there is no RDMA device fkd on this host$'
is "a device that is not there: in one line" "$(grep -c '^zmpirun:' "$TAP_TMP/err")" 1 || diag_file "$TAP_TMP/err"
end_zipper "device of a cluster"

# --- a zipperd that zmpirun starts is in the partition of the ranks
fake_fabric fka/ib/pkey=0x8005,fkb/ib/pkey=0x8005
cat >"$TAP_TMP/hosts" <<END
#ZIP cluster A launcher=fork device=fka:1
nodea
#ZIP cluster B launcher=fork device=fkb:1
nodeb
#ZIP zipper localhost A=fka:1@127.0.0.1 B=fkb:1@127.0.0.1
END
printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$FAKE_PRELOAD" "$ZIPPERD" >"$TAP_TMP/zipperd-of-ours"
chmod +x "$TAP_TMP/zipperd-of-ours"
ZIPPER_VERBS_PARTITION=5 ZIPPER_MODULE_DIR=$TAP_TMP/modules limited 60 "$ZMPIRUN" --zipperd "$TAP_TMP/zipperd-of-ours" \
	-f "$TAP_TMP/hosts" -n 2 -genv LD_PRELOAD "$FAKE_PRELOAD" "$TAP_TMP/stream" 300000 4 >"$TAP_TMP/out" 2>"$TAP_TMP/err"
is "one partition: status" $? 0 || diag_file "$TAP_TMP/err"
is "one partition: all came" "$(grep -c 'rounds$' "$TAP_TMP/out")" 2
is "one partition: nothing that the Verbs do not allow" "$(fakectl complaints)" 0 || diag_file "$TAP_TMP/err"

# --- two subnets, each with a partition and a service level of its own: by the addresses of the zipper's ports, which ranks have, too
fake_fabric fka/ib/pkey=0x8005/mw,fkb/ib/pkey=0x8006/mw
net_A=/partition=0x8005/service_level=3 net_B=/partition=6/service_level=4/traffic_class=9
zipper
rm -f "$TAP_TMP/go" "$TAP_TMP/outA" "$TAP_TMP/outB"
part B 300000 4 "$TAP_TMP/go" &
second=$!
part A 300000 4 "$TAP_TMP/go" &
first=$!
ok "two partitions: all came" wait_for 60 all_rounds || { diag_file "$TAP_TMP/outA"; diag_file "$TAP_TMP/zipperd"; }
is "two partitions: each queue pair is in that of its subnet" \
	"$(fakectl qps | sed -n 's/.* \(fk.\):1 .* \(sl=[0-9]*\) \(pkey=[^ ]*\) .*/\1 \2 \3/p' | sort -u | tr '\n' ,)" \
	"fka sl=3 pkey=0x8005,fkb sl=4 pkey=0x8006," || diag "$(fakectl qps)"
touch "$TAP_TMP/go"
wait $first && wait $second
is "two partitions: status" $? 0
end_zipper "two partitions"
net_A= net_B=
cat >"$TAP_TMP/hosts" <<END
#ZIP cluster A launcher=fork device=fka:1
nodea
#ZIP cluster B launcher=fork device=fkb:1
nodeb
#ZIP zipper localhost A=fka:1/partition=5@127.0.0.1 B=fkb:1/partition=6@127.0.0.1
END
ZIPPER_MODULE_DIR=$TAP_TMP/modules limited 60 "$ZMPIRUN" --zipperd "$TAP_TMP/zipperd-of-ours" \
	-f "$TAP_TMP/hosts" -n 2 -genv LD_PRELOAD "$FAKE_PRELOAD" "$TAP_TMP/stream" 300000 4 >"$TAP_TMP/out" 2>"$TAP_TMP/err"
is "two partitions in a hostfile: status" $? 0 || diag_file "$TAP_TMP/err"
is "two partitions in a hostfile: all came" "$(grep -c 'rounds$' "$TAP_TMP/out")" 2
is "two partitions in a hostfile: nothing that the Verbs do not allow" "$(fakectl complaints)" 0
sed -i 's/B=fkb:1.partition=6/B=fkb:1\/partition=5/' "$TAP_TMP/hosts"
ZIPPER_MODULE_DIR=$TAP_TMP/modules limited 60 "$ZMPIRUN" --zipperd "$TAP_TMP/zipperd-of-ours" \
	-f "$TAP_TMP/hosts" -n 2 -genv LD_PRELOAD "$FAKE_PRELOAD" "$TAP_TMP/stream" 300000 4 >"$TAP_TMP/out" 2>"$TAP_TMP/err"
is "a partition of the other subnet: status" $? 1
matches "a partition of the other subnet: why" "$TAP_TMP/err" 'fkb:1 is not in partition 0x0005$'
fake_fabric fka,fkb
limited 20 env FAKEVERBS_ONE_POSTER=1 "$ZIPPERD" -o listen=A=fka:1/gid_index=77@127.0.0.1:0 -o listen=B=fkb:1@127.0.0.1:0 -o key_file="$TAP_TMP/keys" -o module_dir="$TAP_TMP/modules" \
	>"$TAP_TMP/out" 2>"$TAP_TMP/err"
is "an address that the port does not have: status" $? 1
matches "an address that the port does not have: why" "$TAP_TMP/err" \
	'cannot listen on fka:1/gid_index=77@127.0.0.1:0: fka:1 has no address in entry 77 of its table \(verbs_gid_index, ZIPPER_VERBS_GID_INDEX\)$'

# --- a port that goes down ends the jobs that use it, and no others
fake_fabric fka/mw,fkb/mw,fkc/mw
zipper -o listen=C=fkc:1@127.0.0.1:0
run_pair() { # JOB LETTER ARGUMENT...: parts A and that one, in the background; pair: the processes
	job=$1 parts=A,$2 part A "${@:3}" &
	pair=$!
	job=$1 parts=A,$2 part "$2" "${@:3}" &
	pair="$pair $!"
}
rm -f "$TAP_TMP/go"
run_pair lost B 1000 0
lost=$pair
run_pair other C 1000 5 "$TAP_TMP/go"
both_stand() { [ "$(cat "$TAP_TMP"/out{lost,other}? 2>/dev/null | grep -c 'under way')" = 8 ]; }
ok "two jobs are under way" wait_for 60 both_stand || diag_file "$TAP_TMP/zipperd"
fakectl down fkb 1
for pid in $lost; do
	wait "$pid"
	ok "port down: the job ends, with an error" test $? != 0
done
matches "port down: zipperd says which" "$TAP_TMP/zipperd" 'job me/lost: .*: Network is down' || diag_file "$TAP_TMP/outlostB"
touch "$TAP_TMP/go"
for pid in $pair; do
	wait "$pid"
	is "port down: the job over other ports ends well" $? 0 || diag_file "$TAP_TMP/outotherA"
done
end_zipper "port down"

# --- the links of ranks that are there and take nothing end by and by, while others are served. What zipperd sends is not
# acknowledged; then the ranks do nothing any more, and the job ends as one of them is gone. A busy machine may be too slow to
# have the answer in time.
ranks_of() { # LETTER: their processes
	local pid
	for pid in $(fakectl qps | sed -n "s/^pid=\([0-9]*\) fk${1,}:.*/\1/p" | sort -u); do
		[ "$pid" = "$zipper" ] || echo "$pid"
	done
}
links_of_zipper() { fakectl qps | grep -c "^pid=$zipper fk${1,}:"; } # LETTER: their queue pairs
none_reach_them() { [ "$(fakectl qps | grep -c "^pid=$zipper .* waits=1 shared=0")" = 4 ]; }
none_is_left() { [ "$(fakectl qps | grep -c "^pid=$zipper ")" = 0 ]; }
served=''
for try in 1 2 3 4 5; do
	fake_fabric fka/mw,fkb/mw
	zipper -o listen=C=tcp:127.0.0.1:0
	tcp=$(address C)
	rm -f "$TAP_TMP/go" "$TAP_TMP"/outmute?
	run_pair mute B 1000 50 "$TAP_TMP/go" last
	all_stand() { [ "$(cat "$TAP_TMP"/outmute? 2>/dev/null | grep -c 'rounds$')" = 4 ]; }
	wait_for 60 all_stand || diag_file "$TAP_TMP/zipperd"
	a=$(ranks_of A) b=$(ranks_of B)
	fakectl silence "$zipper"
	touch "$TAP_TMP/go"
	wait_for 60 none_reach_them || diag "$(fakectl qps)"
	# shellcheck disable=SC2086 # several
	kill -STOP $a $b
	# shellcheck disable=SC2086
	kill -KILL $b
	over() { grep -q 'job me/mute: .* died' "$TAP_TMP/zipperd"; }
	wait_for 60 over
	ZIPPER_USER=me ZIPPER_KEY=$key "$ZIP_TOP_BUILDDIR/zipstat/zipstat" --csv "$tcp" >"$TAP_TMP/traffic"
	served="$? $(links_of_zipper A)"
	ok "nothing is taken: all ends by and by" wait_for 60 none_is_left || diag "$(fakectl qps)"
	# shellcheck disable=SC2086
	kill -KILL $a
	# shellcheck disable=SC2086
	wait $pair
	end_zipper "nothing is taken"
	is "nothing is taken: nothing that the Verbs do not allow" "$(fakectl complaints)" 0
	[ "$served" != "0 4" ] || break
done
is "nothing is taken: zipperd serves others before the ends of these two" "$served" "0 4" || diag_file "$TAP_TMP/zipperd"

# --- so does a device that goes away; when it is back, it is used again
fake_fabric fka/mw/tds=8,fkb/mw/tds=8
for category in dynamic mpi-everywhere; do
	zipper -o endpoints="$category"
	bridge "$category, before the device is lost" 300000 4
	rm -f "$TAP_TMP"/outlost?
	run_pair lost B 300000 0
	lost_stands() { [ "$(cat "$TAP_TMP"/outlost? 2>/dev/null | grep -c 'under way')" = 4 ]; }
	ok "$category: a job is under way" wait_for 60 lost_stands || diag_file "$TAP_TMP/zipperd"
	fakectl gone fkb
	for pid in $pair; do
		wait "$pid"
		ok "$category, device lost: the job ends, with an error" test $? != 0
	done
	matches "$category, device lost: zipperd says which" "$TAP_TMP/zipperd" 'job me/lost: .*: No such device'
	none_lost() { [ "$(fakectl lost)" = 0 ]; }
	ok "$category, device lost: nothing of it is left" wait_for 20 none_lost || diag "$(fakectl lost) contexts"
	bridge "$category, device back" 300000 4
	end_zipper "$category, device back"
	is "$category, device lost: nothing that the Verbs do not allow" "$(fakectl complaints)" 0 || diag_file "$TAP_TMP/zipperd"
done

# --- so does one with messages on the way from memory to memory, of which nothing is heard any more. What they have taken is
# free for those who come next.
fake_fabric fka/mw,fkb/mw
zipper -o threads=direction
for lost in fkb fka; do
	rm -f "$TAP_TMP"/outkept?
	fakectl keep "$zipper"
	run_pair kept B 3000000 0
	ok "$lost lost on the way: memory is being reached" wait_for 60 are_under_way a 1 || diag_file "$TAP_TMP/zipperd"
	fakectl gone $lost "$zipper"
	for pid in $pair; do
		wait "$pid"
		ok "$lost lost on the way: the job ends, with an error" test $? != 0
	done
	ok "$lost lost on the way: nothing of the job is left" wait_for 20 none_is_left || diag "$(fakectl qps)"
	fakectl keep 0
	bridge "$lost lost on the way, device back" 3000000 4
	ok "$lost lost on the way, device back: nothing of the old one is left" wait_for 20 none_lost || diag "$(fakectl lost) contexts"
done
end_zipper "lost on the way"
ok "lost on the way: those who come next reach memory, too" test "$(fakectl count read)" -gt 100 -a "$(fakectl count write)" -gt 100 ||
	diag "$(fakectl count read) reads, $(fakectl count write) writes"
is "lost on the way: nothing that the Verbs do not allow" "$(fakectl complaints)" 0 || diag_file "$TAP_TMP/zipperd"

# --- one job has all memory for one-sided transfers, and hangs: others do not wait for it
fake_fabric fka/mw,fkb/mw
zipper -o threads=direction -o one_sided_bytes=256K
rm -f "$TAP_TMP"/outkept?
fakectl keep "$zipper"
run_pair kept B 3000000 4
ok "beside one that hangs: memory is being reached" wait_for 60 are_under_way a 1 || diag_file "$TAP_TMP/zipperd"
bridge "beside one that hangs" 300000 4
ok "beside one that hangs: it does still" are_under_way a 1
fakectl gone fkb "$zipper"
for pid in $pair; do
	wait "$pid"
	ok "one that hung: it ends, with an error" test $? != 0
done
ok "one that hung: nothing of it is left" wait_for 20 none_is_left || diag "$(fakectl qps)"
fakectl keep 0
bridge "beside one that hung" 300000 4
end_zipper "one that hung"
is "one that hung: zipperd says once in each direction what others got" "$(($(grep -c 'large messages travel as fragments while' "$TAP_TMP/zipperd") <= 2))" 1
matches "one that hung: zipperd says what others got" "$TAP_TMP/zipperd" 'large messages travel as fragments while others have all'
is "one that hung: nothing that the Verbs do not allow" "$(fakectl complaints)" 0 || diag_file "$TAP_TMP/zipperd"

# --- a port that is not active yet when zipperd starts
fake_fabric fka/mw,fkb/mw
fakectl down fkb 1
zipper
matches "port not active: zipperd starts, and warns" "$TAP_TMP/zipperd" 'fkb:1 is not active .*refused until it is$'
fakectl up fkb 1
bridge "port active" 1000 5
end_zipper "port active"
ok "a zipperd for one job does not start" test "$(
	fakectl down fkb 1
	limited 20 "$ZIPPERD" -o listen=A=fka:1@127.0.0.1:0 -o listen=B=fkb:1@127.0.0.1:0 -o key_file="$TAP_TMP/keys" \
		-o module_dir="$TAP_TMP/modules" --die-with-parent 2>&1 | grep -c 'cannot listen .*fkb:1 is not active'
)" = 1

# --- A's ranks run on the zipper node: those of B reach them over the port that they share, by queue pairs of their own
# Ranks of one host would choose shared memory: A's are on one of another name.
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

# --- zipcast: nodes of one fabric, which settle their links by themselves
if cast_compile; then
	for algorithm in chain pipeline; do
		category=dynamic
		[ $algorithm = chain ] || category=mpi-everywhere
		fake_fabric fka/mw/tds=8
		ZIPPER_MODULE_DIR=$TAP_TMP/modules ZIPPER_VERBS_ENDPOINTS=$category \
			cast_run "zipcast, $algorithm" 4 fka:1@127.0.0.1:0 $algorithm 1000000 5
		# 16 blocks a message, to three members; a link's first ones may go over TCP
		ok "zipcast, $algorithm: blocks are written into the members' memory" test "$(fakectl count write)" -gt 150 ||
			diag "$(fakectl count write) writes"
		is "zipcast, $algorithm: nothing that the Verbs do not allow" "$(fakectl complaints)" 0
	done
	fake_fabric fka/mw
	ZIPPER_MODULE_DIR=$TAP_TMP/modules ZIPPER_ONE_SIDED=no cast_run "zipcast, as messages" 4 fka:1@127.0.0.1:0 chain 1000000 5
	ok "zipcast, as messages: over queue pairs" test "$(fakectl count send)" -gt 300 || diag "$(fakectl count send) sends"
	ok "zipcast, as messages: nothing is written" test "$(fakectl count write)" -le 12 # last ones of links, which are empty
	is_under_way() { [ "$(cat "$TAP_TMP"/cast[0-9]* 2>/dev/null | grep -c 'under way')" = 4 ]; }
	for devices in fka/mw fka/lag=50; do
		fake_fabric $devices
		ZIPPER_MODULE_DIR=$TAP_TMP/modules cast_start 4 fka:1@127.0.0.1:0 pipeline 2000000 0
		ok "zipcast, one killed: under way" wait_for 60 is_under_way || cast_show
		kill -KILL "$(cast_process 2)"
		cast_wait
		is "zipcast, one killed: status" "$CAST_STATUS" "3 3 137 3" || cast_show
		is "zipcast, one killed: the others are told who" "$(cat "$TAP_TMP"/cast[013] | grep -c 'failed: node 2 ')" 3 || cast_show
		is "zipcast, one killed: none gets damaged bytes" "$(cat "$TAP_TMP"/cast[013] | grep -c ' 0 bytes damaged')" 3 || cast_show
		is "zipcast, one killed: nothing that the Verbs do not allow" "$(fakectl complaints)" 0
	done
	# two fabrics, which zipperd connects: blocks go as messages, and nobody writes to its memory or by it
	fake_fabric fka/mw/tds=8,fkb/mw/tds=8
	zipper
	cast_at() {
		local letter=A
		[ "$1" -lt 2 ] || letter=B
		echo env CAST_LISTEN=fk${letter,}:1@127.0.0.1:0 CAST_FABRIC=$letter CAST_USER=me CAST_KEY="$key" CAST_ZIPPER="$(address $letter)"
	}
	for algorithm in hybrid-chain pipeline; do
		ZIPPER_MODULE_DIR=$TAP_TMP/modules cast_run "zipcast, two fabrics, $algorithm" 4 - $algorithm 1000000 5
	done
	unset -f cast_at
	ok "zipcast, two fabrics: over queue pairs" test "$(fakectl count send)" -gt 150 || diag "$(fakectl count send) sends"
	end_zipper "zipcast, two fabrics"
	is "zipcast, two fabrics: nothing that the Verbs do not allow" "$(fakectl complaints)" 0
else
	fail "zipcast: a program is linked with it"
fi

# --- benchmarks and the account run through, over all categories
benchmark() { # LINES COMMAND...: that many lines come out, each with as many fields as the first
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
ZIPBENCH=$ZIP_TOP_BUILDDIR/bench/zipbench/zipbench
if command -v gnuplot >/dev/null; then plot="--plot $TAP_TMP/plot"; else plot=""; fi
drawn() { # COMMAND FIGURE...: each is there as drawing and picture
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
