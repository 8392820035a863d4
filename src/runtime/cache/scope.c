/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.c: matches selectors on the client side, as the server does.
 *
 * Needed for own writes: the server returns the object, and the informer's selectors decide whether
 * the watch will deliver it. Labels are matched exactly. Only the server knows which fields a kind
 * can be selected by; but in all kinds a field is named by its path.
 */
#include "runtime/cache/scope.h"

#include "kc/vec.h"

kc_fields *kc__cache_fields_named_by(const kc_field_selector *selector, kc_error *err)
{
    size_t n;
    const kc_field_requirement *terms = kc_field_selector_requirements(selector, &n);
    kc_field_def *defs = kc_calloc(n, sizeof(*defs));
    for (size_t i = 0; i < n; i++)
        defs[i].field = kc_str_dup(terms[i].field);
    kc_fields *fields = kc_fields_new(defs, n, err);
    for (size_t i = 0; i < n; i++)
        free((char *)defs[i].field);
    free(defs);
    return fields;
}

static char *dup_or_null(const char *text)
{
    return text && *text ? kc_strdup(text) : NULL;
}

static int scope_parse(kc__cache_scope *scope, kc_error *err)
{
    if (scope->labels_text) {
        scope->labels = kc_selector_parse(kc_cstr(scope->labels_text), err);
        if (!scope->labels)
            return kc_error_wrap(err, "label selector \"%s\"", scope->labels_text);
    }
    if (!scope->fields_text)
        return 0;
    scope->fields = kc_field_selector_parse(kc_cstr(scope->fields_text), err);
    scope->field_paths = scope->fields ? kc__cache_fields_named_by(scope->fields, err) : NULL;
    if (!scope->field_paths)
        return kc_error_wrap(err, "field selector \"%s\"", scope->fields_text);
    return 0;
}

int kc__cache_scope_init(kc__cache_scope *scope, const char *ns, const char *labels,
                         const char *fields, kc_error *err)
{
    *scope = (kc__cache_scope){.ns = dup_or_null(ns),
                               .labels_text = dup_or_null(labels),
                               .fields_text = dup_or_null(fields)};
    int failed = scope_parse(scope, err);
    if (failed < 0)
        kc__cache_scope_done(scope);
    return failed;
}

void kc__cache_scope_done(kc__cache_scope *scope)
{
    free(scope->ns);
    free(scope->labels_text);
    free(scope->fields_text);
    kc_selector_free(scope->labels);
    kc_field_selector_free(scope->fields);
    kc_fields_free(scope->field_paths);
    *scope = (kc__cache_scope){0};
}

bool kc__cache_scope_has(const kc__cache_scope *scope, const kc_object *object)
{
    if (scope->ns && !kc_str_is(kc_object_namespace(object), scope->ns))
        return false;
    if (!kc_selector_match(scope->labels, object))
        return false;
    return !scope->fields ||
           kc_field_selector_match_object(scope->fields, scope->field_paths, object);
}
