/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.c: one Node object: its registration and its status.
 *
 * The status is written when it has changed, when the server's copy differs (the node lifecycle
 * controller marked the node as lost), and every five minutes. The much smaller lease (lease.c) is
 * the heartbeat. Stopping writes no status: the node lifecycle controller handles nodes that stop
 * renewing.
 */
#include "pods/nodes.h"

#include "kc/kinds.h"

#include <stdio.h>
#include <sys/utsname.h>

#define HEARTBEAT       (5 * KC_MINUTE)
#define KUBELET_VERSION "v1.34.1"

/* ---- status ---- */

static const struct {
    const char *type, *status, *reason, *message;
} conditions[] = {
    {"MemoryPressure", "False", "KubeletHasSufficientMemory",
     "kubelet has sufficient memory available"},
    {"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
    {"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
    {"Ready", "True", "KubeletReady", "kubelet is posting ready status"},
};

static const kc_node_condition *condition_of(const kc_cluster_node *node, const char *type)
{
    for (size_t i = 0; node && i < node->status.n_conditions; i++)
        if (!strcmp(node->status.conditions[i].type, type))
            return &node->status.conditions[i];
    return NULL;
}

static void set_conditions(const kc_cluster_node *was, kc_time now, kc_arena *arena,
                           kc_node_status *status)
{
    status->n_conditions = KC_COUNT(conditions);
    status->conditions = kc_arena_calloc(arena, KC_COUNT(conditions), sizeof(kc_node_condition));
    for (size_t i = 0; i < KC_COUNT(conditions); i++) {
        const kc_node_condition *old = condition_of(was, conditions[i].type);
        const bool same = old && !strcmp(old->status, conditions[i].status);
        status->conditions[i] = (kc_node_condition){
            .type = (char *)conditions[i].type,
            .status = (char *)conditions[i].status,
            .reason = (char *)conditions[i].reason,
            .message = (char *)conditions[i].message,
            .last_heartbeat_time.at = now,
            .last_transition_time.at = same ? old->last_transition_time.at : now,
        };
    }
}

static void add_resource(kc_resource_list *list, const char *name, kc_quantity amount,
                         kc_arena *arena)
{
    char text[KC_QUANTITY_MAX];
    const kc_str printed = kc_quantity_print(amount, text);
    list->items[list->n].key = (char *)name;
    list->items[list->n++].value.text = kc_arena_strndup(arena, printed.p, printed.n);
}

static void set_capacity(const kc__pods_nodes *nodes, kc_arena *arena, kc_node_status *status)
{
    kc_resource_list *list = &status->capacity;
    list->items = kc_arena_calloc(arena, 4, sizeof(*list->items));
    add_resource(list, "cpu", kc_quantity_of_milli(nodes->cpu, KC_DECIMAL_SI), arena);
    add_resource(list, "ephemeral-storage", kc_quantity_of(nodes->storage, KC_BINARY_SI), arena);
    add_resource(list, "memory", kc_quantity_of(nodes->memory, KC_BINARY_SI), arena);
    add_resource(list, "pods", kc_quantity_of(nodes->pods, KC_DECIMAL_SI), arena);
    status->allocatable = *list;
}

static const char *architecture(const struct utsname *machine)
{
    return !strcmp(machine->machine, "x86_64")    ? "amd64"
           : !strcmp(machine->machine, "aarch64") ? "arm64"
                                                  : machine->machine;
}

static kc_node_info *make_info(const kc__pods_node *node, const struct utsname *machine,
                               kc_arena *arena)
{
    kc_node_info *info = kc_arena_new(arena, kc_node_info);
    *info = (kc_node_info){
        .machine_id = node->name,
        .system_uuid = node->name,
        .boot_id = node->name,
        .kernel_version = kc_arena_printf(arena, "%s", machine->release),
        .os_image = kc_arena_printf(arena, "%s", machine->sysname),
        .container_runtime_version = kc_arena_printf(arena, "%s://%s", node->nodes->runtime_name,
                                                     node->nodes->runtime_version),
        .kubelet_version = (char *)KUBELET_VERSION,
        .kube_proxy_version = (char *)"",
        .operating_system = (char *)"linux",
        .architecture = kc_arena_printf(arena, "%s", architecture(machine)),
    };
    return info;
}

static void make_status(const kc__pods_node *node, const kc_cluster_node *was, kc_arena *arena,
                        kc_node_status *ret)
{
    struct utsname machine;
    const kc_time now = kc_clock_wall(node->nodes->clock);
    uname(&machine);
    kc_node_address *addresses = kc_arena_calloc(arena, 2, sizeof(*addresses));
    addresses[0] = (kc_node_address){.type = (char *)"InternalIP", .address = (char *)node->ip};
    addresses[1] = (kc_node_address){.type = (char *)"Hostname", .address = node->name};
    *ret = (kc_node_status){.addresses = addresses, .n_addresses = 2};
    set_capacity(node->nodes, arena, ret);
    set_conditions(was, now - now % KC_SECOND, arena, ret);
    ret->node_info = make_info(node, &machine, arena);
    ret->daemon_endpoints = kc_arena_new(arena, kc_daemon_endpoints);
    ret->daemon_endpoints->kubelet_endpoint = kc_arena_new(arena, kc_daemon_endpoint);
    if (node->nodes->server)
        ret->daemon_endpoints->kubelet_endpoint->port =
            kc__pods_node_server_port(node->nodes->server);
}

/* How the API server identifies and reaches this node (docs/internals/access.md). */
static kc_string_map make_annotations(const kc__pods_node *node, kc_arena *arena)
{
    const kc__pods_node_server *server = node->nodes->server;
    kc_string_map map = {.items = kc_arena_calloc(arena, 2, sizeof(kc_string_pair))};
    if (!server)
        return map;
    map.n = 2;
    map.items[0] = (kc_string_pair){(char *)"kubecontroller.io/serving-key",
                                    (char *)kc__pods_node_server_key(server)};
    map.items[1] = (kc_string_pair){(char *)"kubecontroller.io/serving-address",
                                    (char *)kc__pods_node_server_address(server)};
    return map;
}

kc_string_map kc__pods_node_labels(const kc__pods_node *node, kc_arena *arena)
{
    struct utsname machine;
    uname(&machine);
    char *arch = kc_arena_printf(arena, "%s", architecture(&machine));
    kc_string_map labels = {.items = kc_arena_calloc(arena, 5, sizeof(kc_string_pair)), .n = 5};
    labels.items[0] = (kc_string_pair){(char *)"beta.kubernetes.io/arch", arch};
    labels.items[1] = (kc_string_pair){(char *)"beta.kubernetes.io/os", (char *)"linux"};
    labels.items[2] = (kc_string_pair){(char *)"kubernetes.io/arch", arch};
    labels.items[3] = (kc_string_pair){(char *)"kubernetes.io/hostname", node->name};
    labels.items[4] = (kc_string_pair){(char *)"kubernetes.io/os", (char *)"linux"};
    return labels;
}

/* ---- writes ---- */

static void pods_node_record(kc__pods_node *node, const kc_object *object)
{
    free(node->uid);
    node->uid = kc_str_dup(kc_object_uid(object));
}

/* Keeps conditions and addresses of other writers; restores our labels if they were removed. */
static int patch_status(kc__pods_node *node, const kc_cluster_node *was, kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) body = {0};
    kc_node_status status;
    make_status(node, was, &arena, &status);
    kc_buf_puts(&body, "{\"status\":");
    kc_struct_write(&kc_node_status_struct, &status, &body);
    kc_buf_puts(&body, "}");
    kc_auto(kc_object) *now =
        kc_client_patch(node->client, &kc_kind_node, KC_KEY("", node->name), KC_PATCH_STRATEGIC,
                        kc_buf_str(&body), &(kc_write_opts){.subresource = "status"}, err);
    if (!now)
        return kc_error_result(err);
    pods_node_record(node, now);
    node->heartbeat = kc_clock_wall(node->nodes->clock);
    return 0;
}

static void pods_node_write_map(kc_buf *out, const char *name, kc_string_map map)
{
    kc_buf_printf(out, "\"%s\":{", name);
    for (size_t i = 0; i < map.n; i++)
        kc_buf_printf(out, "%s\"%s\":\"%s\"", i ? "," : "", map.items[i].key, map.items[i].value);
    kc_buf_puts(out, "}");
}

static int patch_metadata(kc__pods_node *node, kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) body = {0};
    kc_buf_puts(&body, "{\"metadata\":{");
    pods_node_write_map(&body, "labels", kc__pods_node_labels(node, &arena));
    kc_buf_puts(&body, ",");
    pods_node_write_map(&body, "annotations", make_annotations(node, &arena));
    kc_buf_puts(&body, "}}");
    kc_auto(kc_object) *now = kc_client_patch(node->client, &kc_kind_node, KC_KEY("", node->name),
                                              KC_PATCH_MERGE, kc_buf_str(&body), NULL, err);
    return now ? 0 : kc_error_result(err);
}

int kc__pods_node_register(kc__pods_node *node, kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    kc_cluster_node wanted = {.metadata = {.name = node->name}};
    wanted.metadata.labels = kc__pods_node_labels(node, &arena);
    wanted.metadata.annotations = make_annotations(node, &arena);
    make_status(node, NULL, &arena, &wanted.status);
    kc_auto(kc_object) *object = kc_cluster_node_object(&wanted, err);
    if (!object)
        return kc_error_result(err);
    kc_auto(kc_object) *made = kc_client_create(node->client, object, NULL, err);
    if (made) {
        pods_node_record(node, made);
        node->heartbeat = kc_clock_wall(node->nodes->clock);
        kc_log_verbose(node->nodes->log, 2, "node registered", kc_kv("node", node->name));
        return 0;
    }
    if (!kc_is_already_exists(err))
        return kc_error_result(err);
    kc_error_done(err);
    kc_auto(kc_cluster_node) *was = kc__pods_node_get(node);
    return patch_metadata(node, err) < 0 ? kc_error_result(err) : patch_status(node, was, err);
}

int kc__pods_node_leave(kc__pods_node *node, kc_error *err)
{
    char time[KC_TIME_TEXT];
    const kc_str now = kc_time_print(kc_clock_wall(node->nodes->clock), time);
    kc_scoped(kc_buf) body = {0};
    kc_buf_printf(
        &body,
        "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\",\"reason\":"
        "\"KubeletNotReady\",\"message\":\"node is shutting down\",\"lastHeartbeatTime\":"
        "\"%.*s\",\"lastTransitionTime\":\"%.*s\"}]}}",
        KC_ARG(now), KC_ARG(now));
    kc_auto(kc_object) *left =
        kc_client_patch(node->client, &kc_kind_node, KC_KEY("", node->name), KC_PATCH_STRATEGIC,
                        kc_buf_str(&body), &(kc_write_opts){.subresource = "status"}, err);
    return left ? 0 : kc_error_result(err);
}

static bool is_reported_ready(const kc_cluster_node *node)
{
    const kc_node_condition *ready = condition_of(node, "Ready");
    return ready && !strcmp(ready->status, "True");
}

int kc__pods_node_report(kc__pods_node *node, kc_error *err)
{
    const kc_time now = kc_clock_wall(node->nodes->clock);
    kc_auto(kc_cluster_node) *was = kc__pods_node_get(node);
    /* A stale cache may lack a node that was just created. */
    if (!was && now - node->heartbeat > KC_SECOND) {
        node->lease = kc_object_unref(node->lease);
        return kc__pods_node_register(node, err);
    }
    if (!was || (is_reported_ready(was) && now - node->heartbeat < HEARTBEAT))
        return 0;
    if (patch_status(node, was, err) == 0)
        return 0;
    return kc_ignore_not_found(err) < 0 ? kc_error_result(err) : kc__pods_node_register(node, err);
}
