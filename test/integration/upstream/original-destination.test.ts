import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

/** In a network namespace, which needs no rights on the machine but those to make one. */
function inOwnNetwork(command: string): ReturnType<typeof spawnSync> {
  const rule = 'iptables -t nat -A OUTPUT -p tcp --dport 7001:7002 -j REDIRECT --to-ports 7000';
  const script = `ip link set lo up && ${rule} && exec ${command}`;
  return spawnSync('unshare', ['-rn', 'sh', '-c', script], { encoding: 'utf8', timeout: 20_000 });
}

const canRedirect = inOwnNetwork('true').status === 0;

describe('connections that the kernel redirected', () => {
  it(
    'go to the listener that they were meant for, bound or not, else to the one that took them',
    { skip: canRedirect ? false : 'iptables in a network of its own is not possible here' },
    () => {
      const main = fileURLToPath(
        new URL('../../support/programs/redirected-main.js', import.meta.url),
      );
      const { stdout, stderr } = inOwnNetwork(`${process.execPath} ${main}`);
      assert.notEqual(stdout, '', String(stderr));
      assert.deepEqual(JSON.parse(String(stdout)), {
        answers: ['front', 'behind', 'front'],
        logged: ['127.0.0.1:7000', '127.0.0.1:7002'],
      });
    },
  );
});
