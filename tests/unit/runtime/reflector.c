/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of the reflector, seen from outside: what it asks the server for, and when, as things
 * go wrong on the way.
 */
#include "plane.h"

#include <stdio.h>

#define LIST   "GET /api/v1/configmaps?"
#define WATCH  "watch=true"
#define STREAM "sendInitialEvents=true"

#define EXPIRED                                                                        \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Expired\",\"code\":410," \
    "\"message\":\"too old resource version: 1 (2)\"}"
#define TOO_LARGE                                                                      \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Timeout\",\"code\":504," \
    "\"message\":\"Timeout: Too large resource version: 9, current: 1\",\"details\":{" \
    "\"causes\":[{\"reason\":\"ResourceVersionTooLarge\","                             \
    "\"message\":\"Too large resource version\"}],\"retryAfterSeconds\":1}}"
#define BUSY                                                                      \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"TooManyRequests\"," \
    "\"code\":429,\"message\":\"slow down\"}"
#define NO_STREAMS                                                                     \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Invalid\",\"code\":422," \
    "\"message\":\"sendInitialEvents is forbidden\"}"

/* A plane with one object, and an informer that has synced. */
typedef struct scene {
    plane *p;
    kc_informer *informer;
} scene;

static scene begin(const kc_cache_opts *opts)
{
    scene s = {.p = plane_virtual(opts)};
    plane *p = s.p;
    create(p->client, "default", "one", "", "v");
    s.informer = kc_cache_informer(p->cache, &kc_kind_config_map, NULL);
    return s;
}

static void start(const scene *s)
{
    plane *p = s->p;
    assert_int_equal(kc_cache_start(p->cache, NULL), 0);
    eventually(kc_informer_synced(s->informer));
}

static scene begun(const kc_cache_opts *opts)
{
    scene s = begin(opts);
    start(&s);
    return s;
}

static void end(scene *s)
{
    kc_informer_release(s->informer);
    plane_free(s->p);
}

static size_t n_lists(plane *p)
{
    return faulty_count(p->way, LIST) - faulty_count(p->way, WATCH);
}

/* The target of the list (not watch) number nth. */
static char *list_target(plane *p, size_t nth, int64_t *ret_when)
{
    for (size_t i = 0;; i++) {
        char *target = faulty_target(p->way, LIST, i, ret_when);
        if (!target)
            fail_msg("there were only %zu lists", i);
        if (!strstr(target, WATCH) && nth-- == 0)
            return target;
        free(target);
    }
}

static bool asked(plane *p, size_t nth_list, const char *part)
{
    kc_autofree char *target = list_target(p, nth_list, NULL);
    return strstr(target, part) != NULL;
}

static char *last_watch(plane *p)
{
    return faulty_target(p->way, WATCH, faulty_count(p->way, WATCH) - 1, NULL);
}

static const kc_cache_opts PLAIN = {.plain_lists = true};

/* ---- lists ---- */

static void the_first_list_is_streamed_and_goes_on_as_a_watch(void **state)
{
    (void)state;
    scene s = begun(NULL);
    plane *p = s.p;
    kc_autofree char *target = faulty_target(p->way, WATCH, 0, NULL);
    assert_contains(target, STREAM);
    assert_contains(target, "resourceVersionMatch=NotOlderThan");
    assert_contains(target, "allowWatchBookmarks=true");
    create(p->client, "default", "two", "", "v");
    eventually(kc_informer_count(s.informer) == 2);
    assert_int_equal(faulty_count(p->way, WATCH), 1);
    assert_int_equal(n_lists(p), 0);
    end(&s);
}

static void a_plain_first_list_takes_any_state_in_pages(void **state)
{
    (void)state;
    scene s = begun(&PLAIN);
    plane *p = s.p;
    assert_int_equal(n_lists(p), 1);
    assert_true(asked(p, 0, "resourceVersion=0"));
    assert_true(asked(p, 0, "limit=500"));
    eventually(faulty_count(p->way, WATCH) == 1);
    end(&s);
}

static void a_watch_starts_where_the_list_ended_and_lasts_five_to_ten_minutes(void **state)
{
    (void)state;
    scene s = begun(&PLAIN);
    plane *p = s.p;
    eventually(faulty_count(p->way, WATCH) == 1);
    kc_autofree char *target = last_watch(p);
    kc_autofree char *from =
        kc_asprintf("resourceVersion=%llu", (unsigned long long)kc_informer_revision(s.informer));
    assert_contains(target, from);
    assert_contains(target, "allowWatchBookmarks=true");
    unsigned seconds = 0;
    assert_int_equal(sscanf(strstr(target, "timeoutSeconds="), "timeoutSeconds=%u", &seconds), 1);
    assert_in_range(seconds, 300, 599);
    end(&s);
}

static void a_server_that_streams_no_lists_is_asked_for_plain_ones(void **state)
{
    (void)state;
    scene s = begin(NULL);
    plane *p = s.p;
    faulty_answer(p->way, STREAM, -1, 422, NO_STREAMS);
    start(&s);
    assert_int_equal(n_lists(p), 1);
    faulty_answer(p->way, WATCH, 1, 410, EXPIRED);
    eventually(n_lists(p) == 1 && faulty_count(p->way, WATCH) > 1);
    faulty_end_watches(p->way, true);
    eventually(n_lists(p) == 2);
    assert_int_equal(faulty_count(p->way, STREAM), 1); /* Not asked again. */
    end(&s);
}

static void a_streamed_list_whose_end_gets_lost_is_given_up_at_the_deadline(void **state)
{
    (void)state;
    scene s = begin(&(kc_cache_opts){.list_deadline = 30 * KC_SECOND});
    plane *p = s.p;
    faulty_swallow(p->way, "initial-events-end");
    start(&s);
    int64_t streamed, listed;
    free(faulty_target(p->way, STREAM, 0, &streamed));
    free(list_target(p, 0, &listed));
    assert_true(listed - streamed >= 30 * KC_SECOND);
    assert_true(listed - streamed < 40 * KC_SECOND);
    assert_int_equal(kc_informer_count(s.informer), 1);
    end(&s);
}

static void a_server_that_was_down_for_long_is_asked_to_stream_again(void **state)
{
    (void)state;
    scene s = begin(&(kc_cache_opts){.list_deadline = 30 * KC_SECOND});
    plane *p = s.p;
    faulty_answer(p->way, LIST, -1, 0, NULL);
    kc_cache_start(p->cache, NULL);
    eventually(n_lists(p) > 0);
    faulty_heal(p->way);
    eventually(kc_informer_synced(s.informer));
    eventually(faulty_count(p->way, WATCH) > 0);
    const uint64_t revision = create(p->client, "default", "two", "", "v");
    eventually(kc_informer_revision(s.informer) >= revision);
    const size_t streams = faulty_count(p->way, STREAM);
    faulty_answer(p->way, WATCH, 1, 410, EXPIRED);
    faulty_end_watches(p->way, true);
    eventually(faulty_count(p->way, STREAM) > streams);
    end(&s);
}

static void a_list_that_breaks_off_is_made_again_and_deletes_nothing(void **state)
{
    (void)state;
    scene s = begun(&PLAIN);
    plane *p = s.p;
    char name[16];
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        create(p->client, "default", name, "", "v");
    }
    eventually(kc_informer_count(s.informer) == 51);
    faulty_cut(p->way, "GET /api/v1/configmaps?resourceVersion", 3, 5000);
    faulty_answer(p->way, WATCH, 1, 410, EXPIRED);
    faulty_end_watches(p->way, true);
    eventually(n_lists(p) >= 3);
    assert_int_equal(kc_informer_count(s.informer), 51);
    faulty_heal(p->way);
    const uint64_t revision = create(p->client, "default", "last", "", "v");
    eventually(kc_informer_revision(s.informer) >= revision);
    assert_int_equal(kc_informer_count(s.informer), 52);
    end(&s);
}

static void an_expired_page_token_leads_to_a_list_without_pages(void **state)
{
    (void)state;
    scene s = begin(&PLAIN);
    plane *p = s.p;
    char name[16];
    for (int i = 0; i < 600; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        create(p->client, "default", name, "", "v");
    }
    /* The server gives version 0 whole; the newest state comes in pages. */
    faulty_answer(p->way, "resourceVersion=0", 1, 410, EXPIRED);
    faulty_answer(p->way, "continue=", 1, 410, EXPIRED);
    start(&s);
    assert_int_equal(kc_informer_count(s.informer), 601);
    assert_true(asked(p, 1, "limit=500"));
    assert_true(asked(p, 2, "continue="));
    kc_autofree char *last = faulty_target(p->way, "GET /api/v1/configmaps", 3, NULL);
    assert_string_equal(last, "GET /api/v1/configmaps"); /* No pages, and the newest still. */
    end(&s);
}

static void a_list_after_the_first_is_not_older_than_what_was_seen(void **state)
{
    (void)state;
    scene s = begun(&PLAIN);
    plane *p = s.p;
    const uint64_t revision = create(p->client, "default", "two", "", "v");
    eventually(kc_informer_revision(s.informer) >= revision);
    faulty_answer(p->way, WATCH, 1, 410, EXPIRED);
    faulty_end_watches(p->way, true);
    eventually(n_lists(p) == 2);
    kc_autofree char *from = kc_asprintf("resourceVersion=%llu", (unsigned long long)revision);
    assert_true(asked(p, 1, from));
    assert_false(asked(p, 1, "limit="));
    end(&s);
}

static void asks_for_the_newest_when(const char *answer, int status)
{
    scene s = begun(&PLAIN);
    plane *p = s.p;
    faulty_answer(p->way, WATCH, 1, 410, EXPIRED);
    faulty_answer(p->way, "configmaps?resourceVersion=", 1, status, answer);
    faulty_end_watches(p->way, true);
    eventually(n_lists(p) == 3);
    assert_true(asked(p, 1, "resourceVersion="));
    assert_false(asked(p, 2, "resourceVersion="));
    assert_true(asked(p, 2, "limit=500"));
    int64_t refused, again;
    free(list_target(p, 1, &refused));
    free(list_target(p, 2, &again));
    assert_true(again - refused < 800 * KC_MILLISECOND); /* At once. */
    const uint64_t revision = create(p->client, "default", "two", "", "v");
    eventually(kc_informer_revision(s.informer) >= revision);
    end(&s);
}

static void a_list_that_is_too_old_is_made_of_the_newest_state(void **state)
{
    (void)state;
    asks_for_the_newest_when(EXPIRED, 410);
}

static void a_list_that_is_too_new_is_made_of_the_newest_state(void **state)
{
    (void)state;
    asks_for_the_newest_when(TOO_LARGE, 504);
}

static void between_lists_that_fail_it_waits_longer_and_longer(void **state)
{
    (void)state;
    scene s = begin(&PLAIN);
    plane *p = s.p;
    faulty_answer(p->way, LIST, 5, 500, "{}");
    start(&s);
    int64_t before, after;
    free(list_target(p, 0, &before));
    int64_t least = 800 * KC_MILLISECOND;
    for (size_t i = 1; i <= 5; i++, least *= 2) {
        free(list_target(p, i, &after));
        assert_true(after - before >= least);
        assert_true(after - before <= 2 * least + 5 * KC_SECOND);
        before = after;
    }
    end(&s);
}

static void what_the_last_attempt_failed_with_can_be_asked(void **state)
{
    (void)state;
    scene s = begin(&PLAIN);
    plane *p = s.p;
    faulty_answer(p->way, LIST, -1, 429, BUSY);
    kc_cache_start(p->cache, NULL);
    kc_scoped(kc_error) err = {0};
    eventually(kc_informer_failure(s.informer, &err));
    assert_error(&err, KC_TOO_MANY_REQUESTS, "slow down");
    faulty_heal(p->way);
    eventually(kc_informer_synced(s.informer));
    assert_false(kc_informer_failure(s.informer, NULL));
    end(&s);
}

/* ---- watches ---- */

static void a_watch_that_ends_regularly_is_made_anew_from_where_it_was(void **state)
{
    (void)state;
    scene s = begun(NULL);
    plane *p = s.p;
    const uint64_t revision = create(p->client, "default", "two", "", "v");
    eventually(kc_informer_revision(s.informer) >= revision);
    faulty_end_watches(p->way, true);
    eventually(faulty_count(p->way, WATCH) == 2);
    kc_autofree char *target = last_watch(p);
    kc_autofree char *from = kc_asprintf("resourceVersion=%llu", (unsigned long long)revision);
    assert_contains(target, from);
    assert_null(strstr(target, STREAM));
    create(p->client, "default", "three", "", "v");
    eventually(kc_informer_count(s.informer) == 3);
    assert_int_equal(n_lists(p), 0);
    end(&s);
}

static void a_watch_that_breaks_loses_nothing_and_needs_no_list(void **state)
{
    (void)state;
    scene s = begun(NULL);
    plane *p = s.p;
    char name[16];
    uint64_t revision = 0;
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        revision = create(p->client, "default", name, "", "v");
        if (i % 5 == 0) {
            eventually(kc_informer_revision(s.informer) >= revision);
            faulty_end_watches(p->way, false);
        }
    }
    eventually(kc_informer_revision(s.informer) >= revision);
    assert_int_equal(kc_informer_count(s.informer), 21);
    assert_int_equal(n_lists(p), 0);
    assert_int_equal(faulty_count(p->way, STREAM), 1);
    end(&s);
}

static void an_expired_watch_leads_to_a_list_after_a_while(void **state)
{
    (void)state;
    scene s = begun(&PLAIN);
    plane *p = s.p;
    eventually(faulty_count(p->way, WATCH) == 1);
    create(p->client, "default", "two", "", "v");
    eventually(kc_informer_count(s.informer) == 2);
    faulty_answer(p->way, WATCH, 1, 410, EXPIRED);
    faulty_end_watches(p->way, true);
    eventually(n_lists(p) == 2);
    int64_t watched, listed;
    free(faulty_target(p->way, WATCH, 1, &watched));
    free(list_target(p, 1, &listed));
    assert_true(listed - watched >= 800 * KC_MILLISECOND);
    end(&s);
}

static void waits_and_watches_again_when(int status, const char *answer)
{
    scene s = begun(&PLAIN);
    plane *p = s.p;
    const uint64_t revision = create(p->client, "default", "two", "", "v");
    eventually(kc_informer_revision(s.informer) >= revision);
    faulty_answer(p->way, WATCH, -1, status, answer);
    const size_t before = faulty_count(p->way, WATCH);
    faulty_end_watches(p->way, true);
    eventually(faulty_count(p->way, WATCH) >= before + 8);
    faulty_heal(p->way);
    create(p->client, "default", "three", "", "v");
    eventually(kc_informer_count(s.informer) == 3);
    assert_int_equal(n_lists(p), 1);
    for (size_t i = before; i < faulty_count(p->way, WATCH); i++) {
        kc_autofree char *target = faulty_target(p->way, WATCH, i, NULL);
        kc_autofree char *from = kc_asprintf("resourceVersion=%llu", (unsigned long long)revision);
        assert_contains(target, from);
    }
    end(&s);
}

static void a_server_that_is_down_is_asked_for_the_same_watch_again(void **state)
{
    (void)state;
    waits_and_watches_again_when(0, NULL);
}

static void a_server_that_is_busy_is_asked_for_the_same_watch_again(void **state)
{
    (void)state;
    waits_and_watches_again_when(429, BUSY);
}

static void a_very_short_watch_without_events_leads_to_a_list(void **state)
{
    (void)state;
    scene s = begun(&PLAIN);
    plane *p = s.p;
    eventually(faulty_count(p->way, WATCH) == 1);
    create(p->client, "default", "two", "", "v");
    eventually(kc_informer_count(s.informer) == 2);
    faulty_answer(p->way, WATCH, 1, 200, "");
    faulty_end_watches(p->way, true);
    eventually(n_lists(p) == 2);
    end(&s);
}

static void events_of_another_kind_are_passed_over(void **state)
{
    (void)state;
    scene s = begin(&PLAIN);
    plane *p = s.p;
    faulty_prepend(p->way, "{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"v1\",\"kind\":"
                           "\"Secret\",\"metadata\":{\"namespace\":\"default\",\"name\":\"s\","
                           "\"resourceVersion\":\"999999\"}}}\n");
    start(&s);
    const uint64_t revision = create(p->client, "default", "two", "", "v");
    eventually(kc_informer_revision(s.informer) >= revision);
    assert_int_equal(kc_informer_count(s.informer), 2);
    assert_true(kc_informer_revision(s.informer) < 999999);
    end(&s);
}

/* ---- silence ---- */

static void a_watch_on_which_nothing_comes_is_made_anew_and_counts_as_stalled(void **state)
{
    (void)state;
    scene s = begun(&(kc_cache_opts){.stall = 2 * KC_MINUTE});
    plane *p = s.p;
    assert_int_equal(kc_cache_check(p->cache, NULL), 0);
    faulty_freeze(p->way, true);
    create(p->client, "default", "two", "", "v");
    eventually(faulty_count(p->way, WATCH) >= 2);
    int64_t first, second;
    free(faulty_target(p->way, WATCH, 0, &first));
    free(faulty_target(p->way, WATCH, 1, &second));
    assert_true(second - first >= 2 * KC_MINUTE);
    kc_scoped(kc_error) err = {0};
    assert_true(kc_cache_check(p->cache, &err) < 0);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "the watch of configmaps is stalled");
    faulty_freeze(p->way, false);
    eventually(kc_informer_count(s.informer) == 2);
    assert_int_equal(kc_cache_check(p->cache, NULL), 0);
    assert_int_equal(n_lists(p), 0);
    end(&s);
}

static void bookmarks_keep_a_quiet_watch_from_counting_as_stalled(void **state)
{
    (void)state;
    scene s = begun(&(kc_cache_opts){.stall = 2 * KC_MINUTE});
    plane *p = s.p;
    const int64_t until = kc_clock_now(p->clock) + 4 * KC_MINUTE;
    eventually(kc_clock_now(p->clock) >= until);
    assert_int_equal(kc_cache_check(p->cache, NULL), 0);
    assert_int_equal(faulty_count(p->way, WATCH), 1);
    end(&s);
}

static void an_own_write_that_a_dead_watch_never_shows_expires(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    scene s = begun(&(kc_cache_opts){.stall = KC_HOUR, .metrics = metrics, .plain_lists = true});
    plane *p = s.p;
    faulty_freeze(p->way, true);
    create(p->cached, "default", "three", "", "v");
    assert_true(has(p, "default", "three"));
    kc_clock_advance(p->clock, 2 * KC_HOUR);
    faulty_answer(p->way, WATCH, -1, 0, NULL);
    faulty_answer(p->way, LIST, -1, 0, NULL);
    has(p, "default", "three");
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(metrics, &text);
    assert_contains(kc_buf_cstr(&text),
                    "kc_cache_own_writes_expired_total{resource=\"configmaps\"} 1");
    end(&s);
}

TESTS(the_first_list_is_streamed_and_goes_on_as_a_watch,
      a_plain_first_list_takes_any_state_in_pages,
      a_watch_starts_where_the_list_ended_and_lasts_five_to_ten_minutes,
      a_server_that_streams_no_lists_is_asked_for_plain_ones,
      a_streamed_list_whose_end_gets_lost_is_given_up_at_the_deadline,
      a_server_that_was_down_for_long_is_asked_to_stream_again,
      a_list_that_breaks_off_is_made_again_and_deletes_nothing,
      an_expired_page_token_leads_to_a_list_without_pages,
      a_list_after_the_first_is_not_older_than_what_was_seen,
      a_list_that_is_too_old_is_made_of_the_newest_state,
      a_list_that_is_too_new_is_made_of_the_newest_state,
      between_lists_that_fail_it_waits_longer_and_longer,
      what_the_last_attempt_failed_with_can_be_asked,
      a_watch_that_ends_regularly_is_made_anew_from_where_it_was,
      a_watch_that_breaks_loses_nothing_and_needs_no_list,
      an_expired_watch_leads_to_a_list_after_a_while,
      a_server_that_is_down_is_asked_for_the_same_watch_again,
      a_server_that_is_busy_is_asked_for_the_same_watch_again,
      a_very_short_watch_without_events_leads_to_a_list, events_of_another_kind_are_passed_over,
      a_watch_on_which_nothing_comes_is_made_anew_and_counts_as_stalled,
      bookmarks_keep_a_quiet_watch_from_counting_as_stalled,
      an_own_write_that_a_dead_watch_never_shows_expires)
