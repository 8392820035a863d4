/* SPDX-License-Identifier: Apache-2.0 */
/* Events expire, and the oldest are deleted when there are too many. */
#include "api_testing.h"

#include <stdio.h>

#define EVENTS "/api/v1/namespaces/default/events"

static int make_event(api *a, const char *ns, const char *name, const char *more)
{
    char target[100], body[400];
    snprintf(target, sizeof(target), "/api/v1/namespaces/%s/events", ns);
    snprintf(body, sizeof(body),
             "{'metadata':{'name':'%s'},'involvedObject':{'kind':'Pod','name':'p',"
             "'namespace':'%s'},'reason':'R','message':'m'%s}",
             name, ns, more);
    return api_post(a, target, body)->status;
}

static size_t n_events(api *a, const char *target)
{
    kc_auto(kc_view) *view = kc_view_parse(kc_cstr(api_get(a, target)->body), NULL, NULL);
    return kc_value_len(kc_value_get(kc_view_root(view), "items"));
}

static bool exists(api *a, const char *name)
{
    char target[100];
    snprintf(target, sizeof(target), EVENTS "/%s", name);
    return api_get(a, target)->status == 200;
}

/* Waits for what the server does by itself, in real time. */
#define await(condition)                                                        \
    do {                                                                        \
        int64_t deadline_ = kc_clock_deadline(kc_clock_real(), 20 * KC_SECOND); \
        while (!(condition)) {                                                  \
            assert_true(kc_clock_now(kc_clock_real()) < deadline_);             \
            kc_clock_sleep(kc_clock_real(), 5 * KC_MILLISECOND);                \
        }                                                                       \
    } while (0)

static void event_expires_one_hour_after_its_last_write(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    assert_int_equal(make_event(a, "default", "old", ""), 201);
    api_advance(a, 58 * KC_MINUTE);
    assert_int_equal(make_event(a, "default", "young", ""), 201);
    kc_clock_sleep(kc_clock_real(), 50 * KC_MILLISECOND);
    assert_true(exists(a, "old"));
    api_advance(a, 2 * KC_MINUTE + KC_SECOND);
    await(!exists(a, "old"));
    assert_true(exists(a, "young"));
}

static void updated_event_expires_later(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    assert_int_equal(make_event(a, "default", "again", ""), 201);
    assert_int_equal(make_event(a, "default", "once", ""), 201);
    assert_int_equal(make_event(a, "default", "future", ",'lastTimestamp':'2099-01-01T00:00:00Z'"),
                     201);
    api_advance(a, 30 * KC_MINUTE);
    assert_int_equal(
        api_patch(a, EVENTS "/again", "{'count':2,'lastTimestamp':'2026-01-02T03:34:00Z'}")->status,
        200);
    api_advance(a, 31 * KC_MINUTE);
    await(!exists(a, "once") && !exists(a, "future"));
    assert_true(exists(a, "again"));
    api_advance(a, 30 * KC_MINUTE);
    await(!exists(a, "again"));
}

static void events_stored_before_restart_expire(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    assert_int_equal(make_event(a, "default", "old", ""), 201);
    api_restart(a);
    assert_true(exists(a, "old"));
    api_advance(a, 61 * KC_MINUTE);
    await(!exists(a, "old"));
}

static void oldest_events_of_a_full_namespace_are_deleted_first(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.server.max_namespace_events = 100});
    char name[16];
    int refused = 0;
    assert_int_equal(make_event(a, "kube-system", "other", ""), 201);
    for (int i = 0; i < 400; i++) {
        snprintf(name, sizeof(name), "e%03d", i);
        const int status = make_event(a, "default", name, "");
        assert_true(status == 201 || status == 429);
        refused += status == 429;
        assert_true(n_events(a, EVENTS) <= 101);
        if (status == 429)
            kc_clock_sleep(kc_clock_real(), 20 * KC_MILLISECOND);
    }
    assert_true(refused < 200);
    assert_false(exists(a, "e000"));
    assert_int_equal(api_get(a, "/api/v1/namespaces/kube-system/events/other")->status, 200);
}

static void number_of_all_events_is_limited(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.server.max_events = 50});
    char name[16];
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof(name), "e%03d", i);
        make_event(a, i % 2 ? "default" : "kube-system", name, "");
    }
    assert_true(n_events(a, "/api/v1/events") <= 52);
    await(n_events(a, "/api/v1/events") <= 45);
    assert_false(exists(a, "e001"));
}

TESTS(event_expires_one_hour_after_its_last_write, updated_event_expires_later,
      events_stored_before_restart_expire, oldest_events_of_a_full_namespace_are_deleted_first,
      number_of_all_events_is_limited)
