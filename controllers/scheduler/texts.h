/* SPDX-License-Identifier: Apache-2.0 */
/* texts.h: texts of decoded objects, which are NULL where they were left out. */
#ifndef KC_SCHEDULER_TEXTS_H
#define KC_SCHEDULER_TEXTS_H

#include <stdbool.h>
#include <string.h>

static inline const char *kc__text(const char *text)
{
    return text ? text : "";
}

static inline bool kc__says(const char *text, const char *word)
{
    return !strcmp(kc__text(text), word);
}

#endif
