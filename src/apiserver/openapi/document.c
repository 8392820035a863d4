/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document.c: writes whole documents: one per group version for OpenAPI v3, one for everything for
 * v2.
 */
#include "apiserver/openapi/document.h"
#include "apiserver/openapi/openapi_internal.h"

#define INFO "{\"title\":\"Kubernetes\",\"version\":\"1.34\"}"
#define SECURITY                                                                             \
    "{\"BearerToken\":{\"type\":\"apiKey\",\"description\":\"Bearer Token authentication\"," \
    "\"name\":\"authorization\",\"in\":\"header\"}}"

static void writer_done(kc__openapi_writer *w)
{
    kc_map_done(&w->messages);
    kc_map_done(&w->customs);
    kc_map_done(&w->parameters);
}

void kc__openapi_write_v3(kc_buf *out, const kc__openapi_input *in,
                          const kc__registry_version *version)
{
    kc_scoped(kc_arena) arena = {0};
    kc__openapi_writer w = {.out = out, .arena = &arena, .kinds = in->kinds, .texts = in->texts};
    kc_buf_puts(out, "{\"openapi\":\"3.0.0\",\"info\":" INFO ",\"paths\":{");
    kc__openapi_paths(&w, version, kc__openapi_write_path);
    kc_buf_puts(out, "},\"components\":{\"schemas\":{");
    kc__openapi_write_schemas(&w);
    kc_buf_puts(out, "},\"securitySchemes\":" SECURITY "}}");
    writer_done(&w);
}

static void write_shared_parameters(kc__openapi_writer *w)
{
    kc_map_each (&w->parameters, entry) {
        kc__openapi_json_member(w->out, entry->key.p);
        kc__openapi_write_parameter(w, entry->value);
    }
}

void kc__openapi_write_v2(kc_buf *out, const kc__openapi_input *in)
{
    size_t n;
    const kc__registry_version *versions = kc__registry_versions(in->kinds, &n);
    kc_scoped(kc_arena) arena = {0};
    kc__openapi_writer w = {
        .out = out, .arena = &arena, .kinds = in->kinds, .texts = in->texts, .v2 = true};
    kc_buf_puts(out, "{\"swagger\":\"2.0\",\"info\":" INFO ",\"paths\":{");
    for (size_t i = 0; i < n; i++)
        kc__openapi_paths(&w, &versions[i], kc__openapi_write_path);
    kc_buf_puts(out, "},\"definitions\":{");
    kc__openapi_write_schemas(&w);
    kc_buf_puts(out, "},\"parameters\":{");
    write_shared_parameters(&w);
    kc_buf_puts(out, "},\"securityDefinitions\":" SECURITY ",\"security\":[{\"BearerToken\":[]}]}");
    writer_done(&w);
}
