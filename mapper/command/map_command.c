/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipmap map". */
#include <errno.h>
#include <stdio.h>

#include "mapper/map/map_make.h"
#include "mapper/draw/map_report.h"
#include "mapper/command/commands.h"

int map_command(int argc, char **argv)
{
	struct map_options o;
	struct map_make m;
	struct zerr err = {""};
	int rc = map_options_parse(&o, argc, argv, &err);

	if (rc) {
		if (rc < 0)
			fprintf(stderr, "zipmap map: %s\n", err.text);
		return rc < 0 ? 2 : 0;
	}
	rc = map_make_run(&m, &o, &err);
	if (!rc && !o.quiet)
		map_report_print(&m, stdout);
	if (!rc && o.output)
		rc = map_report_write(&m, o.output, &err);
	if (!rc && (fflush(stdout) || ferror(stdout)))
		rc = zerr_set(&err, -EIO, "standard output: cannot be written");
	if (rc)
		fprintf(stderr, "zipmap map: %s\n", err.text);
	map_make_free(&m);
	return rc ? 1 : 0;
}
