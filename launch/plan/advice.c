/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of other launchers, see advice.h. */
#include "launch/plan/advice.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define OMPI "Open MPI"
#define SLURM "srun"
#define HYDRA "mpiexec"
#define MPICH_HAS_NONE "zmpirun starts MPICH: leave it out"
#define BATCH "give it to salloc or sbatch"
#define HOSTFILE "the slots of the hostfile say it, see zipper.hosts(5)"

static const struct zadvice table[] = {
	/* what decides where ranks run */
	{"N nodes", SLURM, "write -hosts LIST, or -ppn N for the ranks of a host"},
	{"ntasks", SLURM, "write -n N"},
	{"c cpus-per-task cpus-per-proc cpus-per-rank", SLURM " and " OMPI, "write -bind-to core:N"},
	{"ntasks-per-node tasks-per-node", SLURM, "write -ppn N"},
	{"npernode", OMPI, "write -ppn N"},
	{"pernode", OMPI, "write -ppn 1"},
	{"npersocket ntasks-per-socket ntasks-per-core", OMPI " and " SLURM,
		"write -ppn N with -map-by socket, or place each rank by --map FILE"},
	{"w nodelist", SLURM, "write -hosts LIST"},
	{"exclude", SLURM, "write -hosts LIST with the others"},
	{"default-hostfile", OMPI, "write -f FILE, a zipper hostfile: see zipper.hosts(5)"},
	{"rankfile rf", OMPI, "write --map FILE: see zipper.map(5) and zipmap(1)"},
	{"rank-by byslot bynode bycore bysocket m distribution", OMPI " and " SLURM,
		"place each rank by --map FILE: see zipper.map(5)"},
	{"slot-list cpu-set cpu-list", OMPI, "write -bind-to user:LIST, or name cores in a map (--map)"},
	{"cpu-bind cpu_bind", SLURM, "write -bind-to WHAT"},
	{"mem-bind mem_bind", SLURM, "write -membind WHAT"},
	{"bind-to-core", OMPI, "write -bind-to core"},
	{"bind-to-socket", OMPI, "write -bind-to socket"},
	{"bind-to-none", OMPI, "leave it out: ranks are not bound"},
	{"use-hwthread-cpus hint threads-per-core", OMPI " and " SLURM, "write -bind-to hwthread"},
	{"nolocal nooversubscribe", OMPI, HOSTFILE},
	{"skip-launch-node", HYDRA, "leave this host out of the hostfile, or write -hosts LIST"},
	{"order-nodes", HYDRA, "the ranks follow the order of the hostfile"},
	{"multi-prog", SLURM, "write the programs with ':' between them, or -configfile FILE"},
	{"app", OMPI, "write -configfile FILE"},
	{"arch soft", HYDRA, "name the hosts in the hostfile"},
	{"het-group pack-group", SLURM, "leave it out: each group of the job is a cluster, see zipper-slurm(7)"},
	/* environment and files */
	{"export preserve-env", SLURM, "write -genv NAME=VALUE or -genvlist NAME,..."},
	{"D chdir", SLURM, "write -wdir DIR"},
	{"path gpath", HYDRA " and " OMPI, "write -genv PATH DIR"},
	{"prefix", OMPI, "ZMPIRUN_MPIEXEC names the mpiexec, or mpiexec= in the hostfile"},
	{"preload-binary preload-files bcast", OMPI " and " SLURM, "copy the files to the hosts yourself"},
	/* input and output */
	{"o output", SLURM " and " OMPI, "write -outfile-pattern FILE.%r"},
	{"e error", SLURM, "write -errfile-pattern FILE.%r"},
	{"output-filename", OMPI, "write -outfile-pattern FILE.%r and -errfile-pattern FILE.%r"},
	{"i input stdin", SLURM " and " OMPI, "rank 0 reads the standard input: write < FILE"},
	{"tag-output timestamp-output", OMPI, "write -l"},
	{"merge-stderr-to-stdout", OMPI, "write 2>&1"},
	{"unbuffered u stream-buffering", SLURM " and " OMPI, "leave it out: lines are passed on at once"},
	{"q quiet Q", OMPI " and " SLURM, "leave it out: zmpirun is quiet"},
	{"xterm pty", OMPI " and " SLURM, "start a terminal for each rank: zmpirun ... xterm -e ./program"},
	/* looking at it */
	{"report-bindings display-map display-allocation display display-devel-map print-rank-map", OMPI " and " HYDRA,
		"write -v: it shows the place of each rank"},
	{"show-progress", OMPI, "write --progress"},
	{"debug debugger tv gdb dbg", OMPI " and " HYDRA, "see DEBUGGING in zmpirun(1)"},
	{"report-pid report-uri", OMPI, "write -v: it shows the commands that are started"},
	{"get-stack-traces report-state-on-timeout", OMPI, "attach a debugger: see DEBUGGING in zmpirun(1)"},
	{"print-all-exitcodes", HYDRA, "leave it out: the highest exit status is zmpirun's, and -v shows all"},
	/* time */
	{"t time", SLURM, "write -timeout SECONDS"},
	{"W wait K kill-on-bad-exit", SLURM, "leave it out: a failed rank ends the job within three seconds"},
	{"disable-auto-cleanup enable-recovery continuous with-ft max-restarts disable-recovery", HYDRA " and " OMPI,
		"a failed rank ends the job"},
	/* Open MPI alone */
	{"mca gmca omca prtemca pmixmca am tune personality novm hnp dvm ompi-server use-regexp do-not-resolve "
	 "do-not-launch leave-session-attached set-sid launch-agent allow-run-as-root parsable parseable "
	 "show-ompi-param recon tmpdir",
		OMPI, MPICH_HAS_NONE},
	/* batch systems */
	{"p partition A account J job-name qos C constraint mem mem-per-cpu gres G gpus gpus-per-node gpus-per-task "
	 "exclusive overlap overcommit begin b d dependency reservation licenses L immediate I x11 switches signal Z "
	 "no-allocate jobid relative r propagate sockets-per-node cores-per-socket spread-job time-min nice comment",
		SLURM, "this is for the batch system: " BATCH ", and start zmpirun inside"},
	{"mpi", SLURM, "leave it out: zmpirun starts mpiexec of MPICH"},
	{"task-prolog task-epilog prolog epilog", SLURM, "start a script that starts the program"},
	/* Hydra alone */
	{"rmk", HYDRA, "zmpirun names the hosts itself: write -f FILE"},
	{"localhost", HYDRA, "write localhost=NAME in the hostfile, see zipper.hosts(5)"},
	{"enable-x disable-x", HYDRA, "write -launcher-exec PATH, with a script that starts ssh -X"},
	{"gpus-per-proc", HYDRA, "write -genv CUDA_VISIBLE_DEVICES LIST"},
	{"topolib demux nameserver profile pmi-port disable-hostname-propagation ifhn umask ckpoint ckpoint-interval "
	 "ckpointlib ckpoint-prefix ckpoint-num singleton-port pmi-args",
		HYDRA, "leave it out: zmpirun does not pass it on"},
};

static bool has(const char *names, const char *name)
{
	size_t len = strlen(name);
	for (const char *p = names; *p; p += strspn(p, " ")) {
		size_t n = strcspn(p, " ");
		if (n == len && strncmp(p, name, len) == 0)
			return true;
		p += n;
	}
	return false;
}

const struct zadvice *zadvice_find(const char *name)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (has(table[i].names, name))
			return &table[i];
	return NULL;
}
