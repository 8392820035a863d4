/* SPDX-License-Identifier: Apache-2.0 */
/* device_rules.h: rules that the kinds of resource.k8s.io share. */
#ifndef KC_APISERVER_DEVICE_RULES_H
#define KC_APISERVER_DEVICE_RULES_H

#include "apiserver/kinds/validate_rules.h"

/* Validates one item of a list. `requests`: the names that other parts of a claim may refer to,
 * "request" and "request/subrequest"; NULL if there are none. */
typedef void kc__validate_device_fn(const kc__location *item, const kc_map *requests);

/* Validates each item of a list, then the number of items. most == 0: any number. */
void kc__validate_device_list(const kc__location *list, size_t most, kc__validate_device_fn *check,
                              const kc_map *requests);
/* The same; then no two items may have the same text in the member `key`; NULL: be the same
 * text. */
void kc__validate_device_set(const kc__location *list, size_t most, kc__validate_device_fn *check,
                             const char *key, const kc_map *requests);

/* Adds the names of a DeviceClaim's requests to the map; the text is in the errors' arena. */
void kc__validate_device_requests(const kc__location *claim, kc_map *requests);
/* The name must be one of the requests. */
void kc__validate_request_reference(const kc__location *name, const kc_map *requests);

/* Validates a DeviceClaim: spec.devices of a ResourceClaim. */
void kc__validate_device_claim(const kc__location *claim);
/* Validates a DeviceSelector. */
void kc__validate_device_selector(const kc__location *selector, const kc_map *requests);
/* Validates a struct that embeds a DeviceConfiguration. */
void kc__validate_device_configuration(const kc__location *configuration, const kc_map *requests);
/* The value must be an object of at most `most` bytes of JSON. */
void kc__validate_raw_object(const kc__location *raw, size_t most);
/* The name must consist of DNS subdomains, separated by slashes. */
void kc__validate_pool_name(const kc__location *name);
/* Validates "domain/identifier" or "identifier"; `domain`: only the first form. Errors are
 * reported for the location. */
void kc__validate_device_key(const kc__location *location, kc_str name, bool domain);

/* device_status_rules.c: validates the status of a ResourceClaim that replaces another. */
void kc__validate_claim_status(const kc__location *root, const kc_value *old);
/* device_slice_rules.c: validates the spec of a ResourceSlice. */
void kc__validate_resource_slice(const kc__location *spec);

#define KC__MAX_DEVICE_REQUESTS  32
#define KC__MAX_DEVICE_CONFIGS   32
#define KC__MAX_DEVICE_SELECTORS 32
#define KC__MAX_DEVICE_BYTES     (10 * 1024)

#endif
