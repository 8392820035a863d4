/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules_review.c: SelfSubjectRulesReview: what the user of the request may do in a namespace
 * (kubectl auth can-i --list).
 *
 * Each mode of authorization contributes its rules: AlwaysAllow everything, RBAC the rules of the
 * user's bindings. The privilege of system:masters is no rule of a mode and is not listed. The
 * permissions of a node depend on the pods on it: the list is then incomplete and says so.
 */
#include "apiserver/authz/node_identity.h"
#include "apiserver/authz/rbac.h"
#include "apiserver/reviews/review.h"
#include "kc/json.h"

kc__rest_verdict kc__review_check_rules(kc__rest_call *call, const kc_value *review)
{
    if (kc_str_empty(kc_value_as_str(kc_value_nested(review, "spec.namespace"))))
        return kc__rest_fail(call, KC_BAD_REQUEST, "no namespace on request");
    call->heavy = true; /* A user may have thousands of rules. */
    return KC__REST_NEXT;
}

static void write_rule_names(kc_buf *out, const char *member, const kc__rbac_names *names)
{
    if (!names->n)
        return;
    kc_buf_printf(out, ",\"%s\":", member);
    kc_json_quote_all(out, names->items, names->n);
}

/* The rule without the comma of its first member. */
static void end_rule(kc_buf *out, kc_buf *members)
{
    kc_buf_puts(out, out->p[out->n - 1] == '[' ? "{" : ",{");
    kc_buf_puts(out, members->n ? kc_buf_cstr(members) + 1 : "");
    kc_buf_putc(out, '}');
}

static void write_resource_rule(kc_buf *out, const kc__rbac_rule *rule)
{
    kc_scoped(kc_buf) members = {0};
    if (!rule->resources.n)
        return;
    write_rule_names(&members, "verbs", &rule->verbs);
    write_rule_names(&members, "apiGroups", &rule->groups);
    write_rule_names(&members, "resources", &rule->resources);
    write_rule_names(&members, "resourceNames", &rule->names);
    end_rule(out, &members);
}

static void write_url_rule(kc_buf *out, const kc__rbac_rule *rule)
{
    kc_scoped(kc_buf) members = {0};
    if (!rule->urls.n)
        return;
    write_rule_names(&members, "verbs", &rule->verbs);
    write_rule_names(&members, "nonResourceURLs", &rule->urls);
    end_rule(out, &members);
}

static const kc_str star = KC_STR_INIT("*");
#define ANY {.items = &star, .n = 1, .any = true}
static const kc__rbac_rule every_resource = {.verbs = ANY, .groups = ANY, .resources = ANY},
                           every_url = {.verbs = ANY, .urls = ANY};

typedef void write_rule_fn(kc_buf *out, const kc__rbac_rule *rule);

static void write_rules(kc_buf *out, const kc__authz *authz, const kc__rbac_rights *rights,
                        write_rule_fn *write)
{
    kc_buf_putc(out, '[');
    if (kc__authz_has_mode(authz, KC__AUTHZ_ALWAYS_ALLOW)) {
        write(out, &every_resource);
        write(out, &every_url);
    }
    kc_vec_each (&rights->rules, rules)
        for (size_t i = 0; i < (*rules)->n; i++)
            write(out, &(*rules)->items[i]);
    kc_buf_putc(out, ']');
}

static bool is_node(const kc__rest_call *call)
{
    kc_str name;
    return kc__authz_has_mode(call->api->authz, KC__AUTHZ_NODE_MODE) &&
           kc__authz_node_identity(&call->user, &name);
}

/* Appends an error to a list of errors, as an aggregate of Go is written. */
static void add_rules_error(kc_buf *errors, const char *text)
{
    kc_scoped(kc_buf) all = {0};
    const kc_str before = kc_buf_str(errors);
    const bool several = before.n && before.p[0] == '[';
    if (!before.n) {
        kc_buf_puts(errors, text);
        return;
    }
    kc_buf_printf(&all, "[%s, %.*s]", text,
                  KC_ARG(several ? kc_str_sub(before, 1, before.n - 1) : before));
    kc_buf_clear(errors);
    kc_buf_append(errors, kc_buf_str(&all));
}

void kc__review_answer_rules(kc__rest_call *call, const kc_value *review, kc_buf *out)
{
    kc__authz *authz = call->api->authz;
    kc_scoped(kc__rbac_rights) rights = {0};
    if (kc__authz_rbac(authz))
        kc__rbac_rights_collect(kc__authz_rbac(authz), &call->user,
                                kc_value_as_str(kc_value_nested(review, "spec.namespace")), false,
                                &rights);
    kc_buf_puts(out, "{\"kind\":\"SelfSubjectRulesReview\","
                     "\"apiVersion\":\"authorization.k8s.io/v1\",\"metadata\":{},\"spec\":{},"
                     "\"status\":{\"resourceRules\":");
    write_rules(out, authz, &rights, write_resource_rule);
    kc_buf_puts(out, ",\"nonResourceRules\":");
    write_rules(out, authz, &rights, write_url_rule);
    const bool webhook = kc__authz_has_mode(authz, KC__AUTHZ_WEBHOOK_MODE);
    if (webhook)
        add_rules_error(&rights.missing,
                        "webhook authorizer does not support user rule resolution");
    if (is_node(call))
        add_rules_error(&rights.missing, "node authorizer does not support user rule resolution");
    kc_buf_puts(out, webhook || is_node(call) ? ",\"incomplete\":true" : ",\"incomplete\":false");
    if (rights.missing.n) {
        kc_buf_puts(out, ",\"evaluationError\":");
        kc_json_quote(out, kc_buf_str(&rights.missing));
    }
    kc_buf_puts(out, "}}");
}
