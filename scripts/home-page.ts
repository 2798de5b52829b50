/**
 * Opens the admin's home page of a real server under traffic in a real browser: what is live moves,
 * search narrows, folded parts answer, a host is ordered, axe finds nothing, a destructive command
 * asks first and is sent, the page works without scripts.
 * Writes the screenshots of docs/images. Needs Chromium: node dist/scripts/home-page.js [chromium]
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bootstrap, httpListener, staticCluster } from '../test/support/parts/bootstrap.ts';
import { makeAuthority } from '../test/support/parts/certificates.ts';
import { makeScratch } from '../test/support/scratch.ts';
import { startSluice } from '../test/support/programs/sluice.ts';
import { certificateFiles, secureListener, tlsSocket } from '../test/support/parts/tls.ts';
import { startHttpUpstream } from '../test/support/peers/upstream.ts';
import { waitUntil } from '../test/support/wait.ts';
import { type Browser, startBrowser } from './support/browser.ts';

/** Long enough for the charts, which have a point every five seconds, to have lines. */
const WATCHING_MS = 32_000;
/** The first of its requests finds no route. */
const PATHS = ['/nowhere?token=x', ...Array.from({ length: 20 }, () => '/shop/')];
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const images = join(import.meta.dirname, '../../docs/images');

const upstream = await startHttpUpstream();
using scratch = makeScratch();
const certificate = makeAuthority(scratch.path).issue('shop', 'DNS:shop.test,DNS:www.shop.test');
const tls = tlsSocket('Downstream', {
  common_tls_context: { tls_certificates: [certificateFiles(certificate)] },
});
const routes = [
  { match: { prefix: '/shop' }, route: { cluster: 'backend' } },
  { match: { prefix: '/two' }, route: { cluster: 'two_hosts' } },
];
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
      staticCluster('two_hosts', [upstream.port, 9]),
    ],
  }),
});
await using running = startBrowser(scratch.path, process.argv[2]);
const { browser } = running;
const port = await sluice.listenerPort('web');
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
const traffic = setInterval(() => {
  const requests = 1 + Math.round(4 * (1 + Math.sin(performance.now() / 1500)));
  for (let count = 0; count < requests; count++) {
    const path = count === 0 ? '/two' : (PATHS[Math.floor(Math.random() * PATHS.length)] ?? '/');
    get({ port, agent, path }, (answer) => answer.resume()).on('error', () => undefined);
  }
}, 50);
try {
  await browser.open(`http://127.0.0.1:${sluice.adminPort}/`);
  await see(browser);
} finally {
  clearInterval(traffic);
  agent.destroy();
  await sluice.stop();
  await upstream.close();
}

async function see(browser: Browser): Promise<void> {
  const shown = async (text: string): Promise<true | undefined> =>
    (await browser.evaluate(`document.body?.innerText.includes(${JSON.stringify(text)})`)) === true
      ? true
      : undefined;
  await waitUntil('the hosts', async () => await shown('Connect failures'));
  await new Promise((resolve) => setTimeout(resolve, WATCHING_MS));
  const text = String(await browser.evaluate('document.body.innerText'));
  assert.match(text, /Requests: [1-9]/);
  assert.match(text, /without a route, the last 404 \S+\/nowhere\b/);
  assert.ok(!text.includes('token=x'), 'no query is shown');
  for (const width of [1280, 400]) {
    writeFileSync(join(images, `admin-home-${width}.png`), await browser.screenshot(width));
    await findNothingWrong(browser, `at ${width} px`);
  }
  await browser.preferColours('dark');
  await findNothingWrong(browser, 'in the dark');
  writeFileSync(join(images, 'admin-home-dark.png'), await browser.screenshot(1280));
  await browser.preferColours('light');
  await seeViews(browser, shown);
  await orderHost(browser, shown);
  await findByName(browser);
  await browser.evaluate(`document.querySelector('#commands summary').click()`);
  const rows = `[...document.querySelectorAll('.commands form')].filter((form) => form.checkVisibility()).length`;
  const all = Number(await browser.evaluate(rows));
  await type(browser, '#command-search', 'drain');
  const found = Number(await browser.evaluate(rows));
  assert.ok(found > 0 && found < all, `search shows ${found} of ${all}`);
  await browser.evaluate(`document.querySelector('#reset_counters button').click()`);
  await waitUntil('the answer of the command', async () => await shown('OK'));
  await browser.open(`http://127.0.0.1:${sluice.adminPort}/`);
  await waitUntil('the page', async () => await shown('Commands'));
  await seeWithoutScripts(browser);
  await browser.open(`http://127.0.0.1:${sluice.adminPort}/`);
  await waitUntil('the page', async () => await shown('Commands'));
  void browser.evaluate(`document.querySelector('#quitquitquit button').click()`);
  await waitUntil('a question before the end', () => browser.dialogs.length > 0 || undefined);
  assert.equal((await sluice.exited()).code, 0);
  console.log(`the page asked: ${browser.dialogs.join(' ')}; ${all} forms, ${found} about drains`);
}

type Shown = (text: string) => Promise<true | undefined>;

/** Opens each folded part and waits for what it shows of this server. */
async function seeViews(browser: Browser, shown: Shown): Promise<void> {
  const expected: readonly (readonly [string, string])[] = [
    ['routes', 'prefix /shop'],
    ['connections', 'Received'],
    ['history', 'Nothing has changed since the start.'],
    ['stats', 'http.web.downstream_rq_4xx'],
    ['logging', 'active loggers:'],
    ['runtime', 'No layer has a value.'],
  ];
  for (const [view, text] of expected) {
    await browser.evaluate(`document.querySelector('#view-${view} summary').click()`);
    await waitUntil(`the view ${view}`, async () => await shown(text));
  }
  await browser.evaluate(`document.querySelector('#view-routes .out button').click()`);
  await waitUntil('a question', async () => await shown('none is named'));
  await type(browser, '#in-explain-listener', 'web');
  await browser.evaluate(`document.querySelector('#view-explain form button').click()`);
  await waitUntil('an explanation', async () => await explained(browser, 'cluster backend'));
  await type(browser, '#in-logging-paths', 'http:debug');
  await type(browser, '#in-logging-for', '60');
  await browser.evaluate(`document.querySelector('#view-logging form button').click()`);
  await waitUntil('levels for a time', async () => await shown('levels go back in'));
  await type(browser, 'form[data-runtime] [name=key]', 'shop.open');
  await type(browser, 'form[data-runtime] [name=value]', 'yes');
  await browser.evaluate(`document.querySelector('form[data-runtime] button').click()`);
  await waitUntil('the order of the runtime', async () => await shown('shop.open: '));
  await findNothingWrong(browser, 'with its parts open');
  writeFileSync(join(images, 'admin-views.png'), await browser.screenshot(1280, '#view-explain'));
  await browser.evaluate(
    `for (const view of document.querySelectorAll('details[open]')) view.open = false`,
  );
}

/** The worst host stands first; the answer appears in place, and so does the order. */
async function orderHost(browser: Browser, shown: Shown): Promise<void> {
  const button = `document.querySelector('form[data-inline] button[value=drain]')`;
  await browser.evaluate(`${button}.focus()`);
  await browser.evaluate(`${button}.click()`);
  await waitUntil('the order in its row', async () => await shown('ordered: drain'));
  const focused = 'document.activeElement.value';
  assert.equal(await browser.evaluate(focused), 'drain', 'the keyboard stays where it was');
}

async function findByName(browser: Browser): Promise<void> {
  await type(browser, '#search', 'with_ch');
  const names = `[...document.querySelectorAll('#overview a[href^="clusters?filter"]')].map((link) => link.textContent).join(' ')`;
  await waitUntil('the clusters that are looked for', async () => {
    const found = String(await browser.evaluate(names)).split(' ');
    return found.every((name) => name === 'with_checks') ? true : undefined;
  });
  await type(browser, '#search', '');
}

async function explained(browser: Browser, text: string): Promise<true | undefined> {
  const answer = await browser.evaluate(`document.querySelector('#view-explain pre')?.textContent`);
  return String(answer).includes(text) ? true : undefined;
}

async function type(browser: Browser, selector: string, text: string): Promise<void> {
  const [at, value] = [JSON.stringify(selector), JSON.stringify(text)];
  await browser.evaluate(
    `{ const box = document.querySelector(${at}); box.value = ${value}; box.dispatchEvent(new Event('input', { bubbles: true })); }`,
  );
}

/** The rules of axe; nothing is wider than the window. */
async function findNothingWrong(browser: Browser, when: string): Promise<void> {
  await browser.evaluate(axe);
  const found = await browser.evaluate(
    `axe.run().then(({ violations }) => JSON.stringify(violations.map(({ id, nodes }) => [id, nodes[0].html, nodes.length])))`,
  );
  assert.equal(found, '[]', `axe ${when}`);
  const width = `document.documentElement.scrollWidth - document.documentElement.clientWidth`;
  assert.equal(await browser.evaluate(width), 0, `wider than the window ${when}`);
}

/** The table is there and its commands are sent although the page's script never ran. */
async function seeWithoutScripts(browser: Browser): Promise<void> {
  const drawn = 'class="chart"';
  await browser.allowScripts(false);
  await browser.reload();
  await waitUntil('the table without scripts', async () => {
    const page = await browser.markup();
    // The charts are the server's.
    return page.includes('Mean time') && page.includes(drawn) ? true : undefined;
  });
  await browser.press('#commands > summary');
  await browser.press('#stats button');
  await waitUntil('the statistics without scripts', async () =>
    (await browser.markup()).includes('server.live: 1') ? true : undefined,
  );
  await browser.back();
  await waitUntil('the table again', async () =>
    (await browser.markup()).includes('print server state') ? true : undefined,
  );
  // What was unfolded still is.
  await browser.press('#reset_counters button');
  await waitUntil('the answer of the command without scripts', async () =>
    /<pre[^>]*>OK\n<\/pre>/.test(await browser.markup()) ? true : undefined,
  );
  await browser.allowScripts(true);
}
