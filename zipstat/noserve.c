/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of serve.c if zipstat is built without libmicrohttpd. */
#include <errno.h>

#include "zipstat/serve.h"

int serve_run(const struct serve_options *o, struct zerr *err)
{
	(void)o;
	return zerr_set(err, -EOPNOTSUPP, "serve: this zipstat was built without libmicrohttpd");
}
