/** Secrets that filters name in what comes apart from their listener are asked for all the same. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { writeFileSync } from 'node:fs';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fileSource, moveIntoPlace, resource } from '../../support/peers/discovery-files.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { makeScratch, type Scratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';

const EXTENSIONS = 'type.googleapis.com/envoy.extensions';
const ROUTER = {
  name: 'router',
  typed_config: { '@type': `${EXTENSIONS}.filters.http.router.v3.Router` },
};
const OAUTH2 = `${EXTENSIONS}.filters.http.oauth2.v3.OAuth2`;
const SECRETS = ['token', 'hmac'];

function writeSecrets(scratch: Scratch): void {
  for (const name of SECRETS) {
    const secret = {
      '@type': `${EXTENSIONS}.transport_sockets.tls.v3.Secret`,
      name,
      generic_secret: { secret: { inline_string: 'an-old-pond' } },
    };
    moveIntoPlace(scratch, `${name}.json`, { version: '1', resources: [secret] });
  }
}

/** Sends everybody to sign in, as soon as its secrets are there. */
function oauth2(scratch: Scratch): object {
  const [token, hmac] = SECRETS.map((name) => ({
    name,
    sds_config: fileSource(scratch.file(`${name}.json`)),
  }));
  return {
    '@type': OAUTH2,
    config: {
      token_endpoint: { cluster: 'up', uri: 'http://idp/token', timeout: '1s' },
      authorization_endpoint: 'http://idp/authorize',
      redirect_uri: 'http://shop/callback',
      redirect_path_matcher: { path: { exact: '/callback' } },
      signout_path: { path: { exact: '/signout' } },
      credentials: { client_id: 'me', token_secret: token, hmac_secret: hmac },
      auth_scopes: ['openid'],
    },
  };
}

async function start(upstreamPort: number, hcm: object): Promise<Sluice> {
  return await startSluice({
    args: ['--service-node', 'n', '--service-cluster', 'c'],
    bootstrap: bootstrap({
      listeners: [httpListener([], { hcm })],
      clusters: [staticCluster('up', [upstreamPort])],
    }),
  });
}

async function signsIn(hcm: object, scratch: Scratch): Promise<void> {
  writeSecrets(scratch);
  await using upstream = await startHttpUpstream();
  await using sluice = await start(upstream.port, hcm);
  const port = await sluice.listenerPort('web');
  await waitUntil('the secrets', async () => (await fetchOnce({ port })).status === 302);
  assert.equal(upstream.requests.length, 0);
}

const ROUTE = { match: { prefix: '/' }, route: { cluster: 'up' } };

describe('the secrets of a filter', () => {
  it('are asked for where routes that come apart name them', async () => {
    using scratch = makeScratch();
    const keys = scratch.file('credentials');
    writeFileSync(keys, '[default]\naws_access_key_id = AKFILE\naws_secret_access_key = s\n');
    const signing = {
      '@type': `${EXTENSIONS}.filters.http.aws_request_signing.v3.AwsRequestSigning`,
      service_name: 'execute-api',
      region: 'eu-west-1',
    };
    const provider = {
      custom_credential_provider_chain: true,
      credentials_file_provider: { credentials_data_source: { filename: keys } },
    };
    const ofRoute = {
      '@type': `${EXTENSIONS}.filters.http.aws_request_signing.v3.AwsRequestSigningPerRoute`,
      aws_request_signing: { ...signing, '@type': undefined, credential_provider: provider },
      stat_prefix: 'route',
    };
    const route = { ...ROUTE, typed_per_filter_config: { aws: ofRoute } };
    const routes = resource.routes('routes', [route]);
    moveIntoPlace(scratch, 'rds.json', { version: '1', resources: [routes] });
    const filter = { name: 'aws', disabled: true, typed_config: signing };
    const rds = {
      route_config_name: 'routes',
      config_source: fileSource(scratch.file('rds.json')),
    };
    await using upstream = await startHttpUpstream();
    await using sluice = await start(upstream.port, {
      route_config: undefined,
      rds,
      http_filters: [filter, ROUTER],
    });
    const port = await sluice.listenerPort('web');
    await waitUntil('the credentials', async () => {
      await fetchOnce({ port });
      return (
        upstream.requests.at(-1)?.headers.authorization?.includes('Credential=AKFILE/') === true
      );
    });
  });

  it('are asked for where the filter itself comes apart', async () => {
    using scratch = makeScratch();
    const extension = {
      '@type': 'type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig',
      name: 'oauth2',
      typed_config: oauth2(scratch),
    };
    moveIntoPlace(scratch, 'ecds.json', { version: '1', resources: [extension] });
    const discovery = {
      config_source: fileSource(scratch.file('ecds.json')),
      type_urls: [OAUTH2],
    };
    const filter = { name: 'oauth2', config_discovery: discovery };
    const route_config = {
      name: 'routes',
      virtual_hosts: [{ name: 'all', domains: ['*'], routes: [ROUTE] }],
    };
    await signsIn({ route_config, http_filters: [filter, ROUTER] }, scratch);
  });
});
