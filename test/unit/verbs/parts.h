/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of unit/verbs/verbs: helpers on the fake of libibverbs, and the tests, which verbs.c lists. */
#ifndef ZIP_TEST_VERBS_PARTS_H
#define ZIP_TEST_VERBS_PARTS_H

#include "test/fakeverbs/fabric.h"
#include "test/unit/common/link_fixture.h"
#include "common/endpoint/endpoint.h"
#include "common/transport/verbs/link/vlink.h"
#include "common/transport/verbs/device/vpool.h"

#define SIZE ((size_t)100000)
#define LINKS 16 /* as many as buffers are made for at a time */
#define AROUND ((size_t)8192)

struct ends {
	struct pair pair;
	const struct zrma *rma;
	uint8_t *memory, *staging;
	struct zregion *region;
	struct zrma_exposure exposure;
};

/* verbs.c */
void option(const char *name, const char *value);
int setup(void **state);
int teardown(void **state);
void fault(enum fake_point point, int value, uint32_t after);
bool is_pending(enum fake_point point);
/* Peers acknowledge none of the sends; or all again. */
void silence(bool silent);
struct fake_device *device(void);
/* Takes the offer of the connecting end, and settles the accepted link. Returns the result of settle. */
int take_offer(struct fixture *, struct zlink *accepted, struct zerr *);

/* address.c */
void queue_pairs_have_the_address(void **state);
void the_lesser_mtu_counts(void **state);
void whoever_needs_a_global_address(void **state);
void links_are_of_one_kind(void **state);
void subnets_are_not_crossed(void **state);
void a_port_that_is_not_active_yet(void **state);
void a_partition_that_the_port_is_not_in(void **state);
void a_partition_is_found(void **state);
void limited_membership_is_the_last_choice(void **state);
void versions_of_roce_must_agree(void **state);
void the_address_suits_the_peers(void **state);
void other_adapters_are_refused(void **state);
void devices_are_looked_for_once(void **state);
void categories_ask_for_what_they_are(void **state);
void each_endpoint_has_another_vector(void **state);
void blueflame_can_be_switched_off(void **state);

/* threads.c */
void endpoints_are_used_by_threads(void **state);
void all_threads_hear_of_a_lost_device(void **state);
void endpoints_are_opened_by_threads(void **state);

/* endpoints.c */
void several_endpoints_take_what_their_category_says(void **state);
void memory_is_known_where_it_is_used(void **state);
void what_one_endpoint_keeps_makes_room_for_others(void **state);
void channels_are_attached_to_the_callers_endpoint(void **state);
void who_only_connects_registers_buffers_once(void **state);
void a_channel_that_cannot_be_settled(void **state);

/* memory.c */
void open_ends(struct ends *e, struct fixture *f);
void close_ends(struct ends *e);
bool keeps(void);
int operate(struct ends *e, enum zlink_half half, int64_t offset, size_t len);
void nothing_around_is_reached(void **state);
void nothing_else_is_allowed(void **state);
void keys_are_for_one_link(void **state);
void what_is_too_large_for_a_window(void **state);
void registering_fails(void **state);
int setup_other_fork(void **state);
int teardown_other_fork(void **state);
void what_children_have(void **state);
void memory_stays_pinned_behind_the_last_link(void **state);

/* lack.c */
void what_cannot_be_made_is_said(void **state);
void what_is_refused_without_a_word(void **state);
void less_inline_data_than_wanted(void **state);
void little_memory_may_be_locked(void **state);
void no_memory_for_queues(void **state);
void no_shared_receive_queues(void **state);
void too_little_memory_is_not_silent(void **state);
void receives_that_cannot_be_posted(void **state);
void credit_is_for_receives_that_are_there(void **state);

/* greedy.c */
void who_takes_more_than_its_credit(void **state);
void who_never_changes_over(void **state);
void who_is_refused_and_goes_on(void **state);
void who_goes_on_while_its_link_closes(void **state);
void who_sends_much_while_its_link_closes(void **state);

/* share.c */
void credit_is_for_those_who_use_it(void **state);
void credit_grows_and_shrinks(void **state);
void messages_go_before_credit(void **state);
void buffers_are_for_those_who_send(void **state);

/* pass.c */
void a_message_leaves_from_where_it_came(void **state);
void few_buffers_are_exchanged(void **state);
void one_that_has_left_is_shown_again(void **state);
void it_can_be_read_while_it_is_shown(void **state);
void memory_for_one_device_alone(void **state);
void a_device_is_lost_and_its_buffers_are_not(void **state);

/* faults.c */
void every_failed_completion_ends_the_link(void **state);
void a_lost_message_wakes_its_sender(void **state);
void a_lost_message_wakes_who_only_sends(void **state);
void an_earlier_notice_hides_no_error(void **state);
void every_refused_call_ends_the_link(void **state);
void failed_operations_are_reported(void **state);
void refused_operations_are_reported(void **state);
void windows_that_cannot_be_bound(void **state);
void a_silent_peer_is_not_waited_for(void **state);
void a_window_is_late_when_its_link_closes(void **state);
void a_window_of_a_silent_peer_goes_with_its_port(void **state);
void a_window_of_a_silent_peer_is_given_up(void **state);

/* lost.c */
void a_device_is_lost_with_operations_under_way(void **state);
void a_completion_queue_tells_nothing_any_more(void **state);
void a_device_does_not_end_operations(void **state);
void what_is_given_up_ends(void **state);

/* notice.c */
void the_end_of_a_message_is_lost(void **state);
void a_flush_that_knows_better(void **state);
void what_was_refused_is_not_wanted_any_more(void **state);
void an_error_is_found_on_the_way_to_sleep(void **state);
void nothing_comes_behind_a_refused_send(void **state);
void nothing_comes_behind_what_was_not_shown(void **state);
void events_are_seen_without_sleep(void **state);
void a_lost_message_is_seen_without_sleep(void **state);

/* close.c */
void links_end_together(void **state);
void only_sends_are_counted(void **state);
void a_silent_peer_is_not_waited_for_by_each(void **state);

/* path.c */
void a_path_that_does_not_work_is_left_for_tcp(void **state);
void a_gid_that_is_out_of_reach(void **state);
void a_path_to_who_has_died(void **state);

/* events.c */
void no_buffer_goes_with_a_link(void **state);
void no_buffer_goes_with_the_last_link(void **state);
void closing_leaves_the_pool_alone(void **state);
void nobody_waits_for_a_dead_peer(void **state);
void a_port_that_goes_down_ends_its_links(void **state);
void a_port_may_be_down_for_a_while(void **state);
void a_device_that_goes_away_ends_its_links(void **state);
void a_queue_that_fails_ends_its_link(void **state);
void a_device_that_comes_back_is_used(void **state);
void other_ports_are_left_alone(void **state);
void an_event_wakes_a_few(void **state);
void a_worker_has_many_links(void **state);

#endif
