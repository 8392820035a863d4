/* SPDX-License-Identifier: Apache-2.0 */
/* AppArmor profiles of pods: annotations become fields. The texts are those of kube-apiserver. */
#include "api_testing.h"

#define PODS "/api/v1/namespaces/default/pods"
#define KEY  "container.apparmor.security.beta.kubernetes.io/c"
#define WARNING(key)                    \
    "299 - \"metadata.annotations[" key \
    "]: deprecated since v1.30; use the \\\"appArmorProfile\\\" field instead\""

static const reply *make_pod(api *a, const char *name, const char *annotation,
                             const char *container, const char *pod)
{
    return api_post(a, PODS,
                    text(a,
                         "{'metadata':{'name':'%s','annotations':{'" KEY "':'%s'}},'spec':{"
                         "'containers':[{'name':'c','image':'i'%s}]%s}}",
                         name, annotation, container, pod));
}

static void annotation_becomes_the_field_with_a_warning(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const struct {
        const char *annotation, *field;
    } profiles[] = {
        {"runtime/default", "{\"type\":\"RuntimeDefault\"}"},
        {"unconfined", "{\"type\":\"Unconfined\"}"},
        {"localhost/x/y", "{\"type\":\"Localhost\",\"localhostProfile\":\"x/y\"}"},
    };
    for (size_t i = 0; i < KC_COUNT(profiles); i++) {
        const reply *r = make_pod(a, text(a, "p%zu", i), profiles[i].annotation, "", "");
        assert_code(r, 201);
        assert_at(r, "spec.containers[0].securityContext.appArmorProfile", profiles[i].field);
        assert_string_equal(r_header(r, "Warning"), WARNING(KEY));
    }
}

static void profile_in_a_field_is_kept_without_a_warning(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = make_pod(a, "a", "unconfined",
                              ",'securityContext':{'appArmorProfile':{'type':'Unconfined'}}", "");
    assert_code(r, 201);
    assert_null(r_header(r, "Warning"));
    r = make_pod(a, "b", "unconfined", "",
                 ",'securityContext':{'appArmorProfile':{'type':'Unconfined'}}");
    assert_code(r, 201);
    assert_at(r, "spec.containers[0].securityContext", "");
    assert_null(r_header(r, "Warning"));
}

static void update_of_annotations_does_not_change_fields(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_post(a, PODS,
                         "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]}"
                         "}"),
                201);
    const reply *r = api_patch(a, PODS "/p", "{'metadata':{'annotations':{'x':'y'}}}");
    assert_code(r, 200);
    assert_at(r, "spec.containers[0].securityContext", "");
}

TESTS(annotation_becomes_the_field_with_a_warning, profile_in_a_field_is_kept_without_a_warning,
      update_of_annotations_does_not_change_fields)
