/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads tuning tables: files, and single rules. See tuning.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/lines.h"
#include "common/config/conf_value.h"
#include "common/config/nearest.h"
#include "common/config/tuning_parse.h"
#include "common/config/tuning_rule.h"

#define LINE_CHARS_MAX 1000 /* of a rule: conditions and settings */

static const char blanks[] = " \t\r\n\v\f";

static const char *const collective_names[ZTUNING_COLLECTIVES] = {
	[ZTUNING_BCAST] = "bcast",
	[ZTUNING_GATHER] = "gather",
	[ZTUNING_SCATTER] = "scatter",
	[ZTUNING_ALLGATHER] = "allgather",
	[ZTUNING_ALLTOALL] = "alltoall",
	[ZTUNING_REDUCE] = "reduce",
	[ZTUNING_ALLREDUCE] = "allreduce",
	[ZTUNING_REDUCE_SCATTER] = "reduce_scatter",
	[ZTUNING_SCAN] = "scan",
};

/* Numbers are read into one field. */
static const struct zconf_row key_rows[TUNING_KEYS + 1] = {
	[TUNING_KEY_BYTES] = {.name = "bytes", .type = ZCONF_BYTES, .max = INT64_MAX},
	[TUNING_KEY_RANKS] = {.name = "ranks", .type = ZCONF_INT, .max = INT32_MAX},
	[TUNING_KEY_CLUSTERS] = {.name = "clusters", .type = ZCONF_INT, .max = INT32_MAX},
	[TUNING_KEY_MEMBERS] = {.name = "members", .type = ZCONF_INT, .max = INT32_MAX},
	[TUNING_KEY_MEMBERS_MAX] = {.name = "members_max", .type = ZCONF_INT, .max = INT32_MAX},
	[TUNING_KEY_LATENCY] = {.name = "latency_ns", .type = ZCONF_INT, .max = INT64_MAX},
	[TUNING_KEY_BANDWIDTH] = {.name = "bandwidth", .type = ZCONF_BYTES, .max = INT64_MAX},
};

static const struct zconf_row bridge_rows[] = {
	{.name = "latency_ns",
		.type = ZCONF_INT,
		.min = 1,
		.max = INT64_C(1000000000),
		.offset = offsetof(struct ztuning, latency_ns)},
	{.name = "bandwidth",
		.type = ZCONF_BYTES,
		.min = 1,
		.max = INT64_C(1) << 50,
		.offset = offsetof(struct ztuning, bandwidth)},
	{.name = NULL},
};

static const char *const inside_words[] =
	{[ZTUNING_INSIDE_AUTO] = "auto", [ZTUNING_INSIDE_GATHER] = "gather", [ZTUNING_INSIDE_NATIVE] = "native", NULL};

static const char *const exchange_words[] = {[ZTUNING_EXCHANGE_ALL] = "all",
	[ZTUNING_EXCHANGE_DOUBLING] = "doubling",
	[ZTUNING_EXCHANGE_SLICES] = "slices",
	NULL};
static const char *const between_words[] = {[ZTUNING_BETWEEN_ALL] = "all",
	[ZTUNING_BETWEEN_SEQUENTIAL] = "sequential",
	[ZTUNING_BETWEEN_TREE] = "tree",
	[ZTUNING_BETWEEN_CHAIN] = "chain",
	[ZTUNING_BETWEEN_PIPELINE] = "pipeline",
	NULL};
static const char *const yes_no_words[] = {"no", "yes", NULL};

#define SETTING(field) .name = #field, .offset = offsetof(struct ztuning_settings, field)
#define HAS(collective) (1u << ZTUNING_##collective)
#define CUT (HAS(BCAST) | HAS(ALLGATHER) | HAS(REDUCE) | HAS(ALLREDUCE) | HAS(REDUCE_SCATTER) | HAS(SCAN))
#define REDUCTIONS (HAS(REDUCE) | HAS(ALLREDUCE) | HAS(REDUCE_SCATTER))
#define TO_ALL (HAS(BCAST) | HAS(ALLGATHER) | HAS(ALLREDUCE))
#define TO_SEVERAL (TO_ALL | HAS(SCAN))

static const struct setting {
	struct zconf_row row;
	unsigned collectives; /* the collectives that have it: HAS() */
} settings[] = {
	{{SETTING(segment), .type = ZCONF_BYTES, .min = 256, .max = INT64_C(1) << 30}, CUT},
	{{SETTING(segments), .type = ZCONF_INT, .min = 1, .max = 1024}, CUT},
	{{SETTING(depth), .type = ZCONF_INT, .min = 1, .max = ZTUNING_DEPTH_MAX}, CUT},
	{{SETTING(inside), .type = ZCONF_ENUM, .choices = inside_words}, REDUCTIONS},
	{{SETTING(leaders), .type = ZCONF_INT, .min = 1, .max = 64}, CUT | HAS(ALLTOALL)},
	{{SETTING(exchange), .type = ZCONF_ENUM, .choices = exchange_words}, HAS(ALLREDUCE)},
	{{SETTING(between), .type = ZCONF_ENUM, .choices = between_words}, TO_ALL},
	{{SETTING(aggregate), .type = ZCONF_BYTES, .max = INT64_C(1) << 20}, HAS(ALLTOALL)},
	{{SETTING(window), .type = ZCONF_INT, .min = 1, .max = 1024}, HAS(ALLTOALL)},
	{{SETTING(together), .type = ZCONF_BYTES, .max = INT64_C(1) << 20}, HAS(SCATTER)},
	{{SETTING(alone), .type = ZCONF_BYTES, .max = INT64_C(1) << 50}, HAS(GATHER) | HAS(SCATTER)},
	{{SETTING(multicast), .type = ZCONF_ENUM, .choices = yes_no_words}, TO_SEVERAL},
	{{SETTING(patience), .type = ZCONF_INT, .max = 3600000}, TO_SEVERAL},
};
#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

/* Offers every name for "did you mean". Each is a text of its own, as the nearest one must outlive the loop. */
static int refuse_word(const char *what, const char *word, const char *const *names, int n, struct zerr *err)
{
	struct znearest near;
	char hint[96];
	znearest_init(&near, word);
	for (int i = 0; i < n; i++)
		znearest_add(&near, names[i]);
	return zerr_set(err, -EINVAL, "%s '%.32s'%s", what, word, znearest_format(&near, hint, sizeof(hint)));
}

/* The collectives that a line is about: a set of HAS(). */
static int find_collectives(const char *word, unsigned *set, struct zerr *err)
{
	const char *names[ZTUNING_COLLECTIVES + 2];
	*set = 0;
	for (int c = 0; c < ZTUNING_COLLECTIVES; c++) {
		names[c] = collective_names[c];
		if (strcmp(word, names[c]) == 0 || strcmp(word, "all") == 0)
			*set |= 1u << c;
	}
	names[ZTUNING_COLLECTIVES] = "all";
	names[ZTUNING_COLLECTIVES + 1] = "bridge";
	return *set ? 0 : refuse_word("unknown collective", word, names, ZTUNING_COLLECTIVES + 2, err);
}

static int parse_condition(struct ztuning_rule *rule, char *word, char *sign, struct zerr *err)
{
	const char *names[TUNING_KEYS];
	bool below = *sign == '<';
	if (!below && sign[1] != '=')
		return zerr_set(err, -EINVAL, "'%.32s': a condition is KEY>=NUMBER or KEY<NUMBER", word);
	const char *number = sign + (below ? 1 : 2);
	*sign = '\0';
	for (int k = 0; k < TUNING_KEYS; k++) {
		names[k] = key_rows[k].name;
		if (strcmp(word, names[k]) != 0)
			continue;
		if (rule->nconditions == TUNING_CONDITIONS_MAX)
			return zerr_set(err, -E2BIG, "more than %d conditions", TUNING_CONDITIONS_MAX);
		struct ztuning_condition *c = &rule->conditions[rule->nconditions++];
		c->key = k;
		c->below = below;
		return zconf_value_set(&key_rows[k], &c->number, number, err);
	}
	return refuse_word("unknown key", word, names, TUNING_KEYS, err);
}

static int add_rule(struct ztuning *table, int collective, const struct ztuning_rule *rule, struct zerr *err)
{
	int n = table->of[collective].n;
	if ((n & (n - 1)) == 0) { /* at powers of two, when the array grows */
		size_t room = n ? 2 * (size_t)n : 1;
		struct ztuning_rule *more = realloc(table->of[collective].rules, room * sizeof(*more));
		if (!more)
			return zerr_set(err, -ENOMEM, "out of memory");
		table->of[collective].rules = more;
	}
	table->of[collective].rules[table->of[collective].n++] = *rule;
	return 0;
}

/* Adds SETTING=VALUE for these collectives, under the conditions of the rule. */
static int parse_setting(struct ztuning *table, unsigned collectives, struct ztuning_rule *rule, char *word, char *sign,
	const char *line_name, struct zerr *err)
{
	const char *names[SETTINGS];
	int n = 0;
	*sign = '\0';
	for (size_t i = 0; i < SETTINGS; i++) {
		unsigned who = settings[i].collectives & collectives;
		if (!who)
			continue;
		names[n++] = settings[i].row.name;
		if (strcmp(word, settings[i].row.name) != 0)
			continue;
		struct ztuning_settings values = {0};
		int rc = zconf_value_set(&settings[i].row, &values, sign + 1, err);
		rule->offset = settings[i].row.offset;
		rule->value = *(int64_t *)(void *)((char *)&values + rule->offset);
		for (int c = 0; c < ZTUNING_COLLECTIVES && rc == 0; c++)
			if (who & 1u << c)
				rc = add_rule(table, c, rule, err);
		return rc;
	}
	char what[64];
	snprintf(what, sizeof(what), "%s has no setting", line_name);
	return refuse_word(what, word, names, n, err);
}

static int parse_bridge(struct ztuning *table, char *rest, struct zerr *err)
{
	int n = 0;
	for (char *word; (word = strtok_r(NULL, blanks, &rest)); n++) {
		char *equals = strchr(word, '=');
		if (!equals)
			return zerr_set(err, -EINVAL, "'%.32s' is not of the form NAME=NUMBER", word);
		*equals = '\0';
		int rc = zconf_set(bridge_rows, table, word, equals + 1, NULL, err);
		if (rc < 0)
			return rc;
	}
	return n > 0 ? 0 : zerr_set(err, -EINVAL, "bridge without latency_ns and bandwidth");
}

/* Two passes over the words, as conditions count for all settings of the line, wherever they stand. */
static int parse_words(struct ztuning *table, unsigned collectives, char **words, int n, const char *name,
	struct zerr *err)
{
	struct ztuning_rule rule = {.nconditions = 0};
	int rc = 0, found = 0;
	for (int i = 0; i < n && rc == 0; i++) {
		char *sign = strpbrk(words[i], "<>=");
		if (!sign || sign == words[i])
			return zerr_set(err, -EINVAL, "'%.32s' is neither a condition nor SETTING=VALUE", words[i]);
		if (*sign != '=')
			rc = parse_condition(&rule, words[i], sign, err);
		else
			words[found++] = words[i];
	}
	if (rc == 0 && found == 0)
		return zerr_set(err, -EINVAL, "nothing is set for %s", name);
	for (int i = 0; i < found && rc == 0; i++)
		rc = parse_setting(table, collectives, &rule, words[i], strchr(words[i], '='), name, err);
	return rc;
}

static int parse_line(struct ztuning *table, char *line, struct zerr *err)
{
	char *words[LINE_CHARS_MAX / 2 + 1], *rest = NULL;
	char *comment = strchr(line, '#');
	unsigned collectives;
	int n = 0;
	if (comment)
		*comment = '\0';
	if (strlen(line) > LINE_CHARS_MAX)
		return zerr_set(err, -E2BIG, "more than %d characters", LINE_CHARS_MAX);
	const char *name = strtok_r(line, blanks, &rest);
	if (!name)
		return 0;
	if (strcmp(name, "bridge") == 0)
		return parse_bridge(table, rest, err);
	int rc = find_collectives(name, &collectives, err);
	if (rc != 0)
		return rc;
	while ((words[n] = strtok_r(NULL, blanks, &rest)))
		n++;
	return parse_words(table, collectives, words, n, name, err);
}

static int read_line(void *table, char *line, int number, struct zerr *err)
{
	(void)number;
	return parse_line(table, line, err);
}

int ztuning_parse(struct ztuning *table, FILE *stream, const char *path, struct zerr *err)
{
	return zlines_read(stream, path, read_line, table, err);
}

int ztuning_parse_file(struct ztuning *table, const char *path, struct zerr *err)
{
	FILE *stream = fopen(path, "re");
	if (!stream)
		return zerr_set(err, -errno, "%s: %s", path, strerror(errno));
	int rc = ztuning_parse(table, stream, path, err);
	fclose(stream);
	return rc;
}

int ztuning_parse_text(struct ztuning *table, const char *text, const char *where, struct zerr *err)
{
	char *copy = strdup(text), *rest = copy;
	int rc = copy ? 0 : zerr_set(err, -ENOMEM, "out of memory");
	for (int number = 1; rc == 0 && rest; number++) {
		rc = parse_line(table, strsep(&rest, ";"), err);
		if (rc < 0)
			zerr_prefix(err, rc, "%s:%d", where, number);
	}
	free(copy);
	return rc;
}
