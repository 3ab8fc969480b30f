/* SPDX-License-Identifier: BSD-3-Clause */
/* zipperd's command line, see options.h. */
#include "zipperd/main/options.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "common/args/args.h"

#define FD_MAX (1 << 20)

static int take_option(void *options, char *text, struct zerr *err)
{
	struct options *o = options;
	if (!strchr(text, '='))
		return zerr_set(err, -EINVAL, "-o %.200s: expected NAME=VALUE", text);
	if (o->nset == OPTIONS_SET_MAX)
		return zerr_set(err, -EINVAL, "-o %.200s: more than %d of them", text, OPTIONS_SET_MAX);
	o->set[o->nset++] = text;
	return 0;
}

#define FIELD(kind, member) .type = ZARGS_##kind, .offset = offsetof(struct options, member)
#define HELP(name, text) .value = (name), .help = (text)
static const struct zargs_row rows[] = {
	{.name = "config",
		.letter = 'c',
		FIELD(TEXT, config),
		HELP("FILE", "configuration, see zipperd.conf(5); default:\n" CONFDIR "/" OPTIONS_CONF)},
	{.name = "option",
		.letter = 'o',
		.type = ZARGS_CALL,
		.take = take_option,
		HELP("NAME=VALUE", "one line of configuration, after the file; without -c instead of it")},
	{.name = "test", .letter = 't', FIELD(FLAG, test), .help = "check the configuration and exit"},
	{.name = "print-config",
		FIELD(FLAG, print_config),
		.help = "print the configuration with all defaults and exit"},
	{.name = "ready-fd",
		FIELD(INT, ready_fd),
		.max = FD_MAX,
		HELP("N", "write the addresses to descriptor N when ready, then close it")},
	{.name = "die-with-parent",
		FIELD(FLAG, die_with_parent),
		.help = "end when the process that started zipperd ends"},
	{.name = "node", FIELD(FLAG, node), .help = "serve the ranks of one job on their node, see libzipper(7)"},
	{.name = "mdoc", FIELD(FLAG, mdoc), .help = "print the option list of zipperd.conf(5) and exit"},
	{.name = "make-key",
		FIELD(TEXT, make_key),
		HELP("USER", "print a new key for the user, as a line of the key file")},
	{.name = "until", FIELD(TEXT, until), HELP("YYYY-MM-DD", "that key's last day")},
	{.name = "put-keys", FIELD(FLAG, put_keys), .help = "put the lines from standard input into the key file"},
	{.name = "drop-key", FIELD(TEXT, drop_key), HELP("USER", "take the user's key out of the key file")},
	{.name = NULL},
};

static const struct zargs args = {
	.program = "zipperd",
	.usage = "zipperd [-c FILE] [-o NAME=VALUE ...] [OPTION ...]\n"
		 "\n"
		 "Forwards messages between the fabrics that its configuration names, until SIGTERM.\n",
	.rows = rows,
};

bool options_read(struct options *o, int argc, char **argv, int *status)
{
	struct zerr err = {.text = ""};
	*o = (struct options){.ready_fd = -1};
	if (!zargs_read(&args, o, argc, argv, NULL, status))
		return false;
	if (!o->until || o->make_key)
		return true;
	zerr_set(&err, -EINVAL, "--until goes with --make-key");
	*status = zargs_refuse(&args, &err);
	return false;
}
