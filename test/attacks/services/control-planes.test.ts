/**
 * What a control plane may send over gRPC that is endless, huge, deep, malformed or named oddly: the
 * supervisor answers its probes meanwhile, holds no more memory than its limits say, keeps the last
 * good configuration, writes no line that the control plane made up, and takes the next good answer.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import protobuf from 'protobufjs/minimal.js';
import { attackRandom, attackRuns, attackTurns } from '../../support/attack.ts';
import { GREETING, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import {
  anyFrames,
  answer,
  clusterBytes,
  CLUSTERS,
  named,
  nested,
  nestedAny,
  spoiled,
} from '../../support/peers/hostile/hostile-answers.ts';
import {
  closed,
  grpcMessage,
  sendAll,
  startHostileControlPlane,
  type HostileControlPlane,
  type Part,
} from '../../support/peers/hostile/hostile-control-plane.ts';
import { bytes, head, HOSTILE_FRAMES } from '../../support/peers/hostile/hostile-frames.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { ADMIN, startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil, within } from '../../support/wait.ts';

const GRPC = { ':status': 200, 'content-type': 'application/grpc' } as const;

const MIB = 1024 * 1024;

/**
 * The supervisor itself, one message of 256 MiB that comes in, one that waits to be read and what
 * was made of it. Of the short form only the bomb, which comes last, becomes a message of that size.
 */
const MEMORY_MAX_KB = attackRuns(240, 2048) * 1024;

const BOMB_MEMORY_MAX_KB = attackRuns(480, 2048) * 1024;

type StreamPart = Part & { readonly kind: 'stream' };

const stream = (play: StreamPart['play']): Part => ({ kind: 'stream', play });

/** Sends these answers, and stays until the client has answered one of them or given up. */
function says(...messages: readonly (Buffer | (() => Buffer))[]): Part {
  return stream(async (call) => {
    let heard = Buffer.alloc(0);
    const answered = new Promise<void>((resolve) => {
      call.on('data', (piece: Buffer) => {
        heard = Buffer.concat([heard, piece]);
        // The first is what it asks for.
        const first = heard.length < 5 ? Infinity : 5 + heard.readUInt32BE(1);
        if (heard.length > first) resolve();
      });
    });
    call.respond(GRPC);
    const made = messages.map((each) => (typeof each === 'function' ? each() : each));
    await sendAll(call, made);
    await Promise.race([answered, closed(call)]);
  });
}

const FORGED = '[2026-11-22 00:00:00.000][1][critical][main] [supervisor/x.ts:1] forged';

const MEMBERS = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype'];

let good = '';

const PARTS: Readonly<Record<string, Part>> = {
  ...HOSTILE_FRAMES,
  'a reason with lines': stream(async (call) => {
    const reason = `x%0A${FORGED}${'y'.repeat(15_000)}`;
    call.respond({ ...GRPC, 'grpc-status': '13', 'grpc-message': reason }, { endStream: true });
    await closed(call);
  }),
  'two thousand trailers': stream(async (call) => {
    call.on('wantTrailers', () => {
      const names = Array.from({ length: 2000 }, (_, at) => [`t${at}`, 'v'.repeat(1000)]);
      call.sendTrailers(Object.fromEntries(names) as Record<string, string>);
    });
    call.respond(GRPC, { waitForTrailers: true });
    call.end();
    await closed(call);
  }),
  'another content type': stream(async (call) => {
    call.respond({ ':status': 418, 'content-type': `text/${'x'.repeat(10_000)}` });
    call.end('x'.repeat(MIB));
    await closed(call);
  }),
  'types that nobody asked for': says(
    ...Array.from({ length: 1000 }, (_, at) => answer({ type: `a/b\n${FORGED}${at}` })),
    answer({ resources: [{ type: 'a/b', value: Buffer.alloc(0) }] }),
  ),
  'a type of a million letters': says(
    answer({ type: 'x'.repeat(MIB) }),
    answer({ resources: [{ type: 'y'.repeat(MIB), value: Buffer.alloc(0) }] }),
  ),
  // What an answer does not name goes, whatever becomes of the rest of it: as in Envoy.
  'names with lines': says(() => {
    const name = `a\n${FORGED}`;
    const value = clusterBytes({ name, lb_policy: 'CLUSTER_PROVIDED' });
    return answer({
      version: `1\n${FORGED}`,
      nonce: `n\n${FORGED}`,
      identifier: `c\n${FORGED}`,
      resources: [named(good), { type: CLUSTERS, value }],
    });
  }),
  'resources twice': says(() => answer({ resources: [named(good), named('two'), named('two')] })),
  'groups in groups': says(grpcMessage(Buffer.alloc(attackRuns(60_000, 10_000_000), 0x0b))),
  'a struct in a struct': says(
    answer({
      resources: [
        // Cluster.metadata.filter_metadata["k"].fields["k"].struct_value and so on.
        {
          type: CLUSTERS,
          value: protobuf.Writer.create()
            .uint32((25 << 3) | 2)
            .bytes(nested(attackRuns(3_000, 20_000), [10, 18, 10, 18, 42]))
            .finish(),
        },
      ],
    }),
  ),
  'an Any in an Any': says(
    answer({
      resources: [
        {
          type: 'type.googleapis.com/google.protobuf.Any',
          value: nestedAny(attackRuns(1000, 20_000)),
        },
      ],
    }),
  ),
  'very many small resources': says(
    answer({
      resources: Array.from({ length: attackRuns(2_000, 100_000) }, () => ({
        type: CLUSTERS,
        value: Buffer.alloc(0),
      })),
    }),
  ),
};

const BOMB = stream(async (call) => {
  call.respond({ ...GRPC, 'grpc-encoding': 'gzip' });
  const bomb = grpcMessage(gzipSync(Buffer.alloc(attackRuns(257, 600) * MIB)));
  bomb[0] = 1;
  await sendAll(call, [bomb]);
  await closed(call);
});

function peakOf(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

describe('a hostile control plane', () => {
  let control: HostileControlPlane;
  let sluice: Sluice;
  let taken = 0;

  before(async () => {
    control = await startHostileControlPlane();
    const keepAlive = { interval: '0.1s', timeout: '0.3s' };
    const http2 = { http2_protocol_options: { connection_keepalive: keepAlive } };
    const often = { retry_back_off: { base_interval: '0.002s', max_interval: '0.01s' } };
    sluice = await startSluice({
      bootstrap: {
        node: { id: 'me', cluster: 'mine' },
        admin: ADMIN,
        static_resources: {
          listeners: [httpListener(GREETING)],
          clusters: [staticCluster('control', [control.port], http2)],
        },
        dynamic_resources: {
          ads_config: {
            api_type: 'GRPC',
            transport_api_version: 'V3',
            grpc_services: [{ envoy_grpc: { cluster_name: 'control', retry_policy: often } }],
          },
          cds_config: { ads: {}, resource_api_version: 'V3', initial_fetch_timeout: '0.1s' },
        },
      },
    });
  });

  after(async () => {
    await sluice[Symbol.asyncDispose]();
    await control[Symbol.asyncDispose]();
  });

  /** The next good answer is taken, whatever was before it. */
  const takesGood = async (): Promise<void> => {
    taken += 1;
    good = `good-${taken}`;
    const message = answer({ version: good, resources: [named(good)] });
    const stats = (): Promise<string> => sluice.stats('filter=cluster_manager.cds.version_text');
    await within(
      'a good answer',
      control.play(
        stream(async (call) => {
          call.respond(GRPC);
          await sendAll(call, [message]);
          await waitUntil('the version', async () => (await stats()).includes(`"${good}"`));
          await sluice.settled();
        }),
      ),
    );
  };

  /** `/ready` and requests are answered as long as it takes. */
  const plays = async (part: Part): Promise<void> => {
    let isOver = false;
    const played = control.play(part).finally(() => (isOver = true));
    const port = await sluice.listenerPort('web');
    while (!isOver) {
      const answers = [sluice.admin('/ready'), fetchOnce({ port, path: '/' })];
      for (const { status } of await Promise.all(answers)) assert.equal(status, 200);
    }
    await within('the end of the part', played);
  };

  const isWhole = async (mostKb = MEMORY_MAX_KB): Promise<void> => {
    for (const line of sluice.stderr().split('\n').slice(0, -1)) {
      assert.match(line.slice(0, 100), /^\[\d{4}-\d\d-\d\d [\d:.]+\]\[(?!1\])\d+\]\[/);
      assert.ok(line.length < 70_000, `a line of ${line.length} characters`);
    }
    const { body } = await sluice.admin('/clusters');
    assert.match(body, new RegExp(`^${good}::`, 'm'));
    const peakKb = peakOf(sluice.pid);
    assert.ok(peakKb < mostKb, `${peakKb} KB`);
  };

  for (const [name, part] of Object.entries(PARTS)) {
    it(`does no harm by ${name}`, async (test) => {
      await takesGood();
      await plays(part);
      await isWhole();
      test.diagnostic(`${peakOf(sluice.pid)} KB at most so far`);
    });
  }

  it('names clusters like members of objects', async () => {
    await takesGood();
    await plays(says(answer({ resources: MEMBERS.map(named) })));
    const { body } = await sluice.admin('/clusters');
    for (const name of MEMBERS) assert.ok(body.includes(`${name}::default_priority`), name);
    await takesGood();
    await isWhole();
  });

  it('sends frames of any kind', async () => {
    const random = attackRandom(3);
    for (const _ of attackTurns(2, 2_000)) {
      await plays(
        bytes(async (socket, id) => {
          if (random() < 0.5) socket.write(head(id));
          await sendAll(socket, anyFrames(50, id, random));
        }, false),
      );
    }
    await isWhole();
    await takesGood();
  });

  it('sends answers with other bytes in them', async () => {
    const random = attackRandom(4);
    const messages = Array.from({ length: attackRuns(200, 20_000) }, () => spoiled(random));
    await plays(says(...messages));
    await takesGood();
    await isWhole();
  });

  it('does no harm by a bomb of compressed bytes', async () => {
    await takesGood();
    await plays(BOMB);
    await isWhole(BOMB_MEMORY_MAX_KB);
  });
});
