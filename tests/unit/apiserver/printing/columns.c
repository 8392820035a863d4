/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kinds/registry.h"
#include "apiserver/printing/table.h"
#include "testing.h"

/* 2024-02-29T12:00:00Z */
static const kc_time now = (kc_time)1709208000 * 1000000000;

static const kc__print_columns *columns_of(const char *group, const char *plural)
{
    kc_auto(kc__registry) *kinds = kc__registry_new(NULL);
    const kc__resource *resource =
        kc__registry_find(kinds, kc_cstr(group), KC_STR("v1"), kc_cstr(plural));
    assert_non_null(resource);
    return kc__print_columns_of(resource);
}

/* The cells of an object, as they stand in its row. */
static void assert_cells(const char *group, const char *plural, const char *json, const char *cells)
{
    kc_auto(kc_object) *object = object_of(json);
    const kc__print_columns *columns = columns_of(group, plural);
    kc__print_table table = {
        .columns = columns, .include = KC__PRINT_INCLUDE_NONE, .now = now, .no_headers = true};
    kc_scoped(kc_buf) out = {0}, expected = {0};
    kc__print_table_of(&table, &out, object);
    kc_buf_printf(&expected, "\"rows\":[{\"cells\":%s,\"object\":null}]}", cells);
    assert_contains(kc_buf_cstr(&out), kc_buf_cstr(&expected));
}

/* The names of the columns; those for wide output in brackets. */
static void assert_titles(const char *group, const char *plural, const char *titles)
{
    const kc__print_columns *columns = columns_of(group, plural);
    kc_scoped(kc_buf) out = {0};
    for (size_t i = 0; i < columns->n; i++)
        kc_buf_printf(&out, columns->list[i].priority ? "%s(%s)" : "%s%s", i ? " | " : "",
                      columns->list[i].name);
    assert_string_equal(kc_buf_cstr(&out), titles);
}

static void every_resource_has_exactly_one_name_column(void **state)
{
    (void)state;
    for (size_t i = 0; i < kc__resource_n_builtins; i++) {
        const kc__print_columns *columns = kc__print_columns_of(&kc__resource_builtins[i]);
        size_t names = 0;
        for (size_t c = 0; c < columns->n; c++) {
            assert_non_null(columns->list[c].type);
            assert_true(columns->list[c].cell || columns->list[c].path);
            names += kc_str_is(kc_cstr(columns->list[c].format), "name");
        }
        assert_int_equal(names, 1);
    }
}

static void kind_without_columns_has_name_and_age(void **state)
{
    (void)state;
    assert_titles("authentication.k8s.io", "tokenreviews", "Name | Age");
    assert_cells("authentication.k8s.io", "tokenreviews",
                 "{'metadata':{'name':'t','creationTimestamp':'2024-02-29T11:55:00Z'}}",
                 "[\"t\",\"5m\"]");
}

static void some_kinds_have_a_created_at_column(void **state)
{
    (void)state;
    assert_titles("rbac.authorization.k8s.io", "roles", "Name | Created At");
    assert_titles("", "limitranges", "Name | Created At");
    assert_titles("storage.k8s.io", "csistoragecapacities", "Name | Created At");
    assert_cells("rbac.authorization.k8s.io", "clusterroles",
                 "{'metadata':{'name':'view','creationTimestamp':'2024-02-29T11:55:00Z'}}",
                 "[\"view\",\"2024-02-29T11:55:00Z\"]");
    assert_cells("rbac.authorization.k8s.io", "roles", "{'metadata':{'name':'r'}}",
                 "[\"r\",\"0001-01-01T00:00:00Z\"]");
    assert_string_equal(columns_of("", "limitranges")->list[1].type, "date");
}

static void config_map_row_counts_its_data(void **state)
{
    (void)state;
    assert_titles("", "configmaps", "Name | Data | Age");
    assert_cells("", "configmaps",
                 "{'metadata':{'name':'c','creationTimestamp':'2024-02-29T11:59:30Z'},"
                 "'data':{'a':'1','b':'2'},'binaryData':{'c':''}}",
                 "[\"c\",3,\"30s\"]");
    assert_cells("", "configmaps", "{'metadata':{'name':'c'}}", "[\"c\",0,\"<unknown>\"]");
}

static void secret_row_has_type_and_count(void **state)
{
    (void)state;
    assert_titles("", "secrets", "Name | Type | Data | Age");
    assert_cells("", "secrets",
                 "{'metadata':{'name':'s','creationTimestamp':'2024-02-28T12:00:00Z'},"
                 "'type':'Opaque','data':{'a':'MQ=='}}",
                 "[\"s\",\"Opaque\",1,\"24h\"]");
    assert_cells("", "secrets", "{'metadata':{'name':'s'},'data':null}",
                 "[\"s\",\"\",0,\"<unknown>\"]");
}

static void namespace_row_has_its_phase(void **state)
{
    (void)state;
    assert_titles("", "namespaces", "Name | Status | Age");
    assert_cells("", "namespaces",
                 "{'metadata':{'name':'default','creationTimestamp':'2024-02-29T12:00:00Z'},"
                 "'status':{'phase':'Active'}}",
                 "[\"default\",\"Active\",\"0s\"]");
}

static void service_account_row_counts_its_secrets(void **state)
{
    (void)state;
    assert_titles("", "serviceaccounts", "Name | Secrets | Age");
    assert_cells("", "serviceaccounts",
                 "{'metadata':{'name':'default','creationTimestamp':'2024-02-29T10:00:00Z'},"
                 "'secrets':[{'name':'a'},{'name':'b'}]}",
                 "[\"default\",2,\"120m\"]");
}

static void lease_row_has_its_holder(void **state)
{
    (void)state;
    assert_titles("coordination.k8s.io", "leases", "Name | Holder | Age");
    assert_cells("coordination.k8s.io", "leases",
                 "{'metadata':{'name':'leader','creationTimestamp':'2024-02-19T12:00:00Z'},"
                 "'spec':{'holderIdentity':'me'}}",
                 "[\"leader\",\"me\",\"10d\"]");
    assert_cells("coordination.k8s.io", "leases", "{'metadata':{'name':'free'},'spec':{}}",
                 "[\"free\",\"\",\"<unknown>\"]");
}

/* ---- events ---- */

static void event_row_has_object_reason_and_source(void **state)
{
    (void)state;
    assert_titles("", "events",
                  "Last Seen | Type | Reason | Object | (Subobject) | (Source) | Message | "
                  "(First Seen) | (Count) | (Name)");
    assert_cells("", "events",
                 "{'metadata':{'name':'e'},'type':'Normal','reason':'Pulled',"
                 "'message':' pulled it \\n','count':4,"
                 "'involvedObject':{'kind':'ReplicaSet','name':'web','fieldPath':'spec'},"
                 "'source':{'component':'kubelet','host':'n1'},"
                 "'firstTimestamp':'2024-02-29T11:00:00Z','lastTimestamp':'2024-02-29T11:59:00Z'}",
                 "[\"60s\",\"Normal\",\"Pulled\",\"replicaset/web\",\"spec\",\"kubelet, n1\","
                 "\"pulled it\",\"60m\",4,\"e\"]");
}

static void event_without_timestamps_uses_event_time(void **state)
{
    (void)state;
    assert_cells("", "events",
                 "{'metadata':{'name':'e'},'involvedObject':{'kind':'Node'},"
                 "'firstTimestamp':null,'lastTimestamp':null,"
                 "'eventTime':'2024-02-29T11:58:20.000000Z',"
                 "'reportingComponent':'scheduler','reportingInstance':'s-1'}",
                 "[\"100s\",\"\",\"\",\"node\",\"\",\"scheduler, s-1\",\"\",\"100s\",1,\"e\"]");
    assert_cells("", "events", "{'metadata':{'name':'e'},'eventTime':null}",
                 "[\"<unknown>\",\"\",\"\",\"\",\"\",\"\",\"\",\"<unknown>\",1,\"e\"]");
}

static void event_series_has_its_own_time_and_count(void **state)
{
    (void)state;
    assert_cells("", "events",
                 "{'metadata':{'name':'e'},'involvedObject':{'kind':'Pod','name':'p'},'count':2,"
                 "'firstTimestamp':'2024-02-29T11:59:00Z','lastTimestamp':'2024-02-29T11:59:10Z',"
                 "'series':{'count':7,'lastObservedTime':'2024-02-29T11:59:50.000000Z'},"
                 "'source':{'component':'c'}}",
                 "[\"10s\",\"\",\"\",\"pod/p\",\"\",\"c\",\"\",\"60s\",7,\"e\"]");
}

static void events_of_both_groups_have_the_same_row(void **state)
{
    (void)state;
    assert_cells("events.k8s.io", "events",
                 "{'metadata':{'name':'e'},'type':'Normal','reason':'Pulled',"
                 "'note':'pulled it','deprecatedCount':4,"
                 "'regarding':{'kind':'ReplicaSet','name':'web','fieldPath':'spec'},"
                 "'deprecatedSource':{'component':'kubelet','host':'n1'},"
                 "'deprecatedFirstTimestamp':'2024-02-29T11:00:00Z',"
                 "'deprecatedLastTimestamp':'2024-02-29T11:59:00Z'}",
                 "[\"60s\",\"Normal\",\"Pulled\",\"replicaset/web\",\"spec\",\"kubelet, n1\","
                 "\"pulled it\",\"60m\",4,\"e\"]");
}

TESTS(every_resource_has_exactly_one_name_column, kind_without_columns_has_name_and_age,
      some_kinds_have_a_created_at_column, config_map_row_counts_its_data,
      secret_row_has_type_and_count, namespace_row_has_its_phase,
      service_account_row_counts_its_secrets, lease_row_has_its_holder,
      event_row_has_object_reason_and_source, event_without_timestamps_uses_event_time,
      event_series_has_its_own_time_and_count, events_of_both_groups_have_the_same_row)
