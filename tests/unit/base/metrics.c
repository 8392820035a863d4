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

/* ---- the text ---- */

static void nothing_registered_writes_nothing(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    assert_written(metrics, "");
}

static void a_counter_without_labels_is_there_from_the_start(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_metric *metric =
        kc_metrics_counter(metrics, &(kc_metric_opts){.name = "a_total", .help = "All."}, NULL);
    assert_written(metrics, "# HELP a_total All.\n# TYPE a_total counter\na_total 0\n");
    kc_counter *counter = kc_counter_of(metric);
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
    kc_counter_inc(kc_counter_of(b, KC_STR("list"), KC_STR("pods")));
    kc_counter_inc(kc_counter_of(b, KC_STR("get"), KC_STR("pods")));
    kc_counter_inc(kc_counter_of(b, KC_STR("get"), KC_STR("nodes")));
    kc_counter_inc(kc_counter_of(b, KC_STR("ge"), KC_STR("z")));
    kc_counter_inc(kc_counter_of(b, KC_STR("get"), KC_STR("pods")));
    assert_written(metrics, "# TYPE a gauge\na 0\n"
                            "# TYPE b_total counter\n"
                            "b_total{verb=\"ge\",resource=\"z\"} 1\n"
                            "b_total{verb=\"get\",resource=\"nodes\"} 1\n"
                            "b_total{verb=\"get\",resource=\"pods\"} 2\n"
                            "b_total{verb=\"list\",resource=\"pods\"} 1\n");
}

static void a_histogram_writes_cumulative_buckets(void **state)
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
    kc_histogram *h = kc_histogram_of(metric, KC_STR("y"));
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

static void a_histogram_has_default_buckets(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_metric *metric = kc_metrics_histogram(metrics, &(kc_metric_opts){.name = "h"}, NULL);
    kc_histogram_observe(kc_histogram_of(metric), (double)NAN);
    kc_scoped(kc_buf) out = {0};
    kc_metrics_write(metrics, &out);
    assert_contains(kc_buf_cstr(&out), "# TYPE h histogram\nh_bucket{le=\"0.005\"} 0\n"
                                       "h_bucket{le=\"0.01\"} 0\nh_bucket{le=\"0.025\"} 0\n");
    assert_contains(kc_buf_cstr(&out), "h_bucket{le=\"10\"} 0\nh_bucket{le=\"+Inf\"} 1\n"
                                       "h_sum NaN\nh_count 1\n");
}

static void an_infinite_bucket_may_be_given(void **state)
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
    kc_gauge *gauge = kc_gauge_of(metric);
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

static void a_callback_gauge_is_read_when_it_is_written(void **state)
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
    kc_gauge *gauge = kc_gauge_of(kc_metrics_gauge(metrics, &(kc_metric_opts){.name = "g"}, NULL));
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
    kc_counter_inc(kc_counter_of(metric, KC_STR("a\\b\n\"c\"\t\xc3\xbc")));
    assert_written(metrics, "# HELP a a\\\\b\\n\"c\"\xef\xbf\xbd\n# TYPE a counter\n"
                            "a{x=\"a\\\\b\\n\\\"c\\\"\t\xc3\xbc\"} 1\n");
}

/* ---- closed label sets ---- */

static void a_value_that_is_not_listed_counts_as_other(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_metric *metric = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "a", .labels = {{"verb", KC_LABEL_VALUES("get", "put")}}}, NULL);
    kc_counter *other = kc_counter_of(metric, KC_STR("brew"));
    kc_counter_inc(other);
    assert_ptr_equal(kc_counter_of(metric, KC_STR("GET")), other);
    assert_ptr_equal(kc_counter_of(metric, KC_STR("other")), other);
    assert_ptr_not_equal(kc_counter_of(metric, KC_STR("get")), other);
    assert_written(metrics, "# TYPE a counter\na{verb=\"get\"} 0\na{verb=\"other\"} 1\n");
}

static void beyond_the_bound_values_count_as_other(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_metric *metric = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "a", .labels = {{"x", .max_values = 2}, {"y", .max_values = 3}}},
        NULL);
    kc_counter_inc(kc_counter_of(metric, KC_STR("other"), KC_STR("other")));
    for (int i = 0; i < 1000; i++) {
        char text[16];
        snprintf(text, sizeof(text), "v%d", i);
        kc_counter_inc(kc_counter_of(metric, kc_cstr(text), kc_cstr(text)));
    }
    assert_written(metrics, "# TYPE a counter\na{x=\"other\",y=\"other\"} 998\n"
                            "a{x=\"other\",y=\"v2\"} 1\n"
                            "a{x=\"v0\",y=\"v0\"} 1\na{x=\"v1\",y=\"v1\"} 1\n");
    kc_counter_inc(kc_counter_of(metric, KC_STR("v1"), KC_STR("v2")));
    assert_true(kc_counter_value(kc_counter_of(metric, KC_STR("v1"), KC_STR("v2"))) == 1);
}

static void a_value_that_is_too_long_or_not_text_counts_as_other(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_metric *metric = kc_metrics_counter(
        metrics, &(kc_metric_opts){.name = "a", .labels = {{"x", .max_values = 100}}}, NULL);
    char text[KC_METRIC_MAX_VALUE + 1];
    memset(text, 'x', sizeof(text));
    kc_counter *other = kc_counter_of(metric, KC_STR("other"));
    assert_ptr_equal(kc_counter_of(metric, kc_str_of(text, sizeof(text))), other);
    assert_ptr_equal(kc_counter_of(metric, KC_STR("\xff")), other);
    assert_ptr_not_equal(kc_counter_of(metric, kc_str_of(text, sizeof(text) - 1)), other);
    assert_ptr_not_equal(kc_counter_of(metric, KC_STR("")), other);
    assert_ptr_not_equal(kc_counter_of(metric, KC_STR("a\0b")), kc_counter_of(metric, KC_STR("a")));
}

static void values_that_join_to_the_same_text_stay_apart(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_metric *metric = kc_metrics_gauge(
        metrics,
        &(kc_metric_opts){.name = "a", .labels = {{"x", .max_values = 9}, {"y", .max_values = 9}}},
        NULL);
    assert_ptr_not_equal(kc_gauge_of(metric, KC_STR("a"), KC_STR("bc")),
                         kc_gauge_of(metric, KC_STR("ab"), KC_STR("c")));
    assert_ptr_not_equal(kc_gauge_of(metric, KC_STR(""), KC_STR("a")),
                         kc_gauge_of(metric, KC_STR("a"), KC_STR("")));
}

/* ---- registration ---- */

static void the_same_definition_gives_the_same_metric(void **state)
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

static void another_definition_under_the_same_name_is_refused(void **state)
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
    kc_histogram_of(metric, KC_STR("p"), KC_STR("seen")); /* Use is no part of the definition. */
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

static void names_a_histogram_writes_are_taken_too(void **state)
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

static void definitions_that_are_not_valid_are_refused(void **state)
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
        {{.name = "a", .labels = {{"le", .max_values = 1}}}, "a label \"le\" already"},
        {{.name = "a", .labels = {{"x", .max_values = 1}, {"x", .max_values = 1}}}, "two labels"},
        {{.name = "a", .labels = {{"x"}}}, "must have either values or max_values"},
        {{.name = "a", .labels = {{"x", KC_LABEL_VALUES("p"), 3}}}, "must have either values or"},
        {{.name = "a", .labels = {{"x", KC_LABEL_VALUES("p", "\xff")}}}, "value 1 of label \"x\""},
        {{.name = "a", .buckets = nan_bucket, .n_buckets = 2}, "bucket 1 is not above"},
        {{.name = "a", .buckets = falling, .n_buckets = 2}, "bucket 1 is not above"},
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

static void some_things_are_for_some_types_only(void **state)
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

static void no_metric_counts_nothing(void **state)
{
    (void)state;
    kc_metric *none = NULL;
    kc_counter_inc(kc_counter_of(none, KC_STR("x")));
    kc_counter_add(NULL, 3);
    kc_gauge_set(kc_gauge_of(none), 1);
    kc_gauge_inc(NULL);
    kc_histogram_observe(kc_histogram_of(none), 1);
    assert_true(kc_counter_value(NULL) == 0 && kc_gauge_value(NULL) == 0);
    assert_int_equal(kc_histogram_count(NULL), 0);
    assert_true(kc_histogram_sum(NULL) == 0);
    assert_null(kc_metrics_free(NULL));
}

/* ---- several threads ---- */

enum { THREADS = 4, ROUNDS = 2000 };

/* Registers, finds and counts, as every other thread does. */
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
        kc_counter_inc(kc_counter_of(a, kc_cstr(text)));
        kc_counter_add(kc_counter_of(a, KC_STR("sum")), 0.5);
        kc_gauge_add(kc_gauge_of(g), i % 2 ? 2 : -1);
        kc_histogram_observe(kc_histogram_of(h), (i % 4) * 0.25);
        if (i % 100 == 0) {
            kc_scoped(kc_buf) out = {0};
            kc_metrics_write(metrics, &out);
        }
    }
}

static void threads_count_together_and_lose_nothing(void **state)
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
    double total = kc_counter_value(kc_counter_of(a, KC_STR("other")));
    static const char *const values[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "sum"};
    kc_counter *other = kc_counter_of(a, KC_STR("other"));
    for (size_t i = 0; i < KC_COUNT(values); i++) {
        kc_counter *counter = kc_counter_of(a, kc_cstr(values[i]));
        total += counter == other ? 0 : kc_counter_value(counter);
    }
    assert_true(total == THREADS * ROUNDS * 1.5);
    assert_true(kc_gauge_value(kc_gauge_of(g)) == THREADS * ROUNDS / 2);
    assert_int_equal(kc_histogram_count(kc_histogram_of(h)), THREADS * ROUNDS);
    assert_true(kc_histogram_sum(kc_histogram_of(h)) == THREADS * ROUNDS * 0.375);
}

typedef struct handles {
    kc_latch ready; /* So that all start together. */
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

static void a_shared_handle_loses_no_update(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    handles h = {
        .counter = kc_counter_of(kc_metrics_counter(metrics, &(kc_metric_opts){.name = "c"}, NULL)),
        .gauge = kc_gauge_of(kc_metrics_gauge(metrics, &(kc_metric_opts){.name = "g"}, NULL)),
        .histogram =
            kc_histogram_of(kc_metrics_histogram(metrics, &(kc_metric_opts){.name = "h"}, NULL)),
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

static void a_hook_sets_gauges_before_they_are_written(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    looker l = {
        .hook.before = look,
        .gauge = kc_gauge_of(kc_metrics_gauge(metrics, &(kc_metric_opts){.name = "looks"}, NULL)),
    };
    kc_metrics_hang(metrics, &l.hook);
    kc_scoped(kc_buf) out = {0};
    kc_metrics_write(metrics, &out);
    kc_metrics_write(metrics, &out);
    assert_contains(kc_buf_cstr(&out), "looks 2\n");
    kc_metrics_unhang(metrics, &l.hook);
    kc_metrics_write(metrics, &out);
    assert_int_equal(l.looks, 2);
}

TESTS(nothing_registered_writes_nothing, a_counter_without_labels_is_there_from_the_start,
      metrics_are_sorted_by_name_and_series_by_values, a_histogram_writes_cumulative_buckets,
      a_histogram_has_default_buckets, an_infinite_bucket_may_be_given,
      exponential_buckets_grow_by_the_factor, gauges_go_up_and_down,
      a_callback_gauge_is_read_when_it_is_written, numbers_are_written_as_prometheus_does,
      help_and_values_are_escaped, a_value_that_is_not_listed_counts_as_other,
      beyond_the_bound_values_count_as_other, a_value_that_is_too_long_or_not_text_counts_as_other,
      values_that_join_to_the_same_text_stay_apart, the_same_definition_gives_the_same_metric,
      another_definition_under_the_same_name_is_refused, names_a_histogram_writes_are_taken_too,
      definitions_that_are_not_valid_are_refused, some_things_are_for_some_types_only,
      no_metric_counts_nothing, threads_count_together_and_lose_nothing,
      a_shared_handle_loses_no_update, a_hook_sets_gauges_before_they_are_written)
