/* SPDX-License-Identifier: BSD-3-Clause */
/* The verbs transport on the fake of libibverbs (fakeverbs/fabric.h), which is part of this program: the requests to a
 * device, and the effects of its faults. With the argument "conformance" it is the conformance list of transports
 * instead. verbs-units.t runs it for several kinds of devices (FAKEVERBS). */
#include "test/unit/verbs/parts.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct link_kind *warm(void)
{
	for (size_t i = 0; i < link_kind_count; i++)
		if (strcmp(link_kinds[i].name, "warmverbs") == 0)
			return &link_kinds[i];
	return NULL;
}

/* Options are environment variables of a rank (and `endpoints`); NULL: the default. */
void option(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
	assert_true(link_kind_works(warm()));
}

int setup(void **state)
{
	memset(fake_fabric()->fault, 0, sizeof(fake_fabric()->fault));
	fake_fabric()->kept = 0;
	for (uint32_t d = 0; d < fake_fabric()->ndevices; d++)
		for (int p = 0; p < fake_fabric()->device[d].ports; p++)
			fake_fabric()->device[d].port[p].state = IBV_PORT_ACTIVE;
	fake_fabric()->complaints = 0;
	link_warnings = 0;
	*state = (void *)warm();
	return fixture_setup(state);
}

int teardown(void **state)
{
	unsigned qps = 0, keys = 0, contexts = 0;
	int rc = fixture_teardown(state);
	for (int i = 0; i < FAKE_QPS; i++)
		qps += fake_fabric()->qp[i].used;
	for (int i = 0; i < FAKE_KEYS; i++)
		keys += fake_fabric()->key[i].used;
	for (int i = 0; i < FAKE_CONTEXTS; i++)
		contexts += fake_fabric()->context[i].pid != 0;
	if (qps || keys || contexts)
		print_error("left: %u queue pairs, %u registrations, %u contexts\n", qps, keys, contexts);
	if (fake_fabric()->complaints)
		print_error("%u complaints\n", fake_fabric()->complaints);
	return rc || qps || keys || contexts || fake_fabric()->complaints;
}

void fault(enum fake_point point, int value, uint32_t after)
{
	fake_lock(fake_fabric());
	fake_fabric()->fault[point] = (struct fake_fault){.value = value, .after = after, .times = 1};
	fake_unlock(fake_fabric());
}

bool is_pending(enum fake_point point)
{
	return fake_fabric()->fault[point].value != 0;
}

void silence(bool silent)
{
	int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
	fake_lock(fake_fabric());
	fake_silence(fake_fabric(), sock, silent ? -1 : 0);
	fake_unlock(fake_fabric());
	close(sock);
}

int take_offer(struct fixture *f, struct zlink *link, struct zerr *err)
{
	uint32_t events;
	struct pollfd p = {.fd = f->ops->fd(link, ZLINK_RX, &events), .events = POLLIN};
	struct inbox in;
	inbox_init(&in);
	struct zsink sink = inbox_sink(&in);
	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	assert_int_equal(f->ops->poll(link, &sink, 1), 0);
	inbox_fini(&in);
	assert_true(f->endpoint || f->ops->endpoint_open(&f->endpoint, err) == 0);
	return f->ops->settle(link, f->endpoint, f->endpoint, err);
}

struct fake_device *device(void)
{
	return &fake_fabric()->device[0];
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(queue_pairs_have_the_address),
		TEST(the_lesser_mtu_counts),
		TEST(whoever_needs_a_global_address),
		TEST(links_are_of_one_kind),
		TEST(subnets_are_not_crossed),
		TEST(a_port_that_is_not_active_yet),
		TEST(a_partition_that_the_port_is_not_in),
		TEST(a_partition_is_found),
		TEST(limited_membership_is_the_last_choice),
		TEST(versions_of_roce_must_agree),
		TEST(the_address_suits_the_peers),
		TEST(other_adapters_are_refused),
		TEST(devices_are_looked_for_once),
		TEST(categories_ask_for_what_they_are),
		TEST(each_endpoint_has_another_vector),
		TEST(blueflame_can_be_switched_off),
		TEST(several_endpoints_take_what_their_category_says),
		TEST(memory_is_known_where_it_is_used),
		TEST(what_one_endpoint_keeps_makes_room_for_others),
		TEST(channels_are_attached_to_the_callers_endpoint),
		TEST(who_only_connects_registers_buffers_once),
		TEST(a_channel_that_cannot_be_settled),
		TEST(endpoints_are_used_by_threads),
		TEST(all_threads_hear_of_a_lost_device),
		TEST(endpoints_are_opened_by_threads),
		TEST(nothing_around_is_reached),
		TEST(nothing_else_is_allowed),
		TEST(keys_are_for_one_link),
		TEST(what_is_too_large_for_a_window),
		TEST(registering_fails),
		TEST(what_children_have),
		TEST(memory_stays_pinned_behind_the_last_link),
		cmocka_unit_test_setup_teardown(what_children_have, setup_other_fork, teardown_other_fork),
		TEST(what_cannot_be_made_is_said),
		TEST(what_is_refused_without_a_word),
		TEST(less_inline_data_than_wanted),
		TEST(every_failed_completion_ends_the_link),
		TEST(a_lost_message_wakes_its_sender),
		TEST(a_lost_message_wakes_who_only_sends),
		TEST(an_earlier_notice_hides_no_error),
		TEST(the_end_of_a_message_is_lost),
		TEST(a_flush_that_knows_better),
		TEST(what_was_refused_is_not_wanted_any_more),
		TEST(an_error_is_found_on_the_way_to_sleep),
		TEST(nothing_comes_behind_a_refused_send),
		TEST(nothing_comes_behind_what_was_not_shown),
		TEST(events_are_seen_without_sleep),
		TEST(a_lost_message_is_seen_without_sleep),
		TEST(every_refused_call_ends_the_link),
		TEST(failed_operations_are_reported),
		TEST(refused_operations_are_reported),
		TEST(windows_that_cannot_be_bound),
		TEST(a_silent_peer_is_not_waited_for),
		TEST(a_window_is_late_when_its_link_closes),
		TEST(a_window_of_a_silent_peer_goes_with_its_port),
		TEST(a_window_of_a_silent_peer_is_given_up),
		TEST(a_device_is_lost_with_operations_under_way),
		TEST(a_completion_queue_tells_nothing_any_more),
		TEST(a_device_does_not_end_operations),
		TEST(what_is_given_up_ends),
		TEST(a_port_that_goes_down_ends_its_links),
		TEST(a_port_may_be_down_for_a_while),
		TEST(a_device_that_goes_away_ends_its_links),
		TEST(a_device_that_comes_back_is_used),
		TEST(a_queue_that_fails_ends_its_link),
		TEST(other_ports_are_left_alone),
		TEST(an_event_wakes_a_few),
		TEST(a_worker_has_many_links),
		TEST(no_buffer_goes_with_a_link),
		TEST(no_buffer_goes_with_the_last_link),
		TEST(closing_leaves_the_pool_alone),
		TEST(nobody_waits_for_a_dead_peer),
		TEST(links_end_together),
		TEST(only_sends_are_counted),
		TEST(a_silent_peer_is_not_waited_for_by_each),
		TEST(a_path_that_does_not_work_is_left_for_tcp),
		TEST(a_gid_that_is_out_of_reach),
		TEST(a_path_to_who_has_died),
		TEST(little_memory_may_be_locked),
		TEST(no_memory_for_queues),
		TEST(no_shared_receive_queues),
		TEST(too_little_memory_is_not_silent),
		TEST(receives_that_cannot_be_posted),
		TEST(credit_is_for_receives_that_are_there),
		TEST(who_takes_more_than_its_credit),
		TEST(who_never_changes_over),
		TEST(who_is_refused_and_goes_on),
		TEST(who_goes_on_while_its_link_closes),
		TEST(who_sends_much_while_its_link_closes),
		TEST(a_message_leaves_from_where_it_came),
		TEST(few_buffers_are_exchanged),
		TEST(one_that_has_left_is_shown_again),
		TEST(it_can_be_read_while_it_is_shown),
		TEST(memory_for_one_device_alone),
		TEST(a_device_is_lost_and_its_buffers_are_not),
		TEST(credit_is_for_those_who_use_it),
		TEST(credit_grows_and_shrinks),
		TEST(messages_go_before_credit),
		TEST(buffers_are_for_those_who_send),
	};
	setenv("FAKEVERBS", "fka/ib/pkey=0x8005/mw/tds=64", 0);
	setenv("ZIP_TEST_VERBS", "fka:1@127.0.0.1", 0);
	setenv("ZIP_TEST_LINKS", " verbs warmverbs ownverbs ", 0);
	if (argc > 1 && strcmp(argv[1], "conformance") == 0)
		return transport_main(argc - 1, argv + 1) != 0 || fake_fabric()->complaints != 0;
	if (!fake_fabric() || !link_kind_works(warm()))
		return 1;
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("verbs", tests, NULL, NULL);
}
