/**
 * Runs the packed program once with a small configuration and some requests, so that it and its
 * worker leave V8's compiled code beside their packed files; not again while these stay the same.
 * A function that did not run here is compiled when a server needs it: the start and the first
 * requests of a usual server are therefore gone through as a whole.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get, request } from 'node:http';
import {
  type ClientHttp2Session,
  connect,
  constants,
  createServer as createHttp2Server,
} from 'node:http2';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HTTP2_PATH, usualBootstrap } from './usual-bootstrap.ts';

const LIMIT_MS = 15_000;
const LOOK_MS = 50;
const REQUESTS = 8;
const ANSWER_BODY = 'ok';
const ANSWER = `HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n${ANSWER_BODY}`;

/** A build without caches is whole, but slower at its start; a program that ends fails the build. */
export async function makeCodeCaches(projectRoot: string): Promise<void> {
  const folders = ['src', 'workers/process'].map((folder) => join(projectRoot, 'dist', folder));
  const isDone = (): boolean => folders.every(hasCache);
  if (isDone()) return;
  const scratch = mkdtempSync(join(tmpdir(), 'sluice-build-'));
  const hosts = [await startHost(), await startHttp2Host()] as const;
  try {
    await runOnce(join(projectRoot, 'dist', 'src', 'main.js'), scratch, hosts);
  } finally {
    for (const host of hosts) host.close();
    rmSync(scratch, { recursive: true });
  }
  if (!isDone()) console.warn('the build has no code caches: starts will compile');
}

function hasCache(folder: string): boolean {
  const own = `.cjs.${process.version}-${process.arch}.cache`;
  return readdirSync(folder).some((file) => file.endsWith(own));
}

/** Answers every request that comes in one piece. */
async function startHost(): Promise<Server> {
  const host = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => void socket.write(ANSWER));
  });
  host.listen(0, '127.0.0.1');
  await once(host, 'listening');
  return host;
}

async function startHttp2Host(): Promise<Server> {
  const host = createHttp2Server((asked, answer) => {
    asked.resume().on('end', () => answer.end(ANSWER_BODY));
  });
  host.listen(0, '127.0.0.1');
  await once(host, 'listening');
  return host;
}

/** `hosts`: of HTTP/1 and of HTTP/2. */
async function runOnce(
  main: string,
  scratch: string,
  hosts: readonly [Server, Server],
): Promise<void> {
  const config = join(scratch, 'bootstrap.json');
  const adminPath = join(scratch, 'admin');
  const portOf = (host: Server): number => (host.address() as AddressInfo).port;
  writeFileSync(config, JSON.stringify(usualBootstrap(portOf(hosts[0]), portOf(hosts[1]))));
  const words = ['--config-path', config, '--admin-address-path', adminPath];
  const own = ['--concurrency', '1', '--disable-hot-restart', '--log-level', 'off'];
  const child = spawn(process.execPath, [main, ...words, ...own], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '', SLUICE_CODE_CACHE: 'at-exit' },
  });
  const closed = once(child, 'close');
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  try {
    await useServer(async () => {
      if (child.exitCode !== null) throw new Error(`the packed program ended: ${child.exitCode}`);
      await delay(LOOK_MS);
    }, adminPath);
  } finally {
    child.kill('SIGTERM');
    await closed;
    clearTimeout(limit);
  }
}

/** Waits for the server, and asks it what clients ask. */
async function useServer(wait: () => Promise<void>, adminPath: string): Promise<void> {
  const readAdmin = (): string | undefined => {
    try {
      return readFileSync(adminPath, 'utf8') || undefined;
    } catch {
      return undefined;
    }
  };
  let admin = readAdmin();
  for (; admin === undefined; admin = readAdmin()) await wait();
  while ((await ask(`http://${admin}/ready`)) !== 'LIVE\n') await wait();
  const listeners = await ask(`http://${admin}/listeners`);
  const address = /^web::(\S+)$/m.exec(listeners)?.[1];
  if (address === undefined) throw new Error(`no listener: ${listeners}`);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let count = 0; count < REQUESTS; count += 1) {
    for (const body of [undefined, 'a body']) {
      const answer = await ask(`http://${address}/usual?count=${count}`, agent, body);
      if (answer !== ANSWER_BODY) throw new Error(`the packed program answered ${answer}`);
    }
  }
  agent.destroy();
  await useHttp2(address);
}

/** Clients of HTTP/2 ask for several things at once, and change their minds. */
async function useHttp2(address: string): Promise<void> {
  const session = connect(`http://${address}`);
  await once(session, 'connect');
  for (const path of ['/usual', HTTP2_PATH]) {
    const asked = Array.from({ length: REQUESTS }, (_, at) => at);
    const bodies = [undefined, 'a body'];
    const answers = asked.flatMap(() => bodies.map((body) => askHttp2(session, path, body)));
    const cancelled = session.request({ ':path': path });
    cancelled.on('error', () => undefined);
    cancelled.close(constants.NGHTTP2_CANCEL);
    for (const answer of await Promise.all(answers)) {
      if (answer !== ANSWER_BODY) throw new Error(`the packed program answered ${answer}`);
    }
  }
  session.close();
  await once(session, 'close');
}

async function askHttp2(
  session: ClientHttp2Session,
  path: string,
  body: string | undefined,
): Promise<string> {
  const method = body === undefined ? 'GET' : 'POST';
  const stream = session.request({ ':path': path, ':method': method });
  stream.end(body);
  return Buffer.concat(await stream.toArray()).toString();
}

async function ask(url: string, agent?: Agent, body?: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    const asked =
      body === undefined ? get(url, { agent }) : request(url, { agent, method: 'POST' });
    asked.on('error', reject);
    asked.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve(text));
    });
    asked.end(body);
  });
}
