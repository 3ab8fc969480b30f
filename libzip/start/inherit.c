/* SPDX-License-Identifier: BSD-3-Clause */
/* What the child processes of a rank inherit. See inherit.h. */
#include "libzip/start/inherit.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libzip/start/member.h"

static const char preload[] = "LD_PRELOAD";
static const char separators[] = " :"; /* ld.so(8) */

/* They describe the job, and this process in it. */
static const char *const of_job[] = {"ZIPPER_JOB", "ZIPPER_PARTS", "ZIPPER_PART", "ZIPPER_ZIPPERD", "ZIPPER_ENTRIES",
	"ZIPPER_LAUNCHER", "ZIPPER_APPNUM", "ZIPPER_RAILS", "ZIPPER_HOSTFILE", "ZIPPER_MAP", "ZIPPER_PORTS",
	"ZIPPER_PROFILE", "ZIPPER_STATS", "ZIPPER_DEVICE", "ZIPPER_CREDENTIAL", ZMEMBER_VARIABLE,
	"ZIPPER_KEY" /* a secret is not for programs that the rank starts: ZIPPER_KEY_FILE is for them */};
/* Of the user by hand, but zmpirun puts those of its job in their place. */
static const char *const of_launcher[] = {"ZIPPER_USER", "ZIPPER_RECONNECT"};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Is this word of LD_PRELOAD our library? own: the path that the dynamic linker has found. */
static bool is_own(const char *word, const char *own)
{
	const char *name = strrchr(own, '/');
	struct stat a, b;

	if (strcmp(word, own) == 0)
		return true;
	if (!strchr(word, '/')) /* the dynamic linker has searched for it */
		return strcmp(word, name ? name + 1 : own) == 0;
	return stat(word, &a) == 0 && stat(own, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Copies the list without our library. out is as large as the list. */
static void copy_others(char *out, const char *list, const char *own)
{
	*out = '\0';
	for (const char *p = list; *(p += strspn(p, separators));) {
		const size_t len = strcspn(p, separators);
		char *word = strndup(p, len);
		if (!word || !is_own(word, own)) {
			if (*out)
				strcat(out, ":");
			strncat(out, p, len);
		}
		free(word);
		p += len;
	}
}

static void leave_preload(void)
{
	const char *list = getenv(preload);
	char *others = list ? malloc(strlen(list) + 1) : NULL;
	Dl_info info;

	if (others && dladdr((const void *)&of_job, &info) != 0 && info.dli_fname) {
		copy_others(others, list, info.dli_fname);
		if (*others)
			setenv(preload, others, 1);
		else
			unsetenv(preload);
	}
	free(others);
}

static void leave_job(void)
{
	const char *launcher = getenv("ZIPPER_LAUNCHER");
	const bool launched = launcher && *launcher;

	leave_preload();
	for (size_t i = 0; i < COUNT(of_job); i++)
		unsetenv(of_job[i]);
	for (size_t i = 0; launched && i < COUNT(of_launcher); i++)
		unsetenv(of_launcher[i]);
}

void zinherit_leave_job(void)
{
	zmember_show();
	leave_job();
}

/* Before the program reads its environment. */
static void begin(void) __attribute__((constructor));
static void begin(void)
{
	if (zmember_has_started_us())
		leave_job();
	else
		zmember_sign();
}
