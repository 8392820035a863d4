/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meta.c: reads metadata from an object's bytes. The object's header has the positions of labels,
 * owners and other parts; json_cursor.h iterates over them. meta_edit.c changes metadata.
 */
#include "kc/meta.h"

#include "object/json/json_cursor.h"

kc_key kc_object_key(const kc_object *object)
{
    return (kc_key){kc_object_namespace(object), kc_object_name(object)};
}

void kc_key_write(kc_buf *out, kc_key key)
{
    if (key.ns.n) {
        kc_buf_append(out, key.ns);
        kc_buf_putc(out, '/');
    }
    kc_buf_append(out, key.name);
}

int kc_key_parse(kc_str text, kc_key *ret, kc_error *err)
{
    kc_str rest = text, first = kc_str_cut(&rest, '/');
    if (rest.p && kc_str_find(rest, '/') >= 0)
        return kc_error_set(err, KC_BAD_REQUEST, "unexpected key format: \"%.*s\"", KC_ARG(text));
    *ret = rest.p ? (kc_key){first, rest} : (kc_key){.name = first};
    return 0;
}

bool kc_key_eq(kc_key a, kc_key b)
{
    return kc_str_eq(a.name, b.name) && kc_str_eq(a.ns, b.ns);
}

int kc_key_cmp(kc_key a, kc_key b)
{
    int order = kc_str_cmp(a.ns, b.ns);
    return order ? order : kc_str_cmp(a.name, b.name);
}

bool kc_object_being_deleted(const kc_object *object)
{
    return kc_object_deletion_timestamp(object).n > 0;
}

bool kc_object_has_managed_fields(const kc_object *object)
{
    return kc_object_managed_fields_json(object).n > strlen("[]");
}

/* The decoded raw string; p == NULL for any other value. */
static kc_str meta_text_of(kc_str raw, kc_arena *arena)
{
    return kc__json_raw_is_string(raw) ? kc__json_unescape(arena, kc__json_raw_inside(raw))
                                       : (kc_str){0};
}

kc_str kc_object_label(const kc_object *object, kc_str key, kc_arena *arena)
{
    return meta_text_of(kc__json_cursor_find(kc_object_labels_json(object), key), arena);
}

kc_str kc_object_annotation(const kc_object *object, kc_str key, kc_arena *arena)
{
    return meta_text_of(kc__json_cursor_find(kc_object_annotations_json(object), key), arena);
}

bool kc_object_label_is(const kc_object *object, kc_str key, kc_str value)
{
    return kc__json_raw_string_is(kc__json_cursor_find(kc_object_labels_json(object), key), value);
}

bool kc_object_annotation_is(const kc_object *object, kc_str key, kc_str value)
{
    return kc__json_raw_string_is(kc__json_cursor_find(kc_object_annotations_json(object), key),
                                  value);
}

bool kc_object_has_label(const kc_object *object, kc_str key)
{
    return kc__json_raw_is_string(kc__json_cursor_find(kc_object_labels_json(object), key));
}

bool kc_object_has_annotation(const kc_object *object, kc_str key)
{
    return kc__json_raw_is_string(kc__json_cursor_find(kc_object_annotations_json(object), key));
}

bool kc_object_has_finalizer(const kc_object *object, kc_str name)
{
    kc__json_cursor c = kc__json_cursor_of(kc_object_finalizers_json(object));
    kc_str item;
    while (kc__json_cursor_item(&c, &item))
        if (kc__json_raw_string_is(item, name))
            return true;
    return false;
}

static kc_meta_iter iter_of(kc_str json, kc_arena *arena)
{
    kc__json_cursor c = kc__json_cursor_of(json);
    return (kc_meta_iter){c.at, c.end, arena};
}

kc_meta_iter kc_object_labels(const kc_object *object, kc_arena *arena)
{
    return iter_of(kc_object_labels_json(object), arena);
}

kc_meta_iter kc_object_annotations(const kc_object *object, kc_arena *arena)
{
    return iter_of(kc_object_annotations_json(object), arena);
}

kc_meta_iter kc_object_finalizers(const kc_object *object, kc_arena *arena)
{
    return iter_of(kc_object_finalizers_json(object), arena);
}

kc_meta_iter kc_object_owners(const kc_object *object, kc_arena *arena)
{
    return iter_of(kc_object_owners_json(object), arena);
}

bool kc_meta_next_pair(kc_meta_iter *iter, kc_str *ret_key, kc_str *ret_value)
{
    kc__json_cursor c = {iter->at, iter->end};
    kc_str key, value;
    bool found = false;
    while (!found && kc__json_cursor_member(&c, &key, &value))
        found = kc__json_raw_is_string(value);
    iter->at = c.at;
    if (found) {
        *ret_key = kc__json_unescape(iter->arena, key);
        *ret_value = meta_text_of(value, iter->arena);
    }
    return found;
}

bool kc_meta_next_text(kc_meta_iter *iter, kc_str *ret_text)
{
    kc__json_cursor c = {iter->at, iter->end};
    kc_str item;
    bool found = false;
    while (!found && kc__json_cursor_item(&c, &item))
        found = kc__json_raw_is_string(item);
    iter->at = c.at;
    if (found)
        *ret_text = meta_text_of(item, iter->arena);
    return found;
}

static void read_owner_member(kc_owner *owner, kc_str key, kc_str value, kc_arena *arena)
{
    const struct {
        const char *name;
        kc_str *text;
        bool *flag;
    } members[] = {
        {"apiVersion", &owner->api_version, NULL},
        {"kind", &owner->kind, NULL},
        {"name", &owner->name, NULL},
        {"uid", &owner->uid, NULL},
        {"controller", NULL, &owner->controller},
        {"blockOwnerDeletion", NULL, &owner->block_owner_deletion},
    };
    for (size_t i = 0; i < KC_COUNT(members); i++) {
        if (!kc_str_is(key, members[i].name))
            continue;
        if (members[i].flag)
            *members[i].flag = kc_str_is(value, "true");
        else
            *members[i].text = meta_text_of(value, arena);
    }
}

static kc_owner read_owner(kc_str json, kc_arena *arena)
{
    kc_owner owner = {0};
    kc__json_cursor c = kc__json_cursor_of(json);
    kc_str key, value;
    while (kc__json_cursor_member(&c, &key, &value))
        read_owner_member(&owner, key, value, arena);
    return owner;
}

bool kc_meta_next_owner(kc_meta_iter *iter, kc_owner *ret_owner)
{
    kc__json_cursor c = {iter->at, iter->end};
    kc_str item;
    bool found = false;
    while (!found && kc__json_cursor_item(&c, &item))
        found = item.p[0] == '{';
    iter->at = c.at;
    if (found)
        *ret_owner = read_owner(item, iter->arena);
    return found;
}

bool kc_owner_is(const kc_owner *owner, const kc_kind *kind)
{
    kc_str group, version;
    return kc_api_version_parse(owner->api_version, &group, &version, NULL) == 0 &&
           kc_str_is(group, kind->group) && kc_str_is(owner->kind, kind->kind);
}

bool kc_object_controller(const kc_object *object, kc_arena *arena, kc_owner *ret_owner)
{
    kc_meta_iter iter = kc_object_owners(object, arena);
    kc_owner owner;
    while (kc_meta_next_owner(&iter, &owner)) {
        if (owner.controller) {
            *ret_owner = owner;
            return true;
        }
    }
    return false;
}

/* Compares raw text only, so it needs no arena. */
static bool has_owner(const kc_object *object, kc_str uid, bool as_controller)
{
    kc__json_cursor c = kc__json_cursor_of(kc_object_owners_json(object));
    kc_str item;
    while (kc__json_cursor_item(&c, &item))
        if (item.p[0] == '{' &&
            kc__json_raw_string_is(kc__json_cursor_find(item, KC_STR("uid")), uid) &&
            (!as_controller || kc_str_is(kc__json_cursor_find(item, KC_STR("controller")), "true")))
            return true;
    return false;
}

bool kc_object_owned_by(const kc_object *object, kc_str uid)
{
    return has_owner(object, uid, false);
}

bool kc_object_controlled_by(const kc_object *object, kc_str uid)
{
    return has_owner(object, uid, true);
}

kc_owner kc_owner_of(const kc_object *owner, bool controller)
{
    return (kc_owner){
        .api_version = kc_object_api_version(owner),
        .kind = kc_object_kind(owner),
        .name = kc_object_name(owner),
        .uid = kc_object_uid(owner),
        .controller = controller,
        .block_owner_deletion = controller,
    };
}
