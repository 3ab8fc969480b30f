/* SPDX-License-Identifier: BSD-3-Clause */
/* Introduces ranks that can have direct links, see job_direct.h. */
#include "zipperd/job/job_direct.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/hosts/ports.h"
#include "zipperd/conn/conn_send.h"

static int find_part(const struct job *j, const char *name)
{
	for (uint32_t i = 0; i < j->nparts; i++)
		if (strcmp(j->part[i].name, name) == 0)
			return (int)i;
	return -1;
}

int job_direct_note(struct rank *r, const struct zctl_join *in, struct zerr *err)
{
	static struct zports ports; /* large */
	struct zaddr addr;
	r->direct = in->direct;
	r->node = in->node;
	r->fabrics = UINT64_C(1) << r->part;
	if (in->ports[0] == '\0')
		return 0;
	int rc = zports_parse(&ports, in->ports, err);
	if (rc == 0 && in->local[0])
		rc = zaddr_parse(&addr, in->local, err);
	if (rc != 0)
		return rc;
	for (int i = 0; i < ports.n; i++) {
		int part = find_part(r->job, ports.port[i].fabric);
		if (part >= 0)
			r->fabrics |= UINT64_C(1) << part;
	}
	r->ports = strdup(in->ports);
	r->local = strdup(in->local);
	return r->ports && r->local ? 0 : zerr_set(err, -ENOMEM, "out of memory");
}

static uint64_t told_fabrics(const struct rank *r)
{
	return r->direct ? r->fabrics : 0;
}

int job_direct_list(const struct job *j, struct zctl_attached **list, uint32_t *n)
{
	uint32_t count = 0;
	*list = NULL;
	*n = 0;
	for (uint32_t v = 0; v < j->total; v++)
		count += told_fabrics(j->by_vrank[v]) != UINT64_C(1) << j->by_vrank[v]->part;
	if (count == 0)
		return 0;
	struct zctl_attached *a = calloc(count, sizeof(*a));
	if (!a)
		return -ENOMEM;
	for (uint32_t v = 0; v < j->total; v++) {
		uint64_t fabrics = told_fabrics(j->by_vrank[v]);
		struct zctl_attached *last = *n ? &a[*n - 1] : NULL;
		if (fabrics == UINT64_C(1) << j->by_vrank[v]->part)
			continue;
		if (last && last->fabrics == fabrics && last->vrank + last->count == v)
			last->count++;
		else
			a[(*n)++] = (struct zctl_attached){.vrank = v, .count = 1, .fabrics = fabrics};
	}
	*list = a;
	return 0;
}

/* Writes the addresses of rank `to` that rank `from` can reach, the nearest first. */
static void choose_addresses(const struct rank *from, const struct rank *to, char *out, size_t cap)
{
	static struct zports ports;
	struct zerr err;
	size_t len = 0;
	out[0] = '\0';
	if (from->node == to->node && to->local[0])
		len += (size_t)snprintf(out, cap, "%s", to->local);
	if (zports_parse(&ports, to->ports, &err) != 0)
		return; /* not so: it parsed when the rank joined */
	for (int i = 0; i < ports.n; i++) {
		int part = find_part(to->job, ports.port[i].fabric);
		char text[320];
		if (part < 0 || !(from->fabrics & UINT64_C(1) << part))
			continue;
		zaddr_format(&ports.port[i].addr, text, sizeof(text));
		if (len + strlen(text) + 2 <= cap)
			len += (size_t)snprintf(out + len, cap - len, "%s%s", len ? " " : "", text);
	}
}

static void tell(const struct rank *r, const struct zctl_direct *direct)
{
	struct zctl_msg msg = {.type = ZCTL_DIRECT};
	msg.u.direct = *direct;
	if (r->conn)
		conn_send(r->conn, &msg);
}

/* The listening rank finds the ticket right, as it was made with its own session key. */
static void make_ticket(struct zctl_direct *d, const struct rank *from, const struct rank *to)
{
	struct zctl_attach a = {.vrank = from->vrank, .part = from->part, .endpoint = d->endpoint, .seal = d->seal};
	zauth_module.random(a.nonce, sizeof(a.nonce));
	zauth_module.ticket(a.ticket, to->key, ZAUTH_LINK, &a);
	zauth_module.link_key(d->masked_key, to->key, a.ticket);
	zauth_module.mask(d->masked_key, from->key, a.ticket);
	memcpy(d->masked, a.ticket, sizeof(d->masked));
	zauth_module.mask(d->masked, from->key, a.nonce);
	memcpy(d->nonce, a.nonce, sizeof(d->nonce));
}

/* The protection of links between two ranks: that of the best protected fabric that both have a port on, and what the
 * ranks themselves have asked for. */
static uint8_t find_seal(const struct rank *from, const struct rank *to)
{
	const struct job *j = to->job;
	const struct settings *c = &j->daemon->settings;
	uint8_t most = from->conn && from->conn->seal > to->conn->seal ? from->conn->seal : to->conn->seal;
	for (uint32_t p = 0; p < j->nparts; p++) {
		const uint64_t fabric = UINT64_C(1) << j->part[p].fabric;
		if (!(from->fabrics & to->fabrics & UINT64_C(1) << p))
			continue;
		for (int i = 0; i < c->nlistens; i++) {
			const enum zseal_level level = zaddr_seal(&c->listen[i].addr, ZSEAL_NONE);
			if (c->listen[i].fabrics & fabric && level > most)
				most = level;
		}
	}
	return most;
}

/* Zipperd stands between ranks of two protocols. */
static bool speak_alike(const struct rank *a, const struct rank *b)
{
	return zctl_protocol(&a->conn->hello) == zctl_protocol(&b->conn->hello);
}

static void ask(struct rank *r, struct rank *other, uint32_t endpoint)
{
	struct zctl_direct answer = {.what = ZCTL_DIRECT_NO, .vrank = other->vrank, .endpoint = endpoint};
	/* Where both ranks could listen the lower vrank does. */
	bool listens = r->ports && (!other->ports || r->vrank < other->vrank);
	const struct rank *from = listens ? other : r, *to = listens ? r : other;
	if (!to->ports || !from->direct || !to->direct || other->done || !other->conn ||
		!(from->fabrics & to->fabrics) || !speak_alike(r, other)) {
		tell(r, &answer);
		return;
	}
	answer.what = ZCTL_DIRECT_CONNECT;
	answer.vrank = to->vrank;
	answer.seal = find_seal(from, to);
	make_ticket(&answer, from, to);
	choose_addresses(from, to, answer.addresses, sizeof(answer.addresses));
	tell(from, &answer);
}

bool job_direct_request(struct rank *r, const struct zctl_direct *d)
{
	struct job *j = r->job;
	if (j->state != JOB_RUNNING || d->vrank >= j->total || j->by_vrank[d->vrank]->part == r->part ||
		d->what == ZCTL_DIRECT_CONNECT || d->endpoint >= j->endpoints)
		return false;
	struct rank *other = j->by_vrank[d->vrank];
	if (d->what == ZCTL_DIRECT_ASK)
		ask(r, other, d->endpoint);
	else
		tell(other, &(struct zctl_direct){.what = ZCTL_DIRECT_NO, .vrank = r->vrank, .endpoint = d->endpoint});
	return true;
}

bool job_direct_traffic(struct rank *r, const struct zctl_traffic *t)
{
	struct job *j = r->job;
	if (j->state != JOB_RUNNING)
		return false;
	if (!j->direct && !(j->direct = calloc((size_t)j->nparts * j->nparts, sizeof(*j->direct))))
		return true; /* no memory: the counters lack this */
	for (uint32_t i = 0; i < t->nparts; i++) {
		if (t->parts[i].part >= j->nparts)
			return false;
		struct zctl_to_part *sum = &j->direct[r->part * j->nparts + t->parts[i].part];
		sum->msgs += t->parts[i].msgs;
		sum->bytes += t->parts[i].bytes;
	}
	return true;
}
