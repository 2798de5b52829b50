/** An upstream client with one cluster, in the test's own process, and what its sender hears. */
import type { HostResource } from '../../../shared/resources/clusters/cluster.ts';
import type { RetryPolicy } from '../../../shared/resources/routes/retry-policy.ts';
import { compileRetryPolicy } from '../../../workers/routing/retry-policy.ts';
import {
  type ClientCallbacks,
  type ClientRequest,
  type ClientStream,
  UpstreamClient,
} from '../../../workers/router/client/upstream-client.ts';
import { makeServiceClient } from '../../../workers/data-plane/make-service-client.ts';
import { RouterLedger } from '../../../workers/router/ledger/router-ledger.ts';
import type { GrpcServices } from '../../../workers/services/grpc-services.ts';
import { makeGrpcServices } from '../../../workers/services/make-services.ts';
import { HeaderMap } from '../../../workers/stream/header-map.ts';
import { WorkerStatStore } from '../../../workers/stats/worker-stat-store.ts';
import { ClusterManager } from '../../../workers/upstream/cluster-manager.ts';
import { HeldBytes } from '../../../workers/loop/held-bytes.ts';
import { WorkerLoop } from '../../../workers/loop/worker-loop.ts';
import { systemClock } from '../../../shared/process/clock.ts';
import { clusterContext } from './balancers.ts';
import { cluster, StatTotals } from './data-plane.ts';
import { connectionInfo } from './stream.ts';

interface SendOptions extends Partial<Omit<ClientRequest, 'headers' | 'retryPolicy'>> {
  readonly retries?: RetryPolicy;
  /** Called with the first event of the response. */
  readonly onHeaders?: () => void;
}

interface SentByTest {
  readonly stream: ClientStream;
  /** `200`, a piece of the body, `end`, `failed: <details>`, `paused`, `resumed`, `exception`. */
  readonly events: readonly string[];
  /** Settles with the end of the response or a failure. */
  readonly over: Promise<void>;
  /** In an event of the worker's loop. */
  run(act: (stream: ClientStream) => void): void;
}

export interface RunningClient {
  send(options?: SendOptions): SentByTest;
  stats(): ReadonlyMap<string, number>;
  heldBytes(): number;
  /** gRPC calls by this client. */
  readonly grpc: GrpcServices;
  /** In an event of the worker's loop. */
  run<Value>(act: () => Value): Value;
  [Symbol.asyncDispose](): Promise<void>;
}

interface ClientSetup {
  readonly dropShare?: number;
  readonly note?: (error: unknown) => void;
  readonly upstreamHttp?: Parameters<typeof cluster>[2];
}

export function startClient(
  hosts: readonly HostResource[],
  changes: Parameters<typeof cluster>[1] = {},
  { dropShare = 0, note = failLater, upstreamHttp = {} }: ClientSetup = {},
): RunningClient {
  const stats = new WorkerStatStore();
  const totals = new StatTotals(stats);
  const loop = new WorkerLoop(systemClock, new HeldBytes(), { note });
  const context = { ...clusterContext(), stats, loop };
  const clusters = new ClusterManager(context);
  loop.run(undefined, () => {
    void clusters.apply({ op: 'put_cluster', cluster: cluster('up', changes, upstreamHttp) });
    const dropOverload = { category: 'test', share: dropShare };
    const set = { cluster: 'up', hosts, overprovisioningFactor: 140, dropOverload };
    void clusters.apply({ op: 'put_hosts', hosts: set });
  });
  const ledger = new RouterLedger(stats, 'async-client', '');
  const client = new UpstreamClient({ loop, clusters, ledger, localAddress: '192.0.2.1' });
  const send = ({ retries, onHeaders, ...options }: SendOptions = {}): SentByTest => {
    const sender = new Sender(onHeaders);
    let stream: ClientStream | undefined;
    loop.run(undefined, () => {
      const to = clusters.get('up');
      if (to === undefined) throw new Error('the cluster is not there');
      const request = { ...PLAIN, headers: request200(), retryPolicy: undefined, ...options };
      const retryPolicy = retries && compileRetryPolicy(retries);
      stream = client.send(to, { ...request, retryPolicy }, sender);
    });
    if (stream === undefined) throw new Error('the request was not sent');
    const sent = stream;
    const run = (act: (stream: ClientStream) => void): void => {
      loop.run(undefined, () => act(sent));
    };
    return { stream: sent, events: sender.events, over: sender.over, run };
  };
  return {
    send,
    stats: () => totals.read(),
    heldBytes: () => loop.held.bytes,
    grpc: makeGrpcServices({ services: makeServiceClient(client, clusters), loop, stats }),
    run: <Value>(act: () => Value): Value => {
      let value: { readonly of: Value } | undefined;
      loop.run(undefined, () => (value = { of: act() }));
      if (value === undefined) throw new Error('it threw');
      return value.of;
    },
    [Symbol.asyncDispose]: async () => clusters.get('up')?.close(),
  };
}

function failLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

const PLAIN = {
  endStream: true,
  timeoutMs: 0,
  bufferLimitBytes: 1024,
  connection: connectionInfo(),
  priority: 'DEFAULT',
  balancing: { hashOf: undefined, subset: undefined },
} as const;

function request200(): HeaderMap {
  const headers = new HeaderMap();
  headers.method = 'POST';
  headers.path = '/check';
  headers.authority = 'service.test';
  headers.scheme = 'http';
  return headers;
}

class Sender implements ClientCallbacks {
  readonly events: string[] = [];
  readonly over: Promise<void>;
  readonly #headersCame: (() => void) | undefined;
  #finish: () => void = () => undefined;

  constructor(headersCame: (() => void) | undefined) {
    this.#headersCame = headersCame;
    this.over = new Promise((resolve) => (this.#finish = resolve));
  }

  onHeaders({ status }: HeaderMap, endStream: boolean): void {
    this.#note(String(status), endStream);
    this.#headersCame?.();
  }

  onData(data: Buffer, endStream: boolean): void {
    this.#note(data.toString('latin1'), endStream);
  }

  onTrailers(): void {
    this.#note('trailers', true);
  }

  onFailure({ status, details }: { readonly status: number; readonly details: string }): void {
    this.events.push(`failed: ${status} ${details}`);
    this.#finish();
  }

  pauseRequest(paused: boolean): void {
    this.events.push(paused ? 'paused' : 'resumed');
  }

  onException(): void {
    this.events.push('exception');
  }

  #note(what: string, endStream: boolean): void {
    if (what !== '') this.events.push(what);
    if (!endStream) return;
    this.events.push('end');
    this.#finish();
  }
}
