/* test_plans.mjs PACKAGE PLANS [ROWS] [SEED] - the module plans as the library does on this machine
 *
 * PACKAGE is the folder of tamis.js and tamis.wasm, PLANS the program plans.c.  Kinds, parameters, sizes and statuses are
 * equal; real numbers differ by no more than the two C libraries' mathematics, 1e-9 of their value.  The odds of failure
 * are far tails, which amplify it: 1e-5.
 *
 * SPDX-License-Identifier: MIT
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , folder, program, rows = process.env.TAMIS_TEST_LONG ? "10000" : "300", seed = "1"] = process.argv;
const { load } = await import(pathToFileURL(`${folder}/tamis.js`));
const tamis = await load();
const wasm = tamis._wasm;
const text = program.endsWith(".txt") ? readFileSync(program, "utf8")
    : execFileSync(program, [rows, seed], { maxBuffer: 1 << 30 }).toString();
const NEEDS = 18, PLAN = 31, PARAMS = 20;
// Places of a plan that are counted, not measured: its parameters, n, bytes, replacements and shards.
const COUNTED = new Set([...Array(PARAMS).keys(), PARAMS, PARAMS + 1, PARAMS + 9, PARAMS + 10]);
const ODDS = PARAMS + 6;
let needs = 0, plans = 0, equal = 0, worst = 0, failures = 0;

function compare(got, want, need) {
    plans++;
    let same = true;
    for (let k = 0; k < PLAN; k++) {
        if (got[k] === want[k])
            continue;
        same = false;
        const error = Math.abs(got[k] - want[k]) / Math.max(Math.abs(got[k]), Math.abs(want[k]));
        if (!COUNTED.has(k))
            worst = Math.max(worst, error);
        if ((COUNTED.has(k) || error > (k === ODDS ? 1e-5 : 1e-9)) && failures++ < 10)
            console.log(`FAIL: number ${k} is ${got[k]}, not ${want[k]}; kind ${want[0]}, need ${need.join(" ")}`);
    }
    equal += same;
}

const lines = text.split("\n");
for (let at = 0; lines[at]?.startsWith("need "); needs++) {
    const need = lines[at++].split(" ").slice(1).map(Number);
    const n = Number(lines[at++].split(" ")[1]);
    const numbers = tamis._numbers();
    numbers.set(need.slice(0, NEEDS));
    const threads = need[NEEDS];
    const got = threads > 0 ? wasm.plan_shared(threads) : wasm.plan(1);
    if (got !== n) {
        if (failures++ < 10)
            console.log(`FAIL: ${got} plans, not ${n}; need ${need.join(" ")}`);
        at += Math.max(n, 0);
        continue;
    }
    const answers = tamis._numbers();
    for (let i = 0; i < n; i++)
        compare(answers.subarray(i * PLAN, (i + 1) * PLAN), lines[at++].trim().split(" ").map(Number), need);
}
console.log(`${needs} needs, ${plans} plans, seed ${seed}: ${equal} equal to the last bit, ` +
    `the others within ${worst.toExponential(1)}`);
if (plans === 0 || failures > 0) {
    console.log(`FAIL: ${failures} differences`);
    process.exit(1);
}
