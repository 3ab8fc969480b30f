/* SPDX-License-Identifier: BSD-3-Clause */
/* Zippers and their answers, see zippers.h. */
#include "zipstat/zippers.h"

#include <errno.h>
#include <stdlib.h>

int zippers_init(struct zippers *z, const char *const *address, int count, const struct ask_options *as,
	struct zerr *err)
{
	z->count = 0;
	z->zipper = calloc((size_t)count, sizeof(*z->zipper));
	if (!z->zipper)
		return zerr_set(err, -ENOMEM, "out of memory");
	for (; z->count < count; z->count++) {
		z->zipper[z->count].as = *as;
		z->zipper[z->count].as.address = address[z->count];
	}
	return 0;
}

static void disconnect(struct zipper *z)
{
	zsession_close(z->session);
	z->session = NULL;
}

void zippers_fini(struct zippers *z)
{
	for (int i = 0; i < z->count; i++) {
		disconnect(&z->zipper[i]);
		snapshot_free(&z->zipper[i].snapshot);
	}
	free(z->zipper);
	z->zipper = NULL;
	z->count = 0;
}

static void ask(struct zipper *z)
{
	z->err.text[0] = '\0';
	z->rc = z->session ? 0 : ask_open(&z->session, &z->as, &z->err);
	if (z->rc == 0)
		z->rc = snapshot_take(&z->snapshot, z->session, &z->err);
	else
		snapshot_free(&z->snapshot);
	if (z->rc != 0 && z->rc != -EPROTONOSUPPORT)
		disconnect(z);
}

void zippers_ask(struct zippers *z)
{
	for (int i = 0; i < z->count; i++)
		ask(&z->zipper[i]);
}
