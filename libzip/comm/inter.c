/* SPDX-License-Identifier: BSD-3-Clause */
/* The groups of a new intercommunicator. */
#include "libzip/comm/inter.h"

#include <stdlib.h>

void zinter_free(struct zinter *i)
{
	free(i->mine);
	free(i->theirs);
	i->mine = i->theirs = NULL;
}
