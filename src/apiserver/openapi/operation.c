/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation.c: writes paths and operations as JSON.
 *
 * Versions 2 and 3 of OpenAPI express the same differently: where v3 has a requestBody and a
 * content per media type, v2 has a body parameter and lists of media types (consumes, produces). v2
 * defines parameters that many paths share in one place and references them; their names end in a
 * hash of their content, because "path" does not mean the same everywhere.
 */
#include "apiserver/openapi/openapi_internal.h"
#include "kc/json.h"

#include <openssl/evp.h>

/* The media types that the server reads and writes. To add one: a row here. */
static const char *const objects[] = {"application/json", "application/yaml", NULL};
static const char *const streams[] = {"application/json", "application/yaml",
                                      "application/json;stream=watch", NULL};
static const char *const texts[] = {"text/plain", "application/json", "application/yaml", NULL};
static const char *const anything[] = {"*/*", NULL};
static const char *const patches[] = {"application/json-patch+json", "application/merge-patch+json",
                                      "application/strategic-merge-patch+json",
                                      "application/apply-patch+yaml", NULL};
static const char *const custom_patches[] = {"application/json-patch+json",
                                             "application/merge-patch+json",
                                             "application/apply-patch+yaml", NULL};

static const char *const *const produced[] = {
    [KC__OPENAPI_RESPONSE_OBJECTS] = objects,
    [KC__OPENAPI_RESPONSE_STREAMS] = streams,
    [KC__OPENAPI_RESPONSE_TEXT] = texts,
    [KC__OPENAPI_RESPONSE_ANYTHING] = anything,
};

static const struct {
    unsigned bit;
    const char *code, *name;
} codes[] = {
    {KC__OPENAPI_CODE_OK, "200", "OK"},
    {KC__OPENAPI_CODE_CREATED, "201", "Created"},
    {KC__OPENAPI_CODE_ACCEPTED, "202", "Accepted"},
};

/* ---- JSON ---- */

void kc__openapi_json_next(kc_buf *out)
{
    char last = out->n ? out->p[out->n - 1] : '{';
    if (last != '{' && last != '[' && last != ':')
        kc_buf_putc(out, ',');
}

void kc__openapi_json_member(kc_buf *out, const char *name)
{
    kc__openapi_json_next(out);
    kc_json_quote(out, kc_cstr(name));
    kc_buf_putc(out, ':');
}

void kc__openapi_json_text(kc_buf *out, const char *name, kc_str value)
{
    kc__openapi_json_member(out, name);
    kc_json_quote(out, value);
}

void kc__openapi_json_text_if(kc_buf *out, const char *name, kc_str value)
{
    if (value.n)
        kc__openapi_json_text(out, name, value);
}

/* ---- parameters ---- */

void kc__openapi_write_parameter(kc__openapi_writer *w, const kc__openapi_parameter *parameter)
{
    kc_buf *out = w->out;
    kc__openapi_json_next(out);
    kc_buf_putc(out, '{');
    kc__openapi_json_text(out, "name", kc_cstr(parameter->name));
    kc__openapi_json_text(out, "in", kc_cstr(parameter->in));
    kc__openapi_json_text_if(out, "description", parameter->description);
    kc_buf_puts(out, parameter->required ? ",\"required\":true" : "");
    kc_buf_printf(out,
                  w->v2 ? ",\"type\":\"%s\",\"uniqueItems\":true}"
                        : ",\"schema\":{\"type\":\"%s\",\"uniqueItems\":true}}",
                  parameter->type);
}

const char *kc__openapi_parameter_key(kc__openapi_writer *w, const kc__openapi_parameter *parameter)
{
    unsigned char digest[EVP_MAX_MD_SIZE] = {0}, text[16];
    kc_scoped(kc_buf) what = {0};
    kc_buf_printf(&what, "%s %s %.*s", parameter->in, parameter->type,
                  KC_ARG(parameter->description));
    EVP_Digest(what.p, what.n, digest, NULL, EVP_sha256(), NULL);
    EVP_EncodeBlock(text, digest, 6);
    for (int i = 0; i < 8; i++)
        text[i] = text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i];
    return kc_arena_printf(w->arena, "%s-%.8s", parameter->name, (char *)text);
}

/* Parameters that differ on each path are not shared. */
static bool is_shared(const kc__openapi_parameter *parameter)
{
    return strcmp(parameter->name, "name") != 0;
}

static void write_parameters(kc__openapi_writer *w, const kc__openapi_parameter_list *parameters)
{
    kc_vec_each (parameters, parameter) {
        if (!w->v2 || !is_shared(parameter)) {
            kc__openapi_write_parameter(w, parameter);
            continue;
        }
        const char *key = kc__openapi_parameter_key(w, parameter);
        if (!kc_map_get(&w->parameters, kc_cstr(key))) {
            kc__openapi_parameter *kept = kc_arena_new(w->arena, kc__openapi_parameter);
            *kept = *parameter;
            kc_map_put(&w->parameters, kc_cstr(key), kept);
        }
        kc__openapi_json_next(w->out);
        kc_buf_printf(w->out, "{\"$ref\":\"#/parameters/%s\"}", key);
    }
}

/* ---- bodies ---- */

static const char *const *patches_of(const kc__openapi_operation *operation)
{
    return operation->strategic ? patches : custom_patches;
}

static void write_content(kc__openapi_writer *w, const char *const *types, const char *schema)
{
    kc__openapi_json_member(w->out, "content");
    kc_buf_putc(w->out, '{');
    for (; *types; types++) {
        kc__openapi_json_member(w->out, *types);
        kc_buf_puts(w->out, "{\"schema\":");
        if (schema)
            kc__openapi_write_ref(w, schema);
        else
            kc_buf_puts(w->out, "{\"type\":\"string\"}");
        kc_buf_putc(w->out, '}');
    }
    kc_buf_putc(w->out, '}');
}

static void write_request_body(kc__openapi_writer *w, const kc__openapi_operation *operation)
{
    kc__openapi_json_member(w->out, "requestBody");
    kc_buf_putc(w->out, '{');
    write_content(w, operation->patches ? patches_of(operation) : anything, operation->body);
    kc_buf_puts(w->out, operation->body_required ? ",\"required\":true}" : "}");
}

static void write_body_parameter(kc__openapi_writer *w, const kc__openapi_operation *operation)
{
    kc__openapi_json_next(w->out);
    kc_buf_puts(w->out, "{\"name\":\"body\",\"in\":\"body\",");
    kc_buf_puts(w->out, operation->body_required ? "\"required\":true,\"schema\":" : "\"schema\":");
    kc__openapi_write_ref(w, operation->body);
    kc_buf_putc(w->out, '}');
}

static void write_types(kc_buf *out, const char *name, const char *const *types)
{
    kc__openapi_json_member(out, name);
    kc_buf_putc(out, '[');
    for (; *types; types++) {
        kc__openapi_json_next(out);
        kc_buf_printf(out, "\"%s\"", *types);
    }
    kc_buf_putc(out, ']');
}

static void write_media(kc__openapi_writer *w, const kc__openapi_operation *operation)
{
    const char *const *consumed = operation->kind ? anything : objects;
    write_types(w->out, "consumes", operation->patches ? patches_of(operation) : consumed);
    write_types(w->out, "produces", produced[operation->answers]);
    kc_buf_puts(w->out, ",\"schemes\":[\"https\"]");
}

static void write_answers(kc__openapi_writer *w, const kc__openapi_operation *operation)
{
    kc__openapi_json_member(w->out, "responses");
    kc_buf_putc(w->out, '{');
    for (size_t i = 0; i < KC_COUNT(codes); i++) {
        if (!(operation->codes & codes[i].bit))
            continue;
        kc__openapi_json_member(w->out, codes[i].code);
        kc_buf_printf(w->out, "{\"description\":\"%s\"", codes[i].name);
        if (!w->v2) {
            write_content(w, produced[operation->answers], operation->response);
        } else if (operation->response) {
            kc__openapi_json_member(w->out, "schema");
            kc__openapi_write_ref(w, operation->response);
        } else {
            kc_buf_puts(w->out, ",\"schema\":{\"type\":\"string\"}");
        }
        kc_buf_putc(w->out, '}');
    }
    kc_buf_puts(w->out, ",\"401\":{\"description\":\"Unauthorized\"}}");
}

/* ---- operations ---- */

static void write_operation_parameters(kc__openapi_writer *w,
                                       const kc__openapi_operation *operation)
{
    bool in_body = w->v2 && operation->body;
    if (operation->parameters.n || in_body) {
        kc__openapi_json_member(w->out, "parameters");
        kc_buf_putc(w->out, '[');
        if (in_body)
            write_body_parameter(w, operation);
        write_parameters(w, &operation->parameters);
        kc_buf_putc(w->out, ']');
    }
    if (operation->body && !w->v2)
        write_request_body(w, operation);
}

static void write_operation(kc__openapi_writer *w, const kc__openapi_operation *operation,
                            const char *tag)
{
    kc_buf *out = w->out;
    kc__openapi_json_member(out, operation->method);
    kc_buf_putc(out, '{');
    kc__openapi_json_text(out, "description", kc_cstr(operation->description));
    kc__openapi_json_text(out, "operationId", kc_cstr(operation->id));
    kc_buf_printf(out, ",\"tags\":[\"%s\"]", tag);
    if (w->v2)
        write_media(w, operation);
    write_operation_parameters(w, operation);
    write_answers(w, operation);
    if (operation->kind) {
        kc__openapi_json_text(out, "x-kubernetes-action", kc_cstr(operation->action));
        kc__openapi_json_member(out, "x-kubernetes-group-version-kind");
        kc__openapi_write_kind(out, operation->group, operation->version, operation->kind);
    }
    kc_buf_putc(out, '}');
}

void kc__openapi_write_path(kc__openapi_writer *w, kc__openapi_path *path, const char *tag)
{
    kc__openapi_share_parameters(path);
    kc__openapi_json_member(w->out, path->path);
    kc_buf_putc(w->out, '{');
    kc_vec_each (&path->operations, operation)
        write_operation(w, operation, tag);
    if (path->common.n) {
        kc__openapi_json_member(w->out, "parameters");
        kc_buf_putc(w->out, '[');
        write_parameters(w, &path->common);
        kc_buf_putc(w->out, ']');
    }
    kc_buf_putc(w->out, '}');
}
