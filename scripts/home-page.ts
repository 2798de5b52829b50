/**
 * Opens the admin's home page of a real server under traffic in a real browser: what is live moves,
 * search narrows, a destructive command asks first and is sent, the table works without scripts.
 * Writes the screenshots of docs/images. Needs Chromium: node dist/scripts/home-page.js [chromium]
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { bootstrap, httpListener, staticCluster } from '../test/support/parts/bootstrap.ts';
import { makeAuthority } from '../test/support/parts/certificates.ts';
import { makeScratch } from '../test/support/scratch.ts';
import { startSluice } from '../test/support/programs/sluice.ts';
import { certificateFiles, secureListener, tlsSocket } from '../test/support/parts/tls.ts';
import { startHttpUpstream } from '../test/support/peers/upstream.ts';
import { waitUntil } from '../test/support/wait.ts';

/** Long enough for the charts to have lines. */
const WATCHING_MS = 25_000;
const HEIGHT = 1400;
const images = join(import.meta.dirname, '../../docs/images');

/** One page, driven by the browser's debugging protocol over a pipe. */
class Browser {
  readonly #out: Writable;
  readonly #waiting = new Map<number, (result: Record<string, unknown>) => void>();
  readonly #dialogs: string[] = [];
  #session: string | undefined;
  #count = 0;

  constructor(out: Writable, incoming: Readable) {
    this.#out = out;
    let rest = '';
    incoming.setEncoding('utf8').on('data', (text: string) => {
      const messages = (rest + text).split('\0');
      rest = messages.pop() ?? '';
      for (const message of messages) this.#receive(JSON.parse(message) as Message);
    });
  }

  /** Texts of the questions that the page has asked; each was answered with yes. */
  get dialogs(): readonly string[] {
    return this.#dialogs;
  }

  async open(url: string): Promise<void> {
    const { targetId } = await this.#send('Target.createTarget', { url: 'about:blank' });
    const attached = await this.#send('Target.attachToTarget', { targetId, flatten: true });
    this.#session = String(attached['sessionId']);
    await this.#send('Page.enable', {});
    await this.#send('Page.navigate', { url });
  }

  async evaluate(expression: string): Promise<unknown> {
    const { result } = await this.#send('Runtime.evaluate', { expression, awaitPromise: true });
    return (result as { readonly value?: unknown }).value;
  }

  async allowScripts(allowed: boolean): Promise<void> {
    await this.#send('Emulation.setScriptExecutionDisabled', { value: !allowed });
  }

  async screenshot(width: number): Promise<Buffer> {
    const size = { width, height: HEIGHT, deviceScaleFactor: 1, mobile: false };
    await this.#send('Emulation.setDeviceMetricsOverride', size);
    const { data } = await this.#send('Page.captureScreenshot', { format: 'png' });
    return Buffer.from(String(data), 'base64');
  }

  async reload(): Promise<void> {
    await this.#send('Page.reload', {});
  }

  async back(): Promise<void> {
    const { currentIndex, entries } = await this.#send('Page.getNavigationHistory', {});
    const before = (entries as readonly { readonly id: number }[])[Number(currentIndex) - 1];
    await this.#send('Page.navigateToHistoryEntry', { entryId: before?.id });
  }

  /** The document as it is now, read without a script in the page. */
  async markup(): Promise<string> {
    const { root } = await this.#send('DOM.getDocument', {});
    const { nodeId } = root as { readonly nodeId: number };
    const { outerHTML } = await this.#send('DOM.getOuterHTML', { nodeId });
    return String(outerHTML);
  }

  /** Clicks with the mouse where the element is, without a script in the page. */
  async press(selector: string): Promise<void> {
    const { root } = await this.#send('DOM.getDocument', {});
    const { nodeId: page } = root as { readonly nodeId: number };
    const { nodeId } = await this.#send('DOM.querySelector', { nodeId: page, selector });
    await this.#send('DOM.scrollIntoViewIfNeeded', { nodeId });
    const { model } = await this.#send('DOM.getBoxModel', { nodeId });
    const [left = 0, top = 0, , , right = 0, bottom = 0] = (
      model as { readonly content: readonly number[] }
    ).content;
    const at = { x: (left + right) / 2, y: (top + bottom) / 2, button: 'left', clickCount: 1 };
    await this.#send('Input.dispatchMouseEvent', { type: 'mousePressed', ...at });
    await this.#send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...at });
  }

  #send(method: string, params: object): Promise<Record<string, unknown>> {
    this.#count += 1;
    const id = this.#count;
    const session = this.#session === undefined ? {} : { sessionId: this.#session };
    this.#out.write(`${JSON.stringify({ id, method, params, ...session })}\0`);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  #receive({ id, method, params, result = {} }: Message): void {
    if (id !== undefined) this.#waiting.get(id)?.(result);
    if (method !== 'Page.javascriptDialogOpening') return;
    this.#dialogs.push(String(params?.['message']));
    void this.#send('Page.handleJavaScriptDialog', { accept: true });
  }
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Record<string, unknown>;
}

const upstream = await startHttpUpstream();
using scratch = makeScratch();
const certificate = makeAuthority(scratch.path).issue('shop', 'DNS:shop.test,DNS:www.shop.test');
const tls = tlsSocket('Downstream', {
  common_tls_context: { tls_certificates: [certificateFiles(certificate)] },
});
const routes = [{ match: { prefix: '/' }, route: { cluster: 'backend' } }];
/** Nobody listens on port 9, so that one host fails its checks. */
const health_checks = [
  {
    timeout: '1s',
    interval: '1s',
    unhealthy_threshold: 1,
    healthy_threshold: 1,
    tcp_health_check: {},
  },
];
const sluice = await startSluice({
  concurrency: 2,
  bootstrap: bootstrap({
    listeners: [httpListener(routes), { ...secureListener(routes, tls), name: 'web_secure' }],
    clusters: [
      staticCluster('backend', [upstream.port]),
      staticCluster('with_checks', [upstream.port, 9], { health_checks }),
    ],
  }),
});
const words = ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe'];
const chromium = spawn(
  process.argv[2] ?? 'chromium',
  [...words, '--hide-scrollbars', `--user-data-dir=${scratch.path}`],
  { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
);
const port = await sluice.listenerPort('web');
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
const traffic = setInterval(() => {
  const requests = 1 + Math.round(4 * (1 + Math.sin(performance.now() / 1500)));
  for (let count = 0; count < requests; count++) {
    get({ port, agent }, (answer) => answer.resume()).on('error', () => undefined);
  }
}, 50);
try {
  const browser = new Browser(chromium.stdio[3] as Writable, chromium.stdio[4] as Readable);
  await browser.open(`http://127.0.0.1:${sluice.adminPort}/`);
  await see(browser);
} finally {
  clearInterval(traffic);
  agent.destroy();
  chromium.kill('SIGKILL');
  await sluice.stop();
  await upstream.close();
}

async function see(browser: Browser): Promise<void> {
  const shown = async (text: string): Promise<true | undefined> =>
    (await browser.evaluate(`document.body?.innerText.includes(${JSON.stringify(text)})`)) === true
      ? true
      : undefined;
  await waitUntil('the table', async () => await shown('print server state'));
  await waitUntil('the charts', async () => await shown('Latency: p50'));
  await new Promise((resolve) => setTimeout(resolve, WATCHING_MS));
  assert.match(String(await browser.evaluate('document.body.innerText')), /Requests: [1-9]/);
  for (const width of [1280, 400]) {
    writeFileSync(join(images, `admin-home-${width}.png`), await browser.screenshot(width));
  }
  const rows = `[...document.querySelectorAll('.commands form')].filter((form) => form.checkVisibility()).length`;
  const all = Number(await browser.evaluate(rows));
  await browser.evaluate(
    `{ const box = document.querySelector('input[type=search]'); box.value = 'drain'; box.dispatchEvent(new Event('input', { bubbles: true })); }`,
  );
  const found = Number(await browser.evaluate(rows));
  assert.ok(found > 0 && found < all, `search shows ${found} of ${all}`);
  await browser.evaluate(`document.querySelector('#reset_counters button').click()`);
  await waitUntil('the answer of the command', async () => await shown('OK'));
  await browser.open(`http://127.0.0.1:${sluice.adminPort}/`);
  await waitUntil('the table', async () => await shown('print server state'));
  await seeWithoutScripts(browser);
  await browser.open(`http://127.0.0.1:${sluice.adminPort}/`);
  await waitUntil('the table', async () => await shown('print server state'));
  void browser.evaluate(`document.querySelector('#quitquitquit button').click()`);
  await waitUntil('a question before the end', () => browser.dialogs.length > 0 || undefined);
  assert.equal((await sluice.exited()).code, 0);
  console.log(`the page asked: ${browser.dialogs.join(' ')}; ${all} forms, ${found} about drains`);
}

/** The table is there and its commands are sent although the page's script never ran. */
async function seeWithoutScripts(browser: Browser): Promise<void> {
  const drawn = 'class="chart"';
  await browser.allowScripts(false);
  await browser.reload();
  await waitUntil('the table without scripts', async () => {
    const page = await browser.markup();
    // Until the page is there again, the one with the script's charts is.
    return page.includes('print server state') && !page.includes(drawn) ? true : undefined;
  });
  await browser.press('#stats button');
  await waitUntil('the statistics without scripts', async () =>
    (await browser.markup()).includes('server.live: 1') ? true : undefined,
  );
  await browser.back();
  await waitUntil('the table again', async () =>
    (await browser.markup()).includes('print server state') ? true : undefined,
  );
  await browser.press('#reset_counters button');
  await waitUntil('the answer of the command without scripts', async () =>
    /<pre[^>]*>OK\n<\/pre>/.test(await browser.markup()) ? true : undefined,
  );
  await browser.allowScripts(true);
}
