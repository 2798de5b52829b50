/** Requests one after the other on several connections, until they are told to end. */
import { Agent, request } from 'node:http';

const CONNECTIONS = 4;
const FAILURES_KEPT = 10;

export interface Load extends AsyncDisposable {
  end(): { readonly requests: number; readonly failures: readonly string[] };
}

export function startLoad(port: number, host = 'tried.test'): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const failures: string[] = [];
  let requests = 0;
  let isOver = false;
  const fail = (text: string): void => {
    if (!isOver && failures.length < FAILURES_KEPT) failures.push(text);
  };
  const ask = async (): Promise<void> => {
    requests++;
    const status = await statusOf({ agent, port, headers: { host } }).catch((error: unknown) => {
      return String(error);
    });
    if (status !== 200) fail(String(status));
  };
  const runs = Array.from({ length: CONNECTIONS }, async () => {
    while (!isOver) await ask();
  });
  const end = (): ReturnType<Load['end']> => {
    const result = { requests, failures: [...failures] };
    isOver = true;
    return result;
  };
  return {
    end,
    [Symbol.asyncDispose]: async () => {
      end();
      agent.destroy();
      await Promise.all(runs);
    },
  };
}

function statusOf(options: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', ...options }, (response) => {
      response.resume();
      response.on('error', reject);
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}
