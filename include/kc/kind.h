/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kind.h: the identity of a type (group, version, kind) and its name in URLs (the resource).
 *
 *     static const kc_kind robot_kind = {
 *         .group = "robot.llleon.io", .version = "v1", .kind = "Robot",
 *         .plural = "robots", .singular = "robot", .namespaced = true,
 *     };
 *     kc_gvk what = kc_gvk_of(KC_STR("apps/v1"), KC_STR("Deployment"));
 *
 * The value types hold slices and own nothing: they live as long as the text they point to. The
 * core group is "" and is not written: "v1", not "/v1".
 */
#ifndef KC_KIND_H
#define KC_KIND_H

#include "kc/buf.h"
#include "kc/object.h"

typedef struct kc_group_kind {
    kc_str group, kind;
} kc_group_kind;

typedef struct kc_group_resource {
    kc_str group, resource;
} kc_group_resource;

typedef struct kc_gvk {
    kc_str group, version, kind;
} kc_gvk;

typedef struct kc_gvr {
    kc_str group, version, resource;
} kc_gvr;

/* A kind that the program knows, in static memory; NULL means "". */
typedef struct kc_kind {
    const char *group; /* Defaults to the core group. */
    const char *version;
    const char *kind;
    const char *plural; /* The resource. */
    const char *singular;
    const char *list_kind; /* Defaults to the kind followed by List. */
    bool namespaced;
} kc_kind;

static inline kc_gvk kc_kind_gvk(const kc_kind *kind)
{
    return (kc_gvk){kc_cstr(kind->group), kc_cstr(kind->version), kc_cstr(kind->kind)};
}

static inline kc_gvr kc_kind_gvr(const kc_kind *kind)
{
    return (kc_gvr){kc_cstr(kind->group), kc_cstr(kind->version), kc_cstr(kind->plural)};
}

/*
 * Splits an apiVersion: "apps/v1" is group apps, version v1; "v1" is in the core group; "" and "/"
 * yield empty parts. KC_BAD_REQUEST when there are two slashes.
 */
int kc_api_version_parse(kc_str api_version, kc_str *ret_group, kc_str *ret_version, kc_error *err);
/* Appends "apps/v1", or "v1" for the core group. */
void kc_api_version_write(kc_buf *out, kc_str group, kc_str version);

/* With an invalid apiVersion, only the kind is set. */
kc_gvk kc_gvk_of(kc_str api_version, kc_str kind);
/* Lives as long as the object. */
kc_gvk kc_object_gvk(const kc_object *object);

/* Byte order of group, then version, then kind or resource. <0, 0 or >0. */
int kc_gvk_cmp(kc_gvk a, kc_gvk b);
int kc_gvr_cmp(kc_gvr a, kc_gvr b);
int kc_group_kind_cmp(kc_group_kind a, kc_group_kind b);
bool kc_gvk_eq(kc_gvk a, kc_gvk b);
bool kc_gvr_eq(kc_gvr a, kc_gvr b);

/* Append display text: "apps/v1, Kind=Deployment"; "apps/v1, Resource=deployments". */
void kc_gvk_write(kc_buf *out, kc_gvk gvk);
void kc_gvr_write(kc_buf *out, kc_gvr gvr);
/* "Deployment.apps", "Pod"; "deployments.apps", "pods". */
void kc_group_kind_write(kc_buf *out, kc_group_kind kind);
void kc_group_resource_write(kc_buf *out, kc_group_resource resource);

/*
 * Compares versions by priority: v10, v2, v1, v2beta1, v1beta2, v1alpha1, then all others in
 * reverse alphabetical order. >0 when `a` comes before (is preferred to) `b`.
 */
int kc_version_cmp(kc_str a, kc_str b);

/*
 * A resource argument of a command line. "deployments.v1.apps" may mean version v1 of group apps,
 * or group v1.apps: `gvr` holds the first reading, if there are at least two dots, and `resource`
 * the second.
 */
typedef struct kc_resource_arg {
    bool has_gvr;
    kc_gvr gvr;
    kc_group_resource resource;
} kc_resource_arg;

kc_resource_arg kc_resource_arg_parse(kc_str arg);
/* The same for "Deployment.v1.apps". */
bool kc_kind_arg_parse(kc_str arg, kc_gvk *ret_gvk, kc_group_kind *ret_kind);

/* Appends the likely resource of a kind whose plural is unknown: policies for Policy, ingresses for
 * Ingress, endpoints for Endpoints. Nothing for "". */
void kc_guess_plural(kc_buf *out, kc_str kind);

#endif
