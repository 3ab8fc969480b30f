/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The figures of "zipbench cast": those of the RDMC paper (Behrens, Jha, Tremel, Birman, "Pushing Bytes",
 * sections 5.2.1 to 5.2.3), and the hybrids of its section 4.3.1, which it does not measure.
 */
#include "zipbench/cast/cast_figures.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "zipbench/base/bench.h"
#include "zipbench/cast/cast_group.h"
#include "zipbench/base/sort.h"

#define NET_BYTES_MAX (1024.0 * MIB) /* figure 8 stops at so much memory of all nodes */
#define HOSTS 15		     /* that keep replicas in figure 9; one more sends */
#define HYBRID_BLOCK_BYTES 65536     /* gives at least 16 blocks */

static const char *const algorithms[] = {"sequential", "tree", "chain", "pipeline", "hybrid-chain", "hybrid-pipeline"};
#define ALGORITHMS 6
#define FLAT 4 /* the first of these, which know no sites */

/* The sizes of groups in the figures: 2, 3, 4, 6, 8, 12, 16, ... */
static uint32_t next_nodes(uint32_t n)
{
	if (n == 2)
		return 3;
	return (n & (n - 1)) == 0 ? n + n / 2 : n / 3 * 4;
}

/* --- the figures --- */

/* Latency of the algorithms, for large and for medium messages. */
static int figure4(struct cast_bench *b, struct zerr *err)
{
	static const uint64_t sizes[] = {256ull * MIB, 8ull * MIB};
	int rc = 0;
	for (int s = 0; s < 2 && rc == 0; s++)
		for (uint32_t n = 2; n <= b->o->nodes && rc == 0; n = next_nodes(n))
			for (int a = 0; a < FLAT && rc == 0; a++)
				rc = cast_point_add(b, "4",
					&(struct cast_point){.line = algorithms[a],
						.algorithm = algorithms[a],
						.nodes = n,
						.senders = 1,
						.bytes = cast_point_scaled(b, sizes[s])},
					err);
	return rc;
}

/* Bandwidth by the size of blocks, for messages of several sizes to groups of four. */
static int figure6(struct cast_bench *b, struct zerr *err)
{
	int rc = 0;
	for (uint64_t bytes = 16u << 10; bytes <= cast_point_scaled(b, 128ull * MIB) && rc == 0; bytes *= 8)
		for (uint32_t block = 4096; block <= ZIPCAST_BLOCK_BYTES_MAX && block <= bytes && rc == 0; block *= 4) {
			char line[32];
			snprintf(line, sizeof(line), bytes < MIB ? "%.0f KiB" : "%.0f MiB",
				(double)bytes / (bytes < MIB ? 1024 : MIB));
			rc = cast_point_add(b, "6",
				&(struct cast_point){.line = line,
					.algorithm = "pipeline",
					.nodes = 4,
					.senders = 1,
					.block_bytes = block,
					.bytes = bytes},
				err);
		}
	return rc;
}

/* One object to very many nodes. */
static int figure8(struct cast_bench *b, struct zerr *err)
{
	const uint64_t bytes = cast_point_scaled(b, 256ull * MIB);
	int rc = 0;
	for (uint32_t n = 2;
		n <= 4 * b->o->nodes && n <= CAST_MEMBERS_MAX && n * (double)bytes <= NET_BYTES_MAX && rc == 0; n *= 2)
		for (int a = 0; a < FLAT && rc == 0; a += 3)
			rc = cast_point_add(b, "8",
				&(struct cast_point){.line = algorithms[a],
					.algorithm = algorithms[a],
					.nodes = n,
					.senders = 1,
					.bytes = bytes},
				err);
	return rc;
}

static double uniform(uint64_t *state) /* (0, 1]; splitmix64 */
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return (double)((x ^ (x >> 31)) >> 11) / 9007199254740992.0 + 1e-16;
}

/* The size of the next object. The paper's trace of Cosmos is not public: this is log-normal, from 4 KiB to 128 MiB
 * scaled, with a sixteenth of that as the median. */
static uint64_t object_bytes(const struct cast_bench *b, uint64_t *state)
{
	const double largest = (double)cast_point_scaled(b, 128ull * MIB);
	double normal = sqrt(-2 * log(uniform(state))) * cos(2 * 3.14159265358979 * uniform(state));
	double bytes = largest / 16 * exp(1.2 * normal);
	return (uint64_t)(bytes < 4096 ? 4096 : bytes > largest ? largest : bytes);
}

static void write_distribution(const struct cast_bench *b, const char *algorithm, double total)
{
	sort_samples(b->sample, b->o->writes);
	for (int p = 1; p <= 100; p++) {
		unsigned i = (unsigned)((double)b->o->writes * p / 100 + 0.5);
		fprintf(b->out, "9,%s,4,%u,,1,%u,,%.1f,,%.2f,%.0f,%d,,,,\n", algorithm, ZIPCAST_BLOCK_BYTES,
			b->o->writes, b->sample[i ? i - 1 : 0] * 1e6, total / 1e6, b->cpu * 100, p);
	}
	fflush(b->out);
}

/* Sends one object after the other, each to a random group of three hosts. */
static int write_objects(struct cast_bench *b, struct cast_net *net, struct cast_group *g, uint32_t ngroups,
	const char *algorithm, struct zerr *err)
{
	uint64_t state = 9, sum = 0; /* the same objects and groups for each algorithm */
	double ignored, start = bench_now(), cpu = bench_cpu_seconds(), seconds = 0;
	int rc = 0;
	for (uint32_t i = 0; i < ngroups && rc == 0; i++)
		rc = cast_group_send(net, &g[i], 1, 1, 1, &ignored, err); /* so that all are connected */
	for (unsigned w = 0; w < b->o->writes && rc == 0; w++) {
		uint64_t bytes = object_bytes(b, &state);
		uint32_t k = (uint32_t)(uniform(&state) * ngroups) % ngroups;
		rc = cast_group_send(net, &g[k], 1, bytes, 1, &b->sample[w], err);
		if (rc == 0 && w % 16 == 0)
			rc = cast_group_verify(&g[k], bytes, err);
		sum += bytes;
		seconds += b->sample[w];
	}
	b->cpu = (bench_cpu_seconds() - cpu) / (bench_now() - start);
	if (rc == 0)
		write_distribution(b, algorithm, (double)sum / seconds);
	return rc;
}

/* The storage system: one node generates objects, and 15 keep them, each object on a random three of them. */
static int figure9(struct cast_bench *b, struct zerr *err)
{
	static const char *const compared[] = {"sequential", "tree", "pipeline"};
	enum { GROUPS = HOSTS * (HOSTS - 1) * (HOSTS - 2) / 6 };
	struct cast_group *g = calloc(GROUPS, sizeof(*g));
	int rc = g ? 0 : zerr_set(err, -ENOMEM, "out of memory");
	for (int a = 0; a < 3 && rc == 0; a++) {
		struct cast_net net;
		uint32_t k = 0, opened = 0;
		rc = cast_net_open(&net, b->o->transport, HOSTS + 1, 1, ZIPCAST_HYBRID,
			cast_point_scaled(b, 128ull * MIB), NULL, err);
		for (uint32_t x = 1; x <= HOSTS; x++)
			for (uint32_t y = x + 1; y <= HOSTS; y++)
				for (uint32_t z = y + 1; z <= HOSTS && rc == 0; z++, opened++)
					rc = cast_group_open(&g[k++], &net, 0, (uint32_t[]){0, x, y, z}, 4, compared[a],
						0, b->data, err);
		if (rc == 0)
			rc = write_objects(b, &net, g, GROUPS, compared[a], err);
		for (uint32_t i = 0; i < opened; i++)
			cast_group_close(&g[i]);
		cast_net_close(&net);
	}
	free(g);
	return rc == 0 ? 0 : zerr_prefix(err, rc, "figure 9");
}

static const uint64_t sizes10[] = {100ull * MIB, MIB, 10u << 10}; /* also figure 11's */

/* Overlapping groups: all members send, or half of them, or one. */
static int figure10(struct cast_bench *b, struct zerr *err)
{
	static const char *const lines[] = {"all send", "half send", "one sends"};
	int rc = 0;
	for (int s = 0; s < 3; s++)
		for (uint32_t n = 2; n <= b->o->nodes && n <= CAST_OVERLAP_MAX && rc == 0; n = next_nodes(n))
			for (int l = 0; l < 3 && rc == 0; l++)
				rc = cast_point_add(b, "10",
					&(struct cast_point){.line = lines[l],
						.algorithm = "pipeline",
						.nodes = n,
						.senders = l == 0   ? n
							   : l == 1 ? (n + 1) / 2
								    : 1,
						.bytes = cast_point_scaled(b, sizes10[s])},
					err);
	return rc;
}

/* The ways in which contexts wait. */
static int figure11(struct cast_bench *b, struct zerr *err)
{
	static const struct {
		const char *name;
		enum zipcast_waiting how;
	} waits[] = {{"hybrid", ZIPCAST_HYBRID}, {"interrupts", ZIPCAST_INTERRUPTS}, {"polling", ZIPCAST_POLL}};
	int rc = 0;
	for (int s = 0; s < 3; s++)
		for (uint32_t n = 2; n <= b->o->nodes && rc == 0; n = next_nodes(n))
			for (int w = 0; w < 3 && rc == 0; w++)
				rc = cast_point_add(b, "11",
					&(struct cast_point){.line = waits[w].name,
						.algorithm = "pipeline",
						.waiting = waits[w].how,
						.nodes = n,
						.senders = 1,
						.bytes = cast_point_scaled(b, sizes10[s])},
					err);
	return rc;
}

/* All algorithms in a group whose members are in sites, and how much crosses between the sites. The members stand site
 * by site ("in order"), or the sites take turns ("in turns"). */
static int figure_hybrids(struct cast_bench *b, struct zerr *err)
{
	static const char *const placements[] = {"in order", "in turns"};
	struct cast_sites sites = {.place = b->nplaces ? b->place : NULL};
	int rc = 0;
	sites.n = b->nplaces ? b->nplaces : b->o->sites;
	if (sites.n > b->o->nodes)
		sites.n = b->o->nodes;
	for (int order = 0; order < 2; order++)
		for (uint32_t n = 2; n <= b->o->nodes && rc == 0; n = next_nodes(n)) {
			for (uint32_t i = 0; i < n; i++)
				sites.of[i] = order == 0 ? i * sites.n / n : i % sites.n;
			for (int a = 0; a < ALGORITHMS && n >= sites.n && rc == 0; a++)
				rc = cast_point_add(b, "hybrids",
					&(struct cast_point){.line = algorithms[a],
						.algorithm = algorithms[a],
						.nodes = n,
						.senders = 1,
						.block_bytes = HYBRID_BLOCK_BYTES,
						.bytes = cast_point_scaled(b, 64ull * MIB),
						.sites = &sites,
						.placement = placements[order]},
					err);
		}
	return rc;
}

const struct cast_figure cast_figures[] = {{"4", figure4}, {"6", figure6}, {"8", figure8}, {"9", figure9},
	{"10", figure10}, {"11", figure11}, {"hybrids", figure_hybrids}, {NULL, NULL}};
