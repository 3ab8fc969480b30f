/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sealed links: the bytes of a clear link, in records of up to 64 KiB. A record is its length (4 bytes, little-endian),
 * the bytes, and a tag; encrypted, the bytes and the tag are one. The header of the stream is in front of the first
 * record (seal.h).
 *
 * Send half: small messages are gathered as on a clear link, and flush makes one record of them. A large message is
 * sealed straight from the caller's memory. Sealed bytes that the kernel does not take wait, and until they have gone
 * every further post is refused.
 *
 * Receive half: a whole record is opened, straight into the place that the sink gave where all of it belongs there. No
 * byte of a record is used before its tag has been found right.
 */
#include "common/transport/tcp/tcp_sealed.h"

#include <stdlib.h>

#include "common/transport/tcp/tcp_link.h"
#include "common/wire/little.h"

#define LENGTH_BYTES ((size_t)4)
#define AROUND_BYTES (LENGTH_BYTES + ZSEAL_TAG_BYTES)
#define RECORD_MAX TCP_GATHER_BYTES /* as many bytes as one read of the clear link, which its buffer has room for */
#define RECORDS_TURN 32		    /* of one call of poll: others wait for the caller */
#define RECORDS_MAX (TCP_MESSAGE_MAX / RECORD_MAX + 3)
/* Bytes held back before the link was sealed, the header, gathered bytes, and one message. */
#define OUT_BYTES                                                                                                      \
	(TCP_GATHER_BYTES + TCP_MESSAGE_MAX + ZSEAL_HEADER_BYTES + TCP_GATHER_BYTES + TCP_MESSAGE_MAX +                \
		RECORDS_MAX * AROUND_BYTES)
#define IN_BYTES (2 * (RECORD_MAX + AROUND_BYTES))

// NOLINTNEXTLINE(misc-redundant-expression): the two numbers happen to be equal
_Static_assert(RECORD_MAX <= TCP_READ_BYTES, "an opened record fits the buffer of the clear link");

struct seal_tx {
	const struct zseal_ops *ops;
	enum zseal_level level;
	struct zseal_state state;
	uint8_t *out; /* OUT_BYTES */
	size_t head, tail;
};

struct seal_rx {
	const struct zseal_ops *ops;
	enum zseal_level level;
	struct zseal_state state;
	uint8_t *in; /* IN_BYTES */
	size_t head, tail;
	bool begun; /* the header has come */
	bool last;  /* the last record has come */
	uint8_t key[ZSEAL_KEY_BYTES];
};

struct tcp_seal {
	alignas(TCP_LINE) struct seal_tx tx;
	alignas(TCP_LINE) struct seal_rx rx;
};

/* ---- send half ---- */

/* Sends what is sealed. Returns 0, -EAGAIN, or the error that broke the link. */
static int send_out(struct tcp_link *l)
{
	struct seal_tx *s = &l->seal->tx;
	while (s->head < s->tail) {
		struct iovec iov = {s->out + s->head, s->tail - s->head};
		ssize_t n = tcp_link_send_some(l, &iov, 1);
		if (n < 0)
			return (int)n;
		s->head += (size_t)n;
	}
	s->head = s->tail = 0;
	l->tx.blocked = false;
	return 0;
}

static void seal_record(struct seal_tx *s, const uint8_t *bytes, size_t len, bool last)
{
	uint8_t *at = s->out + s->tail;
	put32(at, (uint32_t)len);
	if (s->level == ZSEAL_ENCRYPT) {
		s->ops->seal(&s->state, at + LENGTH_BYTES, bytes, len, at, LENGTH_BYTES, last);
	} else {
		if (len)
			memcpy(at + LENGTH_BYTES, bytes, len);
		s->ops->seal(&s->state, at + LENGTH_BYTES + len, NULL, 0, at, LENGTH_BYTES + len, last);
	}
	s->tail += AROUND_BYTES + len;
}

static void seal_held(struct tcp_link *l)
{
	if (l->tx.tail > 0)
		seal_record(&l->seal->tx, l->tx.buf, l->tx.tail, false);
	l->tx.tail = 0;
}

static int sealed_flush(struct zlink *base)
{
	struct tcp_link *l = (struct tcp_link *)base;
	if (l->tx.error)
		return l->tx.error;
	if (l->tx.blocked) {
		int rc = send_out(l);
		if (rc < 0)
			return rc;
	}
	seal_held(l);
	return send_out(l);
}

/* Seals and sends a large message. Its records that the kernel does not take fit the buffer, which was empty. */
static int send_large(struct tcp_link *l, const uint8_t *payload, size_t len)
{
	seal_held(l);
	for (size_t done = 0; done < len;) {
		size_t n = len - done < RECORD_MAX ? len - done : RECORD_MAX;
		seal_record(&l->seal->tx, payload + done, n, false);
		done += n;
		int rc = l->tx.blocked ? 0 : send_out(l);
		if (rc < 0 && rc != -EAGAIN)
			return rc;
	}
	return 0;
}

static int sealed_post(struct zlink *base, const uint8_t env[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	struct tcp_link *l = (struct tcp_link *)base;
	struct tcp_tx *tx = &l->tx;
	const size_t total = ZWIRE_ENV_BYTES + len;
	const bool large = total > TCP_GATHER_MESSAGE_BYTES;
	int rc = tx->error;
	if (rc)
		return rc;
	if (len > ZWIRE_MAX_PAYLOAD)
		return -EMSGSIZE;
	if (tx->blocked || tx->tail + (large ? ZWIRE_ENV_BYTES : total) > RECORD_MAX)
		rc = sealed_flush(base);
	if (rc < 0)
		return rc;
	tcp_link_hold_back(tx, env, ZWIRE_ENV_BYTES);
	if (large)
		return send_large(l, payload, len);
	tcp_link_hold_back(tx, payload, len);
	return 0;
}

/* ---- receive half ---- */

/* The whole record at head is there: its length, which is wrong at the worst. SIZE_MAX: it is not there. */
static size_t record_at_head(const struct seal_rx *s)
{
	size_t come = s->tail - s->head;
	if (!s->begun || come < LENGTH_BYTES)
		return SIZE_MAX;
	size_t len = get32(s->in + s->head);
	return len > RECORD_MAX || come >= AROUND_BYTES + len ? len : SIZE_MAX;
}

/* Opens the record at head. to: where its bytes go. Returns 0, or -EBADMSG. */
static int open_record(struct seal_rx *s, size_t len, uint8_t *to)
{
	const uint8_t *at = s->in + s->head;
	int rc = -EBADMSG;
	if (s->last || len > RECORD_MAX)
		return rc;
	if (s->level == ZSEAL_ENCRYPT) {
		rc = s->ops->open(&s->state, to, at + LENGTH_BYTES, len, at, LENGTH_BYTES);
	} else {
		rc = s->ops->open(&s->state, NULL, at + LENGTH_BYTES + len, 0, at, LENGTH_BYTES + len);
		if (rc >= 0 && len)
			memcpy(to, at + LENGTH_BYTES, len);
	}
	if (rc < 0)
		return rc;
	if (len == 0 && rc == 0) /* only the last record is empty: others would keep the reader busy with nothing */
		return -EBADMSG;
	s->last = rc > 0;
	s->head += AROUND_BYTES + len;
	return 0;
}

/* Opens the record at head into the buffer of the clear link, or into the place of the open message. */
static int take_record(struct tcp_link *l, size_t len)
{
	struct tcp_rx *rx = &l->rx;
	const size_t missing = rx->open && rx->placed ? tcp_link_missing(rx) : 0;
	const bool straight = missing >= len;
	uint8_t *to = straight && len ? rx->placed + rx->have : rx->buf + rx->tail;
	int rc = open_record(&l->seal->rx, len, to);
	if (rc < 0)
		return rx->error = rc;
	if (straight) {
		rx->have += len;
		return 1;
	}
	if (missing) {
		memcpy(rx->placed + rx->have, to, missing);
		memmove(to, to + missing, len - missing);
		rx->have += missing;
	}
	rx->tail += len - missing;
	return 1;
}

static int begin_opening(struct seal_rx *s)
{
	int rc = s->ops->begin_opening(&s->state, s->in + s->head, s->key);
	s->ops->wipe(s->key, sizeof(s->key));
	s->head += ZSEAL_HEADER_BYTES;
	s->begun = true;
	return rc;
}

/* Reads once. Returns 1, 0: nothing is there; or the error that broke the link. */
static int read_sealed(struct tcp_link *l)
{
	struct seal_rx *s = &l->seal->rx;
	s->tail -= s->head;
	if (s->head && s->tail)
		memmove(s->in, s->in + s->head, s->tail);
	s->head = 0;
	ssize_t n = recv(l->fd, s->in + s->tail, IN_BYTES - s->tail, 0);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return 0;
	if (n < 0)
		return l->rx.error = -errno;
	if (n == 0)
		return l->rx.error = s->last && !s->tail && !l->rx.open && !l->rx.tail ? -ESHUTDOWN : -ECONNRESET;
	s->tail += (size_t)n;
	if (s->last)
		return l->rx.error = -EBADMSG;
	if (!s->begun && s->tail >= ZSEAL_HEADER_BYTES && begin_opening(s) < 0)
		return l->rx.error = -EBADMSG;
	return 1;
}

/* Opens the next record. Returns 1, 0: it has not come; or the error that broke the link. Only called when no whole
 * message is in the clear link's buffer, so there is room: see the size of buf. */
static int receive(struct tcp_link *l)
{
	struct tcp_rx *rx = &l->rx;
	tcp_link_compact(rx);
	for (;;) {
		size_t len = record_at_head(&l->seal->rx);
		if (len != SIZE_MAX)
			return take_record(l, len);
		int rc = read_sealed(l);
		if (rc <= 0)
			return rc;
	}
}

static int sealed_poll(struct zlink *base, const struct zsink *sink, unsigned budget)
{
	struct tcp_link *l = (struct tcp_link *)base;
	struct tcp_rx *rx = &l->rx;
	if (rx->error)
		return rx->error;
	for (int records = 0; records < RECORDS_TURN; records++) {
		unsigned n = 0;
		int rc = 0;
		while (n < budget && (rc = tcp_link_deliver(rx, sink)) > 0)
			n++;
		if (n)
			return (int)n;
		if (rc < 0 || !budget)
			return rc;
		rc = receive(l);
		if (rc <= 0)
			return rc;
	}
	return 0; /* sealed_arm tells of a record that is here already */
}

/* ---- sleeping, and the ends ---- */

static int sealed_arm(struct zlink *base, enum zlink_half half)
{
	struct tcp_link *l = (struct tcp_link *)base;
	if (half == ZLINK_RX)
		return tcp_link_arm_rx(&l->rx) || record_at_head(&l->seal->rx) != SIZE_MAX;
	return l->tx.error || (!l->tx.blocked && sealed_flush(base) != -EAGAIN);
}

static void free_seal(struct tcp_seal *s)
{
	const struct zseal_ops *ops = s->tx.ops;
	free(s->tx.out);
	free(s->rx.in);
	ops->wipe(s, sizeof(*s));
	free(s);
}

/* The last record tells the peer that nothing was cut. It has no place where the peer does not read. */
static void sealed_close(struct zlink *base)
{
	struct tcp_link *l = (struct tcp_link *)base;
	if (!l->tx.error && send_out(l) == 0) {
		seal_record(&l->seal->tx, NULL, 0, true);
		send_out(l);
	}
	free_seal(l->seal);
	tcp_link_close(base);
}

static const struct ztransport sealed = {
	.name = "tcp",
	.kind = ZADDR_TCP,
	.guard = tcp_link_guard,
	.close = sealed_close,
	.post = sealed_post,
	.flush = sealed_flush,
	.poll = sealed_poll,
	.unplace = tcp_link_unplace,
	.fd = tcp_link_fd,
	.arm = sealed_arm,
	.max_payload = ZWIRE_MAX_PAYLOAD,
	.fragment_bytes = ZTRANSPORT_FRAGMENT_MAX,
	.inline_payload = 1024,
};

/* Bytes of the clear link: what it holds back goes out in front, and what has come behind the last message is sealed
 * already. */
static void take_over(struct tcp_link *l, struct tcp_seal *s)
{
	struct tcp_tx *tx = &l->tx;
	struct tcp_rx *rx = &l->rx;
	s->tx.tail = tx->tail - tx->head;
	memcpy(s->tx.out, tx->buf + tx->head, s->tx.tail);
	tx->head = tx->tail = 0;
	s->rx.tail = rx->tail - rx->head;
	memcpy(s->rx.in, rx->buf + rx->head, s->rx.tail);
	rx->head = rx->tail = 0;
}

int tcp_sealed_begin(struct zlink *base, const struct zseal *with, struct zerr *err)
{
	struct tcp_link *l = (struct tcp_link *)base;
	struct tcp_seal *s = aligned_alloc(TCP_LINE, sizeof(*s));
	if (!s)
		return zerr_set(err, -ENOMEM, "out of memory for a connection");
	memset(s, 0, sizeof(*s));
	s->tx.ops = s->rx.ops = with->ops;
	s->tx.level = s->rx.level = with->level;
	s->tx.out = malloc(OUT_BYTES);
	s->rx.in = malloc(IN_BYTES);
	if (!s->tx.out || !s->rx.in || l->rx.open || l->rx.tail - l->rx.head > IN_BYTES) {
		const bool full = s->tx.out && s->rx.in;
		free_seal(s);
		return full ? zerr_set(err, -EPROTO, "more has come than belongs in front of sealed records")
			    : zerr_set(err, -ENOMEM, "out of memory for a connection");
	}
	take_over(l, s);
	with->ops->begin_sealing(&s->tx.state, s->tx.out + s->tx.tail, with->send_key);
	s->tx.tail += ZSEAL_HEADER_BYTES;
	memcpy(s->rx.key, with->receive_key, sizeof(s->rx.key));
	if (s->rx.tail >= ZSEAL_HEADER_BYTES && begin_opening(&s->rx) < 0) {
		free_seal(s);
		return zerr_set(err, -EBADMSG, "what came behind the greeting is not sealed");
	}
	l->seal = s;
	base->ops = &sealed;
	return 0;
}
