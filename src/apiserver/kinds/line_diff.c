/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_diff.c: which lines differ between two texts, in the form of `diff -u`.
 *
 * Which of several diffs is found must be the same as in Kubernetes, whose library does as Python's
 * difflib: the longest run of lines that both have is kept, the first of equally long ones, and
 * left and right of it the same again. In long texts, lines that are more than a hundredth of all
 * are no start for a run: they only make it longer.
 *
 *     before  a b c d      the longest run is "c d"; left of it "a" against "x a",
 *     after   x a c d      whose longest is "a"
 *
 * The time grows with the pairs of equal lines, of which popular ones are none, times the number of
 * runs, which is why the lengths have a limit.
 */
#include "apiserver/kinds/line_diff.h"

#include "kc/map.h"
#include "kc/mem.h"
#include "kc/vec.h"

#define CONTEXT 3

typedef KC_VEC(kc_str) line_list;

/* Lines a[a..a+n) are b[b..b+n). */
typedef struct run {
    size_t a, b, n;
} run;

typedef struct differ {
    line_list a, b;
    size_t *next; /* Of each line of b the next one that is equal, plus 1; 0: none. */
    kc_map
        first; /* Of each line of b the index of the first, plus 1; popular ones are not there. */
    size_t *lengths[2]; /* Of runs that end before each line of b: of a line of a, of the last. */
    KC_VEC(run) runs;
} differ;

static void split(kc_str text, line_list *list)
{
    while (text.p)
        kc_vec_push(list, kc_str_cut(&text, '\n'));
}

/* Indexes b from its end, so that chains go forward. */
static void index_lines(differ *d)
{
    kc_scoped(kc_map) counts = {0};
    size_t n = d->b.n, limit = n / 100 + 1;
    d->next = kc_calloc(n + 1, sizeof(*d->next));
    for (size_t i = 0; i < n; i++) {
        uintptr_t count = (uintptr_t)kc_map_get(&counts, d->b.items[i]);
        kc_map_put(&counts, d->b.items[i], (void *)(count + 1));
    }
    for (size_t i = n; i-- > 0;) {
        if (n >= 200 && (uintptr_t)kc_map_get(&counts, d->b.items[i]) > limit)
            continue;
        d->next[i] = (uintptr_t)kc_map_get(&d->first, d->b.items[i]);
        kc_map_put(&d->first, d->b.items[i], (void *)(uintptr_t)(i + 1));
    }
}

static bool same(const differ *d, size_t a, size_t b)
{
    return kc_str_eq(d->a.items[a], d->b.items[b]);
}

/* The first line of b that is line i of a, plus 1. */
static size_t first_of(const differ *d, size_t i)
{
    return (uintptr_t)kc_map_get(&d->first, d->a.items[i]);
}

/* Makes a run longer by lines that could not start one. */
static run extend(const differ *d, run best, run from, run to)
{
    while (best.a > from.a && best.b > from.b && same(d, best.a - 1, best.b - 1)) {
        best.a--;
        best.b--;
        best.n++;
    }
    while (best.a + best.n < to.a && best.b + best.n < to.b &&
           same(d, best.a + best.n, best.b + best.n))
        best.n++;
    return best;
}

/* Forgets the lengths of runs that end at line i of a. */
static void clear_lengths(const differ *d, size_t *lengths, size_t i)
{
    for (size_t j = first_of(d, i); j; j = d->next[j - 1])
        lengths[j] = 0;
}

/* The longest run within both ranges. */
static run longest(differ *d, run from, run to)
{
    run best = {from.a, from.b, 0};
    for (size_t i = from.a; i < to.a; i++) {
        size_t *last = d->lengths[i % 2], *now = d->lengths[(i + 1) % 2];
        for (size_t j = first_of(d, i); j && j - 1 < to.b; j = d->next[j - 1]) {
            if (j - 1 < from.b)
                continue;
            size_t n = now[j] = last[j - 1] + 1;
            if (n > best.n)
                best = (run){i + 1 - n, j - n, n};
        }
        if (i > from.a)
            clear_lengths(d, last, i - 1);
    }
    if (to.a > from.a)
        clear_lengths(d, d->lengths[to.a % 2], to.a - 1);
    return extend(d, best, from, to);
}

/* All runs, in order. The depth is that of the ranges, which halve at best: so a stack of our own.
 */
static void find_runs(differ *d)
{
    typedef struct range {
        run from, to, found;
        bool done;
    } range;
    KC_VEC(range) open = {0};
    range all = {.to = {d->a.n, d->b.n, 0}};
    kc_vec_push(&open, all);
    while (open.n) {
        range at = open.items[--open.n];
        if (at.done) {
            kc_vec_push(&d->runs, at.found);
            continue;
        }
        at.found = longest(d, at.from, at.to);
        if (!at.found.n)
            continue;
        run end = {at.found.a + at.found.n, at.found.b + at.found.n, 0};
        range left = {.from = at.from, .to = at.found}, right = {.from = end, .to = at.to};
        at.done = true;
        if (end.a < at.to.a && end.b < at.to.b)
            kc_vec_push(&open, right);
        kc_vec_push(&open, at);
        if (at.from.a < at.found.a && at.from.b < at.found.b)
            kc_vec_push(&open, left);
    }
    kc_vec_done(&open);
}

/* ---- writing ---- */

static void write_lines(kc_buf *out, char mark, const line_list *list, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        kc_buf_printf(out, "%c%.*s\n", mark, KC_ARG(list->items[i]));
}

/* "3,7": where a part starts and how long it is. */
static void write_range(kc_buf *out, size_t from, size_t to)
{
    size_t n = to - from;
    if (n == 1)
        kc_buf_printf(out, "%zu", from + 1);
    else
        kc_buf_printf(out, "%zu,%zu", n ? from + 1 : from, n);
}

/* Runs [i, j) stand between the changes of one hunk; those before and after give context. */
static void write_hunk(const differ *d, size_t i, size_t j, kc_buf *out)
{
    const run *before = i ? &d->runs.items[i - 1] : NULL, *after = &d->runs.items[j];
    run at = before ? (run){before->a + before->n, before->b + before->n, 0} : (run){0};
    size_t lead = before ? KC_MIN(before->n, CONTEXT) : 0, tail = KC_MIN(after->n, CONTEXT);
    kc_buf_puts(out, "@@ -");
    write_range(out, at.a - lead, after->a + tail);
    kc_buf_puts(out, " +");
    write_range(out, at.b - lead, after->b + tail);
    kc_buf_puts(out, " @@\n");
    write_lines(out, ' ', &d->a, at.a - lead, at.a);
    for (; i <= j; i++) {
        run kept = d->runs.items[i];
        write_lines(out, '-', &d->a, at.a, kept.a);
        write_lines(out, '+', &d->b, at.b, kept.b);
        at = (run){kept.a + kept.n, kept.b + kept.n, 0};
        write_lines(out, ' ', &d->a, kept.a, i < j ? at.a : kept.a + tail);
    }
}

/* A run of more than twice the context parts two hunks. */
static void write_hunks(differ *d, kc_buf *out)
{
    run end = {d->a.n, d->b.n, 0}, *last = d->runs.n ? &d->runs.items[d->runs.n - 1] : NULL;
    size_t i = 0;
    if (!last || last->a + last->n < end.a || last->b + last->n < end.b)
        kc_vec_push(&d->runs, end);
    if (d->runs.items[0].a == 0 && d->runs.items[0].b == 0)
        i = 1;
    while (i < d->runs.n) {
        size_t j = i;
        while (j + 1 < d->runs.n && d->runs.items[j].n <= (size_t)2 * CONTEXT)
            j++;
        write_hunk(d, i, j, out);
        i = j + 1;
    }
}

static void differ_done(differ *d)
{
    kc_vec_done(&d->a);
    kc_vec_done(&d->b);
    kc_vec_done(&d->runs);
    kc_map_done(&d->first);
    free(d->next);
    free(d->lengths[0]);
    free(d->lengths[1]);
}

/* Neighbouring runs that touch are one. */
static void join_runs(differ *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->runs.n; i++) {
        run *last = n ? &d->runs.items[n - 1] : NULL, at = d->runs.items[i];
        if (last && last->a + last->n == at.a && last->b + last->n == at.b)
            last->n += at.n;
        else
            d->runs.items[n++] = at;
    }
    d->runs.n = n;
}

void kc__line_diff(kc_str before, kc_str after, kc_buf *out)
{
    differ d = {0};
    split(before, &d.a);
    split(after, &d.b);
    if (!kc_str_eq(before, after) && d.a.n <= KC__LINE_DIFF_MAX && d.b.n <= KC__LINE_DIFF_MAX) {
        index_lines(&d);
        d.lengths[0] = kc_calloc(d.b.n + 1, sizeof(size_t));
        d.lengths[1] = kc_calloc(d.b.n + 1, sizeof(size_t));
        find_runs(&d);
        join_runs(&d);
        write_hunks(&d, out);
    }
    differ_done(&d);
}
