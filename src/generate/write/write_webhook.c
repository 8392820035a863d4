/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_webhook.c: writes webhook configurations from +kubebuilder:webhook markers.
 *
 * A marker becomes one webhook as JSON; its patch, if any, is applied; then the result is
 * validated. Webhooks are sorted by name, equal names in source order.
 * +kubebuilder:webhookconfiguration names their configuration.
 *
 * The format is controller-gen's. Values that it passes on unchecked (failurePolicy=faill,
 * verbs=creat) are errors here, with the marker's position: the API server would refuse them later.
 *
 * To add an argument: a row of table.c; if it takes one of some words, a row of `policies`, else a
 * line of put_webhook.
 */
#include "generate/write/write_webhook.h"

#include "generate/write/manifest.h"

#include "kc/edit.h"
#include "kc/strategic_patch.h"

#define DEFAULT_SERVICE   "webhook-service"
#define DEFAULT_NAMESPACE "system" /* Replaced by kustomize. */

typedef struct webhook {
    kc_str name, json;
    size_t order; /* Of its marker. */
} webhook;

/* One of the two objects. */
typedef struct configuration {
    const char *kind, *default_name;
    const kc__gen_marker *named_by; /* NULL: none. */
    KC_VEC(webhook) webhooks;
} configuration;

typedef struct gen_write_webhook_writing {
    kc_arena arena;
    configuration mutating, validating;
    bool failed;
    kc_error *err;
} gen_write_webhook_writing;

#define fail(w, marker, ...) \
    ((w)->failed = true, (void)kc__gen_error((w)->err, (marker)->at, __VA_ARGS__))

static bool is_mutating(const kc__gen_marker *marker)
{
    return kc_str_is(kc__gen_marker_json(marker, "mutating"), "true");
}

/* ---- enumerations ---- */

/* Arguments with a fixed set of values, case-insensitive; written in the API's spelling. */
static const struct policy {
    const char *name;
    const char *words[4];
    bool is_required, only_mutating;
} policies[] = {
    {"failurePolicy", {"Fail", "Ignore"}, .is_required = true},
    {"matchPolicy", {"Equivalent", "Exact"}},
    {"sideEffects", {"None", "NoneOnDryRun"}, .is_required = true},
    {"reinvocationPolicy", {"Never", "IfNeeded"}, .only_mutating = true},
};

static const char *const verbs[] = {"CREATE", "UPDATE", "DELETE", "CONNECT", "*", NULL};

/* The value in the API's spelling; NULL: invalid, and reported. */
static const char *spell(gen_write_webhook_writing *w, const kc__gen_marker *marker,
                         const char *argument, const char *const *words, kc_str text)
{
    kc_scoped(kc_buf) known = {0};
    for (const char *const *word = words; *word; word++) {
        if (kc_str_eq_nocase(text, kc_cstr(*word)))
            return *word;
        kc_buf_printf(&known, "%s%s", word == words ? "" : word[1] ? ", " : " or ", *word);
    }
    fail(w, marker, "'+kubebuilder:webhook': %s must be %s, not '%.*s'", argument,
         kc_buf_cstr(&known), KC_ARG(text));
    return NULL;
}

static void put_policies(gen_write_webhook_writing *w, const kc__gen_marker *marker, kc_buf *json)
{
    for (size_t i = 0; i < KC_COUNT(policies); i++) {
        const struct policy *policy = &policies[i];
        const kc_str text = kc__gen_marker_arg(marker, policy->name);
        if (!text.n && !policy->is_required)
            continue;
        const char *word = spell(w, marker, policy->name, policy->words, text);
        if (word && (!policy->only_mutating || is_mutating(marker)))
            kc__gen_manifest_text(json, policy->name, kc_cstr(word));
    }
}

/* ---- parts of a webhook ---- */

/* A list of texts of the marker; `words`, if not NULL, are the allowed values. */
static void put_list(gen_write_webhook_writing *w, const kc__gen_marker *marker,
                     const char *argument, const char *member, const char *const *words,
                     kc_buf *json)
{
    kc_auto(kc_view) *view = kc_view_parse(kc__gen_marker_json(marker, argument), NULL, NULL);
    KC_VEC(kc_str) texts = {0};
    kc_value_each_item (kc_view_root(view), item) {
        const kc_str text = kc_value_as_str(item);
        const char *word = words ? spell(w, marker, argument, words, text) : NULL;
        kc_vec_push(&texts, word ? kc_cstr(word) : text);
    }
    if (!strcmp(argument, "groups"))
        kc_vec_each (&texts, text)
            *text = kc_str_is(*text, "core") ? KC_STR("") : *text;
    kc__gen_manifest_list(json, member, texts.items, texts.n);
    kc_vec_done(&texts);
}

static void put_rules(gen_write_webhook_writing *w, const kc__gen_marker *marker, kc_buf *json)
{
    kc_buf_puts(json, ",\"rules\":[{");
    put_list(w, marker, "groups", "apiGroups", NULL, json);
    put_list(w, marker, "versions", "apiVersions", NULL, json);
    put_list(w, marker, "verbs", "operations", verbs, json);
    put_list(w, marker, "resources", "resources", NULL, json);
    kc_buf_puts(json, "}]");
}

static void put_client_config(gen_write_webhook_writing *w, const kc__gen_marker *marker,
                              kc_buf *json)
{
    const kc_str path = kc__gen_marker_arg(marker, "path"), url = kc__gen_marker_arg(marker, "url");
    const kc_str service = kc__gen_marker_arg(marker, "serviceName");
    const kc_str ns = kc__gen_marker_arg(marker, "serviceNamespace");
    const kc_str port = kc__gen_marker_json(marker, "servicePort");
    if (!path.n == !url.n)
        fail(w, marker, "'+kubebuilder:webhook' needs a path or a url, and not both");
    kc_buf_puts(json, ",\"clientConfig\":{");
    if (url.n) {
        kc__gen_manifest_text(json, "url", url);
    } else {
        kc_buf_puts(json, "\"service\":{");
        kc__gen_manifest_text(json, "name", service.n ? service : KC_STR(DEFAULT_SERVICE));
        kc__gen_manifest_text(json, "namespace", ns.n ? ns : KC_STR(DEFAULT_NAMESPACE));
        kc__gen_manifest_text(json, "path", path);
        if (port.n)
            kc_buf_printf(json, ",\"port\":%.*s", KC_ARG(port));
        kc_buf_putc(json, '}');
    }
    kc_buf_putc(json, '}');
}

static void put_webhook(gen_write_webhook_writing *w, const kc__gen_marker *marker, kc_buf *json)
{
    const kc_str timeout = kc__gen_marker_json(marker, "timeoutSeconds");
    kc_buf_putc(json, '{');
    kc__gen_manifest_text(json, "name", kc__gen_marker_arg(marker, "name"));
    put_policies(w, marker, json);
    put_list(w, marker, "admissionReviewVersions", "admissionReviewVersions", NULL, json);
    if (timeout.n && !kc_str_is(timeout, "0"))
        kc_buf_printf(json, ",\"timeoutSeconds\":%.*s", KC_ARG(timeout));
    put_client_config(w, marker, json);
    put_rules(w, marker, json);
    kc_buf_putc(json, '}');
}

/* ---- patches ---- */

/* The fields of a webhook. Conditions are merged by name, everything else as in a merge patch. */
static const char *const members[] = {
    "admissionReviewVersions",
    "clientConfig",
    "failurePolicy",
    "matchConditions",
    "matchPolicy",
    "name",
    "namespaceSelector",
    "objectSelector",
    "reinvocationPolicy",
    "rules",
    "sideEffects",
    "timeoutSeconds",
};

static bool patch_field(const void *node, kc_str name, kc_patch_field *ret)
{
    ret->object = node;
    if (kc_str_is(name, "matchConditions")) {
        ret->element = node;
        ret->merge = true;
        ret->merge_key = KC_STR("name");
    }
    return true;
}

static void check_members(gen_write_webhook_writing *w, const kc__gen_marker *marker,
                          const kc_value *patch)
{
    kc_value_each_member (patch, name, value) {
        bool known = kc_str_starts(name, KC_STR("$"));
        for (size_t i = 0; i < KC_COUNT(members) && !known; i++)
            known = kc_str_is(name, members[i]);
        const char *near = known ? NULL : kc_str_nearest(name, members, KC_COUNT(members));
        if (!known)
            fail(w, marker, "'+kubebuilder:webhook': patch: a webhook has no field '%.*s'%s%s%s",
                 KC_ARG(name), near ? "; is it '" : "", near ? near : "", near ? "'?" : "");
        (void)value;
    }
}

static kc_view *gen_write_webhook_apply(const kc_value *plain, const kc_value *patch, kc_error *err)
{
    const kc_patch_schema schema = {patch_field, members};
    kc_auto(kc_edit) *edit = kc_edit_of_value(plain);
    if (kc_value_type(patch) != KC_JSON_OBJECT) {
        kc_error_set(err, KC_INVALID, "it must be an object");
        return NULL;
    }
    if (kc_strategic_patch_apply(edit, patch, &schema, err) < 0)
        return NULL;
    return kc_edit_view(edit, err);
}

/* The webhook with its patch applied; the caller frees it. NULL: an error was reported. */
static kc_view *patched(gen_write_webhook_writing *w, const kc__gen_marker *marker, kc_str json)
{
    const kc_str text = kc_str_trim(kc__gen_marker_arg(marker, "patch"));
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *plain = kc_view_parse(json, NULL, NULL);
    if (!text.n)
        return kc_take(plain);
    kc_auto(kc_view) *patch = kc_view_parse(text, NULL, &err);
    kc_view *result =
        patch ? gen_write_webhook_apply(kc_view_root(plain), kc_view_root(patch), &err) : NULL;
    if (result)
        check_members(w, marker, kc_view_root(patch));
    else
        fail(w, marker, "'+kubebuilder:webhook': patch: %s", kc_error_text(&err));
    return result;
}

/* ---- markers ---- */

static void gen_write_webhook_check(gen_write_webhook_writing *w, const kc__gen_marker *marker,
                                    const kc_value *hook)
{
    const kc_value *timeout = kc_value_get(hook, "timeoutSeconds");
    const int64_t seconds = kc_value_as_i64_or(timeout, timeout ? 0 : 1);
    if (!kc_value_as_str(kc_value_get(hook, "name")).n)
        fail(w, marker, "'+kubebuilder:webhook' needs a name, such as robots.apps.example.io");
    if (seconds < 1 || seconds > 30)
        fail(w, marker, "'+kubebuilder:webhook': timeoutSeconds must be from 1 to 30");
    if (!kc_value_len(kc_value_get(hook, "admissionReviewVersions")))
        fail(w, marker, "'+kubebuilder:webhook' needs admissionReviewVersions=v1");
}

static void gen_write_webhook_check_versions(gen_write_webhook_writing *w,
                                             const kc__gen_marker *marker)
{
    kc_auto(kc_view) *view =
        kc_view_parse(kc__gen_marker_json(marker, "webhookVersions"), NULL, NULL);
    kc_value_each_item (kc_view_root(view), version)
        if (!kc_str_is(kc_value_as_str(version), "v1"))
            fail(w, marker, "'+kubebuilder:webhook': webhookVersions may only be v1, not '%.*s'",
                 KC_ARG(kc_value_as_str(version)));
}

static void add_webhook(gen_write_webhook_writing *w, const kc__gen_marker *marker,
                        configuration *to)
{
    kc_scoped(kc_buf) json = {0};
    put_webhook(w, marker, &json);
    gen_write_webhook_check_versions(w, marker);
    kc_auto(kc_view) *view = patched(w, marker, kc_buf_str(&json));
    if (!view)
        return;
    const kc_value *hook = kc_view_root(view);
    gen_write_webhook_check(w, marker, hook);
    kc_buf_clear(&json);
    kc_json_write(&json, hook);
    kc_vec_push(
        &to->webhooks,
        (webhook){.name = kc_arena_str(&w->arena, kc_value_as_str(kc_value_get(hook, "name"))),
                  .json = kc_arena_str(&w->arena, kc_buf_str(&json)),
                  .order = to->webhooks.n});
}

static void name_configuration(gen_write_webhook_writing *w, const kc__gen_marker *marker,
                               configuration *to)
{
    if (to->named_by)
        fail(w, marker,
             "'+kubebuilder:webhookconfiguration' of the same kind stands in %s, line %u; there "
             "can be one",
             to->named_by->at.file, to->named_by->at.line);
    to->named_by = marker;
}

static void read_markers(gen_write_webhook_writing *w, const kc__gen_markers *markers)
{
    for (size_t i = 0; i < markers->n; i++) {
        const kc__gen_marker *marker = &markers->items[i];
        configuration *to = is_mutating(marker) ? &w->mutating : &w->validating;
        if (kc_str_is(marker->name, "kubebuilder:webhook"))
            add_webhook(w, marker, to);
        else
            name_configuration(w, marker, to);
    }
}

static int gen_write_webhook_by_name(const void *a, const void *b)
{
    const webhook *x = a, *y = b;
    const int names = kc_str_cmp(x->name, y->name);
    return names ? names : x->order < y->order ? -1 : x->order > y->order;
}

/* ---- writing ---- */

static int put_configuration(configuration *from, kc_buf *yaml, kc_error *err)
{
    kc_scoped(kc_buf) json = {0};
    const kc_str name = kc__gen_marker_arg(from->named_by, "name");
    if (from->webhooks.n == 0)
        return 0;
    kc_vec_sort(&from->webhooks, gen_write_webhook_by_name);
    kc_buf_printf(&json,
                  "{\"apiVersion\":\"admissionregistration.k8s.io/v1\",\"kind\":\"%s\","
                  "\"metadata\":{",
                  from->kind);
    kc__gen_manifest_text(&json, "name", name.n ? name : kc_cstr(from->default_name));
    kc_buf_puts(&json, "},\"webhooks\":[");
    kc_vec_each (&from->webhooks, hook)
        kc_buf_printf(&json, "%s%.*s", hook == from->webhooks.items ? "" : ",", KC_ARG(hook->json));
    kc_buf_puts(&json, "]}");
    return kc__gen_manifest_add(yaml, kc_buf_str(&json), err);
}

static int gen_write_webhook_write_all(gen_write_webhook_writing *w, const char *header,
                                       kc__gen_output_put *put, void *user, kc_error *err)
{
    kc_scoped(kc_buf) yaml = {0};
    if (w->failed)
        return kc_error_result(err);
    int done = put_configuration(&w->mutating, &yaml, err);
    if (done == 0)
        done = put_configuration(&w->validating, &yaml, err);
    if (done < 0 || yaml.n == 0)
        return done;
    kc_scoped(kc_buf) file_text = {0};
    kc_buf_puts(&file_text, header ? header : "");
    kc_buf_append(&file_text, kc_buf_str(&yaml));
    return put("manifests.yaml", kc_buf_str(&file_text), user, err);
}

int kc__gen_write_webhooks(const kc__gen_model *model, const char *header, kc__gen_output_put *put,
                           void *user, kc_error *err)
{
    gen_write_webhook_writing w = {
        .mutating = {"MutatingWebhookConfiguration", "mutating-webhook-configuration"},
        .validating = {"ValidatingWebhookConfiguration", "validating-webhook-configuration"},
        .err = err};
    read_markers(&w, &model->webhooks);
    const int done = gen_write_webhook_write_all(&w, header, put, user, err);
    kc_vec_done(&w.mutating.webhooks);
    kc_vec_done(&w.validating.webhooks);
    kc_arena_done(&w.arena);
    return done;
}
