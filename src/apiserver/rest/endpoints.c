/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoints.c: /version, /metrics and the list of paths; the rest of the table is in files of its
 * own.
 */
#include "apiserver/rest/endpoints.h"

#include "kc/metrics.h"

#include <sys/utsname.h>

static kc__phase_fn answer_version, answer_metrics, answer_paths;

static const kc__endpoint endpoints[] = {
    {"/", .answer = answer_paths},
    {"/api", .only_get = true, .answer = kc__endpoint_discovery},
    {"/apis", .answer = kc__endpoint_discovery},
    {"/healthz", .below = true, .open = true, .answer = kc__endpoint_health},
    {"/livez", .below = true, .open = true, .answer = kc__endpoint_health},
    {"/metrics", .answer = answer_metrics},
    {"/openapi/v2", .answer = kc__endpoint_openapi_v2},
    {"/openapi/v3", .below = true, .answer = kc__endpoint_openapi_v3},
    {"/readyz", .below = true, .open = true, .answer = kc__endpoint_health},
    {"/version", .only_get = true, .open = true, .answer = answer_version},
};
static const kc__endpoint group = {.answer = kc__endpoint_discovery};
static const kc__endpoint version = {.only_get = true, .answer = kc__endpoint_discovery};

/* /api/V, /apis/G and /apis/G/V: whether they exist is discovery's to say. */
static bool is_discovery(const kc__target *target)
{
    kc_str first = kc__target_segment(target, 0);
    return (kc_str_is(first, "api") && target->n_segments <= 2) ||
           (kc_str_is(first, "apis") && target->n_segments <= 3);
}

const kc__endpoint *kc__endpoint_find(const kc__target *target)
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

static kc__verdict answer_version(kc__call *call)
{
    struct utsname machine;
    uname(&machine);
    bool arm = !strcmp(machine.machine, "aarch64");
    return kc__answer_text(
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

static kc__verdict answer_metrics(kc__call *call)
{
    kc_scoped(kc_buf) out = {0};
    kc_metrics_write(call->api->metrics, &out);
    return kc__answer_text(call, 200, KC_STR("text/plain; version=0.0.4; charset=utf-8"),
                           kc_buf_str(&out));
}

/* Every path there is, sorted, as a Kubernetes API server lists them. */
static kc__verdict answer_paths(kc__call *call)
{
    kc_scoped(kc_buf) out = {0};
    size_t n;
    const kc__kinds_group *groups = kc__kinds_groups(call->snapshot->kinds, &n);
    kc_buf_puts(&out, "{\n  \"paths\": [\n    \"/api\",\n    \"/api/v1\",\n    \"/apis\",\n");
    for (size_t i = 0; i < n; i++) {
        if (!*groups[i].name)
            continue;
        kc_buf_printf(&out, "    \"/apis/%s\",\n", groups[i].name);
        for (size_t j = 0; j < groups[i].n_versions; j++)
            kc_buf_printf(&out, "    \"/apis/%s/%s\",\n", groups[i].name,
                          groups[i].versions[j].name);
    }
    kc_buf_puts(&out,
                "    \"/healthz\",\n    \"/livez\",\n    \"/metrics\",\n    \"/openapi/v2\",\n"
                "    \"/openapi/v3\",\n    \"/readyz\",\n    \"/version\"\n  ]\n}");
    return kc__answer_text(call, 200, KC_STR("application/json"), kc_buf_str(&out));
}
