/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads "#ZIP cluster" lines. */
#include "common/hosts/cluster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/nearest.h"
#include "common/control/ctl.h"
#include "common/hosts/hostfile_find.h"
#include "common/hosts/word.h"

static int check_device(const char *value, struct zerr *err)
{
	struct zaddr a;
	if (zaddr_parse(&a, value, NULL) == 0 && zaddr_lacks_host(&a))
		return 0;
	return zerr_set(err, -EINVAL, "device: '%.64s' is not of the form DEVICE:PORT", value);
}

static int set_cluster_option(struct zcluster *cluster, char *word, struct zerr *err)
{
	const struct {
		const char *name;
		char **field;
	} options[] = {{"launcher", &cluster->launcher}, {"launcher-exec", &cluster->launcher_exec},
		{"iface", &cluster->iface}, {"localhost", &cluster->localhost}, {"device", &cluster->device},
		{"mpiexec", &cluster->mpiexec}, {"mpi", &cluster->mpi}, {"n", NULL}};
	const size_t noptions = sizeof(options) / sizeof(options[0]);
	char *value, hint[96];
	int rc = zword_split_option(word, &value, err);
	if (rc < 0)
		return rc;
	struct znearest near;
	znearest_init(&near, word);
	for (size_t i = 0; i < noptions; i++) {
		if (strcmp(options[i].name, word) != 0) {
			znearest_add(&near, options[i].name);
			continue;
		}
		if (options[i].field ? *options[i].field != NULL : cluster->nranks != 0)
			return zerr_set(err, -EEXIST, "option %s is given twice", word);
		if (!options[i].field)
			return zword_parse_count(&cluster->nranks, "n", value, err);
		rc = options[i].field == &cluster->device ? check_device(value, err) : 0;
		if (rc < 0)
			return rc;
		*options[i].field = strdup(value);
		return *options[i].field ? 0 : zword_no_memory(err);
	}
	return zerr_set(err, -EINVAL, "unknown cluster option '%.32s'%s", word,
		znearest_format(&near, hint, sizeof(hint)));
}

int zcluster_add(struct zhostfile *file, const char *name, int line, struct zerr *err)
{
	int rc = zword_check_name("cluster name", name, err);
	if (rc < 0)
		return rc;
	int old = zhostfile_find_cluster(file, name);
	if (old >= 0)
		return zerr_set(err, -EEXIST, "cluster %s was already begun in line %d", name,
			file->clusters[old].line);
	if (file->nclusters == ZCTL_PARTS_MAX)
		return zerr_set(err, -E2BIG, "more than %d clusters", ZCTL_PARTS_MAX);
	struct zcluster *cluster = zword_grow(&file->clusters, &file->nclusters, sizeof(*cluster));
	if (!cluster || !(cluster->name = strdup(name)))
		return zword_no_memory(err);
	cluster->line = line;
	return 0;
}

int zcluster_parse(struct zhostfile *file, char **rest, int line, struct zerr *err)
{
	char *name = zword_next(rest);
	if (!name)
		return zerr_set(err, -EINVAL, "#ZIP cluster: the name is missing");
	int rc = zcluster_add(file, name, line, err);
	for (char *word; rc == 0 && (word = zword_next(rest));)
		rc = set_cluster_option(&file->clusters[file->nclusters - 1], word, err);
	return rc;
}

void zcluster_free(struct zcluster *cluster)
{
	for (int h = 0; h < cluster->nhosts; h++) {
		free(cluster->hosts[h].name);
		free(cluster->hosts[h].rest);
	}
	free(cluster->hosts);
	free(cluster->name);
	free(cluster->launcher);
	free(cluster->launcher_exec);
	free(cluster->iface);
	free(cluster->localhost);
	free(cluster->device);
	free(cluster->mpiexec);
	free(cluster->mpi);
}
