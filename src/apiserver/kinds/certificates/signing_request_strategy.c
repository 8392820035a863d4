/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signing_request_strategy.c: the strategy of CertificateSigningRequests. The spec never changes.
 * The subresource `approval` writes the conditions Approved and Denied, `status` writes the
 * certificate and other conditions; neither removes a condition.
 *
 * The server sets the requester, and the times of conditions (admission/plugins/
 * certificate_request.c), because both depend on the write.
 */
#include "apiserver/kinds/certificates/pkcs10.h"
#include "apiserver/kinds/strategy.h"
#include "kc/diff.h"
#include "kc/map.h"

#define LEGACY_SIGNER "kubernetes.io/legacy-unknown"

static const char *const usages[] = {"any",
                                     "cert sign",
                                     "client auth",
                                     "code signing",
                                     "content commitment",
                                     "crl sign",
                                     "data encipherment",
                                     "decipher only",
                                     "digital signature",
                                     "email protection",
                                     "encipher only",
                                     "ipsec end system",
                                     "ipsec tunnel",
                                     "ipsec user",
                                     "key agreement",
                                     "key encipherment",
                                     "microsoft sgc",
                                     "netscape sgc",
                                     "ocsp signing",
                                     "s/mime",
                                     "server auth",
                                     "signing",
                                     "timestamping",
                                     NULL};

/* ---- signers ---- */

/* Each label of a part must conform to the rule; the first that does not ends the check. */
static void check_labels(const kc__location *signer, kc_str part, kc_name_rule rule)
{
    kc_str rest = part;
    while (rest.p) {
        const char *messages[KC_NAME_MESSAGES];
        const kc_str label = kc_str_cut(&rest, '.');
        const size_t n = kc_name_check(rule, label, messages);
        for (size_t i = 0; i < n; i++)
            kc__location_error_text(signer, KC_FIELD_INVALID, part,
                                    kc_arena_printf(&signer->errors->arena,
                                                    "validating label \"%.*s\": %s", KC_ARG(label),
                                                    messages[i]));
        if (n)
            return;
    }
}

static void check_signer_parts(const kc__location *signer, kc_str name, kc_str domain, kc_str path)
{
    enum { MAX_DOMAIN = 253, MAX_NAME = 253 + 1 + 63 + 1 + 253 };
    if (domain.n > MAX_DOMAIN)
        kc__location_error(signer, KC_FIELD_TOO_LONG, "may not be more than %d bytes", MAX_DOMAIN);
    check_labels(signer, domain, KC_NAME_DNS_LABEL);
    if (kc_str_find(domain, '.') < 0)
        kc__location_error_text(signer, KC_FIELD_INVALID, domain,
                                "should be a domain with at least two segments separated by dots");
    check_labels(signer, path, KC_NAME_DNS_SUBDOMAIN);
    if (name.n > MAX_NAME)
        kc__location_error(signer, KC_FIELD_TOO_LONG, "may not be more than %d bytes", MAX_NAME);
}

static void check_signer_name(const kc__location *signer)
{
    const kc_str name = kc__location_text(signer);
    kc_str rest = name;
    const kc_str domain = kc_str_cut(&rest, '/');
    if (!name.n)
        kc__location_error(signer, KC_FIELD_REQUIRED, NULL);
    else if (!rest.p || kc_str_find(rest, '/') >= 0)
        kc__location_error(signer, KC_FIELD_INVALID,
                           "must be a fully qualified domain and path of the form "
                           "'example.com/signer-name'");
    else
        check_signer_parts(signer, name, domain, rest);
}

/* ---- the spec ---- */

static void check_usages(const kc__location *spec)
{
    const kc__location list = kc__location_member(spec, "usages");
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    if (!kc__location_is_set(&list))
        kc__location_error(&list, KC_FIELD_REQUIRED, NULL);
    kc_value_each_item (list.value, value) {
        const kc__location usage = kc__location_item(&list, value, i++);
        kc__validate_one_of(&usage, usages);
    }
    i = 0;
    kc_value_each_item (list.value, value) {
        const kc__location usage = kc__location_item(&list, value, i++);
        kc__validate_unique(&usage, &seen);
    }
}

static void check_request_text(const kc__location *spec)
{
    const kc__location request = kc__location_member(spec, "request");
    kc_scoped(kc_buf) why = {0};
    if (!kc__pkcs10_check(kc__location_text(&request), &why))
        kc__location_error(&request, KC_FIELD_INVALID, "%s", kc_buf_cstr(&why));
}

static void check_expiration(const kc__location *spec)
{
    const kc__location seconds = kc__location_member(spec, "expirationSeconds");
    if (seconds.value && kc__location_number(&seconds) < 600)
        kc__location_error(&seconds, KC_FIELD_INVALID,
                           "may not specify a duration less than 600 seconds (10 minutes)");
}

static void validate_request(const kc_value *object, kc_field_errors *errors)
{
    const kc__location root = kc__location_root(object, errors),
                       spec = kc__location_member(&root, "spec"),
                       signer = kc__location_member(&spec, "signerName");
    check_request_text(&spec);
    check_usages(&spec);
    if (kc__location_text_is(&signer, LEGACY_SIGNER))
        kc__location_error(&signer, KC_FIELD_INVALID,
                           "the legacy signerName is not allowed via this API version");
    else
        check_signer_name(&signer);
    check_expiration(&spec);
}

/* ---- conditions ---- */

static bool is_decision(kc_str type)
{
    return kc_str_is(type, "Approved") || kc_str_is(type, "Denied");
}

static void check_condition_status(const kc__location *condition, kc_str type)
{
    static const char *const only_true[] = {"True", NULL};
    static const char *const any[] = {"False", "True", "Unknown", NULL};
    const kc__location status = kc__location_member(condition, "status");
    if (!kc__location_is_set(&status))
        kc__location_error(&status, KC_FIELD_REQUIRED, NULL);
    else
        kc__validate_one_of(&status,
                            is_decision(type) || kc_str_is(type, "Failed") ? only_true : any);
}

static void check_condition(const kc__location *conditions, const kc__location *condition,
                            kc_map *seen)
{
    const kc__location type = kc__location_member(condition, "type");
    const kc_str text = kc__location_text(&type);
    const char *other = kc_str_is(text, "Approved") ? "Denied" : "Approved";
    if (!text.n)
        kc__location_error(&type, KC_FIELD_REQUIRED, NULL);
    check_condition_status(condition, text);
    if (is_decision(text) && kc_map_get(seen, kc_cstr(other)))
        kc__location_error_text(conditions, KC_FIELD_INVALID, text,
                                "Approved and Denied conditions are mutually exclusive");
    kc__validate_unique(&type, seen);
}

static void check_conditions(const kc__location *status)
{
    const kc__location conditions = kc__location_member(status, "conditions");
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_value_each_item (conditions.value, value) {
        const kc__location condition = kc__location_item(&conditions, value, i++);
        check_condition(&conditions, &condition, &seen);
    }
}

/* ---- updates ---- */

/* The i-th condition of a type; NULL: there are fewer. */
static const kc_value *condition_of_type(const kc_value *object, const char *type, size_t i)
{
    kc_value_each_item (kc_value_nested(object, "status.conditions"), condition)
        if (kc_str_is(kc_value_as_str(kc_value_get(condition, "type")), type) && i-- == 0)
            return condition;
    return NULL;
}

static size_t count_of_type(const kc_value *object, const char *type)
{
    size_t n = 0;
    while (condition_of_type(object, type, n))
        n++;
    return n;
}

static bool has_same_conditions(const kc_value *object, const kc_value *old, const char *type)
{
    const kc_value *condition;
    for (size_t i = 0; (condition = condition_of_type(object, type, i)); i++)
        if (!kc_value_equal(condition, condition_of_type(old, type, i), NULL))
            return false;
    return true;
}

static void forbid_at(const kc__location *location, const char *what, const char *type)
{
    kc__location_error(location, KC_FIELD_FORBIDDEN,
                       "updates may not %s a condition of type \"%s\"", what, type);
}

/* `decides`: the write may add and change Approved and Denied. */
static void check_kept_conditions(const kc_value *object, const kc_value *old,
                                  const kc__location *status, bool decides)
{
    static const char *const types[] = {"Approved", "Denied", "Failed"};
    const kc__location conditions = kc__location_member(status, "conditions");
    for (size_t i = 0; i < KC_COUNT(types); i++)
        if (count_of_type(object, types[i]) < count_of_type(old, types[i]))
            forbid_at(&conditions, "remove", types[i]);
    for (size_t i = 0; i < 2 && !decides; i++) {
        const size_t now = count_of_type(object, types[i]), before = count_of_type(old, types[i]);
        if (now > before)
            forbid_at(&conditions, "add", types[i]);
        else if (now == before && !has_same_conditions(object, old, types[i]))
            forbid_at(&conditions, "modify", types[i]);
    }
}

static void check_certificate(const kc_value *object, const kc_value *old,
                              const kc__location *status, bool signs)
{
    const kc__location certificate = kc__location_member(status, "certificate");
    const kc_str before = kc_value_as_str(kc_value_nested(old, "status.certificate")),
                 now = kc_value_as_str(kc_value_nested(object, "status.certificate"));
    kc_scoped(kc_buf) why = {0};
    if (kc_str_eq(before, now))
        return;
    if (!kc__pkcs10_check_certificates(now, &why))
        kc__location_error_text(&certificate, KC_FIELD_INVALID, KC_STR("<certificate data>"),
                                kc_buf_cstr(&why));
    if (!signs)
        kc__location_error(&certificate, KC_FIELD_FORBIDDEN,
                           "updates may not set certificate content");
    else if (before.n)
        kc__location_error(&certificate, KC_FIELD_FORBIDDEN,
                           "updates may not modify existing certificate content");
}

static void validate_change(const kc_value *object, const kc_value *old, bool decides, bool signs,
                            kc_field_errors *errors)
{
    const kc__location root = kc__location_root(object, errors),
                       status = kc__location_member(&root, "status");
    check_conditions(&status);
    check_kept_conditions(object, old, &status, decides);
    check_certificate(object, old, &status, signs);
}

static void validate_status(const kc_value *object, const kc_value *old, kc_field_errors *errors)
{
    validate_change(object, old, false, true, errors);
}

static void validate_approval(const kc_value *object, const kc_value *old, const char *subresource,
                              kc_field_errors *errors)
{
    (void)subresource;
    validate_change(object, old, true, false, errors);
}

/* ---- preparing ---- */

/* Approval changes the conditions alone. */
static void keep_all_but_conditions(kc_edit *edit, const kc_value *old)
{
    kc_node *root = kc_edit_root(edit);
    kc_node *conditions =
        kc_node_clone(edit, kc_node_get(kc_node_get(root, KC_STR("status")), KC_STR("conditions")));
    kc_node *status = kc_node_from_value(edit, kc_value_get(old, "status"));
    kc_node_set(edit, root, KC_STR("status"), status ? status : kc_node_object(edit));
    status = kc_node_get(root, KC_STR("status"));
    if (conditions)
        kc_node_set(edit, status, KC_STR("conditions"), conditions);
    else
        kc_node_remove(status, KC_STR("conditions"));
}

static size_t count_draft_conditions(const kc_node *conditions, const char *type)
{
    size_t n = 0;
    kc_node_each_item (conditions, condition)
        n += kc_str_is(kc__defaults_node_text(condition, "type"), type);
    return n;
}

/* A write of the status keeps decisions as they are; one that adds or removes some is refused by
 * validation. */
static void keep_decisions(kc_edit *edit, const kc_value *old, const char *type)
{
    kc_node *conditions =
        kc_node_get(kc_node_get(kc_edit_root(edit), KC_STR("status")), KC_STR("conditions"));
    if (count_draft_conditions(conditions, type) != count_of_type(old, type))
        return;
    size_t found = 0;
    for (size_t i = 0; i < kc_node_len(conditions); i++)
        if (kc_str_is(kc__defaults_node_text(kc_node_at(conditions, i), "type"), type))
            kc_node_replace_at(conditions, i,
                               kc_node_from_value(edit, condition_of_type(old, type, found++)));
}

static void prepare_change(kc_edit *edit, const kc_value *old, const char *subresource)
{
    kc_node *spec = kc_node_from_value(edit, kc_value_get(old, "spec"));
    if (spec)
        kc_node_set(edit, kc_edit_root(edit), KC_STR("spec"), spec);
    if (subresource && !strcmp(subresource, "approval"))
        keep_all_but_conditions(edit, old);
    if (subresource && !strcmp(subresource, "status")) {
        keep_decisions(edit, old, "Approved");
        keep_decisions(edit, old, "Denied");
    }
}

static const kc_field_def selectable[] = {{.field = "spec.signerName"}};

const kc__strategy kc__strategy_signing_request = {
    .names = KC_NAME_PATH_SEGMENT,
    .selectable = selectable,
    .n_selectable = KC_COUNT(selectable),
    .status_part = "approval",
    .validates_slowly = true,
    .prepare_update = prepare_change,
    .validate = validate_request,
    .validate_status = validate_status,
    .validate_part = validate_approval,
};
