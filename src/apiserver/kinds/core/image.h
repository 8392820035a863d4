/* SPDX-License-Identifier: Apache-2.0 */
/* image.h: names of container images, as far as defaults depend on them. */
#ifndef KC_APISERVER_IMAGE_H
#define KC_APISERVER_IMAGE_H

#include "kc/str.h"

/*
 * Whether an image name means the newest image, so that it must be pulled each time: its tag is
 * "latest", or it has neither tag nor digest. "registry:5000/app" has no tag: the colon belongs to
 * the port. False for the empty name.
 */
bool kc__image_is_latest(kc_str image);

#endif
