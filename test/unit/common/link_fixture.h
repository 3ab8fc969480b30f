/* SPDX-License-Identifier: BSD-3-Clause */
/* For the transport tests: the table of transports, pairs of links, and a sink that checks the messages. */
#ifndef ZIP_TEST_LINK_FIXTURE_H
#define ZIP_TEST_LINK_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/control/auth.h"
#include "common/transport/base/transport.h"

/* The lists of tests; each ends with a NULL name. */
struct link_test {
	const char *name;
	CMUnitTestFunction run;
};
#define LINK_TEST(function)                                                                                            \
	{                                                                                                              \
#function, function                                                                                    \
	}
extern const struct link_test transport_connect_tests[], transport_message_tests[], transport_end_tests[];
extern const struct link_test transport_rma_tests[], transport_stream_tests[];

/* Runs all lists over all transports: transport.c. */
int transport_main(int argc, char **argv);

#define PATIENCE_MS 60000 /* a longer wait means that something is lost, also on a busy machine */

/* One row for each transport (or way to use it). The rows of verbs are for the port and host that ZIP_TEST_VERBS names,
 * as "rxea:1@10.78.1.1". */
struct link_kind {
	const char *name;
	const char *address; /* to listen on; %s is the test's directory */
	const char *peer;    /* the peer's text begins with this; %d is our pid */
	/* An address where nobody listens, and the error of connecting there. */
	const char *nobody;
	int nobody_error;
	/* Makes a plain connection, as a client that does not know the protocol. */
	int (*connect_raw)(const struct zaddr *);
	bool stream; /* its bytes are the messages */
	bool warm;   /* pairs have carried messages before the test gets them */
	bool own;    /* each half of a link has an endpoint of its own */
	enum zseal_level seal;
};
extern const struct link_kind link_kinds[];
extern const size_t link_kind_count;
/* Has this machine the transport? */
bool link_kind_works(const struct link_kind *);
/* Has the transport one-sided operations here? */
bool link_kind_has_rma(const struct link_kind *);

/* Setup and teardown of each test: *state is the kind and becomes a fixture; open descriptors are counted. */
struct fixture {
	const struct link_kind *kind;
	const struct ztransport *ops;
	struct zlistener *listener;
	struct zaddr addr;
	struct zendpoint *endpoint; /* of accepted links, where the transport wants one */
	struct zendpoint **own;	    /* two for each link, where the kind has them */
	size_t nown;
	bool may_be_plain; /* connecting ends may have nothing to say */
	char dir[64];
	int fds;
};
int fixture_setup(void **state);
int fixture_teardown(void **state);
/* The text with %s replaced by the directory, parsed. */
void fixture_address(const struct fixture *, const char *text, struct zaddr *);
int count_fds(void);
/* The last warning of verbs, and the number of warnings. */
extern char link_warning[512];
extern unsigned link_warnings;
/* From the next link_kind_works on nobody hears warnings. */
extern bool link_unwarned;
/* Listeners of verbs accept a port that is not active. */
void link_patient(bool);

/* With which links are sealed. NULL: there are no sealed ones in this program. */
extern const struct zauth_ops *link_auth;
/* Seals one end of a link, where the kind says so. */
void fixture_seal(const struct fixture *, struct zlink *, bool connects);
struct zlink *fixture_connect(struct fixture *);
struct zlink *fixture_accept(struct fixture *);
/* Settles an accepted link, if its connecting end has said that it can. */
void fixture_settle(struct fixture *, struct zlink *);
/* Fails the test if nobody connects. */
struct pair {
	struct zlink *a, *b; /* connected, accepted */
};
struct pair fixture_pair(struct fixture *);
void pair_close(struct pair *);

/* Message k of a stream has a payload that k and its length determine. */
const void *payload_of(uint64_t k, size_t len);
void message_env(uint8_t raw[ZWIRE_ENV_BYTES], uint64_t k, size_t len);
/* -EAGAIN or 0; other results fail the test. */
int post_message(struct zlink *, uint64_t k, size_t len);
/* A number of messages, which is smaller where ZIP_TEST_SCALE says how many times slower this machine is. */
uint64_t scaled(uint64_t count);
/* Pseudo-random numbers that are the same on both sides. */
uint32_t mix(uint64_t k);

/* A sink that checks sequence, envelope and payload of every message. */
struct inbox {
	uint64_t next; /* the message that must come next */
	uint64_t bytes;
	uint32_t place_one_in;	/* 0: never; otherwise one in so many messages gets memory of ours */
	uint32_t refuse_one_in; /* 0: never; otherwise one in so many is refused the first time it is shown */
	uint64_t refused;	/* the message that was refused last, plus one */
	uint64_t refusals, placements;
	int fail_with;	 /* the result of take */
	uint8_t *memory; /* of max_payload */
	bool placed;
	const char *wrong; /* what was wrong */
};
void inbox_init(struct inbox *);
void inbox_fini(struct inbox *);
struct zsink inbox_sink(struct inbox *);
/* Polls until count messages have come in all; fails the test if they do not come. */
void receive_until(struct zlink *, struct inbox *, uint64_t count);
/* Polls until poll returns an error, and returns it. */
int receive_to_end(struct zlink *, struct inbox *);
/* Arms a half, and sleeps if arm says so. false: it was not woken in time. */
bool sleep_on(struct zlink *, enum zlink_half, int timeout_ms);

#endif
