/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoints.c: the table of endpoints; /version, /metrics and the list of paths. The other
 * endpoints have files of their own.
 */
#include "apiserver/endpoints/endpoints.h"

#include "apiserver/access/sa_tokens.h"

#include "kc/metrics.h"

#include <sys/utsname.h>

/* Bytes of a request with a password. */
enum { PEOPLE_BODY = 16 * 1024 };

static kc__rest_phase_fn answer_version, answer_metrics, answer_paths;

static const kc__rest_endpoint endpoints[] = {
    {"/", .grows = true, .respond = answer_paths},
    {"/.well-known/openid-configuration", .only_get = true,
     .respond = kc__rest_endpoint_openid_configuration},
    {"/api", .only_get = true, .grows = true, .respond = kc__rest_endpoint_discovery},
    {"/apis", .grows = true, .respond = kc__rest_endpoint_discovery},
    {"/healthz", .below = true, .open = true, .respond = kc__rest_endpoint_health},
    {"/livez", .below = true, .open = true, .respond = kc__rest_endpoint_health},
    {"/metrics", .grows = true, .respond = answer_metrics},
    {"/openapi/v2", .heavy = true, .respond = kc__rest_endpoint_openapi_v2},
    {"/openapi/v3", .below = true, .heavy = true, .respond = kc__rest_endpoint_openapi_v3},
    {"/openid/v1/jwks", .only_get = true, .respond = kc__rest_endpoint_openid_keys},
    {"/people/login", .open = true, .max_body = PEOPLE_BODY, .respond = kc__rest_endpoint_login},
    {"/people/logout", .open = true, .max_body = PEOPLE_BODY, .respond = kc__rest_endpoint_logout},
    {"/people/password", .authorizes = true, .max_body = PEOPLE_BODY,
     .respond = kc__rest_endpoint_password},
    {"/people/renew", .open = true, .max_body = PEOPLE_BODY, .respond = kc__rest_endpoint_renew},
    {"/people/revoke", .authorizes = true, .max_body = PEOPLE_BODY,
     .respond = kc__rest_endpoint_revoke},
    {"/people/token", .authorizes = true, .max_body = PEOPLE_BODY,
     .respond = kc__rest_endpoint_token},
    {"/readyz", .below = true, .open = true, .respond = kc__rest_endpoint_health},
    {"/version", .only_get = true, .open = true, .respond = answer_version},
};
static const kc__rest_endpoint group = {.grows = true, .respond = kc__rest_endpoint_discovery};
static const kc__rest_endpoint version = {
    .only_get = true, .grows = true, .respond = kc__rest_endpoint_discovery};

/* /api/V, /apis/G and /apis/G/V: the discovery endpoint decides whether they exist. */
static bool is_discovery(const kc__target *target)
{
    kc_str first = kc__target_segment(target, 0);
    return (kc_str_is(first, "api") && target->n_segments <= 2) ||
           (kc_str_is(first, "apis") && target->n_segments <= 3);
}

const kc__rest_endpoint *kc__rest_endpoint_find(const kc__target *target)
{
    kc_str path = target->path;
    if (target->trailing_slash)
        path.n--;
    for (size_t i = 0; i < KC_COUNT(endpoints); i++) {
        kc_str own = kc_cstr(endpoints[i].path);
        if (kc_str_eq(path, own) ||
            (endpoints[i].below && kc_str_starts(path, own) && path.p[own.n] == '/'))
            return &endpoints[i];
    }
    if (!is_discovery(target))
        return NULL;
    bool is_group = kc_str_is(kc__target_segment(target, 0), "apis") && target->n_segments == 2;
    return is_group ? &group : &version;
}

static kc__rest_verdict answer_version(kc__rest_call *call)
{
    struct utsname machine;
    uname(&machine);
    bool arm = !strcmp(machine.machine, "aarch64");
    return kc__rest_respond_text(
        call, 200, KC_STR("application/json"),
        kc_cstr(kc_arena_printf(call->arena,
                                "{\n"
                                "  \"major\": \"1\",\n"
                                "  \"minor\": \"34\",\n"
                                "  \"emulationMajor\": \"1\",\n"
                                "  \"emulationMinor\": \"34\",\n"
                                "  \"minCompatibilityMajor\": \"1\",\n"
                                "  \"minCompatibilityMinor\": \"33\",\n"
                                "  \"gitVersion\": \"v1.34.0+kc.%s\",\n"
                                "  \"gitCommit\": \"\",\n"
                                "  \"gitTreeState\": \"\",\n"
                                "  \"buildDate\": \"1970-01-01T00:00:00Z\",\n"
                                "  \"goVersion\": \"none\",\n"
                                "  \"compiler\": \"%s\",\n"
                                "  \"platform\": \"linux/%s\"\n"
                                "}",
                                KC_VERSION, __VERSION__, arm ? "arm64" : "amd64")));
}

static kc__rest_verdict answer_metrics(kc__rest_call *call)
{
    kc_scoped(kc_buf) out = {0};
    kc_metrics_write(call->api->metrics, &out);
    return kc__rest_respond_text(call, 200, KC_STR("text/plain; version=0.0.4; charset=utf-8"),
                                 kc_buf_str(&out));
}

/* All paths, sorted, as a Kubernetes API server lists them. */
static kc__rest_verdict answer_paths(kc__rest_call *call)
{
    kc_scoped(kc_buf) out = {0};
    size_t n;
    const kc__registry_group *groups = kc__registry_groups(call->catalog->kinds, &n);
    const bool openid = call->api->accounts && kc__sa_tokens_discovery(call->api->accounts).n;
    kc_buf_printf(&out, "{\n  \"paths\": [\n%s    \"/api\",\n    \"/api/v1\",\n    \"/apis\",\n",
                  openid ? "    \"/.well-known/openid-configuration\",\n" : "");
    for (size_t i = 0; i < n; i++) {
        if (!*groups[i].name)
            continue;
        kc_buf_printf(&out, "    \"/apis/%s\",\n", groups[i].name);
        for (size_t j = 0; j < groups[i].n_versions; j++)
            kc_buf_printf(&out, "    \"/apis/%s/%s\",\n", groups[i].name,
                          groups[i].versions[j].name);
    }
    kc_buf_printf(&out,
                  "    \"/healthz\",\n    \"/livez\",\n    \"/metrics\",\n    \"/openapi/v2\",\n"
                  "    \"/openapi/v3\",\n%s    \"/readyz\",\n    \"/version\"\n  ]\n}",
                  openid ? "    \"/openid/v1/jwks\",\n" : "");
    return kc__rest_respond_text(call, 200, KC_STR("application/json"), kc_buf_str(&out));
}
