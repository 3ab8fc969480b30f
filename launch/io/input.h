/* SPDX-License-Identifier: BSD-3-Clause */
/* Our standard input, handed on to the mpiexec that has virtual rank 0. */
#ifndef ZIP_LAUNCH_INPUT_H
#define ZIP_LAUNCH_INPUT_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* mpiexec breaks down at times when it is told of the end of its input just while the program ends. A program that
 * joins a merged world lives long enough, so the end is told at once. Other programs may take milliseconds only. For
 * them the end of an input that was empty from the beginning (/dev/null) is held back. */
struct zinput {
	int from, to; /* -1: closed */
	/* write end of the pipe that the mpiexecs of the other parts read; nothing is written, only the end comes */
	int others;
	bool any;	 /* there was some input */
	bool ended;	 /* the end of the input has come, but is held back */
	int64_t hold_ms; /* the end is held back until then */
	uint64_t given;	 /* bytes written to to */
	size_t begin, end;
	char buf[16384];
};

/* Takes over to and others, the write ends of pipes. from is our descriptor 0, or -1 for no input. hold: the program
 * may be over within milliseconds. */
void zinput_init(struct zinput *, int from, int to, int others, bool hold);
/* Fills p[0] (reading) and p[1] (writing) for poll, with fd -1 where there is nothing to wait for. */
void zinput_prepare(const struct zinput *, struct pollfd p[2]);
/* Moves the bytes that poll found possible. */
void zinput_move(struct zinput *, const struct pollfd p[2]);
/* Milliseconds until zinput_tick or zinput_prepare has something to do, or -1. */
int zinput_timeout(const struct zinput *, int64_t now_ms);
void zinput_tick(struct zinput *, int64_t now_ms);
void zinput_close(struct zinput *);

#endif
