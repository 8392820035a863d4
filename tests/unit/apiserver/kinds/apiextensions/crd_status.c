/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kinds/apiextensions/crd_status.h"
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
    kc_value_each_item (kc_value_get(kc_value_get(kc_view_root(view), "status"), "conditions"),
                        condition)
        if (kc_str_is(kc_value_as_str(kc_value_get(condition, "type")), type))
            return condition;
    return NULL;
}

static void free_names_are_accepted(void **state)
{
    (void)state;
    bool changed;
    kc_auto(kc_view) *view = updated("{" SPEC "}", NULL, NOW, &changed);
    assert_true(changed);
    assert_value_json(
        kc_value_get(kc_view_root(view), "status"),
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

static void current_status_is_unchanged(void **state)
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

static void name_conflict_is_reported_in_condition(void **state)
{
    (void)state;
    bool changed;
    kc_scoped(kc__crd_names) taken = {0};
    kc_auto(kc_view) *other =
        view_of("{'status':{'acceptedNames':{'plural':'rb','kind':'Robot'}}}");
    kc__crd_names_add(&taken, kc_view_root(other));
    kc_auto(kc_view) *view = updated("{" SPEC "}", &taken, NOW, &changed);
    const kc_value *named = condition_of(view, "NamesAccepted");
    assert_str(kc_value_as_str(kc_value_get(named, "status")), "False");
    assert_str(kc_value_as_str(kc_value_get(named, "reason")), "KindConflict");
    assert_str(kc_value_as_str(kc_value_get(named, "message")), "\"Robot\" is already in use");
    const kc_value *established = condition_of(view, "Established");
    assert_str(kc_value_as_str(kc_value_get(established, "reason")), "NotAccepted");
    assert_value_json(kc_value_get(kc_value_get(kc_view_root(view), "status"), "acceptedNames"),
                      "{\"plural\":\"robots\",\"singular\":\"robot\",\"listKind\":\"RobotList\","
                      "\"categories\":[\"all\"]}");
}

static void each_conflicting_short_name_is_reported(void **state)
{
    (void)state;
    bool changed;
    kc_scoped(kc__crd_names) taken = {0};
    kc_auto(kc_view) *other =
        view_of("{'status':{'acceptedNames':{'plural':'a','shortNames':['b','c']}}}");
    kc__crd_names_add(&taken, kc_view_root(other));
    kc_auto(kc_view) *view = updated("{'spec':{'names':{'plural':'x','shortNames':['b','d','c']}}}",
                                     &taken, NOW, &changed);
    assert_str(kc_value_as_str(kc_value_get(condition_of(view, "NamesAccepted"), "message")),
               "[\"b\" is already in use, \"c\" is already in use]");
}

static void established_crd_stays_established_on_name_conflict(void **state)
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
    assert_str(kc_value_as_str(kc_value_get(condition_of(view, "NamesAccepted"), "reason")),
               "ShortNamesConflict");
    assert_true(kc__crd_is_established(kc_view_root(view)));
}

#define IN_RBAC                                                                            \
    "'spec':{'group':'rbac.authorization.k8s.io','names':{'plural':'clusterroles','kind':" \
    "'ClusterRole'}}"

static void established_crd_in_built_in_group_is_not_accepted(void **state)
{
    (void)state;
    bool changed;
    kc_auto(kc_view) *view =
        updated("{" IN_RBAC ",'status':{'acceptedNames':{'plural':'clusterroles','kind':"
                "'ClusterRole'},'conditions':[{'type':'NamesAccepted','status':'True'},{'type':"
                "'Established','status':'True'}]}}",
                NULL, NOW, &changed);
    assert_true(changed);
    const kc_value *named = condition_of(view, "NamesAccepted");
    assert_str(kc_value_as_str(kc_value_get(named, "status")), "False");
    assert_str(kc_value_as_str(kc_value_get(named, "reason")), "GroupConflict");
    assert_str(kc_value_as_str(kc_value_get(named, "message")),
               "\"rbac.authorization.k8s.io\" is served by a built-in API");
    assert_str(kc_value_as_str(kc_value_get(condition_of(view, "Established"), "reason")),
               "NotAccepted");
    assert_false(kc__crd_is_established(kc_view_root(view)));
    assert_value_json(kc_value_get(kc_value_get(kc_view_root(view), "status"), "acceptedNames"),
                      "{\"plural\":\"\",\"kind\":\"\"}");
    kc_scoped(kc_buf) text = {0};
    kc_json_write(&text, kc_view_root(view));
    kc_auto(kc_view) *more_writes = updated(kc_buf_cstr(&text), NULL, LATER, &changed);
    assert_false(changed);
    assert_value_json(kc_view_root(more_writes), kc_buf_cstr(&text));
}

static void transition_time_is_kept_while_status_is_unchanged(void **state)
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
    assert_str(kc_value_as_str(kc_value_get(named, "reason")), "PluralConflict");
    assert_str(kc_value_as_str(kc_value_get(named, "lastTransitionTime")), "2020-01-01T00:00:00Z");
}

static void non_structural_schema_is_reported_in_condition(void **state)
{
    (void)state;
    bool changed;
    kc_auto(kc_view) *view =
        updated("{'spec':{'names':{'plural':'p'},'preserveUnknownFields':true,'versions':[{},"
                "{'schema':{'openAPIV3Schema':{'properties':{'a':{}}}}}]}}",
                NULL, NOW, &changed);
    assert_str(kc_value_as_str(kc_value_get(condition_of(view, "NonStructuralSchema"), "message")),
               "[spec.preserveUnknownFields: Invalid value: true: must be false, "
               "spec.versions[1].schema.openAPIV3Schema.properties[a].type: Required value: must "
               "not be empty for specified object fields, "
               "spec.versions[1].schema.openAPIV3Schema.type: Required value: must not be empty at "
               "the root]");
}

static void non_structural_schema_condition_is_removed_when_fixed(void **state)
{
    (void)state;
    bool changed;
    kc_auto(kc_view) *view =
        updated("{'spec':{'names':{'plural':'p'}},'status':{'conditions':[{'type':"
                "'NonStructuralSchema','status':'True'}]}}",
                NULL, NOW, &changed);
    assert_null(condition_of(view, "NonStructuralSchema"));
}

static void protected_group_has_approval_condition(void **state)
{
    (void)state;
    bool changed;
    kc_auto(kc_view) *view = updated("{'metadata':{'annotations':{'api-approved.kubernetes.io':"
                                     "'unapproved'}},'spec':{'group':'a.k8s.io'}}",
                                     NULL, NOW, &changed);
    const kc_value *approved = condition_of(view, "KubernetesAPIApprovalPolicyConformant");
    assert_str(kc_value_as_str(kc_value_get(approved, "status")), "False");
    assert_str(kc_value_as_str(kc_value_get(approved, "reason")), "UnapprovedAnnotation");
    assert_str(kc_value_as_str(kc_value_get(approved, "message")), "not approved: \"unapproved\"");
    kc_auto(kc_view) *free = updated("{'spec':{'group':'ak8s.io'}}", NULL, NOW, &changed);
    assert_null(condition_of(free, "KubernetesAPIApprovalPolicyConformant"));
}

static void terminating_crd_keeps_finalizer_until_its_objects_are_deleted(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{'metadata':{'name':'a'}}");
    kc__crd_set_deletion(edit, KC__CRD_DELETION_PENDING, NULL, NOW);
    kc_auto(kc_view) *pending = kc_edit_view(edit, NULL);
    assert_true(kc__crd_is_terminating(kc_view_root(pending)));
    assert_value_json(kc_value_get(kc_value_get(kc_view_root(pending), "metadata"), "finalizers"),
                      "[\"customresourcecleanup.apiextensions.k8s.io\"]");
    kc__crd_set_deletion(edit, KC__CRD_DELETION_FAILED, "disk on fire", LATER);
    kc_auto(kc_view) *failed = kc_edit_view(edit, NULL);
    assert_str(kc_value_as_str(kc_value_get(condition_of(failed, "Terminating"), "message")),
               "could not issue all deletes: disk on fire");
    kc__crd_set_deletion(edit, KC__CRD_DELETION_DONE, NULL, LATER);
    kc_auto(kc_view) *done = kc_edit_view(edit, NULL);
    assert_false(kc__crd_is_terminating(kc_view_root(done)));
    assert_null(kc_value_get(kc_value_get(kc_view_root(done), "metadata"), "finalizers"));
}

TESTS(free_names_are_accepted, current_status_is_unchanged, name_conflict_is_reported_in_condition,
      each_conflicting_short_name_is_reported, established_crd_stays_established_on_name_conflict,
      established_crd_in_built_in_group_is_not_accepted,
      transition_time_is_kept_while_status_is_unchanged,
      non_structural_schema_is_reported_in_condition,
      non_structural_schema_condition_is_removed_when_fixed, protected_group_has_approval_condition,
      terminating_crd_keeps_finalizer_until_its_objects_are_deleted)
