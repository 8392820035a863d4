/* SPDX-License-Identifier: Apache-2.0 */
/* Which pods a pod of higher priority preempts. */
#include "scheduler_testing.h"

#include "kc/buf.h"
#include "scheduler/preempt.h"

#define CLUSTER(c)                  \
    kc_scoped(kc__sched_cluster) c; \
    kc__sched_cluster_init(&c)
#define CPU(n, priority) \
    "'containers':[{'name':'c','resources':{'requests':{'cpu':'" n "'}}}],'priority':" priority

/* "host: victims", or why not. A static buffer. */
static const char *preempt(kc__sched_cluster *c, const char *spec)
{
    static char text[1024];
    kc_rand rand;
    kc_rand_seed(&rand, 1);
    kc_scoped(kc__sched_decision) d = {0};
    kc_scoped(kc__sched_preemption) p = {0};
    kc__sched_pod *pod = place(c, "new", NULL, "'app':'new'", spec);
    kc__sched_decide(c, pod, &rand, 1, &d);
    assert_null(d.host);
    kc__sched_preempt(c, pod, &d, &rand, 1, 1000, &p);
    snprintf(text, sizeof(text), "%s", p.host ? p.host->name : p.message);
    kc_vec_each (&p.victims, v)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " %.*s",
                 KC_ARG((*v)->demand->key.name));
    kc__sched_cluster_remove_pod(c, pod);
    return text;
}

static void fewest_lower_priority_pods_are_preempted(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "n", "", "", "");
    place(&c, "small", "n", "", CPU("1", "1"));
    place(&c, "large", "n", "", CPU("2", "2"));
    place(&c, "equal", "n", "", CPU("1", "10"));
    assert_string_equal(preempt(&c, CPU("1", "10")), "n small");
    assert_string_equal(preempt(&c, CPU("2", "10")), "n large");
    assert_string_equal(preempt(&c, CPU("3", "10")), "n large small");
    assert_string_equal(preempt(&c, CPU("4", "10")),
                        "0/1 nodes are available: 1 Insufficient cpu.");
    assert_string_equal(preempt(&c, CPU("5", "10")), "0/1 nodes are available: 1 Preemption is not "
                                                     "helpful for scheduling.");
}

static void pods_of_equal_priority_are_not_preempted(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "n", "", "", "");
    host(&c, "cordoned", "", "'unschedulable':true", "");
    place(&c, "a", "n", "", CPU("4", "0"));
    assert_string_equal(
        preempt(&c, CPU("1", "0")),
        "0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 "
        "Preemption is not helpful for scheduling.");
    assert_string_equal(preempt(&c, CPU("1", "5") ",'preemptionPolicy':'Never'"),
                        "not eligible due to preemptionPolicy=Never.");
}

static void node_with_least_important_victims_is_chosen(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "a", "", "", "");
    host(&c, "b", "", "", "");
    kc__sched_pod *on_a = place(&c, "a1", "a", "", CPU("4", "3"));
    place(&c, "b1", "b", "", CPU("2", "2"));
    place(&c, "b2", "b", "", CPU("2", "2"));
    assert_string_equal(preempt(&c, CPU("4", "10")), "b b1 b2");
    kc__sched_cluster_remove_pod(&c, on_a);
    /* Of equal priority: fewer. */
    on_a = place(&c, "a1", "a", "", CPU("4", "2"));
    assert_string_equal(preempt(&c, CPU("4", "10")), "a a1");
}

static kc__sched_pod *started(kc__sched_cluster *c, const char *name, const char *on,
                              const char *at)
{
    kc_autofree char *json = kc_asprintf(
        "{'kind':'Pod','metadata':{'name':'%s','namespace':'default','uid':'%s'},'spec':{'nodeName':"
        "'%s','containers':[{'name':'c','resources':{'requests':{'cpu':'4'}}}]},'status':{'startTime'"
        ":'%s'}}",
        name, name, on, at);
    kc_auto(kc_object) *pod = object_of(json);
    return place_object(c, pod);
}

static void youngest_victim_is_chosen_among_equals(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "a", "", "", "");
    host(&c, "b", "", "", "");
    started(&c, "old", "a", "2020-01-01T00:00:00Z");
    started(&c, "young", "b", "2025-01-01T00:00:00Z");
    assert_string_equal(preempt(&c, CPU("1", "10")), "b young");
}

static void disruption_budgets_are_respected_where_possible(void **state)
{
    (void)state;
    CLUSTER(c);
    kc_auto(kc_object) *budget = object_of(
        "{'kind':'PodDisruptionBudget','metadata':{'name':'b','namespace':'default'},'spec':{'selector'"
        ":{'matchLabels':{'app':'db'}}},'status':{'disruptionsAllowed':0}}");
    kc__sched_cluster_set_budget(&c, kc_object_key(budget), budget);
    host(&c, "a", "", "", "");
    host(&c, "b", "", "", "");
    place(&c, "db", "a", "'app':'db'", CPU("4", "1"));
    place(&c, "web", "b", "'app':'web'", CPU("4", "2"));
    assert_string_equal(preempt(&c, CPU("4", "10")), "b web");
    kc__sched_cluster_remove_node(&c, KC_STR("b"));
    assert_string_equal(preempt(&c, CPU("4", "10")), "a db");
}

static void pod_without_budget_is_preempted_first_on_a_node(void **state)
{
    (void)state;
    CLUSTER(c);
    kc_auto(kc_object) *budget = object_of(
        "{'kind':'PodDisruptionBudget','metadata':{'name':'b','namespace':'default'},'spec':{'selector'"
        ":{'matchLabels':{'app':'db'}}}}");
    kc__sched_cluster_set_budget(&c, kc_object_key(budget), budget);
    host(&c, "a", "", "", "");
    place(&c, "db", "a", "'app':'db'", CPU("2", "1"));
    place(&c, "web", "a", "'app':'web'", CPU("2", "2"));
    assert_string_equal(preempt(&c, CPU("2", "10")), "a web");
}

static void pod_with_anti_affinity_may_be_preempted(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "n", "'zone':'x'", "", "");
    place(&c, "lonely", "n", "",
          "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"
          "'topologyKey':'zone','labelSelector':{'matchLabels':{'app':'new'}}}]}}");
    place(&c, "bystander", "n", "", "");
    assert_string_equal(preempt(&c, "'priority':10"), "n lonely");
}

static void simulated_preemption_changes_nothing(void **state)
{
    (void)state;
    CLUSTER(c);
    const kc__sched_node *n = host(&c, "n", "", "", "");
    place(&c, "a", "n", "'app':'a'", CPU("2", "1"));
    place(&c, "b", "n", "'app':'b'", CPU("2", "2"));
    preempt(&c, CPU("3", "10"));
    assert_int_equal(n->n_pods, 2);
    assert_int_equal(n->used.cpu, 4000);
    assert_int_equal(c.anchors.n, 2);
}

TESTS(fewest_lower_priority_pods_are_preempted, pods_of_equal_priority_are_not_preempted,
      node_with_least_important_victims_is_chosen, youngest_victim_is_chosen_among_equals,
      disruption_budgets_are_respected_where_possible,
      pod_without_budget_is_preempted_first_on_a_node, pod_with_anti_affinity_may_be_preempted,
      simulated_preemption_changes_nothing)
