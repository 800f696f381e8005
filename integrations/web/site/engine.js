/* engine.js - workers that have the module inside
 *
 * window.TAMIS_WASM is the module, compressed and in base64; window.TAMIS_WORKER the text of tamis.js and worker.js.
 * Neither is fetched, so that pages work from file:// as well.
 *
 * SPDX-License-Identifier: MIT
 */
"use strict";

const compiled = (async () => {
    const packed = Uint8Array.from(atob(window.TAMIS_WASM), (c) => c.charCodeAt(0));
    const bytes = new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
    return WebAssembly.compile(await bytes.arrayBuffer());
})();

/** A worker; ask(call, what, part) promises its answer, and hands parts of it to 'part'. */
class Engine {
    constructor() {
        const url = URL.createObjectURL(new Blob([window.TAMIS_WORKER], { type: "text/javascript" }));
        this.worker = new Worker(url);
        this.waiting = new Map();
        this.next = 1;
        this.ready = compiled.then((module) => this.worker.postMessage({ module }));
        this.worker.onmessage = ({ data }) => {
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
        };
    }

    stop() {
        this.worker.terminate();
    }

    async ask(call, what, part) {
        await this.ready;
        const id = this.next++;
        return new Promise((done, fail) => {
            this.waiting.set(id, { done, fail, part });
            this.worker.postMessage({ id, call, ...what });
        });
    }
}
