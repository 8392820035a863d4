/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission webhooks of a server in the same process: the client, the server and the webhook, which
 * sends requests to the server, are one process. None of them deadlocks.
 */
#include "webhook_testing.h"

#include <stdio.h>

enum { MANY = 40 };

/* ---- hooks ---- */

static int note(kc_edit *edit, const kc_admission_request *request, void *user, kc_error *err)
{
    (void)err;
    stage *s = user;
    atomic_fetch_add(&s->calls, 1);
    kc_edit_set_annotation(edit, KC_STR("by"), request->username);
    return 0;
}

/* Creates a ConfigMap for each pod, on the same server. */
static int write_in_webhook(kc_edit *edit, const kc_admission_request *request, void *user,
                            kc_error *err)
{
    stage *s = user;
    kc_autofree char *json =
        kc_asprintf("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'namespace':'default',"
                    "'name':'for-%.*s'}}",
                    KC_ARG(request->name));
    kc_auto(kc_object) *map = object_of(json);
    kc_auto(kc_object) *made = kc_client_create(s->client, map, NULL, err);
    kc_edit_set_label(edit, KC_STR("map"), KC_STR("made"));
    return made ? 0 : -1;
}

static int refuse(const kc_admission_request *request, kc_warnings *warnings, void *user,
                  kc_error *err)
{
    (void)user;
    kc_warnings_add(warnings, "think of %.*s", KC_ARG(request->name));
    return kc_error_set(err, KC_FORBIDDEN, "not %.*s", KC_ARG(request->name));
}

static int hold(kc_edit *edit, const kc_admission_request *request, void *user, kc_error *err)
{
    (void)edit;
    (void)request;
    (void)err;
    stage *s = user;
    kc_locked (&s->mutex) {
        while (s->held)
            kc_cond_wait(&s->changed, &s->mutex);
    }
    return 0;
}

static void release_held(stage *s)
{
    kc_locked (&s->mutex) {
        s->held = false;
        kc_cond_broadcast(&s->changed);
    }
}

/* ---- the configuration ---- */

/* At a path of the hooks' server, with fields of its own. */
static void configure(stage *s, const char *path, const char *fields)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) ca = bundle(s), text = {0};
    kc_base64_write(&text, kc_buf_str(&ca), KC_BASE64);
    kc_autofree char *patch = kc_asprintf(
        "{\"webhooks\":[{\"name\":\"one.x.io\",\"clientConfig\":{\"url\":\"https://127.0.0.1:%d%s\","
        "\"caBundle\":\"%s\"},\"rules\":[{\"operations\":[\"*\"],\"apiGroups\":[\"\"],"
        "\"apiVersions\":[\"v1\"],\"resources\":[\"pods\"]}],\"sideEffects\":\"None\","
        "\"admissionReviewVersions\":[\"v1\"]%s}]}",
        kc_webhook_server_port(s->hooks), path, kc_buf_cstr(&text), fields);
    kc_auto(kc_object) *now =
        kc_client_patch(s->client, &kc_kind_mutating_webhook, KC_KEY("", "hooks"), KC_PATCH_MERGE,
                        kc_cstr(patch), NULL, &err);
    if (!now)
        fail_msg("%s", kc_error_text(&err));
}

static bool has_bundle(stage *s)
{
    kc_scoped(kc_buf) ca = bundle(s);
    return ca.n > 0;
}

static stage *with_hook(stage *s, kc_webhook_default_fn *fn, const char *fields)
{
    kc_webhook_add_defaulter_at(s->hooks, "/mutate", &kc_kind_pod, fn, s, NULL);
    started(s);
    while (!has_bundle(s))
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
    configure(s, "/mutate", fields);
    return s;
}

static kc_object *create(stage *s, const char *name, kc_error *err)
{
    kc_autofree char *json =
        kc_asprintf("{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'default','name':'%s'}"
                    ",'spec':{'containers':[{'name':'c','image':'i'}]}}",
                    name);
    kc_auto(kc_object) *pod = object_of(json);
    return kc_client_create(s->client, pod, NULL, err);
}

/* ---- tests ---- */

static void webhook_in_the_process_mutates_created_object(void **state)
{
    (void)state;
    kc_auto(stage) *s = with_hook(stage_new(NULL, 0), note, "");
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *pod = create(s, "a", &err);
    if (!pod)
        fail_msg("%s", kc_error_text(&err));
    assert_contains(kc_object_annotations_json(pod).p, "\"by\":\"system:admin\"");
    assert_int_equal(atomic_load(&s->calls), 1);
}

typedef struct writer {
    stage *s;
    int number;
    kc_thread *thread;
    bool made;
} writer;

static void write_one(void *user)
{
    writer *w = user;
    char name[16];
    kc_scoped(kc_error) err = {0};
    snprintf(name, sizeof(name), "p%d", w->number);
    kc_auto(kc_object) *pod = create(w->s, name, &err);
    w->made = pod && strstr(kc_object_json(pod).p, "\"map\":\"made\"");
    if (!pod)
        fprintf(stderr, "%s\n", kc_error_text(&err));
}

static void webhooks_that_write_do_not_deadlock(void **state)
{
    (void)state;
    kc_auto(stage) *s = with_hook(stage_new(NULL, 0), write_in_webhook, "");
    writer writers[MANY];
    for (int i = 0; i < MANY; i++) {
        writers[i] = (writer){.s = s, .number = i};
        writers[i].thread = kc_thread_start("writer", write_one, &writers[i], NULL);
    }
    for (int i = 0; i < MANY; i++)
        kc_thread_join(writers[i].thread);
    for (int i = 0; i < MANY; i++)
        assert_true(writers[i].made);
}

static void denial_is_returned_to_the_client(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(NULL, 0);
    kc_webhook_add_validator_at(s->hooks, "/refuse", &kc_kind_pod, refuse, s, NULL);
    with_hook(s, note, "");
    configure(s, "/refuse", "");
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *pod = create(s, "a", &err);
    assert_null(pod);
    assert_int_equal(err.code, 403);
    assert_error(&err, KC_FORBIDDEN, "admission webhook \"one.x.io\" denied the request: not a");
}

static void slow_webhook_times_out(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(NULL, 0);
    s->held = true;
    with_hook(s, hold, ",\"timeoutSeconds\":1");
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *pod = create(s, "a", &err);
    assert_null(pod);
    assert_error(&err, KC_INTERNAL, "context deadline exceeded");
    configure(s, "/mutate", ",\"timeoutSeconds\":1,\"failurePolicy\":\"Ignore\"");
    kc_auto(kc_object) *made = create(s, "a", NULL);
    assert_non_null(made);
    release_held(s);
}

TESTS(webhook_in_the_process_mutates_created_object, webhooks_that_write_do_not_deadlock,
      denial_is_returned_to_the_client, slow_webhook_times_out)
