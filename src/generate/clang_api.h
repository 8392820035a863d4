/* SPDX-License-Identifier: Apache-2.0 */
/* clang_api.h: libclang, found when it is needed. Nothing links it: kc runs where it is not there.
 */
#ifndef KC_GENERATE_CLANG_API_H
#define KC_GENERATE_CLANG_API_H

#include "kc/error.h"

#include <clang-c/Index.h>

/* What is used of it; to use more, add its name. All are in every libclang from 11 on. */
#define KC__CLANG_FUNCTIONS(X)      \
    X(createIndex)                  \
    X(disposeIndex)                 \
    X(parseTranslationUnit2)        \
    X(disposeTranslationUnit)       \
    X(getNumDiagnostics)            \
    X(getDiagnostic)                \
    X(disposeDiagnostic)            \
    X(getDiagnosticSeverity)        \
    X(getDiagnosticSpelling)        \
    X(getDiagnosticLocation)        \
    X(getTranslationUnitCursor)     \
    X(visitChildren)                \
    X(getCString)                   \
    X(disposeString)                \
    X(getFile)                      \
    X(getFileName)                  \
    X(getFileContents)              \
    X(File_isEqual)                 \
    X(getExpansionLocation)         \
    X(getCursorLocation)            \
    X(getCursorExtent)              \
    X(getRangeStart)                \
    X(getRangeEnd)                  \
    X(getCursorKind)                \
    X(getCursorSpelling)            \
    X(getCursorUSR)                 \
    X(getCursorType)                \
    X(getCursorDefinition)          \
    X(Cursor_isNull)                \
    X(Cursor_isBitField)            \
    X(getTypedefDeclUnderlyingType) \
    X(getEnumConstantDeclValue)     \
    X(getCanonicalType)             \
    X(getPointeeType)               \
    X(getTypeDeclaration)           \
    X(getTypeSpelling)              \
    X(Type_getSizeOf)               \
    X(Type_getNamedType)            \
    X(Location_isInSystemHeader)

typedef struct kc__clang {
#define KC__CLANG_POINTER(name) __typeof__(&clang_##name) name;
    KC__CLANG_FUNCTIONS(KC__CLANG_POINTER)
#undef KC__CLANG_POINTER
} kc__clang;

/* Loads it. It stays loaded: it cannot be unloaded safely. Negative with a sentence that names the
 * package to install. */
int kc__clang_load(kc__clang *ret, kc_error *err);

#endif
