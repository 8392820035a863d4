/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.c: matching with PCRE2.
 *
 * A schema may hold hundreds of patterns of which most are never used, so code is made at the first
 * match; two threads that come first at once both make it, and one throws its own away.
 *
 * PCRE2 backtracks, so some patterns take exponential time on some texts. Every match runs under a
 * limit that is proportional to the text. If that does not suffice it runs again under a much
 * higher one, but only so many times for one matcher: an object with a hundred thousand strings
 * costs a hundred thousand cheap matches and a few dear ones, and then an error that says so.
 *
 * PCRE2's contexts are made in the matcher itself by giving PCRE2 an allocator: no heap is touched
 * unless a long text makes machine code ask for a larger stack.
 */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "object/pattern_internal.h"

#include <pcre2.h>

enum {
    CHEAP_BASE = 4000, /* Steps of a match, and for each byte of the text. */
    CHEAP_PER_BYTE = 32,
    DEAR = 2 * 1000 * 1000, /* Steps of a match that may be dear: some milliseconds. */
    MOST_DEAR = 50,         /* Of one matcher. */
    HEAP_LIMIT = 64 * 1024, /* KiB, if there is no machine code and the interpreter works. */
    STACK_FIRST = 64 * 1024,
    STACK_LIMIT = 32 * 1024 * 1024, /* For machine code, when the thread's own does not suffice. */
    NESTING = 250,
};

static pcre2_code *compile(kc_str text, bool jit, kc_buf *why)
{
    int error;
    PCRE2_SIZE at;
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    if (context) {
        pcre2_set_newline(context, PCRE2_NEWLINE_LF);
        pcre2_set_parens_nest_limit(context, NESTING);
    }
    pcre2_code *code =
        pcre2_compile((PCRE2_SPTR)text.p, text.n,
                      PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UCP |
                          PCRE2_NO_AUTO_CAPTURE | PCRE2_NO_UTF_CHECK,
                      &error, &at, context);
    pcre2_compile_context_free(context);
    if (!code && why) {
        PCRE2_UCHAR message[256];
        pcre2_get_error_message(error, message, sizeof(message));
        kc_buf_printf(why, "error parsing regexp: %s", (const char *)message);
    }
    if (code && jit)
        pcre2_jit_compile(code, PCRE2_JIT_COMPLETE); /* Without it, matching is only slower. */
    return code;
}

bool kc__pattern_knows_property(kc_str name)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text, "\\p{%.*s}", KC_ARG(name));
    pcre2_code *code = name.n ? compile(kc_buf_str(&text), false, NULL) : NULL;
    pcre2_code_free(code);
    return code != NULL;
}

static bool prepare(kc_str source, kc_buf *text, kc_buf *why)
{
    if (source.n > KC__PATTERN_MAX) {
        kc_buf_printf(why, "it has %zu bytes: limit is %d", source.n, KC__PATTERN_MAX);
        return false;
    }
    if (!kc__pattern_translate(source, text, why))
        return false;
    pcre2_code *code = compile(kc_buf_str(text), false, why);
    pcre2_code_free(code);
    return code != NULL;
}

bool kc__pattern_valid(kc_str source, kc_buf *why)
{
    kc_scoped(kc_buf) text = {0};
    return prepare(source, &text, why);
}

kc__pattern *kc__pattern_new(kc_arena *arena, kc_str source, kc_buf *why)
{
    kc_scoped(kc_buf) text = {0};
    if (!prepare(source, &text, why))
        return NULL;
    kc__pattern *pattern = kc_arena_new(arena, kc__pattern);
    pattern->source = kc_arena_str(arena, source);
    pattern->text = kc_arena_str(arena, kc_buf_str(&text));
    return pattern;
}

void kc__pattern_done(kc__pattern *pattern)
{
    pcre2_code_free(atomic_load(&pattern->code));
}

static pcre2_code *code_of(const kc__pattern *pattern)
{
    kc__pattern *p = (kc__pattern *)pattern; /* The code is a cache. */
    void *code = atomic_load_explicit(&p->code, memory_order_acquire);
    if (code)
        return code;
    void *made = compile(p->text, true, NULL);
    if (!atomic_compare_exchange_strong(&p->code, &code, made)) {
        pcre2_code_free(made);
        return code;
    }
    return made;
}

static void *take(size_t size, void *user)
{
    kc__matcher *m = user;
    size_t rounded = (size + 15) & ~(size_t)15;
    if (rounded > sizeof(m->space) - m->used)
        return malloc(size);
    void *block = m->space + m->used;
    m->used += rounded;
    return block;
}

static void give_back(void *block, void *user)
{
    kc__matcher *m = user;
    char *p = block;
    if (p && (p < m->space || p >= m->space + sizeof(m->space)))
        free(p);
}

static bool get_ready(kc__matcher *m)
{
    if (m->memory)
        return m->match && m->limits;
    m->stack = NULL;
    m->memory = pcre2_general_context_create(take, give_back, m);
    if (!m->memory)
        return false;
    m->match = pcre2_match_data_create(1, m->memory);
    m->limits = pcre2_match_context_create(m->memory);
    if (m->limits)
        pcre2_set_heap_limit(m->limits, HEAP_LIMIT);
    return m->match && m->limits;
}

void kc__matcher_done(kc__matcher *m)
{
    if (!m->memory)
        return;
    pcre2_jit_stack_free(m->stack);
    pcre2_match_context_free(m->limits);
    pcre2_match_data_free(m->match);
    pcre2_general_context_free(m->memory);
    m->memory = NULL;
}

static int match(const pcre2_code *code, kc__matcher *m, kc_str text)
{
    return pcre2_match(code, (PCRE2_SPTR)(text.n ? text.p : ""), text.n, 0, PCRE2_NO_UTF_CHECK,
                       m->match, m->limits);
}

static int run(const pcre2_code *code, kc__matcher *m, kc_str text, uint32_t limit)
{
    pcre2_set_match_limit(m->limits, limit);
    int found = match(code, m, text);
    if (found != PCRE2_ERROR_JIT_STACKLIMIT || m->stack)
        return found;
    m->stack = pcre2_jit_stack_create(STACK_FIRST, STACK_LIMIT, NULL);
    if (!m->stack)
        return found;
    pcre2_jit_stack_assign(m->limits, NULL, m->stack);
    return match(code, m, text);
}

kc__matched kc__pattern_match(const kc__pattern *pattern, kc__matcher *m, kc_str text)
{
    const pcre2_code *code = code_of(pattern);
    if (!code || !get_ready(m))
        return KC__MATCH_TOO_COSTLY;
    uint64_t cheap = CHEAP_BASE + (uint64_t)CHEAP_PER_BYTE * text.n;
    int found = run(code, m, text, (uint32_t)KC_MIN(cheap, (uint64_t)UINT32_MAX));
    if (found == PCRE2_ERROR_MATCHLIMIT && cheap < DEAR && m->expensive < MOST_DEAR) {
        m->expensive++;
        found = run(code, m, text, DEAR);
    }
    if (found >= 0)
        return KC__MATCHES;
    return found == PCRE2_ERROR_NOMATCH ? KC__NO_MATCH : KC__MATCH_TOO_COSTLY;
}
