/* SPDX-License-Identifier: Apache-2.0 */
/* serviceaccounts/NAME/token, TokenReview and OIDC discovery, through the whole server. */
#include "accounts_testing.h"
#include "api_testing.h"

#define ACCOUNTS "/api/v1/namespaces/default/serviceaccounts"
#define WEB      ACCOUNTS "/web/token"
#define REVIEWS  "/apis/authentication.k8s.io/v1/tokenreviews"
#define PODS     "/api/v1/namespaces/default/pods"

typedef struct plane {
    kc__authn *authn;
    kc__sa_tokens *tokens;
    api *a;
} plane;

static plane *plane_with(kc__sa_opts opts)
{
    plane *p = kc_new(plane);
    p->tokens = tokens_with("P-256", opts);
    p->authn = kc__authn_new(&(kc__authn_opts){0}, NULL);
    kc__authn_accept_accounts(p->authn, p->tokens);
    p->a = api_start(&(api_opts){.server = {.authn = p->authn, .accounts = p->tokens}});
    assert_code(api_post(p->a, ACCOUNTS, "{'metadata':{'name':'web'}}"), 201);
    return p;
}

static plane *plane_free(plane *p)
{
    api_stop(p->a);
    kc__authn_free(p->authn);
    kc__sa_tokens_free(p->tokens);
    free(p);
    return NULL;
}
KC_AUTO_DEFINE(plane, plane_free)

static const char *token_from(plane *p, const char *body)
{
    const reply *r = api_post(p->a, WEB, body);
    assert_code(r, 201);
    return r_text(r, "status.token");
}

static const reply *as(plane *p, const char *token, const char *target)
{
    const char *header = text(p->a, "Authorization: Bearer %s", token);
    return SEND(p->a, "GET", target, .headers = {header});
}

static const reply *review(plane *p, const char *token, const char *more)
{
    return api_post(p->a, REVIEWS, text(p->a, "{'spec':{'token':'%s'%s}}", token, more));
}

static void make_pod(plane *p, const char *name, const char *account)
{
    assert_code(api_post(p->a, PODS,
                         text(p->a,
                              "{'metadata':{'name':'%s'},'spec':{'serviceAccountName':'%s',"
                              "'containers':[{'name':'c','image':'i'}]}}",
                              name, account)),
                201);
}

/* ---- issuing ---- */

static void issued_token_authenticates_its_account(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_with((kc__sa_opts){0});
    const reply *r = api_post(p->a, WEB, "{'spec':{}}");
    assert_code(r, 201);
    assert_at(r, "kind", "TokenRequest");
    assert_at(r, "apiVersion", "authentication.k8s.io/v1");
    assert_at(r, "metadata.name", "web");
    assert_at(r, "metadata.namespace", "default");
    assert_at(r, "spec.audiences", "[\"" ISSUER "\"]");
    assert_at(r, "spec.expirationSeconds", "3600");
    assert_at(r, "spec.boundObjectRef", "null");
    assert_at(r, "metadata.managedFields[0].subresource", "token");
    assert_int_equal(strlen(r_text(r, "status.expirationTimestamp")),
                     strlen("2026-01-02T03:04:05Z"));
    const char *token = r_text(r, "status.token");
    assert_code(as(p, token, ACCOUNTS "/web"), 200);
    const reply *reviewed = review(p, token, "");
    assert_code(reviewed, 201);
    assert_at(reviewed, "status.authenticated", "true");
    assert_at(reviewed, "status.user.username", "system:serviceaccount:default:web");
    assert_at(reviewed, "status.audiences", "[\"" ISSUER "\"]");
    /* Nothing is stored. */
    assert_code(api_get(p->a, REVIEWS), 405);
}

static void deletion_of_account_revokes_its_token_at_once(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_with((kc__sa_opts){0});
    const char *token = token_from(p, "{'spec':{}}");
    assert_code(as(p, token, "/api/v1/namespaces/default"), 200);
    assert_code(api_delete(p->a, ACCOUNTS "/web", NULL), 200);
    assert_status(as(p, token, "/api/v1/namespaces/default"), 401, "Unauthorized", "Unauthorized");
    assert_code(api_post(p->a, ACCOUNTS, "{'metadata':{'name':'web'}}"), 201);
    assert_code(as(p, token, "/api/v1/namespaces/default"), 401);
}

static void deletion_of_bound_pod_revokes_its_token_at_once(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_with((kc__sa_opts){0});
    make_pod(p, "p", "web");
    const char *token =
        token_from(p, "{'spec':{'boundObjectRef':{'kind':'Pod','apiVersion':'v1','name':'p'}}}");
    assert_at(review(p, token, ""), "status.user.extra['authentication.kubernetes.io/pod-name']",
              "[\"p\"]");
    assert_code(as(p, token, PODS "/p"), 200);
    assert_code(api_delete(p->a, PODS "/p?gracePeriodSeconds=0", NULL), 200);
    assert_code(as(p, token, PODS), 401);
    assert_at(review(p, token, ""), "status.error",
              "[invalid bearer token, service account token has been invalidated]");
}

static void invalid_request_is_refused(void **state)
{
    static const struct {
        const char *target, *body;
        int code;
        const char *reason, *message;
    } rows[] = {
        {WEB, "{'spec':{'expirationSeconds':599}}", 422, "Invalid",
         "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid "
         "value: 599: may not specify a duration less than 10 minutes"},
        {WEB, "{'spec':{'expirationSeconds':4294967297}}", 422, "Invalid",
         "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid "
         "value: 4294967297: may not specify a duration larger than 2^32 seconds"},
        {WEB, "{'metadata':{'name':'x'}}", 422, "Invalid",
         "TokenRequest.authentication.k8s.io \"web\" is invalid: metadata.name: Invalid value: "
         "\"x\": must match the service account name if specified"},
        {WEB, "{'spec':{'boundObjectRef':{'kind':'ConfigMap','apiVersion':'v1','name':'x'}}}", 400,
         "BadRequest", "cannot bind token to object of type /v1, Kind=ConfigMap"},
        {WEB, "{'spec':{'boundObjectRef':{'kind':'Pod','apiVersion':'v1','name':'other'}}}", 400,
         "BadRequest",
         "cannot bind token for serviceaccount \"web\" to pod running with different serviceaccount "
         "name."},
        {WEB, "{'spec':{'boundObjectRef':{'kind':'Pod','apiVersion':'v1','name':'gone'}}}", 404,
         "NotFound", "pods \"gone\" not found"},
        {WEB, "{'spec':{'boundObjectRef':{'kind':'Node','apiVersion':'v1','name':'gone'}}}", 404,
         "NotFound", "nodes \"gone\" not found"},
        {WEB, "{'spec':{'boundObjectRef':{'kind':'Pod','apiVersion':'v1','name':'p','uid':'x'}}}",
         409, "Conflict",
         "Operation cannot be fulfilled on Pod \"p\": the UID in the bound object reference (x) "
         "does not match the UID in record. The object might have been deleted and then recreated"},
        {ACCOUNTS "/gone/token", "{}", 404, "NotFound", "serviceaccounts \"gone\" not found"},
        {"/api/v1/namespaces/gone/serviceaccounts/web/token", "{}", 404, "NotFound",
         "namespaces \"gone\" not found"},
    };
    (void)state;
    kc_auto(plane) *p = plane_with((kc__sa_opts){0});
    make_pod(p, "p", "web");
    make_pod(p, "other", "other");
    for (size_t i = 0; i < KC_COUNT(rows); i++)
        assert_status(api_post(p->a, rows[i].target, rows[i].body), rows[i].code, rows[i].reason,
                      rows[i].message);
    const reply *r = api_post(p->a, WEB, "{'metadata':{'uid':'x'}}");
    assert_code(r, 409);
    assert_contains(r_text(r, "message"),
                    "Operation cannot be fulfilled on TokenRequest.authentication.k8s.io \"web\": "
                    "the UID in the token request (x) does not match the UID of the service "
                    "account (");
}

static void lifetime_above_the_maximum_is_shortened_with_a_warning(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_with((kc__sa_opts){.max_seconds = 3600});
    const reply *r = api_post(p->a, WEB, "{'spec':{'expirationSeconds':7200}}");
    assert_code(r, 201);
    assert_at(r, "spec.expirationSeconds", "3600");
    assert_string_equal(r_header(r, "Warning"),
                        "299 - \"requested expiration of 7200 seconds shortened to 3600 seconds\"");
    r = api_post(p->a, WEB, "{'spec':{'expirationSeconds':3600}}");
    assert_null(r_header(r, "Warning"));
}

/* The claims of a token. The caller frees the view. */
static kc_view *claims_in(const char *token)
{
    kc_scoped(kc__jws) jws = {0};
    assert_int_equal(kc__jws_parse(kc_cstr(token), &jws, NULL), 0);
    kc_view *view = kc_view_parse(jws.payload, NULL, NULL);
    assert_non_null(view);
    return view;
}

static int64_t number_in(const kc_view *view, const char *name)
{
    return kc_value_as_i64_or(kc_value_get(kc_view_root(view), name), 0);
}

static void token_of_a_kubelet_for_a_pod_is_extended_to_a_year(void **state)
{
    static const char body[] = "{'spec':{'expirationSeconds':3607,'boundObjectRef':{'kind':'Pod',"
                               "'apiVersion':'v1','name':'p'}}}";
    (void)state;
    kc_auto(plane) *p = plane_with((kc__sa_opts){.extend_expiration = true});
    make_pod(p, "p", "web");
    kc_auto(kc_view) *extended = claims_in(token_from(p, body));
    assert_int_equal(number_in(extended, "exp") - number_in(extended, "iat"), 365 * 24 * 3600);
    const kc_value *own = kc_value_get(kc_view_root(extended), "kubernetes.io");
    assert_int_equal(kc_value_as_i64_or(kc_value_get(own, "warnafter"), 0),
                     number_in(extended, "iat") + 3607);
    kc_auto(kc_view) *unbound = claims_in(token_from(p, "{'spec':{'expirationSeconds':3607}}"));
    assert_int_equal(number_in(unbound, "exp") - number_in(unbound, "iat"), 3607);
    kc_auto(plane) *other = plane_with((kc__sa_opts){.extend_expiration = false});
    make_pod(other, "p", "web");
    kc_auto(kc_view) *plain = claims_in(token_from(other, body));
    assert_int_equal(number_in(plain, "exp") - number_in(plain, "iat"), 3607);
}

static void only_create_is_served(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_with((kc__sa_opts){0});
    assert_code(api_get(p->a, WEB), 405);
    assert_code(api_put(p->a, WEB, "{}"), 405);
    assert_code(api_delete(p->a, WEB, NULL), 405);
    assert_code(api_post(p->a, WEB "/x", "{}"), 404);
}

/* ---- reviews ---- */

static void review_of_invalid_token_says_why(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_with((kc__sa_opts){0});
    const reply *r = review(p, "wrong", "");
    assert_code(r, 201);
    assert_at(r, "status", "{\"user\":{},\"error\":\"invalid bearer token\"}");
    const char *token = token_from(p, "{'spec':{}}");
    assert_at(review(p, token, ",'audiences':['vault']"), "status.error",
              "[invalid bearer token, token audiences [\"" ISSUER
              "\"] is invalid for the target audiences [\"vault\"]]");
    assert_status(review(p, "", ""), 400, "BadRequest",
                  "token is required for TokenReview in authentication");
}

static void review_is_about_the_audience_that_is_asked_for(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_with((kc__sa_opts){0});
    const char *token = token_from(p, "{'spec':{'audiences':['vault','x']}}");
    assert_code(as(p, token, "/api/v1/namespaces/default"), 401);
    const reply *r = review(p, token, ",'audiences':['vault']");
    assert_at(r, "status.authenticated", "true");
    assert_at(r, "status.audiences", "[\"vault\"]");
}

static void review_drops_metadata_of_the_server(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_with((kc__sa_opts){0});
    const reply *r = api_post(p->a, REVIEWS,
                              "{'metadata':{'name':'X Y','uid':'1','namespace':'n'},"
                              "'spec':{'token':'x'},'status':{'authenticated':true}}");
    assert_code(r, 201);
    assert_at(r, "metadata.name", "X Y");
    assert_at(r, "metadata.uid", "");
    assert_at(r, "metadata.namespace", "");
    assert_at(r, "status.authenticated", "");
}

/* ---- OIDC discovery ---- */

static void discovery_documents_are_served_for_an_hour(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_with((kc__sa_opts){0});
    const reply *r = api_get(p->a, "/.well-known/openid-configuration");
    assert_code(r, 200);
    assert_string_equal(r->type, "application/json");
    assert_string_equal(r_header(r, "Cache-Control"), "public, max-age=3600");
    assert_string_equal(r->body, "{\"issuer\":\"" ISSUER
                                 "\",\"jwks_uri\":\"https://127.0.0.1:6443/openid/v1/jwks\","
                                 "\"response_types_supported\":[\"id_token\"],"
                                 "\"subject_types_supported\":[\"public\"],"
                                 "\"id_token_signing_alg_values_supported\":[\"ES256\"]}");
    r = api_get(p->a, "/openid/v1/jwks");
    assert_code(r, 200);
    assert_string_equal(r->type, "application/jwk-set+json");
    assert_int_equal(r_count(r, "keys"), 1);
    assert_code(api_post(p->a, "/openid/v1/jwks", "{}"), 405);
    assert_contains(api_get(p->a, "/")->body, "\"/.well-known/openid-configuration\"");
}

static void issuer_that_is_no_url_has_no_discovery(void **state)
{
    static const kc_str issuer = KC_STR_INIT("cluster");
    (void)state;
    kc_auto(plane) *p = plane_with((kc__sa_opts){.issuers = {&issuer, 1}});
    assert_code(api_get(p->a, "/.well-known/openid-configuration"), 404);
    assert_code(api_get(p->a, "/openid/v1/jwks"), 404);
    assert_code(as(p, token_from(p, "{}"), "/api/v1/namespaces/default"), 200);
}

/* ---- legacy tokens ---- */

static void use_of_legacy_token_is_noted_in_its_secret(void **state)
{
    kc_scoped(kc_buf) token = {0}, data = {0};
    (void)state;
    kc_auto(plane) *p = plane_with((kc__sa_opts){0});
    const char *uid = r_text(api_get(p->a, ACCOUNTS "/web"), "metadata.uid");
    const kc__sa_claims claims = {.legacy = true,
                                  .subject = KC_STR("system:serviceaccount:default:web"),
                                  .ns = KC_STR("default"),
                                  .secret = {true, KC_STR("s"), {0}},
                                  .account = {true, KC_STR("web"), kc_cstr(uid)}};
    assert_int_equal(kc__sa_tokens_sign(p->tokens, &claims, &token, NULL), 0);
    kc_base64_write(&data, kc_buf_str(&token), KC_BASE64);
    assert_code(as(p, kc_buf_cstr(&token), ACCOUNTS "/web"), 401);
    assert_code(api_post(p->a, "/api/v1/namespaces/default/secrets",
                         text(p->a,
                              "{'metadata':{'name':'s','annotations':"
                              "{'kubernetes.io/service-account.name':'web'}},"
                              "'type':'kubernetes.io/service-account-token','data':{'token':'%s'}}",
                              kc_buf_cstr(&data))),
                201);
    assert_code(as(p, kc_buf_cstr(&token), ACCOUNTS "/web"), 200);
    const char *noted = "";
    for (int i = 0; i < 30000 && !*noted; i++, usleep(2000))
        noted = r_text(api_get(p->a, "/api/v1/namespaces/default/secrets/s"),
                       "metadata.labels['kubernetes.io/legacy-token-last-used']");
    assert_int_equal(strlen(noted), strlen("2006-01-02"));
    assert_code(as(p, kc_buf_cstr(&token), ACCOUNTS "/web"), 200);
    assert_code(api_delete(p->a, "/api/v1/namespaces/default/secrets/s", NULL), 200);
    assert_code(as(p, kc_buf_cstr(&token), ACCOUNTS "/web"), 401);
}

/* ---- without a key ---- */

static void server_without_key_issues_no_tokens(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_post(a, ACCOUNTS, "{'metadata':{'name':'web'}}"), 201);
    assert_code(api_post(a, WEB, "{}"), 405);
    assert_code(api_get(a, "/openid/v1/jwks"), 404);
    assert_at(api_post(a, REVIEWS, "{'spec':{'token':'x'}}"), "status.error",
              "invalid bearer token");
}

TESTS(issued_token_authenticates_its_account, deletion_of_account_revokes_its_token_at_once,
      deletion_of_bound_pod_revokes_its_token_at_once, invalid_request_is_refused,
      lifetime_above_the_maximum_is_shortened_with_a_warning,
      token_of_a_kubelet_for_a_pod_is_extended_to_a_year, only_create_is_served,
      review_of_invalid_token_says_why, review_is_about_the_audience_that_is_asked_for,
      review_drops_metadata_of_the_server, discovery_documents_are_served_for_an_hour,
      issuer_that_is_no_url_has_no_discovery, use_of_legacy_token_is_noted_in_its_secret,
      server_without_key_issues_no_tokens)
