/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_sample.c: an object of each kind to begin with.
 *
 * A sample has what an object needs and what its author wanted to show: fields that are required,
 * and those with a default or an example. A value is the example, else the default, else the first
 * of an enum, else one that the schema allows (sample_value.c).
 *
 * The walk goes over the schema that the CRD gets, so that whatever limits a value is seen, with
 * the model's type beside it for what schemas do not say (that a text is a duration; that one of
 * several fields must be set). In the end the sample is validated by that schema; what could not be
 * satisfied stands as a comment at the top, for whoever edits the file.
 */
#include "generate/write_sample.h"

#include "generate/sample_value.h"
#include "generate/schema_make.h"

#include "kc/ascii.h"
#include "kc/json.h"
#include "kc/schema.h"
#include "kc/yaml.h"

#define V "kubebuilder:validation:"

/* Elements and members written at most, whatever a schema asks for. */
enum { MAX_ELEMENTS = 16 };

static void put_value(const kc__schema *schema, const kc__gen_field *field, kc_str name, size_t nth,
                      kc_buf *out);

static void put_name(kc_buf *out, kc_str name)
{
    kc_buf_puts(out, out->p[out->n - 1] == '{' ? "" : ",");
    kc_json_quote(out, name);
    kc_buf_putc(out, ':');
}

/* ---- which fields ---- */

/* The field behind a property, among members of inlined structs too; NULL: nobody knows. */
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

static bool is_required(const kc__schema *schema, kc_str name)
{
    for (size_t i = 0; i < schema->n_required; i++)
        if (kc_str_eq(schema->required[i], name))
            return true;
    return false;
}

static bool has_example(const kc__schema *schema)
{
    bool found = kc__sample_piece(schema, KC__SCHEMA_EXAMPLE).p != NULL;
    for (size_t i = 0; i < schema->n_properties && !found; i++)
        found = has_example(schema->properties[i].schema);
    return found || (schema->items && has_example(schema->items)) ||
           (schema->values && has_example(schema->values));
}

/* Which properties of an object are written, one flag each. */
typedef struct choice {
    const kc__schema *schema;
    bool *is_chosen;
    size_t n;
} choice;

static void choose(choice *c, size_t i, bool chosen)
{
    c->n += (size_t)(chosen && !c->is_chosen[i]);
    c->n -= (size_t)(!chosen && c->is_chosen[i]);
    c->is_chosen[i] = chosen;
}

/* Of the fields a marker names, at least one (the first) or at most one remains. */
static void choose_among(choice *c, const kc__gen_marker *marker, bool at_least, bool at_most)
{
    kc_auto(kc_view) *view = kc_view_parse(kc__gen_marker_json(marker, ""), NULL, NULL);
    size_t first = SIZE_MAX, n = 0;
    kc_items (kc_view_root(view), item)
        for (size_t i = 0; i < c->schema->n_properties; i++) {
            if (!kc_str_eq(c->schema->properties[i].name, kc_as_str(item)))
                continue;
            first = KC_MIN(first, i);
            n += c->is_chosen[i];
            if (c->is_chosen[i] && n > 1 && at_most)
                choose(c, i, false);
        }
    if (n == 0 && at_least && first < c->schema->n_properties)
        choose(c, first, true);
}

static void choose_one_ofs(choice *c, const kc__gen_markers *markers)
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

static void choose_all(choice *c, const kc__gen_type *type)
{
    const kc__schema *schema = c->schema;
    const size_t least = kc__sample_count(schema, KC__SCHEMA_MIN_PROPERTIES, MAX_ELEMENTS);
    for (size_t i = 0; i < schema->n_properties; i++) {
        const kc__schema_property *property = &schema->properties[i];
        if (is_required(schema, property->name) ||
            kc__sample_piece(property->schema, KC__SCHEMA_DEFAULT).p ||
            has_example(property->schema))
            choose(c, i, true);
    }
    if (type)
        choose_one_ofs(c, &type->markers);
    for (size_t i = 0; i < schema->n_properties && c->n < least; i++)
        choose(c, i, true);
}

/* ---- values ---- */

/* What an element is of a field that is a list or map, or whose typedef stands for one. */
static const kc__gen_field *items_of(const kc__gen_field *field)
{
    const bool one = field && (field->shape == KC__GEN_VALUE || field->shape == KC__GEN_POINTER);
    const kc__gen_field *list = one && field->inner ? field->inner : field;
    return list && list->inner ? list->inner : list;
}

static void put_members(const kc__schema *schema, const kc__gen_type *type, size_t nth, kc_buf *out)
{
    choice c = {schema, kc_calloc(schema->n_properties + 1, sizeof(bool)), 0};
    choose_all(&c, type);
    for (size_t i = 0; i < schema->n_properties; i++) {
        const kc__schema_property *property = &schema->properties[i];
        if (!c.is_chosen[i])
            continue;
        put_name(out, property->name);
        put_value(property->schema, find_field(type, property->name), property->name, nth, out);
    }
    free(c.is_chosen);
}

static void put_entries(const kc__schema *schema, const kc__gen_field *field, kc_buf *out)
{
    double most = MAX_ELEMENTS;
    kc__sample_limit(schema, KC__SCHEMA_MAX_PROPERTIES, &most);
    size_t n = kc__sample_count(schema, KC__SCHEMA_MIN_PROPERTIES, MAX_ELEMENTS);
    n = n ? n : most >= 1; /* One shows what they look like. */
    for (size_t i = 0; i < n; i++) {
        kc_autofree char *key = i ? kc_asprintf("key-%zu", i + 1) : kc_strdup("key");
        put_name(out, kc_cstr(key));
        put_value(schema->values, items_of(field), KC_STR("value"), i, out);
    }
}

static void put_object(const kc__schema *schema, const kc__gen_field *field, size_t nth,
                       kc_buf *out)
{
    const kc__gen_type *type = field ? field->type : NULL;
    kc_buf_putc(out, '{');
    if (kc_str_is(kc__sample_piece(schema, KC__SCHEMA_EMBEDDED_RESOURCE), "true"))
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

static void put_list(const kc__schema *schema, const kc__gen_field *field, kc_str name, kc_buf *out)
{
    double most = MAX_ELEMENTS;
    kc__sample_limit(schema, KC__SCHEMA_MAX_ITEMS, &most);
    size_t n = kc__sample_count(schema, KC__SCHEMA_MIN_ITEMS, MAX_ELEMENTS);
    n = n ? n : most >= 1;
    kc_buf_putc(out, '[');
    for (size_t i = 0; i < n && schema->items; i++) {
        kc_buf_puts(out, i ? "," : "");
        put_value(schema->items, items_of(field), singular(name), i, out);
    }
    kc_buf_putc(out, ']');
}

static void put_enum(kc_str json, size_t nth, kc_buf *out)
{
    kc_auto(kc_view) *view = kc_view_parse(json, NULL, NULL);
    const kc_value *values = kc_view_root(view);
    kc_json_write(out, kc_at(values, kc_len(values) ? nth % kc_len(values) : 0));
}

static void put_by_type(const kc__schema *schema, const kc__gen_field *field, kc_str name,
                        size_t nth, kc_buf *out)
{
    const kc_str type = kc__sample_piece(schema, KC__SCHEMA_TYPE);
    if (kc_str_is(kc__sample_piece(schema, KC__SCHEMA_INT_OR_STRING), "true"))
        /* What has a pattern is a quantity, in quotes by custom. */
        kc_buf_printf(out, kc__sample_piece(schema, KC__SCHEMA_PATTERN).p ? "\"%zu\"" : "%zu",
                      nth + 1);
    else if (field && field->base == KC__GEN_DURATION && kc_str_is(type, "\"string\""))
        kc_buf_printf(out, "\"%zum0s\"", nth + 1);
    else if (kc_str_is(type, "\"string\""))
        kc__sample_text(schema, name, nth, out);
    else if (kc_str_is(type, "\"integer\"") || kc_str_is(type, "\"number\""))
        kc__sample_number(schema, nth, out);
    else if (kc_str_is(type, "\"boolean\""))
        kc_buf_puts(out, "false");
    else if (kc_str_is(type, "\"array\""))
        put_list(schema, field, name, out);
    else
        put_object(schema, field, nth, out);
}

static void put_value(const kc__schema *schema, const kc__gen_field *field, kc_str name, size_t nth,
                      kc_buf *out)
{
    const kc_str example = kc__sample_piece(schema, KC__SCHEMA_EXAMPLE);
    const kc_str preset = kc__sample_piece(schema, KC__SCHEMA_DEFAULT);
    const kc_str values = kc__sample_piece(schema, KC__SCHEMA_ENUM);
    if (example.p || preset.p)
        kc_buf_append(out, example.p ? example : preset);
    else if (values.n > 2)
        put_enum(values, nth, out);
    else
        put_by_type(schema, field, name, nth, out);
}

/* ---- kinds ---- */

/* On the way to files. */
typedef struct writing {
    const kc__gen_model *model;
    const char *header;
    kc__schema_maker maker;
    kc__gen_put *put;
    void *user;
    kc_error *err;
} writing;

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

static void put_kind(const kc__gen_package *package, const kc__gen_type *type,
                     const kc__schema *schema, kc_buf *out)
{
    kc_autofree char *name = lower_case(type->go_name);
    kc_buf_printf(out,
                  "{\"apiVersion\":\"%.*s/%.*s\",\"kind\":\"%.*s\",\"metadata\":{\"name\":"
                  "\"%s-sample\"}",
                  KC_ARG(package->group), KC_ARG(package->version), KC_ARG(type->go_name), name);
    for (size_t i = 0; i < schema->n_properties; i++) {
        const kc__schema_property *property = &schema->properties[i];
        if (is_of_servers(property->name))
            continue;
        if (!kc_str_is(property->name, "spec") && !is_required(schema, property->name) &&
            !has_example(property->schema))
            continue;
        put_name(out, property->name);
        put_value(property->schema, find_field(type, property->name), property->name, 0, out);
    }
    kc_buf_putc(out, '}');
}

/* What the schema says against a sample, a line of comment each. */
static int put_complaints(const kc__schema *schema, const kc_value *value, kc_buf *out,
                          kc_error *err)
{
    kc_scoped(kc_buf) json = {0};
    kc_scoped(kc_field_errors) errors = {0};
    kc__schema_write(schema, &json);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, err);
    kc_auto(kc_schema) *compiled = view ? kc_schema_compile(kc_view_root(view), NULL, err) : NULL;
    if (!compiled)
        return -KC_INVALID;
    kc_schema_validate(compiled, value, NULL, &errors);
    kc_schema_validate_lists(compiled, value, NULL, &errors);
    kc_vec_each (&errors.list, error) {
        kc_buf_printf(out, "# To be changed: %s: ", error->field);
        for (const char *c = error->body; *c; c++)
            kc_buf_putc(out, *c == '\n' ? ' ' : *c);
        kc_buf_putc(out, '\n');
    }
    return 0;
}

/* The group's first label, or all of it where that is the label of another group too. */
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

static int write_one(writing *w, const kc__gen_package *package, const kc__gen_type *type)
{
    kc_scoped(kc_buf) json = {0};
    kc_scoped(kc_buf) yaml = {0};
    const kc__schema *schema = kc__schema_of_kind(&w->maker, type);
    if (w->maker.failed || !w->put)
        return 0;
    put_kind(package, type, schema, &json);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, w->err);
    kc_buf_puts(&yaml, w->header ? w->header : "");
    if (!view || put_complaints(schema, kc_view_root(view), &yaml, w->err) < 0)
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

static int write_all(writing *w)
{
    int done = 0;
    for (size_t i = 0; i < w->model->packages.n; i++) {
        const kc__gen_package *package = w->model->packages.items[i];
        for (size_t k = 0; k < package->n_types && done == 0; k++)
            if (has_sample(package->types[k]))
                done = write_one(w, package, package->types[k]);
    }
    return w->maker.failed ? -KC_INVALID : done;
}

int kc__write_samples(const kc__gen_model *model, const char *header, kc__gen_put *put, void *user,
                      kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    /* Numbers with a point are no mistake here: whoever writes the CRD decides. */
    writing w = {.model = model,
                 .header = header,
                 .maker = {.arena = &arena, .allow_dangerous_types = true, .err = err},
                 .user = user,
                 .err = err};
    int done = write_all(&w); /* Without put: are all schemas right? */
    w.put = put;
    if (done == 0)
        done = write_all(&w);
    kc__schema_maker_done(&w.maker);
    return done;
}
