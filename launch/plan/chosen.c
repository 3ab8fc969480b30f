/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses hosts of the hostfile, see chosen.h. */
#include "launch/plan/chosen.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/config/nearest.h"
#include "common/hosts/hostlist.h"
#include "launch/plan/options.h"

#define SLOTS_MAX 65536

static int refuse(const struct zhostfile *hosts, const char *name, struct zerr *err)
{
	struct znearest near;
	char hint[96];
	znearest_init(&near, name);
	for (int c = 0; c < hosts->nclusters; c++)
		for (int h = 0; h < hosts->clusters[c].nhosts; h++)
			znearest_add(&near, hosts->clusters[c].hosts[h].name);
	return zerr_set(err, -EINVAL, "-hosts: %s has no host %.64s%s", hosts->path, name,
		znearest_format(&near, hint, sizeof(hint)));
}

/* Notes each line of the host in chosen, which counts all hosts of the file in order. With slots the host has these on
 * its first line, and no other line counts. 0 or -EINVAL. */
static int note(struct zhostfile *hosts, const char *name, int slots, bool *chosen, struct zerr *err)
{
	bool any = false;
	size_t at = 0;
	for (int c = 0; c < hosts->nclusters; c++)
		for (int h = 0; h < hosts->clusters[c].nhosts; h++, at++) {
			struct zhost *host = &hosts->clusters[c].hosts[h];
			if (strcasecmp(host->name, name) != 0 || (any && slots))
				continue;
			if (chosen[at])
				return zerr_set(err, -EINVAL,
					"-hosts: %.64s is named twice; write %.64s:2 for two slots", name, name);
			chosen[at] = any = true;
			if (slots) {
				host->slots = slots;
				hosts->clusters[c].nranks = 0;
			}
		}
	return any ? 0 : refuse(hosts, name, err);
}

static int choose(struct zhostfile *hosts, char *word, bool *chosen, struct zerr *err)
{
	struct zhostlist list = {0};
	char *colon = strchr(word, ':');
	int slots = 0;
	if (colon && zoptions_parse_count(&slots, colon + 1, SLOTS_MAX) < 0)
		return zerr_set(err, -EINVAL, "-hosts: '%.64s': the slots are no number from 1 to %d", word, SLOTS_MAX);
	if (colon)
		*colon = '\0';
	int rc = zhostlist_add(&list, word, err);
	if (rc < 0)
		zerr_prefix(err, rc, "-hosts");
	for (int i = 0; rc == 0 && i < list.n; i++)
		rc = note(hosts, list.names[i], slots, chosen, err);
	zhostlist_free(&list);
	return rc;
}

/* Takes out the hosts of one cluster that were not chosen. */
static void reduce(struct zcluster *cluster, const bool *chosen)
{
	int n = 0;
	cluster->slots = 0;
	for (int h = 0; h < cluster->nhosts; h++) {
		if (!chosen[h]) {
			free(cluster->hosts[h].name);
			free(cluster->hosts[h].rest);
			continue;
		}
		cluster->hosts[n++] = cluster->hosts[h];
		cluster->slots += cluster->hosts[n - 1].slots;
	}
	if (n < cluster->nhosts)
		cluster->nranks = 0;
	cluster->nhosts = n;
}

int zchosen_keep(struct zhostfile *hosts, const char *list, struct zerr *err)
{
	size_t total = 0, at = 0;
	char *copy = strdup(list), *rest = copy;
	for (int c = 0; c < hosts->nclusters; c++)
		total += (size_t)hosts->clusters[c].nhosts;
	bool *chosen = calloc(total, sizeof(*chosen)), any = false;
	int rc = copy && chosen ? 0 : zerr_set(err, -ENOMEM, "out of memory");
	for (char *word; rc == 0 && (word = zhostlist_next(&rest));) {
		rc = choose(hosts, word, chosen, err);
		any = true;
	}
	if (rc == 0 && !any)
		rc = zerr_set(err, -EINVAL, "-hosts: the list is empty");
	for (int c = 0; rc == 0 && c < hosts->nclusters; c++) {
		int n = hosts->clusters[c].nhosts;
		reduce(&hosts->clusters[c], chosen + at);
		at += (size_t)n;
	}
	free(chosen);
	free(copy);
	return rc;
}
