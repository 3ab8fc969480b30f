#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# docs/firewalls.md: which side connects to which port. Jobs in the network laboratory, and the sockets of their processes.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/lab.sh"
command -v ss >/dev/null || skip_all "no ss"
in_lab 2
cd "$TAP_TMP" || exit 99
cat >hold.c <<'END_C'
#include <mpi.h>
#include <unistd.h>
/* Every rank talks to every other one, and all stay until the file "go" is there. */
int main(int argc, char **argv)
{
	int me, n, got, flag;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (int r = 0; r < n; r++)
		MPI_Sendrecv(&me, 1, MPI_INT, (me + r) % n, 0, &got, 1, MPI_INT, (me - r + n) % n, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	if (me == 0)
		rmdir("begins");
	while (access("go", F_OK) != 0) {
		MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		usleep(20000);
	}
	MPI_Finalize();
	return 0;
}
END_C
compile hold.c hold || bail_out "hold.c does not compile"
key=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
(umask 077 && echo "$(id -un) $key" >keys)
export ZIPPER_KEY_FILE=$TAP_TMP/keys

# opened NODE: "PROGRAM ADDRESS:PORT" for each connection that a process there has opened, from the side that listens nowhere;
# ports of the system's range as "any". A process that a launcher starts holds the launcher's sockets, too.
sockets() { "$lab" run "$1" ss -Htnp state established | sed -nE 's/^[0-9]+ +[0-9]+ +([^ ]+) +([^ ]+) +users:\(\("([^"]+)".*/\3 \1 \2/p'; }
listening() { "$lab" run "$1" ss -Htlnp | sed -nE 's/^LISTEN +[0-9]+ +[0-9]+ +([^ ]+) .*users:\(\("([^"]+)".*/\2 \1/p' | grep -v ' 127\.'; }
opened() {
	local own
	own=$(listening "$1" | sed 's/.*://' | sort -u)
	sockets "$1" | while read -r program here there; do
		case $there in 127.*) continue ;; esac
		grep -qx "${here##*:}" <<<"$own" || echo "$program $there"
	done | sort -u
}
# ports_of PROGRAM NODE: those at which it listens, with their addresses
ports_of() { listening "$2" | sed -n "s/^$1 //p" | sort -u; }
# job NAME OPTION...: starts a job of the zipper's zmpirun that stays
job() {
	local name=$1
	shift
	rm -f go
	mkdir begins
	limited 300 "$lab" run zipper env "${variables[@]}" "$ZMPIRUN" -f hosts -n 4 "$@" ./hold >out 2>err </dev/null &
	started=$!
	ok "$name: a job runs" wait_for 200 eval '[ ! -e begins ] || child_is_over $started'
	child_runs $started || { diag_file err; bail_out "$name"; }
}
over() {
	touch go
	wait $started
	is "$1: it ends well" $? 0 || diag_file err
}

# --- a zipperd that runs, and bounds for mpiexec
background "$lab" run zipper "$ZIPPERD" --die-with-parent -o listen=clusterA=tcp:10.77.1.1 -o listen=clusterB=tcp:10.77.2.1 \
	-o key_file="$TAP_TMP/keys" -o log_level=error
up() { "$lab" run clusterB bash -c 'exec 3<>/dev/tcp/10.77.2.1/7474' 2>/dev/null; }
ok "zipperd listens at the default port" wait_for 60 up
"$lab" hosts 2+2 7474 >hosts
variables=(MPIEXEC_PORT_RANGE=20000:20010)
job "a running zipperd"
to_mpiexec() { sed -E 's/^[^ ]+ (.*):200(0[0-9]|10)$/proxy \1:mpiexec/' | sort; }
is "ranks connect to zipperd, and proxies to their mpiexec, in its bounds" "$(opened clusterA | to_mpiexec | xargs)" \
	"hold 10.77.1.1:7474 proxy 10.77.1.1:mpiexec"
is "... those of the other cluster, too" "$(opened clusterB | to_mpiexec | xargs)" "hold 10.77.2.1:7474 proxy 10.77.2.1:mpiexec"
is "zmpirun connects to zipperd, which connects to nobody" "$(opened zipper)" "zmpirun 10.77.1.1:7474"
is "both ends probe a connection that is idle" "$("$lab" run zipper ss -Htno state established '( sport = :7474 or dport = :7474 )' |
	grep -cvE 'timer:\((keepalive|on),')" 0
is "zipperd listens there alone" "$(ports_of zipperd zipper | xargs)" "10.77.1.1:7474 10.77.2.1:7474"
over "a running zipperd"

# --- what the system chooses: zmpirun's own zipperd
range() { "$lab" run zipper sh -c "echo $* >/proc/sys/net/ipv4/ip_local_port_range"; }
range 40000 40099
"$lab" hosts 2+2 >hosts
variables=(ZIPPER_DIRECT=yes)
job "zmpirun's own zipperd"
is "it listens once on each network, in the range of the host" "$(ports_of zipperd zipper | grep -v :7474 | sed 's/:400[0-9][0-9]$/:any/' | xargs)" \
	"10.77.1.1:any 10.77.2.1:any"
is "so do the mpiexecs" "$(listening zipper | grep -cE ' 0\.0\.0\.0:400[0-9][0-9]$')" 2
over "zmpirun's own zipperd"

# --- direct links: ranks on the zipper node
"$lab" zhosts 2+2 7474 >hosts
# direct_ports: how many ports of ranks on the zipper node the ranks of cluster B connect to
direct_ports() { opened clusterB | grep -E '^hold 10\.77\.2\.1:400[0-9][0-9]$' | grep -vxF "$(listening zipper | sed -n 's/^[^ ]* 0.0.0.0:/hold 10.77.2.1:/p')" | wc -l; }
job "direct links" -genv ZIPPER_LOG info
is "ranks connect to both ranks on the zipper node, in the range of the host" "$(direct_ports)" 2 || diag_file err
is "and these to nobody in the other cluster" "$(opened zipper | grep -c ' 10\.77\.2\.2:')" 0
over "direct links"
variables=(ZIPPER_DIRECT=no)
job "no direct links"
is "ranks connect to none of them" "$(direct_ports)" 0
over "no direct links"

# --- zipperd to zipperd
"$lab" site || bail_out "no second site"
# site NODE FABRIC=ADDRESS OWN-ADDRESS OTHER-ADDRESS: a zipper with a fabric, and a network to another zipper
site() {
	background "$lab" run "$1" "$ZIPPERD" --die-with-parent -o listen="$2" -o listen=wan="$3" -o next=wan="$4" \
		-o key_file="$TAP_TMP/keys" -o log_level=error
}
site zipper A=tcp:10.77.1.1:7475 tcp:10.77.100.1:7476 tcp:10.77.100.2:7476
site zipper2 S=tcp:10.77.200.1:7475 tcp:10.77.100.2:7476 tcp:10.77.100.1:7476
there() { "$lab" run zipper bash -c 'exec 3<>/dev/tcp/10.77.100.2/7476 4<>/dev/tcp/10.77.100.1/7476' 2>/dev/null; }
ok "two zippers listen to each other" wait_for 60 there
# part NODE NAME WAYS
part() {
	limited 300 "$lab" run "$1" env LD_PRELOAD="$PRELOAD_LIST" ZIPPER_JOB=far ZIPPER_PARTS=A,S ZIPPER_PART="$2" ZIPPER_ZIPPERD="$3" \
		ZIPPER_ENTRIES="A,wan+1 wan+1,S" ZIPPER_MODULE_DIR="$ZIP_TOP_BUILDDIR/common/.libs" "$MPIEXEC" -n 2 ./hold </dev/null
}
rm -f go
mkdir begins
part clusterS S "tcp:10.77.200.1:7475>S>wan>tcp:10.77.100.1:7476,tcp:10.77.200.1:7475" 2>errS &
second=$!
part clusterA A "tcp:10.77.1.1:7475,tcp:10.77.1.1:7475>A>wan>tcp:10.77.100.2:7476" 2>err &
first=$!
ok "a job over both runs" wait_for 200 eval '[ ! -e begins ] || child_is_over $first'
is "each zipperd connects to the other one, at its port" "$(opened zipper | grep zipperd) $(opened zipper2)" \
	"zipperd 10.77.100.2:7476 zipperd 10.77.100.1:7476"
is "ranks connect to their own zipper alone" "$(opened clusterA | grep -v mpiexec) $(opened clusterS)" "hold 10.77.1.1:7475 hold 10.77.200.1:7475"
touch go
wait $first
rc=$?
wait $second
is "it ends well" "$rc $?" "0 0" || { diag_file err; diag_file errS; }
done_testing
