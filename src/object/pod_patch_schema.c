/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_patch_schema.c: which lists of a pod are really maps: what strategic merge patches have to
 * know of pods and of the templates that pods are made of.
 *
 * A client has no definitions of Kubernetes' kinds, and needs none but this one to make such a
 * patch: pods are what is patched with their lists in mind. Only fields that have a strategy are
 * written down, and those that lead to one. All others are `anything`: objects are merged member by
 * member, lists replaced, which is what a field without a strategy means. A test holds the table
 * against the server's definitions, so a new field with a strategy is one more row here.
 */
#include "kc/strategic_patch.h"

typedef struct row {
    const char *name;
    kc_patch_field is;
} row;

typedef struct node {
    const row *rows; /* Ends with one without a name. */
} node;

#define NODE(...)                                \
    {                                            \
        .rows = (const row[]){__VA_ARGS__, {0}}, \
    }
#define MERGED_BY(key) .merge = true, .merge_key = KC_STR_INIT(key)

static const row no_rows[] = {{0}};
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

static bool describe(const void *of, kc_str name, kc_patch_field *ret)
{
    const node *n = of;
    for (const row *r = n->rows; r->name; r++) {
        if (kc_str_is(name, r->name)) {
            *ret = r->is;
            return true;
        }
    }
    ret->object = &anything;
    return true;
}

const kc_patch_schema kc_patch_schema_pod = {.field = describe, .root = &pod};
