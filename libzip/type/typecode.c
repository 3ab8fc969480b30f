/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of descriptions by handle, and of datatypes built from descriptions. See typecode.h. */
#include "libzip/type/typecode.h"

#include <stdlib.h>
#include <string.h>
/* a failing malloc inside uthash must not end the program: an entry that was not added has no hh.tbl */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "libzip/type/data.h"
#include "libzip/world/handlers.h"
#include "common/base/list.h"
#include "libzip/shim/shim.h"
#include "libzip/type/typecode_args.h"
#include "libzip/type/typecode_read.h"
#include "libzip/type/typecode_write.h"
#include "libzip/type/typehold.h"

/* --- made here --- */

#define CODES 128 /* one for each value of a hash of the handle */

static struct made {
	MPI_Datatype handle;
	uint8_t *code; /* NULL: none */
	size_t len;
} made[CODES];

static struct made *made_at(MPI_Datatype t)
{
	return &made[zabi_hash(t) * 2654435761u >> 25]; /* Knuth's multiplicative hash: the top 7 bits */
}

static void drop(struct made *m)
{
	free(m->code);
	m->code = NULL;
}

void ztypecode_forget(MPI_Datatype t)
{
	struct made *m = made_at(t);

	if (m->handle == t)
		drop(m);
}

/* Would the receiver build the same datatype? This library answers for the receiver's. So an error is a datatype beyond
 * the reader's bounds, and also a wrong answer of native MPI about its datatype. */
static int prove(MPI_Datatype t, const struct made *m)
{
	MPI_Count size = -1, lb = -1, extent = -1, true_lb = -1, true_extent = -1;
	const struct ztypecode_type *d = ztypecode_decode(m->code, m->len);

	if (!d)
		return MPI_ERR_TYPE;
	zn.Type_size_c(t, &size);
	zn.Type_get_extent_c(t, &lb, &extent);
	zn.Type_get_true_extent_c(t, &true_lb, &true_extent);
	bool same = d->size == size && d->lb == lb && d->extent == extent && d->true_lb == true_lb &&
		    d->true_extent == true_extent;
	ztypecode_release(d);
	return same ? MPI_SUCCESS : MPI_ERR_INTERN;
}

static int make(struct made *m, MPI_Datatype t)
{
	int rc;

	drop(m);
	m->handle = t;
	rc = ztypecode_write(t, &m->code, &m->len);
	if (rc == MPI_SUCCESS && (rc = prove(t, m)) != MPI_SUCCESS)
		drop(m);
	return rc;
}

int ztypecode_encode(MPI_Datatype t, struct ztypecode *out)
{
	struct made *m = made_at(t);
	int rc = ztype_check(t);

	if (rc == MPI_SUCCESS && (!m->code || m->handle != t))
		rc = make(m, t);
	*out = (struct ztypecode){.code = rc == MPI_SUCCESS ? m->code : NULL, .len = rc == MPI_SUCCESS ? m->len : 0};
	return rc;
}

/* --- built here --- */

/* Unused datatypes that are kept: their number, and the bytes of their descriptions. The last one used is kept,
 * whatever its length. */
#define IDLE_MAX 64
#define IDLE_BYTES_MAX ((size_t)16 << 20)

struct built {
	struct ztypecode_type type; /* first: the caller's view of it */
	UT_hash_handle hh;
	struct list node; /* in the list of idle ones while uses is 0 */
	size_t uses;
	bool owned;
	size_t len;
	uint8_t code[];
};

static struct built *table;
static struct list idle = {&idle, &idle}; /* the last one used is at the end */
static size_t nidle, idle_bytes;

static void destroy(struct built *b)
{
	if (b->owned) {
		/* its users may have asked for a description */
		ztype_forget(b->type.handle);
		ztypecode_forget(b->type.handle);
		zn.Type_free(&b->type.handle);
	}
	free(b);
}

static void stop_idling(struct built *b)
{
	list_del(&b->node);
	nidle--;
	idle_bytes -= b->len;
}

static void trim_idle(void)
{
	while (nidle > IDLE_MAX || (idle_bytes > IDLE_BYTES_MAX && nidle > 1)) {
		struct built *b = list_entry(idle.next, struct built, node);
		stop_idling(b);
		HASH_DEL(table, b);
		destroy(b);
	}
}

static bool build(struct built *b)
{
	struct ztypecode_node n;
	bool ok;

	/* Constructors raise their errors at home (handlers.h). */
	zhandlers_hush_home();
	ok = ztypecode_read(&n, b->code, b->len);
	if (ok && n.owned && zn.Type_commit(&n.type.handle) != MPI_SUCCESS) {
		zn.Type_free(&n.type.handle);
		ok = false;
	}
	zhandlers_unhush_home();
	if (ok) {
		b->type = n.type;
		b->owned = n.owned;
	}
	return ok;
}

static struct built *add_built(const uint8_t *code, size_t len)
{
	struct built *b = calloc(1, sizeof(*b) + len);

	if (!b)
		return NULL;
	memcpy(b->code, code, len);
	b->len = len;
	if (!build(b)) {
		free(b);
		return NULL;
	}
	HASH_ADD_KEYPTR(hh, table, b->code, len, b);
	if (!b->hh.tbl) {
		destroy(b);
		return NULL;
	}
	return b;
}

const struct ztypecode_type *ztypecode_decode(const uint8_t *code, size_t len)
{
	struct built *b;

	if (len == 0 || len > ZTYPECODE_LEN_MAX)
		return NULL;
	HASH_FIND(hh, table, code, len, b);
	if (b && b->uses == 0)
		stop_idling(b);
	if (!b && !(b = add_built(code, len)))
		return NULL;
	b->uses++;
	return &b->type;
}

void ztypecode_release(const struct ztypecode_type *t)
{
	struct built *b = (struct built *)(uintptr_t)t; /* its first member */

	if (--b->uses > 0)
		return;
	list_add(&idle, &b->node);
	nidle++;
	idle_bytes += b->len;
	trim_idle();
}

void ztypecode_fini(void)
{
	struct built *b, *next;

	for (int i = 0; i < CODES; i++)
		drop(&made[i]);
	HASH_ITER(hh, table, b, next) {
		HASH_DEL(table, b);
		destroy(b);
	}
	list_init(&idle);
	nidle = idle_bytes = 0;
}

int zip_Type_free(MPI_Datatype *type)
{
	ztypecode_forget(*type);
	return ztypehold_free(type);
}
