/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of staging memory that a fan-out's reader has lent to the receivers' workers. They come back by counting. */
#ifndef ZIPPERD_LOAN_H
#define ZIPPERD_LOAN_H

#include <stdbool.h>

struct piece;
struct worker;

/* The calling worker is done with the piece. */
void loan_put(struct worker *, struct piece *);
/* The piece is back with its owner: it goes to the staging memory. */
void loan_return(struct worker *owner, struct piece *);
/* Takes back the pieces that other workers were done with last. true: there were some. */
bool loan_collect(struct worker *);

#endif
