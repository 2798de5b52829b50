/**
 * Names that are members of Object.prototype, wherever a configuration or a request may name
 * something: they behave as any other name does. One program has a set of listeners for each name,
 * and what the set of a peculiar name answers must be what that of an ordinary one answers.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { bootstrap } from '../support/parts/bootstrap.ts';
import { attackRuns } from '../support/attack.ts';
import { fetchOnce } from '../support/peers/http-client.ts';
import { startSluice, type Sluice } from '../support/programs/sluice.ts';
import { startHttpUpstream, type HttpUpstream } from '../support/peers/upstream.ts';
import { waitUntil } from '../support/wait.ts';
import {
  FILTERS,
  filterListener,
  generalListener,
  clustersOf,
  bareCluster,
} from './named-configuration.ts';

const ORDINARY = 'ordinary';

const INHERITED = [
  '__proto__',
  'constructor',
  'toString',
  ...Object.getOwnPropertyNames(Object.prototype),
];

const FURTHER = ['prototype', 'toJSON', 'defineProperties'];

const NAMES = [...new Set([...INHERITED, ...FURTHER])].slice(0, attackRuns(4, 50));

/** What one name's listeners answer, with the name itself taken out. */
async function transcript(sluice: Sluice, name: string): Promise<readonly string[]> {
  const lines: string[] = [];
  const plain = (text: string): string =>
    text.replaceAll(name, 'NAME').replaceAll(name.toLowerCase(), 'NAME');
  const ask = async (listener: string, question: object): Promise<void> => {
    const port = await sluice.listenerPort(listener);
    const { status, headers, body } = await fetchOnce({ port, ...question });
    const shown = Object.entries(headers).filter(([key]) => key.startsWith('x-told'));
    lines.push(
      plain(`${listener} ${JSON.stringify(question)}: ${status} ${JSON.stringify(shown)} ${body}`),
    );
  };
  const header = Object.fromEntries([[name, 'v']]) as Record<string, string>;
  for (const kind of Object.keys(FILTERS)) {
    const post = { method: 'POST', body: '12345', headers: { origin: 'http://a.test' } };
    await ask(`${kind}-${name}`, {});
    await ask(`${kind}-${name}`, post);
  }
  const authorization = `Basic ${Buffer.from(`${name}:Test`).toString('base64')}`;
  const allowed = await fetchOnce({
    port: await sluice.listenerPort(`users-${name}`),
    headers: { authorization },
  });
  lines.push(`password: ${allowed.status}`);
  for (const path of [
    '/',
    '/header',
    '/dynamic',
    '/runtime',
    '/subset',
    '/none',
    '/by-header',
    '/hash',
  ]) {
    await ask(name, { path });
    await ask(name, { path, headers: header });
    await ask(name, { path: `${path}?${name}=v`, headers: { cookie: `${name}=v` } });
  }
  await ask(name, { path: `/query?${name}=v` });
  const log = await waitUntil('the access log', () => {
    const text = readFileSync(sluice.scratch.file(name), 'utf8');
    return text.split('\n').length > 25 ? text : undefined;
  });
  for (const line of log.split('\n').filter((each) => each !== '')) {
    const members = Object.entries(JSON.parse(line) as object);
    // Members stand in the order of their names.
    lines.push(...members.map((member) => plain(JSON.stringify(member))).sort());
  }
  return lines;
}

/** Questions to the admin interface, each with the name where a name may stand. */
const ADMIN_QUESTIONS: readonly ((name: string) => string)[] = [
  (name) => `/${name}`,
  (name) => `/logging?${name}=debug`,
  (name) => `/logging?level=${name}`,
  (name) => `/logging?paths=${name}:debug`,
  (name) => `/config_dump?resource=${name}`,
  (name) => `/config_dump?mask=${name}`,
  (name) => `/config_dump?resource=static_listeners&mask=${name}.${name}`,
  (name) => `/stats?format=${name}`,
  (name) => `/stats?type=${name}`,
  (name) => `/stats?histogram_buckets=${name}`,
  (name) => `/runtime_modify?${name}=7`,
  (name) => `/clusters?format=${name}`,
  (name) => `/listeners?${name}=${name}`,
  (name) => `/cpuprofiler?enable=${name}`,
];

describe('names that are members of Object.prototype', () => {
  let upstream: HttpUpstream;
  let sluice: Sluice;

  before(async () => {
    upstream = await startHttpUpstream();
    const names = [ORDINARY, ...NAMES];
    const start = bootstrap({
      listeners: names.flatMap((name) => [
        generalListener(name),
        ...Object.keys(FILTERS).map((kind) => filterListener(kind, name)),
      ]),
      clusters: [
        ...names.flatMap((name) => clustersOf(name, upstream.port)),
        bareCluster(upstream.port, names),
      ],
    });
    const values = Object.fromEntries(names.map((name) => [name, 0]));
    sluice = await startSluice({
      args: ['--file-flush-interval-msec', '10'],
      bootstrap: {
        ...start,
        node: { id: 'n', cluster: 'c', metadata: values },
        layered_runtime: {
          layers: [
            ...names.map((name) => ({ name, static_layer: values })),
            { name: 'admin', admin_layer: {} },
          ],
        },
      },
    });
  });

  after(async () => {
    await sluice.stop();
    await upstream[Symbol.asyncDispose]();
  });

  it('behave on the way of requests as an ordinary name does', async () => {
    const expected = await transcript(sluice, ORDINARY);
    assert.ok(expected.some((line) => line.startsWith('rbac') && line.includes(': 403')));
    assert.ok(expected.includes('password: 200'));
    for (const name of NAMES) assert.deepEqual(await transcript(sluice, name), expected, name);
  });

  it('behave on the admin interface as an ordinary name does', async () => {
    for (const question of ADMIN_QUESTIONS) {
      const answer = async (name: string): Promise<string> => {
        const { status, body } = await sluice.admin({ method: 'POST', path: question(name) });
        return [ORDINARY, ...NAMES].reduce(
          (text, each) => text.replaceAll(each, 'NAME'),
          `${status} ${body}`,
        );
      };
      const expected = await answer(ORDINARY);
      for (const name of NAMES) assert.equal(await answer(name), expected, question(name));
    }
  });

  it('are in the dump, in the runtime and in statistics', async () => {
    const dump = (await sluice.admin('/config_dump')).body;
    const runtime = JSON.parse((await sluice.admin('/runtime')).body) as { entries: object };
    const stats = await sluice.stats('filter=downstream_cx_total');
    for (const name of [ORDINARY, ...NAMES]) {
      const count = (text: string, part: string): number => text.split(part).length;
      assert.equal(count(dump, `"${name}"`), count(dump, `"${ORDINARY}"`), name);
      assert.ok(Object.hasOwn(runtime.entries, name), name);
      assert.ok(stats.includes(`http.${name}.downstream_cx_total`), name);
    }
  });
});
