/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress engine: turns over everything, and the wait loop of the whole library. Under the shim's lock. Every turn
 * of a wait lets other threads have the lock, and a sleeping thread gives it up. */
#ifndef ZIP_LIBZIP_PROGRESS_H
#define ZIP_LIBZIP_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct zreq;
struct zstation;

/* How a thread waits (ZIPPER_WAIT). */
enum zprogress_how { ZPROGRESS_AUTO, ZPROGRESS_SPIN, ZPROGRESS_YIELD, ZPROGRESS_SLEEP };

/* MPI_Init, for each station. oversubscribed: more ranks (and zippers) than cores on this host. */
void zprogress_init(struct zstation *, bool oversubscribed, enum zprogress_how);

/* One turn of progress over everything: bridged links, control links, native MPI where a native operation is pending,
 * collectives. Never blocks. Returns whether anything happened. */
bool zprogress_poll(void);

/* The wait loop of the whole library. Turns both worlds until done(ctx) is true, adaptively (common/base/wait.h), and
 * lets other threads have the lock in every turn. */
void zprogress_wait(bool (*done)(void *ctx), void *ctx);
/* The same where only something inside this cluster is waited for. */
void zprogress_wait_native(bool (*done)(void *ctx), void *ctx);
/* zprogress_wait until a request is done; zprogress_wait_native where native MPI alone completes the request. */
void zprogress_wait_request(struct zreq *);
/* A function to call after each wait that did wait, with the time of its beginning (zclock_ns); NULL: none. Waits of
 * zprogress_wait_native do not call it. */
extern void (*zprogress_waited)(int64_t began_ns);

/* From now on idle turns of the library as a whole call this function, too; it says whether something was done. A
 * second call with the same function has no effect. */
void zprogress_add(bool (*turn)(void));
/* From now on every turn of the library as a whole calls this function, which takes collectives further and says
 * whether something was done. */
void zprogress_set_collectives(bool (*turn)(void));
/* There is one window more, or less, on which other ranks of this part have native operations. With any, a waiting
 * thread is slower to sleep for long. */
void zprogress_serve(bool more);
/* Number of native operations under way that complete by themselves, without another host or core: access to files. A
 * waiting thread looks for them before long. */
extern int zprogress_natives;
/* zprogress_poll, by a thread that does not wait: others that wait may have to look again. */
bool zprogress_poll_beside(void);
/* After a native test that succeeded: makes a turn every so many calls. So a program that waits for local messages only
 * still takes bridged ones. */
void zprogress_now_and_then(void);
/* How many native tests a wait may make in a row: alone; or one where another process wants this core, perhaps the one
 * that is waited for. */
int zprogress_native_tests(int alone);
/* After a test or probe of the application that found nothing: makes a turn. Where there are more processes than cores,
 * it now and then yields the processor: programs that poll would keep others from the work that is polled for. native:
 * only a local message could have been found; then only every so many calls make a turn. True: there was a turn, look
 * again. */
bool zprogress_test_failed(bool native);

#endif
