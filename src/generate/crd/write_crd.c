/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_crd.c: writes the CustomResourceDefinitions of a model.
 *
 *     model ──▶ kinds, each with its versions ──▶ schemas and markers ──▶ JSON ──▶ YAML
 *
 * A kind consists of the types with the same name and group, one package per version. The format is
 * controller-gen's: keys sorted, texts folded. All CRDs are built before the first is written, so a
 * mistake in one leaves the directory unchanged.
 */
#include "generate/crd/write_crd.h"

#include "generate/crd/crd_internal.h"
#include "generate/model/names.h"

#include "kc/ascii.h"
#include "kc/json.h"
#include "kc/yaml.h"

#define VERSION_ANNOTATION "kubecontroller.io/version"

void kc__gen_crd_done(kc__gen_crd *crd)
{
    kc_vec_each (&crd->versions, version) {
        kc_buf_done(&version->columns);
        kc_buf_done(&version->selectable);
    }
    kc_vec_done(&crd->versions);
    kc_vec_done(&crd->labels);
    kc_vec_done(&crd->annotations);
}

/* ---- JSON ---- */

static void put_pair(kc_buf *out, kc_str name, kc_str value)
{
    kc_buf_puts(out, out->p[out->n - 1] == '{' ? "" : ",");
    kc_json_quote(out, name);
    kc_buf_putc(out, ':');
    kc_json_quote(out, value);
}

/* Of pairs with the same name the last one. */
static void put_pairs(kc_buf *out, const kc__gen_crd_pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool later = false;
        for (size_t k = i + 1; k < n && !later; k++)
            later = kc_str_eq(pairs[i].name, pairs[k].name);
        if (!later)
            put_pair(out, pairs[i].name, pairs[i].value);
    }
}

static void gen_write_crd_put_metadata(const kc__gen_crd *crd, const char *generator_version,
                                       kc_buf *out)
{
    kc_buf_printf(out, "\"metadata\":{\"name\":\"%.*s.%.*s\"", KC_ARG(crd->plural),
                  KC_ARG(crd->group));
    if (crd->annotations.n || generator_version) {
        kc_buf_puts(out, ",\"annotations\":{");
        put_pairs(out, crd->annotations.items, crd->annotations.n);
        if (generator_version)
            put_pair(out, KC_STR(VERSION_ANNOTATION), kc_cstr(generator_version));
        kc_buf_putc(out, '}');
    }
    if (crd->labels.n) {
        kc_buf_puts(out, ",\"labels\":{");
        put_pairs(out, crd->labels.items, crd->labels.n);
        kc_buf_putc(out, '}');
    }
    kc_buf_putc(out, '}');
}

static void put_names(const kc__gen_crd *crd, kc_buf *out)
{
    kc_buf_puts(out, "\"names\":{");
    put_pair(out, KC_STR("kind"), crd->kind);
    kc_buf_printf(out, ",\"listKind\":\"%.*sList\"", KC_ARG(crd->kind));
    put_pair(out, KC_STR("plural"), crd->plural);
    put_pair(out, KC_STR("singular"), crd->singular);
    if (crd->short_names.n > 2)
        kc_buf_printf(out, ",\"shortNames\":%.*s", KC_ARG(crd->short_names));
    if (crd->categories.n > 2)
        kc_buf_printf(out, ",\"categories\":%.*s", KC_ARG(crd->categories));
    kc_buf_putc(out, '}');
}

static void put_version(const kc__gen_crd_version *v, kc_buf *out)
{
    kc_buf_printf(out, "{\"name\":\"%.*s\",\"served\":%s,\"storage\":%s",
                  KC_ARG(v->package->version), v->is_served ? "true" : "false",
                  v->is_storage ? "true" : "false");
    if (v->is_deprecated)
        kc_buf_puts(out, ",\"deprecated\":true");
    if (v->warning.p)
        kc_buf_printf(out, ",\"deprecationWarning\":%.*s", KC_ARG(v->warning));
    if (v->columns.n)
        kc_buf_printf(out, ",\"additionalPrinterColumns\":[%.*s]", KC_ARG(kc_buf_str(&v->columns)));
    if (v->selectable.n)
        kc_buf_printf(out, ",\"selectableFields\":[%.*s]", KC_ARG(kc_buf_str(&v->selectable)));
    if (v->has_subresources)
        kc_buf_printf(out, ",\"subresources\":{%s%s%.*s}", v->has_status ? "\"status\":{}" : "",
                      v->scale.p ? (v->has_status ? ",\"scale\":" : "\"scale\":") : "",
                      KC_ARG(v->scale));
    kc_buf_puts(out, ",\"schema\":{\"openAPIV3Schema\":");
    kc__gen_schema_write(v->schema, out);
    kc_buf_puts(out, "}}");
}

void kc__gen_crd_write(const kc__gen_crd *crd, const char *generator_version, kc_buf *out)
{
    kc_buf_puts(out, "{\"apiVersion\":\"apiextensions.k8s.io/v1\","
                     "\"kind\":\"CustomResourceDefinition\",");
    gen_write_crd_put_metadata(crd, generator_version, out);
    kc_buf_puts(out, ",\"spec\":{");
    put_pair(out, KC_STR("group"), crd->group);
    put_pair(out, KC_STR("scope"), crd->scope);
    kc_buf_putc(out, ',');
    put_names(crd, out);
    const char *comma = ",\"versions\":[";
    kc_vec_each (&crd->versions, version) {
        if (version->is_skipped)
            continue;
        kc_buf_puts(out, comma);
        comma = ",";
        put_version(version, out);
    }
    kc_buf_puts(out, "]}}");
}

/* ---- kinds ---- */

/* The state between a model and files. */
typedef struct gen_write_crd_writing {
    const kc__gen_crd_opts *opts;
    kc__gen_schema_maker maker;
    KC_VEC(kc__gen_crd) crds;
} gen_write_crd_writing;

static kc__gen_crd *crd_of(gen_write_crd_writing *w, kc_str group, const kc__gen_type *type)
{
    kc_vec_each (&w->crds, crd)
        if (kc_str_eq(crd->group, group) && kc_str_eq(crd->kind, type->go_name))
            return crd;
    kc__gen_crd *crd = kc_vec_add(&w->crds);
    char *singular = kc_arena_strndup(w->maker.arena, type->go_name.p, type->go_name.n);
    for (char *c = singular; *c; c++)
        *c = kc_lower(*c);
    crd->group = group;
    crd->kind = type->go_name;
    crd->singular = kc_cstr(singular);
    crd->plural = kc__gen_plural(w->maker.arena, type->go_name);
    crd->scope = KC_STR("Namespaced");
    return crd;
}

static void gen_write_crd_collect(gen_write_crd_writing *w, const kc__gen_model *model)
{
    for (size_t i = 0; i < model->packages.n; i++) {
        const kc__gen_package *package = model->packages.items[i];
        for (size_t k = 0; k < package->n_types; k++) {
            const kc__gen_type *type = package->types[k];
            if (type->is_root)
                kc_vec_push(
                    &crd_of(w, package->group, type)->versions,
                    (kc__gen_crd_version){.package = package, .type = type, .is_served = true});
        }
    }
}

static int gen_write_crd_by_name(const void *a, const void *b)
{
    const kc__gen_crd *x = a, *y = b;
    const int kinds = kc_str_cmp(x->kind, y->kind);
    return kinds ? kinds : kc_str_cmp(x->group, y->group);
}

static int by_version(const void *a, const void *b)
{
    const kc__gen_crd_version *x = a, *y = b;
    return kc_str_cmp(x->package->version, y->package->version);
}

static void gen_write_crd_check_versions(gen_write_crd_writing *w, const kc__gen_crd *crd)
{
    size_t n = 0, stored = 0, served = 0;
    for (size_t i = 0; i < crd->versions.n; i++) {
        const kc__gen_crd_version *v = &crd->versions.items[i];
        n += !v->is_skipped;
        stored += v->is_storage && !v->is_skipped;
        served += v->is_served && !v->is_skipped;
        if (i > 0 && !by_version(v, v - 1))
            kc__gen_schema_maker_fail(&w->maker, v->type->at,
                                      "%.*s of version %.*s is already defined in %s line %u",
                                      KC_ARG(crd->kind), KC_ARG(v->package->version),
                                      (v - 1)->type->at.file, (v - 1)->type->at.line);
    }
    const kc__gen_at at = crd->versions.items[0].type->at;
    if (n && stored != 1)
        kc__gen_schema_maker_fail(
            &w->maker, at,
            "%.*s has %zu versions, of which %s stored; mark exactly one with "
            "+kubebuilder:storageversion",
            KC_ARG(crd->kind), n, stored ? "several are" : "none is");
    if (n && !served)
        kc__gen_schema_maker_fail(&w->maker, at, "no version of %.*s is served", KC_ARG(crd->kind));
}

static void make_crd(gen_write_crd_writing *w, kc__gen_crd *crd)
{
    size_t n = 0;
    kc__gen_crd_version *only = NULL;
    kc_vec_sort(&crd->versions, by_version);
    kc_vec_each (&crd->versions, version) {
        version->schema = kc__gen_schema_of_kind(&w->maker, version->type);
        if (w->opts->max_description)
            version->schema = kc__gen_schema_cut(
                version->schema,
                w->opts->max_description > 0 ? (size_t)w->opts->max_description : 0,
                w->maker.arena);
        kc__gen_crd_check_rules(&w->maker, version);
        kc__gen_crd_apply(&w->maker, crd, version);
        n += !version->is_skipped;
        only = version->is_skipped ? only : version;
    }
    if (n == 1)
        only->is_storage = true;
    gen_write_crd_check_versions(w, crd);
}

static bool has_versions(const kc__gen_crd *crd)
{
    for (size_t i = 0; i < crd->versions.n; i++)
        if (!crd->versions.items[i].is_skipped)
            return true;
    return false;
}

/* ---- files ---- */

static int gen_write_crd_write_one(const gen_write_crd_writing *w, const kc__gen_crd *crd,
                                   kc__gen_output_put *put, void *user, kc_error *err)
{
    kc_scoped(kc_buf) json = {0};
    kc_scoped(kc_buf) yaml = {0};
    kc__gen_crd_write(crd, w->opts->version, &json);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, err);
    if (!view)
        return kc_error_wrap(err, "the CRD of %.*s", KC_ARG(crd->kind));
    kc_buf_puts(&yaml, w->opts->header ? w->opts->header : "");
    kc_buf_puts(&yaml, "---\n");
    kc_yaml_write(&yaml, kc_view_root(view));
    kc_autofree char *name = kc_asprintf("%.*s_%.*s.yaml", KC_ARG(crd->group), KC_ARG(crd->plural));
    return put(name, kc_buf_str(&yaml), user, err);
}

static int gen_write_crd_write_all(gen_write_crd_writing *w, kc__gen_output_put *put, void *user,
                                   kc_error *err)
{
    if (w->maker.failed)
        return kc_error_result(err);
    kc_vec_each (&w->crds, crd) {
        const int done = has_versions(crd) ? gen_write_crd_write_one(w, crd, put, user, err) : 0;
        if (done < 0)
            return done;
    }
    return 0;
}

int kc__gen_write_crds(const kc__gen_model *model, const kc__gen_crd_opts *opts,
                       kc__gen_output_put *put, void *user, kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    gen_write_crd_writing w = {.opts = opts,
                               .maker = {.arena = &arena,
                                         .allow_dangerous_types = opts->allow_dangerous_types,
                                         .embedded_object_meta = opts->embedded_object_meta,
                                         .err = err}};
    gen_write_crd_collect(&w, model);
    kc_vec_sort(&w.crds, gen_write_crd_by_name);
    kc_vec_each (&w.crds, crd)
        make_crd(&w, crd);
    const int done = gen_write_crd_write_all(&w, put, user, err);
    kc_vec_each (&w.crds, crd)
        kc__gen_crd_done(crd);
    kc_vec_done(&w.crds);
    kc__gen_schema_maker_done(&w.maker);
    return done;
}
