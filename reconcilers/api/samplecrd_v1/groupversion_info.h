/* SPDX-License-Identifier: Apache-2.0 */
/// +groupName=samplecrd.k8s.io
/// +versionName=v1
