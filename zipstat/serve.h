/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipstat serve": an HTTP server with a live page for people, and metrics for Prometheus. */
#ifndef ZIPSTAT_SERVE_H
#define ZIPSTAT_SERVE_H

#include "zipstat/ask.h"

#define SERVE_LISTEN "127.0.0.1:7475"

struct serve_options {
	const char *const *address; /* [naddresses] of zipperds */
	int naddresses;
	const char *user;   /* NULL: the user of this process */
	const char *listen; /* IP:PORT, or [IPv6]:PORT */
};

/* Serves until SIGTERM or SIGINT. 0, or a negative errno with text. */
int serve_run(const struct serve_options *, struct zerr *);

#endif
