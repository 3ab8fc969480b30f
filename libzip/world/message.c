/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles of probed messages. See message.h. */
#include "libzip/world/message.h"

#include <errno.h>

#include "libzip/abi/abi.h"
#include "libzip/world/idtab.h"

static struct zidtab messages; /* of all stations */

int zmessage_publish(void *object, MPI_Message *handle)
{
	uint32_t id = zidtab_add(&messages, object);

	if (id == 0)
		return -ENOMEM;
	*handle = zabi_own_message(id);
	return 0;
}

void *zmessage_find(MPI_Message handle)
{
	if (!zabi_is_own_message(handle))
		return NULL;
	return zidtab_find(&messages, zabi_own_message_id(handle));
}

void zmessage_drop(MPI_Message handle)
{
	zidtab_del(&messages, zabi_own_message_id(handle));
}
