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
#include "plane.h"
#include "bench.h"

#include "kc/kinds.h"
#include "kc/view.h"

#include <stdio.h>

enum { DEPLOYMENTS = 1000, EACH = 10, REPLICAS = 5000, WORKERS = 10 };

static const bench_plane_opts opts = {.workers = WORKERS, .quiet = true};

/* ---- looking ---- */

static double seconds_since(int64_t start)
{
    return (double)(kc_clock_now(kc_clock_real()) - start) / (double)KC_SECOND;
}

static double megabytes(void)
{
    return bench_resident() / 1e6;
}

static double calls_so_far(const bench_plane *p)
{
    const calls all = calls_of(p->metrics);
    return (double)calls_sum(&all, NULL, NULL, NULL);
}

/* Replicas that are available, and all pods, as the manager's cache has them. */
static int64_t available(const bench_plane *p)
{
    kc_object_list list = {0};
    int64_t sum = 0;
    kc_cache_list(kc_manager_cache(p->manager), &kc_kind_deployment, NULL, &list, NULL);
    for (size_t i = 0; i < list.n; i++) {
        kc_auto(kc_view) *view = kc_view_of(list.items[i]);
        sum +=
            kc_value_as_i64_or(kc_value_nested(kc_view_root(view), "status.availableReplicas"), 0);
    }
    kc_object_list_done(&list);
    return sum;
}

static int64_t pods(const bench_plane *p)
{
    kc_object_list list = {0};
    kc_cache_list(kc_manager_cache(p->manager), &kc_kind_pod, NULL, &list, NULL);
    const int64_t n = (int64_t)list.n;
    kc_object_list_done(&list);
    return n;
}

/* ---- doing ---- */

static void create_deployment(const bench_plane *p, size_t i, int replicas)
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
        bench_die("create", &err);
}

static void scale(const bench_plane *p, int replicas)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *patch = kc_asprintf("{\"spec\":{\"replicas\":%d}}", replicas);
    kc_auto(kc_object) *changed =
        kc_client_patch(p->client, &kc_kind_deployment, KC_KEY("default", "web-0"), KC_PATCH_MERGE,
                        kc_cstr(patch), NULL, &err);
    if (!changed)
        bench_die("scale", &err);
}

/* Microseconds a pod. */
static double roll_out(size_t deployments)
{
    bench_plane p;
    bench_plane_open(&p, &opts);
    const double memory = megabytes(), before = calls_so_far(&p), n = (double)(deployments * EACH);
    const int64_t start = kc_clock_now(kc_clock_real());
    for (size_t i = 0; i < deployments; i++)
        create_deployment(&p, i, EACH);
    bench_plane_wait(&p, available, (int64_t)(deployments * EACH));
    const double seconds = seconds_since(start);
    printf("%5zu deployments of %d on %d nodes: %6.1f s, %4.0f us a pod; %.0f MB more, %.1f KB a "
           "pod; %.2f calls a pod\n",
           deployments, EACH, BENCH_NODES, seconds, seconds * 1e6 / n, megabytes() - memory,
           (megabytes() - memory) * 1e3 / n, (calls_so_far(&p) - before) / n);
    bench_plane_close(&p);
    return seconds * 1e6 / n;
}

static double scale_up_and_down(int replicas)
{
    bench_plane p;
    bench_plane_open(&p, &opts);
    create_deployment(&p, 0, 0);
    const int64_t start = kc_clock_now(kc_clock_real());
    scale(&p, replicas);
    bench_plane_wait(&p, available, replicas);
    const double up = seconds_since(start);
    scale(&p, 0);
    bench_plane_wait(&p, pods, 0);
    const double down = seconds_since(start) - up;
    printf("one deployment, 0 to %d to 0: %.1f s up (%.0f us a pod), %.1f s down (%.0f us a pod)\n",
           replicas, up, up * 1e6 / replicas, down, down * 1e6 / replicas);
    bench_plane_close(&p);
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
