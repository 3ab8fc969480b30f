/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of zipperd's options, see settings.h. Its help texts are the option list of zipperd.conf(5). */
#include "zipperd/settings/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/installed.h"
#include "common/base/log.h"
#include "common/base/ranges.h"
#include "common/base/wait.h"
#include "common/config/conf_print.h"
#include "common/control/ctl_name.h"
#include "common/control/keyfile.h"
#include "common/transport/verbs/verbs_module.h"
#include "common/wire/wire.h"

#define KiB INT64_C(1024)
#define MiB (1024 * KiB)
#define GiB (1024 * MiB)
#define WEIGHT_MAX 100
#define CORES_A_PAIR 4		 /* with workers = auto: two for the workers of both directions, two for others */
#define WORKER_BYTES (256 * KiB) /* that a worker has of memory from the start */
#define WORKERS_AUTO_MAX 8	 /* more links than that for each rank are not opened unasked */
#define SPIN_MAX 1000000	 /* idle polls: about a second */
#define NEXT_SEAL ZSEAL_ENCRYPT	 /* of a network between zipperds, where nothing is written */

/* Refuses a second line for one address. Without this check the second one would fail later, as if another process had
 * the port. */
static int check_new(const struct settings *c, const struct zaddr *addr, struct zerr *err)
{
	char text[320], other[320];
	struct zaddr copy = *addr;
	const uint16_t *port = zaddr_tcp_port(&copy);
	bool any = port && *port == 0;
	copy.seal = 0;
	zaddr_format(&copy, text, sizeof(text));
	for (int i = 0; i < c->nlistens && !any; i++) {
		copy = c->listen[i].addr;
		copy.seal = 0;
		zaddr_format(&copy, other, sizeof(other));
		if (strcmp(text, other) == 0)
			return zerr_set(err, -EEXIST, "%s is given twice: one line names all its fabrics", text);
	}
	return 0;
}

static int parse_listen(void *conf, const char *value, struct zerr *err)
{
	struct settings *c = conf;
	struct settings_listen l = {.fabrics = 0};
	char text[SETTINGS_FABRICS_MAX * (ZCTL_NAME_MAX + 1)];
	const char *equals = strchr(value, '=');
	if (!equals || equals == value || (size_t)(equals - value) >= sizeof(text))
		return zerr_set(err, -EINVAL, "expected FABRIC[,FABRIC...]=ADDRESS");
	memcpy(text, value, (size_t)(equals - value));
	text[equals - value] = '\0';
	char name[SETTINGS_FABRICS_MAX][ZCTL_NAME_MAX + 1];
	int n = zctl_name_split_parts(text, name, SETTINGS_FABRICS_MAX);
	if (n < 0)
		return zerr_set(err, -EINVAL, "'%.100s' is not a list of different fabric names", text);
	int rc = zaddr_parse(&l.addr, equals + 1, err);
	if (rc != 0)
		return rc;
	if (c->nlistens == SETTINGS_LISTENS_MAX)
		return zerr_set(err, -EINVAL, "more than %d addresses", SETTINGS_LISTENS_MAX);
	rc = check_new(c, &l.addr, err);
	if (rc != 0)
		return rc;
	for (int i = 0; i < n; i++) {
		int f = settings_find_fabric(c, name[i]);
		if (f < 0) {
			if (c->nfabrics == SETTINGS_FABRICS_MAX)
				return zerr_set(err, -EINVAL, "more than %d fabrics", SETTINGS_FABRICS_MAX);
			f = c->nfabrics++;
			memcpy(c->fabric[f], name[i], sizeof(name[i]));
		}
		l.fabrics |= UINT64_C(1) << f;
	}
	snprintf(l.at, sizeof(l.at), "%s", zconf_place());
	c->listen[c->nlistens++] = l;
	return 0;
}

static int note_key_file(void *conf, const char *value, struct zerr *err)
{
	struct settings *c = conf;
	(void)value;
	(void)err;
	snprintf(c->key_file_at, sizeof(c->key_file_at), "%s", zconf_place());
	return 0;
}

static int parse_munge(void *conf, const char *value, struct zerr *err)
{
	struct settings *c = conf;
	int rc = zmunge_parse(c->munge_socket, value, err);
	c->munge = rc > 0;
	return rc < 0 ? rc : 0;
}

static int check_administrators(void *conf, const char *value, struct zerr *err)
{
	char name[ZCTL_NAME_MAX + 1];
	(void)conf;
	for (const char *at = value;; at++) {
		const size_t len = strcspn(at, ",");
		snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : 0), at);
		if (!zkeyfile_user_ok(name))
			return zerr_set(err, -EINVAL, "'%.100s' is not a list of users: USER[,USER...]", value);
		at += len;
		if (*at == '\0')
			return 0;
	}
}

/* Reads NAME:WEIGHT at the beginning of a list. The rest of the list, or NULL: that is none. A name may have colons. */
static const char *read_weight(const char *at, char name[ZCTL_NAME_MAX + 1], uint32_t *weight)
{
	const size_t all = strcspn(at, ",");
	size_t len = all;
	char *end;
	while (len > 0 && at[len - 1] != ':')
		len--;
	snprintf(name, ZCTL_NAME_MAX + 1, "%.*s", len > 0 && len <= ZCTL_NAME_MAX ? (int)len - 1 : 0, at);
	if (at[len] < '1' || at[len] > '9' || !zkeyfile_user_ok(name))
		return NULL;
	const unsigned long n = strtoul(at + len, &end, 10);
	*weight = (uint32_t)n;
	if (n > WEIGHT_MAX || end != at + all || (*end && !end[1]))
		return NULL;
	return end + (*end == ',');
}

static int check_weights(void *conf, const char *value, struct zerr *err)
{
	char name[ZCTL_NAME_MAX + 1], other[ZCTL_NAME_MAX + 1];
	uint32_t weight;
	(void)conf;
	if (!*value)
		return zerr_set(err, -EINVAL, "expected USER:WEIGHT[,USER:WEIGHT...]");
	for (const char *at = value; *at;) {
		const char *next = read_weight(at, name, &weight);
		if (!next)
			return zerr_set(err, -EINVAL,
				"'%.100s' is not a list of users with weights from 1 to %d: "
				"USER:WEIGHT[,USER:WEIGHT...]",
				value, WEIGHT_MAX);
		for (const char *p = next; *p && (p = read_weight(p, other, &weight));)
			if (strcmp(name, other) == 0)
				return zerr_set(err, -EINVAL, "user %s has two weights", name);
		at = next;
	}
	return 0;
}

uint32_t settings_weight(const struct settings *c, const char *user)
{
	char name[ZCTL_NAME_MAX + 1];
	uint32_t weight;
	for (const char *at = c->user_weights; at && *at;) {
		at = read_weight(at, name, &weight);
		if (at && strcmp(name, user) == 0)
			return weight;
	}
	return 1;
}

static int parse_next(void *conf, const char *value, struct zerr *err)
{
	struct settings *c = conf;
	struct settings_next next = {.addr.kind = ZADDR_NONE};
	size_t len = strcspn(value, "=");
	snprintf(next.fabric, sizeof(next.fabric), "%.*s", (int)(len < sizeof(next.fabric) ? len : 0), value);
	if (!zctl_name_ok(next.fabric))
		return zerr_set(err, -EINVAL, "expected FABRIC or FABRIC=ADDRESS");
	int rc = value[len] ? zaddr_parse(&next.addr, value + len + 1, err) : 0;
	if (rc == 0 && zaddr_lacks_host(&next.addr))
		rc = zerr_set(err, -EINVAL, "%.100s: no host is named (DEVICE:PORT@HOST[:PORT])", value + len + 1);
	if (rc != 0)
		return rc;
	if (c->nnexts == SETTINGS_NEXTS_MAX)
		return zerr_set(err, -EINVAL, "more than %d of them", SETTINGS_NEXTS_MAX);
	struct settings_next *more = realloc(c->next, (size_t)(c->nnexts + 1) * sizeof(*more));
	if (!more)
		return zerr_set(err, -ENOMEM, "out of memory");
	c->next = more;
	c->next[c->nnexts++] = next;
	return 0;
}

/* A whole number from least to most. */
static bool read_number(const char *value, int64_t least, int64_t most, int64_t *out)
{
	char *end;
	errno = 0;
	const long long n = strtoll(value, &end, 10);
	if (errno != 0 || end == value || *end || n < least || n > most)
		return false;
	*out = n;
	return true;
}

static int parse_spin(void *conf, const char *value, struct zerr *err)
{
	struct settings *c = conf;
	if (strcmp(value, "auto") == 0) {
		c->spin = SETTINGS_SPIN_AUTO;
		return 0;
	}
	if (strcmp(value, "never") == 0) {
		c->spin = 0;
		return 0;
	}
	if (!read_number(value, 0, SPIN_MAX, &c->spin))
		return zerr_set(err, -EINVAL, "'%.40s' is not auto, never or a number from 0 to %d", value, SPIN_MAX);
	return 0;
}

static int parse_workers(void *conf, const char *value, struct zerr *err)
{
	struct settings *c = conf;
	if (strcmp(value, "auto") == 0) {
		c->workers = SETTINGS_WORKERS_AUTO;
		return 0;
	}
	if (!read_number(value, 1, ZCTL_TRACKS_MAX, &c->workers))
		return zerr_set(err, -EINVAL, "'%.40s' is not auto or a number from 1 to %d", value, ZCTL_TRACKS_MAX);
	return 0;
}

/* So many directions there can be. */
static int64_t count_directions(const struct settings *c)
{
	return c->nfabrics > 1 ? (int64_t)c->nfabrics * (c->nfabrics - 1) : 1;
}

/* At most half of the memory goes to workers from the start. */
static int64_t most_for_memory(const struct settings *c)
{
	return c->memory / 2 / (count_directions(c) * WORKER_BYTES);
}

uint32_t settings_workers(const struct settings *c)
{
	const int64_t room = ZCTL_WORKERS_MAX / count_directions(c);
	const int64_t pairs = (count_directions(c) + 1) / 2;
	int64_t n = zwait_cores() / CORES_A_PAIR / pairs;
	if (c->workers != SETTINGS_WORKERS_AUTO)
		return (uint32_t)c->workers;
	if (n > WORKERS_AUTO_MAX)
		n = WORKERS_AUTO_MAX;
	if (n > room)
		n = room;
	if (n > most_for_memory(c))
		n = most_for_memory(c);
	return n > 1 ? (uint32_t)n : 1;
}

static int check_fragment(void *conf, const char *value, struct zerr *err)
{
	const struct settings *c = conf;
	if (c->frag_bytes > 0 && c->frag_bytes < 4 * KiB)
		return zerr_set(err, -EINVAL, "'%.40s' is less than 4K", value);
	return 0;
}

static int check_cpus(void *conf, const char *value, struct zerr *err)
{
	(void)conf;
	return zranges_check_cpus(value, err);
}

static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const threads[] = {"auto", "direction", "pair", NULL}; /* enum settings_threads */
static const char *const log_levels[] = {"error", "warn", "info", "debug", NULL};

#define OPT(n, t, def, lo, hi, h)                                                                                      \
	{                                                                                                              \
		.name = #n, .type = t, .preset = def, .min = lo, .max = hi, .offset = offsetof(struct settings, n),    \
		.help = h                                                                                              \
	}
#define OPT_MS(n, def, lo, hi, h)                                                                                      \
	{                                                                                                              \
		.name = #n, .type = ZCONF_TIME_MS, .preset = def, .min = lo, .max = hi,                                \
		.offset = offsetof(struct settings, n##_ms), .help = h                                                 \
	}

const struct zconf_row settings_rows[] = {
	{.name = "listen",
		.type = ZCONF_CALL,
		.parse = parse_listen,
		.help = "The addresses that zipperd listens on, as FABRIC[,FABRIC...]=ADDRESS: ranks on these "
			"fabrics connect there. A fabric has the name of the part whose ranks are on it. ADDRESS "
			"is tcp:HOST[:PORT][/WORD...], shm[:PATH], or DEVICE:PORT[/WORD=NUMBER...][@HOST[:PORT]]. The "
			"words of the first form protect all connections that come there: integrity=yes against "
			"changes, encrypt=yes also against readers. They need nothing in the hostfile. The last "
			"form names a port of an RDMA device, and the TCP address at which connections to it are "
			"made. Without that TCP address it is the IP address of that port, and 7474. The device is "
			"InfiniBand or RoCE, not iWARP or EFA. Messages go by TCP where a device has no shared "
			"receive queues. The words partition, service_level, traffic_class, mtu and gid_index "
			"stand for the options verbs_... of these names on this network alone. Without PATH the "
			"socket is zipper/zipperd.sock in the folder XDG_RUNTIME_DIR, or "
			"/tmp/zipper-UID/zipperd.sock where that is not set. At least two fabrics must be served "
			"in all."},
	{.name = "next",
		.type = ZCONF_CALL,
		.parse = parse_next,
		.help = "Another zipperd to which this zipperd connects ranks that cannot reach it themselves, as "
			"FABRIC[=ADDRESS]: the zipperd that listens at ADDRESS on that fabric. So a job can have "
			"clusters that no zipper joins alone. ADDRESS is written as in the users' hostfiles. "
			"Without ADDRESS a user may name any address on any host that this zipperd can reach, over "
			"TCP, or of a kind that this zipperd listens on. The fabric is one that this zipperd "
			"serves; it may be a network between zippers alone. Connections over TCP are encrypted: both "
			"zipperds must know the user's key. At the end of ADDRESS, /integrity=yes protects them "
			"against changes alone, and /encrypt=no against nothing; without ADDRESS the words in the "
			"hostfile do so. Without this option zipperd connects nobody to another zipperd."},
	{.name = "trunks",
		.type = ZCONF_ENUM,
		.preset = "no",
		.choices = no_yes,
		.offset = offsetof(struct settings, trunks),
		.help = "yes: the ranks of a job that go on to the next zipperd share connections to it: one for "
			"control, "
			"and one for each part and worker that messages go to there. no: each rank has connections of "
			"its "
			"own. Shared connections are fewer, and one stream of TCP carries all. The next zipperd must "
			"have "
			"release 1.1.0 at the least, and know the user's key; else ranks have their own."},
	{.name = "key_file",
		.type = ZCONF_STRING,
		.preset = NULL,
		.offset = offsetof(struct settings, key_file),
		.parse = note_key_file,
		.help = "File with the users' keys: a line 'USER KEY' for each, the name without a slash, the key "
			"as 64 hexadecimal digits, and until=YYYY-MM-DD where it has a last day (UTC). Only its owner "
			"may have access to it. It is read again on "
			"SIGHUP. A path without a slash at its beginning starts in the folder where zipperd was "
			"started."},
	{.name = "munge",
		.type = ZCONF_STRING,
		.preset = "no",
		.offset = offsetof(struct settings, munge_text),
		.parse = parse_munge,
		.help = "yes: users may have a credential of MUNGE in place of a key, so that they need no key files: "
			"munged, which must run here and where they start their jobs, says who they are. A path is the "
			"same, and names munged's socket where that is not the usual one. no: keys alone."},
	{.name = "administrators",
		.type = ZCONF_STRING,
		.preset = NULL,
		.offset = offsetof(struct settings, administrators),
		.parse = check_administrators,
		.help = "USER[,USER...]: these users see the jobs of all users with zipstat(1), and may do all that it "
			"can ask for. They prove who they are with their key, or by MUNGE. With MUNGE root is an "
			"administrator, too. It is read again on SIGHUP. Without this option users see their own jobs "
			"alone."},
	OPT_MS(ended_time, "10m", 0, 7 * 24 * 3600 * 1000,
		"The time for which zipstat(1) still shows jobs that have ended. All of them together take at most 4 "
		"MiB: the oldest go first. 0: they are not kept."),
	OPT_MS(join_timeout, "60s", 100, 24 * 3600 * 1000,
		"The time in which all ranks of a job must report. After it the job fails with a message "
		"that names the missing ranks. A launcher may ask for another time."),
	OPT_MS(max_join_timeout, "1h", 100, 24 * 3600 * 1000,
		"The longest time that a launcher may ask for in place of join_timeout, by the option --init-timeout "
		"of "
		"zmpirun. A job that asks for more is refused, so that no job waits for its ranks for days. "
		"join_timeout itself may be longer, and may always be asked for."),
	OPT_MS(return_timeout, "1h", 100, 24 * 3600 * 1000,
		"Ranks that are back at a restarted zipperd wait so long for ranks that may be gone. Those are a "
		"whole part of which nobody is back, in a job without zmpirun; or any ranks, where all that are "
		"back are in MPI_Finalize. Then the job ends. They wait for ranks that compute without a limit."),
	OPT_MS(hello_timeout, "10s", 100, 600 * 1000,
		"The time in which a new connection must prove who it is. It must then say what it wants within the "
		"same time. A rank has longer for that, by join_timeout or max_join_timeout, as it joins at one zipper "
		"after the other. A connection that ranks share (trunks) is closed after twice this time without "
		"ranks."),
	OPT_MS(meet_timeout, "10m", 100, 24 * 3600 * 1000,
		"The time in which the two nodes of a pair of zipcast(3) must meet here. After it the node that waits "
		"is told so."),
	/* Without the handshake a message of 32 KiB takes half the time over TCP (24 instead of 55 us), and a stream
	 * is as fast. */
	OPT(eager_bytes, ZCONF_BYTES, "32K", 0, ZWIRE_MAX_PAYLOAD,
		"Messages up to this size travel at once, together with their envelope. Larger ones are "
		"announced first, and sent when the receiver wants them."),
	{.name = "frag_bytes",
		.type = ZCONF_BYTES,
		.preset = "0",
		.max = ZWIRE_MAX_PAYLOAD,
		.offset = offsetof(struct settings, frag_bytes),
		.parse = check_fragment,
		.help = "Size of the fragments in which large messages travel, 4K or more. 0: the best size for "
			"each transport, 256 KiB over TCP, 128 KiB over shared memory and Verbs."},
	/* The size of a ring of shared memory (common/transport/shm/shm_ring.h). Bytes beyond it are copied into the
	 * pool. */
	OPT(rdv_window, ZCONF_BYTES, "2M", 4 * KiB, GiB,
		"The number of bytes of large messages that may be on their way to one rank at a time, to "
		"each of its endpoints where it has several (ZIPPER_ENDPOINTS). zipperd lowers it for jobs so large "
		"that the windows of all their ranks would exceed half of the memory that is left, but never below two "
		"fragments (frag_bytes)."),
	OPT(dest_share, ZCONF_BYTES, "1M", 8 * KiB, GiB,
		"The number of bytes of messages that may wait for one rank that does not receive, for "
		"each of its endpoints where it has several (ZIPPER_ENDPOINTS), and in each worker. Further messages "
		"are refused and sent again later. They do not hold up other ranks."),
	OPT(one_sided_bytes, ZCONF_BYTES, "4M", 0, GiB,
		"Memory of each worker for one-sided transfers: large messages go through it from one "
		"rank's memory into the other's, and neither rank does anything. Both ranks' transports "
		"must be able to do that. The messages go in pieces of frag_bytes, at least two. The "
		"memory is allocated at first use and counts as part of memory, of which half is left to "
		"other messages. So less is taken, or none, where there are too many workers. 0: all "
		"large messages travel as fragments."),
	OPT(memory, ZCONF_BYTES, "256M", 4 * MiB, 1024 * GiB,
		"Upper bound of the memory for all messages that wait for a rank to receive. Each "
		"worker (workers) has 256 KiB of it from the start."),
	OPT(max_jobs, ZCONF_INT, "256", 1, 65536, "The number of jobs that may run at a time."),
	OPT(max_ranks, ZCONF_INT, "65536", 2, ZCTL_RANKS_MAX, "The number of ranks that one job may have."),
	OPT(max_connections, ZCONF_INT, "16384", 8, 1 << 22,
		"The number of connections that may be open at a time. A rank has one for control, and one "
		"for every other part that it talks to, for each of its endpoints where it has several "
		"(ZIPPER_ENDPOINTS), and for each worker (workers). Ranks that share the connections of their node "
		"(ZIPPER_NODE) count by these. A job that may need more than this in all with one "
		"worker is refused. A job that finds no room later, "
		"because other jobs have the rest, ends and says so. Each connection takes a file "
		"descriptor, four over shared memory, five over an RDMA device. Where fewer descriptors "
		"may be open, zipperd lowers this number, with a warning. A worker receives from at most "
		"4096 connections over an RDMA device, fewer where the device's shared receive queues are "
		"shorter than that takes. A job that needs more ends, and says so."),
	OPT(max_strangers, ZCONF_INT, "2048", 4, 1 << 20,
		"The number of connections that have not proved yet who they are, at most half of max_connections. "
		"When there are so many, the oldest one of the address that has most of them is closed for a new one: "
		"a connection that says nothing after a tenth of a second, others after a second. So nobody waits "
		"behind connections "
		"that only stand there."),
	OPT(address_strangers, ZCONF_INT, "1024", 2, 1 << 20,
		"The number of such connections that may come from one address; over shared memory, of one user of "
		"this host. The oldest one is closed for a new one, as with max_strangers."),
	OPT(user_jobs, ZCONF_INT, "0", 0, 65536,
		"The number of jobs that one user may have at a time. 0: a quarter of max_jobs, or all of them where "
		"key_file has one user alone."),
	OPT(user_connections, ZCONF_INT, "0", 0, 1 << 22,
		"The number of connections that one user may have. A job is refused where it and the user's other jobs "
		"may "
		"need more in all, as max_connections counts them. So a job that has begun is not short of them later. "
		"0: half of max_connections, or all of them where key_file has one user alone."),
	OPT(user_circuits, ZCONF_INT, "1024", 1, 1 << 20,
		"The number of a user's nodes of zipcast(3) that may wait here for the other node of their pair."),
	OPT(user_dials, ZCONF_INT, "16", 1, 32,
		"The number of connections to other zipperds (next) that are made for one user at a time. Further ones "
		"wait "
		"for these."),
	OPT(user_memory, ZCONF_BYTES, "0", 0, 1024 * GiB,
		"The part of memory that messages to the ranks of one user may take, and messages that the user's hops "
		"(next) and nodes of zipcast(3) send through this zipperd. When it is used up, a rank for which "
		"messages wait gets no further ones until it has received some, as with dest_share. Ranks that share "
		"connections (trunks) may have 1 MiB under way each, until that is half of it; further ones 16 KiB, or "
		"one larger message. "
		"0: half of memory, or all of it where key_file has one user alone."),
	{.name = "user_weights",
		.type = ZCONF_STRING,
		.preset = NULL,
		.offset = offsetof(struct settings, user_weights),
		.parse = check_weights,
		.help = "USER:WEIGHT[,USER:WEIGHT...]: the weights of users' jobs, from 1 to 100. Where several jobs "
			"have "
			"messages for the same worker (workers), zipperd's time for it is shared by "
			"weight, "
			"not by the number of ranks. A job with several clusters on one network has a share for each "
			"of "
			"them. Each pair of nodes of zipcast(3) counts as a job, and each rank's way to another "
			"zipperd "
			"(next). Users that are not named have the weight 1. Messages that go from memory to memory "
			"(one_sided_bytes) do not count; their receivers take turns. It is read again on SIGHUP, for "
			"jobs "
			"that start later, and for directions and workers that a running job has not used yet."},
	{.name = "spin",
		.type = ZCONF_STRING,
		.preset = "auto",
		.offset = offsetof(struct settings, spin_text),
		.parse = parse_spin,
		.help = "The time that a worker looks for messages without giving its core away: auto (by the "
			"number of cores), never, or a number of idle polls. After it the worker yields, and then "
			"sleeps."},
	OPT_MS(poll, "0", 0, 60000,
		"The time that a worker goes on looking after its last work, before it sleeps. That saves "
		"the next message the time to wake the worker: some microseconds, and some tens in virtual "
		"machines. The worker takes a core of its own for that time, or less where other processes "
		"want the core. 0: as spin says, and then some tens of microseconds."),
	{.name = "threads",
		.type = ZCONF_ENUM,
		.preset = "auto",
		.choices = threads,
		.offset = offsetof(struct settings, threads),
		.help = "The threads that move messages between two fabrics: one for each direction, or one for "
			"the pair of them. auto takes the pair on machines with fewer than four cores, where a "
			"second thread would only be in the way of the ranks."},
	{.name = "workers",
		.type = ZCONF_STRING,
		.preset = "auto",
		.offset = offsetof(struct settings, workers_text),
		.parse = parse_workers,
		.help = "The workers for each direction between two fabrics, from 1 to 32: N workers use up to N cores "
			"for one direction. Each worker has its own queues, memory and RDMA resources. Each pair of "
			"ranks uses one of them, and large messages are divided among all. A rank opens a connection "
			"for each worker that it needs. More than one worker for a job take at most half of the "
			"connections that max_connections and user_connections leave: else the job has fewer. A job "
			"has one worker if a rank is of a release before 1.1.0, or comes by hops. auto takes one for "
			"every four cores and pair of fabrics, and 8 at most. A zipperd that zmpirun starts takes "
			"one."},
	{.name = "cpus",
		.type = ZCONF_STRING,
		.preset = NULL,
		.offset = offsetof(struct settings, cpus),
		.parse = check_cpus,
		.help = "The cores that zipperd runs on, by the operating system's numbers, as 0-3,8. They should "
			"be near the devices, and no rank should be bound to them. zipperd does not start where "
			"one of them is not there, or not allowed. auto in threads, workers and spin goes by their "
			"number. "
			"Without this option the operating system chooses among all cores."},
	{.name = "log_level",
		.type = ZCONF_ENUM,
		.preset = "info",
		.choices = log_levels,
		.offset = offsetof(struct settings, log_level),
		.help = "The messages that are logged: those of this level and of more severe ones. It is read "
			"again on SIGHUP."},
	{.name = "module_dir",
		.type = ZCONF_STRING,
		.preset = PKGLIBDIR,
		.offset = offsetof(struct settings, module_dir),
		.help = "The folder of " ZVERBS_FILE ", which is loaded where listen names a port of an RDMA device, "
			"and of " ZMUNGE_FILE ", which munge needs."},
	ZVERBS_ENDPOINTS_ROW(struct settings),
	ZVERBS_ROWS(struct settings),
	{.name = NULL},
};

bool settings_has_administrator(const struct settings *c, const char *user)
{
	const size_t len = strlen(user);
	const char *at = c->administrators;
	while (at && *at) {
		const size_t n = strcspn(at, ",");
		if (n == len && memcmp(at, user, n) == 0)
			return true;
		at += n + (at[n] == ',');
	}
	return false;
}

int settings_find_fabric(const struct settings *c, const char *name)
{
	for (int i = 0; i < c->nfabrics; i++)
		if (strcmp(c->fabric[i], name) == 0)
			return i;
	return -ENOENT;
}

/* May a user name an address of this kind? Sockets and devices of this host only where zipperd listens on such ones. */
static bool is_usual(const struct settings *c, const struct zaddr *addr)
{
	for (int i = 0; i < c->nlistens; i++)
		if (c->listen[i].addr.kind == addr->kind)
			return true;
	return zaddr_traits(addr)->by_host;
}

/* The first next that lets a hop lead there. NULL: there is none. */
static const struct settings_next *find_next(const struct settings *c, int fabric, const struct zaddr *addr)
{
	for (int i = 0; i < c->nnexts; i++) {
		const struct settings_next *n = &c->next[i];
		struct zaddr tcp;
		if (strcmp(n->fabric, c->fabric[fabric]) != 0)
			continue;
		if (n->addr.kind == ZADDR_NONE ? is_usual(c, addr) : zaddr_same(&n->addr, addr))
			return n;
		if (zaddr_tcp(&n->addr, &tcp) && zaddr_same(&tcp, addr))
			return n;
	}
	return NULL;
}

bool settings_may_reach(const struct settings *c, int fabric, const struct zaddr *addr)
{
	return find_next(c, fabric, addr) != NULL;
}

enum zseal_level settings_seal(const struct settings *c, int fabric, const struct zaddr *addr)
{
	const struct settings_next *n = find_next(c, fabric, addr);
	if (!n || !zaddr_traits(addr)->by_host || zaddr_traits(&n->addr)->by_device)
		return zaddr_seal(addr, ZSEAL_NONE);
	if (n->addr.kind == ZADDR_NONE)
		return zaddr_seal(addr, NEXT_SEAL);
	const enum zseal_level ours = zaddr_seal(&n->addr, NEXT_SEAL), theirs = zaddr_seal(addr, ZSEAL_NONE);
	return ours > theirs ? ours : theirs;
}

int settings_init(struct settings *c, struct zerr *err)
{
	char modules[PATH_MAX];
	memset(c, 0, sizeof(*c));
	int rc = zconf_defaults(settings_rows, c, err);
	if (rc == 0 && zinstalled_find(modules, settings_rows, SBINDIR, PKGLIBDIR, ZINSTALLED_MODULE))
		rc = zconf_set(settings_rows, c, "module_dir", modules, NULL, err);
	return rc;
}

static int check(struct settings *c, struct zerr *err)
{
	if (c->nlistens == 0)
		return zerr_set(err, -EINVAL, "no listen: there is nowhere to listen");
	if (c->nfabrics < 2)
		return zerr_set(err, -EINVAL, "listen names one fabric only (%s): there is nothing to bridge",
			c->fabric[0]);
	for (int i = 0; i < c->nnexts; i++)
		if (settings_find_fabric(c, c->next[i].fabric) < 0)
			return zerr_set(err, -EINVAL, "next names fabric %s, which no listen serves",
				c->next[i].fabric);
	if ((!c->key_file || !*c->key_file) && !c->munge && !c->keyed)
		return zerr_set(err, -EINVAL, "no key_file: no rank could join");
	if (c->dest_share < c->eager_bytes + ZWIRE_ENV_BYTES)
		return zerr_set(err, -EINVAL, "dest_share (%lld) does not hold one message of eager_bytes (%lld)",
			(long long)c->dest_share, (long long)c->eager_bytes);
	if (c->rdv_window < c->frag_bytes)
		return zerr_set(err, -EINVAL, "rdv_window (%lld) is smaller than frag_bytes (%lld)",
			(long long)c->rdv_window, (long long)c->frag_bytes);
	if (c->memory < 2 * (c->dest_share + c->rdv_window))
		return zerr_set(err, -EINVAL, "memory (%lld) is not even twice dest_share + rdv_window (%lld)",
			(long long)c->memory, (long long)(c->dest_share + c->rdv_window));
	if (c->workers > 1 && c->workers > most_for_memory(c))
		return zerr_set(err, -EINVAL,
			"memory (%lld) is less than twice what %lld workers for each of %lld directions begin with",
			(long long)c->memory, (long long)c->workers, (long long)count_directions(c));
	if (count_directions(c) * c->workers > ZCTL_WORKERS_MAX)
		return zerr_set(err, -EINVAL, "%d fabrics have %lld directions: workers is at most %lld then",
			c->nfabrics, (long long)count_directions(c),
			(long long)(ZCTL_WORKERS_MAX / count_directions(c)));
	return 0;
}

int settings_check(struct settings *c, const char *path, struct zerr *err)
{
	int rc = check(c, err);
	return rc == 0 ? 0 : zerr_prefix(err, rc, "%s", path);
}

/* option: NAME=VALUE */
static int set_option(struct settings *c, const char *option, struct zerr *err)
{
	char name[64];
	size_t len = strcspn(option, "=");
	snprintf(name, sizeof(name), "%.*s", (int)len, option);
	return zconf_set(settings_rows, c, name, option + len + 1, "-o", err);
}

int settings_load(struct settings *c, const struct settings_source *from, struct zerr *err)
{
	int rc = settings_init(c, err);
	c->keyed = from->keyed;
	if (rc == 0 && from->path)
		rc = zconf_read(settings_rows, c, from->path, err);
	for (int i = 0; rc == 0 && i < from->nset; i++)
		rc = set_option(c, from->set[i], err);
	return rc == 0 ? settings_check(c, from->path ? from->path : "options", err) : rc;
}

void settings_fini(struct settings *c)
{
	zconf_free(settings_rows, c);
	free(c->next);
	c->next = NULL;
	c->nnexts = 0;
}

void settings_format_listen(const struct settings *c, const struct settings_listen *l, char *buf, size_t cap)
{
	char addr[320];
	size_t n = 0;
	zaddr_format(&l->addr, addr, sizeof(addr));
	buf[0] = '\0';
	for (int f = 0; f < c->nfabrics; f++)
		if (l->fabrics >> f & 1 && n < cap)
			n += (size_t)snprintf(buf + n, cap - n, "%s%s", n ? "," : "", c->fabric[f]);
	if (n < cap)
		snprintf(buf + n, cap - n, "=%s", addr);
}

void settings_print(const struct settings *c, FILE *out)
{
	char buf[SETTINGS_FABRICS_MAX * (ZCTL_NAME_MAX + 1) + 320];
	zconf_print(settings_rows, c, out);
	fputc('\n', out);
	for (int i = 0; i < c->nlistens; i++) {
		settings_format_listen(c, &c->listen[i], buf, sizeof(buf));
		zconf_print_line("listen", buf, out);
	}
	for (int i = 0; i < c->nnexts; i++) {
		const struct settings_next *n = &c->next[i];
		int len = snprintf(buf, sizeof(buf), "%s%s", n->fabric, n->addr.kind == ZADDR_NONE ? "" : "=");
		if (n->addr.kind != ZADDR_NONE)
			zaddr_format(&n->addr, buf + len, sizeof(buf) - (size_t)len);
		zconf_print_line("next", buf, out);
	}
}
