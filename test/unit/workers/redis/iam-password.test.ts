import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { writeCredentials } from '../../../../shared/aws/credentials-text.ts';
import { credentialsFor } from '../../../../workers/redis/upstream/credentials.ts';

const host = { address: '127.0.0.1:6379' };
const value = writeCredentials({
  accessKeyId: 'AKID',
  secretAccessKey: 'SECRET',
  sessionToken: '',
});
const iam = {
  credentials: { kind: 'value', value },
  region: 'ap-southeast-2',
  service: 'elasticache',
  cacheName: 'testcache',
  expiresS: 900,
} as const;
const parts = {
  secretText: () => Buffer.from(value).toString('latin1'),
  wallMs: Date.UTC(2026, 10, 22, 21, 20, 55),
};

describe('a password for AWS', () => {
  it('is what Envoy sends at the same moment', () => {
    const { username, password } = credentialsFor(
      { username: 'tester', password: 'unused', iam },
      host,
      parts,
    );
    assert.equal(username, 'tester');
    assert.equal(
      password,
      'testcache/?Action=connect&User=tester&X-Amz-Algorithm=AWS4-HMAC-SHA256' +
        '&X-Amz-Credential=AKID%2F20261122%2Fap-southeast-2%2Felasticache%2Faws4_request' +
        '&X-Amz-Date=20261122T212055Z&X-Amz-Expires=900' +
        '&X-Amz-Signature=c7294a04f2a80f1149fe44539ce181ebb8f56f7b7185c42faa686f0da7956b4d' +
        '&X-Amz-SignedHeaders=host',
    );
  });

  it('is not sent without a user, nor before there are credentials', () => {
    const nobody = { username: '', password: '' };
    assert.deepEqual(
      credentialsFor({ ...nobody, iam }, host, parts),
      { ...nobody, iam },
      'the pair is empty',
    );
    const early = { ...parts, secretText: () => '' };
    assert.deepEqual(credentialsFor({ username: 'u', password: 'p', iam }, host, early), nobody);
  });

  it('gives way to what is configured for the host alone', () => {
    const own = { address: host.address, username: 'a', password: 'b' };
    const auth = { username: 'u', password: '', iam, byAddress: [own] };
    assert.equal(credentialsFor(auth, host, parts).password, 'b');
  });
});
