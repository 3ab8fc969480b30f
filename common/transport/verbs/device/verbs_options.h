/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verbs transport seen from outside: its options, and the module that it lies in. zipverbs.so is loaded with the
 * first address of kind DEVICE:PORT, so that nothing else depends on RDMA libraries.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VERBS_OPTIONS_H
#define ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VERBS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/endpoint/endpoint.h"
#include "common/endpoint/ep_category.h"
#include "common/transport/base/transport.h"

enum zverbs_windows { ZVERBS_WINDOWS_AUTO, ZVERBS_WINDOWS_YES, ZVERBS_WINDOWS_NO };

/* Part of the configuration of zipperd and of a rank. Bounds are those of the rows below. */
struct zverbs_options {
	int64_t endpoints;		/* enum zep_category: what the threads of accepted links share */
	void (*note)(const char *text); /* is told once each what a device lacks for that; NULL: nobody is */
	/* Is told what may keep links from working, and, once each, that there is too little memory, or may be
	 * locked, for all that is wanted; NULL: nobody is, and the latter is an error. */
	void (*warn)(const char *text);
	bool patient;	       /* listens on a port that is not active (yet), with a warning */
	char *device;	       /* the port that connections start from, DEVICE:PORT; NULL: found */
	int64_t partition;     /* InfiniBand: P_Key, with or without the bit for full membership; 0: found */
	int64_t service_level; /* InfiniBand: SL; RoCE: priority */
	int64_t gid_index;     /* RoCE: -1: found */
	int64_t traffic_class; /* of the GRH, which every RoCE packet has */
	int64_t mtu;	       /* enum ibv_mtu: of packets, at most; 0: as the port */
	int64_t ack_timeout;   /* 4.096 us * 2^n until a packet is sent again; given up after seven times that */
	int64_t port_grace;    /* milliseconds that a port may be down */
	int64_t buffer_bytes;  /* of one send or receive: longer messages are cut */
	int64_t buffers;       /* shared by all links of a thread and device, in each direction */
	int64_t window;	       /* sends under way on one link */
	int64_t inline_bytes;  /* up to here sends carry their bytes themselves */
	int64_t post_list;     /* sends handed to the device at a time */
	int64_t cache_bytes;   /* of a program's memory that stay registered after use */
	int64_t windows;       /* enum zverbs_windows: whether the peer gets parts of it by memory windows */
	int64_t blueflame;     /* 0 or 1. mlx5: sends may go with the doorbell */
	int64_t signal;	       /* one in so many sends tells when it is complete */
};

/* Rows for the configuration table of struct `owner`, whose member of this name holds the options. */
#define ZVERBS_ROW(n, def, lo, hi, owner, h)                                                                           \
	{                                                                                                              \
		.name = "verbs_" #n, .type = ZCONF_INT, .preset = def, .min = lo, .max = hi,                           \
		.offset = offsetof(owner, verbs.n), .help = h                                                          \
	}
#define ZVERBS_ROWS(owner)                                                                                             \
	ZVERBS_ROW(partition, "0", 0, 0xffff, owner,                                                                   \
		"InfiniBand: the partition key, as 0x8005 or 5: the bit for full membership does not "                 \
		"matter. Entries that have it are preferred. 0: the default partition (32767) if the port is a "       \
		"full member of it, else "                                                                             \
		"the first one of which it is, else the default one."),                                                \
		ZVERBS_ROW(service_level, "0", 0, 15, owner,                                                           \
			"The service level of InfiniBand, the same for all paths, or the priority of RoCE."),          \
		ZVERBS_ROW(gid_index, "-1", -1, 255, owner,                                                            \
			"RoCE: which entry of the port's GID table is our address. -1: one of version 2, or of "       \
			"version 1 where this port or the end that connects has no other. The end that connects "      \
			"takes the one that belongs to the IP address used for connecting, or else the first IPv4 "    \
			"one; the other end one of the same kind (IPv4, IPv6, link-local) from which the first's is "  \
			"reached."),                                                                                   \
		ZVERBS_ROW(traffic_class, "0", 0, 255, owner,                                                          \
			"The traffic class in packets that carry a global address."),                                  \
		{.name = "verbs_mtu",                                                                                  \
			.type = ZCONF_ENUM,                                                                            \
			.choices = (const char *const[]){"auto", "256", "512", "1024", "2048", "4096", NULL},          \
			.preset = "auto",                                                                              \
			.offset = offsetof(owner, verbs.mtu),                                                          \
			.help = "How many bytes of data a packet has, at most; the lesser of what both ends say "      \
				"counts. auto: as the ports have it. To be set at one end where what is between "      \
				"them carries less: 1024 over routers for packets of 1500 bytes."},                    \
		ZVERBS_ROW(ack_timeout, "17", 8, 31, owner,                                                            \
			"A packet that is not acknowledged within 4.096 us times two to this power is sent again, "    \
			"six times at most; then the connection is broken: with the default after 4 seconds, or up "   \
			"to 15 as devices may take four times as long."),                                              \
		{.name = "verbs_port_grace",                                                                           \
			.type = ZCONF_TIME_MS,                                                                         \
			.preset = "5s",                                                                                \
			.min = 0,                                                                                      \
			.max = 3600 * 1000,                                                                            \
			.offset = offsetof(owner, verbs.port_grace),                                                   \
			.help = "For how long a port may be down until its connections are broken. They are earlier "  \
				"where a packet is not acknowledged in the time of verbs_ack_timeout. 0: broken at "   \
				"once."},                                                                              \
		{.name = "verbs_buffer_bytes",                                                                         \
			.type = ZCONF_BYTES,                                                                           \
			.preset = "16640",                                                                             \
			.min = 1024,                                                                                   \
			.max = 1 << 20,                                                                                \
			.offset = offsetof(owner, verbs.buffer_bytes),                                                 \
			.help = "Size of one send or receive buffer. Messages that are longer, together with their "   \
				"envelope of "                                                                         \
				"64 bytes, are cut. The default holds a message of 16 KiB."},                          \
		ZVERBS_ROW(buffers, "256", 16, 16384, owner,                                                           \
			"How many such buffers all connections of a thread and device share, for receiving and for "   \
			"sending each. "                                                                               \
			"Every connection has four more of each for itself. zipperd registers them with both devices " \
			"of a pair of fabrics, so that messages leave by one from where they came in by the other."),  \
		ZVERBS_ROW(window, "64", 4, 256, owner,                                                                \
			"How many sends may be under way on one connection: fewer while it has less to send, or "      \
			"others need the buffers."),                                                                   \
		ZVERBS_ROW(inline_bytes, "220", 0, 512, owner,                                                         \
			"Messages up to this size, envelope included, are handed to the device by value. Devices "     \
			"that take less "                                                                              \
			"are asked for less."),                                                                        \
		ZVERBS_ROW(post_list, "16", 1, 32, owner,                                                              \
			"How many sends are handed to the device at a time, with one doorbell, where there are so "    \
			"many. Sends are messages: large ones that the device reads and writes in the ranks' memory "  \
			"are handed over read by read and write by write."),                                           \
		{.name = "verbs_blueflame",                                                                            \
			.type = ZCONF_ENUM,                                                                            \
			.choices = (const char *const[]){"no", "yes", NULL},                                           \
			.preset = "yes",                                                                               \
			.offset = offsetof(owner, verbs.blueflame),                                                    \
			.help = "Adapters with mlx5: whether a single small send may be written into the doorbell "    \
				"register (BlueFlame), which saves the device a read of memory. no: the environment "  \
				"variable "                                                                            \
				"MLX5_SHUT_UP_BF is set, which libmlx5 obeys for all of the process."},                \
		ZVERBS_ROW(signal, "16", 1, 32, owner,                                                                 \
			"One in so many sends reports its completion, one in verbs_window at least. Those that hold "  \
			"a "                                                                                           \
			"buffer report more often, reads and writes each.")

/* And for those that accept links for several threads, zipperd: what these share. */
#define ZVERBS_ENDPOINTS_ROW(owner)                                                                                    \
	{                                                                                                              \
		.name = "endpoints", .type = ZCONF_ENUM, .preset = "dynamic", .choices = zep_category_names,           \
		.offset = offsetof(owner, verbs.endpoints),                                                            \
		.help = "Which resources of a device workers share, see zipstat(1): 2xdynamic, dynamic and "           \
			"shared-dynamic "                                                                              \
			"give each two, one and half a page of the device's registers in one context; static "         \
			"leaves it to the device's provider, as does mpi+threads, with locks around completion "       \
			"queues; mpi-everywhere gives each a context, in which its memory is registered. Every "       \
			"connection has its own queue pairs in all of them."                                           \
	}

/* And for those whose endpoints are used by one thread at a time each, ranks and zipcast: what each takes. All links of
 * `connect` share one; with the others, connect_plain and accepted ones, the program says which (transport.h). That of
 * `connect` takes mpi-everywhere for static, as its process has a context in any case; each other one then has one
 * more, and memory that its links expose or pin is registered there. The numbers are those of enum zep_category. */
#define ZVERBS_RANK_ENDPOINTS_ROW(owner)                                                                               \
	{                                                                                                              \
		.name = "verbs_endpoints", .type = ZCONF_ENUM, .preset = "static", .choices = zep_category_names,      \
		.offset = offsetof(owner, verbs.endpoints),                                                            \
		.help = "Which registers of the device each endpoint has, see zipstat(1): one for all connections of " \
			"a process, or several, each of which one thread at a time uses. static: those that the "      \
			"device's provider gives, with its locks around them. dynamic and 2xdynamic: a page of its "   \
			"own, and shared-dynamic half a one, without locks: worth it for few processes on a host. "    \
			"mpi-everywhere: a context of its own, in which memory is registered, too; the only endpoint " \
			"of a rank is as static, as its process has a context in any case. mpi+threads is as static, " \
			"with locks around completion queues, too."                                                    \
	}

/* And for those whose memory the peer reads and writes, ranks: what stays registered. */
#define ZVERBS_MEMORY_ROWS(owner)                                                                                      \
	{.name = "verbs_cache_bytes",                                                                                  \
		.type = ZCONF_BYTES,                                                                                   \
		.preset = "1G",                                                                                        \
		.min = 0,                                                                                              \
		.max = INT64_MAX,                                                                                      \
		.offset = offsetof(owner, verbs.cache_bytes),                                                          \
		.help = "How much memory of large messages stays registered with the device after use, for the next "  \
			"one. "                                                                                        \
			"0: none."},                                                                                   \
	{                                                                                                              \
		.name = "verbs_windows", .type = ZCONF_ENUM, .preset = "auto",                                         \
		.choices = (const char *const[]){"auto", "yes", "no", NULL}, .offset = offsetof(owner, verbs.windows), \
		.help = "Whether memory that stays registered is opened to the peer by memory windows, without which " \
			"none "                                                                                        \
			"does: auto, not with Soft-RoCE, which does not keep the peer within a window."                \
	}

/* The same as environment variables of a rank. */
#define ZVERBS_VARIABLES                                                                                               \
	"ZIPPER_VERBS_PARTITION,ZIPPER_VERBS_SERVICE_LEVEL,ZIPPER_VERBS_GID_INDEX,"                                    \
	"ZIPPER_VERBS_TRAFFIC_CLASS,ZIPPER_VERBS_MTU,ZIPPER_VERBS_ACK_TIMEOUT,ZIPPER_VERBS_PORT_GRACE,"                \
	"ZIPPER_VERBS_BUFFER_BYTES,ZIPPER_VERBS_BUFFERS,ZIPPER_VERBS_WINDOW,ZIPPER_VERBS_INLINE_BYTES,"                \
	"ZIPPER_VERBS_POST_LIST,ZIPPER_VERBS_SIGNAL,ZIPPER_VERBS_BLUEFLAME,ZIPPER_VERBS_CACHE_BYTES,"                  \
	"ZIPPER_VERBS_WINDOWS,"                                                                                        \
	"ZIPPER_VERBS_ENDPOINTS"

#endif
