/* SPDX-License-Identifier: BSD-3-Clause */
/* References and descriptors of slots, see shm_pass.h. */
#define _GNU_SOURCE /* MSG_CMSG_CLOEXEC */
#include "common/transport/shm/shm_pass.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/transport/shm/shm_link.h"
#include "common/transport/shm/shm_socket.h"

/* Messages on the socket before a descriptor: bytes that wake, some hundred of which fit the socket, and others. */
#define LOOKS_MAX 4096

/* Thread-local storage of this model, as libzipper needs libc alone: another model would call the dynamic linker. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
	struct shm_link *from;
	struct shm_slots *slots;
	const uint8_t *payload;
	uint32_t slot;
} delivered;

void shm_pass_begin(struct shm_link *from, struct shm_slots *slots, uint32_t slot)
{
	delivered.from = from;
	delivered.slots = slots;
	delivered.payload = shm_slots_at(slots, slot);
	delivered.slot = slot;
}

void shm_pass_end(void)
{
	delivered.from = NULL;
}

/* ---- receive half ---- */

static void take_descriptor(struct shm_link *l, int fd)
{
	struct shm_rx *rx = &l->rx;
	/* Only the connecting side is told of other senders. Slots that cannot be mapped are missing when they are
	 * referred to. */
	if (!l->accepted && rx->nsenders < SHM_SENDERS_MAX) {
		if (!rx->senders)
			rx->senders = calloc(SHM_SENDERS_MAX, sizeof(*rx->senders));
		if (rx->senders)
			shm_slots_open(&rx->senders[rx->nsenders++], fd);
	}
	close(fd);
}

bool shm_pass_look(struct shm_link *l)
{
	int fds[SHM_SOCKET_FDS];
	size_t count = 0;
	int rc = shm_socket_receive_fds(l->rx.sock, fds, &count);
	for (size_t i = 0; i < count; i++)
		take_descriptor(l, fds[i]);
	/* A descriptor is missing, so nobody knows any more which number means which slots. */
	if (rc == -EMFILE)
		l->rx.error = rc;
	else if (rc < 0)
		atomic_store_explicit(&l->dead, true, memory_order_release);
	return rc > 0;
}

struct shm_slots *shm_pass_find(struct shm_link *l, const struct shm_ref *ref, uint32_t len)
{
	struct shm_rx *rx = &l->rx;
	struct shm_slots *slots = &rx->slots;
	if (ref->slot >= SHM_SLOTS || len > SHM_SLOT_BYTES)
		return NULL;
	if (ref->sender != SHM_REF_MINE) {
		/* Nobody tells the accepting side of other senders. And a peer could fill the socket as fast as it is
		 * emptied. */
		if (l->accepted || ref->sender >= SHM_SENDERS_MAX)
			return NULL;
		/* The descriptor was sent before the reference. */
		for (int i = 0; i < LOOKS_MAX && ref->sender >= rx->nsenders && shm_pass_look(l); i++)
			;
		if (ref->sender >= rx->nsenders)
			return NULL;
		slots = &rx->senders[ref->sender];
	}
	return slots->ctl && !rx->error ? slots : NULL;
}

/* ---- send half ---- */

/* The number by which the peer knows the slots of this sender; -1: it does not know them. */
static int number_of(struct shm_link *to, const struct shm_link *sender)
{
	struct shm_tx *tx = &to->tx;
	unsigned i = 0;
	while (i < tx->nsenders && tx->senders[i] != sender->number)
		i++;
	if (i < tx->nsenders)
		return (int)i;
	if (tx->no_more_senders || !to->accepted || to->uid != sender->uid || sender->rx.slots_fd < 0 ||
		i == SHM_SENDERS_MAX)
		return -1;
	if (!tx->senders)
		tx->senders = malloc(SHM_SENDERS_MAX * sizeof(*tx->senders));
	if (!tx->senders)
		return -1;
	int rc = shm_socket_send_fd(tx->sock, sender->rx.slots_fd);
	if (rc < 0) {
		tx->no_more_senders = rc != -EAGAIN;
		return -1;
	}
	tx->senders[tx->nsenders++] = sender->number;
	return (int)i;
}

bool shm_pass_on(struct shm_link *to, const void *payload, size_t len, struct shm_ref *ref)
{
	if (!delivered.from || payload != delivered.payload || len > SHM_SLOT_BYTES)
		return false;
	int number = number_of(to, delivered.from);
	if (number < 0)
		return false;
	shm_slots_hold(delivered.slots, delivered.slot);
	*ref = (struct shm_ref){.mark = SHM_REF_MARK, .sender = (uint32_t)number, .slot = delivered.slot};
	return true;
}
