/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any case of the merge engine (fields_cases.h): schemas, objects and managed fields of any form.
 * Beyond that nothing goes wrong, applying the same configuration twice must change nothing the
 * second time.
 */
#include "fuzzing.h"

#include "object/fields/fields_managed.h"

static const kc__fields_updater plain_updater;

/* Applies a configuration; false when it is not possible. The object and the entries are replaced.
 */
static bool apply_config(kc_arena *arena, const kc__fields_type *type, kc_buf *object,
                         kc_buf *owners, const kc_value *config, bool *ret_changed)
{
    kc_str text = kc_arena_str(arena, kc_buf_str(object)),
           entries = kc_arena_str(arena, kc_buf_str(owners));
    kc_auto(kc_view) *live = kc_view_parse(text, NULL, NULL);
    kc__fields_managed managed = {.arena = arena};
    const kc_value *value = NULL;
    kc__fields_request request = {.updater = &plain_updater,
                                  .live = {kc_view_root(live), type, KC_STR("v1")},
                                  .object = {config, type, KC_STR("v1")},
                                  .manager = KC_STR("m"),
                                  .now = KC_STR("2026-01-01T00:00:00Z"),
                                  .force = true};
    bool done = live && kc__fields_validate(type, kc_view_root(live), true, NULL) == 0 &&
                kc__fields_validate(type, config, false, NULL) == 0 &&
                kc__fields_managed_read(&managed, entries, NULL) == 0 &&
                kc__fields_managed_apply(&managed, &request, &value, NULL) == 0;
    if (done) {
        kc_buf_clear(owners);
        kc__fields_managed_write(owners, &managed);
    }
    if (done && value) {
        kc_buf_clear(object);
        kc_json_write(object, value);
    }
    *ret_changed = value != NULL;
    kc__fields_managed_done(&managed);
    return done;
}

/* {"schema":…,"live":…,"config":…,"owners":[…]} */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_auto(kc_view) *view = kc_view_parse(kc_str_of((const char *)data, size), NULL, NULL);
    const kc_value *root = kc_view_root(view);
    kc_auto(kc__fields_types) *types = kc__fields_types_new();
    kc_arena arena = {0};
    kc_scoped(kc_buf) object = {0};
    kc_scoped(kc_buf) owners = {0};
    const kc_value *config = kc_value_get(root, "config");
    bool changed;
    if (!config || !kc_value_get(root, "live") ||
        kc__fields_types_add_custom(types, KC_STR("T"), kc_value_get(root, "schema"), NULL, NULL) <
            0)
        return 0;
    kc__fields_types_finish(types);
    const kc__fields_type *type = kc__fields_types_get(types, KC_STR("T"));
    kc_json_write(&object, kc_value_get(root, "live"));
    if (kc_value_get(root, "owners"))
        kc_json_write(&owners, kc_value_get(root, "owners"));
    if (apply_config(&arena, type, &object, &owners, config, &changed) &&
        apply_config(&arena, type, &object, &owners, config, &changed)) {
        kc_scoped(kc_buf) before = {0};
        kc_buf_append(&before, kc_buf_str(&owners));
        if (apply_config(&arena, type, &object, &owners, config, &changed))
            assert(!changed && kc_str_eq(kc_buf_str(&before), kc_buf_str(&owners)));
    }
    kc_arena_done(&arena);
    return 0;
}
