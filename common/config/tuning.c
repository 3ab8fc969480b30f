/* SPDX-License-Identifier: BSD-3-Clause */
/* The tuning table: its defaults, its digest, and the choice of settings. See tuning.h. */
#include "common/config/tuning.h"
#include "common/config/tuning_parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/config/tuning_rule.h"

const char ztuning_defaults_text[] =
	"bridge latency_ns=10000 bandwidth=2G\n"
	/* more segments only make schedules longer; allgather, 2+2 and 4+4 ranks, 128 KiB to 1 MiB of each: 0.6 to 0.9
	 * of the time in segments of this size, 0.9 to 1.05 with 256 KiB; scan and exscan, the same ranks, 256 KiB to
	 * 4 MiB: 0.07 to 0.43 */
	"all segment=128K segments=64\n"
	/* reductions and scans of 1 and 4 MiB on two cores: 2+2 ranks by tcp 0.65 to 0.9 of the time that one at a time
	 * takes, by shm 0.6 to 1.0, 4+4 ranks 0.75 to 1.05; by tcp over links of 1 ms 0.14 to 0.65 */
	"all depth=8\n"
	/* its segments are large; more than 4 gain nothing */
	"reduce_scatter depth=4\n"
	/* a root has buffers for as many segments from every cluster, and segments are longer then */
	"all bytes>=64M depth=2\n"
	/* over links of 1 ms, 4 MiB: 16 take 0.6 to 0.75 of the time of 8 */
	"all latency_ns>=1000000 bytes<16M depth=32\n"
	"all latency_ns>=1000000 bytes>=16M depth=8\n"
	"reduce_scatter latency_ns>=1000000 depth=8\n"
	/* 2+2 and 4+4 ranks on two cores, by shm and tcp, 256 KiB to 4 MiB for each: in 128 KiB 0.6 to 4
	 * of the time, 1 MiB 0.9 to 1.2 */
	"reduce_scatter segment=1M\n"
	/* 256 KiB to 4 MiB for each, 128 KiB against 1 MiB: 4+4 ranks by tcp 0.65 to 1.0 of the time, by shm 0.7 to
	 * 0.95; links of 1 Gbit/s 0.7 to 0.95, 2+2 ranks too */
	"reduce_scatter members>=4 segment=128K\n"
	"reduce_scatter bandwidth<500M segment=128K\n"
	/* patience: many times the delay between clusters that enter a collective, and little for receivers that wait
	 * in vain */
	/* small ones take more time so: three clusters, 8 bytes, pipelined: 1.6 of it, 4 KiB: 0.8 */
	"all multicast=yes patience=20\n"
	"all bytes<4K multicast=no\n"
	"all between=all\n"
	/* about the size at which copying costs as much as a second message */
	"scatter together=4K\n"
	/* 2+2 and 4+4 ranks, by shm and tcp: 4 KiB 1.0 to 1.7 of the time, 16 KiB 0.6 to 0.9, 64 KiB 0.6 to 0.85 and
	 * 0.8 to 1.3, 256 KiB and 1 MiB 0.55 to 0.85; with many members small ones are many messages of one rank */
	"gather alone=128K\n"
	"gather members_max<8 alone=16K\n"
	"scatter alone=128K\n"
	"scatter members_max<8 alone=16K\n"
	/* 2+2 and 4+4 ranks on two cores, from there on, over tcp and shm: allreduce with two leaders 0.55 to 1.0 of
	 * the time, reduce 0.7 to 0.96, bcast 0.8 to 0.9; reduce_scatter with four 0.7 to 0.8, below 0.4 to 0.9 with
	 * one */
	"all leaders=1\n"
	"bcast bytes>=8M leaders=2\n"
	"allreduce bytes>=64K leaders=2\n"
	"reduce bytes>=64K leaders=2\n"
	"reduce_scatter bytes>=128K leaders=4\n"
	/* eight clusters on two cores: 0.7 of the time by doubling, 0.5 in slices from 64 KiB on; three: all is faster.
	 * Four and five, 8 bytes: 1.4 to 2.2 of the time by doubling. Far away what counts is how often one waits: four
	 * clusters, links of 1 ms, 8 bytes and 4 KiB: 1.8 to 2 times. */
	"allreduce exchange=all\n"
	"allreduce clusters>=4 exchange=doubling\n"
	"allreduce clusters<6 bytes<4K exchange=all\n"
	"allreduce latency_ns>=100000 bytes<64K exchange=all\n"
	"allreduce clusters>=4 bytes>=64K exchange=slices\n"
	/* by tcp, 2+2 and 4+4 ranks on two cores, all through one leader: 0.45 of the time with 8 bytes, 0.5 with 2
	 * KiB, 0.6 and 0.8 with 4 KiB, 1.0 to 1.3 with 16 KiB; 8+8 ranks, 4 KiB: 0.93, and with two 0.74 */
	"alltoall leaders=1 aggregate=4K window=4\n"
	"alltoall members_max>=4 bytes>=2K leaders=2\n"
	"alltoall members_max>=16 leaders=2 aggregate=1K\n"
	"alltoall members>=16 leaders=64\n"
	/* MPICH's reduction of long vectors works in buffers that it allocates anew for every call: 60 us for 128 KiB
	 * of two ranks, 14 us if they are gathered and added up; below 2 KiB it takes another algorithm, as fast. The
	 * root's work grows with the members. What fits into memory that they share is gathered in any case: allreduce
	 * of 8 B of 2+2 ranks, 13 us instead of 30. */
	"all inside=auto\n"
	"all bytes>=2K members_max<5 inside=gather\n";

int ztuning_init(struct ztuning *table, struct zerr *err)
{
	memset(table, 0, sizeof(*table));
	FILE *in = fmemopen((void *)(uintptr_t)ztuning_defaults_text, strlen(ztuning_defaults_text), "r");
	if (!in)
		return zerr_set(err, -ENOMEM, "out of memory");
	int rc = ztuning_parse(table, in, "defaults", err);
	fclose(in);
	return rc;
}

void ztuning_free(struct ztuning *table)
{
	for (int c = 0; c < ZTUNING_COLLECTIVES; c++)
		free(table->of[c].rules);
	memset(table, 0, sizeof(*table));
}

static void digest_number(uint64_t *hash, int64_t number)
{
	uint8_t bytes[8];
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)((uint64_t)number >> (8 * i));
	*hash = zhash64(*hash, bytes, sizeof(bytes));
}

static void digest_rule(uint64_t *hash, const struct ztuning_rule *rule)
{
	digest_number(hash, rule->nconditions);
	for (int i = 0; i < rule->nconditions; i++) {
		digest_number(hash, rule->conditions[i].key);
		digest_number(hash, rule->conditions[i].below);
		digest_number(hash, rule->conditions[i].number);
	}
	digest_number(hash, (int64_t)rule->offset);
	digest_number(hash, rule->value);
}

uint64_t ztuning_digest(const struct ztuning *table)
{
	uint64_t hash = ZHASH64;
	digest_number(&hash, table->latency_ns);
	digest_number(&hash, table->bandwidth);
	for (int c = 0; c < ZTUNING_COLLECTIVES; c++) {
		digest_number(&hash, table->of[c].n);
		for (int r = 0; r < table->of[c].n; r++)
			digest_rule(&hash, &table->of[c].rules[r]);
	}
	return hash;
}

static bool applies(const struct ztuning_rule *rule, const int64_t numbers[TUNING_KEYS])
{
	for (int i = 0; i < rule->nconditions; i++) {
		const struct ztuning_condition *c = &rule->conditions[i];
		if ((numbers[c->key] < c->number) != c->below)
			return false;
	}
	return true;
}

struct ztuning_settings ztuning_choose(const struct ztuning *table, enum ztuning_collective collective,
	const struct ztuning_case *call)
{
	struct ztuning_settings settings = {0};
	const int64_t numbers[TUNING_KEYS] = {call->bytes, call->ranks, call->clusters, call->members,
		call->members_max, table->latency_ns, table->bandwidth};
	for (int r = 0; r < table->of[collective].n; r++) {
		const struct ztuning_rule *rule = &table->of[collective].rules[r];
		if (applies(rule, numbers))
			*(int64_t *)(void *)((char *)&settings + rule->offset) = rule->value;
	}
	return settings;
}
