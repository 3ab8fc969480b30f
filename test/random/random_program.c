/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs random MPI programs: random_program [OPTION...] FIRST [LAST]
 *
 * Each seed from FIRST to LAST is a program of some operations. All ranks draw the same list of operations, and run it.
 * Each rank prints one line for a seed: a checksum of each operation, "-" if it took no part. The lines do not depend
 * on anything but the seed and the number of ranks.
 *
 *   -l LAYOUT  the clusters, as 2+2; by default there is one. Where one cluster has all members of a communicator,
 * native MPI does the work, and the program makes a way around what MPICH 4.0.2 does wrong -n NUMBER  operations of a
 * program, 40 by default -o LIST    runs only these operations, as 0,3,7, and leaves out those that need what others
 * make -p         prints the operations and runs nothing -v         prints every entry of the checksums -t NUMBER  the
 * seconds that one operation may take, 60 by default; then the rank says where it is, and the job ends
 */
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "topics.h"
#include "trace.h"

#define BUFFERED_BYTES (16 << 20) /* for messages in buffered mode, of up to 4 KiB each */

static int nops = 40, problems;
static bool selected[MOST_OPS], print_only;
static char place[300]; /* where this rank is, for the watchdog */
static unsigned limit_s = 60;
static bool over;

/* --- a rank that is stuck or dies says where */
static void tell(const char *what)
{
	char line[400];
	int n = snprintf(line, sizeof line, "%s: %s\n", place, what);
	if (write(2, line, n) < 0)
		_exit(98);
}

static void on_alarm(int signal)
{
	static int before;
	(void)signal;
	if (before++)
		_exit(97);
	tell("hangs");
	alarm(3); /* the other ranks speak first */
}

static void on_death(int which)
{
	void *frames[40];
	tell(strsignal(which));
	backtrace_symbols_fd(frames, backtrace(frames, 40), 2);
	signal(which, SIG_DFL);
	raise(which);
}

static void on_end(void)
{
	if (!over && *place)
		tell("ends the process");
}

static void watch(void)
{
	atexit(on_end);
	signal(SIGALRM, on_alarm);
	signal(SIGSEGV, on_death);
	signal(SIGBUS, on_death);
	signal(SIGFPE, on_death);
	signal(SIGABRT, on_death);
}

/* --- one program */
static bool has_what_it_needs(const struct op *op)
{
	if (op->uses >= 0 && !plan.op[op->uses].ran)
		return false;
	if (op->comm >= 0 && model.comm[op->comm].handle == MPI_COMM_NULL)
		return false;
	return op->other < 0 || model.comm[op->other].handle != MPI_COMM_NULL;
}

static bool takes_part(const struct op *op)
{
	return op->comm < 0 || model_is_member(&model.comm[op->comm]);
}

static uint64_t run_op(struct op *op)
{
	struct trace trace = {.what = place};
	snprintf(place, sizeof place, "seed %llu rank %d op %d (%s)", (unsigned long long)model.seed, model.me,
		op->number, op->text);
	trace_here = trace_main = &trace;
	alarm(limit_s);
	op->topic->run(op);
	op->ran = true;
	problems += trace.problems;
	return trace_value(&trace);
}

/* Completes and frees all that is left, the last first. */
static uint64_t clean_up(void)
{
	struct trace trace = {.what = place};
	snprintf(place, sizeof place, "seed %llu rank %d at the end", (unsigned long long)model.seed, model.me);
	trace_here = trace_main = &trace;
	alarm(limit_s);
	for (int i = 0; i < plan.nops; i++)
		waiting_complete(&plan.op[i].waiting, model.seed + i + model.me);
	for (int i = plan.nops - 1; i >= 0; i--)
		if (plan.op[i].ran && plan.op[i].topic->end)
			plan.op[i].topic->end(&plan.op[i]);
	for (int i = 1; i < model.ncomms; i++)
		if (model.comm[i].handle != MPI_COMM_NULL)
			TRY(MPI_Comm_free(&model.comm[i].handle));
	TRY(MPI_Barrier(MPI_COMM_WORLD));
	problems += trace.problems;
	return trace_value(&trace);
}

static void run_program(void)
{
	char *line = malloc(100 + 8 * MOST_OPS);
	int at = sprintf(line, "seed %llu rank %d:", (unsigned long long)model.seed, model.me);
	for (int i = 0; i < plan.nops; i++) {
		struct op *op = &plan.op[i];
		if (selected[i] && takes_part(op) && has_what_it_needs(op))
			at += sprintf(line + at, " %06x", (unsigned)(run_op(op) & 0xffffff));
		else
			at += sprintf(line + at, " -");
	}
	sprintf(line + at, " %06x\n", (unsigned)(clean_up() & 0xffffff));
	fputs(line, stdout);
	free(line);
}

static void print_program(void)
{
	printf("seed %llu, %d ranks\n", (unsigned long long)model.seed, model.ranks);
	for (int i = 0; i < plan.nops; i++)
		printf("%3d  %s\n", i, plan.op[i].text);
}

/* --- arguments */
static int usage(void)
{
	fprintf(stderr,
		"usage: random_program [-l layout] [-n operations] [-o list] [-p] [-v] [-t seconds] first [last]\n");
	return 2;
}

static void select_ops(char *list)
{
	memset(selected, 0, sizeof selected);
	for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		int i = atoi(word);
		if (i >= 0 && i < MOST_OPS)
			selected[i] = true;
	}
}

static void set_layout(char *list)
{
	int rank = 0, part = 0;
	for (char *word = strtok(list, "+"); word; word = strtok(NULL, "+"), part++)
		for (int i = atoi(word); i > 0 && rank < MOST_RANKS; i--)
			model.part[rank++] = part;
}

static int options(int argc, char **argv)
{
	int c;
	memset(selected, 1, sizeof selected);
	while ((c = getopt(argc, argv, "l:n:o:pvt:")) != -1)
		switch (c) {
		case 'l':
			set_layout(optarg);
			break;
		case 'n':
			nops = atoi(optarg);
			break;
		case 'o':
			select_ops(optarg);
			break;
		case 'p':
			print_only = true;
			break;
		case 'v':
			trace_verbose++;
			break;
		case 't':
			limit_s = (unsigned)atoi(optarg);
			break;
		default:
			return usage();
		}
	return optind == argc || nops < 1 || nops > MOST_OPS ? usage() : 0;
}

int main(int argc, char **argv)
{
	unsigned long long first, last;
	int provided, bytes;
	struct trace trace = {.what = "start"};
	if (options(argc, argv))
		return 2;
	char *buffered = malloc(BUFFERED_BYTES);
	setvbuf(stdout, NULL, _IOLBF, 1 << 16);
	trace_here = &trace;
	watch();
	TRY(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
	first = strtoull(argv[optind], NULL, 10);
	last = argv[optind + 1] ? strtoull(argv[optind + 1], NULL, 10) : first;
	TRY(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	TRY(MPI_Comm_size(MPI_COMM_WORLD, &model.ranks));
	TRY(MPI_Comm_rank(MPI_COMM_WORLD, &model.me));
	if (model.ranks > MOST_RANKS) {
		fprintf(stderr, "random_program: at most %d ranks\n", MOST_RANKS);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	TRY(MPI_Buffer_attach(buffered, BUFFERED_BYTES));
	for (unsigned long long seed = first; seed <= last; seed++) {
		model_reset(seed);
		plan_draw(nops);
		if (!print_only)
			run_program();
		else if (model.me == 0)
			print_program();
	}
	TRY(MPI_Buffer_detach(&buffered, &bytes));
	alarm(0);
	over = true;
	MPI_Finalize();
	return problems ? 1 : 0;
}
