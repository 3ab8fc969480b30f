/* SPDX-License-Identifier: BSD-3-Clause */
/* Latency, bandwidth in one and in both directions, message rate, overlap; see p2p_measure.h. */
#include "zipbench/p2p/p2p_measure.h"

#include <string.h>

#include "zipbench/p2p/p2p_data.h"

#define TAG 1
#define TAG_BACK 2
#define TAG_READY 3

/* The calls of one rank of a pair in an iteration. */
typedef void exchange(struct p2p_side *, int messages);

static uint8_t *slot(const struct p2p_side *s, uint8_t *buffer, int i)
{
	return buffer + (size_t)i * s->bytes;
}

static void send(const struct p2p_side *s, int tag)
{
	MPI_Send(s->send, (int)s->bytes, MPI_BYTE, s->peer, tag, MPI_COMM_WORLD);
}

static void receive(const struct p2p_side *s, int tag)
{
	MPI_Recv(s->receive, (int)s->bytes, MPI_BYTE, s->peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void there_and_back(struct p2p_side *s, int messages)
{
	(void)messages;
	if (s->sends) {
		send(s, TAG);
		receive(s, TAG_BACK);
	} else {
		receive(s, TAG);
		send(s, TAG_BACK);
	}
}

static void post_receives(struct p2p_side *s, int messages, MPI_Request *request)
{
	for (int i = 0; i < messages; i++)
		MPI_Irecv(slot(s, s->receive, i), (int)s->bytes, MPI_BYTE, s->peer, TAG, MPI_COMM_WORLD, &request[i]);
}

static void post_sends(struct p2p_side *s, int messages, MPI_Request *request)
{
	for (int i = 0; i < messages; i++)
		MPI_Isend(slot(s, s->send, i), (int)s->bytes, MPI_BYTE, s->peer, TAG, MPI_COMM_WORLD, &request[i]);
}

/* A window of messages in one direction; then the receiver says that it has all. */
static void stream(struct p2p_side *s, int messages)
{
	char word = 0;
	s->sends ? post_sends(s, messages, s->request) : post_receives(s, messages, s->request);
	MPI_Waitall(messages, s->request, s->status);
	if (s->sends)
		MPI_Recv(&word, 1, MPI_CHAR, s->peer, TAG_BACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		MPI_Send(&word, 1, MPI_CHAR, s->peer, TAG_BACK, MPI_COMM_WORLD);
}

static void post_both(struct p2p_side *s, int messages)
{
	post_receives(s, messages, s->request);
	post_sends(s, messages, s->request + messages);
}

static void stream_both(struct p2p_side *s, int messages)
{
	post_both(s, messages);
	MPI_Waitall(2 * messages, s->request, s->status);
}

/* The partner is there: its time for checking data is not measured. */
static void meet(const struct p2p_side *s)
{
	char mine = 0, other;
	MPI_Sendrecv(&mine, 1, MPI_CHAR, s->peer, TAG_READY, &other, 1, MPI_CHAR, s->peer, TAG_READY, MPI_COMM_WORLD,
		MPI_STATUS_IGNORE);
}

/* The number of a message of this turn. The two directions have different ones. */
static uint32_t number(const struct p2p_side *s, int messages, int i, bool from_first)
{
	return (s->turn * (uint32_t)messages + (uint32_t)i) * 2 + from_first;
}

static void fill(const struct p2p_side *s, int messages)
{
	for (int i = 0; i < messages; i++)
		p2p_data_fill(slot(s, s->send, i), s->bytes, number(s, messages, i, s->sends));
}

static void check(struct p2p_side *s, int messages)
{
	for (int i = 0; i < messages; i++)
		s->wrong += p2p_data_check(slot(s, s->receive, i), s->bytes, number(s, messages, i, !s->sends));
}

/* Seconds for all timed iterations. receives: this rank gets messages, which are checked under --validate. */
static double timed(struct p2p_side *s, exchange *run, int messages, bool receives)
{
	const bool validate = s->plan->validate;
	double start = 0, sum = 0;
	MPI_Barrier(s->all);
	for (int i = -s->warmup; i < s->iterations; i++) {
		if (validate) {
			fill(s, messages);
			meet(s);
		}
		if (validate || i == 0)
			start = MPI_Wtime();
		run(s, messages);
		if (!validate)
			continue;
		sum += i >= 0 ? MPI_Wtime() - start : 0;
		if (receives)
			check(s, messages);
		s->turn++;
	}
	return validate ? sum : MPI_Wtime() - start;
}

static void measure_lat(struct p2p_side *s, double *result)
{
	result[0] = timed(s, there_and_back, 1, true) / s->iterations / 2 * 1e6;
}

/* Data of all windows of a rank. */
static double data(const struct p2p_side *s)
{
	return (double)s->bytes * s->plan->window * s->iterations;
}

static void measure_bw(struct p2p_side *s, double *result)
{
	result[0] = data(s) / timed(s, stream, (int)s->plan->window, !s->sends) / 1e6;
}

static void measure_bibw(struct p2p_side *s, double *result)
{
	result[0] = 2 * data(s) / timed(s, stream_both, (int)s->plan->window, true) / 1e6;
}

/* All pairs together, in the time of the slowest one. */
static void measure_mbw_mr(struct p2p_side *s, double *result)
{
	double seconds = timed(s, stream, (int)s->plan->window, !s->sends), slowest = 0;
	MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, s->all);
	result[0] = data(s) * s->plan->pairs / slowest / 1e6;
	result[1] = data(s) / (double)s->bytes * s->plan->pairs / slowest;
}

/* --- overlap --- */
#define WORK_TESTED_US 1000.0 /* how long the speed of work is measured */

/* Computes for some time. What it computes is kept, so that the compiler keeps it, too. */
static void work(double amount)
{
	static volatile double kept;
	double x = kept;
	for (double i = 0; i < amount; i++)
		x = x * 0.5 + 1;
	kept = x;
}

/* The amount of work that takes this long. */
static double work_of(double us)
{
	double amount = 1000, taken = 0;
	while (taken < WORK_TESTED_US) {
		double start = MPI_Wtime();
		amount *= 2;
		work(amount);
		taken = (MPI_Wtime() - start) * 1e6;
	}
	return amount * us / taken;
}

static void exchange_and_work(struct p2p_side *s, int messages)
{
	post_both(s, messages);
	work(s->work);
	MPI_Waitall(2 * messages, s->request, s->status);
}

/* First the communication alone, then work that takes as long, alone and between the start and the wait of the same
 * communication. */
static void measure_overlap(struct p2p_side *s, double *result)
{
	s->work = 0;
	const double pure = timed(s, exchange_and_work, 1, true) / s->iterations * 1e6;
	s->work = work_of(pure);
	double start = MPI_Wtime();
	for (int i = 0; i < s->iterations; i++)
		work(s->work);
	const double compute = (MPI_Wtime() - start) / s->iterations * 1e6;
	const double overall = timed(s, exchange_and_work, 1, true) / s->iterations * 1e6;
	const double hidden = 100 * (1 - (overall - compute) / pure);
	result[0] = overall;
	result[1] = compute;
	result[2] = pure;
	result[3] = hidden < 0 ? 0 : hidden > 100 ? 100 : hidden;
}

static const struct {
	const char *name;
	void (*run)(struct p2p_side *, double *result);
} runs[] = {
	{"lat", measure_lat},
	{"bw", measure_bw},
	{"bibw", measure_bibw},
	{"mbw_mr", measure_mbw_mr},
	{"overlap", measure_overlap},
};

void p2p_measure(struct p2p_side *s, const struct p2p_bench *b, double result[P2P_QUANTITIES_MAX])
{
	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++)
		if (strcmp(runs[i].name, b->name) == 0)
			runs[i].run(s, result);
}
