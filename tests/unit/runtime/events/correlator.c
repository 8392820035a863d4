/* SPDX-License-Identifier: Apache-2.0 */
/* Correlation of events: counted, aggregated, rate limited; and series. */
#include "testing.h"

#include "runtime/events/correlator.h"

#define START (INT64_C(1767323045) * KC_SECOND)

static kc_object *pod(void)
{
    return object_of("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'web','namespace':'shop',"
                     "'uid':'u1','resourceVersion':'7'}}");
}

static kc__recorder_note *note_at(const kc_object *about, const char *reason, const char *message,
                                  int64_t seconds)
{
    const kc_recorder_event_opts opts = {
        .about = about, .type = KC_EVENT_TYPE_NORMAL, .reason = reason, .message = message};
    return kc__recorder_note_new(&opts, KC_STR("tester"), KC_STR("host"),
                                 START + seconds * KC_SECOND);
}

typedef struct fixture {
    kc__correlator c;
    kc_object *about;
} fixture;

static void fixture_open(fixture *d)
{
    kc__correlator_init(&d->c);
    d->about = pod();
}

static void fixture_done(fixture *d)
{
    kc__correlator_done(&d->c);
    kc_object_unref(d->about);
}

static kc__correlator_decision decide(fixture *d, const char *message, int64_t seconds,
                                      int64_t *ret_count)
{
    kc_auto(kc__recorder_note) *note = note_at(d->about, "Scaled", message, seconds);
    kc__correlator_decision fate = kc__correlator_decide(&d->c, note);
    if (ret_count)
        *ret_count = note->count;
    return fate;
}

static void repeated_event_increments_count(void **state)
{
    (void)state;
    kc_scoped(fixture) d;
    fixture_open(&d);
    int64_t count;
    assert_int_equal(decide(&d, "up", 0, &count), KC__CORRELATOR_CREATE);
    assert_int_equal(count, 1);
    assert_int_equal(decide(&d, "up", 60, &count), KC__CORRELATOR_PATCH);
    assert_int_equal(count, 2);
}

static void patch_applies_to_the_first_event(void **state)
{
    (void)state;
    kc_scoped(fixture) d;
    fixture_open(&d);
    kc_auto(kc__recorder_note) *first = note_at(d.about, "Scaled", "up", 0);
    kc_auto(kc__recorder_note) *again = note_at(d.about, "Scaled", "up", 5);
    kc__correlator_decide(&d.c, first);
    kc__correlator_decide(&d.c, again);
    assert_true(kc_str_eq(first->name, again->name));
    assert_int_equal(again->first, START);
    kc_scoped(kc_buf) patch = {0};
    kc__recorder_note_patch_core(again, &patch);
    assert_str(kc_buf_str(&patch),
               "{\"count\":2,\"lastTimestamp\":\"2026-01-02T03:04:10Z\",\"message\":\"up\"}");
}

static void tenth_message_is_aggregated(void **state)
{
    (void)state;
    kc_scoped(fixture) d;
    fixture_open(&d);
    for (int i = 1; i <= 9; i++) {
        kc_autofree char *message = kc_asprintf("up to %d", i);
        assert_int_equal(decide(&d, message, i, NULL), KC__CORRELATOR_CREATE);
    }
    kc_auto(kc__recorder_note) *tenth = note_at(d.about, "Scaled", "up to 10", 10);
    assert_int_equal(kc__correlator_decide(&d.c, tenth), KC__CORRELATOR_CREATE);
    assert_str(tenth->message, "(combined from similar events): up to 10");
    kc_auto(kc__recorder_note) *next = note_at(d.about, "Scaled", "up to 11", 11);
    assert_int_equal(kc__correlator_decide(&d.c, next), KC__CORRELATOR_PATCH);
    assert_int_equal(next->count, 2);
}

static void ten_idle_minutes_end_aggregation(void **state)
{
    (void)state;
    kc_scoped(fixture) d;
    fixture_open(&d);
    for (int i = 1; i <= 9; i++) {
        kc_autofree char *message = kc_asprintf("up to %d", i);
        decide(&d, message, i, NULL);
    }
    kc_auto(kc__recorder_note) *late = note_at(d.about, "Scaled", "up to 10", 9 + 601);
    kc__correlator_decide(&d.c, late);
    assert_str(late->message, "up to 10");
}

static void burst_beyond_the_limit_is_skipped(void **state)
{
    (void)state;
    kc_scoped(fixture) d;
    fixture_open(&d);
    for (int i = 0; i < 25; i++)
        assert_int_not_equal(decide(&d, "up", 0, NULL), KC__CORRELATOR_SKIP);
    assert_int_equal(decide(&d, "up", 1, NULL), KC__CORRELATOR_SKIP);
    assert_int_not_equal(decide(&d, "up", 302, NULL), KC__CORRELATOR_SKIP);
    assert_int_equal(decide(&d, "up", 303, NULL), KC__CORRELATOR_SKIP);
}

static void event_has_the_fields_of_core_v1(void **state)
{
    (void)state;
    kc_auto(kc_object) *about = pod();
    kc_auto(kc__recorder_note) *note = note_at(about, "Scaled", "up \"2\"", 0);
    kc_scoped(kc_buf) text = {0};
    kc__recorder_note_write_core(note, &text);
    kc_auto(kc_object) *event = kc_object_parse(kc_buf_str(&text), NULL, NULL);
    assert_non_null(event);
    assert_str(kc_object_namespace(event), "shop");
    assert_true(kc_str_starts(kc_object_name(event), KC_STR("web.")));
    assert_contains(text.p, "\"involvedObject\":{\"kind\":\"Pod\",\"namespace\":\"shop\","
                            "\"name\":\"web\",\"uid\":\"u1\",\"apiVersion\":\"v1\","
                            "\"resourceVersion\":\"7\"}");
}

/* ---- series ---- */

typedef struct written {
    int n;
    int64_t count;
} written;

static void count_series(const kc__recorder_note *note, void *user)
{
    written *w = user;
    w->n++;
    w->count = note->count;
}

static void second_event_starts_a_series(void **state)
{
    (void)state;
    kc_auto(kc_object) *about = pod();
    kc_scoped(kc__correlator_series) s = {0};
    bool series;
    assert_non_null(kc__correlator_series_observe(&s, note_at(about, "Scaled", "a", 0), &series));
    assert_false(series);
    kc__recorder_note *second =
        kc__correlator_series_observe(&s, note_at(about, "Scaled", "b", 1), &series);
    assert_true(series);
    assert_int_equal(second->count, 2);
    assert_null(kc__correlator_series_observe(&s, note_at(about, "Scaled", "c", 2), &series));
    written w = {0};
    kc__correlator_series_sweep(&s, START + 60 * KC_SECOND, false, count_series, &w);
    assert_int_equal(w.n, 0);
    kc__correlator_series_sweep(&s, START + 60 * KC_SECOND, true, count_series, &w);
    assert_int_equal(w.n, 1);
    assert_int_equal(w.count, 3);
}

static void series_ends_after_six_idle_minutes(void **state)
{
    (void)state;
    kc_auto(kc_object) *about = pod();
    kc_scoped(kc__correlator_series) s = {0};
    bool series;
    written w = {0};
    kc__correlator_series_observe(&s, note_at(about, "Scaled", "a", 0), &series);
    kc__correlator_series_observe(&s, note_at(about, "Scaled", "a", 1), &series);
    kc__correlator_series_observe(&s, note_at(about, "Once", "a", 1), &series);
    kc__correlator_series_sweep(&s, START + 362 * KC_SECOND, false, count_series, &w);
    assert_int_equal(w.n, 1);
    assert_int_equal(s.notes.n, 0);
    kc__correlator_series_observe(&s, note_at(about, "Scaled", "a", 400), &series);
    assert_false(series);
}

TESTS(repeated_event_increments_count, patch_applies_to_the_first_event,
      tenth_message_is_aggregated, ten_idle_minutes_end_aggregation,
      burst_beyond_the_limit_is_skipped, event_has_the_fields_of_core_v1,
      second_event_starts_a_series, series_ends_after_six_idle_minutes)
