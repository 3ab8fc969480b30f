/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conversations of circuits that golden.t records, by the library of all peers:
 * peers WAY KEY meet     both ends of a circuit meet, and say something to each other
 * peers WAY KEY reach    a rank reaches the zipperd at the end of the way, and asks for a data channel there
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/session/session.h"
#include "common/session/session_attach.h"

#define PATIENCE_MS 60000
#define WORDS 100 /* bytes */

static struct zerr err;

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, err.text);
	exit(1);
}

static int take(void *heard, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	(void)raw;
	(void)payload;
	*(int *)heard = env->kind;
	return 0;
}

/* Waits for the next message, and returns its kind; 0: the link has ended. */
static int hear(struct zlink *z)
{
	int heard = 0;
	const struct zsink sink = {.take = take, .ctx = &heard};

	for (int ms = 0; ms < PATIENCE_MS && heard == 0; ms++) {
		const int rc = z->ops->poll(z, &sink, 1);
		if (rc < 0 && rc != -EAGAIN)
			return 0;
		if (heard == 0)
			poll(NULL, 0, 1);
	}
	return heard;
}

static void say(struct zlink *z)
{
	static const uint8_t words[WORDS];
	const struct zwire_env env = {.kind = ZWIRE_BLOCK, .seq = 1, .len = WORDS};
	uint8_t raw[ZWIRE_ENV_BYTES];

	zwire_encode(raw, &env);
	if (z->ops->post(z, raw, words, WORDS) != 0 || z->ops->flush(z) != 0)
		fail("post");
}

static void meet(const struct zsession_params *p)
{
	struct zlink *end[2];

	for (int i = 0; i < 2; i++) {
		struct zctl_meet m = {.name = "0-1"};
		struct zsession *s;
		strcpy(m.from, i ? "b" : "a");
		strcpy(m.to, i ? "a" : "b");
		if (zsession_open(&s, p, ZCTL_SERVICE_CIRCUIT, &err) != 0 || zsession_meet(s, &m, &err) != 0)
			fail("meet");
		end[i] = zsession_release(s);
	}
	for (int i = 0; i < 2; i++)
		if (hear(end[i]) != ZWIRE_CTRL)
			fail("no MET");
	for (int i = 0; i < 2; i++) {
		say(end[i]);
		if (hear(end[!i]) != ZWIRE_BLOCK)
			fail("nothing comes through the circuit");
	}
	end[0]->ops->close(end[0]);
	if (hear(end[1]) != 0)
		fail("the circuit does not end");
	end[1]->ops->close(end[1]);
}

/* No rank of that name has joined there: the last word is that zipperd's refusal. */
static void reach(const struct zsession_params *p, const struct zhops *way)
{
	const struct zctl_attach attach = {.part = 1};
	struct zsession *s;
	struct zlink *channel;

	if (zsession_open(&s, p, ZCTL_SERVICE_RANK, &err) != 0)
		fail("reach");
	const struct zsession_way data = {.zipper = &way->first,
		.hops = way->hop,
		.nhops = way->n,
		.passes = p->passes,
		.user = p->user,
		.job = p->job,
		.key = zsession_key(s),
		.seal = zsession_seal(s),
		.protocol = zsession_protocol(s),
		.auth = p->auth};
	if (zsession_attach_to(&channel, &data, &attach, NULL, PATIENCE_MS, &err) != 0)
		fail("attach");
	if (hear(channel) != ZWIRE_CTRL)
		fail("no answer to ATTACH");
	channel->ops->close(channel);
	zsession_close(s);
}

int main(int argc, char **argv)
{
	static struct zhops way;
	static struct zsession_pass passes[ZCTL_HOPS_MAX];
	struct zsession_params p = {.user = "me", .job = "circuits", .auth = &zauth_module, .timeout_ms = PATIENCE_MS};

	if (argc != 4 || zhops_parse(&way, argv[1], &err) != 0 || zauth_module.parse_key(p.key, argv[2], &err) != 0)
		fail("peers WAY KEY meet|reach");
	p.zipper = way.first;
	p.hops = way.hop;
	p.nhops = way.n;
	p.passes = passes;
	if (strcmp(argv[3], "meet") == 0)
		meet(&p);
	else
		reach(&p, &way);
	return 0;
}
