/** Who may ask the admin interface what. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { AdminTokenError, accessRulesOf } from '../../../../supervisor/admin/access-rules.ts';
import { ask } from './ask.ts';
import { fakeContext } from './fake-context.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-access-'));
after(() => rmSync(folder, { recursive: true }));
const NOTHING = {
  adminReadOnly: false,
  legacyAdmin: false,
  adminTokenPath: '',
  adminAllowedHosts: [],
  adminAllowedUids: [],
};

test('a read-only interface answers pages and refuses commands', async () => {
  const { context, commands, log } = fakeContext();
  const rules = accessRulesOf({ ...NOTHING, adminReadOnly: true });
  assert.equal((await ask(context, '/ready', { rules })).status, 200);
  const refused = await ask(context, '/quitquitquit', { rules, method: 'POST' });
  assert.deepEqual([refused.status, commands], [403, []]);
  assert.equal(log.length, 1);
});

test('with a token file, requests need the token of its first line', async () => {
  const path = join(folder, 'token');
  writeFileSync(path, 'open sesame\nrest\n');
  const rules = accessRulesOf({ ...NOTHING, adminTokenPath: path });
  writeFileSync(path, 'sesame\n');
  const oneWord = accessRulesOf({ ...NOTHING, adminTokenPath: path });
  const { context } = fakeContext();
  const status = async (authorization: string, wanted = oneWord) =>
    (await ask(context, '/ready', { rules: wanted, headers: { authorization } })).status;
  assert.equal(await status('Bearer sesame'), 200);
  assert.equal(await status('bearer sesame'), 200);
  for (const wrong of ['', 'Bearer', 'Bearer sesam', 'Basic sesame', 'sesame']) {
    assert.equal(await status(wrong), 401, wrong);
  }
  assert.equal(await status('Bearer sesame', rules), 401);
  assert.equal(await status('Bearer open sesame', rules), 200);
});

test('a token file that is missing or empty is an error at the start', () => {
  writeFileSync(join(folder, 'empty'), '\n');
  for (const name of ['nosuch', 'empty']) {
    assert.throws(
      () => accessRulesOf({ ...NOTHING, adminTokenPath: join(folder, name) }),
      AdminTokenError,
    );
  }
});

test('with allowed hosts, other names in Host are refused, ports do not matter', async () => {
  const rules = accessRulesOf({ ...NOTHING, adminAllowedHosts: ['localhost', ' 127.0.0.1'] });
  const { context } = fakeContext();
  const status = async (host: string) =>
    (await ask(context, '/ready', { rules, headers: { host } })).status;
  assert.equal(await status('localhost:9901'), 200);
  assert.equal(await status('127.0.0.1'), 200);
  assert.equal(await status('LOCALHOST:1'), 200);
  assert.equal(await status('evil.test:9901'), 403);
});
