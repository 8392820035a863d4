/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authz_selectors.c: the field and label selectors of a request, as authorizers see them.
 *
 * A selector that cannot be parsed is left out: the decision is then about the whole collection,
 * and the request itself fails later.
 */
#include "apiserver/authz/authz_selectors.h"

void kc__authz_selectors_parse(kc__authz_selectors *s, kc_str fields, kc_str labels)
{
    if (!kc_str_empty(fields))
        s->fields = kc_field_selector_parse(fields, NULL);
    if (!kc_str_empty(labels))
        s->labels = kc_selector_parse(labels, NULL);
}

void kc__authz_select(kc__authz_attributes *a, const kc__authz_selectors *s)
{
    if (s->fields)
        a->fields = kc_field_selector_requirements(s->fields, &a->n_fields);
    if (s->labels)
        a->labels = kc_selector_requirements(s->labels, &a->n_labels);
}

void kc__authz_selectors_done(kc__authz_selectors *s)
{
    s->fields = kc_field_selector_free(s->fields);
    s->labels = kc_selector_free(s->labels);
}
