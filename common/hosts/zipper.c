/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads "#ZIP zipper" lines. */
#include "common/hosts/zipper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/hosts/word.h"

static int add_port(struct zzipper *zipper, char *word, struct zerr *err)
{
	char *address;
	int rc = zword_split_option(word, &address, err);
	if (rc == 0)
		rc = zword_check_name("fabric", word, err);
	if (rc < 0)
		return rc;
	for (int i = 0; i < zipper->nports; i++)
		if (strcmp(zipper->ports[i].fabric, word) == 0)
			return zerr_set(err, -EEXIST, "fabric %s is given twice", word);
	struct zport *port = zword_grow(&zipper->ports, &zipper->nports, sizeof(*port));
	if (!port || !(port->fabric = strdup(word)))
		return zword_no_memory(err);
	rc = zaddr_parse(&port->addr, address, err);
	if (rc < 0)
		return zerr_prefix(err, rc, "address of fabric %s", word);
	port->fixed = zaddr_is_fixed(&port->addr, address);
	if (strcmp(port->addr.via, ZADDR_VIA_OWN) == 0)
		return zerr_set(err, -EINVAL, "address of fabric %s: a host must stand behind the @", word);
	if (zaddr_lacks_host(&port->addr)) {
		if (strlen(zipper->host) >= sizeof(port->addr.via))
			return zerr_set(err, -EINVAL, "address of fabric %s: the zipper's name is too long", word);
		strcpy(port->addr.via, zipper->host);
		port->addr.via_port = ZADDR_DEFAULT_PORT;
	}
	return 0;
}

int zzipper_parse(struct zhostfile *file, char **rest, int line, struct zerr *err)
{
	char *host = zword_next(rest);
	if (!host)
		return zerr_set(err, -EINVAL, "#ZIP zipper: the host is missing");
	if (strchr(host, '='))
		return zerr_set(err, -EINVAL, "#ZIP zipper: the host is missing before '%.64s'", host);
	int rc = zword_check_host(host, err);
	if (rc < 0)
		return rc;
	struct zzipper *zipper = zword_grow(&file->zippers, &file->nzippers, sizeof(*zipper));
	if (!zipper || !(zipper->host = strdup(host)))
		return zword_no_memory(err);
	zipper->line = line;
	for (char *word; rc == 0 && (word = zword_next(rest));)
		rc = add_port(zipper, word, err);
	if (rc == 0 && zipper->nports < 2)
		rc = zerr_set(err, -EINVAL, "zipper %s needs two fabrics or more", host);
	return rc;
}

void zzipper_free(struct zzipper *zipper)
{
	for (int p = 0; p < zipper->nports; p++)
		free(zipper->ports[p].fabric);
	free(zipper->ports);
	free(zipper->host);
}
