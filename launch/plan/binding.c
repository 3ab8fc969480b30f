/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks bindings, see binding.h. */
#include "launch/plan/binding.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/config/nearest.h"

/* As Hydra names them; the numbers of devices and the parts behind ':' are taken off. */
static const char *const names[] = {"none", "rr", "user", "machine", "board", "numa", "socket", "core", "hwthread",
	"l1cache", "l1dcache", "l1icache", "l1ucache", "l2cache", "l2dcache", "l2icache", "l2ucache", "l3cache",
	"l3dcache", "l3icache", "l3ucache", "l4cache", "l4dcache", "l4ucache", "l5cache", "l5dcache", "l5ucache", "pci",
	"gpu", "ib", "en", "eth", "hfi"};
#define NNAMES (sizeof(names) / sizeof(names[0]))

int zbinding_check(const char *option, const char *value, struct zerr *err)
{
	struct znearest near;
	char word[32], hint[96];
	size_t len = strcspn(value, ":");
	snprintf(word, sizeof(word), "%.*s", (int)len, value);
	for (len = strlen(word); len > 0 && isdigit((unsigned char)word[len - 1]);)
		word[--len] = '\0';
	znearest_init(&near, word);
	for (size_t i = 0; i < NNAMES; i++) {
		if (strcmp(names[i], word) == 0)
			return 0;
		znearest_add(&near, names[i]);
	}
	return zerr_set(err, -EINVAL,
		"-%s: mpiexec cannot bind to '%.64s'%s: it knows none, core, hwthread, socket, numa, machine, l3cache, "
		"user:LIST and some more, see mpiexec -bind-to -help",
		option, value, znearest_format(&near, hint, sizeof(hint)));
}

const char *zbinding_srun(const char *value)
{
	static const char *const pairs[][2] = {{"none", "none"}, {"core", "cores"}, {"hwthread", "threads"},
		{"socket", "sockets"}, {"numa", "ldoms"}};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (strcmp(pairs[i][0], value) == 0)
			return pairs[i][1];
	return NULL;
}
