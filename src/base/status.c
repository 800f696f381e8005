/* status.c - status texts and the version
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/base.h"

#define TEXT_OF_(x) #x
#define TEXT_OF(x)  TEXT_OF_(x)

const char *tamis_version(void) {
    return TEXT_OF(TAMIS_VERSION_MAJOR) "." TEXT_OF(TAMIS_VERSION_MINOR) "." TEXT_OF(
        TAMIS_VERSION_PATCH);
}

const char *tamis_status_text(tamis_status status) {
    switch (status) {
    case TAMIS_OK:
        return "success";
    case TAMIS_E_ARGUMENT:
        return "an argument is out of range";
    case TAMIS_E_NOMEM:
        return "out of memory";
    case TAMIS_E_FULL:
        return "there is no room for the key";
    case TAMIS_E_NOT_FOUND:
        return "the key is not there";
    case TAMIS_E_UNSUPPORTED:
        return "this kind cannot do that";
    case TAMIS_E_MISMATCH:
        return "kind, parameters, hash, seed or keys differ";
    case TAMIS_E_READONLY:
        return "it is read-only";
    case TAMIS_E_TOO_LARGE:
        return "too large";
    case TAMIS_E_IO:
        return "input or output failed";
    case TAMIS_E_FORMAT:
        return "not a tamis file, or a damaged one";
    case TAMIS_E_VERSION:
        return "written by a newer version of tamis";
    case TAMIS_E_DOMAIN:
        return "outside the domain of the model";
    case TAMIS_E_LOCKED:
        return "open elsewhere";
    case TAMIS_E_AMBIGUOUS:
        return "several links of the series claim the key";
    case TAMIS_E_PROMISE:
        return "the error rate would be higher than promised";
    }
    return "unknown status";
}
