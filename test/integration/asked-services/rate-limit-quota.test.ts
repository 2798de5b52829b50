/** The filter rate_limit_quota: what buckets let pass, before and after a service assigns quotas. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ProtoWriter } from '../../../shared/protobuf/proto-writer.ts';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { type Answer, fetchOnce } from '../../support/peers/http-client.ts';
import { grpcCluster, textsAt } from '../../support/peers/services/asked-services.ts';
import {
  framed,
  type GrpcPeer,
  type SeenCall,
  startGrpcPeer,
} from '../../support/peers/services/grpc-peer.ts';
import { childrenOf } from '../../support/programs/processes.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';
const INPUT = 'type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput';
const header = (header_name: string): object => ({
  name: 'header',
  typed_config: { '@type': INPUT, header_name },
});

const without = (fallback_rate_limit: object): object => ({
  no_assignment_behavior: { fallback_rate_limit },
});
const ALLOW = without({ blanket_rule: 'ALLOW_ALL' });
const DENY = without({ blanket_rule: 'DENY_ALL' });
const expired = (fields: object): object => ({
  ...ALLOW,
  expired_assignment_behavior: { expired_assignment_behavior_timeout: '60s', ...fields },
});

const BUCKETS: Readonly<Record<string, object>> = {
  allow: ALLOW,
  deny: DENY,
  nothing: {},
  rate: without({ requests_per_time_unit: { requests_per_time_unit: 2, time_unit: 'HOUR' } }),
  worded: {
    ...DENY,
    deny_response_settings: {
      http_status: { code: 403 },
      grpc_status: { code: 8, message: 'enough' },
      response_headers_to_add: [{ header: { key: 'x-quota', value: 'none' } }],
    },
  },
  reused: expired({ reuse_last_assignment: {} }),
  replaced: expired({ fallback_rate_limit: { blanket_rule: 'DENY_ALL' } }),
  forgotten: ALLOW,
};

function matchers(): readonly object[] {
  return Object.entries(BUCKETS).map(([name, fields]) => ({
    predicate: { single_predicate: { input: header('x-bucket'), value_match: { exact: name } } },
    on_match: {
      action: {
        name: 'bucket',
        typed_config: {
          '@type': `${TYPE}.rate_limit_quota.v3.RateLimitQuotaBucketSettings`,
          bucket_id_builder: {
            bucket_id_builder: {
              name: { string_value: name },
              who: { custom_value: header('x-who') },
            },
          },
          reporting_interval: '0.5s',
          ...fields,
        },
      },
    },
  }));
}

type Write = (writer: ProtoWriter) => void;
const DENY_ALL: Write = (writer) => writer.integer(1, 1);
const THREE: Write = (writer) =>
  writer.message(3, () => {
    writer.integer(1, 3);
    writer.message(2, () => writer.integer(1, 1));
    writer.message(3, () => writer.integer(1, 3600));
  });

function action(name: string, write: (writer: ProtoWriter) => void): Buffer {
  const writer = new ProtoWriter();
  writer.message(1, () => {
    writer.message(1, () => {
      writer.textPair(1, 'who', 'me');
      writer.textPair(1, 'name', name);
    });
    write(writer);
  });
  return framed(writer.finish());
}

const assigned = (name: string, strategy: Write, ttlS = 3600): Buffer =>
  action(name, (writer) =>
    writer.message(2, () => {
      writer.message(2, () => writer.integer(1, ttlS));
      writer.message(3, () => strategy(writer));
    }),
  );

describe('rate_limit_quota', () => {
  const settings = (): { readonly bootstrap: object } => {
    const quota = {
      name: 'quota',
      typed_config: {
        '@type': `${TYPE}.rate_limit_quota.v3.RateLimitQuotaFilterConfig`,
        rlqs_server: { envoy_grpc: { cluster_name: 'quotas' } },
        domain: 'a domain',
        bucket_matchers: { matcher_list: { matchers: matchers() } },
      },
    };
    const router = { name: 'router', typed_config: { '@type': `${TYPE}.router.v3.Router` } };
    const routes = [{ match: { prefix: '/' }, direct_response: { status: 200 } }];
    return {
      bootstrap: bootstrap({
        listeners: [httpListener(routes, { hcm: { http_filters: [quota, router] } })],
        clusters: [grpcCluster('quotas', service.port)],
      }),
    };
  };
  let service: GrpcPeer;
  let sluice: Sluice;
  let port: number;
  const present = (): SeenCall => service.calls.at(-1) as SeenCall;
  const ask = (bucket: string, more: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    fetchOnce({ port, headers: { 'x-bucket': bucket, 'x-who': 'me', ...more } });
  const statuses = async (bucket: string, count = 3): Promise<readonly number[]> => {
    const seen: number[] = [];
    for (let at = 0; at < count; at++) seen.push((await ask(bucket)).status);
    return seen;
  };
  /** An answer has been taken when a request of its bucket shows it. */
  const until = async (bucket: string, status: number): Promise<void> => {
    await waitUntil(`${status} of ${bucket}`, async () => (await ask(bucket)).status === status);
  };
  before(async () => {
    service = await startGrpcPeer(({ stream }) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
    });
    sluice = await startSluice(settings());
    port = await sluice.listenerPort('web');
  });
  after(async () => {
    await sluice[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  });

  it('goes by what is said for buckets without an assignment', async () => {
    assert.deepEqual(await statuses('nobody'), [200, 200, 200]);
    assert.deepEqual(await statuses('allow'), [200, 200, 200]);
    assert.deepEqual(await statuses('nothing'), [200, 200, 200]);
    assert.deepEqual(await statuses('deny'), [429, 429, 429]);
    assert.deepEqual(await statuses('rate'), [200, 200, 429]);
    const denied = await ask('worded');
    assert.deepEqual(
      [denied.status, denied.body, denied.headers['x-quota']],
      [403, 'enough', 'none'],
    );
    assert.equal((await fetchOnce({ port, headers: { 'x-bucket': 'deny' } })).status, 200);
  });

  it('tells the service of new buckets at once, and of what passed', async () => {
    const body = present().body();
    assert.deepEqual(textsAt(body, [1]), ['a domain']);
    assert.deepEqual(textsAt(body, [2, 1, 1, 1]), ['name', 'who']);
    assert.deepEqual(textsAt(body, [2, 1, 1, 2]), ['allow', 'me']);
    await waitUntil('a later report', () => present().body().length > body.length);
  });

  it('goes by the assignment, until it is taken back', async () => {
    await ask('allow');
    present().stream.write(Buffer.concat([assigned('allow', DENY_ALL), assigned('deny', THREE)]));
    await until('allow', 429);
    assert.deepEqual(await statuses('deny', 5), [200, 200, 200, 429, 429]);
    present().stream.write(action('allow', (writer) => writer.message(3, () => undefined)));
    await until('allow', 200);
  });

  it('knows what follows an assignment that has run out', async () => {
    for (const name of ['reused', 'replaced', 'forgotten']) await ask(name);
    const seconds = { reused: 1, replaced: 1, forgotten: 1 };
    const answers = Object.entries(seconds).map(([name, ttlS]) =>
      assigned(name, name === 'replaced' ? THREE : DENY_ALL, ttlS),
    );
    present().stream.write(Buffer.concat(answers));
    await until('forgotten', 429);
    await until('forgotten', 200);
    await until('replaced', 429);
    assert.deepEqual(await statuses('reused', 2), [429, 429]);
  });

  it('goes on with what it has when the service answers garbage, and asks again', async () => {
    const calls = service.calls.length;
    present().stream.write(
      Buffer.concat([Buffer.from([0, 0, 0, 0, 3]), Buffer.from([10, 255, 1])]),
    );
    await waitUntil('another stream', () => service.calls.length > calls);
    assert.deepEqual(await statuses('reused', 1), [429]);
  });

  it('has one stream and one set of tokens for all workers, whichever of them ends', async () => {
    const before = service.calls.length;
    await using two = await startSluice({ ...settings(), concurrency: 2 });
    port = await two.listenerPort('web');
    const many = async (): Promise<number> => {
      const answers = await Promise.all(Array.from({ length: 16 }, async () => ask('deny')));
      return answers.filter(({ status }) => status === 200).length;
    };
    let passed = await many();
    await waitUntil('the stream', () => service.calls.length > before);
    present().stream.write(assigned('deny', THREE));
    await waitUntil('the assignment', async () => (passed += await many()) > 0);
    for (let turn = 0; turn < 3; turn++) passed += await many();
    assert.equal(passed, 3);
    present().stream.write(assigned('nothing', DENY_ALL));
    const all = async (): Promise<boolean> => {
      const answers = await Promise.all(Array.from({ length: 16 }, async () => ask('nothing')));
      return answers.every(({ status }) => status === 429);
    };
    await all();
    present().stream.write(assigned('nothing', DENY_ALL));
    await waitUntil('both workers deny', all);
    assert.equal(service.calls.length, before + 1);
    for (const [at, pid] of childrenOf(two.pid).entries()) {
      process.kill(pid, 'SIGKILL');
      const back = (): number => two.stderr().split('serves again').length - 1;
      await waitUntil('the new worker', () => back() > at);
      await waitUntil('both workers deny', all);
    }
    const open = service.calls.slice(before).filter(({ stream }) => !stream.closed);
    assert.equal(open.length, 1);
  });
});
