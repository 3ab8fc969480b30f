/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads zipmap.graph(5) files row by row and checks everything. See graph_scan.h. */
#include "common/graph/graph.h"
#include "common/graph/graph_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/graph/graph_format.h"
#include "common/wire/crc32.h"

struct scan {
	FILE *f;
	const char *path;
	struct zerr *err;
	const struct zgraph_visitor *visit;
	void *ctx;
	uint64_t size, at; /* bytes of the file; bytes read so far, without the row that is being decoded */
	uint32_t crc;
	struct zgraph_header header;
	uint32_t rank;
	uint8_t *row;
	size_t len, cap, pos; /* of the row */
};

static int fail(struct scan *s, const char *why)
{
	return zerr_set(s->err, -EINVAL, "%s: byte %llu: %s", s->path, (unsigned long long)(s->at + s->pos), why);
}

static int row_fail(struct scan *s, const char *why)
{
	return zerr_set(s->err, -EINVAL, "%s: byte %llu, rank %u: %s", s->path, (unsigned long long)(s->at + s->pos),
		s->rank, why);
}

/* --- from the file --- */

static int read_bytes(struct scan *s, void *out, size_t len)
{
	if (len > s->size - s->at)
		return fail(s, "the file ends too early");
	if (len && fread(out, 1, len, s->f) != len)
		return ferror(s->f) ? zerr_set(s->err, -EIO, "%s: %s", s->path, strerror(errno))
				    : fail(s, "the file ends too early");
	s->crc = zcrc32(s->crc, out, len);
	s->at += len;
	return 0;
}

static int read_number(struct scan *s, uint64_t max, uint64_t *v, const char *what)
{
	uint8_t bytes[ZGRAPH_VARINT_MAX];
	uint64_t began = s->at;
	size_t n = 0;
	int rc;

	do {
		rc = read_bytes(s, &bytes[n], 1);
		if (rc)
			return rc;
	} while ((bytes[n++] & 0x80) && n < sizeof(bytes));
	if (!zgraph_varint_decode(bytes, n, v) || *v > max) {
		s->at = began;
		return fail(s, what);
	}
	return 0;
}

static int read_header(struct scan *s)
{
	struct zgraph_header *h = &s->header;
	uint8_t magic[sizeof(zgraph_magic)];
	uint64_t version, ranks, model, len;
	int rc;

	if (s->size < sizeof(magic))
		return fail(s, "not a recorded graph");
	rc = read_bytes(s, magic, sizeof(magic));
	if (rc)
		return rc;
	s->at = 0;
	if (memcmp(magic, zgraph_magic, sizeof(magic)) != 0)
		return fail(s, !memcmp(magic, zgraph_magic, 4) ? "a recorded graph that was transferred as text"
							       : "not a recorded graph");
	s->at = sizeof(magic);
	rc = read_number(s, UINT64_MAX, &version, "not a version");
	if (rc)
		return rc;
	if (version != ZGRAPH_VERSION && version != ZGRAPH_VERSION_TIMED)
		return zerr_set(s->err, -EINVAL,
			"%s: version %llu of the format, but this program reads versions %d and %d", s->path,
			(unsigned long long)version, ZGRAPH_VERSION, ZGRAPH_VERSION_TIMED);
	h->timed = version == ZGRAPH_VERSION_TIMED;
	rc = read_number(s, ZGRAPH_RANKS_MAX, &ranks, "not a number of ranks");
	if (!rc)
		rc = read_number(s, UINT32_MAX, &model, "not the version of a model");
	if (!rc)
		rc = read_number(s, ZGRAPH_TITLE_MAX, &len, "a title that is too long");
	if (!rc)
		rc = read_bytes(s, h->title, (size_t)len);
	if (rc)
		return rc;
	for (size_t i = 0; i < len; i++)
		if (h->title[i] < 0x20 || h->title[i] > 0x7e)
			return fail(s, "a title that is no ASCII text");
	h->title[len] = '\0';
	/* each row has at least one byte, so the visitor may allocate memory for so many rows */
	if (!ranks || ranks > s->size - s->at)
		return fail(s, ranks ? "the file is too short for its ranks" : "no ranks");
	h->ranks = (uint32_t)ranks;
	h->model = (unsigned)model;
	return 0;
}

/* --- from a row --- */

static int row_number(struct scan *s, uint64_t min, uint64_t max, uint64_t *v, const char *what)
{
	size_t n = zgraph_varint_decode(s->row + s->pos, s->len - s->pos, v);

	if (!n || *v < min || *v > max)
		return row_fail(s, what);
	s->pos += n;
	return 0;
}

static bool call_ascends(const struct zgraph_call *a, const struct zgraph_call *b)
{
	if (a->phase != b->phase)
		return a->phase < b->phase;
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return a->size < b->size;
}

static int decode_calls(struct scan *s)
{
	struct zgraph_call call, before = {.phase = 0};
	uint64_t n, phase, kind, size;
	int rc = row_number(s, 0, UINT64_MAX, &n, "not a number of kinds of calls");

	for (uint64_t i = 0; !rc && i < n; i++) {
		rc = row_number(s, 0, ZGRAPH_PHASE_MAX, &phase, "not a phase");
		if (!rc)
			rc = row_number(s, 0, ZGRAPH_KINDS - 1, &kind, "not a kind of calls");
		if (!rc)
			rc = row_number(s, 0, UINT32_MAX, &size, "not the size of a communicator");
		if (!rc)
			rc = row_number(s, 1, UINT64_MAX, &call.calls, "not a number of calls");
		if (!rc)
			rc = row_number(s, 0, UINT64_MAX, &call.bytes, "not the bytes of calls");
		if (rc)
			return rc;
		call.phase = (uint32_t)phase;
		call.kind = (enum zgraph_kind)kind;
		call.size = (uint32_t)size;
		if (i > 0 && !call_ascends(&before, &call))
			return row_fail(s, "kinds of calls that do not ascend");
		before = call;
		if (s->visit->call)
			rc = s->visit->call(s->ctx, s->rank, &call, s->err);
	}
	return rc;
}

/* Reads one run; *next is the lowest peer that the run may begin with, and becomes that of the next run. */
static int decode_run(struct scan *s, struct zgraph_run *run, uint64_t *next, bool first)
{
	uint64_t head, more = 0;
	int rc = row_number(s, 0, UINT64_MAX, &head, "not the beginning of a run");

	if (rc)
		return rc;
	if (head >> 2 >= s->header.ranks || *next + (head >> 2) >= s->header.ranks)
		return row_fail(s, "a peer that is not there");
	run->peer = (uint32_t)(*next + (head >> 2));
	run->count = 1;
	if (head & ZGRAPH_RUN_LONG) {
		rc = row_number(s, 0, UINT64_MAX, &more, "not the length of a run");
		if (rc)
			return rc;
		if (more >= s->header.ranks || run->peer + more + 2 > s->header.ranks)
			return row_fail(s, "a run beyond the last rank");
		run->count = (uint32_t)more + 2;
	}
	*next = (uint64_t)run->peer + run->count;
	if (head & ZGRAPH_RUN_SAME)
		return first ? row_fail(s, "the first run repeats none") : 0;
	rc = row_number(s, 0, UINT64_MAX, &run->bytes, "not a number of bytes");
	return rc ? rc : row_number(s, 1, UINT64_MAX, &run->messages, "not a number of messages");
}

static int decode_group(struct scan *s, uint64_t *before, bool first_group)
{
	struct zgraph_run run = {.count = 0};
	uint64_t phase, class, n, next = 0;
	int rc = row_number(s, 0, ZGRAPH_PHASE_MAX, &phase, "not a phase");

	if (!rc)
		rc = row_number(s, 0, ZGRAPH_CLASSES - 1, &class, "not a class of traffic");
	if (!rc)
		rc = row_number(s, 1, s->header.ranks, &n, "not a number of runs");
	if (rc)
		return rc;
	if (!first_group && (phase << 8 | class) <= *before)
		return row_fail(s, "groups of runs that do not ascend");
	*before = phase << 8 | class;
	run.phase = (uint32_t)phase;
	run.class = (enum zgraph_class) class;
	for (uint64_t i = 0; !rc && i < n; i++) {
		rc = decode_run(s, &run, &next, i == 0);
		if (!rc && s->visit->run)
			rc = s->visit->run(s->ctx, s->rank, &run, s->err);
	}
	return rc;
}

static int decode_times(struct scan *s)
{
	struct zgraph_time time;
	uint64_t n, phase, span, before = 0;
	int rc = row_number(s, 0, UINT64_MAX, &n, "not a number of times");

	for (uint64_t i = 0; !rc && i < n; i++) {
		rc = row_number(s, 0, ZGRAPH_PHASE_MAX, &phase, "not a phase");
		if (!rc)
			rc = row_number(s, 0, ZGRAPH_SPANS - 1, &span, "not a kind of time");
		if (!rc)
			rc = row_number(s, 1, UINT64_MAX, &time.calls, "not a number of calls");
		if (!rc)
			rc = row_number(s, 0, UINT64_MAX, &time.ns, "not a time");
		if (rc)
			return rc;
		if (i > 0 && (phase << 8 | span) <= before)
			return row_fail(s, "times that do not ascend");
		before = phase << 8 | span;
		time.phase = (uint32_t)phase;
		time.span = (enum zgraph_span)span;
		if (s->visit->time)
			rc = s->visit->time(s->ctx, s->rank, &time, s->err);
	}
	return rc;
}

static int decode_row(struct scan *s)
{
	uint64_t groups, before = 0;
	int rc;

	s->pos = 0;
	if (s->visit->row) {
		rc = s->visit->row(s->ctx, s->rank, s->err);
		if (rc)
			return rc;
	}
	if (s->len == 0)
		return 0;
	rc = decode_calls(s);
	if (!rc)
		rc = row_number(s, 0, UINT64_MAX, &groups, "not a number of groups");
	for (uint64_t i = 0; !rc && i < groups; i++)
		rc = decode_group(s, &before, i == 0);
	if (!rc && s->header.timed)
		rc = decode_times(s);
	if (!rc && s->pos != s->len)
		rc = row_fail(s, "more bytes in the row than it has entries");
	return rc;
}

static int read_row(struct scan *s)
{
	uint64_t len, began = s->at;
	int rc = read_number(s, UINT64_MAX, &len, "not the length of a row");

	if (rc)
		return rc;
	/* every later row has at least one byte */
	uint64_t behind = (uint64_t)s->header.ranks - s->rank - 1 + ZGRAPH_CRC_BYTES;
	if (s->size - s->at < behind || len > s->size - s->at - behind) {
		s->at = began;
		return row_fail(s, "the file ends too early");
	}
	if (len > s->cap) {
		uint8_t *row = realloc(s->row, len);
		if (!row)
			return zerr_set(s->err, -ENOMEM, "%s: not enough memory for a row of %llu bytes", s->path,
				(unsigned long long)len);
		s->row = row;
		s->cap = len;
	}
	rc = read_bytes(s, s->row, len);
	if (rc)
		return rc;
	s->at -= len;
	s->len = len;
	rc = decode_row(s);
	s->at += len;
	s->pos = 0;
	return rc;
}

static int read_tail(struct scan *s)
{
	uint32_t crc = s->crc;
	uint8_t tail[ZGRAPH_CRC_BYTES];

	if (s->size - s->at != sizeof(tail))
		return fail(s,
			s->size - s->at < sizeof(tail) ? "the file ends too early" : "bytes behind the last row");
	int rc = read_bytes(s, tail, sizeof(tail));
	if (rc)
		return rc;
	if (((uint32_t)tail[0] | (uint32_t)tail[1] << 8 | (uint32_t)tail[2] << 16 | (uint32_t)tail[3] << 24) != crc)
		return zerr_set(s->err, -EINVAL, "%s: damaged: the checksum is wrong", s->path);
	return 0;
}

static int open_file(struct scan *s)
{
	struct stat st;

	s->f = fopen(s->path, "re");
	if (!s->f || fstat(fileno(s->f), &st) != 0)
		return zerr_set(s->err, -errno, "%s: %s", s->path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return zerr_set(s->err, -EINVAL, "%s: not a file", s->path);
	s->size = (uint64_t)st.st_size;
	return 0;
}

int zgraph_scan(const char *path, const struct zgraph_visitor *visit, void *ctx, struct zerr *err)
{
	struct scan s = {.path = path, .err = err, .visit = visit, .ctx = ctx};
	int rc = open_file(&s);

	if (!rc)
		rc = read_header(&s);
	if (!rc && visit->header)
		rc = visit->header(ctx, &s.header, err);
	for (s.rank = 0; !rc && s.rank < s.header.ranks; s.rank++)
		rc = read_row(&s);
	if (!rc)
		rc = read_tail(&s);
	if (s.f)
		fclose(s.f);
	free(s.row);
	return rc;
}

int zgraph_scan_probe(const char *path, struct zerr *err)
{
	uint8_t magic[4];
	FILE *f = fopen(path, "re");

	if (!f)
		return zerr_set(err, -errno, "%s: %s", path, strerror(errno));
	size_t n = fread(magic, 1, sizeof(magic), f);
	int rc = ferror(f) ? zerr_set(err, -errno, "%s: %s", path, strerror(errno)) : 0;
	fclose(f);
	return rc ? rc : n == sizeof(magic) && memcmp(magic, zgraph_magic, sizeof(magic)) == 0;
}
