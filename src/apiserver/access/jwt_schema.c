/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jwt_schema.c: the fields of an AuthenticationConfiguration, and those that its expressions read.
 * A misspelled field would silently weaken a rule, so unknown fields are errors, as in
 * kube-apiserver.
 *
 * To add a field: a row of the table of its object.
 */
#include "apiserver/access/jwt_config.h"

#include "apiserver/config/strict_config.h"
#include "kc/ascii.h"

#define GROUP "apiserver.config.k8s.io"

static const kc__config_member mapping_members[] = {{"claim", KC__CONFIG_STRING},
                                                    {"prefix", KC__CONFIG_STRING},
                                                    {"expression", KC__CONFIG_STRING},
                                                    {0}};
static const kc__config_member uid_members[] = {
    {"claim", KC__CONFIG_STRING}, {"expression", KC__CONFIG_STRING}, {0}};
static const kc__config_member extra_members[] = {
    {"key", KC__CONFIG_STRING}, {"valueExpression", KC__CONFIG_STRING}, {0}};
static const kc__config_member mappings_members[] = {
    {"username", KC__CONFIG_OBJECT, mapping_members},
    {"groups", KC__CONFIG_OBJECT, mapping_members},
    {"uid", KC__CONFIG_OBJECT, uid_members},
    {"extra", KC__CONFIG_OBJECTS, extra_members},
    {0}};
static const kc__config_member issuer_members[] = {{"url", KC__CONFIG_STRING},
                                                   {"discoveryURL", KC__CONFIG_STRING},
                                                   {"certificateAuthority", KC__CONFIG_STRING},
                                                   {"audiences", KC__CONFIG_STRINGS},
                                                   {"audienceMatchPolicy", KC__CONFIG_STRING},
                                                   {"egressSelectorType", KC__CONFIG_STRING},
                                                   {0}};
static const kc__config_member claim_rule_members[] = {{"claim", KC__CONFIG_STRING},
                                                       {"requiredValue", KC__CONFIG_STRING},
                                                       {"expression", KC__CONFIG_STRING},
                                                       {"message", KC__CONFIG_STRING},
                                                       {0}};
static const kc__config_member user_rule_members[] = {
    {"expression", KC__CONFIG_STRING}, {"message", KC__CONFIG_STRING}, {0}};
static const kc__config_member jwt_members[] = {
    {"issuer", KC__CONFIG_OBJECT, issuer_members},
    {"claimValidationRules", KC__CONFIG_OBJECTS, claim_rule_members},
    {"claimMappings", KC__CONFIG_OBJECT, mappings_members},
    {"userValidationRules", KC__CONFIG_OBJECTS, user_rule_members},
    {0}};
static const kc__config_member path_members[] = {{"path", KC__CONFIG_STRING}, {0}};
static const kc__config_member anonymous_members[] = {
    {"enabled", KC__CONFIG_BOOL}, {"conditions", KC__CONFIG_OBJECTS, path_members}, {0}};
static const kc__config_member root_members[] = {
    {"jwt", KC__CONFIG_OBJECTS, jwt_members},
    {"anonymous", KC__CONFIG_OBJECT, anonymous_members},
    {0}};
static const char *const api_versions[] = {GROUP "/v1", GROUP "/v1beta1", GROUP "/v1alpha1", NULL};

kc_view *kc__jwt_config_parse_fields(kc_str text, kc_error *err)
{
    static const kc__config_type type = {.api_versions = api_versions,
                                         .kind = "AuthenticationConfiguration",
                                         .members = root_members};
    return kc__config_parse(text, &type, err);
}

/* ---- fields that an expression reads ---- */

static bool is_ident_char(char c)
{
    return kc_is_alnum(c) || c == '_';
}

static size_t skip_spaces(kc_str text, size_t at)
{
    while (at < text.n && (text.p[at] == ' ' || text.p[at] == '\t' || text.p[at] == '\n'))
        at++;
    return at;
}

/* Behind the literal that begins here. */
static size_t skip_literal(kc_str text, size_t at)
{
    const char quote = text.p[at++];
    for (; at < text.n && text.p[at] != quote; at++)
        at += text.p[at] == '\\';
    return at + 1;
}

static size_t ident_end(kc_str text, size_t at)
{
    while (at < text.n && is_ident_char(text.p[at]))
        at++;
    return at;
}

/* Whether a selection of `field` follows at this place. */
static bool selects_here(kc_str text, size_t at, kc_str field)
{
    at = skip_spaces(text, at);
    if (at >= text.n || text.p[at] != '.')
        return false;
    at = skip_spaces(text, at + 1);
    if (at < text.n && text.p[at] == '?')
        at = skip_spaces(text, at + 1);
    const size_t end = ident_end(text, at);
    return at < text.n && kc_str_eq(kc_str_sub(text, at, end), field);
}

bool kc__jwt_expression_selects(kc_str text, kc_str variable, kc_str field)
{
    char before = ' '; /* The last character that is no space. */
    for (size_t at = 0; at < text.n;) {
        const char c = text.p[at];
        if (c == '"' || c == '\'') {
            at = skip_literal(text, at);
        } else if (is_ident_char(c)) {
            const size_t end = ident_end(text, at);
            if (before != '.' && before != '?' && kc_str_eq(kc_str_sub(text, at, end), variable) &&
                selects_here(text, end, field))
                return true;
            at = end;
        } else {
            at++;
        }
        if (c != ' ' && c != '\t' && c != '\n')
            before = c;
    }
    return false;
}
