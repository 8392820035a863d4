/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jwt_config.c: reads an AuthenticationConfiguration, validates it as kube-apiserver does, and
 * compiles its expressions.
 *
 * All invalid values are reported together, in the order of kube-apiserver:
 *
 *     [jwt[0].issuer.url: Invalid value: "http://x": URL scheme must be https, jwt[0]…: …]
 *
 * Expressions have one variable: `claims`, a map, or `user`, an object with username, uid, groups
 * and extra. Evaluation has the cost limit of one expression in Kubernetes (jwt_claims.c).
 */
#include "apiserver/access/jwt_config.h"

#include "apiserver/config/config_errors.h"
#include "http/tls/certificate.h"
#include "kc/names.h"

/* The file that is being read. */
typedef struct jwt_reader {
    kc__jwt_config *config;
    kc__user_audiences disallowed;
    kc_field_errors *errors;
} jwt_reader;

/* ---- texts ---- */

static kc_str keep_jwt_text(jwt_reader *r, const kc_value *object, const char *name)
{
    return kc_arena_str(&r->config->arena, kc_value_as_str(kc_value_get(object, name)));
}

static const char *jwt_path(jwt_reader *r, const char *path, const char *child)
{
    return kc_arena_printf(&r->config->arena, "%s.%s", path, child);
}

static const char *jwt_index(jwt_reader *r, const char *path, const char *child, size_t i)
{
    return kc_arena_printf(&r->config->arena, "%s.%s[%zu]", path, child, i);
}

/* ---- the issuer ---- */

static bool has_text(kc__user_audiences list, kc_str text)
{
    for (size_t i = 0; i < list.n; i++)
        if (kc_str_eq(list.items[i], text))
            return true;
    return false;
}

static void refuse_disallowed(jwt_reader *r, kc_str url, const char *path)
{
    kc_scoped(kc_buf) why = {0};
    if (!has_text(r->disallowed, url))
        return;
    kc_buf_puts(&why, "URL must not overlap with disallowed issuers: [");
    for (size_t i = 0; i < r->disallowed.n; i++)
        kc_buf_printf(&why, "%s%.*s", i ? " " : "", KC_ARG(r->disallowed.items[i]));
    kc_buf_putc(&why, ']');
    kc__config_invalid(r->errors, path, url, kc_buf_cstr(&why));
}

static void check_jwt_url(jwt_reader *r, kc_str url, const char *path)
{
    kc_str rest = url, fragment = url, query;
    kc_str_cut(&fragment, '#');
    query = kc_str_sub(url, 0, fragment.p ? (size_t)(fragment.p - url.p) - 1 : url.n);
    kc_str_cut(&query, '?');
    const kc_str scheme = kc_str_cut(&rest, ':');
    kc_str authority = rest.n > 2 ? kc_str_sub(rest, 2, rest.n) : (kc_str){0};
    authority = kc_str_cut(&authority, '/');
    if (!rest.p || !kc_str_is(scheme, "https"))
        kc__config_invalid(r->errors, path, url, "URL scheme must be https");
    if (kc_str_find(authority, '@') >= 0)
        kc__config_invalid(r->errors, path, url, "URL must not contain a username or password");
    if (query.n)
        kc__config_invalid(r->errors, path, url, "URL must not contain a query");
    if (fragment.n)
        kc__config_invalid(r->errors, path, url, "URL must not contain a fragment");
}

static kc_str without_slashes(kc_str url)
{
    while (url.n && url.p[url.n - 1] == '/')
        url.n--;
    return url;
}

static void check_jwt_urls(jwt_reader *r, const kc__jwt_issuer_config *c, const char *path)
{
    const char *at = jwt_path(r, path, "url");
    if (!c->url.n) {
        kc__config_required(r->errors, at, "");
    } else {
        refuse_disallowed(r, c->url, at);
        check_jwt_url(r, c->url, at);
    }
    at = jwt_path(r, path, "discoveryURL");
    if (!c->discovery_url.n)
        return;
    if (c->url.n && kc_str_eq(without_slashes(c->url), without_slashes(c->discovery_url)))
        kc__config_invalid(r->errors, at, c->discovery_url,
                           "discoveryURL must be different from URL");
    check_jwt_url(r, c->discovery_url, at);
}

static void read_jwt_audiences(jwt_reader *r, const kc_value *issuer, kc__jwt_issuer_config *c,
                               const char *path)
{
    const kc_value *list = kc_value_get(issuer, "audiences");
    const kc_str policy = kc_value_as_str(kc_value_get(issuer, "audienceMatchPolicy"));
    kc_str *items = kc_arena_calloc(&r->config->arena, kc_value_len(list) + 1, sizeof(*items));
    size_t n = 0;
    kc_value_each_item (list, item) {
        const kc_str text = kc_arena_str(&r->config->arena, kc_value_as_str(item));
        const char *at = jwt_index(r, path, "audiences", n);
        if (!text.n)
            kc__config_required(r->errors, at, "");
        if (has_text((kc__user_audiences){items, n}, text))
            kc__config_duplicate(r->errors, at, text);
        items[n++] = text;
    }
    c->audiences = (kc__user_audiences){items, n};
    const char *at = jwt_path(r, path, "audienceMatchPolicy");
    if (!n) {
        const char *list_path = jwt_path(r, path, "audiences");
        kc__config_required(
            r->errors, list_path,
            kc_arena_printf(&r->config->arena, "at least one %s is required", list_path));
    } else if (n > 1 && !kc_str_is(policy, "MatchAny")) {
        kc__config_invalid(r->errors, at, policy,
                           "audienceMatchPolicy must be MatchAny for multiple audiences");
    } else if (n == 1 && policy.n && !kc_str_is(policy, "MatchAny")) {
        kc__config_invalid(r->errors, at, policy,
                           "audienceMatchPolicy must be empty or MatchAny for single audience");
    }
}

static bool count_jwt_cert(X509 *cert, void *user)
{
    (void)cert;
    (void)user;
    return true;
}

static void read_jwt_issuer(jwt_reader *r, const kc_value *jwt, kc__jwt_issuer_config *c,
                            const char *path)
{
    const kc_value *issuer = kc_value_get(jwt, "issuer");
    const kc_str egress = kc_value_as_str(kc_value_get(issuer, "egressSelectorType"));
    const char *at = jwt_path(r, path, "issuer");
    c->url = keep_jwt_text(r, issuer, "url");
    c->discovery_url = keep_jwt_text(r, issuer, "discoveryURL");
    c->ca = keep_jwt_text(r, issuer, "certificateAuthority");
    check_jwt_urls(r, c, at);
    read_jwt_audiences(r, issuer, c, at);
    if (c->ca.n && !kc__cert_each(c->ca, count_jwt_cert, NULL))
        kc__config_invalid(r->errors, jwt_path(r, at, "certificateAuthority"), KC_STR("<omitted>"),
                           "data does not contain any valid RSA or ECDSA certificates");
    if (!egress.n)
        return;
    if (kc_str_is(egress, "controlplane") || kc_str_is(egress, "cluster"))
        kc__config_invalid(r->errors, jwt_path(r, at, "egressSelectorType"), egress,
                           "this server has no egress selector configuration");
    else
        kc__config_invalid(r->errors, jwt_path(r, at, "egressSelectorType"), egress,
                           "egress selector must be either controlplane or cluster");
}

/* ---- expressions ---- */

static bool compile_jwt(jwt_reader *r, kc_str text, const char *variable, bool is_rule,
                        const char *path, kc__jwt_expression *ret)
{
    kc_cel_errors problems = {0};
    kc_scoped(kc_buf) why = {0};
    const bool user = !strcmp(variable, "user");
    const kc_cel_variable declared = {variable,
                                      user ? r->config->user_type : r->config->claims_type};
    kc_cel_program *program =
        kc_cel_compile(r->config->env, text,
                       &(kc_cel_compile_opts){.variables = &declared, .n_variables = 1}, &problems);
    if (!program) {
        kc_buf_puts(&why, "compilation failed: ");
        kc_cel_errors_write(&problems, text, &why);
    } else if (is_rule && kc_cel_type_kind(kc_cel_program_type(program)) != KC_CEL_BOOL) {
        kc_buf_puts(&why, "must evaluate to bool");
    }
    kc_cel_errors_done(&problems);
    if (why.n) {
        kc__config_invalid(r->errors, path, text, kc_buf_cstr(&why));
        kc_cel_program_free(program);
        return false;
    }
    ret->text = text;
    ret->program = program;
    return true;
}

/* ---- rules ---- */

/* Whether an earlier rule has the same claim, or the same expression. */
static bool repeats_rule(const kc__jwt_rule *rules, size_t n, kc_str claim, kc_str expression)
{
    for (size_t i = 0; i < n; i++)
        if ((claim.n && kc_str_eq(rules[i].claim, claim)) ||
            (expression.n && kc_str_eq(rules[i].expression.text, expression)))
            return true;
    return false;
}

static void read_claim_rule(jwt_reader *r, const kc_value *value, kc__jwt_rule *rules, size_t n,
                            const char *path)
{
    kc__jwt_rule *rule = &rules[n];
    const kc_str text = keep_jwt_text(r, value, "expression");
    rule->claim = keep_jwt_text(r, value, "claim");
    rule->required = keep_jwt_text(r, value, "requiredValue");
    rule->expression.message = keep_jwt_text(r, value, "message");
    const bool repeated = repeats_rule(rules, n, rule->claim, text);
    rule->expression.text = text;
    if (rule->claim.n && text.n) {
        kc__config_invalid(r->errors, path, rule->claim, "claim and expression can't both be set");
    } else if (!rule->claim.n && !text.n) {
        kc__config_required(r->errors, path, "claim or expression is required");
    } else if (rule->claim.n) {
        if (rule->expression.message.n)
            kc__config_invalid(r->errors, jwt_path(r, path, "message"), rule->expression.message,
                               "may not be specified when claim is set");
        if (repeated)
            kc__config_duplicate(r->errors, jwt_path(r, path, "claim"), rule->claim);
    } else {
        if (rule->required.n)
            kc__config_invalid(r->errors, jwt_path(r, path, "requiredValue"), rule->required,
                               "may not be specified when expression is set");
        if (repeated)
            kc__config_duplicate(r->errors, jwt_path(r, path, "expression"), text);
        else
            compile_jwt(r, text, "claims", true, jwt_path(r, path, "expression"),
                        &rule->expression);
    }
}

static void read_user_rule(jwt_reader *r, const kc_value *value, kc__jwt_rule *rules, size_t n,
                           const char *path)
{
    kc__jwt_rule *rule = &rules[n];
    const kc_str text = keep_jwt_text(r, value, "expression");
    const char *at = jwt_path(r, path, "expression");
    rule->expression.message = keep_jwt_text(r, value, "message");
    const bool repeated = repeats_rule(rules, n, (kc_str){0}, text);
    rule->expression.text = text;
    if (!text.n)
        kc__config_required(r->errors, at, "");
    else if (repeated)
        kc__config_duplicate(r->errors, at, text);
    else
        compile_jwt(r, text, "user", true, at, &rule->expression);
}

static kc__jwt_rule *read_jwt_rules(jwt_reader *r, const kc_value *jwt, const char *name,
                                    const char *path, size_t *ret_n,
                                    void (*read)(jwt_reader *r, const kc_value *value,
                                                 kc__jwt_rule *rules, size_t n, const char *path))
{
    const kc_value *list = kc_value_get(jwt, name);
    kc__jwt_rule *rules =
        kc_arena_calloc(&r->config->arena,
                        KC_MIN(kc_value_len(list), (size_t)KC__JWT_MAX_RULES) + 1, sizeof(*rules));
    size_t n = 0;
    kc_value_each_item (list, item) {
        if (n == KC__JWT_MAX_RULES) {
            kc_field_errors_add(r->errors, KC_FIELD_TOO_MANY, jwt_path(r, path, name), (kc_str){0},
                                "must have at most %d items", KC__JWT_MAX_RULES);
            break;
        }
        read(r, item, rules, n, jwt_index(r, path, name, n));
        n++;
    }
    *ret_n = n;
    return rules;
}

/* ---- mappings ---- */

static void read_prefixed(jwt_reader *r, const kc_value *value, bool required, const char *path,
                          kc__jwt_mapping *ret)
{
    const kc_str text = keep_jwt_text(r, value, "expression");
    const kc_value *prefix = kc_value_get(value, "prefix");
    ret->claim = keep_jwt_text(r, value, "claim");
    ret->prefix = keep_jwt_text(r, value, "prefix");
    if (text.n && ret->claim.n) {
        kc__config_invalid(r->errors, path, KC_STR(""), "claim and expression can't both be set");
    } else if (!text.n && !ret->claim.n && required) {
        kc__config_required(r->errors, path, "claim or expression is required");
    } else if (text.n) {
        if (prefix)
            kc__config_invalid(r->errors, jwt_path(r, path, "prefix"), ret->prefix,
                               "may not be specified when expression is set");
        compile_jwt(r, text, "claims", false, jwt_path(r, path, "expression"), &ret->expression);
    } else if (ret->claim.n && !prefix) {
        kc__config_required(
            r->errors, jwt_path(r, path, "prefix"),
            "prefix is required when claim is set. It can be set to an empty string to "
            "disable prefixing");
    }
}

static void read_jwt_uid(jwt_reader *r, const kc_value *value, const char *path,
                         kc__jwt_mapping *ret)
{
    const kc_str text = keep_jwt_text(r, value, "expression");
    ret->claim = keep_jwt_text(r, value, "claim");
    if (text.n && ret->claim.n)
        kc__config_invalid(r->errors, path, KC_STR(""), "claim and expression can't both be set");
    else if (text.n)
        compile_jwt(r, text, "claims", false, jwt_path(r, path, "expression"), &ret->expression);
}

static bool ends_with_domain(kc_str host, kc_str domain)
{
    if (kc_str_eq(host, domain))
        return true;
    return host.n > domain.n && host.p[host.n - domain.n - 1] == '.' &&
           kc_str_eq(kc_str_sub(host, host.n - domain.n, host.n), domain);
}

static void check_extra_key(jwt_reader *r, kc_str key, const char *path)
{
    kc_str rest = key;
    const kc_str host = kc_str_cut(&rest, '/');
    if (!key.n)
        kc__config_required(r->errors, path, "");
    else if (!host.n || !rest.n)
        kc__config_invalid(r->errors, path, key,
                           "must be a domain-prefixed path (such as \"acme.io/foo\")");
    for (size_t i = 0; i < key.n; i++)
        if (key.p[i] >= 'A' && key.p[i] <= 'Z') {
            kc__config_invalid(r->errors, path, key, "must be lowercase");
            break;
        }
    if (rest.p && (ends_with_domain(host, KC_STR("kubernetes.io")) ||
                   ends_with_domain(host, KC_STR("k8s.io"))))
        kc__config_invalid(
            r->errors, path, key,
            "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use");
}

static void read_jwt_extra(jwt_reader *r, const kc_value *value, kc__jwt_issuer_config *c,
                           const char *path)
{
    kc__jwt_expression *extra = &c->extra[c->n_extra];
    const kc_str key = keep_jwt_text(r, value, "key");
    const kc_str text = keep_jwt_text(r, value, "valueExpression");
    const char *at = jwt_path(r, path, "key");
    check_extra_key(r, key, at);
    for (size_t i = 0; i < c->n_extra; i++)
        if (kc_str_eq(c->extra[i].key, key)) {
            kc__config_duplicate(r->errors, at, key);
            return;
        }
    extra->key = key;
    c->n_extra++;
    if (!text.n)
        kc__config_required(r->errors, jwt_path(r, path, "valueExpression"), "");
    else
        compile_jwt(r, text, "claims", false, jwt_path(r, path, "valueExpression"), extra);
}

static bool reads_verified_email(const kc__jwt_issuer_config *c)
{
    static const kc_str field = KC_STR_INIT("email_verified");
    bool found = kc__jwt_expression_selects(c->username.expression.text, KC_STR("claims"), field);
    for (size_t i = 0; i < c->n_extra; i++)
        found |= kc__jwt_expression_selects(c->extra[i].text, KC_STR("claims"), field);
    for (size_t i = 0; i < c->n_claim_rules; i++)
        found |=
            kc__jwt_expression_selects(c->claim_rules[i].expression.text, KC_STR("claims"), field);
    return found;
}

/* An address that the issuer has not verified could be that of another user. */
static void check_email(jwt_reader *r, const kc__jwt_issuer_config *c, const char *path)
{
    const kc_str text = c->username.expression.text;
    if (kc__jwt_expression_selects(text, KC_STR("claims"), KC_STR("email")) &&
        !reads_verified_email(c))
        kc__config_invalid(
            r->errors, jwt_path(r, path, "username.expression"), text,
            "claims.email_verified must be used in claimMappings.username.expression or "
            "claimMappings.extra[*].valueExpression or claimValidationRules[*].expression "
            "when claims.email is used in claimMappings.username.expression");
}

static void read_jwt_mappings(jwt_reader *r, const kc_value *jwt, kc__jwt_issuer_config *c,
                              const char *path)
{
    const kc_value *mappings = kc_value_get(jwt, "claimMappings");
    const kc_value *extra = kc_value_get(mappings, "extra");
    const char *at = jwt_path(r, path, "claimMappings");
    read_prefixed(r, kc_value_get(mappings, "username"), true, jwt_path(r, at, "username"),
                  &c->username);
    read_prefixed(r, kc_value_get(mappings, "groups"), false, jwt_path(r, at, "groups"),
                  &c->groups);
    read_jwt_uid(r, kc_value_get(mappings, "uid"), jwt_path(r, at, "uid"), &c->uid);
    c->extra = kc_arena_calloc(&r->config->arena,
                               KC_MIN(kc_value_len(extra), (size_t)KC__JWT_MAX_RULES) + 1,
                               sizeof(*c->extra));
    size_t i = 0;
    kc_value_each_item (extra, item) {
        if (i == KC__JWT_MAX_RULES) {
            kc_field_errors_add(r->errors, KC_FIELD_TOO_MANY, jwt_path(r, at, "extra"), (kc_str){0},
                                "must have at most %d items", KC__JWT_MAX_RULES);
            break;
        }
        read_jwt_extra(r, item, c, jwt_index(r, at, "extra", i));
        i++;
    }
    check_email(r, c, at);
}

/* ---- the file ---- */

static void read_jwt(jwt_reader *r, const kc_value *jwt, size_t i)
{
    kc__jwt_config *config = r->config;
    kc__jwt_issuer_config *c = &config->issuers[i];
    const char *path = kc_arena_printf(&config->arena, "jwt[%zu]", i);
    read_jwt_issuer(r, jwt, c, path);
    c->claim_rules =
        read_jwt_rules(r, jwt, "claimValidationRules", path, &c->n_claim_rules, read_claim_rule);
    read_jwt_mappings(r, jwt, c, path);
    c->user_rules =
        read_jwt_rules(r, jwt, "userValidationRules", path, &c->n_user_rules, read_user_rule);
    for (size_t j = 0; j < i; j++) {
        const kc__jwt_issuer_config *other = &config->issuers[j];
        if (kc_str_eq(other->url, c->url))
            kc__config_duplicate(r->errors, jwt_path(r, path, "issuer.url"), c->url);
        if (c->discovery_url.n && kc_str_eq(other->discovery_url, c->discovery_url))
            kc__config_duplicate(r->errors, jwt_path(r, path, "issuer.discoveryURL"),
                                 c->discovery_url);
    }
}

static void read_anonymous(jwt_reader *r, const kc_value *anonymous)
{
    kc__jwt_config *config = r->config;
    const kc_value *list = kc_value_get(anonymous, "conditions");
    kc_str *paths = kc_arena_calloc(&config->arena, kc_value_len(list) + 1, sizeof(*paths));
    size_t n = 0;
    config->has_anonymous = anonymous != NULL;
    config->anonymous = kc_value_as_bool(kc_value_get(anonymous, "enabled"), false);
    kc_value_each_item (list, item)
        paths[n++] = keep_jwt_text(r, item, "path");
    config->anonymous_paths = (kc__user_audiences){paths, n};
    if (n && !config->anonymous)
        kc_field_errors_add(r->errors, KC_FIELD_INVALID, "anonymous.conditions", KC_STR("[]"),
                            "enabled should be set to true when conditions are defined");
}

static void make_jwt_types(kc__jwt_config *config)
{
    const kc_cel_type *text = kc_cel_type_basic(KC_CEL_STRING);
    kc_cel_types *types = config->types = kc_cel_types_new();
    const kc_cel_type *texts = kc_cel_types_list(types, text);
    kc_cel_type *user = kc_cel_types_object(types, "kubernetes.UserInfo");
    kc_cel_types_add_field(types, user, KC_STR("username"), text);
    kc_cel_types_add_field(types, user, KC_STR("uid"), text);
    kc_cel_types_add_field(types, user, KC_STR("groups"), texts);
    kc_cel_types_add_field(types, user, KC_STR("extra"), kc_cel_types_map(types, text, texts));
    config->user_type = user;
    config->claims_type = kc_cel_types_map(types, text, kc_cel_type_basic(KC_CEL_DYN));
    config->env = kc_cel_env_new(NULL);
}

static int read_jwt_config(kc__jwt_config *config, const kc_value *root,
                           kc__user_audiences disallowed, kc_error *err)
{
    kc_scoped(kc_field_errors) errors = {0};
    jwt_reader r = {.config = config, .disallowed = disallowed, .errors = &errors};
    const kc_value *list = kc_value_get(root, "jwt");
    if (kc_value_len(list) > KC__JWT_MAX_ISSUERS)
        return kc_error_set(err, KC_INVALID, "jwt: Too many: %zu: must have at most %d items",
                            kc_value_len(list), KC__JWT_MAX_ISSUERS);
    config->issuers =
        kc_arena_calloc(&config->arena, kc_value_len(list) + 1, sizeof(*config->issuers));
    kc_value_each_item (list, item) {
        read_jwt(&r, item, config->n_issuers);
        config->n_issuers++;
    }
    read_anonymous(&r, kc_value_get(root, "anonymous"));
    return kc__config_errors(&errors, err);
}

kc__jwt_config *kc__jwt_config_parse(kc_str text, kc__user_audiences disallowed, kc_error *err)
{
    kc_auto(kc_view) *view = NULL;
    kc_auto(kc__jwt_config) *config = kc_new(kc__jwt_config);
    kc_ref_init(&config->refs);
    config->algorithms = ~0u;
    make_jwt_types(config);
    if (!kc_str_trim(text).n)
        kc_error_set(err, KC_INVALID, "empty config data");
    else
        view = kc__jwt_config_parse_fields(text, err);
    if (!view || read_jwt_config(config, kc_view_root(view), disallowed, err) < 0)
        return NULL;
    return kc_take(config);
}

kc__jwt_config *kc__jwt_config_ref(kc__jwt_config *config)
{
    kc_ref_add(&config->refs);
    return config;
}

static void free_jwt_rules(kc__jwt_rule *rules, size_t n)
{
    for (size_t i = 0; i < n; i++)
        kc_cel_program_free(rules[i].expression.program);
}

static void free_jwt_issuer(kc__jwt_issuer_config *c)
{
    free_jwt_rules(c->claim_rules, c->n_claim_rules);
    free_jwt_rules(c->user_rules, c->n_user_rules);
    kc_cel_program_free(c->username.expression.program);
    kc_cel_program_free(c->groups.expression.program);
    kc_cel_program_free(c->uid.expression.program);
    for (size_t i = 0; i < c->n_extra; i++)
        kc_cel_program_free(c->extra[i].program);
}

kc__jwt_config *kc__jwt_config_unref(kc__jwt_config *config)
{
    if (!config || !kc_ref_drop(&config->refs))
        return NULL;
    for (size_t i = 0; i < config->n_issuers; i++)
        free_jwt_issuer(&config->issuers[i]);
    kc_cel_env_free(config->env);
    kc_cel_types_free(config->types);
    kc_arena_done(&config->arena);
    free(config);
    return NULL;
}
