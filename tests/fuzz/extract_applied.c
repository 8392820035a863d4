/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An OpenAPI document, an object and the message of a conflict, one per line, of any content. What
 * is extracted has the kind and the name of the object. The parts of a conflict are parts of its
 * message.
 */
#include "fuzzing.h"

#include "kc/extract_applied.h"
#include "kc/view.h"

static void extract_all(const kc_merge_schema *schema, const kc_object *object)
{
    static const char *const managers[] = {"a", "m", "kubectl"};
    for (size_t i = 0; i < KC_COUNT(managers); i++) {
        const kc_extract_opts opts = {.field_manager = managers[i], .schema = schema};
        kc_auto(kc_object) *got = kc_extract_applied(NULL, object, &opts, NULL);
        if (!got)
            continue;
        assert(kc_str_eq(kc_object_kind(got), kc_object_kind(object)));
        assert(kc_str_eq(kc_object_name(got), kc_object_name(object)));
    }
}

static bool is_part_of(kc_str part, kc_str whole)
{
    return !part.n || kc_str_contains(whole, part);
}

static void read_conflict(kc_str message)
{
    kc_scoped(kc_error) err = {0};
    kc_apply_conflict conflict;
    size_t at = 0;
    kc_error_set(&err, KC_CONFLICT, "conflict");
    kc_error_add_cause(&err, "FieldManagerConflict", KC_STR(".a"), message);
    assert(kc_apply_conflict_next(&err, &at, &conflict));
    assert(strnlen(conflict.manager, sizeof(conflict.manager)) <= KC_FIELD_MANAGER_MAX);
    assert(is_part_of(conflict.subresource, message) && is_part_of(conflict.api_version, message));
    assert(!kc_apply_conflict_next(&err, &at, &conflict));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str rest = kc_str_of((const char *)data, size);
    const kc_str document = kc_str_cut(&rest, '\n'), text = kc_str_cut(&rest, '\n');
    kc_auto(kc_merge_schema) *schema = kc_merge_schema_parse(document, NULL);
    kc_auto(kc_object) *object = kc_object_parse(text, NULL, NULL);
    if (schema && object)
        extract_all(schema, object);
    read_conflict(rest);
    return 0;
}
