/** Features of routes: what they match, and what their filters change. */
import { check } from '../../programs/trial.ts';
import type { Feature } from './feature.ts';
import { backendRef, filterRef, httpRoute, policy, routeFilter } from './objects.ts';

const OTHER = { backendRefs: [backendRef('other')] };

function filtered(
  name: string,
  filters: readonly object[],
  probe: Feature['probe'],
  fields: object = {},
): Feature {
  return { name, objects: () => [httpRoute(name, { filters, ...fields })], probe };
}

export const ROUTING: readonly Feature[] = [
  {
    name: 'matches',
    objects: () => [
      httpRoute('matches', {}, [
        { matches: [{ path: { type: 'Exact', value: '/exact' } }], ...OTHER },
        { matches: [{ headers: [{ name: 'x-to', value: 'other' }] }], ...OTHER },
        { matches: [{ queryParams: [{ name: 'to', value: 'other' }] }], ...OTHER },
        { matches: [{ method: 'PUT' }], ...OTHER },
        { matches: [{ path: { type: 'RegularExpression', value: '/r[0-9]+' } }], ...OTHER },
      ]),
    ],
    async probe(probe) {
      await probe.expect({ body: 'web' }, '/exact/not');
      for (const path of ['/exact', '/?to=other', '/r12'])
        await probe.expect({ body: 'other' }, path);
      await probe.expect({ body: 'other' }, '/', { 'x-to': 'other' });
      check((await probe.ask('/', {}, { method: 'PUT' })).body === 'other', 'by method');
    },
  },
  {
    name: 'weights',
    objects: () => [
      httpRoute('weights', {
        backendRefs: [backendRef('web', { weight: 1 }), backendRef('other', { weight: 1 })],
      }),
    ],
    async probe(probe) {
      const bodies = new Set<string>();
      for (let count = 0; count < 40; count++) bodies.add((await probe.ask()).body);
      check(bodies.size === 2, [...bodies].join());
    },
  },
  filtered(
    'request-headers',
    [
      {
        type: 'RequestHeaderModifier',
        requestHeaderModifier: {
          set: [{ name: 'x-set', value: 'new' }],
          add: [{ name: 'x-add', value: 'more' }],
          remove: ['x-gone'],
        },
      },
    ],
    async (probe) => {
      const sent = await probe.sent('/', { 'x-set': 'old', 'x-gone': 'here' });
      const seen = [sent['x-set'], sent['x-add'], sent['x-gone']].join();
      check(seen === 'new,more,', seen);
    },
  ),
  filtered(
    'response-headers',
    [
      {
        type: 'ResponseHeaderModifier',
        responseHeaderModifier: { set: [{ name: 'x-set', value: 'new' }], remove: ['x-host'] },
      },
    ],
    async (probe) => {
      const { headers } = await probe.expect({ status: 200 });
      check(headers['x-set'] === 'new' && headers['x-host'] === undefined, 'response headers');
    },
  ),
  filtered(
    'redirect',
    [
      {
        type: 'RequestRedirect',
        requestRedirect: {
          scheme: 'https',
          hostname: 'there.test',
          statusCode: 301,
          path: { type: 'ReplaceFullPath', replaceFullPath: '/there' },
        },
      },
    ],
    async (probe) => {
      const { headers } = await probe.expect({ status: 301 }, '/here');
      check(
        /^https:\/\/there\.test(:\d+)?\/there$/.test(headers.location ?? ''),
        `${headers.location}`,
      );
    },
    { backendRefs: [] },
  ),
  filtered(
    'rewrite',
    [
      {
        type: 'URLRewrite',
        urlRewrite: {
          hostname: 'inner.test',
          path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/inner' },
        },
      },
    ],
    async (probe) => {
      const { host } = await probe.sent('/outer/a?b=c');
      const path = probe.world.web.requests.at(-1)?.path;
      check(host === 'inner.test' && path === '/inner/a?b=c', `${host} ${path}`);
    },
    { matches: [{ path: { type: 'PathPrefix', value: '/outer' } }] },
  ),
  filtered(
    'mirror',
    [{ type: 'RequestMirror', requestMirror: { backendRef: backendRef('other') } }],
    async (probe) => {
      const path = `/mirrored-${Date.now()}`;
      await probe.expect({ body: 'web' }, path);
      await probe.expect({ body: 'web' }, '/');
      check(
        probe.world.other.requests.some((seen) => seen.path === path),
        'no mirror',
      );
    },
  ),
  filtered(
    'cors-filter',
    [
      {
        type: 'CORS',
        cors: { allowOrigins: ['https://page.test'], allowMethods: ['GET'], allowHeaders: ['x-a'] },
      },
    ],
    async (probe) => {
      const headers = { host: 'tried.test', origin: 'https://page.test' };
      const asks = { 'access-control-request-method': 'GET', ...headers };
      const preflight = await probe.ask('/', asks, { method: 'OPTIONS' });
      check(preflight.headers['access-control-allow-origin'] === 'https://page.test', 'preflight');
      const answer = await probe.ask('/', { origin: 'https://else.test' });
      check(answer.headers['access-control-allow-origin'] === undefined, 'another origin');
    },
  ),
  {
    name: 'route-timeout',
    objects: () => [httpRoute('route-timeout', { timeouts: { request: '200ms' } })],
    async probe(probe) {
      await probe.expect({ status: 504 }, '/slow');
    },
  },
  {
    name: 'route-retry',
    objects: () => [
      httpRoute('route-retry'),
      policy('BackendTrafficPolicy', 'route-retry', {
        retry: {
          numRetries: 2,
          retryOn: { httpStatusCodes: [503], triggers: ['retriable-status-codes'] },
        },
      }),
    ],
    async probe(probe) {
      await probe.expect({ status: 200 }, `/first/503/${Date.now()}`);
      await probe.expect({ status: 503 }, '/status/503');
    },
  },
  {
    name: 'direct-response',
    objects: () => [
      routeFilter('direct-response', {
        directResponse: {
          statusCode: 418,
          contentType: 'text/plain',
          body: { type: 'Inline', inline: 'tea' },
        },
      }),
      httpRoute('direct-response', { filters: [filterRef('direct-response')], backendRefs: [] }),
    ],
    async probe(probe) {
      await probe.expect({ status: 418, body: 'tea' });
    },
  },
  {
    name: 'regex-rewrite',
    objects: () => [
      routeFilter('regex-rewrite', {
        urlRewrite: {
          path: {
            type: 'ReplaceRegexMatch',
            replaceRegexMatch: { pattern: '^/service/([^/]+)(/.*)$', substitution: '\\2/of/\\1' },
          },
        },
      }),
      httpRoute('regex-rewrite', { filters: [filterRef('regex-rewrite')] }),
    ],
    async probe(probe) {
      await probe.sent('/service/x/y');
      const path = probe.world.web.requests.at(-1)?.path;
      check(path === '/y/of/x', `${path}`);
    },
  },
  {
    name: 'cookies-of-session',
    objects: () => [
      httpRoute('cookies-of-session', {
        backendRefs: [backendRef('both')],
        sessionPersistence: { sessionName: 'kept', type: 'Cookie' },
      }),
    ],
    async probe(probe) {
      const first = await probe.expect({ status: 200 });
      const cookie = (first.headers['set-cookie'] ?? [])[0]?.split(';')[0] ?? '';
      check(cookie.startsWith('kept='), `cookie: ${cookie}`);
      for (let count = 0; count < 10; count++)
        await probe.expect({ body: first.body }, '/', { cookie });
    },
  },
];
