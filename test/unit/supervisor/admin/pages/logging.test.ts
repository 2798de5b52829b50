/** The smaller pages: state, help, certificates, runtime, logging, profilers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogLevel } from '../../../../../shared/logging/levels.ts';
import type { AdminContext } from '../../../../../supervisor/admin/admin-context.ts';
import { ask } from '../ask.ts';
import { fakeContext, UNTIMED } from '../fake-context.ts';

function logging(levels: Record<string, LogLevel>, fineGrain = false): AdminContext['logging'] {
  return {
    ...UNTIMED,
    fineGrain,
    levels: () => Object.entries(levels).map(([name, level]) => ({ name, level })),
    setAll: (level) => Object.keys(levels).forEach((name) => (levels[name] = level)),
    set: (name, level) => {
      const isKnown = name in levels;
      if (isKnown) levels[name] = level;
      return isKnown;
    },
    setGroup: (name, level) => {
      levels[`group ${name}`] = level;
      return true;
    },
  };
}

test('/logging changes one, several or all loggers, all or nothing', async () => {
  const levels: Record<string, LogLevel> = { admin: 'info', http: 'info' };
  const { context } = fakeContext({ logging: logging(levels) });
  const post = async (query: string) => await ask(context, `/logging${query}`, { method: 'POST' });
  assert.equal((await post('')).body, 'active loggers:\n  admin: info\n  http: info\n\n');
  await post('?level=warning');
  assert.deepEqual(levels, { admin: 'warning', http: 'warning' });
  await post('?http=trace');
  assert.deepEqual(levels, { admin: 'warning', http: 'trace' });
  await post('?paths=admin:error,http:info,');
  assert.deepEqual(levels, { admin: 'error', http: 'info' });
  await post('?paths=admin=debug,http=off');
  assert.deepEqual(levels, { admin: 'debug', http: 'off' });
  for (const query of ['?level=', '?paths=', '?x', '?admin=']) {
    assert.equal((await post(query)).status, 200, query);
  }
  const refused = {
    '?level=loud': 'unknown logger level',
    '?level=warn': 'unknown logger level',
    '?nosuch=debug': 'unknown logger name',
    '?paths=admin:trace,nosuch:info': 'unknown logger name',
    '?paths=admin:trace,http:loud': 'unknown logger level',
    '?paths=a': 'empty logger name or empty logger level',
    '?paths=:info': 'empty logger name or empty logger level',
    '?level=info&admin=debug': 'invalid number of parameters',
    '?group=admin:info': 'group parameter requires fine-grain logging to be enabled',
  };
  for (const [query, reason] of Object.entries(refused)) {
    const answer = await post(query);
    assert.equal(answer.status, 400);
    assert.match(
      answer.body,
      new RegExp(`^error: ${reason}\\n\\nusage: /logging\\?<name>=<level>`),
    );
    assert.match(answer.body, /\nlevels: trace debug info warning error critical off \nactive log/);
  }
  assert.deepEqual(levels, { admin: 'debug', http: 'off' });
});

test('/logging takes any name and groups where each file has its logger', async () => {
  const levels: Record<string, LogLevel> = { 'a.ts': 'info' };
  const { context } = fakeContext({ logging: logging(levels, true) });
  const post = async (query: string) => await ask(context, `/logging${query}`, { method: 'POST' });
  assert.equal((await post('?group=admin:debug')).status, 200);
  assert.deepEqual(levels, { 'a.ts': 'info', 'group admin': 'debug' });
  assert.equal((await post('?paths=later/*.ts:debug')).status, 200);
  for (const [query, reason] of Object.entries({
    '?group=admin': 'empty logger name or empty logger level in group',
    '?group=:info': 'empty logger name or empty logger level in group',
    '?group=admin:info,http:info': 'unknown logger level',
  })) {
    const answer = await post(query);
    assert.equal(answer.status, 400);
    assert.ok(answer.body.startsWith(`error: ${reason}\n`), answer.body);
  }
});
