#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# One MPI program over two Slurm systems: a job on each, which find each other at zipperd. See zipper-slurm(7).
# To be started where you log in to the first system; "das4" stands for a machine of the second one, where ssh works without a
# password, and the program lies in the same folder. Either job may begin first; the other one has an hour to follow, if
# join_timeout of zipperd.conf(5) says 1h.
set -e
PROGRAM=$PWD/program
LIBZIPPER=/usr/lib/leiden-zipper/libzipper.so

# prints the batch script of a part: name, address of zipperd as the nodes see it, partition, nodes, tasks on each
part() {
	printf '#!/bin/bash\n#SBATCH --partition=%s --nodes=%s --ntasks-per-node=%s --time=60\n' "$3" "$4" "$5"
	echo "$credential"
	echo "export ZIPPER_PARTS=lgm,das4 ZIPPER_PART=$1 ZIPPER_ZIPPERD=$2"
	echo "srun --mpi=pmi2 --export=ALL env LD_PRELOAD=$LIBZIPPER '$PROGRAM'"
}
# The credential is as good as a key for this one job: it travels in the scripts, which only you and Slurm can read.
credential=$(zmpirun --credential "heat-$(date +%s)-$$")
part lgm tcp:10.1.0.1:7474 batch 2 8 | sbatch
part das4 tcp:10.2.0.1:7474 batch 2 8 | ssh das4 sbatch
