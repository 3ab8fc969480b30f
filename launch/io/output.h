/* SPDX-License-Identifier: BSD-3-Clause */
/* Our own stdout or stderr: a bounded queue that is written when the reader is ready. A slow reader thereby holds up
 * the output of the ranks, but never signals. */
#ifndef ZIP_LAUNCH_OUTPUT_H
#define ZIP_LAUNCH_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

struct zoutput {
	int fd;
	char *buf;
	size_t begin, end, cap;
	bool *over; /* true: the terminal shows a line that the next text replaces; all outputs to it share this. NULL:
		       it never does */
	int error;  /* negative errno once writing has failed (-EPIPE: nobody reads); further text is dropped */
};

void zoutput_init(struct zoutput *, int fd);
void zoutput_add(struct zoutput *, const char *text, size_t len);
/* Shows a line without newline that the next text replaces. `over` is not NULL. */
void zoutput_put_over(struct zoutput *, const char *text, size_t len);
/* Takes such a line away. */
void zoutput_clear(struct zoutput *);
/* Is the queue so long that nothing more should be read for it? */
bool zoutput_is_full(const struct zoutput *);
bool zoutput_is_empty(const struct zoutput *);
/* Writes one piece. To be called when poll says POLLOUT. */
void zoutput_write(struct zoutput *);
/* Writes the rest of the queue, for at most so long. */
void zoutput_drain(struct zoutput *, int timeout_ms);
void zoutput_free(struct zoutput *);

#endif
