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

/* Where a rank is in a communicator. */
struct place {
	uint32_t rank, at; /* at: index of member */
};

struct comm {
	uint32_t *member; /* [n]; NULL: all ranks */
	uint32_t n;
	struct place *place; /* [n], by rank; NULL: all ranks */
};

struct text {
	struct program *p;
	const char *path;
	program_ranks_fn *check;
	void *arg;
	struct names names; /* of communicators */
	struct comm *comm;  /* [names.n] */
};

enum key { TAG, REQUEST, ROOT, COMM, KEYS };

static const struct {
	const char *word, *what;
} key_words[KEYS] = {
	[TAG] = {"tag", "tag:N"},
	[REQUEST] = {"request", "request:N"},
	[ROOT] = {"root", "root:N"},
	[COMM] = {"comm", "comm:NAME"},
};

#define KEY(key) (1u << (key))

/* The words of a line: first those without a key, then those with one. */
struct words {
	char *save;
	uint32_t line;
	struct zerr *err;
	unsigned keys; /* a bit for each key that the line has */
	uint64_t number[KEYS];
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

static int key_take(struct words *w, const char *verb, unsigned keys, char *word)
{
	char *value = strpbrk(word, ":=");
	unsigned i = 0;

	if (!value)
		return zerr_set(w->err, -EINVAL, "\"%.64s\" is not KEY:VALUE", word);
	*value++ = '\0';
	while (i < KEYS && strcmp(word, key_words[i].word) != 0)
		i++;
	if (i == KEYS)
		return zerr_set(w->err, -EINVAL, "there is no key \"%.64s\": tag, request, root, comm", word);
	if (!(keys & KEY(i)))
		return zerr_set(w->err, -EINVAL, "%s takes no %s; leave it out", verb, key_words[i].what);
	if (w->keys & KEY(i))
		return zerr_set(w->err, -EINVAL, "%s stands there twice; leave one out", key_words[i].what);
	w->keys |= KEY(i);
	if (i == COMM) {
		w->comm = value;
		return 0;
	}
	if (zargs_parse_u64(value, &w->number[i]) || w->number[i] > UINT32_MAX)
		return zerr_set(w->err, -EINVAL, "%s: \"%.64s\" is not a number of at most %u", word, value,
			UINT32_MAX);
	return 0;
}

/* Reads what is left of the line: words KEY:VALUE. keys: bits of those that the verb takes. */
static int keys_take(struct words *w, const char *verb, unsigned keys)
{
	int rc = 0;

	for (char *word; !rc && (word = word_next(w));)
		rc = key_take(w, verb, keys, word);
	return rc;
}

/* --- the first word: "ranks", "comm" --- */

static int ranks_read(struct text *t, struct words *w)
{
	uint64_t n;
	int rc = t->p->ranks ? zerr_set(w->err, -EINVAL, "\"ranks\" stands there twice")
			     : number_take(w, "the number of ranks", PROGRAM_RANKS_MAX, &n);

	if (!rc)
		rc = keys_take(w, "ranks", 0);
	if (!rc)
		rc = program_create(t->p, t->path, (uint32_t)n, w->err);
	if (!rc && t->check)
		rc = t->check(t->arg, (uint32_t)n, w->err);
	if (rc)
		return rc;
	t->comm = calloc(1, sizeof(*t->comm));
	if (!t->comm || names_add(&t->names, WORLD, NULL))
		return zerr_set(w->err, -ENOMEM, "not enough memory");
	t->comm[0] = (struct comm){NULL, (uint32_t)n, NULL};
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
		if (last - first >= ranks - c->n)
			return zerr_set(err, -EINVAL, "a communicator has more ranks than the program; name each once");
		list = realloc(c->member, ((size_t)c->n + last - first + 1) * sizeof(*list));
		if (!list)
			return zerr_set(err, -ENOMEM, "not enough memory");
		c->member = list;
		while (first <= last)
			list[c->n++] = first++;
	}
	return 0;
}

static int place_compare(const void *a, const void *b)
{
	const struct place *p = a, *q = b;

	return p->rank < q->rank ? -1 : p->rank > q->rank;
}

/* The place of a rank in a communicator; PROGRAM_NONE: it is no member. */
static uint32_t place_find(const struct comm *c, uint32_t rank)
{
	struct place key = {rank, 0};
	const struct place *found;

	if (!c->place)
		return rank;
	found = bsearch(&key, c->place, c->n, sizeof(key), place_compare);
	return found ? found->at : PROGRAM_NONE;
}

static int places_make(struct comm *c, const char *name, struct zerr *err)
{
	c->place = malloc(c->n * sizeof(*c->place));
	if (!c->place)
		return zerr_set(err, -ENOMEM, "not enough memory");
	for (uint32_t i = 0; i < c->n; i++)
		c->place[i] = (struct place){c->member[i], i};
	qsort(c->place, c->n, sizeof(*c->place), place_compare);
	for (uint32_t i = 1; i < c->n; i++)
		if (c->place[i - 1].rank == c->place[i].rank)
			return zerr_set(err, -EINVAL, "communicator \"%.64s\" has rank %u twice; name it once", name,
				c->place[i].rank);
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
	*list = (struct comm){NULL, 0, NULL};
	while (!rc && (word = word_next(w)))
		rc = member_add(list, word, t->p->ranks, w->err);
	if (!rc && !list->n)
		rc = zerr_set(w->err, -EINVAL, "communicator \"%.64s\" has no ranks", name);
	return rc ? rc : places_make(list, name, w->err);
}

/* --- operations --- */

enum verb { COMPUTE, PHASE, SEND, RECV, ISEND, IRECV, PUT, GET, WAIT, COLLECTIVE };

#define MESSAGE (KEY(TAG) | KEY(COMM))
#define ROOTED (KEY(ROOT) | KEY(COMM))

static const struct {
	const char *word;
	enum verb verb;
	enum zgraph_kind kind;
	unsigned keys; /* bits of those that it takes */
} verbs[] = {
	{"compute", COMPUTE, 0, 0},
	{"phase", PHASE, 0, 0},
	{"send", SEND, 0, MESSAGE},
	{"recv", RECV, 0, MESSAGE},
	{"isend", ISEND, 0, MESSAGE | KEY(REQUEST)},
	{"irecv", IRECV, 0, MESSAGE | KEY(REQUEST)},
	{"put", PUT, 0, 0},
	{"get", GET, 0, 0},
	{"wait", WAIT, 0, 0},
	{"barrier", COLLECTIVE, ZGRAPH_BARRIER, KEY(COMM)},
	{"bcast", COLLECTIVE, ZGRAPH_BCAST, ROOTED},
	{"gather", COLLECTIVE, ZGRAPH_GATHER, ROOTED},
	{"scatter", COLLECTIVE, ZGRAPH_SCATTER, ROOTED},
	{"allgather", COLLECTIVE, ZGRAPH_ALLGATHER, KEY(COMM)},
	{"alltoall", COLLECTIVE, ZGRAPH_ALLTOALL, KEY(COMM)},
	{"reduce", COLLECTIVE, ZGRAPH_REDUCE, ROOTED},
	{"allreduce", COLLECTIVE, ZGRAPH_ALLREDUCE, KEY(COMM)},
	{"reduce_scatter", COLLECTIVE, ZGRAPH_REDUCE_SCATTER, KEY(COMM)},
	{"scan", COLLECTIVE, ZGRAPH_SCAN, KEY(COMM)},
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
			return zerr_set(w->err, -EINVAL, "wait takes at most %u requests a line; begin another line",
				l->nwaits);
		if (zargs_parse_u64(word, &l->waits[l->nwaits++]))
			return zerr_set(w->err, -EINVAL, "wait: \"%.64s\" is no number of a request", word);
	}
	return l->nwaits ? 0 : zerr_set(w->err, -EINVAL, "wait needs the number of a request");
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
		rc = zerr_set(w->err, -EINVAL, "phase needs a name");
	else if (l->verb == WAIT)
		rc = waits_take(w, l);
	else if (l->verb >= SEND && l->verb <= GET)
		rc = number_take(w, "the other rank", t->p->ranks - 1, &l->peer);
	if (!rc && ((l->verb >= SEND && l->verb <= GET && l->verb != RECV && l->verb != IRECV) ||
			   (l->verb == COLLECTIVE && l->kind != ZGRAPH_BARRIER)))
		rc = number_take(w, "bytes", PROGRAM_BYTES_MAX, &l->bytes);
	if (!rc)
		rc = keys_take(w, word, verbs[i].keys);
	if (!rc && (l->verb == ISEND || l->verb == IRECV) && !(w->keys & KEY(REQUEST)))
		rc = zerr_set(w->err, -EINVAL, "%s needs request:N", word);
	if (rc || !w->comm)
		l->comm = &t->comm[0];
	else if ((l->number = names_find(&t->names, w->comm)) == NAMES_NONE)
		rc = zerr_set(w->err, -EINVAL, "there is no communicator \"%.64s\"", w->comm);
	else
		l->comm = &t->comm[l->number];
	if (!rc && l->verb >= SEND && l->verb <= GET && place_find(l->comm, (uint32_t)l->peer) == PROGRAM_NONE)
		rc = zerr_set(w->err, -EINVAL, "rank %llu is not in communicator \"%.64s\"",
			(unsigned long long)l->peer, w->comm);
	return rc;
}

static int coll_add(struct text *t, const struct words *w, const struct line *l, uint32_t place)
{
	struct program_coll c = {.kind = l->kind,
		.member = l->comm->member,
		.n = l->comm->n,
		.comm = l->number,
		.rank = place,
		.root = (uint32_t)w->number[ROOT],
		.bytes = l->bytes,
		.line = w->line};

	if (w->number[ROOT] >= c.n)
		return zerr_set(w->err, -EINVAL, "root %llu is not in a communicator of %u",
			(unsigned long long)w->number[ROOT], c.n);
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
	uint32_t place = place_find(l->comm, rank);
	int rc = 0;

	if (place == PROGRAM_NONE)
		return zerr_set(w->err, -EINVAL, "rank %u is not in communicator \"%.64s\"", rank, w->comm);
	switch (l->verb) {
	case COMPUTE:
		return program_compute(t->p, rank, l->seconds, w->line, w->err);
	case PHASE:
		return program_phase(t->p, rank, l->phase, w->line, w->err);
	case COLLECTIVE:
		return coll_add(t, w, l, place);
	case WAIT:
		for (uint32_t i = 0; i < l->nwaits && !rc; i++)
			rc = program_wait_numbered(t->p, rank, l->waits[i], w->line, w->err);
		return rc;
	default:
		op.kind = kinds[l->verb];
		op.key = (uint64_t)l->number << 32 | w->number[TAG];
		if (l->verb == ISEND || l->verb == IRECV)
			return program_begin_numbered(t->p, rank, &op, w->number[REQUEST], w->err);
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

int program_text_read(struct program *p, const char *path, program_ranks_fn *check, void *arg, struct zerr *err)
{
	struct text t = {.p = p, .path = path, .check = check, .arg = arg};
	int rc;

	*p = (struct program){0};
	rc = zlines_read_file(path, line_read, &t, err);
	if (!rc && !p->ranks)
		rc = zerr_set(err, -EINVAL, "%s: no program: it has no \"ranks N\"", path);
	for (uint32_t i = 0; t.comm && i < t.names.n; i++) {
		free(t.comm[i].member);
		free(t.comm[i].place);
	}
	free(t.comm);
	names_free(&t.names);
	return rc;
}
