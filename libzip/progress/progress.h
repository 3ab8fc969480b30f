/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of progress: set-up, and what ends it. The calls for everybody are in bridge.h. Under the shim's lock. */
#ifndef ZIP_LIBZIP_PROGRESS_H
#define ZIP_LIBZIP_PROGRESS_H

#include "libzip/bridge/bridge.h"

void zprogress_init(const struct zbridge_params *);
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
/* A link broke, the only one or to the last zipper: waits for zipperd's word on why (DEAD), then ends the job with it,
 * or with text. patient: zipperd may not have noticed yet, as the link was not its own. */
void zprogress_lost(const char *text, bool patient) __attribute__((noreturn));
/* zprogress_poll, by who does not wait: others who do may have to look again. */
bool zprogress_poll_beside(void);
/* After a native test that succeeded: turns the engine every so many calls, so that a program that waits for local
 * messages only still takes bridged ones. */
void zprogress_now_and_then(void);
/* How many native tests in a row a wait may make: alone, or one where somebody else wants this core, who may be the one
 * that is waited for. */
int zprogress_native_tests(int alone);
/* How many fragments may be posted in this turn: alone, or few where the rank shares its core with somebody who
 * forwards them, perhaps, and who has his turn after that. */
int zprogress_fragments(int alone);
/* After a test or probe of the application that found nothing: a turn, and now and then the processor to others where
 * there are more processes than cores: programs that poll would keep them from doing what they wait for. native: only a
 * local message could have been found; then a turn only every so many calls. True: there was a turn, look again. */
bool zprogress_test_failed(bool native);

#endif
