import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { httpListener } from '../../support/parts/bootstrap.ts';
import { makeScratch } from '../../support/scratch.ts';
import { runSluice } from '../../support/programs/sluice.ts';

interface JsonReport {
  readonly valid: boolean;
  readonly problems: readonly { readonly field: string; readonly line: number }[];
}

describe('--mode validate', () => {
  const validate = (yaml: string, ...args: string[]) =>
    runSluice(['--mode', 'validate', '--config-yaml', yaml, ...args]);

  it('reports all mistakes of form and meaning at once in the wanted format', async () => {
    const yaml = `admin: {acces_log: []}
static_resources:
  clusters: [{name: a, connect_timeout: 0s}]
  listeners:
  - name: l
    address: {socket_address: {address: 1.2.3, port_value: 1}}
    additional_addresses: [{address: {socket_address: {address: 4.5, port_value: 1}}}]
    filter_chains:
    - filters: [{name: nosuch, typed_config: {"@type": type.googleapis.com/google.protobuf.Empty}}]
`;
    const { code, stdout } = await validate(yaml, '--validate-format', 'json');
    assert.equal(code, 1);
    const report = JSON.parse(stdout) as JsonReport;
    assert.equal(report.valid, false);
    assert.deepEqual(
      report.problems.map(({ field, line }) => [field, line]),
      [
        ['admin.acces_log', 1],
        ['static_resources.clusters[0].connect_timeout', 3],
        ['static_resources.listeners[0].address.socket_address.address', 6],
        ['static_resources.listeners[0].additional_addresses[0].address.socket_address.address', 7],
        ['static_resources.listeners[0].filter_chains[0].filters[0].typed_config', 9],
      ],
    );
  });

  it('refuses what a file that it names has wrong, with the line in that file', async () => {
    using scratch = makeScratch();
    const path = scratch.file('lds.yaml');
    writeFileSync(path, 'resources:\n- "@type": type.googleapis.com/nosuch.Type\n');
    const lds = `{lds_config: {path_config_source: {path: "${path}"}}}`;
    const result = await validate(`{node: {id: a, cluster: b}, dynamic_resources: ${lds}}`);
    assert.equal(result.code, 1);
    assert.match(result.stderr, /lds\.yaml:2:\d+: resources\[0\]/);
  });

  it('passes without certificates when they are skipped', async () => {
    const tls = {
      name: 'tls',
      typed_config: {
        '@type':
          'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext',
        common_tls_context: {
          tls_certificates: [
            { certificate_chain: { filename: '/no/cert' }, private_key: { filename: '/no/key' } },
          ],
          validation_context: { trusted_ca: { filename: '/no/ca' } },
        },
      },
    };
    const listener = httpListener([]) as { filter_chains: [object] };
    const [chain] = listener.filter_chains;
    const secured = { ...listener, filter_chains: [{ ...chain, transport_socket: tls }] };
    const yaml = JSON.stringify({ static_resources: { listeners: [secured] } });
    const [read, skipped] = await Promise.all([
      validate(yaml),
      validate(yaml, '--validate-skip-secrets'),
    ]);
    assert.equal(read.code, 1);
    assert.match(read.stderr, /Failed to load incomplete private key from path: \/no\/key/);
    assert.deepEqual([skipped.code, skipped.stdout], [0, "configuration '' OK\n"]);
  });

  it('refuses an extension that is switched off, by name', async () => {
    const yaml = JSON.stringify({ static_resources: { listeners: [httpListener([])] } });
    const option = ['--disable-extensions', 'envoy.filters.http/envoy.filters.http.router'];
    const { code, stderr } = await validate(yaml, ...option);
    assert.equal(code, 1);
    assert.match(stderr, /\[info\]\[misc\] .*disabled extension/);
    assert.match(
      stderr,
      /Didn't find a registered implementation for 'envoy\.filters\.http\.router'/,
    );
  });
});
