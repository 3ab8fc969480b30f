/* SPDX-License-Identifier: BSD-3-Clause */
/* Our standard input, handed on to the mpiexec of virtual rank 0. */
#ifndef ZIP_LAUNCH_INPUT_H
#define ZIP_LAUNCH_INPUT_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * When mpiexec is told of the end of its input just while the program ends, it breaks down at times. A program that
 * joins a merged world lives long enough for an end that is told at once; of others some take milliseconds, and the end
 * of an input that was empty from the beginning (/dev/null) is held back.
 */
struct zinput {
	int from, to; /* -1: closed */
	int others;   /* write end of the pipe that the other parts' mpiexecs read: nothing ever comes, but the end */
	bool any;     /* there was some input */
	bool ended;   /* its end has come, but is held back */
	int64_t hold_ms; /* until then */
	size_t begin, end;
	char buf[16384];
};

/* Takes over to and others, the write ends of pipes; from is our descriptor 0, or -1 for no input. hold: it may be over
 * within milliseconds. */
void zinput_init(struct zinput *, int from, int to, int others, bool hold);
/* What to wait for: fills p[0] (reading) and p[1] (writing), fd -1 where nothing. */
void zinput_prepare(const struct zinput *, struct pollfd p[2]);
/* Does what p says is possible. */
void zinput_move(struct zinput *, const struct pollfd p[2]);
/* Milliseconds until zinput_tick or zinput_prepare has something to do, or -1. */
int zinput_timeout(const struct zinput *, int64_t now_ms);
void zinput_tick(struct zinput *, int64_t now_ms);
void zinput_close(struct zinput *);

#endif
