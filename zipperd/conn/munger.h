/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks munged about credentials, in a thread: a munged that does not answer delays its users alone. Control thread. */
#ifndef ZIPPERD_MUNGER_H
#define ZIPPERD_MUNGER_H

#include "common/control/munge.h"
#include "zipperd/conn/daemon.h"

struct munger_question;

struct munger_answer {
	int rc; /* 0 or a negative errno with text in err */
	struct zerr err;
	uint8_t payload[ZMUNGE_PAYLOAD_BYTES];
	char user[ZCTL_NAME_MAX + 1]; /* of the process that made the credential */
};

/* The answer is wiped afterwards. */
typedef void munger_done(void *owner, const struct munger_answer *);

/* Loads the module and begins, if the option munge says so. 0 or a negative errno with text. */
int munger_init(struct daemon *, struct zerr *);
void munger_fini(struct daemon *);
/* Never calls done itself. 0 or -ENOMEM. */
int munger_ask(struct munger_question **, struct daemon *, const char *credential, munger_done *, void *owner);
/* The owner does not want to know any more. */
void munger_drop(struct munger_question *);

#endif
