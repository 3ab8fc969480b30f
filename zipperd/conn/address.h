/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strangers by address: the connections that have not proved who they are. They have a budget of their own
 * (max_strangers), and each address has a share of it (address_strangers). Where these are used up the oldest stranger
 * goes for a new one, strangers that say nothing before others. So strangers do not keep others out, however many they
 * are. Over shared memory the user takes the place of the address. Control thread.
 */
#ifndef ZIPPERD_ADDRESS_H
#define ZIPPERD_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/list.h"

struct address;
struct addresses;

/* Of one connection. */
struct stranger {
	struct addresses *all; /* NULL: no stranger */
	struct address *from;
	struct list link; /* in from */
	struct list age;  /* among all of its kind */
	bool proving;	  /* has said HELLO, and is to prove who it is */
	int64_t born_ms;
};

/* limit: of strangers; share: of those from one address. 0 or a negative errno with text. */
int address_init(struct addresses **, int64_t limit, int64_t share, struct zerr *);
/* All strangers must have left. */
void address_fini(struct addresses *);
/* A new one. peer: the text of its link. 0 or -ENOMEM. */
int address_enter(struct addresses *, struct stranger *, const char *peer, int64_t now_ms);
/* It has proved who it is, or goes. No effect on who has left before. */
void address_leave(struct stranger *);
/* It has said HELLO and is to prove who it is, or it has been refused (false). No effect on who has left. */
void address_note(struct stranger *, bool proving);
/* Is there room for one more, or a stranger that may go for it? */
bool address_has_room(const struct addresses *, int64_t now_ms);
/* A stranger that may go where there is no room for any connection. NULL: there is none. */
struct stranger *address_spare(const struct addresses *, int64_t now_ms);
/* The stranger that is to go for the newest one. NULL: none is. *limit becomes the limit that is reached, and *option
 * its name. */
struct stranger *address_surplus(const struct stranger *newest, int64_t now_ms, const char **option, int64_t *limit);

#endif
