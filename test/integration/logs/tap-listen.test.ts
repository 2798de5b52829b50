/** `/tap/listen` and `sluice tap`: what passes at a listener, without a filter for it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { type HttpUpstream, startHttpUpstream } from '../../support/peers/upstream.ts';
import { MAIN, type Sluice, startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

interface Har {
  readonly log: {
    readonly entries: readonly {
      readonly request: {
        readonly url: string;
        readonly headers: readonly { readonly name: string; readonly value: string }[];
        readonly postData?: { readonly text: string };
      };
      readonly response: { readonly status: number; readonly content: { readonly text: string } };
    }[];
  };
}

interface Listening {
  /** All that came, when the server ends it. */
  readonly whole: Promise<Buffer>;
  leave(): void;
}

/** Resolves when workers record. */
async function listen(sluice: Sluice, query: string): Promise<Listening> {
  const path = `/tap/listen?${query}`;
  const outgoing = request({ host: '127.0.0.1', port: sluice.adminPort, path, method: 'POST' });
  const chunks: Buffer[] = [];
  const whole = new Promise<Buffer>((resolve, reject) => {
    outgoing.once('error', reject);
    outgoing.once('response', (answer) => {
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('end', () => resolve(Buffer.concat(chunks)));
      answer.once('error', reject);
    });
  });
  whole.catch(() => undefined);
  outgoing.end();
  await once(outgoing, 'response');
  await sluice.settled();
  return { whole, leave: () => outgoing.destroy() };
}

describe('/tap/listen', () => {
  let upstream: HttpUpstream;
  let sluice: Sluice;
  let port: number;

  before(async () => {
    upstream = await startHttpUpstream((asked, answer) => {
      answer.statusCode = asked.url === '/missing' ? 404 : 200;
      answer.setHeader('set-cookie', 'session=very-secret');
      asked.pipe(answer);
    });
    sluice = await startSluice({
      concurrency: 2,
      bootstrap: bootstrap({
        listeners: [
          httpListener([{ match: { prefix: '/' }, route: { cluster: 'up' } }]),
          httpListener([{ match: { prefix: '/' }, direct_response: { status: 204 } }], {
            name: 'other',
          }),
        ],
        clusters: [staticCluster('up', [upstream.port])],
      }),
    });
    port = await sluice.listenerPort('web');
  });

  after(async () => {
    await sluice.stop();
    await upstream.close();
  });

  it('records the requests that are meant as a HAR file, without credentials', async () => {
    const { whole } = await listen(sluice, 'listener=web&path=/cart*&method=POST&count=2');
    const headers = { authorization: 'Bearer very-secret', cookie: 'a=very-secret' };
    await fetchOnce({ port, path: '/cart', headers });
    await fetchOnce({ port: await sluice.listenerPort('other'), path: '/cart', method: 'POST' });
    for (const body of ['one', 'two']) {
      await fetchOnce({ port, path: '/cart/1?q=2', method: 'POST', headers, body });
    }
    const text = (await whole).toString();
    assert.ok(!text.includes('very-secret'));
    const { entries } = (JSON.parse(text) as Har).log;
    assert.deepEqual(
      entries.map(({ request: { postData }, response }) => [postData?.text, response.content.text]),
      [
        ['one', 'one'],
        ['two', 'two'],
      ],
    );
    assert.match(entries[0]?.request.url ?? '', /^http:\/\/127\.0\.0\.1:\d+\/cart\/1\?q=2$/);
    assert.deepEqual(
      entries[0]?.request.headers.find(({ name }) => name === 'authorization')?.value,
      '[redacted]',
    );
  });

  it('records answers of a status as lines of JSON, with secrets on demand and bodies cut', async () => {
    const { whole } = await listen(sluice, 'status=4xx&format=ndjson&secrets&body=3&count=1');
    await fetchOnce({ port, path: '/fine', method: 'POST', body: 'whatever' });
    await fetchOnce({ port, path: '/missing', method: 'POST', body: 'abcdef' });
    const lines = (await whole).toString().trimEnd().split('\n');
    assert.equal(lines.length, 1);
    const { request: sent, response } = (
      JSON.parse(lines[0] ?? '') as { http_buffered_trace: Record<string, { body: unknown }> }
    ).http_buffered_trace;
    assert.deepEqual(sent?.body, { as_bytes: 'YWJj', truncated: true });
    assert.ok(JSON.stringify(response).includes('very-secret'));
  });

  it('records connections as packets', async () => {
    const { whole } = await listen(sluice, 'format=pcap&listener=web&count=3');
    await fetchOnce({ port, path: '/seen', headers: { connection: 'close' } });
    const capture = await whole;
    assert.equal(capture.readUInt32LE(0), 0xa1b2c3d4);
    assert.ok(capture.includes('GET /seen HTTP/1.1\r\n') && capture.includes('HTTP/1.1 200 OK'));
  });

  it('has one client at a time, and ends when it goes', async () => {
    const first = await listen(sluice, 'for=60');
    const second = await sluice.admin({ path: '/tap/listen', method: 'POST' });
    assert.deepEqual([second.status, /already exists/.test(second.body)], [400, true]);
    first.leave();
    await assert.rejects(first.whole);
    const last = await listen(sluice, 'for=60&count=1');
    await fetchOnce({ port, path: '/again' });
    assert.equal((JSON.parse((await last.whole).toString()) as Har).log.entries.length, 1);
  });

  it('refuses what it cannot do', async () => {
    const refused: readonly (readonly [string, number, RegExp])[] = [
      ['listener=nobody', 404, /no such listener/],
      ['format=pcap&path=/a', 400, /pcap records connections/],
      ['format=gif', 400, /format is one of har, ndjson, pcap/],
      ['count=0', 400, /no number from 1/],
      ['sample=0', 400, /percentage/],
      ['client=nobody', 400, /IP address/],
      ['header=wrong', 400, /name: value/],
      ['match=[]', 400, /no JSON object/],
      ['match={"nothing":1}', 400, /nothing/],
      ['body=99999999', 400, /no number/],
    ];
    for (const [query, status, text] of refused) {
      const path = `/tap/listen?${query}`;
      const answer = await sluice.admin({ path, method: 'POST' });
      assert.deepEqual([query, answer.status], [query, status]);
      assert.match(answer.body, text);
    }
    assert.equal((await sluice.admin('/tap/listen')).status, 400);
  });

  it('sluice tap writes a file that only its owner reads, and ends after its time', async () => {
    using scratch = makeScratch();
    const path = scratch.file('shop.har');
    const words = ['--admin', `127.0.0.1:${sluice.adminPort}`, '--for', '1', '-o', path];
    const child = spawn(process.execPath, [MAIN, 'tap', ...words]);
    assert.deepEqual(await once(child, 'close'), [0, null]);
    assert.deepEqual((JSON.parse(readFileSync(path, 'utf8')) as Har).log.entries, []);
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });
});
