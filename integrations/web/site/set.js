/* set.js - a set in the page: made from a file of keys or opened, asked, and saved
 *
 * SPDX-License-Identifier: MIT
 */
"use strict";

const $ = (id) => document.getElementById(id);
const engine = new Engine();
let info = null, saved = null, name = "set";
const seed = new URLSearchParams(location.hash.slice(1)).get("seed") ?? undefined; // for the tests
const count = (n) => n.toLocaleString("en");
const size = (bytes) => bytes < 1024 ? `${bytes} B` : bytes < 2 ** 20 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 2 ** 20).toFixed(2)} MiB`;
const MAGIC = ["\x89TAMIS\r\n", "\x89TAMCF\r\n"];

function show(answer, how) {
    info = answer.info;
    saved = answer.bytes;
    const bits = info.count > 0 ? (8 * info.bytes / info.count).toFixed(2) : "–";
    $("made").innerHTML = `<p class="verdict">${how} in <data value="${answer.milliseconds}">${Math.round(answer.milliseconds)} ms</data></p>
        <table><tbody>
        <tr><th scope="row">kind</th><td id="made-kind"></td></tr>
        <tr><th scope="row">keys</th><td><data id="made-count" value="${info.count}">${count(info.count)}</data></td></tr>
        <tr><th scope="row">size</th><td><data id="made-bytes" value="${saved.length}">${size(saved.length)}</data>, ${bits} bits per key</td></tr>
        <tr><th scope="row">errors</th><td><data id="made-fpr" value="${info.fpr}">1 in ${count(Math.round(1 / Math.max(info.fpr, 1e-15)))}</data></td></tr>
        <tr><th scope="row">keys are</th><td>${info.keyForm === "u64" ? "integers" : info.keyForm === "bytes" ? "text" : "not said"}</td></tr>
        </tbody></table><p class="row"><a class="button primary" id="save">Save ${name}.tamis</a></p>`;
    $("made-kind").textContent = info.kind;
    $("save").href = URL.createObjectURL(new Blob([saved], { type: "application/octet-stream" }));
    $("save").download = `${name}.tamis`;
    for (const id of ["key", "ask", "many", "ask-many"])
        $(id).disabled = false;
    for (const id of ["verdict", "counted"])
        $(id).textContent = "";
    $("asked").replaceChildren();
    document.body.dataset.made = String(Number(document.body.dataset.made ?? 0) + 1);
}

function trouble(text) {
    const line = document.createElement("p");
    line.className = "verdict trouble";
    line.textContent = text;
    $("made").replaceChildren(line);
}

async function take(file) {
    name = (file.name ?? "set").replace(/\.[^.]*$/, "") || "set";
    const head = String.fromCharCode(...new Uint8Array(await file.slice(0, 8).arrayBuffer()));
    try {
        if (MAGIC.includes(head)) {
            show(await engine.ask("open", { file }), "opened and verified");
            return;
        }
        const fpr = Number($("rate").value);
        if (!(fpr > 0 && fpr < 1)) {
            trouble("The error rate is a number between 0 and 1.");
            return;
        }
        $("progress").hidden = false;
        const answer = await engine.ask("build", { file, need: { fpr, deletes: $("removes").checked, seed } },
            ({ fraction }) => { $("progress").value = fraction; });
        show(answer, "made");
    } catch (error) {
        trouble(`This did not work: ${error.message}.`);
    } finally {
        $("progress").hidden = true;
    }
}

const form = () => info.keyForm === "u64";
const good = (key) => !form() || /^\d{1,20}$/.test(key) && BigInt(key) < 2n ** 64n;

async function ask() {
    const key = $("key").value;
    if (!good(key)) {
        $("verdict").textContent = "The keys of this set are integers below 2^64.";
        return;
    }
    const { answers } = await engine.ask("ask", { keys: [key], u64: form() });
    $("verdict").className = `verdict ${answers[0] ? "in" : "out"}`;
    $("verdict").textContent = answers[0]
        ? `Probably in: of absent keys, 1 in ${count(Math.round(1 / info.fpr))} gets this answer.` : "Certainly not in.";
}

async function askMany() {
    const keys = $("many").value.split("\n").filter((line) => line !== "" && good(line));
    const { answers } = await engine.ask("ask", { keys, u64: form() });
    $("counted").textContent = `${count(answers.filter(Boolean).length)} of ${count(keys.length)} are probably in`;
    $("asked").replaceChildren(...keys.slice(0, 500).map((key, i) => {
        const line = document.createElement("li"), left = document.createElement("span"), right = document.createElement("span");
        left.textContent = key;
        right.textContent = answers[i] ? "in" : "not in";
        right.className = answers[i] ? "in" : "out";
        line.append(left, right);
        return line;
    }));
}

$("file").addEventListener("change", () => { if ($("file").files[0]) take($("file").files[0]); });
$("sample").addEventListener("click", () => {
    const lines = Array.from({ length: 100000 }, (_, i) => `sample key ${i}\n`);
    take(new File(lines, "sample.txt"));
});
for (const type of ["dragover", "dragleave", "drop"])
    $("drop").addEventListener(type, (event) => {
        event.preventDefault();
        $("drop").classList.toggle("over", type === "dragover");
        if (type === "drop" && event.dataTransfer.files[0])
            take(event.dataTransfer.files[0]);
    });
$("ask").addEventListener("click", ask);
$("key").addEventListener("keydown", (event) => { if (event.key === "Enter") ask(); });
$("ask-many").addEventListener("click", askMany);
