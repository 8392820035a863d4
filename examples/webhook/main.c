/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook: validates and defaults objects beyond what a schema can express. The API server calls
 * the webhooks over HTTPS before it stores a Website: one function sets defaults, another denies.
 *
 *     kubectl apply -f examples/website.yaml -f examples/webhook/configuration.yaml
 *     WEBHOOK_ADDRESS=127.0.0.1:9443 webhook
 *
 * The webhook server creates and renews its certificates and writes its CA into the caBundle of the
 * configurations named below.
 */
#include "kc/view.h"
#include "kc/webhook.h"

static const kc_kind website_kind = {
    .group = "example.com",
    .version = "v1",
    .kind = "Website",
    .plural = "websites",
    .singular = "website",
    .namespaced = true,
};

static const char *const CONFIGURATIONS[] = {"websites.example.com", NULL};

/* Changes the object before it is stored; the difference is returned as a patch. */
static int set_defaults(kc_edit *website, const kc_admission_request *request, void *user,
                        kc_error *err)
{
    (void)user;
    (void)err;
    if (kc_str_is(request->operation, "CREATE"))
        kc_edit_set_annotation(website, KC_STR("example.com/author"), request->username);
    return 0;
}

/* 0 allows; an error denies, and the user sees its message. */
static int check(const kc_admission_request *request, kc_warnings *warnings, void *user,
                 kc_error *err)
{
    (void)user;
    if (!request->object) /* A deletion. */
        return 0;
    kc_auto(kc_view) *view = kc_view_of(request->object);
    kc_str title = kc_value_as_str(kc_value_nested(kc_view_root(view), "spec.title"));
    if (kc_str_ends(title, KC_STR("!")))
        return kc_error_set(err, KC_FORBIDDEN, "a title must not shout: %.*s", KC_ARG(title));
    if (title.n > 60)
        kc_warnings_add(warnings, "a title of %zu bytes will be cut by most browsers", title.n);
    return 0;
}

int main(void)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_manager) *manager = kc_manager_new(NULL, &err);
    kc_webhook_server_opts opts = {.address = getenv("WEBHOOK_ADDRESS"),
                                   .configurations = CONFIGURATIONS};
    kc_webhook_server *hooks = manager ? kc_webhook_server_new(manager, &opts, &err) : NULL;
    if (!hooks || kc_webhook_add_defaulter(hooks, &website_kind, set_defaults, NULL, &err) < 0 ||
        kc_webhook_add_validator(hooks, &website_kind, check, NULL, &err) < 0 ||
        kc_manager_run(manager, &err) < 0)
        return kc_manager_exit(&err);
    return 0;
}
