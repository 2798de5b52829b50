/** Questions of DNS that a listener answers, as Envoy answered the same messages. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { decode, encode, RECURSION_DESIRED } from 'dns-packet';
import { bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import { resolverConfig, startDnsServer, type DnsServer } from '../../support/peers/dns-server.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { makeScratch } from '../../support/scratch.ts';

const MANY = Array.from({ length: 60 }, (_, index) => `10.1.0.${index + 1}`);
const TABLE = {
  external_retry_count: 1,
  virtual_domains: [
    {
      name: 'www.foo.test',
      endpoint: { address_list: { address: ['10.0.0.1', '10.0.0.2', '2001:db8::1'] } },
      answer_ttl: '35s',
    },
    { name: '*.wild.test', endpoint: { address_list: { address: ['10.0.0.9'] } } },
    { name: 'many.foo.test', endpoint: { address_list: { address: MANY } } },
    { name: 'c.foo.test', endpoint: { cluster_name: 'backends' } },
    {
      name: 'svc.foo.test',
      endpoint: {
        service_list: {
          services: [
            {
              service_name: 'web',
              protocol: { number: 17 },
              ttl: '60s',
              targets: [{ host_name: 'www.foo.test', priority: 1, weight: 2, port: 80 }],
            },
          ],
        },
      },
    },
  ],
};

function dnsListener(name: string, fields: object): object {
  return {
    name,
    address: { socket_address: { protocol: 'UDP', address: '127.0.0.1', port_value: 0 } },
    listener_filters: [
      {
        name: 'envoy.filters.udp.dns_filter',
        typed_config: {
          '@type': 'type.googleapis.com/envoy.extensions.filters.udp.dns_filter.v3.DnsFilterConfig',
          stat_prefix: name,
          ...fields,
        },
      },
    ],
  };
}

/** The answer to these bytes. */
async function send(port: number, message: Buffer): Promise<Buffer> {
  const socket = createSocket('udp4');
  socket.send(message, port, '127.0.0.1');
  const [answer] = (await once(socket, 'message')) as [Buffer];
  socket.close();
  return answer;
}

/** Its code, and what its records say in order. */
async function ask(
  port: number,
  name: string,
  type: 'A' | 'AAAA' | 'SRV' | 'TXT',
): Promise<string> {
  const question = { type: 'query', id: 7, flags: RECURSION_DESIRED } as const;
  const bytes = await send(port, encode({ ...question, questions: [{ name, type }] }));
  const packet = decode(bytes);
  assert.equal(packet.id, 7);
  assert.equal(packet.questions?.[0]?.name, name);
  const records = (packet.answers ?? []).map((each) => {
    const { ttl, data } = each as { readonly ttl: number; readonly data: unknown };
    return `${ttl}:${JSON.stringify(data).replaceAll('"', '')}`;
  });
  return [bytes.readUInt16BE(2).toString(16), ...records.sort()].join(' ');
}

describe('a listener that answers questions of DNS', () => {
  const scratch = makeScratch();
  let server: DnsServer;
  let sluice: Sluice;
  let local = 0;
  let asking = 0;

  before(async () => {
    server = await startDnsServer({
      'known.test': ['192.0.2.7', '2001:db8::7'],
      'silent.test': 'silent',
    });
    writeFileSync(scratch.file('table.json'), JSON.stringify(TABLE));
    const table = { inline_dns_table: TABLE };
    const file = { external_dns_table: { filename: scratch.file('table.json') } };
    const client = {
      resolver_timeout: '1s',
      max_pending_lookups: 16,
      typed_dns_resolver_config: resolverConfig(server),
    };
    sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [
          dnsListener('local', { server_config: file, case_insensitive: true }),
          dnsListener('asking', { server_config: table, client_config: client }),
        ],
        clusters: [staticCluster('backends', [8080])],
      }),
    });
    local = await sluice.listenerPort('local');
    asking = await sluice.listenerPort('asking');
  });
  after(async () => {
    await sluice.stop();
    await server[Symbol.asyncDispose]();
    scratch[Symbol.dispose]();
  });

  it('tells addresses of its table and of clusters', async () => {
    assert.equal(await ask(local, 'www.foo.test', 'A'), '8100 35:10.0.0.1 35:10.0.0.2');
    assert.equal(await ask(local, 'WWW.foo.test', 'AAAA'), '8100 35:2001:db8::1');
    assert.equal(await ask(local, 'a.b.wild.test', 'A'), '8100 300:10.0.0.9');
    assert.equal(await ask(local, 'wild.test', 'A'), '8103');
    assert.equal(await ask(local, 'c.foo.test', 'A'), '8100 300:127.0.0.1');
    assert.equal(await ask(local, 'backends', 'A'), '8100 300:127.0.0.1');
    assert.equal((await ask(local, 'many.foo.test', 'A')).split(' ').length, 9);
    assert.equal(await ask(local, 'www.foo.test', 'TXT'), '8104');
    assert.equal(
      await ask(local, '_web._udp.svc.foo.test', 'SRV'),
      '8100 60:{priority:1,weight:2,port:80,target:www.foo.test}',
    );
    assert.equal(await sluice.stat('dns_filter.local.known_domain_queries'), 8);
    assert.equal(await sluice.stat('dns_filter.local.cluster_a_record_answers'), 2);
    assert.equal(await sluice.stat('dns_filter.local.unanswered_queries'), 2);
  });

  it('asks name servers for what it does not know', async () => {
    assert.equal(await ask(asking, 'www.foo.test', 'A'), '8180 35:10.0.0.1 35:10.0.0.2');
    assert.equal(await ask(asking, 'WWW.foo.test', 'A'), '8183');
    assert.equal(await ask(asking, 'known.test', 'A'), '8180 300:192.0.2.7');
    assert.equal(await ask(asking, 'known.test', 'AAAA'), '8180 300:2001:db8::7');
    assert.equal(await ask(asking, 'none.test', 'A'), '8183');
    const asked = server.asked.length;
    assert.equal(await ask(asking, 'silent.test', 'A'), '8183');
    assert.equal(server.asked.length, asked + 2);
    assert.equal(await sluice.stat('dns_filter.asking.external_a_record_queries'), 4);
    assert.equal(await sluice.stat('dns_filter.asking.external_a_record_answers'), 1);
  });

  it('refuses what is no question', async () => {
    const head = (flags: number, ...counts: readonly number[]): Buffer => {
      const bytes = Buffer.alloc(12);
      for (const [at, value] of [9, flags, ...counts].entries()) bytes.writeUInt16BE(value, at * 2);
      return bytes;
    };
    const name = Buffer.from('\x03www\x00\x00\x01\x00\x01', 'latin1');
    const faults = [
      Buffer.alloc(0),
      Buffer.from('abc'),
      head(0x100, 0, 0, 0, 0),
      Buffer.concat([head(0x100, 2, 0, 0, 0), name, name]),
      Buffer.concat([head(0x8100, 1, 0, 0, 0), name]),
      Buffer.concat([head(0x100, 1, 1, 0, 0), name]),
      Buffer.concat([head(0x100, 1, 0, 0, 0), Buffer.from('\xc0\x0c\x00\x01\x00\x01', 'latin1')]),
      Buffer.concat([head(0x100, 1, 0, 0, 0), Buffer.from('\x00\x00\x01\x00\x01', 'latin1')]),
      Buffer.concat([head(0x100, 1, 0, 0, 0), Buffer.alloc(300, '\x3fa')]),
      Buffer.concat([head(0x100, 1, 0, 0, 0), name.subarray(0, 6)]),
    ];
    for (const message of faults) {
      const answer = await send(local, message);
      assert.equal(answer.length, 12);
      assert.equal(answer.readUInt16BE(2) & 0x800f, 0x8001);
    }
    const invalid = await sluice.stat('dns_filter.local.downstream_rx_invalid_queries');
    assert.equal(invalid, faults.length);
    assert.equal(await ask(local, 'www.foo.test', 'A'), '8100 35:10.0.0.1 35:10.0.0.2');
  });
});
