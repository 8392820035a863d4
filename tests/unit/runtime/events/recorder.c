/* SPDX-License-Identifier: Apache-2.0 */
/* Events, from the recorder to the server. */
#include "plane_testing.h"

#include "kc/recorder.h"
#include "kc/view.h"

typedef struct fixture {
    kc_testenv *env;
    kc_recorder *recorder;
    kc_object *map;
} fixture;

static void fixture_open(fixture *d, bool events_v1)
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

static void fixture_close(fixture *d)
{
    kc_recorder_stop(d->recorder, 0);
    kc_object_unref(d->map);
    kc_testenv_stop(d->env);
}

/* All events there are. */
static kc_object_list events(fixture *d, const kc_kind *kind)
{
    kc_object_list list = {0};
    kc_testenv_advance(d->env, KC_SECOND);
    assert_int_equal(kc_client_list(kc_testenv_client(d->env), kind, NULL, &list, NULL), 0);
    return list;
}

static int64_t number_in(const kc_object *object, const char *outer, const char *inner)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *at = kc_value_get(kc_view_root(view), outer);
    return kc_value_as_i64_or(inner ? kc_value_get(at, inner) : at, -1);
}

static void event_is_recorded(void **state)
{
    (void)state;
    fixture d;
    fixture_open(&d, false);
    kc_recorder_event(d.recorder, d.map, KC_EVENT_TYPE_WARNING, "Broken", "%d of %d", 1, 2);
    kc_scoped(kc_object_list) list = events(&d, &kc_kind_event);
    assert_int_equal(list.n, 1);
    const char *json = kc_object_json(list.items[0]).p;
    assert_contains(json, "\"message\":\"1 of 2\"");
    assert_contains(json, "\"type\":\"Warning\"");
    assert_contains(json, "\"component\":\"tester\"");
    assert_contains(json, "\"kind\":\"ConfigMap\"");
    fixture_close(&d);
}

static void recorder_with_component_records_in_its_name(void **state)
{
    (void)state;
    fixture d;
    fixture_open(&d, false);
    kc_recorder *other = kc_recorder_with_component(d.recorder, "replicaset-controller", NULL);
    assert_ptr_equal(kc_recorder_with_component(d.recorder, "replicaset-controller", NULL), other);
    assert_ptr_equal(kc_recorder_with_component(other, "tester", NULL),
                     kc_recorder_with_component(d.recorder, "tester", NULL));
    assert_null(kc_recorder_with_component(NULL, "anybody", NULL));
    kc_recorder_event(other, d.map, KC_EVENT_TYPE_NORMAL, "Created", "a pod");
    kc_scoped(kc_object_list) list = events(&d, &kc_kind_event);
    assert_int_equal(list.n, 1);
    assert_contains(kc_object_json(list.items[0]).p, "\"component\":\"replicaset-controller\"");
    fixture_close(&d);
}

static void event_belongs_to_the_field_manager_of_its_recorder(void **state)
{
    (void)state;
    fixture d;
    fixture_open(&d, false);
    kc_recorder *other = kc_recorder_with_component(d.recorder, NULL, "kubelet");
    assert_ptr_not_equal(other, d.recorder);
    assert_ptr_equal(kc_recorder_with_component(d.recorder, "tester", "kubelet"), other);
    kc_recorder_event(other, d.map, KC_EVENT_TYPE_NORMAL, "Started", "again");
    kc_recorder_event(other, d.map, KC_EVENT_TYPE_NORMAL, "Started", "again");
    kc_scoped(kc_object_list) list = events(&d, &kc_kind_event);
    assert_int_equal(list.n, 1);
    assert_int_equal(number_in(list.items[0], "count", NULL), 2);
    const char *owners = kc_object_managed_fields_json(list.items[0]).p;
    assert_contains(owners, "[{\"manager\":\"kubelet\",\"operation\":\"Update\"");
    assert_null(strstr(owners + 1, "},{\"manager\":"));
    fixture_close(&d);
}

static bool has_message(const kc_object_list *list, const char *word)
{
    bool found = false;
    for (size_t i = 0; i < list->n; i++)
        found |= strstr(kc_object_json(list->items[i]).p, word) != NULL;
    return found;
}

static void rate_limit_of_a_component_does_not_affect_another(void **state)
{
    (void)state;
    fixture d;
    fixture_open(&d, false);
    for (int i = 0; i < 40; i++)
        kc_recorder_event(d.recorder, d.map, KC_EVENT_TYPE_NORMAL, "Noise", "%d", i);
    kc_recorder_event(kc_recorder_with_component(d.recorder, "other", NULL), d.map,
                      KC_EVENT_TYPE_NORMAL, "Word", "heard");
    kc_scoped(kc_object_list) list = events(&d, &kc_kind_event);
    assert_true(has_message(&list, "heard"));
    fixture_close(&d);
}

/* Some are sent meanwhile. */
static void queue_of_a_component_is_limited_and_others_have_their_own(void **state)
{
    (void)state;
    fixture d;
    fixture_open(&d, false);
    for (int i = 0; i < 1200; i++) {
        kc_autofree char *text = kc_asprintf("{'apiVersion':'v1','kind':'ConfigMap','metadata':{"
                                             "'name':'m-%d','namespace':'default'}}",
                                             i);
        kc_auto(kc_object) *about = object_of(text);
        kc_recorder_event(d.recorder, about, KC_EVENT_TYPE_NORMAL, "Noise", "of many");
    }
    kc_recorder_event(kc_recorder_with_component(d.recorder, "other", NULL), d.map,
                      KC_EVENT_TYPE_NORMAL, "Word", "heard");
    kc_scoped(kc_object_list) list = events(&d, &kc_kind_event);
    assert_in_range(list.n, 1001, 1100);
    assert_true(has_message(&list, "heard"));
    fixture_close(&d);
}

static void repeated_events_are_counted_in_one(void **state)
{
    (void)state;
    fixture d;
    fixture_open(&d, false);
    for (int i = 0; i < 5; i++)
        kc_recorder_event(d.recorder, d.map, KC_EVENT_TYPE_NORMAL, "Scaled", "up");
    kc_scoped(kc_object_list) list = events(&d, &kc_kind_event);
    assert_int_equal(list.n, 1);
    assert_int_equal(number_in(list.items[0], "count", NULL), 5);
    fixture_close(&d);
}

static void deleted_event_is_recreated(void **state)
{
    (void)state;
    fixture d;
    fixture_open(&d, false);
    kc_recorder_event(d.recorder, d.map, KC_EVENT_TYPE_NORMAL, "Scaled", "up");
    kc_testenv_advance(d.env, KC_SECOND);
    assert_int_equal(kc_client_delete_all(kc_testenv_client(d.env), &kc_kind_event,
                                          &(kc_list_opts){.ns = "default"}, NULL, NULL),
                     0);
    kc_recorder_event(d.recorder, d.map, KC_EVENT_TYPE_NORMAL, "Scaled", "up");
    kc_scoped(kc_object_list) list = events(&d, &kc_kind_event);
    assert_int_equal(list.n, 1);
    assert_int_equal(number_in(list.items[0], "count", NULL), 2);
    fixture_close(&d);
}

static void event_is_sent_after_server_recovers(void **state)
{
    (void)state;
    fixture d;
    fixture_open(&d, false);
    kc_auto(kc_client) *client = kc_client_ref(kc_manager_live_client(kc_testenv_manager(d.env)));
    kc_recorder_stop(d.recorder, 0);
    d.recorder =
        kc_recorder_new(&(kc_recorder_opts){.client = client, .component = "tester"}, NULL);
    kc_testenv_fault(d.env, &(kc_fault_opts){KC_FAULT_UNAVAILABLE, .chance = 1});
    kc_recorder_event(d.recorder, d.map, KC_EVENT_TYPE_NORMAL, "Scaled", "up");
    kc_testenv_advance(d.env, 12 * KC_SECOND);
    kc_testenv_clear_faults(d.env);
    kc_testenv_advance(d.env, 30 * KC_SECOND);
    kc_scoped(kc_object_list) list = events(&d, &kc_kind_event);
    assert_int_equal(list.n, 1);
    fixture_close(&d);
}

static void events_v1_events_have_series(void **state)
{
    (void)state;
    fixture d;
    fixture_open(&d, true);
    for (int i = 0; i < 4; i++)
        kc_recorder_event(d.recorder, d.map, KC_EVENT_TYPE_NORMAL, "Scaled", "up");
    kc_scoped(kc_object_list) first = events(&d, &kc_kind_events_event);
    assert_int_equal(first.n, 1);
    assert_int_equal(number_in(first.items[0], "series", "count"), 2);
    kc_testenv_advance(d.env, 13 * KC_MINUTE);
    kc_scoped(kc_object_list) ended = events(&d, &kc_kind_events_event);
    assert_int_equal(number_in(ended.items[0], "series", "count"), 4);
    fixture_close(&d);
}

static void null_recorder_records_nothing(void **state)
{
    (void)state;
    kc_recorder_event(NULL, NULL, KC_EVENT_TYPE_NORMAL, "Nothing", "at all");
}

TESTS(event_is_recorded, recorder_with_component_records_in_its_name,
      event_belongs_to_the_field_manager_of_its_recorder,
      rate_limit_of_a_component_does_not_affect_another,
      queue_of_a_component_is_limited_and_others_have_their_own, repeated_events_are_counted_in_one,
      deleted_event_is_recreated, event_is_sent_after_server_recovers, events_v1_events_have_series,
      null_recorder_records_nothing)
