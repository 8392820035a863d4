/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markers.c: parses a line of a comment as a marker.
 *
 *     +kubebuilder:validation:Maximum=10          the name is everything before '='
 *     +kubebuilder:printcolumn:name=A,type=string the name ends before the first argument's
 *
 * The table tells the two apart: a marker with named arguments is looked up without the last part
 * of its name. Pure: no files, no libclang; the fuzzer calls this.
 */
#include "generate/markers/markers.h"

#include "generate/markers/marker_value.h"

bool kc__gen_marker_is_line(kc_str line)
{
    line = kc_str_trim(line);
    return line.n > 0 && line.p[0] == '+';
}

/* A line split into parts. */
typedef struct gen_markers_parts {
    kc_str name;   /* The part that the table knows. */
    kc_str values; /* From the first argument's name on, or the value. */
    const kc__gen_marker_def *def;
} gen_markers_parts;

static bool has_named_args(const kc__gen_marker_def *def)
{
    return def->args[0].name && def->args[0].name[0];
}

static gen_markers_parts take_apart(kc_str line)
{
    kc_str rest = line;
    const kc_str full_name = kc_str_cut(&rest, '=');
    const ptrdiff_t colon = kc_str_rfind(full_name, ':');
    gen_markers_parts p = {
        .name = full_name, .values = rest, .def = kc__gen_marker_def_find(full_name)};
    if (p.def || !rest.p || colon < 0)
        return p;
    const kc_str shorter = kc_str_sub(full_name, 0, (size_t)colon);
    const kc__gen_marker_def *def = kc__gen_marker_def_find(shorter);
    if (def && has_named_args(def))
        p = (gen_markers_parts){shorter, kc_str_sub(line, (size_t)colon + 1, line.n), def};
    return p;
}

/* ---- errors ---- */

static int gen_markers_unknown(kc_str name, kc__gen_at at, kc_error *err)
{
    const kc_str items = KC_STR("kubebuilder:validation:items:");
    kc_autofree char *plain = NULL;
    const char *nearest = kc__gen_marker_nearest(name);
    if (kc_str_starts(name, items)) {
        plain =
            kc_asprintf("kubebuilder:validation:%.*s", KC_ARG(kc_str_sub(name, items.n, name.n)));
        nearest = kc__gen_marker_nearest(kc_cstr(plain));
        if (nearest && kc__gen_marker_def_find(kc_cstr(nearest))->of_items)
            return kc__gen_error(err, at, "unknown marker '+%.*s'; did you mean '+%s%s'?",
                                 KC_ARG(name), items.p, strrchr(nearest, ':') + 1);
    }
    if (nearest)
        return kc__gen_error(err, at, "unknown marker '+%.*s'; did you mean '+%s'?", KC_ARG(name),
                             nearest);
    return kc__gen_error(err, at, "unknown marker '+%.*s'", KC_ARG(name));
}

static const char *gen_markers_position_of(unsigned scope)
{
    switch (scope) {
    case KC__GEN_SCOPE_PACKAGE: return "a package (a comment of groupversion_info.h)";
    case KC__GEN_SCOPE_TYPE: return "a type";
    case KC__GEN_SCOPE_FIELD: return "a field";
    case KC__GEN_SCOPE_ENUMERATOR: return "a value of an enum";
    case KC__GEN_SCOPE_FIELD | KC__GEN_SCOPE_TYPE: return "a field or a type";
    case KC__GEN_SCOPE_FIELD | KC__GEN_SCOPE_PACKAGE: return "a field or a package";
    default: return "a type or a package";
    }
}

static int misplaced(const gen_markers_parts *p, kc__gen_at at, kc__gen_marker_scope scope,
                     kc_error *err)
{
    if (scope == KC__GEN_SCOPE_PACKAGE)
        return kc__gen_error(err, at, "'+%.*s' applies to %s, and none follows it", KC_ARG(p->name),
                             gen_markers_position_of(p->def->scope));
    return kc__gen_error(err, at, "'+%.*s' applies to %s, not to %s", KC_ARG(p->name),
                         gen_markers_position_of(p->def->scope), gen_markers_position_of(scope));
}

static int unknown_arg(const gen_markers_parts *p, kc_str name, kc__gen_at at, kc_error *err)
{
    const size_t n = kc__gen_marker_n_args(p->def);
    const char *names[KC__GEN_MARKER_MAX_ARGS];
    kc_scoped(kc_buf) all = {0};
    for (size_t i = 0; i < n; i++) {
        names[i] = p->def->args[i].name;
        kc_buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
    }
    const char *nearest = kc_str_nearest(name, names, n);
    if (nearest)
        return kc__gen_error(err, at, "'+%.*s' has no argument '%.*s'; did you mean '%s'?",
                             KC_ARG(p->name), KC_ARG(name), nearest);
    return kc__gen_error(err, at, "'+%.*s' has no argument '%.*s'; arguments: %s", KC_ARG(p->name),
                         KC_ARG(name), kc_buf_cstr(&all));
}

/* ---- arguments ---- */

static kc_str gen_markers_retain(kc_arena *arena, const kc_buf *text)
{
    return (kc_str){kc_arena_strndup(arena, text->p ? text->p : "", text->n), text->n};
}

static int read_arg(const gen_markers_parts *p, const kc__gen_marker_arg_def *def,
                    kc__gen_marker_scan *scan, kc__gen_at at, kc_arena *arena, kc__gen_arg *ret_arg,
                    kc_error *err)
{
    kc_scoped(kc__gen_marker_read) read = {0};
    kc_scoped(kc_error) why = {0};
    if (kc__gen_marker_value(scan, def->type, &read, &why) < 0)
        return kc__gen_error(err, at, "'+%.*s'%s%s: %s", KC_ARG(p->name), def->name[0] ? ", " : "",
                             def->name, kc_error_text(&why));
    *ret_arg = (kc__gen_arg){kc_cstr(def->name), gen_markers_retain(arena, &read.text),
                             gen_markers_retain(arena, &read.json), read.quoted};
    return 0;
}

static const kc__gen_marker_arg_def *find_arg(const kc__gen_marker_def *def, kc_str name)
{
    for (size_t i = 0; i < kc__gen_marker_n_args(def); i++)
        if (kc_str_is(name, def->args[i].name))
            return &def->args[i];
    return NULL;
}

/* name=value,name=value; the args array has room for each argument once. */
static int read_named(const gen_markers_parts *p, kc__gen_at at, kc_arena *arena, kc__gen_arg *args,
                      size_t *ret_n, kc_error *err)
{
    kc__gen_marker_scan scan = {.text = p->values};
    size_t n = 0;
    for (bool more = p->values.n > 0; more;) {
        const kc_str name = kc__gen_marker_name(&scan);
        const kc__gen_marker_arg_def *def = find_arg(p->def, name);
        if (!name.n || !def)
            return unknown_arg(p, name.n ? name : kc_str_sub(scan.text, scan.at, scan.text.n), at,
                               err);
        if (kc__gen_marker_peek(&scan) != '=')
            return kc__gen_error(err, at, "'+%.*s': expected '=' after '%.*s'", KC_ARG(p->name),
                                 KC_ARG(name));
        scan.at++;
        for (size_t i = 0; i < n; i++)
            if (kc_str_eq(args[i].name, name))
                return kc__gen_error(err, at, "'+%.*s' has '%.*s' twice", KC_ARG(p->name),
                                     KC_ARG(name));
        if (read_arg(p, def, &scan, at, arena, &args[n], err) < 0)
            return kc_error_result(err);
        n++;
        more = kc__gen_marker_peek(&scan) == ',';
        scan.at += more;
    }
    if (kc__gen_marker_peek(&scan))
        return kc__gen_error(err, at, "'+%.*s': expected ',' before '%.*s'", KC_ARG(p->name),
                             KC_ARG(kc_str_sub(scan.text, scan.at, scan.text.n)));
    *ret_n = n;
    return 0;
}

static int gen_markers_read_value(const gen_markers_parts *p, kc__gen_at at, kc_arena *arena,
                                  kc__gen_arg *args, size_t *ret_n, kc_error *err)
{
    kc__gen_marker_scan scan = {.text = p->values};
    if (!p->values.n)
        return 0;
    if (read_arg(p, &p->def->args[0], &scan, at, arena, &args[0], err) < 0)
        return kc_error_result(err);
    if (kc__gen_marker_peek(&scan))
        return kc__gen_error(err, at, "'+%.*s': unexpected text after its value: '%.*s'",
                             KC_ARG(p->name), KC_ARG(kc_str_sub(scan.text, scan.at, scan.text.n)));
    *ret_n = 1;
    return 0;
}

static int check_present(const gen_markers_parts *p, kc__gen_at at, const kc__gen_marker *marker,
                         kc_error *err)
{
    for (size_t i = 0; i < kc__gen_marker_n_args(p->def); i++) {
        const kc__gen_marker_arg_def *def = &p->def->args[i];
        bool there = def->optional;
        for (size_t k = 0; k < marker->n_args; k++)
            there |= kc_str_is(marker->args[k].name, def->name);
        if (!there && !def->name[0])
            return kc__gen_error(err, at, "'+%.*s' requires a value: '+%.*s=…'", KC_ARG(p->name),
                                 KC_ARG(p->name));
        if (!there)
            return kc__gen_error(err, at, "'+%.*s' requires the argument '%s'", KC_ARG(p->name),
                                 def->name);
    }
    return 0;
}

static int read_args(const gen_markers_parts *p, kc__gen_at at, kc_arena *arena,
                     kc__gen_marker *marker, kc_error *err)
{
    const size_t most = kc__gen_marker_n_args(p->def);
    if (!most)
        return p->values.p ? kc__gen_error(err, at, "'+%.*s' takes no value", KC_ARG(p->name)) : 0;
    kc__gen_arg *args = kc_arena_calloc(arena, most, sizeof(*args));
    const int read = has_named_args(p->def)
                         ? read_named(p, at, arena, args, &marker->n_args, err)
                         : gen_markers_read_value(p, at, arena, args, &marker->n_args, err);
    marker->args = args;
    return read < 0 ? read : check_present(p, at, marker, err);
}

/* Whether the text after the first word of a plain line contains a marker with a value: a formatter
 * joined the lines. */
static bool is_joined(kc_str name)
{
    kc_str rest = name;
    const kc_str first = kc_str_cut(&rest, ' ');
    return rest.p && kc__gen_marker_def_find(first);
}

bool kc__gen_marker_is_misplaced(kc_str line)
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

int kc__gen_marker_parse(kc_str line, kc__gen_at at, kc__gen_marker_scope scope, kc_arena *arena,
                         kc__gen_marker *ret_marker, kc_error *err)
{
    line = kc_str_trim(line);
    const gen_markers_parts p = take_apart(kc_str_sub(line, 1, line.n));
    if (!p.def && is_joined(p.name))
        return kc__gen_error(err, at,
                             "a marker needs a line of its own; was this comment filled by a "
                             "formatter?");
    if (!p.def)
        return kc__gen_marker_is_foreign(p.name) ? 0 : gen_markers_unknown(p.name, at, err);
    if (!(p.def->scope & scope))
        return misplaced(&p, at, scope, err);
    kc__gen_marker marker = {
        .name = kc_arena_str(arena, p.name), .text = kc_arena_str(arena, p.values), .at = at};
    if (read_args(&p, at, arena, &marker, err) < 0)
        return kc_error_result(err);
    *ret_marker = marker;
    return 1;
}
