/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of a tuning table, as tuning.c and tuning_parse.c see them. */
#ifndef ZIP_COMMON_CONFIG_TUNING_RULE_H
#define ZIP_COMMON_CONFIG_TUNING_RULE_H

#include <stdbool.h>

#include "common/config/conf.h"
#include "common/config/tuning.h"

/* Keys of conditions: the first ones are the fields of struct ztuning_case in their order. */
enum {
	TUNING_KEY_BYTES,
	TUNING_KEY_RANKS,
	TUNING_KEY_CLUSTERS,
	TUNING_KEY_MEMBERS,
	TUNING_KEY_MEMBERS_MAX,
	TUNING_KEY_LATENCY,
	TUNING_KEY_BANDWIDTH,
	TUNING_KEYS
};

#define TUNING_CONDITIONS_MAX 8

struct ztuning_condition {
	int key;
	bool below; /* true: KEY<NUMBER; false: KEY>=NUMBER */
	int64_t number;
};

struct ztuning_rule { /* one setting; a line with several settings makes several rules */
	struct ztuning_condition conditions[TUNING_CONDITIONS_MAX];
	int nconditions;
	size_t offset; /* of the setting in struct ztuning_settings */
	int64_t value;
};

#endif
