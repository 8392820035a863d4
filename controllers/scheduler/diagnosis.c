/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis.c: see diagnosis.h. Reasons are sorted as texts with their numbers, as in
 * kube-scheduler. */
#include "scheduler/diagnosis.h"

#include "kc/buf.h"
#include "kc/vec.h"

void kc__sched_diagnosis_done(kc__sched_diagnosis *w)
{
    kc_map_done(&w->counts);
}

void kc__sched_diagnosis_add(kc__sched_diagnosis *w, const char *reason, size_t n_nodes)
{
    const kc_str text = kc_cstr(reason);
    const uintptr_t n = (uintptr_t)kc_map_get(&w->counts, text) + n_nodes;
    if (n)
        kc_map_put(&w->counts, text, (void *)n);
}

static int sched_diagnosis_by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char *kc__sched_diagnosis_text(const kc__sched_diagnosis *w, size_t n_nodes)
{
    kc_scoped(kc_buf) out = {0};
    KC_VEC(char *) parts = {0};
    kc_map_each (&w->counts, entry)
        kc_vec_push(&parts,
                    kc_asprintf("%zu %.*s", (size_t)(uintptr_t)entry->value, KC_ARG(entry->key)));
    kc_vec_sort(&parts, sched_diagnosis_by_text);
    kc_buf_printf(&out, "0/%zu nodes are available:", n_nodes);
    kc_vec_each (&parts, part) {
        kc_buf_printf(&out, "%s%s", part == parts.items ? " " : ", ", *part);
        free(*part);
    }
    if (parts.n)
        kc_buf_putc(&out, '.');
    kc_vec_done(&parts);
    return kc_buf_take(&out);
}
