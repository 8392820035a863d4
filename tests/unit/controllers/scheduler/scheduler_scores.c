/* SPDX-License-Identifier: Apache-2.0 */
/* Scores of feasible nodes, and the choice. */
#include "scheduler_testing.h"

#define ZONE       "topology.kubernetes.io/zone"
#define IN_ZONE(z) "'" ZONE "':'" z "'"
#define ASK(list)  "'containers':[{'name':'c','image':'i','resources':{'requests':{" list "}}}]"

#define CLUSTER(c)                  \
    kc_scoped(kc__sched_cluster) c; \
    kc__sched_cluster_init(&c)

static void assert_scores(kc__sched_cluster *c, const char *labels, const char *spec,
                          const char *plugin, const char *expected)
{
    kc__sched_pod *p = place(c, "pod", NULL, labels, spec);
    assert_string_equal(scores(c, p, plugin), expected);
    kc__sched_cluster_remove_pod(c, p);
}

static void emptier_node_scores_higher(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "a", "", "", "");
    host(&c, "b", "", "", "");
    place(&c, "there", "b", "", ASK("'cpu':'2','memory':'4Gi'"));
    assert_scores(&c, "", ASK("'cpu':'1','memory':'2Gi'"), "NodeResourcesFit", "75 25");
    /* A pod without requests counts with the default requests. */
    assert_scores(&c, "", "", "NodeResourcesFit", "97 47");
    assert_scores(&c, "", ASK("'cpu':'3'"), "NodeResourcesFit", "61 23");
}

static void balanced_node_scores_higher(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "a", "", "", "");
    host(&c, "b", "", "", "");
    place(&c, "there", "b", "", ASK("'memory':'4Gi'"));
    assert_scores(&c, "", ASK("'cpu':'2'"), "NodeResourcesBalancedAllocation", "75 100");
    assert_scores(&c, "", ASK("'cpu':'1','memory':'2Gi'"), "NodeResourcesBalancedAllocation",
                  "100 75");
    assert_scores(&c, "", "", "NodeResourcesBalancedAllocation", "skip");
}

static void prefer_no_schedule_taints_lower_the_score(void **state)
{
    (void)state;
    CLUSTER(c);
#define RATHER(k) "{'key':'" k "','effect':'PreferNoSchedule'}"
    host(&c, "a", "", "", "");
    assert_scores(&c, "", "", "TaintToleration", "skip");
    host(&c, "b", "", "'taints':[" RATHER("x") "]", "");
    host(&c, "c", "", "'taints':[" RATHER("x") "," RATHER("y") "]", "");
    assert_scores(&c, "", "", "TaintToleration", "100 50 0");
    assert_scores(&c, "", "'tolerations':[{'key':'x','operator':'Exists'}]", "TaintToleration",
                  "100 100 0");
}

static void weights_of_preferred_terms_are_added(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "a", "'disk':'ssd','gpu':'yes'", "", "");
    host(&c, "b", "'gpu':'yes'", "", "");
    host(&c, "c", "", "", "");
#define LIKE(weight, key)                                                 \
    "{'weight':" weight ",'preference':{'matchExpressions':[{'key':'" key \
    "','operator':'Exists'}]}}"
    assert_scores(
        &c, "",
        "'affinity':{'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[" LIKE(
            "10", "disk") "," LIKE("5", "gpu") "]}}",
        "NodeAffinity", "100 33 0");
    assert_scores(&c, "", "", "NodeAffinity", "skip");
}

#define SOFT(key)                                                   \
    "'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'" key \
    "','whenUnsatisfiable':'ScheduleAnyway','labelSelector':{'matchLabels':{'app':'web'}}}]"

static void topology_spread_prefers_emptier_domains(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "a", IN_ZONE("a"), "", "");
    host(&c, "b", IN_ZONE("b"), "", "");
    host(&c, "none", "", "", "");
    place(&c, "w1", "a", "'app':'web'", "");
    place(&c, "w2", "a", "'app':'web'", "");
    assert_scores(&c, "'app':'web'", SOFT(ZONE), "PodTopologySpread", "0 100 0");
    assert_scores(&c, "'app':'web'", SOFT("kubernetes.io/hostname"), "PodTopologySpread",
                  "0 100 100");
    assert_scores(&c, "'app':'web'", "", "PodTopologySpread", "skip");
}

static kc__sched_pod *owned(kc__sched_cluster *c, const char *name, const char *on)
{
    kc_autofree char *json = kc_asprintf(
        "{'kind':'Pod','metadata':{'name':'%s','namespace':'default','uid':'%s','ownerReferences':[{"
        "'apiVersion':'apps/v1','kind':'ReplicaSet','name':'web','uid':'set','controller':true}]},"
        "'spec':{%s%s%s'containers':[{'name':'c'}]}}",
        name, name, on ? "'nodeName':'" : "", on ? on : "", on ? "'," : "");
    kc_auto(kc_object) *pod = object_of(json);
    return place_object(c, pod);
}

static void pods_of_one_owner_are_spread_by_default(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "a", "", "", "");
    host(&c, "b", "", "", "");
    host(&c, "c", "", "", "");
    owned(&c, "p1", "a");
    owned(&c, "p2", "a");
    owned(&c, "p3", "b");
    place(&c, "stranger", "c", "", "");
    assert_string_equal(scores(&c, owned(&c, "p4", NULL), "PodTopologySpread"), "40 60 100");
}

#define PREFER(kind, weight, app)                                                                  \
    "'affinity':{'" kind "':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':" weight \
    ",'podAffinityTerm':{'topologyKey':'" ZONE "','labelSelector':{'matchLabels':{'app':'" app     \
    "'}}}}]}}"

static void preferred_pod_affinity_raises_the_score(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "a", IN_ZONE("a"), "", "");
    host(&c, "b", IN_ZONE("b"), "", "");
    host(&c, "none", "", "", "");
    place(&c, "db1", "a", "'app':'db'", "");
    place(&c, "db2", "a", "'app':'db'", "");
    place(&c, "db3", "b", "'app':'db'", "");
    assert_scores(&c, "", PREFER("podAffinity", "10", "db"), "InterPodAffinity", "100 50 0");
    assert_scores(&c, "", PREFER("podAntiAffinity", "10", "db"), "InterPodAffinity", "0 50 100");
    assert_scores(&c, "", "", "InterPodAffinity", "skip");
}

static void preferences_of_existing_pods_count(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "a", IN_ZONE("a"), "", "");
    host(&c, "b", IN_ZONE("b"), "", "");
    kc__sched_pod *friend = place(&c, "friend", "a", "", PREFER("podAffinity", "5", "web"));
    assert_scores(&c, "'app':'web'", "", "InterPodAffinity", "100 0");
    assert_scores(&c, "'app':'db'", "", "InterPodAffinity", "skip");
    kc__sched_cluster_remove_pod(&c, friend);
    place(&c, "foe", "a", "", PREFER("podAntiAffinity", "5", "web"));
    assert_scores(&c, "'app':'web'", "", "InterPodAffinity", "0 100");
    /* One that must be near such pods is worth a little. */
    place(&c, "needy", "b", "",
          "'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"
          "'topologyKey':'" ZONE "','labelSelector':{'matchLabels':{'app':'web'}}}]}}");
    assert_scores(&c, "'app':'web'", "", "InterPodAffinity", "0 100");
}

/* ---- selection ---- */

static kc__sched_node *choose(kc__sched_cluster *c, kc__sched_pod *p, uint64_t seed,
                              kc__sched_decision *d)
{
    kc_rand rand;
    kc_rand_seed(&rand, seed);
    kc__sched_decide(c, p, &rand, 1, d);
    return d->host;
}

static void equal_scores_are_chosen_at_random(void **state)
{
    (void)state;
    CLUSTER(c);
    int chosen[4] = {0};
    for (int i = 0; i < 4; i++) {
        const char name[2] = {(char)('0' + i), 0};
        host(&c, name, "", "", "");
    }
    kc__sched_pod *p = place(&c, "p", NULL, "", "");
    for (uint64_t seed = 1; seed <= 400; seed++) {
        kc_scoped(kc__sched_decision) d = {0};
        chosen[choose(&c, p, seed, &d)->name[0] - '0']++;
        assert_int_equal(d.feasible, 4);
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(chosen[i], 60, 140);
}

static void node_with_highest_score_is_chosen(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "a", "", "", "");
    host(&c, "b", "", "", "");
    place(&c, "there", "a", "", ASK("'cpu':'2','memory':'4Gi'"));
    kc__sched_pod *p = place(&c, "p", NULL, "", "");
    for (uint64_t seed = 1; seed <= 20; seed++) {
        kc_scoped(kc__sched_decision) d = {0};
        assert_string_equal(choose(&c, p, seed, &d)->name, "b");
    }
}

static void large_clusters_are_sampled_in_rotation(void **state)
{
    (void)state;
    CLUSTER(c);
    for (int i = 0; i < 250; i++) {
        kc_autofree char *name = kc_asprintf("n%d", i);
        host(&c, name, "", "", "");
    }
    kc__sched_pod *p = place(&c, "p", NULL, "", "");
    for (int i = 0; i < 3; i++) {
        kc_scoped(kc__sched_decision) d = {0};
        assert_non_null(choose(&c, p, 1, &d));
        assert_int_equal(d.feasible, 120);
        assert_int_equal(c.next_start, (size_t)(i + 1) * 120 % 250);
    }
}

static void unschedulable_nodes_are_counted_by_reason(void **state)
{
    (void)state;
    CLUSTER(c);
    kc_scoped(kc__sched_decision) d = {0};
    host(&c, "a", "", "", "");
    host(&c, "b", "", "", "");
    host(&c, "c", "", "'unschedulable':true", "");
    place(&c, "there", "a", "", ASK("'cpu':'3'"));
    kc__sched_pod *p = place(&c, "p", NULL, "", ASK("'cpu':'4','memory':'9Gi'"));
    assert_null(choose(&c, p, 1, &d));
    assert_string_equal(d.message, "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) were "
                                   "unschedulable, 2 Insufficient memory.");
    assert_int_equal(d.contested.n, 0);
}

static void nominated_node_is_chosen_if_feasible(void **state)
{
    (void)state;
    CLUSTER(c);
    kc__sched_node *full = host(&c, "full", "", "", "");
    host(&c, "empty", "", "", "");
    place(&c, "there", "full", "", ASK("'cpu':'3'"));
    kc__sched_pod *p = place(&c, "p", NULL, "", ASK("'cpu':'1'"));
    kc__sched_pod_nominate(&c, p, full);
    kc_scoped(kc__sched_decision) first = {0}, second = {0};
    assert_string_equal(choose(&c, p, 1, &first)->name, "full");
    place(&c, "another", "full", "", ASK("'cpu':'1'"));
    assert_string_equal(choose(&c, p, 1, &second)->name, "empty");
}

TESTS(emptier_node_scores_higher, balanced_node_scores_higher,
      prefer_no_schedule_taints_lower_the_score, weights_of_preferred_terms_are_added,
      topology_spread_prefers_emptier_domains, pods_of_one_owner_are_spread_by_default,
      preferred_pod_affinity_raises_the_score, preferences_of_existing_pods_count,
      equal_scores_are_chosen_at_random, node_with_highest_score_is_chosen,
      large_clusters_are_sampled_in_rotation, unschedulable_nodes_are_counted_by_reason,
      nominated_node_is_chosen_if_feasible)
