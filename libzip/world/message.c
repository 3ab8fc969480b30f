/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles of probed messages. See message.h. */
#include "libzip/world/message.h"

#include <errno.h>

#include "libzip/world/idtab.h"
#include "libzip/world/req.h"

static struct zidtab messages; /* of all stations */

int zmessage_publish(void *object, MPI_Message *handle)
{
	uint32_t id = zidtab_add(&messages, object);

	if (id == 0)
		return -ENOMEM;
	*handle = (MPI_Message)(ZREQ_HANDLE_KIND | id);
	return 0;
}

void *zmessage_find(MPI_Message handle)
{
	if (!zreq_is_ours((MPI_Request)handle))
		return NULL;
	return zidtab_find(&messages, (uint32_t)handle & ZREQ_HANDLE_INDEX);
}

void zmessage_drop(MPI_Message handle)
{
	zidtab_del(&messages, (uint32_t)handle & ZREQ_HANDLE_INDEX);
}
