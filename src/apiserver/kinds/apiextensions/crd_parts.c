/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_parts.c: accessors for parts of a CRD: its versions, its conditions, its approval.
 *
 * In Kubernetes' internal form the schema, subresources, columns and selectable fields of a CRD are
 * above its versions when they are the same in all of them, and error messages name the fields of
 * that form. So code that reports errors calls kc__crd_is_shared first.
 */
#include "apiserver/kinds/apiextensions/crd_internal.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "kc/diff.h"
#include "object/gofmt/go_quote.h"

const kc__crd_shared kc__crd_shared_parts[KC__CRD_N_SHARED] = {
    [KC__CRD_SHARED_SUBRESOURCES] = {"subresources", "subresources"},
    [KC__CRD_SHARED_SCHEMA] = {"validation", "schema"},
    [KC__CRD_SHARED_COLUMNS] = {"additionalPrinterColumns", "additionalPrinterColumns"},
    [KC__CRD_SHARED_FIELDS] = {"selectableFields", "selectableFields"},
};

bool kc__crd_is_shared(const kc_value *versions, size_t part)
{
    const char *name = kc__crd_shared_parts[part].inside;
    const kc_value *first = kc_value_get(kc_value_at(versions, 0), name);
    kc_value_each_item (versions, version)
        if (!kc_value_equal(first, kc_value_get(version, name), NULL))
            return false;
    return true;
}

const kc_value *kc__crd_schema_of(const kc_value *version)
{
    const kc_value *schema = kc_value_get(kc_value_get(version, "schema"), "openAPIV3Schema");
    return kc_value_type(schema) == KC_JSON_OBJECT ? schema : NULL;
}

const kc_value *kc__crd_condition(const kc_value *crd, const char *type)
{
    kc_value_each_item (kc_value_get(kc_value_get(crd, "status"), "conditions"), condition)
        if (kc_str_is(kc_value_as_str(kc_value_get(condition, "type")), type))
            return condition;
    return NULL;
}

bool kc__crd_condition_is_true(const kc_value *crd, const char *type)
{
    return kc_str_is(kc_value_as_str(kc_value_get(kc__crd_condition(crd, type), "status")), "True");
}

/* ---- approval ---- */

#define ANNOTATION "api-approved.kubernetes.io"
#define SEE        "see https://github.com/kubernetes/enhancements/pull/1111"

static bool is_or_below(kc_str group, const char *domain)
{
    kc_str rest = kc_str_sub(group, 0, group.n - KC_MIN(group.n, strlen(domain)));
    return kc_str_ends(group, kc_cstr(domain)) && (!rest.n || rest.p[rest.n - 1] == '.');
}

/* A URL only has to match scheme://host…. */
static bool is_url(kc_str text)
{
    ptrdiff_t colon = kc_str_find(text, ':');
    if (colon <= 0)
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] <= ' ' || text.p[i] == 0x7f)
            return false;
    kc_str rest = kc_str_sub(text, (size_t)colon + 1, text.n);
    return kc_str_starts(rest, KC_STR("//")) && rest.n > 2 && rest.p[2] != '/' && rest.p[2] != '?';
}

kc__crd_approval_state kc__crd_approval(const kc_value *crd, kc_buf *reason)
{
    kc_str group = kc_value_as_str(kc_value_get(kc_value_get(crd, "spec"), "group"));
    if (!is_or_below(group, "k8s.io") && !is_or_below(group, "kubernetes.io"))
        return KC__CRD_APPROVAL_NOT_NEEDED;
    kc_str approval = kc_value_as_str(
        kc_value_get(kc_value_get(kc_value_get(crd, "metadata"), "annotations"), ANNOTATION));
    if (!approval.n) {
        kc_buf_puts(reason,
                    "protected groups must have approval annotation \"" ANNOTATION "\", " SEE);
        return KC__CRD_APPROVAL_MISSING;
    }
    if (kc_str_starts(approval, KC_STR("unapproved"))) {
        kc_buf_puts(reason, "not approved: ");
        kc__go_quote(reason, approval);
        return KC__CRD_APPROVAL_BYPASSED;
    }
    if (is_url(approval)) {
        kc_buf_printf(reason, "approved in %.*s", KC_ARG(approval));
        return KC__CRD_APPROVAL_GRANTED;
    }
    kc_buf_puts(reason, "protected groups must have approval annotation \"" ANNOTATION
                        "\" with either a URL or a reason starting with \"unapproved\", " SEE);
    return KC__CRD_APPROVAL_INVALID;
}
