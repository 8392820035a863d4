/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_strategy.h: the strategies of CustomResourceDefinitions, for the table of strategies.
 *
 * Objects arrive in the form of v1; those sent as v1beta1 are validated by other rules
 * (kc__crd_rules.beta). Metadata has been validated before. A CRD that is being deleted is removed
 * when its objects are gone, which its condition Terminating says (kc__crd_set_deletion).
 */
#ifndef KC_APISERVER_CRD_STRATEGY_H
#define KC_APISERVER_CRD_STRATEGY_H

#include "apiserver/kinds/strategy.h"

extern const kc__strategy kc__strategy_crd, kc__strategy_crd_beta;

#endif
