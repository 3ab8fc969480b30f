/* SPDX-License-Identifier: BSD-3-Clause */
/* zipprobe: a process that `zmpirun --check` has started on a host as a rank would be, and that tells what a rank would
 * find there. It is no program for users. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/installed.h"
#include "common/base/log.h"
#include "config.h"
#include "launch/probe/host.h"
#include "launch/probe/measure.h"
#include "launch/probe/rails.h"
#include "launch/probe/say.h"
#include "launch/probe/software.h"

/* Says the last lines: of the programs from this argument on. */
static void say_programs(int argc, char **argv, int from)
{
	for (int i = from; i < argc; i++)
		zsoftware_say_program(argv[i]);
	zsay("end", "-");
}

int main(int argc, char **argv)
{
	char modules[PATH_MAX];
	zsoftware_end_test(argc, argv);
	if (argc == 2 && strcmp(argv[1], "measure") == 0)
		return zmeasure_run();
	if (argc >= 2 && strcmp(argv[1], "programs") == 0) {
		say_programs(argc, argv, 2);
		return 0;
	}
	if (argc < 3) {
		fputs("zipprobe: zmpirun --check starts this program: LIBZIPPER MODULES PROGRAM...\n", stderr);
		return 2;
	}
	const bool bridged = strcmp(argv[1], "-") != 0;
	zlog_init("zipprobe", ZLOG_ERROR);
	zsay("release", "%s", PACKAGE_VERSION);
	zhost_say();
	if (bridged)
		zsoftware_say_library(argv[1]);
	zsoftware_say_mpi();
	zinstalled_find(modules, (const void *)main, PKGLIBDIR, PKGLIBDIR, ZINSTALLED_MODULE);
	if (bridged)
		zrails_say(strcmp(argv[2], "-") == 0 ? modules : argv[2]);
	say_programs(argc, argv, 3);
	return 0;
}
