/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of others on this rank's memory. See win_target.h. */
#include "libzip/win/win_target.h"

#include <stdlib.h>
#include <string.h>

#include "libzip/bridge/bridge.h"
#include "libzip/type/data.h"
#include "libzip/type/redop.h"
#include "libzip/world/error.h"
#include "libzip/world/handlers.h"
#include "libzip/abi/abi.h"
#include "libzip/shim/shim.h"
#include "libzip/type/typecode.h"
#include "libzip/win/win_lock.h"
#include "libzip/win/win_region.h"

#define ELEMENT_MAX 64 /* bytes; no predefined type is larger */

struct zwin_task {
	struct zwin *win;
	struct zwin_peer *from;
	struct zwin_message m;		   /* code and data are not valid */
	const struct ztypecode_type *type; /* a reference, or NULL */
	struct zreq *coding;		   /* receives the description; NULL: it is here */
	struct zreq *coming, *going;	   /* receives the data, sends the result; NULL: not under way */
	uint8_t *code;
	bool executed;
	uint8_t *given, *before; /* accumulating operations: the operands, and the old contents */
	MPI_Count elements;	 /* of given and before */
	struct zwin_task *next;	 /* next operation of the same origin */
};

static struct zwin_peer *busy; /* origins with tasks in their queues */

static bool accumulates(enum zwin_kind kind)
{
	return kind == ZWIN_ACCUMULATE || kind == ZWIN_GET_ACCUMULATE || kind == ZWIN_SWAP;
}

static bool sends_back(enum zwin_kind kind)
{
	return kind == ZWIN_GET || kind == ZWIN_GET_ACCUMULATE || kind == ZWIN_SWAP;
}

/* An origin that gets a result sees the error by it. */
static void note_error(struct zwin_task *t, int class)
{
	if (t->from->task_error == MPI_SUCCESS && !sends_back(t->m.kind))
		t->from->task_error = class;
}

static void answer(struct zwin *w, struct zwin_peer *from)
{
	const struct zwin_message m = {.kind = ZWIN_FLUSHED,
		.op = (uint32_t)zabi_class_number(from->task_error),
		.count = from->asks};

	from->asks = 0;
	from->task_error = MPI_SUCCESS;
	if (from->releases)
		zwin_lock_returned(w, from);
	from->releases = false;
	if (zwin_message_say(w, from, &m, NULL) != MPI_SUCCESS)
		zerror_fatal(1, "no memory for an answer about a window");
}

void zwin_target_flush(struct zwin *w, struct zwin_peer *from, bool release)
{
	from->asks++;
	from->releases |= release;
	if (from->tasks == 0)
		answer(w, from);
}

static void finish(struct zwin_task *t)
{
	struct zwin_peer *from = t->from;

	if (t->type)
		ztypecode_release(t->type);
	free(t->code);
	free(t->given);
	free(t->before);
	if (--from->tasks == 0 && from->asks > 0)
		answer(t->win, from);
	free(t);
}

/* --- what may be accessed --- */

static bool span(const struct ztypecode_type *type, uint64_t count, MPI_Aint at, intptr_t *from, intptr_t *to)
{
	MPI_Count all;

	if (count > INT64_MAX || __builtin_mul_overflow((MPI_Count)count - 1, type->extent, &all))
		return false;
	const MPI_Count lowest = all < 0 ? all : 0, highest = all < 0 ? 0 : all;
	MPI_Count end;
	return !__builtin_add_overflow(type->true_lb, lowest, from) && !__builtin_add_overflow(*from, at, from) &&
	       !__builtin_add_overflow(type->true_lb + type->true_extent, highest, &end) &&
	       !__builtin_add_overflow(end, at, to);
}

static bool in_window(const struct zwin *w, const struct zwin_message *m, const struct ztypecode_type *type)
{
	intptr_t from, to;
	MPI_Aint at = (MPI_Aint)m->disp;

	if (!w->dynamic && __builtin_mul_overflow(at, (MPI_Aint)w->disp_unit, &at))
		return false;
	return span(type, m->count, at, &from, &to) && zwin_region_holds(w, from, to);
}

static void *place(const struct zwin *w, const struct zwin_message *m)
{
	return w->dynamic ? (uint8_t *)m->disp : w->base + (MPI_Aint)m->disp * w->disp_unit;
}

/* Bytes of count elements on the wire; -1: too many for a number. */
static int64_t wire_bytes(const void *at, MPI_Count count, MPI_Datatype type)
{
	struct zdata data;

	return zdata_view(&data, at, count, type) == MPI_SUCCESS ? (int64_t)data.bytes : -1;
}

/* Is the operation defined for the type? MPICH 4.0.2 waits for ever for one that is not. */
static bool is_defined(MPI_Op op, MPI_Datatype element)
{
	static MPI_Op last = MPI_OP_NULL;
	static MPI_Datatype last_element = MPI_DATATYPE_NULL;
	char one[ELEMENT_MAX] = {0}, other[ELEMENT_MAX] = {0};
	MPI_Count lb, extent;

	if (op == MPI_REPLACE || op == MPI_NO_OP || (op == last && element == last_element))
		return true;
	if (!zredop_is_predefined(op) || op == MPIX_EQUAL || /* MPI_Reduce_local would end the process */
		zn.Type_get_extent_c(element, &lb, &extent) != MPI_SUCCESS || extent > ELEMENT_MAX)
		return false;
	zhandlers_hush_home();
	const int rc = zn.Reduce_local(one, other, 1, element, op);
	zhandlers_unhush_home();
	if (rc != MPI_SUCCESS)
		return false;
	last = op;
	last_element = element;
	return true;
}

static int check_accumulate(const struct zwin_message *m, const struct ztypecode_type *type)
{
	MPI_Count elements;

	if (type->element == MPI_DATATYPE_NULL ||
		__builtin_mul_overflow((MPI_Count)m->count, type->elements, &elements))
		return MPI_ERR_TYPE;
	const int64_t bytes = wire_bytes(NULL, elements, type->element);
	if (m->kind == ZWIN_SWAP)
		return elements == 1 && (int64_t)m->bytes == 2 * bytes ? MPI_SUCCESS : MPI_ERR_TYPE;
	if (!is_defined(zabi_op_of(m->op), type->element))
		return MPI_ERR_OP;
	const bool none = m->kind == ZWIN_GET_ACCUMULATE && m->op == zabi_op_number(MPI_NO_OP);
	return (int64_t)m->bytes == (none ? 0 : bytes) ? MPI_SUCCESS : MPI_ERR_TYPE;
}

static int check(const struct zwin *w, const struct zwin_message *m, const struct ztypecode_type *type)
{
	if (!type)
		return MPI_ERR_TYPE;
	if (m->count == 0 || !in_window(w, m, type))
		return MPI_ERR_RMA_RANGE;
	if (accumulates(m->kind))
		return check_accumulate(m, type);
	/* as with a message, the data may be shorter than the buffer */
	const int64_t bytes = wire_bytes(place(w, m), (MPI_Count)m->count, type->handle), given = (int64_t)m->bytes;
	return bytes >= 0 && (m->kind == ZWIN_PUT ? given <= bytes : bytes <= given) ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

/* --- accumulating --- */

static int run_natively(struct zwin_task *t)
{
	const struct zwin_message *m = &t->m;
	const MPI_Datatype element = t->type->element, leaf = t->type->leaf;
	const int self = zwin_native_rank(t->win, t->win->comm->rank);
	MPI_Count extent, lb;
	int rc;

	if (m->kind == ZWIN_SWAP) {
		zn.Type_get_extent_c(element, &lb, &extent);
		rc = zn.Compare_and_swap(t->given + extent, t->given, t->before, element, self, (MPI_Aint)m->disp,
			t->win->handle);
	} else if (m->kind == ZWIN_ACCUMULATE) {
		rc = zn.Accumulate_c(t->given, t->elements, leaf, self, (MPI_Aint)m->disp, (MPI_Count)m->count,
			t->type->handle, zabi_op_of(m->op), t->win->handle);
	} else {
		rc = zn.Get_accumulate_c(t->given, t->given ? t->elements : 0, leaf, t->before, t->elements, leaf, self,
			(MPI_Aint)m->disp, (MPI_Count)m->count, t->type->handle, zabi_op_of(m->op), t->win->handle);
	}
	const int flushed = zn.Win_flush(self, t->win->handle);
	return zerror_class(rc != MPI_SUCCESS ? rc : flushed);
}

static int send_back(struct zwin_task *t, const void *buf, MPI_Count count, MPI_Datatype type)
{
	return zbridge_isend(zwin_message_carrier(), ZWIN_BACK, buf, count, type, t->win->comm->vrank[t->from->rank],
		(int)t->m.number, ZSEND_STANDARD, &t->going);
}

/* The origin waits for a result: no bytes tell it that the operation was refused. */
static void refuse_back(struct zwin_task *t)
{
	if (send_back(t, NULL, 0, MPI_BYTE) != MPI_SUCCESS)
		zerror_fatal(1, "no memory for an answer about a window");
}

/* Executes an operation whose operands have come. */
static void accumulate(struct zwin_task *t)
{
	int class = run_natively(t);

	t->executed = true;
	if (class != MPI_SUCCESS)
		note_error(t, class);
	if (!sends_back(t->m.kind))
		return;
	if (class != MPI_SUCCESS || send_back(t, t->before, t->elements, t->type->element) != MPI_SUCCESS)
		refuse_back(t);
}

/* --- one operation --- */

/* Releases a request that is over. True: none is under way. */
static bool is_through(struct zwin_task *t, struct zreq **wire)
{
	if (!*wire)
		return true;
	if (!zreq_is_done(*wire))
		return false;
	if ((*wire)->status.MPI_ERROR != MPI_SUCCESS)
		note_error(t, zerror_class((*wire)->status.MPI_ERROR));
	zreq_release(*wire);
	*wire = NULL;
	return true;
}

static void begin(struct zwin_task *, const struct zwin_message *, const uint8_t *code);

/* Continues an operation whose turn it is. True: it is over. */
static bool go_on(struct zwin_task *t)
{
	if (t->coding) {
		if (!is_through(t, &t->coding))
			return false;
		begin(t, &t->m, t->code);
	}
	if (!is_through(t, &t->coming))
		return false;
	if (accumulates(t->m.kind) && t->type && !t->executed)
		accumulate(t);
	return is_through(t, &t->going);
}

static int receive(struct zwin_task *t, void *buf, MPI_Count count, MPI_Datatype type, const struct zwin_message *m)
{
	if (m->flags & ZWIN_F_INSIDE)
		return zdata_unpack(m->data, m->bytes, buf, count, type);
	return zbridge_irecv(zwin_message_carrier(), ZWIN_THERE, buf, count, type, t->win->comm->vrank[t->from->rank],
		(int)m->number, &t->coming);
}

/* Receives the data of an operation that cannot be executed. */
static int start_refused(struct zwin_task *t, const struct zwin_message *m)
{
	int rc = MPI_SUCCESS;

	if (m->bytes > 0 && m->kind != ZWIN_GET && !(m->flags & ZWIN_F_INSIDE)) {
		t->given = malloc(m->bytes);
		rc = t->given ? receive(t, t->given, (MPI_Count)m->bytes, MPI_BYTE, m) : MPI_ERR_NO_MEM;
	}
	if (sends_back(m->kind))
		refuse_back(t);
	return rc;
}

static int start_accumulate(struct zwin_task *t, const struct zwin_message *m)
{
	const MPI_Count operands = m->kind == ZWIN_SWAP ? 2 : 1;
	MPI_Count lb, extent;
	size_t size;

	t->elements = (MPI_Count)m->count * t->type->elements;
	zn.Type_get_extent_c(t->type->element, &lb, &extent);
	if (__builtin_mul_overflow((size_t)t->elements, (size_t)extent, &size))
		return MPI_ERR_NO_MEM;
	if (m->bytes > 0 && !(t->given = calloc((size_t)operands, size)))
		return MPI_ERR_NO_MEM;
	if (sends_back(m->kind) && !(t->before = calloc(1, size)))
		return MPI_ERR_NO_MEM;
	return m->bytes > 0 ? receive(t, t->given, operands * t->elements, t->type->element, m) : MPI_SUCCESS;
}

static int start(struct zwin_task *t, const struct zwin_message *m)
{
	void *at = place(t->win, m);

	if (accumulates(m->kind))
		return start_accumulate(t, m);
	if (m->kind == ZWIN_GET)
		return send_back(t, at, (MPI_Count)m->count, t->type->handle);
	return receive(t, at, (MPI_Count)m->count, t->type->handle, m);
}

static void queue(struct zwin_task *t)
{
	struct zwin_peer *from = t->from;

	if (from->queue) {
		from->queue_last->next = t;
	} else {
		from->queue = t;
		from->busy_next = busy;
		busy = from;
	}
	from->queue_last = t;
}

static void begin(struct zwin_task *t, const struct zwin_message *m, const uint8_t *code)
{
	t->type = ztypecode_decode(code, m->code_len);
	int class = check(t->win, m, t->type);
	if (class != MPI_SUCCESS) {
		note_error(t, class);
		if (t->type)
			ztypecode_release(t->type);
		t->type = NULL;
	}
	if ((class == MPI_SUCCESS ? start(t, m) : start_refused(t, m)) != MPI_SUCCESS)
		zerror_fatal(1, "no memory for an operation of %llu bytes on a window", (unsigned long long)m->bytes);
}

static int await_code(struct zwin_task *t)
{
	t->code = malloc(t->m.code_len);
	if (!t->code)
		return MPI_ERR_NO_MEM;
	return zbridge_irecv(zwin_message_carrier(), ZWIN_THERE, t->code, t->m.code_len, MPI_BYTE,
		t->win->comm->vrank[t->from->rank], (int)t->m.number, &t->coding);
}

void zwin_target_execute(struct zwin *w, struct zwin_peer *from, const struct zwin_message *m)
{
	struct zwin_task *t = calloc(1, sizeof(*t));

	if (!t)
		zerror_fatal(1, "no memory for an operation on a window");
	*t = (struct zwin_task){.win = w, .from = from, .m = *m};
	from->tasks++;
	if (!(m->flags & ZWIN_F_APART))
		begin(t, m, m->code);
	else if (await_code(t) != MPI_SUCCESS)
		zerror_fatal(1, "no memory for a datatype of an operation on a window");
	if (!from->queue && go_on(t))
		finish(t);
	else
		queue(t);
}

bool zwin_target_turn(void)
{
	bool did = false;

	for (struct zwin_peer **at = &busy, *from; (from = *at);) {
		struct zwin_task *t;
		while ((t = from->queue) && go_on(t)) {
			from->queue = t->next;
			finish(t);
			did = true;
		}
		if (from->queue)
			at = &from->busy_next;
		else
			*at = from->busy_next;
	}
	return did;
}
