/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a message under way, see message.h. */
#include "zipcast/base/message.h"

#include <errno.h>
#include <stdlib.h>

void zmessage_drop(struct message *m)
{
	zcastplan_destroy(m->plan);
	free(m->have);
	*m = (struct message){.number = m->number};
}

int zmessage_begin(struct message *m, const struct zcastplan_shape *like, uint32_t member, void *data, uint64_t bytes,
	uint32_t block_bytes)
{
	struct zcastplan_shape shape = *like;
	m->bytes = bytes;
	m->data = data;
	m->blocks = (uint32_t)((bytes + block_bytes - 1) / block_bytes);
	m->missing = member ? m->blocks : 0;
	m->have = member ? calloc((m->blocks + 7) / 8, 1) : NULL;
	shape.blocks = m->blocks;
	m->plan = zcastplan_create(&shape, member);
	if (!m->plan || (member && !m->have))
		return -ENOMEM;
	m->number++;
	m->active = true;
	zmessage_advance(m);
	return 0;
}
