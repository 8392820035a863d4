/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes are feasible for a pod, rule by rule. */
#include "scheduler_testing.h"

#define CPU(amount) \
    "'containers':[{'name':'c','image':'i','resources':{'requests':{'cpu':'" amount "'}}}]"
#define AFFINITY   "!node(s) didn't match Pod's node affinity/selector"
#define ZONE       "topology.kubernetes.io/zone"
#define IN_ZONE(z) "'" ZONE "':'" z "'"

typedef struct row {
    const char *spec, *why;
} row;

/* Each spec against one host. */
static void check(kc__sched_cluster *c, const char *name, const row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        kc__sched_pod *p = place(c, "pod", NULL, "'app':'web'", rows[i].spec);
        const char *why = why_not(c, p, name);
        if (strcmp(why, rows[i].why) != 0)
            fail_msg("%s: \"%s\", not \"%s\"", rows[i].spec, why, rows[i].why);
        kc__sched_cluster_remove_pod(c, p);
    }
}
#define CHECK(cluster, name, ...)                     \
    do {                                              \
        static const row rows_[] = {__VA_ARGS__};     \
        check(cluster, name, rows_, KC_COUNT(rows_)); \
    } while (0)

#define CLUSTER(c)                  \
    kc_scoped(kc__sched_cluster) c; \
    kc__sched_cluster_init(&c)

static void cordoned_node_accepts_only_tolerating_pods(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "n", "", "'unschedulable':true", "");
    CHECK(&c, "n", {"", "!node(s) were unschedulable"},
          {"'tolerations':[{'operator':'Exists'}]", ""},
          {"'tolerations':[{'key':'node.kubernetes.io/unschedulable','operator':'Exists'}]", ""},
          {"'tolerations':[{'key':'node.kubernetes.io/unschedulable','operator':'Exists','effect':"
           "'NoExecute'}]",
           "!node(s) were unschedulable"});
}

static void untolerated_taint_excludes_the_node(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "n", "", "'taints':[{'key':'k','value':'v','effect':'NoSchedule'}]", "");
    host(&c, "m", "", "'taints':[{'key':'k','value':'v','effect':'PreferNoSchedule'}]", "");
    static const char no[] = "!node(s) had untolerated taint {k: v}";
    const row rows[] = {
        {"", no},
        {"'tolerations':[{'key':'k','operator':'Equal','value':'v','effect':'NoSchedule'}]", ""},
        {"'tolerations':[{'key':'k','value':'v'}]", ""},
        {"'tolerations':[{'key':'k','value':'w'}]", no},
        {"'tolerations':[{'key':'k','operator':'Exists'}]", ""},
        {"'tolerations':[{'operator':'Exists'}]", ""},
        {"'tolerations':[{'key':'l','operator':'Exists'}]", no},
        {"'tolerations':[{'key':'k','operator':'Exists','effect':'NoExecute'}]", no},
    };
    check(&c, "n", rows, KC_COUNT(rows));
    CHECK(&c, "m", {"", ""});
}

static void not_ready_node_counts_as_tainted(void **state)
{
    (void)state;
    CLUSTER(c);
    kc_auto(kc_object) *silent = object_of(
        "{'kind':'Node','metadata':{'name':'silent'},'status':{'allocatable':{'pods':'5'}}}");
    kc_auto(kc_object) *lost = object_of(
        "{'kind':'Node','metadata':{'name':'lost'},'status':{'allocatable':{'pods':'5'},'conditions'"
        ":[{'type':'Ready','status':'Unknown'}]}}");
    kc__sched_cluster_set_node(&c, silent, NULL);
    kc__sched_cluster_set_node(&c, lost, NULL);
    CHECK(&c, "silent", {"", "!node(s) had untolerated taint {node.kubernetes.io/not-ready: }"},
          {"'tolerations':[{'key':'node.kubernetes.io/not-ready','operator':'Exists'}]", ""});
    CHECK(&c, "lost", {"", "!node(s) had untolerated taint {node.kubernetes.io/unreachable: }"});
}

#define REQUIRED(terms)                                                              \
    "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{" \
    "'nodeSelectorTerms':[" terms "]}}}"
#define EXPR(key, op, values) \
    REQUIRED("{'matchExpressions':[{'key':'" key "','operator':'" op "','values':[" values "]}]}")
#define FIELD(op, name) \
    "{'matchFields':[{'key':'metadata.name','operator':'" op "','values':['" name "']}]}"

static void node_selector_and_affinity_filter_nodes(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "n", "'disk':'ssd','cores':'8'", "", "");
    CHECK(&c, "n", {"'nodeSelector':{'disk':'ssd'}", ""},
          {"'nodeSelector':{'disk':'hdd'}", AFFINITY}, {"'nodeSelector':{'gpu':'1'}", AFFINITY},
          {"'nodeSelector':{'disk':'ssd','cores':'4'}", AFFINITY},
          {EXPR("disk", "In", "'hdd','ssd'"), ""}, {EXPR("disk", "In", "'hdd'"), AFFINITY},
          {EXPR("disk", "NotIn", "'hdd'"), ""}, {EXPR("disk", "NotIn", "'ssd'"), AFFINITY},
          {EXPR("gpu", "NotIn", "'a'"), ""}, {EXPR("disk", "Exists", ""), ""},
          {EXPR("gpu", "Exists", ""), AFFINITY}, {EXPR("gpu", "DoesNotExist", ""), ""},
          {EXPR("disk", "DoesNotExist", ""), AFFINITY}, {EXPR("cores", "Gt", "'7'"), ""},
          {EXPR("cores", "Gt", "'8'"), AFFINITY}, {EXPR("cores", "Lt", "'9'"), ""},
          {EXPR("cores", "Lt", "'8'"), AFFINITY}, {EXPR("disk", "Gt", "'1'"), AFFINITY},
          {EXPR("cores", "Gt", "'many'"), AFFINITY});
}

static void node_affinity_terms_are_ored_and_requirements_anded(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "n", "'disk':'ssd'", "", "");
#define SSD "{'key':'disk','operator':'In','values':['ssd']}"
#define GPU "{'key':'gpu','operator':'Exists'}"
    CHECK(&c, "n", {REQUIRED("{'matchExpressions':[" SSD "," GPU "]}"), AFFINITY},
          {REQUIRED("{'matchExpressions':[" GPU "]},{'matchExpressions':[" SSD "]}"), ""},
          {REQUIRED("{}"), AFFINITY},
          {"'nodeSelector':{'gpu':'1'}," REQUIRED("{'matchExpressions':[" SSD "]}"), AFFINITY});
}

static void affinity_to_metadata_name_selects_the_node(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "n", "", "", "");
    CHECK(&c, "n", {REQUIRED(FIELD("In", "n")), ""},
          {REQUIRED(FIELD("In", "m")), "!node(s) didn't satisfy plugin(s) [NodeAffinity]"},
          {REQUIRED(FIELD("NotIn", "n")), AFFINITY}, {REQUIRED(FIELD("NotIn", "m")), ""},
          {REQUIRED(FIELD("In", "m") "," FIELD("In", "n")), ""});
}

#define PORT(p) "'containers':[{'name':'c','image':'i','ports':[{'containerPort':1," p "}]}]"

static void used_host_port_excludes_the_node(void **state)
{
    (void)state;
    CLUSTER(c);
    static const char no[] = "node(s) didn't have free ports for the requested pod ports";
    host(&c, "n", "", "", "");
    kc__sched_pod *any = place(&c, "any", "n", "", PORT("'hostPort':80"));
    place(&c, "one", "n", "", PORT("'hostPort':81,'hostIP':'10.0.0.1'"));
    const row rows[] = {
        {PORT("'hostPort':80"), no},
        {PORT("'hostPort':80,'hostIP':'10.0.0.1'"), no},
        {PORT("'hostPort':80,'protocol':'UDP'"), ""},
        {PORT("'hostPort':81"), no},
        {PORT("'hostPort':81,'hostIP':'10.0.0.1'"), no},
        {PORT("'hostPort':81,'hostIP':'10.0.0.2'"), ""},
        {PORT("'name':'p'"), ""},
    };
    check(&c, "n", rows, KC_COUNT(rows));
    kc__sched_cluster_remove_pod(&c, any);
    CHECK(&c, "n", {PORT("'hostPort':80"), ""});
}

#define ASK(list) "'containers':[{'name':'c','image':'i','resources':{'requests':{" list "}}}]"

static void insufficient_free_resources_exclude_the_node(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "n", "", "",
         "'cpu':'2','memory':'1Gi','pods':'3','ephemeral-storage':'10Gi','example.com/gpu':'2'");
    place(&c, "there", "n", "",
          ASK("'cpu':'500m','memory':'512Mi','ephemeral-storage':'1Gi','example.com/gpu':'1'"));
    CHECK(&c, "n", {"", ""}, {ASK("'cpu':'1500m'"), ""}, {ASK("'cpu':'1501m'"), "Insufficient cpu"},
          {ASK("'cpu':'3'"), "!Insufficient cpu"}, {ASK("'memory':'512Mi'"), ""},
          {ASK("'memory':'513Mi'"), "Insufficient memory"},
          {ASK("'memory':'2Gi','cpu':'1600m'"), "!Insufficient cpu, Insufficient memory"},
          {ASK("'ephemeral-storage':'9Gi'"), ""},
          {ASK("'ephemeral-storage':'9.5Gi'"), "Insufficient ephemeral-storage"},
          {ASK("'example.com/gpu':'1'"), ""},
          {ASK("'example.com/gpu':'2'"), "Insufficient example.com/gpu"},
          {ASK("'example.com/tpu':'1'"), "!Insufficient example.com/tpu"},
          {ASK("'example.com/tpu':'0'"), ""});
    place(&c, "second", "n", "", "");
    place(&c, "third", "n", "", "");
    CHECK(&c, "n", {"", "Too many pods"}, {ASK("'cpu':'9'"), "!Too many pods, Insufficient cpu"});
}

/* ---- spread ---- */

#define SPREAD(key, more)                                                                      \
    "'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'" key                            \
    "','whenUnsatisfiable':'DoNotSchedule','labelSelector':{'matchLabels':{'app':'web'}}" more \
    "}]"
#define SKEWED "node(s) didn't match pod topology spread constraints"

static void topology_spread_limits_skew_over_zones(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "a1", IN_ZONE("a"), "", "");
    host(&c, "a2", IN_ZONE("a"), "", "");
    host(&c, "b1", IN_ZONE("b") ",'disk':'ssd'", "", "");
    host(&c, "none", "", "", "");
    place(&c, "w1", "a1", "'app':'web'", "");
    CHECK(&c, "a1", {SPREAD(ZONE, ""), SKEWED});
    CHECK(&c, "a2", {SPREAD(ZONE, ""), SKEWED});
    CHECK(&c, "b1", {SPREAD(ZONE, ""), ""});
    CHECK(&c, "none", {SPREAD(ZONE, ""), "!" SKEWED " (missing required label)"});
    place(&c, "w2", "b1", "'app':'web'", "");
    place(&c, "other", "b1", "'app':'db'", "");
    CHECK(&c, "a2", {SPREAD(ZONE, ""), ""});
    CHECK(&c, "b1", {SPREAD(ZONE, ""), ""});
}

static void node_inclusion_policies_select_counted_domains(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "a", IN_ZONE("a") ",'disk':'ssd'", "", "");
    host(&c, "b", IN_ZONE("b"), "", "");
    host(&c, "t", IN_ZONE("c"), "'taints':[{'key':'k','effect':'NoSchedule'}]", "");
    place(&c, "w1", "a", "'app':'web'", "");
    CHECK(&c, "a",
          /* Zones b and c have none. */
          {SPREAD(ZONE, ""), SKEWED},
          /* The selector leaves zone a alone… */
          {"'nodeSelector':{'disk':'ssd'}," SPREAD(ZONE, ""), ""},
          /* …unless it is not to be looked at. */
          {"'nodeSelector':{'disk':'ssd'}," SPREAD(ZONE, ",'nodeAffinityPolicy':'Ignore'"), SKEWED},
          /* As if there were more zones than there are. */
          {"'nodeSelector':{'disk':'ssd'}," SPREAD(ZONE, ",'minDomains':2"), SKEWED});
    place(&c, "w2", "b", "'app':'web'", "");
    CHECK(&c, "a", {SPREAD(ZONE, ""), SKEWED}, {SPREAD(ZONE, ",'nodeTaintsPolicy':'Honor'"), ""});
}

static void only_pods_of_the_same_revision_count_with_match_label_keys(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "a", IN_ZONE("a"), "", "");
    host(&c, "b", IN_ZONE("b"), "", "");
    place(&c, "old", "a", "'app':'web','rev':'1'", "");
    kc__sched_pod *p =
        place(&c, "new", NULL, "'app':'web','rev':'2'", SPREAD(ZONE, ",'matchLabelKeys':['rev']"));
    assert_string_equal(why_not(&c, p, "a"), "");
    place(&c, "newer", "a", "'app':'web','rev':'2'", "");
    assert_string_equal(why_not(&c, p, "a"), SKEWED);
}

static void terminating_pod_does_not_count_for_spread(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "a", IN_ZONE("a"), "", "");
    host(&c, "b", IN_ZONE("b"), "", "");
    place(&c, "w", "a", "'app':'web'", "");
    kc__sched_pod *p = place(&c, "new", NULL, "'app':'web'", SPREAD(ZONE, ""));
    assert_string_equal(why_not(&c, p, "a"), SKEWED);
    kc_auto(kc_object) *leaving = object_of(
        "{'kind':'Pod','metadata':{'name':'w','namespace':'default','uid':'w-uid','labels':{'app':"
        "'web'},'deletionTimestamp':'2026-01-02T03:04:05Z'},'spec':{'nodeName':'a','containers':[{"
        "'name':'c'}]}}");
    place_object(&c, leaving);
    assert_string_equal(why_not(&c, p, "a"), "");
}

/* ---- pod affinity ---- */

#define TERM(key, selector, more)                                                \
    "'affinity':{'" key                                                          \
    "':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'" ZONE \
    "','labelSelector':" selector more "}]}}"
#define NEAR(selector) TERM("podAffinity", selector, "")
#define FAR(selector)  TERM("podAntiAffinity", selector, "")
#define DB             "{'matchLabels':{'app':'db'}}"
#define WEB            "{'matchLabels':{'app':'web'}}"
#define NOT_NEAR       "!node(s) didn't match pod affinity rules"
#define NOT_FAR        "node(s) didn't match pod anti-affinity rules"
#define NOT_WANTED     "node(s) didn't satisfy existing pods anti-affinity rules"

static void pod_affinity_selects_nodes_with_matching_pods(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "a1", IN_ZONE("a"), "", "");
    host(&c, "a2", IN_ZONE("a"), "", "");
    host(&c, "b", IN_ZONE("b"), "", "");
    host(&c, "none", "", "", "");
    place(&c, "db", "a1", "'app':'db'", "");
    CHECK(&c, "a1", {NEAR(DB), ""}, {FAR(DB), NOT_FAR}, {NEAR(WEB), ""}, {FAR(WEB), ""});
    CHECK(&c, "a2", {NEAR(DB), ""}, {FAR(DB), NOT_FAR});
    CHECK(&c, "b", {NEAR(DB), NOT_NEAR}, {FAR(DB), ""});
    CHECK(&c, "none", {NEAR(DB), NOT_NEAR}, {FAR(DB), ""}, {NEAR(WEB), NOT_NEAR});
}

static void first_pod_with_affinity_to_itself_fits_anywhere(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "a", IN_ZONE("a"), "", "");
    host(&c, "b", IN_ZONE("b"), "", "");
    CHECK(&c, "a", {NEAR(WEB), ""}, {NEAR(DB), NOT_NEAR});
    place(&c, "w", "a", "'app':'web'", "");
    CHECK(&c, "a", {NEAR(WEB), ""});
    CHECK(&c, "b", {NEAR(WEB), NOT_NEAR});
}

static void anti_affinity_of_existing_pods_excludes_nodes(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "a1", IN_ZONE("a"), "", "");
    host(&c, "a2", IN_ZONE("a"), "", "");
    host(&c, "b", IN_ZONE("b"), "", "");
    kc__sched_pod *lonely = place(&c, "lonely", "a1", "'app':'db'", FAR(WEB));
    CHECK(&c, "a2", {"", NOT_WANTED});
    CHECK(&c, "b", {"", ""});
    kc__sched_cluster_remove_pod(&c, lonely);
    CHECK(&c, "a2", {"", ""});
}

static void affinity_term_matches_own_named_or_selected_namespaces(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "a", IN_ZONE("a"), "", "");
    kc_auto(kc_object) *team =
        object_of("{'kind':'Namespace','metadata':{'name':'team','labels':{'t':'1'}}}");
    kc_auto(kc_object) *other = object_of("{'kind':'Namespace','metadata':{'name':'team'}}");
    kc__sched_cluster_set_namespace(&c, KC_STR("team"), team);
    kc_auto(kc_object) *db = object_of(
        "{'kind':'Pod','metadata':{'name':'db','namespace':'team','uid':'u','labels':{'app':'db'}},"
        "'spec':{'nodeName':'a','containers':[{'name':'c'}]}}");
    place_object(&c, db);
    static const row rows[] = {
        {NEAR(DB), NOT_NEAR},
        {TERM("podAffinity", DB, ",'namespaces':['team']"), ""},
        {TERM("podAffinity", DB, ",'namespaces':['default']"), NOT_NEAR},
        {TERM("podAffinity", DB, ",'namespaceSelector':{}"), ""},
        {TERM("podAffinity", DB, ",'namespaceSelector':{'matchLabels':{'t':'1'}}"), ""},
        {TERM("podAffinity", DB, ",'namespaceSelector':{'matchLabels':{'t':'2'}}"), NOT_NEAR},
    };
    check(&c, "a", rows, KC_COUNT(rows));
    kc__sched_cluster_set_namespace(&c, KC_STR("team"), other);
    CHECK(&c, "a",
          {TERM("podAffinity", DB, ",'namespaceSelector':{'matchLabels':{'t':'1'}}"), NOT_NEAR});
}

static void nominated_room_is_reserved_for_higher_priority(void **state)
{
    (void)state;
    CLUSTER(c);
    kc__sched_node *n = host(&c, "n", "", "", "'cpu':'1','memory':'1Gi','pods':'9'");
    kc__sched_pod *high = place(&c, "high", NULL, "", CPU("800m") ",'priority':10");
    kc__sched_pod_nominate(&c, high, n);
    kc__sched_pod *low = place(&c, "low", NULL, "", CPU("500m"));
    kc__sched_pod *higher = place(&c, "higher", NULL, "", CPU("500m") ",'priority':20");
    assert_string_equal(why_not(&c, low, "n"), "Insufficient cpu");
    assert_string_equal(why_not(&c, higher, "n"), "");
    assert_string_equal(why_not(&c, high, "n"), "");
    kc__sched_pod_nominate(&c, high, NULL);
    assert_string_equal(why_not(&c, low, "n"), "");
}

static void missing_or_terminating_claim_makes_pod_unschedulable(void **state)
{
    (void)state;
    CLUSTER(c);
    host(&c, "n", "", "", "");
    kc_auto(kc_object) *claim = object_of(
        "{'kind':'PersistentVolumeClaim','metadata':{'name':'data','namespace':'default'}}");
    kc__sched_cluster_set_claim(&c, kc_object_key(claim), claim);
    CHECK(
        &c, "n", {"'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'data'}}]", ""},
        {"'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'nope'}}]",
         "!!persistentvolumeclaim \"nope\" not found"},
        {"'volumes':[{'name':'v','ephemeral':{'volumeClaimTemplate':{}}}]",
         "!!waiting for ephemeral volume controller to create the persistentvolumeclaim \"pod-v\""},
        {"'volumes':[{'name':'v','emptyDir':{}}]", ""});
}

TESTS(cordoned_node_accepts_only_tolerating_pods, untolerated_taint_excludes_the_node,
      not_ready_node_counts_as_tainted, node_selector_and_affinity_filter_nodes,
      node_affinity_terms_are_ored_and_requirements_anded,
      affinity_to_metadata_name_selects_the_node, used_host_port_excludes_the_node,
      insufficient_free_resources_exclude_the_node, topology_spread_limits_skew_over_zones,
      node_inclusion_policies_select_counted_domains,
      only_pods_of_the_same_revision_count_with_match_label_keys,
      terminating_pod_does_not_count_for_spread, pod_affinity_selects_nodes_with_matching_pods,
      first_pod_with_affinity_to_itself_fits_anywhere,
      anti_affinity_of_existing_pods_excludes_nodes,
      affinity_term_matches_own_named_or_selected_namespaces,
      nominated_room_is_reserved_for_higher_priority,
      missing_or_terminating_claim_makes_pod_unschedulable)
