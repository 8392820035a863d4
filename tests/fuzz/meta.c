/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What meta.h reads from an object's bytes is what a parsed view of it holds. The text before the
 * first NUL is the object; what follows is a key to look up, besides every key that is there.
 */
#include "fuzzing.h"

#include "kc/meta.h"

static void check_label(const kc_object *object, const kc_value *labels, kc_str key)
{
    kc_scoped(kc_arena) arena = {0};
    const kc_value *value = kc_get_str(labels, key);
    kc_str text = kc_as_str(value), found = kc_object_label(object, key, &arena);
    assert(!text.p == !found.p);
    assert(kc_str_eq(text, found));
    assert(kc_object_has_label(object, key) == (text.p != NULL));
    assert(kc_object_label_is(object, key, text) == (text.p != NULL));
}

static void check_labels(const kc_object *object, const kc_value *labels)
{
    kc_scoped(kc_arena) arena = {0};
    kc_meta_iter at = kc_object_labels(object, &arena);
    kc_members (labels, name, value) {
        kc_str key, text;
        if (kc_type_of(value) != KC_STRING)
            continue;
        assert(kc_meta_next_pair(&at, &key, &text));
        assert(kc_str_eq(key, name) && kc_str_eq(text, kc_as_str(value)));
    }
    kc_members (labels, name, value)
        check_label(object, labels, name);
    assert(!kc_meta_next_pair(&at, &(kc_str){0}, &(kc_str){0}));
}

static void check_owners(const kc_object *object, const kc_value *owners)
{
    kc_scoped(kc_arena) arena = {0};
    kc_meta_iter at = kc_object_owners(object, &arena);
    kc_items (owners, item) {
        kc_owner owner;
        if (kc_type_of(item) != KC_OBJECT)
            continue;
        assert(kc_meta_next_owner(&at, &owner));
        assert(kc_str_eq(owner.uid, kc_as_str(kc_get(item, "uid"))));
        assert(kc_str_eq(owner.name, kc_as_str(kc_get(item, "name"))));
        assert(owner.controller == kc_as_bool(kc_get(item, "controller"), false));
        assert(kc_object_owned_by(object, owner.uid) || !owner.uid.p);
    }
}

static void check_finalizers(const kc_object *object, const kc_value *finalizers)
{
    kc_scoped(kc_arena) arena = {0};
    kc_meta_iter at = kc_object_finalizers(object, &arena);
    kc_items (finalizers, item) {
        kc_str name;
        if (kc_type_of(item) != KC_STRING)
            continue;
        assert(kc_meta_next_text(&at, &name));
        assert(kc_str_eq(name, kc_as_str(item)));
        assert(kc_object_has_finalizer(object, name));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str key = kc_str_of((const char *)data, size), json = kc_str_cut(&key, '\0');
    kc_auto(kc_object) *object = kc_object_parse(json, NULL, NULL);
    if (!object)
        return 0;
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *metadata = kc_get(kc_view_root(view), "metadata");
    check_labels(object, kc_get(metadata, "labels"));
    check_label(object, kc_get(metadata, "labels"), key);
    check_owners(object, kc_get(metadata, "ownerReferences"));
    check_finalizers(object, kc_get(metadata, "finalizers"));
    return 0;
}
