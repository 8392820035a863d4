/* SPDX-License-Identifier: Apache-2.0 */
/* What objects use of quotas, and in which scopes they are. */
#include "testing.h"

#include "kc/clock.h"
#include "kc/quota.h"

static const kc_quota_resource pods = {KC_STR_INIT(""), KC_STR_INIT("pods")};
static const kc_quota_resource services = {KC_STR_INIT(""), KC_STR_INIT("services")};
static const kc_quota_resource claims = {KC_STR_INIT(""), KC_STR_INIT("persistentvolumeclaims")};
static const kc_quota_resource device_claims = {KC_STR_INIT("resource.k8s.io"),
                                                KC_STR_INIT("resourceclaims")};
static const kc_quota_resource deployments = {KC_STR_INIT("apps"), KC_STR_INIT("deployments")};

#define assert_usage(resource, json, expected) \
    check_usage(resource, json, 0, expected, __FILE__, __LINE__)

static void check_usage(const kc_quota_resource *resource, const char *json, kc_time now,
                        const char *expected, const char *file, int line)
{
    kc_auto(kc_view) *view = view_of(json);
    kc_scoped(kc_quota_amounts) usage = {0};
    kc_scoped(kc_buf) text = {0};
    kc_quota_usage(resource, kc_view_root(view), now, &usage);
    kc_quota_amounts_write(&text, &usage);
    kc__assert_str(kc_buf_str(&text), expected, file, line);
}

static void other_resource_counts_its_objects(void **state)
{
    (void)state;
    assert_usage(&deployments, "{}", "{\"count/deployments.apps\":\"1\"}");
    assert_true(kc_quota_tracks(&deployments, KC_STR("count/deployments.apps")));
    assert_false(kc_quota_tracks(&deployments, KC_STR("count/deployments")));
    assert_false(kc_quota_tracks(&deployments, KC_STR("count/deploymentsxapps")));
    assert_false(kc_quota_tracks(&deployments, KC_STR("pods")));
}

static void legacy_names_count_core_objects(void **state)
{
    (void)state;
    const kc_quota_resource maps = {KC_STR(""), KC_STR("configmaps")};
    assert_usage(&maps, "{}", "{\"configmaps\":\"1\",\"count/configmaps\":\"1\"}");
    assert_true(kc_quota_tracks(&maps, KC_STR("configmaps")));
    assert_true(kc_quota_tracks(&maps, KC_STR("count/configmaps")));
}

static void pod_uses_requests_limits_and_extended_resources(void **state)
{
    (void)state;
    assert_usage(&pods,
                 "{'spec':{'containers':[{'name':'a','resources':{'requests':{'cpu':'1',"
                 "'memory':'1Gi','ephemeral-storage':'1G','hugepages-2Mi':'4Mi','x.io/gpu':'2',"
                 "'kubernetes.io/x':'1'},'limits':{'cpu':'2','memory':'2Gi'}}}]}}",
                 "{\"count/pods\":\"1\",\"cpu\":\"1\",\"ephemeral-storage\":\"1G\","
                 "\"hugepages-2Mi\":\"4Mi\",\"limits.cpu\":\"2\",\"limits.memory\":\"2Gi\","
                 "\"memory\":\"1Gi\",\"pods\":\"1\",\"requests.cpu\":\"1\","
                 "\"requests.ephemeral-storage\":\"1G\",\"requests.hugepages-2Mi\":\"4Mi\","
                 "\"requests.memory\":\"1Gi\",\"requests.x.io/gpu\":\"2\"}");
}

static void pod_uses_the_peak_of_its_init_containers(void **state)
{
    (void)state;
#define CPU(n) "'resources':{'requests':{'cpu':'" n "'}}"
    assert_usage(&pods,
                 "{'spec':{'initContainers':[{'name':'s','restartPolicy':'Always'," CPU(
                     "1") "},{'name':'i'," CPU("3") "}],'containers':[{'name':'a'," CPU("2") "}]}}",
                 "{\"count/pods\":\"1\",\"cpu\":\"4\",\"pods\":\"1\",\"requests.cpu\":\"4\"}");
}

static void pod_uses_its_overhead_and_its_own_resources(void **state)
{
    (void)state;
    assert_usage(&pods,
                 "{'spec':{'overhead':{'cpu':'250m','memory':'1Mi'},'resources':{'requests':"
                 "{'cpu':'1'}},'containers':[{'name':'a'," CPU("2") "}]}}",
                 "{\"count/pods\":\"1\",\"cpu\":\"1250m\",\"memory\":\"1Mi\",\"pods\":\"1\","
                 "\"requests.cpu\":\"1250m\",\"requests.memory\":\"1Mi\"}");
}

static void resized_pod_uses_what_its_status_reports(void **state)
{
    (void)state;
#define RESIZED(conditions)                                                                  \
    "{'spec':{'containers':[{'name':'a'," CPU("3") "}]},'status':{'conditions':[" conditions \
                                                   "],'containerStatuses':[{'name':'a',"     \
                                                   "'resources':{'requests':{'cpu':'1'}},"   \
                                                   "'allocatedResources':{'cpu':'2'}}]}}"
    assert_usage(&pods, RESIZED(""),
                 "{\"count/pods\":\"1\",\"cpu\":\"3\",\"pods\":\"1\",\"requests.cpu\":\"3\"}");
    assert_usage(&pods, RESIZED("{'type':'PodResizePending','reason':'Infeasible'}"),
                 "{\"count/pods\":\"1\",\"cpu\":\"2\",\"pods\":\"1\",\"requests.cpu\":\"2\"}");
}

static void ended_pod_counts_only_as_an_object(void **state)
{
    (void)state;
    const kc_time noon = 12 * 3600 * KC_SECOND;
    assert_usage(&pods, "{'status':{'phase':'Succeeded'}}", "{\"count/pods\":\"1\"}");
    assert_usage(&pods, "{'status':{'phase':'Failed'}}", "{\"count/pods\":\"1\"}");
#define DELETED \
    "{'metadata':{'deletionTimestamp':'1970-01-01T12:00:00Z','deletionGracePeriodSeconds':30}}"
    check_usage(&pods, DELETED, noon + 30 * KC_SECOND, "{\"count/pods\":\"1\",\"pods\":\"1\"}",
                __FILE__, __LINE__);
    check_usage(&pods, DELETED, noon + 31 * KC_SECOND, "{\"count/pods\":\"1\"}", __FILE__,
                __LINE__);
}

static void service_uses_node_ports_by_its_type(void **state)
{
    (void)state;
#define SERVICE(balancers, ports)                                                          \
    "{\"count/services\":\"1\",\"services\":\"1\",\"services.loadbalancers\":\"" balancers \
    "\",\"services.nodeports\":\"" ports "\"}"
    assert_usage(&services, "{'spec':{'type':'ClusterIP','ports':[{},{}]}}", SERVICE("0", "0"));
    assert_usage(&services, "{'spec':{'type':'NodePort','ports':[{},{}]}}", SERVICE("0", "2"));
    assert_usage(&services, "{'spec':{'type':'LoadBalancer','ports':[{},{}]}}", SERVICE("1", "2"));
    assert_usage(&services,
                 "{'spec':{'type':'LoadBalancer','allocateLoadBalancerNodePorts':false,'ports':["
                 "{},{'nodePort':30000}]}}",
                 SERVICE("1", "1"));
}

static void claim_uses_storage_of_its_class_in_whole_bytes(void **state)
{
    (void)state;
    assert_usage(&claims, "{'spec':{'resources':{'requests':{'storage':'10Gi'}}}}",
                 "{\"count/persistentvolumeclaims\":\"1\",\"persistentvolumeclaims\":\"1\","
                 "\"requests.storage\":\"10Gi\"}");
    assert_usage(&claims,
                 "{'spec':{'storageClassName':'gold','resources':{'requests':{'storage':'100m'}}}}",
                 "{\"count/persistentvolumeclaims\":\"1\","
                 "\"gold.storageclass.storage.k8s.io/persistentvolumeclaims\":\"1\","
                 "\"gold.storageclass.storage.k8s.io/requests.storage\":\"1\","
                 "\"persistentvolumeclaims\":\"1\",\"requests.storage\":\"1\"}");
    assert_usage(&claims,
                 "{'metadata':{'annotations':{'volume.beta.kubernetes.io/storage-class':''}},"
                 "'spec':{'storageClassName':'gold','resources':{'requests':{'storage':'1Gi'}}},"
                 "'status':{'allocatedResources':{'storage':'2Gi'}}}",
                 "{\"count/persistentvolumeclaims\":\"1\",\"persistentvolumeclaims\":\"1\","
                 "\"requests.storage\":\"2Gi\"}");
}

static void device_claim_uses_the_most_devices_of_each_class(void **state)
{
    (void)state;
#define DEVICES ".deviceclass.resource.k8s.io/devices"
    assert_usage(&device_claims,
                 "{'spec':{'devices':{'requests':["
                 "{'exactly':{'deviceClassName':'a','allocationMode':'ExactCount','count':2}},"
                 "{'firstAvailable':["
                 "{'deviceClassName':'a','allocationMode':'ExactCount','count':3},"
                 "{'deviceClassName':'a','allocationMode':'ExactCount','count':1},"
                 "{'deviceClassName':'b','allocationMode':'All'}]}]}}}",
                 "{\"a" DEVICES "\":\"5\",\"b" DEVICES
                 "\":\"32\",\"count/resourceclaims.resource.k8s.io\":\"1\"}");
    assert_usage(&device_claims,
                 "{'spec':{'devices':{'requests':[{'name':'r','deviceClassName':'a',"
                 "'allocationMode':'ExactCount','count':4}]}}}",
                 "{\"a" DEVICES "\":\"4\",\"count/resourceclaims.resource.k8s.io\":\"1\"}");
}

/* ---- scopes ---- */

static bool matches(const kc_quota_resource *resource, const char *hard, const char *spec,
                    const char *object)
{
    kc_autofree char *json = kc_asprintf("{'spec':{%s},'status':{'hard':{'%s':'1'}}}", spec, hard);
    kc_auto(kc_view) *quota = view_of(json);
    kc_auto(kc_view) *view = view_of(object);
    return kc_quota_matches(resource, kc_view_root(quota), kc_view_root(view));
}

#define SELECT(expression) "'scopeSelector':{'matchExpressions':[{" expression "}]}"
#define ARM(kind, key)                                                 \
    "{'spec':{'affinity':{'" kind "':{'" key "':[{'namespaces':['x']," \
    "'podAffinityTerm':{'namespaceSelector':{}}}]}}}}"

static void pod_is_in_the_scopes_of_its_spec(void **state)
{
    (void)state;
    static const char *const endless = "{'spec':{}}";
    static const char *const limited = "{'spec':{'activeDeadlineSeconds':1}}";
    static const char *const busy = "{'spec':{'containers':[{" CPU("1") "}]}}";
    assert_true(matches(&pods, "pods", "", endless));
    assert_false(matches(&pods, "services", "", endless));
    assert_true(matches(&pods, "pods", "'scopes':['Terminating']", limited));
    assert_false(matches(&pods, "pods", "'scopes':['Terminating']", endless));
    assert_true(matches(&pods, "pods", "'scopes':['NotTerminating','BestEffort']", endless));
    assert_false(matches(&pods, "pods", "'scopes':['NotTerminating','NotBestEffort']", endless));
    assert_true(matches(&pods, "pods", "'scopes':['NotBestEffort']", busy));
    assert_false(matches(&pods, "pods", "'scopes':['BestEffort']", busy));
    assert_false(
        matches(&pods, "pods", "'scopes':['BestEffort']", "{'status':{'qosClass':'Burstable'}}"));
    assert_false(matches(&services, "services", "'scopes':['NotBestEffort']", endless));
}

static void pod_is_in_scopes_of_priority_classes(void **state)
{
    (void)state;
    static const char *const high = "{'spec':{'priorityClassName':'high'}}";
    static const char *const none = "{'spec':{}}";
#define CLASS(op, values) SELECT("'scopeName':'PriorityClass','operator':'" op "'" values)
    assert_true(matches(&pods, "pods", CLASS("In", ",'values':['low','high']"), high));
    assert_false(matches(&pods, "pods", CLASS("In", ",'values':['low']"), high));
    assert_false(matches(&pods, "pods", CLASS("In", ",'values':['low']"), none));
    assert_true(matches(&pods, "pods", CLASS("NotIn", ",'values':['low']"), high));
    assert_true(matches(&pods, "pods", CLASS("NotIn", ",'values':['low']"), none));
    assert_false(matches(&pods, "pods", CLASS("NotIn", ",'values':['high']"), high));
    assert_true(matches(&pods, "pods", CLASS("Exists", ""), high));
    assert_false(matches(&pods, "pods", CLASS("Exists", ""), none));
    assert_true(matches(&pods, "pods", CLASS("DoesNotExist", ""), none));
}

static void pod_with_terms_of_other_namespaces_is_in_their_scope(void **state)
{
    (void)state;
    static const char *const scope = "'scopes':['CrossNamespacePodAffinity']";
    assert_true(matches(&pods, "pods", scope,
                        ARM("podAffinity", "requiredDuringSchedulingIgnoredDuringExecution")));
    assert_true(matches(&pods, "pods", scope,
                        ARM("podAntiAffinity", "preferredDuringSchedulingIgnoredDuringExecution")));
    assert_false(matches(&pods, "pods", scope,
                         "{'spec':{'affinity':{'podAffinity':{"
                         "'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'k'}]"
                         "}}}}"));
}

static void claim_is_in_scopes_of_its_attribute_classes(void **state)
{
    (void)state;
    static const char *const moving =
        "{'spec':{'volumeAttributesClassName':'new'},'status':{'currentVolumeAttributesClassName':"
        "'old'}}";
#define ATTRIBUTES(op, values) \
    SELECT("'scopeName':'VolumeAttributesClass','operator':'" op "'" values)
    assert_true(
        matches(&claims, "requests.storage", ATTRIBUTES("In", ",'values':['old']"), moving));
    assert_true(
        matches(&claims, "requests.storage", ATTRIBUTES("NotIn", ",'values':['old']"), moving));
    assert_false(matches(&claims, "requests.storage", ATTRIBUTES("Exists", ""), "{'spec':{}}"));
    assert_true(matches(&claims, "requests.storage", ATTRIBUTES("NotIn", ",'values':['x']"), "{}"));
}

static void missing_amounts_name_the_containers(void **state)
{
    (void)state;
    const kc_str names[] = {KC_STR("requests.memory"), KC_STR("limits.cpu"), KC_STR("pods"),
                            KC_STR("requests.ephemeral-storage")};
    kc_auto(kc_view) *pod = view_of(
        "{'spec':{'containers':[{'name':'b'},{'name':'a','resources':{'limits':{'cpu':"
        "'1'}}}],'initContainers':[{'name':'i','resources':{'requests':{'memory':'1'}}}]}}");
    kc_auto(kc_view) *own = view_of("{'spec':{'resources':{'limits':{'cpu':'1'}},'containers':["
                                    "{'name':'b'}]}}");
    kc_scoped(kc_buf) text = {0};
    kc_quota_missing_amounts(&pods, kc_view_root(pod), names, KC_COUNT(names), &text);
    assert_string_equal(kc_buf_cstr(&text),
                        "must specify limits.cpu for: b,i; requests.memory for: a,b");
    kc_buf_clear(&text);
    kc_quota_missing_amounts(&pods, kc_view_root(own), names, KC_COUNT(names), &text);
    assert_int_equal(text.n, 0);
}

static void update_that_ends_a_pod_frees_quota(void **state)
{
    (void)state;
    kc_auto(kc_view) *running = view_of("{'status':{'phase':'Running'}}");
    kc_auto(kc_view) *ended = view_of("{'status':{'phase':'Failed'}}");
    kc_auto(kc_view) *port = view_of("{'spec':{'type':'NodePort'}}");
    kc_auto(kc_view) *plain = view_of("{'spec':{'type':'ClusterIP'}}");
    assert_true(kc_quota_is_freed_by(&pods, kc_view_root(running), kc_view_root(ended), 0));
    assert_false(kc_quota_is_freed_by(&pods, kc_view_root(running), kc_view_root(running), 0));
    assert_true(kc_quota_is_freed_by(&services, kc_view_root(port), kc_view_root(plain), 0));
    assert_false(kc_quota_is_freed_by(&services, kc_view_root(plain), kc_view_root(plain), 0));
    assert_false(kc_quota_is_freed_by(&deployments, kc_view_root(port), kc_view_root(plain), 0));
}

TESTS(other_resource_counts_its_objects, legacy_names_count_core_objects,
      pod_uses_requests_limits_and_extended_resources, pod_uses_the_peak_of_its_init_containers,
      pod_uses_its_overhead_and_its_own_resources, resized_pod_uses_what_its_status_reports,
      ended_pod_counts_only_as_an_object, service_uses_node_ports_by_its_type,
      claim_uses_storage_of_its_class_in_whole_bytes,
      device_claim_uses_the_most_devices_of_each_class, pod_is_in_the_scopes_of_its_spec,
      pod_is_in_scopes_of_priority_classes, pod_with_terms_of_other_namespaces_is_in_their_scope,
      claim_is_in_scopes_of_its_attribute_classes, missing_amounts_name_the_containers,
      update_that_ends_a_pod_frees_quota)
