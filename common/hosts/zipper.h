/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "#ZIP zipper" lines of the zipper hostfile. Private to hostfile.c, which owns what is made here. Start-up only; one
 * thread.
 */
#ifndef ZIP_COMMON_HOSTS_ZIPPER_H
#define ZIP_COMMON_HOSTS_ZIPPER_H

#include "common/hosts/hostfile.h"

/* Reads the words behind "#ZIP zipper": HOST FABRIC=ADDRESS ... Appends to file->zippers. Returns 0, or -EINVAL,
 * -EEXIST, -ENOMEM, or an error of zaddr_parse, with the reason. */
int zzipper_parse(struct zhostfile *, char **rest, int line, struct zerr *);
void zzipper_free(struct zzipper *);

#endif
