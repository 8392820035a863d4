/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_service_strategy.c: the strategy of APIServices, which name the server of a group version.
 * This server has one APIService for each of its own group versions (background/bootstrap.c).
 * Others are stored as written: requests are not forwarded to the Services that they name.
 */
#include "apiserver/kinds/conditions.h"
#include "apiserver/kinds/strategy.h"

static const kc__defaults_entry service_[] = {{.field = "port", .json = "443"}};
static const kc__defaults service_defaults = KC__DEFAULTS(service_);
static const kc__defaults_entry spec_default_[] = {{.field = "service", .of = &service_defaults}};
static const kc__defaults spec_defaults = KC__DEFAULTS(spec_default_);
static const kc__defaults_entry object_default_[] = {{.field = "spec", .of = &spec_defaults}};
static const kc__defaults api_service_defaults = KC__DEFAULTS(object_default_);

/* An APIService without a Service, served by this server, is always Available. */
static void prepare_api_service(kc_edit *edit)
{
    kc_node *root = kc_edit_root(edit);
    kc_node *metadata = kc_node_get(root, KC_STR("metadata"));
    if (!kc__defaults_node_absent(kc_node_get(root, KC_STR("spec")), "service"))
        return;
    kc_node *condition = kc__condition_new(edit, "Available", "True", "Local");
    kc_node_set(edit, condition, KC_STR("message"),
                kc_node_str(edit, KC_STR("Local APIServices are always available")));
    kc__condition_put(edit, root, condition, kc__defaults_node_text(metadata, "creationTimestamp"));
}

/* The name must be spec.version + "." + spec.group. */
static void check_api_service_name(const kc__location *root)
{
    kc__location metadata = kc__location_member(root, "metadata"),
                 name = kc__location_member(&metadata, "name");
    kc__location spec = kc__location_member(root, "spec");
    char *needed = kc_arena_printf(&root->errors->arena, "%.*s.%.*s",
                                   KC_ARG(kc__location_member_text(&spec, "version")),
                                   KC_ARG(kc__location_member_text(&spec, "group")));
    if (!kc_name_valid(KC_NAME_PATH_SEGMENT, kc__location_text(&name)) ||
        kc__location_text_is(&name, needed))
        return;
    kc__location_error(&name, KC_FIELD_INVALID, "must be `spec.version+\".\"+spec.group`: \"%s\"",
                       needed);
}

static void check_group(const kc__location *spec)
{
    kc__location group = kc__location_member(spec, "group"),
                 version = kc__location_member(spec, "version");
    if (kc__location_is_set(&group))
        kc__validate_name(&group, KC_NAME_DNS_SUBDOMAIN);
    else if (!kc__location_text_is(&version, "v1"))
        kc__location_error(&group, KC_FIELD_REQUIRED,
                           "only v1 may have an empty group and it better be legacy kube");
    const char *messages[KC_NAME_MESSAGES];
    size_t n = kc_name_check(KC_NAME_DNS_1035_LABEL, kc__location_text(&version), messages);
    for (size_t i = 0; i < n; i++)
        kc__location_error_text(&version, KC_FIELD_INVALID, kc__location_text(&version),
                                messages[i]);
}

static void check_priority(const kc__location *spec, const char *name, int most)
{
    kc__location priority = kc__location_member(spec, name);
    if (kc__location_number(&priority) <= 0 || kc__location_number(&priority) > most)
        kc__location_error_number(
            &priority,
            kc_arena_printf(&spec->errors->arena, "must be positive and less than %d", most));
}

/* Returns the decoded length of a base64 text. */
static size_t decoded_length(kc_str base64)
{
    size_t n = base64.n / 4 * 3;
    for (size_t i = base64.n; i > 0 && base64.p[i - 1] == '='; i--)
        n--;
    return n;
}

static void check_local(const kc__location *spec)
{
    kc__location bundle = kc__location_member(spec, "caBundle");
    kc__location skip = kc__location_member(spec, "insecureSkipTLSVerify");
    if (kc__location_is_set(&bundle))
        kc__location_error_text(
            &bundle, KC_FIELD_INVALID,
            kc_cstr(kc_arena_printf(&spec->errors->arena, "%zu bytes",
                                    decoded_length(kc__location_text(&bundle)))),
            "local APIServices may not have a caBundle");
    if (kc__location_is_set(&skip))
        kc__location_error(&skip, KC_FIELD_INVALID,
                           "local APIServices may not have insecureSkipTLSVerify");
}

static void check_remote(const kc__location *spec, const kc__location *service)
{
    static const char *const needed[] = {"namespace", "name"};
    kc__location port = kc__location_member(service, "port");
    kc__location skip = kc__location_member(spec, "insecureSkipTLSVerify");
    for (size_t i = 0; i < KC_COUNT(needed); i++) {
        kc__location member = kc__location_member(service, needed[i]);
        if (!kc__location_is_set(&member))
            kc__location_error(&member, KC_FIELD_REQUIRED, NULL);
    }
    if (kc__location_number(&port) < 1 || kc__location_number(&port) > 65535)
        kc__location_error_number(&port,
                                  "port is not valid: must be between 1 and 65535, inclusive");
    if (kc__location_is_set(&skip) && kc__location_member_text(spec, "caBundle").n)
        kc__location_error(&skip, KC_FIELD_INVALID, "may not be true if caBundle is present");
}

static void check_api_service_spec(const kc__location *root)
{
    kc__location spec = kc__location_member(root, "spec"),
                 service = kc__location_member(&spec, "service");
    check_group(&spec);
    check_priority(&spec, "groupPriorityMinimum", 20000);
    check_priority(&spec, "versionPriority", 1000);
    if (service.value)
        check_remote(&spec, &service);
    else
        check_local(&spec);
}

static const kc__validate_rule object_[] = {{.code = check_api_service_name},
                                            {.code = check_api_service_spec}};
static const kc__validate_rule_table object_rules = KC__VALIDATE_RULES(object_);

static void validate_api_service_status(const kc_value *object, const kc_value *old,
                                        kc_field_errors *errors)
{
    static const char *const statuses[] = {"True", "False", "Unknown", NULL};
    kc__location root = kc__location_root(object, errors),
                 status = kc__location_member(&root, "status");
    kc__location conditions = kc__location_member(&status, "conditions");
    size_t i = 0;
    (void)old;
    kc_value_each_item (conditions.value, value) {
        kc__location item = kc__location_item(&conditions, value, i++),
                     state = kc__location_member(&item, "status");
        kc__validate_one_of(&state, statuses);
    }
}

const kc__strategy kc__strategy_api_service = {
    .names = KC_NAME_PATH_SEGMENT,
    .conditional = true,
    .defaults = &api_service_defaults,
    .prepare = prepare_api_service,
    .rules = &object_rules,
    .validate_status = validate_api_service_status,
};
