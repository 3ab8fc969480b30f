/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the lists of candidates, sizes and layouts; see tune_tries.h. */
#include "zipbench/tune/tune_tries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/tuning.h"
#include "common/config/tuning_parse.h"
#include "common/args/value.h"
#include "zipbench/tune/tune_layout.h"

/* Has the collective this setting? The parser of the table knows. */
static bool has_setting(const char *collective, const char *setting)
{
	struct ztuning table;
	struct zerr err;
	char rule[256];
	snprintf(rule, sizeof(rule), "%s %s", collective, setting);
	bool has = ztuning_init(&table, &err) == 0 && ztuning_parse_text(&table, rule, "", &err) == 0;
	ztuning_free(&table);
	return has;
}

static int add_candidate(struct tune *b, const char *rule, struct zerr *err)
{
	struct tune_candidate c = {.rules = ""};
	char collective[32], extra;
	bool any = false;
	if (sscanf(rule, " %31s %31[^= ]=%31s %c", collective, c.setting, c.value, &extra) != 3)
		return zerr_set(err, -EINVAL, "--try: '%.80s' is not of the form COLLECTIVE SETTING=VALUE", rule);
	snprintf(c.rules, sizeof(c.rules), "%s %s=%s", collective, c.setting, c.value);
	for (size_t t = 0; t < TUNE_TARGETS; t++) {
		char setting[80];
		snprintf(setting, sizeof(setting), "%s=%s", c.setting, c.value);
		c.concerns[t] = (strcmp(collective, "all") == 0 || strcmp(collective, tune_targets[t].name) == 0) &&
				has_setting(tune_targets[t].name, setting);
		any |= c.concerns[t];
	}
	if (!any)
		return zerr_set(err, -EINVAL, "--try: '%s': no collective that can be tuned has this setting", c.rules);
	if (b->ncandidates == TUNE_CANDIDATES_MAX)
		return zerr_set(err, -E2BIG, "--try: more than %d candidates", TUNE_CANDIDATES_MAX - 1);
	b->candidate[b->ncandidates++] = c;
	return 0;
}

static int choose_candidates(struct tune *b, struct zerr *err)
{
	char *list = strdup(b->o.tries), *save = NULL;
	int rc = list ? 0 : zerr_set(err, -ENOMEM, "out of memory");
	b->ncandidates = 1;
	for (char *rule = list ? strtok_r(list, ";", &save) : NULL; rule && rc == 0; rule = strtok_r(NULL, ";", &save))
		rc = add_candidate(b, rule, err);
	free(list);
	return rc == 0 && b->ncandidates == 1 ? zerr_set(err, -EINVAL, "--try: there is no candidate") : rc;
}

static int choose_sizes(struct tune *b, struct zerr *err)
{
	char list[1024], *save = NULL;
	snprintf(list, sizeof(list), "%s", b->o.sizes);
	for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		uint64_t bytes;
		double v = zargs_parse_u64(word, &bytes) == 0 ? (double)bytes : 0;
		if (v < 1 || b->nsizes == TUNE_SIZES_MAX || (b->nsizes > 0 && v <= b->size[b->nsizes - 1]))
			return zerr_set(err, -EINVAL, "--sizes: %.40s is no size that is larger than the one before it",
				word);
		b->size[b->nsizes++] = v;
	}
	return b->nsizes > 0 ? 0 : zerr_set(err, -EINVAL, "--sizes: there is none");
}

/* A command without {} has one layout, and nothing is known of it. */
static int choose_layouts(struct tune *b, struct zerr *err)
{
	static char any[] = "any";
	bool wanted = false;
	for (char **word = b->command; *word; word++)
		wanted |= strstr(*word, "{}") != NULL;
	if (!wanted) {
		b->layout[b->nlayouts++] = any;
		return 0;
	}
	char *list = strdup(b->o.layouts), *save = NULL; /* kept */
	for (char *word = list ? strtok_r(list, ",", &save) : NULL; word; word = strtok_r(NULL, ",", &save)) {
		const char *before = b->nlayouts > 0 ? b->layout[b->nlayouts - 1] : "0";
		bool more = tune_layout_clusters(word) > tune_layout_clusters(before) ||
			    (tune_layout_clusters(word) == tune_layout_clusters(before) &&
				    tune_layout_members_max(word) > tune_layout_members_max(before));
		if (b->nlayouts == TUNE_LAYOUTS_MAX || tune_layout_members_max(word) < 1 ||
			tune_layout_clusters(word) < 2 || !more)
			return zerr_set(err, -EINVAL,
				"--layouts: %.40s: clusters as 2+2 are wanted, each layout with more clusters than the "
				"one before it, or as many and more members in the largest one",
				word);
		b->layout[b->nlayouts++] = word;
	}
	return b->nlayouts > 0 ? 0 : zerr_set(err, -EINVAL, "--layouts: there is none");
}

int tune_tries_choose(struct tune *b, struct zerr *err)
{
	int rc = choose_candidates(b, err);
	if (rc == 0)
		rc = choose_sizes(b, err);
	return rc == 0 ? choose_layouts(b, err) : rc;
}
