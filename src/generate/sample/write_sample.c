/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_sample.c: writes a sample object of each kind.
 *
 * A sample has the fields that an object requires, and those with a default or an example. A value
 * is the example, else the default, else the first value of an enum, else one that the schema
 * allows (sample_value.c).
 *
 * The walk follows the schema of the CRD, so that all constraints are seen, together with the
 * model's type for what schemas do not express (a string is a duration; one of several fields must
 * be set). At the end the sample is validated against the schema; violations become a comment at
 * the top of the file.
 */
#include "generate/sample/write_sample.h"

#include "generate/sample/sample_value.h"
#include "generate/schema/make.h"

#include "kc/ascii.h"
#include "kc/json.h"
#include "kc/schema.h"
#include "kc/yaml.h"

#define V "kubebuilder:validation:"

/* Maximum number of elements and members, whatever a schema requires. */
enum { MAX_ELEMENTS = 16 };

static void gen_write_sample_put_value(const kc__gen_schema *schema, const kc__gen_field *field,
                                       kc_str name, size_t nth, kc_buf *out);

static void put_name(kc_buf *out, kc_str name)
{
    kc_buf_puts(out, out->p[out->n - 1] == '{' ? "" : ",");
    kc_json_quote(out, name);
    kc_buf_putc(out, ':');
}

/* ---- field selection ---- */

/* The field of a property, also among inlined members; NULL: unknown. */
static const kc__gen_field *find_field(const kc__gen_type *type, kc_str name)
{
    const kc__gen_field *found = NULL;
    for (size_t i = 0; type && i < type->n_fields && !found; i++) {
        const kc__gen_field *field = &type->fields[i];
        if (field->is_inline)
            found = find_field(field->type, name);
        else if (kc_str_eq(field->json_name, name))
            found = field;
    }
    return found;
}

static bool gen_write_sample_is_required(const kc__gen_schema *schema, kc_str name)
{
    for (size_t i = 0; i < schema->n_required; i++)
        if (kc_str_eq(schema->required[i], name))
            return true;
    return false;
}

static bool has_example(const kc__gen_schema *schema)
{
    bool found = kc__gen_sample_piece(schema, KC__GEN_SCHEMA_EXAMPLE).p != NULL;
    for (size_t i = 0; i < schema->n_properties && !found; i++)
        found = has_example(schema->properties[i].schema);
    return found || (schema->items && has_example(schema->items)) ||
           (schema->values && has_example(schema->values));
}

/* Flags of the properties to write. */
typedef struct gen_write_sample_choice {
    const kc__gen_schema *schema;
    bool *is_chosen;
    size_t n;
} gen_write_sample_choice;

static void gen_write_sample_choose(gen_write_sample_choice *c, size_t i, bool chosen)
{
    c->n += (size_t)(chosen && !c->is_chosen[i]);
    c->n -= (size_t)(!chosen && c->is_chosen[i]);
    c->is_chosen[i] = chosen;
}

/* Of the fields that a marker names, at least one (the first) or at most one remains. */
static void choose_among(gen_write_sample_choice *c, const kc__gen_marker *marker, bool at_least,
                         bool at_most)
{
    kc_auto(kc_view) *view = kc_view_parse(kc__gen_marker_json(marker, ""), NULL, NULL);
    size_t first = SIZE_MAX, n = 0;
    kc_value_each_item (kc_view_root(view), item)
        for (size_t i = 0; i < c->schema->n_properties; i++) {
            if (!kc_str_eq(c->schema->properties[i].name, kc_value_as_str(item)))
                continue;
            first = KC_MIN(first, i);
            n += c->is_chosen[i];
            if (c->is_chosen[i] && n > 1 && at_most)
                gen_write_sample_choose(c, i, false);
        }
    if (n == 0 && at_least && first < c->schema->n_properties)
        gen_write_sample_choose(c, first, true);
}

static void choose_one_ofs(gen_write_sample_choice *c, const kc__gen_markers *markers)
{
    for (size_t i = 0; i < markers->n; i++) {
        const kc__gen_marker *marker = &markers->items[i];
        const bool exactly = kc_str_is(marker->name, V "ExactlyOneOf");
        const bool at_least = kc_str_is(marker->name, V "AtLeastOneOf");
        const bool at_most = kc_str_is(marker->name, V "AtMostOneOf");
        if (exactly || at_least || at_most)
            choose_among(c, marker, exactly || at_least, exactly || at_most);
    }
}

static void choose_all(gen_write_sample_choice *c, const kc__gen_type *type)
{
    const kc__gen_schema *schema = c->schema;
    const size_t least = kc__gen_sample_count(schema, KC__GEN_SCHEMA_MIN_PROPERTIES, MAX_ELEMENTS);
    for (size_t i = 0; i < schema->n_properties; i++) {
        const kc__gen_schema_property *property = &schema->properties[i];
        if (gen_write_sample_is_required(schema, property->name) ||
            kc__gen_sample_piece(property->schema, KC__GEN_SCHEMA_DEFAULT).p ||
            has_example(property->schema))
            gen_write_sample_choose(c, i, true);
    }
    if (type)
        choose_one_ofs(c, &type->markers);
    for (size_t i = 0; i < schema->n_properties && c->n < least; i++)
        gen_write_sample_choose(c, i, true);
}

/* ---- values ---- */

/* The element of a list or map field, also behind a typedef. */
static const kc__gen_field *items_of(const kc__gen_field *field)
{
    const bool one = field && (field->shape == KC__GEN_VALUE || field->shape == KC__GEN_POINTER);
    const kc__gen_field *list = one && field->inner ? field->inner : field;
    return list && list->inner ? list->inner : list;
}

static void put_members(const kc__gen_schema *schema, const kc__gen_type *type, size_t nth,
                        kc_buf *out)
{
    gen_write_sample_choice c = {schema, kc_calloc(schema->n_properties + 1, sizeof(bool)), 0};
    choose_all(&c, type);
    for (size_t i = 0; i < schema->n_properties; i++) {
        const kc__gen_schema_property *property = &schema->properties[i];
        if (!c.is_chosen[i])
            continue;
        put_name(out, property->name);
        gen_write_sample_put_value(property->schema, find_field(type, property->name),
                                   property->name, nth, out);
    }
    free(c.is_chosen);
}

static void put_entries(const kc__gen_schema *schema, const kc__gen_field *field, kc_buf *out)
{
    double most = MAX_ELEMENTS;
    kc__gen_sample_limit(schema, KC__GEN_SCHEMA_MAX_PROPERTIES, &most);
    size_t n = kc__gen_sample_count(schema, KC__GEN_SCHEMA_MIN_PROPERTIES, MAX_ELEMENTS);
    n = n ? n : most >= 1; /* One element shows the form. */
    for (size_t i = 0; i < n; i++) {
        kc_autofree char *key = i ? kc_asprintf("key-%zu", i + 1) : kc_strdup("key");
        put_name(out, kc_cstr(key));
        gen_write_sample_put_value(schema->values, items_of(field), KC_STR("value"), i, out);
    }
}

static void put_object(const kc__gen_schema *schema, const kc__gen_field *field, size_t nth,
                       kc_buf *out)
{
    const kc__gen_type *type = field ? field->type : NULL;
    kc_buf_putc(out, '{');
    if (kc_str_is(kc__gen_sample_piece(schema, KC__GEN_SCHEMA_EMBEDDED_RESOURCE), "true"))
        kc_buf_puts(out, "\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
                         "\"metadata\":{\"name\":\"sample\"}");
    else if (schema->values)
        put_entries(schema, field, out);
    else
        put_members(schema, type, nth, out);
    kc_buf_putc(out, '}');
}

/* The name of one element: args → arg. */
static kc_str singular(kc_str name)
{
    const bool many = name.n > 3 && name.p[name.n - 1] == 's' && name.p[name.n - 2] != 's';
    return kc_str_sub(name, 0, name.n - many);
}

static void put_list(const kc__gen_schema *schema, const kc__gen_field *field, kc_str name,
                     kc_buf *out)
{
    double most = MAX_ELEMENTS;
    kc__gen_sample_limit(schema, KC__GEN_SCHEMA_MAX_ITEMS, &most);
    size_t n = kc__gen_sample_count(schema, KC__GEN_SCHEMA_MIN_ITEMS, MAX_ELEMENTS);
    n = n ? n : most >= 1;
    kc_buf_putc(out, '[');
    for (size_t i = 0; i < n && schema->items; i++) {
        kc_buf_puts(out, i ? "," : "");
        gen_write_sample_put_value(schema->items, items_of(field), singular(name), i, out);
    }
    kc_buf_putc(out, ']');
}

static void put_enum(kc_str json, size_t nth, kc_buf *out)
{
    kc_auto(kc_view) *view = kc_view_parse(json, NULL, NULL);
    const kc_value *values = kc_view_root(view);
    kc_json_write(out, kc_value_at(values, kc_value_len(values) ? nth % kc_value_len(values) : 0));
}

static void put_by_type(const kc__gen_schema *schema, const kc__gen_field *field, kc_str name,
                        size_t nth, kc_buf *out)
{
    const kc_str type = kc__gen_sample_piece(schema, KC__GEN_SCHEMA_TYPE);
    if (kc_str_is(kc__gen_sample_piece(schema, KC__GEN_SCHEMA_INT_OR_STRING), "true"))
        /* A value with a pattern is a quantity, quoted by convention. */
        kc_buf_printf(out,
                      kc__gen_sample_piece(schema, KC__GEN_SCHEMA_PATTERN).p ? "\"%zu\"" : "%zu",
                      nth + 1);
    else if (field && field->base == KC__GEN_DURATION && kc_str_is(type, "\"string\""))
        kc_buf_printf(out, "\"%zum0s\"", nth + 1);
    else if (kc_str_is(type, "\"string\""))
        kc__gen_sample_text(schema, name, nth, out);
    else if (kc_str_is(type, "\"integer\"") || kc_str_is(type, "\"number\""))
        kc__gen_sample_number(schema, nth, out);
    else if (kc_str_is(type, "\"boolean\""))
        kc_buf_puts(out, "false");
    else if (kc_str_is(type, "\"array\""))
        put_list(schema, field, name, out);
    else
        put_object(schema, field, nth, out);
}

static void gen_write_sample_put_value(const kc__gen_schema *schema, const kc__gen_field *field,
                                       kc_str name, size_t nth, kc_buf *out)
{
    const kc_str example = kc__gen_sample_piece(schema, KC__GEN_SCHEMA_EXAMPLE);
    const kc_str preset = kc__gen_sample_piece(schema, KC__GEN_SCHEMA_DEFAULT);
    const kc_str values = kc__gen_sample_piece(schema, KC__GEN_SCHEMA_ENUM);
    if (example.p || preset.p)
        kc_buf_append(out, example.p ? example : preset);
    else if (values.n > 2)
        put_enum(values, nth, out);
    else
        put_by_type(schema, field, name, nth, out);
}

/* ---- kinds ---- */

/* The state of writing. */
typedef struct gen_write_sample_writing {
    const kc__gen_model *model;
    const char *header;
    kc__gen_schema_maker maker;
    kc__gen_output_put *put;
    void *user;
    kc_error *err;
} gen_write_sample_writing;

static bool is_of_servers(kc_str name)
{
    return kc_str_is(name, "apiVersion") || kc_str_is(name, "kind") ||
           kc_str_is(name, "metadata") || kc_str_is(name, "status");
}

/* robot of Robot. */
static char *lower_case(kc_str text)
{
    char *copy = kc_str_dup(text);
    for (char *c = copy; *c; c++)
        *c = kc_lower(*c);
    return copy;
}

static void gen_write_sample_put_kind(const kc__gen_package *package, const kc__gen_type *type,
                                      const kc__gen_schema *schema, kc_buf *out)
{
    kc_autofree char *name = lower_case(type->go_name);
    kc_buf_printf(out,
                  "{\"apiVersion\":\"%.*s/%.*s\",\"kind\":\"%.*s\",\"metadata\":{\"name\":"
                  "\"%s-sample\"}",
                  KC_ARG(package->group), KC_ARG(package->version), KC_ARG(type->go_name), name);
    for (size_t i = 0; i < schema->n_properties; i++) {
        const kc__gen_schema_property *property = &schema->properties[i];
        if (is_of_servers(property->name))
            continue;
        if (!kc_str_is(property->name, "spec") &&
            !gen_write_sample_is_required(schema, property->name) && !has_example(property->schema))
            continue;
        put_name(out, property->name);
        gen_write_sample_put_value(property->schema, find_field(type, property->name),
                                   property->name, 0, out);
    }
    kc_buf_putc(out, '}');
}

/* Violations of the schema, a comment line each. */
static int write_violations(const kc__gen_schema *schema, const kc_value *value, kc_buf *out,
                            kc_error *err)
{
    kc_scoped(kc_buf) json = {0};
    kc_scoped(kc_field_errors) errors = {0};
    kc__gen_schema_write(schema, &json);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, err);
    kc_auto(kc_schema) *compiled = view ? kc_schema_compile(kc_view_root(view), NULL, err) : NULL;
    if (!compiled)
        return kc_error_result(err);
    kc_schema_validate(compiled, value, NULL, &errors);
    kc_schema_validate_lists(compiled, value, NULL, &errors);
    kc_vec_each (&errors.list, error) {
        kc_buf_printf(out, "# To do: %s: ", error->field);
        for (const char *c = error->body; *c; c++)
            kc_buf_putc(out, *c == '\n' ? ' ' : *c);
        kc_buf_putc(out, '\n');
    }
    return 0;
}

/* The group's first label, or the whole group if another group has the same label. */
static kc_str short_group(const kc__gen_model *model, kc_str group)
{
    kc_str rest = group;
    const kc_str label = kc_str_cut(&rest, '.');
    for (size_t i = 0; i < model->packages.n; i++) {
        kc_str other = model->packages.items[i]->group;
        if (!kc_str_eq(other, group) && kc_str_eq(kc_str_cut(&other, '.'), label))
            return group;
    }
    return label;
}

static int gen_write_sample_write_one(gen_write_sample_writing *w, const kc__gen_package *package,
                                      const kc__gen_type *type)
{
    kc_scoped(kc_buf) json = {0};
    kc_scoped(kc_buf) yaml = {0};
    const kc__gen_schema *schema = kc__gen_schema_of_kind(&w->maker, type);
    if (w->maker.failed || !w->put)
        return 0;
    gen_write_sample_put_kind(package, type, schema, &json);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, w->err);
    kc_buf_puts(&yaml, w->header ? w->header : "");
    if (!view || write_violations(schema, kc_view_root(view), &yaml, w->err) < 0)
        return kc_error_wrap(w->err, "the sample of %.*s", KC_ARG(type->go_name));
    kc_yaml_write(&yaml, kc_view_root(view));
    const kc_str group = short_group(w->model, package->group);
    kc_autofree char *kind = lower_case(type->go_name);
    kc_autofree char *file =
        kc_asprintf("%.*s_%.*s_%s.yaml", KC_ARG(group), KC_ARG(package->version), kind);
    return w->put(file, kc_buf_str(&yaml), w->user, w->err);
}

static bool has_sample(const kc__gen_type *type)
{
    return type->is_root && !kc__gen_marker_find(&type->markers, "kubebuilder:skipversion") &&
           !kc__gen_marker_find(&type->markers, "kubebuilder:unservedversion");
}

static int gen_write_sample_write_all(gen_write_sample_writing *w)
{
    int done = 0;
    for (size_t i = 0; i < w->model->packages.n; i++) {
        const kc__gen_package *package = w->model->packages.items[i];
        for (size_t k = 0; k < package->n_types && done == 0; k++)
            if (has_sample(package->types[k]))
                done = gen_write_sample_write_one(w, package, package->types[k]);
    }
    return w->maker.failed ? kc_error_result(w->err) : done;
}

int kc__gen_write_samples(const kc__gen_model *model, const char *header, kc__gen_output_put *put,
                          void *user, kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    /* Floating-point numbers are no mistake here: the CRD writer decides. */
    gen_write_sample_writing w = {
        .model = model,
        .header = header,
        .maker = {.arena = &arena, .allow_dangerous_types = true, .err = err},
        .user = user,
        .err = err};
    int done = gen_write_sample_write_all(&w); /* Without put: only validates all schemas. */
    w.put = put;
    if (done == 0)
        done = gen_write_sample_write_all(&w);
    kc__gen_schema_maker_done(&w.maker);
    return done;
}
