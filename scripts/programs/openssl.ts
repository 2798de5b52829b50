/** `openssl s_client` against a listener with TLS: what a user checks a server with. */
import { spawn } from 'node:child_process';
import { GREETING, bootstrap } from '../../test/support/parts/bootstrap.ts';
import { makeAuthority, type TestCertificate } from '../../test/support/parts/certificates.ts';
import { makeScratch } from '../../test/support/scratch.ts';
import { startSluice } from '../../test/support/programs/sluice.ts';
import { certificateFiles, secureListener, tlsSocket } from '../../test/support/parts/tls.ts';
import { check, passed, type Trial, trialOf, type TrialOutcome } from './trial.ts';

const REQUEST = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
const LIMIT_MS = 20_000;

export const opensslClient: Trial = trialOf(
  'openssl',
  'openssl s_client: names, protocols, versions, resumption, client certificates, alerts',
  useClient,
);

interface Expectation {
  readonly what: string;
  readonly listener: 'open' | 'closed';
  readonly args: readonly string[];
  readonly says: readonly RegExp[];
}

async function useClient(): Promise<TrialOutcome> {
  using scratch = makeScratch();
  const authority = makeAuthority(scratch.path);
  const one = authority.issue('one', 'DNS:one.test');
  const older = authority.issue('older', 'DNS:one.test', 'rsa');
  const two = authority.issue('two', 'DNS:*.two.test', 'rsa');
  const client = authority.issue('client', 'DNS:client.test');
  const stranger = makeAuthority(scratch.path, 'other').issue('stranger', 'DNS:s.test');
  const context = {
    alpn_protocols: ['http/1.1'],
    tls_certificates: [one, older, two].map(certificateFiles),
  };
  const asking = {
    common_tls_context: {
      ...context,
      validation_context: { trusted_ca: { filename: authority.certPath } },
    },
    require_client_certificate: true,
  };
  const open = secureListener(GREETING, tlsSocket('Downstream', { common_tls_context: context }));
  const closed = secureListener(GREETING, tlsSocket('Downstream', asking));
  await using sluice = await startSluice({
    bootstrap: bootstrap({ listeners: [open, { ...closed, name: 'closed' }] }),
    concurrency: 2,
  });
  const ports = {
    open: await sluice.listenerPort('web'),
    closed: await sluice.listenerPort('closed'),
  };
  const cases = expectations({ session: scratch.file('session'), client, stranger });
  for (const { what, listener, args, says } of cases) {
    const output = await sClient(ports[listener], args);
    for (const pattern of says) check(pattern.test(output), `${what}: no ${pattern} in ${output}`);
  }
  const stats = (await sluice.admin('/stats?filter=ssl.(session_reused|fail_verify)')).body;
  check(/session_reused: 2\n/.test(stats), `two resumed handshakes are counted: ${stats}`);
  return passed(`${cases.length} handshakes`);
}

function expectations(given: {
  readonly session: string;
  readonly client: TestCertificate;
  readonly stranger: TestCertificate;
}): readonly Expectation[] {
  const named = (name: string): readonly string[] => ['-servername', name];
  const showing = ({ certPath, keyPath }: TestCertificate): readonly string[] => [
    '-cert',
    certPath,
    '-key',
    keyPath,
  ];
  const answer = /HTTP\/1\.1 200 OK/;
  const at = (listener: Expectation['listener']) => {
    return (what: string, args: readonly string[], ...says: readonly RegExp[]): Expectation => {
      return { what, listener, args, says };
    };
  };
  const [open, closed] = [at('open'), at('closed')];
  const resumption = ['-tls1_2', '-tls1_3'].flatMap((version) => [
    open(`a session of ${version}`, [version, '-sess_out', given.session], /New, TLSv1/, answer),
    open(`${version} resumed`, [version, '-sess_in', given.session], /Reused, TLSv1/, answer),
  ]);
  return [
    open('the first certificate', ['-noservername'], /subject=CN ?= ?one/, answer),
    open('an exact name', named('one.test'), /subject=CN ?= ?one/, answer),
    open('a wildcard', named('a.two.test'), /subject=CN ?= ?two/, answer),
    open('an RSA client', [...named('one.test'), '-sigalgs', 'RSA-PSS+SHA256'], /CN ?= ?older/),
    open('ALPN', ['-alpn', 'h2,http/1.1'], /ALPN protocol: http\/1\.1/, answer),
    open('TLS 1.2', ['-tls1_2'], /TLSv1\.2, Cipher is ECDHE-ECDSA-/, answer),
    open('TLS 1.3', ['-tls1_3'], /TLSv1\.3, Cipher is TLS_/, answer),
    open('P-256', ['-groups', 'P-256'], /Server Temp Key: ECDH, P(rime)?-?256/i, answer),
    open(
      'an old version',
      ['-tls1_1', '-cipher', 'ALL:@SECLEVEL=0', '-msg'],
      /<<< TLS 1\.[01], Alert \[length 0002\], fatal protocol_version/,
    ),
    open('no common group', ['-groups', 'P-521', '-msg'], /Alert.*fatal handshake_failure/),
    open(
      'an orderly end',
      ['-tls1_2', '-msg'],
      answer,
      /<<< TLS 1\.2, Alert \[length 0002\], warning close_notify/,
    ),
    ...resumption,
    closed('a client certificate', showing(given.client), answer, /subject=CN ?= ?one/),
    closed('none', ['-msg'], /fatal certificate_required|alert number 116/),
    closed('none over TLS 1.2', ['-tls1_2', '-msg'], /fatal handshake_failure/),
    closed("a stranger's", showing(given.stranger), /unexpected eof|Connection reset|errno/),
  ];
}

/** What the program says of one connection, whether or not it was satisfied. */
async function sClient(port: number, args: readonly string[]): Promise<string> {
  const child = spawn(
    'openssl',
    ['s_client', '-connect', `127.0.0.1:${port}`, '-ign_eof', ...args],
    { timeout: LIMIT_MS },
  );
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stdin.on('error', () => undefined);
  child.stdin.end(REQUEST);
  await new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve());
  });
  return output;
}
