/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plane.c: a whole plane in one process, server in memory, all controllers, 100 simulated nodes:
 *
 *     deployments of 10 replicas, from their creation until all are available; what of memory and
 *     of calls each pod takes; and that a pod costs the same among many as among few
 *     one deployment from 0 to many replicas, and back to 0 until the last pod is gone
 *
 *     bench_controllers_plane [DEPLOYMENTS [REPLICAS]]        defaults to 1,000 and 5,000
 */
#include "bench.h"

#include "kc/controllers.h"
#include "kc/embed.h"
#include "kc/kinds.h"
#include "kc/view.h"

#include <stdio.h>
#include <unistd.h>

enum { DEPLOYMENTS = 1000, EACH = 10, REPLICAS = 5000, NODES = 100, WORKERS = 10 };

typedef struct plane {
    kc_metrics *metrics;
    kc_embed *server;
    kc_client *client;
    kc_log *log;
    kc_manager *manager;
} plane;

static void die(const char *what, const kc_error *err)
{
    fprintf(stderr, "bench plane: %s: %s\n", what, kc_error_text(err));
    exit(2);
}

static void open_plane(plane *p)
{
    kc_scoped(kc_error) err = {0};
    p->metrics = kc_metrics_new();
    p->log = kc_log_new(&(kc_log_opts){.level = KC_LOG_ERROR});
    p->server = kc_embed_start(&(kc_embed_opts){.metrics = p->metrics}, &err);
    p->client = p->server ? kc_embed_client(p->server, &err) : NULL;
    const kc_manager_opts opts = {.client = p->client, .log = p->log, .leave_signals = true};
    const kc_controllers_opts which = {
        .workers = WORKERS,
        .pods = {.mode = KC_PODS_SIMULATE, .nodes = NODES, .quiet = true},
    };
    p->manager = p->client ? kc_manager_new(&opts, &err) : NULL;
    if (!p->manager || kc_controllers_add(p->manager, &which, &err) < 0 ||
        kc_manager_start(p->manager, &err) < 0)
        die("start", &err);
}

static void close_plane(plane *p)
{
    kc_manager_free(p->manager);
    kc_client_unref(p->client);
    kc_embed_stop(p->server);
    kc_metrics_free(p->metrics);
    kc_log_free(p->log);
}

/* ---- looking ---- */

static double seconds_since(int64_t start)
{
    return (double)(kc_clock_now(kc_clock_real()) - start) / (double)KC_SECOND;
}

static double resident_mb(void)
{
    unsigned long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu %lu", &pages, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

/* Calls of the server so far; watches count when they end. */
static double calls(const plane *p)
{
    kc_scoped(kc_buf) text = {0};
    double sum = 0;
    kc_metrics_write(p->metrics, &text);
    for (const char *line = kc_buf_cstr(&text); line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "apiserver_request_total{", 24) != 0)
            continue;
        const char *value = strchr(line, '}');
        sum += value ? strtod(value + 1, NULL) : 0;
    }
    return sum;
}

/* Replicas that are available, and all pods, as the manager's cache has them. */
static int64_t available(const plane *p)
{
    kc_objects list = {0};
    int64_t sum = 0;
    kc_cache_list(kc_manager_cache(p->manager), &kc_kind_deployment, NULL, &list, NULL);
    for (size_t i = 0; i < list.n; i++) {
        kc_auto(kc_view) *view = kc_view_of(list.items[i]);
        sum += kc_as_i64_or(kc_dig(kc_view_root(view), "status.availableReplicas"), 0);
    }
    kc_objects_done(&list);
    return sum;
}

static int64_t pods(const plane *p)
{
    kc_objects list = {0};
    kc_cache_list(kc_manager_cache(p->manager), &kc_kind_pod, NULL, &list, NULL);
    const int64_t n = (int64_t)list.n;
    kc_objects_done(&list);
    return n;
}

static void wait_until(const plane *p, int64_t (*count)(const plane *p), int64_t wanted)
{
    const int64_t deadline = kc_clock_deadline(kc_clock_real(), 15 * KC_MINUTE);
    while (count(p) != wanted) {
        if (kc_clock_now(kc_clock_real()) > deadline)
            die("it does not come to an end", NULL);
        kc_clock_sleep(kc_clock_real(), 50 * KC_MILLISECOND);
    }
}

/* ---- doing ---- */

static void create_deployment(const plane *p, size_t i, int replicas)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *text = kc_asprintf(
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"namespace\":"
        "\"default\",\"name\":\"web-%zu\"},\"spec\":{\"replicas\":%d,\"selector\":{\"matchLabels\":"
        "{\"app\":\"web-%zu\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"web-%zu\"}},"
        "\"spec\":{\"containers\":[{\"name\":\"web\",\"image\":\"none\",\"resources\":{\"requests\":"
        "{\"cpu\":\"10m\",\"memory\":\"16Mi\"}}}]}}}}",
        i, replicas, i, i);
    kc_auto(kc_object) *wanted = kc_object_parse(kc_cstr(text), NULL, &err);
    kc_auto(kc_object) *made = wanted ? kc_client_create(p->client, wanted, NULL, &err) : NULL;
    if (!made)
        die("create", &err);
}

static void scale(const plane *p, int replicas)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *patch = kc_asprintf("{\"spec\":{\"replicas\":%d}}", replicas);
    kc_auto(kc_object) *changed =
        kc_client_patch(p->client, &kc_kind_deployment, KC_KEY("default", "web-0"), KC_PATCH_MERGE,
                        kc_cstr(patch), NULL, &err);
    if (!changed)
        die("scale", &err);
}

/* Microseconds a pod. */
static double roll_out(size_t deployments)
{
    plane p = {0};
    open_plane(&p);
    const double memory = resident_mb(), before = calls(&p), n = (double)(deployments * EACH);
    const int64_t start = kc_clock_now(kc_clock_real());
    for (size_t i = 0; i < deployments; i++)
        create_deployment(&p, i, EACH);
    wait_until(&p, available, (int64_t)(deployments * EACH));
    const double seconds = seconds_since(start);
    printf("%5zu deployments of %d on %d nodes: %6.1f s, %4.0f us a pod; %.0f MB more, %.1f KB a "
           "pod; %.2f calls a pod\n",
           deployments, EACH, NODES, seconds, seconds * 1e6 / n, resident_mb() - memory,
           (resident_mb() - memory) * 1e3 / n, (calls(&p) - before) / n);
    close_plane(&p);
    return seconds * 1e6 / n;
}

static double scale_up_and_down(int replicas)
{
    plane p = {0};
    open_plane(&p);
    create_deployment(&p, 0, 0);
    const int64_t start = kc_clock_now(kc_clock_real());
    scale(&p, replicas);
    wait_until(&p, available, replicas);
    const double up = seconds_since(start);
    scale(&p, 0);
    wait_until(&p, pods, 0);
    const double down = seconds_since(start) - up;
    printf("one deployment, 0 to %d to 0: %.1f s up (%.0f us a pod), %.1f s down (%.0f us a pod)\n",
           replicas, up, up * 1e6 / replicas, down, down * 1e6 / replicas);
    close_plane(&p);
    return (up + down) * 1e6 / replicas;
}

int main(int argc, char **argv)
{
    const size_t many = argc > 1 ? strtoul(argv[1], NULL, 10) : DEPLOYMENTS;
    const int replicas = argc > 2 ? atoi(argv[2]) : REPLICAS;
    const double few = roll_out(many / 4);
    bench_at_most("a pod among all, to one among a quarter", roll_out(many) / few, 1.5);
    const double small = scale_up_and_down(replicas / 4);
    bench_at_most("a replica of many, to one of a quarter", scale_up_and_down(replicas) / small,
                  1.5);
    return bench_result();
}
