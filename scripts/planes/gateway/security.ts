/** Features of SecurityPolicy: who may ask. */
import { check } from '../../programs/trial.ts';
import { bearer, jwks } from '../../../test/support/parts/tokens.ts';
import type { Feature } from './feature.ts';
import { backendRef, httpRoute, policy, secret } from './objects.ts';
import type { World } from './world.ts';

const ISSUER = 'https://issuer.test';

function secured(
  name: string,
  spec: object | ((world: World) => object),
  probe: Feature['probe'],
  more: readonly object[] = [],
): Feature {
  const objects: Feature['objects'] = (world) => {
    const own = typeof spec === 'function' ? (spec as (world: World) => object)(world) : spec;
    return [httpRoute(name), policy('SecurityPolicy', name, own), ...more];
  };
  return { name, objects, probe };
}

function tokens(world: World, fields: object = {}): object {
  const localJWKS = { type: 'Inline', inline: jwks([world.signer]) };
  return { providers: [{ name: 'issuer', issuer: ISSUER, localJWKS, ...fields }] };
}

function token(world: World, claims: object): Record<string, string> {
  const exp = Math.floor(Date.now() / 1000) + 600;
  return bearer(world.signer.sign({ iss: ISSUER, sub: 'alice', exp, ...claims }));
}

/** `bob` and `secret`, as htpasswd writes it. */
const USERS = 'bob:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n';

export const SECURITY: readonly Feature[] = [
  secured(
    'jwt',
    (world) => ({ jwt: tokens(world, { claimToHeaders: [{ header: 'x-sub', claim: 'sub' }] }) }),
    async (probe) => {
      await probe.expect({ status: 401 });
      await probe.expect({ status: 401 }, '/', bearer('no.token.here'));
      const sent = await probe.sent('/', token(probe.world, {}));
      check(sent['x-sub'] === 'alice', `x-sub: ${String(sent['x-sub'])}`);
    },
  ),
  secured(
    'claims',
    (world) => ({
      jwt: tokens(world),
      authorization: {
        defaultAction: 'Deny',
        rules: [
          {
            action: 'Allow',
            principal: {
              jwt: { provider: 'issuer', claims: [{ name: 'role', values: ['admin'] }] },
            },
          },
        ],
      },
    }),
    async (probe) => {
      await probe.expect({ status: 403 }, '/', token(probe.world, { role: 'guest' }));
      await probe.expect({ status: 200 }, '/', token(probe.world, { role: 'admin' }));
    },
  ),
  secured(
    'addresses',
    {
      authorization: {
        defaultAction: 'Allow',
        rules: [{ action: 'Deny', principal: { clientCIDRs: ['127.0.0.0/8'] } }],
      },
    },
    async (probe) => {
      await probe.expect({ status: 403 });
    },
  ),
  secured(
    'basic-auth',
    { basicAuth: { users: { name: 'users' } } },
    async (probe) => {
      const login = (text: string): Record<string, string> => ({
        authorization: `Basic ${Buffer.from(text).toString('base64')}`,
      });
      await probe.expect({ status: 401 });
      await probe.expect({ status: 401 }, '/', login('bob:wrong'));
      await probe.expect({ status: 200 }, '/', login('bob:secret'));
    },
    [secret('users', { '.htpasswd': USERS })],
  ),
  secured(
    'api-keys',
    {
      apiKeyAuth: {
        credentialRefs: [{ name: 'keys' }],
        extractFrom: [{ headers: ['x-api-key'] }],
        forwardClientIDHeader: 'x-client',
        sanitize: true,
      },
    },
    async (probe) => {
      await probe.expect({ status: 401 });
      const sent = await probe.sent('/', { 'x-api-key': 'key-of-one' });
      const seen = `${String(sent['x-client'])} ${String(sent['x-api-key'])}`;
      check(seen === 'one undefined', seen);
    },
    [secret('keys', { one: 'key-of-one' })],
  ),
  secured(
    'cors-policy',
    { cors: { allowOrigins: ['https://*.page.test'], allowMethods: ['PUT'], maxAge: '60s' } },
    async (probe) => {
      const headers = {
        host: 'tried.test',
        origin: 'https://a.page.test',
        'access-control-request-method': 'PUT',
      };
      const { headers: answered } = await probe.ask('/', headers, { method: 'OPTIONS' });
      check(answered['access-control-allow-methods'] === 'PUT', 'methods');
      check(answered['access-control-max-age'] === '60', 'age');
    },
  ),
  secured('csrf', { csrf: {} }, async (probe) => {
    const post = (origin: string): Promise<{ status: number }> =>
      probe.ask('/', { origin }, { method: 'POST' });
    check((await post('http://evil.test')).status === 403, 'another origin');
    check((await post('http://tried.test')).status === 200, 'its own origin');
  }),
  secured(
    'ext-auth-http',
    {
      extAuth: {
        headersToExtAuth: ['x-allowed'],
        http: { backendRefs: [backendRef('authz')], headersToBackend: ['x-user'] },
      },
    },
    async (probe) => {
      await probe.expect({ status: 403 });
      const sent = await probe.sent('/', { 'x-allowed': 'yes' });
      check(sent['x-user'] === 'alice', 'x-user');
    },
  ),
  secured(
    'ext-auth-grpc',
    { extAuth: { grpc: { backendRefs: [backendRef('authz-grpc')] } } },
    async (probe) => {
      await probe.expect({ status: 403, body: 'no' });
      await probe.expect({ status: 200 }, '/', { 'x-allowed': 'yes' });
    },
  ),
  secured(
    'oidc',
    {
      oidc: {
        provider: {
          issuer: ISSUER,
          authorizationEndpoint: `${ISSUER}/authorise`,
          tokenEndpoint: `${ISSUER}/token`,
        },
        clientID: 'tried',
        clientSecret: { name: 'oidc' },
        redirectURL: 'http://tried.test/callback',
      },
    },
    async (probe) => {
      const { headers } = await probe.expect({ status: 302 }, '/page');
      const { location = '' } = headers;
      check(location.startsWith(`${ISSUER}/authorise?`), location);
      check(new URL(location).searchParams.get('client_id') === 'tried', location);
    },
    [secret('oidc', { 'client-secret': 'sesame' })],
  ),
];
