/* SPDX-License-Identifier: Apache-2.0 */
/* What pods take, and what is kept of nodes and pods: against counting by hand. */
#include "scheduler_testing.h"

#define CLUSTER(c)            \
    kc_scoped(kc__cluster) c; \
    kc__cluster_init(&c)

/* ---- what a pod takes ---- */

#define BOX(kind, asks) "{'name':'" kind "','image':'i','resources':{'requests':{" asks "}}}"
#define SIDECAR(asks) \
    "{'name':'s','image':'i','restartPolicy':'Always','resources':{'requests':{" asks "}}}"

static void a_pod_takes_what_its_containers_take_at_their_worst(void **state)
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
        const kc__place *p = place(&c, "p", NULL, "", rows[i].spec);
        assert_int_equal(p->demand->requests.cpu, rows[i].cpu);
        assert_int_equal(p->demand->requests.memory, rows[i].memory);
    }
}

static void who_says_nothing_is_taken_to_need_a_little(void **state)
{
    (void)state;
    CLUSTER(c);
    const kc__place *p = place(
        &c, "p", NULL, "", "'containers':[" BOX("a", "'cpu':'0'") "," BOX("b", "'memory':'1'") "]");
    assert_int_equal(p->demand->assumed_cpu, 100);
    assert_int_equal(p->demand->assumed_memory, 200 * 1024 * 1024 + 1);
    assert_int_equal(p->demand->requests.cpu, 0);
}

static void huge_amounts_are_clipped_not_wrapped(void **state)
{
    (void)state;
    CLUSTER(c);
    const kc__place *p =
        place(&c, "p", NULL, "",
              "'containers':[" BOX("a", "'memory':'9Ei','example.com/x':'9E'") "," BOX(
                  "b", "'memory':'9Ei',"
                       "'example.com/x':'9E'") "]");
    assert_true(p->demand->requests.memory == INT64_MAX);
    assert_true(kc__resources_scalar(&p->demand->requests, "example.com/x") == INT64_MAX);
}

static void what_cannot_be_read_is_refused(void **state)
{
    (void)state;
    CLUSTER(c);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *odd = pod_object(
        "p", NULL, "",
        "'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':"
        "'z','labelSelector':{'matchExpressions':[{'key':'a','operator':'Perhaps'}]}}]}}");
    assert_null(kc__demand_of(odd, &c.terms, &err));
    assert_contains(kc_error_text(&err), "Perhaps");
    assert_int_equal(c.terms.by_text.n, 0);
}

/* ---- hosts ---- */

static void what_pods_take_is_given_back(void **state)
{
    (void)state;
    CLUSTER(c);
    kc__host *n = host(&c, "n", "", "", "");
    kc__place *p = place(&c, "p", "n", "",
                         "'containers':[{'name':'c','ports':[{'hostPort':80,'containerPort':80}],"
                         "'resources':{'requests':{'cpu':'1','example.com/gpu':'2'}}}]");
    place(&c, "q", "n", "", "");
    assert_int_equal(n->used.cpu, 1000);
    assert_int_equal(n->n_pods, 2);
    assert_int_equal(n->ports.n, 1);
    assert_int_equal(kc__resources_scalar(&n->used, "example.com/gpu"), 2);
    kc__cluster_remove_pod(&c, p);
    assert_int_equal(n->used.cpu, 0);
    assert_int_equal(n->used.scalars.n, 0);
    assert_int_equal(n->n_pods, 1);
    assert_int_equal(n->ports.n, 0);
    assert_int_equal(n->assumed_cpu, 100);
}

static void a_host_without_a_node_goes_with_its_last_pod(void **state)
{
    (void)state;
    CLUSTER(c);
    kc__place *p = place(&c, "p", "ghost", "", "");
    assert_non_null(kc__cluster_host(&c, KC_STR("ghost")));
    assert_int_equal(c.ready.n, 0);
    host(&c, "ghost", "", "", "");
    assert_int_equal(c.ready.n, 1);
    assert_int_equal(c.ready.items[0]->n_pods, 1);
    kc__cluster_remove_node(&c, KC_STR("ghost"));
    assert_int_equal(c.ready.n, 0);
    kc__cluster_remove_pod(&c, p);
    assert_null(kc__cluster_host(&c, KC_STR("ghost")));
}

static void a_heartbeat_is_no_change(void **state)
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

/* ---- counts, against counting by hand ---- */

enum { HOSTS = 6, PODS = 40, STEPS = 3000, APPS = 3, ZONES = 3 };

#define LIKES(selector) "{'topologyKey':'zone','labelSelector':" selector "}"

/* A pod whose terms are asked for: with an anchor, without one, with two labels. */
static kc__place *asker(kc__cluster *c)
{
    return place(
        c, "asker", NULL, "",
        "'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[" LIKES("{'matchLabels':{'app':'a0'}}") "," LIKES("{'matchExpressions':[{'key':'app','operator':'In','values':['a0','a1']}]}") "," LIKES(
            "{'matchLabels':{'app':'a1','tier':'t'}}") "," LIKES("{'matchExpressions':[{'key':'tier','operator':'DoesNotExist'}]}") "]}}");
}

static uint32_t count_by_hand(const kc__cluster *c, const kc__term *term, const kc__host *at)
{
    uint32_t n = 0;
    kc_list_each (&((kc__host *)at)->pods, kc__place, on_host, p) {
        const kc__labelled pod = kc__cluster_labelled(c, p->demand);
        n += kc__term_matches(term, &pod);
    }
    return n;
}

static void assert_counts(kc__cluster *c, kc__place *asking, int64_t now)
{
    for (int t = 0; t < 4; t++) {
        kc__term *term = asking->demand->rules.items[t].term;
        const kc__tally *tally = kc__cluster_tally(c, &term, 1, now);
        kc_map_each (&c->hosts, entry) {
            const kc__host *h = entry->value;
            assert_int_equal(kc__count_at(&tally->counts, h->slot), count_by_hand(c, term, h));
        }
    }
    const kc__domains *zones = kc__cluster_domains(c, "zone");
    kc_vec_each (&c->ready, h) {
        kc_scoped(kc_arena) arena = {0};
        const kc_str zone = kc_object_label((*h)->node, KC_STR("zone"), &arena);
        const int32_t id = kc__domain_of(zones, *h);
        assert_int_equal(id >= 0, zone.p != NULL);
        if (id >= 0)
            assert_str(zone, zones->values.items[id]);
    }
}

static void step(kc__cluster *c, kc_rand *rand)
{
    kc_autofree char *pod = kc_asprintf("p%d", (int)kc_rand_below(rand, PODS));
    kc_autofree char *on = kc_asprintf("n%d", (int)kc_rand_below(rand, HOSTS));
    kc_autofree char *key = kc_asprintf("default/%s", pod);
    kc_autofree char *labels = kc_asprintf("'app':'a%d'%s", (int)kc_rand_below(rand, APPS),
                                           kc_rand_below(rand, 2) ? ",'tier':'t'" : "");
    kc__place *known = kc__cluster_place(c, kc_cstr(key));
    switch (kc_rand_below(rand, 6)) {
    case 0:
        if (known)
            kc__cluster_remove_pod(c, known);
        break;
    case 1: kc__cluster_remove_node(c, kc_cstr(on)); break;
    case 2: {
        kc_autofree char *zone = kc_asprintf("'zone':'z%d'", (int)kc_rand_below(rand, ZONES));
        host(c, on, kc_rand_below(rand, 4) ? zone : "", "", "");
        break;
    }
    default: place(c, pod, known && known->host ? known->host->name : on, labels, "");
    }
}

static void counts_are_what_one_would_count(void **state)
{
    (void)state;
    CLUSTER(c);
    kc_rand rand;
    kc_rand_seed(&rand, 7);
    kc__place *asking = asker(&c);
    for (int i = 1; i <= STEPS; i++) {
        step(&c, &rand);
        if (i % 50 == 0)
            kc__cluster_forget_tallies(&c, i % 100 ? i : INT64_MAX);
        if (i % 7 == 0)
            assert_counts(&c, asking, i);
    }
}

static void nothing_is_kept_of_pods_that_are_gone(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "n", "", "", "");
    kc__place *p =
        place(&c, "p", "n", "'app':'web'",
              "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution'"
              ":[" LIKES("{'matchLabels':{'app':'web'}}") "]}}");
    assert_int_equal(c.wishes.n, 1);
    assert_true(c.anchors.n > 0);
    kc__cluster_remove_pod(&c, p);
    assert_int_equal(c.wishes.n, 0);
    assert_int_equal(c.anchors.n, 0);
    assert_int_equal(c.terms.by_text.n, 0);
}

TESTS(a_pod_takes_what_its_containers_take_at_their_worst,
      who_says_nothing_is_taken_to_need_a_little, huge_amounts_are_clipped_not_wrapped,
      what_cannot_be_read_is_refused, what_pods_take_is_given_back,
      a_host_without_a_node_goes_with_its_last_pod, a_heartbeat_is_no_change,
      counts_are_what_one_would_count, nothing_is_kept_of_pods_that_are_gone)
