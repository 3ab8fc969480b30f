/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums the messages of ranks to the traffic of points. One thread takes one chunk of source points at a time. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/base/par.h"
#include "mapper/traffic/traffic.h"

struct tally {
	uint64_t messages, units, local_messages, local_units, items;
};

/* The memory of one worker. */
struct bench {
	uint32_t *units;   /* [points], for the source point in work */
	uint8_t *messages; /* [points], likewise */
	uint64_t *touched; /* bit p: point p has units */
	uint64_t *groups;  /* bit w: word w of touched is not 0 */
	struct traffic_message *out;
	struct tally tally;
};

struct build {
	struct traffic *t;
	const struct traffic_source *source;
	const uint32_t *point_of_block;
	uint32_t points, block;
	uint64_t block_inverse;		    /* ceil(2^64 / block), for block > 1 */
	const uint32_t *blocks, *blocks_at; /* blocks sorted by point; those of point p begin at blocks_at[p] */
	struct bench *bench;
	bool failed;
};

/* Gives a chunk room for n items. */
static int items_resize(struct traffic_chunk *c, uint64_t n)
{
	struct traffic_item *items = realloc(c->items, n * sizeof(*items));
	uint8_t *messages = realloc(c->messages, n);

	c->items = items ? items : c->items;
	c->messages = messages ? messages : c->messages;
	return items && messages ? 0 : -ENOMEM;
}

/* Appends an item with the messages that the bench has counted for it. */
static int item_push(struct bench *w, struct traffic_chunk *c, uint64_t *n, uint64_t *cap, uint32_t dst, uint32_t units)
{
	if (*n == *cap) {
		uint64_t more = *cap ? *cap * 2 : 256;

		if (items_resize(c, more))
			return -ENOMEM;
		*cap = more;
	}
	c->items[*n] = (struct traffic_item){dst, units};
	c->messages[(*n)++] = w->messages[dst];
	w->tally.units += units;
	w->messages[dst] = 0;
	return 0;
}

/* Turns the points with units into items, in ascending order, and cleans the bench. */
static int point_items(struct bench *w, uint32_t points, struct traffic_chunk *c, uint64_t *n, uint64_t *cap)
{
	for (uint32_t g = 0; g <= points / 4096; g++)
		for (; w->groups[g]; w->groups[g] &= w->groups[g] - 1) {
			uint32_t word = g * 64 + (uint32_t)__builtin_ctzll(w->groups[g]);

			for (; w->touched[word]; w->touched[word] &= w->touched[word] - 1) {
				uint32_t p = word * 64 + (uint32_t)__builtin_ctzll(w->touched[word]);

				if (w->units[p] && item_push(w, c, n, cap, p, w->units[p]))
					return -ENOMEM;
				w->units[p] = 0;
				w->messages[p] = 0;
			}
		}
	return 0;
}

/* Exact for all 32-bit numbers: the error of the inverse is below 2^-64 * rank < 1 / block. */
static inline uint32_t block_of(const struct build *b, uint32_t rank)
{
	if (b->block == 1)
		return rank;
	return (uint32_t)((unsigned __int128)b->block_inverse * rank >> 64);
}

static int point_collect(const struct build *b, struct bench *w, struct traffic_chunk *c, uint32_t point, uint64_t *n,
	uint64_t *cap)
{
	const struct traffic_source *src = b->source;

	for (uint32_t i = b->blocks_at[point]; i < b->blocks_at[point + 1]; i++) {
		uint64_t first = (uint64_t)b->blocks[i] * b->block, end = first + b->block;

		for (uint64_t rank = first; rank < end && rank < src->ranks; rank++) {
			uint32_t k = src->messages(src->arg, (uint32_t)rank, w->out);

			w->tally.messages += k;
			for (uint32_t m = 0; m < k; m++) {
				uint32_t p = b->point_of_block[block_of(b, w->out[m].dst)];
				uint64_t sum = (uint64_t)w->units[p] + w->out[m].units;

				if (p == point) {
					w->tally.local_messages++;
					w->tally.local_units += w->out[m].units;
					continue;
				}
				w->touched[p / 64] |= (uint64_t)(sum > 0) << p % 64;
				w->groups[p / 4096] |= (uint64_t)(sum > 0) << p / 64 % 64;
				if (sum > UINT32_MAX) {
					if (item_push(w, c, n, cap, p, UINT32_MAX))
						return -ENOMEM;
					sum -= UINT32_MAX;
				}
				w->units[p] = (uint32_t)sum;
				w->messages[p] += w->out[m].units && w->messages[p] < TRAFFIC_MESSAGES_MAX;
			}
		}
	}
	return point_items(w, b->points, c, n, cap);
}

static void chunk_collect(void *arg, size_t item, unsigned worker)
{
	struct build *b = arg;
	struct traffic_chunk *c = &b->t->chunks[item];
	uint64_t n = 0, cap = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		c->off[i] = n;
		if (point_collect(b, &b->bench[worker], c, c->first + i, &n, &cap)) {
			__atomic_store_n(&b->failed, true, __ATOMIC_RELAXED);
			return;
		}
	}
	c->off[c->n] = n;
	b->bench[worker].tally.items += n;
	if (n)
		items_resize(c, n); /* smaller: it may fail, and nothing is lost */
}

static int chunks_create(struct traffic *t, uint32_t points)
{
	t->nchunks = (points + TRAFFIC_CHUNK_POINTS - 1) / TRAFFIC_CHUNK_POINTS;
	t->chunks = calloc(t->nchunks ? t->nchunks : 1, sizeof(*t->chunks));
	if (!t->chunks)
		return -ENOMEM;
	for (size_t i = 0; i < t->nchunks; i++) {
		struct traffic_chunk *c = &t->chunks[i];

		c->first = (uint32_t)(i * TRAFFIC_CHUNK_POINTS);
		c->n = points - c->first < TRAFFIC_CHUNK_POINTS ? points - c->first : TRAFFIC_CHUNK_POINTS;
		c->off = calloc(c->n + 1, sizeof(*c->off));
		if (!c->off)
			return -ENOMEM;
	}
	return 0;
}

/* Counting sort of the blocks by their point. */
static int blocks_sort(uint32_t points, uint32_t nblocks, const uint32_t *point, uint32_t **blocks, uint32_t **at)
{
	*blocks = malloc((nblocks ? nblocks : 1) * sizeof(**blocks));
	*at = calloc((size_t)points + 2, sizeof(**at));
	if (!*blocks || !*at)
		return -ENOMEM;
	for (uint32_t i = 0; i < nblocks; i++)
		(*at)[point[i] + 2]++;
	for (uint32_t p = 0; p < points; p++)
		(*at)[p + 2] += (*at)[p + 1];
	for (uint32_t i = 0; i < nblocks; i++)
		(*blocks)[(*at)[point[i] + 1]++] = i;
	return 0;
}

static uint64_t bytes_of(uint64_t units, uint64_t unit)
{
	uint64_t bytes;

	return __builtin_mul_overflow(units, unit, &bytes) ? UINT64_MAX : bytes;
}

int traffic_build(struct traffic *t, uint32_t points, const struct traffic_source *source,
	const uint32_t *point_of_block, uint32_t block, unsigned threads, struct zerr *err)
{
	uint32_t nblocks = (uint32_t)(((uint64_t)source->ranks + block - 1) / block);
	uint32_t *blocks = NULL, *blocks_at = NULL;
	uint64_t units = 0, local_units = 0;
	struct build b = {.t = t,
		.source = source,
		.point_of_block = point_of_block,
		.points = points,
		.block = block,
		.block_inverse = UINT64_MAX / block + 1};
	int rc;

	*t = (struct traffic){.unit = source->unit};
	rc = chunks_create(t, points);
	if (!rc)
		rc = blocks_sort(points, nblocks, point_of_block, &blocks, &blocks_at);
	b.blocks = blocks;
	b.blocks_at = blocks_at;
	b.bench = calloc(threads, sizeof(*b.bench));
	for (unsigned i = 0; i < threads && b.bench && !rc; i++) {
		b.bench[i].units = calloc((size_t)points + 1, sizeof(uint32_t));
		b.bench[i].messages = calloc((size_t)points + 1, 1);
		b.bench[i].touched = calloc((size_t)points / 64 + 1, sizeof(uint64_t));
		b.bench[i].groups = calloc((size_t)points / 4096 + 1, sizeof(uint64_t));
		b.bench[i].out = malloc((source->degree ? source->degree : 1) * sizeof(struct traffic_message));
		if (!b.bench[i].units || !b.bench[i].messages || !b.bench[i].touched || !b.bench[i].groups ||
			!b.bench[i].out)
			rc = -ENOMEM;
	}
	if (!b.bench)
		rc = -ENOMEM;
	if (!rc) {
		par_run(threads, t->nchunks, chunk_collect, &b);
		rc = b.failed ? -ENOMEM : 0;
	}
	for (unsigned i = 0; i < threads && b.bench; i++) {
		const struct tally *y = &b.bench[i].tally;

		t->messages += y->messages - y->local_messages;
		units += y->units;
		t->local_messages += y->local_messages;
		local_units += y->local_units;
		t->items += y->items;
		free(b.bench[i].units);
		free(b.bench[i].messages);
		free(b.bench[i].touched);
		free(b.bench[i].groups);
		free(b.bench[i].out);
	}
	t->bytes = bytes_of(units, t->unit);
	t->local_bytes = bytes_of(local_units, t->unit);
	free(b.bench);
	free(blocks);
	free(blocks_at);
	if (rc) {
		traffic_free(t);
		return zerr_set(err, rc, "not enough memory for the traffic");
	}
	return 0;
}

/* A list as a source of messages; every point is a rank. */
struct list {
	const uint32_t *dst, *order, *at;
	const uint64_t *bytes;
};

static uint32_t list_messages(const void *arg, uint32_t rank, struct traffic_message *out)
{
	const struct list *l = arg;
	uint32_t n = 0;

	for (uint32_t i = l->at[rank]; i < l->at[rank + 1]; i++)
		for (uint64_t left = l->bytes[l->order[i]]; left;) {
			uint32_t piece = left > UINT32_MAX ? UINT32_MAX : (uint32_t)left;

			out[n++] = (struct traffic_message){l->dst[l->order[i]], piece};
			left -= piece;
		}
	return n;
}

int traffic_build_list(struct traffic *t, uint32_t points, size_t n, const uint32_t *src, const uint32_t *dst,
	const uint64_t *bytes, struct zerr *err)
{
	struct list l = {.dst = dst, .bytes = bytes};
	struct traffic_source source = {.ranks = points, .unit = 1, .messages = list_messages, .arg = &l};
	uint32_t *order = NULL, *at = NULL, *self = NULL;
	uint64_t degree = 0;
	int rc = 0;

	memset(t, 0, sizeof(*t));
	if (n > UINT32_MAX - 1)
		return zerr_set(err, -EINVAL, "more than 2^32 messages in a list");
	for (size_t i = 0; i < n; i++) {
		if (src[i] >= points || dst[i] >= points)
			return zerr_set(err, -EINVAL, "message %zu is between %u and %u, but there are %u points", i,
				src[i], dst[i], points);
	}
	self = malloc((points ? points : 1) * sizeof(*self));
	if (!self || blocks_sort(points, (uint32_t)n, src, &order, &at)) {
		rc = zerr_set(err, -ENOMEM, "not enough memory for the traffic");
		goto out;
	}
	for (uint32_t p = 0; p < points; p++) {
		uint64_t k = 0;

		self[p] = p;
		for (uint32_t i = at[p]; i < at[p + 1]; i++)
			k += bytes[order[i]] / UINT32_MAX + 1;
		if (k > degree)
			degree = k;
	}
	l.order = order;
	l.at = at;
	source.degree = (uint32_t)degree;
	rc = traffic_build(t, points, &source, self, 1, 1, err);
out:
	free(self);
	free(order);
	free(at);
	return rc;
}

void traffic_free(struct traffic *t)
{
	for (size_t i = 0; t->chunks && i < t->nchunks; i++) {
		free(t->chunks[i].off);
		free(t->chunks[i].items);
		free(t->chunks[i].messages);
	}
	free(t->chunks);
	memset(t, 0, sizeof(*t));
}
