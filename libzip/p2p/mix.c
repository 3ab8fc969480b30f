/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of native requests and ours. See mix.h. */
#include "libzip/p2p/mix.h"

#include "libzip/world/error.h"

int zmix_open(struct zmix *m, int n, MPI_Request *all, const char *name, const char *missing)
{
	int ours = 0;

	if (__builtin_expect(missing || (n > 0 && !all), 0))
		return zerror_raise(NULL, MPI_ERR_ARG, name, ZERROR_NULL, missing ? missing : "array_of_requests");
	*m = (struct zmix){.n = n, .all = all, .native = all};
	for (int i = 0; i < n; i++) {
		if (!zreq_is_ours(all[i])) {
			m->any_native |= all[i] != MPI_REQUEST_NULL;
			continue;
		}
		if (!zreq_find(all[i]))
			return zerror_raise(NULL, MPI_ERR_REQUEST, name, "no such request, number %d", i);
		ours++;
	}
	if (ours == 0) {
		m->any_native = true; /* the native call decides everything */
		return MPI_SUCCESS;
	}
	m->native = n <= ZMIX_SMALL ? m->small : malloc((size_t)n * sizeof(MPI_Request));
	if (!m->native)
		return zerror_raise(NULL, MPI_ERR_NO_MEM, name, "%d requests", n);
	for (int i = 0; i < n; i++)
		m->native[i] = zreq_is_ours(all[i]) ? MPI_REQUEST_NULL : all[i];
	return MPI_SUCCESS;
}

bool zmix_are_ours_ready(const struct zmix *m)
{
	for (int i = 0; m->native != m->all && i < m->n; i++) {
		struct zreq *r = zmix_active(m, i);
		if (r && !zreq_is_done(r))
			return false;
	}
	return true;
}

bool zmix_waits_native(const struct zmix *m)
{
	for (int i = 0; m->native != m->all && i < m->n; i++) {
		struct zreq *r = zmix_active(m, i);
		if (r && !zreq_is_native(r) && !zreq_is_done(r))
			return false;
	}
	return true;
}
