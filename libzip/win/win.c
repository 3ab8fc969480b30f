/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of windows of spanning communicators, their members, and their errors. See win.h. */
#include "libzip/win/win.h"

#include <stdarg.h>
#include <stdlib.h>

#include "libzip/abi/abi.h"
#include "libzip/world/error.h"
#include "libzip/shim/shim.h"

#define BUCKETS 64u

_Atomic unsigned zwin_n;
unsigned zwin_n_local;
static struct zwin *by_handle[BUCKETS], *by_id[BUCKETS];

static struct zwin **bucket(MPI_Win handle)
{
	return &by_handle[zabi_hash(handle) % BUCKETS];
}

static unsigned id_bucket(uint64_t id)
{
	return (unsigned)(id >> 32 ^ id >> 2) % BUCKETS; /* maker and number, see zcomm.id */
}

struct zwin *zwin_find(MPI_Win handle)
{
	struct zwin *w = *bucket(handle);

	while (w && w->handle != handle)
		w = w->next;
	return w;
}

bool zwin_is_there(MPI_Win win)
{
	zshim_enter();
	bool there = zwin_find(win) != NULL;
	zshim_leave();
	return there;
}

struct zwin *zwin_by_id(uint64_t id)
{
	struct zwin *w = by_id[id_bucket(id)];

	while (w && w->id != id)
		w = w->next_id;
	return w;
}

void zwin_enter(struct zwin *w)
{
	w->next = *bucket(w->handle);
	*bucket(w->handle) = w;
	w->next_id = by_id[id_bucket(w->id)];
	by_id[id_bucket(w->id)] = w;
	zwin_n++;
	zwin_n_local += w->comm->nlocal > 1;
}

void zwin_leave(struct zwin *w)
{
	struct zwin **at = bucket(w->handle), **at_id = &by_id[id_bucket(w->id)];

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	while (*at_id != w)
		at_id = &(*at_id)->next_id;
	*at_id = w->next_id;
	zwin_n--;
	zwin_n_local -= w->comm->nlocal > 1;
}

struct zwin_peer *zwin_peer(struct zwin *w, int rank)
{
	struct zwin_peer *p = w->peer[rank];

	if (!p) {
		p = calloc(1, sizeof(*p));
		if (p)
			p->rank = rank;
		w->peer[rank] = p;
	}
	return p;
}

void zwin_touch(struct zwin *w, struct zwin_peer *p)
{
	if (p->touched)
		return;
	p->touched = true;
	p->next = w->touched;
	w->touched = p;
}

int zwin_raise(const struct zwin *w, int class, const char *function, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	int code = zerror_raise_window(w->handle, class, function, fmt, args);
	va_end(args);
	return code;
}

struct zwin_peer *zwin_get_peer(struct zwin *w, int rank, const char *name, int *rc)
{
	struct zwin_peer *p = zwin_peer(w, rank);

	if (!p)
		*rc = zwin_raise(w, MPI_ERR_NO_MEM, name, "out of memory");
	return p;
}
