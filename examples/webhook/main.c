/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook: an API server asks us about every Website before it is stored. A theme is set where none
 * is said, a title that shouts is refused, an empty page is allowed with a warning.
 *
 *     example_webhook [HOST:PORT]
 *
 * The certificate is made here, and its authority put into the configuration
 * (examples/webhook/configuration.yaml), which says what we are asked, and where.
 */
#include "kc/meta.h"
#include "kc/view.h"
#include "kc/webhook.h"

#include <ctype.h>
#include <stdio.h>

static const kc_kind website_kind = {
    .group = "example.com",
    .version = "v1",
    .kind = "Website",
    .plural = "websites",
    .singular = "website",
    .namespaced = true,
};

/* /mutate-example-com-v1-website: what is changed here is what the server changes. */
static int set_theme(kc_edit *website, const kc_admission *request, void *user, kc_error *err)
{
    (void)user;
    (void)err;
    kc_node *spec = kc_node_need_object(website, kc_edit_root(website), KC_STR("spec"));
    if (!kc_node_get(spec, KC_STR("theme")))
        kc_node_set(website, spec, KC_STR("theme"), kc_node_str(website, KC_STR("plain")));
    printf("set defaults of %.*s\n", KC_ARG(request->name));
    return 0;
}

static bool shouts(kc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (islower((unsigned char)text.p[i]))
            return false;
    return text.n > 1;
}

/* /validate-example-com-v1-website: an error refuses it, and is what the client gets to see. */
static int check(const kc_admission *request, kc_warnings *warnings, void *user, kc_error *err)
{
    (void)user;
    if (!request->object) /* It is to be deleted. */
        return 0;
    kc_auto(kc_view) *view = kc_view_of(request->object);
    const kc_value *spec = kc_get(kc_view_root(view), "spec");
    if (!kc_get(spec, "text"))
        kc_warn(warnings, "the page of %.*s is empty", KC_ARG(request->name));
    if (shouts(kc_as_str(kc_get(spec, "title"))))
        return kc_error_set(err, KC_INVALID, "spec.title: do not shout, %.*s",
                            KC_ARG(request->username));
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const configurations[] = {"websites.example.com", NULL};
    setvbuf(stdout, NULL, _IOLBF, 0);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_manager) *manager = kc_manager_new(NULL, &err);
    kc_webhook_server_opts opts = {.address = argc > 1 ? argv[1] : "127.0.0.1:0",
                                   .configurations = configurations};
    kc_webhook_server *hooks = manager ? kc_webhook_server_new(manager, &opts, &err) : NULL;
    if (!hooks || kc_webhook_default(hooks, &website_kind, set_theme, NULL, &err) < 0 ||
        kc_webhook_validate(hooks, &website_kind, check, NULL, &err) < 0 ||
        kc_manager_start(manager, &err) < 0)
        return kc_manager_exit(&err);
    printf("asked at https://127.0.0.1:%d\n", kc_webhook_server_port(hooks));
    return kc_manager_wait(manager, &err) < 0 ? kc_manager_exit(&err) : 0;
}
