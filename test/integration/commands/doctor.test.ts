/** `sluice doctor`: what is wrong with a machine and a bootstrap, and what helps. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { certificateFinding } from '../../../src/commands/doctor/bootstrap-checks.ts';
import { descriptorLimit } from '../../../src/commands/doctor/host-checks.ts';
import { bootstrap, GREETING, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { secureListener, tlsSocket } from '../../support/parts/tls.ts';
import { runSluice, startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

interface Finding {
  readonly check: string;
  readonly health: string;
  readonly found: string;
  readonly cause?: string;
  readonly cure?: string;
}

test('a port that is taken, an open admin interface, certificates, names and paths', async () => {
  using scratch = makeScratch();
  const held = createServer();
  await new Promise<void>((resolve) => held.listen(0, '127.0.0.1', resolve));
  const { port } = held.address() as AddressInfo;
  const pair = makeAuthority(scratch.path).issue('web', 'DNS:web.test');
  const files = {
    certificate_chain: { filename: pair.certPath },
    private_key: { filename: pair.keyPath },
  };
  const context = { tls_certificates: [files] };
  const secure = secureListener(GREETING, tlsSocket('Downstream', { common_tls_context: context }));
  const taken = httpListener(GREETING, {
    name: 'taken',
    listener: { address: { socket_address: { address: '127.0.0.1', port_value: port } } },
  });
  const piped = httpListener(GREETING, {
    name: 'piped',
    listener: { address: { pipe: { path: '/nowhere/at/all.sock' } } },
  });
  const named = staticCluster('named', [80], { type: 'STRICT_DNS' });
  const path = scratch.file('bootstrap.json');
  const admin = { address: { socket_address: { address: '0.0.0.0', port_value: 0 } } };
  const text = JSON.stringify(
    bootstrap({ listeners: [secure, taken, piped], clusters: [named] }, { admin }),
  );
  writeFileSync(
    path,
    text.replace(
      '"address":"127.0.0.1","port_value":80',
      '"address":"nobody.invalid","port_value":80',
    ),
  );
  const { code, stdout, stderr } = await runSluice(['doctor', '-c', path, '--format', 'json']);
  held.close();
  assert.equal(code, 1, stderr);
  const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] };
  const of = (check: string): Finding | undefined => findings.find((each) => each.check === check);
  assert.equal(of('bootstrap')?.health, 'ok', stdout);
  assert.equal(of(`port ${port}`)?.health, 'error');
  assert.match(of(`port ${port}`)?.cause ?? '', new RegExp(`^process ${process.pid} `));
  assert.equal(of('admin interface')?.health, 'warning');
  assert.equal(of('socket /nowhere/at/all.sock')?.health, 'error');
  assert.equal(of('name nobody.invalid')?.health, 'error');
  assert.match(
    of(`certificate ${pair.certPath}`)?.found ?? '',
    /^it (is valid for|expires in) \d+ days$/,
  );
  for (const check of ['descriptors', 'accept queue', 'local ports', 'control group', 'clock']) {
    assert.ok(of(check) !== undefined, check);
  }
  for (const { check, health, cause, cure } of findings) {
    const isSick = health === 'warning' || health === 'error';
    assert.equal(cause !== undefined && cure !== undefined, isSick, check);
  }
});

test('who uses a base id, and what a bootstrap would lose', async () => {
  using scratch = makeScratch();
  const id = String(100_000 + (process.pid % 100_000));
  await using sluice = await startSluice({
    bootstrap: bootstrap({ listeners: [httpListener(GREETING)] }),
    args: ['--base-id', id],
  });
  const path = scratch.file('bad.yaml');
  writeFileSync(path, 'static_resources: {listeners: [{name: a, nonsense: 1}]}');
  const { code, stdout } = await runSluice(['doctor', '--base-id', id, '-c', path]);
  assert.equal(code, 1);
  assert.match(stdout, new RegExp(`WARNING base id: ${id} is used by process ${sluice.pid} `));
  assert.match(
    stdout,
    /ERROR {3}bootstrap: .* is (invalid|unreadable)\n {8}cause: [^]*nonsense[^]*\n {8}cure: /,
  );
  const wrong = await runSluice(['doctor', '--base-id', 'x']);
  assert.equal(wrong.code, 2);
});

test('certificates near their end, and a low limit of descriptors', () => {
  using scratch = makeScratch();
  const { cert } = makeAuthority(scratch.path).issue('web', 'DNS:web.test');
  const now = Date.now();
  const health = (days: number): string =>
    certificateFinding('c', cert, now + days * 86_400_000).health;
  assert.deepEqual([health(-2), health(40_000)], ['error', 'error']);
  assert.equal(certificateFinding('c', 'nonsense', now).health, 'error');
  const limits = (hard: string): string =>
    `Max open files            1024                 ${hard}              files`;
  assert.equal(descriptorLimit(limits('4096')).health, 'warning');
  assert.equal(descriptorLimit(limits('1048576')).health, 'ok');
  assert.equal(descriptorLimit('').health, 'unknown');
});
