/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_account_volume.c: adds the volume kube-api-access-xxxxx to a pod. Its token expires after
 * 3607 seconds: kube-apiserver uses this number to recognize tokens of pods, and extends them
 * for clients that never read their token again.
 */
#include "apiserver/admission/plugins/service_account_volume.h"

#include "apiserver/kinds/defaults.h"
#include "kc/names.h"

#define PREFIX     "kube-api-access-"
#define MOUNT_PATH "/var/run/secrets/kubernetes.io/serviceaccount"

static const char volume_source[] =
    "{\"projected\":{\"sources\":["
    "{\"serviceAccountToken\":{\"expirationSeconds\":3607,\"path\":\"token\"}},"
    "{\"configMap\":{\"name\":\"kube-root-ca.crt\","
    "\"items\":[{\"key\":\"ca.crt\",\"path\":\"ca.crt\"}]}},"
    "{\"downwardAPI\":{\"items\":[{\"path\":\"namespace\","
    "\"fieldRef\":{\"apiVersion\":\"v1\",\"fieldPath\":\"metadata.namespace\"}}]}}],"
    "\"defaultMode\":420}}";

static bool mounts_something_there(const kc_node *mounts)
{
    kc_node_each_item (mounts, mount)
        if (kc_str_is(kc__defaults_node_text(mount, "mountPath"), MOUNT_PATH))
            return true;
    return false;
}

static kc_node *array_member(kc_edit *edit, kc_node *object, const char *name)
{
    kc_node *list = kc_node_get(object, kc_cstr(name));
    if (kc_node_type(list) == KC_JSON_ARRAY)
        return list;
    list = kc_node_array(edit);
    kc_node_set(edit, object, kc_cstr(name), list);
    return list;
}

/* Mounts the volume in the containers of a list; returns whether any needed it. */
static bool mount_in_containers(kc_edit *edit, const kc_node *containers, kc_str volume)
{
    bool needed = false;
    kc_node_each_item (containers, container) {
        if (mounts_something_there(kc_node_get(container, KC_STR("volumeMounts"))))
            continue;
        kc_node *mount = kc_node_object(edit);
        kc_node_set(edit, mount, KC_STR("name"), kc_node_str(edit, volume));
        kc_node_set(edit, mount, KC_STR("readOnly"), kc_node_bool(edit, true));
        kc_node_set(edit, mount, KC_STR("mountPath"), kc_node_str(edit, KC_STR(MOUNT_PATH)));
        kc_node_append(array_member(edit, container, "volumeMounts"), mount);
        needed = true;
    }
    return needed;
}

static kc_str existing_volume(const kc_node *spec)
{
    kc_node_each_item (kc_node_get(spec, KC_STR("volumes")), volume) {
        const kc_str name = kc__defaults_node_text(volume, "name");
        if (kc_str_starts(name, KC_STR(PREFIX)))
            return name;
    }
    return (kc_str){0};
}

static void add_token_volume(kc_edit *edit, kc_node *spec, kc_str name)
{
    kc_auto(kc_view) *source = kc_view_parse(kc_cstr(volume_source), NULL, NULL);
    kc_node *volume = kc_node_from_value(edit, kc_view_root(source));
    kc_node_set(edit, volume, KC_STR("name"), kc_node_str(edit, name));
    kc_node_append(array_member(edit, spec, "volumes"), volume);
}

void kc__admission_mount_token(kc_edit *edit, kc_node *spec, kc_rand *rand)
{
    char text[KC_GENERATED_NAME];
    const kc_str existing = existing_volume(spec);
    const kc_str name = existing.n ? existing : kc_generate_name(KC_STR(PREFIX), rand, text);
    const bool init = mount_in_containers(edit, kc_node_get(spec, KC_STR("initContainers")), name),
               main = mount_in_containers(edit, kc_node_get(spec, KC_STR("containers")), name);
    if (!existing.n && (init || main))
        add_token_volume(edit, spec, name);
}
