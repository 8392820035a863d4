/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jwt_claims.c: makes a user of claims. The order of checks, and their messages, are those of
 * kube-apiserver:
 *
 *     username ─▶ groups ─▶ uid ─▶ extra ─▶ required claims ─▶ rules about claims ─▶ rules about
 * user
 *
 * Each expression may cost KC_CEL_COST_MAX, as one expression of Kubernetes. Distributed claims
 * (_claim_names) are not resolved: a group claim that is only there counts as absent.
 */
#include "apiserver/access/jwt_claims.h"

#include "apiserver/access/user_extra.h"
#include "kc/json.h"
#include "kc/time.h"
#include "object/gofmt/go_quote.h"

#define NBF_LEEWAY 60 /* Seconds. */

/* ---- issuer, audience, time ---- */

/* A claim that is a text or a list of texts. */
static kc_str *texts_of_claim(const kc_value *claim, kc_arena *arena, size_t *ret_n)
{
    kc_str *items = kc_arena_calloc(arena, kc_value_len(claim) + 2, sizeof(*items));
    size_t n = 0;
    if (kc_value_type(claim) == KC_JSON_STRING)
        items[n++] = kc_arena_str(arena, kc_value_as_str(claim));
    kc_value_each_item (claim, item)
        items[n++] = kc_arena_str(arena, kc_value_as_str(item));
    *ret_n = n;
    return items;
}

/* ["a" "b"] */
static void write_quoted_list(kc_buf *out, const kc_str *items, size_t n)
{
    kc_buf_putc(out, '[');
    for (size_t i = 0; i < n; i++) {
        kc_buf_puts(out, i ? " " : "");
        kc__go_quote(out, items[i]);
    }
    kc_buf_putc(out, ']');
}

static int check_jwt_audience(const kc__jwt_issuer_config *issuer, const kc_value *claims,
                              kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) want = {0}, got = {0};
    size_t n = 0;
    const kc_str *has = texts_of_claim(kc_value_get(claims, "aud"), &arena, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < issuer->audiences.n; j++)
            if (kc_str_eq(has[i], issuer->audiences.items[j]))
                return 0;
    write_quoted_list(&got, has, n);
    if (issuer->audiences.n == 1)
        kc__go_quote(&want, issuer->audiences.items[0]);
    else
        write_quoted_list(&want, issuer->audiences.items, issuer->audiences.n);
    return kc_error_set(
        err, KC_UNAUTHORIZED, "oidc: verify token: oidc: expected audience %s%s got %s",
        issuer->audiences.n == 1 ? "" : "in ", kc_buf_cstr(&want), kc_buf_cstr(&got));
}

static double number_of_claim(const kc_value *claim)
{
    double number = 0;
    kc_value_as_f64(claim, &number);
    return number;
}

int kc__jwt_check_claims(const kc__jwt_issuer_config *issuer, const kc_value *claims, int64_t now,
                         int64_t *ret_expiry, kc_error *err)
{
    const kc_str iss = kc_value_as_str(kc_value_get(claims, "iss"));
    const kc_value *nbf = kc_value_get(claims, "nbf");
    const double expiry = number_of_claim(kc_value_get(claims, "exp"));
    if (!kc_str_eq(iss, issuer->url) && !(kc_str_is(issuer->url, "https://accounts.google.com") &&
                                          kc_str_is(iss, "accounts.google.com")))
        return kc_error_set(err, KC_UNAUTHORIZED,
                            "oidc: verify token: oidc: id token issued by a different provider");
    if (check_jwt_audience(issuer, claims, err) < 0)
        return kc_error_result(err);
    if (expiry < (double)now) {
        char text[KC_TIME_TEXT] = "";
        if (expiry > 0)
            kc_time_print((int64_t)expiry * KC_SECOND, text);
        return kc_error_set(err, KC_UNAUTHORIZED,
                            "oidc: verify token: oidc: token is expired (Token Expiry: %s)", text);
    }
    if (nbf && number_of_claim(nbf) > (double)now + NBF_LEEWAY)
        return kc_error_set(err, KC_UNAUTHORIZED,
                            "oidc: verify token: oidc: current time before the nbf (not before) "
                            "time");
    *ret_expiry = expiry < 9e9 ? (int64_t)expiry : (int64_t)9000000000;
    return 0;
}

/* ---- claims as texts ---- */

static const char *go_kind_of(const kc_value *value)
{
    switch (kc_value_type(value)) {
    case KC_JSON_STRING: return "string";
    case KC_JSON_BOOL: return "bool";
    case KC_JSON_OBJECT: return "object";
    case KC_JSON_ARRAY: return "array";
    default: return "number";
    }
}

/* As json.Unmarshal into a string. */
static int text_of_claim(const kc_value *claims, kc_str name, kc_arena *arena, kc_str *ret,
                         kc_error *err)
{
    const kc_value *value = kc_value_get_str(claims, name);
    if (!value)
        return kc_error_set(err, KC_UNAUTHORIZED, "claim not present");
    if (kc_value_type(value) != KC_JSON_STRING && kc_value_type(value) != KC_JSON_NULL)
        return kc_error_set(err, KC_UNAUTHORIZED,
                            "json: cannot unmarshal %s into Go value of type string",
                            go_kind_of(value));
    *ret = kc_arena_str(arena, kc_value_as_str(value));
    return 0;
}

static int jwt_refuse(kc_error *err, const char *what, const kc_error *why)
{
    return kc_error_set(err, KC_UNAUTHORIZED, "%s: %s", what, kc_error_text(why));
}

/* ---- expressions ---- */

typedef struct jwt_evaluation {
    const kc__jwt_config *config;
    const kc__jwt_issuer_config *issuer;
    const kc_value *claims;
    kc_arena *arena; /* Of the user. */
    kc_arena work;   /* Of evaluations. */
} jwt_evaluation;

static int evaluate_jwt(jwt_evaluation *e, const kc__jwt_expression *expression, kc_cel_value input,
                        kc_cel_value *ret, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    if (kc_cel_evaluate(expression->program, &input, &(kc_cel_eval_opts){.arena = &e->work}, ret,
                        &why) == 0)
        return 0;
    return kc_error_set(err, KC_UNAUTHORIZED, "expression '%.*s' resulted in error: %s",
                        KC_ARG(expression->text), kc_error_text(&why));
}

static int evaluate_claims(jwt_evaluation *e, const kc__jwt_expression *expression,
                           kc_cel_value *ret, kc_error *err)
{
    return evaluate_jwt(e, expression, kc_cel_of_json(e->claims, e->config->claims_type), ret, err);
}

/* A text, or a list of texts; empty ones are left out. */
static int texts_of_result(jwt_evaluation *e, kc_cel_value value, kc_str **ret, size_t *ret_n,
                           kc_error *err)
{
    kc_scoped(kc_buf) json = {0};
    kc_auto(kc_view) *view =
        kc_cel_write_json(value, &json) ? kc_view_parse(kc_buf_str(&json), NULL, NULL) : NULL;
    const kc_value *root = view ? kc_view_root(view) : NULL;
    bool valid = kc_value_type(root) == KC_JSON_STRING || kc_value_type(root) == KC_JSON_ARRAY;
    kc_value_each_item (root, item)
        valid &= kc_value_type(item) == KC_JSON_STRING;
    if (!valid)
        return kc_error_set(err, KC_UNAUTHORIZED,
                            "expression must return a string or a list of strings");
    size_t n = 0, kept = 0;
    kc_str *items = texts_of_claim(root, e->arena, &n);
    for (size_t i = 0; i < n; i++)
        if (items[i].n)
            items[kept++] = items[i];
    *ret = items;
    *ret_n = kept;
    return 0;
}

/* ---- parts of the user ---- */

static int check_verified_email(const kc_value *claims, kc_error *err)
{
    const kc_value *verified = kc_value_get(claims, "email_verified");
    if (verified && kc_value_type(verified) != KC_JSON_BOOL)
        return kc_error_set(err, KC_UNAUTHORIZED,
                            "oidc: parse 'email_verified' claim: json: cannot unmarshal %s into Go "
                            "value of type bool",
                            go_kind_of(verified));
    if (verified && !kc_value_as_bool(verified, false))
        return kc_error_set(err, KC_UNAUTHORIZED, "oidc: email not verified");
    return 0;
}

static int jwt_text_result(jwt_evaluation *e, const kc__jwt_mapping *mapping, const char *part,
                           kc_str *ret, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_cel_value value;
    if (evaluate_claims(e, &mapping->expression, &value, &why) < 0)
        return kc_error_set(err, KC_UNAUTHORIZED, "oidc: error evaluating %s claim expression: %s",
                            part, kc_error_text(&why));
    if (value.kind != KC_CEL_STRING)
        return kc_error_set(err, KC_UNAUTHORIZED,
                            "oidc: error evaluating %s claim expression: %s claim expression must "
                            "return a string",
                            part, part);
    *ret = kc_arena_str(e->arena, value.text);
    return 0;
}

static int jwt_username(jwt_evaluation *e, kc_str *ret, kc_error *err)
{
    const kc__jwt_mapping *mapping = &e->issuer->username;
    kc_scoped(kc_error) why = {0};
    if (mapping->expression.program) {
        if (jwt_text_result(e, mapping, "username", ret, err) < 0)
            return kc_error_result(err);
        return ret->n ? 0
                      : kc_error_set(err, KC_UNAUTHORIZED,
                                     "oidc: empty username via CEL expression is not allowed");
    }
    kc_str name = {0};
    if (text_of_claim(e->claims, mapping->claim, e->arena, &name, &why) < 0)
        return kc_error_set(err, KC_UNAUTHORIZED, "oidc: parse username claims \"%.*s\": %s",
                            KC_ARG(mapping->claim), kc_error_text(&why));
    if (kc_str_is(mapping->claim, "email") && check_verified_email(e->claims, err) < 0)
        return kc_error_result(err);
    *ret = kc_cstr(kc_arena_printf(e->arena, "%.*s%.*s", KC_ARG(mapping->prefix), KC_ARG(name)));
    return 0;
}

/* With room for one more. */
static int jwt_groups(jwt_evaluation *e, kc__user *user, kc_error *err)
{
    const kc__jwt_mapping *mapping = &e->issuer->groups;
    const kc_value *claim = mapping->claim.n ? kc_value_get_str(e->claims, mapping->claim) : NULL;
    kc_scoped(kc_error) why = {0};
    kc_str *groups = kc_arena_calloc(e->arena, 1, sizeof(*groups));
    kc_cel_value value;
    if (claim) {
        bool valid = kc_value_type(claim) == KC_JSON_STRING ||
                     kc_value_type(claim) == KC_JSON_ARRAY || kc_value_type(claim) == KC_JSON_NULL;
        kc_value_each_item (claim, item)
            valid &= kc_value_type(item) == KC_JSON_STRING;
        if (!valid)
            return kc_error_set(err, KC_UNAUTHORIZED,
                                "oidc: parse groups claim \"%.*s\": json: cannot unmarshal %s into "
                                "Go value of type string",
                                KC_ARG(mapping->claim), go_kind_of(claim));
        groups = texts_of_claim(claim, e->arena, &user->n_groups);
        for (size_t i = 0; mapping->prefix.n && i < user->n_groups; i++)
            groups[i] = kc_cstr(
                kc_arena_printf(e->arena, "%.*s%.*s", KC_ARG(mapping->prefix), KC_ARG(groups[i])));
    } else if (mapping->expression.program) {
        if (evaluate_claims(e, &mapping->expression, &value, &why) < 0 ||
            texts_of_result(e, value, &groups, &user->n_groups, &why) < 0)
            return jwt_refuse(err, "oidc: error evaluating group claim expression", &why);
    }
    user->groups = groups;
    return 0;
}

static int jwt_uid(jwt_evaluation *e, kc_str *ret, kc_error *err)
{
    const kc__jwt_mapping *mapping = &e->issuer->uid;
    kc_scoped(kc_error) why = {0};
    if (mapping->expression.program)
        return jwt_text_result(e, mapping, "uid", ret, err);
    if (mapping->claim.n && text_of_claim(e->claims, mapping->claim, e->arena, ret, &why) < 0)
        return kc_error_set(err, KC_UNAUTHORIZED, "oidc: parse uid claim \"%.*s\": %s",
                            KC_ARG(mapping->claim), kc_error_text(&why));
    return 0;
}

static void add_jwt_id(jwt_evaluation *e, kc__user_extra *list, kc__user *user)
{
    const kc_value *id = kc_value_get(e->claims, "jti");
    kc_str *value = kc_arena_calloc(e->arena, 1, sizeof(*value));
    if (!id || kc_value_type(id) != KC_JSON_STRING || !kc_value_as_str(id).n)
        return;
    *value = kc_cstr(kc_arena_printf(e->arena, "JTI=%.*s", KC_ARG(kc_value_as_str(id))));
    list[user->n_extra++] = (kc__user_extra){KC_STR(KC__USER_EXTRA_CREDENTIAL_ID), value, 1};
}

static int jwt_extra(jwt_evaluation *e, kc__user *user, kc_error *err)
{
    kc__user_extra *list = kc_arena_calloc(e->arena, e->issuer->n_extra + 1, sizeof(*list));
    add_jwt_id(e, list, user);
    for (size_t i = 0; i < e->issuer->n_extra; i++) {
        const kc__jwt_expression *expression = &e->issuer->extra[i];
        kc_scoped(kc_error) why = {0};
        kc_cel_value value;
        kc_str *values = NULL;
        size_t n = 0;
        if (evaluate_claims(e, expression, &value, &why) < 0)
            return kc_error_move(err, &why);
        if (texts_of_result(e, value, &values, &n, &why) < 0)
            return kc_error_set(err, KC_UNAUTHORIZED,
                                "oidc: error evaluating extra claim expression: %.*s: %s",
                                KC_ARG(expression->text), kc_error_text(&why));
        if (n)
            list[user->n_extra++] = (kc__user_extra){expression->key, values, n};
    }
    kc__user_extra_sort(list, user->n_extra);
    user->extra = list;
    return 0;
}

/* ---- rules ---- */

static int check_required_claims(jwt_evaluation *e, kc_error *err)
{
    for (size_t i = 0; i < e->issuer->n_claim_rules; i++) {
        const kc__jwt_rule *rule = &e->issuer->claim_rules[i];
        kc_scoped(kc_error) why = {0};
        kc_str value = {0};
        if (!rule->claim.n)
            continue;
        if (!kc_value_get_str(e->claims, rule->claim))
            return kc_error_set(err, KC_UNAUTHORIZED,
                                "oidc: required claim %.*s not present in ID token",
                                KC_ARG(rule->claim));
        if (text_of_claim(e->claims, rule->claim, e->arena, &value, &why) < 0)
            return kc_error_set(err, KC_UNAUTHORIZED, "oidc: parse claim %.*s: %s",
                                KC_ARG(rule->claim), kc_error_text(&why));
        if (!kc_str_eq(value, rule->required))
            return kc_error_set(
                err, KC_UNAUTHORIZED,
                "oidc: required claim %.*s value does not match. Got = %.*s, want = %.*s",
                KC_ARG(rule->claim), KC_ARG(value), KC_ARG(rule->required));
    }
    return 0;
}

static int check_jwt_rules(jwt_evaluation *e, const kc__jwt_rule *rules, size_t n,
                           kc_cel_value input, const char *what, kc_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const kc__jwt_expression *expression = &rules[i].expression;
        kc_scoped(kc_error) why = {0};
        kc_cel_value value;
        if (!expression->program)
            continue;
        if (evaluate_jwt(e, expression, input, &value, &why) < 0)
            return jwt_refuse(err, what, &why);
        if (value.kind != KC_CEL_BOOL || !value.boolean)
            return kc_error_set(err, KC_UNAUTHORIZED,
                                "%s: validation expression '%.*s' failed: %.*s", what,
                                KC_ARG(expression->text), KC_ARG(expression->message));
    }
    return 0;
}

/* All members, so that expressions find each of them. */
static void write_jwt_user(kc_buf *out, const kc__user *user)
{
    kc_buf_puts(out, "{\"username\":");
    kc_json_quote(out, user->name);
    kc_buf_puts(out, ",\"uid\":");
    kc_json_quote(out, user->uid);
    kc_buf_puts(out, ",\"groups\":");
    kc_json_quote_all(out, user->groups, user->n_groups);
    kc_buf_puts(out, ",\"extra\":{");
    for (size_t i = 0; i < user->n_extra; i++) {
        kc_buf_puts(out, i ? "," : "");
        kc_json_quote(out, user->extra[i].key);
        kc_buf_putc(out, ':');
        kc_json_quote_all(out, user->extra[i].values, user->extra[i].n_values);
    }
    kc_buf_puts(out, "}}");
}

static int check_user_rules(jwt_evaluation *e, const kc__user *user, kc_error *err)
{
    kc_scoped(kc_buf) json = {0};
    if (!e->issuer->n_user_rules)
        return 0;
    write_jwt_user(&json, user);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, err);
    if (!view)
        return kc_error_result(err);
    return check_jwt_rules(e, e->issuer->user_rules, e->issuer->n_user_rules,
                           kc_cel_of_json(kc_view_root(view), e->config->user_type),
                           "oidc: error evaluating user info validation rule", err);
}

static int make_jwt_user(jwt_evaluation *e, kc__user *user, kc_error *err)
{
    if (jwt_username(e, &user->name, err) < 0 || jwt_groups(e, user, err) < 0 ||
        jwt_uid(e, &user->uid, err) < 0 || jwt_extra(e, user, err) < 0 ||
        check_required_claims(e, err) < 0 ||
        check_jwt_rules(e, e->issuer->claim_rules, e->issuer->n_claim_rules,
                        kc_cel_of_json(e->claims, e->config->claims_type),
                        "oidc: error evaluating claim validation expression", err) < 0)
        return kc_error_result(err);
    return check_user_rules(e, user, err);
}

int kc__jwt_user_of_claims(const kc__jwt_config *config, const kc__jwt_issuer_config *issuer,
                           const kc_value *claims, kc_arena *arena, kc__user *ret, kc_error *err)
{
    jwt_evaluation e = {.config = config, .issuer = issuer, .claims = claims, .arena = arena};
    kc__user user = {0};
    const int failed = make_jwt_user(&e, &user, err);
    kc_arena_done(&e.work);
    if (failed)
        return failed;
    kc_str *groups = kc_arena_calloc(arena, user.n_groups + 1, sizeof(*groups));
    for (size_t i = 0; i < user.n_groups; i++)
        groups[i] = user.groups[i];
    user.groups = groups;
    kc__user_authenticated(&user, groups);
    *ret = user;
    return 0;
}
