/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_status_rules.c: validates the status of a ResourceClaim: the allocated devices, the
 * consumers they are reserved for, and the status that drivers report. An allocation is immutable
 * and is removed as a whole.
 */
#include "apiserver/kinds/core/pod_rules.h"
#include "apiserver/kinds/internal_form.h"
#include "apiserver/kinds/networking/address_rules.h"
#include "apiserver/kinds/resource/device_rules.h"
#include "kc/diff.h"

/* ---- consumers ---- */

#define MAX_RESERVED 256

static void check_consumer(const kc__location *consumer, const kc_map *requests)
{
    static const char *const needed[] = {"resource", "name", "uid"};
    (void)requests;
    for (size_t i = 0; i < KC_COUNT(needed); i++) {
        kc__location member = kc__location_member(consumer, needed[i]);
        if (!kc__location_is_set(&member))
            kc__location_error(&member, KC_FIELD_REQUIRED, NULL);
    }
}

static bool all_were_there(const kc_value *consumers, const kc_value *before)
{
    kc_scoped(kc_map) uids = {0};
    bool all = true;
    kc_value_each_item (before, consumer)
        kc_map_put(&uids, kc_value_as_str(kc_value_get(consumer, "uid")), &uids);
    kc_value_each_item (consumers, consumer)
        all = all && kc_map_get(&uids, kc_value_as_str(kc_value_get(consumer, "uid")));
    return all;
}

static void check_reservation(const kc__location *root, const kc__location *status,
                              const kc_value *old)
{
    kc__location reserved = kc__location_member(status, "reservedFor");
    if (!kc__location_is_set(&reserved))
        return;
    if (!kc_value_get(status->value, "allocation"))
        kc__location_error(&reserved, KC_FIELD_FORBIDDEN,
                           "may not be specified when `allocated` is not set");
    else if (kc_value_nested(root->value, "metadata.deletionTimestamp") &&
             !all_were_there(reserved.value, kc_value_nested(old, "status.reservedFor")))
        kc__location_error(&reserved, KC_FIELD_FORBIDDEN,
                           "new entries may not be added while `deallocationRequested` or "
                           "`deletionTimestamp` are set");
}

/* ---- allocation ---- */

static void check_device_names(const kc__location *device)
{
    kc__location driver = kc__location_member(device, "driver"),
                 pool = kc__location_member(device, "pool");
    kc__location name = kc__location_member(device, "device");
    kc__validate_driver_name(&driver);
    kc__validate_pool_name(&pool);
    kc__validate_name(&name, KC_NAME_DNS_LABEL);
}

static void check_result(const kc__location *result, const kc_map *requests)
{
    kc__location request = kc__location_member(result, "request");
    kc__validate_request_reference(&request, requests);
    check_device_names(result);
}

static void check_allocated_configuration(const kc__location *configuration, const kc_map *requests)
{
    static const char *const sources[] = {"FromClaim", "FromClass", NULL};
    kc__location source = kc__location_member(configuration, "source");
    kc__location names = kc__location_member(configuration, "requests");
    if (kc__location_is_set(&source))
        kc__validate_one_of(&source, sources);
    else
        kc__location_error(&source, KC_FIELD_REQUIRED, NULL);
    kc__validate_device_set(&names, KC__MAX_DEVICE_REQUESTS, kc__validate_request_reference, NULL,
                            requests);
    kc__validate_device_configuration(configuration, requests);
}

static void check_new_allocation(const kc__location *root, const kc__location *allocation)
{
    kc_scoped(kc_map) names = {0};
    kc__location spec = kc__location_member(root, "spec"),
                 claim = kc__location_member(&spec, "devices");
    kc__location devices = kc__location_member(allocation, "devices");
    kc__location results = kc__location_member(&devices, "results"),
                 config = kc__location_member(&devices, "config");
    kc__location selector = kc__location_member(allocation, "nodeSelector");
    kc__validate_device_requests(&claim, &names);
    kc__validate_device_list(&results, KC__MAX_DEVICE_REQUESTS, check_result, &names);
    kc__validate_device_list(&config, 2 * KC__MAX_DEVICE_CONFIGS, check_allocated_configuration,
                             &names);
    if (selector.value)
        kc__validate_node_selector(&selector);
}

static void check_allocation(const kc__location *root, const kc__location *status,
                             const kc_value *old)
{
    kc__location allocation = kc__location_member(status, "allocation");
    const kc_value *before = kc_value_nested(old, "status.allocation");
    if (!allocation.value)
        return;
    if (!before)
        check_new_allocation(root, &allocation);
    else if (!kc_value_equal(allocation.value, before, NULL))
        kc__location_error_json(&allocation, KC_FIELD_INVALID,
                                kc__internal_form_json("io.k8s.api.resource.v1.AllocationResult",
                                                       allocation.value, &allocation.errors->arena),
                                "field is immutable");
}

/* ---- device status from drivers ---- */

#define MAX_CONDITIONS 8
#define MAX_IPS        16
#define MAX_INTERFACE  256
#define MAX_HARDWARE   128

/* Kubernetes shows this text instead of the actual id of a device. */
#define ANY_ID "{\"Driver\":{},\"Pool\":{},\"Device\":{},\"ShareID\":{}}"

static char *device_id(const kc_value *device, kc_arena *arena)
{
    return kc_arena_printf(arena, "%s/%s/%s", kc_value_as_cstr(kc_value_get(device, "driver"), ""),
                           kc_value_as_cstr(kc_value_get(device, "pool"), ""),
                           kc_value_as_cstr(kc_value_get(device, "device"), ""));
}

static void check_device_status_length(const kc__location *text, size_t most)
{
    if (kc__location_text(text).n > most)
        kc__location_error(text, KC_FIELD_TOO_LONG, "may not be more than %zu bytes", most);
}

static void check_interface(const kc__location *address, const kc_map *requests)
{
    (void)requests;
    kc__validate_canonical_interface(address);
}

static void check_network(const kc__location *network)
{
    kc__location name = kc__location_member(network, "interfaceName"),
                 ips = kc__location_member(network, "ips");
    kc__location hardware = kc__location_member(network, "hardwareAddress");
    check_device_status_length(&name, MAX_INTERFACE);
    check_device_status_length(&hardware, MAX_HARDWARE);
    kc__validate_device_set(&ips, MAX_IPS, check_interface, NULL, NULL);
}

/* `allocated` contains the ids of the claim's devices. */
static void check_device_status(const kc__location *device, const kc_map *allocated)
{
    kc__location conditions = kc__location_member(device, "conditions"),
                 data = kc__location_member(device, "data");
    kc__location network = kc__location_member(device, "networkData");
    const char *id = device_id(device->value, &device->errors->arena);
    check_device_names(device);
    if (!kc_map_get(allocated, kc_cstr(id)))
        kc__location_error_json(device, KC_FIELD_INVALID, ANY_ID,
                                "must be an allocated device in the claim");
    if (kc_value_len(conditions.value) > MAX_CONDITIONS)
        kc__location_error_json(
            &conditions, KC_FIELD_TOO_MANY,
            kc_arena_printf(&device->errors->arena, "%zu", kc_value_len(conditions.value)),
            "must have at most %d items", MAX_CONDITIONS);
    if (data.value)
        kc__validate_raw_object(&data, KC__MAX_DEVICE_BYTES);
    if (network.value)
        check_network(&network);
}

static void check_device_statuses(const kc__location *status)
{
    kc_scoped(kc_map) allocated = {0};
    kc_scoped(kc_map) seen = {0};
    kc_arena *arena = &status->errors->arena;
    kc__location devices = kc__location_member(status, "devices");
    size_t i = 0;
    kc_value_each_item (kc_value_nested(status->value, "allocation.devices.results"), result)
        kc_map_put(&allocated, kc_cstr(device_id(result, arena)), &allocated);
    kc__validate_device_list(&devices, 0, check_device_status, &allocated);
    kc_value_each_item (devices.value, value) {
        kc__location device = kc__location_item(&devices, value, i++),
                     id = kc__location_member(&device, "deviceID");
        kc_str text = kc_cstr(device_id(value, arena));
        if (kc_map_put(&seen, text, &seen))
            kc__location_error_json(&id, KC_FIELD_DUPLICATE, ANY_ID, NULL);
    }
}

void kc__validate_claim_status(const kc__location *root, const kc_value *old)
{
    kc__location status = kc__location_member(root, "status");
    kc__location reserved = kc__location_member(&status, "reservedFor");
    kc__validate_device_set(&reserved, MAX_RESERVED, check_consumer, "uid", NULL);
    check_device_statuses(&status);
    check_reservation(root, &status, old);
    check_allocation(root, &status, old);
}
