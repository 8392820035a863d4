/* SPDX-License-Identifier: Apache-2.0 */
/// +groupName=apps.example.io
/// +versionName=v1alpha1
