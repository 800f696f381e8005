/* tamis.js - sets of tamis in JavaScript: a thin layer over tamis.wasm
 *
 *     import { load } from "tamis";
 *     const tamis = await load();
 *     const set = tamis.create({ n: 1000000, fpr: 0.001 });
 *     set.add("apple");
 *     set.has("apple"); // true; for keys that are not there it is wrong once in a thousand
 *
 * Everything is computed by the library; nothing is computed again here.  tamis.d.ts is the reference.
 *
 * SPDX-License-Identifier: MIT
 */

// Places in the array of numbers, as in web.c.
const NEED = ["n", "fpr", "kind", "deletes", "offline", "grows", "copies", "valueBits", "order", "bytes",
    "overshoot", "linesMax", "failureMax", "lineBits", "replacements", "merges", "hash", "ticks"];
const PARAMS_MAX = 16;
const PARAMS = { kind: 0, hash: 1, capacity: 2, stash: 3, fpr: 4, values: 5, end: 5 + PARAMS_MAX };
const PLAN = ["n", "bytes", "bitsPerKey", "boundBitsPerKey", "fpr", "fprHalf", "overflowProbability",
    "linesPerQuery", "linesPerInsert", "replacements", "shards", "fileBytes", "nsInsert", "nsLookup", "nsRemove",
    "nsInsertCached", "nsLookupCached", "nsRemoveCached"];
const INFO = ["count", "bytes", "fpr", "capacity", "fprPromised", "links", "shards", "keyForm", "fileBytes"];
const PLAN_END = PARAMS.end + PLAN.length;
const ORDERS = ["balanced", "bytes", "speed", "lines", "weighted"];
const HASHES = ["", "xxh3", "aes"];
const FORMS = ["unknown", "bytes", "u64"];
const KINDS_MAX = 64;
const SCRATCH = 65536;
const COUNTS = new Set(["n", "copies", "valueBits", "bytes", "replacements", "ticks"]);
const POSITIVE = new Set(["n", "fpr", "bytes"]);
const CAN = { remove: 1, count: 2, merge: 4, forget: 8 };
const E_ARGUMENT = 1;
const E_NOMEM = 2;

// Seeds are drawn by it.  Node 18 keeps it in a module, from where load() takes it.
let random = globalThis.crypto;

/** What the library refuses.  'status' is the number of tamis_status. */
export class TamisError extends Error {
    constructor(status, text) {
        super(text);
        this.name = "TamisError";
        this.status = status;
    }
}

/** A set in the module's memory. */
class TamisSet {
    #tamis;
    #handle;

    constructor(tamis, handle) {
        this.#tamis = tamis;
        this.#handle = handle;
        tamis._own(this, handle);
    }

    #live() {
        if (this.#handle === 0)
            throw new TamisError(E_ARGUMENT, "the set was freed");
        return this.#handle;
    }

    add(key) {
        return this.#tamis._withKey(key, (at, size) => this.#tamis._check(
            this.#tamis._wasm.add(this.#live(), at, size))) === 1;
    }

    has(key) {
        return this.#tamis._withKey(key, (at, size) => this.#tamis._wasm.has(this.#live(), at, size)) === 1;
    }

    remove(key) {
        return this.#tamis._withKey(key, (at, size) => this.#tamis._check(
            this.#tamis._wasm.remove_key(this.#live(), at, size))) === 1;
    }

    copies(key) {
        return this.#tamis._withKey(key, (at, size) => this.#tamis._wasm.copies(this.#live(), at, size));
    }

    setKeyForm(form) {
        this.#tamis._check(this.#tamis._wasm.set_key_form(this.#live(), FORMS.indexOf(form)));
    }

    info() {
        const tamis = this.#tamis;
        tamis._check(tamis._wasm.info(this.#live()));
        const numbers = tamis._numbers();
        const info = tamis._params(numbers);
        INFO.forEach((name, i) => { info[name] = numbers[PARAMS.end + i]; });
        info.keyForm = FORMS[info.keyForm];
        return info;
    }

    save() {
        const tamis = this.#tamis;
        const size = tamis._wasm.encoded_size(this.#live());
        return tamis._withMemory(size, (at) => {
            tamis._check(tamis._wasm.encode(this.#handle, at, size));
            return tamis._bytes(at, size).slice();
        });
    }

    /** Fill an empty set with n keys in equal steps: the error rates after each of them. */
    fill(n, steps) {
        const tamis = this.#tamis;
        return tamis._withMemory(8 * steps, (at) => {
            const taken = tamis._check(tamis._wasm.fill(this.#live(), n, steps, at));
            return Array.from(new Float64Array(tamis._wasm.memory.buffer, at, taken));
        });
    }

    free() {
        if (this.#handle === 0)
            return;
        this.#tamis._disown(this);
        this.#tamis._wasm.free_set(this.#handle);
        this.#handle = 0;
    }
}

/** Keys on their way into a set that is made of all of them. */
class Builder {
    #tamis;
    #handle;
    #need;

    constructor(tamis, need, handle) {
        this.#tamis = tamis;
        this.#need = need;
        this.#handle = handle;
    }

    #live() {
        if (this.#handle === 0)
            throw new TamisError(E_ARGUMENT, "the builder was used up");
        return this.#handle;
    }

    get count() {
        return this.#tamis._wasm.builder_count(this.#live());
    }

    add(key) {
        this.#tamis._withKey(key, (at, size) => this.#tamis._check(
            this.#tamis._wasm.builder_add(this.#live(), at, size)));
    }

    /** Keys, one per line; a line may be continued by the next call. */
    addText(text) {
        const bytes = typeof text === "string" ? this.#tamis._encoder.encode(wellFormed(text)) : text;
        for (let from = 0; from < bytes.length; from += 1 << 20) {
            const part = bytes.subarray(from, from + (1 << 20));
            this.#tamis._withBytes(part, (at, size) => this.#tamis._check(
                this.#tamis._wasm.builder_text(this.#live(), at, size)));
        }
    }

    /** The set; the builder is freed. */
    build(keyForm = "bytes") {
        const tamis = this.#tamis;
        try {
            tamis._putNeed(this.#need);
            const handle = tamis._make((place) => tamis._wasm.builder_build(this.#live(),
                FORMS.indexOf(keyForm), place), ofNeeds);
            return new TamisSet(tamis, handle);
        } finally {
            this.free();
        }
    }

    free() {
        this.#tamis._wasm.builder_free(this.#handle);
        this.#handle = 0;
    }
}

/** One instance of the module, with its memory. */
class Tamis {
    constructor(wasm) {
        this._wasm = wasm;
        this._encoder = new TextEncoder();
        this._decoder = new TextDecoder();
        this._scratch = wasm.allocate(SCRATCH);
        this._kinds = [];
        this._finished = typeof FinalizationRegistry === "undefined"
            ? null : new FinalizationRegistry((handle) => wasm.free_set(handle));
        this.version = this._text(wasm.version());
        for (let kind = 1; kind < KINDS_MAX; kind++) {
            const name = this._text(wasm.kind_name(kind));
            if (name !== null)
                this._kinds[kind] = name;
        }
    }

    /** The kinds of sets, and what each can do. */
    get kinds() {
        return this._kinds.map((name, kind) => {
            const able = this._wasm.kind_abilities(kind);
            return { name, deletes: (able & CAN.remove) !== 0, counts: (able & CAN.count) !== 0,
                merges: (able & CAN.merge) !== 0, forgets: (able & CAN.forget) !== 0 };
        }).filter(Boolean);
    }

    plan(need) {
        this._putNeed(need);
        this._checkMade(need.threads > 0 ? this._wasm.plan_shared(need.threads) : this._wasm.plan(0), ofNeeds);
        return this._plan(0);
    }

    planAll(need) {
        this._putNeed(need);
        const n = this._checkMade(this._wasm.plan(1), ofNeeds);
        return Array.from({ length: n }, (_, i) => this._plan(i));
    }

    /** An empty set, for a need or from a plan. */
    create(what, options = {}) {
        const plan = what.params === undefined ? this.plan(what) : what;
        const numbers = this._numbers();
        const kind = choice(plan.kind, this._kinds, "kind");
        numbers.fill(0, 0, PARAMS.end);
        numbers[PARAMS.kind] = kind;
        numbers[PARAMS.hash] = Math.max(HASHES.indexOf(plan.hash), 0);
        numbers[PARAMS.capacity] = plan.capacity;
        numbers[PARAMS.stash] = plan.stash ?? 0;
        numbers[PARAMS.fpr] = plan.fprPromised ?? 0;
        for (let i = 0; i < PARAMS_MAX; i++) {
            const name = this._text(this._wasm.param_name(kind, i));
            numbers[PARAMS.values + i] = (name !== null && plan.params[name]) || 0;
        }
        const [low, high] = seedWords(options.seed, plan.hash);
        return new TamisSet(this, this._make((place) => this._wasm.create(low, high, place)));
    }

    /** A builder: keys are added, then the set is made, as 'tamis build' makes it. */
    builder(need, options = {}) {
        const hash = HASHES.indexOf(need.hash ?? "aes");
        const [low, high] = seedWords(options.seed, HASHES[hash]);
        const handle = this._wasm.builder_new(hash, low, high);
        if (handle === 0)
            throw new TamisError(E_ARGUMENT, "no such hash or seed, or no memory");
        try {
            this._putNeed(need);
        } catch (error) {
            this._wasm.builder_free(handle);
            throw error;
        }
        return new Builder(this, { ...need, fpr: need.fpr ?? 0.01 }, handle);
    }

    /** A set from the bytes of a file. */
    load(bytes) {
        return new TamisSet(this, this._withBytes(bytes, (at, size) =>
            this._make((place) => this._wasm.decode(at, size, place))));
    }

    // ---- between here and the module ----

    _own(set, handle) {
        this._finished?.register(set, handle, set);
    }

    _disown(set) {
        this._finished?.unregister(set);
    }

    // Memory may grow and then is another buffer: views are made anew for each use.
    _numbers() {
        return new Float64Array(this._wasm.memory.buffer, this._wasm.numbers(), 32 * PLAN_END);
    }

    _bytes(at, size) {
        return new Uint8Array(this._wasm.memory.buffer, at, size);
    }

    _text(at) {
        if (at === 0)
            return null;
        const memory = new Uint8Array(this._wasm.memory.buffer);
        return this._decoder.decode(memory.slice(at, memory.indexOf(0, at)));
    }

    _check(result) {
        if (result < 0)
            throw new TamisError(-result, this._text(this._wasm.status_text(-result)));
        return result;
    }

    /** The same of what plans or makes a set, and leaves a reason; 'told' may change its words. */
    _checkMade(result, told = (why) => why) {
        const why = result < 0 ? this._text(this._wasm.reason()) : null;
        if (why !== null)
            throw new TamisError(-result, told(why));
        return this._check(result);
    }

    /** Call with a place where a handle is written. */
    _make(call, told) {
        return this._withMemory(4, (place) => {
            this._checkMade(call(place), told);
            return new Uint32Array(this._wasm.memory.buffer, place, 1)[0];
        });
    }

    _withMemory(size, use) {
        const at = this._wasm.allocate(size);
        if (at === 0)
            throw new TamisError(E_NOMEM, this._text(this._wasm.status_text(E_NOMEM)));
        try {
            return use(at);
        } finally {
            this._wasm.release(at);
        }
    }

    _withBytes(bytes, use) {
        if (bytes.length > SCRATCH)
            return this._withMemory(bytes.length, (at) => {
                this._bytes(at, bytes.length).set(bytes);
                return use(at, bytes.length);
            });
        this._bytes(this._scratch, bytes.length).set(bytes);
        return use(this._scratch, bytes.length);
    }

    _withKey(key, use) {
        if (typeof key === "string" && key.length * 3 <= SCRATCH) {
            const size = this._encoder.encodeInto(wellFormed(key), this._bytes(this._scratch, SCRATCH)).written;
            return use(this._scratch, size);
        }
        return this._withBytes(keyBytes(key, this._encoder), use);
    }

    /** What is left out is a 0 there, and so the default; what is given is a number that a need can have. */
    _putNeed(need) {
        const numbers = this._numbers();
        NEED.forEach((name, i) => { numbers[i] = this._needed(name, need[name]); });
    }

    _needed(name, value) {
        if (value === undefined || value === null)
            return 0;
        if (name === "kind")
            return value === "any" ? 0 : choice(value, this._kinds, "kind");
        if (name === "order")
            return choice(value, ORDERS, "order");
        if (name === "hash")
            return choice(value, HASHES, "hash");
        const number = Number(value);
        const why = Number.isNaN(number) || number < 0 ? "is a number, 0 or more"
            : COUNTS.has(name) && !Number.isInteger(number) ? "is a whole number"
            : number === 0 && POSITIVE.has(name) ? "is above 0; leave it out if it is to be found" : null;
        if (why !== null)
            throw new TamisError(E_ARGUMENT, `${name} ${why}, not ${value}`);
        return number;
    }

    _params(numbers, from = 0) {
        const kind = numbers[from + PARAMS.kind];
        const params = {};
        for (let i = 0; i < PARAMS_MAX; i++) {
            const name = this._text(this._wasm.param_name(kind, i));
            if (name === null)
                break;
            params[name] = numbers[from + PARAMS.values + i];
        }
        return { kind: this._kinds[kind], params, hash: HASHES[numbers[from + PARAMS.hash]],
            capacity: numbers[from + PARAMS.capacity], stash: numbers[from + PARAMS.stash],
            fprPromised: numbers[from + PARAMS.fpr] };
    }

    _plan(index) {
        const numbers = this._numbers().slice(index * PLAN_END, (index + 1) * PLAN_END);
        const plan = this._params(numbers);
        PLAN.forEach((name, i) => { plan[name] = numbers[PARAMS.end + i]; });
        if (plan.replacements === 0)
            plan.replacements = null;
        const able = this._wasm.plan_abilities(index);
        plan.deletes = (able & CAN.remove) !== 0;
        plan.merges = (able & CAN.merge) !== 0;
        plan.counts = (able & CAN.count) !== 0;
        return plan;
    }
}

/** A reason of the library, with the members of a need as they are called here. */
function ofNeeds(why) {
    return why.replace(/\b(value|lines|failure|line)_(bits|max)\b/g, (_, first, [initial, ...rest]) =>
        first + initial.toUpperCase() + rest.join(""));
}

/** The number of a name, which is its place in a list. */
function choice(name, names, what) {
    const at = typeof name === "string" && name !== "" ? names.indexOf(name) : -1;
    if (what === "kind" && name === "line-set")
        throw new TamisError(E_ARGUMENT, "there is no kind 'line-set' any more: use 'line'");
    if (at < 0)
        throw new TamisError(E_ARGUMENT, `there is no ${what} '${name}'`);
    return at;
}

/** The text itself.  Half of a pair of surrogates has no UTF-8: all of them would be one key. */
function wellFormed(text) {
    if (text.isWellFormed?.() ?? !/\p{Surrogate}/u.test(text))
        return text;
    throw new TypeError("a key is no text: it has half of a pair of surrogates");
}

/** A moment as docs/keys.md has it: in UTC, the fraction of the second with 6 digits if there is one. */
function moment(date) {
    if (Number.isNaN(date.getTime()) || date.getUTCFullYear() < 0 || date.getUTCFullYear() > 9999)
        throw new RangeError("a date that is a key is of the years 0 to 9999");
    return date.toISOString().replace(/\.(\d{3})Z$/, (_, digits) => digits === "000" ? "Z" : `.${digits}000Z`);
}

/** The bytes of a key: text as UTF-8, bytes as they are, an integer as its 8 bytes, the lowest first. */
function keyBytes(key, encoder) {
    if (typeof key === "string")
        return encoder.encode(wellFormed(key));
    if (key instanceof Uint8Array)
        return key;
    if (typeof key === "bigint") {
        if (key < 0n || key >= 1n << 64n)
            throw new RangeError("an integer key is from 0 to 2^64 - 1");
        const bytes = new Uint8Array(8);
        new DataView(bytes.buffer).setBigUint64(0, key, true);
        return bytes;
    }
    if (key instanceof Date)
        return encoder.encode(moment(key));
    throw new TypeError("a key is a string, a Uint8Array, a bigint or a Date");
}

/** The two words of a seed; a random one, of as many bits as the hash takes, if none is given. */
function seedWords(seed, hash) {
    if (seed === undefined) {
        const words = new BigUint64Array(2);
        do {
            random.getRandomValues(words);
            if (hash === "xxh3")
                words[1] = 0n;
        } while (words[0] === 0n && words[1] === 0n);
        return [words[0], words[1]];
    }
    const number = BigInt(seed);
    if (number < 1n || number >= 1n << (hash === "xxh3" ? 64n : 128n))
        throw new RangeError(`a seed is from 1 to 2^${hash === "xxh3" ? 64 : 128} - 1`);
    return [BigInt.asUintN(64, number), number >> 64n];
}

async function readModule(source) {
    if (source === undefined) {
        const url = new URL("tamis.wasm", import.meta.url);
        if (url.protocol === "file:" && typeof process !== "undefined" && process.versions?.node)
            return (await import("node:fs/promises")).readFile(url);
        source = fetch(url);
    }
    source = await source;
    return typeof Response !== "undefined" && source instanceof Response ? source.arrayBuffer() : source;
}

/** Load the module: from the file beside this one, or from what is given. */
export async function load(source) {
    random ??= (await import("node:crypto")).webcrypto;
    const from = await readModule(source);
    const module = from instanceof WebAssembly.Module ? from : await WebAssembly.compile(from);
    const instance = await WebAssembly.instantiate(module, {});
    instance.exports._initialize();
    return new Tamis(instance.exports);
}
