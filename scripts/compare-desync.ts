/**
 * Asks Envoy about every message of the corpus on request smuggling and desynchronisation and
 * prints where its verdict is another than ours: node dist/scripts/compare-desync.js
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../test/support/free-port.ts';
import {
  PASSED_REQUESTS,
  PASSED_RESPONSES,
  REFUSED_REQUESTS,
  REFUSED_RESPONSES,
} from '../test/support/peers/desync-corpus.ts';
import { openRaw } from '../test/support/peers/raw-client.ts';
import { startRawUpstream } from '../test/support/peers/upstream.ts';
import { benchBootstrap } from './bench/support/bootstrap.ts';
import { waitForPort } from './bench/support/processes.ts';

const PATIENCE_MS = 400;
const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok';
const REQUEST = 'GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n';

/** What the upstream answers to the present request. */
let scripted = ANSWER;
const upstream = await startRawUpstream((socket, received) => {
  socket.on('data', () => {
    if (isWhole(received())) socket.end(Buffer.from(scripted, 'latin1'));
  });
});
const folder = mkdtempSync(join(tmpdir(), 'sluice-desync-'));
const port = await freePort();
const config = join(folder, 'bootstrap.json');
writeFileSync(config, JSON.stringify(benchBootstrap({ port, upstreamPort: upstream.port })));
const words = ['-c', config, '--disable-hot-restart', '--concurrency', '1', '-l', 'off'];
const reference = spawn('envoy', words, { stdio: 'ignore' });
try {
  await waitForPort(port);
  for (const [title, bytes] of REFUSED_REQUESTS) await compareRequest(title, bytes, false);
  for (const [title, bytes] of PASSED_REQUESTS) await compareRequest(title, bytes, true);
  for (const [title, bytes] of REFUSED_RESPONSES) await compareResponse(title, bytes, false);
  for (const [title, bytes] of PASSED_RESPONSES) await compareResponse(title, bytes, true);
} finally {
  reference.kill('SIGKILL');
  await upstream.close();
  rmSync(folder, { recursive: true });
}

async function compareRequest(title: string, bytes: string, isPassedHere: boolean): Promise<void> {
  scripted = ANSWER;
  const before = upstream.received.length;
  const text = await ask(bytes);
  const got = upstream.received.slice(before).join('');
  if (isWhole(got) !== isPassedHere) print('request', title, isPassedHere, `${text} ${got}`);
}

async function compareResponse(title: string, bytes: string, isPassedHere: boolean): Promise<void> {
  scripted = bytes;
  const text = await ask(REQUEST);
  const isRefused = text === '' || /^HTTP\/1\.1 50[23] /.test(text) || !isWhole(text);
  if (isRefused === isPassedHere) print('response', title, isPassedHere, text);
}

function print(what: string, title: string, isPassedHere: boolean, seen: string): void {
  const here = isPassedHere ? 'passed here, refused there' : 'refused here, passed there';
  console.log(`${what}, ${here}: ${title}\n    ${JSON.stringify(seen.slice(0, 400))}`);
}

async function ask(bytes: string): Promise<string> {
  const client = await openRaw(port);
  client.send(Buffer.from(bytes, 'latin1'));
  const isAnswered = (text: string): boolean => /^HTTP\/1\.[01] [245]\d\d /.test(text);
  const text = await client.until(isAnswered, PATIENCE_MS).catch(() => client.received());
  // What breaks off does so a moment later.
  await delay(10);
  client.destroy();
  return text === '' ? '' : client.received();
}

/** A message with the simplest framing, all there. */
function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /\r\ncontent-length: (\d+)\r\n/.exec(text)?.[1];
  if (length !== undefined && !/^HTTP\/1\.1 [23]04/.test(text)) {
    return text.length >= end + 4 + Number(length);
  }
  return !/\r\ntransfer-encoding: chunked\r\n/.test(text) || text.endsWith('0\r\n\r\n');
}
