/* SPDX-License-Identifier: Apache-2.0 */
/* Events, from who says them to the server. */
#include "plane_testing.h"

#include "kc/recorder.h"
#include "kc/view.h"

typedef struct desk {
    kc_testenv *env;
    kc_recorder *recorder;
    kc_object *map;
} desk;

static void desk_open(desk *d, bool events_v1)
{
    d->env = plane(1);
    d->map = make(d->env, CONFIG_MAP("a"));
    d->recorder = kc_recorder_new(&(kc_recorder_opts){.client = kc_testenv_client(d->env),
                                                      .component = "tester",
                                                      .host = "here",
                                                      .events_v1 = events_v1},
                                  NULL);
    assert_non_null(d->recorder);
}

static void desk_close(desk *d)
{
    kc_recorder_stop(d->recorder, 0);
    kc_object_unref(d->map);
    kc_testenv_stop(d->env);
}

/* All events there are. */
static kc_objects events(desk *d, const kc_kind *kind)
{
    kc_objects list = {0};
    kc_testenv_advance(d->env, KC_SECOND);
    assert_int_equal(kc_client_list(kc_testenv_client(d->env), kind, NULL, &list, NULL), 0);
    return list;
}

static int64_t number_in(const kc_object *object, const char *outer, const char *inner)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *at = kc_get(kc_view_root(view), outer);
    return kc_as_i64_or(inner ? kc_get(at, inner) : at, -1);
}

static void an_event_is_recorded(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, false);
    kc_event(d.recorder, d.map, KC_WARNING, "Broken", "%d of %d", 1, 2);
    kc_scoped(kc_objects) list = events(&d, &kc_kind_event);
    assert_int_equal(list.n, 1);
    const char *json = kc_object_json(list.items[0]).p;
    assert_contains(json, "\"message\":\"1 of 2\"");
    assert_contains(json, "\"type\":\"Warning\"");
    assert_contains(json, "\"component\":\"tester\"");
    assert_contains(json, "\"kind\":\"ConfigMap\"");
    desk_close(&d);
}

static void an_event_may_be_said_in_anothers_name(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, false);
    kc_recorder *other = kc_recorder_as(d.recorder, "replicaset-controller");
    assert_ptr_equal(kc_recorder_as(d.recorder, "replicaset-controller"), other);
    assert_ptr_equal(kc_recorder_as(other, "tester"), kc_recorder_as(d.recorder, "tester"));
    assert_null(kc_recorder_as(NULL, "anybody"));
    kc_event(other, d.map, KC_NORMAL, "Created", "a pod");
    kc_scoped(kc_objects) list = events(&d, &kc_kind_event);
    assert_int_equal(list.n, 1);
    assert_contains(kc_object_json(list.items[0]).p, "\"component\":\"replicaset-controller\"");
    desk_close(&d);
}

static bool is_heard(const kc_objects *list, const char *word)
{
    bool heard = false;
    for (size_t i = 0; i < list->n; i++)
        heard |= strstr(kc_object_json(list->items[i]).p, word) != NULL;
    return heard;
}

static void what_one_name_says_too_often_does_not_silence_another(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, false);
    for (int i = 0; i < 40; i++)
        kc_event(d.recorder, d.map, KC_NORMAL, "Noise", "%d", i);
    kc_event(kc_recorder_as(d.recorder, "other"), d.map, KC_NORMAL, "Word", "heard");
    kc_scoped(kc_objects) list = events(&d, &kc_kind_event);
    assert_true(is_heard(&list, "heard"));
    desk_close(&d);
}

/* Some are sent meanwhile. */
static void one_name_has_a_thousand_waiting_at_most_and_another_room_of_its_own(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, false);
    for (int i = 0; i < 1200; i++) {
        kc_autofree char *text = kc_asprintf("{'apiVersion':'v1','kind':'ConfigMap','metadata':{"
                                             "'name':'m-%d','namespace':'default'}}",
                                             i);
        kc_auto(kc_object) *about = object_of(text);
        kc_event(d.recorder, about, KC_NORMAL, "Noise", "of many");
    }
    kc_event(kc_recorder_as(d.recorder, "other"), d.map, KC_NORMAL, "Word", "heard");
    kc_scoped(kc_objects) list = events(&d, &kc_kind_event);
    assert_in_range(list.n, 1001, 1100);
    assert_true(is_heard(&list, "heard"));
    desk_close(&d);
}

static void repeats_are_counted_in_one_event(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, false);
    for (int i = 0; i < 5; i++)
        kc_event(d.recorder, d.map, KC_NORMAL, "Scaled", "up");
    kc_scoped(kc_objects) list = events(&d, &kc_kind_event);
    assert_int_equal(list.n, 1);
    assert_int_equal(number_in(list.items[0], "count", NULL), 5);
    desk_close(&d);
}

static void an_event_that_was_deleted_is_made_anew(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, false);
    kc_event(d.recorder, d.map, KC_NORMAL, "Scaled", "up");
    kc_testenv_advance(d.env, KC_SECOND);
    assert_int_equal(kc_client_delete_all(kc_testenv_client(d.env), &kc_kind_event,
                                          &(kc_list_opts){.ns = "default"}, NULL, NULL),
                     0);
    kc_event(d.recorder, d.map, KC_NORMAL, "Scaled", "up");
    kc_scoped(kc_objects) list = events(&d, &kc_kind_event);
    assert_int_equal(list.n, 1);
    assert_int_equal(number_in(list.items[0], "count", NULL), 2);
    desk_close(&d);
}

static void a_server_that_is_away_gets_it_later(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, false);
    kc_auto(kc_client) *client = kc_client_ref(kc_manager_live_client(kc_testenv_manager(d.env)));
    kc_recorder_stop(d.recorder, 0);
    d.recorder =
        kc_recorder_new(&(kc_recorder_opts){.client = client, .component = "tester"}, NULL);
    kc_testenv_fault(d.env, &(kc_fault_opts){KC_FAULT_UNAVAILABLE, .chance = 1});
    kc_event(d.recorder, d.map, KC_NORMAL, "Scaled", "up");
    kc_testenv_advance(d.env, 12 * KC_SECOND);
    kc_testenv_clear_faults(d.env);
    kc_testenv_advance(d.env, 30 * KC_SECOND);
    kc_scoped(kc_objects) list = events(&d, &kc_kind_event);
    assert_int_equal(list.n, 1);
    desk_close(&d);
}

static void new_events_have_series(void **state)
{
    (void)state;
    desk d;
    desk_open(&d, true);
    for (int i = 0; i < 4; i++)
        kc_event(d.recorder, d.map, KC_NORMAL, "Scaled", "up");
    kc_scoped(kc_objects) first = events(&d, &kc_kind_events_event);
    assert_int_equal(first.n, 1);
    assert_int_equal(number_in(first.items[0], "series", "count"), 2);
    kc_testenv_advance(d.env, 13 * KC_MINUTE);
    kc_scoped(kc_objects) ended = events(&d, &kc_kind_events_event);
    assert_int_equal(number_in(ended.items[0], "series", "count"), 4);
    desk_close(&d);
}

static void no_recorder_says_nothing(void **state)
{
    (void)state;
    kc_event(NULL, NULL, KC_NORMAL, "Nothing", "at all");
}

TESTS(an_event_is_recorded, an_event_may_be_said_in_anothers_name,
      what_one_name_says_too_often_does_not_silence_another,
      one_name_has_a_thousand_waiting_at_most_and_another_room_of_its_own,
      repeats_are_counted_in_one_event, an_event_that_was_deleted_is_made_anew,
      a_server_that_is_away_gets_it_later, new_events_have_series, no_recorder_says_nothing)
