/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands to a zipperd, see control.h. */
#include "zipstat/control.h"

#include <errno.h>
#include <string.h>

#include "common/control/ctl_name.h"
#include "zipstat/ask.h"

static const struct command {
	const char *name;
	enum zctl_control_what what;
	int nwords;
	const char *usage;
} commands[] = {
	{"drain", ZCTL_CONTROL_DRAIN, 2, "drain ADDRESS"},
	{"resume", ZCTL_CONTROL_RESUME, 2, "resume ADDRESS"},
	{"end", ZCTL_CONTROL_END, 3, "end [USER/]JOB ADDRESS"},
	{"set", ZCTL_CONTROL_SET, 4, "set NAME VALUE ADDRESS"},
};

static const struct command *find(const char *word)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, word) == 0)
			return &commands[i];
	return NULL;
}

bool control_is_command(const char *word)
{
	return find(word) != NULL;
}

const char *control_check(const struct control_options *o)
{
	const struct command *c = find(o->word[0]);
	return o->nwords == c->nwords ? NULL : c->usage;
}

static int set_name(char to[ZCTL_NAME_MAX + 1], const char *text, size_t len, const char *what, struct zerr *err)
{
	if (len <= ZCTL_NAME_MAX) {
		memcpy(to, text, len);
		to[len] = '\0';
	}
	if (len > ZCTL_NAME_MAX || !zctl_name_ok(to))
		return zerr_set(err, -EINVAL, "'%.80s' is no name of %s", text, what);
	return 0;
}

/* USER/JOB or JOB: no user has a slash in the name. */
static int set_job(struct zctl_control *c, const char *text, struct zerr *err)
{
	const char *slash = strchr(text, '/');
	int rc = slash ? set_name(c->user, text, (size_t)(slash - text), "a user with a job", err) : 0;
	const char *job = slash ? slash + 1 : text;
	return rc < 0 ? rc : set_name(c->name, job, strlen(job), "a job", err);
}

static int fill(struct zctl_control *c, const struct control_options *o, struct zerr *err)
{
	*c = (struct zctl_control){.what = (uint8_t)find(o->word[0])->what};
	if (c->what == ZCTL_CONTROL_END)
		return set_job(c, o->word[1], err);
	if (c->what != ZCTL_CONTROL_SET)
		return 0;
	if (strlen(o->word[2]) > ZCTL_VALUE_MAX)
		return zerr_set(err, -EINVAL, "'%.80s...' is too long a value", o->word[2]);
	strcpy(c->value, o->word[2]);
	return set_name(c->name, o->word[1], strlen(o->word[1]), "an option", err);
}

int control_run(const struct control_options *o, FILE *out, struct zerr *err)
{
	const struct ask_options as = {.address = o->word[o->nwords - 1], .user = o->user};
	char text[ZCTL_TEXT_MAX + 1];
	struct zctl_control c;
	struct zsession *s = NULL;
	int rc = fill(&c, o, err);
	if (rc == 0)
		rc = ask_open(&s, &as, err);
	if (rc == 0)
		rc = zsession_control(s, &c, text, err);
	if (rc == 0)
		fprintf(out, "%s\n", text);
	zsession_close(s);
	return rc;
}
