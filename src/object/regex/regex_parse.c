/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regex_parse.c: parses the syntax of RE2 as Go's regexp.Compile accepts it, with Go's messages.
 *
 * The parser keeps a stack of open groups instead of recursing, so a hostile pattern cannot exhaust
 * the stack of the thread. Every atom that consumes a code point becomes a set of ranges: literals,
 * classes, the dot. Repetitions are kept as nodes and expanded by regex_program.c.
 *
 * Limits, as in Go: a tree is at most 1000 levels high, and nested counted repetitions multiply to
 * 1000 at most. The memory of the tree is bounded too.
 *
 * A message quotes the offending part of the pattern. To add an escape sequence, see
 * regex_escape.c.
 */
#include "object/regex/regex_parse_internal.h"

#include "kc/ascii.h"
#include "kc/utf8.h"

enum { MAX_HEIGHT = 1000, MAX_REPEAT = 1000, MAX_TREE_BYTES = 8 << 20 };

bool kc__regex_fail(kc__regex_parser *p, const char *what, const char *from, const char *to)
{
    kc_buf_printf(p->why, "error parsing regexp: %s: `%.*s`", what, (int)(to - from), from);
    return false;
}

bool kc__regex_fail_all(kc__regex_parser *p, const char *what)
{
    return kc__regex_fail(p, what, p->pattern.p, p->end);
}

size_t kc__regex_step(const kc__regex_parser *p, const char *at)
{
    size_t n = kc_utf8_next(kc_str_of(at, (size_t)(p->end - at)), NULL);
    return n ? n : 1;
}

static kc__regex_node *new_regex_node(kc__regex_parser *p, kc__regex_op op)
{
    kc__regex_node *node = kc_arena_new(&p->tree->arena, kc__regex_node);
    node->op = op;
    node->height = 1;
    return node;
}

static kc__regex_frame *top_frame(kc__regex_parser *p)
{
    return kc_vec_last(&p->frames);
}

/* Appends an atom to the current concatenation. */
static void push_atom(kc__regex_parser *p, kc__regex_node *node)
{
    kc_vec_push(&top_frame(p)->concat, node);
}

static void push_op(kc__regex_parser *p, kc__regex_op op)
{
    push_atom(p, new_regex_node(p, op));
}

/* Appends a set, which it brings to normal form and empties. */
void kc__regex_push_set(kc__regex_parser *p, kc__regex_set *set)
{
    kc__regex_set_normalize(set);
    kc__regex_node *node = new_regex_node(p, KC__REGEX_SET);
    kc__regex_range *ranges = kc_arena_alloc(&p->tree->arena, set->n * sizeof(*ranges));
    if (set->n)
        memcpy(ranges, set->items, set->n * sizeof(*ranges));
    node->ranges = ranges;
    node->n_ranges = set->n;
    kc_vec_clear(set);
    push_atom(p, node);
}

void kc__regex_push_literal(kc__regex_parser *p, uint32_t code)
{
    if (p->flags & KC__REGEX_FOLD)
        kc__regex_set_add_folded(&p->set, code, code);
    else
        kc__regex_set_add(&p->set, code, code);
    kc__regex_push_set(p, &p->set);
}

static void push_dot(kc__regex_parser *p)
{
    if (p->flags & KC__REGEX_DOT_NL) {
        kc__regex_set_add(&p->set, 0, KC__REGEX_RUNE_MAX);
    } else {
        kc__regex_set_add(&p->set, 0, '\n' - 1);
        kc__regex_set_add(&p->set, '\n' + 1, KC__REGEX_RUNE_MAX);
    }
    kc__regex_push_set(p, &p->set);
}

/* ---- groups ---- */

/* Replaces the nodes of a list by one node of them; a list of one node is that node. */
static kc__regex_node *join_nodes(kc__regex_parser *p, kc__regex_op op, kc__regex_nodes *list)
{
    kc__regex_node *node = NULL;
    if (list->n == 1) {
        node = list->items[0];
    } else if (!list->n) {
        node = new_regex_node(p, KC__REGEX_EMPTY);
    } else {
        node = new_regex_node(p, op);
        node->subs = kc_arena_alloc(&p->tree->arena, list->n * sizeof(*node->subs));
        memcpy(node->subs, list->items, list->n * sizeof(*node->subs));
        node->n_subs = list->n;
        kc_vec_each (list, sub)
            node->height = KC_MAX(node->height, (*sub)->height + 1);
    }
    kc_vec_clear(list);
    return node;
}

static bool open_frame(kc__regex_parser *p, unsigned group, unsigned flags)
{
    if (p->frames.n > MAX_HEIGHT)
        return kc__regex_fail_all(p, "expression nests too deeply");
    kc_vec_push(&p->frames, (kc__regex_frame){.group = group, .flags = p->flags});
    p->flags = flags;
    return true;
}

static void end_alternative(kc__regex_parser *p)
{
    kc__regex_frame *frame = top_frame(p);
    kc__regex_node *alternative = join_nodes(p, KC__REGEX_CONCAT, &frame->concat);
    kc_vec_push(&top_frame(p)->alternatives, alternative);
}

/* The content of the innermost group; the frame is removed. */
static kc__regex_node *close_frame(kc__regex_parser *p)
{
    end_alternative(p);
    kc__regex_frame *frame = top_frame(p);
    kc__regex_node *node = join_nodes(p, KC__REGEX_ALTERNATE, &frame->alternatives);
    kc_vec_done(&frame->concat);
    kc_vec_done(&frame->alternatives);
    p->flags = frame->flags;
    (void)kc_vec_pop(&p->frames);
    return node;
}

static bool parse_group_end(kc__regex_parser *p)
{
    if (p->frames.n == 1)
        return kc__regex_fail_all(p, "unexpected )");
    unsigned group = top_frame(p)->group;
    kc__regex_node *node = close_frame(p);
    if (group) {
        kc__regex_node *capture = new_regex_node(p, KC__REGEX_GROUP);
        capture->sub = node;
        capture->group = group;
        capture->height = node->height + 1;
        node = capture;
    }
    push_atom(p, node);
    p->at++;
    return true;
}

static bool parse_named_group(kc__regex_parser *p, const char *name)
{
    const char *close = memchr(p->at, '>', (size_t)(p->end - p->at));
    if (!close)
        return kc__regex_fail(p, "invalid named capture", p->at, p->end);
    bool valid = name < close;
    for (const char *c = name; c < close; c++)
        valid &= kc_is_alnum(*c) || *c == '_';
    if (!valid)
        return kc__regex_fail(p, "invalid named capture", p->at, close + 1);
    p->at = close + 1;
    return open_frame(p, ++p->tree->groups, p->flags);
}

static unsigned flag_of_letter(char letter)
{
    switch (letter) {
    case 'i': return KC__REGEX_FOLD;
    case 'm': return KC__REGEX_MULTI_LINE;
    case 's': return KC__REGEX_DOT_NL;
    case 'U': return KC__REGEX_LAZY;
    default: return 0;
    }
}

/* (?i), (?i-s:…), (?:…). */
static bool parse_flags(kc__regex_parser *p)
{
    const char *from = p->at, *c = from + 2;
    unsigned flags = p->flags;
    bool negative = false, any = false;
    for (; c < p->end; c++) {
        unsigned flag = flag_of_letter(*c);
        if (flag) {
            flags = negative ? flags & ~flag : flags | flag;
            any = true;
        } else if (*c == '-' && !negative) {
            negative = true;
            any = false;
        } else {
            break;
        }
    }
    if (c == p->end || (*c != ':' && *c != ')') || (negative && !any))
        return kc__regex_fail(p, "invalid or unsupported Perl syntax", from,
                              c == p->end ? c : c + kc__regex_step(p, c));
    p->at = c + 1;
    if (*c == ':')
        return open_frame(p, 0, flags);
    p->flags = flags;
    return true;
}

static bool parse_group(kc__regex_parser *p)
{
    size_t left = (size_t)(p->end - p->at);
    if (left < 2 || p->at[1] != '?') {
        p->at++;
        return open_frame(p, ++p->tree->groups, p->flags);
    }
    if (left > 4 && p->at[2] == 'P' && p->at[3] == '<')
        return parse_named_group(p, p->at + 4);
    if (left > 3 && p->at[2] == '<')
        return parse_named_group(p, p->at + 3);
    return parse_flags(p);
}

/* ---- repetitions ---- */

/* A number without leading zeros; -1 when it is too large. */
static bool parse_count(const kc__regex_parser *p, const char **at, int *ret)
{
    const char *from = *at;
    int n = 0;
    for (; *at < p->end && kc_is_digit(**at); (*at)++)
        n = n < 0 || n > MAX_REPEAT * 100 ? -1 : n * 10 + (**at - '0');
    *ret = n;
    return *at > from && (*from != '0' || *at == from + 1);
}

/* {n}, {n,} or {n,m}: max is -1 without a bound, min -1 when a number is too large. */
static bool parse_braces(const kc__regex_parser *p, int *ret_min, int *ret_max,
                         const char **ret_after)
{
    const char *at = p->at + 1;
    int min, max;
    if (!parse_count(p, &at, &min) || at == p->end)
        return false;
    max = min;
    if (*at == ',') {
        at++;
        if (at < p->end && *at == '}')
            max = -1;
        else if (!parse_count(p, &at, &max))
            return false;
        else if (max < 0)
            min = -1;
    }
    if (at == p->end || *at != '}')
        return false;
    *ret_min = min;
    *ret_max = max;
    *ret_after = at + 1;
    return true;
}

/* True if the counted repetitions below multiply to `left` at most. The depth of the recursion is
 * the height of the tree. */
static bool repeats_fit(const kc__regex_node *node, int left)
{
    if (node->op == KC__REGEX_REPEAT) {
        int times = node->max < 0 ? node->min : node->max;
        if (node->max == 0)
            return true;
        if (times > left)
            return false;
        left = times > 0 ? left / times : left;
    }
    if (node->sub)
        return repeats_fit(node->sub, left);
    for (size_t i = 0; i < node->n_subs; i++)
        if (!repeats_fit(node->subs[i], left))
            return false;
    return true;
}

static bool push_repeat(kc__regex_parser *p, int min, int max, const char *after)
{
    const char *from = p->at;
    bool lazy = p->flags & KC__REGEX_LAZY;
    if (after < p->end && *after == '?') {
        after++;
        lazy = !lazy;
    }
    if (p->last_repeat)
        return kc__regex_fail(p, "invalid nested repetition operator", p->last_repeat, after);
    kc__regex_nodes *concat = &top_frame(p)->concat;
    if (!concat->n)
        return kc__regex_fail(p, "missing argument to repetition operator", from, after);
    kc__regex_node *node = new_regex_node(p, KC__REGEX_REPEAT);
    node->sub = kc_vec_pop(concat);
    node->min = min;
    node->max = max;
    node->lazy = lazy;
    node->height = node->sub->height + 1;
    if ((min >= 2 || max >= 2) && !repeats_fit(node, MAX_REPEAT))
        return kc__regex_fail(p, "invalid repeat count", from, after);
    push_atom(p, node);
    p->at = after;
    p->repeat = from;
    return true;
}

static bool parse_brace(kc__regex_parser *p)
{
    int min, max;
    const char *after;
    if (!parse_braces(p, &min, &max, &after)) {
        kc__regex_push_literal(p, '{');
        p->at++;
        return true;
    }
    if (min < 0 || min > MAX_REPEAT || max > MAX_REPEAT || (max >= 0 && min > max))
        return kc__regex_fail(p, "invalid repeat count", p->at, after);
    return push_repeat(p, min, max, after);
}

/* ---- the pattern ---- */

static bool parse_literal(kc__regex_parser *p)
{
    uint32_t code = 0;
    size_t n = kc_utf8_next(kc_str_of(p->at, (size_t)(p->end - p->at)), &code);
    if (!n)
        return kc__regex_fail_all(p, "invalid UTF-8");
    kc__regex_push_literal(p, code);
    p->at += n;
    return true;
}

static bool push_simple(kc__regex_parser *p, char c)
{
    bool lines = p->flags & KC__REGEX_MULTI_LINE;
    p->at++;
    if (c == '|')
        end_alternative(p);
    else if (c == '.')
        push_dot(p);
    else if (c == '^')
        push_op(p, lines ? KC__REGEX_BEGIN_LINE : KC__REGEX_BEGIN_TEXT);
    else
        push_op(p, lines ? KC__REGEX_END_LINE : KC__REGEX_END_TEXT);
    return true;
}

/* \A, \b, \B, \z and \Q…\E; other escapes are those of a single code point or a class. */
static bool parse_backslash(kc__regex_parser *p)
{
    static const char letters[] = "AbBz";
    static const kc__regex_op ops[] = {KC__REGEX_BEGIN_TEXT, KC__REGEX_WORD_BOUNDARY,
                                       KC__REGEX_NO_WORD_BOUNDARY, KC__REGEX_END_TEXT};
    char c = p->at + 1 < p->end ? p->at[1] : 0;
    const char *letter = c ? strchr(letters, c) : NULL;
    if (letter) {
        p->at += 2;
        push_op(p, ops[letter - letters]);
        return true;
    }
    if (c == 'Q') {
        p->at += 2;
        p->quoting = true;
        return true;
    }
    return kc__regex_parse_escape(p);
}

static bool parse_quoted(kc__regex_parser *p)
{
    if (p->at[0] == '\\' && p->at + 1 < p->end && p->at[1] == 'E') {
        p->at += 2;
        p->quoting = false;
        return true;
    }
    return parse_literal(p);
}

static bool parse_token(kc__regex_parser *p)
{
    if (p->quoting)
        return parse_quoted(p);
    switch (*p->at) {
    case '(': return parse_group(p);
    case ')': return parse_group_end(p);
    case '[': return kc__regex_parse_class(p);
    case '\\': return parse_backslash(p);
    case '{': return parse_brace(p);
    case '*': return push_repeat(p, 0, -1, p->at + 1);
    case '+': return push_repeat(p, 1, -1, p->at + 1);
    case '?': return push_repeat(p, 0, 1, p->at + 1);
    case '|':
    case '^':
    case '$':
    case '.': return push_simple(p, *p->at);
    default: return parse_literal(p);
    }
}

static bool parse_tokens(kc__regex_parser *p)
{
    while (p->at < p->end) {
        p->repeat = NULL;
        if (!parse_token(p))
            return false;
        p->last_repeat = p->repeat;
        if (p->tree->arena.used > MAX_TREE_BYTES)
            return kc__regex_fail_all(p, "expression too large");
    }
    if (p->frames.n > 1)
        return kc__regex_fail_all(p, "missing closing )");
    p->tree->root = close_frame(p);
    if (p->tree->root->height > MAX_HEIGHT)
        return kc__regex_fail_all(p, "expression nests too deeply");
    return true;
}

bool kc__regex_parse(kc_str pattern, kc__regex_tree *tree, kc_buf *why)
{
    static const char empty[] = "";
    pattern.p = pattern.p ? pattern.p : empty;
    kc__regex_parser p = {.pattern = pattern,
                          .at = pattern.p,
                          .end = pattern.p + pattern.n,
                          .tree = tree,
                          .why = why};
    if (!kc_utf8_is_valid(pattern))
        return kc__regex_fail_all(&p, "invalid UTF-8");
    kc_vec_push(&p.frames, (kc__regex_frame){0});
    bool ok = parse_tokens(&p);
    kc_vec_each (&p.frames, frame) {
        kc_vec_done(&frame->concat);
        kc_vec_done(&frame->alternatives);
    }
    kc_vec_done(&p.frames);
    kc_vec_done(&p.set);
    return ok;
}
