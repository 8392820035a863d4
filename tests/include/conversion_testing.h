/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conversion_testing.h: a server with a custom resource whose versions a webhook inside the test
 * converts: v1 (stored) has spec.one, v2 has spec.two. The path of the webhook's URL chooses what
 * it answers.
 *
 *     api *a = start("/convert");
 *     create(a, "a");
 *     assert_at(api_get(a, V2 "/a"), "spec.two", "xa");
 *     stop(a);
 */
#ifndef KC_CONVERSION_TESTING_H
#define KC_CONVERSION_TESTING_H

#include "api_testing.h"
#include "apiserver/crd/crd_resource_internal.h"

#include "kc/json.h"
#include "kc/thread.h"
#include "kc/vec.h"

#include <stdio.h>

typedef struct sent_conversion {
    kc__loop_task task;
    kc__loop *loop;
    kc__http_client_done_fn *done;
    void *user;
    kc_buf answer;
    int status;
    const char *error;
} sent_conversion;

/* Functions that send have no user pointer: each test begins with a reset. */
static struct {
    kc_mutex mutex; /* Guards what follows. */
    size_t calls, objects, most;
    bool holds; /* Keep responses back until release_webhook. */
    KC_VEC(sent_conversion *) held;
    char names[4096]; /* Of the converted objects, in order. */
} webhook;

/* ---- the webhook ---- */

KC_UNUSED static void convert_value(kc_buf *out, const kc_value *object, kc_str desired,
                                    const char *mode)
{
    kc_auto(kc_edit) *edit = kc_edit_of_value(object);
    kc_node *root = kc_edit_root(edit), *spec = kc_node_get(root, KC_STR("spec"));
    const bool to_v1 = kc_str_ends(desired, KC_STR("/v1"));
    const char *from = to_v1 ? "two" : "one", *to = to_v1 ? "one" : "two";
    kc_node *value = kc_node_get(spec, kc_cstr(from));
    if (value) {
        value = kc_node_clone(edit, value);
        kc_node_remove(spec, kc_cstr(from));
        kc_node_set(edit, spec, kc_cstr(to), value);
    }
    kc_node_set(edit, root, KC_STR("apiVersion"), kc_node_str(edit, desired));
    if (!strcmp(mode, "/labels"))
        kc_edit_set_nested(edit, "metadata.labels.seen",
                           kc_node_str(edit, to_v1 ? KC_STR("v1") : KC_STR("v2")));
    kc_node_write(out, root);
}

KC_UNUSED static bool has_name(const kc_value *objects, const char *name)
{
    kc_value_each_item (objects, object)
        if (kc_str_is(kc_value_as_str(kc_value_nested(object, "metadata.name")), name))
            return true;
    return false;
}

KC_UNUSED static void answer_review(sent_conversion *s, const kc_value *request, const char *mode)
{
    const kc_value *objects = kc_value_get(request, "objects");
    const bool fails =
        !strcmp(mode, "/fail") || (!strcmp(mode, "/failb") && has_name(objects, "b"));
    size_t n = 0;
    s->status = 200;
    kc_buf_printf(
        &s->answer,
        "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"ConversionReview\","
        "\"response\":{\"uid\":\"%.*s\",\"result\":{\"status\":\"%s\",\"message\":\"no\"},"
        "\"convertedObjects\":[",
        KC_ARG(kc_value_as_str(kc_value_get(request, "uid"))), fails ? "Failure" : "Success");
    kc_value_each_item (objects, object) {
        kc_buf_puts(&s->answer, n++ ? "," : "");
        convert_value(&s->answer, object,
                      kc_value_as_str(kc_value_get(request, "desiredAPIVersion")), mode);
    }
    kc_buf_puts(&s->answer, "]}}");
}

KC_UNUSED static void deliver_answer(kc__loop_task *task)
{
    sent_conversion *s = kc_container_of(task, sent_conversion, task);
    s->done(&(kc__http_client_response){.status = s->status,
                                        .type = KC_STR("application/json"),
                                        .body = kc_buf_str(&s->answer),
                                        .error = s->error},
            s->user);
    kc_buf_done(&s->answer);
    free(s);
}

KC_UNUSED static void count_review(const kc_value *objects)
{
    webhook.calls++;
    webhook.objects += kc_value_len(objects);
    webhook.most = KC_MAX(webhook.most, kc_value_len(objects));
    kc_value_each_item (objects, object) {
        const kc_str name = kc_value_as_str(kc_value_nested(object, "metadata.name"));
        const size_t at = strlen(webhook.names);
        if (at + name.n + 2 < sizeof(webhook.names))
            snprintf(webhook.names + at, sizeof(webhook.names) - at, "%.*s ", KC_ARG(name));
    }
}

KC_UNUSED static void send_to_webhook(kc__http_client *client,
                                      const kc__http_client_request *request, kc__loop *loop,
                                      kc__http_client_done_fn *done, void *user)
{
    (void)client;
    kc_auto(kc_view) *view = kc_view_parse(request->body, NULL, NULL);
    const kc_value *review = kc_value_get(kc_view_root(view), "request");
    sent_conversion *s = kc_new(sent_conversion);
    *s = (sent_conversion){.task.run = deliver_answer, .loop = loop, .done = done, .user = user};
    kc_str rest = kc_cstr(request->url + strlen("https://test.invalid"));
    kc_autofree char *mode = kc_str_dup(kc_str_cut(&rest, '?'));
    if (!strcmp(mode, "/away"))
        s->error = "dial tcp 127.0.0.1:1: connect: connection refused";
    else
        answer_review(s, review, mode);
    kc_locked (&webhook.mutex) {
        count_review(kc_value_get(review, "objects"));
        if (webhook.holds)
            kc_vec_push(&webhook.held, s);
        else
            kc__loop_post(loop, &s->task);
    }
}

KC_UNUSED static void release_webhook(void)
{
    kc_locked (&webhook.mutex) {
        webhook.holds = false;
        kc_vec_each (&webhook.held, s)
            kc__loop_post((*s)->loop, &(*s)->task);
        kc_vec_done(&webhook.held);
    }
}

KC_UNUSED static size_t calls(void)
{
    size_t n = 0;
    kc_locked (&webhook.mutex)
        n = webhook.calls;
    return n;
}

KC_UNUSED static void await_calls(size_t n)
{
    for (int i = 0; i < 3000 && calls() < n; i++)
        kc_clock_sleep(kc_clock_real(), 10 * KC_MILLISECOND);
    assert_true(calls() >= n);
}

/* ---- the definition ---- */

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define V1   "/apis/x.io/v1/namespaces/default/robots"
#define V2   "/apis/x.io/v2/namespaces/default/robots"
#define VERSION(name, stored, field)                                                              \
    "{'name':'" name "','served':true,'storage':" stored ",'subresources':{'status':{},'scale':{" \
    "'specReplicasPath':'.spec.replicas','statusReplicasPath':'.status.replicas'}},"              \
    "'selectableFields':[{'jsonPath':'.spec." field "'}],"                                        \
    "'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'object',"         \
    "'properties':{'" field "':{'type':'string'},'replicas':{'type':'integer'},"                  \
    "'from':{'type':'string','default':'" name "'}}},"                                            \
    "'status':{'type':'object','x-kubernetes-preserve-unknown-fields':true}}}}}"
#define CONVERSION(path)                                                               \
    "'conversion':{'strategy':'Webhook','webhook':{'conversionReviewVersions':['v1']," \
    "'clientConfig':{'url':'https://test.invalid" path "'}}}"

KC_UNUSED static void define(api *a, const char *path, const char *stored)
{
    const bool first = !strcmp(stored, "v1");
    assert_code(
        api_post(
            a, CRDS,
            text(a,
                 "{'metadata':{'name':'robots.x.io'},'spec':{'group':'x.io',"
                 "'scope':'Namespaced','names':{'plural':'robots','singular':'robot',"
                 "'kind':'Robot','listKind':'RobotList'},'versions':[%s,%s]," CONVERSION("%s") "}}",
                 first ? VERSION("v1", "true", "one") : VERSION("v1", "false", "one"),
                 first ? VERSION("v2", "false", "two") : VERSION("v2", "true", "two"), path)),
        201);
    for (int i = 0; i < 12000 && api_get(a, V2)->status != 200; i++)
        kc_clock_sleep(kc_clock_real(), 5 * KC_MILLISECOND);
}

/* Whether objects are served by a definition with this path. */
KC_UNUSED static bool uses_path(api *a, const char *path)
{
    kc_auto(kc__rest_catalog) *held = NULL;
    const kc__rest_catalog *now = kc__rest_catalog_slot_current(api_inside(a)->catalog_slot, &held);
    const kc__resource *robots =
        kc__registry_find(now->kinds, KC_STR("x.io"), KC_STR("v1"), KC_STR("robots"));
    const kc__crd_webhook *used = robots->custom->crd->webhook;
    return used && kc_str_ends(kc_cstr(used->target.url), kc_cstr(path));
}

KC_UNUSED static void use_path(api *a, const char *path)
{
    assert_code(api_patch(a, CRDS "/robots.x.io", text(a, "{'spec':{" CONVERSION("%s") "}}", path)),
                200);
    for (int i = 0; i < 12000 && !uses_path(a, path); i++)
        kc_clock_sleep(kc_clock_real(), 5 * KC_MILLISECOND);
    assert_true(uses_path(a, path));
}

KC_UNUSED static api *start(const char *path)
{
    memset(&webhook, 0, sizeof(webhook));
    kc_mutex_init(&webhook.mutex);
    api *a = api_start(&(api_opts){.server.conversion_send = send_to_webhook});
    define(a, path, "v1");
    return a;
}

KC_UNUSED static void stop(api *a)
{
    release_webhook();
    api_stop(a);
    kc_mutex_done(&webhook.mutex);
}

KC_UNUSED static void create(api *a, const char *name)
{
    assert_code(api_post(a, V1,
                         text(a,
                              "{'apiVersion':'x.io/v1','kind':'Robot','metadata':{'name':'%s',"
                              "'labels':{'l':'%s'}},'spec':{'one':'x%s'}}",
                              name, name, name)),
                201);
}

#endif
