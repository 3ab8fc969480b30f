/* SPDX-License-Identifier: BSD-3-Clause */
/* The step of a schedule that sends the same to several members. Under the shim's lock. */
#include <string.h>

#include "libzip/schedule/schedule_step.h"

/* Those in other parts, who share a message. */
static int add_multicast(struct zsched *s, const void *buf, MPI_Count count, MPI_Datatype type, const int *dest, int n,
	int64_t patience_ms)
{
	if (n < 2)
		return n == 1 ? zsched_send(s, buf, count, type, dest[0]) : MPI_SUCCESS;
	struct zreceivers *to = zsched_alloc(s, sizeof *to + (size_t)n * sizeof *dest);
	struct zstep *t = to ? zstep_add(s, STEP_MULTICAST) : NULL;
	if (!t)
		return MPI_ERR_NO_MEM;
	to->patience_ms = patience_ms;
	to->n = n;
	memcpy(to->dest, dest, (size_t)n * sizeof *dest);
	t->buf = (void *)buf;
	t->count = count;
	t->type = type;
	t->u.to = to;
	return MPI_SUCCESS;
}

int zsched_multicast(struct zsched *s, const void *buf, MPI_Count count, MPI_Datatype type, const int *dest, int n,
	int64_t patience_ms)
{
	int nfar = 0, rc = MPI_SUCCESS;
	if (!s->across)
		return add_multicast(s, buf, count, type, dest, n, patience_ms);
	int *far = zsched_alloc(s, ((size_t)n + 1) * sizeof *far);
	if (!far)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++) {
		if (zcomm_is_local_rank(s->far, dest[i]))
			rc = zsched_send(s, buf, count, type, dest[i]);
		else
			far[nfar++] = dest[i];
	}
	return rc == MPI_SUCCESS ? add_multicast(s, buf, count, type, far, nfar, patience_ms) : rc;
}
