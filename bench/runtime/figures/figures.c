/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures.c: measures one figure of the controller runtime for bench/runtime/run;
 * ../peer/main.go measures the same with client-go.
 *
 *     runtime_figures fill N        create N ConfigMaps of 1 KB
 *     runtime_figures sync          time until a cache is synced, and its memory
 *     runtime_figures reconciles N  N workers, no-op reconciles of all objects
 *     runtime_figures reading N     the same; each reconcile reads its object from the cache
 *     runtime_figures latency       time from a write to its reconcile, on an idle server
 *     runtime_figures queue         add, get and done on one thread
 *
 * The server is that of $KUBECONFIG, over TLS; with `embedded` as the first word one in this
 * process. Prints one line of name=value.
 */
#include "bench.h"

#include "kc/controller.h"
#include "kc/embedded_server.h"
#include "kc/kinds.h"
#include "kc/kubeconfig.h"
#include "kc/thread.h"

#include <malloc.h>
#include <stdio.h>
#include <time.h>

enum { OBJECTS = 53000, FILLERS = 32, EVENTS = 2000, WARM_UP = 200, DATA = 770, ROUNDS = 200 };

typedef struct plane {
    kc_embedded_server *server; /* NULL: the one of $KUBECONFIG. */
    kc_client *client;
    size_t objects;
    bool reads;          /* What the reconciler does. */
    _Atomic size_t next; /* To be made. */
    _Atomic size_t calls;
    int64_t first; /* When the first call began. */
    _Atomic int64_t latest;
} plane;

_Noreturn static void fail(const char *what, const kc_error *err)
{
    fprintf(stderr, "%s: %s\n", what, kc_error_text(err));
    exit(1);
}

static int64_t now(void)
{
    return kc_clock_now(kc_clock_real());
}

static double of_process(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec * 1e3 + (double)used.tv_nsec / 1e6;
}

/* ---- objects ---- */

static kc_object *config_map(size_t i, int value)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text,
                  "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"object-"
                  "%zu\",\"namespace\":\"default\"},\"data\":{\"value\":\"%d\",\"text\":\"",
                  i, value);
    for (size_t n = 0; n < DATA; n++)
        kc_buf_putc(&text, 'x');
    kc_buf_puts(&text, "\"}}");
    return kc_object_parse(kc_buf_str(&text), NULL, NULL);
}

static void make_some(void *user)
{
    plane *p = user;
    kc_scoped(kc_error) err = {0};
    for (size_t i; (i = atomic_fetch_add(&p->next, 1)) < p->objects;) {
        kc_auto(kc_object) *object = config_map(i, 0);
        kc_auto(kc_object) *made = kc_client_create(p->client, object, NULL, &err);
        if (!made)
            fail("create", &err);
    }
}

static void fill(plane *p)
{
    kc_thread *threads[FILLERS];
    for (size_t i = 0; i < FILLERS; i++)
        threads[i] = kc_thread_start("fill", make_some, p, NULL);
    for (size_t i = 0; i < FILLERS; i++)
        kc_thread_join(threads[i]);
}

/* ---- the cache ---- */

/* In KB. */
static size_t resident(void)
{
    size_t pages = 0;
    malloc_trim(0);
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*s %zu", &pages) != 1)
        fail("statm", NULL);
    fclose(file);
    return pages * 4;
}

/* Bytes of all cached objects, and the number of those that `fill` created: the server has
 * ConfigMaps of its own in kube-system. */
static size_t bytes_of(kc_cache *cache, size_t *ret_n)
{
    kc_scoped(kc_error) err = {0};
    kc_object_list list = {0};
    size_t bytes = 0;
    if (kc_cache_list(cache, &kc_kind_config_map, NULL, &list, &err) < 0)
        fail("list", &err);
    *ret_n = 0;
    for (size_t i = 0; i < list.n; i++) {
        bytes += kc_object_json(list.items[i]).n;
        *ret_n += kc_str_is(kc_object_namespace(list.items[i]), "default");
    }
    kc_object_list_done(&list);
    return bytes;
}

/* The connection is made before: TLS and the authorities of the system are not what is measured. */
static void connect_first(plane *p)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *first =
        kc_client_get(p->client, &kc_kind_config_map, KC_KEY("default", "object-0"), NULL, &err);
    if (!first)
        fail("get", &err);
}

static void sync_cache(plane *p)
{
    kc_scoped(kc_error) err = {0};
    connect_first(p);
    const size_t before = resident();
    const double used = of_process();
    const int64_t start = now();
    kc_auto(kc_cache) *cache = kc_cache_new(&(kc_cache_opts){.client = p->client});
    kc_auto(kc_informer) *informer = kc_cache_informer(cache, &kc_kind_config_map, &err);
    if (!informer || kc_cache_start(cache, &err) < 0 ||
        !kc_cache_wait_synced(cache, start + KC_MINUTE, NULL))
        fail("sync", &err);
    const double ms = (double)(now() - start) / 1e6, cpu = of_process() - used;
    const size_t after = resident();
    size_t n = 0;
    const size_t bytes = bytes_of(cache, &n);
    printf("objects=%zu ms=%.1f cpu_ms=%.1f resident_kb=%zu json_kb=%zu\n", n, ms, cpu,
           after - before, bytes / 1024);
}

/* ---- controllers ---- */

static kc_result reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    plane *p = ctx->user;
    const size_t before = atomic_fetch_add(&p->calls, 1);
    if (before == 0)
        p->first = now();
    if (before >= p->objects - 1)
        p->latest = now();
    if (!p->reads)
        return kc_done();
    kc_auto(kc_object) *object =
        kc_client_get(ctx->client, &kc_kind_config_map, request->key, NULL, err);
    bench_use(object);
    return object ? kc_done() : kc_retry(err);
}

static kc_manager *start(plane *p, int workers)
{
    kc_scoped(kc_error) err = {0};
    p->calls = 0;
    p->latest = 0;
    kc_manager *manager =
        kc_manager_new(&(kc_manager_opts){.client = p->client, .no_signal_handlers = true}, &err);
    if (!manager)
        fail("manager", &err);
    kc_log_set_level(kc_manager_log(manager), KC_LOG_WARN, 0);
    if (!kc_controller_new(
            manager,
            &(kc_controller_opts){
                .kind = &kc_kind_config_map, .reconcile = reconcile, .user = p, .workers = workers},
            &err) ||
        kc_manager_start(manager, &err) < 0)
        fail("start", &err);
    return manager;
}

/* Until there were n calls, and the last has noted its time. */
static void await_calls(plane *p, size_t n, int64_t after)
{
    while (p->calls < n || p->latest <= after)
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND / 4);
}

static void reconciles(plane *p, int workers)
{
    kc_auto(kc_manager) *manager = start(p, workers);
    await_calls(p, p->objects, 0);
    printf("a_second=%.0f\n", (double)p->objects / ((double)(p->latest - p->first) / 1e9));
}

static int by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The write is in it: what is promised begins when the server has the event. */
static void latency(plane *p)
{
    static int64_t spans[EVENTS], writes[EVENTS];
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_manager) *manager = start(p, 1);
    await_calls(p, p->objects, 0);
    for (int i = -WARM_UP; i < EVENTS; i++) {
        const size_t calls = p->calls;
        kc_auto(kc_object) *object = config_map((size_t)(i + WARM_UP), (int)(now() % 1000000000));
        const int64_t begin = now();
        kc_auto(kc_object) *updated = kc_client_update(p->client, object, NULL, &err);
        if (!updated)
            fail("update", &err);
        const int64_t written = now();
        await_calls(p, calls + 1, begin);
        if (i >= 0) {
            spans[i] = p->latest - begin;
            writes[i] = written - begin;
        }
    }
    qsort(spans, EVENTS, sizeof(*spans), by_size);
    qsort(writes, EVENTS, sizeof(*writes), by_size);
    printf("p50_us=%.0f p99_us=%.0f write_p50_us=%.0f write_p99_us=%.0f\n",
           (double)spans[EVENTS / 2] / 1e3, (double)spans[EVENTS * 99 / 100] / 1e3,
           (double)writes[EVENTS / 2] / 1e3, (double)writes[EVENTS * 99 / 100] / 1e3);
}

/* ---- the queue ---- */

enum { CYCLES = 10000, KEYS = 1000 };

static double cycles_a_second(kc_queue *queue, const kc_key *keys)
{
    kc_queue_item item;
    const int64_t start = now();
    for (size_t i = 0; i < CYCLES; i++) {
        kc_queue_add(queue, keys[i % KEYS]);
        kc_queue_get(queue, &item);
        kc_queue_done(queue, &item);
    }
    return CYCLES / ((double)(now() - start) / 1e9);
}

/* The best of many short rounds: one thread, nothing to wait for, so what is slower was disturbed.
 */
static void queue(void)
{
    static char names[KEYS][32];
    static kc_key keys[KEYS];
    kc_auto(kc_queue) *queue = kc_queue_new(NULL);
    double best = 0;
    for (size_t i = 0; i < KEYS; i++) {
        snprintf(names[i], sizeof(names[i]), "object-%zu", i);
        keys[i] = KC_KEY("default", names[i]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        const double rate = cycles_a_second(queue, keys);
        best = KC_MAX(best, rate);
    }
    printf("a_second=%.0f\n", best);
}

/* ---- words ---- */

static void connect_to(plane *p, bool embedded)
{
    kc_scoped(kc_error) err = {0};
    if (embedded)
        p->server = kc_embedded_server_start(NULL, &err);
    if (embedded && !p->server)
        fail("server", &err);
    p->client = embedded ? kc_embedded_server_client(p->server, &err)
                         : kc_client_new(&(kc_client_opts){0}, &err);
    if (!p->client)
        fail("client", &err);
    if (embedded)
        fill(p);
}

static int run(plane *p, const char *word, const char *number)
{
    const int n = number ? atoi(number) : 0;
    if (strcmp(word, "fill") == 0) {
        p->objects = (size_t)n;
        fill(p);
    } else if (strcmp(word, "sync") == 0) {
        sync_cache(p);
    } else if ((strcmp(word, "reconciles") == 0 || strcmp(word, "reading") == 0) && n > 0) {
        p->reads = strcmp(word, "reading") == 0;
        reconciles(p, n);
    } else if (strcmp(word, "latency") == 0) {
        latency(p);
    } else {
        return 2;
    }
    return 0;
}

int main(int argc, char **argv)
{
    plane p = {.objects = OBJECTS};
    const bool embedded = argc > 1 && strcmp(argv[1], "embedded") == 0;
    argv += embedded;
    argc -= embedded;
    if (argc < 2)
        return 2;
    if (strcmp(argv[1], "queue") == 0) {
        queue();
        return 0;
    }
    connect_to(&p, embedded);
    int status = run(&p, argv[1], argc > 2 ? argv[2] : NULL);
    kc_client_unref(p.client);
    kc_embedded_server_stop(p.server);
    return status;
}
