/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eval.c: evaluates a program.
 *
 * The walk returns a value; a failure is a value of kind KC_CEL_ERROR that passes through
 * everything but &&, ||, ?: and folds. Exceeding the budget sets ev->stopped, which nothing
 * absorbs.
 *
 * Costs are charged where cel-go charges them: 1 for an identifier with its qualifiers and 1 for
 * each qualifier, the cost of the overload for a call, nothing for constants, && and ||. An
 * identifier that is a branch of ?: or an index is not charged for itself, as in cel-go, where such
 * an attribute is resolved by its parent.
 */
#include "cel/eval/eval_internal.h"

static kc_cel_value stopped(const kc__cel_eval *ev)
{
    return kc__cel_error_const(ev->why);
}

/* ---- qualifiers ---- */

typedef enum qualified { FOUND, ABSENT, FAILED } qualified;

static qualified fail_key(kc__cel_eval *ev, const char *what, kc_cel_value key, kc_cel_value *ret)
{
    kc_scoped(kc_buf) text = {0};
    kc__cel_write_plain(key, &text);
    *ret = kc__cel_error(ev, "%s: %s", what, kc_buf_cstr(&text));
    return FAILED;
}

/* The position that a key of a list means. */
static bool list_position(kc__cel_eval *ev, kc_cel_value key, int64_t *ret, kc_cel_value *ret_error)
{
    bool valid = false;
    switch ((kc_cel_kind)key.kind) {
    case KC_CEL_INT: *ret = key.integer; return true;
    case KC_CEL_UINT:
        *ret = (int64_t)key.natural;
        valid = key.natural <= INT64_MAX;
        break;
    case KC_CEL_DOUBLE:
        valid = kc__cel_double_to_int(key.number, ret) && (double)*ret == key.number;
        break;
    default:
        *ret_error = kc__cel_error(ev, "unsupported index type '%s' in list",
                                   kc__cel_type_of_value(key)->name);
        return false;
    }
    if (valid)
        return true;
    kc_scoped(kc_buf) text = {0};
    kc__cel_write_plain(key, &text);
    *ret_error = kc__cel_error(ev, "unsupported index value %s in list", kc_buf_cstr(&text));
    return false;
}

static qualified qualify_list(kc__cel_eval *ev, kc_cel_value list, kc_cel_value key, bool test,
                              kc_cel_value *ret)
{
    int64_t at;
    if (!list_position(ev, key, &at, ret))
        return FAILED;
    if (at >= 0 && (uint64_t)at < kc__cel_list_len(list)) {
        *ret = kc__cel_list_at(ev, list, (size_t)at);
        return kc__cel_is_error(*ret) ? FAILED : FOUND;
    }
    return test ? ABSENT : fail_key(ev, "index out of bounds", key, ret);
}

/* object[key], or with `test` whether it is there. */
static qualified qualify(kc__cel_eval *ev, kc_cel_value object, kc_cel_value key, bool test,
                         kc_cel_value *ret)
{
    if (object.kind == KC_CEL_LIST)
        return qualify_list(ev, object, key, test, ret);
    if ((object.kind == KC_CEL_MAP || object.kind == KC_CEL_OBJECT) &&
        kc__cel_map_find(ev, object, key, ret))
        return kc__cel_is_error(*ret) ? FAILED : FOUND;
    return test ? ABSENT : fail_key(ev, "no such key", key, ret);
}

static kc_cel_value resolve_unobserved(kc__cel_eval *ev, const kc__cel_step *step);

/* The value of an index. To cel-go, a part of a variable is a Go value, and others are its own. */
static kc_cel_value qualifier_key(kc__cel_eval *ev, const kc__cel_qualifier *q)
{
    if (q->kind == KC__CEL_Q_FIELD)
        return q->key;
    const kc__cel_step *index = q->index;
    while (index->kind == KC__CEL_S_CONDITIONAL) {
        kc_cel_value condition = kc__cel_run(ev, index->op.a);
        if (condition.kind != KC_CEL_BOOL)
            return kc__cel_is_error(condition) ? condition : kc__cel_no_such_overload();
        index = condition.boolean ? index->op.b : index->op.c;
    }
    kc_cel_value key = resolve_unobserved(ev, index);
    if (kc__cel_is_qualifier(key) || kc__cel_is_error(key))
        return key;
    bool native = index->kind == KC__CEL_S_ATTR && index->attr.root == KC__CEL_R_VARIABLE;
    return kc__cel_error(ev, "invalid qualifier type: %s",
                         native ? kc__cel_go_native_type(key) : kc__cel_go_type(key));
}

/* ---- attributes ---- */

static kc_cel_value read_local(kc__cel_eval *ev, int index)
{
    kc__cel_slot *slot = &ev->locals[index];
    if (!slot->pending)
        return slot->value;
    const kc__cel_step *init = slot->pending;
    slot->pending = NULL;
    slot->value = kc__cel_run(ev, init);
    /* An empty list or map becomes one that the fold's step can extend in place. */
    bool list = slot->value.kind == KC_CEL_LIST && !kc__cel_list_len(slot->value);
    bool map = slot->value.kind == KC_CEL_MAP && !kc__cel_map_len(slot->value);
    if (list) {
        kc__cel_list *own = kc__cel_list_new(ev, 0);
        slot->value = own ? kc__cel_list_value(own) : stopped(ev);
    } else if (map) {
        kc__cel_map *own = kc__cel_map_new(ev, 0);
        slot->value = own ? kc__cel_map_value(own) : stopped(ev);
    }
    slot->owned = list || map;
    if (slot->owned && slot->value.kind == KC_CEL_LIST)
        slot->value.list->growing = true;
    else if (slot->owned && slot->value.kind == KC_CEL_MAP)
        slot->value.map->growing = true;
    return slot->value;
}

/* A reference to JSON that no expression has read yet reads it. */
static kc_cel_value refer_to(kc__cel_eval *ev, kc_cel_value v)
{
    if (kc__cel_is_json_container(v) && !v.reading)
        v.reading = ++ev->n_readings;
    return v;
}

static kc_cel_value read_root(kc__cel_eval *ev, const kc__cel_step *step)
{
    switch (step->attr.root) {
    case KC__CEL_R_VARIABLE: return refer_to(ev, ev->variables[step->attr.slot]);
    case KC__CEL_R_LOCAL: return read_local(ev, step->attr.slot);
    default: return kc__cel_run(ev, step->attr.operand);
    }
}

/* (condition ? a : b).field: cel-go does not charge such an attribute for itself. */
static bool starts_with_conditional(const kc__cel_step *step)
{
    return step->attr.root == KC__CEL_R_STEP && step->attr.operand->kind == KC__CEL_S_CONDITIONAL;
}

/* The value of an attribute, without the charge for itself; that of a test is at its qualifier. */
static kc_cel_value resolve_attr(kc__cel_eval *ev, const kc__cel_step *step)
{
    kc_cel_value value = read_root(ev, step);
    bool optional = false;
    if (value.kind == KC_CEL_OPTIONAL) {
        if (!value.inner)
            return step->attr.is_test ? kc__cel_bool(false) : value;
        value = kc__cel_through_native(ev, *value.inner);
        if (!step->attr.n)
            return kc__cel_optional_of(ev, value);
        optional = true;
    }
    for (size_t i = 0; i < step->attr.n && !kc__cel_is_error(value); i++) {
        const kc__cel_qualifier *q = &step->attr.qualifiers[i];
        kc_cel_value key = qualifier_key(ev, q), next = key;
        optional = optional || q->optional;
        qualified how = kc__cel_is_error(key)
                            ? FAILED
                            : qualify(ev, value, key, optional || q->test_only, &next);
        if (how == FOUND || !optional)
            kc__cel_charge(ev, 1);
        if (ev->stopped)
            return stopped(ev);
        if (how == FAILED)
            return next;
        if (q->test_only)
            return kc__cel_bool(how == FOUND);
        if (how == ABSENT)
            return step->attr.is_test ? kc__cel_bool(false) : kc__cel_none();
        value = next;
    }
    return optional && !kc__cel_is_error(value) ? kc__cel_optional_of(ev, value) : value;
}

static bool charges_itself(const kc__cel_step *step)
{
    return !starts_with_conditional(step) && !step->attr.is_test;
}

static kc_cel_value run_attr(kc__cel_eval *ev, const kc__cel_step *step)
{
    kc_cel_value value = resolve_attr(ev, step);
    if (charges_itself(step))
        kc__cel_charge(ev, 1);
    else if (step->attr.is_test && starts_with_conditional(step))
        kc__cel_charge(ev, UINT64_MAX); /* cel-go returns 1, even if no qualifier was reached. */
    return ev->stopped ? stopped(ev) : value;
}

/* A branch of ?: or an index, which is an attribute without qualifiers if it is no attribute. */
static kc_cel_value resolve_unobserved(kc__cel_eval *ev, const kc__cel_step *step)
{
    if (step->kind == KC__CEL_S_ATTR)
        return resolve_attr(ev, step);
    kc_cel_value value = kc__cel_run(ev, step);
    if (value.kind == KC_CEL_OPTIONAL && value.inner)
        return kc__cel_optional_of(ev, kc__cel_through_native(ev, *value.inner));
    return value;
}

/* ---- logic ---- */

/* && with `decides` false, || with `decides` true: an operand with that value decides, whatever the
 * other is. */
static kc_cel_value run_logic(kc__cel_eval *ev, const kc__cel_step *step, bool decides)
{
    kc_cel_value error = {0};
    bool failed = false;
    const kc__cel_step *const terms[] = {step->op.a, step->op.b};
    for (size_t i = 0; i < KC_COUNT(terms); i++) {
        kc_cel_value term = kc__cel_run(ev, terms[i]);
        if (ev->stopped)
            return stopped(ev);
        if (term.kind == KC_CEL_BOOL) {
            if (term.boolean == decides)
                return term;
        } else if (!failed) {
            error = kc__cel_is_error(term) ? term : kc__cel_no_such_overload();
            failed = true;
        }
    }
    return failed ? error : kc__cel_bool(!decides);
}

static kc_cel_value run_conditional(kc__cel_eval *ev, const kc__cel_step *step)
{
    kc_cel_value condition = kc__cel_run(ev, step->op.a);
    if (condition.kind == KC_CEL_BOOL)
        return resolve_unobserved(ev, condition.boolean ? step->op.b : step->op.c);
    return kc__cel_is_error(condition) ? condition : kc__cel_no_such_overload();
}

/* a.or(b), a.orValue(b): b is evaluated only if a has no value. */
static kc_cel_value run_or_else(kc__cel_eval *ev, const kc__cel_step *step, bool unwrap)
{
    kc_cel_value a = kc__cel_run(ev, step->op.a);
    if (a.kind != KC_CEL_OPTIONAL)
        return a;
    if (!a.inner)
        return kc__cel_run(ev, step->op.b);
    return unwrap ? *a.inner : a;
}

static kc_cel_value run_equal(kc__cel_eval *ev, const kc__cel_step *step, bool want)
{
    kc_cel_value a = kc__cel_run(ev, step->op.a), b = kc__cel_run(ev, step->op.b);
    uint64_t size_a = kc__cel_size(a), size_b = kc__cel_size(b);
    /* == of Kubernetes' types costs 1; != reads them. */
    kc__cel_charge(ev, want && a.kind == KC_CEL_OPAQUE
                           ? 1
                           : kc__cel_cost_factor(KC_MIN(size_a, size_b), KC__CEL_STRING_FACTOR));
    if (ev->stopped)
        return stopped(ev);
    if (kc__cel_is_error(a) || kc__cel_is_error(b))
        return kc__cel_is_error(a) ? a : b;
    kc_cel_value same = kc__cel_equals(ev, a, b);
    return want ? same : kc__cel_bool(!kc_cel_is_true(same));
}

static kc_cel_value run_in_set(kc__cel_eval *ev, const kc__cel_step *step)
{
    kc_cel_value value = kc__cel_run(ev, step->in_set.operand), found;
    if (kc__cel_is_error(value))
        return value;
    if (value.kind == KC_CEL_BYTES)
        return kc__cel_panic(ev, "runtime error: hash of unhashable type %s",
                             kc__cel_go_type(value));
    return kc__cel_bool(kc__cel_map_find(ev, kc__cel_map_value(step->in_set.set), value, &found));
}

/* ---- calls ---- */

static bool fits_all(kc__cel_eval *ev, const kc__cel_overload *overload, const kc_cel_value *args,
                     size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!kc__cel_value_fits(ev, &args[i], overload->args[i]))
            return false;
    return true;
}

static kc_cel_value fail_overload(kc__cel_eval *ev, const kc__cel_step *step,
                                  const kc_cel_value *args)
{
    kc_scoped(kc_buf) types = {0};
    for (size_t i = 0; i < step->call.n_args; i++)
        kc_buf_printf(&types, "%s%s", i ? ", " : "", kc__cel_type_of_value(args[i])->name);
    return kc__cel_error(ev, "no such overload: %.*s(%s)", KC_ARG(step->call.function),
                         kc_buf_cstr(&types));
}

/* The implementation for the arguments; NULL when none takes them. Of an operator cel-go has one
 * for all types: the overloads that the checker chose come first, then the others. */
static const kc__cel_overload *choose_overload(kc__cel_eval *ev, const kc__cel_step *step,
                                               const kc_cel_value *args)
{
    const kc__cel_overload *first = step->call.overloads[0];
    if (first->non_strict)
        return first;
    for (size_t i = 0; i < step->call.n_overloads; i++)
        if (fits_all(ev, step->call.overloads[i], args, step->call.n_args))
            return step->call.overloads[i];
    for (size_t i = 0; i < step->call.n_others; i++)
        if (fits_all(ev, step->call.others[i], args, step->call.n_args))
            return step->call.others[i];
    return first->checks_arguments ? first : NULL;
}

/* cel-go's panic of an argument that is no list; it names the first method that is missing. */
static void panic_of_list(kc__cel_eval *ev, kc_cel_value v)
{
    const bool adds = v.kind >= KC_CEL_INT && v.kind <= KC_CEL_DURATION;
    kc__cel_panic(ev, "interface conversion: %s is not traits.Lister: missing method %s",
                  kc__cel_go_type(v), adds ? "Contains" : "Add");
}

/* The cost is that of the overload that the checker decided on, not of the one that was called.
 * With several it is that of the function, if its overloads have one in common: the last one's. */
static uint64_t call_cost(kc__cel_eval *ev, const kc__cel_step *step, const kc_cel_value *args,
                          kc_cel_value result)
{
    const size_t n = step->call.n_overloads;
    const kc__cel_overload *overload = step->call.overloads[n - 1];
    if (!overload->actual || (n > 1 && !overload->costs_by_name))
        return 1;
    const size_t list = overload->costs_list, integer = overload->costs_int;
    if (list && args[list - 1].kind != KC_CEL_LIST)
        panic_of_list(ev, args[list - 1]);
    else if (integer && args[integer - 1].kind != KC_CEL_INT)
        kc__cel_panic(ev, "interface conversion: ref.Val is %s, not types.Int",
                      kc__cel_go_type(args[integer - 1]));
    return ev->stopped ? 0 : overload->actual(args, step->call.n_args, result);
}

static kc_cel_value run_call(kc__cel_eval *ev, const kc__cel_step *step)
{
    kc_cel_value args[KC__CEL_ARGS_MAX], result;
    const size_t n = step->call.n_args;
    const bool strict = !step->call.overloads[0]->non_strict;
    const kc__cel_overload *chosen = NULL;
    size_t failed = n;
    for (size_t i = 0; i < n; i++) {
        args[i] = kc__cel_run(ev, step->call.args[i]);
        if (ev->stopped)
            return stopped(ev);
        if (kc__cel_is_error(args[i]) && strict) {
            failed = KC_MIN(failed, i);
            if (step->call.stops_early && i + 1 < n)
                return args[i];
        }
    }
    if (failed < n) {
        result = args[failed];
    } else if ((chosen = choose_overload(ev, step, args))) {
        ev->regex = step->call.regex;
        result = chosen->impl(ev, args, n);
    } else {
        result = fail_overload(ev, step, args);
    }
    kc__cel_charge(ev, call_cost(ev, step, args, result));
    return ev->stopped ? stopped(ev) : result;
}

/* ---- constructors ---- */

/* The value of an element; false with the result of the whole in *ret when it ends the
 * construction. *ret_skip is set for an absent optional. */
static bool run_element(kc__cel_eval *ev, const kc__cel_step *step, bool optional, bool *ret_skip,
                        kc_cel_value *ret)
{
    *ret = kc__cel_run(ev, step);
    *ret_skip = false;
    if (kc__cel_is_error(*ret))
        return false;
    if (!optional)
        return true;
    if (ret->kind != KC_CEL_OPTIONAL) {
        kc_scoped(kc_buf) text = {0};
        kc__cel_write_plain(*ret, &text);
        *ret =
            kc__cel_error(ev, "cannot initialize optional list element from non-optional value %s",
                          kc_buf_cstr(&text));
        return false;
    }
    *ret_skip = !ret->inner;
    if (ret->inner)
        *ret = *ret->inner;
    return true;
}

static kc_cel_value run_list(kc__cel_eval *ev, const kc__cel_step *step)
{
    kc__cel_list *list = kc__cel_list_new(ev, step->list.n);
    for (size_t i = 0; i < step->list.n && list; i++) {
        kc_cel_value item;
        bool skip;
        if (!run_element(ev, step->list.items[i], step->list.optional && step->list.optional[i],
                         &skip, &item)) {
            kc__cel_charge(ev, 10);
            return ev->stopped ? stopped(ev) : item;
        }
        if (!skip)
            kc__cel_list_append(ev, list, item);
    }
    kc__cel_charge(ev, 10);
    return ev->stopped ? stopped(ev) : kc__cel_list_value(list);
}

/* A map, or an object, which is a map with a type. */
static kc_cel_value run_map(kc__cel_eval *ev, const kc__cel_step *step)
{
    const uint64_t cost = step->map.type ? 40 : 30;
    kc__cel_map *map = kc__cel_map_new(ev, step->map.n);
    for (size_t i = 0; i < step->map.n && map; i++) {
        kc_cel_value key = kc__cel_run(ev, step->map.keys[i]), value;
        bool skip;
        value = key;
        if (kc__cel_is_error(key) ||
            !run_element(ev, step->map.values[i], step->map.optional && step->map.optional[i],
                         &skip, &value)) {
            kc__cel_charge(ev, cost);
            return ev->stopped ? stopped(ev) : value;
        }
        if (skip)
            kc__cel_map_remove(ev, map, key);
        else
            kc__cel_map_put(ev, map, key, value);
    }
    kc__cel_charge(ev, cost);
    if (ev->stopped)
        return stopped(ev);
    if (step->map.type && step->map.type->kind != KC_CEL_OBJECT)
        return kc__cel_error(ev, "unknown type '%s'",
                             step->map.type->kind == KC_CEL_DURATION ? "duration" : "timestamp");
    kc_cel_value value = kc__cel_map_value(map);
    map->type = step->map.type;
    value.kind = map->type ? KC_CEL_OBJECT : KC_CEL_MAP;
    return value;
}

/* ---- folds ---- */

/* Runs the steps over the elements. The accumulator is in its slot afterwards. */
static void fold_elements(kc__cel_eval *ev, const kc__cel_step *step, kc__cel_iter *iter)
{
    bool two = step->fold.var2 >= 0, list = iter->over.kind == KC_CEL_LIST;
    kc__cel_slot *var = &ev->locals[step->fold.var], *accu = &ev->locals[step->fold.accu];
    kc_cel_value first, second = {0};
    for (int64_t i = 0; kc__cel_iter_next(ev, iter, &first, two && !list ? &second : NULL); i++) {
        if (two)
            ev->locals[step->fold.var2] = (kc__cel_slot){.value = list ? first : second};
        *var = (kc__cel_slot){.value = two && list ? kc__cel_int(i) : first};
        kc_cel_value condition = kc__cel_run(ev, step->fold.condition);
        if (condition.kind == KC_CEL_BOOL && !condition.boolean)
            return;
        kc_cel_value next = kc__cel_run(ev, step->fold.step);
        if (ev->stopped)
            return;
        accu->value = next;
        accu->pending = NULL;
    }
}

static void stop_growing(kc_cel_value v)
{
    if (v.kind == KC_CEL_LIST && v.form == KC__CEL_OWN)
        v.list->growing = false;
    else if (v.kind == KC_CEL_MAP && v.form == KC__CEL_OWN)
        v.map->growing = false;
}

static kc_cel_value run_fold(kc__cel_eval *ev, const kc__cel_step *step)
{
    kc_cel_value range = kc__cel_run(ev, step->fold.range);
    kc__cel_iter iter;
    if (kc__cel_is_error(range))
        return range;
    if (!kc__cel_iter_begin(ev, range, &iter))
        return step->fold.var2 >= 0
                   ? kc__cel_error(ev, "unsupported comprehension range type: %s",
                                   kc__cel_go_type(range))
                   : kc__cel_error(ev, "got '%s', expected iterable type", kc__cel_go_type(range));
    kc__cel_slot *accu = &ev->locals[step->fold.accu];
    *accu = (kc__cel_slot){.pending = step->fold.init};
    fold_elements(ev, step, &iter);
    kc_cel_value result = ev->stopped ? stopped(ev) : kc__cel_run(ev, step->fold.result);
    if (accu->owned)
        stop_growing(accu->value);
    stop_growing(result);
    return result;
}

kc_cel_value kc__cel_run(kc__cel_eval *ev, const kc__cel_step *step)
{
    switch (step->kind) {
    case KC__CEL_S_CONST: return step->constant;
    case KC__CEL_S_ATTR: return run_attr(ev, step);
    case KC__CEL_S_CALL: return run_call(ev, step);
    case KC__CEL_S_AND: return run_logic(ev, step, false);
    case KC__CEL_S_OR: return run_logic(ev, step, true);
    case KC__CEL_S_CONDITIONAL: return run_conditional(ev, step);
    case KC__CEL_S_EQUAL: return run_equal(ev, step, true);
    case KC__CEL_S_NOT_EQUAL: return run_equal(ev, step, false);
    case KC__CEL_S_OR_OPTIONAL: return run_or_else(ev, step, false);
    case KC__CEL_S_OR_VALUE: return run_or_else(ev, step, true);
    case KC__CEL_S_IN_SET: return run_in_set(ev, step);
    case KC__CEL_S_LIST: return run_list(ev, step);
    case KC__CEL_S_MAP: return run_map(ev, step);
    case KC__CEL_S_FOLD: return run_fold(ev, step);
    }
    return kc__cel_no_such_overload();
}
