/* SPDX-License-Identifier: BSD-3-Clause */
/* Where requests are, see enter.h. */
#include "libzip/start/enter.h"

/* Of sends that were complete when they were made all have one handle: for these alone it is where this thread was
 * last, which nobody else is at, perhaps. */
static __thread int last __attribute__((tls_model("initial-exec")));

static bool is_nothing(MPI_Request r)
{
	return r == MPI_REQUEST_NULL || r == zop_start_sent.handle || r == zcompletion_sent;
}

int zenter_several(int n, const MPI_Request *requests)
{
	bool native = false;
	int at = -1; /* none of ours yet */

	for (int i = 0; i < n && at != 0; i++) {
		if (is_nothing(requests[i]))
			continue;
		if (zreq_is_ours(requests[i])) {
			int e = zreq_station_of(requests[i]);
			at = (at == -1 || at == e) && e < zstation_n ? e : 0;
		} else {
			native = true; /* can be tested anywhere, but who waits for them alone turns everything */
		}
	}
	if (at == -1)
		return zenter_at(native ? 0 : last);
	last = at;
	return zenter_at(at);
}
