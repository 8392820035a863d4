/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_review.c: SubjectAccessReview, SelfSubjectAccessReview, LocalSubjectAccessReview: whether
 * a user may do something (kubectl auth can-i).
 *
 * The answer is the review with a status. The status has the decision of the authorizers, and
 * reports selectors that could not be read: the decision is then about the whole collection.
 */
#include "apiserver/authz/request_state.h"
#include "apiserver/reviews/review_selector.h"
#include "kc/json.h"
#include "object/gofmt/go_json.h"

/* ---- validation ---- */

/* The value as Go prints the internal struct: with the names of its fields. */
static const char *attributes_json(const kc_value *attributes, kc_arena *arena)
{
    kc_scoped(kc_buf) out = {0};
    if (!attributes)
        return "null";
    kc_buf_puts(&out, "{\"Path\":");
    kc__go_json(&out, kc_value_get(attributes, "path"));
    kc_buf_puts(&out, ",\"Verb\":");
    kc__go_json(&out, kc_value_get(attributes, "verb"));
    kc_buf_putc(&out, '}');
    return kc_arena_strndup(arena, out.p, out.n);
}

/* The metadata with its members in the order of the struct. */
static const char *metadata_json(const kc_value *metadata, kc_arena *arena)
{
    kc_scoped(kc_buf) out = {0};
    kc_json_write(&out, metadata);
    return kc_arena_strndup(arena, out.p, out.n);
}

static void check_attributes(const kc__location *spec)
{
    const kc__location urls = kc__location_member(spec, "nonResourceAttributes"),
                       resources = kc__location_member(spec, "resourceAttributes");
    const char *shown = attributes_json(urls.value, &spec->errors->arena);
    if (resources.value && urls.value)
        kc__location_error_json(&urls, KC_FIELD_INVALID, shown,
                                "cannot be specified in combination with resourceAttributes");
    if (!resources.value && !urls.value)
        kc__location_error_json(
            &resources, KC_FIELD_INVALID, "null",
            "exactly one of nonResourceAttributes or resourceAttributes must be specified");
}

static void check_subject(const kc__location *spec)
{
    const kc__location user = kc__location_member(spec, "user"),
                       groups = kc__location_member(spec, "groups");
    if (!kc__location_is_set(&user) && !kc__location_is_set(&groups))
        kc__location_error_json(&user, KC_FIELD_INVALID, "\"\"",
                                "at least one of user or group must be specified");
}

/* Whether the metadata is empty but for managedFields and, if `local`, the namespace. */
static void check_metadata(const kc__location *root, bool local)
{
    static const char *const allowed[] = {"managedFields", NULL};
    static const char *const allowed_local[] = {"managedFields", "namespace", NULL};
    const kc__location metadata = kc__location_member(root, "metadata");
    kc_value_each_member (metadata.value, name, value) {
        if (kc_str_is_any(name, local ? allowed_local : allowed))
            continue;
        (void)value;
        kc__location_error_json(&metadata, KC_FIELD_INVALID,
                                metadata_json(metadata.value, &root->errors->arena),
                                local ? "must be empty except for namespace" : "must be empty");
        return;
    }
}

static void check_spec(const kc__location *root, bool names_subject)
{
    const kc__location spec = kc__location_member(root, "spec"),
                       resources = kc__location_member(&spec, "resourceAttributes");
    check_attributes(&spec);
    if (names_subject)
        check_subject(&spec);
    if (resources.value)
        kc__review_validate_selectors(&resources);
}

void kc__review_validate_access(const kc_value *review, kc_field_errors *errors)
{
    const kc__location root = kc__location_root(review, errors);
    check_spec(&root, true);
    check_metadata(&root, false);
}

void kc__review_validate_self_access(const kc_value *review, kc_field_errors *errors)
{
    const kc__location root = kc__location_root(review, errors);
    check_spec(&root, false);
    check_metadata(&root, false);
}

void kc__review_validate_local_access(const kc_value *review, kc_field_errors *errors)
{
    const kc__location root = kc__location_root(review, errors);
    check_spec(&root, true);
    check_metadata(&root, true);
    const kc__location spec = kc__location_member(&root, "spec"),
                       resources = kc__location_member(&spec, "resourceAttributes"),
                       urls = kc__location_member(&spec, "nonResourceAttributes"),
                       ns = kc__location_member(&resources, "namespace");
    const kc_str own = kc_value_as_str(kc_value_nested(review, "metadata.namespace"));
    if (resources.value && !kc_str_eq(kc__location_text(&ns), own))
        kc__location_error_text(&ns, KC_FIELD_INVALID, kc__location_text(&ns),
                                "must match metadata.namespace");
    if (urls.value)
        kc__location_error_json(&urls, KC_FIELD_INVALID,
                                attributes_json(urls.value, &errors->arena),
                                "disallowed on this kind of request");
}

/* ---- the user and the request ---- */

static kc_str text_of(const kc_value *object, const char *name)
{
    return kc_value_as_str(kc_value_get(object, name));
}

static kc__authz_attributes attributes_of_spec(const kc_value *spec, const kc__user *user)
{
    const kc_value *r = kc_value_get(spec, "resourceAttributes"),
                   *url = kc_value_get(spec, "nonResourceAttributes");
    if (!r)
        return (kc__authz_attributes){
            .user = user, .verb = text_of(url, "verb"), .path = text_of(url, "path")};
    const kc_str version = text_of(r, "version");
    return (kc__authz_attributes){.user = user,
                                  .is_resource = true,
                                  .verb = text_of(r, "verb"),
                                  .ns = text_of(r, "namespace"),
                                  .group = text_of(r, "group"),
                                  .version = kc_str_empty(version) ? KC_STR("*") : version,
                                  .resource = text_of(r, "resource"),
                                  .subresource = text_of(r, "subresource"),
                                  .name = text_of(r, "name")};
}

static kc_str *texts_of(const kc_value *list, kc_arena *arena, size_t *ret_n)
{
    kc_str *texts = kc_arena_calloc(arena, kc_value_len(list) + 1, sizeof(*texts));
    *ret_n = 0;
    kc_value_each_item (list, item)
        texts[(*ret_n)++] = kc_value_as_str(item);
    return texts;
}

static kc__user user_of_spec(const kc_value *spec, kc_arena *arena)
{
    const kc_value *extra = kc_value_get(spec, "extra");
    kc__user_extra *list = kc_arena_calloc(arena, kc_value_len(extra) + 1, sizeof(*list));
    kc__user user = {.name = text_of(spec, "user"), .uid = text_of(spec, "uid"), .extra = list};
    user.groups = texts_of(kc_value_get(spec, "groups"), arena, &user.n_groups);
    kc_value_each_member (extra, key, values) {
        kc__user_extra *e = &list[user.n_extra++];
        e->key = key;
        e->values = texts_of(values, arena, &e->n_values);
    }
    return user;
}

/* ---- the answer ---- */

/* A decision about a node may have to process many changes of pods first (node_authorizer.h). */
kc__rest_verdict kc__review_check_access(kc__rest_call *call, const kc_value *review)
{
    const kc__user user = user_of_spec(kc_value_get(review, "spec"), call->arena);
    if (kc__authz_takes_long(call->api->authz, &(kc__authz_attributes){.user = &user}))
        call->heavy = true;
    return KC__REST_NEXT;
}

kc__rest_verdict kc__review_check_self_access(kc__rest_call *call, const kc_value *review)
{
    (void)review;
    if (kc__authz_takes_long(call->api->authz, &(kc__authz_attributes){.user = &call->user}))
        call->heavy = true;
    return KC__REST_NEXT;
}

static void write_status(kc_buf *out, kc__authz_decision decision, kc_str reason, kc_str problem)
{
    kc_buf_printf(out, "{\"allowed\":%s", decision == KC__AUTHZ_ALLOW ? "true" : "false");
    if (decision == KC__AUTHZ_DENY)
        kc_buf_puts(out, ",\"denied\":true");
    if (!kc_str_empty(reason)) {
        kc_buf_puts(out, ",\"reason\":");
        kc_json_quote(out, reason);
    }
    if (!kc_str_empty(problem)) {
        kc_buf_puts(out, ",\"evaluationError\":");
        kc_json_quote(out, problem);
    }
    kc_buf_putc(out, '}');
}

/* The members of the review but its status, then the status. */
static void write_review(kc_buf *out, const kc_value *review, kc_str status)
{
    kc_buf_putc(out, '{');
    kc_value_each_member (review, name, value) {
        if (kc_str_is(name, "status"))
            continue;
        kc_json_quote(out, name);
        kc_buf_putc(out, ':');
        kc_json_write(out, value);
        kc_buf_putc(out, ',');
    }
    kc_buf_printf(out, "\"status\":%.*s}", KC_ARG(status));
}

/* The decision for a user; KC__AUTHZ_PENDING: a webhook must be called. */
static kc__authz_decision decide_for(kc__rest_call *call, const kc_value *review,
                                     const kc__user *user, kc_buf *reason)
{
    const kc_value *spec = kc_value_get(review, "spec");
    kc__authz_attributes a = attributes_of_spec(spec, user);
    kc_scoped(kc__authz_selectors) selectors = {0};
    kc__review_read_selectors(kc_value_get(spec, "resourceAttributes"), &selectors);
    kc__authz_select(&a, &selectors);
    return kc__authz_authorize(call->api->authz, kc__rest_authz_state(call), &a, reason);
}

static void webhook_done(void *user)
{
    kc__rest_call_resume(user, KC__REST_ON_LOOP);
}

static kc__rest_verdict wait_for(kc__rest_call *call, const kc_value *review, const kc__user *user)
{
    if (decide_for(call, review, user, NULL) != KC__AUTHZ_PENDING)
        return KC__REST_NEXT;
    if (call->authz_state->needs_worker)
        return KC__REST_ON_WORKER;
    if (call->on_worker)
        return KC__REST_ON_LOOP;
    kc__authz_request_state_call_webhook(call->authz_state, call->x->loop, webhook_done, call);
    return KC__REST_PENDING;
}

kc__rest_verdict kc__review_wait_for_access(kc__rest_call *call, const kc_value *review)
{
    const kc__user user = user_of_spec(kc_value_get(review, "spec"), call->arena);
    return wait_for(call, review, &user);
}

kc__rest_verdict kc__review_wait_for_self_access(kc__rest_call *call, const kc_value *review)
{
    return wait_for(call, review, &call->user);
}

static void answer_for(kc__rest_call *call, const kc_value *review, const kc__user *user,
                       kc_buf *out)
{
    kc_scoped(kc_buf) reason = {0}, problem = {0}, status = {0};
    kc__rest_authz_state(call)->repeats = true; /* wait_for has counted the decision. */
    const kc__authz_decision decision = decide_for(call, review, user, &reason);
    kc__authz_request_state_write_errors(call->authz_state, &problem);
    kc__review_report_selectors(kc_value_nested(review, "spec.resourceAttributes"), &problem);
    write_status(&status, decision, kc_buf_str(&reason), kc_buf_str(&problem));
    write_review(out, review, kc_buf_str(&status));
}

void kc__review_answer_access(kc__rest_call *call, const kc_value *review, kc_buf *out)
{
    const kc__user user = user_of_spec(kc_value_get(review, "spec"), call->arena);
    answer_for(call, review, &user, out);
}

void kc__review_answer_self_access(kc__rest_call *call, const kc_value *review, kc_buf *out)
{
    answer_for(call, review, &call->user, out);
}
