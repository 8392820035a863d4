/* SPDX-License-Identifier: Apache-2.0 */
/// +groupName=platform.kubecontroller.io
/// +versionName=v1
