/* SPDX-License-Identifier: Apache-2.0 */
/// +groupName=
/// +versionName=v1
