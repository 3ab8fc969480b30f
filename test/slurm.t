#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Slurm for real, with four nodes on this machine: zmpirun in allocations of one group and of two, what it refuses, how jobs end;
# jobs that srun starts by hand; the batch script of etc/slurm.
# shellcheck disable=SC2016 # the variables are for the shells of the ranks
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
MODULES=$ZIP_TOP_BUILDDIR/common/.libs
[ -x "$ZMPIRUN" ] || skip_all "no zmpirun in the build tree"
PATH=$PATH:/usr/sbin:/sbin
for tool in munged slurmctld slurmd srun salloc sbatch python3; do
	command -v "$tool" >/dev/null || skip_all "no $tool (Debian: slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge)"
done
cd "$TAP_TMP" || exit 99
chmod 711 "$TAP_TMP" # munged wants a socket that all can reach
compile "$ZIP_TOP_SRCDIR/test/programs/start/hello.c" hello >cc.out 2>&1 || { diag_file cc.out; bail_out "hello.c"; }
compile "$ZIP_TOP_SRCDIR/test/lib/ends.c" ends >cc.out 2>&1 || { diag_file cc.out; bail_out "ends.c"; }
unset "${!SLURM_@}" "${!SBATCH_@}" "${!SALLOC_@}" ZIPPER_KEY_FILE ZIPPER_CREDENTIAL

# --- a Slurm of our own
(umask 077 && head -c 64 /dev/urandom >munge.key)
background munged -F --key-file="$PWD/munge.key" --socket="$PWD/munge.sock" --pid-file="$PWD/munge.pid" \
	--log-file="$PWD/munge.log" --seed-file="$PWD/munge.seed" 2>munge.err
wait_for 20 test -S munge.sock || { diag_file munge.err; skip_all "munged does not run here"; }
read -r -a port < <(python3 -c 'import socket
held = [socket.socket() for _ in range(5)]
for s in held: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in held))')
mkdir state spool
me=$(id -un) host=$(hostname -s)
cat >slurm.conf <<END
ClusterName=zipper
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${port[0]}
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
AuthInfo=socket=$PWD/munge.sock
CredType=cred/munge
StateSaveLocation=$PWD/state
SlurmdSpoolDir=$PWD/spool/%n
SlurmctldPidFile=$PWD/slurmctld.pid
SlurmdPidFile=$PWD/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MailProg=/bin/true
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
SchedulerParameters=bf_interval=1,sched_interval=1
KillWait=2
$(i=0; for node in a1 a2 b1 b2; do i=$((i + 1)); echo "NodeName=$node NodeHostname=$host NodeAddr=127.0.0.1 Port=${port[$i]} CPUs=4 RealMemory=100"; done)
PartitionName=a Nodes=a[1-2] Default=YES MaxTime=60 State=UP
PartitionName=b Nodes=b[1-2] MaxTime=60 State=UP
END
echo CgroupAutomount=no >cgroup.conf
export SLURM_CONF=$PWD/slurm.conf
background slurmctld -D -c -f slurm.conf >slurmctld.out 2>&1
for node in a1 a2 b1 b2; do
	mkdir "spool/$node"
	background slurmd -D -N "$node" -f slurm.conf >"slurmd.$node.out" 2>&1
done
nodes_are_idle() { [ "$(sinfo -h -N -t idle -o %N 2>/dev/null | sort -u | xargs)" = "a1 a2 b1 b2" ]; }
wait_for 20 nodes_are_idle || { diag_file slurmctld.out; diag_file slurmd.a1.out; skip_all "slurmctld or slurmd does not run here"; }

# --- a zipper between the partitions
export ZIPPER_KEY ZIPPER_USER=me ZIPPER_MODULE_DIR=$MODULES
ZIPPER_KEY=$(printf '%064d' 7)
(umask 077 && echo "me $ZIPPER_KEY" >keys)
background "$ZIPPERD" -o listen=a,b=tcp:127.0.0.1:0 -o key_file="$PWD/keys" -o module_dir="$MODULES" -o log_level=warn \
	--ready-fd 3 3>ready 2>zipper.err
wait_for 20 grep -q '^$' ready || { diag_file zipper.err; bail_out "zipperd does not start"; }
address=$(sed -n 's/^a,b=//p' ready)
zipper="#ZIP zipper z a=$address b=$address"
printf '%s\n' '#ZIP cluster a' '#ZIP cluster b' "$zipper" >bare
printf '%s\n' '#ZIP cluster b' 'b[1-2]:9' '#ZIP cluster a' 'a[1-2]:9' '#ZIP cluster c' 'c[001-100]' "$zipper" >site

# one NAME STATUS OPTION...: zmpirun in an allocation of partition a, two ranks on a1, one on a2
one() { allocated "$1" "$2" "-n3 -N2 -pa" "${@:3}"; }
# two NAME STATUS OPTION...: in a heterogeneous job, besides with two ranks on b1 and two on b2
two() { allocated "$1" "$2" "-n3 -N2 -pa : --ntasks-per-node=2 -N2 -pb" "${@:3}"; }
# allocated NAME STATUS REQUEST OPTION...: output in out and err
allocated() {
	local name=$1 wanted=$2 request=$3 rc
	shift 3
	# shellcheck disable=SC2086
	limited 60 salloc -Q $request "${marked[@]}" "$ZMPIRUN" "$@" >out 2>err <input
	rc=$?
	sed -i '/^salloc: /d' err
	is "$name" "$rc" "$wanted" || { diag_file out; diag_file err; }
}
hellos() { limited 60 "$MPIEXEC" -n "$1" ./hello </dev/null | sort; }
lines() { sort out | paste -sd';'; }
: >input
where='echo $SLURMD_NODENAME $PMI_RANK/$PMI_SIZE'

# --- one group: no zipper is needed, nor a hostfile
one "an allocation of one group" 0 ./hello
is "... is one world" "$(sort out)" "$(hellos 3)"
one "ranks run where Slurm says" 0 --no-mpi sh -c "$where"
is "... as many on each node" "$(lines)" "a1 0/3;a1 1/3;a2 2/3"
one "-n and -ppn" 0 -n 6 -ppn 1 --no-mpi sh -c "$where"
is "... go round the nodes" "$(lines)" "a1 0/6;a1 2/6;a1 4/6;a2 1/6;a2 3/6;a2 5/6"
one "-hosts" 0 -hosts 'a[2]:2' --no-mpi sh -c "$where"
is "... takes some of the nodes" "$(lines)" "a2 0/2;a2 1/2"
echo words >input
one "several programs, variables, folders, input" 0 --no-mpi -genv A "it's" -n 1 -wdir / sh -c 'echo $A $PWD $(cat)' : \
	-n 2 -env B 'b  "$x' sh -c 'echo "$A$B" $# $(cat)' sh 'an argument'
: >input
is "... each rank has its own" "$(lines)" "it's / words;it'sb  \"\$x 1;it'sb  \"\$x 1"
one "-l" 0 -l --no-mpi sh -c 'echo out; echo err >&2'
is "... labels both streams" "$(sort out err | paste -sd';')" "[0] err;[0] out;[1] err;[1] out;[2] err;[2] out"
one "the exit status" 5 --no-mpi sh -c 'exit $((3 + SLURM_PROCID))'
one "a high exit status" 255 --no-mpi sh -c 'exit 255'
one "a rank that kills itself" 11 --no-mpi sh -c 'kill -SEGV $$'
one "an option that srun does not have" 2 -membind local ./hello
is "... its line" "$(cat err)" "zmpirun: -membind is not for ranks that srun starts: leave it out, or have mpiexec start the \
ranks, with -launcher ssh or -launcher slurm"
one "bare clusters for another job" 2 -f bare ./hello
is "... their line" "$(cat err)" "zmpirun: bare has 2 clusters without hosts, but the Slurm job has 1 group of hosts: submit it \
with a ':' between the clusters"

# --- two groups
two "a heterogeneous job, with clusters and zippers alone in the hostfile" 0 -f bare ./hello
is "... is one world" "$(sort out)" "$(hellos 7)"
two "with the hostfile of a whole site" 0 -f site -l --stats ./hello
is "... whose clusters have another order" "$(sed 's/^\[[0-9]*\] //' out | sort)" "$(hellos 7)"
is "... labels are ranks of the world" "$(grep -vcE '^\[([0-6])\] .*rank \1( |:)' out)" 0
matches "... over the bridge" err 'b -> a'
two "several programs in two clusters" 0 -f bare -n 2 ./hello : -n 5 ./hello
is "... are one world" "$(sort out)" "$(hellos 7)"
two "no hostfile for two groups" 2 ./hello
matches "... asks for one" err '^zmpirun: .*#ZIP zipper'
two "MPI_Abort" 3 -f bare ./ends abort 4 3
is_gone "... nothing is left"
two "a rank that fails" 1 -f bare ./ends exit 4 3
matches "... is named" err '^zmpirun: .*b rank '
is_gone "... nothing is left"

# --- recordings
recorded() { "$ZIP_TOP_BUILDDIR/mapper/zipmap" show "$1" | sed -n 's/^[^:]*: \([0-9]* ranks\).*/\1/p'; }
one "a recording of one group" 0 --profile one.zg ./hello
is "... has all ranks" "$(recorded one.zg)" "3 ranks"
two "a recording of two groups" 0 -f bare --profile two.zg ./hello
is "... has all ranks" "$(recorded two.zg)" "7 ranks"

# --- how jobs end
# hits SIGNAL: the job is started, gets the signal, and ends
hits() {
	: >out
	# shellcheck disable=SC2086
	limited 60 salloc -Q -n3 -N2 -pa : --ntasks-per-node=2 -N2 -pb "${marked[@]}" "$ZMPIRUN" -f bare ./ends wait >out 2>err </dev/null &
	JOB=$!
	wait_for 30 sh -c '[ $(grep -c pid out) = 7 ]' || diag_file err
	kill -"$1" "$(left_named zmpirun | head -n1)"
	wait "$JOB"
}
hits TERM
is_gone "after SIGTERM nothing is left"
hits KILL
wait_for 20 nothing_left
is_gone "when zmpirun is killed Slurm ends the ranks"

# --- by hand
by_hand() {
	local name=$1 wanted=$2
	printf '#!/bin/bash\nexport LD_PRELOAD= ZIPPER_JOB=hand%s ZIPPER_PARTS=a,b\n%s\n' "$RANDOM" "$3" >hand.sh
	limited 60 salloc -Q -n3 -N2 -pa : --ntasks-per-node=2 -N2 -pb bash hand.sh >out 2>err </dev/null
	is "$name" "$(($? != 0))" "$wanted" || diag_file err
}
preloaded="env LD_PRELOAD=$PRELOAD_LIST ZIPPER_ZIPPERD=$address"
by_hand "an srun for each part" 0 "srun --het-group=0 --mpi=pmi2 $preloaded ZIPPER_PART=a ./hello &
srun --het-group=1 --mpi=pmi2 $preloaded ZIPPER_PART=b ./hello && wait \$!"
is "... is one world" "$(sort out)" "$(hellos 7)"
by_hand "one srun with a hostfile" 0 "srun --het-group=0,1 --mpi=pmi2 env LD_PRELOAD=$PRELOAD_LIST ZIPPER_HOSTFILE=$PWD/site ./hello"
is "... is one world" "$(sort out)" "$(hellos 7)"
by_hand "one srun with ZIPPER_PART" 1 "srun --mpi=pmi2 --het-group=0 $preloaded ZIPPER_PART=a ./hello : \
	--het-group=1 $preloaded ZIPPER_PART=b ./hello"
matches "... is refused" err 'libzipper: rank 0 of part a: MPI_Init: ZIPPER_PART differs among the ranks of one launcher'

# --- the example
sed -e 's/--partition=lgm/--partition=a/; s/--partition=das4/--partition=b/; s/--ntasks-per-node=[0-9]*/--ntasks-per-node=2/' \
	-e "s|zmpirun -f [^ ]*|$ZMPIRUN -f bare|; s|\./program|./hello|" "$ZIP_TOP_SRCDIR/etc/slurm/het.sbatch" >het.sbatch
limited 60 sbatch -Q --wait -o batch.out het.sbatch
is "etc/slurm/het.sbatch" "$?" 0 || diag_file batch.out
is "... is one world" "$(sort batch.out)" "$(hellos 8)"
done_testing
