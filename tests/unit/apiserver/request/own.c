/* SPDX-License-Identifier: Apache-2.0 */
/* own.c: metadata.managedFields of creates, updates and patches. */
#include "api_testing.h"

#define MAPS  "/api/v1/namespaces/default/configmaps"
#define PODS  "/api/v1/namespaces/default/pods"
#define NOW   "2026-01-02T03:04:05Z"
#define LATER "2026-01-02T03:05:05Z"

#define UPDATE(manager, time, fields)                                                              \
    "{\"manager\":\"" manager "\",\"operation\":\"Update\",\"apiVersion\":\"v1\",\"time\":\"" time \
    "\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":" fields "}"

static api *start(void)
{
    return api_start(&(api_opts){.virtual_time = true});
}

static const reply *create(api *a, const char *body, const char *agent)
{
    return SEND(a, "POST", MAPS, body, .agent = agent);
}

static const reply *merge(api *a, const char *target, const char *body)
{
    return SEND(a, "PATCH", target, body, .type = "application/merge-patch+json");
}

static void create_gives_all_fields_to_its_manager(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    const reply *r =
        SEND(a, "POST", MAPS "?fieldManager=one",
             "{'metadata':{'name':'a','labels':{'l':'1'}},'data':{'k':'v'}}", .agent = "curl/8");
    assert_at(r, "metadata.managedFields",
              "[" UPDATE("one", NOW,
                         "{\"f:data\":{\".\":{},\"f:k\":{}},\"f:metadata\":{\"f:labels\":{\".\":{},"
                         "\"f:l\":{}}}}") "]");
}

static void manager_is_user_agent_before_slash(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    assert_at(create(a, "{'metadata':{'name':'a'},'data':{'k':'v'}}", "kubectl/v1.34.1 (linux)"),
              "metadata.managedFields[0].manager", "kubectl");
    assert_at(create(a, "{'metadata':{'name':'b'},'data':{'k':'v'}}", NULL),
              "metadata.managedFields[0].manager", "unknown");
    char agent[200] = "x\xC2\xA0y";
    memset(agent + 4, 'z', 150);
    const reply *r = create(a, "{'metadata':{'name':'c'},'data':{'k':'v'}}", agent);
    assert_int_equal(strlen(r_text(r, "metadata.managedFields[0].manager")), 128);
    assert_memory_equal(r_text(r, "metadata.managedFields[0].manager"), "xyzz", 4);
}

static void field_manager_that_is_too_long_or_not_printable_is_invalid(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    char target[256] = MAPS "?fieldManager=";
    size_t n = strlen(target);
    memset(target + n, 'm', 129);
    assert_code(SEND(a, "POST", target, "{'metadata':{'name':'a'}}"), 422);
    assert_code(SEND(a, "POST", MAPS "?fieldManager=a%07", "{'metadata':{'name':'a'}}"), 422);
}

static void update_takes_changed_fields_from_others(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    create(a, "{'metadata':{'name':'a'},'data':{'k':'v','l':'w'}}", "one");
    api_advance(a, KC_MINUTE);
    const reply *r = merge(a, MAPS "/a?fieldManager=two", "{'data':{'k':'x','new':'1'}}");
    assert_at(r, "metadata.managedFields",
              "[" UPDATE("one", NOW, "{\"f:data\":{\".\":{},\"f:l\":{}}}") "," UPDATE(
                  "two", LATER, "{\"f:data\":{\"f:k\":{},\"f:new\":{}}}") "]");
}

static void update_without_managed_fields_keeps_them(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    const char *fields = r_text(create(a, "{'metadata':{'name':'a'},'data':{'k':'v'}}", "one"),
                                "metadata.managedFields");
    api_advance(a, KC_MINUTE);
    const reply *r =
        SEND(a, "PUT", MAPS "/a", "{'metadata':{'name':'a'},'data':{'k':'v'}}", .agent = "two");
    assert_at(r, "metadata.managedFields", fields);
    r = SEND(a, "PUT", MAPS "/a",
             "{'metadata':{'name':'a','managedFields':[{'manager':'x','operation':'Up'}]},"
             "'data':{'k':'v'}}");
    assert_at(r, "metadata.managedFields", fields);
}

static void update_that_changes_nothing_moves_neither_version_nor_time(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    const reply *old = create(a, "{'metadata':{'name':'a'},'data':{'k':'v'}}", "one");
    api_advance(a, KC_MINUTE);
    assert_string_equal(merge(a, MAPS "/a?fieldManager=two", "{'data':{'k':'v'}}")->body,
                        old->body);
}

/* The status of a pod cannot be changed here: `prepared` restores it. */
static void change_that_the_server_reverts_is_not_written(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    const reply *old = api_post(
        a, PODS, "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]}}");
    api_advance(a, KC_MINUTE);
    assert_string_equal(merge(a, PODS "/p", "{'status':{'message':'x'}}")->body, old->body);
    assert_string_equal(merge(a, PODS "/p", "{'metadata':{'generation':7}}")->body, old->body);
}

static void client_may_change_owners(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    create(a, "{'metadata':{'name':'a'},'data':{'k':'v'}}", "one");
    const reply *r =
        merge(a, MAPS "/a",
              "{'metadata':{'managedFields':[{'manager':'x','operation':'Update','apiVersion':'v1',"
              "'time':'" NOW "','fieldsType':'FieldsV1','fieldsV1':{'f:data':{'f:k':{}}}}]}}");
    assert_at(r, "metadata.managedFields", "[" UPDATE("x", NOW, "{\"f:data\":{\"f:k\":{}}}") "]");
}

static void empty_managed_fields_clear_owners(void **state)
{
    (void)state;
    static const char *const resets[] = {"[]", "[{}]"};
    for (size_t i = 0; i < KC_COUNT(resets); i++) {
        kc_auto(api) *a = start();
        create(a, "{'metadata':{'name':'a'},'data':{'k':'v'}}", "one");
        const reply *r = merge(
            a, MAPS "/a", text(a, "{'metadata':{'managedFields':%s},'data':{'k':'x'}}", resets[i]));
        assert_code(r, 200);
        assert_at(r, "metadata.managedFields", "");
        /* An object without owners stays without. */
        assert_at(merge(a, MAPS "/a", "{'data':{'k':'y'}}"), "metadata.managedFields", "");
        r = SEND(a, "PUT", MAPS "/a",
                 text(a, "{'metadata':{'name':'a','managedFields':%s}}", resets[i]));
        assert_at(r, "metadata.managedFields", "");
    }
}

static void oldest_updates_become_ancient_changes(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    create(a, "{'metadata':{'name':'a'},'data':{'k':'v'}}", "zero");
    for (int i = 1; i <= 11; i++) {
        api_advance(a, KC_MINUTE);
        merge(a, text(a, MAPS "/a?fieldManager=m%d", i), text(a, "{'data':{'k%d':'1'}}", i));
    }
    const reply *r = api_get(a, MAPS "/a");
    assert_int_equal(r_count(r, "metadata.managedFields"), 10);
    assert_at(r, "metadata.managedFields[0].manager", "ancient-changes");
    assert_at(r, "metadata.managedFields[0].fieldsV1",
              "{\"f:data\":{\".\":{},\"f:k\":{},\"f:k1\":{},\"f:k2\":{}}}");
}

static void status_is_owned_through_its_subresource(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    api_post(a, PODS, "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]}}");
    const reply *r = merge(a, PODS "/p/status?fieldManager=kubelet",
                           "{'status':{'message':'m'},'spec':{'nodeName':'x'}}");
    assert_int_equal(r_count(r, "metadata.managedFields"), 2);
    assert_at(r, "metadata.managedFields[0].manager", "kubelet");
    assert_at(r, "metadata.managedFields[0].subresource", "status");
    assert_at(r, "metadata.managedFields[0].fieldsV1", "{\"f:status\":{\"f:message\":{}}}");
    /* The subresource cannot change owners. */
    r = merge(a, PODS "/p/status", "{'metadata':{'managedFields':[]}}");
    assert_int_equal(r_count(r, "metadata.managedFields"), 2);
}

static void owners_of_replicas_are_those_of_scale(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    static const char target[] = "/apis/apps/v1/namespaces/default/replicasets";
    SEND(a, "POST", text(a, "%s?fieldManager=one", target),
         "{'metadata':{'name':'r'},'spec':{'replicas':1,'selector':{'matchLabels':{'a':'b'}},"
         "'template':{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c',"
         "'image':'i'}]}}}}");
    const reply *r =
        merge(a, text(a, "%s/r/scale?fieldManager=scaler", target), "{'spec':{'replicas':3}}");
    assert_code(r, 200);
    assert_at(r, "metadata.managedFields", "");
    r = api_get(a, text(a, "%s/r", target));
    assert_at(r, "metadata.managedFields[0].manager", "scaler");
    assert_at(r, "metadata.managedFields[0].subresource", "scale");
    assert_at(r, "metadata.managedFields[0].apiVersion", "apps/v1");
    assert_at(r, "metadata.managedFields[0].fieldsV1", "{\"f:spec\":{\"f:replicas\":{}}}");
    assert_null(strstr(r_text(r, "metadata.managedFields[1].fieldsV1"), "replicas"));
}

static void managed_fields_are_in_lists_watches_and_metadata(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    watch *w = WATCH(a, MAPS "?watch=1");
    create(a, "{'metadata':{'name':'zz'},'data':{'k':'v'}}", "one");
    const char *line;
    do
        line = watch_line(w);
    while (line && !strstr(line, "\"zz\""));
    assert_non_null(line);
    assert_string_equal(line_text(w, line, "object.metadata.managedFields[0].manager"), "one");
    watch_close(w);
    const reply *r = api_get(a, MAPS "?fieldSelector=metadata.name=zz");
    assert_at(r, "items[0].metadata.managedFields[0].manager", "one");
    r = SEND(a, "GET", MAPS "/zz",
             .accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
    assert_at(r, "metadata.managedFields[0].manager", "one");
    r = SEND(a, "GET", MAPS "/zz", .accept = "application/json;as=Table;g=meta.k8s.io;v=v1");
    assert_at(r, "rows[0].object.metadata.managedFields[0].manager", "one");
}

static void object_that_is_too_large_with_managed_fields_loses_them(void **state)
{
    (void)state;
    kc_auto(api) *a =
        api_start(&(api_opts){.virtual_time = true, .server = {.max_object_bytes = 600}});
    const char *data = "'k0':'0','k1':'0','k2':'0','k3':'0','k4':'0','k5':'0','k6':'0','k7':'0'";
    const reply *r =
        create(a, text(a, "{'metadata':{'name':'a'},'data':{%s,'long':'%0300d'}}", data, 1), "one");
    assert_code(r, 201);
    assert_at(r, "metadata.managedFields", "");
    r = SEND(a, "PATCH", MAPS "/b?fieldManager=x",
             text(a,
                  "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'b'},'data':{%s,"
                  "'long':'%0300d'}}",
                  data, 1),
             .type = "application/apply-patch+yaml");
    assert_code(r, 413);
}

static const reply *patch_by(api *a, const char *type, const char *body)
{
    return SEND(a, "PATCH", MAPS "/a?fieldManager=two", body, .type = type);
}

/* A patch is applied to a tree without managedFields, unless it may read or change them. */
static void json_patch_reads_and_changes_owners(void **state)
{
    (void)state;
    static const char type[] = "application/json-patch+json";
    kc_auto(api) *a = start();
    create(a, "{'metadata':{'name':'a'},'data':{'k':'v','l':'w'}}", "one");
    const reply *r = patch_by(a, type,
                              "[{'op':'test','path':'/metadata/managedFields/0/manager','value':"
                              "'one'},{'op':'copy','from':'/metadata/managedFields/0/operation',"
                              "'path':'/data/copied'}]");
    assert_code(r, 200);
    assert_at(r, "data.copied", "Update");
    assert_int_equal(r_count(r, "metadata.managedFields"), 2);
    r = patch_by(a, type, "[{'op':'test','path':'/metadata/managedFields/0/manager','value':'x'}]");
    assert_code(r, 422);
    r = patch_by(a, type,
                 "[{'op':'replace','path':'/metadata/managedFields/0/manager','value':"
                 "'renamed'}]");
    assert_at(r, "metadata.managedFields[0].manager", "renamed");
    r = patch_by(a, type, "[{'op':'replace','path':'/metadata/managedFields','value':[{}]}]");
    assert_code(r, 200);
    assert_at(r, "metadata.managedFields", "");
}

static void patch_that_replaces_metadata_keeps_owners(void **state)
{
    (void)state;
    static const char *const patches[][2] = {
        {"application/json-patch+json",
         "[{'op':'replace','path':'/metadata','value':{'name':'a','labels':{'l':'1'}}}]"},
        {"application/json-patch+json",
         "[{'op':'remove','path':'/metadata/managedFields'},{'op':'add','path':'/metadata/labels',"
         "'value':{'l':'1'}}]"},
        {"application/strategic-merge-patch+json",
         "{'metadata':{'$patch':'replace','name':'a','labels':{'l':'1'}}}"},
        {"application/merge-patch+json", "{'metadata':{'managedFields':null,'labels':{'l':'1'}}}"},
    };
    for (size_t i = 0; i < KC_COUNT(patches); i++) {
        kc_auto(api) *a = start();
        create(a, "{'metadata':{'name':'a'},'data':{'k':'v'}}", "one");
        const reply *r = patch_by(a, patches[i][0], patches[i][1]);
        assert_code(r, 200);
        assert_at(r, "metadata.managedFields",
                  "[" UPDATE("one", NOW, "{\"f:data\":{\".\":{},\"f:k\":{}}}") "," UPDATE(
                      "two", NOW, "{\"f:metadata\":{\"f:labels\":{\".\":{},\"f:l\":{}}}}") "]");
    }
}

/* Objects with more members than the scanner of objects can check by itself. */
static void owners_of_700_items_survive_update_and_patch(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    kc_scoped(kc_buf) body = {0};
    kc_buf_puts(&body, "{'metadata':{'name':'p'},'spec':{'containers':[");
    for (int i = 0; i < 700; i++)
        kc_buf_printf(&body, "%s{'name':'c%d','image':'i'}", i ? "," : "", i);
    kc_buf_puts(&body, "]}}");
    assert_code(SEND(a, "POST", PODS "?fieldManager=one", kc_buf_cstr(&body)), 201);
    api_advance(a, KC_MINUTE);
    const reply *r = merge(a, PODS "/p?fieldManager=two", "{'metadata':{'labels':{'l':'1'}}}");
    assert_at(r, "metadata.managedFields[0].manager", "one");
    assert_at(r, "metadata.managedFields[1].fieldsV1",
              "{\"f:metadata\":{\"f:labels\":{\".\":{},\"f:l\":{}}}}");
    r = merge(a, PODS "/p/status?fieldManager=kubelet", "{'status':{'message':'m'}}");
    assert_int_equal(r_count(r, "metadata.managedFields"), 3);
    kc_autofree char *first = kc_strdup(r_text(r, "metadata.managedFields[0].fieldsV1"));
    assert_non_null(strstr(first, "\"k:{\\\"name\\\":\\\"c699\\\"}\":{\".\":{},\"f:image\":{}"));
    r = merge(a, PODS "/p?fieldManager=two", "{'metadata':{'labels':{'l':'2'}}}");
    assert_at(r, "metadata.managedFields[0].fieldsV1", first);
}

static void invalid_managed_fields_of_new_object_are_dropped(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    const reply *r =
        create(a,
               "{'metadata':{'name':'a','managedFields':[{'manager':'x','operation':'Bad'}]},"
               "'data':{'k':'v'}}",
               "one");
    assert_code(r, 201);
    assert_int_equal(r_count(r, "metadata.managedFields"), 1);
    assert_at(r, "metadata.managedFields[0].manager", "one");
}

static void autoscaler_is_owned_in_version_of_request(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    static const char v1[] = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
    static const char v2[] = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    const reply *r = SEND(
        a, "POST", text(a, "%s?fieldManager=one", v1),
        "{'metadata':{'name':'h'},'spec':{'maxReplicas':3,'scaleTargetRef':{'apiVersion':'a/v1','kind':'X',"
        "'name':'x'},'targetCPUUtilizationPercentage':50}}");
    assert_at(r, "metadata.managedFields[0].apiVersion", "autoscaling/v1");
    assert_non_null(strstr(r_text(r, "metadata.managedFields[0].fieldsV1"),
                           "f:targetCPUUtilizationPercentage"));
    r = merge(a, text(a, "%s/h?fieldManager=two", v2), "{'spec':{'maxReplicas':5}}");
    assert_int_equal(r_count(r, "metadata.managedFields"), 2);
    assert_at(r, "metadata.managedFields[1].apiVersion", "autoscaling/v2");
    assert_at(r, "metadata.managedFields[1].fieldsV1", "{\"f:spec\":{\"f:maxReplicas\":{}}}");
    assert_null(strstr(r_text(r, "metadata.managedFields[0].fieldsV1"), "f:maxReplicas"));
}

TESTS(create_gives_all_fields_to_its_manager, manager_is_user_agent_before_slash,
      field_manager_that_is_too_long_or_not_printable_is_invalid,
      update_takes_changed_fields_from_others, update_without_managed_fields_keeps_them,
      update_that_changes_nothing_moves_neither_version_nor_time,
      change_that_the_server_reverts_is_not_written, client_may_change_owners,
      empty_managed_fields_clear_owners, oldest_updates_become_ancient_changes,
      status_is_owned_through_its_subresource, owners_of_replicas_are_those_of_scale,
      managed_fields_are_in_lists_watches_and_metadata,
      object_that_is_too_large_with_managed_fields_loses_them, json_patch_reads_and_changes_owners,
      patch_that_replaces_metadata_keeps_owners, owners_of_700_items_survive_update_and_patch,
      invalid_managed_fields_of_new_object_are_dropped, autoscaler_is_owned_in_version_of_request)
