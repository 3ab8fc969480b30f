/* SPDX-License-Identifier: BSD-3-Clause */
/* Native functions that call functions which we interpose. See nested.h. */
#include "libzip/shim/nested.h"

#include <string.h>

#include "libzip/shim/shim.h"

static struct { /* the native entries */
	int (*Attr_get)(MPI_Comm, int, void *, int *);
	int (*Comm_get_attr)(MPI_Comm, int, void *, int *);
	int (*Win_get_attr)(MPI_Win, int, void *, int *);
	int (*Comm_get_attr_fort)(MPI_Comm, int, void *, int *, int);
} native;

static int deep_Attr_get(MPI_Comm comm, int keyval, void *value, int *flag)
{
	zshim_depth++;
	int rc = native.Attr_get(comm, keyval, value, flag);
	zshim_depth--;
	return rc;
}

static int deep_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
	zshim_depth++;
	int rc = native.Comm_get_attr(comm, keyval, value, flag);
	zshim_depth--;
	return rc;
}

static int deep_Win_get_attr(MPI_Win win, int keyval, void *value, int *flag)
{
	zshim_depth++;
	int rc = native.Win_get_attr(win, keyval, value, flag);
	zshim_depth--;
	return rc;
}

static int deep_Comm_get_attr_fort(MPI_Comm comm, int keyval, void *value, int *flag, int kind)
{
	zshim_depth++;
	int rc = native.Comm_get_attr_fort(comm, keyval, value, flag, kind);
	zshim_depth--;
	return rc;
}

#define ROW(symbol, field)                                                                                             \
	{                                                                                                              \
		symbol, &native.field, (void (*)(void))deep_##field                                                    \
	}
static const struct {
	const char *name;
	void *native;
	void (*deep)(void);
} rows[] = {
	ROW("PMPI_Attr_get", Attr_get),
	ROW("PMPI_Comm_get_attr", Comm_get_attr),
	ROW("PMPI_Win_get_attr", Win_get_attr),
	ROW("MPII_Comm_get_attr_fort", Comm_get_attr_fort),
};

void *znested_entry(const char *name, void *entry)
{
	void *deep;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(name, rows[i].name) != 0)
			continue;
		memcpy(rows[i].native, &entry, sizeof(entry));
		memcpy(&deep, &rows[i].deep, sizeof(deep));
		return deep;
	}
	return entry;
}
