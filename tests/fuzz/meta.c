/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields that meta.h reads from the bytes of an object equal those of a parsed view. The text
 * before the first NUL is the object; after it follows a key to look up, besides every existing
 * key.
 */
#include "fuzzing.h"

#include "kc/meta.h"

static void check_label(const kc_object *object, const kc_value *labels, kc_str key)
{
    kc_scoped(kc_arena) arena = {0};
    const kc_value *value = kc_value_get_str(labels, key);
    kc_str text = kc_value_as_str(value), found = kc_object_label(object, key, &arena);
    assert(!text.p == !found.p);
    assert(kc_str_eq(text, found));
    assert(kc_object_has_label(object, key) == (text.p != NULL));
    assert(kc_object_label_is(object, key, text) == (text.p != NULL));
}

static void check_labels(const kc_object *object, const kc_value *labels)
{
    kc_scoped(kc_arena) arena = {0};
    kc_meta_iter at = kc_object_labels(object, &arena);
    kc_value_each_member (labels, name, value) {
        kc_str key, text;
        if (kc_value_type(value) != KC_JSON_STRING)
            continue;
        assert(kc_meta_next_pair(&at, &key, &text));
        assert(kc_str_eq(key, name) && kc_str_eq(text, kc_value_as_str(value)));
    }
    kc_value_each_member (labels, name, value)
        check_label(object, labels, name);
    assert(!kc_meta_next_pair(&at, &(kc_str){0}, &(kc_str){0}));
}

static void check_owners(const kc_object *object, const kc_value *owners)
{
    kc_scoped(kc_arena) arena = {0};
    kc_meta_iter at = kc_object_owners(object, &arena);
    kc_value_each_item (owners, item) {
        kc_owner owner;
        if (kc_value_type(item) != KC_JSON_OBJECT)
            continue;
        assert(kc_meta_next_owner(&at, &owner));
        assert(kc_str_eq(owner.uid, kc_value_as_str(kc_value_get(item, "uid"))));
        assert(kc_str_eq(owner.name, kc_value_as_str(kc_value_get(item, "name"))));
        assert(owner.controller == kc_value_as_bool(kc_value_get(item, "controller"), false));
        assert(kc_object_owned_by(object, owner.uid) || !owner.uid.p);
    }
}

static void check_finalizers(const kc_object *object, const kc_value *finalizers)
{
    kc_scoped(kc_arena) arena = {0};
    kc_meta_iter at = kc_object_finalizers(object, &arena);
    kc_value_each_item (finalizers, item) {
        kc_str name;
        if (kc_value_type(item) != KC_JSON_STRING)
            continue;
        assert(kc_meta_next_text(&at, &name));
        assert(kc_str_eq(name, kc_value_as_str(item)));
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
    const kc_value *metadata = kc_value_get(kc_view_root(view), "metadata");
    check_labels(object, kc_value_get(metadata, "labels"));
    check_label(object, kc_value_get(metadata, "labels"), key);
    check_owners(object, kc_value_get(metadata, "ownerReferences"));
    check_finalizers(object, kc_value_get(metadata, "finalizers"));
    return 0;
}
