/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owners.c: what field ownership costs in a server in the same process, in processor time of the
 * whole process, because a request waits for other threads most of its time:
 *
 *     update    of an object of 2 KB with an owner that updates and one that applies,
 *               beside one of the same size without owners, which the server does not track
 *     apply     that changes nothing, beside a merge patch of the same size that changes nothing
 *     memory    of many ConfigMaps with owners, beside their JSON as served
 *
 *     bench_runtime_owners [OBJECTS]        defaults to 50,000
 */
#include "bench.h"

#include "kc/embedded_server.h"
#include "kc/kinds.h"

#include <malloc.h>
#include <stdio.h>
#include <time.h>

/* PADDING is about what the owners of an object take. */
enum { OBJECTS = 50000, KEYS = 24, PADDING = 730, ROUNDS = 15, TIMES = 300 };

#define MAPS "/api/v1/namespaces/default/configmaps"

typedef struct bench_write {
    kc_client *client;
    const char *method, *target, *type;
    kc_buf bodies[2]; /* Sent in turns. */
} bench_write;

_Noreturn static void fail_bench(const char *what, const kc_error *err)
{
    fprintf(stderr, "%s: %s\n", what, kc_error_text(err));
    exit(1);
}

static kc_embedded_server *start_server(const char *dir)
{
    kc_scoped(kc_error) err = {0};
    kc_embedded_server *server =
        kc_embedded_server_start(&(kc_embedded_server_opts){.dir = dir, .threads = 1}, &err);
    if (!server)
        fail_bench("start", &err);
    return server;
}

static void send_raw(const bench_write *w, kc_str body, kc_buf *out)
{
    kc_scoped(kc_error) err = {0};
    if (kc_client_raw(w->client, w->method, kc_cstr(w->target), kc_cstr(w->type), body, out, &err) <
        0)
        fail_bench(w->target, &err);
}

static void send_in_turns(const bench_write *w, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        kc_scoped(kc_buf) out = {0};
        send_raw(w, kc_buf_str(&w->bodies[i % 2]), &out);
    }
}

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Processor time of one request of each, the median over rounds in turns. */
static void measure_pair(const bench_write *one, const bench_write *two, double *ret_one,
                         double *ret_two)
{
    double first[ROUNDS], second[ROUNDS];
    for (size_t i = 0; i < ROUNDS; i++) {
        double start = cpu_ns();
        send_in_turns(one, TIMES);
        double middle = cpu_ns();
        send_in_turns(two, TIMES);
        first[i] = (middle - start) / TIMES;
        second[i] = (cpu_ns() - middle) / TIMES;
    }
    qsort(first, ROUNDS, sizeof(*first), compare_doubles);
    qsort(second, ROUNDS, sizeof(*second), compare_doubles);
    *ret_one = first[ROUNDS / 2];
    *ret_two = second[ROUNDS / 2];
}

/* A ConfigMap of 1 KB without its owners, which add as much; `padded` adds an annotation instead.
 * `version` is in one of its values. */
static void write_map(kc_buf *out, const char *name, const char *version, bool padded)
{
    kc_buf_clear(out);
    kc_buf_printf(out,
                  "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\","
                  "\"namespace\":\"default\",\"labels\":{\"app\":\"sample\"}",
                  name);
    if (padded)
        kc_buf_printf(out, ",\"annotations\":{\"padding\":\"%0*d\"}", PADDING, 1);
    kc_buf_printf(out, "},\"data\":{\"version\":\"%s\"", version);
    for (int i = 0; i < KEYS; i++)
        kc_buf_printf(out, ",\"setting.%02d\":\"the value of setting %02d\"", i, i);
    kc_buf_puts(out, "}}");
}

static void write_target(kc_buf *out, const char *name, const char *query)
{
    kc_buf_clear(out);
    kc_buf_printf(out, MAPS "/%s%s", name, query);
}

/* Creates an object with an applier and, after the first update, an updater. */
static void make_object(kc_client *client, const char *name, bool tracked)
{
    kc_scoped(kc_buf) body = {0}, target = {0}, out = {0};
    write_map(&body, name, "0", !tracked);
    write_target(&target, name, "?fieldManager=applier");
    bench_write w = {.client = client,
                     .method = "PATCH",
                     .target = kc_buf_cstr(&target),
                     .type = "application/apply-patch+yaml"};
    send_raw(&w, kc_buf_str(&body), &out);
    if (tracked)
        return;
    w.type = "application/merge-patch+json";
    kc_buf_clear(&out);
    send_raw(&w, KC_STR("{\"metadata\":{\"managedFields\":[]}}"), &out);
}

static void bench_updates(kc_client *client)
{
    static const char *const names[] = {"tracked", "plain"};
    bench_write w[2];
    kc_buf targets[2] = {0};
    double ns[2];
    for (size_t i = 0; i < 2; i++) {
        make_object(client, names[i], i == 0);
        write_target(&targets[i], names[i], "?fieldManager=updater");
        w[i] = (bench_write){.client = client,
                             .method = "PUT",
                             .target = kc_buf_cstr(&targets[i]),
                             .type = "application/json"};
        write_map(&w[i].bodies[0], names[i], "1", i == 1);
        write_map(&w[i].bodies[1], names[i], "2", i == 1);
    }
    measure_pair(&w[0], &w[1], &ns[0], &ns[1]);
    printf("update: %.1f us with owners, %.1f us without\n", ns[0] / 1e3, ns[1] / 1e3);
    bench_at_least("rate of an update with owners, to one without", ns[1] / ns[0], 0.75);
    for (size_t i = 0; i < 2; i++) {
        kc_buf_done(&targets[i]);
        kc_buf_done(&w[i].bodies[0]);
        kc_buf_done(&w[i].bodies[1]);
    }
}

static void bench_applies(kc_client *client)
{
    kc_scoped(kc_buf) target = {0}, merge_target = {0};
    double ns[2];
    make_object(client, "same", true);
    write_target(&target, "same", "?fieldManager=applier");
    write_target(&merge_target, "same", "?fieldManager=other");
    bench_write apply = {.client = client,
                         .method = "PATCH",
                         .target = kc_buf_cstr(&target),
                         .type = "application/apply-patch+yaml"},
                merge = {.client = client,
                         .method = "PATCH",
                         .target = kc_buf_cstr(&merge_target),
                         .type = "application/merge-patch+json"};
    for (size_t i = 0; i < 2; i++) {
        write_map(&apply.bodies[i], "same", "0", false);
        write_map(&merge.bodies[i], "same", "0", false);
    }
    measure_pair(&apply, &merge, &ns[0], &ns[1]);
    printf("no change: apply %.1f us, merge patch %.1f us\n", ns[0] / 1e3, ns[1] / 1e3);
    bench_at_most("apply that changes nothing, to a merge patch", ns[0] / ns[1], 2.0);
    for (size_t i = 0; i < 2; i++) {
        kc_buf_done(&apply.bodies[i]);
        kc_buf_done(&merge.bodies[i]);
    }
}

/* Creates objects as `kubectl create` does; returns the bytes of their JSON as served. */
static double make_many(kc_client *client, int n)
{
    double bytes = 0;
    kc_scoped(kc_buf) body = {0};
    bench_write w = {.client = client,
                     .method = "POST",
                     .target = MAPS "?fieldManager=kubectl-create",
                     .type = "application/json"};
    for (int i = 0; i < n; i++) {
        kc_scoped(kc_buf) out = {0};
        char name[32];
        snprintf(name, sizeof(name), "map-%06d", i);
        write_map(&body, name, "1", false);
        send_raw(&w, kc_buf_str(&body), &out);
        bytes += (double)out.n;
    }
    return bytes;
}

/* In a server of its own, which keeps its objects in files: the storage is no part of the figure.
 */
static void bench_memory(const char *dir, int n)
{
    kc_auto(kc_embedded_server) *server = start_server(dir);
    kc_auto(kc_client) *client = kc_embedded_server_client(server, NULL);
    malloc_trim(0);
    double before = bench_resident() - bench_resident_of_files();
    double bytes = make_many(client, n);
    malloc_trim(0);
    double grown = bench_resident() - bench_resident_of_files() - before;
    printf("%d ConfigMaps: %.1f MB as JSON, %.1f MB of memory\n", n, bytes / 1e6, grown / 1e6);
    bench_at_most("memory of ConfigMaps with owners, to their JSON", grown / bytes, 1.5);
}

static void bench_requests(void)
{
    kc_auto(kc_embedded_server) *server = start_server(NULL);
    kc_auto(kc_client) *client = kc_embedded_server_client(server, NULL);
    bench_updates(client);
    bench_applies(client);
}

int main(int argc, char **argv)
{
    char dir[] = "/tmp/bench-owners-XXXXXX", remove[64];
    if (!mkdtemp(dir))
        return 1;
    bench_memory(dir, argc > 1 ? atoi(argv[1]) : OBJECTS); /* First, while no memory is free. */
    bench_requests();
    snprintf(remove, sizeof(remove), "rm -rf %s", dir);
    return system(remove) == 0 ? bench_result() : 1;
}
