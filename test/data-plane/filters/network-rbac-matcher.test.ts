import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, GREETING } from '../../support/parts/bootstrap.ts';
import { makeAuthority } from '../../support/parts/certificates.ts';
import {
  askSecurely,
  certificateFiles,
  secureListener,
  tlsSocket,
} from '../../support/parts/tls.ts';
import { filterListener, networkFilter } from '../../support/parts/tcp-listener.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const ECHO = networkFilter('echo', 'echo.v3.Echo');
const TYPE = 'type.googleapis.com';
const INPUTS = `${TYPE}/envoy.extensions.matching.common_inputs`;

const decide = (action: string): object => ({
  action: {
    name: 'a',
    typed_config: { '@type': `${TYPE}/envoy.config.rbac.v3.Action`, name: `to ${action}`, action },
  },
});

/** `action` for connections whose `input` fits, the other one for everyone else. */
function matcher(input: string, match: object, action: 'ALLOW' | 'DENY'): object {
  return {
    matcher_list: {
      matchers: [
        {
          predicate: {
            single_predicate: {
              input: { name: 'i', typed_config: { '@type': `${INPUTS}.${input}` } },
              ...match,
            },
          },
          on_match: decide(action),
        },
      ],
    },
    on_no_match: decide(action === 'ALLOW' ? 'DENY' : 'ALLOW'),
  };
}

const rbac = (fields: object): object =>
  networkFilter('rbac', 'rbac.v3.RBAC', { stat_prefix: 'a', ...fields });

const addresses = (prefix: string): object => ({
  custom_match: {
    name: 'ip',
    typed_config: {
      '@type': `${TYPE}/envoy.extensions.matching.input_matchers.ip.v3.Ip`,
      cidr_ranges: [{ address_prefix: prefix, prefix_len: 8 }],
      stat_prefix: 's',
    },
  },
});

describe('access control of connections by a matcher', () => {
  it('decides by addresses, and shadow matchers only count', async () => {
    const filter = rbac({
      matcher: matcher('network.v3.SourceIPInput', addresses('10.0.0.0'), 'DENY'),
      shadow_matcher: matcher('network.v3.SourceIPInput', addresses('127.0.0.0'), 'DENY'),
      shadow_rules_stat_prefix: 's_',
      // A matcher wins over rules.
      rules: { action: 'ALLOW', policies: {} },
    });
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [filterListener([filter, ECHO])] }),
    });
    const client = await openRaw(await sluice.listenerPort('tcp'));
    client.send('x');
    await client.until('x');
    client.destroy();
    assert.equal(await sluice.stat('a.rbac.allowed'), 1);
    assert.equal(await sluice.stat('a.rbac.s_.shadow_denied'), 1);
  });

  it('decides by the names in a client certificate', async () => {
    using scratch = makeScratch();
    const ca = makeAuthority(scratch.path);
    const server = ca.issue('server', 'DNS:a.test');
    const friend = ca.issue('friend', 'URI:spiffe://a/friend,DNS:friend.test');
    const stranger = ca.issue('stranger', 'URI:spiffe://a/stranger');
    const filter = rbac({
      matcher: matcher(
        'ssl.v3.UriSanInput',
        { value_match: { exact: 'spiffe://a/friend' } },
        'ALLOW',
      ),
      shadow_matcher: matcher(
        'ssl.v3.SubjectInput',
        { value_match: { suffix: 'CN=stranger' } },
        'ALLOW',
      ),
    });
    const socket = tlsSocket('Downstream', {
      common_tls_context: {
        tls_certificates: [certificateFiles(server)],
        validation_context: { trusted_ca: { filename: ca.certPath } },
      },
    });
    const listener = secureListener(GREETING, socket) as { filter_chains: { filters: object[] }[] };
    listener.filter_chains[0]?.filters.unshift(filter);
    await using sluice = await startSluice({ bootstrap: bootstrap({ listeners: [listener] }) });
    const port = await sluice.listenerPort('web');
    const ask = async ({ cert, key }: { cert: string; key: string }): Promise<string> =>
      (await askSecurely(port, { cert, key })).text;
    assert.match(await ask(friend), /^HTTP\/1.1 200/);
    assert.equal(await ask(stranger), '');
    assert.equal(await sluice.stat('a.rbac.allowed'), 1);
    assert.equal(await sluice.stat('a.rbac.denied'), 1);
    assert.equal(await sluice.stat('a.rbac.shadow_allowed'), 1);
    assert.equal(await sluice.stat('a.rbac.shadow_denied'), 1);
  });

  it('keeps a denied connection open and unheard for delay_deny', async () => {
    const filter = rbac({ matcher: {}, delay_deny: '0.05s' });
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [filterListener([filter, ECHO])] }),
    });
    const client = await openRaw(await sluice.listenerPort('tcp'));
    const beganMs = performance.now();
    client.send('x');
    await sluice.waitForStat('a.rbac.denied', (value) => value === 1);
    client.send('more');
    assert.equal(await client.closed(), '');
    assert.ok(performance.now() - beganMs >= 45);
    assert.equal(await sluice.stat('a.rbac.denied'), 1);
  });
});
