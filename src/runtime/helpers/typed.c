/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed.c: typed structs on top of the untyped client and cache.
 *
 * The server's response to a write is decoded into the same struct. The struct and its arena stay,
 * so pointers to the struct remain valid. Its members (strings, items) are replaced by new ones
 * from the same arena; the old ones stay allocated until the arena is freed.
 */
#include "kc/typed.h"

#include "kc/create_or_update.h"
#include "kc/extract_applied.h"
#include "kc/merge_patch.h"

static kc_object_meta *meta_of(const kc_typed *type, const void *value)
{
    return (kc_object_meta *)((char *)value + type->layout->meta_offset);
}

static kc_key typed_key_of(const kc_typed *type, const void *value)
{
    const kc_object_meta *meta = meta_of(type, value);
    return KC_KEY(meta->ns, meta->name);
}

static void *decoded(const kc_typed *type, kc_object *object, kc_error *err)
{
    void *value = object ? kc_struct_decode(type->layout, object, err) : NULL;
    kc_object_unref(object);
    return value;
}

/* Decodes the server's response into the struct; takes ownership of the object. */
static int refresh(const kc_typed *type, void *value, kc_object *object, kc_error *err)
{
    kc_auto(kc_object) *now = object;
    kc_object_meta old = *meta_of(type, value);
    if (!now)
        return kc_error_result(err);
    if (!old.arena)
        return 0;
    kc_auto(kc_view) *view = kc_view_of(now);
    void *fresh = kc_arena_calloc(old.arena, 1, type->layout->size);
    if (kc_struct_decode_value(type->layout, kc_view_root(view), old.arena, fresh, err) < 0)
        return kc_error_result(err);
    memcpy(value, fresh, type->layout->size);
    kc_object_unref(old.origin);
    meta_of(type, value)->arena = old.arena;
    meta_of(type, value)->origin = kc_take(now);
    return 0;
}

static kc_write_opts with_kind(const kc_typed *type, const kc_write_opts *opts)
{
    kc_write_opts all = opts ? *opts : (kc_write_opts){0};
    all.kind = type->kind;
    return all;
}

/* ---- read ---- */

void *kc_typed_get(kc_client *client, const kc_typed *type, kc_key key, kc_error *err)
{
    return decoded(type, kc_client_get(client, type->kind, key, NULL, err), err);
}

void *kc_typed_cache_get(kc_cache *cache, const kc_typed *type, kc_key key, kc_error *err)
{
    return decoded(type, kc_cache_get(cache, type->kind, key, err), err);
}

static int decode_list(const kc_typed *type, kc_object_list *from, kc_typed_list *ret,
                       kc_error *err)
{
    kc_typed_list list = {.items = kc_calloc(KC_MAX(from->n, (size_t)1), sizeof(void *))};
    for (; list.n < from->n; list.n++) {
        list.items[list.n] = kc_struct_decode(type->layout, from->items[list.n], err);
        if (!list.items[list.n]) {
            kc_error_wrap(err, "%.*s", KC_ARG(kc_object_name(from->items[list.n])));
            kc_typed_list_done(type, &list);
            return kc_error_result(err);
        }
    }
    list.resource_version = kc_take(from->resource_version);
    list.continue_token = kc_take(from->continue_token);
    *ret = list;
    return 0;
}

int kc_typed_list_from(kc_client *client, const kc_typed *type, const kc_list_opts *opts,
                       kc_typed_list *ret, kc_error *err)
{
    kc_scoped(kc_object_list) objects = {0};
    if (kc_client_list(client, type->kind, opts, &objects, err) < 0)
        return kc_error_result(err);
    return decode_list(type, &objects, ret, err);
}

int kc_typed_cache_list(kc_cache *cache, const kc_typed *type, const kc_list_opts *opts,
                        kc_typed_list *ret, kc_error *err)
{
    kc_scoped(kc_object_list) objects = {0};
    if (kc_cache_list(cache, type->kind, opts, &objects, err) < 0)
        return kc_error_result(err);
    return decode_list(type, &objects, ret, err);
}

void kc_typed_list_done(const kc_typed *type, kc_typed_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        kc_struct_free(type->layout, list->items[i]);
    free(list->items);
    free(list->resource_version);
    free(list->continue_token);
    *list = (kc_typed_list){0};
}

/* ---- write ---- */

typedef kc_object *typed_write_fn(kc_client *client, const kc_object *object,
                                  const kc_write_opts *opts, kc_error *err);

static int write_with(typed_write_fn *write, kc_client *client, const kc_typed *type, void *value,
                      const kc_write_opts *opts, kc_error *err)
{
    kc_write_opts all = with_kind(type, opts);
    kc_auto(kc_object) *object = kc_struct_encode(type->layout, type->kind, value, err);
    return object ? refresh(type, value, write(client, object, &all, err), err)
                  : kc_error_result(err);
}

int kc_typed_create(kc_client *client, const kc_typed *type, void *value, const kc_write_opts *opts,
                    kc_error *err)
{
    return write_with(kc_client_create, client, type, value, opts, err);
}

int kc_typed_update(kc_client *client, const kc_typed *type, void *value, const kc_write_opts *opts,
                    kc_error *err)
{
    return write_with(kc_client_update, client, type, value, opts, err);
}

int kc_typed_update_status(kc_client *client, const kc_typed *type, void *value, kc_error *err)
{
    return kc_typed_update(client, type, value, &(kc_write_opts){.subresource = "status"}, err);
}

int kc_typed_patch(kc_client *client, const kc_typed *type, void *value, const kc_write_opts *opts,
                   kc_error *err)
{
    const kc_object *from = meta_of(type, value)->origin;
    if (!from)
        return kc_error_set(err, KC_BAD_REQUEST, "a patch requires a value read from the server");
    kc_write_opts all = with_kind(type, opts);
    kc_auto(kc_object) *to = kc_struct_encode(type->layout, type->kind, value, err);
    kc_object *now = to ? kc_client_patch_from(client, from, to, false, &all, err) : NULL;
    bool sent = now != from;
    return refresh(type, value, now, err) < 0 ? kc_error_result(err) : sent;
}

int kc_typed_delete(kc_client *client, const kc_typed *type, const void *value,
                    const kc_delete_opts *opts, kc_error *err)
{
    return kc_client_delete(client, type->kind, typed_key_of(type, value), opts, err);
}

/* ---- apply ---- */

static void *apply_config(kc_client *client, const kc_typed *type, const void *config,
                          const kc_write_opts *opts, kc_error *err)
{
    kc_auto(kc_object) *object = kc_struct_encode_alone(type->config, type->kind, config, err);
    return object ? decoded(type, kc_client_apply(client, object, opts, err), err) : NULL;
}

void *kc_typed_apply(kc_client *client, const kc_typed *type, const void *config,
                     const kc_write_opts *opts, kc_error *err)
{
    kc_write_opts all = with_kind(type, opts);
    return apply_config(client, type, config, &all, err);
}

void *kc_typed_apply_status(kc_client *client, const kc_typed *type, const void *config,
                            const kc_write_opts *opts, kc_error *err)
{
    kc_write_opts all = with_kind(type, opts);
    all.subresource = "status";
    return apply_config(client, type, config, &all, err);
}

/* The configuration has no origin: a program applies only the fields that it knows. */
static void *decode_config(const kc_typed *type, const kc_object *extracted, kc_error *err)
{
    void *config = kc_struct_decode(type->config, extracted, err);
    if (!config)
        return NULL;
    kc_object_meta *meta = (kc_object_meta *)((char *)config + type->config->meta_offset);
    kc_object_unref(meta->origin);
    meta->origin = NULL;
    return config;
}

void *kc_typed_extract(kc_client *client, const kc_typed *type, const void *value,
                       const char *manager, const char *subresource, kc_error *err)
{
    const kc_extract_opts opts = {.field_manager = manager, .subresource = subresource};
    const kc_object *origin = meta_of(type, value)->origin;
    if (!origin) {
        kc_error_set(err, KC_BAD_REQUEST, "an extraction requires a value read from the server");
        return NULL;
    }
    kc_auto(kc_object) *mine = kc_extract_applied(client, origin, &opts, err);
    return mine ? decode_config(type, mine, err) : NULL;
}

/* ---- ensure ---- */

/* Merges the wanted fields into the existing object, like a merge patch. */
static int lay_over(kc_edit *edit, void *user, kc_error *err)
{
    const kc_view *wanted = user;
    (void)err;
    kc_merge_patch_apply(edit, kc_view_root(wanted));
    return 0;
}

int kc_typed_create_or_update(kc_client *client, const kc_typed *type, void *wanted, kc_error *err)
{
    kc_object_meta *meta = meta_of(type, wanted);
    kc_object_meta kept = *meta;
    meta->resource_version = NULL; /* Update whichever version exists. */
    kc_scoped(kc_buf) json = {0};
    kc_struct_write(type->layout, wanted, &json);
    *meta = kept;
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, err);
    kc_object *now = NULL;
    int written = view ? kc_create_or_update(client, type->kind, typed_key_of(type, wanted),
                                             lay_over, view, &now, err)
                       : kc_error_result(err);
    return written < 0 || refresh(type, wanted, now, err) < 0 ? kc_error_result(err) : written;
}

/* ---- owners ---- */

static bool is_other_controller(const kc_owner_reference *ref, const char *uid)
{
    return ref->controller && *ref->controller && strcmp(ref->uid ? ref->uid : "", uid) != 0;
}

static kc_owner_reference typed_reference_to(const kc_typed *type, const kc_object_meta *owner,
                                             kc_arena *arena)
{
    const kc_kind *kind = type->kind;
    bool *yes = kc_arena_alloc(arena, sizeof(bool));
    *yes = true;
    return (kc_owner_reference){
        .api_version = kind->group && *kind->group
                           ? kc_arena_printf(arena, "%s/%s", kind->group, kind->version)
                           : kc_arena_printf(arena, "%s", kind->version),
        .kind = kc_arena_printf(arena, "%s", kind->kind),
        .name = kc_arena_printf(arena, "%s", owner->name),
        .uid = kc_arena_printf(arena, "%s", owner->uid ? owner->uid : ""),
        .controller = yes,
        .block_owner_deletion = yes,
    };
}

int kc_typed_set_controller(kc_object_meta *of, const kc_typed *owner_type, const void *owner,
                            kc_arena *arena, kc_error *err)
{
    const kc_object_meta *meta = meta_of(owner_type, owner);
    size_t n = of->n_owner_references, at = n;
    for (size_t i = 0; i < n; i++) {
        const kc_owner_reference *ref = &of->owner_references[i];
        if (is_other_controller(ref, meta->uid ? meta->uid : ""))
            return kc_error_set(err, KC_CONFLICT, "%s is controlled by %s %s", of->name, ref->kind,
                                ref->name);
        if (meta->uid && ref->uid && strcmp(ref->uid, meta->uid) == 0)
            at = i;
    }
    kc_owner_reference *all = kc_arena_calloc(arena, n + 1, sizeof(*all));
    if (n)
        memcpy(all, of->owner_references, n * sizeof(*all));
    all[at] = typed_reference_to(owner_type, meta, arena);
    of->owner_references = all;
    of->n_owner_references = KC_MAX(n, at + 1);
    return 0;
}
