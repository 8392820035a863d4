/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strict_config.h: reads configuration files of the API server (EncryptionConfiguration, Policy, …)
 * as strictly as kube-apiserver: a member that the type does not have, a member that occurs twice
 * and a value of the wrong type are errors.
 *
 *     static const kc__config_member key_members[] = {
 *         {"name", KC__CONFIG_STRING}, {"secret", KC__CONFIG_STRING}, {0}};
 *     …
 *     kc_view *view = kc__config_parse(text, &type, err);
 *
 * A type is a const table of members; nested objects name the table of their members. Any thread.
 */
#ifndef KC_APISERVER_STRICT_CONFIG_H
#define KC_APISERVER_STRICT_CONFIG_H

#include "kc/error.h"
#include "kc/str.h"
#include "kc/view.h"

typedef enum kc__config_kind {
    KC__CONFIG_STRING,
    KC__CONFIG_BOOL,
    KC__CONFIG_INTEGER,
    KC__CONFIG_OBJECT,  /* `members` describes it. */
    KC__CONFIG_STRINGS, /* A list of strings. */
    KC__CONFIG_OBJECTS, /* A list of objects. */
    KC__CONFIG_ANY,     /* Not checked. */
} kc__config_kind;

/* A table ends with a member without a name. */
typedef struct kc__config_member {
    const char *name;
    kc__config_kind kind;
    const struct kc__config_member *members; /* Of OBJECT and OBJECTS. */
} kc__config_member;

typedef struct kc__config_type {
    const char *const *api_versions; /* Accepted ones, ended by NULL. */
    const char *kind;
    const kc__config_member *members; /* Besides apiVersion and kind. */
} kc__config_type;

/* Parses and checks one YAML or JSON document. The caller frees the view. NULL on error. */
kc_view *kc__config_parse(kc_str text, const kc__config_type *type, kc_error *err);

#endif
