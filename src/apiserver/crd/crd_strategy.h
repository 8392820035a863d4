/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_strategy.h: CustomResourceDefinitions as a kind among others, for the table of strategies.
 *
 * They come as v1; what came as v1beta1 is validated by other rules (kc__crd_rules.beta). Metadata
 * has been checked before. A definition that is being deleted goes when its objects are gone, which
 * its condition Terminating says (kc__crd_set_deletion).
 */
#ifndef KC_APISERVER_CRD_STRATEGY_H
#define KC_APISERVER_CRD_STRATEGY_H

#include "apiserver/kinds/strategy.h"

extern const kc__strategy kc__strategy_crd, kc__strategy_crd_beta;

#endif
