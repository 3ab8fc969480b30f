/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses --phase and --class. See select.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/traffic/select.h"
#include "common/graph/graph_load.h"

int select_phase(void *select, char *text, struct zerr *err)
{
	struct zgraph_select *s = select;
	char *end;

	if (!strcmp(text, "all")) {
		s->phase = -1;
		return 0;
	}
	errno = 0;
	s->phase = strtoll(text, &end, 10);
	if (errno || end == text || *end || s->phase < 0 || s->phase > ZGRAPH_PHASE_MAX)
		return zerr_set(err, -EINVAL, "\"%s\" is no phase (a number, or \"all\")", text);
	return 0;
}

int select_classes(void *select, char *text, struct zerr *err)
{
	struct zgraph_select *s = select;

	for (char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		size_t len = strcspn(at, ",");
		unsigned class = 0;

		while (class < ZGRAPH_CLASSES &&
			(strlen(zgraph_class_names[class]) != len || strncmp(zgraph_class_names[class], at, len) != 0))
			class ++;
		if (class == ZGRAPH_CLASSES)
			return zerr_set(err, -EINVAL, "\"%.*s\" is no class: p2p, collective, put, get", (int)len, at);
		s->classes |= 1u << class;
	}
	return 0;
}
