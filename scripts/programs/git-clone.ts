/** A clone and a push of a repository with large objects over smart HTTP. */
import { randomBytes } from 'node:crypto';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { bootstrap, httpListener, staticCluster } from '../../test/support/parts/bootstrap.ts';
import { makeScratch } from '../../test/support/scratch.ts';
import { startSluice } from '../../test/support/programs/sluice.ts';
import { check, passed, runProgram, type TrialOutcome } from './trial.ts';

const BACKEND = '/usr/lib/git-core/git-http-backend';
const FILES = 40;
const FILE_BYTES = 1024 * 1024;

export const gitClone = { name: 'git clone and push over smart HTTP, 40 MiB', run };

async function run(): Promise<TrialOutcome> {
  if (!existsSync(BACKEND))
    return { result: 'left out', detail: 'git-http-backend is not installed' };
  using scratch = makeScratch();
  const { path: folder } = scratch;
  const env = { ...process.env, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
  const git = async (cwd: string, ...args: string[]): Promise<string> =>
    runProgram('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, env });
  const source = join(folder, 'source');
  mkdirSync(source);
  await git(source, 'init', '-q', '-b', 'main');
  for (let at = 0; at < FILES; at++) writeFileSync(join(source, `f${at}`), randomBytes(FILE_BYTES));
  await git(source, 'add', '.');
  await git(source, 'commit', '-qm', 'files');
  await git(folder, 'clone', '-q', '--bare', source, join(folder, 'repo.git'));
  await git(join(folder, 'repo.git'), 'config', 'http.receivepack', 'true');
  const server = createServer((request, response) => serveGit(folder, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A clone may take longer than a route's timeout of 15 s.
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'up', timeout: '0s' } }];
  const clusters = [staticCluster('up', [(server.address() as AddressInfo).port])];
  await using sluice = await startSluice({
    bootstrap: bootstrap({ listeners: [httpListener(routes)], clusters }),
  });
  const url = `http://127.0.0.1:${await sluice.listenerPort('web')}/repo.git`;
  const clone = join(folder, 'clone');
  const started = performance.now();
  await git(folder, 'clone', '-q', url, clone);
  const tookMs = performance.now() - started;
  for (let at = 0; at < FILES; at += 13) {
    check(
      readFileSync(join(clone, `f${at}`)).equals(readFileSync(join(source, `f${at}`))),
      `file ${at} differs`,
    );
  }
  writeFileSync(join(clone, 'new'), randomBytes(8 * FILE_BYTES));
  await git(clone, 'add', '.');
  await git(clone, 'commit', '-qm', 'more');
  await git(clone, 'push', '-q', 'origin', 'main');
  const heads = [
    await git(clone, 'rev-parse', 'HEAD'),
    await git(join(folder, 'repo.git'), 'rev-parse', 'main'),
  ];
  server.closeAllConnections();
  server.close();
  check(heads[0] === heads[1], 'the push did not arrive');
  return passed(`cloned 40 MiB in ${(tookMs / 1000).toFixed(1)} s, pushed 8 MiB back`);
}

/** One CGI run per request (RFC 3875). */
function serveGit(root: string, request: IncomingMessage, response: ServerResponse): void {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const child = spawn(BACKEND, [], {
    env: {
      ...process.env,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: path,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method,
      REMOTE_ADDR: '127.0.0.1',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      HTTP_GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
  });
  request.pipe(child.stdin);
  let head = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    if (response.headersSent) {
      response.write(chunk);
      return;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    for (const line of head.toString('latin1', 0, end).split('\r\n')) {
      const [name = '', value = ''] = line.split(/: */);
      if (name.toLowerCase() === 'status') response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.write(head.subarray(end + 4));
  });
  child.stdout.on('end', () => response.end());
}
