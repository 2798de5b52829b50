/** HTTP clients that everybody has: curl, wrk, ab, undici. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { proxyTo } from '../../test/support/parts/bootstrap.ts';
import { makeScratch } from '../../test/support/scratch.ts';
import { startSluice } from '../../test/support/programs/sluice.ts';
import {
  check,
  passed,
  pick,
  runProgram,
  type Trial,
  trialOf,
  type TrialOutcome,
} from './trial.ts';

const UPLOAD_BYTES = 8 * 1024 * 1024;
const REQUESTS = 5000;

export const httpClients: readonly Trial[] = [
  trialOf('curl', 'curl: GET, HEAD, upload with Expect, chunks, range, keep-alive', curl),
  trialOf('wrk', 'wrk: 2 s with 32 connections', wrk),
  trialOf('ab', 'ab: 5,000 requests with and without keep-alive', ab),
  { name: 'undici: 2,000 requests over a pipelining pool', run: undici },
];

/** Answers with the length of what it got. */
async function startUpstream(): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer((request, response) => {
    let bytes = 0;
    request.on('data', (piece: Buffer) => (bytes += piece.length));
    request.on('end', () => {
      if (request.headers.range !== undefined) response.statusCode = 206;
      response.end(`got ${bytes} bytes by ${request.method}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

async function through(use: (url: string) => Promise<TrialOutcome>): Promise<TrialOutcome> {
  const { server, port } = await startUpstream();
  await using sluice = await startSluice({
    bootstrap: proxyTo(port, { hcm: { http_protocol_options: { accept_http_10: true } } }),
  });
  try {
    return await use(`http://127.0.0.1:${await sluice.listenerPort('web')}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function curl(): Promise<TrialOutcome> {
  using scratch = makeScratch();
  const file = scratch.file('upload');
  writeFileSync(file, randomBytes(UPLOAD_BYTES));
  return await through(async (url) => {
    const get = await runProgram('curl', [
      '-sS',
      `${url}/a`,
      `${url}/b`,
      '-w',
      ' %{num_connects} ',
    ]);
    check(/got 0 bytes by GET 1 got 0 bytes by GET 0/.test(get), `not kept alive: ${get}`);
    const head = await runProgram('curl', ['-sSI', url]);
    check(head.startsWith('HTTP/1.1 200'), head);
    const upload = await runProgram('curl', ['-sS', '-T', file, '-H', 'Expect: 100-continue', url]);
    check(upload === `got ${UPLOAD_BYTES} bytes by PUT`, upload);
    const chunks = await runProgram('curl', [
      '-sS',
      '--data-binary',
      `@${file}`,
      '-H',
      'Transfer-Encoding: chunked',
      url,
    ]);
    check(chunks === `got ${UPLOAD_BYTES} bytes by POST`, chunks);
    const range = await runProgram('curl', [
      '-sS',
      '-r',
      '0-9',
      '-o',
      '/dev/null',
      '-w',
      '%{http_code}',
      url,
    ]);
    check(range === '206', range);
    return passed('all answers right, the connection kept, 8 MiB up with Expect and in chunks');
  });
}

async function wrk(): Promise<TrialOutcome> {
  return through(async (url) => {
    const output = await runProgram('wrk', ['-t1', '-c32', '-d2s', '--latency', url]);
    check(!/Socket errors|Non-2xx/.test(output), output);
    return passed(`${pick(output, /\d+ requests in [^,]*/)}, no errors`);
  });
}

async function ab(): Promise<TrialOutcome> {
  return through(async (url) => {
    const counts = [];
    for (const keepAlive of [['-k'], []]) {
      const output = await runProgram('ab', [
        '-q',
        ...keepAlive,
        '-n',
        String(REQUESTS),
        '-c',
        '20',
        `${url}/`,
      ]);
      check(/Failed requests: +0\n/.test(output) && !output.includes('Non-2xx'), output);
      counts.push(pick(output, /Complete requests: +\d+/));
    }
    return passed(`${counts.join(' and ')}, none failed`);
  });
}

async function undici(): Promise<TrialOutcome> {
  return through(async (url) => {
    const pool = new Pool(url, { connections: 4, pipelining: 8 });
    const bodies = await Promise.all(
      Array.from({ length: 2000 }, async (_, at) => {
        const answer = await pool.request({ path: `/${at}`, method: 'POST', body: 'x'.repeat(at) });
        return answer.body.text();
      }),
    );
    await pool.close();
    check(
      bodies.every((body, at) => body === `got ${at} bytes by POST`),
      'an answer is wrong',
    );
    return passed('2,000 answers right');
  });
}
