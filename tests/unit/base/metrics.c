/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/clock.h"
#include "kc/metrics.h"
#include "kc/thread.h"

#include <math.h>
#include <stdio.h>

#define assert_written(metrics, text)                  \
    do {                                               \
        kc_scoped(kc_buf) out_ = {0};                  \
        kc_metrics_write(metrics, &out_);              \
        assert_string_equal(kc_buf_cstr(&out_), text); \
    } while (0)

/* ---- text format ---- */

static void empty_registry_writes_nothing(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    assert_written(metrics, "");
}

static void counter_without_labels_starts_at_zero(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_metric *metric =
        kc_metrics_counter(metrics, &(kc_metric_opts){.name = "a_total", .help = "All."}, NULL);
    assert_written(metrics, "# HELP a_total All.\n# TYPE a_total counter\na_total 0\n");
    kc_counter *counter = kc_metric_counter(metric);
    kc_counter_inc(counter);
    kc_counter_add(counter, 1000000);
    assert_written(metrics, "# HELP a_total All.\n# TYPE a_total counter\na_total 1000001\n");
    kc_counter_add(counter, 0.5);
    assert_true(kc_counter_value(counter) == 1000001.5);
    assert_written(metrics, "# HELP a_total All.\n# TYPE a_total counter\na_total 1.0000015e+06\n");
}

static void metrics_are_sorted_by_name_and_series_by_values(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_metric *b = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "b_total",
                          .labels = {{"verb", KC_LABEL_VALUES("get", "list", "ge")},
                                     {"resource", .max_values = 10}}},
        NULL);
    kc_metrics_gauge(metrics, &(kc_metric_opts){.name = "a"}, NULL);
    kc_metrics_gauge(metrics,
                     &(kc_metric_opts){.name = "unused", .labels = {{"x", .max_values = 1}}}, NULL);
    kc_counter_inc(kc_metric_counter(b, KC_STR("list"), KC_STR("pods")));
    kc_counter_inc(kc_metric_counter(b, KC_STR("get"), KC_STR("pods")));
    kc_counter_inc(kc_metric_counter(b, KC_STR("get"), KC_STR("nodes")));
    kc_counter_inc(kc_metric_counter(b, KC_STR("ge"), KC_STR("z")));
    kc_counter_inc(kc_metric_counter(b, KC_STR("get"), KC_STR("pods")));
    assert_written(metrics, "# TYPE a gauge\na 0\n"
                            "# TYPE b_total counter\n"
                            "b_total{verb=\"ge\",resource=\"z\"} 1\n"
                            "b_total{verb=\"get\",resource=\"nodes\"} 1\n"
                            "b_total{verb=\"get\",resource=\"pods\"} 2\n"
                            "b_total{verb=\"list\",resource=\"pods\"} 1\n");
}

static void histogram_writes_cumulative_buckets(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    static const double buckets[] = {0.1, 1, 1000000};
    kc_metric *metric = kc_metrics_histogram(metrics,
                                             &(kc_metric_opts){.name = "h_seconds",
                                                               .buckets = buckets,
                                                               .n_buckets = 3,
                                                               .labels = {{"x", .max_values = 2}}},
                                             NULL);
    kc_histogram *h = kc_metric_histogram(metric, KC_STR("y"));
    kc_histogram_observe(h, 0.1); /* A bound belongs to its bucket. */
    kc_histogram_observe_duration(h, 500 * KC_MILLISECOND);
    kc_histogram_observe(h, 0.5);
    kc_histogram_observe(h, 2e6);
    assert_written(metrics, "# TYPE h_seconds histogram\n"
                            "h_seconds_bucket{x=\"y\",le=\"0.1\"} 1\n"
                            "h_seconds_bucket{x=\"y\",le=\"1\"} 3\n"
                            "h_seconds_bucket{x=\"y\",le=\"1e+06\"} 3\n"
                            "h_seconds_bucket{x=\"y\",le=\"+Inf\"} 4\n"
                            "h_seconds_sum{x=\"y\"} 2.0000011e+06\n"
                            "h_seconds_count{x=\"y\"} 4\n");
    assert_int_equal(kc_histogram_count(h), 4);
    assert_true(kc_histogram_sum(h) == 2000001.1);
}

static void histogram_has_default_buckets(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_metric *metric = kc_metrics_histogram(metrics, &(kc_metric_opts){.name = "h"}, NULL);
    kc_histogram_observe(kc_metric_histogram(metric), (double)NAN);
    kc_scoped(kc_buf) out = {0};
    kc_metrics_write(metrics, &out);
    assert_contains(kc_buf_cstr(&out), "# TYPE h histogram\nh_bucket{le=\"0.005\"} 0\n"
                                       "h_bucket{le=\"0.01\"} 0\nh_bucket{le=\"0.025\"} 0\n");
    assert_contains(kc_buf_cstr(&out), "h_bucket{le=\"10\"} 0\nh_bucket{le=\"+Inf\"} 1\n"
                                       "h_sum NaN\nh_count 1\n");
}

static void explicit_infinite_bucket_is_accepted(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    const double buckets[] = {1, (double)INFINITY};
    kc_metrics_histogram(metrics,
                         &(kc_metric_opts){.name = "h", .buckets = buckets, .n_buckets = 2}, NULL);
    assert_written(metrics, "# TYPE h histogram\nh_bucket{le=\"1\"} 0\nh_bucket{le=\"+Inf\"} 0\n"
                            "h_sum 0\nh_count 0\n");
}

static void exponential_buckets_grow_by_the_factor(void **state)
{
    (void)state;
    double buckets[4];
    kc_buckets_exponential(0.5, 2, 4, buckets);
    const double expected[] = {0.5, 1, 2, 4};
    assert_memory_equal(buckets, expected, sizeof(expected));
}

static void gauges_go_up_and_down(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_metric *metric = kc_metrics_gauge(metrics, &(kc_metric_opts){.name = "g"}, NULL);
    kc_gauge *gauge = kc_metric_gauge(metric);
    kc_gauge_set(gauge, 10);
    kc_gauge_inc(gauge);
    kc_gauge_dec(gauge);
    kc_gauge_add(gauge, -12.25);
    assert_true(kc_gauge_value(gauge) == -2.25);
    assert_written(metrics, "# TYPE g gauge\ng -2.25\n");
}

static double read_int(void *user)
{
    return ++*(int *)user;
}

static void callback_gauge_is_read_at_output(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    int n = 41;
    assert_non_null(
        kc_metrics_gauge_callback(metrics, &(kc_metric_opts){.name = "g"}, read_int, &n, NULL));
    assert_int_equal(n, 41);
    assert_written(metrics, "# TYPE g gauge\ng 42\n");
}

static void numbers_are_written_as_prometheus_does(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } rows[] = {{0, "0"},
                {1, "1"},
                {-1, "-1"},
                {0.1, "0.1"},
                {100000, "100000"},
                {1000000, "1e+06"},
                {1234567, "1.234567e+06"},
                {123456.75, "123456.75"},
                {0.0001, "0.0001"},
                {0.00001, "1e-05"},
                {1.0 / 3, "0.3333333333333333"},
                {5e-324, "5e-324"},
                {1.7976931348623157e308, "1.7976931348623157e+308"},
                {(double)INFINITY, "+Inf"},
                {-(double)INFINITY, "-Inf"}};
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_gauge *gauge =
        kc_metric_gauge(kc_metrics_gauge(metrics, &(kc_metric_opts){.name = "g"}, NULL));
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_gauge_set(gauge, rows[i].value);
        kc_autofree char *expected = kc_asprintf("# TYPE g gauge\ng %s\n", rows[i].text);
        assert_written(metrics, expected);
    }
}

static void help_and_values_are_escaped(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_metric *metric = kc_metrics_counter(metrics,
                                           &(kc_metric_opts){.name = "a",
                                                             .help = "a\\b\n\"c\"\xff",
                                                             .labels = {{"x", .max_values = 9}}},
                                           NULL);
    kc_counter_inc(kc_metric_counter(metric, KC_STR("a\\b\n\"c\"\t\xc3\xbc")));
    assert_written(metrics, "# HELP a a\\\\b\\n\"c\"\xef\xbf\xbd\n# TYPE a counter\n"
                            "a{x=\"a\\\\b\\n\\\"c\\\"\t\xc3\xbc\"} 1\n");
}

/* ---- closed label sets ---- */

static void unlisted_value_counts_as_other(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_metric *metric = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "a", .labels = {{"verb", KC_LABEL_VALUES("get", "put")}}}, NULL);
    kc_counter *other = kc_metric_counter(metric, KC_STR("brew"));
    kc_counter_inc(other);
    assert_ptr_equal(kc_metric_counter(metric, KC_STR("GET")), other);
    assert_ptr_equal(kc_metric_counter(metric, KC_STR("other")), other);
    assert_ptr_not_equal(kc_metric_counter(metric, KC_STR("get")), other);
    assert_written(metrics, "# TYPE a counter\na{verb=\"get\"} 0\na{verb=\"other\"} 1\n");
}

static void values_beyond_max_count_as_other(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_metric *metric = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "a", .labels = {{"x", .max_values = 2}, {"y", .max_values = 3}}},
        NULL);
    kc_counter_inc(kc_metric_counter(metric, KC_STR("other"), KC_STR("other")));
    for (int i = 0; i < 1000; i++) {
        char text[16];
        snprintf(text, sizeof(text), "v%d", i);
        kc_counter_inc(kc_metric_counter(metric, kc_cstr(text), kc_cstr(text)));
    }
    assert_written(metrics, "# TYPE a counter\na{x=\"other\",y=\"other\"} 998\n"
                            "a{x=\"other\",y=\"v2\"} 1\n"
                            "a{x=\"v0\",y=\"v0\"} 1\na{x=\"v1\",y=\"v1\"} 1\n");
    kc_counter_inc(kc_metric_counter(metric, KC_STR("v1"), KC_STR("v2")));
    assert_true(kc_counter_value(kc_metric_counter(metric, KC_STR("v1"), KC_STR("v2"))) == 1);
}

static void long_or_invalid_value_counts_as_other(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_metric *metric = kc_metrics_counter(
        metrics, &(kc_metric_opts){.name = "a", .labels = {{"x", .max_values = 100}}}, NULL);
    char text[KC_METRIC_MAX_VALUE + 1];
    memset(text, 'x', sizeof(text));
    kc_counter *other = kc_metric_counter(metric, KC_STR("other"));
    assert_ptr_equal(kc_metric_counter(metric, kc_str_of(text, sizeof(text))), other);
    assert_ptr_equal(kc_metric_counter(metric, KC_STR("\xff")), other);
    assert_ptr_not_equal(kc_metric_counter(metric, kc_str_of(text, sizeof(text) - 1)), other);
    assert_ptr_not_equal(kc_metric_counter(metric, KC_STR("")), other);
    assert_ptr_not_equal(kc_metric_counter(metric, KC_STR("a\0b")),
                         kc_metric_counter(metric, KC_STR("a")));
}

static void values_with_equal_joined_text_stay_separate(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_metric *metric = kc_metrics_gauge(
        metrics,
        &(kc_metric_opts){.name = "a", .labels = {{"x", .max_values = 9}, {"y", .max_values = 9}}},
        NULL);
    assert_ptr_not_equal(kc_metric_gauge(metric, KC_STR("a"), KC_STR("bc")),
                         kc_metric_gauge(metric, KC_STR("ab"), KC_STR("c")));
    assert_ptr_not_equal(kc_metric_gauge(metric, KC_STR(""), KC_STR("a")),
                         kc_metric_gauge(metric, KC_STR("a"), KC_STR("")));
}

/* ---- registration ---- */

static void equal_definition_returns_same_metric(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_metric_opts opts = {.name = "a", .help = "h", .labels = {{"x", KC_LABEL_VALUES("p", "q")}}};
    kc_metric *first = kc_metrics_counter(metrics, &opts, NULL);
    opts.labels[0].values = KC_LABEL_VALUES("q", "p");
    assert_non_null(first);
    assert_ptr_equal(kc_metrics_counter(metrics, &opts, NULL), first);
    int n = 0;
    kc_metric_opts callback = {.name = "c"};
    first = kc_metrics_gauge_callback(metrics, &callback, read_int, &n, NULL);
    assert_ptr_equal(kc_metrics_gauge_callback(metrics, &callback, read_int, &n, NULL), first);
    assert_null(kc_metrics_gauge_callback(metrics, &callback, read_int, &first, NULL));
}

static void different_definition_of_same_name_fails(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    const double buckets[] = {1, 2}, others[] = {1, 3};
    const kc_metric_opts base = {.name = "a",
                                 .help = "h",
                                 .labels = {{"x", KC_LABEL_VALUES("p")}, {"y", .max_values = 2}},
                                 .buckets = buckets,
                                 .n_buckets = 2};
    kc_metric *metric = kc_metrics_histogram(metrics, &base, NULL);
    kc_metric_histogram(metric, KC_STR("p"),
                        KC_STR("seen")); /* Use is not part of the definition. */
    assert_ptr_equal(kc_metrics_histogram(metrics, &base, NULL), metric);
    kc_metric_opts opts[7];
    for (size_t i = 0; i < KC_COUNT(opts); i++)
        opts[i] = base;
    opts[0].help = "other";
    opts[1].labels[0].values = KC_LABEL_VALUES("r");
    opts[2].labels[0].values = KC_LABEL_VALUES("p", "r");
    opts[3].labels[1].max_values = 3;
    opts[4].labels[1].name = NULL;
    opts[5].buckets = others;
    opts[6].n_buckets = 1;
    for (size_t i = 0; i < KC_COUNT(opts); i++) {
        kc_scoped(kc_error) err = {0};
        assert_null(kc_metrics_histogram(metrics, &opts[i], &err));
        assert_error(&err, KC_ALREADY_EXISTS, "metric a: the name is taken");
    }
    kc_metric_opts plain = {.name = "a"};
    assert_null(kc_metrics_counter(metrics, &plain, NULL));
}

static void derived_names_of_histogram_are_reserved(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_scoped(kc_error) err = {0};
    assert_non_null(kc_metrics_histogram(metrics, &(kc_metric_opts){.name = "h"}, NULL));
    assert_null(kc_metrics_counter(metrics, &(kc_metric_opts){.name = "h_count"}, &err));
    assert_error(&err, KC_ALREADY_EXISTS, "h_count: the name is taken by h,");
    assert_non_null(kc_metrics_counter(metrics, &(kc_metric_opts){.name = "i_sum"}, NULL));
    assert_null(kc_metrics_histogram(metrics, &(kc_metric_opts){.name = "i"}, NULL));
    assert_non_null(kc_metrics_gauge(metrics, &(kc_metric_opts){.name = "i"}, NULL));
    assert_non_null(kc_metrics_gauge(metrics, &(kc_metric_opts){.name = "i_count"}, NULL));
}

static void invalid_definitions_fail(void **state)
{
    (void)state;
    static const double nan_bucket[] = {1, __builtin_nan("")}, falling[] = {1, 1};
    static const double many[KC_METRIC_MAX_BUCKETS + 1] = {0};
    const struct {
        kc_metric_opts opts;
        const char *message;
    } rows[] = {
        {{.name = NULL}, "\"\" is not a valid metric name"},
        {{.name = ""}, "\"\" is not a valid metric name"},
        {{.name = "1a"}, "\"1a\" is not a valid metric name"},
        {{.name = "a-b"}, "\"a-b\" is not a valid metric name"},
        {{.name = "ü"}, "is not a valid metric name"},
        {{.name = "a", .labels = {{"x:y", .max_values = 1}}}, "\"x:y\" is not a valid label name"},
        {{.name = "a", .labels = {{"", .max_values = 1}}}, "\"\" is not a valid label name"},
        {{.name = "a", .labels = {{"__x", .max_values = 1}}}, "\"__x\" is not a valid label name"},
        {{.name = "a", .labels = {{"le", .max_values = 1}}}, "reserves the label \"le\""},
        {{.name = "a", .labels = {{"x", .max_values = 1}, {"x", .max_values = 1}}}, "two labels"},
        {{.name = "a", .labels = {{"x"}}}, "must have either values or max_values"},
        {{.name = "a", .labels = {{"x", KC_LABEL_VALUES("p"), 3}}}, "must have either values or"},
        {{.name = "a", .labels = {{"x", KC_LABEL_VALUES("p", "\xff")}}}, "value 1 of label \"x\""},
        {{.name = "a", .buckets = nan_bucket, .n_buckets = 2}, "bucket 1 is not greater than"},
        {{.name = "a", .buckets = falling, .n_buckets = 2}, "bucket 1 is not greater than"},
        {{.name = "a", .buckets = many, .n_buckets = KC_COUNT(many)}, "more than 100 buckets"},
    };
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_scoped(kc_error) err = {0};
        assert_null(kc_metrics_histogram(metrics, &rows[i].opts, &err));
        assert_error(&err, KC_INVALID, rows[i].message);
    }
    assert_written(metrics, "");
}

static void options_of_other_types_fail(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_scoped(kc_error) err = {0};
    int n = 0;
    assert_null(kc_metrics_counter(
        metrics, &(kc_metric_opts){.name = "a", .buckets = kc_default_buckets, .n_buckets = 2},
        &err));
    assert_error(&err, KC_INVALID, "only a histogram has buckets");
    assert_null(kc_metrics_gauge_callback(
        metrics, &(kc_metric_opts){.name = "a", .labels = {{"x", .max_values = 1}}}, read_int, &n,
        &err));
    assert_error(&err, KC_INVALID, "a callback has no labels");
    assert_non_null(kc_metrics_counter(
        metrics, &(kc_metric_opts){.name = ":a:b_9", .labels = {{"le", .max_values = 1}}}, NULL));
}

static void null_metric_counts_nothing(void **state)
{
    (void)state;
    kc_metric *none = NULL;
    kc_counter_inc(kc_metric_counter(none, KC_STR("x")));
    kc_counter_add(NULL, 3);
    kc_gauge_set(kc_metric_gauge(none), 1);
    kc_gauge_inc(NULL);
    kc_histogram_observe(kc_metric_histogram(none), 1);
    assert_true(kc_counter_value(NULL) == 0 && kc_gauge_value(NULL) == 0);
    assert_int_equal(kc_histogram_count(NULL), 0);
    assert_true(kc_histogram_sum(NULL) == 0);
    assert_null(kc_metrics_free(NULL));
}

/* ---- several threads ---- */

enum { THREADS = 4, ROUNDS = 2000 };

/* Registers, finds and counts, concurrently with other threads. */
static void count(void *user)
{
    kc_metrics *metrics = user;
    for (int i = 0; i < ROUNDS; i++) {
        kc_metric *a = kc_metrics_counter(
            metrics, &(kc_metric_opts){.name = "a", .labels = {{"x", .max_values = 5}}}, NULL);
        kc_metric *h = kc_metrics_histogram(metrics, &(kc_metric_opts){.name = "h"}, NULL);
        kc_metric *g = kc_metrics_gauge(metrics, &(kc_metric_opts){.name = "g"}, NULL);
        char text[16];
        snprintf(text, sizeof(text), "%d", i % 10);
        kc_counter_inc(kc_metric_counter(a, kc_cstr(text)));
        kc_counter_add(kc_metric_counter(a, KC_STR("sum")), 0.5);
        kc_gauge_add(kc_metric_gauge(g), i % 2 ? 2 : -1);
        kc_histogram_observe(kc_metric_histogram(h), (i % 4) * 0.25);
        if (i % 100 == 0) {
            kc_scoped(kc_buf) out = {0};
            kc_metrics_write(metrics, &out);
        }
    }
}

static void concurrent_counts_are_not_lost(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_thread *threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = kc_thread_start("counter", count, metrics, NULL);
    for (int i = 0; i < THREADS; i++)
        kc_thread_join(threads[i]);
    kc_metric *a = kc_metrics_counter(
        metrics, &(kc_metric_opts){.name = "a", .labels = {{"x", .max_values = 5}}}, NULL);
    kc_metric *h = kc_metrics_histogram(metrics, &(kc_metric_opts){.name = "h"}, NULL);
    kc_metric *g = kc_metrics_gauge(metrics, &(kc_metric_opts){.name = "g"}, NULL);
    double total = kc_counter_value(kc_metric_counter(a, KC_STR("other")));
    static const char *const values[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "sum"};
    kc_counter *other = kc_metric_counter(a, KC_STR("other"));
    for (size_t i = 0; i < KC_COUNT(values); i++) {
        kc_counter *counter = kc_metric_counter(a, kc_cstr(values[i]));
        total += counter == other ? 0 : kc_counter_value(counter);
    }
    assert_true(total == THREADS * ROUNDS * 1.5);
    assert_true(kc_gauge_value(kc_metric_gauge(g)) == THREADS * ROUNDS / 2);
    assert_int_equal(kc_histogram_count(kc_metric_histogram(h)), THREADS * ROUNDS);
    assert_true(kc_histogram_sum(kc_metric_histogram(h)) == THREADS * ROUNDS * 0.375);
}

typedef struct handles {
    kc_latch ready; /* Makes all threads start together. */
    kc_counter *counter;
    kc_gauge *gauge;
    kc_histogram *histogram;
} handles;

static void use_handles(void *user)
{
    handles *h = user;
    kc_latch_count_down(&h->ready);
    kc_latch_wait(&h->ready);
    for (int i = 0; i < 50 * ROUNDS; i++) {
        kc_gauge_inc(h->gauge);
        kc_counter_add(h->counter, 0.5);
        kc_histogram_observe(h->histogram, 2);
    }
}

static void shared_handle_loses_no_update(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    handles h = {
        .counter =
            kc_metric_counter(kc_metrics_counter(metrics, &(kc_metric_opts){.name = "c"}, NULL)),
        .gauge = kc_metric_gauge(kc_metrics_gauge(metrics, &(kc_metric_opts){.name = "g"}, NULL)),
        .histogram = kc_metric_histogram(
            kc_metrics_histogram(metrics, &(kc_metric_opts){.name = "h"}, NULL)),
    };
    const double n = THREADS * 50 * ROUNDS;
    kc_thread *threads[THREADS];
    kc_latch_init(&h.ready);
    kc_latch_add(&h.ready, THREADS);
    for (int i = 0; i < THREADS; i++)
        threads[i] = kc_thread_start("counter", use_handles, &h, NULL);
    for (int i = 0; i < THREADS; i++)
        kc_thread_join(threads[i]);
    kc_latch_done(&h.ready);
    assert_true(kc_gauge_value(h.gauge) == n);
    assert_true(kc_counter_value(h.counter) == n / 2);
    assert_true(kc_histogram_sum(h.histogram) == 2 * n);
    assert_true((double)kc_histogram_count(h.histogram) == n);
}

typedef struct looker {
    kc_metrics_hook hook;
    kc_gauge *gauge;
    int looks;
} looker;

static void look(kc_metrics_hook *hook)
{
    looker *l = kc_container_of(hook, looker, hook);
    kc_gauge_set(l->gauge, ++l->looks);
}

static void hook_sets_gauges_before_output(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    looker l = {
        .hook.before = look,
        .gauge =
            kc_metric_gauge(kc_metrics_gauge(metrics, &(kc_metric_opts){.name = "looks"}, NULL)),
    };
    kc_metrics_add_hook(metrics, &l.hook);
    kc_scoped(kc_buf) out = {0};
    kc_metrics_write(metrics, &out);
    kc_metrics_write(metrics, &out);
    assert_contains(kc_buf_cstr(&out), "looks 2\n");
    kc_metrics_remove_hook(metrics, &l.hook);
    kc_metrics_write(metrics, &out);
    assert_int_equal(l.looks, 2);
}

static bool starts_with_k(kc_str value, void *user)
{
    (void)user;
    return kc_str_starts(value, KC_STR("k"));
}

static void values_not_retained_are_removed_with_their_series(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_scoped(kc_buf) text = {0};
    kc_metric *m = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "x_total",
                          .labels = {{"resource", .max_values = 2}, {"code", .max_values = 9}}},
        NULL);
    kc_counter_inc(kc_metric_counter(m, KC_STR("gone"), KC_STR("200")));
    kc_counter_inc(kc_metric_counter(m, KC_STR("kept"), KC_STR("200")));
    kc_counter_inc(kc_metric_counter(m, KC_STR("third"), KC_STR("200"))); /* No room: other. */
    kc_metric_retain_labels(m, "resource", starts_with_k, NULL);
    kc_counter_inc(kc_metric_counter(m, KC_STR("third"), KC_STR("404"))); /* Now there is room. */
    kc_metrics_write(metrics, &text);
    assert_string_equal(kc_buf_cstr(&text), "# TYPE x_total counter\n"
                                            "x_total{resource=\"kept\",code=\"200\"} 1\n"
                                            "x_total{resource=\"other\",code=\"200\"} 1\n"
                                            "x_total{resource=\"third\",code=\"404\"} 1\n");
}

static void repeated_create_and_remove_of_series_does_not_grow(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    const kc_metric_opts opts = {.name = "x_seconds", .labels = {{"name", .max_values = 3}}};
    kc_metric *m = kc_metrics_histogram(metrics, &opts, NULL);
    kc_histogram *first = kc_metric_histogram(m, KC_STR("n0"));
    for (int i = 0; i < 100000; i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%d", i);
        kc_histogram *h = kc_metric_histogram(m, kc_cstr(name));
        assert_ptr_equal(h, first);
        assert_int_equal(kc_histogram_count(h), 0);
        kc_histogram_observe(h, 1);
        kc_metric_delete_label(m, "name", kc_cstr(name));
    }
}

static void referenced_value_is_removed_with_last_reference(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    const kc_metric_opts opts = {.name = "x", .labels = {{"name", .max_values = 3}}};
    kc_metric *m = kc_metrics_gauge(metrics, &opts, NULL);
    kc_metric_ref_label(m, "name", KC_STR("a"));
    kc_metric_ref_label(m, "name", KC_STR("a"));
    kc_gauge_set(kc_metric_gauge(m, KC_STR("a")), 7);
    kc_metric_delete_label(m, "name", KC_STR("a"));
    kc_metric_unref_label(m, "name", KC_STR("a"));
    assert_true(kc_gauge_value(kc_metric_gauge(m, KC_STR("a"))) == 7);
    kc_metric_unref_label(m, "name", KC_STR("a"));
    assert_true(kc_gauge_value(kc_metric_gauge(m, KC_STR("a"))) == 0);
}

TESTS(values_not_retained_are_removed_with_their_series,
      repeated_create_and_remove_of_series_does_not_grow,
      referenced_value_is_removed_with_last_reference, empty_registry_writes_nothing,
      counter_without_labels_starts_at_zero, metrics_are_sorted_by_name_and_series_by_values,
      histogram_writes_cumulative_buckets, histogram_has_default_buckets,
      explicit_infinite_bucket_is_accepted, exponential_buckets_grow_by_the_factor,
      gauges_go_up_and_down, callback_gauge_is_read_at_output,
      numbers_are_written_as_prometheus_does, help_and_values_are_escaped,
      unlisted_value_counts_as_other, values_beyond_max_count_as_other,
      long_or_invalid_value_counts_as_other, values_with_equal_joined_text_stay_separate,
      equal_definition_returns_same_metric, different_definition_of_same_name_fails,
      derived_names_of_histogram_are_reserved, invalid_definitions_fail,
      options_of_other_types_fail, null_metric_counts_nothing, concurrent_counts_are_not_lost,
      shared_handle_loses_no_update, hook_sets_gauges_before_output)
