/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a node admits a pod: selectors, affinity, taints. */
#include "testing.h"

#include "pods/nodes.h"

/* The predicate that refuses a pod with this spec on a node with labels disk=ssd and cores=8, and
 * this spec; "" where none does. */
static const char *refused(const char *node_spec, const char *pod_spec)
{
    const char *why = NULL;
    kc_autofree char *node_text = kc_asprintf(
        "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n','labels':{'disk':'ssd',"
        "'cores':'8'}},'spec':{%s}}",
        node_spec);
    kc_autofree char *pod_text =
        kc_asprintf("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a'},'spec':{'containers':"
                    "[{'name':'c'}]%s%s}}",
                    *pod_spec ? "," : "", pod_spec);
    kc_auto(kc_object) *node_object = object_of(node_text);
    kc_auto(kc_object) *pod_object = object_of(pod_text);
    kc_auto(kc_cluster_node) *node = kc_cluster_node_of(node_object, NULL);
    kc_auto(kc_pod) *pod = kc_pod_of(pod_object, NULL);
    const char *predicate = kc__pods_node_refuses(node, pod, &why);
    return predicate ? predicate : "";
}

static void node_selector_filters_by_labels(void **state)
{
    (void)state;
    assert_string_equal(refused("", ""), "");
    assert_string_equal(refused("", "'nodeSelector':{'disk':'ssd'}"), "");
    assert_string_equal(refused("", "'nodeSelector':{'disk':'ssd','zone':'a'}"), "NodeAffinity");
    assert_string_equal(refused("", "'nodeSelector':{'disk':'hdd'}"), "NodeAffinity");
}

#define TERM(rules)                                                                  \
    "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{" \
    "'nodeSelectorTerms':[{" rules "}]}}}"
#define RULE(key, op, values) \
    TERM("'matchExpressions':[{'key':'" key "','operator':'" op "','values':[" values "]}]")

static void node_affinity_operators_are_applied(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        bool fits;
    } rows[] = {
        {RULE("disk", "In", "'hdd','ssd'"), true},
        {RULE("disk", "In", "'hdd'"), false},
        {RULE("disk", "NotIn", "'hdd'"), true},
        {RULE("disk", "NotIn", "'ssd'"), false},
        {RULE("zone", "NotIn", "'a'"), true},
        {RULE("disk", "Exists", ""), true},
        {RULE("zone", "Exists", ""), false},
        {RULE("zone", "DoesNotExist", ""), true},
        {RULE("disk", "DoesNotExist", ""), false},
        {RULE("cores", "Gt", "'7'"), true},
        {RULE("cores", "Gt", "'8'"), false},
        {RULE("cores", "Lt", "'9'"), true},
        {RULE("disk", "Lt", "'9'"), false},
        {TERM("'matchFields':[{'key':'metadata.name','operator':'In','values':['n']}]"), true},
        {TERM("'matchFields':[{'key':'metadata.name','operator':'In','values':['m']}]"), false},
        {TERM(""), false},
        {TERM("'matchExpressions':[{'key':'zone','operator':'Exists'}]},{'matchExpressions':[{"
              "'key':'disk','operator':'Exists'}]"),
         true},
    };
    for (size_t i = 0; i < KC_COUNT(rows); i++)
        assert_string_equal(refused("", rows[i].spec), rows[i].fits ? "" : "NodeAffinity");
}

#define TAINT(effect) "'taints':[{'key':'k','value':'v','effect':'" effect "'}]"

static void no_execute_taints_must_be_tolerated(void **state)
{
    (void)state;
    static const struct {
        const char *tolerations;
        bool fits;
    } rows[] = {
        {"", false},
        {"{'operator':'Exists'}", true},
        {"{'key':'k','operator':'Exists'}", true},
        {"{'key':'k','operator':'Exists','effect':'NoSchedule'}", false},
        {"{'key':'k','operator':'Equal','value':'v','effect':'NoExecute'}", true},
        {"{'key':'k','value':'v'}", true},
        {"{'key':'k','value':'w'}", false},
        {"{'key':'x','operator':'Exists'},{'key':'k','operator':'Exists'}", true},
    };
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_autofree char *spec = kc_asprintf("'tolerations':[%s]", rows[i].tolerations);
        assert_string_equal(refused(TAINT("NoExecute"), spec),
                            rows[i].fits ? "" : "TaintToleration");
        assert_string_equal(refused(TAINT("NoSchedule"), spec), "");
    }
}

TESTS(node_selector_filters_by_labels, node_affinity_operators_are_applied,
      no_execute_taints_must_be_tolerated)
