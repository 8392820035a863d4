/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dns_rules.c: validates the DNS config of a pod: nameservers, search domains, options and host
 * aliases.
 */
#include "apiserver/kinds/core/pod_rules.h"

#define MAX_SERVERS      3
#define MAX_SEARCHES     32
#define MAX_SEARCH_CHARS 2048

static void check_servers(const kc__location *servers)
{
    size_t i = 0;
    if (kc_value_len(servers->value) > MAX_SERVERS)
        kc__location_error(servers, KC_FIELD_INVALID, "must not have more than %d nameservers",
                           MAX_SERVERS);
    kc_value_each_item (servers->value, value) {
        kc__location server = kc__location_item(servers, value, i++);
        kc__validate_ip(&server);
    }
}

/* A trailing dot marks a fully qualified name; a single dot is the root. */
static void check_search(const kc__location *search)
{
    kc_str text = kc__location_text(search);
    const char *messages[KC_NAME_MESSAGES];
    if (kc_str_is(text, "."))
        return;
    if (kc_str_ends(text, KC_STR(".")))
        text = kc_str_sub(text, 0, text.n - 1);
    size_t n = kc_name_check(KC_NAME_SUBDOMAIN_LOOSE, text, messages);
    for (size_t i = 0; i < n; i++)
        kc__location_error_text(search, KC_FIELD_INVALID, text, messages[i]);
}

static void check_searches(const kc__location *searches)
{
    size_t i = 0, chars = 0, n = kc_value_len(searches->value);
    if (n > MAX_SEARCHES)
        kc__location_error(searches, KC_FIELD_INVALID, "must not have more than %d search paths",
                           MAX_SEARCHES);
    kc_value_each_item (searches->value, value)
        chars += kc_value_as_str(value).n + 1;
    if (n && chars - 1 > MAX_SEARCH_CHARS)
        kc__location_error(
            searches, KC_FIELD_INVALID,
            "must not have more than %d characters (including spaces) in the search list",
            MAX_SEARCH_CHARS);
    kc_value_each_item (searches->value, value) {
        kc__location search = kc__location_item(searches, value, i++);
        check_search(&search);
    }
}

/* Kubernetes reports the error for the whole option. */
static void check_option(const kc__location *option)
{
    if (kc_str_empty(kc__location_member_text(option, "name")))
        kc__location_error(option, KC_FIELD_REQUIRED, "must not be empty");
}

static const kc__validate_rule option_[] = {{.code = check_option}};
static const kc__validate_rule_table option = KC__VALIDATE_RULES(option_);
static const kc__validate_rule config_[] = {
    {"nameservers", .code = check_servers},
    {"searches", .code = check_searches},
    {"options", .of = &option},
};
static const kc__validate_rule_table config_rules = KC__VALIDATE_RULES(config_);

void kc__validate_dns_config(const kc__location *spec)
{
    kc__location config = kc__location_member(spec, "dnsConfig"),
                 servers = kc__location_member(&config, "nameservers");
    bool none = kc_str_is(kc__location_member_text(spec, "dnsPolicy"), "None");
    if (none && !config.value)
        kc__location_error(&config, KC_FIELD_REQUIRED,
                           "must provide `dnsConfig` when `dnsPolicy` is None");
    else if (none && !kc_value_len(servers.value))
        kc__location_error(&servers, KC_FIELD_REQUIRED,
                           "must provide at least one DNS nameserver when `dnsPolicy` is None");
    else if (config.value)
        kc__validate_by_rules(&config_rules, &config);
}

static const kc__validate_rule alias_[] = {
    {"ip", .code = kc__validate_ip},
    {"hostnames", .name = &kc__validate_name_dns_subdomain},
};
static const kc__validate_rule_table alias = KC__VALIDATE_RULES(alias_);

void kc__validate_host_aliases(const kc__location *aliases)
{
    kc__validate_items_by_rules(&alias, aliases);
}
