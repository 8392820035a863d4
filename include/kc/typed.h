/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed.h: clients, caches and helpers for structs (api.h) instead of objects. What `kc generate`
 * writes for a kind is a line over each of these:
 *
 *     kc_auto(robot) *r = robot_get(ctx->client, key, err);          kc_typed_get
 *     r->spec.replicas = &three;
 *     if (robot_update(ctx->client, r, err) < 0)                     kc_typed_update
 *         …
 *
 * Writes send what the struct has over the object it was read from, so fields that this program
 * does not know survive (struct.h); then the struct is as the server keeps it now, with its new
 * resourceVersion. A struct of the caller's own memory (without an arena) gets only read.
 */
#ifndef KC_TYPED_H
#define KC_TYPED_H

#include "kc/cache.h"
#include "kc/resource_metadata.h"
#include "kc/struct.h"

/* A kind and its struct. */
typedef struct kc_typed {
    const kc_kind *kind;
    const kc_struct *layout;
} kc_typed;

/* Freed with kc_struct_free (robot_free). */
void *kc_typed_get(kc_client *client, const kc_typed *type, kc_key key, kc_error *err);
void *kc_typed_cache_get(kc_cache *cache, const kc_typed *type, kc_key key, kc_error *err);

/* Structs of a list; kc_typed_list_done frees them. */
typedef struct kc_typed_list {
    void **items;
    size_t n;
    char *resource_version, *continue_token;
} kc_typed_list;

int kc_typed_list_from(kc_client *client, const kc_typed *type, const kc_list_opts *opts,
                       kc_typed_list *ret, kc_error *err);
int kc_typed_cache_list(kc_cache *cache, const kc_typed *type, const kc_list_opts *opts,
                        kc_typed_list *ret, kc_error *err);
void kc_typed_list_done(const kc_typed *type, kc_typed_list *list);

/* opts may be NULL; the kind is the type's. */
int kc_typed_create(kc_client *client, const kc_typed *type, void *value, const kc_write_opts *opts,
                    kc_error *err);
int kc_typed_update(kc_client *client, const kc_typed *type, void *value, const kc_write_opts *opts,
                    kc_error *err);
int kc_typed_update_status(kc_client *client, const kc_typed *type, void *value, kc_error *err);
/* A merge patch of what has changed since it was read; nothing is sent if nothing has. 1 if it was.
 */
int kc_typed_patch(kc_client *client, const kc_typed *type, void *value, const kc_write_opts *opts,
                   kc_error *err);
/* Server-side apply of what the struct has. */
int kc_typed_apply(kc_client *client, const kc_typed *type, void *value, const kc_write_opts *opts,
                   kc_error *err);
int kc_typed_delete(kc_client *client, const kc_typed *type, const void *value,
                    const kc_delete_opts *opts, kc_error *err);
/*
 * Makes the server's object have all that `wanted` has, creating it where it is missing; what
 * `wanted` leaves out stays as it is there. A kc_written (create_or_update.h), or negative.
 * `wanted` becomes what the server keeps, if it has an arena.
 */
int kc_typed_ensure(kc_client *client, const kc_typed *type, void *wanted, kc_error *err);

/* Owner references. KC_CONFLICT if somebody else controls it. They live in `arena`. */
int kc_typed_set_controller(kc_object_meta *of, const kc_typed *owner_type, const void *owner,
                            kc_arena *arena, kc_error *err);

/* ---- what a generated kind has ---- */

/*
 * KC_TYPED_KIND(robot), for a struct robot and a kc_typed robot_type, gives:
 *
 *     robot_of(object, err)                        a struct of an object;         NULL on error
 *     robot_object(robot, err)                     an object of a struct
 *     robot_free, kc_auto(robot)                   frees what was read
 *     robot_copy, robot_equal, robot_set_defaults
 *     robot_get, robot_client_get(client, key, err)
 *     robot_client_list(client, opts, &list, err)  a robot_list; kc_scoped(robot_list)
 *     robot_create, robot_update, robot_update_status, robot_patch, robot_apply, robot_delete,
 *     robot_ensure(client, robot, err)
 *     robot_informer(cache, err)
 *     robot_lister_get(cache, key, err), robot_lister_list(cache, opts, &list, err)
 *     robot_set_controller(&child->metadata, robot, arena, err)
 */
#define KC_TYPED_KIND(name)                                                                        \
    typedef struct name##_list {                                                                   \
        name **items;                                                                              \
        size_t n;                                                                                  \
        char *resource_version, *continue_token;                                                   \
    } name##_list;                                                                                 \
    KC__TYPED_STRUCT(name)                                                                         \
    KC__TYPED_READ(name)                                                                           \
    KC__TYPED_WRITE(name, create, kc_typed_create(client, &name##_type, value, NULL, err))         \
    KC__TYPED_WRITE(name, update, kc_typed_update(client, &name##_type, value, NULL, err))         \
    KC__TYPED_WRITE(name, update_status, kc_typed_update_status(client, &name##_type, value, err)) \
    KC__TYPED_WRITE(name, patch, kc_typed_patch(client, &name##_type, value, NULL, err))           \
    KC__TYPED_WRITE(name, apply, kc_typed_apply(client, &name##_type, value, NULL, err))           \
    KC__TYPED_WRITE(name, delete, kc_typed_delete(client, &name##_type, value, NULL, err))         \
    KC__TYPED_WRITE(name, ensure, kc_typed_ensure(client, &name##_type, value, err))               \
    static inline KC_UNUSED int name##_set_controller(kc_object_meta *of, const name *owner,       \
                                                      kc_arena *arena, kc_error *err)              \
    {                                                                                              \
        return kc_typed_set_controller(of, &name##_type, owner, arena, err);                       \
    }

#define KC__TYPED_STRUCT(name)                                                         \
    static inline KC_UNUSED name *name##_of(const kc_object *object, kc_error *err)    \
    {                                                                                  \
        return kc_struct_decode(name##_type.layout, object, err);                      \
    }                                                                                  \
    static inline KC_UNUSED kc_object *name##_object(const name *value, kc_error *err) \
    {                                                                                  \
        return kc_struct_encode(name##_type.layout, name##_type.kind, value, err);     \
    }                                                                                  \
    static inline KC_UNUSED name *name##_free(name *value)                             \
    {                                                                                  \
        return kc_struct_free(name##_type.layout, value);                              \
    }                                                                                  \
    KC_AUTO_DEFINE(name, name##_free)                                                  \
    static inline KC_UNUSED name *name##_copy(const name *value)                       \
    {                                                                                  \
        return kc_struct_copy(name##_type.layout, value);                              \
    }                                                                                  \
    static inline KC_UNUSED bool name##_equal(const name *a, const name *b)            \
    {                                                                                  \
        return kc_struct_equal(name##_type.layout, a, b);                              \
    }                                                                                  \
    static inline KC_UNUSED void name##_set_defaults(name *value, kc_arena *arena)     \
    {                                                                                  \
        kc_struct_default(name##_type.layout, value, arena);                           \
    }

/* The lists have one layout, but for the type of what their items point to. */
#define KC__TYPED_READ(name)                                                                      \
    static inline KC_UNUSED name *name##_client_get(kc_client *client, kc_key key, kc_error *err) \
    {                                                                                             \
        return kc_typed_get(client, &name##_type, key, err);                                      \
    }                                                                                             \
    static inline KC_UNUSED name *name##_get(kc_client *client, kc_key key, kc_error *err)        \
    {                                                                                             \
        return kc_typed_get(client, &name##_type, key, err);                                      \
    }                                                                                             \
    static inline KC_UNUSED name *name##_lister_get(kc_cache *cache, kc_key key, kc_error *err)   \
    {                                                                                             \
        return kc_typed_cache_get(cache, &name##_type, key, err);                                 \
    }                                                                                             \
    static inline KC_UNUSED void name##_list_done(name##_list *list)                              \
    {                                                                                             \
        kc_typed_list_done(&name##_type, (kc_typed_list *)list);                                  \
    }                                                                                             \
    static inline KC_UNUSED int name##_client_list(kc_client *client, const kc_list_opts *opts,   \
                                                   name##_list *ret, kc_error *err)               \
    {                                                                                             \
        return kc_typed_list_from(client, &name##_type, opts, (kc_typed_list *)ret, err);         \
    }                                                                                             \
    static inline KC_UNUSED int name##_lister_list(kc_cache *cache, const kc_list_opts *opts,     \
                                                   name##_list *ret, kc_error *err)               \
    {                                                                                             \
        return kc_typed_cache_list(cache, &name##_type, opts, (kc_typed_list *)ret, err);         \
    }                                                                                             \
    static inline KC_UNUSED kc_informer *name##_informer(kc_cache *cache, kc_error *err)          \
    {                                                                                             \
        return kc_cache_informer(cache, name##_type.kind, err);                                   \
    }

#define KC__TYPED_WRITE(name, verb, call)                                                    \
    static inline KC_UNUSED int name##_##verb(kc_client *client, name *value, kc_error *err) \
    {                                                                                        \
        return call;                                                                         \
    }

#endif
