/* SPDX-License-Identifier: Apache-2.0 */
/// +groupName=apps
/// +versionName=v1
