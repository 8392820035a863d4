/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authz_config.c: reads an AuthorizationConfiguration and validates it as kube-apiserver does.
 *
 * All invalid values are reported together, in the order of kube-apiserver. The fields of a webhook
 * are reported below their authorizer, without the member `webhook`, as kube-apiserver does:
 *
 *     [authorizers[0].timeout: Required value, authorizers[1].name: Duplicate value: "a"]
 *
 * To add a field: a row of the table of its object, and a function that reads and checks it.
 */
#include "apiserver/authz/authz_config.h"

#include "apiserver/authz/authz_chain.h"
#include "apiserver/config/config_errors.h"
#include "apiserver/config/strict_config.h"
#include "kc/ascii.h"
#include "kc/duration.h"
#include "kc/json.h"
#include "kc/names.h"

#include <errno.h>
#include <sys/stat.h>

#define GROUP "apiserver.config.k8s.io"

#define AUTHORIZED_TTL   (5 * KC_MINUTE)
#define UNAUTHORIZED_TTL (30 * KC_SECOND)
#define MAX_TIMEOUT      (30 * KC_SECOND)

/* ---- fields ---- */

static const kc__config_member condition_members[] = {{"expression", KC__CONFIG_STRING}, {0}};
static const kc__config_member connection_members[] = {
    {"type", KC__CONFIG_STRING}, {"kubeConfigFile", KC__CONFIG_STRING}, {0}};
static const kc__config_member webhook_members[] = {
    {"authorizedTTL", KC__CONFIG_STRING},
    {"cacheAuthorizedRequests", KC__CONFIG_BOOL},
    {"unauthorizedTTL", KC__CONFIG_STRING},
    {"cacheUnauthorizedRequests", KC__CONFIG_BOOL},
    {"timeout", KC__CONFIG_STRING},
    {"subjectAccessReviewVersion", KC__CONFIG_STRING},
    {"matchConditionSubjectAccessReviewVersion", KC__CONFIG_STRING},
    {"failurePolicy", KC__CONFIG_STRING},
    {"connectionInfo", KC__CONFIG_OBJECT, connection_members},
    {"matchConditions", KC__CONFIG_OBJECTS, condition_members},
    {0}};
static const kc__config_member authorizer_members[] = {
    {"type", KC__CONFIG_STRING},
    {"name", KC__CONFIG_STRING},
    {"webhook", KC__CONFIG_OBJECT, webhook_members},
    {0}};
static const kc__config_member members[] = {{"authorizers", KC__CONFIG_OBJECTS, authorizer_members},
                                            {0}};
static const char *const api_versions[] = {GROUP "/v1", GROUP "/v1beta1", GROUP "/v1alpha1", NULL};
static const kc__config_type configuration = {
    .api_versions = api_versions, .kind = "AuthorizationConfiguration", .members = members};

/* The authorizer that is being read. */
typedef struct authz_reader {
    kc__authz_config *config;
    kc_field_errors *errors;
    const char *path; /* authorizers[0] */
    const kc_value *webhook;
    kc_error *err;
} authz_reader;

static const char *authz_path(authz_reader *r, const char *member)
{
    return kc_arena_printf(&r->config->arena, "%s.%s", r->path, member);
}

static kc_str webhook_text(const authz_reader *r, const char *member)
{
    return kc_value_as_str(kc_value_get(r->webhook, member));
}

static const char *keep_config_text(authz_reader *r, kc_str text)
{
    return text.n ? kc_arena_strndup(&r->config->arena, text.p, text.n) : "";
}

/* ---- durations ---- */

/* 0 if the member is missing. */
static int read_webhook_duration(const authz_reader *r, const char *member, int64_t *ret)
{
    const kc_value *value = kc_value_get(r->webhook, member);
    *ret = 0;
    if (!value || kc_value_type(value) == KC_JSON_NULL)
        return 0;
    return kc_duration_parse(kc_value_as_str(value), ret, r->err);
}

static void refuse_duration(authz_reader *r, const char *member, int64_t value, const char *detail)
{
    kc_scoped(kc_buf) text = {0};
    kc_duration_write(&text, value);
    kc__config_invalid(r->errors, authz_path(r, member), kc_buf_str(&text), detail);
}

static void check_timeout(authz_reader *r, int64_t timeout)
{
    if (!timeout)
        kc__config_required(r->errors, authz_path(r, "timeout"), "");
    else if (timeout < 0 || timeout > MAX_TIMEOUT)
        refuse_duration(r, "timeout", timeout, "must be > 0s and <= 30s");
}

static int64_t default_ttl(authz_reader *r, const char *member, int64_t ttl, int64_t initial)
{
    if (ttl < 0)
        refuse_duration(r, member, ttl, "must be > 0s");
    return ttl ? ttl : initial;
}

/* Zero if the configuration disables the cache; by default it is enabled. */
static int64_t unless_off(const authz_reader *r, const char *member, int64_t ttl)
{
    return kc_value_as_bool(kc_value_get(r->webhook, member), true) ? ttl : 0;
}

static int read_durations(authz_reader *r, kc__authz_webhook_config *w)
{
    if (read_webhook_duration(r, "timeout", &w->timeout) < 0 ||
        read_webhook_duration(r, "authorizedTTL", &w->authorized_ttl) < 0 ||
        read_webhook_duration(r, "unauthorizedTTL", &w->unauthorized_ttl) < 0)
        return kc_error_result(r->err);
    check_timeout(r, w->timeout);
    w->authorized_ttl = default_ttl(r, "authorizedTTL", w->authorized_ttl, AUTHORIZED_TTL);
    w->unauthorized_ttl = default_ttl(r, "unauthorizedTTL", w->unauthorized_ttl, UNAUTHORIZED_TTL);
    w->authorized_ttl = unless_off(r, "cacheAuthorizedRequests", w->authorized_ttl);
    w->unauthorized_ttl = unless_off(r, "cacheUnauthorizedRequests", w->unauthorized_ttl);
    return 0;
}

/* ---- choices ---- */

/* A text that must be one of those. */
static void check_choice(authz_reader *r, const char *member, kc_str text,
                         const char *const *supported)
{
    if (!text.n)
        kc__config_required(r->errors, authz_path(r, member), "");
    else if (!kc_str_is_any(text, supported))
        kc__config_unsupported(r->errors, authz_path(r, member), text, supported);
}

static void check_match_version(authz_reader *r)
{
    static const char *const versions[] = {"v1", NULL};
    const char *member = "matchConditionSubjectAccessReviewVersion";
    const kc_str text = webhook_text(r, member);
    if (text.n)
        check_choice(r, member, text, versions);
    else if (kc_value_len(kc_value_get(r->webhook, "matchConditions")))
        kc__config_required(r->errors, authz_path(r, member),
                            "required if match conditions are specified");
}

static void read_choices(authz_reader *r, kc__authz_webhook_config *w)
{
    static const char *const versions[] = {"v1", "v1beta1", NULL}, *const policies[] = {
                                                                       "NoOpinion", "Deny", NULL};
    const kc_str version = webhook_text(r, "subjectAccessReviewVersion"),
                 policy = webhook_text(r, "failurePolicy");
    check_choice(r, "subjectAccessReviewVersion", version, versions);
    check_match_version(r);
    check_choice(r, "failurePolicy", policy, policies);
    w->version = kc_str_is(version, "v1beta1") ? "v1beta1" : "v1";
    w->denies_on_error = kc_str_is(policy, "Deny");
}

/* ---- the connection ---- */

/* As Go writes an error of stat: in lower case. */
static void refuse_missing_file(authz_reader *r, kc_str file, const char *path, int code)
{
    kc_scoped(kc_buf) detail = {0};
    kc_buf_printf(&detail, "error loading file: stat %.*s: ", KC_ARG(file));
    const size_t at = detail.n;
    kc_buf_puts(&detail, strerrordesc_np(code));
    detail.p[at] = kc_lower(detail.p[at]);
    kc__config_invalid(r->errors, path, file, kc_buf_cstr(&detail));
}

static void check_kubeconfig_file(authz_reader *r, kc_str file, const char *path)
{
    struct stat found;
    const char *name = keep_config_text(r, file);
    if (!file.n)
        kc__config_required(r->errors, path, "");
    else if (file.p[0] != '/')
        kc__config_invalid(r->errors, path, file, "must be an absolute path");
    else if (stat(name, &found) < 0)
        refuse_missing_file(r, file, path, errno);
    else if (!S_ISREG(found.st_mode))
        kc__config_invalid(r->errors, path, file, "must be a regular file");
}

/* kube-apiserver shows the whole object. */
static void refuse_connection_type(authz_reader *r, kc_str type, const kc_value *file)
{
    kc_scoped(kc_buf) shown = {0};
    kc_buf_puts(&shown, "{\"Type\":");
    kc_json_quote(&shown, type);
    kc_buf_puts(&shown, ",\"KubeConfigFile\":");
    if (file)
        kc_json_quote(&shown, kc_value_as_str(file));
    else
        kc_buf_puts(&shown, "null");
    kc_buf_putc(&shown, '}');
    kc_field_errors_add(r->errors, KC_FIELD_NOT_SUPPORTED, authz_path(r, "connectionInfo.type"),
                        kc_buf_str(&shown),
                        "supported values: \"InClusterConfig\", \"KubeConfigFile\"");
}

/* The in-cluster configuration leads to the API server itself, which would call itself forever. */
static void refuse_in_cluster(authz_reader *r, const kc_value *file)
{
    if (file)
        kc__config_invalid(r->errors, authz_path(r, "connectionInfo.kubeConfigFile"),
                           kc_value_as_str(file), "can only be set when type=KubeConfigFile");
    else
        kc__config_invalid(r->errors, authz_path(r, "connectionInfo.type"),
                           KC_STR("InClusterConfig"),
                           "not allowed for the API server; use KubeConfigFile");
}

static void read_connection(authz_reader *r, kc__authz_webhook_config *w)
{
    const kc_value *info = kc_value_get(r->webhook, "connectionInfo");
    const kc_str type = kc_value_as_str(kc_value_get(info, "type"));
    const kc_value *file = kc_value_get(info, "kubeConfigFile");
    if (kc_value_type(file) == KC_JSON_NULL)
        file = NULL;
    if (!type.n)
        kc__config_required(r->errors, authz_path(r, "connectionInfo.type"), "");
    else if (kc_str_is(type, "InClusterConfig"))
        refuse_in_cluster(r, file);
    else if (kc_str_is(type, "KubeConfigFile"))
        check_kubeconfig_file(r, kc_value_as_str(file),
                              authz_path(r, "connectionInfo.kubeConfigFile"));
    else
        refuse_connection_type(r, type, file);
    w->kubeconfig = keep_config_text(r, kc_value_as_str(file));
}

static int read_webhook(authz_reader *r, kc__authz_webhook_config *w)
{
    if (read_durations(r, w) < 0)
        return kc_error_result(r->err);
    read_choices(r, w);
    read_connection(r, w);
    w->conditions = kc__authz_conditions_compile(kc_value_get(r->webhook, "matchConditions"),
                                                 r->path, r->errors);
    return 0;
}

/* ---- authorizers ---- */

static bool has_authorizer_named(const kc__authz_config *config, const char *name)
{
    for (size_t i = 0; i < config->n; i++)
        if (!strcmp(config->items[i].name, name))
            return true;
    return false;
}

static void check_authorizer_name(authz_reader *r, kc_str name, const char *kept)
{
    const char *messages[KC_NAME_MESSAGES];
    kc_scoped(kc_buf) detail = {0};
    const size_t n = kc_name_check(KC_NAME_DNS_SUBDOMAIN, name, messages);
    if (!name.n) {
        kc__config_required(r->errors, authz_path(r, "name"), "");
    } else if (has_authorizer_named(r->config, kept)) {
        kc__config_duplicate(r->errors, authz_path(r, "name"), name);
    } else if (n) {
        kc_buf_puts(&detail, "authorizer name is invalid: ");
        for (size_t i = 0; i < n; i++)
            kc_buf_printf(&detail, "%s%s", i ? ", " : "", messages[i]);
        kc__config_invalid(r->errors, authz_path(r, "name"), name, kc_buf_cstr(&detail));
    }
}

/* False: the rest of the authorizer cannot be checked. */
static bool read_authorizer_type(authz_reader *r, kc_str type, kc__authz_mode *ret)
{
    size_t mode = 0;
    while (mode < KC__AUTHZ_MODES && !kc_str_is(type, kc__authz_mode_names[mode]))
        mode++;
    if (!type.n)
        kc__config_required(r->errors, authz_path(r, "type"), "");
    else if (mode == KC__AUTHZ_MODES)
        kc__config_unsupported(r->errors, authz_path(r, "type"), type, kc__authz_mode_names);
    else if (mode != KC__AUTHZ_WEBHOOK_MODE && r->config->modes >> mode & 1)
        kc__config_duplicate(r->errors, authz_path(r, "type"), type);
    else {
        *ret = (kc__authz_mode)mode;
        return true;
    }
    return false;
}

static int read_webhook_of(authz_reader *r, kc__authz_authorizer_config *item)
{
    const bool given = r->webhook && kc_value_type(r->webhook) != KC_JSON_NULL;
    if (item->mode == KC__AUTHZ_WEBHOOK_MODE && given)
        return read_webhook(r, &item->webhook);
    if (item->mode == KC__AUTHZ_WEBHOOK_MODE)
        kc__config_required(r->errors, authz_path(r, "webhook"), "required when type=Webhook");
    else if (given)
        kc__config_invalid(r->errors, authz_path(r, "webhook"), KC_STR("non-null"),
                           "may only be specified when type=Webhook");
    return 0;
}

static int read_authorizer(authz_reader *r, const kc_value *value)
{
    kc__authz_config *config = r->config;
    kc__authz_authorizer_config *item = &config->items[config->n];
    const kc_str name = kc_value_as_str(kc_value_get(value, "name"));
    if (!read_authorizer_type(r, kc_value_as_str(kc_value_get(value, "type")), &item->mode))
        return 0;
    config->modes |= 1u << item->mode;
    item->name = keep_config_text(r, name);
    check_authorizer_name(r, name, item->name);
    config->n++;
    r->webhook = kc_value_get(value, "webhook");
    return read_webhook_of(r, item);
}

static int read_authorizers(kc__authz_config *config, const kc_value *list, kc_error *err)
{
    kc_scoped(kc_field_errors) errors = {0};
    authz_reader r = {.config = config, .errors = &errors, .err = err};
    size_t i = 0;
    config->items = kc_arena_calloc(&config->arena, kc_value_len(list) + 1, sizeof(*config->items));
    if (!kc_value_len(list))
        kc__config_required(&errors, "authorizers",
                            "at least one authorization mode must be defined");
    kc_value_each_item (list, item) {
        r.path = kc_arena_printf(&config->arena, "authorizers[%zu]", i++);
        if (read_authorizer(&r, item) < 0)
            return kc_error_wrap(err, "failed to load AuthorizationConfiguration from file");
    }
    return kc__config_errors(&errors, err);
}

/* ---- what only an API server requires ---- */

static void add_requirement(kc_buf *out, const char *text, size_t *n)
{
    kc_buf_printf(out, "%s%s", (*n)++ ? ", " : "", text);
}

static void check_own_names(const kc__authz_config *config, kc_buf *out, size_t *n)
{
    for (size_t i = 0; i < config->n; i++) {
        const kc__authz_authorizer_config *item = &config->items[i];
        const char *expected = kc__authz_mode_own_name(item->mode);
        if (item->mode == KC__AUTHZ_WEBHOOK_MODE || !strcmp(expected, item->name))
            continue;
        kc_autofree char *text =
            kc_asprintf("expected name %s for authorizer %s instead of %s", expected,
                        kc__authz_mode_names[item->mode], item->name);
        add_requirement(out, text, n);
    }
}

static void check_required_modes(unsigned missing, kc_buf *out, size_t *n)
{
    kc_scoped(kc_buf) text = {0};
    if (!missing)
        return;
    kc_buf_puts(&text, "missing required types: [");
    for (unsigned mode = 0, listed = 0; mode < KC__AUTHZ_MODES; mode++)
        if (missing >> mode & 1)
            kc_buf_printf(&text, "%s%s", listed++ ? " " : "", kc__authz_mode_names[mode]);
    kc_buf_putc(&text, ']');
    add_requirement(out, kc_buf_cstr(&text), n);
}

static int check_requirements(const kc__authz_config *config, unsigned required, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    size_t n = 0;
    check_own_names(config, &text, &n);
    check_required_modes(required & ~config->modes, &text, &n);
    if (!n)
        return 0;
    return kc_error_set(err, KC_INVALID, n > 1 ? "[%s]" : "%s", kc_buf_cstr(&text));
}

/* ---- the configuration ---- */

kc__authz_config *kc__authz_config_parse(kc_str text, unsigned required, kc_error *err)
{
    kc_auto(kc__authz_config) *config = kc_new(kc__authz_config);
    kc_auto(kc_view) *view = NULL;
    if (text.n) {
        view = kc__config_parse(text, &configuration, err);
        if (!view) {
            kc_error_wrap(err, "failed to load AuthorizationConfiguration from file");
            return NULL;
        }
    }
    const kc_value *list = view ? kc_value_get(kc_view_root(view), "authorizers") : NULL;
    if (read_authorizers(config, list, err) < 0 || check_requirements(config, required, err) < 0)
        return NULL;
    return kc_take(config);
}

kc__authz_config *kc__authz_config_free(kc__authz_config *config)
{
    if (!config)
        return NULL;
    for (size_t i = 0; i < config->n; i++)
        kc__authz_conditions_unref(config->items[i].webhook.conditions);
    kc_arena_done(&config->arena);
    free(config);
    return NULL;
}

static bool same_webhook(const kc__authz_webhook_config *a, const kc__authz_webhook_config *b)
{
    return !strcmp(a->kubeconfig, b->kubeconfig) && !strcmp(a->version, b->version) &&
           a->timeout == b->timeout && a->authorized_ttl == b->authorized_ttl &&
           a->unauthorized_ttl == b->unauthorized_ttl && a->denies_on_error == b->denies_on_error &&
           kc__authz_conditions_equal(a->conditions, b->conditions);
}

static bool same_authorizer(const kc__authz_authorizer_config *a,
                            const kc__authz_authorizer_config *b)
{
    if (a->mode != b->mode || strcmp(a->name, b->name) != 0)
        return false;
    return a->mode != KC__AUTHZ_WEBHOOK_MODE || same_webhook(&a->webhook, &b->webhook);
}

bool kc__authz_config_equal(const kc__authz_config *a, const kc__authz_config *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!same_authorizer(&a->items[i], &b->items[i]))
            return false;
    return true;
}
