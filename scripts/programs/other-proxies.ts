/** nginx and HAProxy, each behind Sluice and in front of it. */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { freePort } from '../../test/support/free-port.ts';
import { proxyTo } from '../../test/support/parts/bootstrap.ts';
import { makeScratch } from '../../test/support/scratch.ts';
import { startSluice } from '../../test/support/programs/sluice.ts';
import { waitUntil } from '../../test/support/wait.ts';
import { check, passed, type Trial, trialOf, type TrialOutcome } from './trial.ts';

const REQUESTS = 500;

export const otherProxies: readonly Trial[] = [
  trialOf('nginx', 'nginx as upstream and as client', () => both(startNginx)),
  trialOf('haproxy', 'HAProxy as upstream and as client', () => both(startHaproxy)),
];

interface OtherProxy {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts it as a reverse proxy to `target`. */
type StartProxy = (target: number, port: number, folder: string) => OtherProxy;

/** client -> Sluice -> the other -> server, and client -> the other -> Sluice -> server. */
async function both(start: StartProxy): Promise<TrialOutcome> {
  using scratch = makeScratch();
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (piece: Buffer) => (text += piece.toString()));
    request.on('end', () => response.end(`${request.method} ${request.url} ${text.length}`));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const target = (server.address() as AddressInfo).port;
  const behind = start(target, await freePort(), scratch.path);
  try {
    await waitUntil('the other proxy', async () => isAnswering(behind.port));
    await using sluice = await startSluice({ bootstrap: proxyTo(behind.port) });
    const own = await sluice.listenerPort('web');
    await askMany(own);
    await behind.stop();
    await using second = await startSluice({ bootstrap: proxyTo(target) });
    const front = start(await second.listenerPort('web'), await freePort(), scratch.path);
    try {
      await waitUntil('the other proxy in front', async () => isAnswering(front.port));
      await askMany(front.port);
    } finally {
      await front.stop();
    }
    return passed(`${REQUESTS} requests right on either side`);
  } finally {
    await behind.stop();
    server.closeAllConnections();
    server.close();
  }
}

async function askMany(port: number): Promise<void> {
  for (let from = 0; from < REQUESTS; from += 20) {
    const answers = Array.from({ length: 20 }, async (_, at) => {
      const body = 'y'.repeat((from + at) * 37);
      const answer = await fetch(`http://127.0.0.1:${port}/p${from + at}`, {
        method: 'POST',
        body,
      });
      const text = await answer.text();
      check(
        text === `POST /p${from + at} ${body.length}`,
        `wrong answer: ${answer.status} ${text}`,
      );
    });
    await Promise.all(answers);
  }
}

function startNginx(target: number, port: number, folder: string): OtherProxy {
  const file = `${folder}/nginx-${port}.conf`;
  writeFileSync(
    file,
    `${process.getuid?.() === 0 ? 'user root;' : ''} daemon off; pid ${folder}/nginx-${port}.pid; error_log stderr; events {}
http { access_log off; client_max_body_size 10m; client_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p;
fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
upstream up { server 127.0.0.1:${target}; keepalive 16; }
server { listen 127.0.0.1:${port}; location / { proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection ""; } } }`,
  );
  return stopper(port, 'nginx', ['-c', file]);
}

function startHaproxy(target: number, port: number, folder: string): OtherProxy {
  const file = `${folder}/haproxy-${port}.cfg`;
  writeFileSync(
    file,
    `defaults\n mode http\n timeout connect 5s\n timeout client 30s\n timeout server 30s\n option http-keep-alive
frontend in\n bind 127.0.0.1:${port}\n default_backend up\nbackend up\n server s 127.0.0.1:${target}\n`,
  );
  return stopper(port, 'haproxy', ['-f', file, '-db']);
}

function stopper(port: number, command: string, args: readonly string[]): OtherProxy {
  const child = spawn(command, args, { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    port,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function isAnswering(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
  await answer?.text();
  return answer?.status === 200;
}
