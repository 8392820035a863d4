/* SPDX-License-Identifier: Apache-2.0 */
/* The certificates of webhooks: created, renewed, shared, published. */
#include "plane_testing.h"

#include "http/tls/certificate.h"
#include "kc/base64.h"
#include "kc/webhook.h"
#include "runtime/webhook/certs.h"

#include <openssl/x509v3.h>

#define DAY   (24 * KC_HOUR)
#define START (INT64_C(1767323045) * KC_SECOND)
#define VALID (90 * DAY)

static const char *const names[] = {"hooks.default.svc", "127.0.0.1", NULL};
static const kc__webhook_certs_spec spec = {.names = names, .valid = VALID};

/* Why it was renewed; "" when it was not. */
static const char *renew(kc__webhook_certs *certs, const kc__webhook_certs_spec *how, int64_t wall)
{
    kc_scoped(kc_error) err = {0};
    const char *why = NULL;
    if (kc__webhook_certs_renew(certs, how, wall, &why, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return why ? why : "";
}

static bool add_to_store(X509 *cert, void *user)
{
    return X509_STORE_add_cert(user, cert) == 1;
}

static bool count(X509 *cert, void *user)
{
    (void)cert;
    (void)user;
    return true;
}

static size_t authorities(const kc__webhook_certs *certs)
{
    return kc__cert_each(kc_buf_str(&certs->authorities), count, NULL);
}

/* Whether an API server that trusts this bundle accepts a webhook with this certificate. */
static bool trusts(kc_str bundle, kc_str cert, int64_t wall)
{
    X509 *leaf = NULL;
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    kc__cert_each(bundle, add_to_store, store);
    assert_int_equal(kc__cert_parse(cert, &leaf, NULL), 0);
    X509_STORE_CTX_init(context, store, leaf, NULL);
    X509_STORE_CTX_set_purpose(context, X509_PURPOSE_SSL_SERVER);
    X509_STORE_CTX_set_time(context, 0, (time_t)(wall / KC_SECOND));
    const bool ok = X509_verify_cert(context) == 1 && kc__cert_names(leaf, names[0]);
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    X509_free(leaf);
    return ok;
}

static bool good(const kc__webhook_certs *certs, int64_t wall)
{
    return trusts(kc_buf_str(&certs->authorities), kc_buf_str(&certs->cert), wall);
}

static bool has_name(const kc__webhook_certs *certs, const char *name)
{
    X509 *leaf = NULL;
    assert_int_equal(kc__cert_parse(kc_buf_str(&certs->cert), &leaf, NULL), 0);
    const bool named = kc__cert_names(leaf, name);
    X509_free(leaf);
    return named;
}

/* ---- creation and renewal ---- */

static void empty_certs_get_ca_and_certificate(void **state)
{
    (void)state;
    kc_scoped(kc__webhook_certs) certs = {0};
    assert_int_equal(kc__webhook_certs_expiry(&certs), 0);
    assert_string_equal(renew(&certs, &spec, START), "there is no CA");
    assert_true(good(&certs, START));
    assert_true(good(&certs, START + VALID - KC_MINUTE));
    assert_false(good(&certs, START + VALID + KC_MINUTE));
    assert_int_equal(kc__webhook_certs_expiry(&certs), (START + VALID) / KC_SECOND);
    assert_true(has_name(&certs, "127.0.0.1"));
    assert_string_equal(renew(&certs, &spec, START), "");
}

static void certificate_is_renewed_at_two_thirds_of_its_lifetime(void **state)
{
    (void)state;
    kc_scoped(kc__webhook_certs) certs = {0};
    renew(&certs, &spec, START);
    assert_string_equal(renew(&certs, &spec, START + 60 * DAY - KC_MINUTE), "");
    assert_string_equal(renew(&certs, &spec, START + 60 * DAY + KC_MINUTE),
                        "the certificate is due for renewal");
    assert_int_equal(authorities(&certs), 1);
    assert_true(good(&certs, START + 149 * DAY));
}

static void new_ca_is_published_before_it_signs(void **state)
{
    (void)state;
    one_thread();
    kc_scoped(kc__webhook_certs) certs = {0};
    kc_scoped(kc_buf) before = {0};
    renew(&certs, &spec, START);
    for (int64_t at = 0; at < 600 * DAY; at += 10 * DAY)
        renew(&certs, &spec, START + at);
    kc_buf_append(&before, kc_buf_str(&certs.authorities));
    assert_string_equal(renew(&certs, &spec, START + 600 * DAY + KC_MINUTE),
                        "the CA is due for renewal");
    assert_int_equal(authorities(&certs), 2);
    /* Whoever knows only the old one is still served. */
    assert_true(trusts(kc_buf_str(&before), kc_buf_str(&certs.cert), START + 600 * DAY));
    assert_string_equal(renew(&certs, &spec, START + 602 * DAY), "");
    assert_string_equal(renew(&certs, &spec, START + 604 * DAY),
                        "the certificate is due for renewal");
    assert_false(trusts(kc_buf_str(&before), kc_buf_str(&certs.cert), START + 604 * DAY));
    assert_true(good(&certs, START + 604 * DAY));
}

static void old_ca_stays_until_it_expires(void **state)
{
    (void)state;
    one_thread();
    kc_scoped(kc__webhook_certs) certs = {0};
    for (int64_t at = 0; at <= 1190 * DAY; at += 10 * DAY)
        renew(&certs, &spec, START + at);
    assert_int_equal(authorities(&certs), 2);
    for (int64_t at = 1200 * DAY; at <= 1210 * DAY; at += 5 * DAY)
        renew(&certs, &spec, START + at);
    assert_int_equal(authorities(&certs), 2);
}

/* For four years, every fourth day: the bundle of the previous time trusts the served certificate.
 */
static void served_certificate_is_always_trusted_by_the_previous_bundle(void **state)
{
    (void)state;
    one_thread();
    kc_scoped(kc__webhook_certs) certs = {0};
    kc_scoped(kc_buf) before_that = {0};
    renew(&certs, &spec, START);
    int changes = 0;
    for (int64_t at = 0; at < 1460 * DAY; at += 4 * DAY) {
        kc_buf_clear(&before_that);
        kc_buf_append(&before_that, kc_buf_str(&certs.authorities));
        changes += *renew(&certs, &spec, START + at) != '\0';
        if (!trusts(kc_buf_str(&before_that), kc_buf_str(&certs.cert), START + at) ||
            !good(&certs, START + at))
            fail_msg("not trusted on day %d", (int)(at / DAY));
    }
    assert_in_range(changes, 24, 28);
}

static void mismatched_or_expired_certs_are_replaced(void **state)
{
    (void)state;
    kc_scoped(kc__webhook_certs) certs = {0}, other = {0};
    renew(&certs, &spec, START);
    renew(&other, &spec, START);
    kc_buf_clear(&certs.key);
    kc_buf_append(&certs.key, kc_buf_str(&other.key));
    assert_string_equal(renew(&certs, &spec, START), "the certificate has no private key");
    kc_buf_clear(&certs.authority_key);
    assert_string_equal(renew(&certs, &spec, START), "the CA has no private key");
    assert_int_equal(authorities(&certs), 2);
    assert_true(good(&certs, START));
    kc_buf_clear(&certs.authorities);
    kc_buf_puts(&certs.authorities, "nonsense");
    assert_string_equal(renew(&certs, &spec, START), "there is no CA");
    assert_true(good(&certs, START));
    assert_string_equal(renew(&certs, &spec, START + 5000 * DAY), "the CA is due for renewal");
    assert_true(good(&certs, START + 5000 * DAY));
    assert_int_equal(authorities(&certs), 1);
}

static void certificate_for_other_names_is_renewed_when_due_only(void **state)
{
    (void)state;
    static const char *const others[] = {"new.default.svc", NULL};
    const kc__webhook_certs_spec other = {.names = others, .valid = VALID};
    kc_scoped(kc__webhook_certs) certs = {0};
    renew(&certs, &spec, START);
    assert_string_equal(renew(&certs, &other, START + DAY), "the certificate lacks a name");
    assert_true(has_name(&certs, "new.default.svc") && has_name(&certs, "127.0.0.1"));
    assert_string_equal(renew(&certs, &spec, START + DAY), "");
    assert_string_equal(renew(&certs, &other, START + 80 * DAY),
                        "the certificate is due for renewal");
    assert_false(has_name(&certs, "127.0.0.1"));
}

/* ---- bundles ---- */

static void bundle_keeps_certificates_of_other_processes(void **state)
{
    (void)state;
    kc_scoped(kc__webhook_certs) a = {0}, b = {0};
    kc_scoped(kc_buf) one = {0}, both = {0}, again = {0}, later = {0};
    renew(&a, &spec, START);
    renew(&b, &spec, START + 100 * DAY);
    kc__webhook_ca_bundle_merge(kc_buf_str(&a.authorities), KC_STR(""), START, &one);
    kc__webhook_ca_bundle_merge(kc_buf_str(&b.authorities), kc_buf_str(&one), START, &both);
    assert_true(trusts(kc_buf_str(&both), kc_buf_str(&a.cert), START + DAY));
    assert_true(trusts(kc_buf_str(&both), kc_buf_str(&b.cert), START + 101 * DAY));
    /* They do not take turns about the order. */
    kc__webhook_ca_bundle_merge(kc_buf_str(&a.authorities), kc_buf_str(&both), START, &again);
    assert_true(kc_str_eq(kc_buf_str(&both), kc_buf_str(&again)));
    kc__webhook_ca_bundle_merge(kc_buf_str(&b.authorities), kc_buf_str(&both), START + 950 * DAY,
                                &later);
    assert_true(kc_str_eq(kc_buf_str(&later), kc_buf_str(&b.authorities)));
}

static void bundle_size_is_limited(void **state)
{
    (void)state;
    kc_scoped(kc_buf) bundle = {0};
    kc_scoped(kc__webhook_certs) first = {0};
    renew(&first, &spec, START);
    for (int i = 0; i < 30; i++) {
        kc_scoped(kc__webhook_certs) certs = {0};
        kc_scoped(kc_buf) merged = {0};
        renew(&certs, &spec, START);
        kc__webhook_ca_bundle_merge(kc_buf_str(&certs.authorities), kc_buf_str(&bundle), START,
                                    &merged);
        kc_buf_clear(&bundle);
        kc_buf_append(&bundle, kc_buf_str(&merged));
    }
    assert_int_equal(kc__cert_each(kc_buf_str(&bundle), count, NULL), 16);
    kc_scoped(kc_buf) merged = {0};
    kc__webhook_ca_bundle_merge(kc_buf_str(&first.authorities), kc_buf_str(&bundle), START,
                                &merged);
    assert_true(trusts(kc_buf_str(&merged), kc_buf_str(&first.cert), START));
}

/* ---- shared ---- */

static kc__webhook_certs share(kc_client *client, int64_t wall)
{
    kc_scoped(kc_error) err = {0};
    const char *why = NULL;
    kc__webhook_certs certs = {0};
    if (kc__webhook_certs_share(client, KC_KEY("default", "hooks"), &spec, wall, &certs, &why,
                                &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return certs;
}

static void processes_share_one_secret(void **state)
{
    (void)state;
    kc_auto(kc_embedded_server) *server = kc_embedded_server_start(NULL, NULL);
    kc_auto(kc_client) *client = kc_embedded_server_client(server, NULL);
    kc_scoped(kc__webhook_certs) a = share(client, START), b = share(client, START);
    assert_true(kc_str_eq(kc_buf_str(&a.cert), kc_buf_str(&b.cert)));
    assert_true(kc_str_eq(kc_buf_str(&a.key), kc_buf_str(&b.key)));
    assert_true(good(&b, START));
    kc_scoped(kc__webhook_certs) later = share(client, START + 70 * DAY);
    assert_false(kc_str_eq(kc_buf_str(&a.cert), kc_buf_str(&later.cert)));
    kc_auto(kc_object) *secret =
        kc_client_get(client, &kc_kind_secret, KC_KEY("default", "hooks"), NULL, NULL);
    kc_auto(kc_view) *view = kc_view_of(secret);
    assert_str(kc_value_as_str(kc_value_get(kc_view_root(view), "type")), "kubernetes.io/tls");
}

typedef struct racer {
    kc_client *client;
    kc__webhook_certs certs;
    kc_thread *thread;
} racer;

static void race(void *user)
{
    racer *r = user;
    r->certs = share(r->client, START);
}

static void concurrent_starts_get_the_same_certs(void **state)
{
    (void)state;
    racer racers[6] = {0};
    kc_auto(kc_embedded_server) *server = kc_embedded_server_start(NULL, NULL);
    kc_auto(kc_client) *client = kc_embedded_server_client(server, NULL);
    for (size_t i = 0; i < KC_COUNT(racers); i++) {
        racers[i].client = client;
        racers[i].thread = kc_thread_start("racer", race, &racers[i], NULL);
    }
    for (size_t i = 0; i < KC_COUNT(racers); i++)
        kc_thread_join(racers[i].thread);
    for (size_t i = 0; i < KC_COUNT(racers); i++) {
        assert_true(
            kc_str_eq(kc_buf_str(&racers[i].certs.cert), kc_buf_str(&racers[0].certs.cert)));
        if (i)
            kc__webhook_certs_done(&racers[i].certs);
    }
    kc__webhook_certs_done(&racers[0].certs);
}

static void empty_secret_is_filled_and_keeps_other_data(void **state)
{
    (void)state;
    kc_auto(kc_embedded_server) *server = kc_embedded_server_start(NULL, NULL);
    kc_auto(kc_client) *client = kc_embedded_server_client(server, NULL);
    kc_auto(kc_object) *empty =
        object_of("{'apiVersion':'v1','kind':'Secret','metadata':{'name':'hooks',"
                  "'namespace':'default','labels':{'app':'x'}},'data':{'other':'eA=='}}");
    kc_object_unref(kc_client_create(client, empty, NULL, NULL));
    kc_scoped(kc__webhook_certs) certs = share(client, START);
    assert_true(good(&certs, START));
    kc_auto(kc_object) *secret =
        kc_client_get(client, &kc_kind_secret, KC_KEY("default", "hooks"), NULL, NULL);
    kc_auto(kc_view) *view = kc_view_of(secret);
    const kc_value *data = kc_value_get(kc_view_root(view), "data");
    assert_str(kc_value_as_str(kc_value_get(data, "other")), "eA==");
    assert_int_equal(kc_value_len(data), 5);
    assert_true(kc_object_label_is(secret, KC_STR("app"), KC_STR("x")));
}

/* ---- published ---- */

#define WEBHOOK(name)                                                                 \
    "{'name':'" name ".x.io','clientConfig':{'url':'https://127.0.0.1:9443/mutate'}," \
    "'rules':[{'operations':['CREATE'],'apiGroups':[''],'apiVersions':['v1'],"        \
    "'resources':['pods']}],'sideEffects':'None','admissionReviewVersions':['v1']}"
#define CONFIGURATION(kind)                                                                      \
    "{'apiVersion':'admissionregistration.k8s.io/v1','kind':'" kind                              \
    "WebhookConfiguration','metadata':{'name':'hooks'},'webhooks':[" WEBHOOK("one") "," WEBHOOK( \
        "two") "]}"
#define DEFINITION                                                                          \
    "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata':" \
    "{'name':'robots.robot.io'},'spec':{'group':'robot.io','scope':'Namespaced','names':{"  \
    "'kind':'Robot','plural':'robots'},'versions':[{'name':'v1','served':true,'storage':"   \
    "true,'schema':{'openAPIV3Schema':{'type':'object'}}}],'conversion':{'strategy':"       \
    "'Webhook','webhook':{'conversionReviewVersions':['v1'],'clientConfig':{'service':{"    \
    "'namespace':'default','name':'hooks','path':'/convert'}}}}}}"

static const char *const configurations[] = {"hooks", "not-there", NULL};
static const char *const definitions[] = {"robots.robot.io", NULL};

static void make_at(kc_client *client, const char *json)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *wanted = object_of(json);
    kc_auto(kc_object) *made = kc_client_create(client, wanted, NULL, &err);
    if (!made)
        fail_msg("%s", kc_error_text(&err));
}

/* The bundle of a clientConfig, decoded; the caller's. */
static kc_buf bundle_in(const kc_value *client_config)
{
    kc_buf out = {0};
    assert_true(
        kc_base64_read(&out, kc_value_as_str(kc_value_get(client_config, "caBundle")), KC_BASE64));
    return out;
}

static kc_buf bundle_of(kc_client *client, const kc_kind *kind, size_t i)
{
    kc_auto(kc_object) *object =
        kc_client_get(client, kind, KC_KEY("", "hooks"), &(kc_get_opts){.live = true}, NULL);
    kc_auto(kc_view) *view = kc_view_of(object);
    return bundle_in(
        kc_value_get(kc_value_at(kc_value_get(kc_view_root(view), "webhooks"), i), "clientConfig"));
}

static kc_buf bundle_of_definition(kc_client *client)
{
    kc_auto(kc_object) *object = kc_client_get(client, &kc_kind_custom_resource_definition,
                                               KC_KEY("", "robots.robot.io"), NULL, NULL);
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *conversion =
        kc_value_get(kc_value_get(kc_view_root(view), "spec"), "conversion");
    return bundle_in(kc_value_get(kc_value_get(conversion, "webhook"), "clientConfig"));
}

static int publish(kc_client *client, const kc__webhook_certs *certs, int64_t wall)
{
    kc_scoped(kc_error) err = {0};
    const kc__webhook_ca_bundle bundle = {.authorities = kc_buf_str(&certs->authorities),
                                          .configurations = configurations,
                                          .definitions = definitions,
                                          .wall = wall};
    const int result = kc__webhook_ca_bundle_publish(client, &bundle, &err);
    if (result < 0)
        fail_msg("%s", kc_error_text(&err));
    return result;
}

static void bundles_are_patched_everywhere_and_once(void **state)
{
    (void)state;
    kc_auto(kc_embedded_server) *server = kc_embedded_server_start(NULL, NULL);
    kc_auto(kc_client) *client = kc_embedded_server_client(server, NULL);
    make_at(client, CONFIGURATION("Mutating"));
    make_at(client, CONFIGURATION("Validating"));
    make_at(client, DEFINITION);
    kc_scoped(kc__webhook_certs) certs = {0};
    renew(&certs, &spec, START);
    assert_int_equal(publish(client, &certs, START), 1); /* One of them is not there. */
    kc_scoped(kc_buf) a = bundle_of(client, &kc_kind_mutating_webhook, 0),
                      b = bundle_of(client, &kc_kind_mutating_webhook, 1),
                      c = bundle_of(client, &kc_kind_validating_webhook, 1),
                      d = bundle_of_definition(client);
    assert_true(trusts(kc_buf_str(&a), kc_buf_str(&certs.cert), START));
    assert_true(kc_str_eq(kc_buf_str(&a), kc_buf_str(&b)));
    assert_true(kc_str_eq(kc_buf_str(&a), kc_buf_str(&c)));
    assert_true(kc_str_eq(kc_buf_str(&a), kc_buf_str(&d)));
    kc_auto(kc_object) *before =
        kc_client_get(client, &kc_kind_mutating_webhook, KC_KEY("", "hooks"), NULL, NULL);
    publish(client, &certs, START);
    kc_auto(kc_object) *after =
        kc_client_get(client, &kc_kind_mutating_webhook, KC_KEY("", "hooks"), NULL, NULL);
    assert_true(kc_object_revision(before) == kc_object_revision(after));
}

/* ---- in a manager, in simulated time ---- */

/* What a process that shares the Secret serves now. */
static void assert_trusted_now(kc_testenv *env, const kc_buf *minute_ago)
{
    const int64_t wall = kc_clock_wall(kc_testenv_clock(env));
    kc_auto(kc_object) *secret = look_up(env, &kc_kind_secret, "hooks");
    kc_auto(kc_view) *view = kc_view_of(secret);
    kc_scoped(kc_buf) cert = {0};
    assert_true(kc_base64_read(
        &cert, kc_value_as_str(kc_value_get(kc_value_get(kc_view_root(view), "data"), "tls.crt")),
        KC_BASE64));
    kc_scoped(kc_buf) now = bundle_of(kc_testenv_client(env), &kc_kind_mutating_webhook, 0);
    assert_true(trusts(kc_buf_str(&now), kc_buf_str(&cert), wall));
    assert_true(trusts(kc_buf_str(minute_ago), kc_buf_str(&cert), wall));
}

static void manager_renews_certs_without_loss_of_trust(void **state)
{
    (void)state;
    static const char *const there[] = {"hooks", NULL};
    kc_auto(kc_testenv) *env = plane(11);
    kc_scoped(kc_error) err = {0};
    make_at(kc_testenv_client(env), CONFIGURATION("Mutating"));
    assert_non_null(kc_webhook_server_new(kc_testenv_manager(env),
                                          &(kc_webhook_server_opts){.names = names,
                                                                    .secret_ns = "default",
                                                                    .secret_name = "hooks",
                                                                    .configurations = there,
                                                                    .valid = 30 * KC_MINUTE},
                                          &err));
    OK(kc_testenv_run(env, &err), &err);
    kc_testenv_fault(env, &(kc_fault_opts){.fault = KC_FAULT_CONFLICT, .chance = 0.2});
    kc_testenv_fault(env, &(kc_fault_opts){.fault = KC_FAULT_UNAVAILABLE, .chance = 0.1});
    kc_testenv_fault(env, &(kc_fault_opts){.fault = KC_FAULT_LOST_RESPONSE, .chance = 0.1});
    kc_auto(kc_object) *first = look_up(env, &kc_kind_secret, "hooks");
    for (int minute = 0; minute < 225; minute++) {
        kc_scoped(kc_buf) before = bundle_of(kc_testenv_client(env), &kc_kind_mutating_webhook, 0);
        kc_testenv_advance(env, KC_MINUTE);
        assert_trusted_now(env, &before);
    }
    kc_auto(kc_object) *last = look_up(env, &kc_kind_secret, "hooks");
    assert_true(kc_object_revision(last) > kc_object_revision(first));
}

static void manager_waits_for_the_secret(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(13);
    kc_scoped(kc_error) err = {0};
    kc_webhook_server_opts opts = {.names = names, .secret_ns = "default", .secret_name = "hooks"};
    assert_non_null(kc_webhook_server_new(kc_testenv_manager(env), &opts, &err));
    kc_testenv_fault(
        env, &(kc_fault_opts){
                 .fault = KC_FAULT_UNAVAILABLE, .chance = 1, .times = 30, .kind = &kc_kind_secret});
    OK(kc_testenv_run(env, &err), &err);
    assert_int_equal(kc_testenv_faults(env, KC_FAULT_UNAVAILABLE), 30);
    kc_auto(kc_object) *secret = look_up(env, &kc_kind_secret, "hooks");
    assert_non_null(secret);
}

static void removed_bundle_is_restored(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(12);
    kc_scoped(kc_error) err = {0};
    kc_client *client = kc_testenv_client(env);
    assert_non_null(
        kc_webhook_server_new(kc_testenv_manager(env),
                              &(kc_webhook_server_opts){.configurations = configurations}, &err));
    OK(kc_testenv_run(env, &err), &err);
    make_at(client, CONFIGURATION("Mutating"));
    kc_testenv_advance(env, 6 * KC_SECOND);
    kc_scoped(kc_buf) there = bundle_of(client, &kc_kind_mutating_webhook, 1);
    assert_int_equal(kc__cert_each(kc_buf_str(&there), count, NULL), 1);
    kc_object_unref(kc_client_patch(
        client, &kc_kind_mutating_webhook, KC_KEY("", "hooks"), KC_PATCH_JSON,
        KC_STR("[{\"op\":\"remove\",\"path\":\"/webhooks/1/clientConfig/caBundle\"}]"), NULL,
        NULL));
    kc_testenv_advance(env, 61 * KC_SECOND);
    kc_scoped(kc_buf) again = bundle_of(client, &kc_kind_mutating_webhook, 1);
    assert_true(kc_str_eq(kc_buf_str(&there), kc_buf_str(&again)));
}

TESTS(empty_certs_get_ca_and_certificate, certificate_is_renewed_at_two_thirds_of_its_lifetime,
      new_ca_is_published_before_it_signs, old_ca_stays_until_it_expires,
      served_certificate_is_always_trusted_by_the_previous_bundle,
      mismatched_or_expired_certs_are_replaced,
      certificate_for_other_names_is_renewed_when_due_only,
      bundle_keeps_certificates_of_other_processes, bundle_size_is_limited,
      processes_share_one_secret, concurrent_starts_get_the_same_certs,
      empty_secret_is_filled_and_keeps_other_data, bundles_are_patched_everywhere_and_once,
      manager_renews_certs_without_loss_of_trust, manager_waits_for_the_secret,
      removed_bundle_is_restored)
