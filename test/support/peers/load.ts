/**
 * Clients that never stop asking: some keep their connections, some open a new one each time. All
 * of them honour `Connection: close`.
 */
import { Agent, get, type RequestOptions } from 'node:http';
import { Agent as SecureAgent, get as getSecurely } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';

interface LoadResult {
  readonly finished: number;
  /** In the order of the targets. */
  readonly finishedByTarget: readonly number[];
  /** One text per request that got no 200. */
  readonly failures: readonly string[];
  /** The longest time without a finished request. */
  readonly longestGapMs: number;
}

export interface Load {
  /** How many requests have been finished so far. */
  finished(): number;
  stop(): Promise<LoadResult>;
}

export interface LoadTarget {
  readonly port?: number;
  readonly socketPath?: string;
  readonly isTls?: boolean;
  /** Each client rests so long after a request; without it the clients take a whole core. */
  readonly restMs?: number;
  /** Without those clients that open a new connection each time. */
  readonly isKeptOnly?: boolean;
  /**
   * Called for each response to a client that keeps connections: whether it said `Connection:
   * close`, and when it was asked for, as `performance.now()`.
   */
  readonly answered?: (closes: boolean, askedMs: number) => void;
}

/** For each target four clients that keep connections and two that do not. */
export function startLoad(...targets: readonly LoadTarget[]): Load {
  const failures: string[] = [];
  const finishedByTarget = targets.map(() => 0);
  const finished = (): number => finishedByTarget.reduce((sum, each) => sum + each, 0);
  let isStopping = false;
  let lastMs = performance.now();
  let longestGapMs = 0;
  const client = async (ask: Asker, index: number, agent: Agent | false): Promise<void> => {
    while (!isStopping) {
      const failure = await ask(agent);
      if (failure !== undefined) failures.push(`${describeTarget(targets[index])}: ${failure}`);
      finishedByTarget[index] = (finishedByTarget[index] ?? 0) + 1;
      const nowMs = performance.now();
      longestGapMs = Math.max(longestGapMs, nowMs - lastMs);
      lastMs = nowMs;
      const { restMs } = targets[index] ?? {};
      if (restMs !== undefined) await delay(restMs);
    }
  };
  const agents: Agent[] = [];
  const all = Promise.all(
    targets.flatMap((target, index) => {
      const agent = makeAgent(target);
      agents.push(agent);
      const ask = makeAsker(target);
      const kept = [agent, agent, agent, agent];
      const clients = target.isKeptOnly === true ? kept : [...kept, false as const, false as const];
      return clients.map((chosen) => client(ask, index, chosen));
    }),
  );
  return {
    finished,
    stop: async () => {
      isStopping = true;
      await all;
      for (const agent of agents) agent.destroy();
      return { finished: finished(), finishedByTarget, failures, longestGapMs };
    },
  };
}

function describeTarget(target: LoadTarget | undefined): string {
  return target?.socketPath ?? `port ${target?.port}`;
}

function makeAgent({ isTls }: LoadTarget): Agent {
  const options = { keepAlive: true, maxSockets: 4 };
  return isTls === true ? new SecureAgent(options) : new Agent(options);
}

/** One request; a text says why it failed. */
type Asker = (agent: Agent | false) => Promise<string | undefined>;

function makeAsker({ isTls, answered, ...target }: LoadTarget): Asker {
  const start = isTls === true ? getSecurely : get;
  const security = isTls === true ? { rejectUnauthorized: false } : {};
  const options: RequestOptions = { host: '127.0.0.1', ...target, ...security, path: '/' };
  return (agent) =>
    new Promise((resolve) => {
      const askedMs = performance.now();
      const request = start({ ...options, agent }, (response) => {
        response.resume();
        if (agent !== false) answered?.(response.headers.connection === 'close', askedMs);
        response.once('error', (error) => resolve(error.message));
        response.once('end', () => {
          resolve(response.statusCode === 200 ? undefined : `status ${response.statusCode}`);
        });
      });
      const reused = (): string => (request.reusedSocket ? ' on a kept connection' : '');
      request.once('error', (error) => resolve(error.message + reused()));
    });
}
