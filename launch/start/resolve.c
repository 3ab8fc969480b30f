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

int zresolve_host(const struct zcluster *cluster, const struct zplan_host *host, const struct zoptions *o,
	const char *path, struct zerr *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
	if (!are_plain_names(cluster, o))
		return 0;
	int rc = getaddrinfo(host->name, NULL, &hints, &list);
	if (rc != 0)
		return zerr_set(err, -ENOENT, "%s:%d: host %.100s: %s", path, host->host->line, host->name,
			gai_strerror(rc));
	freeaddrinfo(list);
	return 0;
}

int zresolve_hosts(const struct zplan *plan, const struct zoptions *o, const char *path, struct zerr *err)
{
	int rc = 0;
	for (int i = 0; i < plan->nparts; i++) {
		const struct zplan_part *part = &plan->parts[i];
		for (int k = 0; rc == 0 && part->cluster && k < part->nhosts; k++)
			rc = zresolve_host(part->cluster, &part->hosts[k], o, path, err);
	}
	return rc;
}
