/* SPDX-License-Identifier: Apache-2.0 */
/* always_pull_images.h: the admission plugin AlwaysPullImages. */
#ifndef KC_APISERVER_ALWAYS_PULL_IMAGES_H
#define KC_APISERVER_ALWAYS_PULL_IMAGES_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_always_pull_mutate;
kc__rest_phase_fn kc__admission_always_pull_validate;

#endif
