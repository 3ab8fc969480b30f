/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fake of libibverbs: devices that exist in memory alone, for tests that need no virtual machine and for faults that
 * Soft-RoCE never shows. It has the functions that this project uses, with reliable connected queue pairs.
 *
 * All processes with the same FAKEVERBS_FABRIC (a file; without it each process is alone) share one block of memory,
 * the fabric, which has queues, keys and faults. There is no thread and no latency: the process that posts a request
 * carries it out, in other processes' memory by process_vm_readv(2) and process_vm_writev(2). Completions can be held
 * back for a while, so that nobody relies on having them at once; reads and writes can be kept under way.
 *
 * FAKEVERBS lists the devices when the fabric is made, separated by commas: a name and words after slashes,
 * "fka/ib/pkey=0x8005,fkb/ip=127.0.0.5/ports=2". Words: ib (InfiniBand instead of RoCE), ip=A (of the first port;
 * further ports have the next addresses), ports=N, pkey=P (a further entry of each port's table; an entry of limited
 * membership stands before each entry), tds=N (thread domains of a process), mw (memory windows), grh (InfiniBand
 * requires a global address, too), v1, v12 (RoCE version 1, or both, instead of 2), iwarp (a device that the transport
 * refuses), silent (no IBV_EVENT_QP_LAST_WQE_REACHED), inline=BYTES, mute (a refusal leaves errno as it was), srq=N
 * (receives of a shared queue, at most), lag=N (microseconds until a completion is seen), memlock=KIB (that a process
 * may register), oldfork (as before Linux 5.13: registered pages are kept from children, if the process asks for that).
 * Each port is a network of its own.
 *
 * The fake is strict where devices only misbehave: a request that the Verbs do not allow is refused as a device would
 * refuse it. Besides, it is counted and written to standard error as a complaint, of which tests expect none.
 */
#ifndef ZIP_TEST_FAKEVERBS_FABRIC_H
#define ZIP_TEST_FAKEVERBS_FABRIC_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#define FAKE_DEVICES 4
#define FAKE_PORTS 2
#define FAKE_PKEYS 5
#define FAKE_GIDS 2
#define FAKE_QPS 8192
#define FAKE_KEYS 65536
#define FAKE_CONTEXTS 4096
#define FAKE_INLINE_MAX 512
#define FAKE_SGES 2
#define FAKE_VECTORS 4

/* Where a fault can be. Up to FAKE_RECV the value is an enum ibv_wc_status, from FAKE_POST on an errno. */
enum fake_point {
	FAKE_SEND,
	FAKE_WRITE,
	FAKE_READ,
	FAKE_LOCAL, /* of a request; LOCAL: of memory windows */
	FAKE_RECV,  /* of a receive */
	FAKE_POST,
	FAKE_POST_RECV,
	FAKE_POLL,
	FAKE_NOTIFY,
	FAKE_OPEN,
	FAKE_PD,
	FAKE_TD,
	FAKE_REG,
	FAKE_CHANNEL,
	FAKE_CQ,
	FAKE_SRQ,
	FAKE_QP,
	FAKE_MODIFY,
	FAKE_ROUTE, /* the way to the peer's GID (RoCE) */
	FAKE_END,   /* a queue pair cannot be put into its error state */
	FAKE_MW,
	FAKE_POINTS
};
extern const char *const fake_point_names[FAKE_POINTS];

struct fake_fault {
	int value;	/* 0: none */
	uint32_t after; /* so many calls go well before */
	uint32_t times; /* then so many calls fail */
	pid_t pid;	/* of this process alone; 0: of all */
};

struct fake_port {
	enum ibv_port_state state;
	uint16_t lid;
	uint8_t gid[16];
	int more_gids; /* behind that of the device (RoCE version 2) */
	uint8_t more[FAKE_GIDS][16];
	uint16_t pkey[FAKE_PKEYS];
};

struct fake_device {
	char name[32];
	bool ib, grh, windows, silent, mute; /* grh: packets need a global address */
	bool v1, v2;			     /* RoCE versions of its addresses, version 1 first */
	bool iwarp;
	int ports;
	uint32_t inline_bytes, srq_max, lag_us, tds, memlock_kib; /* memlock_kib 0: no limit */
	struct fake_port port[FAKE_PORTS];
};

struct fake_address { /* of a socket */
	socklen_t len;
	struct sockaddr_un sun;
};

/* Positions in the fabric instead of pointers, as processes have it at different addresses; 0: none. */
typedef uint64_t fake_at;

struct fake_cqe {
	struct ibv_wc wc;
	uint64_t seen_ns; /* not visible before */
	uint32_t done;	  /* of the send queue: this entry and all before are free */
	bool send;
};

struct fake_cq {
	fake_at ring;
	uint32_t size, head, tail;
	int vector;
	enum { FAKE_QUIET, FAKE_ERRORS, FAKE_ALL } armed; /* for what */
	bool raised;	 /* an event that was not taken: until then arming has no effect, as on mlx5 */
	uint64_t cookie; /* struct ibv_cq * of its process */
	struct fake_address channel;
};

struct fake_rwqe {
	uint64_t wr_id, addr;
	uint32_t len, lkey;
};

struct fake_rq {
	fake_at ring;
	uint32_t size, head, tail;
	uint32_t waiting; /* queue pairs whose sends found it empty */
	pid_t pid;
	uint64_t pd;
};

struct fake_swqe {
	uint64_t wr_id, remote, value; /* value: of a window, its memory region's key */
	uint32_t rkey, imm, flags, nsge, total;
	enum ibv_wr_opcode opcode;
	struct ibv_sge sge[FAKE_SGES];
	uint8_t bytes[FAKE_INLINE_MAX];
};

struct fake_qp {
	bool used, waits; /* waits: for a receive of the peer, or until it is not kept under way any more */
	bool gone; /* its device is lost: requests that are under way or posted stay so, and no call changes it */
	pid_t pid;
	enum ibv_qp_state state;
	uint32_t number, peer, sq_psn, rq_psn;
	uint8_t device, port, sl, reads, peer_reads, retries, rnr_retries, mtu;
	bool global, domain, single; /* domain: in a thread domain; single: its completion queue is for one thread */
	uint16_t dlid, pkey_index;
	uint8_t dgid[16];
	unsigned access;
	uint64_t pd, cookie;
	uint32_t context;
	fake_at send_cq, recv_cq, rq, sq;
	bool own_rq, v1;
	uint32_t depth, next, tail, released; /* of the send queue: to carry out, to fill, to reuse */
};

struct fake_key { /* a memory region or a window */
	bool used, window, stale;
	pid_t pid;
	uint64_t pd, start, len;
	unsigned access;
	uint32_t key; /* the number of the entry and, in the lowest byte, the part that windows change; 0: not bound */
	uint32_t qp;  /* window: the queue pair it is bound to */
	uint32_t region, windows; /* window: key of its region; region: windows bound to it */
};

struct fake_context {
	pid_t pid;
	bool lost; /* its device has gone since: nothing can be made in it */
	uint8_t device;
	struct fake_address async;
};

struct fake_fabric {
	uint64_t magic;
	pthread_mutex_t lock;
	uint64_t end, free[48]; /* of memory that was given out; lists by logarithm of the size */
	bool old_fork;
	pid_t silent;  /* the process whose sends are not acknowledged; 0: none; -1: all */
	pid_t seeking; /* the process that looks for a way to GIDs until this is 0 (RoCE); 0: none */
	pid_t kept;    /* the process whose reads and writes stay under way; likewise */
	uint32_t ndevices, seeks, complaints, stale_used, nqps;
	uint64_t operations[FAKE_POINTS];
	struct fake_device device[FAKE_DEVICES];
	struct fake_fault fault[FAKE_POINTS];
	struct fake_context context[FAKE_CONTEXTS];
	struct fake_qp qp[FAKE_QPS];
	struct fake_key key[FAKE_KEYS];
};

/* The fabric of this process, which the first call makes or opens. NULL with errno. */
struct fake_fabric *fake_fabric(void);
/* The fabric of other processes. */
struct fake_fabric *fake_fabric_open(const char *path);
void fake_lock(struct fake_fabric *);
void fake_unlock(struct fake_fabric *);
/* One lock for all that devices do, where real devices have none, orders what threads do without a lock of their own.
 * From now on, or no longer, ThreadSanitizer sees neither that lock nor what is done under it. To be called while there
 * is only one thread. */
void fake_unseen(bool);

/* The following functions are called with the lock held. */
void *fake_ptr(struct fake_fabric *, fake_at);
fake_at fake_alloc(struct fake_fabric *, size_t bytes);
void fake_free(struct fake_fabric *, fake_at, size_t bytes);
/* The value of a fault if it is this call's turn to fail, or 0. */
int fake_hit(struct fake_fabric *, enum fake_point);
__attribute__((format(printf, 2, 3))) void fake_complain(struct fake_fabric *, const char *format, ...);
struct fake_device *fake_device_find(struct fake_fabric *, const char *name);
/* A GID of a port's table; NULL: there is none. */
const uint8_t *fake_gid(const struct fake_device *, unsigned port, int index);
/* Raises an asynchronous event of a device in all contexts, or in those of one process (pid not 0). */
void fake_event(struct fake_fabric *, int sock, unsigned device, pid_t, enum ibv_event_type, int port);
/* Raises an event of a queue pair, or of its completion or receive queue, in the context that it was made in. */
void fake_qp_event(struct fake_fabric *, int sock, const struct fake_qp *, enum ibv_event_type);
/* Sends of this process (-1: of all) are not acknowledged, as if their packets were lost and sent again without end; 0:
 * they are again. */
void fake_silence(struct fake_fabric *, int sock, pid_t);
/* Reads and writes of this process (-1: of all) stay under way, until their queue pair is in error; 0: they end. */
void fake_keep(struct fake_fabric *, int sock, pid_t);
/* A device goes away, for all or for one process (pid not 0), and is back at once for processes that open it anew.
 * Nothing is heard any more of requests under way, nor of completions that were not visible yet. */
void fake_device_gone(struct fake_fabric *, int sock, unsigned device, pid_t);
/* A port goes down, or comes up. sock: a datagram socket to tell by. */
void fake_port_set(struct fake_fabric *, int sock, unsigned device, unsigned port, bool up);
/* A port has another LID, as of a subnet manager, or another IP address: nobody answers at the old one any more. */
void fake_port_renumber(struct fake_fabric *, int sock, unsigned device, unsigned port);

#endif
