/**
 * Clients that never stop asking: some keep their connections, some open a new one each time. All of
 * them honour `Connection: close`.
 */
import { Agent, get } from 'node:http';

interface LoadResult {
  readonly finished: number;
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
}

/** Four clients that keep connections and two that do not. */
export function startLoad(target: LoadTarget): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const failures: string[] = [];
  let finished = 0;
  let isStopping = false;
  let lastMs = performance.now();
  let longestGapMs = 0;
  const client = async (chosen: Agent | false): Promise<void> => {
    while (!isStopping) {
      const failure = await askOnce(target, chosen);
      if (failure !== undefined) failures.push(failure);
      finished += 1;
      const nowMs = performance.now();
      longestGapMs = Math.max(longestGapMs, nowMs - lastMs);
      lastMs = nowMs;
    }
  };
  const clients = [agent, agent, agent, agent, false, false] as const;
  const all = Promise.all(clients.map(client));
  return {
    finished: () => finished,
    stop: async () => {
      isStopping = true;
      await all;
      agent.destroy();
      return { finished, failures, longestGapMs };
    },
  };
}

function askOnce(target: LoadTarget, agent: Agent | false): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', ...target, path: '/', agent }, (response) => {
      response.resume();
      response.once('error', (error) => resolve(error.message));
      response.once('end', () => {
        resolve(response.statusCode === 200 ? undefined : `status ${response.statusCode}`);
      });
    });
    const reused = (): string => (request.reusedSocket ? ' on a kept connection' : '');
    request.once('error', (error) => resolve(error.message + reused()));
  });
}
