/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of the network model: networks by their descriptions, and predictions for a few messages. */
#ifndef ZIP_TEST_UNIT_MODEL_FIXTURE_H
#define ZIP_TEST_UNIT_MODEL_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "mapper/model/model.h"

struct message { /* from point to point */
	uint32_t src, dst;
	uint64_t bytes;
};

/* Fails the test where there is no such network. The caller's to destroy. */
struct net *fixture_net(const char *text);
/* The messages as traffic, which is the caller's to free; n is at most 64. */
void fixture_traffic(struct traffic *, const struct net *, const struct message *, size_t n);
/* Predicts the load of each link in bytes. The result is the caller's to free; n is at most 64. */
double *fixture_predict(const struct net *, const char *routing, const struct message *, size_t n,
	const struct model_opts *);

/* The load of a link, worked out by hand. */
struct expected {
	const char *link;
	double bytes;
};

/* Fails the test unless the named links carry that load, and all others nothing, within 0.01 bytes. */
void fixture_check_net(const struct net *, const char *routing, const struct message *, size_t n,
	const struct expected *, size_t links);
/* The same with other options than the presets. */
void fixture_check_opts(const struct net *, const char *routing, const struct model_opts *, const struct message *,
	size_t n, const struct expected *, size_t links);
void fixture_check(const char *network, const char *routing, const struct message *, size_t n, const struct expected *,
	size_t links);
#define CHECK(network, routing, messages, expected)                                                                    \
	fixture_check(network, routing, messages, sizeof(messages) / sizeof((messages)[0]), expected,                  \
		sizeof(expected) / sizeof((expected)[0]))

/* The link of that name, or a failed test. */
uint32_t fixture_link(const struct net *, const char *name);

#endif
