/* SPDX-License-Identifier: Apache-2.0 */
/*
 * review.c: writing an AdmissionReview: members in the order of the Go struct, empty ones left out,
 * as hooks that compare texts have always seen them.
 */
#include "apiserver/admission/review.h"

#include "kc/json.h"

static void text_member(kc_buf *out, const char *name, kc_str text)
{
    kc_buf_printf(out, ",\"%s\":", name);
    kc_json_quote(out, text);
}

static void member_unless_empty(kc_buf *out, const char *name, kc_str text)
{
    if (!kc_str_empty(text))
        text_member(out, name, text);
}

/* {"group":"apps","version":"v1","kind":"Deployment"}; `what` names the last. */
static void write_group_version(kc_buf *out, const char *name, const char *group,
                                const char *version, const char *what, const char *text)
{
    kc_buf_printf(out, ",\"%s\":{\"group\":\"%s\",\"version\":\"%s\",\"%s\":\"%s\"}", name, group,
                  version, what, text);
}

/* What is spoken there. */
static void write_kind(kc_buf *out, const char *name, const kc__resource *resource,
                       const kc__subresource *part)
{
    if (part && part->kind)
        write_group_version(out, name, part->group ? part->group : resource->group,
                            part->version ? part->version : resource->version, "kind", part->kind);
    else
        write_group_version(out, name, resource->group, resource->version, "kind", resource->kind);
}

static void write_resource(kc_buf *out, const char *name, const kc__resource *resource)
{
    write_group_version(out, name, resource->group, resource->version, "resource",
                        resource->plural);
}

static void write_texts(kc_buf *out, const kc_str *texts, size_t n)
{
    kc_buf_putc(out, '[');
    for (size_t i = 0; i < n; i++) {
        kc_buf_puts(out, i ? "," : "");
        kc_json_quote(out, texts[i]);
    }
    kc_buf_putc(out, ']');
}

static void write_extra(kc_buf *out, const kc__user *user)
{
    kc_buf_puts(out, ",\"extra\":{");
    for (size_t i = 0; i < user->n_extra; i++) {
        kc_buf_puts(out, i ? "," : "");
        kc_json_quote(out, user->extra[i].key);
        kc_buf_putc(out, ':');
        write_texts(out, user->extra[i].values, user->extra[i].n_values);
    }
    kc_buf_putc(out, '}');
}

static void write_user(kc_buf *out, const kc__user *user)
{
    kc_buf_puts(out, ",\"userInfo\":{\"username\":");
    kc_json_quote(out, user->name);
    member_unless_empty(out, "uid", user->uid);
    if (user->n_groups) {
        kc_buf_puts(out, ",\"groups\":");
        write_texts(out, user->groups, user->n_groups);
    }
    if (user->n_extra)
        write_extra(out, user);
    kc_buf_putc(out, '}');
}

static void json_member(kc_buf *out, const char *name, kc_str json)
{
    kc_buf_printf(out, ",\"%s\":", name);
    kc_buf_append(out, kc_str_empty(json) ? KC_STR("null") : json);
}

static void object_member(kc_buf *out, const char *name, const kc_object *object)
{
    json_member(out, name, object ? kc_object_json(object) : (kc_str){0});
}

void kc__hook_review_write(kc_buf *out, const kc__hook_review *review)
{
    const kc__attributes *about = review->about;
    const kc_str part = kc_cstr(about->subresource ? about->subresource->name : "");
    kc_buf_printf(out,
                  "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/%s\","
                  "\"request\":{\"uid\":",
                  review->beta ? "v1beta1" : "v1");
    kc_json_quote(out, review->uid);
    write_kind(out, "kind", review->as, about->subresource);
    write_resource(out, "resource", review->as);
    member_unless_empty(out, "subResource", part);
    write_kind(out, "requestKind", about->resource, about->subresource);
    write_resource(out, "requestResource", about->resource);
    member_unless_empty(out, "requestSubResource", part);
    member_unless_empty(out, "name", about->name);
    member_unless_empty(out, "namespace", about->ns);
    text_member(out, "operation", kc_cstr(about->operation));
    write_user(out, about->user);
    object_member(out, "object", review->object);
    object_member(out, "oldObject", review->old);
    kc_buf_printf(out, ",\"dryRun\":%s", about->dry_run ? "true" : "false");
    json_member(out, "options", about->options);
    kc_buf_puts(out, "}}\n");
}
