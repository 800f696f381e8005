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
        const need = { n: keys.length, fpr: 0.01, kind: name, ticks: forgets ? 4 : 0 };
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
    assert.equal(golden.info().fprPromised, 0);
}

function testRefusals() {
    refuses(1, () => tamis.plan({ n: 10, fpr: 2 }));
    refuses(1, () => tamis.plan({ n: 10, fpr: NaN }));
    refuses(1, () => tamis.plan({ n: 10, kind: "no-such-kind" }));
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

function testMemoryIsGivenBack() {
    const before = tamis._wasm.memory.buffer.byteLength;
    for (let i = 0; i < 2000; i++)
        tamis.create({ n: 100000, fpr: 0.01, kind: "bloom" }).free();
    assert.ok(tamis._wasm.memory.buffer.byteLength <= before + 2 ** 22, "memory grows");
}

for (const test of [testEveryKindKeepsItsKeys, testFilesEqualThoseOfTheCommandLine, testSetsOfOneAndOfTheOther,
    testRefusals, testMemoryIsGivenBack])
    console.log(`ok: ${test.name} ${test() ?? ""}`);
