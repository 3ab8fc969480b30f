/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes of the opposite worker. Worker's thread. */
#ifndef ZIPPERD_NOTE_H
#define ZIPPERD_NOTE_H

#include <stdbool.h>

struct note;
struct worker;

/* Does what one note asks for. 0 or -EAGAIN: no memory. */
int note_take(struct worker *, const struct note *);
/* Takes all notes that have come, as long as there is memory. true: it did something. */
bool note_take_all(struct worker *);

#endif
