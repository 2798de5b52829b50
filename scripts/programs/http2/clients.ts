/** Clients that speak HTTP/2: curl, nghttp, h2load, undici. Each over plain bytes and over TLS. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { makeScratch } from '../../../test/support/scratch.ts';
import {
  check,
  passed,
  pick,
  runProgram,
  type Trial,
  trialOf,
  type TrialOutcome,
} from '../trial.ts';
import { HOST, throughHttp2 } from './sides.ts';

const UPLOAD_BYTES = 8 * 1024 * 1024;
const LOAD = { requests: 20_000, connections: 10, streams: 20 };
/** What curl says after each answer. */
const TELL = ' %{http_version} %{num_connects} ';
const UNDICI_REQUESTS = 1000;

export const http2Clients: readonly Trial[] = [
  trialOf('curl', 'curl --http2-prior-knowledge: GET, HEAD, uploads', curlPlain),
  trialOf('curl', 'curl --http2 asking for an upgrade: answered by HTTP/1.1', curlUpgrade),
  trialOf('curl', 'curl --http2 over TLS, by ALPN: the same, kept alive, 50 at once', curlSecure),
  ...[false, true].flatMap((isSecure) => [
    trialOf('nghttp', `nghttp: GETs, upload, trailers, padding${over(isSecure)}`, () =>
      nghttp(isSecure),
    ),
    trialOf('h2load', `h2load: ${LOAD.requests} requests${over(isSecure)}`, () => h2load(isSecure)),
  ]),
  { name: 'undici with allowH2: 1,000 requests over TLS', run: undici },
];

function over(isSecure: boolean): string {
  return isSecure ? ' over TLS' : ' in the clear';
}

function curlPlain(): Promise<TrialOutcome> {
  return throughHttp2(false, (sluice) => curl(sluice.url, ['--http2-prior-knowledge']));
}

function curlSecure(): Promise<TrialOutcome> {
  // curl 7.88 breaks a second request of prior knowledge itself, to any server.
  return throughHttp2(true, async ({ url }, ca) => {
    const how = ['--http2', '--cacert', ca];
    const kept = await runProgram('curl', ['-sS', ...how, `${url}/a`, `${url}/b`, '-w', TELL]);
    check(kept === 'got 0 bytes by GET 2 1 got 0 bytes by GET 2 0 ', `not kept: ${kept}`);
    const urls = Array.from({ length: 50 }, (_, at) => `${url}/${at}`);
    const parallel = await runProgram('curl', [
      '-sS',
      ...how,
      '--parallel',
      '--parallel-max',
      '50',
      ...urls,
    ]);
    const answers = parallel.split('got 0 bytes by GET').length - 1;
    check(answers === 50, `parallel: ${answers} answers`);
    return curl(url, how);
  });
}

async function curl(url: string, how: readonly string[]): Promise<TrialOutcome> {
  using scratch = makeScratch();
  const file = scratch.file('upload');
  writeFileSync(file, randomBytes(UPLOAD_BYTES));
  const ask = (...more: readonly string[]): Promise<string> =>
    runProgram('curl', ['-sS', ...how, ...more]);
  const get = await ask(url, '-w', TELL);
  check(get === 'got 0 bytes by GET 2 1 ', `GET: ${get}`);
  const head = await ask('-I', url);
  check(head.startsWith('HTTP/2 200'), `HEAD: ${head}`);
  for (const body of [
    ['-T', file],
    ['--data-binary', `@${file}`],
  ]) {
    const upload = await ask(...body, url);
    check(upload.startsWith(`got ${UPLOAD_BYTES} bytes by P`), upload);
  }
  return passed('all answers right, 8 MiB up twice');
}

function curlUpgrade(): Promise<TrialOutcome> {
  return throughHttp2(false, async ({ url }) => {
    const answer = await runProgram('curl', ['-sS', '--http2', url, '-w', ' %{http_version}']);
    check(answer === 'got 0 bytes by GET 1.1', answer);
    return passed('answered, the upgrade passed over as RFC 9113 wants it');
  });
}

function nghttp(isSecure: boolean): Promise<TrialOutcome> {
  return throughHttp2(isSecure, async ({ url }) => {
    using scratch = makeScratch();
    const file = scratch.file('upload');
    writeFileSync(file, randomBytes(UPLOAD_BYTES));
    const many = Array.from({ length: 100 }, (_, at) => `${url}/${at}`);
    const got = await runProgram('nghttp', [...many]);
    check(got.endsWith('got 0 bytes by GET'.repeat(100)), `GETs: ${got.slice(0, 200)}`);
    const up = ['-v', '-d', file, '--trailer', 'x-sum: 7', '-b', '100', '--no-dep', url];
    const text = await runProgram('nghttp', up);
    check(text.includes(`got ${UPLOAD_BYTES} bytes by POST`), 'the upload is not answered');
    check(text.includes(`x-bytes: ${UPLOAD_BYTES}`), 'no trailers came back');
    const small = await runProgram('nghttp', ['-w', '4', '-W', '4', '-m', '20', url]);
    // Pieces of 15 bytes come in turns.
    const pieces = (text: string): number => small.split(text).length - 1;
    check(pieces('got 0 bytes by ') === 20 && pieces('GET') === 20, `small windows: ${small}`);
    return passed('100 streams, 8 MiB up with padding, trailers both ways, windows of 15 bytes');
  });
}

function h2load(isSecure: boolean): Promise<TrialOutcome> {
  return throughHttp2(isSecure, async ({ url }) => {
    const { requests, connections, streams } = LOAD;
    const output = await runProgram('h2load', [
      `-n${requests}`,
      `-c${connections}`,
      `-m${streams}`,
      url,
    ]);
    check(output.includes(`${requests} succeeded, 0 failed, 0 errored, 0 timeout`), output);
    return passed(pick(output, /requests: .*/));
  });
}

function undici(): Promise<TrialOutcome> {
  return throughHttp2(true, async (sluice, caPath) => {
    const connect = { ca: readFileSync(caPath, 'utf8'), servername: HOST };
    const dispatcher = new Agent({ allowH2: true, connections: 2, connect });
    const answers = Array.from({ length: UNDICI_REQUESTS }, async (_, at) => {
      const body = 'x'.repeat(at * 31);
      const answer = await request(`${sluice.url}/${at}`, { dispatcher, method: 'POST', body });
      return (await answer.body.text()) === `got ${body.length} bytes by POST`;
    });
    const wrong = (await Promise.all(answers)).filter((isRight) => !isRight).length;
    await dispatcher.close();
    check(wrong === 0, `${wrong} answers are wrong`);
    const spoken = await sluice.stat('http.web.downstream_rq_http2_total');
    check(spoken === UNDICI_REQUESTS, `${spoken} requests over HTTP/2`);
    return passed(`${UNDICI_REQUESTS} answers right over HTTP/2`);
  });
}
