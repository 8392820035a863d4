/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sidecar.c: fuzzes the merge of sidecars. The first line is a pod in JSON; the rest is the YAML of
 * a ConfigMap.
 *
 * Properties: a patch is computed for any pod, or refused; where every list item has a name and a
 * patch can express the change (no nulls, no directives), the patched pod needs no patch; after
 * removal nothing of the recorded sidecars is left.
 */
#include "fuzzing.h"

#include "reconcilers/sidecar/inject.h"

#include "kc/strategic_patch.h"

/* Objects with names, each once. */
static bool is_named(const kc_value *list)
{
    for (size_t i = 0; i < kc_value_len(list); i++) {
        const kc_str name = kc_value_as_str(kc_value_get(kc_value_at(list, i), "name"));
        if (!name.p || i > 50)
            return false;
        for (size_t j = 0; j < i; j++)
            if (kc_str_eq(name, kc_value_as_str(kc_value_get(kc_value_at(list, j), "name"))))
                return false;
    }
    return kc_value_type(list) == KC_JSON_ARRAY || !list;
}

static bool is_plain(const kc_value *value)
{
    if (kc_value_type(value) == KC_JSON_NULL)
        return false;
    kc_value_each_item (value, item)
        if (!is_plain(item))
            return false;
    kc_value_each_member (value, name, member)
        if ((name.n && name.p[0] == '$') || !is_plain(member))
            return false;
    return true;
}

static bool is_object_or_absent(const kc_value *value)
{
    return !value || kc_value_type(value) == KC_JSON_OBJECT;
}

static bool is_orderly(const kc_value *pod)
{
    const kc_value *metadata = kc_value_get(pod, "metadata"), *spec = kc_value_get(pod, "spec");
    return is_plain(pod) && is_object_or_absent(metadata) && is_object_or_absent(spec) &&
           is_object_or_absent(kc_value_get(metadata, "annotations")) &&
           is_named(kc_value_get(spec, "containers")) && is_named(kc_value_get(spec, "volumes"));
}

static kc_view *applied(const kc_value *pod, const kc_edit *patch)
{
    kc_auto(kc_view) *change = kc_edit_view(patch, NULL);
    kc_auto(kc_edit) *edit = kc_edit_of_value(pod);
    if (!change ||
        kc_strategic_patch_apply(edit, kc_view_root(change), &kc_patch_schema_pod, NULL) < 0)
        return NULL;
    return kc_edit_view(edit, NULL);
}

static sidecars *read_config(kc_str text)
{
    kc_auto(kc_edit) *map = kc_edit_new();
    kc_edit_set_nested(map, "data.config", kc_node_str(map, text));
    kc_auto(kc_object) *frozen = kc_edit_freeze(map, NULL);
    return frozen ? sidecars_read(frozen, NULL) : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str rest = kc_str_of((const char *)data, size);
    const kc_str line = kc_str_cut(&rest, '\n');
    kc_auto(kc_view) *view = kc_view_parse(line, NULL, NULL);
    kc_auto(sidecars) *what = read_config(rest);
    const kc_value *pod = kc_view_root(view);
    if (!what || kc_value_type(pod) != KC_JSON_OBJECT)
        return 0;
    sidecars_wanted(kc_value_get(pod, "metadata"), NULL);
    kc_auto(kc_edit) *patch = sidecars_patch(pod, what, NULL);
    if (!patch || !is_orderly(pod))
        return 0;
    kc_auto(kc_view) *after = applied(pod, patch);
    if (!after || !is_orderly(kc_view_root(after)))
        return 0;
    kc_auto(kc_edit) *again = sidecars_patch(kc_view_root(after), what, NULL);
    if (!again) /* Lists inside a container lack their keys: no server takes that. */
        return 0;
    assert(kc_node_len(kc_edit_root(again)) == 0);
    kc_auto(kc_edit) *removal = sidecars_patch(kc_view_root(after), NULL, NULL);
    kc_auto(kc_view) *without = removal ? applied(kc_view_root(after), removal) : NULL;
    assert(!without || !sidecars_noted(kc_value_get(kc_view_root(without), "metadata")));
    return 0;
}
