/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what ibnetdiscover(8) of infiniband-diags writes: the fabric in blocks (with -g and -f, too), or the list of
 * ports of ibnetdiscover -p. Each line tells by its first word which one it belongs to. */
#ifndef ZIP_MAPPER_IB_FILE_H
#define ZIP_MAPPER_IB_FILE_H

#include <stdio.h>

#include "common/base/err.h"
#include "mapper/netfile/cabling.h"
#include "mapper/netfile/ib_fabric.h"

/* Adds the network of a file. path: for messages. 0 or a negative errno with "path:line: reason". */
int ib_file_read(struct cabling *, FILE *, const char *path, const struct ib_wishes *, struct zerr *);

#endif
