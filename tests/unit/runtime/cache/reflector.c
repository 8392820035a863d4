/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of the reflector, observed through its requests: what it sends, and when, under
 * transport faults. Virtual time passes only while all threads wait: "at once" is at the same time.
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
typedef struct fixture {
    plane *p;
    kc_informer *informer;
} fixture;

static fixture begin(const kc_cache_opts *opts)
{
    fixture s = {.p = plane_virtual(opts)};
    plane *p = s.p;
    create(p->client, "default", "one", "", "v");
    s.informer = kc_cache_informer(p->cache, &kc_kind_config_map, NULL);
    return s;
}

static void start(const fixture *s)
{
    plane *p = s->p;
    assert_int_equal(kc_cache_start(p->cache, NULL), 0);
    eventually(kc_informer_has_synced(s->informer));
}

static fixture begun(const kc_cache_opts *opts)
{
    fixture s = begin(opts);
    start(&s);
    return s;
}

static void end(fixture *s)
{
    kc_informer_release(s->informer);
    plane_free(s->p);
}

static size_t n_lists(plane *p)
{
    return faulty_count(p->faults, LIST) - faulty_count(p->faults, WATCH);
}

/* The target of the list (not watch) number nth. */
static char *list_target(plane *p, size_t nth, int64_t *ret_when)
{
    for (size_t i = 0;; i++) {
        char *target = faulty_target(p->faults, LIST, i, ret_when);
        if (!target)
            fail_msg("only %zu lists were sent", i);
        if (!strstr(target, WATCH) && nth-- == 0)
            return target;
        free(target);
    }
}

static bool list_has(plane *p, size_t nth_list, const char *part)
{
    kc_autofree char *target = list_target(p, nth_list, NULL);
    return strstr(target, part) != NULL;
}

static char *last_watch(plane *p)
{
    return faulty_target(p->faults, WATCH, faulty_count(p->faults, WATCH) - 1, NULL);
}

static const kc_cache_opts PLAIN = {.plain_lists = true};

/* ---- lists ---- */

static void first_list_is_streamed_and_continues_as_watch(void **state)
{
    (void)state;
    fixture s = begun(NULL);
    plane *p = s.p;
    kc_autofree char *target = faulty_target(p->faults, WATCH, 0, NULL);
    assert_contains(target, STREAM);
    assert_contains(target, "resourceVersionMatch=NotOlderThan");
    assert_contains(target, "allowWatchBookmarks=true");
    create(p->client, "default", "two", "", "v");
    eventually(kc_informer_count(s.informer) == 2);
    assert_int_equal(faulty_count(p->faults, WATCH), 1);
    assert_int_equal(n_lists(p), 0);
    end(&s);
}

static void plain_first_list_is_paged_at_resource_version_zero(void **state)
{
    (void)state;
    fixture s = begun(&PLAIN);
    plane *p = s.p;
    assert_int_equal(n_lists(p), 1);
    assert_true(list_has(p, 0, "resourceVersion=0"));
    assert_true(list_has(p, 0, "limit=500"));
    eventually(faulty_count(p->faults, WATCH) == 1);
    end(&s);
}

static void watch_starts_at_list_revision_with_random_timeout(void **state)
{
    (void)state;
    fixture s = begun(&PLAIN);
    plane *p = s.p;
    eventually(faulty_count(p->faults, WATCH) == 1);
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

static void server_without_streaming_gets_plain_lists(void **state)
{
    (void)state;
    fixture s = begin(NULL);
    plane *p = s.p;
    faulty_respond(p->faults, STREAM, -1, 422, NO_STREAMS);
    start(&s);
    assert_int_equal(n_lists(p), 1);
    faulty_respond(p->faults, WATCH, 1, 410, EXPIRED);
    eventually(n_lists(p) == 1 && faulty_count(p->faults, WATCH) > 1);
    faulty_end_watches(p->faults, true);
    eventually(n_lists(p) == 2);
    assert_int_equal(faulty_count(p->faults, STREAM), 1); /* Not requested again. */
    end(&s);
}

static void streamed_list_without_end_falls_back_at_deadline(void **state)
{
    (void)state;
    fixture s = begin(&(kc_cache_opts){.list_deadline = 30 * KC_SECOND});
    plane *p = s.p;
    faulty_drop_events(p->faults, "initial-events-end");
    /* The deadline counts from the beginning of the list, which is before its first request. */
    const int64_t begun = kc_clock_now(p->clock);
    start(&s);
    int64_t listed;
    free(list_target(p, 0, &listed));
    assert_int_equal(faulty_count(p->faults, STREAM), 1);
    assert_true(listed - begun >= 30 * KC_SECOND);
    assert_true(listed - begun < 50 * KC_SECOND);
    assert_int_equal(kc_informer_count(s.informer), 1);
    end(&s);
}

static void reflector_requests_streamed_list_after_server_recovers(void **state)
{
    (void)state;
    fixture s = begin(&(kc_cache_opts){.list_deadline = 30 * KC_SECOND});
    plane *p = s.p;
    faulty_respond(p->faults, LIST, -1, 0, NULL);
    kc_cache_start(p->cache, NULL);
    eventually(n_lists(p) > 0);
    faulty_heal(p->faults);
    eventually(kc_informer_has_synced(s.informer));
    eventually(faulty_count(p->faults, WATCH) > 0);
    const uint64_t revision = create(p->client, "default", "two", "", "v");
    eventually(kc_informer_revision(s.informer) >= revision);
    const size_t streams = faulty_count(p->faults, STREAM);
    faulty_respond(p->faults, WATCH, 1, 410, EXPIRED);
    faulty_end_watches(p->faults, true);
    eventually(faulty_count(p->faults, STREAM) > streams);
    end(&s);
}

static void interrupted_list_is_repeated_and_deletes_nothing(void **state)
{
    (void)state;
    fixture s = begun(&PLAIN);
    plane *p = s.p;
    char name[16];
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        create(p->client, "default", name, "", "v");
    }
    eventually(kc_informer_count(s.informer) == 51);
    faulty_cut(p->faults, "GET /api/v1/configmaps?resourceVersion", 3, 5000);
    faulty_respond(p->faults, WATCH, 1, 410, EXPIRED);
    faulty_end_watches(p->faults, true);
    eventually(n_lists(p) >= 3);
    assert_int_equal(kc_informer_count(s.informer), 51);
    faulty_heal(p->faults);
    const uint64_t revision = create(p->client, "default", "last", "", "v");
    eventually(kc_informer_revision(s.informer) >= revision);
    assert_int_equal(kc_informer_count(s.informer), 52);
    end(&s);
}

static void expired_continue_token_leads_to_unpaged_list(void **state)
{
    (void)state;
    fixture s = begin(&PLAIN);
    plane *p = s.p;
    char name[16];
    for (int i = 0; i < 600; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        create(p->client, "default", name, "", "v");
    }
    /* The server gives version 0 whole; the newest state comes in pages. */
    faulty_respond(p->faults, "resourceVersion=0", 1, 410, EXPIRED);
    faulty_respond(p->faults, "continue=", 1, 410, EXPIRED);
    start(&s);
    assert_int_equal(kc_informer_count(s.informer), 601);
    assert_true(list_has(p, 1, "limit=500"));
    assert_true(list_has(p, 2, "continue="));
    kc_autofree char *last = faulty_target(p->faults, "GET /api/v1/configmaps", 3, NULL);
    assert_string_equal(last, "GET /api/v1/configmaps"); /* No pages, and the newest still. */
    end(&s);
}

static void relist_requests_at_least_the_seen_revision(void **state)
{
    (void)state;
    fixture s = begun(&PLAIN);
    plane *p = s.p;
    const uint64_t revision = create(p->client, "default", "two", "", "v");
    eventually(kc_informer_revision(s.informer) >= revision);
    faulty_respond(p->faults, WATCH, 1, 410, EXPIRED);
    faulty_end_watches(p->faults, true);
    eventually(n_lists(p) == 2);
    kc_autofree char *from = kc_asprintf("resourceVersion=%llu", (unsigned long long)revision);
    assert_true(list_has(p, 1, from));
    assert_false(list_has(p, 1, "limit="));
    end(&s);
}

static void assert_lists_latest_when(const char *answer, int status)
{
    fixture s = begun(&PLAIN);
    plane *p = s.p;
    faulty_respond(p->faults, WATCH, 1, 410, EXPIRED);
    faulty_respond(p->faults, "configmaps?resourceVersion=", 1, status, answer);
    faulty_end_watches(p->faults, true);
    eventually(n_lists(p) == 3);
    assert_true(list_has(p, 1, "resourceVersion="));
    assert_false(list_has(p, 2, "resourceVersion="));
    assert_true(list_has(p, 2, "limit=500"));
    int64_t refused, again;
    free(list_target(p, 1, &refused));
    free(list_target(p, 2, &again));
    assert_int_equal(again, refused); /* At once. */
    const uint64_t revision = create(p->client, "default", "two", "", "v");
    eventually(kc_informer_revision(s.informer) >= revision);
    end(&s);
}

static void expired_relist_requests_the_latest_revision(void **state)
{
    (void)state;
    assert_lists_latest_when(EXPIRED, 410);
}

static void relist_at_future_revision_requests_the_latest(void **state)
{
    (void)state;
    assert_lists_latest_when(TOO_LARGE, 504);
}

static void failed_lists_back_off(void **state)
{
    (void)state;
    fixture s = begin(&PLAIN);
    plane *p = s.p;
    faulty_respond(p->faults, LIST, 5, 500, "{}");
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

static void last_error_is_returned_until_list_succeeds(void **state)
{
    (void)state;
    fixture s = begin(&PLAIN);
    plane *p = s.p;
    faulty_respond(p->faults, LIST, -1, 429, BUSY);
    kc_cache_start(p->cache, NULL);
    kc_scoped(kc_error) err = {0};
    eventually(kc_informer_last_error(s.informer, &err));
    assert_error(&err, KC_TOO_MANY_REQUESTS, "slow down");
    faulty_heal(p->faults);
    eventually(kc_informer_has_synced(s.informer));
    assert_false(kc_informer_last_error(s.informer, NULL));
    end(&s);
}

/* ---- watches ---- */

static void ended_watch_restarts_at_its_last_revision(void **state)
{
    (void)state;
    fixture s = begun(NULL);
    plane *p = s.p;
    const uint64_t revision = create(p->client, "default", "two", "", "v");
    eventually(kc_informer_revision(s.informer) >= revision);
    faulty_end_watches(p->faults, true);
    eventually(faulty_count(p->faults, WATCH) == 2);
    kc_autofree char *target = last_watch(p);
    kc_autofree char *from = kc_asprintf("resourceVersion=%llu", (unsigned long long)revision);
    assert_contains(target, from);
    assert_null(strstr(target, STREAM));
    create(p->client, "default", "three", "", "v");
    eventually(kc_informer_count(s.informer) == 3);
    assert_int_equal(n_lists(p), 0);
    end(&s);
}

static void broken_watch_restarts_without_relist(void **state)
{
    (void)state;
    fixture s = begun(NULL);
    plane *p = s.p;
    char name[16];
    uint64_t revision = 0;
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        revision = create(p->client, "default", name, "", "v");
        if (i % 5 == 0) {
            eventually(kc_informer_revision(s.informer) >= revision);
            faulty_end_watches(p->faults, false);
        }
    }
    eventually(kc_informer_revision(s.informer) >= revision);
    assert_int_equal(kc_informer_count(s.informer), 21);
    assert_int_equal(n_lists(p), 0);
    assert_int_equal(faulty_count(p->faults, STREAM), 1);
    end(&s);
}

static void expired_watch_leads_to_relist_after_backoff(void **state)
{
    (void)state;
    fixture s = begun(&PLAIN);
    plane *p = s.p;
    eventually(faulty_count(p->faults, WATCH) == 1);
    create(p->client, "default", "two", "", "v");
    eventually(kc_informer_count(s.informer) == 2);
    faulty_respond(p->faults, WATCH, 1, 410, EXPIRED);
    faulty_end_watches(p->faults, true);
    eventually(n_lists(p) == 2);
    int64_t watched, listed;
    free(faulty_target(p->faults, WATCH, 1, &watched));
    free(list_target(p, 1, &listed));
    assert_true(listed - watched >= 800 * KC_MILLISECOND);
    end(&s);
}

static void assert_watch_restarts_when(int status, const char *answer)
{
    fixture s = begun(&PLAIN);
    plane *p = s.p;
    const uint64_t revision = create(p->client, "default", "two", "", "v");
    eventually(kc_informer_revision(s.informer) >= revision);
    faulty_respond(p->faults, WATCH, -1, status, answer);
    const size_t before = faulty_count(p->faults, WATCH);
    faulty_end_watches(p->faults, true);
    eventually(faulty_count(p->faults, WATCH) >= before + 8);
    faulty_heal(p->faults);
    create(p->client, "default", "three", "", "v");
    eventually(kc_informer_count(s.informer) == 3);
    assert_int_equal(n_lists(p), 1);
    for (size_t i = before; i < faulty_count(p->faults, WATCH); i++) {
        kc_autofree char *target = faulty_target(p->faults, WATCH, i, NULL);
        kc_autofree char *from = kc_asprintf("resourceVersion=%llu", (unsigned long long)revision);
        assert_contains(target, from);
    }
    end(&s);
}

static void unreachable_server_restarts_the_same_watch(void **state)
{
    (void)state;
    assert_watch_restarts_when(0, NULL);
}

static void busy_server_restarts_the_same_watch(void **state)
{
    (void)state;
    assert_watch_restarts_when(429, BUSY);
}

static void very_short_watch_without_events_leads_to_relist(void **state)
{
    (void)state;
    fixture s = begun(&PLAIN);
    plane *p = s.p;
    eventually(faulty_count(p->faults, WATCH) == 1);
    create(p->client, "default", "two", "", "v");
    eventually(kc_informer_count(s.informer) == 2);
    faulty_respond(p->faults, WATCH, 1, 200, "");
    faulty_end_watches(p->faults, true);
    eventually(n_lists(p) == 2);
    end(&s);
}

static void events_of_another_kind_are_skipped(void **state)
{
    (void)state;
    fixture s = begin(&PLAIN);
    plane *p = s.p;
    faulty_prepend(p->faults, "{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"v1\",\"kind\":"
                              "\"Secret\",\"metadata\":{\"namespace\":\"default\",\"name\":\"s\","
                              "\"resourceVersion\":\"999999\"}}}\n");
    start(&s);
    const uint64_t revision = create(p->client, "default", "two", "", "v");
    eventually(kc_informer_revision(s.informer) >= revision);
    assert_int_equal(kc_informer_count(s.informer), 2);
    assert_true(kc_informer_revision(s.informer) < 999999);
    end(&s);
}

/* ---- stalled watches ---- */

static void silent_watch_is_restarted_and_reported_stalled(void **state)
{
    (void)state;
    fixture s = begun(&(kc_cache_opts){.watch_stall_timeout = 2 * KC_MINUTE});
    plane *p = s.p;
    assert_int_equal(kc_cache_check(p->cache, NULL), 0);
    faulty_freeze(p->faults, true);
    create(p->client, "default", "two", "", "v");
    eventually(faulty_count(p->faults, WATCH) >= 2);
    int64_t first, second;
    free(faulty_target(p->faults, WATCH, 0, &first));
    free(faulty_target(p->faults, WATCH, 1, &second));
    assert_true(second - first >= 2 * KC_MINUTE);
    kc_scoped(kc_error) err = {0};
    assert_true(kc_cache_check(p->cache, &err) < 0);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "the watch of configmaps stalled");
    faulty_freeze(p->faults, false);
    eventually(kc_informer_count(s.informer) == 2 && kc_cache_check(p->cache, NULL) == 0);
    assert_int_equal(n_lists(p), 0);
    end(&s);
}

static void bookmarks_keep_an_idle_watch_from_stalling(void **state)
{
    (void)state;
    fixture s = begun(&(kc_cache_opts){.watch_stall_timeout = 2 * KC_MINUTE});
    plane *p = s.p;
    const int64_t until = kc_clock_now(p->clock) + 4 * KC_MINUTE;
    eventually(kc_clock_now(p->clock) >= until);
    assert_int_equal(kc_cache_check(p->cache, NULL), 0);
    assert_int_equal(faulty_count(p->faults, WATCH), 1);
    end(&s);
}

static void own_write_expires_when_watch_is_dead(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    fixture s = begun(
        &(kc_cache_opts){.watch_stall_timeout = KC_HOUR, .metrics = metrics, .plain_lists = true});
    plane *p = s.p;
    faulty_freeze(p->faults, true);
    create(p->cached, "default", "three", "", "v");
    assert_true(has(p, "default", "three"));
    faulty_respond(p->faults, WATCH, -1, 0, NULL);
    faulty_respond(p->faults, LIST, -1, 0, NULL);
    kc_clock_advance(p->clock, 2 * KC_HOUR);
    has(p, "default", "three");
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(metrics, &text);
    assert_contains(kc_buf_cstr(&text),
                    "kc_cache_own_writes_expired_total{resource=\"configmaps\"} 1");
    end(&s);
}

TESTS(first_list_is_streamed_and_continues_as_watch,
      plain_first_list_is_paged_at_resource_version_zero,
      watch_starts_at_list_revision_with_random_timeout, server_without_streaming_gets_plain_lists,
      streamed_list_without_end_falls_back_at_deadline,
      reflector_requests_streamed_list_after_server_recovers,
      interrupted_list_is_repeated_and_deletes_nothing,
      expired_continue_token_leads_to_unpaged_list, relist_requests_at_least_the_seen_revision,
      expired_relist_requests_the_latest_revision, relist_at_future_revision_requests_the_latest,
      failed_lists_back_off, last_error_is_returned_until_list_succeeds,
      ended_watch_restarts_at_its_last_revision, broken_watch_restarts_without_relist,
      expired_watch_leads_to_relist_after_backoff, unreachable_server_restarts_the_same_watch,
      busy_server_restarts_the_same_watch, very_short_watch_without_events_leads_to_relist,
      events_of_another_kind_are_skipped, silent_watch_is_restarted_and_reported_stalled,
      bookmarks_keep_an_idle_watch_from_stalling, own_write_expires_when_watch_is_dead)
