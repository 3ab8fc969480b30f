# SPDX-License-Identifier: BSD-3-Clause
# Sourced by measurements of whole jobs (bash; after common.sh): the contestants, each a way to start the ranks of two clusters. All
# of them block in MPI, and none spins: the native ones yield in it (test/lib/yield.c). All except zip-shm, mmpi-shm and native
# need the network laboratory.
#   zip-tcp    the clusters' ranks merged, in the laboratory, over tcp
#   routed     one native job in the laboratory, whose packets the zipper's kernel routes
#   mmpi       the thesis' MMPI in the laboratory, its forwarder on the zipper
#   zip-shm    merged on this host, zipperd between them over shm
#   mmpi-shm   MMPI on this host
#   native     one native job on this host, all in shared memory: no clusters, for information
# RATE, as "10gbit": of all links of the laboratory; without it, a link is as fast as two cores can carry packets.

# worlds_enter KEYS: sets KEYS, the contestants. If one of them needs a laboratory, this script starts once more inside one; if
# there can be none, those that need it are left out. In the laboratory it waits for all interfaces: UCX looks at them only once, and the kernel reports them as
# up only a moment after they are made.
worlds_enter() {
	local node on_host='^(zip-shm|mmpi-shm|native)$'
	KEYS=$1
	tr ' ' '\n' <<<"$KEYS" | grep -qvE "$on_host" || return 0
	if [ -z "$ZIP_LAB" ]; then
		if "$LAB" with 1 true 2>/dev/null; then
			rm -r "$WORK" # the shell that replaces this one has its own
			exec "$LAB" with 2 "$0"
		fi
		echo "no network namespaces here: zip-tcp, routed and mmpi are left out"
		KEYS=$(tr ' ' '\n' <<<"$KEYS" | grep -E "$on_host")
		return
	fi
	for node in zipper clusterA clusterB; do
		for _ in $(seq 100); do
			"$LAB" run $node sh -c '! grep -qx down /sys/class/net/*/operstate' && break
			sleep 0.1
		done
	done
	if [ -n "$RATE" ]; then
		"$LAB" rate "$RATE" || exit 1
		echo "links of $RATE"
	fi
}
# world_start KEY PARTS: sets the array START to the words in front of the program, for PARTS as 2+2. The forwarder of MMPI is one
# rank more.
world_start() {
	local key=$1 parts=$2 low=${2%+*} high=${2#*+}
	local lab_mpiexec=("$LAB" run zipper "$MPIEXEC" -launcher rsh -launcher-exec "$ZIP_TOP_SRCDIR/test/lib/lab-rsh"
		-localhost 10.77.1.1 -genv LD_PRELOAD "$YIELD${WORLD_PRELOAD:+:$WORLD_PRELOAD}")
	# UCX connects all ranks in MPI_Init, also those whose messages go through the forwarder
	case $key in routed | mmpi) "$LAB" forward on ;; zip-tcp) "$LAB" forward off ;; esac
	case $key in
	zip-shm) START=("$ZMPIRUN" --clusters "$parts") ;;
	mmpi-shm) START=("$MPIEXEC" -genv LD_PRELOAD "$YIELD" -n $((parts + 1))) ;;
	native) START=("$MPIEXEC" -genv LD_PRELOAD "$YIELD" -n $((parts))) ;;
	zip-tcp)
		"$LAB" hosts "$parts" >"$WORK/hosts"
		START=("$LAB" run zipper "$ZMPIRUN" -f "$WORK/hosts" -n $((parts)))
		;;
	routed) START=("${lab_mpiexec[@]}" -hosts "clusterA:$low,clusterB:$high" -n $((parts))) ;;
	mmpi) START=("${lab_mpiexec[@]}" -hosts "zipper:1,clusterA:$low,clusterB:$high" -n $((parts + 1))) ;;
	esac
}
