/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells topology.conf from topology.yaml, see slurm_file.h. */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "mapper/netfile/slurm_conf.h"
#include "mapper/netfile/slurm_file.h"
#include "mapper/netfile/slurm_yaml.h"

/* A topology.yaml begins with "-", or with a bracket of YAML's flow style, or with "%YAML"; a line of topology.conf
 * begins with a letter. */
static bool is_yaml(FILE *f)
{
	int c, mark = 0;

	while ((c = getc(f)) != EOF) {
		if (c == '#')
			while ((c = getc(f)) != EOF && c != '\n')
				;
		else if (!isspace(c) && !(mark < 3 && c == (unsigned char)"\xef\xbb\xbf"[mark++]))
			break;
	}
	return c != EOF && strchr("-[{%", c);
}

int slurm_file_read(struct cabling *c, FILE *f, const char *path, const struct slurm_wishes *wishes, struct zerr *err)
{
	struct slurm_tree tree = {0};
	bool yaml = is_yaml(f);
	int rc;

	rewind(f);
	if (yaml)
		rc = slurm_yaml_read(&tree, f, path, wishes->topology, err);
	else if (wishes->topology)
		rc = zerr_set(err, -EINVAL, "%s: only topology.yaml has several topologies", path);
	else
		rc = slurm_conf_read(&tree, f, path, err);
	if (!rc)
		rc = slurm_tree_lay(&tree, path, wishes, c, err);
	slurm_tree_free(&tree);
	return rc;
}
