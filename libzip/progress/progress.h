/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress engine: turns over everything, and the wait loop of the whole library. Under the shim's lock, which
 * every turn of a wait lets others have, and sleeping gives up. */
#ifndef ZIP_LIBZIP_PROGRESS_H
#define ZIP_LIBZIP_PROGRESS_H

#include <stdbool.h>

struct zreq;
struct zstation;

/* How a thread waits (ZIPPER_WAIT). */
enum zprogress_how { ZPROGRESS_AUTO, ZPROGRESS_SPIN, ZPROGRESS_YIELD, ZPROGRESS_SLEEP };

/* For each station. oversubscribed: more ranks (and zippers) than cores on this host. */
void zprogress_init(struct zstation *, bool oversubscribed, enum zprogress_how);

/* One turn of progress over everything: bridged links, control link, native library where something native is
 * pending for us, collective schedules. Never blocks. Returns whether anything happened. */
bool zprogress_poll(void);

/* The wait loop of the whole library: polls both worlds until done(ctx) is true, adaptively (common/base/wait.h); takes
 * the native library's progress into account; gives the lock up in every turn. */
void zprogress_wait(bool (*done)(void *ctx), void *ctx);
/* For the common case. */
void zprogress_wait_request(struct zreq *);

/* From now on this is called in idle turns as well, by who has the library as a whole, and says whether something was
 * done. A second time does nothing. */
void zprogress_add(bool (*turn)(void));
/* From now on every turn of the library as a whole calls this function, which takes collectives further and says
 * whether something was done. */
void zprogress_set_collectives(bool (*turn)(void));
/* There is one window more, or less, on which others of this part have native operations: who waits is slower to sleep
 * for long. */
void zprogress_serve(bool more);
/* Native operations under way that complete by themselves, without anybody on another host or core doing something:
 * access to files. Who waits looks for them before long. */
extern int zprogress_natives;
/* zprogress_poll, by who does not wait: others who do may have to look again. */
bool zprogress_poll_beside(void);
/* After a native test that succeeded: turns the engine every so many calls, so that a program that waits for local
 * messages only still takes bridged ones. */
void zprogress_now_and_then(void);
/* How many native tests in a row a wait may make: alone, or one where somebody else wants this core, who may be the one
 * that is waited for. */
int zprogress_native_tests(int alone);
/* After a test or probe of the application that found nothing: a turn, and now and then the processor to others where
 * there are more processes than cores: programs that poll would keep them from doing what they wait for. native: only a
 * local message could have been found; then a turn only every so many calls. True: there was a turn, look again. */
bool zprogress_test_failed(bool native);

#endif
