/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_compile.c: any JSON as a schema: it is compiled, checked as the schema of a CRD, and
 * applied to a few values. The results must agree: the functions that only check report what the
 * functions that change do, and a second pass changes nothing.
 */
#include "fuzzing.h"

#include "kc/schema.h"

static const char *const values[] = {
    "{}",
    "{\"apiVersion\":\"v1\",\"kind\":\"K\",\"metadata\":{\"name\":\"n\"},\"spec\":{\"a\":1}}",
    "{\"a\":null,\"b\":[null,{\"a\":null}],\"spec\":{\"a\":[1,1,\"x\"],\"b\":{\"c\":{}}}}",
    "[{\"a\":\"x\"},{\"a\":\"x\"},1.5,-3,true,\"2020-01-01\"]",
};

static void apply(const kc_schema *schema, const kc_value *value)
{
    kc_scoped(kc_field_errors) errors = {.limit = 20};
    kc_scoped(kc_paths) unknown = {0};
    bool ok = kc_schema_validate(schema, value, NULL, &errors);
    assert(ok == (errors.list.n + errors.dropped == 0));
    kc_schema_validate_lists(schema, value, NULL, &errors);
    bool pruned = kc_schema_would_prune(schema, value, NULL);
    assert(pruned == (kc_schema_unknown(schema, value, NULL, &unknown) > 0));

    kc_auto(kc_edit) *edit = kc_edit_of_value(value);
    kc_schema_prune(schema, edit, NULL);
    kc_schema_drop_nulls(schema, edit);
    if (kc_schema_default(schema, edit, NULL, NULL) < 0)
        return;
    kc_auto(kc_view) *after = kc_edit_view(edit, NULL);
    if (after)
        assert(!kc_schema_would_default(schema, kc_view_root(after)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str text = kc_str_of((const char *)data, size);
    kc_auto(kc_view) *view = kc_view_parse(text, NULL, NULL);
    if (!view)
        return 0;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_field_errors) errors = {.limit = 50};
    kc_schema_check(kc_view_root(view), NULL, &errors);
    kc_auto(kc_schema_defs) *defs = kc_schema_defs_compile(kc_view_root(view), NULL, NULL);
    kc_auto(kc_schema) *schema = kc_schema_compile(
        kc_view_root(view), &(kc_schema_opts){.defs = defs, .max_nodes = 2000}, &err);
    assert(schema || err.reason);
    for (size_t i = 0; i < KC_COUNT(values); i++) {
        kc_auto(kc_view) *value = kc_view_parse(kc_cstr(values[i]), NULL, NULL);
        if (schema)
            apply(schema, kc_view_root(value));
        apply(kc_schema_defs_get(defs, KC_STR("A")), kc_view_root(value));
    }
    return 0;
}
