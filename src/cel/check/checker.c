/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checker.c: the type checker: identifiers, fields, literals, folds.
 *
 * One walk assigns a type to every node and resolves identifiers to variables; a second one
 * replaces type variables by what they were bound to. A node with an error has the error type,
 * which agrees with everything, so one mistake is reported once.
 *
 * Local variables get indexes: the evaluator finds them without names. Two that are not alive at
 * the same time may share one.
 */
#include "cel/check/check_internal.h"

void kc__cel_report_mismatch(kc__cel_checker *c, uint32_t at, const kc_cel_type *expected,
                             const kc_cel_type *found)
{
    kc_scoped(kc_buf) want = {0}, have = {0};
    kc_cel_type_write(expected, &want);
    kc_cel_type_write(found, &have);
    kc__cel_report(c->s, at, "expected type '%s' but found '%s'", kc_buf_cstr(&want),
                   kc_buf_cstr(&have));
}

bool kc__cel_qualified_name(const kc__cel_expr *expr, kc_buf *out)
{
    if (expr->kind == KC__CEL_IDENT) {
        kc_buf_append(out, expr->ident.name);
        return true;
    }
    if (expr->kind != KC__CEL_SELECT || expr->select.test_only ||
        !kc__cel_qualified_name(expr->select.operand, out))
        return false;
    kc_buf_putc(out, '.');
    kc_buf_append(out, expr->select.field);
    return true;
}

/* ---- identifiers ---- */

static const kc_cel_type *named_type(const kc_cel_env *env, kc_str name)
{
    for (size_t i = 0; i < kc__cel_n_named_types; i++)
        if (kc_str_is(name, kc__cel_named_types[i].type->name) &&
            kc__cel_env_has(env, kc__cel_named_types[i].feature))
            return kc__cel_named_types[i].type;
    return NULL;
}

/* True if a variable has a type that a schema declares. */
static bool declares_types(const kc__cel_scope *scope)
{
    for (size_t i = 0; i < scope->n_variables; i++)
        if (scope->variables[i].type->declared || scope->variables[i].type->kind == KC_CEL_OBJECT)
            return true;
    return false;
}

/* Kubernetes' declared types bring two names that the checker knows and no value has. */
static const kc_cel_type *name_without_value(const kc__cel_scope *scope, kc_str name)
{
    if (!declares_types(scope))
        return NULL;
    if (kc_str_is(name, "duration"))
        return &kc__cel_type_duration;
    return kc_str_is(name, "timestamp") ? &kc__cel_type_timestamp : NULL;
}

/* Makes `e` a reference to what the name is declared as. False when it is not declared. */
static bool resolve_name(kc__cel_checker *c, kc__cel_expr *e, kc_str name)
{
    if (name.n && name.p[0] == '.')
        name = kc_str_sub(name, 1, name.n);
    kc__cel_expr found = {.kind = KC__CEL_IDENT, .at = e->at};
    found.ident.name = kc_arena_str(c->s->arena, name);
    found.ident.variable = found.ident.local = -1;
    for (size_t i = c->locals.n; i-- > 0;) {
        if (!kc_str_eq(c->locals.items[i].name, name))
            continue;
        found.type = c->locals.items[i].type;
        found.ident.local = c->locals.items[i].index;
        *e = found;
        return true;
    }
    for (size_t i = 0; i < c->scope->n_variables; i++) {
        if (!kc_str_is(name, c->scope->variables[i].name))
            continue;
        found.type = c->scope->variables[i].type;
        found.ident.variable = (int)i;
        c->scope->used |= UINT64_C(1) << KC_MIN(i, (size_t)63);
        *e = found;
        return true;
    }
    const kc_cel_type *type = named_type(c->env, name);
    if (!type)
        type = kc__cel_constructed_type(c->env, c->s->arena, name);
    if (!type) {
        type = name_without_value(c->scope, name);
        found.ident.has_no_value = type != NULL;
    }
    if (!type)
        return false;
    found.ident.names_type = type;
    found.type = kc__cel_type_of_type(c->s->arena, type);
    *e = found;
    return true;
}

static void check_ident(kc__cel_checker *c, kc__cel_expr *e)
{
    kc_str name = e->ident.name;
    if (resolve_name(c, e, name))
        return;
    kc__cel_report(c->s, e->at, "undeclared reference to '%.*s' (in container '')", KC_ARG(name));
    e->type = &kc__cel_type_error;
}

/* ---- fields ---- */

static const kc_cel_type *object_field(kc__cel_checker *c, const kc__cel_expr *e,
                                       const kc_cel_type *object, kc_str name)
{
    const kc__cel_field *field = kc__cel_type_field(object, name);
    if (field || object->is_open)
        return field ? field->type : &kc__cel_type_dyn;
    kc__cel_report(c->s, e->at, "undefined field '%.*s'", KC_ARG(name));
    return &kc__cel_type_error;
}

static const kc_cel_type *field_of(kc__cel_checker *c, const kc__cel_expr *e,
                                   const kc_cel_type *target, kc_str field)
{
    switch (target->kind) {
    case KC_CEL_MAP: return target->params[1];
    case KC_CEL_OBJECT: return object_field(c, e, target, field);
    case KC_CEL_PARAM: kc__cel_assignable(c, &kc__cel_type_dyn, target); return &kc__cel_type_dyn;
    case KC_CEL_DYN:
    case KC_CEL_ERROR: return &kc__cel_type_dyn;
    default: break;
    }
    kc_scoped(kc_buf) name = {0};
    kc_cel_type_write(target, &name);
    /* To cel-go, types of Kubernetes are structs without fields. */
    bool is_struct = target->kind == KC_CEL_OPAQUE && strncmp(target->name, "kubernetes.", 11) == 0;
    kc__cel_report(c->s, e->at,
                   is_struct ? "unexpected failed resolution of '%s'"
                             : "type '%s' does not support field selection",
                   kc_buf_cstr(&name));
    return &kc__cel_type_dyn;
}

const kc_cel_type *kc__cel_check_field(kc__cel_checker *c, const kc__cel_expr *e,
                                       kc__cel_expr *operand, kc_str field, bool optional)
{
    kc__cel_check_expr(c, operand);
    const kc_cel_type *target = kc__cel_substitute(c, operand->type, false);
    if (target->kind == KC_CEL_OPTIONAL) {
        optional = true;
        target = target->params[0];
    }
    const kc_cel_type *type = field_of(c, e, target, field);
    return optional ? kc__cel_type_optional(c->s->arena, type) : type;
}

static void check_select(kc__cel_checker *c, kc__cel_expr *e)
{
    kc_scoped(kc_buf) name = {0};
    if (kc__cel_qualified_name(e, &name) && resolve_name(c, e, kc_buf_str(&name)))
        return;
    const kc_cel_type *type = kc__cel_check_field(c, e, e->select.operand, e->select.field, false);
    e->type = e->select.test_only ? &kc__cel_type_bool : kc__cel_substitute(c, type, false);
}

/* ---- literals ---- */

/* The type of elements so far and one more. Mixed elements are dyn; Kubernetes refuses them later
 * (validate.c). */
static const kc_cel_type *join_types(kc__cel_checker *c, const kc_cel_type *previous,
                                     const kc_cel_type *current)
{
    if (!previous)
        return current;
    if (kc__cel_assignable(c, previous, current))
        return kc__cel_most_general(previous, current);
    return &kc__cel_type_dyn;
}

/* The type inside of an optional element; one that is not optional is reported. */
static const kc_cel_type *unwrap_optional(kc__cel_checker *c, const kc__cel_expr *e)
{
    const kc_cel_type *type = e->type;
    if (type->kind == KC_CEL_OPTIONAL)
        return type->params[0];
    if (!kc__cel_type_is_dyn(type))
        kc__cel_report_mismatch(c, e->at, kc__cel_type_optional(c->s->arena, type), type);
    return type;
}

static void check_list_literal(kc__cel_checker *c, kc__cel_expr *e)
{
    const kc_cel_type *type = NULL;
    for (size_t i = 0; i < e->list.n; i++) {
        kc__cel_expr *item = e->list.items[i];
        kc__cel_check_expr(c, item);
        bool optional = e->list.optional && e->list.optional[i];
        type = join_types(c, type, optional ? unwrap_optional(c, item) : item->type);
    }
    e->type = kc__cel_type_list(c->s->arena, type ? type : kc__cel_new_type_var(c));
}

static void check_map_literal(kc__cel_checker *c, kc__cel_expr *e)
{
    const kc_cel_type *key_type = NULL, *value_type = NULL;
    for (size_t i = 0; i < e->map.n; i++) {
        kc__cel_entry *entry = &e->map.entries[i];
        kc__cel_check_expr(c, entry->key);
        key_type = join_types(c, key_type, entry->key->type);
        kc__cel_check_expr(c, entry->value);
        value_type = join_types(
            c, value_type, entry->optional ? unwrap_optional(c, entry->value) : entry->value->type);
    }
    if (!key_type) {
        key_type = kc__cel_new_type_var(c);
        value_type = kc__cel_new_type_var(c);
    }
    e->type = kc__cel_type_map(c->s->arena, key_type, value_type);
}

static void check_struct_field(kc__cel_checker *c, const kc_cel_type *type, kc__cel_entry *entry)
{
    const kc__cel_field *field = kc__cel_type_field(type, entry->field);
    const kc_cel_type *want = field ? field->type : type->is_open ? &kc__cel_type_dyn : NULL;
    kc__cel_check_expr(c, entry->value);
    const kc_cel_type *have =
        entry->optional ? unwrap_optional(c, entry->value) : entry->value->type;
    if (want && kc__cel_assignable(c, want, have))
        return;
    kc_scoped(kc_buf) wanted = {0}, found = {0};
    if (want) /* Kubernetes reports a field that does not exist as one without a type. */
        kc_cel_type_write(want, &wanted);
    kc_cel_type_write(have, &found);
    kc__cel_report(c->s, entry->at,
                   "expected type of field '%.*s' is '%s' but provided type is '%s'",
                   KC_ARG(entry->field), kc_buf_cstr(&wanted), kc_buf_cstr(&found));
}

/* duration{seconds: 1} passes the check, though it cannot be evaluated. */
static void check_time_field(kc__cel_checker *c, kc__cel_entry *entry)
{
    kc__cel_check_expr(c, entry->value);
    const kc_cel_type *have =
        entry->optional ? unwrap_optional(c, entry->value) : entry->value->type;
    if (!kc_str_is(entry->field, "seconds") && !kc_str_is(entry->field, "nanos")) {
        kc__cel_report(c->s, entry->at, "undefined field '%.*s'", KC_ARG(entry->field));
        return;
    }
    if (kc__cel_assignable(c, &kc__cel_type_int, have))
        return;
    kc_scoped(kc_buf) found = {0};
    kc_cel_type_write(have, &found);
    kc__cel_report(c->s, entry->at,
                   "expected type of field '%.*s' is 'int' but provided type is '%s'",
                   KC_ARG(entry->field), kc_buf_cstr(&found));
}

/* Only the types of mutating policies can be constructed; the messages tell why another name
 * cannot. */
static void check_struct_literal(kc__cel_checker *c, kc__cel_expr *e)
{
    kc__cel_expr named = {.kind = KC__CEL_IDENT, .at = e->at};
    bool known = resolve_name(c, &named, e->map.type_name);
    const kc_cel_type *type = known ? named.ident.names_type : NULL;
    e->type = &kc__cel_type_error;
    if (type && type->kind == KC_CEL_OBJECT) {
        e->type = type;
        for (size_t i = 0; i < e->map.n; i++)
            check_struct_field(c, type, &e->map.entries[i]);
        return;
    }
    if (type && named.ident.has_no_value) {
        e->type = type;
        for (size_t i = 0; i < e->map.n; i++)
            check_time_field(c, &e->map.entries[i]);
        return;
    }
    if (!known)
        kc__cel_report(c->s, e->at, "undeclared reference to '%.*s' (in container '')",
                       KC_ARG(e->map.type_name));
    else if (named.ident.names_type)
        kc__cel_report(c->s, e->at, "'%s' is not a message type", named.ident.names_type->name);
    else
        kc__cel_report(c->s, e->at, "'%s' is not a type", named.type->name);
    for (size_t i = 0; i < e->map.n && known; i++) {
        kc__cel_check_expr(c, e->map.entries[i].value);
        kc__cel_report(c->s, e->map.entries[i].at, "unexpected failed resolution of '%.*s'",
                       KC_ARG(e->map.type_name));
    }
}

/* ---- folds ---- */

static int add_local(kc__cel_checker *c, kc_str name, const kc_cel_type *type)
{
    int index = (int)c->locals.n;
    kc_vec_push(&c->locals, (kc__cel_local){name, type, index});
    c->scope->n_locals = KC_MAX(c->scope->n_locals, c->locals.n);
    c->most_locals = KC_MAX(c->most_locals, c->locals.n);
    return index;
}

/*
 * Checks the initial value of an accumulator, and adds the accumulator. The value is computed when
 * it is first read, amid the step or the result: the local variables of the three must not share
 * places.
 */
static void check_init(kc__cel_checker *c, kc__cel_expr *e)
{
    const size_t most = c->most_locals;
    e->fold.accu_local = add_local(c, (kc_str){0}, NULL);
    c->most_locals = c->locals.n;
    kc__cel_check_expr(c, e->fold.init);
    kc__cel_local *accu = &c->locals.items[e->fold.accu_local];
    accu->name = e->fold.accu;
    accu->type = e->fold.init->type;
    while (c->locals.n < c->most_locals)
        kc_vec_push(&c->locals, (kc__cel_local){.index = (int)c->locals.n});
    c->most_locals = KC_MAX(c->most_locals, most);
}

/* The types of the variables of a fold over a range. */
static void fold_types(kc__cel_checker *c, const kc__cel_expr *e, const kc_cel_type *range,
                       const kc_cel_type **ret_first, const kc_cel_type **ret_second)
{
    bool two = e->fold.var2.n > 0;
    *ret_second = &kc__cel_type_dyn;
    switch (range->kind) {
    case KC_CEL_LIST:
        *ret_first = two ? &kc__cel_type_int : range->params[0];
        *ret_second = range->params[0];
        return;
    case KC_CEL_MAP:
        *ret_first = range->params[0];
        *ret_second = range->params[1];
        return;
    case KC_CEL_PARAM: kc__cel_assignable(c, &kc__cel_type_dyn, range); break;
    case KC_CEL_DYN:
    case KC_CEL_ERROR: break;
    default: {
        kc_scoped(kc_buf) name = {0};
        kc_cel_type_write(range, &name);
        kc__cel_report(c->s, e->fold.range->at,
                       "expression of type '%s' cannot be range of a comprehension (must be list, "
                       "map, or dynamic)",
                       kc_buf_cstr(&name));
        *ret_first = *ret_second = &kc__cel_type_error;
        return;
    }
    }
    *ret_first = &kc__cel_type_dyn;
}

static void assert_type(kc__cel_checker *c, const kc__cel_expr *e, const kc_cel_type *type)
{
    if (!kc__cel_assignable(c, type, e->type))
        kc__cel_report_mismatch(c, e->at, type, e->type);
}

static void check_fold(kc__cel_checker *c, kc__cel_expr *e)
{
    size_t n_locals = c->locals.n;
    kc__cel_check_expr(c, e->fold.range);
    check_init(c, e);
    const kc_cel_type *range = kc__cel_substitute(c, e->fold.range->type, false), *first, *second;
    const kc_cel_type *accu_type = e->fold.init->type;
    const size_t n_with_init = c->locals.n;
    fold_types(c, e, range, &first, &second);
    e->fold.var_local = add_local(c, e->fold.var, first);
    if (e->fold.var2.n)
        e->fold.var2_local = add_local(c, e->fold.var2, second);
    kc__cel_check_expr(c, e->fold.condition);
    assert_type(c, e->fold.condition, &kc__cel_type_bool);
    kc__cel_check_expr(c, e->fold.step);
    assert_type(c, e->fold.step, accu_type);
    c->locals.n = n_with_init;
    kc__cel_check_expr(c, e->fold.result);
    c->locals.n = n_locals;
    e->type = kc__cel_substitute(c, e->fold.result->type, false);
}

/* ---- the tree ---- */

void kc__cel_check_expr(kc__cel_checker *c, kc__cel_expr *e)
{
    switch (e->kind) {
    case KC__CEL_UNSPECIFIED: e->type = &kc__cel_type_error; break;
    case KC__CEL_LITERAL: e->type = kc_cel_type_basic((kc_cel_kind)e->literal.kind); break;
    case KC__CEL_IDENT: check_ident(c, e); break;
    case KC__CEL_SELECT: check_select(c, e); break;
    case KC__CEL_CALL: kc__cel_check_call(c, e); break;
    case KC__CEL_LIST: check_list_literal(c, e); break;
    case KC__CEL_MAP: check_map_literal(c, e); break;
    case KC__CEL_STRUCT: check_struct_literal(c, e); break;
    case KC__CEL_FOLD: check_fold(c, e); break;
    }
}

static void finish_types(kc__cel_checker *c, kc__cel_expr *e)
{
    if (!e)
        return;
    if (e->type)
        e->type = kc__cel_substitute(c, e->type, true);
    switch (e->kind) {
    case KC__CEL_SELECT: finish_types(c, e->select.operand); break;
    case KC__CEL_CALL:
        finish_types(c, e->call.target);
        for (size_t i = 0; i < e->call.n_args; i++)
            finish_types(c, e->call.args[i]);
        break;
    case KC__CEL_LIST:
        for (size_t i = 0; i < e->list.n; i++)
            finish_types(c, e->list.items[i]);
        break;
    case KC__CEL_MAP:
    case KC__CEL_STRUCT:
        for (size_t i = 0; i < e->map.n; i++) {
            finish_types(c, e->map.entries[i].key);
            finish_types(c, e->map.entries[i].value);
        }
        break;
    case KC__CEL_FOLD:
        finish_types(c, e->fold.range);
        finish_types(c, e->fold.init);
        finish_types(c, e->fold.condition);
        finish_types(c, e->fold.step);
        finish_types(c, e->fold.result);
        break;
    default: break;
    }
}

bool kc__cel_check(const kc_cel_env *env, kc__cel_source *source, kc__cel_scope *scope,
                   kc__cel_expr *root)
{
    kc__cel_checker c = {.env = env, .s = source, .scope = scope};
    kc__cel_check_expr(&c, root);
    finish_types(&c, root);
    kc_vec_done(&c.locals);
    kc_vec_done(&c.bindings);
    kc_vec_done(&c.undo);
    return !kc__cel_failed(source);
}
