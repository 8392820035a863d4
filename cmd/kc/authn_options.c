/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authn_options.c: flags of `kc apiserver` for authenticators that need configuration. Names and
 * rules are those of kube-apiserver.
 *
 * To add a flag: a row of `flags` and a field of the options. Then run scripts/man.
 */
#include "authn_options.h"

#include "apiserver/jose/jose_key.h"
#include "kc/json.h"

#include <stddef.h>

#define FIELD(name) .offset = offsetof(kc__cli_authn_options, name)
#define TOKENS      "Bearer tokens"
#define ISSUERS     "Token issuers"
#define PROXY       "Front proxies"

static const kc__cli_flag flags[] = {
    {"enable-bootstrap-token-auth", .group = TOKENS, FIELD(bootstrap_tokens),
     .parse = kc__cli_flag_switch,
     .help = "accept bootstrap tokens: Secrets of the type bootstrap.kubernetes.io/token in "
             "kube-system",
     .details = "A token ID.SECRET authenticates as system:bootstrap:ID in the group "
                "system:bootstrappers and those of auth-extra-groups, while the Secret "
                "bootstrap-token-ID exists, has usage-bootstrap-authentication set to true, and "
                "has not expired."},
    {"authentication-token-webhook-config-file", .argument = "FILE", .group = TOKENS,
     FIELD(webhook.config_file), .parse = kc__cli_flag_text, .values = "FILE",
     .help = "kubeconfig of a server that reviews bearer tokens that this server does not know",
     .details = "The server posts a TokenReview to the URL of the current cluster. A response that "
                "says nothing about the token (429, 500, 504) is followed by up to four more "
                "attempts, within 30 seconds."},
    {"authentication-token-webhook-version", .argument = "VERSION", .initial = "v1beta1",
     .group = TOKENS, FIELD(webhook.version), .parse = kc__cli_flag_text, .values = "v1 v1beta1",
     .help = "version of TokenReview for the webhook: v1 or v1beta1"},
    {"authentication-token-webhook-cache-ttl", .argument = "DURATION", .initial = "2m0s",
     .group = TOKENS, FIELD(webhook.cache_ttl), .parse = kc__cli_flag_duration,
     .help = "TTL of cached TokenReview responses"},

    {"authentication-config", .argument = "FILE", .group = ISSUERS, FIELD(config_file),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "AuthenticationConfiguration with the issuers of tokens that the server accepts",
     .details = "The kind is of apiserver.config.k8s.io/v1. Rules and mappings may be expressions "
                "(CEL). The section anonymous decides which paths need no credentials. The server "
                "reads the file again when it changes; issuers are then in effect once their keys "
                "are fetched, and a change of anonymous needs a restart."},
    {"oidc-issuer-url", .argument = "URL", .group = ISSUERS, FIELD(oidc.issuer_url),
     .parse = kc__cli_flag_text,
     .help = "URL of an OpenID issuer of tokens, https; needs --oidc-client-id"},
    {"oidc-client-id", .argument = "NAME", .group = ISSUERS, FIELD(oidc.client_id),
     .parse = kc__cli_flag_text, .help = "audience that tokens of the issuer must have"},
    {"oidc-ca-file", .argument = "FILE", .group = ISSUERS, FIELD(oidc.ca_file),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "certificate authorities that verify the issuer, PEM; defaults to the system's"},
    {"oidc-username-claim", .argument = "NAME", .initial = "sub", .group = ISSUERS,
     FIELD(oidc.username_claim), .parse = kc__cli_flag_text, .help = "claim with the user name"},
    {"oidc-username-prefix", .argument = "TEXT", .group = ISSUERS, FIELD(oidc.username_prefix),
     .parse = kc__cli_flag_text,
     .help = "prefix of user names; '-' disables it; defaults to the issuer's URL and '#', unless "
             "the claim is email"},
    {"oidc-groups-claim", .argument = "NAME", .group = ISSUERS, FIELD(oidc.groups_claim),
     .parse = kc__cli_flag_text, .help = "claim with the groups: a text or a list of them"},
    {"oidc-groups-prefix", .argument = "TEXT", .group = ISSUERS, FIELD(oidc.groups_prefix),
     .parse = kc__cli_flag_text, .help = "prefix of groups"},
    {"oidc-required-claim", .argument = "NAME=VALUE", .group = ISSUERS, FIELD(oidc.required_claims),
     .parse = kc__cli_flag_repeated,
     .help = "claim that a token must have, with its value; may be repeated"},
    {"oidc-signing-algs", .argument = "NAMES", .group = ISSUERS, FIELD(oidc.algorithms),
     .parse = kc__cli_flag_words,
     .help = "comma-separated list of accepted signature algorithms: RS256, RS384, RS512, ES256, "
             "ES384, ES512, PS256, PS384, PS512; defaults to RS256"},

    {"requestheader-client-ca-file", .argument = "FILE", .group = PROXY, FIELD(proxy.ca_file),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "certificate authorities for the client certificates of front proxies, PEM",
     .details = "A front proxy authenticates users itself and names the user of a request in the "
                "header fields of --requestheader-username-headers. The server believes these "
                "fields only if a certificate of this authority protects the connection, and "
                "removes them from every request. Use an authority that issues no other "
                "certificates. The server publishes the values of these flags in the ConfigMap "
                "extension-apiserver-authentication of kube-system and reads the file again when "
                "it changes."},
    {"requestheader-allowed-names", .argument = "NAMES", .group = PROXY, FIELD(proxy.allowed_names),
     .parse = kc__cli_flag_words,
     .help = "comma-separated common names of the certificates of front proxies; defaults to any "
             "certificate of --requestheader-client-ca-file"},
    {"requestheader-username-headers", .argument = "NAMES", .group = PROXY,
     FIELD(proxy.username_headers), .parse = kc__cli_flag_words,
     .help = "comma-separated header fields with the user name; X-Remote-User is common"},
    {"requestheader-uid-headers", .argument = "NAMES", .group = PROXY, FIELD(proxy.uid_headers),
     .parse = kc__cli_flag_words,
     .help = "comma-separated header fields with the uid; must include X-Remote-Uid"},
    {"requestheader-group-headers", .argument = "NAMES", .group = PROXY, FIELD(proxy.group_headers),
     .parse = kc__cli_flag_words,
     .help = "comma-separated header fields with a group; X-Remote-Group is common"},
    {"requestheader-extra-headers-prefix", .argument = "PREFIXES", .group = PROXY,
     FIELD(proxy.extra_prefixes), .parse = kc__cli_flag_words,
     .help = "comma-separated prefixes of header fields with extra values of the user; "
             "X-Remote-Extra- is common"},
};

const kc__cli_flag_set kc__cli_authn_part = {KC__CLI_FLAGS(flags),
                                             .size = sizeof(kc__cli_authn_options)};

/* ---- rules ---- */

static bool list_has(const kc__cli_flag_list *list, kc_str value)
{
    for (size_t i = 0; i < list->n; i++)
        if (kc_str_eq_nocase(list->items[i], value))
            return true;
    return false;
}

static int check_proxy(const kc__cli_proxy_options *o, kc_error *err)
{
    const struct {
        const char *flag;
        const kc__cli_flag_list *list;
    } lists[] = {{"requestheader-username-headers", &o->username_headers},
                 {"requestheader-group-headers", &o->group_headers},
                 {"requestheader-extra-headers-prefix", &o->extra_prefixes},
                 {"requestheader-allowed-names", &o->allowed_names},
                 {"requestheader-uid-headers", &o->uid_headers}};
    for (size_t i = 0; i < KC_COUNT(lists); i++)
        if (list_has(lists[i].list, KC_STR("")))
            return kc_error_set(err, KC_INVALID, "empty value in \"%s\"", lists[i].flag);
    if (o->uid_headers.n && !list_has(&o->uid_headers, KC_STR("X-Remote-Uid")))
        return kc_error_set(err, KC_INVALID,
                            "--requestheader-uid-headers is set without specifying the standard "
                            "X-Remote-Uid header - API aggregation will not work");
    return 0;
}

static int check_token_webhook(const kc__cli_token_webhook_options *o, kc_error *err)
{
    if (!strcmp(o->version, "v1") || !strcmp(o->version, "v1beta1"))
        return 0;
    return kc_error_set(err, KC_INVALID,
                        "unsupported authentication webhook version \"%s\", supported versions are "
                        "\"v1\", \"v1beta1\"",
                        o->version);
}

static bool has_oidc_flags(const kc__cli_oidc_options *o)
{
    return o->issuer_url || o->client_id || o->ca_file || o->username_prefix || o->groups_claim ||
           o->groups_prefix || o->required_claims.n || o->algorithms.n;
}

static int check_oidc(const kc__cli_authn_options *a, kc_error *err)
{
    const kc__cli_oidc_options *o = &a->oidc;
    kc__jose_algorithm algorithm;
    if (has_oidc_flags(o) && (!o->issuer_url || !o->client_id))
        return kc_error_set(err, KC_INVALID,
                            "oidc-issuer-url and oidc-client-id must be specified together when "
                            "any oidc-* flags are set");
    if (has_oidc_flags(o) && a->config_file)
        return kc_error_set(err, KC_INVALID,
                            "authentication-config file and oidc-* flags are mutually exclusive");
    for (size_t i = 0; i < o->algorithms.n; i++)
        if (!kc__jose_algorithm_parse(o->algorithms.items[i], &algorithm))
            return kc_error_set(err, KC_INVALID, "oidc: unsupported signing alg: \"%.*s\"",
                                KC_ARG(o->algorithms.items[i]));
    for (size_t i = 0; i < o->required_claims.n; i++)
        if (kc_str_find(o->required_claims.items[i], '=') < 0)
            return kc_error_set(err, KC_INVALID, "--oidc-required-claim must be NAME=VALUE");
    return 0;
}

unsigned kc__cli_oidc_algorithms(const kc__cli_oidc_options *o)
{
    unsigned bits = o->algorithms.n ? 0 : 1u << KC__JOSE_RS256;
    kc__jose_algorithm algorithm;
    for (size_t i = 0; i < o->algorithms.n; i++)
        if (kc__jose_algorithm_parse(o->algorithms.items[i], &algorithm))
            bits |= 1u << algorithm;
    return bits;
}

/* ---- the configuration that --oidc-* stands for ---- */

static void write_oidc_member(kc_buf *out, const char *name, kc_str value)
{
    kc_buf_printf(out, "%s\"%s\":", out->p[out->n - 1] == '{' ? "" : ",", name);
    kc_json_quote(out, value);
}

static void write_oidc_username(const kc__cli_oidc_options *o, kc_buf *out)
{
    const char *prefix = o->username_prefix && *o->username_prefix ? o->username_prefix : NULL;
    kc_buf_puts(out, "\"username\":{");
    write_oidc_member(out, "claim", kc_cstr(o->username_claim));
    if (prefix)
        write_oidc_member(out, "prefix", kc_cstr(!strcmp(prefix, "-") ? "" : prefix));
    else if (!strcmp(o->username_claim, "email"))
        write_oidc_member(out, "prefix", KC_STR(""));
    else {
        kc_scoped(kc_buf) own = {0};
        kc_buf_printf(&own, "%s#", o->issuer_url);
        write_oidc_member(out, "prefix", kc_buf_str(&own));
    }
    kc_buf_putc(out, '}');
}

static void write_oidc_rules(const kc__cli_oidc_options *o, kc_buf *out)
{
    kc_buf_puts(out, "\"claimValidationRules\":[");
    for (size_t i = 0; i < o->required_claims.n; i++) {
        kc_str value = o->required_claims.items[i];
        const kc_str name = kc_str_cut(&value, '=');
        kc_buf_puts(out, i ? ",{" : "{");
        write_oidc_member(out, "claim", name);
        write_oidc_member(out, "requiredValue", value);
        kc_buf_putc(out, '}');
    }
    kc_buf_putc(out, ']');
}

void kc__cli_oidc_config_write(const kc__cli_oidc_options *o, kc_str ca, kc_buf *out)
{
    kc_buf_puts(out, "{\"apiVersion\":\"apiserver.config.k8s.io/v1\","
                     "\"kind\":\"AuthenticationConfiguration\",\"jwt\":[{\"issuer\":{");
    write_oidc_member(out, "url", kc_cstr(o->issuer_url));
    if (ca.n)
        write_oidc_member(out, "certificateAuthority", ca);
    kc_buf_puts(out, ",\"audiences\":[");
    kc_json_quote(out, kc_cstr(o->client_id));
    kc_buf_puts(out, "]},");
    write_oidc_rules(o, out);
    kc_buf_puts(out, ",\"claimMappings\":{");
    write_oidc_username(o, out);
    if (o->groups_claim && *o->groups_claim) {
        kc_buf_puts(out, ",\"groups\":{");
        write_oidc_member(out, "claim", kc_cstr(o->groups_claim));
        write_oidc_member(out, "prefix", kc_cstr(o->groups_prefix));
        kc_buf_putc(out, '}');
    }
    kc_buf_puts(out, "}}]}");
}

int kc__cli_authn_options_check(kc__cli_authn_options *o, kc_error *err)
{
    const char **texts[] = {&o->proxy.ca_file,   &o->webhook.config_file, &o->config_file,
                            &o->oidc.issuer_url, &o->oidc.client_id,      &o->oidc.ca_file};
    for (size_t i = 0; i < KC_COUNT(texts); i++)
        if (*texts[i] && !**texts[i])
            *texts[i] = NULL;
    if (check_token_webhook(&o->webhook, err) < 0 || check_oidc(o, err) < 0)
        return kc_error_result(err);
    return check_proxy(&o->proxy, err);
}
