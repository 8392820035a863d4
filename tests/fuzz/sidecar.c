/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sidecar.c: fuzzes the sidecars' merge. The first line is a pod in JSON; the rest is what a
 * ConfigMap says, in YAML.
 *
 * Properties: a patch is made of any pod, or is refused; where the pod's lists have a name each,
 * and a patch can say it all (no nulls, no directives), what it makes of the pod needs no patch;
 * and taken out again, nothing is left of what was noted.
 */
#include "fuzzing.h"

#include "reconcilers/sidecar/inject.h"

#include "kc/strategic_patch.h"

/* Objects with names, each once. */
static bool is_named(const kc_value *list)
{
    for (size_t i = 0; i < kc_len(list); i++) {
        const kc_str name = kc_as_str(kc_get(kc_at(list, i), "name"));
        if (!name.p || i > 50)
            return false;
        for (size_t j = 0; j < i; j++)
            if (kc_str_eq(name, kc_as_str(kc_get(kc_at(list, j), "name"))))
                return false;
    }
    return kc_type_of(list) == KC_ARRAY || !list;
}

static bool is_plain(const kc_value *value)
{
    if (kc_type_of(value) == KC_NULL)
        return false;
    kc_items (value, item)
        if (!is_plain(item))
            return false;
    kc_members (value, name, member)
        if ((name.n && name.p[0] == '$') || !is_plain(member))
            return false;
    return true;
}

static bool is_object_or_absent(const kc_value *value)
{
    return !value || kc_type_of(value) == KC_OBJECT;
}

static bool is_orderly(const kc_value *pod)
{
    const kc_value *metadata = kc_get(pod, "metadata"), *spec = kc_get(pod, "spec");
    return is_plain(pod) && is_object_or_absent(metadata) && is_object_or_absent(spec) &&
           is_object_or_absent(kc_get(metadata, "annotations")) &&
           is_named(kc_get(spec, "containers")) && is_named(kc_get(spec, "volumes"));
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
    kc_edit_put(map, "data.config", kc_node_str(map, text));
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
    if (!what || kc_type_of(pod) != KC_OBJECT)
        return 0;
    sidecars_wanted(kc_get(pod, "metadata"), NULL);
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
    assert(!without || !sidecars_noted(kc_get(kc_view_root(without), "metadata")));
    return 0;
}
