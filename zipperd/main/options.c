/* SPDX-License-Identifier: BSD-3-Clause */
/* zipperd's command line, see options.h. */
#include "zipperd/main/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"

enum { OPT_PRINT = 256, OPT_MDOC, OPT_READY_FD, OPT_DIE, OPT_MAKE_KEY, OPT_UNTIL, OPT_PUT_KEYS, OPT_DROP_KEY };

static const struct option longs[] = {
	{"config", required_argument, NULL, 'c'},
	{"test", no_argument, NULL, 't'},
	{"option", required_argument, NULL, 'o'},
	{"print-config", no_argument, NULL, OPT_PRINT},
	{"mdoc", no_argument, NULL, OPT_MDOC},
	{"ready-fd", required_argument, NULL, OPT_READY_FD},
	{"die-with-parent", no_argument, NULL, OPT_DIE},
	{"make-key", required_argument, NULL, OPT_MAKE_KEY},
	{"until", required_argument, NULL, OPT_UNTIL},
	{"put-keys", no_argument, NULL, OPT_PUT_KEYS},
	{"drop-key", required_argument, NULL, OPT_DROP_KEY},
	{"version", no_argument, NULL, 'V'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int parse_fd(const char *text)
{
	char *end;
	long fd = strtol(text, &end, 10);
	return end == text || *end || fd < 0 || fd > 1 << 20 ? -1 : (int)fd;
}

int options_parse(struct options *o, int argc, char **argv)
{
	int c;
	*o = (struct options){.ready_fd = -1};
	while ((c = getopt_long(argc, argv, "c:to:Vh", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
			o->config = optarg;
			break;
		case 't':
			o->test = true;
			break;
		case 'o':
			if (!strchr(optarg, '=') || o->nset == OPTIONS_SET_MAX) {
				zerr_print("zipperd: -o %s: expected NAME=VALUE\n", optarg);
				return -EINVAL;
			}
			o->set[o->nset++] = optarg;
			break;
		case OPT_PRINT:
			o->print_config = true;
			break;
		case OPT_MDOC:
			o->mdoc = true;
			break;
		case OPT_READY_FD:
			o->ready_fd = parse_fd(optarg);
			if (o->ready_fd < 0) {
				zerr_print("zipperd: --ready-fd %s: not a descriptor\n", optarg);
				return -EINVAL;
			}
			break;
		case OPT_DIE:
			o->die_with_parent = true;
			break;
		case OPT_MAKE_KEY:
			o->make_key = optarg;
			break;
		case OPT_UNTIL:
			o->until = optarg;
			break;
		case OPT_PUT_KEYS:
			o->put_keys = true;
			break;
		case OPT_DROP_KEY:
			o->drop_key = optarg;
			break;
		case 'V':
			o->version = true;
			break;
		case 'h':
			o->help = true;
			break;
		default:
			zerr_print("zipperd: try zipperd --help\n");
			return -EINVAL;
		}
	}
	if (optind < argc) {
		zerr_print("zipperd: unexpected argument '%s'; try zipperd --help\n", argv[optind]);
		return -EINVAL;
	}
	if (o->until && !o->make_key) {
		zerr_print("zipperd: --until goes with --make-key\n");
		return -EINVAL;
	}
	return 0;
}

void options_help(void)
{
	fputs("usage: zipperd [-c FILE] [-o NAME=VALUE ...] [OPTION ...]\n"
	      "\n"
	      "Forwards messages between the fabrics that its configuration names, until SIGTERM.\n"
	      "\n"
	      "  -c, --config FILE        configuration, see zipperd.conf(5); default " ZIPPERD_CONF "\n"
	      "  -o, --option NAME=VALUE  one line of configuration, after the file; without -c instead of it\n"
	      "  -t, --test               check the configuration and exit\n"
	      "      --print-config       print the configuration with all defaults and exit\n"
	      "      --ready-fd N         write the addresses to descriptor N when ready, then close it\n"
	      "      --die-with-parent    end when the process that started zipperd ends\n"
	      "      --mdoc               print the option list of zipperd.conf(5) and exit\n"
	      "      --make-key USER      print a new key for the user, as a line of the key file\n"
	      "      --until YYYY-MM-DD   that key's last day\n"
	      "      --put-keys           put the lines from standard input into the key file\n"
	      "      --drop-key USER      take the user's key out of the key file\n"
	      "  -V, --version            print the version and exit\n"
	      "  -h, --help               print this and exit\n",
		stdout);
}
