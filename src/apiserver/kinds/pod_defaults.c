/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_defaults.c: defaults of what pods are made of: the spec, containers, their ports, probes and
 * environment. Pods and everything with a template of pods use them.
 *
 * What only a Pod itself gets (requests from limits, service links, ports of the host) is in
 * strategy_pod.c: in a template it would change objects that were stored before it became a
 * default.
 */
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/image.h"

static const kc__default port[] = {{.field = "protocol", .json = "\"TCP\""}};
static const kc__defaults port_defaults = KC__DEFAULTS(port);

static const kc__default env_source[] = {{.field = "fieldRef", .of = &kc__field_ref_defaults}};
static const kc__defaults env_source_defaults = KC__DEFAULTS(env_source);
static const kc__default env[] = {{.field = "valueFrom", .of = &env_source_defaults}};
static const kc__defaults env_defaults = KC__DEFAULTS(env);

static const kc__default http_get[] = {
    {.field = "path", .json = "\"/\""},
    {.field = "scheme", .json = "\"HTTP\""},
};
static const kc__defaults http_get_defaults = KC__DEFAULTS(http_get);
static const kc__default grpc[] = {{.field = "service", .json = "\"\""}};
static const kc__defaults grpc_defaults = KC__DEFAULTS(grpc);

static const kc__default probe[] = {
    {.field = "httpGet", .of = &http_get_defaults}, {.field = "grpc", .of = &grpc_defaults},
    {.field = "timeoutSeconds", .json = "1"},       {.field = "periodSeconds", .json = "10"},
    {.field = "successThreshold", .json = "1"},     {.field = "failureThreshold", .json = "3"},
};
static const kc__defaults probe_defaults = KC__DEFAULTS(probe);

static const kc__default handler[] = {{.field = "httpGet", .of = &http_get_defaults}};
static const kc__defaults handler_defaults = KC__DEFAULTS(handler);
static const kc__default lifecycle[] = {
    {.field = "postStart", .of = &handler_defaults},
    {.field = "preStop", .of = &handler_defaults},
};
static const kc__defaults lifecycle_defaults = KC__DEFAULTS(lifecycle);

static void choose_pull_policy(kc_edit *edit, kc_node *container)
{
    bool latest = kc__image_is_latest(kc__node_text(container, "image"));
    kc__default_set(edit, container, "imagePullPolicy", latest ? "\"Always\"" : "\"IfNotPresent\"");
}

static const kc__default container[] = {
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

static const kc__default pod_spec[] = {
    {.field = "volumes", .of = &kc__volume_defaults},
    {.field = "initContainers", .of = &container_defaults},
    {.field = "containers", .of = &container_defaults},
    {.field = "ephemeralContainers", .of = &container_defaults},
    {.field = "restartPolicy", .json = "\"Always\""},
    {.field = "terminationGracePeriodSeconds", .json = "30"},
    {.field = "dnsPolicy", .json = "\"ClusterFirst\""},
    {.field = "securityContext", .json = "{}"},
    {.field = "schedulerName", .json = "\"default-scheduler\""},
};

/* The account has two names, of which the shorter is the older. */
static void name_account(kc_edit *edit, kc_node *spec)
{
    kc_str name = kc__node_text(spec, "serviceAccountName");
    name = name.n ? name : kc__node_text(spec, "serviceAccount");
    if (!name.n)
        return;
    kc_node_set(edit, spec, KC_STR("serviceAccountName"), kc_node_str(edit, name));
    kc_node_set(edit, spec, KC_STR("serviceAccount"), kc_node_str(edit, name));
}

/* Of a container alone is only said that it starts again beside the others. */
static void drop_restarts(kc_node *containers, bool init)
{
    kc_node_items (containers, one)
        if (!init || !kc_str_is(kc__node_text(one, "restartPolicy"), "Always"))
            kc_node_remove(one, KC_STR("restartPolicy"));
}

static void complete_spec(kc_edit *edit, kc_node *spec)
{
    name_account(edit, spec);
    drop_restarts(kc_node_get(spec, KC_STR("containers")), false);
    drop_restarts(kc_node_get(spec, KC_STR("initContainers")), true);
}

const kc__defaults kc__pod_spec_defaults = {
    .list = pod_spec, .n = KC_COUNT(pod_spec), .code = complete_spec};

static const kc__default pod_template[] = {{.field = "spec", .of = &kc__pod_spec_defaults}};
const kc__defaults kc__pod_template_defaults = KC__DEFAULTS(pod_template);
