import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { staticCluster } from '../../support/parts/bootstrap.ts';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { makeScratch } from '../../support/scratch.ts';
import { ADMIN, startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { WAIT_LIMIT_MS } from '../../support/wait.ts';
import { startRestPeer, startStreamPeer, type FuzzPeer } from '../../support/xds-fuzz/fuzz-peer.ts';
import { fuzzedRuntime, fuzzedTypes } from '../../support/xds-fuzz/fuzzed-types.ts';
import type { FuzzedType, Pick } from '../../support/xds-fuzz/fuzzed-type.ts';

/**
 * More by hand, in more ways, also with another seed:
 * `XDS_FUZZ_UPDATES=10000 XDS_FUZZ_SEED=7 node --test dist/test/integration/xds/fuzz.test.js`.
 */
const WANTED = process.env['XDS_FUZZ_UPDATES'];
const UPDATES = Number(WANTED ?? 40);
const SEED = Number(process.env['XDS_FUZZ_SEED'] ?? 20_261);
/** After three refusals in a row a server takes its time to answer. */
const REFUSALS_IN_A_ROW = 3;
const OFTEN = { base_interval: '0.002s', max_interval: '0.01s' };

interface How {
  readonly apiType: 'GRPC' | 'DELTA_GRPC' | 'REST';
  readonly isAggregated: boolean;
}

const WAYS: Readonly<Record<string, How>> = {
  'one stream of all types': { apiType: 'GRPC', isAggregated: true },
  'one incremental stream of all types': { apiType: 'DELTA_GRPC', isAggregated: true },
  REST: { apiType: 'REST', isAggregated: false },
};
/** These take their answers by the same code. */
const MORE_WAYS: Readonly<Record<string, How>> = {
  'a stream of each type': { apiType: 'GRPC', isAggregated: false },
  'an incremental stream of each type': { apiType: 'DELTA_GRPC', isAggregated: false },
};

/** Numbers below a limit that are the same in every run. */
function picks(seed: number): Pick {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function apiOf({ apiType }: How): object {
  const common = { api_type: apiType, transport_api_version: 'V3' };
  if (apiType === 'REST') {
    return { ...common, cluster_names: ['control'], refresh_delay: '0.005s' };
  }
  const envoy_grpc = { cluster_name: 'control', retry_policy: { retry_back_off: OFTEN } };
  return { ...common, grpc_services: [{ envoy_grpc }] };
}

async function start(how: How, port: number, source: object): Promise<Sluice> {
  return startSluice({
    concurrency: 2,
    bootstrap: {
      node: { id: 'me', cluster: 'mine' },
      admin: ADMIN,
      static_resources: { clusters: [staticCluster('control', [port])] },
      layered_runtime: fuzzedRuntime(source),
      dynamic_resources: {
        ...(how.isAggregated ? { ads_config: apiOf(how) } : {}),
        cds_config: source,
        lds_config: source,
      },
    },
  });
}

/** One update, or something in its place; `version` is no other's. */
class Fuzz {
  readonly #peer: FuzzPeer;
  readonly #types: readonly FuzzedType[];
  readonly #how: How;
  readonly #pick: Pick;
  readonly #refusals = new Map<FuzzedType, number>();
  breaks = 0;

  constructor(peer: FuzzPeer, types: readonly FuzzedType[], how: How, pick: Pick) {
    this.#peer = peer;
    this.#types = types;
    this.#how = how;
    this.#pick = pick;
  }

  async step(version: string): Promise<void> {
    const type = this.#types[this.#pick(this.#types.length)];
    if (type === undefined) return;
    const chance = this.#pick(100);
    if (chance < 45) this.#change(type, version);
    else if (chance < 55) type.goBack(this.#pick);
    else if (chance < 82) this.#refuse(type, version);
    else if (chance < 85) this.#peer.sayNonsense(type.kind);
    else if (chance < 89) return this.#break(type, version);
    else if (chance < 90) this.#flood(type, version);
    // What is left says the same once more.
    if (chance < 55 || chance >= 85) this.#say(type);
    if (this.#pick(4) > 0) await this.#peer.quiet();
    else if (this.#pick(2) === 0) await nextTurn();
  }

  /** Whatever a refused answer took away is back. */
  async end(): Promise<void> {
    for (const type of this.#refusals.keys()) if (type.refusalsRemove) this.#say(type);
    await this.#peer.quiet();
  }

  #change(type: FuzzedType, version: string): void {
    type.change(this.#pick, version);
  }

  #say(type: FuzzedType): void {
    this.#refusals.delete(type);
    this.#peer.set(type.kind, type.version, type.resources);
  }

  #refuse(type: FuzzedType, version: string): void {
    const inARow = (this.#refusals.get(type) ?? 0) + 1;
    if (inARow > REFUSALS_IN_A_ROW) return;
    this.#refusals.set(type, inARow);
    const { apiType } = this.#how;
    const { resources, taken } = type.bad(this.#pick, version, apiType === 'DELTA_GRPC');
    this.#peer.say(type.kind, version, resources);
    // By REST the next question is answered by what was said before.
    if (apiType !== 'REST') taken();
  }

  #flood(type: FuzzedType, version: string): void {
    for (let count = 0; count < 50; count += 1) {
      this.#change(type, `${version}.${count}`);
      this.#say(type);
    }
  }

  /** In good order, or in the middle of an answer. */
  async #break(type: FuzzedType, version: string): Promise<void> {
    this.breaks += 1;
    if (this.#pick(2) === 0) {
      this.#peer.drop();
    } else {
      this.#change(type, version);
      await this.#peer.cut(this.#pick(400), () => this.#say(type));
    }
    for (const each of this.#types) each.streamsEnded();
    // Some updates come while nobody listens.
    if (this.#pick(3) > 0) await this.#peer.quiet();
  }
}

/** By hand all ways are tried at once: each waits most of the time for answers. */
const concurrency = WANTED === undefined ? 1 : true;

describe('a long row of good, bad, repeated, old and broken updates', { concurrency }, () => {
  for (const [way, how] of Object.entries({
    ...WAYS,
    ...(WANTED === undefined ? {} : MORE_WAYS),
  })) {
    it(`leaves what was accepted last in force on all workers after ${UPDATES} updates by ${way}`, async (t) => {
      using scratch = makeScratch();
      const authority = makeAuthority(scratch.path);
      const certificates = {
        first: authority.issue('first', 'DNS:first.test'),
        second: authority.issue('second', 'DNS:second.test'),
      };
      await using one = await startHttpUpstream((_, response) => response.end('one'));
      await using two = await startHttpUpstream((_, response) => response.end('two'));
      const isDelta = how.apiType === 'DELTA_GRPC';
      await using peer =
        how.apiType === 'REST' ? await startRestPeer() : await startStreamPeer(isDelta);
      const source = {
        resource_api_version: 'V3',
        ...(how.isAggregated ? { ads: {} } : { api_config_source: apiOf(how) }),
      };
      const upstreams = { one: one.port, two: two.port };
      const types = fuzzedTypes({ source, isDelta, upstreams, certificates });
      for (const { kind, version, resources } of types) peer.set(kind, version, resources);
      await using sluice = await start(how, peer.port, source);
      const fuzz = new Fuzz(peer, types, how, picks(SEED));
      for (let update = 1; update <= UPDATES; update += 1) await fuzz.step(String(update));
      await fuzz.end();
      await settled(sluice, types);
      const { taken, refused } = peer.counts();
      t.diagnostic(`${taken} taken, ${refused} refused, ${fuzz.breaks} breaks`);
      assert.ok(taken + refused > UPDATES / 2, 'the updates arrived');
      for (const worker of [0, 1]) {
        const name = `listener.127.0.0.1_0.worker_${worker}.downstream_cx_total`;
        assert.ok((await sluice.stat(name)) > 0, `worker ${worker} was asked`);
      }
    });
  }
});

/** An update that was answered is in force with every worker soon after. */
async function settled(sluice: Sluice, types: readonly FuzzedType[]): Promise<void> {
  const deadlineMs = performance.now() + WAIT_LIMIT_MS;
  for (const type of types) {
    for (;;) {
      try {
        await type.check(sluice);
        break;
      } catch (error) {
        if (performance.now() > deadlineMs) throw error;
        await nextTurn();
      }
    }
  }
}
