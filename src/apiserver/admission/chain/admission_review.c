/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admission_review.c: writes an AdmissionReview: members in the order of the Go struct, empty ones
 * omitted, so that webhooks that compare text see the same bytes as from Kubernetes.
 */
#include "apiserver/admission/chain/admission_review.h"

#include "kc/json.h"

/* Names need no escapes. Policies write a review for each request, so nothing is formatted. */
static void write_review_name(kc_buf *out, const char *before, const char *name)
{
    kc_buf_puts(out, before);
    kc_buf_puts(out, name);
    kc_buf_puts(out, "\":");
}

static void write_review_text(kc_buf *out, const char *name, kc_str text)
{
    write_review_name(out, ",\"", name);
    kc_json_quote(out, text);
}

static void member_unless_empty(kc_buf *out, const char *name, kc_str text)
{
    if (!kc_str_empty(text))
        write_review_text(out, name, text);
}

/* {"group":"apps","version":"v1","kind":"Deployment"}; `what` is the name of the last member. */
static void write_group_version(kc_buf *out, const char *name, const char *group,
                                const char *version, const char *what, const char *text)
{
    write_review_name(out, ",\"", name);
    write_review_name(out, "{\"", "group");
    kc_json_quote(out, kc_cstr(group));
    write_review_text(out, "version", kc_cstr(version));
    write_review_text(out, what, kc_cstr(text));
    kc_buf_putc(out, '}');
}

/* The kind of the object: the subresource's, or the resource's. */
static void write_kind(kc_buf *out, const char *name, const kc__resource *resource,
                       const kc__resource_subresource *part)
{
    if (part && part->kind)
        write_group_version(out, name, part->group ? part->group : resource->group,
                            part->version ? part->version : resource->version, "kind", part->kind);
    else
        write_group_version(out, name, resource->group, resource->version, "kind", resource->kind);
}

static void write_review_resource(kc_buf *out, const char *name, const kc__resource *resource)
{
    write_group_version(out, name, resource->group, resource->version, "resource",
                        resource->plural);
}

static void write_user(kc_buf *out, const kc__user *user)
{
    kc_buf_puts(out, ",\"userInfo\":");
    kc__user_write(out, user);
}

static void json_member(kc_buf *out, const char *name, kc_str json)
{
    write_review_name(out, ",\"", name);
    kc_buf_append(out, kc_str_empty(json) ? KC_STR("null") : json);
}

static void object_member(kc_buf *out, const char *name, const kc_object *object)
{
    json_member(out, name, object ? kc_object_json(object) : (kc_str){0});
}

void kc__admission_review_write(kc_buf *out, const kc__admission_review *review)
{
    const kc__admission_attributes *about = review->about;
    const kc_str part = kc_cstr(about->subresource ? about->subresource->name : "");
    kc_buf_printf(out,
                  "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/%s\","
                  "\"request\":{\"uid\":",
                  review->beta ? "v1beta1" : "v1");
    kc_json_quote(out, review->uid);
    write_kind(out, "kind", review->as, about->subresource);
    write_review_resource(out, "resource", review->resource ? review->resource : review->as);
    member_unless_empty(out, "subResource", part);
    write_kind(out, "requestKind", about->resource, about->subresource);
    write_review_resource(out, "requestResource", about->resource);
    member_unless_empty(out, "requestSubResource", part);
    member_unless_empty(out, "name", about->name);
    member_unless_empty(out, "namespace", about->ns);
    write_review_text(out, "operation", kc_cstr(about->operation));
    write_user(out, about->user);
    object_member(out, "object", review->object);
    object_member(out, "oldObject", review->old);
    kc_buf_printf(out, ",\"dryRun\":%s", about->dry_run ? "true" : "false");
    json_member(out, "options", about->options);
    kc_buf_puts(out, "}}\n");
}
