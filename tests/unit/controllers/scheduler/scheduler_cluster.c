/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of pods, and the sums kept for nodes and pods, compared with a full count. */
#include "scheduler_testing.h"

#define CLUSTER(c)                  \
    kc_scoped(kc__sched_cluster) c; \
    kc__sched_cluster_init(&c)

/* ---- requests of a pod ---- */

#define BOX(kind, amounts) "{'name':'" kind "','image':'i','resources':{'requests':{" amounts "}}}"
#define SIDECAR(amounts) \
    "{'name':'s','image':'i','restartPolicy':'Always','resources':{'requests':{" amounts "}}}"

static void pod_request_is_maximum_over_its_containers(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        int64_t cpu, memory;
    } rows[] = {
        {"'containers':[" BOX("a", "") "]", 0, 0},
        {"'containers':[" BOX("a", "'cpu':'1','memory':'1Ki'") "," BOX("b", "'cpu':'500m'") "]",
         1500, 1024},
        /* The largest that runs before them. */
        {"'containers':[" BOX("a", "'cpu':'1'") "],'initContainers':[" BOX(
             "i", "'cpu':'3'") "," BOX("j", "'cpu':'2','memory':'5'") "]",
         3000, 5},
        /* A sidecar stays. */
        {"'containers':[" BOX("a", "'cpu':'1'") "],'initContainers':[" SIDECAR("'cpu':'2'") "]",
         3000, 0},
        /* What comes after it runs beside it, what comes before does not. */
        {"'containers':[" BOX("a", "'cpu':'1'") "],'initContainers':[" SIDECAR("'cpu':'2'") "," BOX(
             "i", "'cpu':'3'") "]",
         5000, 0},
        {"'containers':[" BOX("a", "'cpu':'1'") "],'initContainers':[" BOX(
             "i", "'cpu':'3'") "," SIDECAR("'cpu':'1'") "]",
         3000, 0},
        /* Overhead comes on top; what the pod says for itself instead. */
        {"'containers':[" BOX("a", "'cpu':'1'") "],'overhead':{'cpu':'10m','memory':'7'}", 1010, 7},
        {"'containers':[" BOX("a",
                              "'cpu':'1','memory':'3'") "],'resources':{'requests':{'cpu':'4'}}",
         4000, 3},
    };
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        CLUSTER(c);
        const kc__sched_pod *p = place(&c, "p", NULL, "", rows[i].spec);
        assert_int_equal(p->demand->requests.cpu, rows[i].cpu);
        assert_int_equal(p->demand->requests.memory, rows[i].memory);
    }
}

static void containers_without_requests_use_scoring_defaults(void **state)
{
    (void)state;
    CLUSTER(c);
    const kc__sched_pod *p = place(
        &c, "p", NULL, "", "'containers':[" BOX("a", "'cpu':'0'") "," BOX("b", "'memory':'1'") "]");
    assert_int_equal(p->demand->assumed_cpu, 100);
    assert_int_equal(p->demand->assumed_memory, 200 * 1024 * 1024 + 1);
    assert_int_equal(p->demand->requests.cpu, 0);
}

static void resource_sums_saturate(void **state)
{
    (void)state;
    CLUSTER(c);
    const kc__sched_pod *p =
        place(&c, "p", NULL, "",
              "'containers':[" BOX("a", "'memory':'9Ei','example.com/x':'9E'") "," BOX(
                  "b", "'memory':'9Ei',"
                       "'example.com/x':'9E'") "]");
    assert_true(p->demand->requests.memory == INT64_MAX);
    assert_true(kc__common_resources_scalar(&p->demand->requests, "example.com/x") == INT64_MAX);
}

static void invalid_pod_is_refused(void **state)
{
    (void)state;
    CLUSTER(c);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *odd = pod_object(
        "p", NULL, "",
        "'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':"
        "'z','labelSelector':{'matchExpressions':[{'key':'a','operator':'Perhaps'}]}}]}}");
    assert_null(kc__sched_demand_of(odd, &c.terms, &err));
    assert_contains(kc_error_text(&err), "Perhaps");
    assert_int_equal(c.terms.by_text.n, 0);
}

/* ---- hosts ---- */

static void removed_pod_frees_its_resources(void **state)
{
    (void)state;
    CLUSTER(c);
    kc__sched_node *n = host(&c, "n", "", "", "");
    kc__sched_pod *p =
        place(&c, "p", "n", "",
              "'containers':[{'name':'c','ports':[{'hostPort':80,'containerPort':80}],"
              "'resources':{'requests':{'cpu':'1','example.com/gpu':'2'}}}]");
    place(&c, "q", "n", "", "");
    assert_int_equal(n->used.cpu, 1000);
    assert_int_equal(n->n_pods, 2);
    assert_int_equal(n->ports.n, 1);
    assert_int_equal(kc__common_resources_scalar(&n->used, "example.com/gpu"), 2);
    kc__sched_cluster_remove_pod(&c, p);
    assert_int_equal(n->used.cpu, 0);
    assert_int_equal(n->used.scalars.n, 0);
    assert_int_equal(n->n_pods, 1);
    assert_int_equal(n->ports.n, 0);
    assert_int_equal(n->assumed_cpu, 100);
}

static void sched_node_without_node_is_freed_with_last_pod(void **state)
{
    (void)state;
    CLUSTER(c);
    kc__sched_pod *p = place(&c, "p", "ghost", "", "");
    assert_non_null(kc__sched_cluster_node(&c, KC_STR("ghost")));
    assert_int_equal(c.ready.n, 0);
    host(&c, "ghost", "", "", "");
    assert_int_equal(c.ready.n, 1);
    assert_int_equal(c.ready.items[0]->n_pods, 1);
    kc__sched_cluster_remove_node(&c, KC_STR("ghost"));
    assert_int_equal(c.ready.n, 0);
    kc__sched_cluster_remove_pod(&c, p);
    assert_null(kc__sched_cluster_node(&c, KC_STR("ghost")));
}

static void heartbeat_does_not_change_node_version(void **state)
{
    (void)state;
    CLUSTER(c);
    const uint64_t first = host(&c, "n", "", "", "")->version;
    assert_int_equal(host(&c, "n", "", "", "")->version, first);
    assert_int_equal(host(&c, "n", "'zone':'x'", "", "")->version, first + 1);
    assert_int_equal(host(&c, "n", "'zone':'x'", "'unschedulable':true", "")->version, first + 2);
    assert_int_equal(
        host(&c, "n", "'zone':'x'", "'unschedulable':true", "'cpu':'5','pods':'1'")->version,
        first + 3);
}

/* ---- counts compared with a full count ---- */

enum { HOSTS = 6, PODS = 40, STEPS = 3000, APPS = 3, ZONES = 3 };

#define LIKES(selector) "{'topologyKey':'zone','labelSelector':" selector "}"

/* A pod with all kinds of terms: with an anchor, without one, with two labels. */
static kc__sched_pod *pod_with_all_terms(kc__sched_cluster *c)
{
    return place(
        c, "asker", NULL, "",
        "'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[" LIKES("{'matchLabels':{'app':'a0'}}") "," LIKES("{'matchExpressions':[{'key':'app','operator':'In','values':['a0','a1']}]}") "," LIKES(
            "{'matchLabels':{'app':'a1','tier':'t'}}") "," LIKES("{'matchExpressions':[{'key':'tier','operator':'DoesNotExist'}]}") "]}}");
}

static uint32_t count_by_hand(const kc__sched_cluster *c, const kc__sched_term *term,
                              const kc__sched_node *at)
{
    uint32_t n = 0;
    kc_dlist_each (&((kc__sched_node *)at)->pods, kc__sched_pod, on_host, p) {
        const kc__sched_labelled pod = kc__sched_cluster_labelled(c, p->demand);
        n += kc__sched_term_matches(term, &pod);
    }
    return n;
}

static void assert_counts(kc__sched_cluster *c, kc__sched_pod *pending, int64_t now)
{
    for (int t = 0; t < 4; t++) {
        kc__sched_term *term = pending->demand->rules.items[t].term;
        const kc__sched_tally *tally = kc__sched_cluster_tally(c, &term, 1, now);
        kc_map_each (&c->hosts, entry) {
            const kc__sched_node *h = entry->value;
            assert_int_equal(kc__sched_count_at(&tally->counts, h->slot),
                             count_by_hand(c, term, h));
        }
    }
    const kc__sched_domains *zones = kc__sched_cluster_domains(c, "zone");
    kc_vec_each (&c->ready, h) {
        kc_scoped(kc_arena) arena = {0};
        const kc_str zone = kc_object_label((*h)->node, KC_STR("zone"), &arena);
        const int32_t id = kc__sched_domain_of(zones, *h);
        assert_int_equal(id >= 0, zone.p != NULL);
        if (id >= 0)
            assert_str(zone, zones->values.items[id]);
    }
}

static void step(kc__sched_cluster *c, kc_rand *rand)
{
    kc_autofree char *pod = kc_asprintf("p%d", (int)kc_rand_below(rand, PODS));
    kc_autofree char *on = kc_asprintf("n%d", (int)kc_rand_below(rand, HOSTS));
    kc_autofree char *key = kc_asprintf("default/%s", pod);
    kc_autofree char *labels = kc_asprintf("'app':'a%d'%s", (int)kc_rand_below(rand, APPS),
                                           kc_rand_below(rand, 2) ? ",'tier':'t'" : "");
    kc__sched_pod *known = kc__sched_cluster_pod(c, kc_cstr(key));
    switch (kc_rand_below(rand, 6)) {
    case 0:
        if (known)
            kc__sched_cluster_remove_pod(c, known);
        break;
    case 1: kc__sched_cluster_remove_node(c, kc_cstr(on)); break;
    case 2: {
        kc_autofree char *zone = kc_asprintf("'zone':'z%d'", (int)kc_rand_below(rand, ZONES));
        host(c, on, kc_rand_below(rand, 4) ? zone : "", "", "");
        break;
    }
    default: place(c, pod, known && known->host ? known->host->name : on, labels, "");
    }
}

static void tallies_equal_a_full_count(void **state)
{
    (void)state;
    CLUSTER(c);
    kc_rand rand;
    kc_rand_seed(&rand, 7);
    kc__sched_pod *pending = pod_with_all_terms(&c);
    for (int i = 1; i <= STEPS; i++) {
        step(&c, &rand);
        if (i % 50 == 0)
            kc__sched_cluster_forget_tallies(&c, i % 100 ? i : INT64_MAX);
        if (i % 7 == 0)
            assert_counts(&c, pending, i);
    }
}

static void removed_pods_leave_no_state(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "n", "", "", "");
    kc__sched_pod *p =
        place(&c, "p", "n", "'app':'web'",
              "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution'"
              ":[" LIKES("{'matchLabels':{'app':'web'}}") "]}}");
    assert_int_equal(c.pod_terms.n, 1);
    assert_true(c.anchors.n > 0);
    kc__sched_cluster_remove_pod(&c, p);
    assert_int_equal(c.pod_terms.n, 0);
    assert_int_equal(c.anchors.n, 0);
    assert_int_equal(c.terms.by_text.n, 0);
}

TESTS(pod_request_is_maximum_over_its_containers, containers_without_requests_use_scoring_defaults,
      resource_sums_saturate, invalid_pod_is_refused, removed_pod_frees_its_resources,
      sched_node_without_node_is_freed_with_last_pod, heartbeat_does_not_change_node_version,
      tallies_equal_a_full_count, removed_pods_leave_no_state)
