/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all fuzz targets share. A target is a file with LLVMFuzzerTestOneInput: it feeds one input to a part of the
 * tree, and stops the process (CHECK, a sanitizer) where an input shows a mistake. Targets keep nothing from one input
 * to the next that could change what the next one does. One thread.
 */
#ifndef ZIP_TEST_FUZZ_TARGET_H
#define ZIP_TEST_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One input. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process with abort(3) if a claim does not hold. */
#define CHECK(claim) ((claim) ? (void)0 : target_fail(__FILE__, __LINE__, #claim))
void target_fail(const char *file, int line, const char *claim) __attribute__((noreturn));

/* A copy of the input with a zero behind it, no byte larger, so that sanitizers see each byte read too many. To be
 * freed. */
char *target_text(const uint8_t *data, size_t size);
/* The input as a stream. It lives as long as the stream. */
FILE *target_stream(const uint8_t *data, size_t size);
/* The path of a file in memory with these bytes; the same one each time. */
const char *target_file(const uint8_t *data, size_t size);

#endif
