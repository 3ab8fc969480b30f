/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls: from arguments to a schedule that runs. */
#include "libzip/coll/base/coll.h"

#include "libzip/schedule/engine.h"
#include "libzip/shim/shim.h"
#include "libzip/world/error.h"

int zcoll_raise(struct zcomm *c, int class, const struct zcoll *a)
{
	char text[MPI_MAX_ERROR_STRING];
	int len;
	if (a->why)
		return zerror_raise(c, class, a->name, "%s", a->why);
	if (zn.Error_string(class, text, &len) != MPI_SUCCESS)
		len = 0;
	return zerror_raise(c, class, a->name, "%.*s", len, text);
}

int zcoll_take(struct zsched *s, struct zcoll *a)
{
	if (a->taken)
		return MPI_SUCCESS;
	a->taken = true;
	/* Where the send side is in place its count and type mean nothing, and programs give anything there. A receive
	 * side in place is left to the scatters, as in reductions its type is that of the call. */
	if (a->sendbuf == MPI_IN_PLACE) {
		a->sendcount = 0;
		a->sendtype = MPI_BYTE;
	}
	zsched_across(s, true);
	if (zsched_inter(s) && !a->across)
		return MPI_ERR_COMM;
	int (*fn)(struct zsched *, struct zcoll *) = zsched_inter(s) ? a->across->take : a->take;
	return fn ? fn(s, a) : MPI_SUCCESS;
}

static int build(struct zsched *s, const struct zcoll *a)
{
	zsched_across(s, true);
	return zsched_inter(s) ? a->across->build(s, a) : a->build(s, a);
}

int zcoll_compile(struct zcomm *c, const struct zcoll *a, bool lasting, struct zsched **out)
{
	struct zcoll taken = *a;
	struct zsched *s = zsched_create(c, a->name);
	if (!s)
		return zcoll_raise(c, MPI_ERR_NO_MEM, a);
	if (lasting)
		zsched_set_lasting(s);
	int rc = zcoll_take(s, &taken);
	if (rc == MPI_SUCCESS)
		rc = build(s, &taken);
	if (rc != MPI_SUCCESS) {
		zsched_destroy(s);
		return zcoll_raise(c, rc, &taken);
	}
	*out = s;
	return MPI_SUCCESS;
}

int zcoll_run(struct zcomm *c, const struct zcoll *a)
{
	struct zsched *s;
	int rc = zcoll_compile(c, a, false, &s);
	return rc == MPI_SUCCESS ? zengine_run(s) : rc;
}

int zcoll_start(struct zcomm *c, const struct zcoll *a, MPI_Request *request)
{
	struct zsched *s;
	int rc = zcoll_compile(c, a, true, &s);
	if (rc != MPI_SUCCESS)
		return rc;
	rc = request ? zreq_publish(zsched_request(s), request) : MPI_ERR_ARG;
	if (rc != MPI_SUCCESS) {
		zsched_destroy(s);
		return zcoll_raise(c, rc, a);
	}
	zengine_start(s);
	return MPI_SUCCESS;
}
