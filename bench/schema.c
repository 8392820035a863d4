/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c: validating a 2 KB object against a schema of 60 fields (types, ranges, lengths, enums,
 * a pattern and a format among them), against parsing the same object; also what a compiled schema
 * takes in memory.
 */
#include "bench.h"

#include "kc/schema.h"

#include <assert.h>
#include <stdio.h>

enum { COMPONENTS = 9, FIELDS_EACH = 6, FIELDS = 6 + COMPONENTS * FIELDS_EACH };

static void write_component_schema(kc_buf *out, int i)
{
    kc_buf_printf(
        out,
        "%s\"component%d\":{\"type\":\"object\",\"required\":[\"name\",\"image\"],\"properties\":{"
        "\"name\":{\"type\":\"string\",\"maxLength\":63,\"pattern\":\"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$\"},"
        "\"image\":{\"type\":\"string\",\"minLength\":1},"
        "\"replicas\":{\"type\":\"integer\",\"format\":\"int32\",\"minimum\":0,\"maximum\":100,\"default\":1},"
        "\"mode\":{\"type\":\"string\",\"enum\":[\"Active\",\"Standby\",\"Disabled\"]},"
        "\"limits\":{\"type\":\"object\",\"additionalProperties\":{\"x-kubernetes-int-or-string\":true}},"
        "\"args\":{\"type\":\"array\",\"maxItems\":20,\"items\":{\"type\":\"string\"}}}}",
        i ? "," : "", i);
}

static void write_schema(kc_buf *out)
{
    kc_buf_puts(
        out,
        "{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{"
        "\"paused\":{\"type\":\"boolean\"},\"revision\":{\"type\":\"integer\",\"format\":\"int64\"},\"components\":{\"type\":\"object\",\"properties\":{");
    for (int i = 0; i < COMPONENTS; i++)
        write_component_schema(out, i);
    kc_buf_puts(
        out,
        "}}}},\"status\":{\"type\":\"object\",\"properties\":{\"phase\":{\"type\":\"string\"}}}}}");
}

static void write_object(kc_buf *out)
{
    kc_buf_puts(
        out,
        "{\"apiVersion\":\"example.io/v1\",\"kind\":\"Shop\",\"metadata\":{\"name\":\"one\",\"namespace\":\"default\"},"
        "\"spec\":{\"paused\":false,\"revision\":17,\"components\":{");
    for (int i = 0; i < COMPONENTS; i++)
        kc_buf_printf(
            out,
            "%s\"component%d\":{\"name\":\"component-%d\",\"image\":\"registry.example.io/shop/component:1.%d\",\"replicas\":%d,"
            "\"mode\":\"Standby\",\"limits\":{\"cpu\":\"500m\",\"pods\":10},\"args\":[\"--verbose\",\"--listen=:8080\"]}",
            i ? "," : "", i, i, i, i);
    kc_buf_puts(out, "}},\"status\":{\"phase\":\"Running\"}}");
}

typedef struct setup {
    kc_object *object;
    kc_view *view;
    kc_schema *schema;
} setup;

static void parse(void *input, size_t times)
{
    const setup *s = input;
    while (times--) {
        kc_view *view = kc_view_of(s->object);
        bench_use(view);
        kc_view_free(view);
    }
}

static void validate(void *input, size_t times)
{
    const setup *s = input;
    while (times--) {
        kc_field_errors errors = {0};
        bool valid = kc_schema_validate(s->schema, kc_view_root(s->view), NULL, &errors);
        assert(valid);
        bench_use(valid);
    }
}

/* Everything a write goes through when there is nothing to change. */
static void all_checks(void *input, size_t times)
{
    const setup *s = input;
    const kc_value *root = kc_view_root(s->view);
    while (times--) {
        kc_field_errors errors = {0};
        bool changes = kc_schema_would_prune(s->schema, root, NULL) ||
                       kc_schema_would_default(s->schema, root);
        bool valid = kc_schema_validate(s->schema, root, NULL, &errors) &&
                     kc_schema_validate_lists(s->schema, root, NULL, &errors);
        assert(valid && !changes);
        bench_use(valid);
    }
}

int main(void)
{
    kc_scoped(kc_buf) schema_text = {0};
    kc_scoped(kc_buf) object_text = {0};
    write_schema(&schema_text);
    write_object(&object_text);
    kc_auto(kc_view) *openapi = kc_view_parse(kc_buf_str(&schema_text), NULL, NULL);
    kc_auto(kc_schema) *schema = kc_schema_compile(kc_view_root(openapi), NULL, NULL);
    kc_auto(kc_object) *object = kc_object_parse(kc_buf_str(&object_text), NULL, NULL);
    kc_auto(kc_view) *view = kc_view_of(object);
    assert(schema && view);

    setup s = {object, view, schema};
    char title[96];
    contestant all[] = {
        {"parse", parse}, {"validate", validate}, {"prune, default, validate, lists", all_checks}};
    snprintf(title, sizeof(title),
             "an object of %zu bytes, a schema of %d fields (%zu bytes compiled)", object_text.n,
             FIELDS, kc_schema_memory(schema));
    bench_run(title, all, KC_COUNT(all), &s);
    bench_at_most("validating, to parsing", all[1].ns / all[0].ns, 3);
    return bench_result();
}
