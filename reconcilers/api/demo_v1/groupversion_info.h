/* SPDX-License-Identifier: Apache-2.0 */
/// +groupName=demo.wukong.com
/// +versionName=v1
