/** Requests one after the other on several connections, until they are told to end. */
import { Agent, request } from 'node:http';

const CONNECTIONS = 4;
const FAILURES_KEPT = 10;
const BODY_KEPT = 300;

export interface Load extends AsyncDisposable {
  /** So far. */
  readonly failures: readonly string[];
  end(): { readonly requests: number; readonly failures: readonly string[] };
}

export function startLoad(port: number, host = 'tried.test'): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const failures: string[] = [];
  let requests = 0;
  let isOver = false;
  const fail = (text: string): void => {
    if (!isOver && failures.length < FAILURES_KEPT) failures.push(`request ${requests}: ${text}`);
  };
  const ask = async (): Promise<void> => {
    requests++;
    const failure = await failureOf({ agent, port, headers: { host } }).catch(String);
    if (failure !== '') fail(failure);
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
    failures,
    end,
    [Symbol.asyncDispose]: async () => {
      end();
      agent.destroy();
      await Promise.all(runs);
    },
  };
}

/** Empty for an answer 200. */
function failureOf(options: object): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', ...options }, (response) => {
      let body = '';
      response.on(
        'data',
        (chunk: Buffer) => (body = `${body}${chunk.toString()}`.slice(0, BODY_KEPT)),
      );
      response.on('error', reject);
      response.on('end', () => {
        resolve(response.statusCode === 200 ? '' : `${response.statusCode} ${body}`);
      });
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}
