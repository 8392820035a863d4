/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comparison.c: programs that only compare a part of a variable with a text, such as
 * object.metadata.namespace == "x". Match conditions of policies often do, and differ in the text
 * alone: a caller that evaluates many of them reads the part once and compares texts.
 */
#include "cel/eval/eval_internal.h"

/* A part of a variable: fields by name, none of them optional. */
static bool is_part(const kc__cel_step *step)
{
    if (step->kind != KC__CEL_S_ATTR || step->attr.root != KC__CEL_R_VARIABLE || !step->attr.n)
        return false;
    for (size_t i = 0; i < step->attr.n; i++) {
        const kc__cel_qualifier *q = &step->attr.qualifiers[i];
        if (q->kind != KC__CEL_Q_FIELD || q->optional || q->test_only ||
            q->key.kind != KC_CEL_STRING)
            return false;
    }
    return true;
}

static bool is_text(const kc__cel_step *step)
{
    return step->kind == KC__CEL_S_CONST && step->constant.kind == KC_CEL_STRING;
}

/* The part and the text of a comparison, which may stand in any order. */
static bool take_apart(const kc__cel_step *root, const kc__cel_step **ret_part,
                       const kc__cel_step **ret_text)
{
    if (root->kind != KC__CEL_S_EQUAL && root->kind != KC__CEL_S_NOT_EQUAL)
        return false;
    const bool reversed = is_text(root->op.a);
    *ret_part = reversed ? root->op.b : root->op.a;
    *ret_text = reversed ? root->op.a : root->op.b;
    return is_part(*ret_part) && is_text(*ret_text);
}

static uint32_t hash_part(const kc__cel_step *part)
{
    uint64_t hash = (uint64_t)part->attr.slot;
    for (size_t i = 0; i < part->attr.n; i++)
        hash = kc_str_hash(part->attr.qualifiers[i].key.text, hash);
    return (uint32_t)hash;
}

bool kc_cel_program_comparison(const kc_cel_program *program, kc_cel_comparison *ret)
{
    const kc__cel_step *part, *text;
    if (!take_apart(program->root, &part, &text))
        return false;
    *ret = (kc_cel_comparison){.variable = (size_t)part->attr.slot,
                               .part = hash_part(part),
                               .text = text->constant.text,
                               .negated = program->root->kind == KC__CEL_S_NOT_EQUAL};
    return true;
}

bool kc_cel_program_same_part(const kc_cel_program *a, const kc_cel_program *b)
{
    const kc__cel_step *x, *y, *text;
    if (a == b)
        return true;
    if (!take_apart(a->root, &x, &text) || !take_apart(b->root, &y, &text) ||
        x->attr.slot != y->attr.slot || x->attr.n != y->attr.n)
        return false;
    for (size_t i = 0; i < x->attr.n; i++)
        if (!kc_str_eq(x->attr.qualifiers[i].key.text, y->attr.qualifiers[i].key.text))
            return false;
    return true;
}

bool kc_cel_program_read_part(const kc_cel_program *program, kc_cel_value variable, kc_str *ret)
{
    const kc__cel_step *part, *text;
    if (!take_apart(program->root, &part, &text) || variable.kind != KC_CEL_DYN ||
        variable.json.type->kind != KC_CEL_DYN)
        return false;
    const kc_value *json = variable.json.json;
    for (size_t i = 0; i < part->attr.n && json; i++)
        json = kc_value_type(json) == KC_JSON_OBJECT
                   ? kc_value_get_str(json, part->attr.qualifiers[i].key.text)
                   : NULL;
    if (!json || kc_value_type(json) != KC_JSON_STRING)
        return false;
    *ret = kc_value_as_str(json);
    return true;
}
