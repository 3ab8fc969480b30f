/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads programs as text, see program_text.h. */
#include "mapper/program/program_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/args/value.h"
#include "common/base/lines.h"
#include "common/base/ranges.h"
#include "mapper/program/program_coll.h"

#define WORLD "world"
#define BLANK " \t\r\n"

struct comm {
	uint32_t *member; /* [n]; NULL: all ranks */
	uint32_t n;
};

struct text {
	struct program *p;
	const char *path;
	struct names names; /* of communicators */
	struct comm *comm;  /* [names.n] */
};

/* The words of a line: first those without a key, then those with one. */
struct words {
	char *save;
	uint32_t line;
	struct zerr *err;
	uint64_t tag, request, root;
	bool has_request;
	const char *comm;
};

static char *word_next(struct words *w)
{
	return strtok_r(NULL, BLANK, &w->save);
}

static int number_take(struct words *w, const char *what, uint64_t max, uint64_t *out)
{
	char *word = word_next(w);

	if (!word)
		return zerr_set(w->err, -EINVAL, "%s is missing", what);
	if (zargs_parse_u64(word, out) || *out > max)
		return zerr_set(w->err, -EINVAL, "%s: \"%.64s\" is not a number of at most %llu", what, word,
			(unsigned long long)max);
	return 0;
}

/* Reads what is left of the line: words KEY:VALUE. */
static int keys_take(struct words *w)
{
	for (char *word = word_next(w); word; word = word_next(w)) {
		char *value = strpbrk(word, ":=");
		uint64_t *number = NULL;

		if (!value)
			return zerr_set(w->err, -EINVAL, "\"%.64s\": what is that?", word);
		*value++ = '\0';
		if (!strcmp(word, "comm")) {
			w->comm = value;
			continue;
		}
		if (!strcmp(word, "tag"))
			number = &w->tag;
		else if (!strcmp(word, "request"))
			number = &w->request;
		else if (!strcmp(word, "root"))
			number = &w->root;
		else
			return zerr_set(w->err, -EINVAL, "there is no key \"%.64s\": tag, request, root, comm", word);
		if (zargs_parse_u64(value, number) || *number > UINT32_MAX)
			return zerr_set(w->err, -EINVAL, "%s: \"%.64s\" is not a number of at most %u", word, value,
				UINT32_MAX);
		w->has_request |= number == &w->request;
	}
	return 0;
}

/* --- the first word: "ranks", "comm" --- */

static int ranks_read(struct text *t, struct words *w)
{
	uint64_t n;
	int rc = t->p->ranks ? zerr_set(w->err, -EINVAL, "\"ranks\" stands there twice")
			     : number_take(w, "the number of ranks", PROGRAM_RANKS_MAX, &n);

	if (!rc)
		rc = keys_take(w);
	if (!rc)
		rc = program_create(t->p, t->path, (uint32_t)n, w->err);
	if (rc)
		return rc;
	t->comm = calloc(1, sizeof(*t->comm));
	if (!t->comm || names_add(&t->names, WORLD, NULL))
		return zerr_set(w->err, -ENOMEM, "not enough memory");
	t->comm[0] = (struct comm){NULL, (uint32_t)n};
	return 0;
}

static int member_add(struct comm *c, const char *word, uint32_t ranks, struct zerr *err)
{
	const char *text = word;
	uint32_t first, last;
	bool more = true;

	while (more) {
		uint32_t *list;

		if (!zranges_scan(&text, ranks - 1, &first, &last, &more))
			return zerr_set(err, -EINVAL, "\"%.64s\" is no list of ranks below %u", word, ranks);
		list = realloc(c->member, ((size_t)c->n + last - first + 1) * sizeof(*list));
		if (!list)
			return zerr_set(err, -ENOMEM, "not enough memory");
		c->member = list;
		while (first <= last)
			list[c->n++] = first++;
	}
	return 0;
}

static int comm_read(struct text *t, struct words *w)
{
	char *name = word_next(w), *word;
	struct comm *list;
	int rc;

	if (!name)
		return zerr_set(w->err, -EINVAL, "not \"comm NAME RANK ...\"");
	list = realloc(t->comm, ((size_t)t->names.n + 1) * sizeof(*list));
	if (!list)
		return zerr_set(w->err, -ENOMEM, "not enough memory");
	t->comm = list;
	rc = names_add(&t->names, name, NULL);
	if (rc)
		return rc == -EEXIST ? zerr_set(w->err, -EINVAL, "a second communicator \"%.64s\"", name)
				     : zerr_set(w->err, rc, "not enough memory");
	list = &list[t->names.n - 1];
	*list = (struct comm){NULL, 0};
	while (!rc && (word = word_next(w)))
		rc = member_add(list, word, t->p->ranks, w->err);
	return rc || list->n ? rc : zerr_set(w->err, -EINVAL, "communicator \"%.64s\" has no ranks", name);
}

/* --- operations --- */

enum verb { COMPUTE, PHASE, SEND, RECV, ISEND, IRECV, PUT, GET, WAIT, COLLECTIVE };

static const struct {
	const char *word;
	enum verb verb;
	enum zgraph_kind kind;
} verbs[] = {
	{"compute", COMPUTE, 0},
	{"phase", PHASE, 0},
	{"send", SEND, 0},
	{"recv", RECV, 0},
	{"isend", ISEND, 0},
	{"irecv", IRECV, 0},
	{"put", PUT, 0},
	{"get", GET, 0},
	{"wait", WAIT, 0},
	{"barrier", COLLECTIVE, ZGRAPH_BARRIER},
	{"bcast", COLLECTIVE, ZGRAPH_BCAST},
	{"gather", COLLECTIVE, ZGRAPH_GATHER},
	{"scatter", COLLECTIVE, ZGRAPH_SCATTER},
	{"allgather", COLLECTIVE, ZGRAPH_ALLGATHER},
	{"alltoall", COLLECTIVE, ZGRAPH_ALLTOALL},
	{"reduce", COLLECTIVE, ZGRAPH_REDUCE},
	{"allreduce", COLLECTIVE, ZGRAPH_ALLREDUCE},
	{"reduce_scatter", COLLECTIVE, ZGRAPH_REDUCE_SCATTER},
	{"scan", COLLECTIVE, ZGRAPH_SCAN},
};

/* An operation of a line, for one rank or several. */
struct line {
	enum verb verb;
	enum zgraph_kind kind;
	const char *phase;
	double seconds;
	uint64_t peer, bytes, waits[64];
	uint32_t nwaits;
	const struct comm *comm;
	uint32_t number; /* of the communicator */
};

static int seconds_take(struct words *w, double *seconds)
{
	char *word = word_next(w);

	if (!word || zargs_parse_real(word, seconds) || *seconds < 0)
		return zerr_set(w->err, -EINVAL, "compute: \"%.64s\" is no time in seconds", word ? word : "");
	return 0;
}

static int waits_take(struct words *w, struct line *l)
{
	for (char *word = word_next(w); word; word = word_next(w)) {
		if (l->nwaits == sizeof(l->waits) / sizeof(l->waits[0]))
			return zerr_set(w->err, -EINVAL, "more than %u requests; begin another line", l->nwaits);
		if (zargs_parse_u64(word, &l->waits[l->nwaits++]))
			return zerr_set(w->err, -EINVAL, "wait: \"%.64s\" is no number of a request", word);
	}
	return l->nwaits ? 0 : zerr_set(w->err, -EINVAL, "wait: for which request?");
}

/* Reads the words behind the ranks. */
static int line_take(struct text *t, struct words *w, struct line *l)
{
	const char *word = word_next(w);
	size_t i = 0, n = sizeof(verbs) / sizeof(verbs[0]);
	int rc = 0;

	while (i < n && word && strcmp(verbs[i].word, word) != 0)
		i++;
	if (!word || i == n)
		return zerr_set(w->err, -EINVAL, "\"%.64s\" is no operation", word ? word : "");
	l->verb = verbs[i].verb;
	l->kind = verbs[i].kind;
	if (l->verb == COMPUTE)
		rc = seconds_take(w, &l->seconds);
	else if (l->verb == PHASE && !(l->phase = word_next(w)))
		rc = zerr_set(w->err, -EINVAL, "phase: which?");
	else if (l->verb == WAIT)
		rc = waits_take(w, l);
	else if (l->verb >= SEND && l->verb <= GET)
		rc = number_take(w, "the other rank", t->p->ranks - 1, &l->peer);
	if (!rc && ((l->verb >= SEND && l->verb <= GET && l->verb != RECV && l->verb != IRECV) ||
			   (l->verb == COLLECTIVE && l->kind != ZGRAPH_BARRIER)))
		rc = number_take(w, "bytes", UINT64_C(1) << 52, &l->bytes);
	if (!rc)
		rc = keys_take(w);
	if (!rc && w->has_request != (l->verb == ISEND || l->verb == IRECV))
		rc = zerr_set(w->err, -EINVAL, "%s %s request:N", word, w->has_request ? "has no" : "needs");
	if (rc || !w->comm)
		l->comm = &t->comm[0];
	else if ((l->number = names_find(&t->names, w->comm)) == NAMES_NONE)
		rc = zerr_set(w->err, -EINVAL, "there is no communicator \"%.64s\"", w->comm);
	else
		l->comm = &t->comm[l->number];
	return rc;
}

static int coll_add(struct text *t, const struct words *w, const struct line *l, uint32_t rank)
{
	struct program_coll c = {.kind = l->kind,
		.member = l->comm->member,
		.n = l->comm->n,
		.comm = l->number,
		.rank = rank,
		.root = (uint32_t)w->root,
		.bytes = l->bytes,
		.line = w->line};

	for (uint32_t i = 0; c.member && (i == 0 || c.member[c.rank] != rank); i++) {
		c.rank = i;
		if (i == c.n)
			return zerr_set(w->err, -EINVAL, "rank %u is not in communicator \"%s\"", rank, w->comm);
	}
	if (w->root >= c.n)
		return zerr_set(w->err, -EINVAL, "root %llu is not in a communicator of %u",
			(unsigned long long)w->root, c.n);
	return program_coll(t->p, &c, w->err);
}

/* Appends the operation to one rank. */
static int line_add(struct text *t, const struct words *w, const struct line *l, uint32_t rank)
{
	static const enum program_kind kinds[] = {[SEND] = PROGRAM_SEND,
		[RECV] = PROGRAM_RECV,
		[ISEND] = PROGRAM_SEND,
		[IRECV] = PROGRAM_RECV,
		[PUT] = PROGRAM_PUT,
		[GET] = PROGRAM_GET};
	struct program_op op = {.peer = (uint32_t)l->peer, .line = w->line, .bytes = l->bytes};
	int rc = 0;

	switch (l->verb) {
	case COMPUTE:
		return program_compute(t->p, rank, l->seconds, w->line, w->err);
	case PHASE:
		return program_phase(t->p, rank, l->phase, w->line, w->err);
	case COLLECTIVE:
		return coll_add(t, w, l, rank);
	case WAIT:
		for (uint32_t i = 0; i < l->nwaits && !rc; i++)
			rc = program_wait_numbered(t->p, rank, l->waits[i], w->line, w->err);
		return rc;
	default:
		op.kind = kinds[l->verb];
		op.key = (uint64_t)l->number << 32 | w->tag;
		if (l->verb == ISEND || l->verb == IRECV)
			return program_begin_numbered(t->p, rank, &op, w->request, w->err);
		return program_do(t->p, rank, &op, w->err);
	}
}

static int line_read(void *arg, char *line, int number, struct zerr *err)
{
	struct words w = {.line = (uint32_t)number, .err = err};
	struct text *t = arg;
	struct line l = {0};
	const char *ranks, *text;
	uint32_t first, last;
	bool more = true;
	int rc;

	line[strcspn(line, "#")] = '\0';
	ranks = text = strtok_r(line, BLANK, &w.save);
	if (!ranks)
		return 0;
	if (!strcmp(ranks, "ranks"))
		return ranks_read(t, &w);
	if (!t->p->ranks)
		return zerr_set(err, -EINVAL, "\"ranks N\" must be the first line");
	if (!strcmp(ranks, "comm"))
		return comm_read(t, &w);
	rc = line_take(t, &w, &l);
	while (more && !rc) {
		if (!strcmp(ranks, "all")) {
			first = 0;
			last = t->p->ranks - 1;
			more = false;
		} else if (!zranges_scan(&text, t->p->ranks - 1, &first, &last, &more)) {
			return zerr_set(err, -EINVAL, "\"%.64s\" is no list of ranks below %u", ranks, t->p->ranks);
		}
		for (uint32_t rank = first; rank <= last && !rc; rank++)
			rc = line_add(t, &w, &l, rank);
	}
	return rc;
}

int program_text_read(struct program *p, const char *path, struct zerr *err)
{
	struct text t = {.p = p, .path = path};
	int rc;

	*p = (struct program){0};
	rc = zlines_read_file(path, line_read, &t, err);
	if (!rc && !p->ranks)
		rc = zerr_set(err, -EINVAL, "%s: no program: it has no \"ranks N\"", path);
	for (uint32_t i = 0; t.comm && i < t.names.n; i++)
		free(t.comm[i].member);
	free(t.comm);
	names_free(&t.names);
	return rc;
}
