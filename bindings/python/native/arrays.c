/* arrays.c - keys in buffers: integers, fixed and variable strings
 *
 * What a buffer has is told by its format, as numpy and array give it:
 *
 *     b B h H i I l L q Q n N    integers of 1 to 8 bytes, in either order
 *     10s                        bytes of a fixed size (numpy: S10); zeros at the end do not count
 *     10w                        text of 4 bytes a letter (numpy: U10); the key is its UTF-8, without zeros
 *                                at the end
 *
 * Items may lie apart.  Unsigned integers of 8 bytes in a row are used in place; all others are gathered, a
 * chunk at a time.  Before a set is changed, all keys are looked at, so that a key that is none (a negative
 * number, half of a pair of surrogates, an offset that goes back) leaves everything as it was.  Other
 * threads may change the memory meanwhile: what decides on lengths and places is read once for both its
 * check and its use.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

typedef enum arrays_kind { ARRAYS_INTEGERS, ARRAYS_BYTES, ARRAYS_TEXT, ARRAYS_OFFSETS } arrays_kind;

typedef struct arrays_keys {
    arrays_kind kind;
    const unsigned char *first;
    Py_ssize_t stride;
    size_t n;
    size_t size; /* of an item */
    bool is_signed, swapped;
    const unsigned char *data; /* ARRAYS_OFFSETS: the bytes, of which items are the offsets */
    size_t data_size;
    const char *fault;
} arrays_keys;

#define ARRAYS_ROOM ((size_t)1 << 20) /* for the UTF-8 of a chunk, or of one long key */

/* Memory of a chunk. */
typedef struct arrays_chunk {
    uint64_t numbers[NATIVE_CHUNK];
    tamis_bytes keys[NATIVE_CHUNK];
    unsigned char *text;
} arrays_chunk;

/* ---- integers ---- */

/* Items of one type, made 64 bits by C's rules: the sign goes up to the highest bit. */
#define ARRAYS_GATHER(type, swap)                                                                  \
    for (size_t i = 0; i < n; i++, at += keys->stride) {                                           \
        type item;                                                                                 \
        memcpy(&item, at, sizeof item);                                                            \
        if (keys->swapped)                                                                         \
            item = (type)swap(item);                                                               \
        out[i] = (uint64_t)item;                                                                   \
    }                                                                                              \
    break

#define ARRAYS_SAME(item) (item)

static void arrays_gather(const arrays_keys *keys, size_t from, size_t n, uint64_t *out) {
    const unsigned char *at = keys->first + (Py_ssize_t)from * keys->stride;
    switch (keys->size * 2 + keys->is_signed) {
    case 2:
        ARRAYS_GATHER(uint8_t, ARRAYS_SAME);
    case 3:
        ARRAYS_GATHER(int8_t, ARRAYS_SAME);
    case 4:
        ARRAYS_GATHER(uint16_t, __builtin_bswap16);
    case 5:
        ARRAYS_GATHER(int16_t, __builtin_bswap16);
    case 8:
        ARRAYS_GATHER(uint32_t, __builtin_bswap32);
    case 9:
        ARRAYS_GATHER(int32_t, __builtin_bswap32);
    case 16:
        ARRAYS_GATHER(uint64_t, __builtin_bswap64);
    default:
        ARRAYS_GATHER(int64_t, __builtin_bswap64);
    }
}

static bool arrays_numbers(arrays_keys *keys, size_t from, size_t n, uint64_t *out) {
    uint64_t any = 0;
    arrays_gather(keys, from, n, out);
    for (size_t i = 0; keys->is_signed && i < n; i++)
        any |= out[i];
    if (any >> 63) {
        keys->fault = "an integer key is not from 0 to 2**64 - 1";
        return false;
    }
    return true;
}

static bool arrays_in_place(const arrays_keys *keys) {
    return keys->kind == ARRAYS_INTEGERS && keys->size == 8 && !keys->swapped &&
           keys->stride == 8 && (uintptr_t)keys->first % 8 == 0;
}

/* ---- strings ---- */

static size_t arrays_length(const unsigned char *item, size_t size) {
    while (size > 0 && item[size - 1] == 0)
        size--;
    return size;
}

/* The UTF-8 of a letter: its length, or 0 if it is none. */
static size_t arrays_letter(uint32_t letter, unsigned char *out) {
    if (letter < 0x80) {
        out[0] = (unsigned char)letter;
        return 1;
    }
    if (letter < 0x800) {
        out[0] = (unsigned char)(0xc0 | letter >> 6);
        out[1] = (unsigned char)(0x80 | (letter & 0x3f));
        return 2;
    }
    if (letter > 0x10ffff || (letter >= 0xd800 && letter < 0xe000))
        return 0;
    if (letter < 0x10000) {
        out[0] = (unsigned char)(0xe0 | letter >> 12);
        out[1] = (unsigned char)(0x80 | (letter >> 6 & 0x3f));
        out[2] = (unsigned char)(0x80 | (letter & 0x3f));
        return 3;
    }
    out[0] = (unsigned char)(0xf0 | letter >> 18);
    out[1] = (unsigned char)(0x80 | (letter >> 12 & 0x3f));
    out[2] = (unsigned char)(0x80 | (letter >> 6 & 0x3f));
    out[3] = (unsigned char)(0x80 | (letter & 0x3f));
    return 4;
}

static uint32_t arrays_unit(const arrays_keys *keys, const unsigned char *at) {
    uint32_t unit;
    memcpy(&unit, at, sizeof unit);
    return keys->swapped ? __builtin_bswap32(unit) : unit;
}

/* All bits that the letters of an item have. */
static uint32_t arrays_bits(const arrays_keys *keys, const unsigned char *item) {
    uint32_t bits = 0;
    for (size_t i = 0; i < keys->size; i += 4)
        bits |= arrays_unit(keys, item + i);
    return bits;
}

/* The UTF-8 of an item; false if it is no text.  Zeros within belong to it, zeros at the end do not. */
static bool arrays_text(const arrays_keys *keys, const unsigned char *item, unsigned char *out,
                        size_t *length) {
    size_t end = 0, kept = 0;
    if (arrays_bits(keys, item) < 0x80) { /* ASCII: a byte each */
        for (size_t i = 0; i < keys->size; i += 4)
            out[i / 4] = (unsigned char)arrays_unit(keys, item + i);
        *length = arrays_length(out, keys->size / 4);
        return true;
    }
    for (size_t i = 0; i < keys->size; i += 4) {
        const uint32_t letter = arrays_unit(keys, item + i);
        const size_t n = arrays_letter(letter, out + end);
        if (n == 0)
            return false;
        end += n;
        if (letter != 0)
            kept = end;
    }
    *length = kept;
    return true;
}

static uint64_t arrays_offset(const arrays_keys *keys, size_t i) {
    uint64_t offset;
    arrays_gather(keys, i, 1, &offset);
    return offset;
}

/* Items from 'from' on as bytes; those of a chunk. */
static bool arrays_strings(arrays_keys *keys, size_t from, size_t n, arrays_chunk *chunk) {
    unsigned char *text = chunk->text;
    uint64_t begin = keys->kind == ARRAYS_OFFSETS ? arrays_offset(keys, from) : 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned char *const item = keys->first + (Py_ssize_t)(from + i) * keys->stride;
        size_t length = 0;
        if (keys->kind == ARRAYS_BYTES) {
            chunk->keys[i] = (tamis_bytes){item, arrays_length(item, keys->size)};
        } else if (keys->kind == ARRAYS_TEXT) {
            if (!arrays_text(keys, item, text, &length)) {
                keys->fault = "a key is no text: it has a letter that UTF-8 has not";
                return false;
            }
            chunk->keys[i] = (tamis_bytes){text, length};
            text += length;
        } else {
            const uint64_t end = arrays_offset(keys, from + i + 1);
            if (begin > end || end > keys->data_size) {
                keys->fault = "the offsets are not in order, or go beyond the data";
                return false;
            }
            chunk->keys[i] = (tamis_bytes){keys->data + begin, (size_t)(end - begin)};
            begin = end;
        }
    }
    return true;
}

/* ---- all keys ---- */

static size_t arrays_step(const arrays_keys *keys) {
    if (keys->kind != ARRAYS_TEXT || keys->size < ARRAYS_ROOM / NATIVE_CHUNK)
        return NATIVE_CHUNK;
    return keys->size < ARRAYS_ROOM ? ARRAYS_ROOM / keys->size : 1;
}

/* Are all keys keys?  Integers without a sign and bytes are. */
static bool arrays_check(arrays_keys *keys, arrays_chunk *chunk) {
    if (keys->kind == ARRAYS_BYTES || (keys->kind == ARRAYS_INTEGERS && !keys->is_signed))
        return true;
    if (arrays_in_place(keys)) {
        uint64_t any = 0;
        const uint64_t *const numbers = (const uint64_t *)(const void *)keys->first;
        for (size_t i = 0; i < keys->n; i++)
            any |= numbers[i];
        if (any >> 63)
            keys->fault = "an integer key is not from 0 to 2**64 - 1";
        return keys->fault == NULL;
    }
    if (keys->kind == ARRAYS_TEXT) { /* mostly it is seen without making the UTF-8 */
        uint32_t bits = 0;
        for (size_t i = 0; i < keys->n; i++)
            bits |= arrays_bits(keys, keys->first + (Py_ssize_t)i * keys->stride);
        if (bits < 0x800)
            return true;
    }
    const size_t step = arrays_step(keys);
    for (size_t i = 0; i < keys->n; i += step) {
        const size_t n = keys->n - i < step ? keys->n - i : step;
        if (keys->kind == ARRAYS_INTEGERS ? !arrays_numbers(keys, i, n, chunk->numbers)
                                          : !arrays_strings(keys, i, n, chunk))
            return false;
    }
    return true;
}

static void arrays_work(native_batch *batch, arrays_keys *keys, arrays_chunk *chunk) {
    if (!arrays_check(keys, chunk))
        return;
    if (arrays_in_place(keys)) {
        (void)native_batch_numbers(batch, (const uint64_t *)(const void *)keys->first, keys->n);
        return;
    }
    const size_t step = arrays_step(keys);
    for (size_t i = 0; i < keys->n; i += step) {
        const size_t n = keys->n - i < step ? keys->n - i : step;
        const bool fine =
            keys->kind == ARRAYS_INTEGERS
                ? arrays_numbers(keys, i, n, chunk->numbers) &&
                      native_batch_numbers(batch, chunk->numbers, n)
                : arrays_strings(keys, i, n, chunk) && native_batch_bytes(batch, chunk->keys, n);
        if (!fine)
            return;
    }
}

static bool arrays_run(native_batch *batch, arrays_keys *keys) {
    PyThreadState *saved;
    if (!native_batch_reserve(batch, keys->n))
        return false;
    arrays_chunk *const chunk = PyMem_Malloc(sizeof *chunk);
    if (chunk == NULL) {
        PyErr_NoMemory();
        return false;
    }
    chunk->text = NULL;
    bool fine = true;
    if (keys->kind == ARRAYS_TEXT) {
        const size_t room = keys->size < ARRAYS_ROOM ? ARRAYS_ROOM : keys->size;
        chunk->text = PyMem_Malloc(room + 4);
        fine = chunk->text != NULL;
        if (!fine)
            PyErr_NoMemory();
    }
    if (fine && native_batch_begin(batch, keys->n, &saved)) {
        arrays_work(batch, keys, chunk);
        native_batch_end(batch, saved);
    } else {
        fine = false;
    }
    PyMem_Free(chunk->text);
    PyMem_Free(chunk);
    if (fine && keys->fault != NULL)
        native_bad_argument(batch->state, keys->fault);
    return fine && keys->fault == NULL && batch->status == TAMIS_OK;
}

/* ---- what a buffer has ---- */

/* Where the items are.  Several dimensions are taken as one, if they lie in a row. */
static bool arrays_shape(const native_view *view, arrays_keys *keys) {
    if (view->ndim < 1 || view->shape == NULL) {
        PyErr_SetString(PyExc_TypeError, "a buffer of keys has a dimension");
        return false;
    }
    Py_ssize_t row = view->itemsize, n = 1;
    for (int i = view->ndim - 1; i >= 0; i--) {
        if (view->strides != NULL && view->ndim > 1 && view->strides[i] != row &&
            view->shape[i] > 1) {
            PyErr_SetString(PyExc_BufferError,
                            "a buffer of keys with several dimensions must be contiguous");
            return false;
        }
        row *= view->shape[i];
        n *= view->shape[i];
    }
    keys->first = view->buf;
    /* ctypes tells no strides. */
    keys->stride = view->ndim > 1 || view->strides == NULL ? view->itemsize : view->strides[0];
    keys->n = (size_t)n;
    keys->size = (size_t)view->itemsize;
    return true;
}

/* What the items are. */
static bool arrays_format(const native_view *view, arrays_keys *keys) {
    const uint16_t one = 1;
    const bool little = *(const unsigned char *)&one == 1;
    const char *format = view->format == NULL ? "B" : view->format;
    if (*format != '\0' && strchr("@=<>!", *format) != NULL) {
        keys->swapped =
            (*format == '<' && !little) || ((*format == '>' || *format == '!') && little);
        format++;
    }
    const char *const digits = format;
    format += strspn(format, "0123456789");
    if (*format == '\0' || format[1] != '\0')
        return false;
    if (*format == 's')
        keys->kind = ARRAYS_BYTES;
    else if (*format == 'w' && keys->size % 4 == 0)
        keys->kind = ARRAYS_TEXT;
    else if (format == digits && strchr("bBhHiIlLqQnN", *format) != NULL &&
             (keys->size == 1 || keys->size == 2 || keys->size == 4 || keys->size == 8))
        keys->kind = ARRAYS_INTEGERS;
    else
        return false;
    keys->is_signed = strchr("bhilqn", *format) != NULL;
    return true;
}

bool native_batch_view(native_batch *batch, native_view *view) {
    arrays_keys keys = {.kind = ARRAYS_INTEGERS};
    if (!arrays_shape(view, &keys))
        return false;
    if (!arrays_format(view, &keys)) {
        PyErr_Format(PyExc_TypeError,
                     "a buffer of keys has integers, bytes or text of a fixed size, not '%.20s'",
                     view->format == NULL ? "B" : view->format);
        return false;
    }
    return arrays_run(batch, &keys);
}

bool native_batch_offsets(native_batch *batch, PyObject *offsets, PyObject *data) {
    native_view places, bytes;
    if (PyObject_GetBuffer(offsets, &places, NATIVE_BUFFER_RECORDS) != 0)
        return false;
    if (PyObject_GetBuffer(data, &bytes, NATIVE_BUFFER_SIMPLE) != 0) {
        PyBuffer_Release(&places);
        return false;
    }
    arrays_keys keys = {.kind = ARRAYS_INTEGERS};
    bool fine = arrays_shape(&places, &keys);
    if (fine && (!arrays_format(&places, &keys) || keys.kind != ARRAYS_INTEGERS || keys.size < 4 ||
                 keys.n < 1)) {
        PyErr_SetString(PyExc_TypeError,
                        "offsets are integers of 4 or 8 bytes, one more than there are keys");
        fine = false;
    }
    if (fine) {
        keys.kind = ARRAYS_OFFSETS;
        keys.n--;
        keys.data = bytes.buf;
        keys.data_size = (size_t)bytes.len;
        fine = arrays_run(batch, &keys);
    }
    PyBuffer_Release(&bytes);
    PyBuffer_Release(&places);
    return fine;
}
