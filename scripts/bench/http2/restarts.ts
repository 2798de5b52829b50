/**
 * Hot restarts and drains under HTTP/2, side by side: `node dist/scripts/bench/http2/restarts.js`
 * runs what `npm run test:programs` asks of Sluice (`scripts/programs/http2/restarts.ts`) with both.
 * Fails where Sluice lost a request. Options: `--only NAME`, `--requests N` (100000),
 * `--connections N` (100). A few minutes.
 */
import { parseArgs } from 'node:util';
import { restartUnderLoad } from '../../programs/http2/restarts.ts';
import { isInstalled } from '../support/processes.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    requests: { type: 'string', default: '100000' },
    connections: { type: 'string', default: '100' },
  },
});
const [requests, connections] = [Number(values.requests), Number(values.connections)];
const contenders: readonly (readonly [string, readonly string[]])[] = [
  ['sluice', [process.execPath, `${import.meta.dirname}/../../../src/main.js`]],
  ['envoy', ['envoy']],
];
for (const [name, command] of contenders) {
  if (values.only !== undefined && values.only !== name) continue;
  if (name === 'envoy' && !isInstalled('envoy')) console.log('left out: envoy (not on PATH)');
  else {
    const { text, lost, oddEnds } = await restartUnderLoad({ command, requests, connections });
    console.log(`${name}: ${text}`);
    for (const each of new Set([...lost, ...oddEnds])) console.log(`  ${each}`);
    if (name === 'sluice' && lost.length > 0) process.exitCode = 1;
  }
}
