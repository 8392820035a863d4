/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of events: counted, combined, kept back; and series. */
#include "testing.h"

#include "runtime/correlate.h"

#define START (INT64_C(1767323045) * KC_SECOND)

static kc_object *pod(void)
{
    return object_of("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'web','namespace':'shop',"
                     "'uid':'u1','resourceVersion':'7'}}");
}

static kc__event_note *note_at(const kc_object *about, const char *reason, const char *message,
                               int64_t seconds)
{
    const kc_event_opts opts = {
        .about = about, .type = KC_NORMAL, .reason = reason, .message = message};
    return kc__event_note_new(&opts, KC_STR("tester"), KC_STR("host"), START + seconds * KC_SECOND);
}

typedef struct desk {
    kc__correlator c;
    kc_object *about;
} desk;

static void desk_open(desk *d)
{
    kc__correlator_init(&d->c);
    d->about = pod();
}

static void desk_done(desk *d)
{
    kc__correlator_done(&d->c);
    kc_object_unref(d->about);
}

static kc__event_fate say(desk *d, const char *message, int64_t seconds, int64_t *ret_count)
{
    kc_auto(kc__event_note) *note = note_at(d->about, "Scaled", message, seconds);
    kc__event_fate fate = kc__correlate(&d->c, note);
    if (ret_count)
        *ret_count = note->count;
    return fate;
}

static void a_repeated_event_is_counted(void **state)
{
    (void)state;
    kc_scoped(desk) d;
    desk_open(&d);
    int64_t count;
    assert_int_equal(say(&d, "up", 0, &count), KC__EVENT_CREATE);
    assert_int_equal(count, 1);
    assert_int_equal(say(&d, "up", 60, &count), KC__EVENT_PATCH);
    assert_int_equal(count, 2);
}

static void the_patch_goes_to_the_first_event(void **state)
{
    (void)state;
    kc_scoped(desk) d;
    desk_open(&d);
    kc_auto(kc__event_note) *first = note_at(d.about, "Scaled", "up", 0);
    kc_auto(kc__event_note) *again = note_at(d.about, "Scaled", "up", 5);
    kc__correlate(&d.c, first);
    kc__correlate(&d.c, again);
    assert_true(kc_str_eq(first->name, again->name));
    assert_int_equal(again->first, START);
    kc_scoped(kc_buf) patch = {0};
    kc__event_note_patch_core(again, &patch);
    assert_str(kc_buf_str(&patch),
               "{\"count\":2,\"lastTimestamp\":\"2026-01-02T03:04:10Z\",\"message\":\"up\"}");
}

static void the_tenth_message_is_combined(void **state)
{
    (void)state;
    kc_scoped(desk) d;
    desk_open(&d);
    for (int i = 1; i <= 9; i++) {
        kc_autofree char *message = kc_asprintf("up to %d", i);
        assert_int_equal(say(&d, message, i, NULL), KC__EVENT_CREATE);
    }
    kc_auto(kc__event_note) *tenth = note_at(d.about, "Scaled", "up to 10", 10);
    assert_int_equal(kc__correlate(&d.c, tenth), KC__EVENT_CREATE);
    assert_str(tenth->message, "(combined from similar events): up to 10");
    kc_auto(kc__event_note) *next = note_at(d.about, "Scaled", "up to 11", 11);
    assert_int_equal(kc__correlate(&d.c, next), KC__EVENT_PATCH);
    assert_int_equal(next->count, 2);
}

static void ten_quiet_minutes_end_combining(void **state)
{
    (void)state;
    kc_scoped(desk) d;
    desk_open(&d);
    for (int i = 1; i <= 9; i++) {
        kc_autofree char *message = kc_asprintf("up to %d", i);
        say(&d, message, i, NULL);
    }
    kc_auto(kc__event_note) *late = note_at(d.about, "Scaled", "up to 10", 9 + 601);
    kc__correlate(&d.c, late);
    assert_str(late->message, "up to 10");
}

static void too_much_talk_is_kept_back(void **state)
{
    (void)state;
    kc_scoped(desk) d;
    desk_open(&d);
    for (int i = 0; i < 25; i++)
        assert_int_not_equal(say(&d, "up", 0, NULL), KC__EVENT_SKIP);
    assert_int_equal(say(&d, "up", 1, NULL), KC__EVENT_SKIP);
    assert_int_not_equal(say(&d, "up", 302, NULL), KC__EVENT_SKIP);
    assert_int_equal(say(&d, "up", 303, NULL), KC__EVENT_SKIP);
}

static void an_event_is_written_as_the_server_wants_it(void **state)
{
    (void)state;
    kc_auto(kc_object) *about = pod();
    kc_auto(kc__event_note) *note = note_at(about, "Scaled", "up \"2\"", 0);
    kc_scoped(kc_buf) text = {0};
    kc__event_note_write_core(note, &text);
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

static void count_series(const kc__event_note *note, void *user)
{
    written *w = user;
    w->n++;
    w->count = note->count;
}

static void a_series_begins_with_the_second_event(void **state)
{
    (void)state;
    kc_auto(kc_object) *about = pod();
    kc_scoped(kc__series) s = {0};
    bool series;
    assert_non_null(kc__series_observe(&s, note_at(about, "Scaled", "a", 0), &series));
    assert_false(series);
    kc__event_note *second = kc__series_observe(&s, note_at(about, "Scaled", "b", 1), &series);
    assert_true(series);
    assert_int_equal(second->count, 2);
    assert_null(kc__series_observe(&s, note_at(about, "Scaled", "c", 2), &series));
    written w = {0};
    kc__series_sweep(&s, START + 60 * KC_SECOND, false, count_series, &w);
    assert_int_equal(w.n, 0);
    kc__series_sweep(&s, START + 60 * KC_SECOND, true, count_series, &w);
    assert_int_equal(w.n, 1);
    assert_int_equal(w.count, 3);
}

static void a_series_ends_after_six_quiet_minutes(void **state)
{
    (void)state;
    kc_auto(kc_object) *about = pod();
    kc_scoped(kc__series) s = {0};
    bool series;
    written w = {0};
    kc__series_observe(&s, note_at(about, "Scaled", "a", 0), &series);
    kc__series_observe(&s, note_at(about, "Scaled", "a", 1), &series);
    kc__series_observe(&s, note_at(about, "Once", "a", 1), &series);
    kc__series_sweep(&s, START + 362 * KC_SECOND, false, count_series, &w);
    assert_int_equal(w.n, 1);
    assert_int_equal(s.notes.n, 0);
    kc__series_observe(&s, note_at(about, "Scaled", "a", 400), &series);
    assert_false(series);
}

TESTS(a_repeated_event_is_counted, the_patch_goes_to_the_first_event, the_tenth_message_is_combined,
      ten_quiet_minutes_end_combining, too_much_talk_is_kept_back,
      an_event_is_written_as_the_server_wants_it, a_series_begins_with_the_second_event,
      a_series_ends_after_six_quiet_minutes)
