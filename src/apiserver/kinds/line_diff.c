/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_diff.c: line diff of two texts, in the format of `diff -u`.
 *
 * Of several possible diffs the result must be the one that Kubernetes shows, whose library works
 * like Python's difflib: it keeps the longest run of common lines, the first one if several are
 * equally long, and repeats the search to the left and right of it. In long texts, a line that
 * makes up more than a hundredth of all lines cannot start a run and can only extend one.
 *
 *     before  a b c d      the longest run is "c d"; left of it "a" against "x a",
 *     after   x a c d      whose longest is "a"
 *
 * The time grows with the number of pairs of equal lines (without the frequent lines) times the
 * number of runs, so the length of the texts is limited.
 */
#include "apiserver/kinds/line_diff.h"

#include "kc/map.h"
#include "kc/mem.h"
#include "kc/vec.h"

#define CONTEXT 3

typedef KC_VEC(kc_str) line_list;

/* A run of equal lines: a[a..a+n) equals b[b..b+n). */
typedef struct diff_run {
    size_t a, b, n;
} diff_run;

typedef struct differ {
    line_list a, b;
    size_t *next; /* For each line of b: index of the next equal line plus 1; 0: none. */
    kc_map
        first; /* Index plus 1 of the first equal line of b; frequent lines are not in the map. */
    size_t *lengths[2]; /* Per line of b: length of the run ending before it, for two lines of a. */
    KC_VEC(diff_run) runs;
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

/* Returns the index plus 1 of the first line of b that equals line i of a. */
static size_t first_line_of(const differ *d, size_t i)
{
    return (uintptr_t)kc_map_get(&d->first, d->a.items[i]);
}

/* Extends a run by lines that cannot start one. */
static diff_run extend(const differ *d, diff_run best, diff_run from, diff_run to)
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

/* Resets the lengths of runs that end at line i of a. */
static void clear_lengths(const differ *d, size_t *lengths, size_t i)
{
    for (size_t j = first_line_of(d, i); j; j = d->next[j - 1])
        lengths[j] = 0;
}

/* Finds the longest run within both ranges. */
static diff_run longest(differ *d, diff_run from, diff_run to)
{
    diff_run best = {from.a, from.b, 0};
    for (size_t i = from.a; i < to.a; i++) {
        size_t *last = d->lengths[i % 2], *now = d->lengths[(i + 1) % 2];
        for (size_t j = first_line_of(d, i); j && j - 1 < to.b; j = d->next[j - 1]) {
            if (j - 1 < from.b)
                continue;
            size_t n = now[j] = last[j - 1] + 1;
            if (n > best.n)
                best = (diff_run){i + 1 - n, j - n, n};
        }
        if (i > from.a)
            clear_lengths(d, last, i - 1);
    }
    if (to.a > from.a)
        clear_lengths(d, d->lengths[to.a % 2], to.a - 1);
    return extend(d, best, from, to);
}

/* Finds all runs, in order. Ranges need not halve, so the recursion could be deep: uses an
 * explicit stack. */
static void find_runs(differ *d)
{
    typedef struct range {
        diff_run from, to, found;
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
        diff_run end = {at.found.a + at.found.n, at.found.b + at.found.n, 0};
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

/* Writes the start and length of a range: "3,7". */
static void write_range(kc_buf *out, size_t from, size_t to)
{
    size_t n = to - from;
    if (n == 1)
        kc_buf_printf(out, "%zu", from + 1);
    else
        kc_buf_printf(out, "%zu,%zu", n ? from + 1 : from, n);
}

/* Writes a hunk. Runs [i, j) are between its changes; the runs before and after give the
 * context. */
static void write_hunk(const differ *d, size_t i, size_t j, kc_buf *out)
{
    const diff_run *before = i ? &d->runs.items[i - 1] : NULL, *after = &d->runs.items[j];
    diff_run at =
        before ? (diff_run){before->a + before->n, before->b + before->n, 0} : (diff_run){0};
    size_t lead = before ? KC_MIN(before->n, CONTEXT) : 0, tail = KC_MIN(after->n, CONTEXT);
    kc_buf_puts(out, "@@ -");
    write_range(out, at.a - lead, after->a + tail);
    kc_buf_puts(out, " +");
    write_range(out, at.b - lead, after->b + tail);
    kc_buf_puts(out, " @@\n");
    write_lines(out, ' ', &d->a, at.a - lead, at.a);
    for (; i <= j; i++) {
        diff_run kept = d->runs.items[i];
        write_lines(out, '-', &d->a, at.a, kept.a);
        write_lines(out, '+', &d->b, at.b, kept.b);
        at = (diff_run){kept.a + kept.n, kept.b + kept.n, 0};
        write_lines(out, ' ', &d->a, kept.a, i < j ? at.a : kept.a + tail);
    }
}

/* A run of more than twice the context separates two hunks. */
static void write_hunks(differ *d, kc_buf *out)
{
    diff_run end = {d->a.n, d->b.n, 0}, *last = d->runs.n ? &d->runs.items[d->runs.n - 1] : NULL;
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

/* Joins adjacent runs that touch. */
static void join_runs(differ *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->runs.n; i++) {
        diff_run *last = n ? &d->runs.items[n - 1] : NULL, at = d->runs.items[i];
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
