/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kinds/conversion.h"
#include "apiserver/kinds/registry.h"
#include "testing.h"

static const kc__resource *resource_of(kc__registry *kinds, const char *group, const char *plural)
{
    const kc__resource *resource =
        kc__registry_find(kinds, kc_cstr(group), KC_STR("v1"), kc_cstr(plural));
    assert_non_null(resource);
    return resource;
}

#define STORED                                                                                   \
    "{'kind':'Event','apiVersion':'v1','metadata':{'name':'e'},'involvedObject':{'kind':'Pod'}," \
    "'reason':'R','message':'m','source':{'component':'c'},'firstTimestamp':null,"               \
    "'lastTimestamp':null,'count':2,'eventTime':null,'reportingComponent':'x',"                  \
    "'reportingInstance':'y'}"

static void event_converts_between_both_groups(void **state)
{
    (void)state;
    kc_auto(kc__registry) *kinds = kc__registry_new(NULL);
    const kc__resource *events = resource_of(kinds, "events.k8s.io", "events");
    kc_auto(kc_object) *stored = object_of(STORED);
    kc_auto(kc_object) *shown = kc__convert_from_stored(events, stored, NULL);
    assert_object_json(
        shown, "{\"kind\":\"Event\",\"apiVersion\":\"events.k8s.io/v1\",\"metadata\":{\"name\":"
               "\"e\"},\"eventTime\":null,\"reportingController\":\"x\",\"reportingInstance\":"
               "\"y\",\"reason\":\"R\",\"regarding\":{\"kind\":\"Pod\"},\"note\":\"m\","
               "\"deprecatedSource\":{\"component\":\"c\"},\"deprecatedFirstTimestamp\":null,"
               "\"deprecatedLastTimestamp\":null,\"deprecatedCount\":2}");
    kc_auto(kc_object) *more_writes = kc__convert_to_stored(events, shown, NULL);
    assert_true(kc_str_eq(kc_object_json(more_writes), kc_object_json(stored)));
}

static void other_kinds_are_not_converted(void **state)
{
    (void)state;
    kc_auto(kc__registry) *kinds = kc__registry_new(NULL);
    kc_auto(kc_object) *stored = object_of(STORED);
    assert_false(kc__convert_is_needed(resource_of(kinds, "", "events")));
    assert_false(kc__convert_is_needed(resource_of(kinds, "", "pods")));
    kc_auto(kc_object) *same =
        kc__convert_from_stored(resource_of(kinds, "", "events"), stored, NULL);
    assert_ptr_equal(same, stored);
}

TESTS(event_converts_between_both_groups, other_kinds_are_not_converted)
