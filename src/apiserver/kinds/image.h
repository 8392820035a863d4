/* SPDX-License-Identifier: Apache-2.0 */
/* image.h: names of container images, as far as defaults depend on them. */
#ifndef KC_APISERVER_IMAGE_H
#define KC_APISERVER_IMAGE_H

#include "kc/str.h"

/*
 * Whether an image is the newest of its name, so that it has to be asked for each time: its tag is
 * "latest", or it has neither tag nor digest. "registry:5000/app" has no tag: the colon is that of
 * the port. The empty name is not.
 */
bool kc__image_is_latest(kc_str image);

#endif
