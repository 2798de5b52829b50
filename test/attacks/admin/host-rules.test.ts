/**
 * Requests that come under other names than those that are allowed, and commands from other origins:
 * spelled in every way, over HTTP/1.1 and HTTP/2, none is carried out.
 */
import assert from 'node:assert/strict';
import http2 from 'node:http2';
import { after, before, describe, it } from 'node:test';
import { attackRandom, attackRuns, attackTurns } from '../../support/attack.ts';
import { bootstrap } from '../../support/parts/bootstrap.ts';
import { openHttp2, type Http2Client } from '../../support/peers/http2-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';

/** The last one is that of the test's own probes. */
const ALLOWED = ['good', '[::1]', '127.0.0.1'];
const random = attackRandom(53);
const one = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? '';
/** Whole names, beginnings, ends, ports, and what a lax comparison would pass over. */
const PIECES = [
  'good',
  'GOOD',
  '[::1]',
  'evil',
  '.',
  ':',
  ':80',
  '@',
  ',',
  '%00',
  ' ',
  '\t',
  '/',
  '#',
];
const hostName = (): string =>
  Array.from({ length: 1 + Math.floor(random() * 4) }, () => one(PIECES)).join('');
/** As a client may write an allowed name: in any case, with or without a port. */
const isAllowed = (host: string): boolean => /^(good|\[::1\])(:\d*)?$/i.test(host);
const TURNS = [attackRuns(150, 5000), attackRuns(300, 20_000)] as const;

describe('the admin interface under allowed names', () => {
  let sluice: Sluice;
  let http2Client: Http2Client;

  before(async () => {
    const args = ['--admin-allowed-hosts', ALLOWED.join(',')];
    sluice = await startSluice({ bootstrap: bootstrap({}), args });
    http2Client = await openHttp2(sluice.adminPort);
  });
  after(async () => {
    await http2Client[Symbol.asyncDispose]();
    await sluice.stop();
  });

  /** The status of a command; each has a connection of its own. */
  async function command(host: string, origin?: string): Promise<number> {
    const client = await openRaw(sluice.adminPort);
    const fields = origin === undefined ? '' : `origin: ${origin}\r\n`;
    client.send(
      `POST /reset_counters HTTP/1.1\r\nhost:${host}\r\n${fields}content-length: 0\r\nconnection: close\r\n\r\n`,
    );
    const answer = await client.until(/^HTTP\/1\.1 (\d+)/);
    client.destroy();
    return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
  }

  it('answers under these alone, over HTTP/1.1', async () => {
    assert.equal(await command(' good:1234'), 200);
    assert.equal(await command(' [::1]:9901'), 200);
    for (const _ of attackTurns(...TURNS)) {
      const host = hostName();
      const status = await command(` ${host}`);
      if (!isAllowed(host.trim())) assert.ok(status >= 400, `${JSON.stringify(host)}: ${status}`);
      else assert.equal(status, 200, host);
    }
  });

  it('answers under these alone, over HTTP/2', async () => {
    for (const _ of attackTurns(...TURNS)) {
      const authority = hostName().replace(/[\s]/g, '');
      const headers = {
        [http2.constants.HTTP2_HEADER_METHOD]: 'POST',
        [http2.constants.HTTP2_HEADER_PATH]: '/reset_counters',
        [http2.constants.HTTP2_HEADER_AUTHORITY]: authority,
        ...(random() < 0.5 ? { host: 'good' } : {}),
      };
      // A connection with many broken streams is ended.
      if (http2Client.session.destroyed) http2Client = await openHttp2(sluice.adminPort);
      const { status } = await http2Client.ask(headers).catch(() => ({ status: 400 }));
      if (!isAllowed(authority)) assert.notEqual(status, 200, authority);
    }
  });

  it('carries out no command that a page elsewhere sends', async () => {
    for (const _ of attackTurns(...TURNS)) {
      const origin =
        `${one(['http://', 'https://', '', 'file://', 'HTTP://'])}${hostName()}`.trim();
      const isOwn = /^https?:\/\/good$/i.test(origin) || origin === '';
      const status = await command(' good', origin);
      if (!isOwn) assert.ok(status >= 400, `${JSON.stringify(origin)}: ${status}`);
    }
    for (const origin of ['null', 'http://good:81', 'http://good.evil', 'http://evil']) {
      assert.equal(await command(' good', origin), 403, origin);
    }
  });
});
