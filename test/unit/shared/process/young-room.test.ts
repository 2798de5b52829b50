/** Tests of the room for new objects, in a process of its own, since that room never shrinks at once. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const MIB = 1024 * 1024;
const MODULE = join(import.meta.dirname, '../../../../shared/process/young-room.js');
const PROGRAM = `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { collectYoung, widenYoungRoom } from ${JSON.stringify(MODULE)};
  const room = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
  const before = room().space_size;
  widenYoungRoom();
  const widened = room().space_size;
  collectYoung();
  console.log(JSON.stringify({ before, widened, left: room().space_used_size }));
`;

interface Room {
  readonly before: number;
  readonly widened: number;
  readonly left: number;
}

describe('the room for new objects', () => {
  it('is four times as large after it was widened, and nearly empty after a collection', () => {
    const words = ['--input-type=module', '-e', PROGRAM];
    const output = execFileSync(process.execPath, words, { encoding: 'utf8' });
    const { before, widened, left } = JSON.parse(output) as Room;
    assert.ok(widened >= 4 * before, `${before} -> ${widened}`);
    assert.ok(left < MIB, `${left} bytes are left`);
  });
});
