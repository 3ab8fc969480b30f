/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes zipmap.graph(5) files. See graph_writer.h. */
#define _GNU_SOURCE /* asprintf */
#include "common/graph/graph.h"
#include "common/graph/graph_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/graph/graph_format.h"
#include "common/wire/crc32.h"

/* --- rows --- */

struct bytes {
	uint8_t *data;
	size_t len, cap;
};

static int bytes_reserve(struct bytes *b, size_t more)
{
	if (b->cap - b->len >= more)
		return 0;
	size_t cap = 2 * b->cap + more + 64;
	uint8_t *data = realloc(b->data, cap);
	if (!data)
		return -ENOMEM;
	b->data = data;
	b->cap = cap;
	return 0;
}

/* The caller has reserved room. */
static void put(struct bytes *b, uint64_t v)
{
	b->len += zgraph_varint_encode(b->data + b->len, v);
}

/* Does run i continue run i - 1? */
static bool run_continues(const struct zgraph_run *runs, size_t i)
{
	const struct zgraph_run *a = &runs[i - 1], *b = &runs[i];

	return a->phase == b->phase && a->class == b->class && a->peer + a->count == b->peer && a->bytes == b->bytes &&
	       a->messages == b->messages;
}

/* Writes the runs first to end - 1, which have the same phase and class, as one group. */
static int group_encode(struct bytes *b, const struct zgraph_run *runs, size_t first, size_t end)
{
	uint32_t next = 0;
	size_t n = 0;

	for (size_t i = first; i < end; i++)
		n += i == first || !run_continues(runs, i);
	if (bytes_reserve(b, 3 * ZGRAPH_VARINT_MAX + n * 4 * ZGRAPH_VARINT_MAX) != 0)
		return -ENOMEM;
	put(b, runs[first].phase);
	put(b, runs[first].class);
	put(b, n);
	for (size_t i = first, last; i < end; i = last) {
		const struct zgraph_run *r = &runs[i];
		uint64_t count = r->count;
		bool same = i > first && runs[i - 1].bytes == r->bytes && runs[i - 1].messages == r->messages;

		for (last = i + 1; last < end && run_continues(runs, last); last++)
			count += runs[last].count;
		put(b, (uint64_t)(r->peer - next) << 2 | (count > 1 ? ZGRAPH_RUN_LONG : 0) |
				(same ? ZGRAPH_RUN_SAME : 0));
		if (count > 1)
			put(b, count - 2);
		if (!same) {
			put(b, r->bytes);
			put(b, r->messages);
		}
		next = (uint32_t)(r->peer + count);
	}
	return 0;
}

static int groups_encode(struct bytes *b, const struct zgraph_run *runs, size_t nruns)
{
	size_t groups = 0;
	int rc = bytes_reserve(b, ZGRAPH_VARINT_MAX);

	for (size_t i = 0; i < nruns; i++)
		groups += i == 0 || runs[i].phase != runs[i - 1].phase || runs[i].class != runs[i - 1].class;
	if (rc == 0)
		put(b, groups);
	for (size_t i = 0, end; rc == 0 && i < nruns; i = end) {
		for (end = i + 1; end < nruns && runs[end].phase == runs[i].phase && runs[end].class == runs[i].class;)
			end++;
		rc = group_encode(b, runs, i, end);
	}
	return rc;
}

/* The caller has reserved room. */
static void put_calls(struct bytes *b, const struct zgraph_row *row)
{
	put(b, row->ncalls);
	for (size_t i = 0; i < row->ncalls; i++) {
		put(b, row->calls[i].phase);
		put(b, row->calls[i].kind);
		put(b, row->calls[i].size);
		put(b, row->calls[i].calls);
		put(b, row->calls[i].bytes);
	}
}

static int times_encode(struct bytes *b, const struct zgraph_row *row)
{
	if (bytes_reserve(b, (1 + 4 * row->ntimes) * ZGRAPH_VARINT_MAX) != 0)
		return -ENOMEM;
	put(b, row->ntimes);
	for (size_t i = 0; i < row->ntimes; i++) {
		put(b, row->times[i].phase);
		put(b, row->times[i].span);
		put(b, row->times[i].calls);
		put(b, row->times[i].ns);
	}
	return 0;
}

int zgraph_writer_encode(const struct zgraph_row *row, uint8_t **out, size_t *len)
{
	struct bytes b = {.data = NULL};

	*out = NULL;
	*len = 0;
	if (row->nruns == 0 && row->ncalls == 0 && row->ntimes == 0)
		return 0;
	if (bytes_reserve(&b, (1 + 5 * row->ncalls) * ZGRAPH_VARINT_MAX) != 0)
		return -ENOMEM;
	put_calls(&b, row);
	if (groups_encode(&b, row->runs, row->nruns) != 0 || (row->timed && times_encode(&b, row) != 0)) {
		free(b.data);
		return -ENOMEM;
	}
	*out = b.data;
	*len = b.len;
	return 0;
}

/* --- the file --- */

struct zgraph_writer {
	FILE *f;
	char *path, *temporary;
	uint32_t ranks, rows, crc;
};

static int write_out(struct zgraph_writer *w, const void *data, size_t len, struct zerr *err)
{
	w->crc = zcrc32(w->crc, data, len);
	if (len && fwrite(data, 1, len, w->f) != len)
		return zerr_set(err, -errno, "%s: %s", w->temporary, strerror(errno));
	return 0;
}

static void writer_free(struct zgraph_writer *w)
{
	if (w->f)
		fclose(w->f);
	free(w->path);
	free(w->temporary);
	free(w);
}

static int header_write(struct zgraph_writer *w, unsigned model, const char *title, bool timed, struct zerr *err)
{
	uint8_t head[sizeof(zgraph_magic) + 4 * ZGRAPH_VARINT_MAX + ZGRAPH_TITLE_MAX];
	size_t n = sizeof(zgraph_magic), len = strnlen(title, ZGRAPH_TITLE_MAX);

	memcpy(head, zgraph_magic, n);
	n += zgraph_varint_encode(head + n, timed ? ZGRAPH_VERSION_TIMED : ZGRAPH_VERSION);
	n += zgraph_varint_encode(head + n, w->ranks);
	n += zgraph_varint_encode(head + n, model);
	n += zgraph_varint_encode(head + n, len);
	/* only characters that a terminal can show */
	for (size_t i = 0; i < len; i++)
		head[n++] = title[i] >= 0x20 && title[i] < 0x7f ? (uint8_t)title[i] : '?';
	return write_out(w, head, n, err);
}

int zgraph_writer_open(struct zgraph_writer **out, const char *path, uint32_t ranks, unsigned model, const char *title,
	bool timed, struct zerr *err)
{
	struct zgraph_writer *w;
	struct stat st;
	char real[PATH_MAX];
	int fd, rc;
	bool there = stat(path, &st) == 0;

	*out = NULL;
	if (there && !S_ISREG(st.st_mode)) /* otherwise /dev/null would be gone */
		return zerr_set(err, -EINVAL, "%s: not a regular file, and it would be replaced", path);
	/* the target of a link: the link stays, and so does /dev/stdout */
	if (there && !realpath(path, real))
		return zerr_set(err, -errno, "%s: %s", path, strerror(errno));
	w = calloc(1, sizeof(*w));
	if (!w || !(w->path = strdup(there ? real : path)) ||
		asprintf(&w->temporary, "%s.%ld.part", w->path, (long)getpid()) < 0) {
		if (w)
			w->temporary = NULL;
		rc = zerr_set(err, -ENOMEM, "not enough memory");
		goto err_free;
	}
	w->ranks = ranks;
	fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 || !(w->f = fdopen(fd, "w"))) {
		rc = zerr_set(err, -errno, "%s: %s", w->temporary, strerror(errno));
		if (fd >= 0) {
			unlink(w->temporary);
			close(fd);
		}
		goto err_free;
	}
	rc = header_write(w, model, title, timed, err);
	if (rc) {
		zgraph_writer_abandon(w);
		return rc;
	}
	*out = w;
	return 0;

err_free:
	if (w)
		writer_free(w);
	return rc;
}

int zgraph_writer_row(struct zgraph_writer *w, const uint8_t *row, size_t len, struct zerr *err)
{
	uint8_t head[ZGRAPH_VARINT_MAX];
	int rc = write_out(w, head, zgraph_varint_encode(head, len), err);

	if (rc == 0)
		rc = write_out(w, row, len, err);
	w->rows += rc == 0;
	return rc;
}

int zgraph_writer_close(struct zgraph_writer *w, struct zerr *err)
{
	uint8_t tail[4] = {(uint8_t)w->crc, (uint8_t)(w->crc >> 8), (uint8_t)(w->crc >> 16), (uint8_t)(w->crc >> 24)};
	int rc = w->rows == w->ranks ? 0
				     : zerr_set(err, -EINVAL, "%s: %u rows for %u ranks", w->path, w->rows, w->ranks);

	if (rc == 0)
		rc = write_out(w, tail, sizeof(tail), err);
	/* on the disk before it has its name, so that a crash of the machine leaves the old file or the new one */
	if (rc == 0 && (fflush(w->f) != 0 || (fsync(fileno(w->f)) != 0 && errno != EINVAL)))
		rc = zerr_set(err, -errno, "%s: %s", w->temporary, strerror(errno));
	if (rc == 0 && rename(w->temporary, w->path) != 0)
		rc = zerr_set(err, -errno, "%s: %s", w->path, strerror(errno));
	if (rc != 0)
		unlink(w->temporary);
	writer_free(w);
	return rc;
}

void zgraph_writer_abandon(struct zgraph_writer *w)
{
	unlink(w->temporary);
	writer_free(w);
}
