/* SPDX-License-Identifier: Apache-2.0 */
/* namespaces.c: creation, finalization and deletion of namespaces. */
#include "api_testing.h"

#define SPACES "/api/v1/namespaces"

static void started_server_has_the_system_namespaces(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_string_equal(r_names(api_get(a, SPACES)),
                        "default kube-node-lease kube-public kube-system");
    api_restart(a);
    assert_int_equal(r_count(api_get(a, SPACES), "items"), 4);
}

static void new_namespace_is_active_and_labelled_with_its_name(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_post(a, SPACES, "{'metadata':{'name':'a'},'status':{'phase':'x'}}");
    assert_at(r, "status.phase", "Active");
    assert_at(r, "spec.finalizers", "[\"kubernetes\"]");
    assert_at(r, "metadata.labels", "{\"kubernetes.io/metadata.name\":\"a\"}");
    r = api_post(a, SPACES, "{'metadata':{'generateName':'g-'}}");
    assert_at(r, "metadata.labels",
              text(a, "{\"kubernetes.io/metadata.name\":\"%s\"}", r_text(r, "metadata.name")));
}

static void namespace_name_must_be_a_dns_label(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_post(a, SPACES, "{'metadata':{'name':'a.b'}}"), 422);
}

static void deleted_namespace_stays_until_it_is_finalized(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_post(a, SPACES, "{'metadata':{'name':'a'}}");
    const reply *r = api_delete(a, SPACES "/a", NULL);
    assert_at(r, "status.phase", "Terminating");
    assert_code(api_get(a, SPACES "/a"), 200);
    r = api_put(a, SPACES "/a/finalize", "{'metadata':{'name':'a'},'spec':{'finalizers':[]}}");
    assert_code(r, 200);
    assert_code(api_get(a, SPACES "/a"), 404);
}

static void create_in_terminating_namespace_is_forbidden(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_post(a, SPACES, "{'metadata':{'name':'a'}}");
    api_post(a, SPACES "/a/configmaps", "{'metadata':{'name':'old'}}");
    api_delete(a, SPACES "/a", NULL);
    const reply *r = api_post(a, SPACES "/a/configmaps", "{'metadata':{'name':'new'}}");
    assert_status(r, 403, "Forbidden",
                  "configmaps \"new\" is forbidden: unable to create new content in namespace a "
                  "because it is being terminated");
    assert_at(r, "details.causes[0].reason", "NamespaceTerminating");
    assert_code(api_patch(a, SPACES "/a/configmaps/old", "{'data':{'k':'v'}}"), 200);
}

static void binding_and_eviction_in_terminating_namespace_are_forbidden(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char binding[] = "{'metadata':{'name':'p'},'target':{'kind':'Node','name':'n'}}",
                      eviction[] = "{'apiVersion':'policy/v1','kind':'Eviction','metadata':{'name':"
                                   "'p'}}";
    api_post(a, SPACES, "{'metadata':{'name':'a'}}");
    api_post(a, SPACES "/a/pods",
             "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]}}");
    api_delete(a, SPACES "/a", NULL);
#define TERMINATED(resource, name)                                                              \
    resource " \"" name "\" is forbidden: unable to create new content in namespace a because " \
             "it is being terminated"
    assert_status(api_post(a, SPACES "/a/pods/p/binding", binding), 403, "Forbidden",
                  TERMINATED("pods", "p"));
    assert_status(api_post(a, SPACES "/a/bindings", binding), 403, "Forbidden",
                  TERMINATED("bindings", "p"));
    assert_status(api_post(a, SPACES "/a/pods/p/eviction", eviction), 403, "Forbidden",
                  TERMINATED("pods", "p"));
    assert_status(api_post(a, SPACES "/none/pods/p/binding", binding), 404, "NotFound",
                  "namespaces \"none\" not found");
}

static void delete_of_system_namespace_is_forbidden(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char *const names[] = {"default", "kube-system", "kube-public"};
    for (size_t i = 0; i < KC_COUNT(names); i++)
        assert_status(
            api_delete(a, text(a, SPACES "/%s", names[i]), NULL), 403, "Forbidden",
            text(a, "namespaces \"%s\" is forbidden: this namespace may not be deleted", names[i]));
}

static void only_finalize_changes_spec_finalizers(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_post(a, SPACES, "{'metadata':{'name':'a'}}");
    const reply *r = api_put(a, SPACES "/a", "{'metadata':{'name':'a'},'spec':{'finalizers':[]}}");
    assert_at(r, "spec.finalizers", "[\"kubernetes\"]");
    r = api_put(a, SPACES "/a/finalize", "{'metadata':{'name':'a'},'spec':{'finalizers':['f']}}");
    assert_status(r, 422, "Invalid",
                  "Namespace \"a\" is invalid: spec.finalizers[0]: Invalid value: \"f\": name is "
                  "neither a standard finalizer name nor is it fully qualified");
    assert_code(api_patch(a, SPACES "/a/finalize", "{}"), 405);
}

static void phase_must_match_deletion_timestamp(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_post(a, SPACES, "{'metadata':{'name':'a'}}");
    assert_status(api_patch(a, SPACES "/a/status", "{'status':{'phase':'Terminating'}}"), 422,
                  "Invalid",
                  "Namespace \"a\" is invalid: status.Phase: Invalid value: \"Terminating\": may "
                  "only be 'Active' if `deletionTimestamp` is empty");
}

static void delete_with_wrong_uid_returns_conflict_of_namespaces(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *made = api_post(a, SPACES, "{'metadata':{'name':'a'}}");
    assert_status(
        api_delete(a, SPACES "/a", "{'preconditions':{'uid':'x'}}"), 409, "Conflict",
        text(a,
             "Operation cannot be fulfilled on namespaces \"a\": Precondition failed: UID "
             "in precondition: x, UID in object meta: %s",
             r_text(made, "metadata.uid")));
}

TESTS(started_server_has_the_system_namespaces, new_namespace_is_active_and_labelled_with_its_name,
      namespace_name_must_be_a_dns_label, deleted_namespace_stays_until_it_is_finalized,
      create_in_terminating_namespace_is_forbidden,
      binding_and_eviction_in_terminating_namespace_are_forbidden,
      delete_of_system_namespace_is_forbidden, only_finalize_changes_spec_finalizers,
      phase_must_match_deletion_timestamp, delete_with_wrong_uid_returns_conflict_of_namespaces)
