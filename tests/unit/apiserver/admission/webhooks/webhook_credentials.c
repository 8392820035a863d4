/* SPDX-License-Identifier: Apache-2.0 */
/* The credentials of the server for admission webhooks: which webhook gets which. The transport is
 * replaced: it records the header Authorization of the last request and refuses the connection. */
#include "api_testing.h"
#include "files_testing.h"

#include "apiserver/admission/admission_config.h"
#include "apiserver/admission/webhooks/webhook_registry.h"

#define GROUP "/apis/admissionregistration.k8s.io/v1/"

typedef struct refusal {
    kc__loop_task task;
    kc__http_client_done_fn *done;
    void *user;
} refusal;

/* Functions that send have no user pointer. Written on a loop before the request of the test
 * ends. */
static char last_authorization[64];

static void refuse_connection(kc__loop_task *task)
{
    refusal *r = kc_container_of(task, refusal, task);
    r->done(&(kc__http_client_response){.error = "connection refused"}, r->user);
    free(r);
}

static void record_authorization(kc__http_client *client, const kc__http_client_request *request,
                                 kc__loop *loop, kc__http_client_done_fn *done, void *user)
{
    (void)client;
    refusal *r = kc_new(refusal);
    *r = (refusal){.task.run = refuse_connection, .done = done, .user = user};
    snprintf(last_authorization, sizeof(last_authorization), "%s",
             request->identity ? request->identity->authorization : "none");
    kc__loop_post(loop, &r->task);
}

static void make_webhook(api *a, const char *plural, const char *url)
{
    assert_code(
        api_post(a, text(a, GROUP "%s", plural),
                 text(a,
                      "{'metadata':{'name':'w'},'webhooks':[{'name':'w.test.io','sideEffects':"
                      "'None','admissionReviewVersions':['v1'],'clientConfig':{'url':'%s'},'rules':"
                      "[{'apiGroups':[''],'apiVersions':['v1'],'operations':['CREATE'],'resources':"
                      "['configmaps']}]}]}",
                      url)),
        201);
}

static void remove_webhook(api *a, const char *plural)
{
    assert_code(api_delete(a, text(a, GROUP "%s/w", plural), NULL), 200);
}

static const char *called_with(api *a, const char *plural, const char *url)
{
    make_webhook(a, plural, url);
    assert_code(api_post(a, "/api/v1/namespaces/default/configmaps", "{'metadata':{'name':'m'}}"),
                500);
    remove_webhook(a, plural);
    return last_authorization;
}

static void webhook_gets_the_credentials_of_its_server_and_plugin(void **state)
{
    (void)state;
    kc_auto(scratch) *files = scratch_new();
    kc_autofree char *path = scratch_path(files, "users");
    scratch_write(
        files, "users",
        "users: [{name: hooks.test, user: {token: host}}, {name: 'hooks.test:8443', user: "
        "{token: port}}]\n");
    kc__admission_config config = {.validating_users =
                                       kc__webhook_kubeconfig_users_read(path, NULL)};
    assert_non_null(config.validating_users);
    {
        kc_auto(api) *a = api_start(&(api_opts){.server.admission_config = &config});
        api_inside(a)->hooks->send = record_authorization;
#define VALIDATING "validatingwebhookconfigurations"
        assert_string_equal(called_with(a, VALIDATING, "https://hooks.test/x"), "Bearer host");
        assert_string_equal(called_with(a, VALIDATING, "https://hooks.test:8443/"), "Bearer port");
        assert_string_equal(called_with(a, VALIDATING, "https://other.test/"), "none");
        assert_string_equal(called_with(a, "mutatingwebhookconfigurations", "https://hooks.test/x"),
                            "none");
    }
    kc__admission_config_done(&config);
}

TESTS(webhook_gets_the_credentials_of_its_server_and_plugin)
