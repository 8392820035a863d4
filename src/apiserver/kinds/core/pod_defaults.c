/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_defaults.c: defaults of the parts of a pod: the spec, containers, their ports, probes and
 * environment. Used for Pods and for all kinds with a pod template.
 *
 * Defaults that only a Pod itself gets (requests from limits, service links, host ports) are in
 * pod_strategy.c: in a template they would change objects that were stored before the default
 * existed.
 */
#include "apiserver/kinds/core/image.h"
#include "apiserver/kinds/defaults.h"

static const kc__defaults_entry port[] = {{.field = "protocol", .json = "\"TCP\""}};
static const kc__defaults port_defaults = KC__DEFAULTS(port);

static const kc__defaults_entry env_source[] = {
    {.field = "fieldRef", .of = &kc__defaults_field_ref}};
static const kc__defaults env_source_defaults = KC__DEFAULTS(env_source);
static const kc__defaults_entry env[] = {{.field = "valueFrom", .of = &env_source_defaults}};
static const kc__defaults env_defaults = KC__DEFAULTS(env);

static const kc__defaults_entry http_get[] = {
    {.field = "path", .json = "\"/\""},
    {.field = "scheme", .json = "\"HTTP\""},
};
static const kc__defaults http_get_defaults = KC__DEFAULTS(http_get);
static const kc__defaults_entry grpc[] = {{.field = "service", .json = "\"\""}};
static const kc__defaults grpc_defaults = KC__DEFAULTS(grpc);

static const kc__defaults_entry probe[] = {
    {.field = "httpGet", .of = &http_get_defaults}, {.field = "grpc", .of = &grpc_defaults},
    {.field = "timeoutSeconds", .json = "1"},       {.field = "periodSeconds", .json = "10"},
    {.field = "successThreshold", .json = "1"},     {.field = "failureThreshold", .json = "3"},
};
static const kc__defaults probe_defaults = KC__DEFAULTS(probe);

static const kc__defaults_entry handler[] = {{.field = "httpGet", .of = &http_get_defaults}};
static const kc__defaults handler_defaults = KC__DEFAULTS(handler);
static const kc__defaults_entry lifecycle[] = {
    {.field = "postStart", .of = &handler_defaults},
    {.field = "preStop", .of = &handler_defaults},
};
static const kc__defaults lifecycle_defaults = KC__DEFAULTS(lifecycle);

static void choose_pull_policy(kc_edit *edit, kc_node *container)
{
    bool latest = kc__image_is_latest(kc__defaults_node_text(container, "image"));
    kc__defaults_set(edit, container, "imagePullPolicy",
                     latest ? "\"Always\"" : "\"IfNotPresent\"");
}

static const kc__defaults_entry container[] = {
    {.field = "ports", .of = &port_defaults},
    {.field = "env", .of = &env_defaults},
    {.field = "livenessProbe", .of = &probe_defaults},
    {.field = "readinessProbe", .of = &probe_defaults},
    {.field = "startupProbe", .of = &probe_defaults},
    {.field = "lifecycle", .of = &lifecycle_defaults},
    {.field = "terminationMessagePath", .json = "\"/dev/termination-log\""},
    {.field = "terminationMessagePolicy", .json = "\"File\""},
};
static const kc__defaults container_defaults = {
    .list = container, .n = KC_COUNT(container), .code = choose_pull_policy};

static const kc__defaults_entry pod_spec[] = {
    {.field = "volumes", .of = &kc__defaults_volume},
    {.field = "initContainers", .of = &container_defaults},
    {.field = "containers", .of = &container_defaults},
    {.field = "ephemeralContainers", .of = &container_defaults},
    {.field = "restartPolicy", .json = "\"Always\""},
    {.field = "terminationGracePeriodSeconds", .json = "30"},
    {.field = "dnsPolicy", .json = "\"ClusterFirst\""},
    {.field = "securityContext", .json = "{}"},
    {.field = "schedulerName", .json = "\"default-scheduler\""},
};

/* serviceAccount is the deprecated alias of serviceAccountName; both get the same value. */
static void name_account(kc_edit *edit, kc_node *spec)
{
    kc_str name = kc__defaults_node_text(spec, "serviceAccountName");
    name = name.n ? name : kc__defaults_node_text(spec, "serviceAccount");
    if (!name.n)
        return;
    kc_node_set(edit, spec, KC_STR("serviceAccountName"), kc_node_str(edit, name));
    kc_node_set(edit, spec, KC_STR("serviceAccount"), kc_node_str(edit, name));
}

/* A container's own restartPolicy may only be Always, and only for an init container (a
 * sidecar). Drops any other. */
static void drop_restarts(kc_node *containers, bool init)
{
    kc_node_each_item (containers, one)
        if (!init || !kc_str_is(kc__defaults_node_text(one, "restartPolicy"), "Always"))
            kc_node_remove(one, KC_STR("restartPolicy"));
}

static void complete_spec(kc_edit *edit, kc_node *spec)
{
    name_account(edit, spec);
    drop_restarts(kc_node_get(spec, KC_STR("containers")), false);
    drop_restarts(kc_node_get(spec, KC_STR("initContainers")), true);
}

const kc__defaults kc__defaults_pod_spec = {
    .list = pod_spec, .n = KC_COUNT(pod_spec), .code = complete_spec};

static const kc__defaults_entry pod_template[] = {{.field = "spec", .of = &kc__defaults_pod_spec}};
const kc__defaults kc__defaults_pod_template = KC__DEFAULTS(pod_template);
