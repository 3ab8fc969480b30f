/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: what the application's threads ask of the context's thread. execute.h carries them out. */
#ifndef ZIPCAST_COMMAND_H
#define ZIPCAST_COMMAND_H

#include "zipcast/context.h"

struct outgoing;
struct zipcast_group;
struct entry;

enum command_kind {
	COMMAND_LINK,	 /* node has a new link */
	COMMAND_CALL,	 /* zipperd was asked to connect node */
	COMMAND_GROUP,	 /* group begins */
	COMMAND_ABANDON, /* group could not be made here: the other members shall not wait */
	COMMAND_SEND,	 /* out is queued in group */
	COMMAND_BARRIER, /* group: the application has entered a barrier */
	COMMAND_END,	 /* group ends behind what is queued */
	COMMAND_ON_END,	 /* group has a callback for its end */
	COMMAND_DESTROY, /* group is left; a root sends first what is queued */
	COMMAND_MEET,	 /* the nodes are known: guests may come */
	COMMAND_STOP	 /* the thread ends */
};

struct command {
	struct command *next;
	enum command_kind kind;
	struct node *node;
	struct zlink *zlink;
	struct zipcast_group *group;
	struct outgoing *out;
	struct entry *entry;
	void (*on_end)(void *arg);
	bool waited; /* the maker waits for done and owns the command; otherwise it is malloced, and the thread frees it
		      */
	bool done;   /* (lock) */
	int rc;	     /* of LINK, CALL and GROUP: 0, or why the link cannot be used or the group not be made */
	char *why;   /* of LINK and CALL: [ZIPCAST_WHY_BYTES] */
};

/* Queues the command, and wakes the thread if it sleeps. A command that is `waited` is done on return; the context's
 * own thread must not call it with such a command. Any thread. */
void zcommand_hand_over(struct zipcast *, struct command *);
/* Takes all commands off the queue: a list, or NULL. The context's thread. */
struct command *zcommand_take_all(struct zipcast *);
/* Ends the maker's wait; the command is the maker's again. The context's thread. */
void zcommand_done(struct zipcast *, struct command *);
/* Frees the commands that are left when the thread has ended: messages queued by the last callbacks of dead groups. */
void zcommand_drop_all(struct zipcast *);

#endif
