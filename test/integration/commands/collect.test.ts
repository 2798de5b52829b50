/** `sluice collect`: everything is in the archive, and no secret that was planted anywhere. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Scrubber } from '../../../src/commands/collect/scrub.ts';
import { bootstrap, GREETING, httpListener } from '../../support/parts/bootstrap.ts';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { secureListener, tlsSocket } from '../../support/parts/tls.ts';
import { runSluice, startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

const PLANTED = [
  'generic-secret-text',
  'header-credential',
  'logged-bearer-token',
  'logged-cookie-value',
  'logged-password',
  'userinfo-password',
  'query-token-value',
  'admin-token-value',
] as const;
const [GENERIC, HEADER, BEARER, COOKIE, PASSWORD, USERINFO, QUERY, TOKEN] = PLANTED;

test('secrets of configuration, headers, logs and tokens are taken out of every file', async () => {
  using scratch = makeScratch();
  const pair = makeAuthority(scratch.path).issue('web', 'DNS:web.test');
  const inline = {
    certificate_chain: { inline_string: pair.cert },
    private_key: { inline_string: pair.key },
  };
  const common = { common_tls_context: { tls_certificates: [inline] } };
  const routes = [
    {
      ...GREETING[0],
      request_headers_to_add: [{ header: { key: 'authorization', value: `Token ${HEADER}` } }],
    },
  ];
  const secrets = [{ name: 'token', generic_secret: { secret: { inline_string: GENERIC } } }];
  const base = bootstrap({
    listeners: [
      httpListener(routes),
      { ...secureListener(GREETING, tlsSocket('Downstream', common)), name: 'secure' },
    ],
  }) as { readonly static_resources: object };
  const config = { ...base, static_resources: { ...base.static_resources, secrets } };
  const configPath = scratch.file('collected.json');
  writeFileSync(configPath, JSON.stringify(config));
  const log = scratch.file('server.log');
  const keyLines = JSON.stringify(pair.key);
  writeFileSync(
    log,
    [
      `authorization: Bearer ${BEARER}`,
      `cookie: a=b; session=${COOKIE}`,
      `{"password":"${PASSWORD}"}`,
      `GET https://user:${USERINFO}@host/path?access_token=${QUERY}&page=7`,
      `the secret ${GENERIC} came`,
      `a key ${keyLines}`,
      pair.key,
      'an innocent line about tokens and keys',
    ].join('\n'),
  );
  const tokenPath = scratch.file('token');
  writeFileSync(tokenPath, `${TOKEN}\n`);
  await using sluice = await startSluice({ bootstrap: config });
  const archive = scratch.file('out.tar.gz');
  const words = ['collect', '--admin', `127.0.0.1:${sluice.adminPort}`, '-o', archive];
  const { code, stderr } = await runSluice([
    ...words,
    '-c',
    configPath,
    '--log',
    log,
    '--admin-token-path',
    tokenPath,
  ]);
  assert.equal(code, 0, stderr);
  assert.equal(statSync(archive).mode & 0o777, 0o600);
  const all = gunzipSync(readFileSync(archive)).toString('latin1');
  for (const secret of PLANTED) assert.ok(!all.includes(secret), secret);
  const body = pair.key.split('\n').slice(1, -2);
  for (const line of body) assert.ok(!all.includes(line), 'a line of the private key');
  assert.ok(all.includes('an innocent line about tokens and keys'));
  assert.ok(all.includes('page=7'));
  const names = execFileSync('tar', ['tzf', archive], { encoding: 'utf8' }).split('\n');
  for (const name of [
    'versions.json',
    'bootstrap.json',
    'doctor.txt',
    'config_dump.json',
    'stats.txt',
    'server.log',
  ]) {
    assert.ok(names.includes(`sluice-collect/${name}`), name);
  }
  const dump = execFileSync('tar', ['xzOf', archive, 'sluice-collect/config_dump.json'], {
    encoding: 'utf8',
  });
  assert.ok((JSON.parse(dump) as { configs: unknown[] }).configs.length > 3);
  const again = await runSluice([...words]);
  assert.deepEqual(
    [again.code, again.stderr],
    [1, `sluice collect: ${archive} is there already\n`],
  );
});

test('what looks like a secret goes, what does not stays', () => {
  const scrubber = new Scrubber();
  scrubber.learn('known "secret" text');
  for (const [given, expected] of [
    ['Authorization: Digest username="a", response="b"', 'Authorization: [redacted]'],
    ['x Basic dXNlcjpwYXNz y', 'x Basic [redacted] y'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_', '[redacted]'],
    [
      '"client_secret": "a\\"b", "client_id": "c"',
      '"client_secret": "[redacted]", "client_id": "c"',
    ],
    ['{"key": "Cookie", "value": "x=y"}', '{"key": "Cookie", "value": "[redacted]"}'],
    ['https://h/p?sig=abcdef&x=1', 'https://h/p?sig=[redacted]&x=1'],
    [JSON.stringify({ a: 'known "secret" text' }), '{"a":"[redacted]"}'],
    [encodeURIComponent('known "secret" text'), '[redacted]'],
    ['http.web.downstream_rq_total: 5', 'http.web.downstream_rq_total: 5'],
    ['"key": "x-request-id", "value": "1"', '"key": "x-request-id", "value": "1"'],
  ] as const) {
    assert.equal(scrubber.clean(given), expected);
  }
});
