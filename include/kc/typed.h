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

#endif
