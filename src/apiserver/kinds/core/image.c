/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image.c: finds the tag of an image: the text after the last colon after the last slash, before a
 * digest.
 */
#include "apiserver/kinds/core/image.h"

bool kc__image_is_latest(kc_str image)
{
    ptrdiff_t at = kc_str_find(image, '@');
    kc_str name = at < 0 ? image : kc_str_sub(image, 0, (size_t)at);
    ptrdiff_t slash = kc_str_rfind(name, '/');
    kc_str last = kc_str_sub(name, (size_t)(slash + 1), name.n);
    ptrdiff_t colon = kc_str_rfind(last, ':');
    if (colon < 0)
        return at < 0 && last.n > 0;
    return kc_str_is(kc_str_sub(last, (size_t)(colon + 1), last.n), "latest");
}
