/**
 * A key: text (its UTF-8 bytes), bytes, an integer from 0 to 2^64 - 1 (its 8 bytes, the lowest first), or a moment
 * (its text in UTC, as docs/keys.md says).  A RangeError for other integers, a TypeError for half of a pair of
 * surrogates, which is no text.
 */
export type Key = string | Uint8Array | bigint | Date;

export type Kind =
    | "bloom" | "counting-bloom" | "blocked-bloom" | "dleft" | "dleft-counting" | "dleft-dynamic" | "rank"
    | "rank-counting" | "balanced-bloom" | "line" | "steady" | "window";

/**
 * What a set is for.  Of keys, error rate and bytes the planner finds what is not given.  What is left out
 * has the default of `tamis plan`; what is given is a number that it can be: a 0 for n, fpr or bytes is refused.
 */
export interface Need {
    /** Keys at most in the set at one time, up to 2^40. */
    n?: number;
    /** Error rate when n keys are in, 0 < fpr < 1. */
    fpr?: number;
    /** Bytes that the set may take. */
    bytes?: number;
    /** Only this kind. */
    kind?: Kind | "any";
    /** Keys will be removed. */
    deletes?: boolean;
    /** The set will be made of all keys at once (a Builder). */
    offline?: boolean;
    /** It may outgrow n, and gets half of the error rate. */
    grows?: boolean;
    /** Copies of one key that must be counted, up to 255. */
    copies?: number;
    /** Bits of a value kept with each key, up to 8. */
    valueBits?: number;
    /** Which of several plans is the best. */
    order?: "balanced" | "bytes" | "speed" | "lines" | "weighted";
    /** Keys beyond n, as a fraction of n. */
    overshoot?: number;
    /** Cache lines that a query may read on average, 1 or more. */
    linesMax?: number;
    /** Odds that one of the first n inserts is refused. */
    failureMax?: number;
    /** Order "weighted": what a line is worth, in bits per key. */
    lineBits?: number;
    /** How often each key will be replaced by another; 0: for ever, if keys are removed. */
    replacements?: number;
    /** Sets will be merged. */
    merges?: boolean;
    hash?: "aes" | "xxh3";
    /** Keys are forgotten after so many ticks, up to 126. */
    ticks?: number;
    /** Threads that share the set, up to 1024; of plan() alone. */
    threads?: number;
}

export interface Params {
    kind: Kind;
    /** Parameters by name, as `tamis plan --json` has them. */
    params: Record<string, number>;
    hash: "aes" | "xxh3";
    capacity: number;
    stash: number;
    /** The error rate that was promised, and that the set carries; 0: none. */
    fprPromised: number;
}

/** What will be built, and what it promises. */
export interface Plan extends Params {
    n: number;
    bytes: number;
    bitsPerKey: number;
    /** log2(1/fpr): no filter with this error rate can be smaller. */
    boundBitsPerKey: number;
    /** Error rate at capacity, and when half of the keys are in. */
    fpr: number;
    fprHalf: number;
    /** That an insert up to the capacity finds no room. */
    overflowProbability: number;
    /** Cache lines that a query for an absent key reads, and that an insert touches, on average. */
    linesPerQuery: number;
    linesPerInsert: number;
    /** For a kind that ages: replacements of all keys for which the promise holds. */
    replacements: number | null;
    /** Sets that the keys are spread over, of a set that threads share. */
    shards: number;
    /** Of a file of it, headers and checksums included; 0 for a set that threads share. */
    fileBytes: number;
    /** Nanoseconds of a call on a typical machine, by a formula, from memory and in cache; 0 where there is none. */
    nsInsert: number;
    nsLookup: number;
    nsRemove: number;
    nsInsertCached: number;
    nsLookupCached: number;
    nsRemoveCached: number;
    /** What a set of this plan can do: at most what its kind can. */
    deletes: boolean;
    merges: boolean;
    counts: boolean;
}

/** What a set is, and how it fares now. */
export interface Info extends Params {
    count: number;
    bytes: number;
    fpr: number;
    links: number;
    shards: number;
    /** Of a file of it: headers and checksums included. */
    fileBytes: number;
    keyForm: "unknown" | "bytes" | "u64";
}

export interface KindInfo {
    name: Kind;
    deletes: boolean;
    counts: boolean;
    merges: boolean;
    forgets: boolean;
}

/** What the library refuses; `status` is the number of tamis_status. */
export class TamisError extends Error {
    status: number;
}

/** A set.  Free it when it is no longer needed; one that is forgotten is freed some time later. */
export interface TamisSet {
    /** True if the key was new, false if it was (probably) there.  Throws if there is no room. */
    add(key: Key): boolean;
    /** False is certain, true holds up to the error rate. */
    has(key: Key): boolean;
    /** Remove a key that was added; false if it is certainly not there.  Throws if the kind cannot. */
    remove(key: Key): boolean;
    /** Copies of the key, never less than the true number. */
    copies(key: Key): number;
    /** Note what the keys are, for those who load the file. */
    setKeyForm(form: "bytes" | "u64"): void;
    info(): Info;
    /** The bytes of a file, the same as the command line writes. */
    save(): Uint8Array;
    /** For plots: fill an empty set with n keys in equal steps; the error rate after each of them. */
    fill(n: number, steps: number): number[];
    free(): void;
}

/** Keys on their way into a set that is made of all of them. */
export interface Builder {
    readonly count: number;
    add(key: Key): void;
    /** Keys, one per line; a line may be continued by the next call. */
    addText(text: string | Uint8Array): void;
    /** The set, as `tamis build` makes it.  The builder is then used up. */
    build(keyForm?: "bytes" | "u64"): TamisSet;
    free(): void;
}

export interface Tamis {
    readonly version: string;
    readonly kinds: KindInfo[];
    /** The best plan for a need. */
    plan(need: Need): Plan;
    /** The plan of each kind that can do it, the best first. */
    planAll(need: Need): Plan[];
    /** An empty set, for a need or from a plan.  A seed has 128 bits (xxh3: 64), not all 0; without one it is random. */
    create(what: Need | Plan, options?: { seed?: bigint | number }): TamisSet;
    builder(need: Need, options?: { seed?: bigint | number }): Builder;
    /** A set from the bytes of a file.  Throws a TamisError that says what is wrong. */
    load(bytes: Uint8Array): TamisSet;
}

/** Load the module: from tamis.wasm beside tamis.js, or from what is given. */
export function load(
    source?: BufferSource | WebAssembly.Module | Response | Promise<Response>): Promise<Tamis>;
