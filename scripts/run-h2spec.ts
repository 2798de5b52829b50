/**
 * `npm run test:h2spec`: runs h2spec, where it is installed, against Sluice and, where `envoy` is on
 * PATH, against Envoy with the same bootstrap: plain and over TLS, answered at once and by a host.
 * Prints how many of its tests passed, and the numbers of those that did not. Fails where Sluice
 * passes fewer than `LEAST`.
 */
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bootstrap, httpListener, staticCluster } from '../test/support/parts/bootstrap.ts';
import { makeAuthority } from '../test/support/parts/certificates.ts';
import { certificateFiles, secureListener, tlsSocket } from '../test/support/parts/tls.ts';
import { fetchOnce } from '../test/support/peers/http-client.ts';
import { startSluice } from '../test/support/programs/sluice.ts';
import { makeScratch } from '../test/support/scratch.ts';
import { startReference } from './start-reference.ts';

/** Below what each listener passes: a test of many streams may differ from run to run. */
const LEAST = 137;
/** Above the delayed close of a listener, so that an end without a frame is seen. */
const TIMEOUT_S = 3;
/** The limit of what h2spec prints. */
const MOST_OUTPUT_BYTES = 1024 * 1024;
const LISTENERS = ['plain', 'routed', 'web'] as const;
const TOOL = ['h2spec', `${process.env['HOME'] ?? ''}/go/bin/h2spec`].find(
  (command) => spawnSync(command, ['--version']).status === 0,
);

if (TOOL === undefined) console.log('left out: h2spec is not installed');
else await compare(TOOL);

async function compare(tool: string): Promise<void> {
  using scratch = makeScratch();
  const host = createServer((request, response) => {
    request.resume().on('end', () => response.end('x'.repeat(64)));
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  const config = twoWays(scratch.path, (host.address() as AddressInfo).port);
  const sluice = await startSluice({ bootstrap: config });
  const passed = await runAll(tool, 'Sluice', (path) =>
    sluice.admin(path).then(({ body }) => body),
  );
  await sluice[Symbol.asyncDispose]();
  if (spawnSync('which', ['envoy']).status === 0) {
    const envoy = await startReference(config);
    await runAll(
      tool,
      'Envoy',
      async (path) => (await fetchOnce({ port: envoy.adminPort, path })).body,
    );
    await envoy.stop();
  }
  host.close();
  if (passed < LEAST) process.exitCode = 1;
}

/** The listeners: `plain` answers at once, as `web` does over TLS; `routed` asks the host. */
function twoWays(folder: string, hostPort: number): object {
  const leaf = makeAuthority(folder).issue('leaf', 'DNS:localhost');
  const answer = { status: 200, body: { inline_string: 'x'.repeat(64) } };
  const direct = [{ match: { prefix: '/' }, direct_response: answer }];
  const context = { alpn_protocols: ['h2'], tls_certificates: [certificateFiles(leaf)] };
  return bootstrap({
    listeners: [
      { ...httpListener(direct), name: 'plain' },
      { ...httpListener([{ match: { prefix: '/' }, route: { cluster: 'up' } }]), name: 'routed' },
      secureListener(direct, tlsSocket('Downstream', { common_tls_context: context })),
    ],
    clusters: [staticCluster('up', [hostPort])],
  });
}

/** Gives how many of the tests passed that the plain listener was put to. */
async function runAll(
  tool: string,
  server: string,
  admin: (path: string) => Promise<string>,
): Promise<number> {
  const { listener_statuses: all } = JSON.parse(await admin('/listeners?format=json')) as {
    readonly listener_statuses: readonly {
      readonly name: string;
      readonly local_address: { readonly socket_address: { readonly port_value: number } };
    }[];
  };
  let least = Number.POSITIVE_INFINITY;
  for (const name of LISTENERS) {
    const port = all.find((each) => each.name === name)?.local_address.socket_address.port_value;
    const { passed, line } = await runTool(tool, String(port), name === 'web');
    console.log(`${server}, ${name === 'web' ? 'TLS' : name}: ${line}`);
    least = Math.min(least, passed);
  }
  return least;
}

/** Beside this process, whose host answers meanwhile. */
async function runTool(
  tool: string,
  port: string,
  isSecure: boolean,
): Promise<{ readonly passed: number; readonly line: string }> {
  using scratch = makeScratch();
  const report = scratch.file('report.xml');
  const secure = isSecure ? ['-t', '-k'] : [];
  const args = ['-h', '127.0.0.1', '-p', port, '-o', String(TIMEOUT_S), '-j', report, ...secure];
  const stdout = await new Promise<string>((resolve) => {
    execFile(tool, args, { maxBuffer: MOST_OUTPUT_BYTES }, (_error, text) => resolve(text));
  });
  const [, total, passed] = /(\d+) tests, (\d+) passed/.exec(stdout) ?? [];
  const failed = readFileSync(report, 'utf8').split('<testsuite ').flatMap(failuresOf);
  const names = failed.length === 0 ? '' : `; failed in ${failed.join(' ')}`;
  return { passed: Number(passed), line: `${passed ?? '?'} of ${total ?? '?'} passed${names}` };
}

/**
 * The failures in one section's report: the section with the number of each test, such as `5.1/9`.
 */
function failuresOf(suite: string): readonly string[] {
  const section = /package="(?:[a-z0-9]+\/)?([^"]*)"/.exec(suite)?.[1] ?? '?';
  const cases = suite.split('<testcase ').slice(1);
  return cases.flatMap((each, index) =>
    /<(?:failure|error)/.test(each) ? [`${section}/${index + 1}`] : [],
  );
}
