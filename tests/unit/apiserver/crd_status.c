/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/crd/crd_status.h"
#include "testing.h"

/* 2026-01-02T03:04:05Z, and an hour later. */
#define NOW   ((kc_time)1767323045 * 1000000000)
#define LATER (NOW + (kc_time)3600 * 1000000000)

#define NAMES                                                                   \
    "{'plural':'robots','singular':'robot','shortNames':['rb'],'kind':'Robot'," \
    "'listKind':'RobotList','categories':['all']}"
#define SPEC "'spec':{'group':'x.io','names':" NAMES "}"

static kc_view *updated(const char *json, const kc__crd_names *taken, kc_time now, bool *changed)
{
    kc__crd_names none = {0};
    kc_auto(kc_view) *view = view_of(json);
    kc_auto(kc_edit) *edit = edit_of(json);
    *changed = kc__crd_update_status(edit, kc_view_root(view), taken ? taken : &none, now);
    return kc_edit_view(edit, NULL);
}

static const kc_value *condition_of(const kc_view *view, const char *type)
{
    kc_items (kc_get(kc_get(kc_view_root(view), "status"), "conditions"), condition)
        if (kc_str_is(kc_as_str(kc_get(condition, "type")), type))
            return condition;
    return NULL;
}

static void names_that_are_free_are_accepted(void **state)
{
    (void)state;
    bool changed;
    kc_auto(kc_view) *view = updated("{" SPEC "}", NULL, NOW, &changed);
    assert_true(changed);
    assert_value_json(
        kc_get(kc_view_root(view), "status"),
        "{\"acceptedNames\":{\"plural\":\"robots\",\"singular\":\"robot\",\"shortNames\":[\"rb\"],"
        "\"kind\":\"Robot\",\"listKind\":\"RobotList\",\"categories\":[\"all\"]},\"conditions\":[{"
        "\"type\":\"NamesAccepted\",\"status\":\"True\",\"lastTransitionTime\":"
        "\"2026-01-02T03:04:05Z\",\"reason\":\"NoConflicts\",\"message\":\"no conflicts found\"},{"
        "\"type\":\"Established\",\"status\":\"True\",\"lastTransitionTime\":"
        "\"2026-01-02T03:04:05Z\",\"reason\":\"InitialNamesAccepted\",\"message\":\"the initial "
        "names have been accepted\"}]}");
    assert_true(kc__crd_is_established(kc_view_root(view)));
    assert_false(kc__crd_is_terminating(kc_view_root(view)));
}

static void a_status_that_is_right_stays(void **state)
{
    (void)state;
    bool changed;
    kc_auto(kc_view) *first = updated("{" SPEC "}", NULL, NOW, &changed);
    kc_scoped(kc_buf) text = {0};
    kc_json_write(&text, kc_view_root(first));
    kc_scoped(kc__crd_names) taken = {0};
    kc__crd_names_add(&taken, kc_view_root(first));
    kc_auto(kc_view) *second = updated(kc_buf_cstr(&text), &taken, LATER, &changed);
    assert_false(changed);
    assert_value_json(kc_view_root(second), kc_buf_cstr(&text));
}

static void a_name_that_is_taken_is_told(void **state)
{
    (void)state;
    bool changed;
    kc_scoped(kc__crd_names) taken = {0};
    kc_auto(kc_view) *other =
        view_of("{'status':{'acceptedNames':{'plural':'rb','kind':'Robot'}}}");
    kc__crd_names_add(&taken, kc_view_root(other));
    kc_auto(kc_view) *view = updated("{" SPEC "}", &taken, NOW, &changed);
    const kc_value *named = condition_of(view, "NamesAccepted");
    assert_str(kc_as_str(kc_get(named, "status")), "False");
    assert_str(kc_as_str(kc_get(named, "reason")), "KindConflict");
    assert_str(kc_as_str(kc_get(named, "message")), "\"Robot\" is already in use");
    const kc_value *established = condition_of(view, "Established");
    assert_str(kc_as_str(kc_get(established, "reason")), "NotAccepted");
    assert_value_json(kc_get(kc_get(kc_view_root(view), "status"), "acceptedNames"),
                      "{\"plural\":\"robots\",\"singular\":\"robot\",\"listKind\":\"RobotList\","
                      "\"categories\":[\"all\"]}");
}

static void each_short_name_that_is_taken_is_told(void **state)
{
    (void)state;
    bool changed;
    kc_scoped(kc__crd_names) taken = {0};
    kc_auto(kc_view) *other =
        view_of("{'status':{'acceptedNames':{'plural':'a','shortNames':['b','c']}}}");
    kc__crd_names_add(&taken, kc_view_root(other));
    kc_auto(kc_view) *view = updated("{'spec':{'names':{'plural':'x','shortNames':['b','d','c']}}}",
                                     &taken, NOW, &changed);
    assert_str(kc_as_str(kc_get(condition_of(view, "NamesAccepted"), "message")),
               "[\"b\" is already in use, \"c\" is already in use]");
}

static void one_that_is_established_stays_so(void **state)
{
    (void)state;
    bool changed;
    kc_scoped(kc__crd_names) taken = {0};
    kc_auto(kc_view) *other = view_of("{'status':{'acceptedNames':{'plural':'rx'}}}");
    kc__crd_names_add(&taken, kc_view_root(other));
    kc_auto(kc_view) *view =
        updated("{'spec':{'names':{'plural':'robots','shortNames':['rx']}},'status':{"
                "'acceptedNames':{'plural':'robots'},'conditions':[{'type':'Established','status':"
                "'True'}]}}",
                &taken, NOW, &changed);
    assert_true(changed);
    assert_str(kc_as_str(kc_get(condition_of(view, "NamesAccepted"), "reason")),
               "ShortNamesConflict");
    assert_true(kc__crd_is_established(kc_view_root(view)));
}

static void the_time_is_that_of_the_last_turn(void **state)
{
    (void)state;
    bool changed;
    kc_scoped(kc__crd_names) taken = {0};
    kc_auto(kc_view) *other = view_of("{'status':{'acceptedNames':{'plural':'p','kind':'K'}}}");
    kc__crd_names_add(&taken, kc_view_root(other));
    kc_auto(kc_view) *view =
        updated("{'spec':{'names':{'plural':'p','kind':'k'}},'status':{'conditions':[{'type':"
                "'NamesAccepted','status':'False','reason':'KindConflict','message':'x',"
                "'lastTransitionTime':'2020-01-01T00:00:00Z'}]}}",
                &taken, NOW, &changed);
    const kc_value *named = condition_of(view, "NamesAccepted");
    assert_str(kc_as_str(kc_get(named, "reason")), "PluralConflict");
    assert_str(kc_as_str(kc_get(named, "lastTransitionTime")), "2020-01-01T00:00:00Z");
}

static void schemas_that_are_not_structural_are_told(void **state)
{
    (void)state;
    bool changed;
    kc_auto(kc_view) *view =
        updated("{'spec':{'names':{'plural':'p'},'preserveUnknownFields':true,'versions':[{},"
                "{'schema':{'openAPIV3Schema':{'properties':{'a':{}}}}}]}}",
                NULL, NOW, &changed);
    assert_str(kc_as_str(kc_get(condition_of(view, "NonStructuralSchema"), "message")),
               "[spec.preserveUnknownFields: Invalid value: true: must be false, "
               "spec.versions[1].schema.openAPIV3Schema.properties[a].type: Required value: must "
               "not be empty for specified object fields, "
               "spec.versions[1].schema.openAPIV3Schema.type: Required value: must not be empty at "
               "the root]");
}

static void the_violation_goes_with_its_cause(void **state)
{
    (void)state;
    bool changed;
    kc_auto(kc_view) *view =
        updated("{'spec':{'names':{'plural':'p'}},'status':{'conditions':[{'type':"
                "'NonStructuralSchema','status':'True'}]}}",
                NULL, NOW, &changed);
    assert_null(condition_of(view, "NonStructuralSchema"));
}

static void approval_is_a_condition_of_protected_groups(void **state)
{
    (void)state;
    bool changed;
    kc_auto(kc_view) *view = updated("{'metadata':{'annotations':{'api-approved.kubernetes.io':"
                                     "'unapproved'}},'spec':{'group':'a.k8s.io'}}",
                                     NULL, NOW, &changed);
    const kc_value *approved = condition_of(view, "KubernetesAPIApprovalPolicyConformant");
    assert_str(kc_as_str(kc_get(approved, "status")), "False");
    assert_str(kc_as_str(kc_get(approved, "reason")), "UnapprovedAnnotation");
    assert_str(kc_as_str(kc_get(approved, "message")), "not approved: \"unapproved\"");
    kc_auto(kc_view) *free = updated("{'spec':{'group':'ak8s.io'}}", NULL, NOW, &changed);
    assert_null(condition_of(free, "KubernetesAPIApprovalPolicyConformant"));
}

static void a_definition_that_goes_waits_for_its_objects(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{'metadata':{'name':'a'}}");
    kc__crd_set_deletion(edit, KC__CRD_DELETION_PENDING, NULL, NOW);
    kc_auto(kc_view) *pending = kc_edit_view(edit, NULL);
    assert_true(kc__crd_is_terminating(kc_view_root(pending)));
    assert_value_json(kc_get(kc_get(kc_view_root(pending), "metadata"), "finalizers"),
                      "[\"customresourcecleanup.apiextensions.k8s.io\"]");
    kc__crd_set_deletion(edit, KC__CRD_DELETION_FAILED, "disk on fire", LATER);
    kc_auto(kc_view) *failed = kc_edit_view(edit, NULL);
    assert_str(kc_as_str(kc_get(condition_of(failed, "Terminating"), "message")),
               "could not issue all deletes: disk on fire");
    kc__crd_set_deletion(edit, KC__CRD_DELETION_DONE, NULL, LATER);
    kc_auto(kc_view) *done = kc_edit_view(edit, NULL);
    assert_false(kc__crd_is_terminating(kc_view_root(done)));
    assert_null(kc_get(kc_get(kc_view_root(done), "metadata"), "finalizers"));
}

TESTS(names_that_are_free_are_accepted, a_status_that_is_right_stays, a_name_that_is_taken_is_told,
      each_short_name_that_is_taken_is_told, one_that_is_established_stays_so,
      the_time_is_that_of_the_last_turn, schemas_that_are_not_structural_are_told,
      the_violation_goes_with_its_cause, approval_is_a_condition_of_protected_groups,
      a_definition_that_goes_waits_for_its_objects)
