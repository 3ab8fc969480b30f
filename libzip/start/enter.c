/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the station of several requests. See enter.h. */
#include "libzip/start/enter.h"

/* All sends that were complete when they were made share one handle, which names no station. For a call with such
 * handles alone: the station where this thread was last. Perhaps no other thread is there. */
static __thread int last __attribute__((tls_model("initial-exec")));

static bool is_nothing(MPI_Request r)
{
	return r == MPI_REQUEST_NULL || r == zop_start_sent.handle || r == zcompletion_sent;
}

int zenter_several(int n, const MPI_Request *requests)
{
	bool native = false;
	int at = -1; /* no request of ours seen yet */

	for (int i = 0; i < n && at != 0; i++) {
		if (is_nothing(requests[i]))
			continue;
		if (zreq_is_ours(requests[i])) {
			int e = zreq_station_of(requests[i]);
			at = (at == -1 || at == e) && e < zstation_n ? e : 0;
		} else {
			native = true; /* can be tested anywhere, but a thread that waits for native ones alone turns
					  everything */
		}
	}
	if (at == -1)
		return zenter_at(native ? 0 : last);
	last = at;
	return zenter_at(at);
}
