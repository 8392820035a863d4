/* SPDX-License-Identifier: Apache-2.0 */
/* rest_namespaces.c: the life of a namespace. */
#include "api_testing.h"

#define SPACES "/api/v1/namespaces"

static void a_server_has_the_namespaces_everybody_expects(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_string_equal(r_names(api_get(a, SPACES)),
                        "default kube-node-lease kube-public kube-system");
    api_restart(a);
    assert_int_equal(r_count(api_get(a, SPACES), "items"), 4);
}

static void a_namespace_is_active_and_knows_its_name(void **state)
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

static void its_name_is_a_label(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_post(a, SPACES, "{'metadata':{'name':'a.b'}}"), 422);
}

static void a_deleted_namespace_stays_until_it_is_finalized(void **state)
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

static void nothing_new_comes_into_one_that_goes(void **state)
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

static void some_namespaces_cannot_be_deleted(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char *const names[] = {"default", "kube-system", "kube-public"};
    for (size_t i = 0; i < KC_COUNT(names); i++)
        assert_status(
            api_delete(a, text(a, SPACES "/%s", names[i]), NULL), 403, "Forbidden",
            text(a, "namespaces \"%s\" is forbidden: this namespace may not be deleted", names[i]));
}

static void only_finalize_changes_the_finalizers_of_the_spec(void **state)
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

static void a_phase_belongs_to_its_state(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_post(a, SPACES, "{'metadata':{'name':'a'}}");
    assert_status(api_patch(a, SPACES "/a/status", "{'status':{'phase':'Terminating'}}"), 422,
                  "Invalid",
                  "Namespace \"a\" is invalid: status.Phase: Invalid value: \"Terminating\": may "
                  "only be 'Active' if `deletionTimestamp` is empty");
}

static void a_wrong_precondition_is_said_in_its_own_words(void **state)
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

TESTS(a_server_has_the_namespaces_everybody_expects, a_namespace_is_active_and_knows_its_name,
      its_name_is_a_label, a_deleted_namespace_stays_until_it_is_finalized,
      nothing_new_comes_into_one_that_goes, some_namespaces_cannot_be_deleted,
      only_finalize_changes_the_finalizers_of_the_spec, a_phase_belongs_to_its_state,
      a_wrong_precondition_is_said_in_its_own_words)
