/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bare relay of Verbs calls: three programs with one reliable connection each way, 8 bytes by value, and nothing
 * else. It is the baseline for zipperd's latency in the Verbs laboratory, where perftest measures one leg only.
 *
 *     verbs_relay forward event|poll COUNT DEVICE tcp:ADDR:PORT DEVICE tcp:ADDR:PORT    on the zipper
 *     verbs_relay receive|send event|poll COUNT DEVICE tcp:ADDR:PORT                    on the clusters
 *
 * The programs exchange the numbers of their queue pairs over TCP. The sender prints the median and the 99th percentile
 * of its COUNT round trips, halved.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/dial.h"
#include "bench/measure.h"

#define DEPTH 64     /* receives that are posted; sends that may be under way */
#define SIGNAL 16    /* one send in so many reports its completion */
#define GID_INDEX 1  /* of the IPv4 address, with Soft-RoCE */
#define WARM_PART 10 /* COUNT / WARM_PART round trips come before those that count */
#define SMALL MEASURE_SMALL_BYTES

struct hello { /* both ends have one byte order */
	uint32_t qp;
	union ibv_gid gid;
};

struct leg {
	int sock;
	struct ibv_context *ctx;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t memory[DEPTH][SMALL];
	unsigned sent;
};

static bool polls;

static void tell(int sock, const void *bytes, size_t len)
{
	if (write(sock, bytes, len) != (ssize_t)len)
		measure_die("the other end has gone");
}

static void hear(int sock, void *bytes, size_t len)
{
	for (size_t have = 0; have < len;) {
		struct pollfd p = {.fd = sock, .events = POLLIN};
		if (poll(&p, 1, -1) < 0)
			measure_die("poll: %s", strerror(errno));
		ssize_t n = read(sock, (uint8_t *)bytes + have, len - have);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			measure_die("the other end has gone");
		have += n > 0 ? (size_t)n : 0;
	}
}

static void open_device(struct leg *l, const char *name)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	for (int i = 0; list && i < n && !l->ctx; i++)
		if (strcmp(ibv_get_device_name(list[i]), name) == 0)
			l->ctx = ibv_open_device(list[i]);
	if (!l->ctx)
		measure_die("cannot open the device %s", name);
	ibv_free_device_list(list);
}

static void post_receive(struct leg *l, unsigned slot)
{
	struct ibv_sge sge = {.addr = (uintptr_t)l->memory[slot], .length = SMALL, .lkey = l->mr->lkey};
	struct ibv_recv_wr *bad, wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1};
	if (ibv_post_recv(l->qp, &wr, &bad) != 0)
		measure_die("cannot post a receive");
}

static void make_queues(struct leg *l)
{
	struct ibv_pd *pd = ibv_alloc_pd(l->ctx);
	l->channel = ibv_create_comp_channel(l->ctx);
	l->cq = ibv_create_cq(l->ctx, 2 * DEPTH, NULL, l->channel, 0);
	if (!pd || !l->channel || !l->cq)
		measure_die("cannot make a completion queue");
	struct ibv_qp_init_attr init = {
		.send_cq = l->cq,
		.recv_cq = l->cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = SMALL},
	};
	l->qp = ibv_create_qp(pd, &init);
	l->mr = ibv_reg_mr(pd, l->memory, sizeof(l->memory), IBV_ACCESS_LOCAL_WRITE);
	if (!l->qp || !l->mr)
		measure_die("cannot make a queue pair");
}

static void modify(struct leg *l, struct ibv_qp_attr attr, int mask)
{
	if (ibv_modify_qp(l->qp, &attr, mask | IBV_QP_STATE) != 0)
		measure_die("cannot connect the queue pair");
}

static void connect_queues(struct leg *l)
{
	struct hello mine = {.qp = l->qp->qp_num}, other;
	struct ibv_port_attr port;
	char go = 0;
	if (ibv_query_gid(l->ctx, 1, GID_INDEX, &mine.gid) != 0 || ibv_query_port(l->ctx, 1, &port) != 0)
		measure_die("no such GID");
	modify(l, (struct ibv_qp_attr){.qp_state = IBV_QPS_INIT, .port_num = 1},
		IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	for (unsigned i = 0; i < DEPTH; i++)
		post_receive(l, i);
	tell(l->sock, &mine, sizeof(mine));
	hear(l->sock, &other, sizeof(other));
	modify(l,
		(struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
			.path_mtu = port.active_mtu,
			.dest_qp_num = other.qp,
			.min_rnr_timer = 12, /* 0.64 ms */
			.ah_attr = {.is_global = 1,
				.port_num = 1,
				.grh = {.dgid = other.gid, .sgid_index = GID_INDEX, .hop_limit = 64}}},
		IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			IBV_QP_MIN_RNR_TIMER);
	modify(l,
		(struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 18 /* 1 s */, .retry_cnt = 7, .rnr_retry = 7},
		IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
	if (ibv_req_notify_cq(l->cq, 0) != 0)
		measure_die("no completion events");
	tell(l->sock, &go, 1);
	hear(l->sock, &go, 1);
}

static void leg_open(struct leg *l, const char *device, int sock)
{
	l->sock = sock;
	open_device(l, device);
	make_queues(l);
	connect_queues(l);
}

static void leg_send(struct leg *l)
{
	uint8_t payload[SMALL] = {0};
	struct ibv_sge sge = {.addr = (uintptr_t)payload, .length = SMALL};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};
	wr.send_flags = IBV_SEND_INLINE | (++l->sent % SIGNAL ? 0 : IBV_SEND_SIGNALED);
	if (ibv_post_send(l->qp, &wr, &bad) != 0)
		measure_die("cannot send");
}

/* The number of messages that have come since the last call. */
static unsigned leg_look(struct leg *l)
{
	struct ibv_wc wc[DEPTH];
	unsigned got = 0;
	int n = ibv_poll_cq(l->cq, DEPTH, wc);
	for (int i = 0; i < n; i++) {
		if (wc[i].status != IBV_WC_SUCCESS)
			measure_die("%s", ibv_wc_status_str(wc[i].status));
		if (wc[i].opcode != IBV_WC_RECV)
			continue;
		post_receive(l, (unsigned)wc[i].wr_id);
		got++;
	}
	return got;
}

/* Sleeps until something may have come on one of the legs. A later arrival raises the next event. */
static void sleep_on(struct leg *legs, int n)
{
	struct pollfd fds[2] = {0};
	for (int i = 0; i < n; i++)
		fds[i] = (struct pollfd){.fd = legs[i].channel->fd, .events = POLLIN};
	if (n > 1 && poll(fds, (nfds_t)n, -1) < 0)
		measure_die("poll: %s", strerror(errno));
	for (int i = 0; i < n; i++) {
		struct ibv_cq *cq;
		void *ctx;
		if (n > 1 && !fds[i].revents)
			continue;
		if (ibv_get_cq_event(legs[i].channel, &cq, &ctx) != 0)
			measure_die("no completion event");
		ibv_ack_cq_events(cq, 1);
		if (ibv_req_notify_cq(cq, 0) != 0)
			measure_die("no completion events");
	}
}

static void receive(struct leg *l)
{
	while (leg_look(l) == 0)
		if (!polls)
			sleep_on(l, 1);
}

/* Every message has an answer, so the end is when the last answer has passed. */
static void relay(struct leg legs[2], unsigned count)
{
	for (unsigned answers = 0; answers < count;) {
		bool any = false;
		for (int i = 0; i < 2; i++) {
			unsigned n = leg_look(&legs[i]);
			for (unsigned k = 0; k < n; k++)
				leg_send(&legs[!i]);
			answers += i == 1 ? n : 0;
			any |= n > 0;
		}
		if (!any && !polls)
			sleep_on(legs, 2);
	}
	char end;
	hear(legs[0].sock, &end, 1); /* memory and queue pairs must stay until all has arrived */
	tell(legs[1].sock, &end, 1);
}

static void ping(struct leg *l, unsigned warm, unsigned count)
{
	double *half = calloc(count, sizeof(*half));
	char end = 0;
	if (!half)
		measure_die("out of memory");
	for (unsigned i = 0; i < warm + count; i++) {
		uint64_t start = measure_now_ns();
		leg_send(l);
		receive(l);
		if (i >= warm)
			half[i - warm] = (double)(measure_now_ns() - start) / 2000;
	}
	printf("8 B one way us: %.2f\n", measure_median(half, count)); /* the median sorts the times */
	printf("8 B 99 %% us: %.2f\n", half[count / 100 * 99]);
	tell(l->sock, &end, 1);
	free(half);
}

static void pong(struct leg *l, unsigned count)
{
	char end;
	for (unsigned i = 0; i < count; i++) {
		receive(l);
		leg_send(l);
	}
	hear(l->sock, &end, 1);
}

int main(int argc, char **argv)
{
	static struct leg legs[2];
	struct zaddr near, far;
	bool forwards = argc == 8 && strcmp(argv[1], "forward") == 0, sends = argc == 6 && strcmp(argv[1], "send") == 0;
	unsigned count = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0, warm = count / WARM_PART;
	if (count == 0 || !(forwards || sends || (argc == 6 && strcmp(argv[1], "receive") == 0))) {
		fputs("usage: verbs_relay forward|receive|send event|poll COUNT DEVICE TCP-ADDRESS...\n", stderr);
		return 2;
	}
	polls = strcmp(argv[2], "poll") == 0;
	dial_parse(&near, argv[5]);
	int sock = forwards ? dial_listen(&near) : dial_connect(&near);
	if (forwards) {
		dial_parse(&far, argv[7]);
		leg_open(&legs[1], argv[6], dial_accept(dial_listen(&far)));
		sock = dial_accept(sock);
	}
	leg_open(&legs[0], argv[4], sock);
	if (forwards)
		relay(legs, warm + count);
	else if (sends)
		ping(legs, warm, count);
	else
		pong(legs, warm + count);
	return 0;
}
