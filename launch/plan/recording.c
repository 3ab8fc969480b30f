/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out whether the run is recorded, see recording.h. */
#include "launch/plan/recording.h"

#include <errno.h>
#include <string.h>

#include "launch/base/environ.h"

/* The name of the file as the ranks of this section have it; "": none. */
static const char *find_file(const struct zoptions *o, int section)
{
	const char *own = zenviron_find_local(&o->sections[section].locals, "-env", ZENVIRON_PROFILE);
	const char *file = own ? own : zenviron_find(&o->globals, ZENVIRON_PROFILE);
	return file ? file : "";
}

static const char *name(const struct zoptions *o, int section)
{
	return o->sections[section].argc > 0 ? o->sections[section].argv[0] : "no program"; /* --check */
}

int zrecording_find(const struct zoptions *o, struct zerr *err)
{
	if (o->no_mpi || o->nsections == 0)
		return 0;
	const char *file = find_file(o, 0);
	for (int i = 1; i < o->nsections; i++) {
		const char *other = find_file(o, i);
		if (strcmp(file, other) != 0)
			return zerr_set(err, -EINVAL,
				ZENVIRON_PROFILE " is '%.256s' for %.128s and '%.256s' for %.128s: all ranks are "
						 "recorded in one file, so use --profile FILE in place of -env",
				file, name(o, 0), other, name(o, i));
	}
	return *file != '\0';
}
