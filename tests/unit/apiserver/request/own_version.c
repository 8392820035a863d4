/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_version.c: field ownership across versions that a conversion webhook converts. v1 has
 * spec.one, v2 has spec.two in its place: an entry of managedFields in one version owns the field
 * that writes in the other version change.
 */
#include "conversion_testing.h"

#define BODY(version, rest) \
    "{'apiVersion':'x.io/" version "','kind':'Robot','metadata':{'name':'a'}" rest "}"

static const reply *apply_at(api *a, const char *path, const char *query, const char *body)
{
    return SEND(a, "PATCH", text(a, "%s/a?%s", path, query), body,
                .type = "application/apply-patch+yaml");
}

static const reply *merge_at(api *a, const char *path, const char *query, const char *body)
{
    return SEND(a, "PATCH", text(a, "%s/a?%s", path, query), body,
                .type = "application/merge-patch+json");
}

/* "x.io/v1 {…}": version and fields of the entry of a manager; empty if there is none. */
static const char *entry_of(api *a, const reply *r, const char *manager)
{
    for (size_t i = 0; i < r_count(r, "metadata.managedFields"); i++)
        if (!strcmp(r_text(r, text(a, "metadata.managedFields[%zu].manager", i)), manager))
            return text(a, "%s %s", r_text(r, text(a, "metadata.managedFields[%zu].apiVersion", i)),
                        r_text(r, text(a, "metadata.managedFields[%zu].fieldsV1", i)));
    return "";
}

static void apply_of_renamed_field_conflicts_with_owner_in_other_version(void **state)
{
    (void)state;
    api *a = start("/convert");
    assert_code(apply_at(a, V1, "fieldManager=ann", BODY("v1", ",'spec':{'one':'x'}")), 201);
    const reply *r = apply_at(a, V2, "fieldManager=bob", BODY("v2", ",'spec':{'two':'y'}"));
    assert_status(r, 409, "Conflict",
                  "Apply failed with 1 conflict: conflict with \"ann\": .spec.one");
    r = apply_at(a, V2, "fieldManager=bob&force=true", BODY("v2", ",'spec':{'two':'y'}"));
    assert_code(r, 200);
    assert_at(r, "spec.two", "y");
    assert_string_equal(entry_of(a, r, "ann"), "");
    assert_string_equal(entry_of(a, r, "bob"), "x.io/v2 {\"f:spec\":{\"f:two\":{}}}");
    assert_at(api_get(a, V1 "/a"), "spec.one", "y");
    stop(a);
}

static void apply_of_same_value_in_other_version_shares_field(void **state)
{
    (void)state;
    api *a = start("/convert");
    apply_at(a, V1, "fieldManager=ann", BODY("v1", ",'spec':{'one':'x'}"));
    const reply *r = apply_at(a, V2, "fieldManager=bob", BODY("v2", ",'spec':{'two':'x'}"));
    assert_code(r, 200);
    assert_string_equal(entry_of(a, r, "ann"), "x.io/v1 {\"f:spec\":{\"f:one\":{}}}");
    assert_string_equal(entry_of(a, r, "bob"), "x.io/v2 {\"f:spec\":{\"f:two\":{}}}");
    /* The field stays as long as an entry of any version owns it. */
    r = apply_at(a, V1, "fieldManager=ann", BODY("v1", ""));
    assert_at(r, "spec.one", "x");
    r = apply_at(a, V2, "fieldManager=bob", BODY("v2", ""));
    assert_at(r, "spec.two", "");
    stop(a);
}

static void field_applied_in_one_version_is_removed_by_apply_in_other(void **state)
{
    (void)state;
    api *a = start("/convert");
    apply_at(a, V1, "fieldManager=ann", BODY("v1", ",'spec':{'one':'x','replicas':1}"));
    const reply *r = apply_at(a, V2, "fieldManager=ann", BODY("v2", ",'spec':{'replicas':1}"));
    assert_code(r, 200);
    assert_at(r, "spec.two", "");
    assert_at(r, "spec.replicas", "1");
    assert_string_equal(entry_of(a, r, "ann"), "x.io/v2 {\"f:spec\":{\"f:replicas\":{}}}");
    assert_at(api_get(a, V1 "/a"), "spec.one", "");
    stop(a);
}

static void update_takes_renamed_field_from_owner_in_other_version(void **state)
{
    (void)state;
    api *a = start("/convert");
    apply_at(a, V1, "fieldManager=ann", BODY("v1", ",'spec':{'one':'x','replicas':1}"));
    const reply *r = merge_at(a, V2, "fieldManager=bob", "{'spec':{'two':'y'}}");
    assert_code(r, 200);
    assert_string_equal(entry_of(a, r, "ann"), "x.io/v1 {\"f:spec\":{\"f:replicas\":{}}}");
    assert_string_equal(entry_of(a, r, "bob"), "x.io/v2 {\"f:spec\":{\"f:two\":{}}}");
    /* In the stored version the entry of v2 is converted, too. */
    r = merge_at(a, V1, "fieldManager=carl", "{'spec':{'one':'z'}}");
    assert_string_equal(entry_of(a, r, "bob"), "");
    assert_string_equal(entry_of(a, r, "carl"), "x.io/v1 {\"f:spec\":{\"f:one\":{}}}");
    stop(a);
}

static void apply_that_changes_nothing_in_other_version_keeps_resource_version(void **state)
{
    (void)state;
    api *a = start("/convert");
    apply_at(a, V1, "fieldManager=ann", BODY("v1", ",'spec':{'one':'x'}"));
    apply_at(a, V2, "fieldManager=bob", BODY("v2", ",'spec':{'two':'x'}"));
    const char *before = r_text(api_get(a, V1 "/a"), "metadata.resourceVersion");
    assert_code(apply_at(a, V2, "fieldManager=bob", BODY("v2", ",'spec':{'two':'x'}")), 200);
    assert_at(api_get(a, V1 "/a"), "metadata.resourceVersion", before);
    stop(a);
}

static void failed_conversion_fails_apply_and_drops_owners_of_update(void **state)
{
    (void)state;
    api *a = start("/convert");
    apply_at(a, V1, "fieldManager=ann", BODY("v1", ",'spec':{'one':'x'}"));
    apply_at(a, V2, "fieldManager=bob", BODY("v2", ",'spec':{'two':'x'}"));
    use_path(a, "/fail");
    const reply *r = apply_at(a, V1, "fieldManager=ann", BODY("v1", ",'spec':{'one':'y'}"));
    assert_code(r, 500);
    assert_contains(r_text(r, "message"), "conversion webhook for x.io/v1, Kind=Robot failed: no");
    r = merge_at(a, V1, "fieldManager=ann", "{'spec':{'one':'y'}}");
    assert_code(r, 200);
    assert_at(r, "spec.one", "y");
    assert_at(r, "metadata.managedFields", "");
    stop(a);
}

TESTS(apply_of_renamed_field_conflicts_with_owner_in_other_version,
      apply_of_same_value_in_other_version_shares_field,
      field_applied_in_one_version_is_removed_by_apply_in_other,
      update_takes_renamed_field_from_owner_in_other_version,
      apply_that_changes_nothing_in_other_version_keeps_resource_version,
      failed_conversion_fails_apply_and_drops_owners_of_update)
