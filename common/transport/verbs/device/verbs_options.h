/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of the verbs transport, and their rows in configuration tables. zipverbs.so (verbs_module.h) is loaded
 * with the first address of the form DEVICE:PORT, so that nothing else depends on RDMA libraries. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VERBS_OPTIONS_H
#define ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VERBS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/endpoint/endpoint.h"
#include "common/endpoint/ep_category.h"
#include "common/transport/base/transport.h"

enum zverbs_windows { ZVERBS_WINDOWS_AUTO, ZVERBS_WINDOWS_YES, ZVERBS_WINDOWS_NO };

/* A part of the configuration of zipperd and of a rank. The bounds are those of the rows below. */
struct zverbs_options {
	int64_t endpoints; /* enum zep_category: the resources that the threads of accepted links share */
	void (*note)(const char
			*text); /* is told once about each thing that a device lacks for that; NULL: nobody is told */
	/* Is told about obstacles to links and, once each, about too little memory (or too little that may be locked)
	 * for what is wanted. NULL: nobody is told, and too little memory is an error. */
	void (*warn)(const char *text);
	bool patient;	       /* listens on a port that is not active (yet), with a warning */
	char *device;	       /* the port that connections start from, DEVICE:PORT; NULL: to be found */
	int64_t partition;     /* InfiniBand: P_Key, with or without the bit for full membership; 0: to be found */
	int64_t service_level; /* InfiniBand: SL; RoCE: priority */
	int64_t gid_index;     /* RoCE: -1: to be found */
	int64_t traffic_class; /* of the GRH, which every RoCE packet has */
	int64_t mtu;	       /* enum ibv_mtu: the largest packets; 0: as the port */
	int64_t ack_timeout;   /* 4.096 us * 2^n until a packet is sent again; after seven times that it is given up */
	int64_t port_grace;    /* milliseconds that a port may be down */
	int64_t buffer_bytes;  /* of one send or receive; longer messages are cut */
	int64_t buffers;       /* shared by all links of a thread and device, in each direction */
	int64_t window;	       /* sends under way on one link */
	int64_t inline_bytes;  /* sends up to this size carry their bytes themselves */
	int64_t post_list;     /* sends handed to the device at a time */
	int64_t cache_bytes;   /* of a program's memory that stays registered after use */
	int64_t windows;       /* enum zverbs_windows: whether the peer gets parts of that memory by memory windows */
	int64_t blueflame;     /* 0 or 1. mlx5: sends may go with the doorbell */
	int64_t signal;	       /* one in so many sends reports its completion */
};

/* Rows for the configuration table of struct `owner`, whose member `verbs` holds the options. */
#define ZVERBS_ROW(n, def, lo, hi, owner, h)                                                                           \
	{                                                                                                              \
		.name = "verbs_" #n, .type = ZCONF_INT, .preset = def, .min = lo, .max = hi,                           \
		.offset = offsetof(owner, verbs.n), .help = h                                                          \
	}
#define ZVERBS_ROWS(owner)                                                                                             \
	ZVERBS_ROW(partition, "0", 0, 0xffff, owner,                                                                   \
		"InfiniBand: the partition key, as 0x8005 or 5. The bit for full membership does not matter; entries " \
		"that have it are preferred. 0: the default partition (32767) if the port is a full member of it; "    \
		"else the first partition of which the port is a full member; else the default partition."),           \
		ZVERBS_ROW(service_level, "0", 0, 15, owner,                                                           \
			"The service level of InfiniBand, the same for all paths, or the priority of RoCE."),          \
		ZVERBS_ROW(gid_index, "-1", -1, 255, owner,                                                            \
			"RoCE: the entry of the port's GID table that is our address. -1: an entry of version 2, or "  \
			"of version 1 where this port or the connecting end has no other. The connecting end takes "   \
			"the entry of the IP address that it connects from, or else the first IPv4 entry. The "        \
			"accepting end takes an entry of the same kind (IPv4, IPv6, link-local) from which the "       \
			"connecting end is reached."),                                                                 \
		ZVERBS_ROW(traffic_class, "0", 0, 255, owner,                                                          \
			"The traffic class of packets that carry a global address."),                                  \
		{.name = "verbs_mtu",                                                                                  \
			.type = ZCONF_ENUM,                                                                            \
			.choices = (const char *const[]){"auto", "256", "512", "1024", "2048", "4096", NULL},          \
			.preset = "auto",                                                                              \
			.offset = offsetof(owner, verbs.mtu),                                                          \
			.help = "The largest number of data bytes in a packet. The lower limit of both ends counts. "  \
				"auto: as the ports have it. It is to be set at one end where the network between "    \
				"them carries less: 1024 over routers for packets of 1500 bytes."},                    \
		ZVERBS_ROW(ack_timeout, "17", 8, 31, owner,                                                            \
			"A packet that is not acknowledged within 4.096 us times two to this power is sent again, at " \
			"most six times; then the connection is broken. With the default this takes 4 seconds, or up " \
			"to 15, as devices may wait four times as long."),                                             \
		{.name = "verbs_port_grace",                                                                           \
			.type = ZCONF_TIME_MS,                                                                         \
			.preset = "5s",                                                                                \
			.min = 0,                                                                                      \
			.max = 3600 * 1000,                                                                            \
			.offset = offsetof(owner, verbs.port_grace),                                                   \
			.help = "For how long a port may be down before its connections are broken. A packet that is " \
				"not acknowledged in the time of verbs_ack_timeout breaks them earlier. 0: they are "  \
				"broken at once."},                                                                    \
		{.name = "verbs_buffer_bytes",                                                                         \
			.type = ZCONF_BYTES,                                                                           \
			.preset = "16640",                                                                             \
			.min = 1024,                                                                                   \
			.max = 1 << 20,                                                                                \
			.offset = offsetof(owner, verbs.buffer_bytes),                                                 \
			.help = "The size of one send or receive buffer. Longer messages, together with their "        \
				"envelope of 64 bytes, are cut. The default holds a message of 16 KiB."},              \
		ZVERBS_ROW(buffers, "256", 16, 16384, owner,                                                           \
			"The number of such buffers that all connections of a thread and device share, for receiving " \
			"and for sending each. Every connection has four more of each for itself. zipperd registers "  \
			"the buffers with both devices of a pair of fabrics, so that a message leaves by one device "  \
			"from the buffer in which it came by the other."),                                             \
		ZVERBS_ROW(window, "64", 4, 256, owner,                                                                \
			"The number of sends that may be under way on one connection. It is lower while the "          \
			"connection has less to send, or while others need the buffers."),                             \
		ZVERBS_ROW(inline_bytes, "220", 0, 512, owner,                                                         \
			"Messages up to this size, envelope included, are handed to the device by value. A device "    \
			"that takes less is asked for less."),                                                         \
		ZVERBS_ROW(post_list, "16", 1, 32, owner,                                                              \
			"The number of sends that are handed to the device at a time, with one doorbell. Sends are "   \
			"messages. Large messages that the device reads and writes in the ranks' memory are handed "   \
			"over read by read and write by write."),                                                      \
		{.name = "verbs_blueflame",                                                                            \
			.type = ZCONF_ENUM,                                                                            \
			.choices = (const char *const[]){"no", "yes", NULL},                                           \
			.preset = "yes",                                                                               \
			.offset = offsetof(owner, verbs.blueflame),                                                    \
			.help = "Adapters with mlx5: whether a single small send may be written into the doorbell "    \
				"register (BlueFlame), which saves the device a read of memory. no: the environment "  \
				"variable MLX5_SHUT_UP_BF is set, which libmlx5 obeys in the whole process."},         \
		ZVERBS_ROW(signal, "16", 1, 32, owner,                                                                 \
			"One in so many sends reports its completion, and at least one in verbs_window. Sends that "   \
			"hold a buffer report more often; every read and write reports.")

/* A row for programs that accept links for several threads (zipperd): the resources that these threads share. */
#define ZVERBS_ENDPOINTS_ROW(owner)                                                                                    \
	{                                                                                                              \
		.name = "endpoints", .type = ZCONF_ENUM, .preset = "dynamic", .choices = zep_category_names,           \
		.offset = offsetof(owner, verbs.endpoints),                                                            \
		.help = "How workers share the resources of a device, see zipstat(1). 2xdynamic, dynamic and "         \
			"shared-dynamic give each worker two, one and half a page of the device's registers in one "   \
			"context. static leaves the choice to the device's provider; so does mpi+threads, with locks " \
			"around completion queues. mpi-everywhere gives each worker a context, in which its memory "   \
			"is registered. Every connection has its own queue pairs in all of them."                      \
	}

/*
 * A row for programs in which one thread at a time uses each endpoint (ranks and zipcast): the resources of each
 * endpoint. All links of `connect` share one endpoint; for other links, of connect_plain and accepted ones, the program
 * names the endpoint (transport.h). The endpoint of `connect` takes mpi-everywhere for static, as its process has a
 * context in any case. Each other endpoint then has a context of its own, in which memory is registered that its links
 * expose or pin. The numbers are those of enum zep_category.
 */
#define ZVERBS_RANK_ENDPOINTS_ROW(owner)                                                                               \
	{                                                                                                              \
		.name = "verbs_endpoints", .type = ZCONF_ENUM, .preset = "static", .choices = zep_category_names,      \
		.offset = offsetof(owner, verbs.endpoints),                                                            \
		.help = "The registers of the device that each endpoint has, see zipstat(1). There is one endpoint "   \
			"for all connections of a process, or several, each of which one thread at a time uses. "      \
			"static: the registers that the device's provider gives, with its locks around them. dynamic " \
			"and 2xdynamic: a page of its own, and shared-dynamic: half a page, without locks; this pays " \
			"where few processes are on a host. mpi-everywhere: a context of its own, in which memory is " \
			"registered, too. A rank's only endpoint is as static then, as its process has a context in "  \
			"any case. mpi+threads: as static, with locks around completion queues, too."                  \
	}

/* Rows for programs whose memory the peer reads and writes (ranks): the memory that stays registered. */
#define ZVERBS_MEMORY_ROWS(owner)                                                                                      \
	{.name = "verbs_cache_bytes",                                                                                  \
		.type = ZCONF_BYTES,                                                                                   \
		.preset = "1G",                                                                                        \
		.min = 0,                                                                                              \
		.max = INT64_MAX,                                                                                      \
		.offset = offsetof(owner, verbs.cache_bytes),                                                          \
		.help = "The number of bytes of large messages that stay registered with the device after use, for "   \
			"the next message. 0: none."},                                                                 \
	{                                                                                                              \
		.name = "verbs_windows", .type = ZCONF_ENUM, .preset = "auto",                                         \
		.choices = (const char *const[]){"auto", "yes", "no", NULL}, .offset = offsetof(owner, verbs.windows), \
		.help = "Whether memory that stays registered is opened to the peer by memory windows. Without "       \
			"windows no memory stays registered. auto: not with Soft-RoCE, which does not keep the peer "  \
			"within a window."                                                                             \
	}

/* The same options as environment variables of a rank. */
#define ZVERBS_VARIABLES                                                                                               \
	"ZIPPER_VERBS_PARTITION,ZIPPER_VERBS_SERVICE_LEVEL,ZIPPER_VERBS_GID_INDEX,"                                    \
	"ZIPPER_VERBS_TRAFFIC_CLASS,ZIPPER_VERBS_MTU,ZIPPER_VERBS_ACK_TIMEOUT,ZIPPER_VERBS_PORT_GRACE,"                \
	"ZIPPER_VERBS_BUFFER_BYTES,ZIPPER_VERBS_BUFFERS,ZIPPER_VERBS_WINDOW,ZIPPER_VERBS_INLINE_BYTES,"                \
	"ZIPPER_VERBS_POST_LIST,ZIPPER_VERBS_SIGNAL,ZIPPER_VERBS_BLUEFLAME,ZIPPER_VERBS_CACHE_BYTES,"                  \
	"ZIPPER_VERBS_WINDOWS,"                                                                                        \
	"ZIPPER_VERBS_ENDPOINTS"

#endif
