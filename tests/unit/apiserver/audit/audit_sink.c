/* SPDX-License-Identifier: Apache-2.0 */
/* The buffer and the thread of a sink: order, bounds, batches, truncation, waiting requests. */
#include "testing.h"

#include "apiserver/audit/audit_sink.h"
#include "kc/thread.h"

/* An output that keeps what it gets, and can be held or made to fail. */
typedef struct recorder {
    kc__audit_output output;
    kc_mutex lock;
    kc_cond changed;
    kc_buf text; /* Guarded by the lock, as the others. Batches end with '|'. */
    bool held, fails;
    size_t entered;
} recorder;

static int record_events(kc__audit_output *output, const kc__audit_events *events, kc_error *err)
{
    recorder *r = kc_container_of(output, recorder, output);
    int result = 0;
    kc_locked (&r->lock) {
        r->entered++;
        kc_cond_broadcast(&r->changed);
        while (r->held)
            kc_cond_wait(&r->changed, &r->lock);
        for (size_t i = 0; i < events->n; i++)
            kc_buf_append(&r->text, kc_str_trim(kc__audit_event_at(events, i)));
        kc_buf_putc(&r->text, '|');
        result = r->fails ? kc_error_set(err, KC_SERVICE_UNAVAILABLE, "no room") : 0;
    }
    return result;
}

static void keep_recorder(kc__audit_output *output)
{
    (void)output;
}

static void recorder_init(recorder *r)
{
    *r = (recorder){.output = {.plugin = "log", .deliver = record_events, .free = keep_recorder}};
    kc_mutex_init(&r->lock);
    kc_cond_init(&r->changed);
}

static void recorder_done(recorder *r)
{
    kc_buf_done(&r->text);
    kc_cond_done(&r->changed);
    kc_mutex_done(&r->lock);
}

typedef struct sink_stage {
    recorder r;
    kc_metrics *metrics;
    kc_metric *errors;
    kc__audit_sink *sink;
    kc__loop *loop;
} sink_stage;

static void sink_stage_start(sink_stage *t, kc__audit_sink_opts opts)
{
    recorder_init(&t->r);
    t->metrics = kc_metrics_new();
    t->errors = kc_metrics_counter(
        t->metrics, &(kc_metric_opts){.name = "errors", .labels = {{"plugin", .max_values = 10}}},
        NULL);
    opts.output = &t->r.output;
    opts.buffer_events = opts.buffer_events ? opts.buffer_events : 1000;
    t->sink = kc__audit_sink_start(&opts, t->errors, NULL);
    t->loop = kc__loop_start("test", NULL, NULL);
    assert_non_null(t->sink);
}

static void sink_stage_end(sink_stage *t)
{
    t->sink = kc__audit_sink_stop(t->sink);
}

static void sink_stage_done(sink_stage *t)
{
    kc__audit_sink_stop(t->sink);
    kc__loop_stop(t->loop);
    kc_metrics_free(t->metrics);
    recorder_done(&t->r);
}

static double errors_of(sink_stage *t, const char *plugin)
{
    return kc_counter_value(kc_metric_counter(t->errors, kc_cstr(plugin)));
}

static void hold_recorder(sink_stage *t, bool held)
{
    kc_locked (&t->r.lock) {
        t->r.held = held;
        kc_cond_broadcast(&t->r.changed);
    }
}

static void await_entered(sink_stage *t, size_t n)
{
    kc_locked (&t->r.lock)
        while (t->r.entered < n)
            kc_cond_wait(&t->r.changed, &t->r.lock);
}

static void push_text(sink_stage *t, const char *text)
{
    kc__audit_sink_push(t->sink, &(kc__audit_line){.text = kc_cstr(text)}, NULL);
}

static void events_are_delivered_in_order_before_the_sink_stops(void **state)
{
    (void)state;
    kc_scoped(sink_stage) t = {0};
    sink_stage_start(&t, (kc__audit_sink_opts){.mode = KC__AUDIT_BATCH});
    hold_recorder(&t, true);
    push_text(&t, "a\n");
    await_entered(&t, 1);
    push_text(&t, "b\n");
    push_text(&t, "c\n");
    hold_recorder(&t, false);
    sink_stage_end(&t);
    assert_str(kc_buf_str(&t.r.text), "a|bc|");
}

static void events_beyond_the_buffer_are_dropped_and_counted(void **state)
{
    (void)state;
    kc_scoped(sink_stage) t = {0};
    sink_stage_start(&t, (kc__audit_sink_opts){.mode = KC__AUDIT_BATCH, .buffer_events = 3});
    hold_recorder(&t, true);
    push_text(&t, "a\n");
    await_entered(&t, 1);
    for (int i = 0; i < 5; i++)
        push_text(&t, "x\n");
    assert_true(errors_of(&t, "buffered") == 3);
    hold_recorder(&t, false);
    sink_stage_end(&t);
    assert_str(kc_buf_str(&t.r.text), "a|xx|");
}

static void bytes_of_the_buffer_are_bounded(void **state)
{
    (void)state;
    kc_scoped(sink_stage) t = {0};
    sink_stage_start(&t, (kc__audit_sink_opts){.mode = KC__AUDIT_BATCH, .buffer_bytes = 10});
    hold_recorder(&t, true);
    push_text(&t, "12345\n");
    await_entered(&t, 1);
    push_text(&t, "12345\n");
    push_text(&t, "1\n");
    assert_true(errors_of(&t, "buffered") == 1);
    hold_recorder(&t, false);
    sink_stage_end(&t);
    assert_str(kc_buf_str(&t.r.text), "12345|1|");
}

static void batches_have_at_most_their_number_of_events(void **state)
{
    (void)state;
    kc_scoped(sink_stage) t = {0};
    sink_stage_start(&t, (kc__audit_sink_opts){
                             .mode = KC__AUDIT_BATCH, .batch_events = 2, .batch_wait = KC_MINUTE});
    push_text(&t, "a\n");
    push_text(&t, "b\n");
    await_entered(&t, 1);
    push_text(&t, "c\n");
    sink_stage_end(&t);
    assert_str(kc_buf_str(&t.r.text), "ab|c|");
}

static void failed_delivery_is_counted(void **state)
{
    (void)state;
    kc_scoped(sink_stage) t = {0};
    sink_stage_start(&t, (kc__audit_sink_opts){.mode = KC__AUDIT_BATCH});
    t.r.fails = true;
    push_text(&t, "a\n");
    sink_stage_end(&t);
    assert_true(errors_of(&t, "log") == 1);
}

static void event_that_is_too_large_is_shortened_or_dropped(void **state)
{
    (void)state;
    kc_scoped(sink_stage) t = {0};
    sink_stage_start(&t, (kc__audit_sink_opts){.mode = KC__AUDIT_BATCH,
                                               .truncate = true,
                                               .max_event_bytes = 6,
                                               .max_batch_bytes = 100});
    hold_recorder(&t, true);
    kc__audit_sink_push(t.sink, &(kc__audit_line){KC_STR("long event\n"), 0, KC_STR("short\n"), 0},
                        NULL);
    kc__audit_sink_push(
        t.sink, &(kc__audit_line){KC_STR("long event\n"), 0, KC_STR("too long\n"), 0}, NULL);
    push_text(&t, "long event\n");
    hold_recorder(&t, false);
    sink_stage_end(&t);
    assert_str(kc_buf_str(&t.r.text), "short|");
    assert_true(errors_of(&t, "truncate") == 2);
}

static void truncation_of_legacy_lines_goes_by_the_size_of_the_json(void **state)
{
    (void)state;
    kc_scoped(sink_stage) t = {0};
    sink_stage_start(&t, (kc__audit_sink_opts){.mode = KC__AUDIT_BATCH,
                                               .truncate = true,
                                               .max_event_bytes = 6,
                                               .max_batch_bytes = 100});
    hold_recorder(&t, true);
    const kc_str line = KC_STR("a legacy line\n");
    kc__audit_sink_push(t.sink, &(kc__audit_line){line, 6, line, 0}, NULL);
    kc__audit_sink_push(t.sink, &(kc__audit_line){line, 7, line, 6}, NULL);
    kc__audit_sink_push(t.sink, &(kc__audit_line){line, 7, line, 7}, NULL);
    hold_recorder(&t, false);
    sink_stage_end(&t);
    assert_true(errors_of(&t, "truncate") == 1);
}

/* ---- long events ---- */

static void push_long_text(sink_stage *t, _Atomic size_t *total, kc_str body, bool omit)
{
    kc__audit_long_event *event = kc__audit_long_event_new(total, omit);
    kc_buf_puts(&event->json, "{\"a\":1,\"z\":2}\n");
    event->object_at = strlen("{\"a\":1");
    kc_buf_puts(&event->short_json, "{\"short\":1}\n");
    assert_true(kc__audit_long_event_append(event, body));
    kc__audit_sink_push_long(t->sink, event);
    kc__audit_long_event_unref(event);
}

static void long_event_is_completed_and_delivered_in_order(void **state)
{
    (void)state;
    _Atomic size_t total = 0;
    kc_scoped(sink_stage) t = {0};
    sink_stage_start(&t, (kc__audit_sink_opts){.mode = KC__AUDIT_BATCH});
    hold_recorder(&t, true);
    push_text(&t, "x\n");
    await_entered(&t, 1);
    push_text(&t, "a\n");
    push_text(&t, "b\n");
    push_long_text(&t, &total, KC_STR("{\"kind\":\"List\"}\n"), false);
    push_long_text(&t, &total, KC_STR("kind: List\nitems:\n- metadata:\n    managedFields: []\n"),
                   true);
    push_text(&t, "c\n");
    assert_true(atomic_load(&total) > 0);
    hold_recorder(&t, false);
    sink_stage_end(&t);
    assert_str(kc_buf_str(&t.r.text),
               "x|ab|{\"a\":1,\"responseObject\":{\"kind\":\"List\"},\"z\":2}|"
               "{\"a\":1,\"responseObject\":{\"kind\":\"List\",\"items\":[{\"metadata\":{}}]},"
               "\"z\":2}|c|");
    assert_int_equal(atomic_load(&total), 0);
}

static void long_event_beyond_the_size_of_an_event_loses_its_objects(void **state)
{
    (void)state;
    _Atomic size_t total = 0;
    kc_scoped(sink_stage) t = {0};
    sink_stage_start(&t, (kc__audit_sink_opts){.mode = KC__AUDIT_BATCH,
                                               .truncate = true,
                                               .max_event_bytes = 20,
                                               .max_batch_bytes = 100});
    push_long_text(&t, &total, KC_STR("{\"kind\":\"List\"}"), false);
    sink_stage_end(&t);
    assert_str(kc_buf_str(&t.r.text), "{\"short\":1}|");
}

static void captured_bodies_have_a_bound(void **state)
{
    (void)state;
    _Atomic size_t total = KC__AUDIT_MAX_BODIES - 10;
    kc__audit_long_event *event = kc__audit_long_event_new(&total, false);
    assert_true(kc__audit_long_event_append(event, KC_STR("1234567")));
    assert_false(kc__audit_long_event_append(event, KC_STR("1234567")));
    assert_int_equal(atomic_load(&total), KC__AUDIT_MAX_BODIES - 10);
    kc__audit_long_event_unref(event);
    assert_int_equal(atomic_load(&total), KC__AUDIT_MAX_BODIES - 10);
}

/* ---- waiting requests ---- */

typedef struct waiter {
    kc__audit_wait wait;
    kc_latch done;
    bool failed;
} waiter;

static void waiter_released(kc__loop_task *task)
{
    waiter *w = kc_container_of(task, waiter, wait.task);
    w->failed = atomic_load(&w->wait.failed);
    kc_latch_count_down(&w->done);
}

static void waiter_init(waiter *w, kc__loop *loop)
{
    *w = (waiter){.wait = {.task.run = waiter_released, .loop = loop}};
    atomic_init(&w->wait.pending, 1);
    kc_latch_init(&w->done);
    kc_latch_add(&w->done, 1);
}

static bool waits_and_fails(kc__audit_mode mode, bool fails)
{
    kc_scoped(sink_stage) t = {0};
    waiter w;
    sink_stage_start(&t, (kc__audit_sink_opts){.mode = mode});
    t.r.fails = fails;
    hold_recorder(&t, true);
    waiter_init(&w, t.loop);
    kc__audit_sink_push(t.sink, &(kc__audit_line){.text = KC_STR("a\n")}, &w.wait);
    kc__audit_wait_release(&w.wait);
    await_entered(&t, 1);
    if (mode != KC__AUDIT_BATCH)
        assert_int_equal(atomic_load(&w.wait.pending), 1);
    hold_recorder(&t, false);
    kc_latch_wait(&w.done);
    kc_latch_done(&w.done);
    return w.failed;
}

static void request_waits_for_delivery_in_blocking_modes(void **state)
{
    (void)state;
    assert_false(waits_and_fails(KC__AUDIT_BATCH, true));
    assert_false(waits_and_fails(KC__AUDIT_BLOCKING, true));
    assert_false(waits_and_fails(KC__AUDIT_BLOCKING_STRICT, false));
    assert_true(waits_and_fails(KC__AUDIT_BLOCKING_STRICT, true));
}

static void request_without_its_first_stage_waits_for_room_and_does_not_fail(void **state)
{
    (void)state;
    kc_scoped(sink_stage) t = {0};
    waiter w;
    sink_stage_start(&t,
                     (kc__audit_sink_opts){.mode = KC__AUDIT_BLOCKING_STRICT, .buffer_events = 4});
    t.r.fails = true;
    hold_recorder(&t, true);
    waiter_init(&w, t.loop);
    push_text(&t, "a\n");
    await_entered(&t, 1);
    push_text(&t, "b\n");
    assert_false(kc__audit_sink_hold(t.sink, &w.wait));
    push_text(&t, "c\n");
    assert_true(kc__audit_sink_hold(t.sink, &w.wait));
    kc__audit_wait_release(&w.wait);
    assert_int_equal(atomic_load(&w.wait.pending), 1);
    hold_recorder(&t, false);
    kc_latch_wait(&w.done);
    kc_latch_done(&w.done);
    assert_false(w.failed);
}

static void drained_sink_still_delivers(void **state)
{
    (void)state;
    kc_scoped(sink_stage) t = {0};
    sink_stage_start(&t, (kc__audit_sink_opts){.mode = KC__AUDIT_BLOCKING});
    kc__audit_sink_drain(t.sink);
    push_text(&t, "a\n");
    sink_stage_end(&t);
    assert_str(kc_buf_str(&t.r.text), "a|");
}

TESTS(events_are_delivered_in_order_before_the_sink_stops,
      events_beyond_the_buffer_are_dropped_and_counted, bytes_of_the_buffer_are_bounded,
      batches_have_at_most_their_number_of_events, failed_delivery_is_counted,
      event_that_is_too_large_is_shortened_or_dropped,
      truncation_of_legacy_lines_goes_by_the_size_of_the_json,
      long_event_is_completed_and_delivered_in_order,
      long_event_beyond_the_size_of_an_event_loses_its_objects, captured_bodies_have_a_bound,
      request_without_its_first_stage_waits_for_room_and_does_not_fail,
      request_waits_for_delivery_in_blocking_modes, drained_sink_still_delivers)
