/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_patch_schema.c: the merge keys of the lists in pods and pod templates, for strategic merge
 * patches.
 *
 * A client has no schemas of Kubernetes' kinds, and needs only this one to create such patches:
 * pods are the objects whose lists are patched by key. The table contains only fields with a
 * strategy, and the fields that lead to one. All other fields are `anything`: objects are merged
 * member by member, lists replaced, which is the meaning of a field without a strategy. A test
 * compares the table with the server's schemas, so a new field with a strategy is one more row
 * here.
 */
#include "kc/strategic_patch.h"

typedef struct pod_patch_schema_row {
    const char *name;
    kc_patch_field is;
} pod_patch_schema_row;

typedef struct node {
    const pod_patch_schema_row *rows; /* Ended by a row without a name. */
} node;

#define NODE(...)                                                 \
    {                                                             \
        .rows = (const pod_patch_schema_row[]){__VA_ARGS__, {0}}, \
    }
#define MERGED_BY(key) .merge = true, .merge_key = KC_STR_INIT(key)

static const pod_patch_schema_row no_rows[] = {{0}};
static const node anything = {no_rows};

static const node container =
    NODE({"env", {.element = &anything, MERGED_BY("name")}},
         {"ports", {.element = &anything, MERGED_BY("containerPort")}},
         {"volumeDevices", {.element = &anything, MERGED_BY("devicePath")}},
         {"volumeMounts", {.element = &anything, MERGED_BY("mountPath")}});

static const node metadata = NODE({"finalizers", {.element = &anything, .merge = true}},
                                  {"ownerReferences", {.element = &anything, MERGED_BY("uid")}});

static const node claim = NODE({"metadata", {.object = &metadata}});
static const node ephemeral = NODE({"volumeClaimTemplate", {.object = &claim}});
static const node volume = NODE({"ephemeral", {.object = &ephemeral}});

static const node spec =
    NODE({"containers", {.element = &container, MERGED_BY("name")}},
         {"ephemeralContainers", {.element = &container, MERGED_BY("name")}},
         {"hostAliases", {.element = &anything, MERGED_BY("ip")}},
         {"imagePullSecrets", {.element = &anything, MERGED_BY("name")}},
         {"initContainers", {.element = &container, MERGED_BY("name")}},
         {"resourceClaims", {.element = &anything, MERGED_BY("name"), .retain_keys = true}},
         {"schedulingGates", {.element = &anything, MERGED_BY("name")}},
         {"topologySpreadConstraints", {.element = &anything, MERGED_BY("topologyKey")}},
         {"volumes", {.element = &volume, MERGED_BY("name"), .retain_keys = true}});

static const node container_status =
    NODE({"allocatedResourcesStatus", {.element = &anything, MERGED_BY("name")}},
         {"volumeMounts", {.element = &anything, MERGED_BY("mountPath")}});

static const node status =
    NODE({"conditions", {.element = &anything, MERGED_BY("type")}},
         {"containerStatuses", {.element = &container_status}},
         {"ephemeralContainerStatuses", {.element = &container_status}},
         {"hostIPs", {.element = &anything, MERGED_BY("ip")}},
         {"initContainerStatuses", {.element = &container_status}},
         {"podIPs", {.element = &anything, MERGED_BY("ip")}},
         {"resourceClaimStatuses", {.element = &anything, MERGED_BY("name"), .retain_keys = true}});

static const node pod = NODE({"metadata", {.object = &metadata}}, {"spec", {.object = &spec}},
                             {"status", {.object = &status}});

static bool pod_patch_schema_describe(const void *of, kc_str name, kc_patch_field *ret)
{
    const node *n = of;
    for (const pod_patch_schema_row *r = n->rows; r->name; r++) {
        if (kc_str_is(name, r->name)) {
            *ret = r->is;
            return true;
        }
    }
    ret->object = &anything;
    return true;
}

const kc_patch_schema kc_patch_schema_pod = {.field = pod_patch_schema_describe, .root = &pod};
