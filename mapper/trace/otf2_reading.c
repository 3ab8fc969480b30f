/* SPDX-License-Identifier: BSD-3-Clause */
/* See otf2_reading.h. */
#ifdef HAVE_OTF2

#include "mapper/trace/otf2_reading.h"

#include <errno.h>

OTF2_CallbackCode otf2_reading_next(struct otf2_reading *r, int rc)
{
	r->rc = rc;
	return rc ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

int otf2_reading_memory(struct otf2_reading *r)
{
	return zerr_set(r->err, -ENOMEM, "not enough memory");
}

int otf2_reading_take(struct otf2_reading *r)
{
	if (r->mine)
		return 0;
	if (r->taken[r->rank])
		return zerr_set(r->err, -ENOTSUP,
			"two threads of rank %u call MPI; their order is not known: trace a run in which one does",
			r->rank);
	r->mine = r->taken[r->rank] = true;
	return 0;
}

int otf2_reading_phase(struct otf2_reading *r)
{
	unsigned n = r->phases < OTF2_PHASES_MAX ? r->phases : OTF2_PHASES_MAX;

	return program_phase(r->p, r->rank, n ? r->phase[n - 1] : r->p->phases.name[0], 0, r->err);
}

#endif
