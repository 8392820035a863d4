/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_schema.h: a small schema, as a table, for tests of strategic merge patches: a pod of sorts,
 * with every strategy a field can have.
 */
#ifndef POD_SCHEMA_H
#define POD_SCHEMA_H

#include "kc/strategic_patch.h"

typedef struct pod_type pod_type;

typedef struct pod_field {
    const char *name;
    kc_patch_field is;
} pod_field;

struct pod_type {
    const pod_field *fields;
    size_t n;
};

static inline bool pod_lookup(const void *node, kc_str name, kc_patch_field *ret)
{
    const pod_type *type = node;
    for (size_t i = 0; i < type->n; i++) {
        if (kc_str_is(name, type->fields[i].name)) {
            *ret = type->fields[i].is;
            return true;
        }
    }
    return false;
}

#define POD_TYPE(fields)  \
    {                     \
        fields,           \
        KC_COUNT(fields), \
    }
#define MERGED_BY(key) .merge = true, .merge_key = KC_STR_INIT(key)

/* labels, resources: text by name. */
static const pod_type pod_texts = {0};

static const pod_field pod_env_fields[] = {{"name"}, {"value"}};
static const pod_type pod_env = POD_TYPE(pod_env_fields);

static const pod_field pod_port_fields[] = {{"containerPort"}, {"name"}};
static const pod_type pod_port = POD_TYPE(pod_port_fields);

static const pod_field pod_container_fields[] = {
    {"name"},
    {"image"},
    {"args", {.element = &pod_texts}},
    {"env", {.element = &pod_env, MERGED_BY("name")}},
    {"ports", {.element = &pod_port, MERGED_BY("containerPort")}},
    {"capabilities", {.element = &pod_texts, .merge = true}},
    {"resources", {.object = &pod_texts}},
};
static const pod_type pod_container = POD_TYPE(pod_container_fields);

static const pod_field pod_volume_fields[] = {
    {"name"},
    {"emptyDir", {.object = &pod_texts}},
    {"hostPath", {.object = &pod_texts}},
};
static const pod_type pod_volume = POD_TYPE(pod_volume_fields);

static const pod_field pod_strategy_fields[] = {
    {"type"},
    {"maxSurge"},
    {"rolling", {.object = &pod_texts}},
    {"steps", {.element = &pod_env}},
    {"hooks", {.element = &pod_env, MERGED_BY("name")}},
    {"days", {.element = &pod_texts, .merge = true}},
};
static const pod_type pod_strategy = POD_TYPE(pod_strategy_fields);

static const pod_field pod_metadata_fields[] = {
    {"name"},
    {"labels", {.object = &pod_texts}},
    {"finalizers", {.element = &pod_texts, .merge = true}},
};
static const pod_type pod_metadata = POD_TYPE(pod_metadata_fields);

static const pod_field pod_fields[] = {
    {"kind"},
    {"image"},
    {"replicas"},
    {"metadata", {.object = &pod_metadata}},
    {"containers", {.element = &pod_container, MERGED_BY("name")}},
    {"volumes", {.element = &pod_volume, MERGED_BY("name"), .retain_keys = true}},
    {"strategy", {.object = &pod_strategy, .retain_keys = true}},
    {"tolerations", {.element = &pod_env}},
    {"command", {.element = &pod_texts}},
    {"days", {.element = &pod_texts, .merge = true}},
    {"raw", {.object = &pod_texts, .replace = true}},
    {"keyless", {.element = &pod_env, .merge = true}},
};
static const pod_type pod = POD_TYPE(pod_fields);

static const kc_patch_schema pod_schema = {pod_lookup, &pod};

#endif
