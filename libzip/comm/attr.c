/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of communicators. */
#include "libzip/comm/attr.h"

#include <stdlib.h>
#include <string.h>

#include "libzip/comm/comm_idup.h"
#include "libzip/world/error.h"
#include "libzip/world/guard.h"
#include "libzip/shim/shim.h"

struct last { /* to be deleted by MPI_Finalize */
	MPI_Comm comm;
	int keyval;
	bool begun; /* its callback runs or has run: an attribute that the callback sets again is not deleted once more
		     */
};

static struct {
	struct last *all; /* [n], in the order in which they were set first, as MPICH has them */
	size_t n, room;
} self;

static struct last *find(MPI_Comm comm, int keyval)
{
	for (size_t i = 0; i < self.n; i++)
		if (self.all[i].comm == comm && self.all[i].keyval == keyval)
			return &self.all[i];
	return NULL;
}

static bool is_last(MPI_Comm comm)
{
	return comm == MPI_COMM_SELF || comm == MPI_COMM_WORLD;
}

static int make_room(void)
{
	if (self.n < self.room)
		return MPI_SUCCESS;
	size_t room = self.room * 2 + 8;
	struct last *all = realloc(self.all, room * sizeof(*all));
	if (!all)
		return MPI_ERR_NO_MEM;
	self.all = all;
	self.room = room;
	return MPI_SUCCESS;
}

static int add(MPI_Comm comm, int keyval, const char *function)
{
	if (!is_last(comm) || find(comm, keyval))
		return MPI_SUCCESS;
	if (make_room() != MPI_SUCCESS)
		return zerror_raise_native(comm, MPI_ERR_NO_MEM, function, "out of memory");
	self.all[self.n++] = (struct last){.comm = comm, .keyval = keyval};
	return MPI_SUCCESS;
}

static void drop(MPI_Comm comm, int keyval)
{
	struct last *l = find(comm, keyval);

	if (!l || l->begun)
		return;
	self.n--;
	memmove(l, l + 1, (size_t)(&self.all[self.n] - l) * sizeof(*l));
}

/* --- the calls, in which the callback of a replaced or deleted value runs --- */

/* Waits until the attributes may be changed. Returns the communicator on which native MPI has them. */
static MPI_Comm wait_for_native(MPI_Comm comm, const char *function)
{
	MPI_Comm native = zguard_shadow(comm);
	zcomm_idup_wait_copied(native, function);
	return native;
}

typedef int native_set(MPI_Comm, int, void *);

static int set_attr(native_set *native, MPI_Comm comm, int keyval, void *value, const char *function)
{
	MPI_Comm of = wait_for_native(comm, function);
	zshim_callback_begin();
	int rc = native(of, keyval, value);
	zshim_callback_end();
	return rc == MPI_SUCCESS ? add(comm, keyval, function) : rc;
}

int zip_Comm_set_attr(MPI_Comm comm, int keyval, void *value)
{
	return set_attr(zn.Comm_set_attr, comm, keyval, value, "MPI_Comm_set_attr");
}

int zip_Attr_put(MPI_Comm comm, int keyval, void *value)
{
	return set_attr(zn.Attr_put, comm, keyval, value, "MPI_Attr_put");
}

/* From Fortran */
int zip_I_Comm_set_attr(MPI_Comm comm, int keyval, void *value, int kind)
{
	MPI_Comm of = wait_for_native(comm, "MPI_Comm_set_attr");
	zshim_callback_begin();
	int rc = zn.I_Comm_set_attr(of, keyval, value, kind);
	zshim_callback_end();
	return rc == MPI_SUCCESS ? add(comm, keyval, "MPI_Comm_set_attr") : rc;
}

static int delete_attr(int (*native)(MPI_Comm, int), MPI_Comm comm, int keyval)
{
	MPI_Comm of = wait_for_native(comm, "MPI_Comm_delete_attr");
	zshim_callback_begin();
	int rc = native(of, keyval);
	zshim_callback_end();
	if (rc == MPI_SUCCESS)
		drop(comm, keyval);
	return rc;
}

int zip_Comm_delete_attr(MPI_Comm comm, int keyval)
{
	return delete_attr(zn.Comm_delete_attr, comm, keyval);
}

int zip_Attr_delete(MPI_Comm comm, int keyval)
{
	return delete_attr(zn.Attr_delete, comm, keyval);
}

/* --- the attributes of the world --- */

/* The program gets pointers to these. */
static int appnum = -1, universe, tag_ub;

void zattr_init(int own_appnum, int own_universe, int own_tag_ub)
{
	appnum = own_appnum;
	universe = own_universe;
	tag_ub = own_tag_ub;
}

/* The value that the merged world has for an attribute (keyval in C), where it differs from that of the native job.
 * NULL: the native job has it. Clears *flag where the world has none. */
static int *find_own(int keyval, int *flag)
{
	if (keyval == MPI_APPNUM && appnum >= 0)
		return &appnum;
	if (keyval == MPI_TAG_UB && tag_ub > 0)
		return &tag_ub;
	if (keyval == MPI_UNIVERSE_SIZE) {
		*flag = 0;
		return universe > 0 ? &universe : NULL;
	}
	return NULL;
}

/* Native MPI checks the arguments. But it is not asked for MPI_UNIVERSE_SIZE: MPICH starts an mpiexec for the answer if
 * the process has none. */
static int ask_for(int keyval, int fortran)
{
	return keyval == MPI_UNIVERSE_SIZE + fortran ? MPI_APPNUM + fortran : keyval;
}

typedef int native_get(MPI_Comm, int, void *, int *);

static int get_attr(native_get *native, MPI_Comm comm, int keyval, void *value, int *flag)
{
	int rc = native(zguard_shadow(comm), ask_for(keyval, 0), value, flag);
	int *own = rc == MPI_SUCCESS ? find_own(keyval, flag) : NULL;

	if (own) {
		*(int **)value = own;
		*flag = 1;
	}
	return rc;
}

int zip_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
	return get_attr(zn.Comm_get_attr, comm, keyval, value, flag);
}

int zip_Attr_get(MPI_Comm comm, int keyval, void *value, int *flag)
{
	return get_attr(zn.Attr_get, comm, keyval, value, flag);
}

typedef int native_fortran_get(MPI_Comm, int, void *, int *, int);

/* From Fortran, where keyvals of the standard have the next number, and the value itself is wanted. */
static int get_fortran_attr(native_fortran_get *native, MPI_Comm comm, int keyval, void *value, int *flag, int kind)
{
	int rc = native(zguard_shadow(comm), ask_for(keyval, 1), value, flag, kind);
	const int *own = rc == MPI_SUCCESS ? find_own(keyval - 1, flag) : NULL;

	if (own && kind == ZEXTRA_AS_INT)
		*(MPI_Fint *)value = *own;
	else if (own)
		*(MPI_Aint *)value = *own;
	if (own)
		*flag = 1;
	return rc;
}

int zip_I_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag, int kind)
{
	return get_fortran_attr(zn.I_Comm_get_attr, comm, keyval, value, flag, kind);
}

int zip_I_Comm_get_attr_fort(MPI_Comm comm, int keyval, void *value, int *flag, int kind)
{
	return get_fortran_attr(zn.I_Comm_get_attr_fort, comm, keyval, value, flag, kind);
}

/* --- the end --- */

/* Looks anew each time, as a callback may set and delete other attributes. */
static struct last *find_next(MPI_Comm comm)
{
	for (size_t i = self.n; i-- > 0;)
		if (self.all[i].comm == comm && !self.all[i].begun)
			return &self.all[i];
	return NULL;
}

static void delete_all(MPI_Comm comm)
{
	struct last *l;

	while ((l = find_next(comm))) {
		l->begun = true;
		int rc = delete_attr(zn.Comm_delete_attr, comm, l->keyval);
		if (rc != MPI_SUCCESS)
			zerror_fatal(zerror_class(rc), "MPI_Finalize: a callback that deletes an attribute has failed");
	}
}

void zattr_delete_last(void)
{
	delete_all(MPI_COMM_SELF);
	delete_all(MPI_COMM_WORLD);
	free(self.all);
	memset(&self, 0, sizeof(self));
}

bool zattr_any_last(void)
{
	return self.n > 0;
}
