/* SPDX-License-Identifier: BSD-3-Clause */
/* Has a member of the job started this process? See member.h. */
#include "libzip/start/member.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/hash.h"

static const char shown[] = "zipper-member"; /* the name of the mapping */

/* A hash of the job, or of the file to record to, that the variables name. 0: they name nothing. */
static uint64_t find_job(void)
{
	static const char *const names[] = {"ZIPPER_JOB", "ZIPPER_PROFILE", "ZIPPER_ZIPPERD", "ZIPPER_HOSTFILE"};
	uint64_t hash = ZHASH64;

	if (!getenv("ZIPPER_JOB") && !getenv("ZIPPER_PROFILE"))
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);
		value = value ? value : "";
		hash = zhash64(hash, value, strlen(value) + 1);
	}
	return hash | 1;
}

/* When a process started, which tells it from an earlier one of that number. 0: there is none. */
static uint64_t find_start(long pid)
{
	char path[64], line[1024];
	uint64_t start = 0;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return 0;
	/* field 22; field 2, the program's name in brackets, may have blanks (proc(5)) */
	const char *p = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (p)
		start = strtoull(p, NULL, 10);
	fclose(f);
	return start;
}

static bool shows_itself(long pid)
{
	char path[64], line[512];
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%ld/maps", pid);
	FILE *f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, "/memfd:") && strstr(line, shown);
	if (f)
		fclose(f);
	return found;
}

bool zmember_has_started_us(void)
{
	const char *text = getenv(ZMEMBER_VARIABLE);
	const uint64_t job = find_job();
	uint64_t start, of;
	long pid;

	return text && job != 0 && sscanf(text, "%ld.%" SCNu64 ".%" SCNx64, &pid, &start, &of) == 3 && of == job &&
	       pid > 0 && pid != getpid() && start != 0 && find_start(pid) == start && shows_itself(pid);
}

void zmember_sign(void)
{
	const uint64_t job = find_job();
	char text[80];

	if (job == 0)
		return;
	const long pid = getpid();
	snprintf(text, sizeof(text), "%ld.%" PRIu64 ".%" PRIx64, pid, find_start(pid), job);
	setenv(ZMEMBER_VARIABLE, text, 1);
}

void zmember_show(void)
{
	static void *page;
	const long bytes = sysconf(_SC_PAGESIZE);
	int fd = page ? -1 : memfd_create(shown, MFD_CLOEXEC);

	if (fd < 0)
		return;
	void *at = ftruncate(fd, bytes) == 0 ? mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
	if (at != MAP_FAILED)
		page = at;
	close(fd);
}
