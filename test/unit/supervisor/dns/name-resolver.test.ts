import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { decodeAnswer, encodeQuestion } from '../../../../shared/dns/dns-message.ts';
import { parseHosts } from '../../../../supervisor/dns/hosts-file.ts';
import { NameResolver } from '../../../../supervisor/dns/name-resolver.ts';
import { candidatesOf, parseSearchList } from '../../../../supervisor/dns/search-list.ts';
import { Turns } from '../../../../supervisor/dns/turns.ts';
import type {
  DnsFamily,
  ResolverSettings,
} from '../../../../supervisor/resolved/resolved-bootstrap.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { startDnsServer, type DnsServer } from '../../../support/peers/dns-server.ts';
import { makeScratch } from '../../../support/scratch.ts';

describe('the hosts file', () => {
  it('gives all addresses of a name, without comments, whatever its case', () => {
    const hosts = parseHosts(
      '127.0.0.1 localhost Web # front\n::1\tlocalhost\nbad name\n#1.1.1.1 x',
    );
    assert.deepEqual(hosts.get('localhost'), ['127.0.0.1', '::1']);
    assert.deepEqual(hosts.get('web'), ['127.0.0.1']);
    assert.equal(hosts.size, 2);
  });
});

describe('search domains', () => {
  const list = parseSearchList('nameserver 1.1.1.1\nsearch a.test b.test.\noptions rotate ndots:2');
  const cases: readonly (readonly [name: string, candidates: readonly string[]])[] = [
    ['web', ['web.a.test', 'web.b.test', 'web']],
    ['web.x', ['web.x.a.test', 'web.x.b.test', 'web.x']],
    ['web.x.y', ['web.x.y', 'web.x.y.a.test', 'web.x.y.b.test']],
    ['web.', ['web']],
  ];
  for (const [name, candidates] of cases) {
    it(`of ${name} are tried in the order of c-ares`, () => {
      assert.deepEqual(candidatesOf(name, list), candidates);
    });
  }
});

describe('lookups of one moment', () => {
  it('are spread over turns of the loop, in their order', async () => {
    const turns = new Turns();
    const log: number[] = [];
    const all = Promise.all(
      Array.from({ length: 100 }, async (_, at) => {
        await turns.next();
        log.push(at);
      }),
    );
    let before = 0;
    for (let turn = 0; log.length < 100; turn++) {
      await setImmediate();
      assert.ok(log.length - before <= 16, `${log.length - before} in one turn`);
      assert.ok(turn < 100);
      before = log.length;
    }
    await all;
    assert.deepEqual(
      log,
      Array.from({ length: 100 }, (_, at) => at),
    );
  });
});

interface Fixture {
  readonly dns: DnsServer;
  readonly stats: StatStore;
  readonly hostsPath: string;
  resolve(name: string, family: DnsFamily): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

async function fixture(settings: Partial<ResolverSettings> = {}): Promise<Fixture> {
  const scratch = makeScratch();
  const dns = await startDnsServer({
    'both.test': ['127.0.0.2', '::2'],
    'four.test': ['127.0.0.4'],
    'broken.test': 'fail',
    'short.corp.test': ['127.0.0.9'],
  });
  const hostsPath = scratch.file('hosts');
  const resolvConfPath = scratch.file('resolv.conf');
  writeFileSync(hostsPath, '127.0.0.7 both.test\n');
  writeFileSync(resolvConfPath, 'search corp.test\n');
  const stats = new StatStore();
  const resolver = new NameResolver({
    settings: {
      servers: [`127.0.0.1:${dns.port}`],
      serversAreFallback: false,
      noSearchDomains: false,
      skipsUnroutable: false,
      usesTcp: false,
      timeoutMs: 1_000,
      tries: 1,
      ...settings,
    },
    writer: stats,
    hostsPath,
    resolvConfPath,
  });
  return {
    dns,
    stats,
    hostsPath,
    resolve: async (name, family) => {
      const answer = await resolver.resolve(name, family);
      if (answer.outcome !== 'found') return answer.outcome;
      return answer.addresses.map(({ address, ttlS }) => `${address}/${ttlS}`).join(' ');
    },
    [Symbol.asyncDispose]: async () => {
      resolver.close();
      await dns[Symbol.asyncDispose]();
      scratch[Symbol.dispose]();
    },
  };
}

describe('the name resolver', () => {
  const cases: readonly (readonly [name: string, family: DnsFamily, answer: string])[] = [
    ['both.test', 'V4_ONLY', '127.0.0.7/0'],
    ['both.test', 'V6_ONLY', '::2/30'],
    ['both.test', 'AUTO', '::2/30'],
    ['both.test', 'ALL', '127.0.0.7/0 ::2/30'],
    ['four.test', 'AUTO', '127.0.0.4/30'],
    ['four.test', 'V6_ONLY', 'empty'],
    ['four.test', 'V4_PREFERRED', '127.0.0.4/30'],
    ['none.test', 'AUTO', 'empty'],
    ['broken.test', 'V4_ONLY', 'failed'],
    ['short', 'V4_ONLY', '127.0.0.9/30'],
    ['localhost', 'V6_ONLY', '::1/0'],
    ['127.0.0.8', 'AUTO', '127.0.0.8/0'],
    ['', 'AUTO', 'empty'],
  ];
  for (const [name, family, answer] of cases) {
    it(`answers ${answer} for '${name}' with ${family}`, async () => {
      await using made = await fixture();
      assert.equal(await made.resolve(name, family), answer);
    });
  }

  it('reads the hosts file again when it has changed', async () => {
    await using made = await fixture();
    writeFileSync(made.hostsPath, '127.0.0.10 both.test another.test\n');
    assert.equal(await made.resolve('both.test', 'V4_ONLY'), '127.0.0.10/0');
  });

  it('asks for nothing but the name itself without search domains', async () => {
    await using made = await fixture({ noSearchDomains: true });
    assert.equal(await made.resolve('short', 'V4_ONLY'), 'empty');
    assert.deepEqual(made.dns.asked, ['short A']);
  });

  for (const [name, family, answer] of cases) {
    it(`answers ${answer} for '${name}' with ${family} over TCP, too`, async () => {
      await using made = await fixture({ usesTcp: true });
      assert.equal(await made.resolve(name, family), answer);
      assert.ok(made.dns.asked.every((question) => question.endsWith(' over TCP')));
    });
  }

  it('fails in time when a name server is silent over TCP', async () => {
    await using made = await fixture({ usesTcp: true, timeoutMs: 50 });
    made.dns.names.set('silent.test', 'silent');
    assert.equal(await made.resolve('silent.test.', 'V4_ONLY'), 'failed');
  });
});

describe('an answer of a name server', () => {
  it('is refused when it is no answer, whatever its bytes are', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 80 }),
        fc.constantFrom(4 as const, 6 as const),
        (bytes, family) => {
          const decoded = decodeAnswer(Buffer.from(bytes), { name: 'a.test', family, id: 7 });
          assert.ok(typeof decoded === 'string' || decoded.length > 0);
        },
      ),
    );
  });

  it('is asked for by names alone', () => {
    for (const name of ['a..b', '', `${'a'.repeat(64)}.test`, Array(60).fill('long').join('.')]) {
      assert.equal(encodeQuestion(name, 4, 1), undefined);
    }
  });
});
