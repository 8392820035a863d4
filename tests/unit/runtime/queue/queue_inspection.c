/* SPDX-License-Identifier: Apache-2.0 */
/* Introspection of a queue: causes, metrics, the JSON of its keys. */
#include "queue_testing.h"

/* ---- causes ---- */

static const kc_kind pod_kind = {.version = "v1", .kind = "Pod"};

static void item_has_its_causes(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    kc_clock_advance(f.clock, 41);
    add_with(&f, "a",
             (kc_queue_add_opts){.cause = &(kc_queue_cause){.reason = KC_QUEUE_REASON_UPDATED,
                                                            .kind = &pod_kind,
                                                            .revision = 12}});
    kc_queue_item item;
    assert_next(&f, "a", &item);
    assert_int_equal(item.n_causes, 1);
    assert_int_equal(item.more_causes, 0);
    assert_int_equal(item.causes[0].reason, KC_QUEUE_REASON_UPDATED);
    assert_int_equal(item.causes[0].revision, 12);
    assert_ptr_equal(item.causes[0].kind, &pod_kind);
    assert_str(item.causes[0].key.name, "a");
    assert_int_equal(item.causes[0].at, kc_clock_now(f.clock));
    kc_queue_done(f.queue, &item);
    add(&f, "a");
    assert_next(&f, "a", &item);
    assert_int_equal(item.n_causes, 1);
    assert_int_equal(item.causes[0].reason, KC_QUEUE_REASON_OTHER);
    kc_queue_done(f.queue, &item);
}

static void newest_causes_are_kept_and_others_counted(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    char name[200] = "child-";
    for (int i = 0; i < 10; i++) {
        memset(name + 6, 'a' + i, sizeof(name) - 7);
        add_with(&f, "a",
                 (kc_queue_add_opts){.cause = &(kc_queue_cause){.reason = KC_QUEUE_REASON_CREATED,
                                                                .key = KC_KEY("ns", name)}});
    }
    add(&f, "a");
    kc_queue_item item;
    assert_next(&f, "a", &item);
    assert_int_equal(item.n_causes, KC_QUEUE_CAUSES);
    assert_int_equal(item.more_causes, 7);
    assert_int_equal(item.causes[0].reason, KC_QUEUE_REASON_OTHER);
    assert_str(item.causes[0].key.name, "a");
    assert_str(item.causes[1].key.ns, "ns");
    assert_int_equal(item.causes[1].key.name.n, 110); /* Cut. */
    assert_true(kc_str_starts(item.causes[1].key.name, KC_STR("child-jjj")));
    assert_true(kc_str_starts(item.causes[3].key.name, KC_STR("child-hhh")));

    /* What is added meanwhile belongs to the next time. */
    add_with(&f, "a",
             (kc_queue_add_opts){.cause = &(kc_queue_cause){.reason = KC_QUEUE_REASON_DELETED,
                                                            .key = KC_KEY("ns", "x")}});
    assert_true(kc_str_starts(item.causes[1].key.name, KC_STR("child-jjj")));
    kc_queue_done(f.queue, &item);
    assert_next(&f, "a", &item);
    assert_int_equal(item.n_causes, 1);
    assert_int_equal(item.more_causes, 0);
    assert_str(item.causes[0].key.name, "x");
    kc_queue_done(f.queue, &item);
}

/* ---- reads ---- */

static void metrics_have_the_names_of_controller_runtime(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_scoped(fixture) f = begin((kc_queue_opts){.name = "robot", .metrics = metrics});
    kc_queue_item item;
    add(&f, "a");
    add(&f, "b");
    add(&f, "b");
    add_with(&f, "c", (kc_queue_add_opts){.priority = KC_PRIORITY_LOW});
    kc_queue_add_after(f.queue, KC_KEY("ns", "d"), KC_SECOND);
    assert_next(&f, "a", &item);
    kc_clock_advance(f.clock, 2 * KC_SECOND);
    kc_scoped(kc_buf) out = {0};
    kc_metrics_write(metrics, &out);
    static const char *const lines[] = {
        "workqueue_adds_total{name=\"robot\",controller=\"robot\"} 4\n",
        "workqueue_depth{name=\"robot\",controller=\"robot\",priority=\"0\"} 2\n",
        "workqueue_depth{name=\"robot\",controller=\"robot\",priority=\"-100\"} 1\n",
        "workqueue_retries_total{name=\"robot\",controller=\"robot\"} 1\n",
        "workqueue_queue_duration_seconds_count{name=\"robot\",controller=\"robot\"} 1\n",
        "workqueue_work_duration_seconds_count{name=\"robot\",controller=\"robot\"} 0\n",
        "workqueue_unfinished_work_seconds{name=\"robot\",controller=\"robot\"} 2\n",
        "workqueue_longest_running_processor_seconds{name=\"robot\",controller=\"robot\"} 2\n",
    };
    for (size_t i = 0; i < KC_COUNT(lines); i++)
        assert_contains(kc_buf_cstr(&out), lines[i]);
    kc_queue_done(f.queue, &item);
    kc_buf_clear(&out);
    kc_metrics_write(metrics, &out);
    assert_contains(kc_buf_cstr(&out),
                    "workqueue_work_duration_seconds_sum{name=\"robot\",controller=\"robot\"} 2\n");
    assert_contains(kc_buf_cstr(&out),
                    "workqueue_unfinished_work_seconds{name=\"robot\",controller=\"robot\"} 0\n");
    f.queue = kc_queue_free(f.queue);
    kc_metrics_write(metrics, &out);
}

static void priorities_beyond_the_25th_share_one_label(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_scoped(fixture) f = begin((kc_queue_opts){.name = "robot", .metrics = metrics});
    char name[16];
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        add_with(&f, name, (kc_queue_add_opts){.priority = i});
    }
    assert_comes(&f, "p29");
    kc_scoped(kc_buf) out = {0};
    kc_metrics_write(metrics, &out);
    assert_contains(kc_buf_cstr(&out),
                    "workqueue_depth{name=\"robot\",controller=\"robot\",priority=\"24\"} 1\n");
    assert_contains(
        kc_buf_cstr(&out),
        "workqueue_depth{name=\"robot\",controller=\"robot\",priority=\"exceeded_cardinality_limit"
        "\"} 4\n");
    kc_queue_shut_down(f.queue);
    kc_buf_clear(&out);
    kc_metrics_write(metrics, &out);
    assert_contains(kc_buf_cstr(&out), "priority=\"exceeded_cardinality_limit\"} 0\n");
}

static void queue_is_written_as_json(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){.name = "robot"});
    kc_queue_item item;
    add(&f, "a");
    assert_next(&f, "a", &item);
    kc_clock_advance(f.clock, KC_SECOND);
    add_with(&f, "b",
             (kc_queue_add_opts){.cause = &(kc_queue_cause){.reason = KC_QUEUE_REASON_UPDATED,
                                                            .kind = &pod_kind,
                                                            .key = KC_KEY("ns", "pod"),
                                                            .revision = 7}});
    kc_queue_add_rate_limited(f.queue, KC_KEY("ns", "r"));
    kc_queue_add_after(f.queue, KC_KEY("", "node"), KC_MINUTE);
    kc_scoped(kc_buf) out = {0};
    kc_queue_write(f.queue, 10, &out);
    assert_string_equal(
        kc_buf_cstr(&out),
        "{\"name\":\"robot\",\"ready\":1,\"processing\":1,\"delayed\":2,\"retrying\":1,"
        "\"shuttingDown\":false,\"items\":["
        "{\"key\":\"ns/a\",\"state\":\"processing\",\"priority\":0,\"for\":\"1s\",\"failures\":0,"
        "\"causes\":[{\"reason\":\"Other\",\"key\":\"ns/a\",\"ago\":\"1s\"}],\"moreCauses\":0},"
        "{\"key\":\"ns/b\",\"state\":\"ready\",\"priority\":0,\"for\":\"0s\",\"failures\":0,"
        "\"causes\":[{\"reason\":\"Updated\",\"kind\":\"Pod\",\"key\":\"ns/pod\",\"revision\":7,"
        "\"ago\":\"0s\"}],\"moreCauses\":0},"
        "{\"key\":\"ns/r\",\"state\":\"retrying\",\"priority\":0,\"for\":\"5ms\",\"failures\":1,"
        "\"causes\":[{\"reason\":\"Retry\",\"key\":\"ns/r\",\"ago\":\"0s\"}],\"moreCauses\":0},"
        "{\"key\":\"node\",\"state\":\"delayed\",\"priority\":0,\"for\":\"1m0s\",\"failures\":0,"
        "\"causes\":[{\"reason\":\"Other\",\"key\":\"node\",\"ago\":\"0s\"}],\"moreCauses\":0}]}");
    kc_queue_done(f.queue, &item);
}

static void only_the_first_keys_of_many_are_written(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    char name[16];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "d%d", i * 37 % 100);
        kc_queue_add_after(f.queue, KC_KEY("", name), KC_SECOND + i * 37 % 100);
        snprintf(name, sizeof(name), "r%d", i);
        kc_queue_add(f.queue, KC_KEY("", name));
    }
    kc_scoped(kc_buf) out = {0};
    kc_queue_write(f.queue, 3, &out);
    const char *at = kc_buf_cstr(&out);
    static const char *const keys[] = {"r0", "r1", "r2", "d0", "d1", "d2"};
    for (size_t i = 0; i < KC_COUNT(keys); i++) {
        snprintf(name, sizeof(name), "{\"key\":\"%s\"", keys[i]);
        at = strstr(at, name);
        assert_non_null(at);
    }
    assert_null(strstr(kc_buf_cstr(&out), "\"d3\""));
    assert_null(strstr(kc_buf_cstr(&out), "\"r3\""));
}

TESTS(priorities_beyond_the_25th_share_one_label, item_has_its_causes,
      newest_causes_are_kept_and_others_counted, metrics_have_the_names_of_controller_runtime,
      queue_is_written_as_json, only_the_first_keys_of_many_are_written)
