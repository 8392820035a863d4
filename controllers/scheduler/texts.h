/* SPDX-License-Identifier: Apache-2.0 */
/* texts.h: helpers for texts of decoded objects, which are NULL if absent. */
#ifndef KC_SCHEDULER_TEXTS_H
#define KC_SCHEDULER_TEXTS_H

#include <stdbool.h>
#include <string.h>

static inline const char *kc__sched_text(const char *text)
{
    return text ? text : "";
}

static inline bool kc__sched_text_is(const char *text, const char *word)
{
    return !strcmp(kc__sched_text(text), word);
}

#endif
