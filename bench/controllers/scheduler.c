/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler.c: the decisions of the scheduler alone, without a server and without writes. Pods of
 * several kinds are placed until the cluster has them all: a decision whose cost grew with the
 * number of pods would show in the second half. The cost of a decision may grow with the number of
 * nodes, but not faster.
 */
#include "bench.h"

#include "kc/clock.h"
#include "scheduler/cycle.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct kind {
    const char *name;
    const char *spec; /* What a pod's has more. */
    size_t per_owner;
} kind;

#define APP "{\"matchLabels\":{\"app\":\"%s\"}}"

static const kind kinds[] = {
    {"plain pods, ten of each owner", "", 10},
    {"plain pods, all of one owner", "", SIZE_MAX},
    {"node selector and toleration",
     ",\"nodeSelector\":{\"disk\":\"ssd\"},\"tolerations\":[{\"operator\":\"Exists\"}]", 10},
    {"spread over zones, required",
     ",\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
     "\"DoNotSchedule\",\"labelSelector\":" APP "}]",
     10},
    {"apart from each other, required",
     ",\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"
     "\"topologyKey\":\"kubernetes.io/hostname\",\"labelSelector\":" APP "}]}}",
     10},
};

static void add_node(kc__sched_cluster *c, size_t i)
{
    kc_autofree char *json = kc_asprintf(
        "{\"kind\":\"Node\",\"metadata\":{\"name\":\"node-%zu\",\"labels\":{\"kubernetes.io/hostname\":"
        "\"node-%zu\",\"zone\":\"z%zu\",\"disk\":\"ssd\",\"kubernetes.io/os\":\"linux\"}},\"status\":{"
        "\"allocatable\":{\"cpu\":\"32\",\"memory\":\"64Gi\",\"pods\":\"250\"},\"conditions\":[{"
        "\"type\":\"Ready\",\"status\":\"True\"}]}}",
        i, i, i % 5);
    kc_auto(kc_object) *node = kc_object_parse(kc_cstr(json), NULL, NULL);
    kc__sched_node *host = kc__sched_cluster_set_node(c, node, NULL);
    assert(host);
    (void)host;
}

static kc_object *new_pod(const kind *k, size_t i)
{
    kc_autofree char *app = kc_asprintf("app-%zu", i / k->per_owner);
    kc_scoped(kc_buf) more = {0};
    const char *at = strstr(k->spec, "%s");
    kc_buf_append(&more, kc_str_of(k->spec, at ? (size_t)(at - k->spec) : strlen(k->spec)));
    if (at)
        kc_buf_printf(&more, "%s%s", app, at + 2);
    kc_autofree char *json = kc_asprintf(
        "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"pod-%zu\",\"namespace\":\"default\",\"uid\":\"%zu\","
        "\"labels\":{\"app\":\"%s\",\"pod-template-hash\":\"5d4f\"},\"ownerReferences\":[{\"apiVersion\":"
        "\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"%s\",\"uid\":\"%s\",\"controller\":true}]},\"spec\":{"
        "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"100m\",\"memory\":"
        "\"128Mi\"}}}]%s}}",
        i, i, app, app, app, kc_buf_cstr(&more));
    return kc_object_parse(kc_cstr(json), NULL, NULL);
}

/* Of this thread, in nanoseconds: others on the machine do not count. */
static int64_t processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * KC_SECOND + t.tv_nsec;
}

/* Nanoseconds of deciding; reading a pod is not counted. */
static int64_t place_pods(kc__sched_cluster *c, const kind *k, size_t from, size_t to,
                          kc_rand *rand)
{
    int64_t spent = 0;
    for (size_t i = from; i < to; i++) {
        kc_auto(kc_object) *pod = new_pod(k, i);
        kc_scoped(kc__sched_decision) d = {0};
        kc__sched_pod *place =
            kc__sched_cluster_set_pod(c, kc__sched_demand_of(pod, &c->terms, NULL));
        const int64_t began = processor_time();
        kc__sched_decide(c, place, rand, (int64_t)i, &d);
        assert(d.host);
        kc__sched_pod_assign(c, place, kc_cstr(d.host->name));
        spent += processor_time() - began;
    }
    return spent;
}

/* Nanoseconds of a decision. */
static double measure(const kind *k, size_t nodes, size_t pods, double *ret_growth)
{
    kc__sched_cluster c;
    kc_rand rand;
    kc_rand_seed(&rand, 7);
    kc__sched_cluster_init(&c);
    for (size_t i = 0; i < nodes; i++)
        add_node(&c, i);
    const int64_t first = place_pods(&c, k, 0, pods / 2, &rand);
    const int64_t second = place_pods(&c, k, pods / 2, pods, &rand);
    kc__sched_cluster_done(&c);
    const double rate = (double)pods * KC_SECOND / (double)(first + second);
    *ret_growth = (double)second / (double)first;
    printf("  %-34s %5zu nodes %6zu pods %9.0f/s   second half %.2f times the first\n", k->name,
           nodes, pods, rate, *ret_growth);
    return KC_SECOND / rate;
}

static void read_pods(const kind *k, size_t n)
{
    kc__sched_cluster c;
    kc__sched_cluster_init(&c);
    kc_auto(kc_object) *pod = new_pod(k, 1);
    const int64_t began = processor_time();
    for (size_t i = 0; i < n; i++)
        kc__sched_demand_free(kc__sched_demand_of(pod, &c.terms, NULL));
    printf("  %-34s %9.0f ns each\n", "reading a pod",
           (double)(processor_time() - began) / (double)n);
    kc__sched_cluster_done(&c);
}

int main(void)
{
    printf("scheduling, deciding alone\n");
    read_pods(&kinds[0], 100000);
    double few[KC_COUNT(kinds)], growth, pods_growth = 0, nodes_growth = 0, slowest = 0;
    for (size_t i = 0; i < KC_COUNT(kinds); i++) {
        few[i] = measure(&kinds[i], 100, 10000, &growth);
        slowest = fmax(slowest, few[i]);
    }
    for (size_t i = 0; i < KC_COUNT(kinds); i++) {
        nodes_growth = fmax(nodes_growth, measure(&kinds[i], 1000, 10000, &growth) / few[i]);
        pods_growth = fmax(pods_growth, growth);
    }
    bench_at_most("the slowest kind of pod, to a plain pod, 100 nodes", slowest / few[0], 4);
    bench_at_most("a decision among 1,000 nodes, to one among 100", nodes_growth, 15);
    bench_at_most("second half of 10,000 pods on 1,000 nodes, to the first", pods_growth, 2);
    return bench_result();
}
