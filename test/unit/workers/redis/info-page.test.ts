import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { joinInfoPages } from '../../../../workers/redis/splitting/info-page.ts';

const FIRST =
  '# Server\r\nredis_version:7.0\r\nredis_mode:standalone\r\nuptime_in_seconds:5\r\n\r\n' +
  '# Memory\r\nused_memory:1048576\r\nused_memory_peak:10\r\n# Keyspace\r\ndb0:keys=2,expires=1,avg_ttl=10\r\n';
const SECOND =
  '# Server\r\nredis_version:7.2\r\nuptime_in_seconds:9\r\n' +
  '# Memory\r\nused_memory:1048576\r\nused_memory_peak:x\r\n# Keyspace\r\ndb0:keys=1,expires=0,avg_ttl=20\r\n';

describe('pages of INFO', () => {
  it('become one: the first, the sum or the largest of each figure', () => {
    const page = joinInfoPages([FIRST, SECOND], '');
    const lines = page.split('\r\n');
    for (const line of [
      'redis_version:7.0',
      'redis_mode:cluster',
      'uptime_in_seconds:9',
      'used_memory:2097152',
      'used_memory_human:2.00M',
      'used_memory_peak:10',
      'used_memory_peak_human:10B',
      'cluster_enabled:1',
      'db0:keys=3,expires=1,avg_ttl=12',
    ]) {
      assert.ok(lines.includes(line), line);
    }
    assert.ok(!page.includes('os:') && page.startsWith('# Server\r\nredis_version:7.0\r\n'));
  });

  it('have one section where one is asked for, in any case of letters', () => {
    const page = joinInfoPages([FIRST], 'KEYSPACE');
    assert.equal(page, '# Keyspace\r\ndb0:keys=2,expires=1,avg_ttl=5\r\n');
    assert.equal(joinInfoPages([FIRST], 'nothing'), '');
  });
});
