/* engine.js - workers that have the module inside
 *
 * window.TAMIS_ENGINE is what build.py has packed: the module and the text of tamis.js and worker.js, compressed, four bytes
 * in five characters.  Nothing is fetched, so that pages work from file:// as well.
 *
 * SPDX-License-Identifier: MIT
 */
"use strict";

const unpacked = (async () => {
    const { text, digits, size, moduleSize } = window.TAMIS_ENGINE;
    const value = new Uint8Array(128);
    for (let i = 0; i < 85; i++)
        value[digits.charCodeAt(i)] = i;
    const packed = new DataView(new ArrayBuffer(text.length / 5 * 4));
    for (let from = 0, to = 0; from < text.length; to += 4) {
        let word = 0;
        for (const end = from + 5; from < end; from++)
            word = word * 85 + value[text.charCodeAt(from)];
        packed.setUint32(to, word);
    }
    const stream = new Blob([packed.buffer.slice(0, size)]).stream().pipeThrough(new DecompressionStream("gzip"));
    const bytes = await new Response(stream).arrayBuffer();
    return { module: await WebAssembly.compile(bytes.slice(0, moduleSize)),
        url: URL.createObjectURL(new Blob([bytes.slice(moduleSize)], { type: "text/javascript" })) };
})();

/** A worker; ask(call, what, part) promises its answer, and hands parts of it to 'part'. */
class Engine {
    constructor() {
        this.waiting = new Map();
        this.next = 1;
        this.stopped = false;
        this.ready = unpacked.then(({ module, url }) => {
            if (this.stopped)
                return;
            this.worker = new Worker(url);
            this.worker.onmessage = ({ data }) => this.hear(data);
            this.worker.postMessage({ module });
        });
    }

    hear(data) {
        const waiter = this.waiting.get(data.id);
        if (waiter === undefined)
            return;
        if (data.part) {
            waiter.part?.(data);
            return;
        }
        this.waiting.delete(data.id);
        if (data.error !== undefined)
            waiter.fail(Object.assign(new Error(data.error), { status: data.status }));
        else
            waiter.done(data);
    }

    stop() {
        this.stopped = true;
        this.worker?.terminate();
    }

    async ask(call, what, part) {
        await this.ready;
        const id = this.next++;
        return new Promise((done, fail) => {
            this.waiting.set(id, { done, fail, part });
            this.worker?.postMessage({ id, call, ...what });
        });
    }
}
