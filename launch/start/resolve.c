/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks up the hosts of a job. Start-up only. */
#include "launch/start/resolve.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Are the names for mpiexec's own way of starting, which is ssh? They are if no other way was named. */
static bool are_plain_names(const struct zcluster *cluster, const struct zoptions *o)
{
	static const char *const variables[] = {"HYDRA_LAUNCHER", "HYDRA_LAUNCHER_EXEC", "HYDRA_BOOTSTRAP",
		"HYDRA_BOOTSTRAP_EXEC"};
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (getenv(variables[i]))
			return false;
	return !cluster->launcher && !cluster->launcher_exec && !o->launcher && !o->launcher_exec;
}

static int resolve(const struct zplan_host *host, const char *path, struct zerr *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
	int rc = getaddrinfo(host->name, NULL, &hints, &list);
	if (rc != 0)
		return zerr_set(err, -ENOENT, "%s:%d: host %.100s: %s", path, host->host->line, host->name,
			gai_strerror(rc));
	freeaddrinfo(list);
	return 0;
}

int zresolve_hosts(const struct zplan *plan, const struct zoptions *o, const char *path, struct zerr *err)
{
	for (int i = 0; i < plan->nparts; i++) {
		const struct zcluster *cluster = plan->parts[i].cluster;
		if (!cluster || !are_plain_names(cluster, o))
			continue;
		for (int k = 0; k < plan->parts[i].nhosts; k++) {
			int rc = resolve(&plan->parts[i].hosts[k], path, err);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}
