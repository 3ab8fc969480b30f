/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trace of an operation: a checksum of everything that this rank received or was told. Each thread has a trace of
 * its own. Native and merged runs must have equal traces.
 */
#ifndef ZIP_RANDOM_TRACE_H
#define ZIP_RANDOM_TRACE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct trace {
	uint64_t hash;	  /* of what comes in a determined order */
	uint64_t sum;	  /* of what comes in any order */
	int problems;	  /* errors that nobody expected, wrong values */
	const char *what; /* the operation, for messages */
};
/* The trace of this thread. */
extern _Thread_local struct trace *trace_here;
/* The trace of the program's main thread. */
extern struct trace *trace_main;
/* 1: every entry is printed, too; 2: with all bytes. */
extern int trace_verbose;

void trace_number(int64_t number, const char *what);
void trace_bytes(const void *bytes, size_t len, const char *what);
/* Adds a number whose place among the others is not determined. */
void trace_loose(uint64_t number, const char *what);
/* Returns the checksum so far. */
uint64_t trace_value(const struct trace *trace);
/* Counts and prints a problem: a message to standard error that begins with the operation. */
void trace_problem(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Traces the error class of a call that may fail, and returns it. */
int trace_class(int rc, const char *what);
/* Traces a call that must succeed. Returns its error class. */
int trace_try(int rc, const char *call);
#define TRY(call) trace_try(call, #call)

/* A checksum of bytes, FNV-1a over words. */
uint64_t trace_hash(const void *bytes, size_t len, uint64_t start);

#endif
