/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markers.c: from a line of a comment to a marker.
 *
 *     +kubebuilder:validation:Maximum=10          the name is all before '='
 *     +kubebuilder:printcolumn:name=A,type=string the name ends before the first argument's
 *
 * Which of the two it is says the table: a marker with named arguments is looked up without the
 * last part of its name. Pure: no files, no libclang; the fuzzer calls this.
 */
#include "generate/markers.h"

#include "generate/marker_value.h"

bool kc__marker_is_line(kc_str line)
{
    line = kc_str_trim(line);
    return line.n > 0 && line.p[0] == '+';
}

/* A line taken apart. */
typedef struct parts {
    kc_str name;   /* As far as the table knows it. */
    kc_str values; /* From the first argument's name on, or the value. */
    const kc__marker_def *def;
} parts;

static bool has_named_args(const kc__marker_def *def)
{
    return def->args[0].name && def->args[0].name[0];
}

static parts take_apart(kc_str line)
{
    kc_str rest = line;
    const kc_str whole = kc_str_cut(&rest, '=');
    const ptrdiff_t colon = kc_str_rfind(whole, ':');
    parts p = {.name = whole, .values = rest, .def = kc__marker_def_find(whole)};
    if (p.def || !rest.p || colon < 0)
        return p;
    const kc_str shorter = kc_str_sub(whole, 0, (size_t)colon);
    const kc__marker_def *def = kc__marker_def_find(shorter);
    if (def && has_named_args(def))
        p = (parts){shorter, kc_str_sub(line, (size_t)colon + 1, line.n), def};
    return p;
}

/* ---- errors ---- */

static int unknown(kc_str name, kc__gen_at at, kc_error *err)
{
    const kc_str items = KC_STR("kubebuilder:validation:items:");
    kc_autofree char *plain = NULL;
    const char *nearest = kc__marker_nearest(name);
    if (kc_str_starts(name, items)) {
        plain =
            kc_asprintf("kubebuilder:validation:%.*s", KC_ARG(kc_str_sub(name, items.n, name.n)));
        nearest = kc__marker_nearest(kc_cstr(plain));
        if (nearest && kc__marker_def_find(kc_cstr(nearest))->of_items)
            return kc__gen_error(err, at, "there is no marker '+%.*s'; did you mean '+%s%s'?",
                                 KC_ARG(name), items.p, strrchr(nearest, ':') + 1);
    }
    if (nearest)
        return kc__gen_error(err, at, "there is no marker '+%.*s'; did you mean '+%s'?",
                             KC_ARG(name), nearest);
    return kc__gen_error(err, at, "there is no marker '+%.*s'", KC_ARG(name));
}

static const char *place_of(unsigned scope)
{
    switch (scope) {
    case KC__ON_PACKAGE: return "a package (a comment of groupversion_info.h)";
    case KC__ON_TYPE: return "a type";
    case KC__ON_FIELD: return "a field";
    case KC__ON_ENUMERATOR: return "a value of an enum";
    case KC__ON_FIELD | KC__ON_TYPE: return "a field or a type";
    case KC__ON_FIELD | KC__ON_PACKAGE: return "a field or a package";
    default: return "a type or a package";
    }
}

static int misplaced(const parts *p, kc__gen_at at, kc__marker_scope scope, kc_error *err)
{
    if (scope == KC__ON_PACKAGE)
        return kc__gen_error(err, at, "'+%.*s' is for %s, and none follows it", KC_ARG(p->name),
                             place_of(p->def->scope));
    return kc__gen_error(err, at, "'+%.*s' is for %s, not for %s", KC_ARG(p->name),
                         place_of(p->def->scope), place_of(scope));
}

static int unknown_arg(const parts *p, kc_str name, kc__gen_at at, kc_error *err)
{
    const size_t n = kc__marker_n_args(p->def);
    const char *names[KC__MARKER_MAX_ARGS];
    kc_scoped(kc_buf) all = {0};
    for (size_t i = 0; i < n; i++) {
        names[i] = p->def->args[i].name;
        kc_buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
    }
    const char *nearest = kc_str_nearest(name, names, n);
    if (nearest)
        return kc__gen_error(err, at, "'+%.*s' has no argument '%.*s'; did you mean '%s'?",
                             KC_ARG(p->name), KC_ARG(name), nearest);
    return kc__gen_error(err, at, "'+%.*s' has no argument '%.*s', only %s", KC_ARG(p->name),
                         KC_ARG(name), kc_buf_cstr(&all));
}

/* ---- arguments ---- */

static kc_str keep(kc_arena *arena, const kc_buf *text)
{
    return (kc_str){kc_arena_strndup(arena, text->p ? text->p : "", text->n), text->n};
}

static int read_arg(const parts *p, const kc__marker_arg_def *def, kc__marker_scan *scan,
                    kc__gen_at at, kc_arena *arena, kc__gen_arg *ret_arg, kc_error *err)
{
    kc_scoped(kc__marker_read) read = {0};
    kc_scoped(kc_error) why = {0};
    if (kc__marker_value(scan, def->type, &read, &why) < 0)
        return kc__gen_error(err, at, "'+%.*s'%s%s: %s", KC_ARG(p->name), def->name[0] ? ", " : "",
                             def->name, kc_error_text(&why));
    *ret_arg = (kc__gen_arg){kc_cstr(def->name), keep(arena, &read.text), keep(arena, &read.json),
                             read.quoted};
    return 0;
}

static const kc__marker_arg_def *find_arg(const kc__marker_def *def, kc_str name)
{
    for (size_t i = 0; i < kc__marker_n_args(def); i++)
        if (kc_str_is(name, def->args[i].name))
            return &def->args[i];
    return NULL;
}

/* name=value,name=value; the args array has room for all there can be, each once. */
static int read_named(const parts *p, kc__gen_at at, kc_arena *arena, kc__gen_arg *args,
                      size_t *ret_n, kc_error *err)
{
    kc__marker_scan scan = {.text = p->values};
    size_t n = 0;
    for (bool more = p->values.n > 0; more;) {
        const kc_str name = kc__marker_name(&scan);
        const kc__marker_arg_def *def = find_arg(p->def, name);
        if (!name.n || !def)
            return unknown_arg(p, name.n ? name : kc_str_sub(scan.text, scan.at, scan.text.n), at,
                               err);
        if (kc__marker_peek(&scan) != '=')
            return kc__gen_error(err, at, "'+%.*s': '=' is expected after '%.*s'", KC_ARG(p->name),
                                 KC_ARG(name));
        scan.at++;
        for (size_t i = 0; i < n; i++)
            if (kc_str_eq(args[i].name, name))
                return kc__gen_error(err, at, "'+%.*s' has '%.*s' twice", KC_ARG(p->name),
                                     KC_ARG(name));
        if (read_arg(p, def, &scan, at, arena, &args[n], err) < 0)
            return -KC_INVALID;
        n++;
        more = kc__marker_peek(&scan) == ',';
        scan.at += more;
    }
    if (kc__marker_peek(&scan))
        return kc__gen_error(err, at, "'+%.*s': ',' is expected before '%.*s'", KC_ARG(p->name),
                             KC_ARG(kc_str_sub(scan.text, scan.at, scan.text.n)));
    *ret_n = n;
    return 0;
}

static int read_value(const parts *p, kc__gen_at at, kc_arena *arena, kc__gen_arg *args,
                      size_t *ret_n, kc_error *err)
{
    kc__marker_scan scan = {.text = p->values};
    if (!p->values.n)
        return 0;
    if (read_arg(p, &p->def->args[0], &scan, at, arena, &args[0], err) < 0)
        return -KC_INVALID;
    if (kc__marker_peek(&scan))
        return kc__gen_error(err, at, "'+%.*s': there is more than its value: '%.*s'",
                             KC_ARG(p->name), KC_ARG(kc_str_sub(scan.text, scan.at, scan.text.n)));
    *ret_n = 1;
    return 0;
}

static int check_present(const parts *p, kc__gen_at at, const kc__gen_marker *marker, kc_error *err)
{
    for (size_t i = 0; i < kc__marker_n_args(p->def); i++) {
        const kc__marker_arg_def *def = &p->def->args[i];
        bool there = def->optional;
        for (size_t k = 0; k < marker->n_args; k++)
            there |= kc_str_is(marker->args[k].name, def->name);
        if (!there && !def->name[0])
            return kc__gen_error(err, at, "'+%.*s' needs a value: '+%.*s=…'", KC_ARG(p->name),
                                 KC_ARG(p->name));
        if (!there)
            return kc__gen_error(err, at, "'+%.*s' needs the argument '%s'", KC_ARG(p->name),
                                 def->name);
    }
    return 0;
}

static int read_args(const parts *p, kc__gen_at at, kc_arena *arena, kc__gen_marker *marker,
                     kc_error *err)
{
    const size_t most = kc__marker_n_args(p->def);
    if (!most)
        return p->values.p ? kc__gen_error(err, at, "'+%.*s' takes no value", KC_ARG(p->name)) : 0;
    kc__gen_arg *args = kc_arena_calloc(arena, most, sizeof(*args));
    const int read = has_named_args(p->def) ? read_named(p, at, arena, args, &marker->n_args, err)
                                            : read_value(p, at, arena, args, &marker->n_args, err);
    marker->args = args;
    return read < 0 ? read : check_present(p, at, marker, err);
}

/* Whether what follows the first word of a line that is no marker makes it one: a formatter that
 * fills comments joined them. */
static bool is_joined(kc_str name)
{
    kc_str rest = name;
    const kc_str first = kc_str_cut(&rest, ' ');
    return rest.p && kc__marker_def_find(first);
}

bool kc__marker_is_lost(kc_str line)
{
    const kc_str prefix = KC_STR(" +kubebuilder:");
    for (size_t i = 1; i + prefix.n < line.n; i++) {
        kc_str rest = kc_str_sub(line, i, line.n);
        if (!kc_str_starts(rest, prefix))
            continue;
        rest = kc_str_sub(rest, 1, rest.n);
        return kc_str_find(kc_str_cut(&rest, ' '), '=') > 0;
    }
    return false;
}

int kc__marker_parse(kc_str line, kc__gen_at at, kc__marker_scope scope, kc_arena *arena,
                     kc__gen_marker *ret_marker, kc_error *err)
{
    line = kc_str_trim(line);
    const parts p = take_apart(kc_str_sub(line, 1, line.n));
    if (!p.def && is_joined(p.name))
        return kc__gen_error(err, at,
                             "a marker needs a line of its own; was this comment filled by a "
                             "formatter?");
    if (!p.def)
        return kc__marker_is_foreign(p.name) ? 0 : unknown(p.name, at, err);
    if (!(p.def->scope & scope))
        return misplaced(&p, at, scope, err);
    kc__gen_marker marker = {
        .name = kc_arena_str(arena, p.name), .text = kc_arena_str(arena, p.values), .at = at};
    if (read_args(&p, at, arena, &marker, err) < 0)
        return -KC_INVALID;
    *ret_marker = marker;
    return 1;
}
