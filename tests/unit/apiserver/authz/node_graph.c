/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of the Node authorizer: which objects are related to which nodes. */
#include "apiserver/authz/node_graph.h"
#include "testing.h"

#include "kc/rand.h"

#include <stdio.h>

static kc_object *parse_quoted(const char *text)
{
    kc_scoped(kc_buf) json = {0};
    for (const char *c = text; *c; c++)
        kc_buf_putc(&json, *c == '\'' ? '"' : *c);
    kc_object *object = kc_object_parse(kc_buf_str(&json), NULL, NULL);
    assert_non_null(object);
    return object;
}

static void set_pod(kc__authz_graph *g, const char *key, const char *text)
{
    kc_auto(kc_object) *pod = text ? parse_quoted(text) : NULL;
    kc__authz_graph_set_pod(g, kc_cstr(key), pod);
}

static void set_volume(kc__authz_graph *g, const char *key, const char *text)
{
    kc_auto(kc_object) *volume = text ? parse_quoted(text) : NULL;
    kc__authz_graph_set_volume(g, kc_cstr(key), volume);
}

static bool relates(const kc__authz_graph *g, kc__authz_object_type type, const char *name,
                    const char *node)
{
    const bool in_cluster = type == KC__AUTHZ_VOLUME || type == KC__AUTHZ_VOLUME_ATTACHMENT ||
                            type == KC__AUTHZ_RESOURCE_SLICE;
    return kc__authz_graph_relates(g, type, in_cluster ? (kc_str){0} : KC_STR("a"), kc_cstr(name),
                                   kc_cstr(node));
}

#define POD(name, spec) "{'metadata':{'namespace':'a','name':'" name "'},'spec':{" spec "}}"
#define CLAIM_VOLUME(claim) \
    "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'" claim "'}}]"
#define VOLUME(claim, secret)                                                                   \
    "{'metadata':{'name':'pv'},'spec':{'claimRef':{'namespace':'a','name':'" claim "'},'csi':{" \
    "'driver':'d','nodeStageSecretRef':{'namespace':'a','name':'" secret "'}}}}"

static void pod_relates_its_references_to_its_node(void **state)
{
    (void)state;
    kc_scoped(kc__authz_graph) g = {0};
    set_pod(&g, "a/p",
            POD("p",
                "'nodeName':'n1','serviceAccountName':'acct','imagePullSecrets':[{'name':'s1'}],"
                "'containers':[{'envFrom':[{'secretRef':{'name':'s2'}},{'configMapRef':{'name':"
                "'c1'}}],'env':[{'valueFrom':{'secretKeyRef':{'name':'s3'}}},{'valueFrom':{"
                "'configMapKeyRef':{'name':'c2'}}}]}],'ephemeralContainers':[{'envFrom':[{"
                "'secretRef':{'name':'s4'}}]}],'volumes':[{'name':'x','ephemeral':{}},{'name':"
                "'y','projected':{'sources':[{'secret':{'name':'s5'}},{'configMap':{'name':'c3'}"
                "}]}}],'resourceClaims':[{'name':'r','resourceClaimName':'r1'}]"));
    static const char *const secrets[] = {"s1", "s2", "s3", "s4", "s5"}, *const maps[] = {
                                                                             "c1", "c2", "c3"};
    for (size_t i = 0; i < KC_COUNT(secrets); i++) {
        assert_true(relates(&g, KC__AUTHZ_SECRET, secrets[i], "n1"));
        assert_false(relates(&g, KC__AUTHZ_SECRET, secrets[i], "n2"));
        assert_false(relates(&g, KC__AUTHZ_CONFIG_MAP, secrets[i], "n1"));
    }
    for (size_t i = 0; i < KC_COUNT(maps); i++)
        assert_true(relates(&g, KC__AUTHZ_CONFIG_MAP, maps[i], "n1"));
    assert_true(relates(&g, KC__AUTHZ_POD, "p", "n1"));
    assert_true(relates(&g, KC__AUTHZ_SERVICE_ACCOUNT, "acct", "n1"));
    assert_true(relates(&g, KC__AUTHZ_VOLUME_CLAIM, "p-x", "n1"));
    assert_true(relates(&g, KC__AUTHZ_RESOURCE_CLAIM, "r1", "n1"));
    set_pod(&g, "a/p", NULL);
    assert_false(relates(&g, KC__AUTHZ_SECRET, "s1", "n1"));
    assert_int_equal(g.bytes, 0);
    assert_int_equal(g.vertices.n, 0);
}

static void claim_from_template_is_named_by_the_status(void **state)
{
    (void)state;
    kc_scoped(kc__authz_graph) g = {0};
    set_pod(&g, "a/p",
            "{'metadata':{'namespace':'a','name':'p'},'spec':{'nodeName':'n1','resourceClaims':[{"
            "'name':'r','resourceClaimTemplateName':'t'},{'name':'q','resourceClaimTemplateName':"
            "'t'}]},'status':{'resourceClaimStatuses':[{'name':'r','resourceClaimName':'made'},{"
            "'name':'q'}],'extendedResourceClaimStatus':{'resourceClaimName':'more'}}}");
    assert_true(relates(&g, KC__AUTHZ_RESOURCE_CLAIM, "made", "n1"));
    assert_true(relates(&g, KC__AUTHZ_RESOURCE_CLAIM, "more", "n1"));
    assert_false(relates(&g, KC__AUTHZ_RESOURCE_CLAIM, "q", "n1"));
}

static void mirror_pod_relates_only_itself(void **state)
{
    (void)state;
    kc_scoped(kc__authz_graph) g = {0};
    set_pod(&g, "a/p",
            "{'metadata':{'namespace':'a','name':'p','annotations':{'kubernetes.io/config.mirror':"
            "'x'}},'spec':{'nodeName':'n1','serviceAccountName':'acct'}}");
    assert_true(relates(&g, KC__AUTHZ_POD, "p", "n1"));
    assert_false(relates(&g, KC__AUTHZ_SERVICE_ACCOUNT, "acct", "n1"));
}

static void volume_is_related_whichever_comes_first(void **state)
{
    (void)state;
    kc_scoped(kc__authz_graph) g = {0};
    set_volume(&g, "pv", VOLUME("k", "s"));
    assert_false(relates(&g, KC__AUTHZ_SECRET, "s", "n1"));
    set_pod(&g, "a/p", POD("p", "'nodeName':'n1'," CLAIM_VOLUME("k")));
    assert_true(relates(&g, KC__AUTHZ_VOLUME, "pv", "n1"));
    assert_true(relates(&g, KC__AUTHZ_SECRET, "s", "n1"));
    set_pod(&g, "a/q", POD("q", "'nodeName':'n1'," CLAIM_VOLUME("k")));
    set_pod(&g, "a/p", NULL);
    assert_true(relates(&g, KC__AUTHZ_SECRET, "s", "n1"));
    set_volume(&g, "pv", VOLUME("other", "s"));
    assert_false(relates(&g, KC__AUTHZ_SECRET, "s", "n1"));
    set_volume(&g, "pv", VOLUME("k", "t"));
    assert_true(relates(&g, KC__AUTHZ_SECRET, "t", "n1"));
    set_pod(&g, "a/q", NULL);
    set_volume(&g, "pv", NULL);
    assert_int_equal(g.bytes, 0);
    assert_int_equal(g.reaches.n, 0);
}

/* ---- a random history, compared with a model ---- */

enum { PODS = 12, NODES = 4, CLAIMS = 5, VOLUMES = 6, SECRETS = 4, STEPS = 4000 };

typedef struct model {
    int pod_node[PODS], pod_claim[PODS], pod_secret[PODS]; /* -1: no such pod. */
    int volume_claim[VOLUMES], volume_secret[VOLUMES];     /* -1: no such volume. */
} model;

static bool model_claim(const model *m, int claim, int node)
{
    for (int i = 0; i < PODS; i++)
        if (m->pod_node[i] == node && m->pod_claim[i] == claim)
            return true;
    return false;
}

static bool model_secret(const model *m, int secret, int node)
{
    for (int i = 0; i < PODS; i++)
        if (m->pod_node[i] == node && m->pod_secret[i] == secret)
            return true;
    for (int i = 0; i < VOLUMES; i++)
        if (m->volume_claim[i] >= 0 && m->volume_secret[i] == secret &&
            model_claim(m, m->volume_claim[i], node))
            return true;
    return false;
}

static void change_pod(kc__authz_graph *g, model *m, kc_rand *rand)
{
    char key[16], text[300];
    const int i = (int)kc_rand_below(rand, PODS);
    snprintf(key, sizeof(key), "a/p%d", i);
    m->pod_node[i] = (int)kc_rand_below(rand, NODES + 1) - 1;
    m->pod_claim[i] = (int)kc_rand_below(rand, CLAIMS);
    m->pod_secret[i] = (int)kc_rand_below(rand, SECRETS);
    snprintf(text, sizeof(text),
             POD("p%d", "'nodeName':'n%d','imagePullSecrets':[{'name':'s%d'},{'name':'s%d'}],"
                        "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'k%d'}}]"),
             i, m->pod_node[i], m->pod_secret[i], m->pod_secret[i], m->pod_claim[i]);
    set_pod(g, key, m->pod_node[i] < 0 ? NULL : text);
}

static void change_volume(kc__authz_graph *g, model *m, kc_rand *rand)
{
    char key[16], text[300];
    const int i = (int)kc_rand_below(rand, VOLUMES);
    snprintf(key, sizeof(key), "pv%d", i);
    m->volume_claim[i] = (int)kc_rand_below(rand, CLAIMS + 1) - 1;
    m->volume_secret[i] = (int)kc_rand_below(rand, SECRETS);
    snprintf(text, sizeof(text), VOLUME("k%d", "s%d"), m->volume_claim[i], m->volume_secret[i]);
    set_volume(g, key, m->volume_claim[i] < 0 ? NULL : text);
}

static void compare_with_model(const kc__authz_graph *g, const model *m)
{
    for (int node = 0; node < NODES; node++) {
        char name[16], on[16];
        snprintf(on, sizeof(on), "n%d", node);
        for (int s = 0; s < SECRETS; s++) {
            snprintf(name, sizeof(name), "s%d", s);
            assert_int_equal(relates(g, KC__AUTHZ_SECRET, name, on), model_secret(m, s, node));
        }
        for (int k = 0; k < CLAIMS; k++) {
            snprintf(name, sizeof(name), "k%d", k);
            assert_int_equal(relates(g, KC__AUTHZ_VOLUME_CLAIM, name, on), model_claim(m, k, node));
        }
    }
}

static void random_history_equals_search_of_all_paths(void **state)
{
    (void)state;
    kc_scoped(kc__authz_graph) g = {0};
    kc_rand rand;
    model m;
    kc_rand_seed(&rand, 7);
    memset(&m, 0xff, sizeof(m));
    for (int i = 0; i < STEPS; i++) {
        if (kc_rand_below(&rand, 2))
            change_pod(&g, &m, &rand);
        else
            change_volume(&g, &m, &rand);
        compare_with_model(&g, &m);
    }
    for (int i = 0; i < PODS; i++) {
        char key[16];
        snprintf(key, sizeof(key), "a/p%d", i);
        set_pod(&g, key, NULL);
    }
    for (int i = 0; i < VOLUMES; i++) {
        char key[16];
        snprintf(key, sizeof(key), "pv%d", i);
        set_volume(&g, key, NULL);
    }
    assert_int_equal(g.bytes, 0);
    assert_int_equal(g.vertices.n, 0);
}

TESTS(pod_relates_its_references_to_its_node, claim_from_template_is_named_by_the_status,
      mirror_pod_relates_only_itself, volume_is_related_whichever_comes_first,
      random_history_equals_search_of_all_paths)
