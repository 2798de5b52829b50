/** nginx and HAProxy speaking HTTP/2 to Sluice: as hosts behind it and as clients before it. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { freePort } from '../../../test/support/free-port.ts';
import { exchange } from '../../../test/support/peers/http2-client.ts';
import { echo } from '../../../test/support/programs/http2-upstreams.ts';
import { startHttp2Upstream } from '../../../test/support/peers/http2.ts';
import { makeScratch } from '../../../test/support/scratch.ts';
import { waitForPort } from '../../bench/support/processes.ts';
import { check, passed, runProgram, type Trial, trialOf, type TrialOutcome } from '../trial.ts';
import { isAllOver, startBetween } from './sides.ts';

const REQUESTS = 500;
const AT_ONCE = 50;

export const http2Proxies: readonly Trial[] = [
  trialOf('nginx', 'nginx as a host of HTTP/2', () => asHost('nginx')),
  trialOf('nginx', 'nginx (grpc_pass) as a client of HTTP/2', () => asClient('nginx')),
  trialOf('haproxy', 'HAProxy as a host of HTTP/2', () => asHost('haproxy')),
  trialOf('haproxy', 'HAProxy as a client of HTTP/2', () => asClient('haproxy')),
];

/** The configuration that listens on `port` and passes everything on to `target`. */
type Configure = (port: number, target: number, folder: string) => string;

/** client -> Sluice -> the other -> host. */
async function asHost(program: Program): Promise<TrialOutcome> {
  await using upstream = await startHttp2Upstream(echo);
  await using other = await start(program, upstream.port);
  await using sluice = await startBetween({ upstreamPort: other.port });
  await askMany(sluice.port);
  await isAllOver(sluice);
  const connections = await sluice.stat('cluster.up.upstream_cx_http2_total');
  return passed(`${REQUESTS} uploads came back, ${connections} connections of HTTP/2`);
}

/** client -> the other -> Sluice -> host. */
async function asClient(program: Program): Promise<TrialOutcome> {
  await using upstream = await startHttp2Upstream(echo);
  await using sluice = await startBetween({ upstreamPort: upstream.port });
  await using other = await start(program, sluice.port);
  await askMany(other.port);
  await isAllOver(sluice);
  const requests = await sluice.stat('http.web.downstream_rq_http2_total');
  check(requests === REQUESTS, `${requests} requests came by HTTP/2`);
  return passed(`${REQUESTS} uploads came back over HTTP/2`);
}

async function askMany(port: number): Promise<void> {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => undefined);
  try {
    for (let from = 0; from < REQUESTS; from += AT_ONCE) {
      const answers = Array.from({ length: AT_ONCE }, async (_, at) => {
        const body = 'y'.repeat((from + at) * 137);
        const stream = session.request({ ':method': 'POST', ':path': `/p${from + at}` });
        const answer = await exchange(stream, body);
        check(answer.status === 200 && answer.body === body, `wrong: ${answer.status}`);
      });
      await Promise.all(answers);
    }
  } finally {
    session.destroy();
  }
}

type Program = 'nginx' | 'haproxy';

const CONFIGURATIONS: Readonly<Record<Program, Configure>> = { nginx, haproxy };

interface OtherProxy {
  readonly port: number;
  [Symbol.asyncDispose](): Promise<void>;
}

async function start(program: Program, target: number): Promise<OtherProxy> {
  const scratch = makeScratch();
  const port = await freePort();
  const file = scratch.file(`${program}.conf`);
  writeFileSync(file, CONFIGURATIONS[program](port, target, scratch.path));
  const words = program === 'nginx' ? ['-c', file] : ['-f', file, '-db'];
  // What is wrong with the configuration is said before anything waits for the port.
  await runProgram(program, [...words, program === 'nginx' ? '-t' : '-c']);
  const child = spawn(program, words, { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await waitForPort(port);
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      await ended;
      scratch[Symbol.dispose]();
    },
  };
}

function nginx(port: number, target: number, folder: string): string {
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  return `${user} daemon off; pid ${folder}/pid; error_log ${folder}/log; events {}
http { access_log off; client_max_body_size 10m; client_body_temp_path ${folder}/b;
proxy_temp_path ${folder}/p; fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u;
scgi_temp_path ${folder}/s; upstream up { server 127.0.0.1:${target}; keepalive 4; }
server { listen 127.0.0.1:${port} http2; location / { grpc_pass grpc://up; } } }
`;
}

function haproxy(port: number, target: number): string {
  return `defaults
 mode http
 timeout connect 5s
 timeout client 30s
 timeout server 30s
frontend in
 bind 127.0.0.1:${port} proto h2
 default_backend up
backend up
 server s 127.0.0.1:${target} proto h2
`;
}
