/* SPDX-License-Identifier: Apache-2.0 */
/*
 * autoscaler.c: any JSON as a HorizontalPodAutoscaler of autoscaling/v1, whose annotations hold the
 * fields that only v2 has, and as one of v2. After one conversion further conversions change
 * nothing, and validation accepts any value without a crash.
 */
#include "fuzzing.h"

#include "apiserver/codec/typed.h"
#include "apiserver/kinds/autoscaling/autoscaler.h"

#define KIND "HorizontalPodAutoscaler"

static kc_object *typed(const kc_object *given, const char *api_version)
{
    const kc__type_message *type = kc__type_lookup_kind(kc_cstr(api_version), KC_STR(KIND));
    kc_auto(kc_edit) *edit = kc_edit_of(given);
    kc_node *root = kc_edit_root(edit);
    kc_node_set(edit, root, KC_STR("kind"), kc_node_str(edit, KC_STR(KIND)));
    kc_node_set(edit, root, KC_STR("apiVersion"), kc_node_str(edit, kc_cstr(api_version)));
    kc_auto(kc_object) *named = kc_edit_freeze(edit, NULL);
    return named ? kc__typed_decode(type, named, NULL, NULL) : NULL;
}

static void check_rules(const kc_object *two, const kc_object *old)
{
    kc_scoped(kc_field_errors) created = {0}, updated = {0}, status = {0};
    kc_auto(kc_view) *view = kc_view_of(two), *before = kc_view_of(old);
    kc__autoscaler_check(kc_view_root(view), &created);
    kc__autoscaler_check_update(kc_view_root(view), kc_view_root(before), &updated);
    kc__autoscaler_check_status(kc_view_root(view), kc_view_root(before), &status);
}

/* One of v2, which has not got its defaults. */
static void there_and_back(const kc_object *two)
{
    kc_auto(kc_object) *one = kc__autoscaler_to_v1(two, NULL);
    kc_auto(kc_object) *complete = one ? kc__autoscaler_to_v2(one, NULL) : NULL;
    kc_auto(kc_object) *there = complete ? kc__autoscaler_to_v1(complete, NULL) : NULL;
    kc_auto(kc_object) *back = there ? kc__autoscaler_to_v2(there, NULL) : NULL;
    if (!back) /* Annotations are larger than what they hold; there is a limit. */
        return;
    assert(kc_str_eq(kc_object_json(back), kc_object_json(complete)));
    check_rules(back, two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_auto(kc_object) *given = kc_object_parse(kc_str_of((const char *)data, size), NULL, NULL);
    if (!given)
        return 0;
    kc_auto(kc_object) *one = typed(given, "autoscaling/v1");
    kc_auto(kc_object) *two = typed(given, "autoscaling/v2");
    kc_auto(kc_object) *converted = one ? kc__autoscaler_to_v2(one, NULL) : NULL;
    if (converted)
        there_and_back(converted);
    if (two)
        there_and_back(two);
    return 0;
}
