/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads topology.conf, see slurm_conf.h. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/args/value.h"
#include "common/base/lines.h"
#include "mapper/netfile/slurm_conf.h"

enum key { SWITCH_NAME, SWITCHES, NODES, LINK_SPEED, BLOCK_NAME, BLOCK_SIZES, KEYS };
static const char *const key_names[KEYS] = {"SwitchName", "Switches", "Nodes", "LinkSpeed", "BlockName", "BlockSizes"};

/* The state of reading a file. */
struct reading {
	struct slurm_tree *tree;
	char *begun; /* a statement that goes on in the next line, or NULL */
	int line;    /* where it began */
};

/* --- a statement --- */

/* Finds the key of this name. */
static enum key key_find(const char *name, size_t len)
{
	enum key k = 0;

	while (k < KEYS && (strlen(key_names[k]) != len || strncasecmp(key_names[k], name, len) != 0))
		k++;
	return k;
}

/* Cuts the next KEY=VALUE off. 1; 0: there is no more; -EINVAL. */
static int word_cut(char **text, char *value[KEYS], struct zerr *err)
{
	char *at = *text + strspn(*text, " \t\r\n"), *name = at, *end;
	enum key k;
	size_t len;

	if (!*at)
		return 0;
	len = strcspn(at, " \t\r\n=");
	at += len;
	at += strspn(at, " \t\r\n");
	if (*at != '=' || !len)
		return zerr_set(err, -EINVAL, "\"%.*s\" is not KEY=VALUE", (int)(len < 64 ? len : 64), name);
	k = key_find(name, len);
	if (k == KEYS)
		return zerr_set(err, -EINVAL,
			"%.*s is none of SwitchName, Switches, Nodes, LinkSpeed, BlockName, BlockSizes",
			(int)(len < 64 ? len : 64), name);
	if (value[k])
		return zerr_set(err, -EINVAL, "a second %s", key_names[k]);
	at++;
	at += strspn(at, " \t\r\n");
	if (*at == '"') {
		value[k] = ++at;
		end = strchr(at, '"');
		if (!end)
			return zerr_set(err, -EINVAL, "%s=\": the second quotation mark is missing", key_names[k]);
	} else {
		value[k] = at;
		end = at + strcspn(at, " \t\r\n");
		if (end == at)
			return zerr_set(err, -EINVAL, "nothing behind %s=", key_names[k]);
	}
	*text = end + (*end != '\0');
	*end = '\0';
	return 1;
}

static int sizes_take(struct slurm_tree *t, char *list, int line, struct zerr *err)
{
	char *save = NULL;
	int rc = 0;

	if (t->sizes)
		return zerr_set(err, -EINVAL, "BlockSizes stands in line %u already", t->sizes_line);
	for (char *word = strtok_r(list, ", \t", &save); word && !rc; word = strtok_r(NULL, ", \t", &save)) {
		uint64_t size = 0;

		if (!isdigit((unsigned char)*word) || zargs_parse_u64(word, &size))
			return zerr_set(err, -EINVAL, "BlockSizes: \"%.64s\" is no number", word);
		rc = slurm_tree_size(t, size, (unsigned)line, err);
	}
	return rc || t->sizes ? rc : zerr_set(err, -EINVAL, "BlockSizes: no number");
}

static int statement_read(struct slurm_tree *t, char *text, int line, struct zerr *err)
{
	struct slurm_switch s = {.line = (unsigned)line};
	char *value[KEYS] = {NULL};
	uint64_t speed = 0;
	int rc;

	do
		rc = word_cut(&text, value, err);
	while (rc > 0);
	if (rc)
		return rc;
	s.name = value[SWITCH_NAME] ? value[SWITCH_NAME] : value[BLOCK_NAME];
	s.switches = value[SWITCHES];
	s.nodes = value[NODES];
	if (value[SWITCH_NAME] && value[BLOCK_NAME])
		return zerr_set(err, -EINVAL, "SwitchName and BlockName in one line");
	if (!s.name && (s.switches || s.nodes || value[LINK_SPEED]))
		return zerr_set(err, -EINVAL, "a line without SwitchName and BlockName");
	if (value[BLOCK_NAME] && (s.switches || value[LINK_SPEED]))
		return zerr_set(err, -EINVAL, "%s is for switches, not for blocks",
			s.switches ? "Switches" : "LinkSpeed");
	if (value[LINK_SPEED] &&
		(!isdigit((unsigned char)*value[LINK_SPEED]) || zargs_parse_u64(value[LINK_SPEED], &speed)))
		return zerr_set(err, -EINVAL, "LinkSpeed: \"%.64s\" is no number", value[LINK_SPEED]);
	s.speed = (double)speed;
	if (value[BLOCK_SIZES])
		rc = sizes_take(t, value[BLOCK_SIZES], line, err);
	return !rc && s.name ? slurm_tree_add(t, value[BLOCK_NAME] != NULL, &s, err) : rc;
}

/* --- lines --- */

/* Adds a line to the statement that has begun. */
static int begun_add(struct reading *r, const char *line, int number, struct zerr *err)
{
	size_t len = r->begun ? strlen(r->begun) : 0;
	char *more = realloc(r->begun, len + strlen(line) + 2);

	if (!more)
		return zerr_set(err, -ENOMEM, "not enough memory");
	if (!r->begun)
		r->line = number;
	r->begun = more;
	more[len] = ' ';
	strcpy(more + len + 1, line);
	return 0;
}

static int line_read(void *arg, char *line, int number, struct zerr *err)
{
	struct reading *r = arg;
	size_t len;
	bool more;
	int rc;

	line[strcspn(line, "#")] = '\0';
	for (len = strlen(line); len && isspace((unsigned char)line[len - 1]);)
		line[--len] = '\0';
	more = len && line[len - 1] == '\\';
	if (more)
		line[len - 1] = '\0';
	if (!more && !r->begun)
		return statement_read(r->tree, line, number, err);
	rc = begun_add(r, line, number, err);
	if (rc || more)
		return rc;
	rc = statement_read(r->tree, r->begun, r->line, err);
	free(r->begun);
	r->begun = NULL;
	return rc;
}

int slurm_conf_read(struct slurm_tree *t, FILE *f, const char *path, struct zerr *err)
{
	struct reading r = {.tree = t};
	int rc = zlines_read(f, path, line_read, &r, err);

	if (!rc && r.begun) {
		rc = statement_read(t, r.begun, r.line, err);
		if (rc)
			zerr_prefix(err, rc, "%s:%d", path, r.line);
	}
	free(r.begun);
	return rc;
}
