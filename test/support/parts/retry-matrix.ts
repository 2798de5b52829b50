/**
 * Which answers are tried again by which `retry_on`: a route per policy, an upstream that gives the
 * answer that the path names, and a table of how often it was asked. The same against any server;
 * see scripts/record-retries.ts.
 */
import { readFileSync } from 'node:fs';
import { Agent, request, type RequestListener } from 'node:http';
import { bootstrap, httpListener, staticCluster } from './bootstrap.ts';
import { CLOSED_PORT } from '../peers/upstream.ts';

/** Values of `retry_on`, each for itself, together and misspelt. */
const WORDS = [
  '',
  '5xx',
  'gateway-error',
  'reset',
  'reset-before-request',
  'connect-failure',
  'envoy-ratelimited',
  'retriable-4xx',
  'refused-stream',
  'retriable-status-codes',
  'retriable-headers',
  'http3-post-connect-failure',
  'cancelled',
  'deadline-exceeded',
  'internal',
  'resource-exhausted',
  'unavailable',
  '5xx,gateway-error',
  '5xx, retriable-4xx',
  '5xx,envoy-ratelimited',
  'gateway-error,envoy-ratelimited',
  'gateway-error,reset',
  'connect-failure,refused-stream',
  'connect-failure,reset',
  'reset,retriable-4xx',
  'retriable-4xx,retriable-status-codes',
  'retriable-status-codes,retriable-headers',
  'cancelled,unavailable',
  'unavailable,5xx',
  'internal,gateway-error',
  'resource-exhausted,envoy-ratelimited',
  'deadline-exceeded,reset',
  'connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes',
  'cancelled,deadline-exceeded,internal,resource-exhausted,unavailable',
  '5xx,gateway-error,reset,connect-failure,envoy-ratelimited,retriable-4xx,refused-stream',
  '5XX',
  ' 5xx ',
  '5xx,',
  ',gateway-error',
  '5xx gateway-error',
  'gateway_error',
  '503',
  'unknown,retriable-4xx',
] as const;

/** What the upstream answers: `grpc-status` in a header stands for an answer of trailers alone. */
const ANSWERS: Readonly<Record<string, readonly [number, Readonly<Record<string, string>>]>> = {
  ok: [200, {}],
  moved: [301, {}],
  'bad-request': [400, {}],
  'not-found': [404, {}],
  conflict: [409, {}],
  'too-many': [429, {}],
  'ours-too-many': [429, { 'x-envoy-ratelimited': 'true' }],
  'server-error': [500, {}],
  'not-implemented': [501, {}],
  'bad-gateway': [502, {}],
  'no-service': [503, {}],
  'ours-no-service': [503, { 'x-envoy-ratelimited': 'true' }],
  overloaded: [503, { 'x-envoy-overloaded': 'true' }],
  'late-gateway': [504, {}],
  last: [599, {}],
  marked: [200, { 'x-again': 'please' }],
  'grpc-ok': [200, { 'grpc-status': '0' }],
  'grpc-cancelled': [200, { 'grpc-status': '1' }],
  'grpc-late': [200, { 'grpc-status': '4' }],
  'grpc-exhausted': [200, { 'grpc-status': '8' }],
  'grpc-internal': [200, { 'grpc-status': '13' }],
  'grpc-unavailable': [200, { 'grpc-status': '14' }],
  'grpc-failed': [503, { 'grpc-status': '14' }],
};
/** Without an answer: the connection ends, or is not taken. */
const RESET = 'reset';
const REFUSED = 'refused';
const COLUMNS = [...Object.keys(ANSWERS), RESET, REFUSED];

const REQUESTS_AT_ONCE = 8;

/** By value of `retry_on`, the answers that were tried again. */
export type RetryMatrix = Readonly<Record<string, string>>;

/** Recorded from Envoy: `node dist/scripts/record-retries.js`. */
export const RECORDED_PATH = 'test/data-plane/golden/retry-matrix.json';

export function recordedRetries(): RetryMatrix {
  return JSON.parse(readFileSync(RECORDED_PATH, 'utf8')) as RetryMatrix;
}

export const answerByPath: RequestListener = ({ url = '', socket }, response) => {
  const [status, headers] = ANSWERS[url.slice(url.lastIndexOf('/') + 1)] ?? [];
  if (status === undefined) socket.destroy();
  else response.writeHead(status, headers).end();
};

export function retryBootstrap(upstreamPort: number): object {
  const fields = {
    connect_timeout: '10s',
    circuit_breakers: { thresholds: [{ max_retries: 1000 }] },
    // A connection that its host closes as a request begins would be one more answer.
    max_requests_per_connection: 1,
  };
  const routes = WORDS.flatMap((words, at) => [
    retryRoute(`/${at}/${REFUSED}`, 'gone', words),
    retryRoute(`/${at}/`, 'up', words),
  ]);
  const virtualHost = {
    name: 'all',
    domains: ['*'],
    routes,
    include_attempt_count_in_response: true,
  };
  return bootstrap({
    listeners: [
      httpListener([], { hcm: { route_config: { name: 'routes', virtual_hosts: [virtualHost] } } }),
    ],
    clusters: [
      staticCluster('up', [upstreamPort], fields),
      staticCluster('gone', [CLOSED_PORT], fields),
    ],
  });
}

/** Asks for every cell of the table. */
export async function runRetries(port: number): Promise<RetryMatrix> {
  const agent = new Agent({ keepAlive: true, maxSockets: REQUESTS_AT_ONCE });
  try {
    const rows = await Promise.all(
      WORDS.map(async (words, at) => {
        const tries = await Promise.all(
          COLUMNS.map((column) => triesOf(agent, port, `/${at}/${column}`)),
        );
        return [words, COLUMNS.filter((_, column) => tries[column] !== 1).join(' ')] as const;
      }),
    );
    return Object.fromEntries(rows);
  } finally {
    agent.destroy();
  }
}

function retryRoute(prefix: string, cluster: string, words: string): object {
  return {
    match: { prefix },
    route: {
      cluster,
      retry_policy: {
        retry_on: words,
        num_retries: 1,
        retriable_status_codes: [404, 503],
        retriable_headers: [{ name: 'x-again', present_match: true }],
        retry_back_off: { base_interval: '0.001s' },
      },
    },
  };
}

function triesOf(agent: Agent, port: number, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, agent }, (response) => {
      response.resume();
      response.on('end', () => resolve(Number(response.headers['x-envoy-attempt-count'])));
    })
      .on('error', reject)
      .end();
  });
}
