/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bare_etcd.c: the peer of a server on etcd: the same transactions and the same watch by the client
 * of src/etcd alone, without objects, HTTP and TLS. It shows what etcd and the disk take.
 *
 *     server_bare_etcd --url URL --prefix PREFIX [--seconds N] [--bytes N] [--concurrent N]
 * [--seen]
 *
 * creates keys, N at a time ("if absent, put"), each from a callback, while a watch of the prefix
 * is open. One client, as in a server. With --seen the next key follows when the watch has
 * delivered the last one, too: a server acknowledges a write when its watch has shown it. Otherwise
 * the watch may be far behind. Prints: rate= keys= events= cpu_us= (of this process).
 *
 *     server_bare_etcd --url URL --prefix PREFIX --rate N [--seconds N] [--bytes N]
 *
 * puts values at a steady rate by one client and watches them by another one, over connections of
 * their own, as two servers do. A delay begins right before the put is sent and ends with its
 * event. Prints: writes= events= p50_us= p99_us= max_us=
 *
 * Threads: callbacks of a client run on its channel's thread.
 */
#include "etcd/etcd.h"
#include "kc/thread.h"

#include <getopt.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { OBJECTS = 10, KEY_BYTES = 256 };

static struct {
    const char *url, *prefix;
    int64_t seconds, bytes, concurrent, rate;
    bool seen;
} options = {.seconds = 3, .bytes = 1000, .concurrent = 64};

static _Noreturn void die(const char *what, const kc_error *err)
{
    fprintf(stderr, "server_bare_etcd: %s%s%s\n", what, err ? ": " : "",
            err ? kc_error_text(err) : "");
    exit(1);
}

static int64_t now(void)
{
    return kc_clock_now(kc_clock_real());
}

static kc__etcd *open_client(void)
{
    kc_scoped(kc_error) err = {0};
    kc__etcd *etcd =
        kc__etcd_open(&(kc__etcd_opts){.endpoints = &options.url, .n_endpoints = 1}, &err);
    if (!etcd)
        die("open", &err);
    return etcd;
}

static void fail_of_compaction(int64_t revision, void *user)
{
    (void)revision;
    (void)user;
    die("the watch was compacted", NULL);
}

static void fail_of_watch(kc__etcd_code code, const kc_error *err, void *user)
{
    (void)code;
    (void)user;
    die("watch", err);
}

/* The revision before the first write: from there on the watch misses nothing. */
static int64_t revision_of(kc__etcd *etcd)
{
    kc_auto(kc__etcd_reply) *reply = kc__etcd_call(
        etcd, &(kc__etcd_request){.method = KC__ETCD_RANGE, .range = {.key = KC_STR("/")}});
    if (reply->code != KC__ETCD_OK)
        die("read", &reply->err);
    return reply->revision;
}

static kc__etcd_watch *watch_prefix(kc__etcd *etcd,
                                    void (*events)(const kc__etcd_batch *batch, void *user),
                                    void *user)
{
    kc_scoped(kc_arena) arena = {0};
    const kc_str key = kc_cstr(options.prefix);
    return kc__etcd_watch_start(
        etcd, &(kc__etcd_watch_opts){.key = key,
                                     .range_end = kc__etcd_prefix_end(&arena, key),
                                     .start_revision = revision_of(etcd) + 1,
                                     .events = events,
                                     .compacted = fail_of_compaction,
                                     .failed = fail_of_watch,
                                     .user = user});
}

/* ---- as many as possible ---- */

/* A key of those that are created at a time: slot `number % concurrent`. */
typedef struct slot {
    struct load *load;
    size_t number;
    int missing; /* Of the response and the event. */
} slot;

typedef struct load {
    kc__etcd *etcd;
    char *value;
    int64_t deadline;
    kc_latch running;
    slot *slots;
    _Atomic size_t created, events;
} load;

static void create_next(slot *s);

/* On the channel's thread. */
static void one_arrived(slot *s)
{
    if (--s->missing == 0)
        create_next(s);
}

static void on_created(kc__etcd_reply *reply, void *user)
{
    if (reply->code != KC__ETCD_OK || !reply->txn->succeeded)
        die("create", &reply->err);
    kc__etcd_reply_free(reply);
    one_arrived(user);
}

static void create_next(slot *s)
{
    load *l = s->load;
    if (now() >= l->deadline) {
        kc_latch_count_down(&l->running);
        return;
    }
    char name[KEY_BYTES];
    atomic_fetch_add(&l->created, 1);
    s->missing = options.seen ? 2 : 1;
    s->number += (size_t)options.concurrent;
    const int n = snprintf(name, sizeof(name), "%s%zu", options.prefix, s->number);
    const kc_str key = kc_str_of(name, (size_t)n);
    const kc__etcd_compare absent = {
        .target = KC__ETCD_COMPARE_MOD, .result = KC__ETCD_EQUAL, .key = key};
    const kc__etcd_put_request put = {.key = key,
                                      .value = kc_str_of(l->value, (size_t)options.bytes)};
    const kc__etcd_request_op op = {.put = &put};
    kc__etcd_call_start(l->etcd,
                        &(kc__etcd_request){.method = KC__ETCD_TXN,
                                            .txn = {.compare = {&absent, 1}, .success = {&op, 1}}},
                        on_created, s);
}

static void on_events(const kc__etcd_batch *batch, void *user)
{
    load *l = user;
    atomic_fetch_add(&l->events, batch->n);
    for (size_t i = 0; options.seen && i < batch->n; i++) {
        const kc_str key = batch->events[i].kv->key;
        char number[32];
        snprintf(number, sizeof(number), "%.*s",
                 KC_ARG(kc_str_sub(key, strlen(options.prefix), key.n)));
        one_arrived(&l->slots[strtoul(number, NULL, 10) % (size_t)options.concurrent]);
    }
}

static int64_t own_cpu_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_usec;
}

static void run_creates(void)
{
    load l = {.etcd = open_client(),
              .value = malloc((size_t)options.bytes),
              .slots = calloc((size_t)options.concurrent, sizeof(slot))};
    if (!l.value || !l.slots)
        die("no memory", NULL);
    memset(l.value, 'x', (size_t)options.bytes);
    kc_latch_init(&l.running);
    kc_latch_add(&l.running, (unsigned)options.concurrent);
    kc__etcd_watch *watch = watch_prefix(l.etcd, on_events, &l);
    const int64_t began = now(), cpu = own_cpu_us();
    l.deadline = began + options.seconds * KC_SECOND;
    for (int64_t i = 0; i < options.concurrent; i++) {
        l.slots[i] = (slot){.load = &l, .number = (size_t)i};
        create_next(&l.slots[i]);
    }
    kc_latch_wait(&l.running);
    const double took = (double)(now() - began) / KC_SECOND;
    while (atomic_load(&l.events) < atomic_load(&l.created))
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
    printf("rate=%.1f keys=%zu events=%zu cpu_us=%.2f\n", (double)l.created / took,
           (size_t)l.created, (size_t)l.events,
           (double)(own_cpu_us() - cpu) / (double)KC_MAX((size_t)l.created, 1));
    kc__etcd_watch_stop(watch);
    kc__etcd_close(l.etcd);
    kc_latch_done(&l.running);
    free(l.slots);
    free(l.value);
}

/* ---- delivery ---- */

/* The value of a put begins with its number; the time of sending is here. */
typedef struct deliveries {
    _Atomic int64_t *sent;
    uint32_t *us;
    _Atomic size_t n;
    size_t room;
} deliveries;

static void note_delays(const kc__etcd_batch *batch, void *user)
{
    deliveries *d = user;
    const int64_t at = now();
    for (size_t i = 0; i < batch->n; i++) {
        const size_t number = strtoul(batch->events[i].kv->value.p, NULL, 10);
        if (number >= d->room || d->n == d->room)
            die("an unknown event", NULL);
        d->us[d->n] = (uint32_t)((at - d->sent[number]) / KC_MICROSECOND);
        d->n++;
    }
}

static void put_value(kc__etcd *etcd, size_t number, char *value)
{
    char key[KEY_BYTES];
    snprintf(key, sizeof(key), "%skey-%zu", options.prefix, number % OBJECTS);
    snprintf(value, 16, "%u", (unsigned)number); /* Values have at least 16 bytes. */
    kc_auto(kc__etcd_reply) *reply = kc__etcd_call(
        etcd, &(kc__etcd_request){
                  .method = KC__ETCD_PUT,
                  .put = {.key = kc_cstr(key), .value = kc_str_of(value, (size_t)options.bytes)}});
    if (reply->code != KC__ETCD_OK)
        die("put", &reply->err);
}

static int by_value(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t quantile(const deliveries *d, double q)
{
    return d->n ? d->us[(size_t)((double)(d->n - 1) * q)] : 0;
}

static void run_deliveries(void)
{
    const size_t writes = (size_t)(options.rate * options.seconds);
    deliveries d = {.sent = calloc(writes, sizeof(*d.sent)),
                    .us = calloc(writes, sizeof(*d.us)),
                    .room = writes};
    char *value = calloc(1, (size_t)KC_MAX(options.bytes, 16));
    kc__etcd *writer = open_client(), *reader = open_client();
    kc__etcd_watch *watch = watch_prefix(reader, note_delays, &d);
    revision_of(writer); /* Connected. */
    int64_t next = now();
    for (size_t i = 0; i < writes; i++, next += KC_SECOND / options.rate) {
        kc_clock_sleep(kc_clock_real(), KC_MAX(next - now(), 0));
        d.sent[i] = now();
        put_value(writer, i, value);
    }
    while (d.n < writes)
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
    kc__etcd_watch_stop(watch);
    qsort(d.us, d.n, sizeof(*d.us), by_value);
    printf("writes=%zu events=%zu p50_us=%u p99_us=%u max_us=%u\n", writes, (size_t)d.n,
           quantile(&d, .5), quantile(&d, .99), quantile(&d, 1));
    kc__etcd_close(reader);
    kc__etcd_close(writer);
    free(d.sent);
    free(d.us);
    free(value);
}

/* ---- start ---- */

static const struct option flags[] = {
    {"url", required_argument, NULL, 'u'},   {"prefix", required_argument, NULL, 'p'},
    {"bytes", required_argument, NULL, 'b'}, {"concurrent", required_argument, NULL, 'c'},
    {"rate", required_argument, NULL, 'r'},  {"seconds", required_argument, NULL, 's'},
    {"seen", no_argument, NULL, 'e'},        {0},
};

int main(int argc, char **argv)
{
    int c;
    while ((c = getopt_long(argc, argv, "", flags, NULL)) != -1) {
        switch (c) {
        case 'u': options.url = optarg; break;
        case 'p': options.prefix = optarg; break;
        case 'b': options.bytes = atoll(optarg); break;
        case 'c': options.concurrent = atoll(optarg); break;
        case 'r': options.rate = atoll(optarg); break;
        case 's': options.seconds = atoll(optarg); break;
        case 'e': options.seen = true; break;
        default: return 2;
        }
    }
    if (!options.url || !options.prefix || options.bytes < 16 || options.concurrent < 1)
        die("needs --url and --prefix, and at least 16 bytes", NULL);
    if (options.rate > 0)
        run_deliveries();
    else
        run_creates();
    return 0;
}
