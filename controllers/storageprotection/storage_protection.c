/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_protection.c: removes the finalizers that the API server's admission plugin
 * StorageObjectInUseProtection adds, once a deleted object is no longer in use.
 *
 *     PersistentVolumeClaim    in use by a scheduled pod that mounts it
 *     PersistentVolume         in use while it is bound to a claim
 *     VolumeAttributesClass    in use by a claim or a volume that names it
 *
 * Each kind has a controller of its own. A deleted object that is in use is reconciled again when
 * one of its users changes. Claims find their pods by an index, so a deletion does not depend on
 * the number of pods.
 */
#include "internal.h"

#include "common/indexes.h"

#include "kc/finalizer.h"
#include "kc/kinds.h"
#include "kc/view.h"

static const kc_kind kind_volume = {.group = "",
                                    .version = "v1",
                                    .kind = "PersistentVolume",
                                    .plural = "persistentvolumes",
                                    .singular = "persistentvolume"};
static const kc_kind kind_attributes_class = {.group = "storage.k8s.io",
                                              .version = "v1",
                                              .kind = "VolumeAttributesClass",
                                              .plural = "volumeattributesclasses",
                                              .singular = "volumeattributesclass"};

/* One protected kind. */
typedef struct protected_kind {
    const char *controller, *finalizer;
    const kc_kind *kind;
    /* 1: in use; 0: not in use; negative with an error. */
    int (*in_use)(kc_context *ctx, const kc_object *object, kc_error *err);
} protected_kind;

/* ---- claims ---- */

static int claim_is_in_use(kc_context *ctx, const kc_object *claim, kc_error *err)
{
    const kc_str ns = kc_object_namespace(claim), name = kc_object_name(claim);
    kc_autofree char *value = kc_asprintf("%.*s/%.*s", KC_ARG(ns), KC_ARG(name));
    kc_scoped(kc_object_list) pods = {0};
    if (kc_cache_list(ctx->cache, &kc_kind_pod,
                      &(kc_list_opts){.index = KC__COMMON_INDEX_CLAIM, .value = value}, &pods,
                      err) < 0)
        return kc_error_result(err);
    return pods.n > 0;
}

/* ---- volumes ---- */

static int volume_is_in_use(kc_context *ctx, const kc_object *volume, kc_error *err)
{
    (void)ctx;
    (void)err;
    kc_auto(kc_view) *view = kc_view_of(volume);
    return kc_str_is(kc_value_as_str(kc_value_nested(kc_view_root(view), "status.phase")), "Bound");
}

/* ---- attribute classes ---- */

/* Where claims and volumes name a class. */
static const char *const class_members[] = {
    "spec.volumeAttributesClassName",
    "status.currentVolumeAttributesClassName",
    "status.modifyVolumeStatus.targetVolumeAttributesClassName",
};

static bool names_class(const kc_object *object, kc_str class)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    for (size_t i = 0; i < KC_COUNT(class_members); i++)
        if (kc_str_eq(kc_value_as_str(kc_value_nested(kc_view_root(view), class_members[i])),
                      class))
            return true;
    return false;
}

/* 1: an object of the kind names the class. */
static int is_named_by(kc_context *ctx, const kc_kind *kind, kc_str class, kc_error *err)
{
    kc_scoped(kc_object_list) users = {0};
    if (kc_cache_list(ctx->cache, kind, NULL, &users, err) < 0)
        return kc_error_result(err);
    for (size_t i = 0; i < users.n; i++)
        if (names_class(users.items[i], class))
            return 1;
    return 0;
}

static int class_is_in_use(kc_context *ctx, const kc_object *class, kc_error *err)
{
    const int by_claim =
        is_named_by(ctx, &kc_kind_persistent_volume_claim, kc_object_name(class), err);
    return by_claim ? by_claim : is_named_by(ctx, &kind_volume, kc_object_name(class), err);
}

/* ---- keys ---- */

static void claims_of_pod(const kc_object *pod, kc_enqueuer *to, void *user)
{
    (void)user;
    kc_auto(kc_view) *view = kc_view_of(pod);
    const kc_str pod_name = kc_object_name(pod);
    kc_value_each_item (kc_value_nested(kc_view_root(view), "spec.volumes"), volume) {
        kc_scoped(kc_buf) name = {0};
        if (kc__common_claim_of_volume(pod_name, volume, &name))
            kc_enqueue(to, (kc_key){kc_object_namespace(pod), kc_buf_str(&name)});
    }
}

static void classes_of(const kc_object *object, kc_enqueuer *to, void *user)
{
    (void)user;
    kc_auto(kc_view) *view = kc_view_of(object);
    for (size_t i = 0; i < KC_COUNT(class_members); i++) {
        const kc_str name = kc_value_as_str(kc_value_nested(kc_view_root(view), class_members[i]));
        if (name.n)
            kc_enqueue(to, (kc_key){.name = name});
    }
}

/* ---- one object ---- */

static kc_result storageprotection_reconcile(kc_context *ctx, const kc_request *request,
                                             kc_error *err)
{
    const protected_kind *what = ctx->user;
    kc_auto(kc_object) *object = kc_client_get(ctx->client, what->kind, request->key, NULL, err);
    if (!object)
        return kc_done_if_not_found(err);
    if (kc_str_empty(kc_object_deletion_timestamp(object)) ||
        !kc_object_has_finalizer(object, kc_cstr(what->finalizer)))
        return kc_done();
    const int in_use = what->in_use(ctx, object, err);
    if (in_use < 0)
        return kc_retry(err);
    if (!in_use && kc_finalizer_remove(ctx->client, &object, what->finalizer, err) < 0)
        return kc_is_conflict(err) ? kc_requeue() : kc_retry(err);
    return kc_done();
}

/* ---- setup ---- */

static const protected_kind claims = {"persistentvolumeclaim-protection",
                                      "kubernetes.io/pvc-protection",
                                      &kc_kind_persistent_volume_claim, claim_is_in_use};
static const protected_kind volumes = {"persistentvolume-protection", "kubernetes.io/pv-protection",
                                       &kind_volume, volume_is_in_use};
static const protected_kind classes = {"volumeattributesclass-protection",
                                       "kubernetes.io/vac-protection", &kind_attributes_class,
                                       class_is_in_use};

/* A user of a protected object that comes into being does not end its use. */
static bool may_end_use(kc_change_type type, const kc_change *change, void *user)
{
    (void)change;
    (void)user;
    return type != KC_CHANGE_CREATE;
}

static int add_protection(kc_manager *manager, const protected_kind *what,
                          const kc_watch_spec *watches, const kc_controllers_opts *opts,
                          kc__common_identity_id identity, kc_error *err)
{
    kc_controller *made =
        kc_controller_new(manager,
                          &(kc_controller_opts){.name = what->controller,
                                                .kind = what->kind,
                                                .watches = watches,
                                                .reconcile = storageprotection_reconcile,
                                                .user = (void *)what,
                                                .act_as = kc__common_identity(opts, identity),
                                                .workers = opts->workers},
                          err);
    return made ? 0 : kc_error_result(err);
}

int kc__storageprotection_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    const kc_watch_spec *pods = KC_WATCHES({.kind = &kc_kind_pod,
                                            .map = claims_of_pod,
                                            .predicate = kc_predicate_new(may_end_use, NULL)});
    const kc_watch_spec *users = KC_WATCHES({.kind = &kc_kind_persistent_volume_claim,
                                             .map = classes_of,
                                             .predicate = kc_predicate_new(may_end_use, NULL)},
                                            {.kind = &kind_volume,
                                             .map = classes_of,
                                             .predicate = kc_predicate_new(may_end_use, NULL)});
    if (add_protection(manager, &claims, pods, opts, KC__COMMON_CLAIM_PROTECTION, err) < 0 ||
        add_protection(manager, &volumes, NULL, opts, KC__COMMON_VOLUME_PROTECTION, err) < 0 ||
        add_protection(manager, &classes, users, opts, KC__COMMON_CLASS_PROTECTION, err) < 0)
        return kc_error_result(err);
    return 0;
}
