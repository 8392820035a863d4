/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robot.c: keeps a Deployment for every Robot with spec.replicas: recreates a deleted one and
 * restores its size after a manual change. A Deployment of that name with another owner is not
 * touched, and an event reports it. A resync queues every Robot each 30 seconds, since no watch
 * reports that such a name becomes free.
 */
#include "api/robot_v1/zz_generated.h"

#include "kc/app.h"
#include "kc/create_or_update.h"
#include "kc/kinds.h"
#include "kc/view.h"

static kc_node *labels_of(const robot *r, kc_edit *edit)
{
    kc_node *labels = kc_node_object(edit);
    kc_node_add(edit, labels, KC_STR("app"), kc_node_str(edit, KC_STR("nginx")));
    kc_node_add(edit, labels, KC_STR("controller"), kc_node_str(edit, kc_cstr(r->metadata.name)));
    return labels;
}

/* Set only on creation; later changes by others stay. */
static void robot_begin(const robot *r, kc_edit *d)
{
    kc_node *containers = kc_node_array(d), *nginx = kc_node_object(d);
    kc_node_add(d, nginx, KC_STR("name"), kc_node_str(d, KC_STR("nginx")));
    kc_node_add(d, nginx, KC_STR("image"), kc_node_str(d, KC_STR("nginx:latest")));
    kc_node_append(containers, nginx);
    kc_edit_set_nested(d, "spec.selector.matchLabels", labels_of(r, d));
    kc_edit_set_nested(d, "spec.template.metadata.labels", labels_of(r, d));
    kc_edit_set_nested(d, "spec.template.spec.containers", containers);
}

static int robot_fill(kc_edit *d, void *user, kc_error *err)
{
    const robot *r = user;
    if (!kc_node_get(kc_edit_root(d), KC_STR("spec")))
        robot_begin(r, d);
    kc_edit_set_nested(d, "spec.replicas", kc_node_i64(d, r->spec.replicas));
    const kc_owner owner = kc_owner_of(r->metadata.origin, true);
    return kc_edit_set_controller(d, &owner, err);
}

static kc_result robot_reject(kc_context *ctx, const robot *r, kc_error *err)
{
    kc_recorder_event(ctx->recorder, r->metadata.origin, KC_EVENT_TYPE_WARNING, "ErrResourceExists",
                      "Resource \"%s\" already exists and is not managed by Robot",
                      r->spec.deployment_name);
    kc_error_set(err, KC_ALREADY_EXISTS,
                 "Resource \"%s\" already exists and is not managed by Robot",
                 r->spec.deployment_name);
    return kc_retry(err);
}

static kc_result robot_reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
{
    kc_auto(robot) *r = robot_get(ctx->client, req->key, err);
    if (!r)
        return kc_done_if_not_found(err);
    if (r->metadata.deletion_timestamp.at)
        return kc_done(); /* The Deployment is deleted with its owner. */
    const kc_key key = {req->key.ns, kc_cstr(r->spec.deployment_name)};
    kc_scoped(kc_error) absent = {0};
    kc_auto(kc_object) *there = kc_client_get(ctx->client, &kc_kind_deployment, key, NULL, &absent);
    if (there && !kc_object_controlled_by(there, kc_cstr(r->metadata.uid)))
        return robot_reject(ctx, r, err);
    const int written =
        kc_create_or_update(ctx->client, &kc_kind_deployment, key, robot_fill, r, NULL, err);
    if (written < 0)
        return kc_retry(err);
    if (written != KC_OPERATION_UNCHANGED)
        kc_recorder_event(ctx->recorder, r->metadata.origin, KC_EVENT_TYPE_NORMAL, "Synced",
                          "Robot synced successfully");
    return kc_done();
}

KC_RECONCILER(robot) = {
    .description = "keeps a deployment for every robot",
    .kind = &robot_kind,
    .owns = KC_KINDS(&kc_kind_deployment),
    .reconcile = robot_reconcile,
    .workers = 2,
    .resync = 30 * KC_SECOND,
};
