/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "zipbench stencil": the exchange of halos of a 5-point stencil, by all layouts of processes x threads from 16.1
 * to 1.16 (endpoints paper, section VII, Figures 13 and 14). Halos are RDMA writes of at most --tile bytes, and each
 * write reports its completion. All ranks are on this host. The grid is a ring from top to bottom, so that every rank
 * has two neighbours; a single rank is its own neighbour.
 */
#include "zipbench/endpoints/stencil.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/endpoint/ep_category.h"
#include "zipbench/base/bench.h"
#include "zipbench/endpoints/sheet.h"
#include "zipbench/endpoints/stencil_rank.h"

static size_t shared_bytes(const struct bench_options *o)
{
	return sizeof(struct stencil_shared) + (size_t)o->size * o->size * sizeof(double);
}

static void init_barrier(pthread_barrier_t *b, unsigned n)
{
	pthread_barrierattr_t attr;
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(b, &attr, n);
	pthread_barrierattr_destroy(&attr);
}

/* Waits for n processes, and ends all others as soon as one fails. True: all went well. */
static bool wait_for_all(pid_t *pid, unsigned n)
{
	bool good = true;
	for (unsigned left = n; left > 0;) {
		int status;
		pid_t ended = waitpid(-1, &status, 0);
		if (ended < 0 && errno == EINTR)
			continue;
		left--;
		for (unsigned i = 0; i < n; i++)
			if (pid[i] == ended)
				pid[i] = 0; /* the number may soon belong to another process */
		for (unsigned i = 0; i < n && good && status != 0; i++)
			if (pid[i] != 0)
				kill(pid[i], SIGKILL);
		good = good && status == 0;
	}
	return good;
}

static int run_ranks(const struct stencil_job *job, struct zerr *err)
{
	pid_t pid[256], parent = getpid();
	unsigned made = 0;
	fflush(NULL);
	for (; made < job->ranks; made++) {
		pid[made] = fork();
		if (pid[made] < 0)
			break;
		if (pid[made] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			_exit(getppid() == parent ? stencil_rank(job, made) : EXIT_FAILURE);
		}
	}
	if (made < job->ranks) {
		int rc = -errno;
		for (unsigned i = 0; i < made; i++)
			kill(pid[i], SIGKILL);
		wait_for_all(pid, made);
		return zerr_set(err, rc, "cannot start %u processes: %s", job->ranks, strerror(-rc));
	}
	if (wait_for_all(pid, made))
		return 0;
	return zerr_set(err, -EIO, "%s",
		job->shared->failed ? job->shared->err.text : "a process was ended from outside");
}

/* Computes the same steps alone. Every point takes the same operations, so it must be the same to the bit. */
static int verify(const struct stencil_job *job, struct zerr *err)
{
	const unsigned n = job->o->size;
	double *grid = calloc((size_t)2 * n * n, sizeof(*grid));
	if (!grid)
		return zerr_set(err, -ENOMEM, "out of memory");
	double *now = grid, *next = grid + (size_t)n * n;
	for (unsigned i = 0; i < n * n; i++)
		now[i] = stencil_rank_start_value(i / n, i % n);
	for (unsigned step = 0; step < job->o->count; step++) {
		for (unsigned i = 0; i < n; i++)
			for (unsigned j = 0; j < n; j++)
				next[i * n + j] =
					stencil_rank_point(now[(i + n - 1) % n * n + j], now[(i + 1) % n * n + j],
						j > 0 ? now[i * n + j - 1] : 0, j + 1 < n ? now[i * n + j + 1] : 0);
		double *swap = now;
		now = next;
		next = swap;
	}
	int rc = 0;
	for (unsigned i = 0; i < n * n && rc == 0; i++)
		if (memcmp(&now[i], &job->shared->grid[i], sizeof(*now)) != 0)
			rc = zerr_set(err, -EBADMSG, "point %u,%u of the grid is %.17g, not %.17g", i / n, i % n,
				job->shared->grid[i], now[i]);
	free(grid);
	return rc;
}

static void note(const struct stencil_job *job, struct sheet_row *r)
{
	const unsigned n = job->ranks * job->threads;
	double rate = 0, seconds = 0;
	uint64_t messages = 0;
	for (unsigned i = 0; i < n; i++) {
		rate += (double)job->shared->messages[i] / job->shared->exchange_s[i];
		seconds += job->shared->exchange_s[i] / n;
		messages += job->shared->messages[i];
	}
	sheet_note(r, messages, rate, seconds);
}

static int measure(struct stencil_job *job, struct sheet_row *r, struct zerr *err)
{
	const size_t bytes = shared_bytes(job->o);
	job->shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (job->shared == MAP_FAILED)
		return zerr_set(err, -errno, "no memory for a grid of %zu bytes", bytes);
	init_barrier(&job->shared->all, job->ranks * job->threads);
	init_barrier(&job->shared->ranks, job->ranks);
	int rc = run_ranks(job, err);
	if (rc == 0)
		rc = verify(job, err);
	if (rc == 0)
		note(job, r);
	munmap(job->shared, bytes);
	return rc < 0 ? zerr_prefix(err, rc, "%s, %s", r->line, r->x) : 0;
}

/* Calls each() for every layout and category, with the index of its row. */
static int for_all(const struct bench_options *o, struct sheet *s,
	int (*each)(struct stencil_job *, struct sheet *, size_t, struct zerr *), struct zerr *err)
{
	size_t row = 0;
	int rc = 0;
	for (unsigned ranks = o->threads; ranks >= 1 && rc == 0; ranks /= 2)
		for (int c = 0; c < ZEP_CATEGORIES && rc == 0; c++) {
			struct stencil_job job = {.o = o,
				.category = (enum zep_category)c,
				.ranks = ranks,
				.threads = o->threads / ranks};
			if (o->category[c])
				rc = each(&job, s, row++, err);
		}
	return rc;
}

static int add_one(struct stencil_job *job, struct sheet *s, size_t row, struct zerr *err)
{
	char x[24];
	(void)row;
	struct zep_plan plan = stencil_rank_plan(job);
	snprintf(x, sizeof(x), "%u.%u", job->ranks, job->threads);
	struct sheet_row *r = sheet_add(s, "stencil", zep_category_names[job->category], x);
	if (!r)
		return zerr_set(err, -ENOMEM, "out of memory");
	r->threads = job->threads;
	r->processes = job->ranks;
	r->size = job->o->tile;
	return sheet_predict(r, &plan, job->ranks, err);
}

static int measure_one(struct stencil_job *job, struct sheet *s, size_t row, struct zerr *err)
{
	return measure(job, &s->row[row], err);
}

static int check(const struct bench_options *o, struct zerr *err)
{
	if (o->threads & (o->threads - 1))
		return zerr_set(err, -EINVAL, "--threads %u is no power of two", o->threads);
	if (o->size % o->threads)
		return zerr_set(err, -EINVAL, "--size %u cannot be divided by --threads %u", o->size, o->threads);
	return 0;
}

static int draw(const struct sheet *s, const char *base, struct zerr *err)
{
	static const char *const titles[] = {"(a) Message rate", "(b) QP", "(b) CQ", "(b) UAR", "(b) uUAR"};
	struct figure_panel *p = calloc(5, sizeof(*p));
	char path[4096];
	if (!p)
		return zerr_set(err, -ENOMEM, "out of memory");
	for (int i = 0; i < 5; i++) {
		figure_panel_init(&p[i], titles[i], "processes.threads", i ? "on mlx5" : "million messages/s");
		p[i].bars = true;
	}
	for (size_t i = 0; i < s->n; i++) {
		const struct sheet_row *r = &s->row[i];
		const double y[] = {sheet_rate(r) / 1e6, (double)r->account.objects[ZEP_QP],
			(double)r->account.objects[ZEP_CQ], (double)r->account.pages, (double)r->account.uuars};
		for (int k = 0; k < 5; k++)
			figure_put(&p[k], r->line, r->x, y[k]);
	}
	snprintf(path, sizeof(path), "%s-stencil", base);
	int rc = figure_draw(path, p, 5, err);
	free(p);
	return rc;
}

int stencil_main(int argc, char **argv)
{
	struct bench_options o = {.port = 1,
		.gid_index = -1,
		.threads = 16,
		.count = 100,
		.size = 4096,
		.tile = 512,
		.depth = 128,
		.rounds = 3};
	struct zerr err = {.text = ""};
	for (int c = 0; c < ZEP_CATEGORIES; c++)
		o.category[c] = true;
	static const struct options_use use = {
		.program = "zipbench stencil",
		.usage = "zipbench stencil [OPTION ...]\nHalos of a grid of --size x --size, by processes x threads.\n",
		.takes = OPT_THREADS | OPT_COUNT | OPT_SIZE | OPT_TILE | OPT_DEPTH | OPT_CATEGORY,
	};
	int status;
	if (!options_read(&o, &use, argc, argv, &status))
		return status;
	struct sheet s = {.rounds = o.rounds};
	int rc = check(&o, &err);
	if (rc == 0)
		rc = for_all(&o, &s, add_one, &err);
	for (unsigned round = 0; round < o.rounds && rc == 0; round++)
		rc = for_all(&o, &s, measure_one, &err);
	if (rc == 0)
		rc = sheet_write(&s, o.csv, &err);
	if (rc == 0 && o.plot)
		rc = draw(&s, o.plot, &err);
	sheet_free(&s);
	return rc < 0 ? bench_fail(argv[0], &err) : 0;
}
