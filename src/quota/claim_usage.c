/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_usage.c: what claims use. A PersistentVolumeClaim uses storage, in total and of its storage
 * class; a ResourceClaim uses devices of device classes.
 */
#include "quota/quota_internal.h"

/* ---- PersistentVolumeClaims ---- */

#define STORAGE       "requests.storage"
#define CLAIMS        "persistentvolumeclaims"
#define STORAGE_CLASS ".storageclass.storage.k8s.io/"

bool kc__usage_claim_tracks(kc_str name)
{
    return kc_str_is(name, STORAGE) || kc_str_ends(name, KC_STR(STORAGE_CLASS STORAGE)) ||
           kc_str_ends(name, KC_STR(STORAGE_CLASS CLAIMS));
}

/* The class of a claim: the annotation that preceded the field wins. */
static kc_str storage_class_of(const kc_value *claim)
{
    const kc_value *annotated = kc_value_get(kc_value_nested(claim, "metadata.annotations"),
                                             "volume.beta.kubernetes.io/storage-class");
    return kc_value_as_str(annotated ? annotated : kc_value_nested(claim, "spec.storageClassName"));
}

/* Storage is counted in whole bytes. */
static void round_up(kc_arena *arena, kc_quota_amount *amount)
{
    int64_t whole;
    char text[KC_QUANTITY_MAX];
    if (kc_quantity_as_i64(amount->value, &whole) || amount->value.scale >= 0)
        return;
    amount->value = kc_quantity_of(kc_quantity_value(amount->value), amount->value.form);
    amount->text = kc_arena_str(arena, kc_quantity_print(amount->value, text));
}

/* The storage of a claim: its request, or what is allocated for it, if that is more. */
static bool storage_of(const kc_value *claim, kc_arena *arena, kc_quota_amount *ret)
{
    kc_quota_amount allocated;
    if (!kc_quota_amount_read(kc_value_nested(claim, "spec.resources.requests.storage"), ret))
        return false;
    round_up(arena, ret);
    if (kc_quota_amount_read(kc_value_nested(claim, "status.allocatedResources.storage"),
                             &allocated) &&
        kc_quantity_cmp(allocated.value, ret->value) > 0) {
        *ret = allocated;
        round_up(arena, ret);
    }
    return true;
}

void kc__usage_claim_measure(const kc_value *claim, kc_time now, kc_quota_amounts *ret)
{
    const kc_str class = storage_class_of(claim);
    kc_quota_amount storage;
    const bool has_storage = storage_of(claim, &ret->arena, &storage);
    (void)now;
    if (has_storage)
        kc_quota_amounts_set(ret, KC_STR(STORAGE), &storage);
    if (!class.n)
        return;
    kc_quota_amounts_set_count(
        ret, kc_cstr(kc_arena_printf(&ret->arena, "%.*s" STORAGE_CLASS CLAIMS, KC_ARG(class))), 1);
    if (has_storage)
        kc_quota_amounts_set(
            ret, kc_cstr(kc_arena_printf(&ret->arena, "%.*s" STORAGE_CLASS STORAGE, KC_ARG(class))),
            &storage);
}

/* Kubernetes recalculates after every update of a claim. */
bool kc__usage_claim_is_freed_by(const kc_value *old, const kc_value *claim, kc_time now)
{
    (void)old;
    (void)claim;
    (void)now;
    return true;
}

/* ---- ResourceClaims ---- */

#define DEVICE_CLASS ".deviceclass.resource.k8s.io/devices"
enum { MAX_DEVICES = 32 }; /* Of one allocation: what "All" may become. */

bool kc__usage_device_claim_tracks(kc_str name)
{
    return kc_str_ends(name, KC_STR(DEVICE_CLASS));
}

static kc_str device_class_name(const kc_value *request, kc_arena *arena)
{
    const kc_str class = kc_value_as_str(kc_value_get(request, "deviceClassName"));
    return kc_cstr(kc_arena_printf(arena, "%.*s" DEVICE_CLASS, KC_ARG(class)));
}

static kc_quota_amount devices_of(const kc_value *request, kc_arena *arena)
{
    const kc_str mode = kc_value_as_str(kc_value_get(request, "allocationMode"));
    char text[KC_QUANTITY_MAX];
    int64_t n = 0;
    if (kc_str_is(mode, "ExactCount"))
        n = kc_value_as_i64_or(kc_value_get(request, "count"), 0);
    else if (kc_str_is(mode, "All"))
        n = MAX_DEVICES;
    kc_quota_amount amount = {.value = kc_quantity_of(n, KC_DECIMAL_SI)};
    amount.text = kc_arena_str(arena, kc_quantity_print(amount.value, text));
    return amount;
}

/* One of the subrequests will be fulfilled: the largest of each class counts. */
static void add_alternatives(const kc_value *alternatives, kc_quota_amounts *ret)
{
    kc_scoped(kc_quota_amounts) most = {0};
    kc_value_each_item (alternatives, request) {
        const kc_quota_amount devices = devices_of(request, &ret->arena);
        if (kc_quantity_sign(devices.value) > 0)
            kc_quota_amounts_raise(&most, device_class_name(request, &ret->arena), &devices);
    }
    kc_quota_amounts_add_all(ret, &most);
}

/* In v1beta1 an exact request is the request itself. */
static const kc_value *exact_request(const kc_value *request)
{
    const kc_value *exactly = kc_value_get(request, "exactly");
    return exactly ? exactly : kc_value_get(request, "deviceClassName") ? request : NULL;
}

void kc__usage_device_claim_measure(const kc_value *claim, kc_time now, kc_quota_amounts *ret)
{
    (void)now;
    kc_value_each_item (kc_value_nested(claim, "spec.devices.requests"), request) {
        const kc_value *alternatives = kc_value_get(request, "firstAvailable");
        const kc_value *exactly = exact_request(request);
        if (kc_value_len(alternatives)) {
            add_alternatives(alternatives, ret);
        } else if (exactly) {
            const kc_quota_amount devices = devices_of(exactly, &ret->arena);
            kc_quota_amounts_add(ret, device_class_name(exactly, &ret->arena), &devices);
        }
    }
}
