/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler_testing.h: a cluster for tests of the scheduler's rules, without a server.
 *
 *     kc_scoped(kc__sched_cluster) c; kc__sched_cluster_init(&c);
 *     host(&c, "a", "'zone':'x'", "", "");               labels, spec, allocatable
 *     place(&c, "web-1", "a", "'app':'web'", "");        on a node; labels, spec
 *     kc__sched_pod *p = place(&c, "new", NULL, "", "'nodeSelector':{'zone':'x'}");
 *     assert_string_equal(why_not(&c, p, "a"), "node(s) …");
 *
 * In all texts ' stands for ".
 */
#ifndef KC_SCHEDULER_TESTING_H
#define KC_SCHEDULER_TESTING_H

#include "scheduler/cycle.h"
#include "testing.h"

#include <stdio.h>

/* A ready node of 4 CPUs, 8Gi and 10 pods, unless `allocatable` says otherwise. */
static inline KC_UNUSED kc__sched_node *host(kc__sched_cluster *c, const char *name,
                                             const char *labels, const char *spec,
                                             const char *allocatable)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *json = kc_asprintf(
        "{'apiVersion':'v1','kind':'Node','metadata':{'name':'%s','labels':{'kubernetes.io/"
        "hostname':'%s'%s%s}},'spec':{%s},'status':{'conditions':[{'type':'Ready','status':'True'}],"
        "'allocatable':{%s}}}",
        name, name, *labels ? "," : "", labels, spec,
        *allocatable ? allocatable : "'cpu':'4','memory':'8Gi','pods':'10'");
    kc_auto(kc_object) *node = object_of(json);
    kc__sched_node *h = kc__sched_cluster_set_node(c, node, &err);
    if (!h)
        fail_msg("%s", kc_error_text(&err));
    return h;
}

/* The JSON of a pod, with one container unless the spec sets others (of two members of one name
 * the last counts). */
static inline KC_UNUSED kc_object *pod_object(const char *name, const char *on, const char *labels,
                                              const char *spec)
{
    kc_autofree char *node = on ? kc_asprintf(",'nodeName':'%s'", on) : kc_strdup("");
    kc_autofree char *json = kc_asprintf(
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'default','uid':'%s-uid'"
        ",'labels':{%s}},'spec':{'containers':[{'name':'c','image':'i'}]%s%s%s}}",
        name, name, labels, node, *spec ? "," : "", spec);
    return object_of(json);
}

static inline KC_UNUSED kc__sched_pod *place_object(kc__sched_cluster *c, const kc_object *pod)
{
    kc_scoped(kc_error) err = {0};
    kc__sched_demand *d = kc__sched_demand_of(pod, &c->terms, &err);
    if (!d)
        fail_msg("%s", kc_error_text(&err));
    kc__sched_pod *p = kc__sched_cluster_set_pod(c, d);
    if (d->node && !p->host)
        kc__sched_pod_assign(c, p, kc_cstr(d->node));
    return p;
}

/* On a node, or pending (NULL). */
static inline KC_UNUSED kc__sched_pod *place(kc__sched_cluster *c, const char *name, const char *on,
                                             const char *labels, const char *spec)
{
    kc_auto(kc_object) *pod = pod_object(name, on, labels, spec);
    return place_object(c, pod);
}

/* Why a node does not fit: its reasons, comma-separated; "" if it fits, "!" before reasons that
 * preemption cannot resolve. A static buffer. */
static inline KC_UNUSED const char *why_not(kc__sched_cluster *c, kc__sched_pod *p,
                                            const char *name)
{
    static char text[1024];
    kc_scoped(kc_arena) arena = {0};
    kc__sched_cycle cycle;
    uint32_t refused_by = 0;
    kc__sched_reasons why = {0};
    *text = 0;
    if (kc__sched_cycle_begin(&cycle, c, p->demand, &arena, 1, &refused_by)) {
        const kc__sched_filter_code code = kc__sched_cycle_filter(
            &cycle, kc__sched_cluster_node(c, kc_cstr(name)), &why, &refused_by);
        strcat(text, code == KC__SCHED_UNRESOLVABLE ? "!" : "");
        for (size_t i = 0; i < why.n; i++)
            strcat(strcat(text, i ? ", " : ""), why.texts[i]);
    } else {
        strcat(strcat(text, "!!"), cycle.refusal);
    }
    kc__sched_cycle_end(&cycle);
    return text;
}

/* The scores of a plugin for all nodes, normalized to 0 … 100, in the order in which they were
 * created, separated by spaces. A static buffer. */
static inline KC_UNUSED const char *scores(kc__sched_cluster *c, kc__sched_pod *p,
                                           const char *plugin)
{
    static char text[1024];
    kc_scoped(kc_arena) arena = {0};
    kc__sched_cycle cycle;
    uint32_t refused_by = 0;
    int64_t of[64] = {0};
    *text = 0;
    assert_true(kc__sched_cycle_begin(&cycle, c, p->demand, &arena, 1, &refused_by));
    cycle.feasible = c->ready.items;
    cycle.n_feasible = c->ready.n;
    for (size_t i = 0; i < kc__sched_n_plugins; i++) {
        const kc__sched_plugin *row = &kc__sched_plugins[i];
        if (strcmp(row->name, plugin) != 0)
            continue;
        if (row->prepare_score && !row->prepare_score(&cycle)) {
            strcat(text, "skip");
            break;
        }
        for (size_t h = 0; h < c->ready.n; h++)
            of[h] = row->score(&cycle, c->ready.items[h]);
        if (row->normalize)
            row->normalize(&cycle, of, c->ready.n);
        for (size_t h = 0; h < c->ready.n; h++)
            sprintf(text + strlen(text), "%s%d", h ? " " : "", (int)of[h]);
    }
    kc__sched_cycle_end(&cycle);
    return text;
}

#endif
