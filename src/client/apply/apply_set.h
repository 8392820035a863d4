/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply_set.h: apply sets (KEP-3659): which objects of a server belong together, so that a later
 * apply can delete those that its manifests lack. `kubectl apply --prune --applyset` uses the same
 * format.
 *
 *   parent    ConfigMap or Secret   label applyset.kubernetes.io/id=ID
 *                                   annotations tooling, contains-group-kinds,
 * additional-namespaces members   any kind              label applyset.kubernetes.io/part-of=ID
 *
 * The annotations of the parent bound the search for members. An apply proceeds in this order, so
 * that a member outside of the bounds never exists, wherever the process ends:
 *
 *     kc__apply_set_fetch, kc__apply_set_widen, apply the objects, delete members,
 *     kc__apply_set_narrow
 *
 * Not thread-safe. All functions block.
 */
#ifndef KC_CLIENT_APPLY_SET_H
#define KC_CLIENT_APPLY_SET_H

#include "kc/client.h"
#include "kc/map.h"

#define KC__APPLY_SET_PART_OF    "applyset.kubernetes.io/part-of"
#define KC__APPLY_SET_ID         "applyset.kubernetes.io/id"
#define KC__APPLY_SET_TOOLING    "applyset.kubernetes.io/tooling"
#define KC__APPLY_SET_KINDS      "applyset.kubernetes.io/contains-group-kinds"
#define KC__APPLY_SET_NAMESPACES "applyset.kubernetes.io/additional-namespaces"

/* A set of strings. It owns them. */
typedef struct kc__apply_names {
    kc_map map; /* String to itself. */
} kc__apply_names;

void kc__apply_names_done(kc__apply_names *names);
void kc__apply_names_add(kc__apply_names *names, kc_str name);
bool kc__apply_names_has(const kc__apply_names *names, kc_str name);

/* What the annotations of the parent state. */
typedef struct kc__apply_scope {
    kc__apply_names kinds;      /* "ConfigMap", "Deployment.apps" */
    kc__apply_names namespaces; /* Including the parent's own, if it has members. */
} kc__apply_scope;

void kc__apply_scope_done(kc__apply_scope *scope);

typedef struct kc__apply_set_opts {
    const kc_kind *kind; /* Of the parent. Defaults to ConfigMap. */
    const char *ns, *name;
    const char *tooling; /* "kc/v1.2": a set of another tool is refused. */
} kc__apply_set_opts;

typedef struct kc__apply_set kc__apply_set;

/* Copies the options. The clients of all calls must be handles of one client. Never NULL. */
kc__apply_set *kc__apply_set_new(const kc__apply_set_opts *opts);
kc__apply_set *kc__apply_set_free(kc__apply_set *set);
KC_AUTO_DEFINE(kc__apply_set, kc__apply_set_free)

/* The value of both labels; lives as long as the set. */
const char *kc__apply_set_id(const kc__apply_set *set);
/* The parent as last read or written; NULL if it does not exist. */
const kc_object *kc__apply_set_parent(const kc__apply_set *set);

/* Reads the parent. A parent that does not exist is an empty set. KC_CONFLICT when the object is
 * not the parent of this set, or belongs to another tool. */
int kc__apply_set_fetch(kc__apply_set *set, kc_client *client, kc_error *err);
/* Extends the parent's annotations by this scope; creates the parent if needed. Sends nothing if
 * the parent states all of it. */
int kc__apply_set_widen(kc__apply_set *set, kc_client *client, const kc__apply_scope *more,
                        kc_error *err);
/* Makes the parent's annotations state exactly this scope. */
int kc__apply_set_narrow(kc__apply_set *set, kc_client *client, const kc__apply_scope *scope,
                         kc_error *err);

/* A member: the metadata of an object with the label of the set. */
typedef struct kc__apply_member {
    const kc_kind *kind; /* Lives as long as the client. */
    kc_object *object;   /* A PartialObjectMetadata. */
} kc__apply_member;

typedef KC_VEC(kc__apply_member) kc__apply_members;
void kc__apply_members_done(kc__apply_members *members);

/* Lists the members within the fetched scope. Kinds that the server does not serve have no members;
 * an incomplete discovery is an error. */
int kc__apply_set_members(kc__apply_set *set, kc_client *client, kc__apply_members *ret,
                          kc_error *err);
/* Deletes a member, unless it was replaced by another object. An object that is gone is no error.
 */
int kc__apply_member_delete(kc_client *client, const kc__apply_member *member, bool dry_run,
                            kc_error *err);

#endif
