/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch.c: the types that mutating policies construct, and the escaping of keys in patches.
 *
 *     Object{spec: Object.spec{replicas: 3}}                        an apply configuration
 *     [JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey(k), value: "x"}]
 *
 * Object and its parts are named by their path, and any field of them exists, as dyn. An
 * environment has these types only on demand. A constructed value is a map with a type.
 */
#include "cel/library/library_internal.h"

static const kc__cel_field patch_fields[] = {
    {KC_STR_INIT("from"), KC_STR_INIT("from"), T_STRING},
    {KC_STR_INIT("op"), KC_STR_INIT("op"), T_STRING},
    {KC_STR_INIT("path"), KC_STR_INIT("path"), T_STRING},
    {KC_STR_INIT("value"), KC_STR_INIT("value"), T_DYN},
};

static const kc_cel_type patch_type = {.kind = KC_CEL_OBJECT,
                                       .name = "JSONPatch",
                                       .n_fields = KC_COUNT(patch_fields),
                                       .fields = patch_fields};

const kc_cel_type *kc__cel_constructed_type(const kc_cel_env *env, kc_arena *arena, kc_str name)
{
    if (!kc__cel_env_has(env, KC__CEL_PATCHES))
        return NULL;
    if (kc_str_is(name, "JSONPatch"))
        return &patch_type;
    if (!kc_str_is(name, "Object") && !kc_str_starts(name, KC_STR("Object.")))
        return NULL;
    kc_cel_type *type = kc_arena_new(arena, kc_cel_type);
    type->kind = KC_CEL_OBJECT;
    type->name = kc_arena_strndup(arena, name.p, name.n);
    type->is_open = true;
    return type;
}

/* ---- names of types and paths of fields ---- */

typedef struct names_check {
    kc__cel_eval ev;
    kc_buf path;
    kc_buf *why;
    bool ok;
} names_check;

static bool is_constructed(kc_cel_value value)
{
    return value.kind == KC_CEL_OBJECT && value.form == KC__CEL_OWN && value.map->type->is_open;
}

static void check_names(names_check *c, kc_cel_value value)
{
    bool object = is_constructed(value), map = object || value.kind == KC_CEL_MAP;
    if (!map && value.kind != KC_CEL_LIST)
        return;
    if (object && strcmp(value.map->type->name, kc_buf_cstr(&c->path)) != 0) {
        kc_buf_printf(c->why,
                      "%sunexpected type name \"%s\", expected \"%s\", which matches field name "
                      "path from root Object type",
                      c->ok ? "" : "\n", value.map->type->name, kc_buf_cstr(&c->path));
        c->ok = false;
    }
    kc__cel_iter iter;
    kc_cel_value key, item = {0};
    if (value.form == KC__CEL_JSON || !kc__cel_iter_begin(&c->ev, value, &iter))
        return;
    while (kc__cel_iter_next(&c->ev, &iter, &key, map ? &item : NULL)) {
        size_t before = c->path.n;
        if (object)
            kc_buf_printf(&c->path, ".%.*s", KC_ARG(key.text));
        check_names(c, map ? item : key);
        c->path.n = before;
    }
}

bool kc_cel_check_object_names(kc_cel_value value, kc_buf *why)
{
    kc_scoped(kc_arena) arena = {0};
    names_check c = {.ev = {.arena = &arena, .max_bytes = SIZE_MAX, .budget = UINT64_MAX},
                     .why = why,
                     .ok = true};
    kc_buf_puts(&c.path, is_constructed(value) ? value.map->type->name : "Object");
    check_names(&c, value);
    kc_buf_done(&c.path);
    return c.ok;
}

/* ---- functions ---- */

KC__CEL_FUNCTION(escape_patch_key)
{
    (void)n;
    kc_scoped(kc_buf) out = {0};
    for (size_t i = 0; i < a[0].text.n; i++) {
        char c = a[0].text.p[i];
        if (c == '/' || c == '~')
            kc_buf_puts(&out, c == '/' ? "~1" : "~0");
        else
            kc_buf_putc(&out, c);
    }
    return kc__cel_copy_text(ev, KC_CEL_STRING, kc_buf_str(&out));
}

/* As Kubernetes: a tenth of the length of the key. */
static uint64_t escape_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)n, (void)result;
    return kc__cel_cost_factor(kc__cel_size(a[0]), KC__CEL_STRING_FACTOR);
}

static kc__cel_estimate estimate_escape(const kc__cel_estimate_args *args)
{
    return kc__cel_estimate_traversal(args->sizes[0]);
}

static const kc__cel_overload overloads[] = {
    KC__CEL_ROW("jsonpatch.escapeKey", "string_jsonpatch_escapeKey_string", false, escape_patch_key,
                escape_cost, estimate_escape, T_STRING, T_STRING),
};

const kc__cel_library kc__cel_library_patch = {overloads, KC_COUNT(overloads), KC__CEL_PATCHES};
