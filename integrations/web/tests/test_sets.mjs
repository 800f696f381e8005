/* test_sets.mjs PACKAGE TAMIS - sets of the module: answers, refusals, and files equal to those of the command line
 *
 * SPDX-License-Identifier: MIT
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [, , folder, tool] = process.argv;
const { load, TamisError } = await import(pathToFileURL(`${folder}/tamis.js`));
const tamis = await load();
const work = mkdtempSync(join(tmpdir(), "tamis-web-"));
process.on("exit", () => rmSync(work, { recursive: true, force: true }));
const run = (...args) => execFileSync(tool, args, { cwd: work });
const keys = Array.from({ length: 20000 }, (_, i) => `key number ${i}`);
const refuses = (status, call) => assert.throws(call, (e) => e instanceof TamisError && e.status === status);

function testEveryKindKeepsItsKeys() {
    for (const { name, deletes, forgets } of tamis.kinds) {
        const need = { n: keys.length, fpr: 0.01, kind: name, deletes: deletes && !forgets, ticks: forgets ? 4 : 0 };
        const set = tamis.create(need, { seed: 7 });
        for (const key of keys)
            set.add(key);
        assert.ok(keys.every((key) => set.has(key)), `${name}: a key is lost`);
        let wrong = 0;
        for (let i = 0; i < 20000; i++)
            wrong += set.has(`absent ${i}`);
        // 0.01 promised; mean 200, five standard deviations
        assert.ok(wrong < 270, `${name}: ${wrong} of 20000 absent keys are found`);
        const again = tamis.load(set.save());
        assert.ok(keys.every((key) => again.has(key)), `${name}: a key is lost in the file`);
        assert.deepEqual(again.save(), set.save());
        if (deletes) {
            for (const key of keys.slice(0, 1000))
                assert.ok(set.remove(key));
            assert.ok(keys.slice(1000).every((key) => set.has(key)), `${name}: removal lost a key`);
            assert.equal(set.info().count, keys.length - 1000);
        } else {
            refuses(5, () => set.remove("key number 1"));
        }
        set.free();
        again.free();
        refuses(1, () => set.has("x"));
    }
}

function testFilesEqualThoseOfTheCommandLine() {
    const texts = {
        plain: keys.join("\n") + "\n",
        "no end": keys.slice(0, 777).join("\n"),
        "empty lines": "\n\nα\n\nβ\nγ",
        empty: "",
        "long lines": "x".repeat(200000) + "\n" + "y".repeat(3000000),
    };
    const options = [
        [["-p", "0.001"], { fpr: 0.001 }],
        [["-p", "0.01", "--deletes"], { fpr: 0.01, deletes: true }],
        [["--kind", "dleft"], { kind: "dleft" }],
        [["--kind", "rank-counting", "--copies", "3"], { kind: "rank-counting", copies: 3 }],
        [["--hash", "xxh3", "-p", "1e-5"], { hash: "xxh3", fpr: 1e-5 }],
    ];
    let n = 0;
    for (const [name, text] of Object.entries(texts)) {
        writeFileSync(join(work, "keys"), text);
        for (const [args, need] of options) {
            run("build", "--seed", "12345", ...args, "-o", "set.tamis", "keys");
            const builder = tamis.builder(need, { seed: 12345 });
            const bytes = new TextEncoder().encode(text);
            for (let at = 0; at < bytes.length; at += 65537) // lines end anywhere
                builder.addText(bytes.subarray(at, at + 65537));
            const set = builder.build();
            assert.ok(Buffer.from(set.save()).equals(readFileSync(join(work, "set.tamis"))), `${name}: ${args}`);
            set.free();
            n++;
        }
    }
    return `${n} files equal`;
}

function testSetsOfOneAndOfTheOther() {
    const set = tamis.create({ n: 1000, fpr: 0.001 }, { seed: (99n << 64n) + 5n });
    for (let i = 0n; i < 1000n; i++)
        set.add(i);
    writeFileSync(join(work, "made.tamis"), set.save());
    run("verify", "made.tamis");
    assert.equal(run("query", "-c", "--u64", "made.tamis", "-e", "17").toString(), "1\n");
    const golden = tamis.create({ n: 100, fpr: 0.01, kind: "rank" }, { seed: 3 });
    assert.equal(golden.copies("a"), 0);
    golden.add("a");
    golden.add("a");
    assert.equal(golden.copies("a"), 2);
}

function testSetsCarryTheRateThatWasPromised() {
    const need = { n: 100, fpr: 0.004 }, plan = tamis.plan(need), set = tamis.create(plan);
    assert.equal(plan.fprPromised, 0.004);
    const builder = tamis.builder(need);
    builder.addText("a\nb\n");
    for (const one of [set, tamis.create(need), tamis.load(set.save()), builder.build()]) {
        const info = one.info();
        assert.equal(info.fprPromised, 0.004);
        assert.equal(info.fileBytes, one.save().length);
    }
    assert.equal(plan.fileBytes, set.save().length);
    assert.equal(tamis.create({ n: 100 }).info().fprPromised, 0.01);
    assert.equal(tamis.create({ ...plan, fprPromised: 0 }).info().fprPromised, 0);
}

function testRefusals() {
    refuses(1, () => tamis.plan({ n: 10, fpr: 2 }));
    refuses(1, () => tamis.plan({ n: 10, fpr: NaN }));
    refuses(1, () => tamis.plan({ n: 10, kind: "no-such-kind" }));
    assert.throws(() => tamis.plan({ n: 10, kind: "line-set" }), /use 'line'/);
    assert.throws(() => tamis.create({ ...tamis.plan({ n: 10 }), kind: "line-set" }), /use 'line'/);
    refuses(5, () => tamis.plan({ n: 10, kind: "bloom", deletes: true }));
    refuses(10, () => tamis.load(new Uint8Array(1000)));
    refuses(10, () => tamis.load(new Uint8Array(0)));
    refuses(8, () => tamis.create({ n: 2 ** 36, fpr: 0.001 })); // planned for a server, too large for here
    assert.throws(() => tamis.create({ n: 10, fpr: 0.1 }).add(17), TypeError);
    const file = tamis.create({ n: 1000, fpr: 0.01 }, { seed: 1 }).save();
    for (const size of [1, 100, 255, 256, 300, file.length - 1])
        refuses(10, () => tamis.load(file.slice(0, size)));
    for (let at = 0; at < 400; at += 3) {
        const bad = file.slice();
        bad[at] ^= 0x10;
        assert.throws(() => tamis.load(bad), TamisError, `a change at ${at} is not seen`);
    }
    const full = tamis.create({ n: 100, fpr: 0.01, kind: "rank" }, { seed: 1 });
    refuses(3, () => keys.forEach((key) => full.add(key)));
}

function testNeedsAreWhatWasMeant() {
    for (const need of [{ fpr: 0 }, { n: 0 }, { bytes: 0 }, { n: -1 }, { n: 1.5 }, { n: NaN }, { fpr: -0.1 }, { copies: 1.5 }, { ticks: -1 }, { order: "x" },
        { hash: "x" }, { kind: "" }, { overshoot: -1 }]) {
        refuses(1, () => tamis.plan({ n: 10, fpr: 0.1, ...need }));
        refuses(1, () => tamis.create({ n: 10, fpr: 0.1, ...need }));
        refuses(1, () => tamis.builder({ n: 10, fpr: 0.1, ...need }));
    }
    assert.throws(() => tamis.plan({ n: 10, fpr: 0 }), /fpr is above 0/);
    assert.deepEqual(tamis.plan({ n: 10, fpr: undefined, kind: null }), tamis.plan({ n: 10 }));
    tamis.builder({}).free(); // n is counted
}

function testKeysAreNotWrapped() {
    const set = tamis.create({ n: 100, fpr: 1e-6 }, { seed: 1 });
    set.add(2n ** 64n - 1n);
    set.add("\ufffd");
    set.add("\u{1f600}");
    for (const call of [(key) => set.add(key), (key) => set.has(key), (key) => set.remove(key), (key) => set.copies(key)]) {
        for (const key of [-1n, 2n ** 64n, 2n ** 64n + 5n])
            assert.throws(() => call(key), RangeError);
        for (const key of ["\ud800", "a\udc00b", "\ude00\ud83d", "x".repeat(100000) + "\ud800"])
            assert.throws(() => call(key), TypeError);
    }
    const builder = tamis.builder({ fpr: 0.01 }, { seed: 1 });
    assert.throws(() => builder.addText("a\n\ud800\n"), TypeError);
    assert.equal(builder.count, 0);
    builder.free();
    assert.equal(set.info().count, 3);
    for (const seed of [0, -1, 2n ** 128n, 1.5])
        assert.throws(() => tamis.create({ n: 10 }, { seed }), RangeError);
    assert.throws(() => tamis.create({ n: 10, hash: "xxh3" }, { seed: 2n ** 64n }), RangeError);
}

function testDatesAreTheirText() {
    const set = tamis.create({ n: 100, fpr: 1e-6 }, { seed: 1 });
    set.add(new Date(Date.UTC(2026, 2, 1, 8, 5, 0)));
    set.add(new Date(Date.UTC(2026, 2, 1, 8, 5, 0, 250)));
    assert.ok(set.has("2026-03-01T08:05:00Z") && set.has("2026-03-01T08:05:00.250000Z"));
    assert.equal(set.info().count, 2);
    assert.throws(() => set.add(new Date(NaN)), RangeError);
    assert.throws(() => set.add(new Date(Date.UTC(12026, 0, 1))), RangeError);
}

function testRefusalsNameTheMember() {
    const says = (text, call) => assert.throws(call, (error) => error instanceof TamisError && (assert.equal(error.message, text), true));
    says("fpr is 1.5, but must be above 0 and below 1", () => tamis.plan({ n: 10, fpr: 1.5 }));
    says("valueBits is 9, but must be 1 to 8", () => tamis.planAll({ n: 10, valueBits: 9 }));
    says("no kind can do merges, copies of 3 and valueBits of 4 together; possible without merges, copies or valueBits",
        () => tamis.create({ n: 1000, merges: true, copies: 3, valueBits: 4 }, { seed: 1 }));
    const plan = tamis.plan({ n: 10, kind: "bloom" });
    says("hashes is 99, which is out of its range", () => tamis.create({ ...plan, params: { ...plan.params, hashes: 99 } }, { seed: 1 }));
    says("counting-bloom has no values (valueBits is 4); these have: rank, line, steady",
        () => tamis.builder({ fpr: 0.01, kind: "counting-bloom", valueBits: 4 }, { seed: 1 }).build());
}

function testReasonsAreNotThoseOfCallsBefore() {
    assert.throws(() => tamis.load(new Uint8Array(1000)), (error) => {
        refuses(8, () => tamis.create({ n: 2 ** 36, fpr: 0.001 }));
        assert.throws(() => tamis.create({ n: 2 ** 36, fpr: 0.001 }), (later) => later.message !== error.message);
        return true;
    });
    const builder = tamis.builder({ fpr: 0.01, kind: "bloom", deletes: true }, { seed: 1 });
    assert.throws(() => tamis.load(new Uint8Array(1000)), (error) => {
        assert.throws(() => builder.build(), (later) => later.status === 5 && later.message !== error.message);
        return true;
    });
}

/** Each bit of a seed that is drawn is 0 now and 1 then. */
function testSeedsAreDrawnWhole() {
    let all = 0n, any = 0n;
    for (let i = 0; i < 64; i++) {
        const file = tamis.create({ n: 10, fpr: 0.1 }).save();
        const view = new DataView(file.buffer);
        const seed = view.getBigUint64(192, true) << 64n | view.getBigUint64(32, true);
        any |= seed;
        all |= seed ^ (2n ** 128n - 1n);
    }
    assert.equal(any, 2n ** 128n - 1n);
    assert.equal(all, 2n ** 128n - 1n);
}

function testMemoryIsGivenBack() {
    const before = tamis._wasm.memory.buffer.byteLength;
    for (let i = 0; i < 2000; i++)
        tamis.create({ n: 100000, fpr: 0.01, kind: "bloom" }).free();
    assert.ok(tamis._wasm.memory.buffer.byteLength <= before + 2 ** 22, "memory grows");
}

for (const test of [testEveryKindKeepsItsKeys, testFilesEqualThoseOfTheCommandLine, testSetsOfOneAndOfTheOther, testSetsCarryTheRateThatWasPromised,
    testRefusals, testRefusalsNameTheMember, testNeedsAreWhatWasMeant, testKeysAreNotWrapped, testDatesAreTheirText, testReasonsAreNotThoseOfCallsBefore, testSeedsAreDrawnWhole,
    testMemoryIsGivenBack])
    console.log(`ok: ${test.name} ${test() ?? ""}`);
