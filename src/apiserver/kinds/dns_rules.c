/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dns_rules.c: how names are looked up in a pod: its servers, search paths and own entries.
 */
#include "apiserver/kinds/pod_rules.h"

#define MAX_SERVERS      3
#define MAX_SEARCHES     32
#define MAX_SEARCH_CHARS 2048

static void check_servers(const kc__place *servers)
{
    size_t i = 0;
    if (kc_len(servers->value) > MAX_SERVERS)
        kc__wrong(servers, KC_FIELD_INVALID, "must not have more than %d nameservers", MAX_SERVERS);
    kc_items (servers->value, value) {
        kc__place server = kc__item(servers, value, i++);
        kc__check_ip(&server);
    }
}

/* A dot at the end says that it is a whole name; one alone is the root. */
static void check_search(const kc__place *search)
{
    kc_str text = kc__text(search);
    const char *messages[KC_NAME_MESSAGES];
    if (kc_str_is(text, "."))
        return;
    if (kc_str_ends(text, KC_STR(".")))
        text = kc_str_sub(text, 0, text.n - 1);
    size_t n = kc_name_check(KC_NAME_SUBDOMAIN_LOOSE, text, messages);
    for (size_t i = 0; i < n; i++)
        kc__wrong_text(search, KC_FIELD_INVALID, text, messages[i]);
}

static void check_searches(const kc__place *searches)
{
    size_t i = 0, chars = 0, n = kc_len(searches->value);
    if (n > MAX_SEARCHES)
        kc__wrong(searches, KC_FIELD_INVALID, "must not have more than %d search paths",
                  MAX_SEARCHES);
    kc_items (searches->value, value)
        chars += kc_as_str(value).n + 1;
    if (n && chars - 1 > MAX_SEARCH_CHARS)
        kc__wrong(searches, KC_FIELD_INVALID,
                  "must not have more than %d characters (including spaces) in the search list",
                  MAX_SEARCH_CHARS);
    kc_items (searches->value, value) {
        kc__place search = kc__item(searches, value, i++);
        check_search(&search);
    }
}

/* The error is about the whole option, as in Kubernetes. */
static void check_option(const kc__place *option)
{
    if (kc_str_empty(kc__text_in(option, "name")))
        kc__wrong(option, KC_FIELD_REQUIRED, "must not be empty");
}

static const kc__rule option_[] = {{.code = check_option}};
static const kc__rules option = KC__RULES(option_);
static const kc__rule config_[] = {
    {"nameservers", .code = check_servers},
    {"searches", .code = check_searches},
    {"options", .of = &option},
};
static const kc__rules config_rules = KC__RULES(config_);

void kc__check_dns_config(const kc__place *spec)
{
    kc__place config = kc__member(spec, "dnsConfig"), servers = kc__member(&config, "nameservers");
    bool none = kc_str_is(kc__text_in(spec, "dnsPolicy"), "None");
    if (none && !config.value)
        kc__wrong(&config, KC_FIELD_REQUIRED, "must provide `dnsConfig` when `dnsPolicy` is None");
    else if (none && !kc_len(servers.value))
        kc__wrong(&servers, KC_FIELD_REQUIRED,
                  "must provide at least one DNS nameserver when `dnsPolicy` is None");
    else if (config.value)
        kc__rules_check(&config_rules, &config);
}

static const kc__rule alias_[] = {
    {"ip", .code = kc__check_ip},
    {"hostnames", .name = &kc__dns_subdomain},
};
static const kc__rules alias = KC__RULES(alias_);

void kc__check_host_aliases(const kc__place *aliases)
{
    kc__rules_check_below(&alias, aliases);
}
