/* SPDX-License-Identifier: BSD-3-Clause */
/* One point of a figure of "zipbench cast": a net, its groups, some messages, and a line. */
#include "zipbench/cast/cast_point.h"

#include "zipbench/base/bench.h"
#include "zipbench/cast/cast_group.h"
#include "zipbench/base/sort.h"

uint64_t cast_point_scaled(const struct cast_bench *b, uint64_t bytes)
{
	if (bytes <= MIB)
		return bytes;
	return bytes / b->o->scale > MIB ? bytes / b->o->scale : MIB;
}

/* A group for each sender, all with the same members. A round is one message in each; `sample` gets its time. */
static int send_rounds(struct cast_bench *b, const struct cast_point *p, struct cast_net *net, struct cast_group *g,
	struct zerr *err)
{
	double ignored;
	for (uint32_t s = 0; s < p->senders; s++) { /* first round: connects, and touches all memory */
		int rc = cast_group_send(net, &g[s], 1, p->bytes, 1, &ignored, err);
		if (rc == 0)
			rc = cast_group_verify(&g[s], p->bytes, err);
		if (rc < 0)
			return rc;
	}
	const double start = bench_now(), cpu = bench_cpu_seconds();
	for (unsigned i = 0; i < b->o->count; i++) {
		int rc = cast_group_send(net, g, p->senders, p->bytes, 1, &b->sample[i], err);
		if (rc < 0)
			return rc;
	}
	b->cpu = (bench_cpu_seconds() - cpu) / (bench_now() - start);
	sort_samples(b->sample, b->o->count);
	int rc = 0;
	for (uint32_t s = 0; s < p->senders && rc == 0; s++)
		rc = cast_group_verify(&g[s], p->bytes, err);
	return rc;
}

static int measure(struct cast_bench *b, const struct cast_point *p, struct zerr *err)
{
	struct cast_net net;
	struct cast_group g[CAST_OVERLAP_MAX] = {{.n = 0}};
	uint32_t member[CAST_MEMBERS_MAX];
	int rc = cast_net_open(&net, b->o->transport, p->nodes, p->senders, p->waiting, p->bytes, p->sites, err);
	for (uint32_t s = 0; s < p->senders && rc == 0; s++) {
		for (uint32_t i = 0; i < p->nodes; i++)
			member[i] = (s + i) % p->nodes;
		rc = cast_group_open(&g[s], &net, s, member, p->nodes, p->algorithm, p->block_bytes,
			b->data + s * CAST_DATA_SHIFT, err);
	}
	if (rc == 0)
		rc = send_rounds(b, p, &net, g, err);
	b->crossed_blocks = b->crossed_bytes = 0;
	for (uint32_t s = 0; s < p->senders; s++) {
		cast_group_crossed(&g[s], &b->crossed_blocks, &b->crossed_bytes);
		cast_group_close(&g[s]);
	}
	cast_net_close(&net);
	return rc;
}

void cast_point_write_head(FILE *f)
{
	fputs("figure,line,nodes,block_bytes,bytes,senders,messages,q1_us,median_us,q3_us,mbytes_per_s,cpu_percent,"
	      "percentile,sites,placement,crossed_blocks,crossed_bytes\n",
		f);
}

static void write_row(const struct cast_bench *b, const char *figure, const struct cast_point *p)
{
	const unsigned n = b->o->count;
	const double median = b->sample[n / 2];
	fprintf(b->out, "%s,%s,%u,%u,%llu,%u,%u,%.1f,%.1f,%.1f,%.2f,%.0f,,", figure, p->line, p->nodes,
		p->block_bytes ? p->block_bytes : ZIPCAST_BLOCK_BYTES, (unsigned long long)p->bytes, p->senders,
		n * p->senders, b->sample[n / 4] * 1e6, median * 1e6, b->sample[n * 3 / 4] * 1e6,
		(double)p->bytes * p->senders / median / 1e6, b->cpu * 100);
	if (p->sites) /* for one message; one more came before those that are timed */
		fprintf(b->out, "%u,%s,%.9g,%.9g\n", p->sites->n, p->placement, (double)b->crossed_blocks / (n + 1),
			(double)b->crossed_bytes / (n + 1));
	else
		fputs(",,,\n", b->out);
	fflush(b->out);
}

int cast_point_add(struct cast_bench *b, const char *figure, const struct cast_point *p, struct zerr *err)
{
	int rc = measure(b, p, err);
	if (rc == 0)
		write_row(b, figure, p);
	return rc == 0 ? 0 : zerr_prefix(err, rc, "figure %s, %s, %u nodes", figure, p->line, p->nodes);
}
