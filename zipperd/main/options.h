/* SPDX-License-Identifier: BSD-3-Clause */
/* zipperd's command line, zipperd(8). */
#ifndef ZIPPERD_OPTIONS_H
#define ZIPPERD_OPTIONS_H

#include <stdbool.h>

#define OPTIONS_SET_MAX 64
#define OPTIONS_CONF "zipperd.conf" /* in CONFDIR */

struct options {
	const char *config;		  /* NULL: the installed default */
	const char *set[OPTIONS_SET_MAX]; /* -o NAME=VALUE, in order */
	int nset;
	int ready_fd;				 /* -1: none */
	const char *make_key, *until, *drop_key; /* the user; the last day */
	bool put_keys;
	bool test, print_config, mdoc, die_with_parent, node;
};

/* True: go on. False: end with *status, after --help, --version or an error, which is on stderr. */
bool options_read(struct options *, int argc, char **argv, int *status);

#endif
