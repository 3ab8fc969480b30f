/* SPDX-License-Identifier: BSD-3-Clause */
/* See stencil_rank.h. */
#include "zipbench/endpoints/stencil_rank.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/endpoint/ep_category.h"
#include "common/endpoint/ep_set.h"
#include "zipbench/endpoints/crew.h"
#include "zipbench/endpoints/pump.h"
#include "zipbench/endpoints/port.h"
#include "common/endpoint/ep_ibv.h"

#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)

/* Buffers of a thread. Arriving halos have two places, for odd and even steps: a neighbour may be one step ahead. */
enum { REGION_SEND = 0, REGION_HALO = STENCIL_WAYS, REGIONS = 2 * STENCIL_WAYS };

struct rank {
	const struct stencil_job *job;
	unsigned number, rows, columns; /* columns of each thread */
	struct port port;
	struct zep_ibv ibv;
	struct zep_set set;
	struct pumps pumps;
	double *grid[2]; /* rows x size: values before even steps, and before odd ones */
};

struct zep_plan stencil_rank_plan(const struct stencil_job *job)
{
	struct zep_plan p = zep_category_plan(job->category, job->threads);
	p.paths = STENCIL_WAYS;
	p.regions = REGIONS;
	p.buf_bytes = 2 * (size_t)(job->o->size / job->threads) * sizeof(double);
	p.send_depth = job->o->depth * p.qp_ways;
	p.cq_depth = job->o->depth * p.cq_ways * p.paths;
	return p;
}

double stencil_rank_start_value(unsigned row, unsigned column)
{
	return (double)((row * 29 + column * 13) % 101);
}

static struct stencil_card *card_of(const struct rank *r, unsigned rank, unsigned t)
{
	return &r->job->shared->card[rank * r->job->threads + t];
}

static unsigned neighbour(const struct rank *r, unsigned way)
{
	return (r->number + (way == STENCIL_UP ? r->job->ranks - 1 : 1)) % r->job->ranks;
}

static void write_cards(struct rank *r)
{
	for (unsigned t = 0; t < r->job->threads; t++)
		for (unsigned way = 0; way < STENCIL_WAYS; way++) {
			struct stencil_card *card = card_of(r, r->number, t);
			const struct ibv_mr *mr = zep_set_mr(&r->set, t, REGION_HALO + way);
			card->qpn[way] = ((struct ibv_qp *)zep_set_qp(&r->set, t, way))->qp_num;
			card->rkey[way] = mr->rkey;
			card->addr[way] = (uintptr_t)zep_set_buf(&r->set, t, REGION_HALO + way);
		}
}

static int connect_all(struct rank *r, struct zerr *err)
{
	int rc = 0;
	for (unsigned t = 0; t < r->job->threads; t += r->set.plan.qp_ways)
		for (unsigned way = 0; way < STENCIL_WAYS && rc == 0; way++)
			rc = port_connect(&r->port, zep_set_qp(&r->set, t, way),
				card_of(r, neighbour(r, way), t)->qpn[STENCIL_WAYS - 1 - way], err);
	return rc;
}

/* --- a thread's work --- */
static int send_halo(struct rank *r, unsigned t, unsigned way, unsigned step)
{
	const struct stencil_card *card = card_of(r, neighbour(r, way), t);
	const unsigned from = STENCIL_WAYS - 1 - way; /* our direction, seen from there */
	const size_t bytes = r->columns * sizeof(double), most = r->job->o->tile;
	const struct ibv_mr *mr = zep_set_mr(&r->set, t, REGION_SEND + way);
	uint8_t *buf = zep_set_buf(&r->set, t, REGION_SEND + way);
	const double *row =
		r->grid[step % 2] + (way == STENCIL_UP ? 0 : (size_t)(r->rows - 1) * r->job->o->size) + t * r->columns;
	int rc = 0;
	memcpy(buf, row, bytes);
	for (size_t at = 0; at < bytes && rc == 0; at += most) {
		struct ibv_sge sge = {.addr = (uintptr_t)(buf + at),
			.lkey = mr->lkey,
			.length = (uint32_t)(bytes - at < most ? bytes - at : most)};
		struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE,
			.sg_list = &sge,
			.num_sge = 1,
			.wr.rdma.remote_addr = card->addr[from] + step % 2 * bytes + at,
			.wr.rdma.rkey = card->rkey[from]};
		rc = pump_post(&r->pumps.pump[t], way, &wr, 1, 1, true);
	}
	return rc;
}

static int exchange(struct rank *r, unsigned t, unsigned step)
{
	const unsigned number = r->number * r->job->threads + t;
	double start = bench_now();
	int rc = send_halo(r, t, STENCIL_UP, step);
	if (rc == 0)
		rc = send_halo(r, t, STENCIL_DOWN, step);
	if (rc == 0)
		rc = pump_wait(&r->pumps.pump[t]);
	r->job->shared->exchange_s[number] += bench_now() - start;
	r->job->shared->messages[number] = r->pumps.pump[t].posted;
	return rc;
}

static void compute(struct rank *r, unsigned t, unsigned step)
{
	const unsigned size = r->job->o->size, first = t * r->columns;
	const double *now = r->grid[step % 2];
	double *next = r->grid[(step + 1) % 2];
	/* shifted, so that [column] is the grid's column */
	const double *above =
		(double *)zep_set_buf(&r->set, t, REGION_HALO + STENCIL_UP) + step % 2 * r->columns - first;
	const double *below =
		(double *)zep_set_buf(&r->set, t, REGION_HALO + STENCIL_DOWN) + step % 2 * r->columns - first;
	for (unsigned i = 0; i < r->rows; i++) {
		const double *row = now + (size_t)i * size;
		const double *up = i > 0 ? row - size : above, *down = i + 1 < r->rows ? row + size : below;
		for (unsigned j = first; j < first + r->columns; j++)
			next[(size_t)i * size + j] = stencil_rank_point(up[j], down[j], j > 0 ? row[j - 1] : 0,
				j + 1 < size ? row[j + 1] : 0);
	}
}

static void fail(const struct stencil_job *job, const struct zerr *err)
{
	if (!atomic_exchange(&job->shared->failed, 1))
		job->shared->err = *err;
	_exit(EXIT_FAILURE); /* the other ranks wait at barriers until the parent ends them */
}

static int work(void *ctx, unsigned t)
{
	struct rank *r = ctx;
	struct zerr err = {.text = ""};
	for (unsigned step = 0; step < r->job->o->count; step++) {
		if (exchange(r, t, step) < 0) {
			pump_error(&r->pumps, &err);
			fail(r->job, &err);
		}
		/* All halos are here, and no thread still reads what this step overwrites. */
		pthread_barrier_wait(&r->job->shared->all);
		compute(r, t, step);
	}
	return 0;
}

/* --- the process --- */
static int open_rank(struct rank *r, struct zerr *err)
{
	const struct stencil_job *job = r->job;
	const size_t all = (size_t)r->rows * job->o->size;
	struct zep_plan plan = stencil_rank_plan(job);
	int rc = port_find(&r->port, job->o, err);
	if (rc == 0 && plan.send_depth > r->port.max_send_wr)
		rc = zerr_set(err, -EINVAL, "%s has no queue pairs of depth %u: --depth must be less", r->port.device,
			plan.send_depth);
	if (rc < 0)
		return rc;
	r->grid[0] = calloc(2 * all, sizeof(*r->grid[0]));
	if (!r->grid[0])
		return zerr_set(err, -ENOMEM, "out of memory");
	r->grid[1] = r->grid[0] + all;
	for (unsigned i = 0; i < r->rows; i++)
		for (unsigned j = 0; j < job->o->size; j++)
			r->grid[0][(size_t)i * job->o->size + j] = stencil_rank_start_value(r->number * r->rows + i, j);
	zep_ibv_init(&r->ibv, r->port.device, ACCESS);
	rc = zep_set_build(&r->set, &plan, &zep_ibv_ops, &r->ibv, NULL, err);
	if (rc == 0)
		rc = pump_open_all(&r->pumps, &r->set, job->o->depth);
	return rc;
}

int stencil_rank(const struct stencil_job *job, unsigned number)
{
	struct rank r = {.job = job,
		.number = number,
		.rows = job->o->size / job->ranks,
		.columns = job->o->size / job->threads};
	struct zerr err = {.text = "out of memory"};
	double seconds;
	if (open_rank(&r, &err) < 0)
		fail(job, &err);
	r.pumps.yields = crew_is_crowded(job->threads * job->ranks);
	write_cards(&r);
	pthread_barrier_wait(&job->shared->ranks);
	if (connect_all(&r, &err) < 0)
		fail(job, &err);
	pthread_barrier_wait(&job->shared->ranks);
	if (crew_run(job->threads, work, &r, &seconds, &err) < 0)
		fail(job, &err);
	memcpy(job->shared->grid + (size_t)number * r.rows * job->o->size, r.grid[job->o->count % 2],
		(size_t)r.rows * job->o->size * sizeof(*r.grid[0]));
	pthread_barrier_wait(&job->shared->ranks); /* no memory is written any more */
	pump_close_all(&r.pumps);
	zep_set_destroy(&r.set);
	free(r.grid[0]);
	return EXIT_SUCCESS;
}
