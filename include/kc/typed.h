/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed.h: clients, caches and helpers for structs (api.h) instead of objects. The code that
 * `kc generate` writes for a kind wraps these functions:
 *
 *     kc_auto(robot) *r = robot_get(ctx->client, key, err);          kc_typed_get
 *     r->spec.replicas = &three;
 *     if (robot_update(ctx->client, r, err) < 0)                     kc_typed_update
 *         …
 *
 * Writes send the struct merged over the object it was read from, so that fields unknown to this
 * program are kept (struct.h). Afterwards the struct holds the server's state, with its new
 * resourceVersion. A struct in the caller's own memory (without an arena) is not updated.
 *
 * Server-side apply sends only the fields that the caller decides about. A struct cannot tell a
 * field that is not set from one that is 0, so each struct has an apply configuration, generated
 * with it, in which every field can be left out:
 *
 *     robot_apply_config wanted = {
 *         .metadata = {.name = "r2", .ns = "default"},
 *         .spec = &(robot_spec_apply_config){.replicas = &(int32_t){0}},
 *     };
 *     kc_auto(robot) *now = robot_apply(client, &wanted, &(kc_write_opts){.force = true}, err);
 *
 * In an apply configuration, numbers, booleans, enums and structs are pointers: NULL is not set.
 * Text is not set when it is NULL, so "" can be sent. Lists and maps are not set when their pointer
 * is NULL, so one without items can be sent. Times are not set when they are 0. Compound literals,
 * as above, live as long as the block that they are in; nothing is copied, and nothing needs to be
 * freed.
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
    const kc_struct *config; /* Its apply configuration. NULL: none. */
} kc_typed;

/* Free with kc_struct_free (robot_free). */
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
/* Sends a merge patch of the changes since the struct was read, and returns 1; sends nothing if
 * there are none, and returns 0. */
int kc_typed_patch(kc_client *client, const kc_typed *type, void *value, const kc_write_opts *opts,
                   kc_error *err);
/* Server-side apply of an apply configuration (kc_client_apply). Returns the struct of the object
 * as the server stored it; free it with kc_struct_free. */
void *kc_typed_apply(kc_client *client, const kc_typed *type, const void *config,
                     const kc_write_opts *opts, kc_error *err);
void *kc_typed_apply_status(kc_client *client, const kc_typed *type, const void *config,
                            const kc_write_opts *opts, kc_error *err);
/*
 * The fields that the manager applied (kc_extract_applied), as an apply configuration with its own
 * arena; free it with kc_struct_free. `value` must have been read from the server, or from a cache
 * that keeps managedFields: KC_BAD_REQUEST otherwise. `subresource` may be NULL.
 */
void *kc_typed_extract(kc_client *client, const kc_typed *type, const void *value,
                       const char *manager, const char *subresource, kc_error *err);
int kc_typed_delete(kc_client *client, const kc_typed *type, const void *value,
                    const kc_delete_opts *opts, kc_error *err);
/*
 * Creates the object if it is missing, or updates it so that it contains all fields of `wanted`;
 * other fields stay. Returns a kc_operation_result (create_or_update.h), or a negative number.
 * `wanted` is updated to the server's state if it has an arena.
 */
int kc_typed_create_or_update(kc_client *client, const kc_typed *type, void *wanted, kc_error *err);

/* Owner references. KC_CONFLICT if it already has another controller. They live in `arena`. */
int kc_typed_set_controller(kc_object_meta *of, const kc_typed *owner_type, const void *owner,
                            kc_arena *arena, kc_error *err);

/* ---- functions of a generated kind ---- */

/*
 * KC_TYPED_KIND(robot), for a struct robot and a kc_typed robot_type, defines:
 *
 *   robot_of(object, err)                        converts an object; NULL on error
 *   robot_object(robot, err)                     converts to an object
 *   robot_free, kc_auto(robot)                   frees what was read
 *   robot_copy, robot_equal, robot_set_defaults
 *   robot_get, robot_client_get(client, key, err)
 *   robot_client_list(client, opts, &list, err)  a robot_list; kc_scoped(robot_list)
 *   robot_create, robot_update, robot_update_status, robot_patch, robot_delete,
 *   robot_ensure(client, robot, err)
 *   robot_informer(cache, err)
 *   robot_lister_get(cache, key, err), robot_lister_list(cache, opts, &list, err)
 *   robot_set_controller(&child->metadata, robot, arena, err)
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
    KC__TYPED_WRITE(name, delete, kc_typed_delete(client, &name##_type, value, NULL, err))         \
    KC__TYPED_WRITE(name, ensure, kc_typed_create_or_update(client, &name##_type, value, err))     \
    static inline KC_UNUSED int name##_set_controller(kc_object_meta *of, const name *owner,       \
                                                      kc_arena *arena, kc_error *err)              \
    {                                                                                              \
        return kc_typed_set_controller(of, &name##_type, owner, arena, err);                       \
    }

/*
 * KC_TYPED_APPLY(robot), for a robot_apply_config in addition, defines:
 *
 *   robot_apply, robot_apply_status(client, config, opts, err)        the stored robot
 *   robot_extract, robot_extract_status(client, robot, manager, err)  a robot_apply_config
 *   robot_apply_config_object(config, err)                            converts to an object
 *   robot_apply_config_free, kc_auto(robot_apply_config)              frees what was extracted
 */
#define KC_TYPED_APPLY(name)                                                              \
    KC__TYPED_APPLY(name, apply)                                                          \
    KC__TYPED_APPLY(name, apply_status)                                                   \
    KC__TYPED_EXTRACT(name, extract, NULL)                                                \
    KC__TYPED_EXTRACT(name, extract_status, "status")                                     \
    static inline KC_UNUSED kc_object *name##_apply_config_object(                        \
        const name##_apply_config *config, kc_error *err)                                 \
    {                                                                                     \
        return kc_struct_encode_alone(name##_type.config, name##_type.kind, config, err); \
    }                                                                                     \
    static inline KC_UNUSED name##_apply_config *name##_apply_config_free(                \
        name##_apply_config *config)                                                      \
    {                                                                                     \
        return kc_struct_free(name##_type.config, config);                                \
    }                                                                                     \
    KC_AUTO_DEFINE(name##_apply_config, name##_apply_config_free)

#define KC__TYPED_APPLY(name, verb)                                                       \
    static inline KC_UNUSED name *name##_##verb(kc_client *client,                        \
                                                const name##_apply_config *config,        \
                                                const kc_write_opts *opts, kc_error *err) \
    {                                                                                     \
        return kc_typed_##verb(client, &name##_type, config, opts, err);                  \
    }

#define KC__TYPED_EXTRACT(name, verb, subresource)                                       \
    static inline KC_UNUSED name##_apply_config *name##_##verb(                          \
        kc_client *client, const name *value, const char *manager, kc_error *err)        \
    {                                                                                    \
        return kc_typed_extract(client, &name##_type, value, manager, subresource, err); \
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

/* All lists have the same layout, except for the type of their items. */
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
