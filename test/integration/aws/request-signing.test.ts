/**
 * aws_request_signing through the whole program: where the credentials come from, and what hosts get.
 * That signatures are right is the matter of test/unit/shared/aws/signature.test.ts.
 */
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { renameSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';
const NOTHING_FOUND = {
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_SHARED_CREDENTIALS_FILE: '/nothing/credentials',
  AWS_CONFIG_FILE: '/nothing/config',
};

async function start(
  upPort: number,
  settings: object,
  env: Readonly<Record<string, string>>,
): Promise<Sluice> {
  const signing = {
    '@type': `${TYPE}.aws_request_signing.v3.AwsRequestSigning`,
    service_name: 'execute-api',
    region: 'eu-west-1',
    ...settings,
  };
  const http_filters = [
    { name: 'envoy.filters.http.aws_request_signing', typed_config: signing },
    { name: 'router', typed_config: { '@type': `${TYPE}.router.v3.Router` } },
  ];
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
  const parts = {
    listeners: [httpListener(routes, { hcm: { http_filters } })],
    clusters: [staticCluster('up', [upPort])],
  };
  const environment = { ...NOTHING_FOUND, ...env };
  return await startSluice({ bootstrap: bootstrap(parts), concurrency: 1, env: environment });
}

const role = (keyId: string, more: object = {}): object => ({
  AccessKeyId: keyId,
  SecretAccessKey: 'secret',
  Expiration: '2999-01-01T00:00:00Z',
  ...more,
});

function answerWith(answers: Readonly<Record<string, string | object>>) {
  return ({ method, url = '' }: IncomingMessage, response: ServerResponse): void => {
    const found = Object.entries(answers).find(([target]) => `${method} ${url}`.startsWith(target));
    if (found === undefined) response.statusCode = 404;
    const [, answer] = found ?? ['', ''];
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  };
}

describe('requests that are signed for AWS', { concurrency: 2 }, () => {
  it('carry the key of the environment, and the hash of their content', async () => {
    await using up = await startHttpUpstream();
    const env = {
      AWS_ACCESS_KEY_ID: 'AKENV',
      AWS_SECRET_ACCESS_KEY: 's',
      AWS_SESSION_TOKEN: 'tok',
    };
    await using sluice = await start(up.port, {}, env);
    const port = await sluice.listenerPort('web');
    await fetchOnce({ port, method: 'POST', body: 'hello', headers: { authorization: 'old' } });
    const [seen] = up.requests;
    assert.match(
      seen?.headers.authorization ?? '',
      /^AWS4-HMAC-SHA256 Credential=AKENV\/\d{8}\/eu-west-1\/execute-api\/aws4_request, SignedHeaders=content-length;host;x-amz-content-sha256;x-amz-date;x-amz-security-token;x-request-id, Signature=[0-9a-f]{64}$/,
    );
    assert.equal(seen?.headers['x-amz-security-token'], 'tok');
    assert.equal(
      seen?.headers['x-amz-content-sha256'],
      '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
    );
    assert.equal(seen?.body, 'hello');
    assert.equal(await sluice.stat('http.web.aws_request_signing.signing_added'), 1);
    assert.equal(await sluice.stat('http.web.aws_request_signing.payload_signing_added'), 1);
  });

  it('stay as they are where nobody gives credentials', async () => {
    await using up = await startHttpUpstream();
    await using sluice = await start(up.port, { host_rewrite: 'other.test' }, {});
    await fetchOnce({ port: await sluice.listenerPort('web') });
    assert.equal(up.requests[0]?.headers.authorization, undefined);
    assert.equal(up.requests[0]?.headers.host, 'other.test');
  });

  it('carry the signature in the query where that is asked for', async () => {
    await using up = await startHttpUpstream();
    const env = { AWS_ACCESS_KEY_ID: 'AK', AWS_SECRET_ACCESS_KEY: 's' };
    const settings = { query_string: { expiration_time: '60s' }, signing_algorithm: 'AWS_SIGV4A' };
    await using sluice = await start(up.port, settings, env);
    await fetchOnce({ port: await sluice.listenerPort('web'), path: '/x?b&Z=1' });
    const query = new URL(`http://x${up.requests[0]?.path}`).searchParams;
    assert.equal(query.get('X-Amz-Expires'), '60');
    assert.equal(query.get('X-Amz-Region-Set'), 'eu-west-1');
    assert.match(query.get('X-Amz-Signature') ?? '', /^30[0-9a-f]{130,}$/);
    assert.deepEqual([...query.keys()].slice(-2), ['Z', 'b']);
  });

  it('use the metadata service of the instance, with its session token', async () => {
    await using up = await startHttpUpstream();
    const path = 'GET /latest/meta-data/iam/security-credentials/';
    await using metadata = await startHttpUpstream(
      answerWith({ 'PUT /latest/api/token': 'T', [`${path}r`]: role('AKEC2'), [path]: 'r' }),
    );
    const env = {
      AWS_EC2_METADATA_DISABLED: '',
      AWS_EC2_METADATA_SERVICE_ENDPOINT: `http://127.0.0.1:${metadata.port}`,
    };
    await using sluice = await start(up.port, {}, env);
    await fetchOnce({ port: await sluice.listenerPort('web') });
    assert.match(up.requests[0]?.headers.authorization ?? '', /Credential=AKEC2\//);
    assert.equal(metadata.requests.at(-1)?.headers['x-aws-ec2-metadata-token'], 'T');
    const dump = await fetchOnce({ port: sluice.adminPort, path: '/config_dump' });
    assert.doesNotMatch(dump.body, /AKEC2|"aws"/);
  });

  it('assume a role with the credentials of a web identity', async () => {
    await using up = await startHttpUpstream();
    const answer = (name: string, keyId: string): object => ({
      [`${name}Response`]: { [`${name}Result`]: { Credentials: role(keyId, { Expiration: 4e9 }) } },
    });
    await using sts = await startHttpUpstream(
      answerWith({
        'GET /?Action=AssumeRoleWithWebIdentity': answer('AssumeRoleWithWebIdentity', 'AKWEB'),
        'GET /?Action=AssumeRole': answer('AssumeRole', 'AKROLE'),
      }),
    );
    const web = { role_arn: 'arn:web', web_identity_token_data_source: { inline_string: 'jwt' } };
    const settings = {
      credential_provider: {
        custom_credential_provider_chain: true,
        assume_role_credential_provider: {
          role_arn: 'arn:role',
          external_id: 'x y',
          credential_provider: {
            custom_credential_provider_chain: true,
            assume_role_with_web_identity_provider: web,
          },
        },
      },
    };
    const env = { AWS_ENDPOINT_URL_STS: `http://127.0.0.1:${sts.port}` };
    await using sluice = await start(up.port, settings, env);
    await fetchOnce({ port: await sluice.listenerPort('web') });
    assert.match(up.requests[0]?.headers.authorization ?? '', /Credential=AKROLE\//);
    const [asWeb, asRole] = sts.requests;
    assert.match(asWeb?.path ?? '', /WebIdentityToken=jwt/);
    assert.match(asRole?.path ?? '', /ExternalId=x\+y/);
    assert.match(asRole?.headers.authorization ?? '', /Credential=AKWEB\/\d+\/eu-west-1\/sts\//);
  });

  it('prove who they are by a certificate', async () => {
    await using up = await startHttpUpstream();
    const session = {
      credentialSet: [{ credentials: { accessKeyId: 'AKX', secretAccessKey: 's' } }],
    };
    await using anywhere = await startHttpUpstream(answerWith({ 'POST /sessions': session }));
    using scratch = makeScratch();
    const { certPath: filename, keyPath: key } = makeAuthority(scratch.path);
    const settings = {
      credential_provider: {
        iam_roles_anywhere_credential_provider: {
          role_arn: 'arn:role',
          profile_arn: 'arn:profile',
          trust_anchor_arn: 'arn:aws:rolesanywhere:eu-west-1:1:trust-anchor/x',
          certificate: { filename },
          private_key: { filename: key },
        },
      },
    };
    const env = { AWS_ENDPOINT_URL_ROLESANYWHERE: `http://127.0.0.1:${anywhere.port}` };
    await using sluice = await start(up.port, settings, env);
    await fetchOnce({ port: await sluice.listenerPort('web') });
    assert.match(up.requests[0]?.headers.authorization ?? '', /Credential=AKX\//);
    assert.match(
      anywhere.requests[0]?.headers.authorization ?? '',
      /^AWS4-X509-(RSA|ECDSA)-SHA256 /,
    );
  });

  it('take the credentials of a file that was replaced', async () => {
    await using up = await startHttpUpstream();
    using scratch = makeScratch();
    const file = `${scratch.path}/credentials`;
    const write = (keyId: string): void => {
      const text = `[other]\naws_access_key_id=no\n[default]\naws_access_key_id = ${keyId}\n`;
      writeFileSync(`${file}.new`, `${text}aws_secret_access_key = s\n`);
      renameSync(`${file}.new`, file);
    };
    write('AKONE');
    const settings = {
      credential_provider: {
        custom_credential_provider_chain: true,
        credentials_file_provider: {
          credentials_data_source: {
            filename: file,
            watched_directory: { path: scratch.path },
          },
        },
      },
    };
    await using sluice = await start(up.port, settings, {});
    const port = await sluice.listenerPort('web');
    await fetchOnce({ port });
    assert.match(up.requests[0]?.headers.authorization ?? '', /Credential=AKONE\//);
    write('AKTWO');
    await waitUntil('the new key', async () => {
      await fetchOnce({ port });
      return up.requests.at(-1)?.headers.authorization?.includes('Credential=AKTWO/') ?? false;
    });
  });
});
