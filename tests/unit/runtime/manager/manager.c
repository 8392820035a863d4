/* SPDX-License-Identifier: Apache-2.0 */
/* The manager: the order of its runnables, failures, signals, pages. */
#include "plane_testing.h"

#include "kc/buf.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* What started and stopped, in order. */
typedef struct journal {
    kc_mutex mutex;
    kc_buf text;
    const kc_clock *clock;
} journal;

typedef struct part {
    journal *journal;
    const char *name;
    bool fails;
} part;

static void note(journal *d, const char *sign, const char *name)
{
    kc_locked (&d->mutex)
        kc_buf_printf(&d->text, "%s%s ", sign, name);
}

static int run_part(kc_cancel *stop, void *user, kc_error *err)
{
    part *p = user;
    note(p->journal, "+", p->name);
    if (p->fails)
        return kc_error_set(err, KC_INTERNAL, "no power");
    kc_cancel_sleep_until(stop, p->journal->clock, KC_FOREVER);
    note(p->journal, "-", p->name);
    return 0;
}

static void journal_open(journal *d, const kc_clock *clock)
{
    *d = (journal){.clock = clock};
    kc_mutex_init(&d->mutex);
}

static void journal_done(journal *d)
{
    kc_mutex_done(&d->mutex);
    kc_buf_done(&d->text);
}

static bool is_ready(void *user)
{
    part *p = user;
    bool there = false;
    kc_locked (&p->journal->mutex)
        there = p->journal->text.n && strstr(kc_buf_cstr(&p->journal->text), p->name);
    return there;
}

static void add(kc_manager *m, kc_runnable_group group, part *p)
{
    kc_runnable r = {p->name, group, run_part, .ready = is_ready, .user = p};
    assert_int_equal(kc_manager_add(m, &r, NULL), 0);
}

static void runnables_start_and_stop_in_order(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_scoped(journal) d;
    journal_open(&d, kc_testenv_clock(env));
    part parts[] = {{&d, "leader"}, {&d, "warm"}, {&d, "other"},
                    {&d, "cache"},  {&d, "hook"}, {&d, "server"}};
    const kc_runnable_group groups[] = {KC_RUNNABLE_LEADER,   KC_RUNNABLE_WARM_UP,
                                        KC_RUNNABLE_OTHERS,   KC_RUNNABLE_CACHES,
                                        KC_RUNNABLE_WEBHOOKS, KC_RUNNABLE_SERVERS};
    kc_manager *m = kc_testenv_manager(env);
    for (size_t i = 0; i < KC_COUNT(parts); i++)
        add(m, groups[i], &parts[i]);
    kc_scoped(kc_error) err = {0};
    OK(kc_testenv_run(env, &err), &err);
    kc_testenv_advance(env, KC_SECOND);
    assert_str(kc_buf_str(&d.text), "+server +hook +cache +other +warm +leader ");
    assert_true(kc_manager_is_leader(m));
    kc_buf_clear(&d.text);
    kc_manager_stop(m);
    OK(kc_manager_wait(m, &err), &err);
    assert_str(kc_buf_str(&d.text), "-other -leader -warm -cache -hook -server ");
}

static void failed_runnable_stops_the_manager(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_scoped(journal) d;
    journal_open(&d, kc_testenv_clock(env));
    part good = {&d, "good"}, bad = {&d, "bad", .fails = true};
    kc_manager *m = kc_testenv_manager(env);
    add(m, KC_RUNNABLE_OTHERS, &good);
    add(m, KC_RUNNABLE_LEADER, &bad);
    kc_scoped(kc_error) err = {0};
    assert_true(kc_manager_run(m, &err) < 0);
    assert_string_equal(kc_error_text(&err), "bad: no power");
    assert_contains(kc_buf_cstr(&d.text), "-good");
}

static void lost_lease_ends_the_manager(void **state)
{
    (void)state;
    kc_testenv_opts opts = {.seed = 4, .manager = {.election.name = "x"}};
    kc_auto(kc_testenv) *env = kc_testenv_start(&opts, NULL);
    kc_scoped(journal) d;
    journal_open(&d, kc_testenv_clock(env));
    part leader = {&d, "leader"};
    kc_manager *m = kc_testenv_manager(env);
    add(m, KC_RUNNABLE_LEADER, &leader);
    kc_scoped(kc_error) err = {0};
    OK(kc_testenv_run(env, &err), &err);
    kc_testenv_advance(env, 5 * KC_SECOND);
    assert_true(kc_manager_is_leader(m));
    OK(kc_testenv_steal_lease(env, &err), &err);
    assert_true(kc_manager_wait(m, &err) < 0);
    assert_error(&err, KC_INTERNAL, "leader election lost");
    assert_str(kc_buf_str(&d.text), "+leader -leader ");
}

static void write_without_lease_is_forbidden(void **state)
{
    (void)state;
    kc_testenv_opts opts = {.seed = 5,
                            .manager = {.election.name = "x", .restart_on_lost_lease = true}};
    kc_auto(kc_testenv) *env = kc_testenv_start(&opts, NULL);
    kc_manager *m = kc_testenv_manager(env);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *wanted = object_of(CONFIG_MAP("a"));
    OK(kc_testenv_run(env, &err), &err);
    kc_testenv_advance(env, 5 * KC_SECOND);
    kc_auto(kc_object) *made = kc_client_create(kc_manager_client(m), wanted, NULL, &err);
    assert_non_null(made);
    OK(kc_testenv_steal_lease(env, &err), &err);
    kc_testenv_advance(env, 13 * KC_SECOND);
    assert_true(kc_client_delete(kc_manager_client(m), &kc_kind_config_map, kc_object_key(made),
                                 NULL, &err) < 0);
    assert_error(&err, KC_FORBIDDEN, "no longer holds the lease");
}

static void count_lead(void *user)
{
    ++*(_Atomic int *)user;
}

static kc_result have_begun(kc_context *ctx, const kc_request *req, kc_error *err)
{
    (void)req;
    (void)err;
    assert_true(*(_Atomic int *)ctx->user > 0);
    return kc_done();
}

static void controller_starts_with_every_leadership(void **state)
{
    (void)state;
    kc_testenv_opts opts = {.seed = 6,
                            .manager = {.election.name = "x", .restart_on_lost_lease = true}};
    kc_auto(kc_testenv) *env = kc_testenv_start(&opts, NULL);
    kc_scoped(kc_error) err = {0};
    _Atomic int leads = 0;
    kc_controller_opts counts = {.kind = &kc_kind_config_map,
                                 .reconcile = have_begun,
                                 .on_start = count_lead,
                                 .user = &leads};
    kc_auto(kc_object) *made = make(env, CONFIG_MAP("a"));
    assert_non_null(kc_controller_new(kc_testenv_manager(env), &counts, &err));
    assert_int_equal(leads, 0);
    OK(kc_testenv_run(env, &err), &err);
    kc_testenv_advance(env, 5 * KC_SECOND);
    assert_int_equal(leads, 1);
    OK(kc_testenv_steal_lease(env, &err), &err);
    kc_testenv_advance(env, KC_MINUTE);
    assert_int_equal(leads, 2);
}

static void second_start_is_a_conflict(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_scoped(kc_error) err = {0};
    OK(kc_testenv_run(env, &err), &err);
    assert_true(kc_manager_start(kc_testenv_manager(env), &err) < 0);
    assert_int_equal(err.reason, KC_CONFLICT);
}

/* ---- pages and signals: in real time, with sockets ---- */

static char *fetch(int port, const char *path)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    kc_scoped(kc_buf) text = {0};
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    dprintf(fd, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    char chunk[1000];
    for (ssize_t n; (n = read(fd, chunk, sizeof(chunk))) > 0;)
        kc_buf_append(&text, kc_str_of(chunk, (size_t)n));
    close(fd);
    return kc_strdup(kc_buf_cstr(&text));
}

static int not_yet(void *user, kc_error *err)
{
    (void)user;
    return kc_error_set(err, KC_UNKNOWN, "no power");
}

static void write_page(kc_buf *out, void *user)
{
    kc_buf_puts(out, user);
}

static kc_testenv *plane_with_pages(void)
{
    kc_testenv_opts opts = {
        .manager = {.health_address = "127.0.0.1:0", .metrics_address = "localhost:0"}};
    return kc_testenv_start(&opts, NULL);
}

static void health_and_metrics_are_served(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane_with_pages();
    kc_manager *m = kc_testenv_manager(env);
    kc_scoped(kc_error) err = {0};
    OK(kc_manager_add_readyz_check(m, "motor", not_yet, NULL, &err), &err);
    OK(kc_manager_add_page(m, "/hello", "text/plain", write_page, (void *)"hello there", &err),
       &err);
    OK(kc_testenv_run(env, &err), &err);
    int port = kc_manager_health_port(m);
    kc_autofree char *healthy = fetch(port, "/healthz"), *ready = fetch(port, "/readyz");
    kc_autofree char *rest = fetch(port, "/readyz?exclude=motor&verbose"),
                     *one = fetch(port, "/readyz/caches");
    kc_autofree char *hello = fetch(port, "/hello"), *queues = fetch(port, "/debug/queue");
    kc_autofree char *metrics = fetch(kc_manager_metrics_port(m), "/metrics");
    kc_autofree char *nothing = fetch(port, "/metrics");
    assert_contains(healthy, "200 OK");
    assert_contains(ready, "500 ");
    assert_contains(ready, "[-]motor failed: no power");
    assert_contains(rest, "[+]motor excluded: ok");
    assert_contains(rest, "200 OK");
    assert_contains(one, "200 OK");
    assert_contains(hello, "hello there");
    assert_contains(queues, "application/json");
    assert_contains(metrics, "# TYPE");
    assert_contains(nothing, "404 ");
}

static void invalid_health_address_is_an_error(void **state)
{
    (void)state;
    kc_testenv_opts opts = {.manager = {.health_address = "nowhere"}};
    kc_auto(kc_testenv) *env = kc_testenv_start(&opts, NULL);
    kc_scoped(kc_error) err = {0};
    assert_true(kc_testenv_run(env, &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "nowhere is not a valid address: expected host:port");
}

static void sigterm_stops_the_manager(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = kc_testenv_start(NULL, NULL);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_manager) *m =
        kc_manager_new(&(kc_manager_opts){.client = kc_testenv_client(env),
                                          .log = kc_manager_log(kc_testenv_manager(env))},
                       &err);
    assert_non_null(m);
    OK(kc_manager_start(m, &err), &err);
    kill(getpid(), SIGTERM);
    OK(kc_manager_wait(m, &err), &err);
}

static kc_result nothing(kc_context *ctx, const kc_request *request, kc_error *err)
{
    (void)ctx;
    (void)request;
    (void)err;
    return kc_done();
}

static void controller_with_failed_predicate_is_refused(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = kc_testenv_start(NULL, NULL);
    kc_scoped(kc_error) err = {0};
    kc_controller_opts all = {.kind = &kc_kind_config_map,
                              .predicate = kc_predicate_label_selector("a==(", &err),
                              .kind_predicate = kc_predicate_labels_changed(),
                              .sources = KC_SOURCES(kc_source_timer(KC_HOUR, KC_KEY("", "x"))),
                              .reconcile = nothing};
    assert_null(kc_controller_new(kc_testenv_manager(env), &all, &err));
    assert_int_equal(err.reason, KC_BAD_REQUEST);
    kc_error_done(&err);
    kc_controller_opts other = {.kind = &kc_kind_config_map,
                                .predicate = kc_predicate_labels_changed(),
                                .reconcile = nothing};
    assert_null(kc_controller_new(NULL, &other, &err));
}

static uint64_t first_number(uint64_t seed)
{
    kc_auto(kc_testenv) *env = plane(seed);
    kc_rand own = kc_manager_rand(kc_testenv_manager(env));
    kc_rand other = kc_manager_rand(kc_testenv_manager(env));
    const uint64_t first = kc_rand_u64(&own);
    assert_true(first != kc_rand_u64(&other));
    return first;
}

static void random_numbers_follow_the_seed(void **state)
{
    (void)state;
    assert_true(first_number(1) == first_number(1));
    assert_true(first_number(1) != first_number(2));
}

TESTS(controller_with_failed_predicate_is_refused, runnables_start_and_stop_in_order,
      failed_runnable_stops_the_manager, lost_lease_ends_the_manager,
      write_without_lease_is_forbidden, controller_starts_with_every_leadership,
      second_start_is_a_conflict, health_and_metrics_are_served, invalid_health_address_is_an_error,
      sigterm_stops_the_manager, random_numbers_follow_the_seed)
