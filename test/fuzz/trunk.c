/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trunk at a pair of zipperd's workers, against another zipperd and ranks that send whatever they like. The bench is
 * that of unit/zipperd/streams, without threads, so that an input always does the same.
 *
 * An input: CONFIG_BYTES bytes, then frames of FRAME_BYTES bytes. A frame is an envelope that the other zipperd or a
 * rank sends, or something that happens.
 *
 * Checked: the claims of trunk_bench.h; everything is given back, and no memory is left over.
 */
#include <errno.h>

#include "test/fuzz/target.h"
#include "test/unit/zipperd/trunk_bench.h"

#define CONFIG_BYTES 2
#define FRAME_BYTES 6

/* What happens, behind the kinds of messages. */
enum { OPEN = ZWIRE_KIND_MAX + 1, LEND, CLOSE, SAY, FILL, EMPTY, RUN, BREAK };

static struct bench b;
static uint64_t seq[BENCH_STREAMS + 1][2]; /* of good messages: to the rank, from the rank */

static uint64_t number(uint8_t n)
{
	static const uint64_t large[8] = {UINT64_MAX, UINT64_C(1) << 63, 1u << 20, UINT32_MAX, 65536, 4096, 16384,
		1000};
	return n < 0xf0 ? n & 15 : large[n & 7];
}

static uint64_t room(const struct bench_stream *s, uint8_t n)
{
	const uint64_t sent = s->stream.sent;
	switch (n & 7) {
	case 0:
		return sent + 1;
	case 1:
		return sent / 2;
	case 2:
		return sent > 4096 ? sent - 4096 : 0;
	case 3:
		return number(n >> 3 | 0xe0);
	case 4:
		return s->granted;
	default:
		return sent;
	}
}

static uint64_t window(uint8_t n)
{
	static const uint64_t known[8] = {ZWIRE_STREAM_FIRST, ZWIRE_STREAM_LARGE, 0, 1, UINT64_MAX, 4096,
		ZWIRE_STREAM_LARGE, ZWIRE_STREAM_FIRST};
	return known[n & 7];
}

/* who: 0 is the other zipperd, then come the ranks. */
static void show(unsigned who, const uint8_t *f)
{
	static const uint32_t lengths[16] = {0, 0, 1, 64, 960, 960, 960, 960, 4096, 4097, 16384, 16321, 65536, 65537,
		1000, ZWIRE_MAX_PAYLOAD};
	const uint32_t id = f[1] & 8 ? (uint32_t)number(f[5]) : (f[1] & 3) + 1u, from = who > 0;
	const unsigned i = who > 0 ? who : (f[1] & 3) + 1u;
	struct zwire_env env = {.kind = f[0] & 31,
		.flags = f[1] & 128 ? number(f[4]) & ZWIRE_F_ALL : 0,
		.job = who > 0 ? 0 : id,
		.src = f[1] & 16 ? ZWIRE_NOBODY : from,
		.dst = f[1] & 32 ? ZWIRE_NOBODY : !from,
		.len = lengths[f[2] & 15],
		.comm = f[2] >> 4,
		.xfer = number(f[3]),
		.offset = number(f[4])};
	if (env.kind == ZWIRE_CREDIT) {
		env.offset = room(&b.s[i - 1], f[3]);
		env.xfer = window(f[4]);
	}
	if (env.kind == ZWIRE_CREDIT || env.kind == ZWIRE_CLOSE)
		env.len = f[1] & 64 ? env.len : 0;
	else if (env.kind == ZWIRE_EAGER || env.kind == ZWIRE_RTS)
		env.seq = f[1] & 64 ? number(f[5]) : ++seq[i][from];
	bench_show(who > 0 ? &b.s[who - 1].rank : &b.wire, &env);
}

static void obey(const uint8_t *f)
{
	const unsigned who = (f[0] >> 5) % (BENCH_STREAMS + 1);
	struct bench_link *l = who > 0 ? &b.s[who - 1].rank : &b.wire;
	const int i = f[1] & 3;
	switch (f[0] & 31) {
	case 0:
		break;
	case OPEN:
		bench_open(&b, i);
		break;
	case LEND:
		bench_lend(&b, i);
		break;
	case CLOSE:
		bench_close(&b, i);
		break;
	case SAY:
		bench_say(&b, i, f[2] * 64u);
		break;
	case FILL:
		l->full = true;
		break;
	case EMPTY:
		bench_empty(l);
		break;
	case RUN:
		bench_run(&b);
		break;
	case BREAK:
		l->ended = f[1] & 1 ? -ESHUTDOWN : -ECONNRESET;
		break;
	default:
		show(who, f);
	}
	for (int k = f[5] >> 6; k > 0; k--)
		bench_turn(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < CONFIG_BYTES)
		return 0;
	for (int i = 0; i <= BENCH_STREAMS; i++)
		seq[i][0] = seq[i][1] = 0;
	const struct bench_config config = {.accepts = data[0] & 1,
		.jobs = data[0] & 2,
		.memory = data[0] & 4 ? 4u << 20 : 0,
		.user_memory = data[0] & 8 ? 3u << 20 : 0};
	bench_begin(&b, &config);
	for (int i = 0; i < BENCH_STREAMS; i++) {
		if (data[1] >> i & 1)
			bench_open(&b, i);
		if (data[1] >> (4 + i) & 1)
			bench_lend(&b, i);
	}
	for (size_t at = CONFIG_BYTES; at + FRAME_BYTES <= size; at += FRAME_BYTES)
		obey(data + at);
	bench_run(&b);
	for (int i = 0; i < BENCH_STREAMS; i++)
		b.s[i].rank.full = false;
	bench_end(&b);
	return 0;
}
