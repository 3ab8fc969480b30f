/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of communicators, with callbacks that say what they were called with. */
#include <stdio.h>

#include "topics.h"
#include "trace.h"

#define KEYS 3
enum kind { SET, GET, DELETE, KINDS };
static const char *const kinds[] = {"set", "get", "delete"};

bool topic_watches_attributes;

/* The progress thread of libzipper may call callbacks, while the program's thread waits for it. */
static void adopt_thread(void)
{
	static _Thread_local bool adopted;
	adopted = adopted || !trace_here;
	if (adopted)
		trace_here = trace_main;
}

/* 0: the copy has the same value; 1: one more; 2: no copy */
static int copy(MPI_Comm comm, int keyval, void *extra, void *value, void *out, int *flag)
{
	intptr_t key = (intptr_t)extra;
	int size;
	(void)keyval;
	adopt_thread();
	MPI_Comm_size(comm, &size);
	trace_loose(1000 * key + (intptr_t)value + 100000 * size, "copied");
	*(void **)out = (char *)value + (key == 1);
	*flag = key != 2;
	return MPI_SUCCESS;
}

static int removed(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm;
	(void)keyval;
	adopt_thread();
	if (topic_watches_attributes)
		trace_loose(5000000 + 1000 * (intptr_t)extra + (intptr_t)value, "deleted");
	return MPI_SUCCESS;
}

/* The keys of the process, which are made once. */
static int key_of(int index)
{
	static int keys[KEYS], made;
	for (; made < KEYS; made++)
		TRY(MPI_Comm_create_keyval(copy, removed, &keys[made], (void *)(intptr_t)made));
	return keys[index];
}

static bool draw_op(struct op *op, struct draw *d)
{
	char name[80];
	op->comm = model_pick(d, NULL);
	op->kind = draw_chance(d, 50) ? SET : draw_below(d, KINDS);
	if (op->comm == 0) /* it would stay for the next program */
		op->kind = GET;
	snprintf(op->text, sizeof op->text, "%s an attribute of %s", kinds[op->kind], model_name(op->comm, name));
	return true;
}

static void run_op(struct op *op)
{
	struct draw d = draw_from(op->seed, 1);
	MPI_Comm comm = model.comm[op->comm].handle;
	int index = draw_below(&d, KEYS), key = key_of(index), flag, value = draw_below(&d, 100);
	void *found = NULL;
	topic_watches_attributes = true;
	TRY(MPI_Comm_get_attr(comm, key, &found, &flag));
	trace_number(flag ? (intptr_t)found : -1, "value");
	if (op->kind == SET)
		TRY(MPI_Comm_set_attr(comm, key, (void *)(intptr_t)value));
	else if (op->kind == DELETE && flag)
		TRY(MPI_Comm_delete_attr(comm, key));
	topic_watches_attributes = false;
}

const struct topic topic_attributes = {.name = "attributes", .weight = 6, .draw = draw_op, .run = run_op};
