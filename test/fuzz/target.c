/* SPDX-License-Identifier: BSD-3-Clause */
/* See target.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include "test/fuzz/target.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void target_fail(const char *file, int line, const char *claim)
{
	fprintf(stderr, "%s:%d: this does not hold: %s\n", file, line, claim);
	abort();
}

char *target_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	CHECK(text);
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

FILE *target_stream(const uint8_t *data, size_t size)
{
	FILE *f = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "r") : fopen("/dev/null", "r");
	CHECK(f);
	return f;
}

const char *target_file(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;
	if (fd < 0) {
		fd = memfd_create("input", MFD_CLOEXEC);
		CHECK(fd >= 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	CHECK(ftruncate(fd, 0) == 0);
	CHECK(pwrite(fd, data, size, 0) == (ssize_t)size);
	return path;
}
