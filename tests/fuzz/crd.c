/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd.c: any JSON as a CustomResourceDefinition, and any JSON after a line break as an object of
 * it. A valid CRD compiles; updating its status and decoding its objects a second time changes
 * nothing.
 */
#include "apiserver/crd/custom_object.h"
#include "apiserver/crd/custom_ops.h"
#include "apiserver/kinds/apiextensions/crd_status.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "apiserver/kinds/apiextensions/crd_validate.h"
#include "apiserver/kinds/registry.h"
#include "apiserver/printing/table.h"
#include "fuzzing.h"

static void show(const kc__crd *crd, const kc_object *object)
{
    kc_scoped(kc_buf) out = {0};
    const kc__resource_set *set = kc__crd_resources(crd);
    for (size_t i = 0; i < set->n; i++) {
        kc__print_table table = {.columns = set->resources[i].columns};
        kc__print_table_of(&table, &out, object);
        kc_buf_clear(&out);
    }
    kc__registry *kinds =
        kc__registry_new(&(kc__registry_opts){.additions = &set, .n_additions = 1});
    kc__registry_unref(kinds);
}

/* An object of one version, all the way; `old` is what it replaces. */
static void use(const kc__custom *custom, const kc_object *given, const kc_object *old)
{
    kc_scoped(kc_paths) unknown = {0}, again = {0}, warnings = {0};
    kc_scoped(kc_field_errors) errors = {0}, update = {0}, status = {0};
    kc_scoped(kc_error) err = {0};
    kc__custom_check_kind(custom, given, NULL);
    kc_auto(kc_object) *object = kc__custom_decode(custom, given, false, &unknown, NULL, &err);
    if (!object) {
        assert(err.reason == KC_BAD_REQUEST || err.reason == KC_TOO_LARGE);
        return;
    }
    kc_auto(kc_object) *same = kc__custom_decode(custom, object, false, &again, NULL, &err);
    assert(same && !kc__custom_differs(object, same) && again.n == 0);
    kc_auto(kc_object) *prepared = kc__custom_prepare(custom, object, NULL);
    kc_auto(kc_object) *changed = kc__custom_prepare_update(custom, object, old, NULL, NULL);
    kc_auto(kc_object) *part = kc__custom_prepare_update(custom, object, old, "status", NULL);
    kc_auto(kc_view) *view = kc_view_of(object), *before = kc_view_of(old);
    const kc_value *now = kc_view_root(view), *then = kc_view_root(before);
    kc__custom_validate(custom, now, NULL, &errors);
    kc__custom_validate(custom, now, &(kc__custom_rules){.old = then}, &update);
    kc__custom_validate(custom, now, &(kc__custom_rules){.old = then, .subresource = "status"},
                        &status);
    kc__custom_warnings(now, then, &warnings);
    kc_auto(kc_object) *stored = kc__custom_to_storage(custom, object, NULL);
    kc_auto(kc_object) *read = stored ? kc__custom_read(custom, stored, NULL) : NULL;
    if (custom->scale) {
        kc__resource resource = {.custom = custom, .ops = &kc__custom_resource_ops};
        kc_auto(kc_object) *scale = kc__scale_of(&resource, object, true, NULL);
        kc_auto(kc_object) *scaled =
            scale ? kc__scale_apply_to(&resource, object, scale, NULL) : NULL;
    }
    show(custom->crd, object);
}

static kc_object *with_status(const kc_object *crd)
{
    kc_auto(kc_edit) *edit = kc_edit_of(crd);
    kc_auto(kc_view) *view = kc_view_of(crd);
    kc_scoped(kc__crd_names) names = {0};
    kc__crd_update_status(edit, kc_view_root(view), &names, 0);
    kc_object *made = kc__crd_freeze(edit, NULL);
    assert(made);
    kc_auto(kc_edit) *again = kc_edit_of(made);
    kc_auto(kc_view) *now = kc_view_of(made);
    kc__crd_names_add(&names, kc_view_root(now));
    assert(!kc__crd_update_status(again, kc_view_root(now), &names, 1));
    return made;
}

static void serve(const kc_object *crd, kc_str text)
{
    kc_auto(kc_object) *ready = with_status(crd);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__crd) *compiled = kc__crd_compile(ready, NULL, &err);
    assert(compiled);
    kc_auto(kc__crd) *same = kc__crd_compile(ready, compiled, NULL);
    kc_auto(kc_object) *object = kc_object_parse(kc_str_cut(&text, '\n'), NULL, NULL);
    kc_auto(kc_object) *old = kc_object_parse(text, NULL, NULL);
    size_t n;
    const kc__custom *versions = kc__crd_versions(same, &n);
    for (size_t i = 0; object && i < n && i < 4; i++)
        use(&versions[i], object, old ? old : object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str rest = kc_str_of((const char *)data, size);
    kc_auto(kc_object) *given = kc_object_parse(kc_str_cut(&rest, '\n'), NULL, NULL);
    kc_scoped(kc_paths) unknown = {0}, warnings = {0};
    kc_auto(kc_object) *decoded = given ? kc__crd_decode(given, &unknown, NULL) : NULL;
    if (!decoded)
        return 0;
    kc_auto(kc_edit) *edit = kc_edit_of(decoded);
    kc__crd_prepare(edit);
    kc_auto(kc_object) *crd = kc__crd_freeze(edit, NULL);
    assert(crd);
    kc_auto(kc_object) *beta = kc__crd_to_beta(crd, NULL);
    kc_auto(kc_object) *back = beta ? kc__crd_decode(beta, NULL, NULL) : NULL;
    kc_auto(kc_view) *view = kc_view_of(crd);
    kc_scoped(kc_field_errors) errors = {0}, update = {0};
    kc__crd_validate(kc_view_root(view), NULL, &errors);
    kc__crd_validate(kc_view_root(view), &(kc__crd_rules){.old = kc_view_root(view)}, &update);
    kc__crd_warnings(kc_view_root(view), NULL, &warnings);
    if (!errors.list.n)
        serve(crd, rest);
    return 0;
}
