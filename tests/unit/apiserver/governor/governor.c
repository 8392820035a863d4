/* SPDX-License-Identifier: Apache-2.0 */
/* governor.c: readings, accounts, admission and shedding, with readings set by the test. */
#include "apiserver/governor/governor.h"
#include "apiserver/governor/memory_available.h"
#include "apiserver/governor/watch_quota.h"
#include "kc/file.h"
#include "testing.h"

#include <sys/stat.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static _Atomic size_t resident; /* What the next reading says. */
static _Atomic int readings;

static bool read_fake(size_t *ret)
{
    *ret = resident;
    readings++;
    return true;
}

typedef struct fixture {
    kc_clock *clock; /* Virtual: no thread. */
    kc_metrics *metrics;
    kc__governor *governor;
    _Atomic size_t shed, evicted;
} fixture;

static void note_shed(size_t bytes, void *user)
{
    ((fixture *)user)->shed += bytes;
}

static void note_eviction(void *user)
{
    ((fixture *)user)->evicted++;
}

static void fixture_open(fixture *s)
{
    s->clock = kc_clock_virtual_new(0);
    s->metrics = kc_metrics_new();
    s->governor = kc__governor_start(&(kc__governor_opts){.soft = 100 * MIB,
                                                          .hard = 200 * MIB,
                                                          .accounts = 3,
                                                          .clock = s->clock,
                                                          .read = read_fake,
                                                          .shed = note_shed,
                                                          .evict = note_eviction,
                                                          .user = s,
                                                          .metrics = s->metrics},
                                     NULL);
    assert_non_null(s->governor);
}

static void fixture_done(fixture *s)
{
    kc__governor_free(s->governor);
    kc_metrics_free(s->metrics);
    kc_clock_free(s->clock);
}

static int admit(fixture *s, const char *verb, size_t body, kc_error *err)
{
    return kc__governor_admit(s->governor,
                              &(kc__governor_request_traits){
                                  .verb = verb, .resource = KC_STR("configmaps"), .body = body},
                              err);
}

static void reading_above_the_soft_limit_refuses_heavy_requests(void **state)
{
    (void)state;
    kc_scoped(fixture) s = {0};
    kc_scoped(kc_error) err = {0};
    fixture_open(&s);
    resident = 101 * MIB;
    assert_int_equal(admit(&s, "list", 0, &err), 0);
    kc__governor_tick(s.governor);
    assert_int_equal(kc__governor_level(s.governor), KC__MEMORY_SOFT);
    assert_int_equal(admit(&s, "list", 0, &err), -KC_TOO_MANY_REQUESTS);
    assert_int_equal(err.code, 429);
    assert_int_equal(err.retry_after_seconds, 1);
    assert_int_equal(admit(&s, "create", 100, NULL), 0);
    assert_int_equal(admit(&s, "get", 0, NULL), 0);
    assert_int_equal(s.shed, 0);
    assert_int_equal(s.evicted, 1);
    resident = 10 * MIB;
    kc__governor_tick(s.governor);
    assert_int_equal(s.evicted, 1);
    assert_int_equal(admit(&s, "list", 0, NULL), 0);
}

static void reading_above_the_hard_limit_sheds_and_refuses_all_but_exempt(void **state)
{
    (void)state;
    kc_scoped(fixture) s = {0};
    fixture_open(&s);
    resident = 250 * MIB;
    kc__governor_tick(s.governor);
    assert_int_equal(s.shed, 100 * MIB);
    assert_int_equal(admit(&s, "create", 100, NULL), -KC_TOO_MANY_REQUESTS);
    assert_int_equal(admit(&s, "delete", 0, NULL), 0);
    assert_int_equal(admit(&s, "get", 0, NULL), 0);
}

static void burst_between_readings_is_refused_by_its_accounts(void **state)
{
    (void)state;
    kc_scoped(fixture) s = {0};
    fixture_open(&s);
    resident = 10 * MIB;
    kc__governor_tick(s.governor);
    size_t admitted = 0;
    while (admit(&s, "create", 3 * MIB, NULL) == 0 && admitted < 100) {
        kc__memory_account *account = kc__governor_account(s.governor, admitted++);
        kc__memory_add(account, KC__MEMORY_REQUESTS, (int64_t)kc__governor_request_cost(3 * MIB));
    }
    assert_int_equal(admitted, 2); /* 30 MiB each, and 10 are in use. */
    assert_int_equal(kc__governor_counted(s.governor, KC__MEMORY_REQUESTS),
                     2 * kc__governor_request_cost(3 * MIB));
    kc__governor_tick(s.governor); /* They are in the reading now. */
    assert_int_equal(admit(&s, "create", 3 * MIB, NULL), 0);
}

static void metrics_show_readings_limits_and_refusals(void **state)
{
    (void)state;
    kc_scoped(fixture) s = {0};
    fixture_open(&s);
    resident = 150 * MIB;
    kc__governor_tick(s.governor);
    kc__memory_add(kc__governor_account(s.governor, 1), KC__MEMORY_WATCHES, 42);
    admit(&s, "watch", 0, NULL);
    kc__governor_cancelled(s.governor, KC_STR("list"), 3);
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(s.metrics, &text);
    const char *lines = kc_buf_cstr(&text);
    assert_contains(lines, "kc_memory_bytes{category=\"watches\"} 42\n");
    assert_contains(lines, "kc_memory_resident_bytes 1.572864e+08\n");
    assert_contains(lines, "kc_memory_limit_bytes{limit=\"soft\"} 1.048576e+08\n");
    assert_contains(lines, "kc_memory_limit_bytes{limit=\"hard\"} 2.097152e+08\n");
    assert_contains(lines, "kc_memory_pressure 1\n");
    assert_contains(lines, "kc_memory_refused_requests_total{class=\"heavy\"} 1\n");
    assert_contains(lines, "kc_memory_cancelled_responses_total{kind=\"list\"} 3\n");
}

static void limits_default_to_shares_of_available_memory(void **state)
{
    (void)state;
    size_t available = kc__memory_available(), used = 0;
    kc__governor *g = kc__governor_start(&(kc__governor_opts){0}, NULL);
    kc__memory_state s = kc__governor_state(g);
    assert_int_equal(s.soft, available / 2);
    assert_int_equal(s.hard, available / 4 * 3);
    assert_true(kc__memory_resident(&used) && used > 0 && used < available);
    kc__governor_free(g);
}

/* ---- the pace of the thread ---- */

#define QUICK (2 * KC_MILLISECOND)

/* A governor with a thread. A reading that is not due within an hour never comes. */
static void fixture_open_with_thread(fixture *s, size_t first_reading)
{
    resident = first_reading;
    readings = 0;
    s->governor = kc__governor_start(&(kc__governor_opts){.soft = 100 * MIB,
                                                          .hard = 200 * MIB,
                                                          .interval = QUICK,
                                                          .idle_interval = KC_HOUR,
                                                          .read = read_fake,
                                                          .shed = note_shed,
                                                          .user = s},
                                     NULL);
    assert_non_null(s->governor);
}

static void await_readings(int n)
{
    for (int i = 0; i < 10000 && readings < n; i++)
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
    assert_true(readings >= n);
}

/* The number of readings, once no more follow. */
static int settled_readings(void)
{
    for (int before = -1; before != readings;) {
        before = readings;
        kc_clock_sleep(kc_clock_real(), 50 * QUICK);
    }
    return readings;
}

static void idle_server_far_below_the_soft_limit_is_read_at_the_idle_interval(void **state)
{
    (void)state;
    kc_scoped(fixture) s = {0};
    fixture_open_with_thread(&s, 10 * MIB);
    await_readings(1);
    assert_int_equal(settled_readings(), 1);
}

static void request_wakes_an_idle_governor_for_one_reading(void **state)
{
    (void)state;
    kc_scoped(fixture) s = {0};
    fixture_open_with_thread(&s, 10 * MIB);
    await_readings(1);
    for (int i = 2; i < 5; i++) {
        kc__governor_note_request(s.governor);
        await_readings(i);
        assert_int_equal(settled_readings(), i);
    }
}

static void memory_near_the_soft_limit_is_read_at_the_interval_of_load(void **state)
{
    (void)state;
    kc_scoped(fixture) s = {0};
    fixture_open_with_thread(&s, 80 * MIB);
    await_readings(5);
    resident = 10 * MIB;
    settled_readings();
}

static void requests_in_flight_are_read_at_the_interval_of_load(void **state)
{
    (void)state;
    kc_scoped(fixture) s = {0};
    fixture_open_with_thread(&s, 10 * MIB);
    kc__memory_account *account = kc__governor_account(s.governor, 0);
    await_readings(1);
    kc__memory_add(account, KC__MEMORY_REQUESTS, 4096);
    kc__governor_note_request(s.governor);
    await_readings(6);
    kc__memory_add(account, KC__MEMORY_REQUESTS, -4096);
    settled_readings();
}

static void growth_of_an_idle_server_above_the_hard_limit_is_shed_after_a_request(void **state)
{
    (void)state;
    kc_scoped(fixture) s = {0};
    fixture_open_with_thread(&s, 10 * MIB);
    await_readings(1);
    settled_readings();
    resident = 250 * MIB;
    kc__governor_note_request(s.governor);
    for (int i = 0; i < 10000 && !s.shed; i++)
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
    assert_true(s.shed >= 100 * MIB);
}

/* ---- control groups ---- */

static void put_file(const char *root, const char *folder, const char *name, const char *text)
{
    kc_autofree char *dir = kc_asprintf("%s%s", root, folder);
    kc_autofree char *path = kc_asprintf("%s/%s", dir, name);
    assert_int_equal(kc_dir_create(dir, 0700, NULL), 0);
    assert_int_equal(kc_file_put(path, kc_cstr(text), NULL), 0);
}

static void smallest_cgroup_limit_of_the_hierarchy_applies(void **state)
{
    (void)state;
    char root[] = "/tmp/kc-cgroup-XXXXXX";
    assert_non_null(mkdtemp(root));
    assert_true(kc__memory_cgroup_limit(KC_STR("0::/a/b\n"), root) == SIZE_MAX);
    put_file(root, "/a/b", "memory.max", "max\n");
    assert_true(kc__memory_cgroup_limit(KC_STR("0::/a/b\n"), root) == SIZE_MAX);
    put_file(root, "/a", "memory.max", "4096\n");
    put_file(root, "", "memory.max", "8192\n");
    assert_int_equal(kc__memory_cgroup_limit(KC_STR("0::/a/b\n"), root), 4096);
    assert_int_equal(kc__memory_cgroup_limit(KC_STR("0::/elsewhere\n"), root), 8192);
    put_file(root, "/memory/d", "memory.limit_in_bytes", "1024\n");
    assert_int_equal(kc__memory_cgroup_limit(KC_STR("9:cpu:/a\n8:pids,memory:/d\n0::/a\n"), root),
                     1024);
    kc_autofree char *command = kc_asprintf("rm -r %s", root);
    assert_int_equal(system(command), 0);
}

/* ---- watches ---- */

static void watches_of_a_user_are_limited(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc__watch_quota *q = kc__watch_quota_new(&(kc__watch_quota_opts){.per_user = 2}, NULL);
    kc__watch_quota_share a = {0}, b = {0}, c = {0}, other = {0};
    assert_int_equal(kc__watch_quota_acquire(q, KC_STR("ann"), 10, &a, NULL), 0);
    assert_int_equal(kc__watch_quota_acquire(q, KC_STR("ann"), 10, &b, NULL), 0);
    assert_int_equal(kc__watch_quota_acquire(q, KC_STR("ann"), 10, &c, &err),
                     -KC_TOO_MANY_REQUESTS);
    assert_string_equal(kc_error_text(&err),
                        "user \"ann\" has too many open watches: the limit is 2");
    assert_int_equal(kc__watch_quota_acquire(q, KC_STR("bob"), 10, &other, NULL), 0);
    kc__watch_quota_release(q, &a);
    kc__watch_quota_release(q, &a); /* Harmless. */
    assert_int_equal(kc__watch_quota_acquire(q, KC_STR("ann"), 10, &c, NULL), 0);
    kc__watch_quota_release(q, &b);
    kc__watch_quota_release(q, &c);
    kc__watch_quota_release(q, &other);
    kc__watch_quota_free(q);
}

static void large_selectors_of_all_watches_share_one_budget(void **state)
{
    (void)state;
    kc__watch_quota *q = kc__watch_quota_new(&(kc__watch_quota_opts){.selector_bytes = 9000}, NULL);
    kc__watch_quota_share a = {0}, b = {0}, small = {0};
    assert_int_equal(kc__watch_quota_acquire(q, KC_STR("ann"), 5000, &a, NULL), 0);
    assert_int_equal(kc__watch_quota_acquire(q, KC_STR("bob"), 5000, &b, NULL),
                     -KC_TOO_MANY_REQUESTS);
    assert_int_equal(
        kc__watch_quota_acquire(q, KC_STR("bob"), KC__WATCH_QUOTA_SMALL_SELECTOR, &small, NULL), 0);
    kc__watch_quota_release(q, &a);
    assert_int_equal(kc__watch_quota_acquire(q, KC_STR("bob"), 5000, &b, NULL), 0);
    kc__watch_quota_release(q, &b);
    kc__watch_quota_release(q, &small);
    kc__watch_quota_free(q);
}

TESTS(reading_above_the_soft_limit_refuses_heavy_requests,
      reading_above_the_hard_limit_sheds_and_refuses_all_but_exempt,
      burst_between_readings_is_refused_by_its_accounts, metrics_show_readings_limits_and_refusals,
      limits_default_to_shares_of_available_memory, smallest_cgroup_limit_of_the_hierarchy_applies,
      idle_server_far_below_the_soft_limit_is_read_at_the_idle_interval,
      request_wakes_an_idle_governor_for_one_reading,
      memory_near_the_soft_limit_is_read_at_the_interval_of_load,
      requests_in_flight_are_read_at_the_interval_of_load,
      growth_of_an_idle_server_above_the_hard_limit_is_shed_after_a_request,
      watches_of_a_user_are_limited, large_selectors_of_all_watches_share_one_budget)
