/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads at the same time, each with a communicator of its own: messages and collectives. */
#include <pthread.h>
#include <stdio.h>

#include "topics.h"
#include "trace.h"

#define MOST_THREADS 3
#define MOST_STEPS 4
struct thread {
	struct model_comm comm; /* a copy with a handle of its own */
	uint64_t seed;
	const char *what;
	struct trace trace;
};

static int thread_count(const struct op *op)
{
	struct draw d = draw_from(op->seed, 1);
	return draw_between(&d, 2, MOST_THREADS);
}

static void *run_thread(void *argument)
{
	struct thread *t = argument;
	struct draw d = draw_from(t->seed, 2);
	trace_here = &t->trace;
	t->trace.what = t->what;
	for (int steps = draw_between(&d, 1, MOST_STEPS); steps > 0; steps--)
		if (draw_chance(&d, 50))
			messages_run(&t->comm, draw_next(&d), 1000 + 100 * steps, NULL);
		else
			collective_run(&t->comm, draw_next(&d), NULL);
	return NULL;
}

static bool draw_op(struct op *op, struct draw *d)
{
	char name[80];
	op->comm = model_pick(d, NULL);
	snprintf(op->text, sizeof op->text, "%d threads on copies of %s", thread_count(op), model_name(op->comm, name));
	return true;
}

/* Where MPI gives less than MPI_THREAD_MULTIPLE, the threads run one after the other, with the same results. */
static void run_op(struct op *op)
{
	struct thread t[MOST_THREADS] = {0};
	pthread_t id[MOST_THREADS];
	struct trace *mine = trace_here;
	int n = thread_count(op), level;
	TRY(MPI_Query_thread(&level));
	for (int i = 0; i < n; i++) {
		t[i].comm = model.comm[op->comm];
		t[i].seed = op->seed + i;
		t[i].what = mine->what;
		TRY(MPI_Comm_dup(model.comm[op->comm].handle, &t[i].comm.handle));
	}
	for (int i = 0; i < n; i++)
		if (level < MPI_THREAD_MULTIPLE)
			run_thread(&t[i]);
		else if (pthread_create(&id[i], NULL, run_thread, &t[i]) != 0)
			trace_problem("no thread");
	trace_here = mine;
	for (int i = 0; i < n; i++) {
		if (level == MPI_THREAD_MULTIPLE)
			pthread_join(id[i], NULL);
		trace_number((int64_t)trace_value(&t[i].trace), "thread");
		mine->problems += t[i].trace.problems;
		TRY(MPI_Comm_free(&t[i].comm.handle));
	}
}

const struct topic topic_threads = {.name = "threads", .weight = 4, .draw = draw_op, .run = run_op};
